//! Roles and questions: who does work or decides, and how that can come out.

use indexmap::IndexMap;
use serde::Serialize;

use super::{Given, Table};
use crate::name::Name;
use crate::problem::Place;

/// Who does agent work, and within what bounds.
#[derive(Clone, Debug)]
pub struct Role {
    /// Which agents can do it, by names the engine's configuration knows, the one that is wanted first.
    pub agents: Vec<Name>,
    /// The model the first of them is asked for, if nobody configured another: a text. Empty: its own choice.
    pub model: Option<String>,
    /// How hard it is to think, in its own words: a text.
    pub effort: Option<String>,
    /// The prompt: a file of the folder or the text itself.
    pub prompt: Option<Table<String>>,
    /// What the prompt may use.
    pub given: Table<Vec<Given>>,
    /// Documents it may change.
    pub may_write: Table<Vec<Name>>,
    /// How it can come out, best first.
    pub verdicts: Outcomes,
    /// What it reports besides.
    pub findings: Option<Findings>,
    /// A JSON Schema for what comes with the verdict.
    pub returns: Option<String>,
    /// Whether it may end with a question.
    pub asks: bool,
    /// Named rules its changes must obey.
    pub rules: Vec<Name>,
    /// What it may not use.
    pub deny: Vec<Name>,
    /// The longest one call may take, in milliseconds.
    pub timeout: u64,
    /// The longest it may be silent, in milliseconds.
    pub idle: u64,
    /// The most one call may cost, in thousandths of a dollar.
    pub costs: Option<u64>,
    /// The most tokens one call may take.
    pub tokens: Option<u64>,
    /// Where it is declared.
    pub place: Place,
}

/// How something can come out, best first, with the finite fields that come along.
pub type Outcomes = IndexMap<Name, Fields>;

/// The finite fields that come with a verdict or an answer.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Fields {
    /// Field to values.
    pub fields: IndexMap<Name, Vec<Name>>,
    /// Whether a note comes along.
    pub note: Note,
}

/// Whether a note comes with an answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Note {
    /// No note.
    #[default]
    None,
    /// A person may write one.
    Optional,
    /// A person must write one.
    Required,
}

/// What a judge reports besides its verdict.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Findings {
    /// How bad a finding can be, worst last.
    pub severity: Vec<Name>,
    /// What it can be about.
    pub topic: Vec<Name>,
    /// A finding this bad, or about this, makes the verdict at least this bad.
    pub at_least: IndexMap<Name, Name>,
    /// A finding about this is at most this bad.
    pub at_most: IndexMap<Name, Name>,
    /// Whether a verdict that is not the best needs a finding that asks for one as bad.
    pub exact: bool,
}

impl Findings {
    /// The verdicts that a finding asks for at least: by how bad it is, and by what it is about.
    pub fn asks_for(&self, topic: Option<&Name>, severity: &Name) -> impl Iterator<Item = &Name> {
        let by = |word: &Name| self.at_least.get(&**word);
        by(severity).into_iter().chain(topic.and_then(by))
    }
}

/// What a person is asked.
#[derive(Clone, Debug)]
pub struct Question {
    /// The question.
    pub asks: String,
    /// A stable id for its record.
    pub id: Option<Name>,
    /// What the person is shown.
    pub shows: Vec<Given>,
    /// The answers, best first.
    pub answers: Outcomes,
    /// How often an invalid or missing answer is asked for again.
    pub re_ask: Option<u32>,
    /// What happens when nobody is there.
    pub unattended: Unattended,
    /// Whether it is asked once per open finding.
    pub per_finding: bool,
    /// Where it is declared.
    pub place: Place,
}

/// What happens to a question when nobody is there.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Unattended {
    /// The run waits.
    Wait,
    /// It comes out this way (an answer, or `deferred`).
    As(Name),
}
