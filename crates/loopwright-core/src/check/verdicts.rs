//! Verdicts on watches: gates that are not settled where they are needed, inputs that are not there, the author's
//! properties.

use indexmap::IndexMap;
use rustc_hash::FxHashMap;

use super::children::Family;
use super::monitors::{Watch, What};
use super::trace::{ChildSteps, Tracer};
use crate::definition::{Claim, Happened, Kind, Outcome, Property, State, Term};
use crate::name::{Name, in_expression};
use crate::problem::Problem;
use crate::proof::graph::{Cell, Counter, Node, NodeId, Path, Step};
use crate::proof::{Certainty, Found, Limits, Prover, Reach, Verdict};
use crate::rehearse::{Expect, Play, Step as ScenarioStep};
use crate::signal;

/// What the watches of a machine say.
pub(super) fn watches(
    tracer: &Tracer<'_, '_>,
    prover: &Prover<'_>,
    reach: &Reach,
    (family, without): (&Family<'_>, &[(Happened, ChildSteps)]),
    proved: &mut Vec<String>,
) -> Vec<Problem> {
    let unfolded = tracer.unfolded;
    let watches: &[Watch] = match &unfolded.machine.name {
        None => &family.watches,
        Some(child) => family.child_watches.get(child).map(Vec::as_slice).unwrap_or_default(),
    };
    let mut problems = Vec::new();
    let mut held: Vec<usize> = Vec::new();
    let mut failed: Vec<usize> = Vec::new();
    let mut missing: Vec<&String> = Vec::new();
    for (at, (watch, verdict)) in watches.iter().zip(prover.monitors()).enumerate() {
        if matches!(watch.what, What::Inside { .. } | What::Unforced { .. }) {
            continue;
        }
        let monitor = u16::try_from(at).unwrap_or(u16::MAX);
        let asked = unfolded
            .graph
            .nodes
            .iter()
            .zip(&reach.nodes)
            .any(|(node, reached)| *reached != Certainty::No && node.requires.contains(monitor));
        let property = match &watch.what {
            What::Before { property, .. } | What::After { property, .. } => Some(*property),
            _ => None,
        };
        match verdict {
            Verdict::Holds => {
                let vacuous = property.and_then(|it| holds(tracer, watch, asked, reach, it));
                if vacuous.is_some() { &mut failed } else { &mut held }.extend(property);
                problems.extend(vacuous);
            }
            Verdict::Broken(path) => {
                failed.extend(property);
                // Of a group, the first member that need not be there says enough.
                if let What::Defined { given, .. } = &watch.what {
                    if missing.contains(&given) {
                        continue;
                    }
                    missing.push(given);
                }
                // What did not happen in a child must not happen in the run that shows it.
                let mut children = tracer.children.clone();
                if let What::Before { happened, .. } | What::After { comes: happened, .. } = &watch.what {
                    let runs = without.iter().filter(|(it, _)| it == happened);
                    children.extend(runs.flat_map(|(_, it)| it.clone()));
                }
                problems.extend(broken(&Tracer { children: &children, ..*tracer }, watch, &path));
            }
            Verdict::Unknown => {
                failed.extend(property);
                problems.extend(unknown(tracer, watch));
            }
        }
    }
    // One with several parts holds when all of them do.
    for property in held.iter().filter(|it| !failed.contains(it)) {
        let text = tracer.unfolded.workflow.properties.get(*property).map(said);
        proved.extend(text.filter(|it| !proved.contains(it)));
    }
    problems
}

fn holds(
    tracer: &Tracer<'_, '_>,
    watch: &Watch,
    asked: bool,
    reach: &Reach,
    property: usize,
) -> Option<Problem> {
    let declared = tracer.unfolded.workflow.properties.get(property)?;
    let vacuous = match &watch.what {
        What::After { after, .. } => !succeeds_after(tracer, reach, after),
        _ => !asked,
    };
    if vacuous {
        let problem = Problem::proof(
            "vacuous",
            declared.place.clone(),
            format!("{} says nothing: it speaks of what never happens", said(declared)),
        );
        return Some(problem.help("name a state that can be reached (and values it can be reached with)"));
    }
    None
}

/// Whether a run may come to a state and from there to a success, as far as routes alone tell.
fn succeeds_after(tracer: &Tracer<'_, '_>, reach: &Reach, after: &Name) -> bool {
    let unfolded = tracer.unfolded;
    let nodes = &unfolded.graph.nodes;
    let mut seen = vec![false; nodes.len()];
    let mut work: Vec<NodeId> = (0..nodes.len())
        .filter(|it| reach.nodes.get(*it) != Some(&Certainty::No))
        .map(|it| NodeId::try_from(it).unwrap_or(NodeId::MAX))
        .filter(|it| unfolded.state(*it).is_some_and(|it| it.name == *after))
        .collect();
    while let Some(node) = work.pop() {
        let succeeds = matches!(
            unfolded.state(node).map(|it| &it.kind),
            Some(Kind::End { outcome: Outcome::Success, .. })
        );
        if succeeds {
            return true;
        }
        if !std::mem::replace(&mut seen[node as usize], true) {
            let steps = nodes[node as usize].cells.iter().flat_map(|it| &it.steps);
            work.extend(steps.map(|it| it.to));
        }
    }
    false
}

fn broken(tracer: &Tracer<'_, '_>, watch: &Watch, path: &Path) -> Option<Problem> {
    let unfolded = tracer.unfolded;
    let state = unfolded.state(unfolded.graph.end_of(path)?)?;
    let shown: Name = unfolded.machine.qualified(&state.name);
    match &watch.what {
        What::Gate(gate) => {
            let message =
                format!("`{shown}` needs `{gate}`, and can be entered while `{gate}` is not settled");
            let problem = Problem::proof("unsettled", state.place.clone(), message.clone());
            let help = spoiler(tracer, gate, path).map_or_else(
                || format!("lead every way to `{shown}` through `{gate}`"),
                |it| format!("`{it}` may write what `{gate}` judges and nothing judges it again; lead it back to `{gate}`"),
            );
            let expect = Expect { unsettled: Some(gate.clone()), ..Expect::default() };
            let mut scenario = tracer.scenario(&message, path, expect);
            scenario.steps.extend(asking(tracer, state, gate));
            Some(problem.help(help).path(scenario))
        }
        What::Defined { given, document, by } => {
            let place = by
                .iter()
                .find(|(it, _)| *it == state.name)
                .map_or_else(|| state.place.clone(), |(_, it)| it.clone());
            let whole = document.as_ref().is_none_or(|it| {
                given.strip_prefix("docs.").is_some_and(|given| in_expression(given) == it.in_expression())
            });
            let message = match document.as_ref().filter(|_| !whole) {
                None => format!("`{shown}` is given `{given}`, which need not be there"),
                Some(member) => {
                    format!("`{shown}` is given `{given}`, and `{member}` of it need not be there")
                }
            };
            let expect = Expect { reaches: Some(shown), ..Expect::default() };
            let problem = Problem::proof("undefined-input", place, message.clone());
            Some(
                problem
                    .help(format!("write `maybe {given}`, or make it on every way here"))
                    .path(tracer.scenario(&message, path, expect)),
            )
        }
        What::Before { property, .. } | What::After { property, .. } => {
            let declared = unfolded.workflow.properties.get(*property)?;
            let message = format!("{} does not hold", said(declared));
            let expect = Expect { reaches: Some(shown), ..Expect::default() };
            let problem = Problem::proof("property", declared.place.clone(), message.clone());
            Some(problem.path(tracer.scenario(&message, path, expect)))
        }
        What::Inside { .. } | What::Unforced { .. } => None,
    }
}

/// What the last step of a path may have changed, so that a gate is asked for.
fn asking(tracer: &Tracer<'_, '_>, state: &State, gate: &Name) -> Option<ScenarioStep> {
    let slots = &tracer.unfolded.slots;
    let mut facts = IndexMap::new();
    for condition in crate::machine::Run::owed_when(tracer.unfolded.machine, gate) {
        let by_routing = slots.term(&condition.term).is_some_and(|at| slots.kept[at].reads.by_routing);
        if let (Term::Fact(name), Some(value), true) = (&condition.term, condition.values.first(), by_routing)
        {
            facts.insert(name.clone(), value.clone());
        }
    }
    let play = Play { signal: Some(signal::STALE.into()), facts, ..Play::default() };
    (!play.facts.is_empty()).then(|| ScenarioStep::State {
        child: tracer.unfolded.machine.name.clone(),
        state: state.name.clone(),
        play: Box::new(play),
    })
}

/// The last state of a path that may have written what a gate judges.
fn spoiler(tracer: &Tracer<'_, '_>, gate: &Name, path: &Path) -> Option<Name> {
    let unfolded = tracer.unfolded;
    path.moves.iter().rev().find_map(|it| {
        let values = unfolded.values(it.node)?;
        let state = unfolded.state(it.node)?;
        let written = super::writes::of_state(unfolded.workflow, tracer.shelf, state, &|name| {
            unfolded.lookup(values, name)
        });
        let spoils = tracer.shelf.touched(written) & unfolded.judged(gate, values) != 0;
        spoils.then(|| unfolded.machine.qualified(&state.name))
    })
}

fn unknown(tracer: &Tracer<'_, '_>, watch: &Watch) -> Option<Problem> {
    let unfolded = tracer.unfolded;
    let place = unfolded.machine.states.values().next()?.place.clone();
    let what = match &watch.what {
        What::Gate(gate) => format!("that `{gate}` is settled wherever it is needed"),
        What::Defined { given, .. } => format!("that `{given}` is there wherever it is given"),
        What::Before { property, .. } | What::After { property, .. } => {
            unfolded.workflow.properties.get(*property).map(said).unwrap_or_default()
        }
        What::Inside { .. } | What::Unforced { .. } => return None,
    };
    Some(Problem::proof(
        "not-shown",
        place,
        format!("it was not proved {what}: the space is too large to walk"),
    ))
}

/// A property in words.
pub(super) fn said(property: &Property) -> String {
    let happened = |it: &Happened| match it {
        Happened::Settled { gate } => format!("`{gate}` is settled"),
        Happened::Signal { child, state, signals } => {
            let name = child.as_ref().map_or_else(|| state.to_string(), |it| format!("{it}.{state}"));
            let signals: Vec<&str> = signals.iter().map(|it| &**it).collect();
            if signals.is_empty() {
                format!("`{name}` is reached")
            } else {
                format!("`{name}` came out as {}", signals.join(" or "))
            }
        }
    };
    match &property.claim {
        Claim::Never { reach, before, when } => {
            let before: Vec<String> = before.iter().map(happened).collect();
            let when: Vec<String> = when
                .iter()
                .map(|it| {
                    format!(
                        "{} is {}",
                        it.term,
                        it.values.iter().map(|it| &**it).collect::<Vec<_>>().join(" or ")
                    )
                })
                .collect();
            let when = if when.is_empty() { String::new() } else { format!(" when {}", when.join(" and ")) };
            format!("never `{reach}` before {}{when}", before.join(" and "))
        }
        Claim::AtMost { visits, times } => match times {
            1 => format!("`{visits}` is entered at most once"),
            _ => format!("`{visits}` is entered at most {times} times"),
        },
        Claim::Always { after, comes } => {
            format!("after `{after}` always {} before success", happened(comes))
        }
    }
}

/// States that may be entered only so often.
pub(super) fn at_most(
    tracer: &Tracer<'_, '_>,
    prover: &Prover<'_>,
    reach: &Reach,
    proved: &mut Vec<String>,
) -> Vec<Problem> {
    let unfolded = tracer.unfolded;
    let mut problems = Vec::new();
    for property in &unfolded.workflow.properties {
        let Claim::AtMost { visits, times } = &property.claim else { continue };
        let of_state = |node: NodeId| unfolded.state(node).is_some_and(|it| it.name == *visits);
        let reached = (0..unfolded.nodes.len()).any(|it| {
            of_state(NodeId::try_from(it).unwrap_or(NodeId::MAX))
                && reach.nodes.get(it) != Some(&Certainty::No)
        });
        if !reached {
            let message = format!("{} says nothing: it is never entered", said(property));
            problems.push(Problem::proof("vacuous", property.place.clone(), message));
            continue;
        }
        if visits_bound(tracer, &prover.limits, u64::from(*times), &of_state)
            .is_some_and(|it| it <= u64::from(*times))
        {
            proved.push(said(property));
            continue;
        }
        match once_too_often(tracer, &prover.limits, *times, &of_state) {
            Found::Nowhere => proved.push(said(property)),
            Found::Path(path) => {
                let message = format!("{} does not hold", said(property));
                let expect = Expect { reaches: Some(visits.clone()), ..Expect::default() };
                let scenario = tracer.scenario(&message, &path, expect);
                problems.push(Problem::proof("property", property.place.clone(), message).path(scenario));
            }
            Found::Unknown => {
                let message =
                    format!("it was not proved that {}: the space is too large to walk", said(property));
                problems.push(Problem::proof("not-shown", property.place.clone(), message));
            }
        }
    }
    problems
}

/// How often certain nodes are entered at most, by argument alone. Once more in the same visit is no further visit, so
/// visits are counted at a doorstep before each node that only other steps lead over.
fn visits_bound(
    tracer: &Tracer<'_, '_>,
    limits: &Limits,
    enough: u64,
    of_state: &dyn Fn(NodeId) -> bool,
) -> Option<u64> {
    let unfolded = tracer.unfolded;
    let mut graph = unfolded.graph.clone();
    let inner = graph.nodes.len();
    let mut doorstep: Vec<Option<NodeId>> = vec![None; inner];
    for node in (0..inner).filter(|it| of_state(NodeId::try_from(*it).unwrap_or(NodeId::MAX))) {
        let step = Step { to: NodeId::try_from(node).unwrap_or(NodeId::MAX), ..Step::default() };
        doorstep[node] = NodeId::try_from(graph.nodes.len()).ok();
        graph.nodes.push(Node { cells: vec![Cell { waits: false, steps: vec![step] }], ..Node::default() });
    }
    for (node, here) in graph.nodes[..inner].iter_mut().enumerate() {
        for (cell, it) in here.cells.iter_mut().enumerate() {
            for (arm, step) in it.steps.iter_mut().enumerate() {
                if let Some(door) = doorstep[step.to as usize].filter(|_| !unfolded.is_again(node, cell, arm))
                {
                    step.to = door;
                }
            }
        }
    }
    for root in &mut graph.roots {
        root.node = doorstep[root.node as usize].unwrap_or(root.node);
    }
    let lane: Vec<u64> = (0..graph.nodes.len()).map(|it| u64::from(it >= inner)).collect();
    Prover::new(&graph, limits.clone()).bound(&lane, enough)
}

/// A shortest run that enters certain nodes once too often: a counter for the visits, and a way out when it is empty.
fn once_too_often(
    tracer: &Tracer<'_, '_>,
    limits: &Limits,
    times: u32,
    of_state: &dyn Fn(NodeId) -> bool,
) -> Found {
    let mut graph = tracer.unfolded.graph.clone();
    let counter = u16::try_from(graph.counters.len()).unwrap_or(u16::MAX);
    graph.counters.push(Counter { name: "visits".into(), limit: times });
    let sink = NodeId::try_from(graph.nodes.len()).unwrap_or(NodeId::MAX);
    graph.nodes.push(Node { end: true, ..Node::default() });
    // Which arm each step of a cell is, where steps were put in between.
    let mut arms: FxHashMap<(usize, usize), Vec<u32>> = FxHashMap::default();
    for (node, here) in graph.nodes.iter_mut().enumerate() {
        for (at, cell) in here.cells.iter_mut().enumerate() {
            let mut steps = Vec::new();
            let mut arm_of = Vec::new();
            for (arm, step) in cell.steps.iter().enumerate() {
                let number = u32::try_from(arm).unwrap_or(u32::MAX);
                // Once more in the same visit is no further visit.
                if of_state(step.to) && !tracer.unfolded.is_again(node, at, arm) {
                    let mut counted = step.clone();
                    counted.spend.insert(counter);
                    steps.push(counted);
                    steps.push(Step { to: sink, spend: step.spend.clone(), ..Step::default() });
                    arm_of.extend([number, number]);
                } else {
                    steps.push(step.clone());
                    arm_of.push(number);
                }
            }
            if steps.len() > cell.steps.len() {
                arms.insert((node, at), arm_of);
            }
            cell.steps = steps;
        }
    }
    // A run that begins there has been there once: it comes over a doorstep.
    let inner = graph.nodes.len();
    for root in 0..graph.roots.len() {
        let first = graph.roots[root].node;
        if of_state(first) {
            let counted = Step { to: first, spend: [counter].into(), ..Step::default() };
            let steps = vec![counted, Step { to: sink, ..Step::default() }];
            graph.roots[root].node = NodeId::try_from(graph.nodes.len()).unwrap_or(NodeId::MAX);
            graph.nodes.push(Node { cells: vec![Cell { waits: false, steps }], ..Node::default() });
        }
    }
    match Prover::new(&graph, limits.clone()).path_to_node(sink) {
        Found::Path(Path { root, mut moves }) => {
            moves.retain(|it| (it.node as usize) < inner);
            for it in &mut moves {
                let arms = arms.get(&(it.node as usize, it.cell as usize));
                it.step = arms.and_then(|arms| arms.get(it.step as usize)).copied().unwrap_or(it.step);
            }
            Found::Path(Path { root, moves })
        }
        other => other,
    }
}
