//! A shortest run to every transition: what `rehearse --exhaustive` plays.

use super::children::Prefix;
use super::trace::{ChildSteps, Tracer};
use super::unfold::Unfolded;
use super::writes::Shelf;
use crate::definition::Workflow;
use crate::proof::{Found, Limits, Prover};
use crate::rehearse::{Expect, Scenario};
use crate::signal;

/// Runs beyond this are left out.
const MOST: usize = 50_000;

/// A shortest run to every transition of every position.
#[derive(Clone, Debug, Default)]
pub struct Transitions {
    /// The runs.
    pub scenarios: Vec<Scenario>,
    /// Transitions of which it is not known whether a run takes them: state, signal, target.
    pub unknown: Vec<String>,
    /// Whether there are more than these, because there are too many.
    pub cut: bool,
}

/// A shortest run to every transition of every position.
pub fn transitions(workflow: &Workflow, failures: bool) -> Transitions {
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
    let mut all = Transitions { cut: family.main.cut, ..Transitions::default() };
    let main_prover = Prover::new(&family.main.graph, Limits::default());
    let main = Tracer { unfolded: &family.main, shelf: &shelf, children: &child_steps, prefix: None };
    collect(&main, &main_prover, failures, &mut all);
    for instance in &family.instances {
        let prefix = match super::children::prefix(&main, &main_prover, instance) {
            Prefix::Never => continue,
            Prefix::Unknown => None,
            Prefix::Shown(prefix) => Some(*prefix),
        };
        let prover = Prover::new(&instance.unfolded.graph, Limits::default());
        let tracer = Tracer {
            unfolded: &instance.unfolded,
            shelf: &shelf,
            children: &ChildSteps::default(),
            prefix: prefix.as_ref(),
        };
        all.cut |= instance.unfolded.cut;
        let before = all.scenarios.len();
        collect(&tracer, &prover, failures, &mut all);
        if prefix.is_none() {
            // Nobody knows of a run to the loop.
            let unknown = all.scenarios.split_off(before).into_iter().map(|it| it.name);
            all.unknown.extend(unknown);
        }
    }
    all
}

fn collect(tracer: &Tracer<'_, '_>, prover: &Prover<'_>, failures: bool, all: &mut Transitions) {
    let unfolded: &Unfolded<'_> = tracer.unfolded;
    let name = |node: u32| unfolded.state(node).map(|it| unfolded.machine.qualified(&it.name));
    for (last, found) in prover.firsts() {
        let node = last.node as usize;
        let cell = last.cell as usize;
        let Some(came) = unfolded.outcomes.get(node).and_then(|it| it.get(cell)) else { continue };
        // That a person decides in a child is no transition of its own.
        if came.decides || signal::is_failure(&came.signal) && !failures {
            continue;
        }
        let to = unfolded.graph.nodes[node].cells[cell].steps.get(last.step as usize);
        let reaches = to.and_then(|it| name(it.to));
        let title = format!(
            "{} {} -> {}",
            name(last.node).unwrap_or_default(),
            came.signal,
            reaches.as_deref().unwrap_or_default()
        );
        match found {
            Found::Nowhere => {}
            Found::Path(_) if all.scenarios.len() >= MOST => all.cut = true,
            Found::Path(path) => {
                let expect = Expect { reaches, ..Expect::default() };
                all.scenarios.push(tracer.scenario(&title, &path, expect));
            }
            Found::Unknown => all.unknown.push(title),
        }
    }
}
