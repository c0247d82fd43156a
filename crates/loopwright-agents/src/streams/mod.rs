//! What an agent's stream of events says. One file a dialect; all of them come to the same [`Said`].
//!
//! Readers take what they are given line by line, keep no more of it than they need, and never fail: a line that is
//! nothing they know says nothing.
//!
//! What they do not do: read the answer. `failed: None` says that a stream came to its own proper end without an error,
//! and no more; whether there is a verdict is decided by whoever asked for one. The outcomes of everything that was
//! seen are listed in `docs/outcomes.md`.

pub mod acp;
mod cause;
pub mod claude;
mod close;
pub mod codex;
pub mod copilot;
pub mod gemini;
mod kept;
pub mod opencode;
mod when;

use serde::{Deserialize, Serialize};
use serde_json::Value;

pub use when::Clock;

/// How the process that spoke ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// By itself, with a code: as a shell says it, so above 128 by a signal.
    Exit(i32),
    /// It was ended: it took too long.
    Timeout,
    /// It was ended: it said nothing for too long.
    Stalled,
    /// It was ended: somebody called it off.
    Cancelled,
}

/// What a whole stream says.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Said {
    /// Why there is no answer, if there is none.
    pub failed: Option<Failed>,
    /// The answer: the agent's last words.
    pub text: String,
    /// The answer as data, where the agent was given a schema and kept to it.
    pub structured: Option<Value>,
    /// The session, to be resumed by this id and nothing else.
    pub session: Option<String>,
    /// What it used, as far as it says so.
    pub usage: Usage,
    /// What it wanted to do and was not allowed, in words.
    pub denied: Vec<String>,
}

/// Why there is no answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Failed {
    /// It broke, or what it depends on did: the service failed, the stream was cut, the network is gone. May well not
    /// happen again.
    Crashed(String),
    /// It has no more to give for now.
    Limited {
        /// In its words.
        why: String,
        /// When it has again, in milliseconds since 1970, if it says so.
        until: Option<u64>,
        /// How long that lasts, in milliseconds, if it says it that way.
        lasts: Option<u64>,
    },
    /// It would not: the model refuses, or the request itself is not acceptable. Happens again.
    Refused(String),
    /// It was not allowed what it needs: no login, a key that is not valid, a tool it may not use.
    Denied(String),
    /// It used up what one call may cost.
    OverBudget(String),
    /// It took too long.
    Timeout,
    /// It said nothing for too long.
    Stalled,
    /// It was called off.
    Cancelled,
}

/// What an agent used. What it does not say is unknown, and never nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Usage {
    /// Tokens it read, those it had read before included.
    pub input: Option<u64>,
    /// Of these, tokens it had read before.
    pub cached: Option<u64>,
    /// Tokens it wrote.
    pub output: Option<u64>,
    /// What it cost, in millionths of a dollar.
    pub money: Option<u64>,
}

impl Usage {
    /// What both used together. What one of them does not say is not known of both.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        let sum = |one: Option<u64>, other: Option<u64>| Some(one?.saturating_add(other?));
        Self {
            input: sum(self.input, other.input),
            cached: sum(self.cached, other.cached),
            output: sum(self.output, other.output),
            money: sum(self.money, other.money),
        }
    }
}

/// A reader of one dialect.
pub trait Stream: Send {
    /// A line was said on the standard output. One that is longer than 16 MiB is left out by the caller.
    fn line(&mut self, line: &str);

    /// Nothing more is said. `errors` is what was said on the standard error, or the end of it.
    fn over(self: Box<Self>, end: End, errors: &str) -> Said;
}

/// The reader of a dialect, for a session that begins.
pub fn named(dialect: &str) -> Option<Box<dyn Stream>> {
    resumed(dialect, Usage::default())
}

/// The reader of a dialect, for a session that had used something before. Some agents go on counting where they were:
/// see [`codex::codex`] and [`acp::acp`].
pub fn resumed(dialect: &str, before: Usage) -> Option<Box<dyn Stream>> {
    Some(match dialect {
        "claude" => Box::new(claude::claude()),
        "codex" => Box::new(codex::codex(before)),
        "gemini" => Box::new(gemini::gemini()),
        "opencode" => Box::new(opencode::opencode()),
        "copilot" => Box::new(copilot::copilot()),
        "acp" => Box::new(acp::acp(before)),
        _ => return None,
    })
}
