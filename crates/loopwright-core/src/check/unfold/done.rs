//! Items that are done: a loop does not run them again, so a later visit may come out by what an earlier one did, without
//! any person and whatever the child is run with now.

use super::{Ends, Setting, Unfolded, Values};
use crate::check::monitors::{Watch, What};
use crate::check::slots::{Remembered, SPOILT, Slot};
use crate::definition::{Each, EachRun, Happened, Kind, Machine, Outcome, State, Target, Term, Workflow};
use crate::name::Name;

/// What loops remember of items that are done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) enum Memory {
    /// That there are some. A run may then be taken to have items that ended as none of its own did, or that would be run
    /// again, but what is proved holds, and there is less to walk.
    Together,
    /// To which ends they came, and whether something changed since that undoes them.
    Exactly,
}

/// Loops and ends for which it matters whether items may be done already: ends that are not simply there for the taking
/// on every visit, and those that a property looks into and that were not always run alike.
pub(super) fn remembered(
    workflow: &Workflow,
    machine: &Machine,
    ends: &Ends,
    watches: &[Watch],
    memory: Memory,
) -> Vec<Remembered> {
    let mut found = Vec::new();
    for state in machine.states.values() {
        let Some(child) = runs(state).and_then(|it| workflow.children.get(&**it)) else { continue };
        let settings = || ends.iter().filter(|((name, _), _)| *name == state.name).map(|(_, it)| it);
        let well = child.ends().filter(|(_, outcome)| *outcome == Outcome::Success);
        let differs = |end: &Name| {
            settings().any(|it| it.contains_key(end))
                && settings().any(|it| it.get(end).is_none_or(|it| it.by_person))
        };
        let matters =
            |end: &Name| differs(end) || watches.iter().any(|it| tells_visits_apart(it, state, child, end));
        let matter: Vec<Name> = well.map(|(end, _)| end).filter(|it| matters(it)).cloned().collect();
        match memory {
            Memory::Exactly => found.extend(matter.into_iter().map(|end| (state.name.clone(), vec![end]))),
            Memory::Together if matter.is_empty() => {}
            Memory::Together => found.push((state.name.clone(), matter)),
        }
    }
    found
}

/// Whether one run can come to a loop with both settings: they agree on the variables that nothing sets on the way.
fn may_follow(machine: &Machine, one: &Setting, other: &Setting) -> bool {
    let arms = || machine.arms();
    let stays = |term: &Term| match term {
        Term::Var(name) => !arms().any(|it| it.set.contains_key(&**name)),
        _ => false,
    };
    one.outer.iter().zip(&other.outer).all(|(a, b)| a == b || a.0 != b.0 || !stays(&a.0))
}

/// The child a loop runs, if it leaves out items that are done. One that runs them anew whenever it is entered does so
/// while it is only tried again.
fn runs(state: &State) -> Option<&Name> {
    let Kind::Each(Each { run: EachRun::Child(child), anew, .. }) = &state.kind else { return None };
    let mut arms = state.cells.values().flat_map(|it| &it.arms);
    (!anew || arms.any(|it| it.to == Target::Again)).then_some(child)
}

/// Whether a watch sees something else happen inside for items that are done than for those of this visit.
fn tells_visits_apart(watch: &Watch, state: &State, child: &Machine, end: &Name) -> bool {
    let of_child =
        |it: &Happened| matches!(it, Happened::Signal { child: named, .. } if *named == child.name);
    match &watch.what {
        What::Before { happened, inside, .. } if of_child(happened) => {
            let surely =
                || inside.iter().filter(|(it, ..)| *it == state.name).map(|(_, _, it)| it.contains(end));
            surely().any(|it| it) && surely().any(|it| !it)
        }
        What::After { comes, .. } => of_child(comes),
        _ => false,
    }
}

impl Unfolded<'_> {
    /// Whether a loop may come out with a signal because items that ended like that were done before.
    pub(in super::super) fn done_before(&self, state: &State, values: &Values, signal: &Name) -> bool {
        let is_done = |slot: usize| {
            let of_end = matches!(&self.slots.kept[slot].slot, Slot::Done(_, ends) if ends.contains(signal));
            of_end && values.get(slot) == Some(&1)
        };
        let Kind::Each(each) = &state.kind else { return false };
        let Some(child) = runs(state).and_then(|it| self.workflow.children.get(&**it)) else { return false };
        let undone = self.slots.passed(state).is_some_and(|it| values.get(it) == Some(&SPOILT));
        !undone && self.slots.done(&state.name).any(is_done) && {
            let now = self.setting(values, child, &each.with);
            self.ends.iter().any(|((name, then), ends)| {
                *name == state.name && ends.contains_key(signal) && may_follow(self.machine, then, &now)
            })
        }
    }

    /// Whether more would be known if items that are done were remembered exactly: a run lacks one, or does not play.
    pub(in super::super) fn needs_items_exactly(&self, all_play: bool) -> bool {
        let remembers = || self.slots.kept.iter().any(|it| matches!(it.slot, Slot::Done(..)));
        self.lacks_item.get() || !all_play && remembers()
    }

    /// Whether a loop runs its items anew whenever it is entered.
    pub(in super::super) fn runs_anew(&self, name: &Name) -> bool {
        self.machine.states.get(&**name).is_some_and(|it| matches!(&it.kind, Kind::Each(each) if each.anew))
    }

    /// Whether items of a loop may come to an end, run with this.
    pub(in super::super) fn may_end(&self, state: &State, setting: &Setting, end: &Name) -> bool {
        let ends = self.ends.get(&(state.name.clone(), setting.clone()));
        ends.is_none_or(|it| it.contains_key(&**end))
    }
}
