//! The record of a feature: `.meta.json` and `.review-history.md` in `docs/features/<number>-<name>/`.
//!
//! Values in, values out, as with a team's files: whoever calls has read the JSON and knows in which line a field stands.
//! These files were written by agents for most of their life, and every agent had its own words. All of them are read:
//!
//! - `currentPhase`, and `lastCompletedPhase` which came later; `name` and `slug`; `started` and `startedAt`; `iterations`
//!   and `reviewIterations`, or counted by a review within the phase; modes and states of work in other letters and words.
//! - Phases as a map, as a list, beside their map (`phases_extra`) or at the top of the file.
//!
//! What is odd and can be understood is a remark; what cannot, so that somebody would go on from the wrong place, is a
//! problem. Both have a place. A change touches one field, in the words the file has for it, and keeps every other.

mod changes;
pub mod history;
mod order;
mod phases;
mod read;
mod words;

use indexmap::IndexMap;
use serde::Serialize;

pub use self::changes::{append, changes};
pub use self::order::{Way, way};
pub use self::words::{PHASES, Status};
pub use super::team::{Change, Problem};

/// What a `.meta.json` says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Meta {
    /// Its number, as text: `007`.
    pub id: String,
    /// What it is called besides.
    pub name: String,
    /// How much ceremony. A word of others stays as it is, in small letters.
    pub mode: String,
    /// Whether it is over, and how.
    pub status: Status,
    /// When it was begun.
    pub created: Option<String>,
    /// When it was over, however it ended.
    pub completed: Option<String>,
    /// Where its worktree is, from the main one.
    pub worktree: Option<String>,
    /// Its branch.
    pub branch: Option<String>,
    /// The phase that was completed last.
    pub last: Option<String>,
    /// What is known of each phase, in the order written.
    pub phases: IndexMap<String, Phase>,
    /// Phases that were skipped, each once.
    pub skipped: Vec<String>,
    /// Features of a project. Of a feature there are none.
    pub features: Vec<String>,
    /// Whether it is the record of a project, which has no phases of its own.
    pub is_project: bool,
    /// What is odd, and can be understood all the same.
    pub remarks: Vec<Problem>,
    /// What cannot be understood.
    pub problems: Vec<Problem>,
}

/// What is known of a phase.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Phase {
    /// Where it stands in the file.
    #[serde(skip)]
    pub place: String,
    /// When it was begun. Somebody who noted no time noted that it was.
    pub started: Option<String>,
    /// When it was completed.
    pub completed: Option<String>,
    /// Whether somebody tried what it made.
    pub verified: bool,
    /// Rounds of its review.
    pub iterations: u64,
    /// What reviewers still had to say when it was completed.
    #[serde(rename = "reviewerNotes")]
    pub notes: Vec<String>,
}

impl Phase {
    /// Begun, and not completed.
    pub fn is_partial(&self) -> bool {
        self.started.is_some() && self.completed.is_none()
    }
}

/// A time that nobody noted.
pub const UNKNOWN: &str = "unknown";
