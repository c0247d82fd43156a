//! The report: everything `check` found out, as data.

use indexmap::IndexMap;
use serde::Serialize;

use crate::name::Name;
use crate::problem::Problem;
use crate::rehearse::Scenario;

/// What `check` says of a workflow.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct Report {
    /// The workflow.
    pub workflow: Name,
    /// A hash of its folder.
    pub digest: String,
    /// What is wrong. Empty means proved.
    pub problems: Vec<Problem>,
    /// How large it is.
    pub size: Size,
    /// Why every unattended stretch ends.
    pub ends_because: Option<String>,
    /// What the worst unattended stretch costs.
    pub worst: Option<Worst>,
    /// Ways a run goes on past a gate that did not pass.
    pub forced: Vec<Forced>,
    /// Properties that were proved.
    pub properties: Vec<String>,
    /// Caps that hold.
    pub caps: Vec<Cap>,
    /// Cells that take a default.
    pub defaults: Vec<DefaultCell>,
}

impl Report {
    /// Whether everything was proved.
    pub fn is_proved(&self) -> bool {
        self.problems.is_empty()
    }
}

/// How large a workflow is.
#[derive(Clone, Copy, Debug, Default, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct Size {
    /// States, children's included.
    pub states: usize,
    /// State and signal pairs.
    pub cells: usize,
    /// Arms as written.
    pub arms: usize,
    /// Nodes the proof walked.
    pub nodes: usize,
}

/// What the worst unattended stretch costs.
#[derive(Clone, Debug, Default, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct Worst {
    /// Agent calls in all.
    pub calls: Figure,
    /// Agent calls by role.
    pub calls_of: IndexMap<Name, Figure>,
    /// Milliseconds of agent calls and checks, if every one takes as long as it may.
    pub time: Figure,
    /// Thousandths of a dollar, where every role says what a call costs.
    pub money: Option<Figure>,
    /// Tokens, where every role says how many a call takes.
    pub tokens: Option<Figure>,
    /// The whole run, people answering as they like; absent when people can keep it going for ever.
    pub whole_run: Option<Figure>,
    /// Beyond the above, per answer a person gives, when they can keep it going.
    pub per_answer: Option<u64>,
}

/// A cap that holds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct Cap {
    /// What it is a cap on.
    pub of: String,
    /// What the worst unattended stretch takes of it, every loop having as many items as it may.
    pub at_most: u64,
    /// The cap.
    pub cap: u64,
    /// The two for a person to read: `660 agent calls at most, of 700 agent calls`.
    #[serde(skip)]
    pub said: String,
}

/// A number, how sure it is, and what comes on top for every item of a loop.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct Figure {
    /// No run costs more, apart from items.
    pub at_most: u64,
    /// Some run costs this much, apart from items.
    pub at_least: u64,
    /// On top, for each item of these loops.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub per_item: Vec<PerItem>,
}

/// What comes on top for every item of a loop, or of a loop inside what that runs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct PerItem {
    /// The loop; after it, a loop inside what it runs, for items of items.
    pub loops: Vec<Name>,
    /// No item costs more.
    pub at_most: u64,
}

impl Figure {
    /// Whether the number is exact.
    pub fn is_exact(&self) -> bool {
        self.at_most == self.at_least && self.per_item.is_empty()
    }
}

/// A way a run goes on past a gate that did not pass.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct Forced {
    /// The gate, `child.gate` in a child.
    pub gate: Name,
    /// The state the arm leaves.
    pub state: Name,
    /// The signal it routes.
    pub signal: Name,
    /// Where it leads.
    pub to: String,
    /// A shortest run that takes it.
    pub path: Option<Scenario>,
}

/// A cell that takes a default.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct DefaultCell {
    /// The state, `child.state` in a child.
    pub state: Name,
    /// The signal.
    pub signal: Name,
    /// Where it leads.
    pub to: Vec<String>,
}
