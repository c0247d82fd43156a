//! Items that are done: a loop does not run them again, so a later visit may come out by what an earlier one did, without
//! any person and whatever the child is run with now.

use super::{Ends, Unfolded, Values};
use crate::check::monitors::{Watch, What};
use crate::definition::{Each, EachRun, Happened, Kind, Machine, Outcome, State, Workflow};
use crate::name::Name;

/// Loops and ends for which it matters whether items may be done already: ends that are not simply there for the taking
/// on every visit, and those that a property looks into and that were not always run alike.
pub(super) fn remembered(
    workflow: &Workflow,
    machine: &Machine,
    ends: &Ends,
    watches: &[Watch],
) -> Vec<(Name, Name)> {
    let mut found = Vec::new();
    for state in machine.states.values() {
        let Some(child) = runs(state).and_then(|it| workflow.children.get(&**it)) else { continue };
        let settings = || ends.iter().filter(|((name, _), _)| *name == state.name).map(|(_, it)| it);
        let well = child.ends().filter(|(_, outcome)| *outcome == Outcome::Success);
        let differs = |end: &Name| {
            settings().any(|it| it.contains_key(end)) && settings().any(|it| it.get(end) != Some(&false))
        };
        let matters =
            |end: &Name| differs(end) || watches.iter().any(|it| tells_visits_apart(it, state, child, end));
        let matter = well.map(|(end, _)| end).filter(|it| matters(it));
        found.extend(matter.map(|end| (state.name.clone(), end.clone())));
    }
    found
}

/// The child a loop runs, if it leaves out items that are done.
fn runs(state: &State) -> Option<&Name> {
    match &state.kind {
        Kind::Each(Each { run: EachRun::Child(child), anew: false, .. }) => Some(child),
        _ => None,
    }
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
        let done = self.slots.done_as(&state.name, signal);
        done.is_some_and(|at| values.get(at) == Some(&1))
    }
}
