//! The tools an agent offers, and which of them does what a script wants done.
//!
//! Each agent names its tools and their arguments its own way. The names below are those of Claude Code, opencode, Gemini
//! CLI, Codex and Copilot. An agent with others is one line more.

use serde_json::{Map, Value, json};

/// A tool that a request offers.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tool {
    pub(crate) name: String,
    /// The JSON Schema of its arguments.
    pub(crate) parameters: Value,
    /// It takes plain text instead of arguments (`OpenAI` Responses).
    pub(crate) custom: bool,
    /// What it is part of, which calls have to name too (`OpenAI` Responses).
    pub(crate) namespace: Option<String>,
}

impl Tool {
    /// As it is shown in the log of requests.
    pub(crate) fn title(&self) -> String {
        match &self.namespace {
            Some(namespace) => format!("{namespace}::{}", self.name),
            None => self.name.clone(),
        }
    }

    fn takes(&self, argument: &str) -> bool {
        self.parameters.get("properties").and_then(|it| it.get(argument)).is_some()
    }

    /// A call of this tool. Arguments that it requires and nobody named (most want a description) are made up.
    fn called(&self, mut arguments: Map<String, Value>) -> Invocation {
        let required = self.parameters.get("required").and_then(Value::as_array);
        for name in required.into_iter().flatten().filter_map(Value::as_str) {
            if !arguments.contains_key(name) {
                let schema = self.parameters.get("properties").and_then(|it| it.get(name));
                arguments.insert(name.to_owned(), example(schema.unwrap_or(&Value::Null)));
            }
        }
        self.given(Value::Object(arguments))
    }

    /// A call of this tool with exactly these arguments.
    pub(crate) fn given(&self, arguments: Value) -> Invocation {
        Invocation {
            tool: self.name.clone(),
            arguments,
            custom: self.custom,
            namespace: self.namespace.clone(),
        }
    }
}

/// A call as it goes out.
#[derive(Clone, Debug)]
pub(crate) struct Invocation {
    pub(crate) tool: String,
    pub(crate) arguments: Value,
    pub(crate) custom: bool,
    pub(crate) namespace: Option<String>,
}

impl Invocation {
    /// Its arguments as text: JSON, or what a tool that takes plain text is told.
    pub(crate) fn text(&self) -> String {
        match &self.arguments {
            Value::String(text) if self.custom => text.clone(),
            arguments => arguments.to_string(),
        }
    }
}

pub(crate) fn named<'a>(tools: &'a [Tool], name: &str) -> Option<&'a Tool> {
    tools.iter().find(|it| it.name == name)
}

/// A command for whatever tool runs commands.
pub(crate) fn shell(tools: &[Tool], command: &str) -> Option<Invocation> {
    let names =
        ["Bash", "bash", "run_shell_command", "shell_command", "exec_command", "shell", "local_shell"];
    let tool = names.iter().find_map(|it| named(tools, it))?;
    let (argument, value) = match tool.name.as_str() {
        "exec_command" => ("cmd", json!(command)),
        "shell" => ("command", json!(["bash", "-c", command])),
        _ => ("command", json!(command)),
    };
    Some(tool.called(Map::from_iter([(argument.to_owned(), value)])))
}

/// A file to be written by whatever tool writes files. Agents want paths that start at the root, so `directory` is laid
/// before a path that does not.
pub(crate) fn write(
    tools: &[Tool],
    directory: Option<&str>,
    path: &str,
    content: &str,
) -> Option<Invocation> {
    let whole = match directory {
        Some(directory) if !path.starts_with('/') => format!("{}/{path}", directory.trim_end_matches('/')),
        _ => path.to_owned(),
    };
    let file = |tool: &Tool, path: &str, text: &str| {
        tool.called(Map::from_iter([(path.to_owned(), json!(whole)), (text.to_owned(), json!(content))]))
    };
    if let Some(tool) = named(tools, "Write").or_else(|| named(tools, "write_file")) {
        return Some(file(tool, "file_path", "content"));
    }
    if let Some(tool) = named(tools, "write") {
        return Some(file(tool, "filePath", "content"));
    }
    if let Some(tool) = named(tools, "create") {
        // Copilot's makes no folders. A command does, where there is one to give.
        let command = path.contains('/').then(|| shell(tools, &writing(path, content))).flatten();
        return Some(command.unwrap_or_else(|| file(tool, "path", "file_text")));
    }
    // A patch cannot say that a file does not end with a new line; a command can.
    match named(tools, "apply_patch").filter(|_| content.ends_with('\n')) {
        Some(tool) => Some(patch(tool, path, content)),
        None => shell(tools, &writing(path, content)),
    }
}

fn patch(tool: &Tool, path: &str, content: &str) -> Invocation {
    let lines: String = content.split_inclusive('\n').flat_map(|it| ["+", it]).collect();
    let text = format!("*** Begin Patch\n*** Add File: {path}\n{lines}*** End Patch\n");
    if tool.custom {
        return tool.given(Value::String(text));
    }
    let argument = if tool.takes("patchText") { "patchText" } else { "input" };
    tool.called(Map::from_iter([(argument.to_owned(), Value::String(text))]))
}

/// The command that writes a file, with whatever is in it.
fn writing(path: &str, content: &str) -> String {
    let quoted = |text: &str| format!("'{}'", text.replace('\'', r"'\''"));
    let folder = path.rsplit_once('/').map(|(folder, _)| folder).filter(|it| !it.is_empty());
    let making = folder.map(|it| format!("mkdir -p {} && ", quoted(it))).unwrap_or_default();
    format!("{making}printf '%s' {} > {}", quoted(content), quoted(path))
}

/// The tool of an MCP server, by the name that the server gives it: as it is (within a namespace), or after the server's
/// name as in `mcp__server__tool`, `mcp_server_tool`, `server_tool` and `server-tool`.
///
/// The clearer form wins, because `create_review` is also how `pre_create_review` ends.
pub(crate) fn mcp<'a>(tools: &'a [Tool], name: &str) -> Option<&'a Tool> {
    let ending = |mark: &str| {
        let end = format!("{mark}{name}");
        tools.iter().find(|it| it.name.ends_with(&end))
    };
    let spaced = tools.iter().find(|it| it.namespace.is_some() && it.name == name);
    spaced
        .or_else(|| named(tools, name))
        .or_else(|| ending("__"))
        .or_else(|| ending("_"))
        .or_else(|| ending("-"))
}

/// Something that fits a JSON Schema well enough to be accepted where nobody looks at it.
pub(crate) fn example(schema: &Value) -> Value {
    if let Some(first) = schema.get("enum").and_then(|it| it.get(0)) {
        return first.clone();
    }
    let kind = schema.get("type").and_then(Value::as_str).unwrap_or_default().to_ascii_lowercase();
    let fields = schema.get("properties").and_then(Value::as_object);
    match kind.as_str() {
        "boolean" => json!(false),
        "array" => json!([]),
        "number" | "integer" => json!(1),
        "null" => Value::Null,
        "object" => fields.into_iter().flatten().map(|(name, it)| (name.clone(), example(it))).collect(),
        _ => match fields {
            Some(fields) => fields.iter().map(|(name, it)| (name.clone(), example(it))).collect(),
            None => json!("scripted"),
        },
    }
}

/// How agents tell their models where they work, in small letters; the surest first.
const TOLD: [&str; 4] = ["<cwd>", "working directory", "working in the directory", "workspace directories"];

/// Where the agent works. No interface has a field for it, but every agent tells its model somewhere.
pub(crate) fn directory(body: &Value) -> Option<String> {
    TOLD.iter().find_map(|told| find(body, told))
}

fn find(value: &Value, told: &str) -> Option<String> {
    match value {
        Value::String(text) => {
            // In small letters of this alphabet only, so that places in both texts are the same.
            let small = text.to_ascii_lowercase();
            small.match_indices(told).find_map(|(at, _)| path(text.get(at + told.len()..)?))
        }
        Value::Array(items) => items.iter().find_map(|it| find(it, told)),
        Value::Object(fields) => fields.values().find_map(|it| find(it, told)),
        _ => None,
    }
}

/// The path that a text begins with, after marks such as `:`, `is` and those of a list.
fn path(text: &str) -> Option<String> {
    let text = text.strip_prefix(" is").unwrap_or(text);
    let text = text.trim_start_matches(|it: char| it.is_whitespace() || matches!(it, ':' | '*' | '-' | '`'));
    let ends = |it: char| it.is_whitespace() || matches!(it, '<' | '`' | ',' | '"');
    let path = text.split(ends).next().unwrap_or_default().trim_end_matches('.');
    path.starts_with('/').then(|| path.to_owned())
}
