//! A shortest run to every transition: what `rehearse --exhaustive` plays.

use super::trace::{ChildSteps, Tracer};
use super::unfold::Unfolded;
use super::writes::Shelf;
use crate::definition::Workflow;
use crate::proof::graph::Move;
use crate::proof::{Certainty, Found, Limits, Prover};
use crate::rehearse::{Expect, Scenario};
use crate::signal;

/// Runs beyond this are left out.
const MOST: usize = 50_000;

/// A shortest run to every transition of every position, and whether that is all of them.
pub fn transitions(workflow: &Workflow, failures: bool) -> (Vec<Scenario>, bool) {
    let shelf = Shelf::of(workflow);
    let family = super::children::unfold(workflow, &shelf);
    let mut child_steps = ChildSteps::default();
    for instance in &family.instances {
        let prover = Prover::new(&instance.unfolded.graph, Limits::default());
        let tracer = Tracer {
            unfolded: &instance.unfolded,
            shelf: &shelf,
            children: &ChildSteps::default(),
            prefix: None,
        };
        child_steps.extend(super::children::steps_to_ends(instance, &prover, &tracer));
    }
    let mut scenarios = Vec::new();
    let mut complete = !family.main.cut;
    let main_prover = Prover::new(&family.main.graph, Limits::default());
    let main = Tracer { unfolded: &family.main, shelf: &shelf, children: &child_steps, prefix: None };
    complete &= collect(&main, &main_prover, failures, &mut scenarios);
    for instance in &family.instances {
        let prefix = super::children::prefix(&main, &main_prover, instance);
        let prover = Prover::new(&instance.unfolded.graph, Limits::default());
        let tracer = Tracer {
            unfolded: &instance.unfolded,
            shelf: &shelf,
            children: &ChildSteps::default(),
            prefix: prefix.as_ref(),
        };
        complete &= !instance.unfolded.cut && collect(&tracer, &prover, failures, &mut scenarios);
    }
    (scenarios, complete)
}

fn collect(
    tracer: &Tracer<'_, '_>,
    prover: &Prover<'_>,
    failures: bool,
    scenarios: &mut Vec<Scenario>,
) -> bool {
    let unfolded: &Unfolded<'_> = tracer.unfolded;
    let reach = prover.reach(usize::MAX);
    let mut complete = reach.exact;
    let id = |it: usize| u32::try_from(it).unwrap_or(u32::MAX);
    for (node, cells) in reach.steps.iter().enumerate() {
        for (cell, steps) in cells.iter().enumerate() {
            let Some(came) = unfolded.outcomes.get(node).and_then(|it| it.get(cell)) else { continue };
            if signal::is_failure(&came.signal) && !failures {
                continue;
            }
            for (step, certainty) in steps.iter().enumerate() {
                if *certainty == Certainty::No {
                    continue;
                }
                if scenarios.len() >= MOST {
                    return false;
                }
                let Found::Path(path) =
                    prover.path_to_step(Move { node: id(node), cell: id(cell), step: id(step) })
                else {
                    complete = false;
                    continue;
                };
                let to = unfolded.graph.nodes[node].cells[cell]
                    .steps
                    .get(step)
                    .and_then(|it| unfolded.state(it.to));
                let reaches = to.map(|it| unfolded.machine.qualified(&it.name));
                let from = unfolded
                    .state(id(node))
                    .map(|it| unfolded.machine.qualified(&it.name))
                    .unwrap_or_default();
                let title = format!("{from} {} -> {}", came.signal, reaches.as_deref().unwrap_or_default());
                scenarios.push(tracer.scenario(&title, &path, Expect { reaches, ..Expect::default() }));
            }
        }
    }
    complete
}
