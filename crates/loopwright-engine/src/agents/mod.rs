//! Agents: whoever does the work of a role. An agent is given a prompt and gives an answer; it never decides what follows.

mod answer;
mod command;
mod crew;
mod desk;
mod wanted;

use std::path::{Path, PathBuf};
use std::time::Duration;

use loopwright_core::machine::Cost;
use serde_json::Value;

pub(crate) use self::answer::{taken, understood};
pub use self::command::CommandAgent;
pub use self::crew::{Chosen, Crew, Wish};
pub(crate) use self::desk::{Desk, Documents};
pub(crate) use self::wanted::{Returns, Wanted};
use crate::process::{Cancel, Fence, Supervisor};

/// One call of an agent.
#[derive(Clone, Debug)]
pub struct Call {
    /// What it is told.
    pub prompt: String,
    /// Where it works.
    pub folder: PathBuf,
    /// A folder of its own, that nobody else uses and that is gone after the call.
    pub own: PathBuf,
    /// What its environment says about the call.
    pub environment: Vec<(String, String)>,
    /// The longest it may take.
    pub wall: Duration,
    /// The longest it may say nothing.
    pub idle: Duration,
    /// What it may do.
    pub may: May,
    /// The model it is to use, and how hard it is to think, where somebody said so.
    pub model: Option<String>,
    /// How hard it is to think.
    pub effort: Option<String>,
    /// The same, as the workflow has it: where nobody said anything, nor configured it for the agent.
    pub usual: Usual,
    /// What it is given besides, on its command line.
    pub arguments: Vec<String>,
    /// How it gets at the tools it hands its answer in with.
    pub tools: Option<Tools>,
    /// What its answer has to fit, if it is to be given as data.
    pub schema: Option<Value>,
    /// A session that goes on.
    pub session: Option<Session>,
    /// The most it may cost, in thousandths of a dollar.
    pub costs: Option<u64>,
    /// What it may reach of the files there are, where somebody put up a fence around it.
    pub fence: Option<Fence>,
}

/// What is asked of an agent where nobody says otherwise.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Usual {
    /// The model.
    pub model: Option<String>,
    /// How hard it is to think.
    pub effort: Option<String>,
}

/// What an agent may do in a call. The system keeps it to that as far as the system can, and the agent is told.
#[expect(clippy::struct_excessive_bools, reason = "each is a thing of its own")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct May {
    /// Write files where it works.
    pub write: bool,
    /// Use git for more than reading.
    pub git: bool,
    /// Look things up elsewhere.
    pub network: bool,
    /// Run commands.
    pub shell: bool,
}

/// A program that serves tools over its standard input and output, for one call.
#[derive(Clone, Debug)]
pub struct Tools {
    /// The program.
    pub program: PathBuf,
    /// Its arguments.
    pub arguments: Vec<String>,
    /// What its environment says about the call.
    pub environment: Vec<(String, String)>,
}

/// A session with an agent.
#[derive(Clone, Debug, PartialEq)]
pub struct Session {
    /// How the agent calls it.
    pub id: String,
    /// What the agent says about it besides, for its own use when it goes on.
    pub state: Value,
}

/// How a call of an agent came back.
#[derive(Clone, Debug, Default)]
pub struct Reply {
    /// The failure it came to instead of an answer, and why.
    pub failed: Option<(&'static str, String)>,
    /// It has no more to give for now, and how long that lasts: nothing it came to.
    pub limited: Option<Duration>,
    /// The answer, as the agent put it.
    pub text: String,
    /// The answer as data, where a schema was given and kept to.
    pub structured: Option<Value>,
    /// Whether its end can be taken for the end of its work. Most agents end just the same when something was cut off.
    pub trusted: bool,
    /// The session, if it can go on.
    pub session: Option<Session>,
    /// What it wanted to do and was not allowed, in words.
    pub denied: Vec<String>,
    /// All it said, for people who want to know.
    pub transcript: String,
    /// What it cost.
    pub cost: Cost,
}

/// What an agent says about what it used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Says {
    /// How many tokens.
    pub tokens: bool,
    /// What they cost.
    pub money: bool,
}

/// How long an agent that has no more to give is left alone, if it says so or not.
pub fn a_while(said: Option<Duration>) -> Duration {
    const A_WHILE: Duration = Duration::from_mins(15);
    // However soon it is said to be: one that is wrong about it would be called without end.
    const AT_LEAST: Duration = Duration::from_secs(30);
    said.unwrap_or(A_WHILE).max(AT_LEAST)
}

/// Whoever can be called.
pub trait Agent: Send + Sync {
    /// What it needs and is not there, in words, as far as that can be told before it is called from a folder.
    fn missing(&self, _folder: &Path) -> Option<String> {
        None
    }

    /// What the system does not keep it to on this machine, in words.
    fn unbounded(&self) -> Option<String> {
        None
    }

    /// What it says about what it used.
    fn says(&self) -> Says {
        Says::default()
    }

    /// A text without what it was given that nobody is to read.
    fn without_secrets(&self, text: &str) -> String {
        text.to_owned()
    }

    /// Whether it can be given tools.
    fn takes_tools(&self) -> bool {
        false
    }

    /// Calls it and waits for its answer.
    fn call(&self, call: &Call, supervisor: &Supervisor, cancel: &Cancel) -> std::io::Result<Reply>;
}
