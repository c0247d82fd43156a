//! What each command line is given: one file a dialect.

mod acp;
mod claude;
mod codex;
mod copilot;
mod gemini;
mod opencode;

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use loopwright_engine::agents::{Call, Says};
use serde_json::{Value, json};

use crate::acp::{McpServer, Permissions, Turn};
use crate::cli::{Settings, before};
use crate::own::{Surroundings, write};
use crate::streams::{Stream, Usage};

/// The server of the tools an answer is handed in with, as agents know it.
pub(crate) const SERVER: &str = "loopwright";

/// A command line: what it is given, and how it speaks.
pub trait Dialect: Send + Sync {
    /// Its name, which is that of its program.
    fn name(&self) -> &str;

    /// How to get it.
    fn get(&self) -> String;

    /// How to log in.
    fn log_in(&self) -> String;

    /// The oldest and the newest version it was tried with, if it was.
    fn tried(&self) -> Option<(&'static str, &'static str)>;

    /// Where its credentials are, and where they belong in a home of its own.
    fn credentials(&self, surroundings: &Surroundings) -> Vec<(PathBuf, PathBuf)>;

    /// What it needs of the environment. A name that ends with `*` stands for all that begin so.
    fn variables(&self, surroundings: &Surroundings) -> Vec<&'static str>;

    /// What in the environment logs it in.
    fn keys(&self) -> &'static [&'static str];

    /// What it is called with.
    fn order(&self, asked: &Asked<'_>) -> io::Result<Order>;

    /// Whether arguments besides go after all others.
    fn takes_more_at_the_end(&self) -> bool {
        true
    }

    /// What it says about what it used.
    fn says(&self) -> Says;

    /// What it used, where it says so elsewhere than in what it says.
    fn used(&self, _home: &Path) -> Option<Usage> {
        None
    }

    /// How it speaks.
    fn speech(&self, asked: &Asked<'_>) -> Speech;
}

/// How a command line speaks.
pub enum Speech {
    /// In a stream of events, which this one reads.
    Stream(Box<dyn Stream>),
    /// In the Agent Client Protocol: what it is asked, and under which conditions.
    Acp(Box<Turn>),
}

/// What is asked of a command line.
pub struct Asked<'a> {
    /// The call.
    pub call: &'a Call,
    /// What somebody configured.
    pub settings: &'a Settings,
    /// The machine.
    pub surroundings: &'a Surroundings,
    /// Its own home.
    pub home: &'a Path,
    /// Whether the system keeps it to its bounds.
    pub is_fenced: bool,
}

/// What a command line is called with.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Order {
    /// The arguments.
    pub arguments: Vec<String>,
    /// What its environment says besides.
    pub environment: Vec<(String, String)>,
    /// What it reads on its standard input.
    pub input: Vec<u8>,
}

impl Asked<'_> {
    /// The model somebody wants.
    pub(crate) fn model(&self) -> Option<&str> {
        let (call, usual) = (self.call.model.as_deref(), self.call.usual.model.as_deref());
        call.or(self.settings.model.as_deref()).or(usual)
    }

    /// How hard it is to think.
    pub(crate) fn effort(&self) -> Option<&str> {
        let (call, usual) = (self.call.effort.as_deref(), self.call.usual.effort.as_deref());
        call.or(self.settings.effort.as_deref()).or(usual)
    }

    /// The server of the tools, as most command lines are told of one.
    pub(crate) fn server(&self) -> Option<Value> {
        let tools = self.call.tools.as_ref()?;
        let environment: serde_json::Map<String, Value> =
            tools.environment.iter().map(|(name, it)| (name.clone(), it.as_str().into())).collect();
        Some(json!({"command": tools.program, "args": tools.arguments, "env": environment}))
    }

    /// What is asked, for one that speaks the Agent Client Protocol.
    pub(crate) fn turn(&self, mode: Option<String>) -> Box<Turn> {
        let (call, may) = (self.call, self.call.may);
        Box::new(Turn {
            cwd: call.folder.clone(),
            prompt: call.prompt.clone(),
            mcp: call.tools.as_ref().map(|it| McpServer {
                name: SERVER.to_owned(),
                command: it.program.clone(),
                args: it.arguments.clone(),
                env: it.environment.clone(),
            }),
            session: call.session.as_ref().map(|it| it.id.clone()),
            before: before(call.session.as_ref()),
            mode,
            model: self.model().map(str::to_owned),
            permissions: Permissions {
                write: may.write,
                shell: may.shell && (may.write || self.is_fenced),
                network: may.network,
            },
        })
    }

    /// Writes a file into its home. The path of it.
    pub(crate) fn keep(&self, name: &str, said: &str) -> io::Result<String> {
        let path = self.home.join(name);
        write(&path, said.as_bytes())?;
        Ok(path.to_string_lossy().into_owned())
    }
}

/// The command lines there are, the best to stand in for others first.
pub fn all() -> [Arc<dyn Dialect>; 5] {
    [
        Arc::new(claude::Claude),
        Arc::new(codex::Codex),
        Arc::new(gemini::Gemini),
        Arc::new(opencode::Opencode),
        Arc::new(copilot::Copilot),
    ]
}

/// A command line by its name.
pub fn named(name: &str) -> Option<Arc<dyn Dialect>> {
    all().into_iter().find(|it| it.name() == name)
}

/// One that speaks the Agent Client Protocol, by its program and arguments.
pub fn speaks_acp(command: Vec<String>, mode: Option<String>) -> Arc<dyn Dialect> {
    Arc::new(acp::Acp { command, mode })
}

/// Words as arguments.
fn words(all: &[&str]) -> Vec<String> {
    all.iter().map(|it| (*it).to_owned()).collect()
}

/// A variable.
fn variable(name: &str, value: &str) -> (String, String) {
    (name.to_owned(), value.to_owned())
}
