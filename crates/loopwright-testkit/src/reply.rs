//! What a step comes to for the agent that asks: text, or calls of tools that it offers.

use serde_json::Value;

use crate::script::{Call, Usage};
use crate::tools::{self, Invocation, Tool};

/// An answer, before an interface gives it its form.
#[derive(Clone, Debug)]
pub(crate) struct Reply {
    pub(crate) said: Said,
    pub(crate) usage: Usage,
}

#[derive(Clone, Debug)]
pub(crate) enum Said {
    Text(String),
    Calls(Vec<Invocation>),
}

/// Names for an answer and for what is in it. They do not repeat in a conversation, also when it is resumed with another
/// server: the conversation has grown by then.
#[derive(Clone, Debug)]
pub(crate) struct Ids {
    /// What the request names as its model. Agents look it up in what comes back.
    pub(crate) model: String,
    /// The number of the request.
    pub(crate) request: usize,
    /// How much had been said.
    pub(crate) turns: usize,
}

impl Ids {
    pub(crate) fn answer(&self, prefix: &str) -> String {
        format!("{prefix}{}_{}", self.request, self.turns)
    }

    pub(crate) fn part(&self, prefix: &str, number: usize) -> String {
        format!("{prefix}{}_{}_{number}", self.request, self.turns)
    }
}

/// The calls a step makes. One that the agent does not offer is said so in text, and then nothing is called: a test is to
/// see it, not to wait for it.
pub(crate) fn calls(calls: &[Call], offered: &[Tool], body: &Value) -> Said {
    let calls: Result<Vec<Invocation>, String> = calls.iter().map(|it| call(it, offered, body)).collect();
    match calls {
        Ok(calls) => Said::Calls(calls),
        Err(missing) => {
            let offered: Vec<String> = offered.iter().map(Tool::title).collect();
            Said::Text(format!("no such tool: {missing} (offered: {})", offered.join(", ")))
        }
    }
}

fn call(call: &Call, offered: &[Tool], body: &Value) -> Result<Invocation, String> {
    match call {
        Call::Shell(command) => tools::shell(offered, command).ok_or_else(|| "shell".to_owned()),
        Call::Write(path, content) => {
            let directory = tools::directory(body);
            tools::write(offered, directory.as_deref(), path, content).ok_or_else(|| "write".to_owned())
        }
        Call::Mcp(name, arguments) => {
            let tool = tools::mcp(offered, name).ok_or_else(|| name.clone())?;
            Ok(tool.given(arguments.clone()))
        }
        Call::Tool(name, arguments) => {
            let unknown = Tool { name: name.clone(), ..Tool::default() };
            Ok(tools::named(offered, name).unwrap_or(&unknown).given(arguments.clone()))
        }
    }
}

/// Data as an answer: Claude Code offers a tool for it, the others take text.
pub(crate) fn structured(data: &Value, offered: &[Tool]) -> Said {
    match tools::named(offered, "StructuredOutput") {
        Some(tool) => Said::Calls(vec![tool.given(data.clone())]),
        None => Said::Text(data.to_string()),
    }
}

/// A text in two, as streams bring it.
pub(crate) fn halves(text: &str) -> [&str; 2] {
    let middle = text.char_indices().nth(text.chars().count() / 2).map_or(0, |(at, _)| at);
    let (first, second) = text.split_at(middle);
    [first, second]
}
