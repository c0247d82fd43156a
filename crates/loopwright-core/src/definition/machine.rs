//! Machines: states, and what a run of them keeps count of.

use indexmap::IndexMap;

use super::{Arm, Kind, Outcome, State, Table};
use crate::fact::Expression;
use crate::language::units::{Amount, Unit};
use crate::name::Name;
use crate::problem::Place;

/// A machine: the workflow's own, or a child's.
#[derive(Clone, Debug, Default)]
pub struct Machine {
    /// The child's name; the workflow's own machine has none.
    pub name: Option<Name>,
    /// Finite variables.
    pub vars: IndexMap<Name, Variable>,
    /// How often things may happen.
    pub budgets: IndexMap<Name, Budget>,
    /// Observations with a finite domain.
    pub facts: IndexMap<Name, Fact>,
    /// Where a run can stand.
    pub states: IndexMap<Name, State>,
    /// How a run can begin.
    pub start: Vec<Start>,
    /// Gates and the states that judge them.
    pub gates: IndexMap<Name, Vec<Name>>,
}

impl Machine {
    /// A state's name as people write it: `child.state` in a child.
    pub fn qualified(&self, state: &str) -> Name {
        match &self.name {
            None => state.into(),
            Some(child) => format!("{child}.{state}").into(),
        }
    }

    /// All its arms.
    pub fn arms(&self) -> impl Iterator<Item = &Arm> {
        self.states.values().flat_map(|it| it.cells.values()).flat_map(|it| &it.arms)
    }

    /// How the machine ends, in the order declared.
    pub fn ends(&self) -> impl Iterator<Item = (&Name, Outcome)> {
        self.states.iter().filter_map(|(name, state)| match &state.kind {
            Kind::End { outcome, .. } => Some((name, *outcome)),
            _ => None,
        })
    }
}

/// How a run can begin.
#[derive(Clone, Debug)]
pub struct Start {
    /// The verb that begins it this way, if verbs do.
    pub verb: Option<Name>,
    /// Where it begins, and what is set.
    pub arm: Arm,
}

/// A finite variable.
#[derive(Clone, Debug)]
pub struct Variable {
    /// Its values.
    pub values: Vec<Name>,
    /// Its first value.
    pub start: Name,
    /// Whether a person may choose it at the start.
    pub input: bool,
    /// What it is, for people.
    pub about: Option<String>,
    /// The field of a document that says what it is at the start, if no person does: `docs.config.tries`.
    pub from: Option<String>,
    /// Where it is declared.
    pub place: Place,
}

/// A counter with a limit.
#[derive(Clone, Debug)]
pub struct Budget {
    /// The limit, perhaps by a variable.
    pub limit: Table<Amount>,
    /// What fills it again.
    pub per: Per,
    /// Whether several loops are meant to draw on it.
    pub shared: bool,
    /// Left for what comes after `over-budget`.
    pub keep: Option<Amount>,
    /// Where it is declared.
    pub place: Place,
}

impl Budget {
    /// What it counts.
    pub fn unit(&self) -> Unit {
        self.limit.values().next().map_or(Unit::Uses, |it| it.unit)
    }
}

/// What fills a budget again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Per {
    /// Nothing.
    Run,
    /// Entering the state that spends it.
    Visit,
    /// Entering one of these states.
    States(Vec<Name>),
}

/// An observation with a finite domain.
#[derive(Clone, Debug)]
pub struct Fact {
    /// Its values.
    pub values: Vec<Name>,
    /// What computes it. Absent when it did not parse.
    pub expression: Option<Expression>,
    /// The paths it reads: `docs.state.status`, `git.dirty`.
    pub reads: Vec<String>,
    /// Whether it is read at the start and kept.
    pub once: bool,
    /// Where it is declared.
    pub place: Place,
}
