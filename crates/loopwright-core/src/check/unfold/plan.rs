//! The plan of a machine: what unfolding asks of its states again and again, looked up once and put in numbers.
//!
//! Slots, values, states, gates and counters are indices here; names come back when a path is written down.

use super::super::slots::STANDS;
use super::super::writes::Documents;
use super::choices::Choices;
use crate::definition::{Arm, State};
use crate::name::Name;
use crate::proof::graph::Ids;

/// A machine, planned.
pub(super) struct Plan<'w> {
    pub(super) states: Vec<StatePlan<'w>>,
    pub(super) gates: Vec<GatePlan>,
    /// The slot that remembers who led here.
    pub(super) from: Option<usize>,
    /// Watches of a gate: the watch, the gate.
    pub(super) gate_watches: Vec<(u16, usize)>,
    /// Watches of what is written: the watch, the documents.
    pub(super) write_watches: Vec<(u16, Documents)>,
    /// Watches that begin anew when a state is entered: the watch, the state.
    pub(super) after_watches: Vec<(u16, usize)>,
    /// Watches that come true when a state is entered, such as an end.
    pub(super) enter_watches: Vec<(u16, usize)>,
}

/// A state, planned.
pub(super) struct StatePlan<'w> {
    /// Its place in the machine.
    pub(super) index: usize,
    pub(super) state: &'w State,
    pub(super) cells: Vec<CellPlan<'w>>,
    /// Slots that matter on entering it.
    pub(super) alive: Vec<bool>,
    /// Slots its tables look at: whatever the others are, it does the same.
    pub(super) looks_at: Vec<usize>,
    pub(super) own_gate: Option<usize>,
    /// Whether people act here, and may edit anything before they do.
    pub(super) attended: bool,
    /// Gates its routing looks at as they are then, whatever somebody edited before.
    pub(super) sees: Vec<usize>,
    /// Whether it only looks and sends on, so that nobody can edit anything between its needs and its routes.
    pub(super) only_looks: bool,
    pub(super) facts: Vec<FactPlan>,
    pub(super) last: Option<usize>,
    pub(super) ever: Option<usize>,
    pub(super) handed: Option<usize>,
    /// How many topics findings are handed on under.
    pub(super) topics: u16,
    pub(super) returns: bool,
    /// Counters that entering it fills, and slots of reviews that begin anew by that.
    pub(super) fills: Ids,
    pub(super) anew: Vec<usize>,
    /// Watches that may have to be true on entering it.
    pub(super) watches: Vec<u16>,
}

/// One way a state comes out, planned.
#[expect(clippy::struct_excessive_bools, reason = "each is a question of its own, asked of every cell")]
pub(super) struct CellPlan<'w> {
    /// A cell before it does exactly the same: ten failures with one route.
    pub(super) again: bool,
    pub(super) signal: &'w Name,
    pub(super) arms: Vec<ArmPlan<'w>>,
    pub(super) choices: Choices,
    /// Neither a failure nor a stale gate.
    pub(super) well: bool,
    pub(super) stale: bool,
    /// A loop that ran nothing, and so wrote nothing.
    pub(super) idle: bool,
    pub(super) waits: bool,
    pub(super) passes: bool,
    /// The signal as a value of the slot that remembers it.
    pub(super) last: u16,
    /// Whether it is a verdict or an answer, not a question or a verb.
    pub(super) judged: bool,
    /// For a review: whether findings are handed on.
    pub(super) hands: bool,
    /// Slots that remember a field: which choice it is, and the slot's value for each.
    pub(super) last_fields: Vec<(usize, Option<usize>, Vec<u16>)>,
}

/// An arm, planned.
pub(super) struct ArmPlan<'w> {
    pub(super) arm: &'w Arm,
    pub(super) when: Vec<Test>,
    pub(super) set: Vec<(usize, u16)>,
    pub(super) forced: Vec<usize>,
    /// Gates that are open again because what they judge is by a variable that is set.
    pub(super) reopened: Vec<usize>,
    pub(super) fills: Ids,
    pub(super) anew: Vec<usize>,
    pub(super) to: To,
}

/// Where an arm leads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum To {
    State(usize),
    Again,
    Back,
}

/// A condition: which values of what is read let it hold.
#[derive(Clone, Debug)]
pub(super) struct Test {
    pub(super) read: Read,
    pub(super) allowed: Vec<bool>,
}

impl Test {
    /// The slots it reads itself; how a gate stands is another matter.
    pub(super) fn slots_read(&self, found: &mut Vec<usize>) {
        match &self.read {
            Read::Slot(at) => found.push(*at),
            Read::Owed(_, wanted) => wanted.iter().for_each(|it| it.slots_read(found)),
            Read::Choice(_) | Read::Nothing => {}
        }
    }
}

/// What a condition reads.
#[derive(Clone, Debug)]
pub(super) enum Read {
    Slot(usize),
    Choice(usize),
    /// Whether a gate is owed: no or yes. It is when all of these hold and it is not settled.
    Owed(usize, Vec<Test>),
    /// Something that has no value here.
    Nothing,
}

/// A gate, planned.
pub(super) struct GatePlan {
    pub(super) slot: Option<GateSlot>,
    /// The slot that remembers whether what it passed is still the same, where that undoes items.
    pub(super) passed: Option<usize>,
    /// Per judge: the slot that decides, and what is judged for each of its values.
    pub(super) judged: Vec<(Option<usize>, Vec<Documents>)>,
    /// It is asked for while these slots have these values.
    pub(super) asked: Vec<(usize, Vec<bool>)>,
    /// Whether that is known when a state is entered.
    pub(super) known: bool,
}

/// The slot of a gate and its values.
#[derive(Clone, Copy)]
pub(super) struct GateSlot {
    pub(super) at: usize,
    pub(super) open: u16,
    pub(super) fresh: u16,
    pub(super) stale: u16,
    pub(super) forced: u16,
}

/// A fact that keeps its value, as one state may change it.
pub(super) struct FactPlan {
    pub(super) slot: usize,
    /// The slot that remembers what the run itself left, and its value for a change from outside.
    pub(super) outside: Option<(usize, Vec<bool>)>,
    pub(super) values: u16,
    /// It may change whenever the state works.
    pub(super) always: bool,
    pub(super) documents: Documents,
    pub(super) git: bool,
    /// Whether the state's routing looks at it.
    pub(super) seen: bool,
}

impl FactPlan {
    /// Whether somebody can change it by an edit.
    pub(super) fn by_edits(&self) -> bool {
        self.documents != 0 || self.git
    }
}

impl CellPlan<'_> {
    /// Whether two failures have the same routes, as they are written.
    pub(super) fn is_like(&self, other: &Self) -> bool {
        let places = |it: &Self| it.arms.iter().map(|it| it.arm.place.clone()).collect::<Vec<_>>();
        !self.well
            && !self.stale
            && self.waits == other.waits
            && self.passes == other.passes
            && !self.arms.is_empty()
            && places(self) == places(other)
    }
}

impl GatePlan {
    /// What is judged, for the values of a node.
    pub(super) fn judged(&self, values: &[u16]) -> Documents {
        self.judged.iter().fold(0, |set, (slot, rows)| match slot {
            Some(slot) => set | rows.get(usize::from(values[*slot])).copied().unwrap_or(0),
            None => rows.iter().fold(set, |set, it| set | it),
        })
    }

    /// All it judges, whatever decides.
    pub(super) fn ever_judged(&self) -> Documents {
        self.judged.iter().flat_map(|(_, rows)| rows).fold(0, |set, it| set | it)
    }

    /// Every slot that says how it stands, what it judges and whether it is asked for.
    pub(super) fn slots(&self) -> impl Iterator<Item = usize> + '_ {
        let judged = self.judged.iter().filter_map(|(slot, _)| *slot);
        let own = self.slot.map(|it| it.at).into_iter().chain(self.passed);
        own.chain(judged).chain(self.asked.iter().map(|(slot, _)| *slot))
    }

    /// Whether it passed and nothing it judged has changed since, where that counts.
    pub(super) fn stands(&self, values: &[u16]) -> bool {
        self.passed.is_some_and(|it| values[it] == STANDS)
    }

    pub(super) fn is_settled(&self, values: &[u16]) -> bool {
        self.slot.is_some_and(|it| values[it.at] == it.fresh || values[it.at] == it.forced)
    }

    /// Whether it has to be passed, whether it was or not.
    pub(super) fn is_asked_for(&self, values: &[u16]) -> bool {
        self.asked.iter().all(|(slot, allowed)| allowed[usize::from(values[*slot])])
    }
}
