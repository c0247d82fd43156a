//! What a model says, as data.
//!
//! ```json
//! {"edit": [{"write": ["hello.txt", "hello\n"]}, {"text": "Done."}],
//!  "slow": [{"http": {"status": 429, "retry-after": 7}, "times": 1}, {"text": "Now."}],
//!  "lost": ["hang"]}
//! ```
//!
//! A step has one act, and may have `usage` (what it is said to have cost) and, if it misbehaves, `times`.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::{Map, Value};

/// Scripts by their names.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(transparent)]
pub struct Scripts(BTreeMap<String, Vec<Step>>);

impl Scripts {
    /// No script yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Reads scripts from JSON: an object of lists of steps.
    pub fn parse(json: &str) -> Result<Self, serde_json::Error> {
        serde_json::from_str(json)
    }

    /// One script more. One of the same name is replaced.
    #[must_use]
    pub fn with(mut self, name: &str, steps: impl IntoIterator<Item = Step>) -> Self {
        self.0.insert(name.to_owned(), steps.into_iter().collect());
        self
    }

    /// Takes over all of `others`. Those of the same name are replaced.
    pub fn add(&mut self, others: Self) {
        self.0.extend(others.0);
    }

    pub(crate) fn get(&self, name: &str) -> Option<&[Step]> {
        self.0.get(name).map(Vec::as_slice)
    }
}

/// One answer of the model.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(try_from = "Value")]
pub struct Step {
    /// What it does.
    pub act: Act,
    /// What it is said to have cost.
    pub usage: Usage,
    /// How often it misbehaves, over the life of the server, before the step after it is served in its place; for ever if
    /// this is not said. Only for a [`Failure`]. Requests without any tool do not count and pass it by: those are errands,
    /// such as naming a session, and agents make them when they like.
    pub times: Option<u32>,
}

impl Step {
    /// Text, which ends the turn.
    pub fn text(text: &str) -> Self {
        Act::Text(text.to_owned()).into()
    }

    /// A command for the shell.
    pub fn shell(command: &str) -> Self {
        Self::calls([Call::Shell(command.to_owned())])
    }

    /// A file to be written.
    pub fn write(path: &str, content: &str) -> Self {
        Self::calls([Call::Write(path.to_owned(), content.to_owned())])
    }

    /// A call of a tool of some MCP server.
    pub fn mcp(tool: &str, arguments: Value) -> Self {
        Self::calls([Call::Mcp(tool.to_owned(), arguments)])
    }

    /// Several calls at once.
    pub fn calls(calls: impl IntoIterator<Item = Call>) -> Self {
        Act::Calls(calls.into_iter().collect()).into()
    }

    /// How many results of tools come back before the step after this one.
    ///
    /// What misbehaves calls nothing: with `times` it is passed by, without it nothing comes after. Text ends the turn, so
    /// that a result after it is not expected; should one come, the script goes on.
    pub(crate) fn results(&self) -> usize {
        match &self.act {
            Act::Calls(calls) => calls.len(),
            Act::Text(_) | Act::Structured(_) => 1,
            Act::Fail(_) => 0,
        }
    }
}

impl From<Act> for Step {
    fn from(act: Act) -> Self {
        Self { act, usage: Usage::default(), times: None }
    }
}

/// What a step does.
#[derive(Clone, Debug, PartialEq)]
pub enum Act {
    /// `text`: says something.
    Text(String),
    /// `structured`: answers with data; through the tool for it if there is one, as JSON in text otherwise.
    Structured(Value),
    /// `calls`, or one call alone.
    Calls(Vec<Call>),
    /// Misbehaves.
    Fail(Failure),
}

/// A call of a tool.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Call {
    /// Runs a command with whatever tool runs commands.
    Shell(String),
    /// Writes a file (path, content) with whatever tool writes files, or the shell if there is none.
    Write(String, String),
    /// Calls the tool of an MCP server, by the name the server gives it. An agent that does not offer it is told so in text.
    Mcp(String, Value),
    /// Calls a tool by the name the agent gives it, offered or not.
    Tool(String, Value),
}

/// Ways in which a model's server lets an agent down.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Failure {
    /// A status that is no success.
    Http(Http),
    /// Success, with a body that means nothing.
    Garbage,
    /// The answer begins, and its stream ends in order too early.
    Cut,
    /// The answer begins, and the connection breaks.
    Torn,
    /// The answer begins, and then nothing comes any more.
    Stall,
    /// Nothing comes, not even headers.
    Hang,
}

/// An error as an answer, in the shape that the interface gives its errors.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Http {
    /// The status.
    pub status: u16,
    /// Text is the message of the error; an object is laid over it, to say another `type` or more fields.
    #[serde(default)]
    pub body: Value,
    /// Headers besides.
    #[serde(default)]
    pub headers: BTreeMap<String, String>,
    /// The body is sent as it is.
    #[serde(default)]
    pub raw: bool,
    /// After how many seconds to ask again, said in each way that the interface has for it.
    #[serde(default)]
    pub retry_after: Option<u32>,
    /// When the limit is lifted, in seconds since 1970, said in each way that the interface has for it.
    #[serde(default)]
    pub resets_at: Option<u32>,
}

/// What a step is said to have cost, in tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Usage {
    /// All that was read.
    pub input: u32,
    /// What was written.
    pub output: u32,
    /// How much of what was read came from a cache.
    pub cached: u32,
}

impl Default for Usage {
    fn default() -> Self {
        Self { input: 120, output: 30, cached: 0 }
    }
}

/// Why something is no step.
#[derive(Debug, thiserror::Error)]
pub enum Wrong {
    /// It is neither a word nor an object.
    #[error("a step is an object, or one of `garbage`, `cut`, `torn`, `stall`, `hang`; not `{0}`")]
    Form(Value),
    /// It has no act, or several.
    #[error("a step has one act, not {}: {}", .0.len(), .0.join(", "))]
    Acts(Vec<String>),
    /// There is no such act, or it is said wrongly.
    #[error("`{act}`: {source}")]
    Act {
        /// Its name.
        act: String,
        /// What is wrong with it.
        source: serde_json::Error,
    },
    /// Nothing is to be called.
    #[error("`calls` is empty")]
    NoCalls,
    /// A step that behaves is said to do so only sometimes.
    #[error("`times` is only for steps that misbehave")]
    Times,
    /// Nobody could send that.
    #[error("`{0}` is no status of an error: 300 to 599 are")]
    Status(u16),
    /// Nobody could send that either.
    #[error("`{0}` is no header")]
    Header(String),
}

impl TryFrom<Value> for Step {
    type Error = Wrong;

    fn try_from(value: Value) -> Result<Self, Wrong> {
        let mut fields = match value {
            Value::String(word) => Map::from_iter([(word, Value::Null)]),
            Value::Object(fields) => fields,
            other => return Err(Wrong::Form(other)),
        };
        let usage = fields.shift_remove("usage").map(|it| read("usage", it)).transpose()?.unwrap_or_default();
        let times = fields.shift_remove("times").map(|it| read("times", it)).transpose()?;
        if fields.len() != 1 {
            return Err(Wrong::Acts(fields.into_iter().map(|(name, _)| name).collect()));
        }
        let Some((name, value)) = fields.into_iter().next() else { return Err(Wrong::Acts(Vec::new())) };
        let act = Act::read(&name, value)?;
        if times.is_some() && !matches!(act, Act::Fail(_)) {
            return Err(Wrong::Times);
        }
        Ok(Self { act, usage, times })
    }
}

impl Act {
    fn read(name: &str, value: Value) -> Result<Self, Wrong> {
        let act = match name {
            "text" => Self::Text(read(name, value)?),
            "structured" => Self::Structured(value),
            "calls" => Self::Calls(read(name, value)?),
            "shell" | "write" | "mcp" | "tool" => Self::Calls(vec![variant(name, value)?]),
            _ => Self::Fail(variant(name, value)?),
        };
        match &act {
            Self::Calls(calls) if calls.is_empty() => return Err(Wrong::NoCalls),
            Self::Fail(Failure::Http(http)) => http.check()?,
            _ => {}
        }
        Ok(act)
    }
}

impl Http {
    fn check(&self) -> Result<(), Wrong> {
        if !(300..=599).contains(&self.status) {
            return Err(Wrong::Status(self.status));
        }
        for (name, value) in &self.headers {
            let sound = axum::http::HeaderName::try_from(name).is_ok()
                && axum::http::HeaderValue::try_from(value).is_ok();
            if !sound {
                return Err(Wrong::Header(name.clone()));
            }
        }
        Ok(())
    }
}

fn read<T: serde::de::DeserializeOwned>(act: &str, value: Value) -> Result<T, Wrong> {
    serde_json::from_value(value).map_err(|source| Wrong::Act { act: act.to_owned(), source })
}

fn variant<T: serde::de::DeserializeOwned>(name: &str, value: Value) -> Result<T, Wrong> {
    read(name, Value::Object(Map::from_iter([(name.to_owned(), value)])))
}
