//! People: who is asked, and who is told.

use indexmap::IndexMap;
use loopwright_core::definition::Outcomes;
use loopwright_core::machine::{Event, RunView};
use loopwright_core::name::Name;
use serde::{Deserialize, Serialize};

/// A question, as a person is asked it.
#[derive(Clone, Debug)]
pub struct Asked {
    /// The run.
    pub run: String,
    /// What the workflow calls the question.
    pub name: Name,
    /// What the question goes by.
    pub id: String,
    /// The visit of a state that asks it. Questions per finding are asked several times in one.
    pub visit: String,
    /// The finding it is about, if it is asked once per finding.
    pub finding: Option<Found>,
    /// The question.
    pub text: String,
    /// What the person is shown: names and texts.
    pub shows: Vec<(String, String)>,
    /// The answers, best first.
    pub answers: Outcomes,
}

/// A finding that somebody is asked about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// What it goes by.
    pub id: String,
    /// How bad it is.
    pub severity: Name,
    /// The file it is about, if that was said.
    pub file: String,
    /// The remark.
    pub text: String,
}

impl std::fmt::Display for Found {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let file = if self.file.is_empty() { String::new() } else { format!(", {}", self.file) };
        write!(formatter, "{} ({}{file}): {}", self.id, self.severity, self.text)
    }
}

/// An answer.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", default, deny_unknown_fields)]
pub struct Answered {
    /// Which.
    pub answer: Name,
    /// What comes along.
    pub fields: IndexMap<Name, Name>,
    /// In the person's own words.
    pub note: String,
    /// The finding it is about, where a question is asked once per finding.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub finding: Option<String>,
}

/// Something a person leaves for a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", rename_all_fields = "kebab-case", deny_unknown_fields)]
pub enum Message {
    /// A verb.
    Say {
        /// The verb.
        verb: Name,
        /// Inputs given with it.
        #[serde(default)]
        inputs: IndexMap<Name, String>,
    },
    /// An answer to the question that waits.
    Answer(Answered),
    /// More of a budget.
    Raise {
        /// The budget.
        budget: Name,
        /// How many more.
        by: u32,
    },
    /// The run is over.
    Stop {
        /// Why.
        reason: String,
    },
}

/// What becomes of a question that nobody answers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Policy {
    /// What the workflow declares for that (`unattended`). Where it declares nothing, the run waits.
    #[default]
    Declared,
    /// The run waits, whatever the workflow declares.
    Wait,
}

/// Whoever can be asked while a run is driven.
pub trait People: Send + Sync {
    /// Asks a question. `None`: nobody is there.
    fn ask(&self, asked: &Asked) -> Option<Answered>;

    /// What becomes of a question that was not answered.
    fn policy(&self) -> Policy {
        Policy::Declared
    }
}

/// Nobody.
#[derive(Clone, Copy, Debug, Default)]
pub struct Nobody;

impl People for Nobody {
    fn ask(&self, _asked: &Asked) -> Option<Answered> {
        None
    }
}

/// Whoever watches a run. What it is told is on record already.
pub trait Watch: Send + Sync {
    /// Something was written down about a run.
    fn happened(&self, run: &str, event: &Event, view: &RunView);
    /// The run tells people something.
    fn said(&self, run: &str, text: &str);
}

/// Watches nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct Unwatched;

impl Watch for Unwatched {
    fn happened(&self, _run: &str, _event: &Event, _view: &RunView) {}
    fn said(&self, _run: &str, _text: &str) {}
}
