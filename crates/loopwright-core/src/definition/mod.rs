//! A workflow that has been read: every name resolved, every route written out.
//!
//! Definitions are plain data. They are made by [`crate::language::load`], pinned in a run by their digest,
//! and read by the machine, the proof and everything that shows a workflow to a person.

mod documents;
mod machine;
mod properties;
mod roles;
mod state;
mod table;

use indexmap::IndexMap;
use serde::Serialize;

pub use self::documents::{Document, Files, Phase};
pub use self::machine::{Budget, Fact, Machine, Per, Start, Variable};
pub use self::properties::{Claim, Happened, Property};
pub use self::roles::{Fields, Findings, Note, Outcomes, Question, Role, Unattended};
pub use self::state::{
    Action, Arm, Call, Cell, Check, CheckWhat, Condition, Each, EachRun, Gate, Given, Kind, Origin, Outcome,
    State, Target, Term, Unasked,
};
pub use self::table::Table;
use crate::language::units::Unit;
use crate::name::{Name, in_expression};
use crate::paths::FileSet;
use crate::problem::Place;

/// A whole workflow.
#[derive(Clone, Debug)]
pub struct Workflow {
    /// Its name.
    pub name: Name,
    /// One sentence for people.
    pub about: String,
    /// A hash of every file of its folder: what a run is pinned to.
    pub digest: String,
    /// What a run is about.
    pub subject: Subject,
    /// Where `./x` in documents lies.
    pub folder: Option<String>,
    /// The system whose tools go with it.
    pub tools: Option<Name>,
    /// Values given at the start.
    pub inputs: IndexMap<Name, Input>,
    /// What every role is given besides its own.
    pub given: Vec<Given>,
    /// Words a person can say to a resting run.
    pub verbs: IndexMap<Name, Verb>,
    /// What the worst unattended stretch may cost.
    pub caps: Caps,
    /// Files it reads or writes.
    pub documents: IndexMap<Name, Document>,
    /// What states show, and where an import lands.
    pub phases: IndexMap<Name, Phase>,
    /// Lists that arms record to, with the states that empty them.
    pub lists: IndexMap<Name, Vec<Name>>,
    /// Who does agent work.
    pub roles: IndexMap<Name, Role>,
    /// What people are asked.
    pub questions: IndexMap<Name, Question>,
    /// What the author wants proved.
    pub properties: Vec<Property>,
    /// The workflow's own machine.
    pub main: Machine,
    /// Machines run once per item.
    pub children: IndexMap<Name, Machine>,
}

impl Workflow {
    /// The machine of that name: a child's, or the workflow's own.
    pub fn machine(&self, child: Option<&str>) -> Option<&Machine> {
        match child {
            None => Some(&self.main),
            Some(name) => self.children.get(name),
        }
    }

    /// All machines, the workflow's own first.
    pub fn machines(&self) -> impl Iterator<Item = &Machine> {
        std::iter::once(&self.main).chain(self.children.values())
    }

    /// Whether some budget has a unit, so that a call can come out `over-budget`.
    pub fn is_metered(&self) -> bool {
        self.machines().any(|it| it.budgets.values().any(|budget| budget.unit() != Unit::Uses))
    }

    /// The documents a name stands for: itself, or the members of a group.
    pub fn leaves(&self, document: &str) -> Vec<Name> {
        match self.documents.get(document).map(|it| &it.files) {
            Some(Files::Group(members)) => members.iter().flat_map(|it| self.leaves(it)).collect(),
            Some(_) => vec![document.into()],
            None => Vec::new(),
        }
    }

    /// Whether writing one document can change what another holds.
    pub fn documents_overlap(&self, one: &str, other: &str) -> bool {
        let leaves = self.leaves(other);
        let meet = |a: &Name, b: &Name| match (self.documents.get(&**a), self.documents.get(&**b)) {
            (Some(one), Some(other)) => one.overlaps(other) || self.is_placed_by(other, a),
            _ => false,
        };
        self.leaves(one).iter().any(|a| leaves.iter().any(|b| a == b || meet(a, b)))
    }

    /// Whether a variable decides what a gate judges: by a table, or in the path of a document.
    pub fn decides_what_is_judged(&self, variable: &Name, gate: &Gate) -> bool {
        let named = variable.in_expression();
        let judged = gate.judges.values().flatten().flat_map(|it| self.leaves(it));
        let mut sets = judged.filter_map(|it| self.documents.get(&*it)?.set.as_ref());
        gate.judges.by() == Some(variable)
            || sets.any(|it| it.templates().any(|it| in_expression(it) == named))
    }

    /// Whether the path of a document names something of another one: it is another file once that is written.
    fn is_placed_by(&self, placed: &Document, by: &Name) -> bool {
        let mut waiting = vec![placed];
        let mut seen: Vec<&Name> = Vec::new();
        while let Some(document) = waiting.pop() {
            for template in document.set.iter().flat_map(FileSet::templates) {
                let named = template.strip_prefix("docs.").and_then(|it| it.split('.').next());
                let named = named.map(in_expression);
                let found = self.documents.iter().find(|(it, _)| Some(it.in_expression()) == named);
                let Some((name, document)) = found.filter(|(it, _)| !seen.contains(it)) else { continue };
                if name == by {
                    return true;
                }
                seen.push(name);
                waiting.push(document);
            }
        }
        false
    }
}

/// What a run is about.
#[derive(Clone, Debug, Serialize)]
pub struct Subject {
    /// What it is called.
    pub name: Name,
    /// A regular expression the whole subject must match.
    pub matches: Option<String>,
    /// Whether nobody has to say it: the run is about the project then.
    pub optional: bool,
    /// What a new run is about, where nobody says it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub made: Option<String>,
}

/// Whether a whole text matches a pattern, if there is one.
pub fn matches(pattern: Option<&str>, text: &str) -> bool {
    pattern.is_none_or(|it| regex_lite::Regex::new(&format!("^(?:{it})$")).is_ok_and(|it| it.is_match(text)))
}

/// A value given at the start.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Input {
    /// What it is.
    pub about: Option<String>,
    /// A regular expression the whole value must match.
    pub matches: Option<String>,
    /// Whether a run can start without it.
    pub optional: bool,
}

/// A word a person can say to a resting run.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Verb {
    /// What it does.
    pub about: Option<String>,
    /// Inputs that may be given with it.
    pub takes: Vec<Name>,
    /// What a person hears where it is not listed.
    pub otherwise: Option<VerbElse>,
}

/// What a person hears where a verb is not listed.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum VerbElse {
    /// Information; the command succeeds.
    Say(String),
    /// A refusal; the command fails.
    Error(String),
}

/// What the worst unattended stretch may cost.
#[derive(Clone, Debug, Default)]
pub struct Caps {
    /// Agent calls in all.
    pub calls: Option<(u64, Place)>,
    /// Agent calls by role.
    pub calls_of: IndexMap<Name, (u64, Place)>,
    /// Milliseconds.
    pub time: Option<(u64, Place)>,
    /// Thousandths of a dollar.
    pub money: Option<(u64, Place)>,
    /// Tokens.
    pub tokens: Option<(u64, Place)>,
}
