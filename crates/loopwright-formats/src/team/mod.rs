//! The files of a team's session: `status.json`, `tasks.yaml` and `acceptance.json` in `.agents-work/<session>/`.
//!
//! Values in, values out: whoever calls has read the JSON or YAML and knows in which line a field stands. Two generations
//! of these files are in use, and agents leave quotes out; all of it is read. Nothing is left out unsaid: what cannot be
//! understood is a [`Problem`], and a check that nobody wrote down is one for a person.

pub mod acceptance;
pub mod decisions;
pub mod status;
pub mod tasks;
mod words;

pub use self::words::Check;

use serde_json::Value;

/// Something that is wrong with a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// The field, as a dotted path; empty for the whole file. It may be one that is not there.
    pub field: String,
    /// What is wrong: a fragment in lower case, values in backticks.
    pub message: String,
}

impl Problem {
    pub(crate) fn new(field: impl Into<String>, message: impl Into<String>) -> Self {
        Self { field: field.into(), message: message.into() }
    }
}

/// A change to a file: a value that is set, or added to a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// The field, as a dotted path.
    pub field: String,
    /// What it becomes, or gets.
    pub value: Value,
    /// Whether it is one more entry of a list.
    pub adds: bool,
}

impl Change {
    pub(crate) fn set(field: impl Into<String>, value: impl Into<Value>) -> Self {
        Self { field: field.into(), value: value.into(), adds: false }
    }

    pub(crate) fn add(field: impl Into<String>, value: impl Into<Value>) -> Self {
        Self { field: field.into(), value: value.into(), adds: true }
    }
}
