//! Taking in what came back.

use indexmap::IndexMap;

use super::advance::{machine_of, state_of, work};
use super::ahead;
use super::decide;
use super::effect::{EffectId, Part};
use super::event::{Cost, Evidence, Listed, Outcome};
use super::impossible::Impossible;
use super::items::{charge, finish_loop, forget_items, remember_item, take_decisions, take_records};
use super::questions;
use super::route::{come_out, go_on, route};
use super::run::{Run, Stage};
use crate::definition::{Kind, Workflow};
use crate::signal;

/// Something came back.
pub(super) fn settle(
    workflow: &Workflow,
    mut run: Run,
    effect: &EffectId,
    evidence: &Evidence,
) -> Result<Run, Impossible> {
    let machine = machine_of(workflow, &run)?;
    let state = state_of(machine, &run)?;
    let not_waiting = || Impossible::NotWaiting { effect: effect.clone() };
    if effect.state != run.at.state || effect.visit != run.at.visit {
        return Err(not_waiting());
    }
    if let Some(begun) = run.at.begun.get_mut(&effect.to_string()) {
        begun.open = false;
    }
    if let Evidence::Observed(seen) = evidence {
        decide::adopt(&mut run, seen);
    }
    match (run.at.stage.clone(), &effect.part, evidence) {
        (Stage::Needing, Part::Needs, Evidence::Observed(seen)) => {
            let needs = run.pick(&state.needs).cloned().unwrap_or_default();
            let outcome = if decide::needs_met(machine, &run, &needs, seen) {
                decide::record_needed(machine, &mut run, &needs, seen);
                work(machine, state, &mut run)
            } else {
                Some(Outcome::of(signal::STALE))
            };
            go_on(workflow, machine, &mut run, outcome)?;
            Ok(run)
        }
        (Stage::Deciding { outcome, same_again, topic }, Part::Routing, Evidence::Observed(seen)) => {
            let asked = decide::Asked { outcome: &outcome, same_again, topic: topic.as_ref() };
            let outcome = route(workflow, machine, state, &mut run, &asked, seen)?;
            go_on(workflow, machine, &mut run, outcome)?;
            Ok(run)
        }
        (Stage::Working { .. }, Part::Work | Part::Item(_), Evidence::Out(outcome))
            if matches!(state.kind, Kind::Ask { .. }) =>
        {
            questions::answer(workflow, machine, state, &mut run, (effect, outcome))?;
            Ok(run)
        }
        (Stage::Working { .. }, Part::Work, Evidence::Out(outcome)) => {
            // What was said before its turn is paid already.
            if run.heard.shift_remove(&*state.name).is_none() {
                charge(workflow, machine, state, &mut run, outcome.cost);
            }
            if matches!(state.kind, Kind::Agent(_)) && !signal::is_failure(&outcome.signal) {
                ahead::told(&mut run);
            }
            come_out(workflow, machine, state, &mut run, (**outcome).clone())?;
            Ok(run)
        }
        (Stage::Working { action, .. }, Part::Action(index), Evidence::Out(outcome)) if *index == action => {
            let Kind::Do { actions, .. } = &state.kind else { return Err(not_waiting()) };
            let more = (action as usize) + 1 < actions.len();
            if *outcome.signal == *"done" && more {
                run.at.acted = action + 1;
                run.at.stage =
                    Stage::Working { action: action + 1, items: None, ordered: true, ended: IndexMap::new() };
            } else {
                come_out(workflow, machine, state, &mut run, (**outcome).clone())?;
            }
            Ok(run)
        }
        (Stage::Working { items: None, .. }, Part::Items, Evidence::Out(outcome))
            if signal::is_failure(&outcome.signal) =>
        {
            come_out(workflow, machine, state, &mut run, (**outcome).clone())?;
            Ok(run)
        }
        (Stage::Working { items: None, ended, .. }, Part::Items, Evidence::Items(listed)) => {
            let most = match &state.kind {
                Kind::Each(each) => each.at_most,
                _ => None,
            };
            let Listed { ids, ordered, digest, .. } = &**listed;
            forget_items(state, &mut run, listed);
            run.at.stage = Stage::Working { action: 0, items: Some(ids.clone()), ordered: *ordered, ended };
            // What a gate passes without any item is bound to what it judges all the same.
            let at_once = |signal: &str| Outcome { judged: digest.clone(), ..Outcome::of(signal) };
            if most.is_some_and(|it| ids.len() > it as usize) {
                come_out(workflow, machine, state, &mut run, at_once(signal::TOO_MANY))?;
            } else if !ordered {
                come_out(workflow, machine, state, &mut run, at_once(signal::UNORDERED))?;
            } else if ids.is_empty() {
                come_out(workflow, machine, state, &mut run, at_once(signal::EMPTY))?;
            } else {
                finish_loop(workflow, machine, state, &mut run, digest.clone())?;
            }
            Ok(run)
        }
        (Stage::Working { items: Some(items), .. }, Part::Item(id), Evidence::Out(outcome))
            if items.contains(id) =>
        {
            charge(workflow, machine, state, &mut run, outcome.cost);
            if let Stage::Working { ended, .. } = &mut run.at.stage {
                ended.insert(id.clone(), (**outcome).clone());
            }
            remember_item(state, &mut run, id, outcome);
            take_records(state, &mut run, id, outcome);
            take_decisions(&mut run, id, (&outcome.decisions, &outcome.spent));
            finish_loop(workflow, machine, state, &mut run, None)?;
            Ok(run)
        }
        _ => Err(not_waiting()),
    }
}

/// What was at work is not any more, and is due again.
pub(super) fn put_off(
    workflow: &Workflow,
    mut run: Run,
    effect: &EffectId,
    (until, cost): (Option<u64>, Cost),
) -> Result<Run, Impossible> {
    let machine = machine_of(workflow, &run)?;
    let state = state_of(machine, &run)?;
    let here = effect.state == run.at.state && effect.visit == run.at.visit;
    let begun = run.at.begun.get_mut(&effect.to_string()).filter(|it| it.open && here);
    begun.ok_or_else(|| Impossible::NotWaiting { effect: effect.clone() })?.open = false;
    if let Part::Ahead(judge) = &effect.part {
        // At its turn it is called again; until then nobody waits for it.
        if let Some(judge) = machine.states.get(&**judge) {
            charge(workflow, machine, judge, &mut run, cost);
        }
        return Ok(run);
    }
    run.at.until = until;
    charge(workflow, machine, state, &mut run, cost);
    // What is used up by then is not there for another call.
    if matches!(state.kind, Kind::Agent(_) | Kind::Review { .. }) && run.is_over_budget(machine) {
        come_out(workflow, machine, state, &mut run, Outcome::of(signal::OVER_BUDGET))?;
    }
    // An item that was waited for and is not at work any more is not begun anew where another one stopped the loop.
    finish_loop(workflow, machine, state, &mut run, None)?;
    Ok(run)
}
