//! Agents: whoever does the work of a role. An agent is given a prompt and gives an answer; it never decides what follows.

mod answer;
mod command;

use std::path::{Path, PathBuf};
use std::time::Duration;

use loopwright_core::machine::Cost;

pub(crate) use self::answer::{Returns, Wanted, understood};
pub use self::command::CommandAgent;
use crate::process::{Cancel, Supervisor};

/// One call of an agent.
#[derive(Clone, Debug)]
pub struct Call {
    /// What it is told.
    pub prompt: String,
    /// Where it works.
    pub folder: PathBuf,
    /// What its environment says about the call.
    pub environment: Vec<(String, String)>,
    /// The longest it may take.
    pub wall: Duration,
    /// The longest it may say nothing.
    pub idle: Duration,
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
    /// All it said, for people who want to know.
    pub transcript: String,
    /// What it cost.
    pub cost: Cost,
}

/// Whoever can be called.
pub trait Agent: Send + Sync {
    /// What it needs and is not there, in words, as far as that can be told before it is called from a folder.
    fn missing(&self, _folder: &Path) -> Option<String> {
        None
    }

    /// Calls it and waits for its answer.
    fn call(&self, call: &Call, supervisor: &Supervisor, cancel: &Cancel) -> std::io::Result<Reply>;
}
