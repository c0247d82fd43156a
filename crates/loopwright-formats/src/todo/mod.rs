//! Issues in a `TODO` folder, one `<ID>.md` a file, with a `README.md` that lists them by category; and the task
//! specifications `task-<n>.md` that one of them is split into.
//!
//! Read however people write them: front matter or lines such as `Status: Todo`, boxes, tables, links or bare ids. Changed
//! by span, so that every other byte stays; what came out is read again, and refused if anything else reads differently.
//! What cannot be understood is a [`Problem`], never left out.

mod body;
mod change;
mod check;
mod comments;
mod conflict;
mod draft;
mod entries;
mod fields;
mod issue;
mod lists;
mod merged;
mod parent;
mod readme;
mod rename;
mod spelled;
mod task;
mod tracker;
mod words;

use serde::Serialize;

pub use self::body::Criterion;
pub use self::change::{get, set};
pub use self::check::{Finding, Folder, Report, check};
pub use self::comments::{comment, with_comment};
pub use self::conflict::{conflict_line, has_conflict, resolved, sides};
pub use self::draft::Draft;
pub use self::entries::Entry;
pub use self::issue::{Issue, Lines, below};
pub use self::merged::merged_readme;
pub use self::parent::{parent_in_step, shown_in_parent, with_sub_issue, without_sub_issue};
pub use self::readme::{
    CATEGORY, Category, Readme, readme_in_step, shown_in_readme, with_entries, with_entry, without_entry,
};
pub use self::rename::{Meant, listed_as, referred, renamed};
pub use self::task::{Task, unknown};
pub use self::tracker::{Branch, Standing, Tracker, place};
pub use self::words::{is_id, parts_of};

/// The file that lists issues by category.
pub const README: &str = "README.md";

/// How far an issue is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub enum Status {
    /// Nobody has begun.
    #[default]
    Todo,
    /// Somebody is at it.
    #[serde(rename = "In Progress")]
    InProgress,
    /// It is done.
    Done,
}

impl Status {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Todo, Self::InProgress, Self::Done];

    /// As it is written.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Todo => "Todo",
            Self::InProgress => "In Progress",
            Self::Done => "Done",
        }
    }

    /// What people mean by a word.
    pub fn of(word: &str) -> Option<Self> {
        let letters = word.chars().filter(|it| it.is_alphanumeric()).flat_map(char::to_lowercase);
        Some(match letters.collect::<String>().as_str() {
            "todo" | "open" | "new" | "backlog" => Self::Todo,
            "inprogress" | "doing" | "started" | "wip" | "active" => Self::InProgress,
            "done" | "closed" | "complete" | "completed" | "finished" => Self::Done,
            _ => return None,
        })
    }
}

/// Something that is wrong with a file.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Problem {
    /// The file, as a name in the folder. Empty for the text at hand.
    pub file: String,
    /// The line, counted from 1.
    pub line: usize,
    /// What is wrong: a fragment in lower case, values in backticks.
    pub message: String,
}

impl Problem {
    /// A problem of the text at hand.
    fn new(line: usize, message: impl Into<String>) -> Self {
        Self { file: String::new(), line, message: message.into() }
    }

    /// The same problem, of a named file.
    #[must_use]
    pub fn of(mut self, file: &str) -> Self {
        if self.file.is_empty() {
            file.clone_into(&mut self.file);
        }
        self
    }
}

impl std::fmt::Display for Problem {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.file.as_str() {
            "" => write!(f, "line {}: {}", self.line, self.message),
            file => write!(f, "{file}, line {}: {}", self.line, self.message),
        }
    }
}
