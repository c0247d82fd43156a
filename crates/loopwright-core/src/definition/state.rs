//! States, their routes, and what they do.

use indexmap::IndexMap;
use serde::{Deserialize, Serialize};

use super::{Outcomes, Table};
use crate::name::Name;
use crate::problem::Place;

/// Where a run can stand.
#[derive(Clone, Debug)]
pub struct State {
    /// Its name.
    pub name: Name,
    /// What it is for.
    pub about: Option<String>,
    /// What programs outside call it.
    pub label: Option<Name>,
    /// The work it does.
    pub kind: Kind,
    /// Gates that are settled when it is entered.
    pub needs: Table<Vec<Name>>,
    /// What it judges, if it is a gate.
    pub gate: Option<Gate>,
    /// How its work can come out, best first, and where each leads.
    pub cells: IndexMap<Name, Cell>,
    /// Where it is declared.
    pub place: Place,
}

impl State {
    /// Whether some arm leads back to whoever led here.
    pub fn returns(&self) -> bool {
        self.cells.values().any(|cell| cell.arms.iter().any(|arm| arm.to == Target::Back))
    }

    /// What it signals at best.
    pub fn best(&self) -> Option<&Name> {
        self.cells.keys().next()
    }

    /// The call it makes, if it makes one.
    pub fn call(&self) -> Option<&Call> {
        match &self.kind {
            Kind::Agent(call) | Kind::Review { call, .. } => Some(call),
            Kind::Each(Each { run: EachRun::Call(call), .. }) => Some(call),
            _ => None,
        }
    }
}

/// The work a state does.
#[derive(Clone, Debug)]
pub enum Kind {
    /// A role works.
    Agent(Call),
    /// One judge gives a verdict.
    Review {
        /// The judge's call.
        call: Call,
        /// Roles that are heard and recorded.
        advice: Vec<Name>,
        /// What is found without asking the judge.
        unasked: Option<Unasked>,
    },
    /// Commands run.
    Check(Check),
    /// A person answers.
    Ask {
        /// The question.
        question: Name,
    },
    /// The engine acts.
    Do {
        /// In order.
        actions: Vec<Action>,
        /// Gates over what is committed that are deliberately not needed.
        without: Vec<Name>,
    },
    /// Nothing; the first arm that holds.
    Choose,
    /// Nothing; the first gate that is owed.
    Settle {
        /// In order.
        gates: Vec<Name>,
        /// How many of their judges may be at work at once. Those whose turn has not come are called ahead of it.
        ahead: u32,
    },
    /// A child run per item.
    Each(Each),
    /// The run lies still until a verb.
    Rest {
        /// What the person is told.
        text: String,
    },
    /// Over.
    End {
        /// How it came out.
        outcome: Outcome,
        /// What the person is told.
        says: Option<String>,
    },
}

impl Kind {
    /// The key an author writes for it.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Agent(_) => "agent",
            Self::Review { .. } => "review",
            Self::Check(_) => "check",
            Self::Ask { .. } => "ask",
            Self::Do { .. } => "do",
            Self::Choose => "choose",
            Self::Settle { .. } => "settle",
            Self::Each(_) => "each",
            Self::Rest { .. } => "rest",
            Self::End { .. } => "end",
        }
    }
}

/// What a review finds without a call, where its text says anything.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unasked {
    /// How bad it is.
    pub severity: Name,
    /// What it is about.
    pub topic: Option<Name>,
    /// What is found. Empty: nothing, and the judge is asked.
    pub finds: String,
}

/// How a run came out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    /// As wanted.
    Success,
    /// It could not be done.
    Failure,
    /// Left for a person.
    Stopped,
    /// Never begun.
    Refused,
}

impl Outcome {
    /// The word an author writes for it.
    pub fn word(self) -> &'static str {
        match self {
            Self::Success => "success",
            Self::Failure => "failure",
            Self::Stopped => "stopped",
            Self::Refused => "refused",
        }
    }
}

/// One call of a role.
#[derive(Clone, Debug)]
pub struct Call {
    /// The role.
    pub role: Table<Name>,
    /// This call's own prompt.
    pub prompt: Option<Table<String>>,
    /// What it is given besides what the role is.
    pub given: Table<Vec<Given>>,
    /// Narrows what the role may write.
    pub may_write: Option<Table<Vec<Name>>>,
    /// Documents that exist and are valid afterwards.
    pub produces: Table<Vec<Name>>,
    /// Documents whose bytes differ afterwards.
    pub changes: Vec<Name>,
    /// How this call can come out, when not as the role says.
    pub verdicts: Option<Outcomes>,
    /// A JSON Schema for what comes with the verdict.
    pub returns: Option<String>,
    /// Further rules.
    pub rules: Vec<Name>,
    /// The longest it may take, in milliseconds.
    pub timeout: Option<u64>,
}

/// Something a prompt or a person is given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Given {
    /// The name: `docs.spec`, `last.review`, `diff`.
    pub name: String,
    /// Whether it may be missing.
    pub maybe: bool,
    /// Where it is asked for.
    pub place: Place,
}

/// A check.
#[derive(Clone, Debug)]
pub struct Check {
    /// What is run.
    pub what: CheckWhat,
    /// The longest one command may take, in milliseconds.
    pub each: u64,
    /// The longest all of them may take, in milliseconds.
    pub timeout: u64,
    /// Whether no command at all passes.
    pub none_passes: bool,
    /// Whether failing commands are what is wanted.
    pub expect_failure: bool,
    /// Documents that hold the check's own code.
    pub uses: Vec<Name>,
}

/// What a check runs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum CheckWhat {
    /// Something the project declares: `build`, `test`, `lint`, `format`, `checks`.
    Project(Name),
    /// Commands.
    Run(Vec<String>),
    /// A check of the library.
    Named(Name),
}

/// A loop over items.
#[derive(Clone, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is a word of the language of its own")]
pub struct Each {
    /// The item's name in prompts.
    pub item: Name,
    /// Where the list is.
    pub list: String,
    /// Whether items come after those they depend on.
    pub by_dependency: bool,
    /// What is done with each.
    pub run: EachRun,
    /// Start values for the child's variables.
    pub with: IndexMap<Name, Name>,
    /// How many side by side at most.
    pub at_once: u32,
    /// How many side by side where nobody says how many.
    pub usually: u32,
    /// Whether each works in a worktree of its own, on a branch of its own.
    pub apart: bool,
    /// How many at most.
    pub at_most: Option<u32>,
    /// Whether items that ended well run again when the state is entered again.
    pub anew: bool,
    /// Whether items are passed over whose call would bring what is there already.
    pub if_missing: bool,
}

/// What is done with each item.
#[derive(Clone, Debug)]
pub enum EachRun {
    /// A child machine runs.
    Child(Name),
    /// One call is made.
    Call(Box<Call>),
}

/// What makes a state a gate.
#[derive(Clone, Debug)]
pub struct Gate {
    /// Its name.
    pub name: Name,
    /// What it judges.
    pub judges: Table<Vec<Name>>,
    /// Signals that pass it.
    pub passes: Vec<Name>,
    /// It is owed only while this holds.
    pub only_when: Vec<Condition>,
}

/// One way the work of a state comes out, and where it leads.
#[derive(Clone, Debug, Default)]
pub struct Cell {
    /// In order; the first that holds and can be paid is taken. Empty when nothing routes it.
    pub arms: Vec<Arm>,
    /// Who wrote them.
    pub origin: Origin,
}

/// Who wrote a route.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Origin {
    /// The state.
    #[default]
    Own,
    /// The defaults.
    Default,
    /// The language.
    Implied,
}

/// One route.
#[derive(Clone, Debug)]
pub struct Arm {
    /// Where it leads.
    pub to: Target,
    /// What must hold.
    pub when: Vec<Condition>,
    /// A budget it takes one of.
    pub spend: Option<Name>,
    /// Budgets it fills.
    pub refill: Vec<Name>,
    /// Variables it assigns.
    pub set: IndexMap<Name, Name>,
    /// Lists it appends to.
    pub record: Vec<Name>,
    /// Gates that count as settled although they did not pass.
    pub forced: Vec<Name>,
    /// Gates whose judges begin anew: what they left open is closed, and rounds count from here.
    pub anew: Vec<Name>,
    /// Where it is written. Arms from `defaults` keep the place they were written at, so coverage counts what
    /// an author wrote.
    pub place: Place,
}

/// Where an arm leads.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Target {
    /// To a state.
    State(Name),
    /// The same visit once more.
    Again,
    /// To whoever led here.
    Back,
}

impl std::fmt::Display for Target {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::State(name) => formatter.write_str(name),
            Self::Again => formatter.write_str("again"),
            Self::Back => formatter.write_str("back"),
        }
    }
}

/// A name that must have one of some values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Condition {
    /// The name.
    pub term: Term,
    /// Any of these.
    pub values: Vec<Name>,
    /// Where it is written.
    pub place: Place,
}

/// A finite name that routing may read.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Term {
    /// A fact.
    Fact(Name),
    /// A variable.
    Var(Name),
    /// How a state last came out.
    Last(Name),
    /// A field that came with it.
    LastField(Name, Name),
    /// Whether a state ever came out with a signal that is no failure.
    Ever(Name),
    /// Where a gate stands.
    Gate(Name),
    /// Whether a gate still has to be passed.
    Owed(Name),
    /// Whether a document differs from the start of the run.
    Changed(Name),
    /// Whether a finding given to the last repair is still open.
    SameAgain,
    /// What the open blocking findings are about.
    Topic,
    /// A field of the outcome being routed.
    Field(Name),
    /// A name of the parent, read in a child.
    Outer(Box<Term>),
}

impl std::fmt::Display for Term {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Fact(name) | Self::Var(name) | Self::Field(name) => write!(formatter, "{name}"),
            Self::Last(state) => write!(formatter, "last.{state}"),
            Self::LastField(state, field) => write!(formatter, "last.{state}.{field}"),
            Self::Ever(state) => write!(formatter, "ever.{state}"),
            Self::Gate(gate) => write!(formatter, "gate.{gate}"),
            Self::Owed(gate) => write!(formatter, "owed.{gate}"),
            Self::Changed(document) => write!(formatter, "changed.{document}"),
            Self::SameAgain => formatter.write_str("same-again"),
            Self::Topic => formatter.write_str("topic"),
            Self::Outer(term) => write!(formatter, "{term}"),
        }
    }
}

/// Something the engine does.
#[derive(Clone, Debug)]
pub struct Action {
    /// The word: `set`, `commit`.
    pub verb: Name,
    /// Its parameters, as written.
    pub parameters: serde_json::Value,
    /// Documents it may change; `None` means anything.
    pub writes: Option<Vec<Name>>,
    /// Documents of which it sets a field, which no gate judges; `item` is the item's own.
    pub sets: Vec<Name>,
    /// Documents that are there afterwards.
    pub makes: Vec<Name>,
    /// Documents that may be without files afterwards; `None` means any.
    pub removes: Option<Vec<Name>>,
    /// Documents it commits; `None` when it commits nothing.
    pub commits: Option<Vec<Name>>,
    /// Where it is written.
    pub place: Place,
}
