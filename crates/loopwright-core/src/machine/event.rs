//! Events: everything a run ever learns, and the journal's format.
//!
//! Time, ids and randomness enter a run only in here. Adding a field bumps [`VERSION`]; old journals replay for
//! ever, so a field that was not written yet has a default.

use indexmap::IndexMap;
use serde::{Deserialize, Serialize};

use super::decisions::Decision;
use super::effect::EffectId;
use crate::name::Name;

/// The version new events are written with.
pub const VERSION: u32 = 8;

/// What documents show of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Shown {
    /// By document and field.
    pub values: serde_json::Value,
    /// Whether they surely do; otherwise somebody was about to write it.
    pub done: bool,
}

impl Shown {
    /// Whether no document ever showed anything.
    pub fn is_nothing(&self) -> bool {
        *self == Self::default()
    }
}

/// One fact about a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "kebab-case", rename_all_fields = "kebab-case", deny_unknown_fields)]
pub enum Event {
    /// The run begins.
    Started(Box<Started>),
    /// The run works here. Written when it begins, and when it goes elsewhere.
    Placed(Site),
    /// An effect is about to be performed. Written before anything is done, with every value it will use.
    Issued {
        /// Which.
        effect: EffectId,
        /// The how-manieth try, from one.
        attempt: u32,
        /// What it will use, so that another try uses the same.
        #[serde(default, skip_serializing_if = "serde_json::Value::is_null")]
        values: serde_json::Value,
    },
    /// An effect came back.
    Settled {
        /// Which.
        effect: EffectId,
        /// What came back.
        evidence: Evidence,
    },
    /// A judge said something while others were at work beside it. It is kept until its turn comes and leads nowhere
    /// before; what it cost is taken at once.
    Heard {
        /// Which call.
        effect: EffectId,
        /// A digest of what it judged and was told: at its turn it counts only for the same.
        key: String,
        /// What it said.
        outcome: Box<Outcome>,
    },
    /// Work came to nothing for a reason outside it: somebody left the run, or whoever works has no more for now. It is
    /// begun anew; it leads nowhere and takes nothing from what may be tried.
    PutOff {
        /// Which.
        effect: EffectId,
        /// Why.
        why: String,
        /// Not to be begun before, in milliseconds since 1970.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        until: Option<u64>,
        /// What it had cost until then.
        #[serde(default, skip_serializing_if = "Cost::is_nothing")]
        cost: Cost,
        /// Names of what is kept about it.
        #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
        kept: IndexMap<String, String>,
    },
    /// A person said a verb.
    Said {
        /// The verb.
        verb: Name,
        /// Inputs given with it.
        #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
        inputs: IndexMap<Name, String>,
        /// A digest of what the gate judges that the verb may pass, as it is now.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        judged: Option<String>,
    },
    /// A person raised a limit.
    Raised {
        /// The budget.
        budget: Name,
        /// How many more.
        by: u32,
    },
    /// A person said how many items may be at work side by side.
    Jobs {
        /// So many, where the workflow lets as many.
        most: u32,
    },
    /// A person edited a document so that it shows another phase.
    Landed {
        /// The phase.
        phase: Name,
        /// Digests of what the gates judge that the landing vouches for, as it is now.
        #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
        digests: IndexMap<Name, String>,
        /// Variables that a document shows otherwise.
        #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
        vars: IndexMap<Name, Name>,
    },
    /// The run of an item was ended, and nobody waits for it any more. What people were asked in it stays on record.
    Dropped {
        /// The item.
        item: String,
        /// What they were asked.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        decisions: Vec<Decision>,
        /// What it had spent of its budgets.
        #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
        spent: IndexMap<Name, u32>,
    },
    /// Documents are about to show where the run stands, or do so now.
    Shown(Shown),
    /// A person ended the run.
    Stopped {
        /// Why.
        reason: String,
    },
}

/// Where a run works.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", default, deny_unknown_fields)]
pub struct Site {
    /// The root of the files it works on.
    pub folder: String,
    /// What all files were when the run began, by the name of that.
    pub start: String,
    /// The commit it began at, where there are commits.
    pub base: Option<String>,
    /// Its own folder, once that was moved.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub own: Option<String>,
    /// The branch that work goes back to, as it was called when the run began.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trunk: Option<String>,
    /// What all files were when the run began that this is an item of, in whatever depth.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub whole: Option<String>,
    /// The branch that an item goes back to which works apart.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub joins: Option<String>,
}

/// How a run begins.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", default, deny_unknown_fields)]
pub struct Started {
    /// The digest of the definition the run is pinned to.
    pub definition: String,
    /// The child machine it runs, if it is a child run.
    pub child: Option<Name>,
    /// What it is about.
    pub subject: String,
    /// Values given at the start.
    pub inputs: IndexMap<Name, String>,
    /// Variables chosen at the start.
    pub vars: IndexMap<Name, Name>,
    /// The verb it began with.
    pub verb: Option<Name>,
    /// The phase it is imported at.
    pub phase: Option<Name>,
    /// Digests of what the gates judge that the import vouches for, as it is now.
    pub digests: IndexMap<Name, String>,
    /// Items of loops that the import brings along as done, and how each ended.
    pub done: IndexMap<Name, IndexMap<String, Name>>,
    /// Facts that are read once.
    pub facts: IndexMap<Name, Name>,
    /// The item, in a child run.
    pub item: Option<String>,
    /// The parent's loop, in a child run.
    pub of: Option<Name>,
    /// What the parent remembers, in a child run.
    pub outer: Option<Box<Outer>>,
}

/// What a child run may read of its parent. The parent stands still while its children run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", default, deny_unknown_fields)]
pub struct Outer {
    /// Its variables.
    pub vars: IndexMap<Name, Name>,
    /// How its states last came out.
    pub last: IndexMap<Name, super::run::Last>,
    /// States that ever came out with a signal that is no failure.
    pub ever: Vec<Name>,
    /// What its lists held when the child began.
    #[serde(skip_serializing_if = "IndexMap::is_empty")]
    pub lists: IndexMap<Name, Vec<super::run::Record>>,
    /// What people were asked before.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub decisions: Vec<Decision>,
    /// What was spent of its budgets, by item; the run's own without a name.
    #[serde(skip_serializing_if = "IndexMap::is_empty")]
    pub spent_by_item: IndexMap<String, IndexMap<Name, u32>>,
}

/// What an effect came back with.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "came", rename_all = "kebab-case", rename_all_fields = "kebab-case", deny_unknown_fields)]
pub enum Evidence {
    /// The work of a state came out somehow.
    Out(Box<Outcome>),
    /// What was looked at.
    Observed(Box<Observed>),
    /// The items of a loop.
    Items(Box<Listed>),
}

/// The items of a loop, as they are when it is entered.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Listed {
    /// Their ids, in the order they will run.
    pub ids: Vec<String>,
    /// Whether their dependencies could be put in order.
    pub ordered: bool,
    /// A digest of what the loop's gate judges, as it is now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub digest: Option<String>,
    /// Items that are no longer what they were when they last ended, or whose work is gone.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changed: Vec<String>,
    /// A digest of what each says, by id: another one is another item.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub says: IndexMap<String, String>,
    /// Items of which all is there that was wanted.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub there: Vec<String>,
    /// What each has to come after, by id, where that is said.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub after: IndexMap<String, Vec<String>>,
}

impl Listed {
    /// Items in the order they will run, and nothing else.
    pub fn of(ids: Vec<String>) -> Self {
        Self { ids, ordered: true, ..Self::default() }
    }
}

/// How the work of a state came out.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", default, deny_unknown_fields)]
pub struct Outcome {
    /// The signal: a verdict, an answer, `pass`, a failure.
    pub signal: Name,
    /// Finite fields that came along.
    #[serde(skip_serializing_if = "IndexMap::is_empty")]
    pub fields: IndexMap<Name, Name>,
    /// What happened, in a sentence.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub summary: String,
    /// A person's note.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub note: String,
    /// What came along besides, as the role's schema has it.
    #[serde(skip_serializing_if = "serde_json::Value::is_null")]
    pub returns: serde_json::Value,
    /// What was said while it ran: the end of it, if it is much.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub output: String,
    /// What a role asks instead of answering.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub question: String,
    /// Names of what is kept about it: a prompt, a transcript, a patch.
    #[serde(skip_serializing_if = "IndexMap::is_empty")]
    pub kept: IndexMap<String, String>,
    /// What a judge found.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub findings: Vec<Report>,
    /// A digest of what was judged, for gates.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub judged: Option<String>,
    /// What it cost.
    #[serde(skip_serializing_if = "Cost::is_nothing")]
    pub cost: Cost,
    /// Gates that were forced inside a child.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub forced: Vec<Name>,
    /// What a child recorded, by list.
    #[serde(skip_serializing_if = "IndexMap::is_empty")]
    pub recorded: IndexMap<Name, Vec<super::run::Record>>,
    /// What people were asked in a child.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub decisions: Vec<Decision>,
    /// What a child spent of its budgets.
    #[serde(skip_serializing_if = "IndexMap::is_empty")]
    pub spent: IndexMap<Name, u32>,
    /// When a person said so, in milliseconds since 1970.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at: Option<u64>,
}

impl Outcome {
    /// An outcome that is nothing but its signal.
    pub fn of(signal: impl Into<Name>) -> Self {
        Self { signal: signal.into(), ..Self::default() }
    }
}

impl Default for Name {
    fn default() -> Self {
        "".into()
    }
}

/// One remark of a judge, as it was reported.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", default, deny_unknown_fields)]
pub struct Report {
    /// The id of an earlier finding it repeats, if the judge says so.
    pub id: Option<String>,
    /// How bad.
    pub severity: Name,
    /// What kind of thing it is about.
    pub topic: Option<Name>,
    /// The file.
    pub file: String,
    /// What in it: a symbol, a requirement, a heading. Makes the id, so rewording a remark does not make it new.
    pub subject: String,
    /// The remark.
    pub text: String,
    /// The line of the file, if it is about one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    /// What the judge would have done about it.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub recommendation: String,
}

/// What work cost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", default, deny_unknown_fields)]
pub struct Cost {
    /// Milliseconds.
    pub time: u64,
    /// Thousandths of a dollar.
    pub money: u64,
    /// Tokens.
    pub tokens: u64,
    /// Whether some of it has a price that nobody said, so that `money` is not all.
    #[serde(skip_serializing_if = "is_not")]
    pub unpriced: bool,
    /// Whether some of it took tokens that nobody counted, so that `tokens` is not all.
    #[serde(skip_serializing_if = "is_not")]
    pub uncounted: bool,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "it is called with what it looks at")]
fn is_not(it: &bool) -> bool {
    !it
}

impl Cost {
    /// What both cost together.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self {
            time: self.time.saturating_add(other.time),
            money: self.money.saturating_add(other.money),
            tokens: self.tokens.saturating_add(other.tokens),
            unpriced: self.unpriced || other.unpriced,
            uncounted: self.uncounted || other.uncounted,
        }
    }

    fn is_nothing(&self) -> bool {
        *self == Self::default()
    }
}

/// What was looked at before a decision.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", default, deny_unknown_fields)]
pub struct Observed {
    /// Facts, by name.
    pub facts: IndexMap<Name, Name>,
    /// Digests of what gates judge, by gate.
    pub digests: IndexMap<Name, String>,
    /// Documents that differ from the start of the run.
    pub changed: Vec<Name>,
}
