//! A run: the fold of its events.

use indexmap::IndexMap;
use serde::{Deserialize, Serialize};

use super::ahead::Early;
use super::decisions::Decision;
use super::effect::EffectId;
use super::event::{Outcome, Outer, Shown, Site};
use super::ledger::Ledger;
use crate::definition::{Budget, Condition, Kind, Machine, Per, State, Table, Term, Workflow};
use crate::language::units::Unit;
use crate::name::Name;
use crate::problem::Place;

/// Where a run stands, and everything it remembers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct Run {
    /// The digest of the definition it is pinned to.
    pub definition: String,
    /// The child machine it runs, if it is a child run.
    pub child: Option<Name>,
    /// What it is about.
    pub subject: String,
    /// The item, in a child run.
    pub item: Option<String>,
    /// The parent's loop, in a child run.
    #[serde(default)]
    pub of: Option<Name>,
    /// Values given by people.
    pub inputs: IndexMap<Name, String>,
    /// Where it works.
    #[serde(default)]
    pub site: Option<Site>,
    /// What documents show of it.
    #[serde(default, skip_serializing_if = "Shown::is_nothing")]
    pub shown: Shown,
    /// Where it stands.
    pub at: At,
    /// The phase it shows.
    pub phase: Option<Name>,
    /// Its variables.
    pub vars: IndexMap<Name, Name>,
    /// Facts that were read once.
    pub once: IndexMap<Name, Name>,
    /// What is left of each budget; one with a table has a line per row.
    pub left: IndexMap<Name, u64>,
    /// How often each budget was spent, ever.
    pub spent: IndexMap<Name, u32>,
    /// The same of items that ended, by item.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub spent_by_item: IndexMap<String, IndexMap<Name, u32>>,
    /// How often each state was entered.
    pub visits: IndexMap<Name, u32>,
    /// How each state last came out.
    pub last: IndexMap<Name, Last>,
    /// States that ever came out with a signal that is no failure.
    pub ever: Vec<Name>,
    /// Where gates stand.
    pub gates: IndexMap<Name, GateRecord>,
    /// A digest of what each gate last passed, also when a later round opened it.
    pub passed: IndexMap<Name, String>,
    /// What judges found.
    pub ledger: Ledger,
    /// What judges said whose turn has not come, by the state in which they judge.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub heard: IndexMap<Name, Early>,
    /// Lists that arms recorded to.
    pub lists: IndexMap<Name, Vec<Record>>,
    /// What people were asked, in order, and what became of it. Of items that ended, too.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub decisions: Vec<Decision>,
    /// What a person noted with their last answer, until somebody worked with it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub noted: String,
    /// Gates that were passed over, in order.
    pub forced: Vec<Name>,
    /// What led to the present state.
    pub cause: Option<Cause>,
    /// What it may read of its parent.
    pub outer: Option<Box<Outer>>,
    /// Calls made so far, by role.
    pub calls: IndexMap<Name, u32>,
    /// Items of loops that ended, by state: item to end.
    pub items: IndexMap<Name, IndexMap<String, Name>>,
    /// What the items of loops said when they were last listed, by state: item to digest.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub listed: IndexMap<Name, IndexMap<String, String>>,
    /// What those items have to come after, by state: item to others.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub after: IndexMap<Name, IndexMap<String, Vec<String>>>,
    /// How many items may be at work side by side, if a person said so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub jobs: Option<u32>,
    /// Gates that were passed over in those items, by state and item.
    #[serde(default)]
    pub forced_items: IndexMap<Name, IndexMap<String, Vec<Name>>>,
    /// The arms the last event took, in order: a state that does no work is passed at once.
    #[serde(skip)]
    pub taken: Vec<Taken>,
}

/// Where a run stands.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct At {
    /// The state.
    pub state: Name,
    /// Its how-manieth visit, from one.
    pub visit: u32,
    /// The how-manieth try of this visit, from one.
    pub attempt: u32,
    /// Who led here, when the state may lead back.
    pub from: Option<Name>,
    /// The phase that was shown before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<Name>,
    /// What is going on.
    pub stage: Stage,
    /// How many actions of this visit are done. Another try goes on after them.
    #[serde(default)]
    pub acted: u32,
    /// Effects of this visit that were begun, by name.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub begun: IndexMap<String, Begun>,
    /// What is due was put off until then, in milliseconds since 1970.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<u64>,
}

/// An effect that was begun.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct Begun {
    /// Which.
    pub effect: EffectId,
    /// Whether nothing came back yet. Nobody knows how far it got, if whoever began it is gone.
    pub open: bool,
    /// What it uses. Another try of the same visit uses the same.
    #[serde(default, skip_serializing_if = "serde_json::Value::is_null")]
    pub values: serde_json::Value,
}

/// What is going on in a state.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Stage {
    /// Imported or edited to stand here; nothing starts until a person says so.
    Paused,
    /// Looking whether the gates it needs are settled.
    Needing,
    /// At work. For actions, which one; for loops, what is known of the items.
    Working {
        /// The next action of a `do`.
        action: u32,
        /// The items of an `each`, once known, in order.
        items: Option<Vec<String>>,
        /// Whether they could be put in order.
        ordered: bool,
        /// How items of this visit ended.
        ended: IndexMap<String, Outcome>,
    },
    /// The work came out; looking at what routing reads.
    Deciding {
        /// How it came out.
        outcome: Box<Outcome>,
        /// Whether what a judge reported means the same again.
        same_again: bool,
        /// What its findings are about.
        topic: Option<Name>,
    },
    /// Over.
    Ended,
}

impl Stage {
    /// At work, from the beginning.
    pub fn working() -> Self {
        Self::Working { action: 0, items: None, ordered: true, ended: IndexMap::new() }
    }
}

/// How a state last came out.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", default)]
pub struct Last {
    /// The signal.
    pub signal: Name,
    /// Finite fields that came along.
    pub fields: IndexMap<Name, Name>,
    /// What happened, in a sentence.
    pub summary: String,
    /// A person's note.
    pub note: String,
    /// What came along besides.
    #[serde(skip_serializing_if = "serde_json::Value::is_null")]
    pub returns: serde_json::Value,
    /// What was said while it ran.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub output: String,
    /// What a role asked instead of answering.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub question: String,
    /// The visit.
    pub visit: u32,
}

/// A gate that was passed or passed over.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct GateRecord {
    /// Whether it was passed over.
    pub forced: bool,
    /// A digest of what was judged, or of what was there when it was passed over.
    pub digest: String,
}

/// Where a gate stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum GateStatus {
    /// Not passed, or not since the last round that did not pass.
    Open,
    /// Passed, and nothing it judged has changed since.
    Fresh,
    /// Passed, and something it judged has changed.
    Stale,
    /// Passed over, and nothing has changed since.
    Forced,
}

impl GateStatus {
    /// The word an author writes.
    pub fn word(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Fresh => "fresh",
            Self::Stale => "stale",
            Self::Forced => "forced",
        }
    }

    /// Whether what needs the gate may go on.
    pub fn is_settled(self) -> bool {
        matches!(self, Self::Fresh | Self::Forced)
    }
}

/// An entry of a list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct Record {
    /// The item it is about.
    pub item: Option<String>,
    /// The state that recorded it.
    pub state: Name,
    /// How that came out.
    pub signal: Name,
    /// What happened.
    pub summary: String,
    /// The finding it stands for.
    pub finding: Option<String>,
    /// The file that is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// The loop whose item recorded it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub of: Option<Name>,
}

/// What led to the present state.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct Cause {
    /// The state before.
    pub state: Name,
    /// How it came out.
    pub signal: Name,
    /// What happened.
    pub summary: String,
    /// The budget that was used up, if that decided the route.
    pub exhausted: Option<Name>,
}

/// An arm that was taken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Taken {
    /// The state.
    pub state: Name,
    /// How it came out.
    pub signal: Name,
    /// Where the arm is written.
    pub arm: Place,
    /// The budget it spent.
    pub spent: Option<Name>,
    /// Where it led.
    pub to: Name,
}

impl Run {
    /// The machine it runs.
    pub fn machine<'w>(&self, workflow: &'w Workflow) -> Option<&'w Machine> {
        workflow.machine(self.child.as_deref())
    }

    /// The state it stands in.
    pub fn state<'w>(&self, workflow: &'w Workflow) -> Option<&'w State> {
        self.machine(workflow)?.states.get(&*self.at.state)
    }

    /// Whether it is over.
    pub fn is_over(&self) -> bool {
        self.at.stage == Stage::Ended
    }

    /// Whether nothing happens until a person acts.
    pub fn is_resting(&self, workflow: &Workflow) -> bool {
        self.at.stage == Stage::Paused
            || self.state(workflow).is_some_and(|it| matches!(it.kind, Kind::Rest { .. }))
    }

    /// The value of a variable or of a fact that was read once: its own, or the parent's.
    pub fn value_of(&self, name: &Name) -> Option<Name> {
        self.vars
            .get(&**name)
            .or_else(|| self.once.get(&**name))
            .or_else(|| self.outer.as_ref()?.vars.get(&**name))
            .cloned()
    }

    /// The entry of a table for the present values.
    pub fn pick<'t, T>(&self, table: &'t Table<T>) -> Option<&'t T> {
        table.get(|name| self.value_of(name))
    }

    /// The line of a budget that counts at present, and its limit.
    pub fn line(&self, name: &Name, budget: &Budget) -> Option<(Name, u64)> {
        match &budget.limit {
            Table::One(limit) => Some((name.clone(), limit.value)),
            Table::By { name: by, rows } => {
                let value = self.value_of(by)?;
                Some((row_line(name, &value), rows.get(&*value)?.value))
            }
        }
    }

    /// How long the work at hand may take before a budget of time is used up, in milliseconds. `None`: there is none.
    pub fn time_left(&self, machine: &Machine) -> Option<u64> {
        let timed = machine.budgets.iter().filter(|(_, it)| it.unit() == Unit::Time);
        let left = timed.filter_map(|(name, budget)| {
            let (line, _) = self.line(name, budget)?;
            let keep = budget.keep.map_or(0, |it| it.value);
            Some(self.left.get(&*line)?.saturating_sub(keep))
        });
        left.min()
    }

    /// Whether a budget can be spent.
    pub fn can_spend(&self, machine: &Machine, name: &Name) -> bool {
        machine
            .budgets
            .get(&**name)
            .and_then(|it| self.line(name, it))
            .is_some_and(|(line, _)| self.left.get(&*line).is_some_and(|it| *it > 0))
    }

    /// Fills a budget, every row of it.
    pub(super) fn fill(&mut self, machine: &Machine, name: &Name) {
        if let Some(budget) = machine.budgets.get(&**name) {
            for (line, limit) in lines(name, budget) {
                self.left.insert(line, limit);
            }
        }
    }

    /// Whether a budget with a unit is used up, so that no further call is made.
    pub fn is_over_budget(&self, machine: &Machine) -> bool {
        machine.budgets.iter().any(|(name, budget)| {
            let line = self.line(name, budget).map(|(line, _)| line);
            let left = line.and_then(|it| self.left.get(&*it).copied());
            budget.unit() != Unit::Uses && left.unwrap_or(0) <= budget.keep.map_or(0, |it| it.value)
        })
    }

    /// The budgets that entering a state fills.
    pub(super) fn filled_by<'m>(machine: &'m Machine, state: &'m str) -> impl Iterator<Item = &'m Name> {
        machine.budgets.iter().filter_map(move |(name, budget)| match &budget.per {
            Per::Visit => Some(name),
            Per::States(states) if states.iter().any(|it| **it == *state) => Some(name),
            _ => None,
        })
    }

    /// Whether a term of a condition can be read without looking at anything outside the run.
    pub(super) fn knows(&self, term: &Term) -> bool {
        match term {
            Term::Fact(name) => self.once.contains_key(&**name),
            Term::Changed(_) | Term::Gate(_) | Term::Owed(_) => false,
            Term::Outer(inner) => {
                !matches!(&**inner, Term::Fact(_) | Term::Gate(_) | Term::Owed(_) | Term::Changed(_))
            }
            _ => true,
        }
    }

    /// All conditions of a machine's gate.
    pub fn owed_when<'m>(machine: &'m Machine, gate: &str) -> &'m [Condition] {
        machine
            .gates
            .get(gate)
            .and_then(|it| it.first())
            .and_then(|it| machine.states.get(&**it))
            .and_then(|it| it.gate.as_ref())
            .map(|it| it.only_when.as_slice())
            .unwrap_or_default()
    }
}

/// The lines of a budget: one, or one per row of its table.
pub fn lines(name: &Name, budget: &Budget) -> Vec<(Name, u64)> {
    match &budget.limit {
        Table::One(limit) => vec![(name.clone(), limit.value)],
        Table::By { rows, .. } => {
            rows.iter().map(|(row, limit)| (row_line(name, row), limit.value)).collect()
        }
    }
}

/// The line of one row of a budget's table.
pub fn row_line(name: &Name, row: &Name) -> Name {
    format!("{name}@{row}").into()
}
