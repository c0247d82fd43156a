//! What there is in a workflow, and what happened in its plays: a proof of workflows with nothing in them says little.

use std::collections::BTreeSet;

use loopwright_core::definition::{EachRun, Kind, Per, Workflow};

use crate::seen::Seen;
use crate::world::People;

/// Of a hundred workflows that are proved, at least so many have this.
pub(crate) const AMONG_THE_PROVED: &[(&str, usize)] = &[
    ("a budget of a loop", 50),
    ("a child", 15),
    ("a gate that is needed", 30),
    ("a landing", 15),
    ("a loop over items", 25),
    ("a property", 10),
    ("a question", 15),
    ("a resting place", 15),
    ("an edit that made a gate stale", 12),
    ("a round", 40),
];

/// What a workflow has.
pub(crate) fn of_workflow(workflow: &Workflow) -> BTreeSet<&'static str> {
    let mut found = BTreeSet::new();
    let mut has = |what: &'static str, yes: bool| {
        if yes {
            found.insert(what);
        }
    };
    for machine in workflow.machines() {
        for state in machine.states.values() {
            let arms = || state.cells.values().flat_map(|it| &it.arms);
            let spent = arms().filter_map(|it| machine.budgets.get(&**it.spend.as_ref()?));
            has("a budget of a loop", spent.into_iter().any(|it| it.per != Per::Visit));
            has("a gate that is needed", state.needs.values().any(|it| !it.is_empty()));
            has("a question", matches!(state.kind, Kind::Ask { .. }));
            has("a resting place", matches!(state.kind, Kind::Rest { .. }));
            if let Kind::Each(each) = &state.kind {
                has("a loop over items", true);
                has("a child", matches!(each.run, EachRun::Child(_)));
            }
        }
    }
    has("a landing", !workflow.phases.is_empty());
    has("a property", !workflow.properties.is_empty());
    found
}

/// What happened in a play.
pub(crate) fn of_play(seen: &Seen, people: People) -> impl Iterator<Item = &'static str> {
    let stale = people != People::Quiet && !seen.stale.is_empty();
    let edited = stale.then_some("an edit that made a gate stale");
    edited.into_iter().chain(seen.came_again.then_some("a round"))
}
