//! Routes: cells nothing covers, states nothing reaches, arms nothing takes, and arms that pass a gate over.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::rc::Rc;

use indexmap::IndexMap;
use rustc_hash::FxHashSet;

use super::report::Forced;
use super::trace::Tracer;
use super::unfold::Unfolded;
use crate::definition::{Machine, Origin, Workflow};
use crate::name::Name;
use crate::problem::{Place, Problem};
use crate::proof::graph::{Move, Node, NodeId, Path, Step};
use crate::proof::{Certainty, Found, Limits, Prover, Reach};
use crate::rehearse::Expect;
use crate::signal::is_failure;

fn id(index: usize) -> u32 {
    u32::try_from(index).unwrap_or(u32::MAX)
}

/// What could not be unfolded.
pub(super) fn too_large(unfolded: &Unfolded<'_>) -> Vec<Problem> {
    let mut problems = Vec::new();
    for state in &unfolded.too_wide {
        let place = unfolded.machine.states.get(&**state).map(|it| it.place.clone());
        let message = format!("`{state}` reads so many facts at once that its choices cannot be listed");
        problems.extend(
            place.map(|it| Problem::proof("too-wide", it, message).help("split the choice in two states")),
        );
    }
    for state in &unfolded.too_many_gates {
        let place = unfolded.machine.states.get(&**state).map(|it| it.place.clone());
        let message = format!(
            "at `{state}` more gates may go stale than can be told apart, so not every run was looked at"
        );
        let help = "route on fewer gates, or let one judge several documents";
        problems.extend(place.map(|it| Problem::proof("too-wide", it, message).help(help)));
    }
    if unfolded.cut {
        let place = unfolded.machine.states.values().next().map(|it| it.place.clone());
        let message = "there are more positions than can be walked; nothing was proved about the rest";
        let help =
            "fewer variables, remembered signals or gates in one machine; a child has a space of its own";
        problems.extend(place.map(|it| Problem::proof("too-large", it, message).help(help)));
    }
    problems
}

/// Outcomes without a route, one problem a state.
pub(super) fn holes(tracer: &Tracer<'_, '_>, limits: &Limits) -> Vec<Problem> {
    let unfolded = tracer.unfolded;
    let holes = crate::proof::holes(&unfolded.graph);
    if holes.is_empty() {
        return Vec::new();
    }
    // A way out at every hole, one for each state and signal, so that the analyses can say whether and how a run falls
    // into it.
    let mut graph = unfolded.graph.clone();
    let mut by_state: BTreeMap<usize, IndexMap<Name, NodeId>> = BTreeMap::new();
    for hole in &holes {
        let came = unfolded.outcomes.get(hole.node as usize).and_then(|it| it.get(hole.cell as usize));
        let (Some(state), Some(came)) = (unfolded.state(hole.node), came) else { continue };
        let index = unfolded.machine.states.get_index_of(&*state.name).unwrap_or(0);
        let sink = *by_state.entry(index).or_default().entry(came.signal.clone()).or_insert_with(|| {
            graph.nodes.push(Node { end: true, ..Node::default() });
            id(graph.nodes.len() - 1)
        });
        let cell =
            graph.nodes.get_mut(hole.node as usize).and_then(|it| it.cells.get_mut(hole.cell as usize));
        if let Some(cell) = cell {
            cell.steps.push(Step { to: sink, ..Step::default() });
        }
    }
    let open = Prover::new(&graph, limits.clone());
    let mut problems = Vec::new();
    for (index, row) in by_state {
        let Some((name, state)) = unfolded.machine.states.get_index(index) else { continue };
        let mut shown = None;
        let mut signals: Vec<(Name, bool)> = Vec::new();
        for (signal, sink) in row {
            let written = state.cells.get(&*signal).is_some_and(|it| !it.arms.is_empty());
            match open.path_to_node(sink) {
                Found::Nowhere => continue,
                Found::Path(Path { root, mut moves }) => {
                    let title = format!("{} has no route for {signal}", unfolded.machine.qualified(name));
                    let last = moves.pop();
                    let path = Path { root, moves };
                    shown = shown.or_else(|| Some(tracer.unrouted(&title, &path, last?, &signal)));
                }
                Found::Unknown => {}
            }
            signals.push((signal, written));
        }
        if signals.is_empty() {
            continue;
        }
        let shown_name = unfolded.machine.qualified(name);
        let listed = signals.iter().map(|(it, _)| format!("`{it}`")).collect::<Vec<_>>().join(", ");
        let (message, help) = if signals.iter().any(|(_, written)| *written) {
            let message = format!("the arms of `{shown_name}` do not cover every way {listed} can come");
            (
                message,
                "end with an arm that has no `when` and spends nothing, or give `spend` an `else`".to_owned(),
            )
        } else {
            let message = format!("`{shown_name}` has no route for {listed}");
            let named: Vec<String> =
                signals.iter().filter(|(it, _)| !is_failure(it)).map(|(it, _)| format!("`{it}`")).collect();
            let help = match (named.len(), named.join(", ")) {
                (0, _) => "add `failures: STATE` to `defaults`, or to its `on`".to_owned(),
                (count, named) if count == signals.len() => format!("add {named} to its `on`"),
                (_, named) => format!("add {named} to its `on`, and `failures: STATE` to `defaults`"),
            };
            (message, help)
        };
        let problem = Problem::proof("unrouted", state.place.clone(), message).help(help);
        problems.push(match shown {
            Some(path) => problem.path(path),
            None => problem,
        });
    }
    problems
}

/// A problem with the shortest way to a state.
pub(super) fn with_path(
    tracer: &Tracer<'_, '_>,
    prover: &Prover<'_>,
    problem: Problem,
    state: Option<Name>,
) -> Problem {
    let Some(name) = state else { return problem };
    let nodes = (0..tracer.unfolded.nodes.len()).map(id);
    let mut of_state = nodes.filter(|it| tracer.unfolded.state(*it).is_some_and(|it| it.name == name));
    let found = of_state.find_map(|it| match prover.path_to_node(it) {
        Found::Path(path) => Some(path),
        _ => None,
    });
    let Some(path) = found else { return problem };
    let reaches = Some(tracer.unfolded.machine.qualified(&name));
    let scenario = tracer.scenario(&problem.message.clone(), &path, Expect { reaches, ..Expect::default() });
    problem.path(scenario)
}

/// Which states are reached and which arms are taken, over all machines.
#[derive(Default)]
pub(super) struct Taken {
    states: FxHashSet<(Option<Name>, Name)>,
    arms: FxHashSet<(Place, Option<Name>)>,
    default_arms: FxHashSet<Place>,
}

impl Taken {
    /// Adds what a machine can do.
    pub(super) fn add(&mut self, unfolded: &Unfolded<'_>, reach: &Reach, prover: &Prover<'_>) {
        let machine = unfolded.machine;
        let mut unseen: BTreeMap<(Place, Option<Name>), Vec<Move>> = BTreeMap::new();
        let mut told = FxHashSet::default();
        for (node, certainty) in reach.nodes.iter().enumerate() {
            let Some(state) = unfolded.state(id(node)).filter(|_| *certainty != Certainty::No) else {
                continue;
            };
            self.states.insert((machine.name.clone(), state.name.clone()));
            for (cell, came) in unfolded.outcomes.get(node).into_iter().flat_map(|it| it.iter()).enumerate() {
                let steps = reach.steps(node, cell);
                // The same outcome of the same state has nothing new to tell.
                let sure = steps.iter().all(|it| *it == Certainty::Yes);
                if sure && !told.insert((std::ptr::from_ref(state), Rc::as_ptr(came))) {
                    continue;
                }
                if let Some(cell) = state.cells.get(&*came.signal) {
                    let tried = came.retries.iter().filter(|(_, times)| *times > 0);
                    for arm in tried.filter_map(|(at, _)| cell.arms.get(*at)) {
                        self.arms.insert((arm.place.clone(), machine.name.clone()));
                        self.default_arms.insert(arm.place.clone());
                    }
                }
                for (step, arm) in came.arms.iter().enumerate() {
                    let Some(arm) = state.cells.get(&*came.signal).and_then(|it| it.arms.get(*arm)) else {
                        continue;
                    };
                    match steps.get(step) {
                        Some(Certainty::Yes) => {
                            self.arms.insert((arm.place.clone(), machine.name.clone()));
                            self.default_arms.insert(arm.place.clone());
                        }
                        Some(Certainty::Unknown) => {
                            let last = Move { node: id(node), cell: id(cell), step: id(step) };
                            unseen.entry((arm.place.clone(), machine.name.clone())).or_default().push(last);
                        }
                        _ => {}
                    }
                }
            }
        }
        self.search(unseen, prover);
    }

    /// Arms a first look did not see taken are searched for; one that no search rules out counts as taken.
    fn search(&mut self, unseen: BTreeMap<(Place, Option<Name>), Vec<Move>>, prover: &Prover<'_>) {
        for (key, moves) in unseen {
            if !self.arms.contains(&key) && moves.iter().any(|it| prover.path_to_step(*it) != Found::Nowhere)
            {
                self.default_arms.insert(key.0.clone());
                self.arms.insert(key);
            }
        }
    }

    /// States nothing reaches, and arms nothing takes.
    pub(super) fn problems(&self, workflow: &Workflow) -> Vec<Problem> {
        let mut problems = Vec::new();
        let mut reported: FxHashSet<Place> = FxHashSet::default();
        for machine in workflow.machines() {
            let run =
                machine.states.keys().any(|it| self.states.contains(&(machine.name.clone(), it.clone())));
            if !run && machine.name.is_some() {
                continue;
            }
            for (name, state) in &machine.states {
                if !self.states.contains(&(machine.name.clone(), name.clone())) {
                    let message = format!("nothing leads to `{}`", machine.qualified(name));
                    let problem = Problem::proof("unreachable", state.place.clone(), message);
                    problems.push(problem.help("lead an arm there that can be taken, or remove it"));
                    continue;
                }
                for (signal, cell) in state.cells.iter().filter(|(_, it)| it.origin != Origin::Implied) {
                    for (at, arm) in cell.arms.iter().enumerate() {
                        let taken = if cell.origin == Origin::Default {
                            self.default_arms.contains(&arm.place)
                        } else {
                            self.arms.contains(&(arm.place.clone(), machine.name.clone()))
                        };
                        if taken || !reported.insert(arm.place.clone()) {
                            continue;
                        }
                        let mut message = format!("this arm of `{}`", machine.qualified(name));
                        if *signal != crate::signal::ALWAYS {
                            let _ = write!(message, " for `{signal}`");
                        }
                        message.push_str(" is never taken");
                        let nothing = arm.spend.as_ref().filter(|it| has_nothing(machine, it));
                        let help = if let Some(budget) = nothing {
                            format!("`{budget}` has nothing to spend; raise its limit, or remove the arm")
                        } else if arm.when.is_empty() && at > 0 {
                            "the arms before it always hold and can always be paid; remove it".to_owned()
                        } else if at > 0 {
                            "the arms before it catch every such case; move it up, or remove it".to_owned()
                        } else {
                            "what it asks for never holds here; remove it".to_owned()
                        };
                        problems.push(Problem::proof("never-taken", arm.place.clone(), message).help(help));
                    }
                }
            }
        }
        problems
    }
}

/// Whether a budget has a limit of zero, in every row.
fn has_nothing(machine: &Machine, budget: &Name) -> bool {
    machine.budgets.get(&**budget).is_some_and(|it| it.limit.values().all(|it| it.value == 0))
}

/// Arms that pass a gate over, each with a shortest run that takes it.
pub(super) fn forced(tracer: &Tracer<'_, '_>, prover: &Prover<'_>) -> Vec<Forced> {
    let unfolded = tracer.unfolded;
    let mut found: Vec<Forced> = Vec::new();
    let mut seen: FxHashSet<(Name, Name, usize)> = FxHashSet::default();
    for (node, outcomes) in unfolded.outcomes.iter().enumerate() {
        let Some(state) = unfolded.state(id(node)) else { continue };
        let forces = |it: &crate::definition::Cell| it.arms.iter().any(|it| !it.forced.is_empty());
        if !state.cells.values().any(forces) {
            continue;
        }
        for (cell, came) in outcomes.iter().enumerate() {
            for (step, at) in came.arms.iter().enumerate() {
                let Some(arm) = state.cells.get(&*came.signal).and_then(|it| it.arms.get(*at)) else {
                    continue;
                };
                if arm.forced.is_empty()
                    || seen.contains(&(state.name.clone(), came.signal.clone(), arm.place.bytes.start))
                {
                    continue;
                }
                let Found::Path(path) =
                    prover.path_to_step(Move { node: id(node), cell: id(cell), step: id(step) })
                else {
                    continue;
                };
                seen.insert((state.name.clone(), came.signal.clone(), arm.place.bytes.start));
                for gate in &arm.forced {
                    let title =
                        format!("{} is passed over at {}", gate, unfolded.machine.qualified(&state.name));
                    let reaches = unfolded
                        .graph
                        .end_of(&path)
                        .and_then(|it| unfolded.state(it))
                        .map(|it| unfolded.machine.qualified(&it.name));
                    found.push(Forced {
                        gate: unfolded.machine.qualified(gate),
                        state: unfolded.machine.qualified(&state.name),
                        signal: came.signal.clone(),
                        to: arm.to.to_string(),
                        path: Some(tracer.scenario(&title, &path, Expect { reaches, ..Expect::default() })),
                    });
                }
            }
        }
    }
    found
}
