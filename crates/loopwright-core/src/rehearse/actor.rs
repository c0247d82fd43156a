//! Who decides what comes back, and in which words.

use indexmap::IndexMap;
use serde::Serialize;

use crate::definition::{State, Workflow};
use crate::machine::Run;
use crate::name::Name;

/// Decides what comes back.
pub trait Actor {
    /// How the work of a state comes out. `None` stops the play there.
    fn come_out(&mut self, moment: &Moment<'_>) -> Option<Play>;
    /// Values of facts that are read. A fact left out is reported.
    fn facts(&mut self, moment: &Moment<'_>, facts: &[Name]) -> IndexMap<Name, Name>;
    /// Which of these documents differ from the start of the run.
    fn changed(&mut self, moment: &Moment<'_>, documents: &[Name]) -> Vec<Name>;
    /// What a loop finds. `None` stops the play there.
    fn items(&mut self, moment: &Moment<'_>, list: &str) -> Option<Listing>;
    /// The verb a person says to a resting run. `None` leaves it resting.
    fn verb(&mut self, moment: &Moment<'_>, verbs: &[Name]) -> Option<Name>;
    /// How an item of a child is lost instead of being run. `None` runs it.
    fn lost(&mut self, _moment: &Moment<'_>) -> Option<Play> {
        None
    }
    /// Documents an item of a child wrote, besides what its states did.
    fn wrote_inside(&mut self, _moment: &Moment<'_>) -> Vec<Name> {
        Vec::new()
    }
    /// Documents a person edits before the run goes on.
    fn edits(&mut self, moment: &Moment<'_>) -> Vec<Name>;
    /// Documents a person edited before they answered or said what they just did.
    fn edited(&mut self) -> Vec<Name> {
        Vec::new()
    }
    /// A state came out with a signal without being asked: it does no work, or its gates were not settled.
    fn passed(&mut self, _child: Option<&Name>, _state: &State, _signal: &Name) {}
}

/// Where the run stands when something is asked of an actor.
pub struct Moment<'a> {
    /// The workflow.
    pub workflow: &'a Workflow,
    /// The run, or the child run.
    pub run: &'a Run,
    /// The state.
    pub state: &'a State,
}

/// What a loop finds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Listing {
    /// These items.
    Ids(Vec<String>),
    /// Items whose dependencies go in a circle.
    Unordered,
    /// One item more than there may be.
    TooMany,
    /// It could not be found out.
    Failed(Name),
}

/// How the work of a state is made to come out.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct Play {
    /// The signal; the best if it is left out.
    pub signal: Option<Name>,
    /// Finite fields that come along.
    pub fields: IndexMap<Name, Name>,
    /// Whether a judge reports what was handed to the last repair.
    pub same_again: Option<bool>,
    /// What its finding is about.
    pub topic: Option<Name>,
    /// Facts that hold from here on.
    pub facts: IndexMap<Name, Name>,
    /// Documents that differ from the start, from here on.
    pub changed: Option<Vec<Name>>,
    /// Documents somebody edited while it waited for a person, or before a state that only looks did so.
    pub edited: Option<Vec<Name>>,
    /// Documents it wrote; by default all it may, when it gives a verdict.
    pub wrote: Option<Vec<Name>>,
    /// The ids a loop finds.
    pub items: Option<Vec<String>>,
}
