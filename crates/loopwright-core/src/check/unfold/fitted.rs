//! What a state does for certain values of the slots it looks at. Nodes that agree on these share it.

use std::rc::Rc;

use super::super::monitors::{Taken, Watch};
use super::super::slots::Slot;
use super::super::writes::{self, Documents};
use super::heeds::heeds;
use super::plan::{Plan, StatePlan};
use super::{Ends, Forced, Unfolded, Values};
use crate::definition::{Arm, Condition, Each, EachRun, Kind, Machine, Outcome, Per, State, Target, Term};
use crate::machine::{Run, gate_name, row_line};
use crate::name::Name;
use crate::proof::graph::CounterId;
use crate::proof::graph::Ids;
use crate::signal;

/// What a state does.
pub(super) struct Fitted {
    pub(super) writes: Documents,
    /// Gates it needs.
    pub(super) needs: Vec<usize>,
    /// Whether it judges anything.
    pub(super) judges: bool,
    pub(super) cells: Vec<FittedCell>,
    /// Slots it reads or changes. All others are carried along, whatever they are.
    pub(super) heeds: Vec<usize>,
}

/// One way it comes out.
#[expect(clippy::struct_excessive_bools, reason = "each is a question of its own, asked of every cell")]
pub(super) struct FittedCell {
    /// Whether it can come out like this at all.
    pub(super) can: bool,
    /// Whether only by what a person decides in a child, unless by items that are done alone.
    pub(super) decided: bool,
    /// Whether it may be by items that are done, and whether no other way is left.
    pub(super) done: bool,
    pub(super) only_done: bool,
    /// Whether a gate was passed over in an item.
    pub(super) forced: Forced,
    /// Slots of ends that items of this visit may have come to, and are done by that.
    pub(super) leaves: Vec<usize>,
    /// The same, of ends that items come to only by what a person decides.
    pub(super) leaves_by_person: Vec<usize>,
    /// What somebody has edited whenever an item ends like this.
    pub(super) edited: Documents,
    pub(super) arms: Vec<FittedArm>,
}

/// An arm.
pub(super) struct FittedArm {
    pub(super) spends: Spends,
    /// How often it can be taken, where it only tries the same visit again.
    pub(super) retries: Option<u64>,
    /// Watches it makes false, and true, whatever was written.
    pub(super) breaks: Ids,
    pub(super) holds: Ids,
    /// Watches it makes true as well where a loop ran an item.
    pub(super) holds_by_an_item: Ids,
    /// Watches it makes true where a loop that did not come out well left an item done.
    pub(super) holds_by_what_is_left: Ids,
}

/// What an arm spends.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Spends {
    Nothing,
    Counter(CounterId),
    /// A budget that has no line for these values: it can never be paid.
    Never,
}

/// How the children of a loop come to an end.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Way {
    Never,
    /// Only by what a person decides.
    ByPerson,
    Alone,
}

/// What fitting reads.
pub(super) struct Fitter<'f> {
    pub(super) ends: &'f Ends,
    pub(super) watches: &'f [Watch],
}

impl Fitter<'_> {
    /// What a state does for the values of a node.
    pub(super) fn fit(
        &self,
        unfolded: &Unfolded<'_>,
        plan: &Plan<'_>,
        planned: &StatePlan<'_>,
        values: &Values,
    ) -> Rc<Fitted> {
        let state = planned.state;
        let lookup = |name: &Name| unfolded.lookup(values, name);
        let needs = writes::picked(&state.needs, &lookup).into_iter().flatten();
        let cells = state.cells.iter().map(|(signal, cell)| FittedCell {
            can: self.can_signal(unfolded, state, values, signal),
            decided: self.is_decided(unfolded, state, values, signal),
            done: unfolded.done_before(state, values, signal),
            only_done: self.is_only_done(unfolded, state, values, signal),
            forced: self.is_forced(unfolded, state, signal),
            leaves: self.leaves(unfolded, state, values, signal, false),
            leaves_by_person: self.leaves(unfolded, state, values, signal, true),
            edited: self.edited(unfolded, state, values, signal),
            arms: cell.arms.iter().map(|it| self.arm(unfolded, state, values, signal, it)).collect(),
        });
        let writes = writes::of_state(unfolded.workflow, unfolded.shelf, state, &lookup);
        let needs: Vec<usize> = needs.filter_map(|it| unfolded.machine.gates.get_index_of(&**it)).collect();
        Rc::new(Fitted {
            writes,
            judges: unfolded.judges(state, values),
            cells: cells.collect(),
            heeds: heeds(plan, unfolded.shelf, planned, writes, &needs),
            needs,
        })
    }

    fn arm(
        &self,
        unfolded: &Unfolded<'_>,
        state: &State,
        values: &Values,
        signal: &Name,
        arm: &Arm,
    ) -> FittedArm {
        let taken = Taken { state, before: values, signal, arm };
        let which = |holds: &dyn Fn(&Watch) -> bool| {
            self.watches.iter().zip(0_u16..).filter(|(it, _)| holds(it)).map(|(_, at)| at).collect()
        };
        FittedArm {
            spends: match &arm.spend {
                None => Spends::Nothing,
                Some(budget) => unfolded
                    .line(values, budget)
                    .and_then(|it| unfolded.counters.get(&*it))
                    .map_or(Spends::Never, |it| Spends::Counter(*it)),
            },
            retries: unfolded.retries(state, values, signal, arm),
            breaks: which(&|it| it.breaks(unfolded, &taken)),
            holds: which(&|it| it.holds(unfolded, &taken)),
            holds_by_an_item: which(&|it| it.holds_by_an_item(unfolded, &taken)),
            holds_by_what_is_left: if self.may_leave(unfolded, &taken) {
                which(&|it| it.holds_by_what_is_left(unfolded, &taken))
            } else {
                Ids::default()
            },
        }
    }

    /// For a loop over children and one of their ends: how they come to it.
    fn reached(&self, unfolded: &Unfolded<'_>, state: &State, values: &Values, signal: &Name) -> Way {
        let Kind::Each(Each { run: EachRun::Child(child), with, .. }) = &state.kind else {
            return Way::Alone;
        };
        let machine = unfolded.workflow.children.get(&**child);
        let Some(machine) = machine.filter(|it| it.ends().any(|(name, _)| name == signal)) else {
            return Way::Alone;
        };
        if unfolded.done_before(state, values, signal) {
            return Way::Alone;
        }
        let setting = unfolded.setting(values, machine, with);
        let Some(reached) = self.ends.get(&(state.name.clone(), setting)) else { return Way::Alone };
        match reached.get(&**signal) {
            None => Way::Never,
            Some(it) if it.by_person => Way::ByPerson,
            Some(_) => Way::Alone,
        }
    }

    /// Whether a loop that runs an item comes out like this only by what a person decides in it. Where one that is done may
    /// decide, that of this visit may have ended otherwise, and no worse.
    fn is_decided(&self, unfolded: &Unfolded<'_>, state: &State, values: &Values, signal: &Name) -> bool {
        let Kind::Each(Each { run: EachRun::Child(child), with, .. }) = &state.kind else { return false };
        if !unfolded.done_before(state, values, signal) {
            return self.reached(unfolded, state, values, signal) == Way::ByPerson;
        }
        let Some(machine) = unfolded.workflow.children.get(&**child) else { return false };
        let setting = unfolded.setting(values, machine, with);
        let Some(ends) = self.ends.get(&(state.name.clone(), setting)) else { return false };
        let mut before = ends.iter().filter(|(it, _)| goes_before(state, machine, it, signal)).peekable();
        before.peek().is_some() && before.all(|(_, it)| it.by_person)
    }

    /// Whether a loop comes out like this by items that are done alone: none of this visit can end like that, nor better,
    /// so that what is done before is what counts.
    fn is_only_done(&self, unfolded: &Unfolded<'_>, state: &State, values: &Values, signal: &Name) -> bool {
        let Kind::Each(Each { run: EachRun::Child(child), with, .. }) = &state.kind else { return false };
        let Some(machine) = unfolded.workflow.children.get(&**child) else { return false };
        let setting = unfolded.setting(values, machine, with);
        let ends = self.ends.get(&(state.name.clone(), setting));
        unfolded.done_before(state, values, signal)
            && ends.is_some_and(|ends| ends.keys().all(|it| !goes_before(state, machine, it, signal)))
    }

    /// What somebody has edited whenever an item of this visit ends like this.
    fn edited(&self, unfolded: &Unfolded<'_>, state: &State, values: &Values, signal: &Name) -> Documents {
        let Kind::Each(Each { run: EachRun::Child(child), with, .. }) = &state.kind else { return 0 };
        let Some(machine) = unfolded.workflow.children.get(&**child) else { return 0 };
        let setting = unfolded.setting(values, machine, with);
        let reached = self.ends.get(&(state.name.clone(), setting)).and_then(|it| it.get(signal));
        reached.filter(|_| !unfolded.done_before(state, values, signal)).map_or(0, |it| it.edited)
    }

    /// Whether a gate was passed over in an item of a loop, of this visit or an earlier one.
    fn is_forced(&self, unfolded: &Unfolded<'_>, state: &State, signal: &Name) -> Forced {
        let Kind::Each(Each { run: EachRun::Child(child), .. }) = &state.kind else { return Forced::Never };
        let Some(machine) = unfolded.workflow.children.get(&**child) else { return Forced::Never };
        let mut of_loop = self.ends.iter().filter(|((name, _), _)| *name == state.name).peekable();
        if of_loop.peek().is_none() {
            let forces = machine.arms().any(|it| !it.forced.is_empty());
            return if forces { Forced::Maybe } else { Forced::Never };
        }
        let ends: Vec<(&Name, Forced)> =
            of_loop.flat_map(|(_, ends)| ends).map(|(end, it)| (end, it.forced)).collect();
        let forced = ends.iter().filter(|(_, it)| *it != Forced::Never);
        let mut forced = forced.filter(|(it, _)| *it == signal || goes_before(state, machine, it, signal));
        if forced.next().is_none() {
            return Forced::Never;
        }
        // Of what an import brought along nobody knows how it was done; only what ended well is.
        let deciding = |(it, how): &(&Name, Forced)| *it != signal || *how == Forced::Always;
        let brought = goes_before(state, machine, signal, signal);
        if !brought && ends.iter().all(deciding) { Forced::Always } else { Forced::Maybe }
    }

    /// What a visit that comes out like this may leave done: one item may have ended well before another did not.
    fn leaves(
        &self,
        unfolded: &Unfolded<'_>,
        state: &State,
        values: &Values,
        signal: &Name,
        by_person: bool,
    ) -> Vec<usize> {
        let Kind::Each(Each { run: EachRun::Child(child), with, .. }) = &state.kind else {
            return Vec::new();
        };
        let Some(machine) = unfolded.workflow.children.get(&**child) else { return Vec::new() };
        if *signal == signal::STALE || signal::NO_ITEMS.contains(&&**signal) {
            return Vec::new();
        }
        let setting = unfolded.setting(values, machine, with);
        let ends = self.ends.get(&(state.name.clone(), setting));
        let may_end = |end: &Name| {
            goes_before(state, machine, end, signal) && ends.is_none_or(|it| it.contains_key(&**end))
        };
        let alone =
            |end: &Name| end == signal || ends.is_none_or(|it| it.get(end).is_none_or(|it| !it.by_person));
        let may_leave = |slot: &usize| match &unfolded.slots.kept[*slot].slot {
            Slot::Done(_, group) => {
                let mut may_end = group.iter().filter(|it| may_end(it)).peekable();
                may_end.peek().is_some() && may_end.any(alone) != by_person
            }
            _ => false,
        };
        unfolded.slots.done(&state.name).filter(may_leave).collect()
    }

    fn may_leave(&self, unfolded: &Unfolded<'_>, taken: &Taken<'_>) -> bool {
        !self.leaves(unfolded, taken.state, taken.before, taken.signal, false).is_empty()
    }

    fn can_signal(&self, unfolded: &Unfolded<'_>, state: &State, values: &Values, signal: &Name) -> bool {
        match &state.kind {
            _ if *signal == signal::STALE => true,
            Kind::Each(_) => self.reached(unfolded, state, values, signal) != Way::Never,
            Kind::Agent(call) | Kind::Review { call, .. } => {
                // With a table of roles, a verdict of another row cannot come.
                let roles = writes::picked(&call.role, &|name| unfolded.lookup(values, name));
                signal::is_failure(signal)
                    || call.verdicts.as_ref().is_some_and(|it| it.contains_key(&**signal))
                    || roles.iter().filter_map(|it| unfolded.workflow.roles.get(&***it)).any(|it| {
                        call.verdicts.is_none() && it.verdicts.contains_key(&**signal)
                            || it.asks && *signal == signal::ASK
                    })
            }
            _ => true,
        }
    }
}

/// Whether an item that ended well leaves a loop to come out with a signal: it is that one, or one before it.
pub(in super::super) fn goes_before(state: &State, child: &Machine, end: &Name, signal: &Name) -> bool {
    let rank = |it: &Name| state.cells.get_index_of(&**it);
    let well = child.ends().any(|(name, outcome)| name == end && outcome == Outcome::Success);
    well && rank(end) <= rank(signal)
}

impl Unfolded<'_> {
    /// How often an arm that only tries the same visit again can be taken.
    ///
    /// Such an arm changes nothing but what is left of a budget that every entry fills, so a run that takes it comes to
    /// nothing it could not come to without; what it costs is charged to the visit (see `cost`), and a path past it takes
    /// it as often as it can. It does change something where a try leaves behind what somebody reads who comes after it,
    /// or where it can spoil what the state needs.
    pub(in super::super) fn retries(
        &self,
        state: &State,
        values: &Values,
        signal: &Name,
        arm: &Arm,
    ) -> Option<u64> {
        let name = arm.spend.as_ref().filter(|_| arm.to == Target::Again)?;
        let budget = self.machine.budgets.get(&**name).filter(|it| it.per == Per::Visit)?;
        let plain = arm.set.is_empty() && arm.forced.is_empty() && arm.refill.is_empty();
        if !plain || self.leaves_traces(state, signal) || self.spoils_its_needs(state, values) {
            return None;
        }
        let limits = writes::picked(&budget.limit, &|name| self.lookup(values, name));
        limits.into_iter().map(|it| it.value).max()
    }

    /// Whether a try that comes out like this leaves something behind that the next try, or whoever comes later, reads.
    /// What it writes is no such thing: the last try may have written it.
    fn leaves_traces(&self, state: &State, signal: &Name) -> bool {
        let well = !signal::is_failure(signal);
        let is_trace = |slot: &Slot| match slot {
            Slot::Term(Term::Last(name) | Term::LastField(name, _)) | Slot::Done(name, _) => {
                *name == state.name
            }
            Slot::Term(Term::Ever(name)) => well && *name == state.name,
            Slot::Term(Term::Gate(name)) => state.gate.as_ref().is_some_and(|it| it.name == *name),
            Slot::Passed(gate) => state.gate.as_ref().is_some_and(|it| it.name == *gate),
            Slot::Handed(gate) => well && *gate == gate_name(state),
            _ => false,
        };
        let alive = self.slots.alive(&state.name);
        self.slots.kept.iter().zip(alive).any(|(kept, alive)| alive && is_trace(&kept.slot))
    }

    /// By what it writes, which a gate judges or which says whether one is owed; or because it judges what it needs itself
    /// and did not pass it.
    fn spoils_its_needs(&self, state: &State, values: &Values) -> bool {
        let lookup = |name: &Name| self.lookup(values, name);
        let written = self.shelf.touched(writes::of_state(self.workflow, self.shelf, state, &lookup));
        let own = state.gate.as_ref().filter(|_| self.judges(state, values)).map(|it| &it.name);
        let may_change = |condition: &Condition| {
            let reads = self.slots.term(&condition.term).map(|it| &self.slots.kept[it].reads);
            reads.is_some_and(|it| it.may_change(self.workflow, state, written))
        };
        let needs = writes::picked(&state.needs, &lookup).into_iter().flatten();
        needs.into_iter().any(|it| {
            own == Some(it)
                || written & self.judged(it, values) != 0
                || Run::owed_when(self.machine, it).iter().any(may_change)
        })
    }

    /// The line of a budget that counts for the values of a node.
    fn line(&self, values: &Values, budget: &Name) -> Option<Name> {
        let declared = self.machine.budgets.get(&**budget)?;
        match declared.limit.by() {
            None => Some(budget.clone()),
            Some(by) => self.lookup(values, by).map(|value| row_line(budget, &value)),
        }
    }
}
