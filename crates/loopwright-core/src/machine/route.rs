//! The way on: the first arm that holds and can be paid, and everything that taking it does.

use super::advance::{begin_work, enter, state_of};
use super::decide;
use super::decisions;
use super::event::{Observed, Outcome};
use super::impossible::Impossible;
use super::run::{Cause, Last, Record, Run, Stage, Taken};
use crate::definition::{Arm, Kind, Machine, State, Target, Workflow};
use crate::name::Name;
use crate::signal;

/// So many states that do no work are passed at once before anybody looks whether they go round in a circle.
const UNWATCHED: usize = 2_000;
/// The most that are passed at once, circle or not. What may pass more is not proved.
pub(crate) const MOST_PASSED: usize = 1_000_000;

/// Goes on as long as what comes next comes out at once.
pub(super) fn go_on(
    workflow: &Workflow,
    machine: &Machine,
    run: &mut Run,
    mut at_once: Option<Outcome>,
) -> Result<(), Impossible> {
    let mut mark: Option<(Run, Outcome)> = None;
    while let Some(outcome) = at_once {
        let passed = run.taken.len();
        let round = mark.as_ref().is_some_and(|(then, came)| *came == outcome && stands_as(run, then));
        if round || passed >= MOST_PASSED {
            return Err(Impossible::Circle { state: run.at.state.clone(), run: Box::new(run.clone()) });
        }
        // A mark further on each time is in the circle at last, and far enough from the next one to come round.
        if passed >= UNWATCHED && (mark.is_none() || passed.is_power_of_two()) {
            mark = Some((Run { taken: Vec::new(), ..run.clone() }, outcome.clone()));
        }
        let state = state_of(machine, run)?;
        at_once = one_out(workflow, machine, state, run, outcome)?;
    }
    Ok(())
}

/// Whether a run stands where it stood before, in all that decides where it goes while nothing is looked at.
fn stands_as(run: &Run, then: &Run) -> bool {
    let came_out_so = |(name, it): (&Name, &Last)| {
        then.last.get(&**name).is_some_and(|then| it.signal == then.signal && it.fields == then.fields)
    };
    run.at.state == then.at.state
        && run.at.from == then.at.from
        && run.vars == then.vars
        && run.left == then.left
        && run.gates == then.gates
        && run.ever == then.ever
        && run.last.len() == then.last.len()
        && run.last.iter().all(came_out_so)
}

/// The work of a state came out: the way on is sought, and gone until something has to be done.
pub(super) fn come_out(
    workflow: &Workflow,
    machine: &Machine,
    state: &State,
    run: &mut Run,
    outcome: Outcome,
) -> Result<(), Impossible> {
    let next = one_out(workflow, machine, state, run, outcome)?;
    go_on(workflow, machine, run, next)
}

/// What a judge found goes to the ledger, gates open or pass, and the way on is sought. What then comes out at once is
/// returned.
fn one_out(
    workflow: &Workflow,
    machine: &Machine,
    state: &State,
    run: &mut Run,
    outcome: Outcome,
) -> Result<Option<Outcome>, Impossible> {
    let (outcome, same_again, topic) = decide::judge(workflow, state, run, outcome);
    if !state.cells.contains_key(&*outcome.signal) {
        return Err(Impossible::NoSuchSignal { state: state.name.clone(), signal: outcome.signal });
    }
    let asked = decide::Asked { outcome: &outcome, same_again, topic: topic.as_ref() };
    if decide::wanted(machine, state, run, &asked).is_none() {
        return route(workflow, machine, state, run, &asked, &Observed::default());
    }
    run.at.stage = Stage::Deciding { outcome: Box::new(outcome), same_again, topic };
    Ok(None)
}

/// Takes the first arm that holds and can be paid. What comes out at once where it leads is returned.
pub(super) fn route(
    workflow: &Workflow,
    machine: &Machine,
    state: &State,
    run: &mut Run,
    asked: &decide::Asked<'_>,
    seen: &Observed,
) -> Result<Option<Outcome>, Impossible> {
    let signal = asked.outcome.signal.clone();
    let arms = state.cells.get(&*signal).map(|it| it.arms.as_slice()).unwrap_or_default();
    let mut exhausted = None;
    let mut found: Option<&Arm> = None;
    for arm in arms {
        if !arm.when.iter().all(|it| decide::holds(machine, run, it, asked, seen)) {
            continue;
        }
        if let Some(budget) = arm.spend.as_ref().filter(|it| !run.can_spend(machine, it)) {
            exhausted = Some(budget.clone());
            continue;
        }
        found = Some(arm);
        break;
    }
    // With nowhere to go back to, there is no route.
    let leads = |arm: &&Arm| arm.to != Target::Back || run.at.from.is_some();
    let Some(arm) = found.filter(leads) else {
        let mut run = Box::new(run.clone());
        let outcome = Box::new(asked.outcome.clone());
        run.at.stage = Stage::Deciding { outcome, same_again: asked.same_again, topic: asked.topic.cloned() };
        return Err(Impossible::NoRoute { state: state.name.clone(), signal, run });
    };
    remember(state, run, asked);
    match &state.kind {
        Kind::Ask { .. } => run.noted.clone_from(&asked.outcome.note),
        // Another try is told the same.
        _ if arm.to == Target::Again => {}
        Kind::Agent(_) | Kind::Review { .. } | Kind::Each(_) => run.noted.clear(),
        _ => {}
    }
    pay(machine, run, arm);
    decide::repair_is_handed(workflow, state, run, asked);
    record(state, run, arm, asked);
    decide::force(machine, run, arm, seen);
    decide::begin_anew(run, arm);
    for (name, value) in &arm.set {
        run.vars.insert(name.clone(), value.clone());
    }
    decide::forget_judged(workflow, machine, run, arm);
    for budget in &arm.refill {
        run.fill(machine, budget);
        decide::stretch_anew(machine, run, budget);
    }
    run.cause = Some(Cause {
        state: state.name.clone(),
        signal: signal.clone(),
        summary: asked.outcome.summary.clone(),
        exhausted,
    });
    let came_from = run.at.from.clone();
    let (to, back) = match &arm.to {
        Target::State(name) => (Some(name.clone()), false),
        Target::Again => (None, false),
        Target::Back => (came_from.clone(), true),
    };
    run.taken.push(Taken {
        state: state.name.clone(),
        signal,
        arm: arm.place.clone(),
        spent: arm.spend.clone(),
        to: to.clone().unwrap_or_else(|| state.name.clone()),
    });
    let Some(to) = to else {
        run.at.attempt = run.at.attempt.saturating_add(1);
        return Ok(begin_work(machine, state, run));
    };
    let target_returns = machine.states.get(&*to).is_some_and(State::returns);
    let from = match (target_returns, state.returns()) {
        (false, _) => None,
        (true, true) if !back => came_from,
        (true, _) => Some(state.name.clone()),
    };
    enter(workflow, machine, run, &to, from)
}

fn remember(state: &State, run: &mut Run, asked: &decide::Asked<'_>) {
    let outcome = asked.outcome;
    if !signal::is_failure(&outcome.signal)
        && outcome.signal != signal::STALE
        && !run.ever.contains(&state.name)
    {
        run.ever.push(state.name.clone());
    }
    // Of a question per finding every answer is on record already.
    if matches!(state.kind, Kind::Ask { .. }) && outcome.findings.is_empty() {
        decisions::decided(state, run, None, outcome);
    }
    run.last.insert(
        state.name.clone(),
        Last {
            signal: outcome.signal.clone(),
            fields: outcome.fields.clone(),
            summary: outcome.summary.clone(),
            note: outcome.note.clone(),
            returns: outcome.returns.clone(),
            output: outcome.output.clone(),
            question: outcome.question.clone(),
            visit: run.at.visit,
        },
    );
}

fn pay(machine: &Machine, run: &mut Run, arm: &Arm) {
    let Some(name) = &arm.spend else { return };
    if let Some((line, _)) = machine.budgets.get(&**name).and_then(|it| run.line(name, it))
        && let Some(left) = run.left.get_mut(&*line)
    {
        *left = left.saturating_sub(1);
        *run.spent.entry(name.clone()).or_insert(0) += 1;
    }
}

fn record(state: &State, run: &mut Run, arm: &Arm, asked: &decide::Asked<'_>) {
    for list in &arm.record {
        let gate = state.gate.as_ref().map_or(&state.name, |it| &it.name);
        let mut entries: Vec<Record> = Vec::new();
        if matches!(state.kind, Kind::Review { .. }) {
            let blocking = run.ledger.open(gate).any(|(_, it)| it.blocks);
            for (id, finding) in run.ledger.open(gate).filter(|(_, it)| it.blocks || !blocking) {
                entries.push(Record {
                    item: run.item.clone(),
                    state: state.name.clone(),
                    signal: asked.outcome.signal.clone(),
                    summary: finding.text.clone(),
                    finding: Some(id.clone()),
                    file: Some(finding.file.clone()).filter(|it| !it.is_empty()),
                    of: None,
                });
            }
        }
        // A question per finding has an answer to each.
        for report in asked.outcome.findings.iter().filter(|_| matches!(state.kind, Kind::Ask { .. })) {
            let finding = report.id.as_ref().and_then(|it| run.ledger.findings.get(it));
            entries.push(Record {
                item: run.item.clone(),
                state: state.name.clone(),
                signal: finding
                    .and_then(|it| it.answer.clone())
                    .unwrap_or_else(|| asked.outcome.signal.clone()),
                summary: report.text.clone(),
                finding: report.id.clone(),
                file: Some(report.file.clone()).filter(|it| !it.is_empty()),
                of: None,
            });
        }
        if entries.is_empty() {
            entries.push(Record {
                item: run.item.clone(),
                state: state.name.clone(),
                signal: asked.outcome.signal.clone(),
                summary: asked.outcome.summary.clone(),
                finding: None,
                file: None,
                of: None,
            });
        }
        run.lists.entry(list.clone()).or_default().extend(entries);
    }
}
