//! The files of agentd, which changes its specs first: `agentd/changes/<id>/` with `STATE.yaml`, `proposal.md`, `tasks.md`,
//! `specs/*.md` and the reviews.
//!
//! Read as a careful person reads them, not as agentd does. It loses tasks, takes a verdict out of prose, and refuses what
//! its own tools write; each place says where we differ. Nothing here fails on odd text: what is wrong is a [`Problem`].

pub mod change;
pub mod config;
pub(crate) mod graph;
pub(crate) mod markdown;
pub(crate) mod page;
pub mod proposal;
pub mod review;
pub mod spec;
pub mod state;
mod task_id;
pub mod tasks;
pub mod verdict;
pub(crate) mod yaml;

use serde::Serialize;

/// How much a problem matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// It has to be repaired.
    High,
    /// It should be repaired.
    Medium,
    /// It is worth a look.
    Low,
}

/// Something that is wrong with a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Problem {
    /// How much it matters.
    pub severity: Severity,
    /// The file, relative to the folder of the change. Empty for the text at hand.
    pub file: String,
    /// The line, counted from 1.
    pub line: Option<usize>,
    /// What is wrong: a fragment in lower case, values in backticks.
    pub message: String,
}

impl Problem {
    /// A problem of the text at hand.
    pub(crate) fn new(
        severity: Severity,
        line: impl Into<Option<usize>>,
        message: impl Into<String>,
    ) -> Self {
        Self { severity, file: String::new(), line: line.into(), message: message.into() }
    }

    /// The same problem, of a named file.
    pub(crate) fn of(mut self, file: &str) -> Self {
        if self.file.is_empty() {
            file.clone_into(&mut self.file);
        }
        self
    }
}

/// Whether a change or a spec may be called so: letters `a-z`, digits and dashes.
pub fn is_id(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|it| it.is_ascii_lowercase() || it.is_ascii_digit() || it == b'-')
}
