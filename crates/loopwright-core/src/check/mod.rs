//! `check`: what is known about a workflow before it runs.
//!
//! A machine is unfolded into a graph (`unfold`), the analyses of [`crate::proof`] answer questions about it, and what
//! they find is said in the author's words with a scenario that shows it (`trace`). What can be said without walking is
//! in `sound`.

mod apart;
mod at_most;
mod child_steps;
mod children;
mod cost;
mod engine_sets;
mod fact_reads;
mod loops;
mod monitors;
mod passed;
mod presence;
mod report;
mod routes;
mod shown;
mod slots;
mod sound;
mod starve;
mod terms;
mod trace;
mod transitions;
mod unfold;
mod unread;
mod unused;
mod verdicts;
mod visits;
mod watched;
mod writes;

use rustc_hash::{FxHashMap, FxHashSet};

use self::child_steps::Prefix;
use self::children::Instance;
pub use self::report::{Cap, DefaultCell, Figure, Forced, PerItem, Report, Size, Worst};
use self::trace::{ChildSteps, Tracer};
pub use self::transitions::{Transitions, transitions};
use self::unfold::{Memory, Unfolded};
use self::writes::Shelf;
use crate::definition::{Origin, Workflow};
use crate::problem::Problem;
use crate::proof::{Limits, Prover};
use crate::rehearse::{Coverage, Scenario};

/// Says what is known about a workflow before it runs.
pub fn check(workflow: &Workflow) -> Report {
    check_within(workflow, &Limits::default())
}

/// The same, with limits of one's own on how far to walk.
pub fn check_within(workflow: &Workflow, limits: &Limits) -> Report {
    // What does not hold must be shown by a run: if one is not, because of items, they are remembered exactly.
    let (report, exactly) = examine(workflow, limits, Memory::Together);
    if exactly { examine(workflow, limits, Memory::Exactly).0 } else { report }
}

/// What is known about a workflow, and whether more would be if items were remembered exactly.
#[expect(clippy::too_many_lines, reason = "one question after the other, in the order they are reported")]
fn examine(workflow: &Workflow, limits: &Limits, memory: Memory) -> (Report, bool) {
    let shelf = Shelf::of(workflow);
    let mut problems: Vec<Problem> = Vec::new();
    let family = children::unfold(workflow, &shelf, memory);
    let mut size = Size::default();
    let mut forced = Vec::new();
    let mut child_costs: FxHashMap<_, _> = FxHashMap::default();
    let nothing = ChildSteps::default();
    let mut child_steps: ChildSteps = ChildSteps::default();
    let main_prover = Prover::new(&family.main.graph, limits.clone());
    let child_provers: Vec<Prover<'_>> =
        family.instances.iter().map(|it| Prover::new(&it.unfolded.graph, limits.clone())).collect();
    for (instance, prover) in family.instances.iter().zip(&child_provers) {
        let (watches, tracer) = (family.watches_of(instance), instance.tracer(&shelf, &nothing));
        child_steps.extend(child_steps::steps_to_ends(instance, watches, prover, &tracer));
    }
    // Only a property that does not hold asks for these.
    let child_steps_without = || {
        let each = family.instances.iter().zip(&child_provers);
        let each = each.flat_map(|(it, prover)| {
            child_steps::steps_without(it, family.watches_of(it), prover, &it.tracer(&shelf, &nothing))
        });
        each.collect()
    };
    let main_tracer = Tracer { unfolded: &family.main, shelf: &shelf, children: &child_steps, prefix: None };
    // What is never run costs nothing and shows nothing.
    let instances =
        family.instances.iter().zip(&child_provers).filter_map(
            |(instance, prover)| match child_steps::prefix(&main_tracer, &main_prover, instance) {
                Prefix::Never => None,
                Prefix::Unknown => Some((instance, prover, None)),
                Prefix::Shown(prefix) => Some((instance, prover, Some(*prefix))),
            },
        );
    let instances: Vec<(&Instance<'_>, &Prover<'_>, Option<Scenario>)> = instances.collect();
    let children = instances.iter().map(|(it, prover, prefix)| (&it.unfolded, *prover, prefix.as_ref()));
    let machines = std::iter::once((&family.main, &main_prover, None)).chain(children);
    let mut taken = routes::Taken::default();
    let mut repeated: Vec<(Scenario, Scenario)> = Vec::new();
    let mut ends_because = None;
    let mut main_reach = None;
    let mut properties = Vec::new();
    for (unfolded, prover, prefix) in machines {
        let main = unfolded.machine.name.is_none();
        let children = if main { &child_steps } else { &nothing };
        let tracer = Tracer { unfolded, shelf: &shelf, children, prefix };
        let (before, forced_before) = (problems.len(), forced.len());
        // A first look at what can be reached; what it does not find is searched for by name.
        let reach = prover.reach(FIRST_LOOK);
        problems.extend(routes::too_large(unfolded));
        problems.extend(routes::holes(&tracer, limits));
        taken.add(unfolded, &reach, prover);
        let (because, found) = loops::terminates(&tracer, prover);
        if let Some((problem, longer)) = found {
            repeated.extend(problem.path.clone().zip(longer));
            problems.push(problem);
        }
        problems.extend(loops::ends(&tracer, prover));
        problems.extend(verdicts::watches(
            &tracer,
            prover,
            &reach,
            (&family, &child_steps_without),
            &mut properties,
        ));
        problems.extend(starve::check(&tracer));
        problems.extend(unused::check(workflow, &shelf, unfolded.machine));
        for (problem, state) in sound::check(unfolded) {
            problems.push(routes::with_path(&tracer, prover, problem, state));
        }
        forced.extend(routes::forced(&tracer, prover));
        size.nodes += unfolded.nodes.len();
        if main {
            ends_because = because;
            main_reach = Some(reach);
        } else if prefix.is_none() {
            // Without a run to the loop, a run of the child shows nothing.
            problems[before..].iter_mut().for_each(|it| it.path = None);
            forced[forced_before..].iter_mut().for_each(|it: &mut Forced| it.path = None);
        }
    }
    let pricing = pricing(limits);
    for (instance, prover, _) in &instances {
        let cost = cost::of_child(&instance.unfolded, &prover.within(pricing.clone()), &pricing);
        child_costs.insert((instance.state.clone(), instance.setting.clone()), cost);
    }
    problems.extend(
        main_reach.iter().flat_map(|it| at_most::at_most(&main_tracer, &main_prover, it, &mut properties)),
    );
    let mut seen = FxHashSet::default();
    forced.retain(|it: &Forced| {
        seen.insert((it.gate.clone(), it.state.clone(), it.signal.clone(), it.to.clone()))
    });
    let worst = cost::worst(&family.main, &main_prover.within(pricing.clone()), &pricing, &child_costs);
    let mut caps = Vec::new();
    problems.extend(cost::caps(workflow, worst.as_ref(), &mut caps));
    problems.extend(taken.problems(workflow));
    size.states = workflow.machines().map(|it| it.states.len()).sum();
    size.cells = workflow.machines().flat_map(|it| it.states.values()).map(|it| it.cells.len()).sum();
    size.arms = Coverage::of(workflow).count().0;
    let all_play = shown::only_what_plays(workflow, &mut problems, &mut forced, &repeated);
    let order = |it: &Problem| (follows(it.code), it.place.clone(), it.code, it.message.clone());
    problems.sort_by_cached_key(order);
    problems.dedup_by(|a, b| a.place == b.place && a.code == b.code && a.message == b.message);
    let mut report = Report {
        workflow: workflow.name.clone(),
        digest: workflow.digest.clone(),
        problems,
        size,
        ends_because,
        worst,
        forced,
        properties,
        caps,
        defaults: defaults(workflow),
    };
    let unfolded = std::iter::once(&family.main).chain(family.instances.iter().map(|it| &it.unfolded));
    if unfolded.into_iter().any(Unfolded::is_partial) {
        keep_what_was_seen(&mut report);
    }
    (report, family.main.needs_items_exactly(all_play))
}

/// Where only part of a workflow was walked, what was seen holds; that there is nothing else was not shown.
fn keep_what_was_seen(report: &mut Report) {
    let of_absence = ["unreachable", "never-taken", "vacuous", "trapped", "over-cap"];
    report.problems.retain(|it| !of_absence.contains(&it.code));
    report.ends_because = None;
    report.worst = None;
    report.properties.clear();
    report.caps.clear();
}

/// Whether a problem tends to follow from others: those come last.
fn follows(code: &str) -> bool {
    ["unused", "unreachable", "never-taken", "over-cap", "starved", "vacuous"].contains(&code)
}

/// How many positions a first look at what can be reached walks.
const FIRST_LOOK: usize = 20_000;

/// Limits for what runs cost. An exact figure is worth a short walk; beyond that, a bound that says it is one will do.
fn pricing(limits: &Limits) -> Limits {
    const SHORT_WALK: usize = 100_000;
    Limits {
        dense_configurations: limits.dense_configurations.min(SHORT_WALK),
        hashed_configurations: limits.hashed_configurations.min(SHORT_WALK),
        beam: limits.beam.min(16),
        ..limits.clone()
    }
}

/// Cells that take a default, so that none does unseen.
fn defaults(workflow: &Workflow) -> Vec<DefaultCell> {
    let mut cells = Vec::new();
    for machine in workflow.machines() {
        for (name, state) in &machine.states {
            for (signal, cell) in state.cells.iter().filter(|(_, it)| it.origin == Origin::Default) {
                cells.push(DefaultCell {
                    state: machine.qualified(name),
                    signal: signal.clone(),
                    to: cell.arms.iter().map(|it| it.to.to_string()).collect(),
                });
            }
        }
    }
    cells
}
