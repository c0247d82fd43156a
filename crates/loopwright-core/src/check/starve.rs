//! Starving: one loop uses a budget up, and another finds nothing left that it never spent.

use super::trace::Tracer;
use crate::definition::Per;
use crate::language::units::Unit;
use crate::name::Name;
use crate::problem::Problem;
use crate::proof::graph::{Move, Node, NodeId};
use crate::proof::{Found, Limits, Prover};
use crate::rehearse::Expect;

/// Budgets that several states spend without saying so.
pub(super) fn check(tracer: &Tracer<'_, '_>) -> Vec<Problem> {
    let unfolded = tracer.unfolded;
    let machine = unfolded.machine;
    let mut problems = Vec::new();
    for (name, budget) in &machine.budgets {
        if budget.shared || budget.per == Per::Visit || budget.unit() != Unit::Uses {
            continue;
        }
        let spends = |state: &crate::definition::State| {
            state.cells.values().flat_map(|it| &it.arms).any(|it| it.spend.as_ref() == Some(name))
        };
        let spenders: Vec<&Name> =
            machine.states.values().filter(|it| spends(it)).map(|it| &it.name).collect();
        if spenders.len() < 2 {
            continue;
        }
        let found = spenders.iter().find_map(|it| starved(tracer, name, it).map(|path| (*it, path)));
        if let Some((starved, (path, move_to))) = found {
            let others: Vec<String> =
                spenders.iter().filter(|it| **it != starved).map(|it| format!("`{it}`")).collect();
            let others = others.join(", ");
            let message = format!(
                "{others} can use `{name}` up, so that `{starved}` finds nothing left that it never spent"
            );
            let reaches = unfolded.state(move_to).map(|it| machine.qualified(&it.name));
            let scenario = tracer.scenario(&message, &path, Expect { reaches, ..Expect::default() });
            let problem = Problem::proof("starved", budget.place.clone(), message);
            problems.push(
                problem.help("give each loop a budget of its own, or say `shared: true`").path(scenario),
            );
        }
    }
    problems
}

/// A run in which a state finds a budget used up that it never spent itself.
fn starved(
    tracer: &Tracer<'_, '_>,
    budget: &Name,
    state: &Name,
) -> Option<(crate::proof::graph::Path, NodeId)> {
    let unfolded = tracer.unfolded;
    let lines: Vec<u16> = unfolded
        .counters
        .iter()
        .filter(|(line, _)| line.split('@').next() == Some(budget))
        .map(|(_, it)| *it)
        .collect();
    let mut graph = unfolded.graph.clone();
    let dead = NodeId::try_from(graph.nodes.len()).unwrap_or(NodeId::MAX);
    let mut fallbacks: Vec<Move> = Vec::new();
    for (node, outcomes) in unfolded.outcomes.iter().enumerate() {
        let node = NodeId::try_from(node).unwrap_or(NodeId::MAX);
        if unfolded.state(node).is_none_or(|it| it.name != *state) {
            continue;
        }
        for cell in 0..outcomes.len() {
            let Some(here) = graph.nodes.get_mut(node as usize).and_then(|it| it.cells.get_mut(cell)) else {
                continue;
            };
            let mut spent_before = false;
            for (at, step) in here.steps.iter_mut().enumerate() {
                if step.spend.iter().any(|it| lines.contains(&it)) {
                    // Paying it itself is no starving: that way leads nowhere here.
                    step.to = dead;
                    spent_before = true;
                } else if spent_before {
                    let cell = u32::try_from(cell).unwrap_or(u32::MAX);
                    fallbacks.push(Move { node, cell, step: u32::try_from(at).unwrap_or(u32::MAX) });
                    break;
                }
            }
        }
    }
    graph.nodes.push(Node { end: true, ..Node::default() });
    let prover = Prover::new(&graph, Limits::default());
    fallbacks.into_iter().find_map(|it| match prover.path_to_step(it) {
        Found::Path(path) => {
            let to = graph
                .nodes
                .get(it.node as usize)?
                .cells
                .get(it.cell as usize)?
                .steps
                .get(it.step as usize)?
                .to;
            Some((path, to))
        }
        _ => None,
    })
}
