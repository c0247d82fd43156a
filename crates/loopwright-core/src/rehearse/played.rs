//! A play that is over: where it went, and why it stopped.

use indexmap::IndexMap;
use serde::Serialize;

use crate::machine::Run;
use crate::name::Name;

/// One state of the walk and how it came out.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct WalkStep {
    /// The state, `child.state` in a child.
    pub state: Name,
    /// The item, in a child.
    pub item: Option<String>,
    /// How it came out; `None` where the walk stopped.
    pub signal: Option<Name>,
    /// How many agents were called.
    pub calls: u32,
    /// The budget it spent.
    pub spent: Option<Name>,
    /// Whether a person brought it about.
    pub person: bool,
}

/// Why a play stopped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stop {
    /// The run is over.
    Ended(Name),
    /// It rests, or waits for an answer.
    Waiting(Name),
    /// No route: what `check` calls a hole.
    NoRoute(Name, Name),
    /// A fact was read that has no value.
    NoFact(Name, Name),
    /// A verb that is not taken there.
    VerbRefused(Name),
    /// Something else the machine refused.
    Refused(String),
    /// Too many steps.
    TooLong,
}

/// A play that is over.
#[derive(Clone, Debug)]
pub struct Played {
    /// Why it stopped.
    pub stop: Stop,
    /// The states it went through.
    pub walk: Vec<WalkStep>,
    /// The run as it was left.
    pub run: Run,
    /// Agent calls by role, children included.
    pub calls: IndexMap<Name, u32>,
    /// What was spent, children included.
    pub spent: IndexMap<Name, u32>,
    /// Gates a state needed when it was entered, that were not settled.
    pub unsettled: Vec<(Name, Vec<Name>)>,
    /// What steps said of findings that did not come true, in sentences.
    pub untrue: Vec<String>,
    /// The most agent calls between two things a person did.
    pub longest_stretch: u32,
}

/// Why a play stopped, in words.
pub(super) fn describe(stop: &Stop) -> String {
    match stop {
        Stop::Ended(state) => format!("it ended at `{state}`"),
        Stop::Waiting(state) => format!("it waits at `{state}`"),
        Stop::NoRoute(state, signal) => format!("`{state}` has no route for `{signal}`"),
        Stop::NoFact(state, fact) => format!("`{state}` reads the fact `{fact}`, which has no value here"),
        Stop::VerbRefused(verb) => format!("the verb `{verb}` is refused"),
        Stop::Refused(why) => format!("the machine refused: {why}"),
        Stop::TooLong => "it went on and on".to_owned(),
    }
}

impl std::fmt::Display for Stop {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(&describe(self))
    }
}
