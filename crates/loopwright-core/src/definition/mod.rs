//! A workflow that has been read: every name resolved, every route written out.
//!
//! Definitions are plain data. They are made by [`crate::language::load`], pinned in a run by their digest,
//! and read by the machine, the proof and everything that shows a workflow to a person.

mod state;

use indexmap::IndexMap;
use serde::Serialize;

pub use self::state::{
    Action, Arm, Call, Cell, Check, CheckWhat, Condition, Each, EachRun, Gate, Given, Kind, Origin, Outcome,
    State, Target, Term,
};
use crate::fact::Expression;
use crate::language::units::{Amount, Unit};
use crate::name::Name;
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
        self.leaves(one).iter().any(|a| {
            leaves.iter().any(|b| {
                a == b
                    || match (self.documents.get(&**a), self.documents.get(&**b)) {
                        (Some(a), Some(b)) => match (a.set.as_ref(), b.set.as_ref()) {
                            (Some(_), Some(_))
                                if a.is_plain() && b.is_plain() && a.in_folder() == b.in_folder() =>
                            {
                                a.path() == b.path()
                            }
                            (Some(one), Some(other)) => one.may_overlap(other),
                            _ => false,
                        },
                        _ => false,
                    }
            })
        })
    }
}

/// What a run is about.
#[derive(Clone, Debug, Serialize)]
pub struct Subject {
    /// What it is called.
    pub name: Name,
    /// A regular expression the whole subject must match.
    pub matches: Option<String>,
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

/// A file, or files, the workflow knows by name.
#[derive(Clone, Debug)]
pub struct Document {
    /// Which files.
    pub files: Files,
    /// The same, ready to be compared; absent for groups and listings.
    pub set: Option<FileSet>,
    /// Which reader understands it.
    pub reader: Option<Name>,
    /// What its reader gives.
    pub gives: crate::fact::Type,
    /// Headings it must have.
    pub has: Vec<String>,
    /// Whether only the engine writes it.
    pub engine_owned: bool,
    /// Fields kept equal to run values.
    pub shows: IndexMap<String, String>,
    /// Whether it may be absent at the start.
    pub optional: bool,
    /// Parameters of the reader, as JSON.
    pub with: serde_json::Value,
    /// Where it is declared.
    pub place: Place,
}

impl Document {
    /// Whether it is one file whose path is known but for the workflow's own folder.
    fn is_plain(&self) -> bool {
        matches!(&self.files, Files::One(path) if !path.contains(['*', '?', '[', '{']))
    }

    /// Whether it lies in the workflow's own folder.
    fn in_folder(&self) -> bool {
        self.path().is_some_and(|it| it.starts_with("./"))
    }

    fn path(&self) -> Option<&str> {
        match &self.files {
            Files::One(path) => Some(path),
            _ => None,
        }
    }
}

/// Which files a document is.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Files {
    /// One file.
    One(String),
    /// Files by glob.
    Many(Vec<String>),
    /// Other documents under one name.
    Group(Vec<Name>),
    /// The output of a command.
    Command(String),
}

/// What some states show in documents.
#[derive(Clone, Debug)]
pub struct Phase {
    /// Where an imported or hand-edited value lands.
    pub at: Name,
    /// The states that show it, children's as `child.state`.
    pub show: Vec<Name>,
    /// Gates such a landing vouches for.
    pub settles: Vec<Name>,
    /// Where `back` leads from such a landing.
    pub back: Option<Name>,
    /// Where it is declared.
    pub place: Place,
}

/// Who does agent work, and within what bounds.
#[derive(Clone, Debug)]
pub struct Role {
    /// Which agent, a name the engine's configuration knows.
    pub agent: Name,
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
    /// A finding this bad makes the verdict at least this bad.
    pub at_least: IndexMap<Name, Name>,
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

/// Something, or a table of it by a finite name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Table<T> {
    /// The same always.
    One(T),
    /// By the value of a variable or fact.
    By {
        /// The variable or fact.
        name: Name,
        /// A row a value.
        rows: IndexMap<Name, T>,
    },
}

impl<T> Table<T> {
    /// The entry for the present values of names.
    pub fn get(&self, value_of: impl FnOnce(&Name) -> Option<Name>) -> Option<&T> {
        match self {
            Self::One(it) => Some(it),
            Self::By { name, rows } => rows.get(&*value_of(name)?),
        }
    }

    /// All entries.
    pub fn values(&self) -> Box<dyn Iterator<Item = &T> + '_> {
        match self {
            Self::One(it) => Box::new(std::iter::once(it)),
            Self::By { rows, .. } => Box::new(rows.values()),
        }
    }

    /// The name it is a table by.
    pub fn by(&self) -> Option<&Name> {
        match self {
            Self::One(_) => None,
            Self::By { name, .. } => Some(name),
        }
    }
}

impl<T: Default> Default for Table<T> {
    fn default() -> Self {
        Self::One(T::default())
    }
}

/// What the author wants proved.
#[derive(Clone, Debug)]
pub struct Property {
    /// What.
    pub claim: Claim,
    /// Where it is stated.
    pub place: Place,
}

/// A claim about every run.
#[derive(Clone, Debug)]
pub enum Claim {
    /// A state is never reached before something happened.
    Never {
        /// The state.
        reach: Name,
        /// What must have happened.
        before: Vec<Happened>,
        /// Only for these values at that moment.
        when: Vec<Condition>,
    },
    /// A state is entered at most so often.
    AtMost {
        /// The state.
        visits: Name,
        /// How often.
        times: u32,
    },
    /// Something always follows a state before success.
    Always {
        /// The state.
        after: Name,
        /// What follows.
        comes: Happened,
    },
}

/// Something that can have happened in a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Happened {
    /// A state (of a child, if named) came out with one of these signals.
    Signal {
        /// The child, if it is a child's state.
        child: Option<Name>,
        /// The state.
        state: Name,
        /// The signals.
        signals: Vec<Name>,
    },
    /// A gate is settled.
    Settled {
        /// The gate.
        gate: Name,
    },
}
