//! What there is to a play before it begins, and what was seen of it.

use std::collections::{BTreeMap, BTreeSet};

use loopwright_core::definition::Workflow;
use loopwright_core::name::Name;
use loopwright_core::problem::Place;

/// Steps after which a play is taken to have no end.
const MOST_STEPS: u32 = 4_000;
/// The same where it was said that there is none: it goes round long before.
const STEPS_OF_ENDLESS: u32 = 400;

/// Why a play stopped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Stop {
    Ended(Name),
    Waiting,
    NoRoute(Name, Name),
    Refused(String),
    TooLong,
    /// A gate was found unsettled that was said to be: nothing was said about what comes after.
    AsSaid,
}

/// What something took.
#[derive(Clone, Debug, Default)]
pub(crate) struct Bill {
    pub(crate) calls: u64,
    pub(crate) calls_of: BTreeMap<Name, u64>,
    pub(crate) time: u64,
    pub(crate) money: u64,
    pub(crate) tokens: u64,
}

impl Bill {
    /// The larger of two, figure by figure.
    pub(crate) fn worst(&mut self, other: &Self) {
        self.calls = self.calls.max(other.calls);
        self.time = self.time.max(other.time);
        self.money = self.money.max(other.money);
        self.tokens = self.tokens.max(other.tokens);
        for (role, count) in &other.calls_of {
            let most = self.calls_of.entry(role.clone()).or_insert(0);
            *most = (*most).max(*count);
        }
    }
}

/// Everything worth holding against a proof.
#[derive(Clone, Debug, Default)]
pub(crate) struct Seen {
    pub(crate) stop: Option<Stop>,
    /// Gates found unsettled on entering a state: the state, `child.state` in a child, and the gates.
    pub(crate) stale: Vec<(Name, Vec<Name>)>,
    /// Gates a state went on with that nobody had judged as they were.
    pub(crate) unjudged: Vec<(Name, Name)>,
    /// Whether somebody edited what was judged, or cancelled a call.
    pub(crate) disturbed: bool,
    /// The most between two things people did, figure by figure.
    pub(crate) stretch: Bill,
    /// Calls of the whole run.
    pub(crate) calls: u64,
    /// Properties broken, by index.
    pub(crate) broken: BTreeSet<usize>,
    /// Whether a state was entered that had been left.
    pub(crate) came_again: bool,
    /// States entered, `child.state` in a child.
    pub(crate) entered: BTreeSet<Name>,
    /// Arms taken, with the child they were taken in.
    pub(crate) taken: BTreeSet<(Option<Name>, Place)>,
    /// Something given that was not there: state, name.
    pub(crate) missing: BTreeSet<(Name, String)>,
    /// Mistakes of the machine itself.
    pub(crate) wrong: Vec<String>,
    /// What happened, line by line.
    pub(crate) trace: Vec<String>,
}

/// How a play begins.
#[derive(Clone, Debug, Default)]
pub(crate) struct Begin {
    pub(crate) verb: Option<Name>,
    pub(crate) phase: Option<Name>,
}

/// Every way a run can begin.
pub(crate) fn begins(workflow: &Workflow) -> Vec<Begin> {
    let starts = workflow.main.start.iter().map(|it| Begin { verb: it.verb.clone(), phase: None });
    starts.chain(workflow.phases.keys().map(|it| Begin { verb: None, phase: Some(it.clone()) })).collect()
}

/// What the world knows of a workflow before it plays it.
pub(crate) struct Ground<'w> {
    pub(crate) workflow: &'w Workflow,
    /// Gates the proof says are unsettled somewhere.
    pub(crate) said: BTreeSet<Name>,
    /// For each document, what shares files with it.
    pub(crate) shares: BTreeMap<Name, Vec<Name>>,
    /// How many steps a play takes at most.
    pub(crate) steps: u32,
}

impl<'w> Ground<'w> {
    pub(crate) fn new(workflow: &'w Workflow, said: BTreeSet<Name>, endless: bool) -> Self {
        let leaves = || workflow.documents.keys().filter(|it| workflow.leaves(it).len() == 1);
        let shares = |document: &Name| {
            let shared = leaves().filter(|it| workflow.documents_overlap(document, it));
            (document.clone(), shared.cloned().collect())
        };
        let steps = if endless { STEPS_OF_ENDLESS } else { MOST_STEPS };
        Self { workflow, said, shares: workflow.documents.keys().map(shares).collect(), steps }
    }
}
