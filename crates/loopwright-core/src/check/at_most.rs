//! `at-most`: states that may be entered only so often.

use rustc_hash::FxHashMap;

use super::trace::Tracer;
use super::verdicts::said;
use crate::definition::Claim;
use crate::problem::Problem;
use crate::proof::graph::{Cell, Counter, Node, NodeId, Path, Step};
use crate::proof::{Certainty, Found, Limits, Prover, Reach};
use crate::rehearse::Expect;

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
