//! What should be happening now.

use indexmap::IndexMap;

use super::ahead;
use super::decide;
use super::effect::{Effect, EffectId, Part, Want};
use super::event::{Outcome, Outer};
use super::items::{is_at_work, is_ready, most_at_once, went_well};
use super::questions::asked_about;
use super::run::{Run, Stage};
use crate::definition::{Each, EachRun, Kind, State, Workflow};
use crate::name::Name;

/// What should be happening now. Level-triggered: asked twice, it answers the same.
pub fn due(workflow: &Workflow, run: &Run) -> Vec<Effect> {
    let Some(machine) = run.machine(workflow) else { return Vec::new() };
    let Some(state) = run.state(workflow) else { return Vec::new() };
    let effect = |part: Part, want: Want| Effect {
        id: EffectId { state: state.name.clone(), visit: run.at.visit, part },
        attempt: run.at.attempt,
        want,
    };
    match &run.at.stage {
        Stage::Ended => Vec::new(),
        Stage::Paused => vec![effect(Part::Work, Want::Await { verbs: vec!["resume".into()] })],
        Stage::Needing => {
            let needs = run.pick(&state.needs).cloned().unwrap_or_default();
            vec![effect(Part::Needs, decide::look_for_needs(machine, run, &needs))]
        }
        Stage::Deciding { outcome, same_again, topic } => {
            let asked = decide::Asked { outcome, same_again: *same_again, topic: topic.as_ref() };
            let want = decide::wanted(machine, state, run, &asked);
            want.map(|want| effect(Part::Routing, want)).into_iter().collect()
        }
        Stage::Working { action, items, ended, .. } => match &state.kind {
            Kind::Agent(call) => {
                let role = run.pick(&call.role).cloned().unwrap_or_default();
                vec![effect(Part::Work, Want::Call { role, advice: Vec::new(), item: None })]
            }
            Kind::Review { call, advice, .. } => {
                let role = run.pick(&call.role).cloned().unwrap_or_default();
                let own = effect(Part::Work, Want::Call { role, advice: advice.clone(), item: None });
                let beside = ahead::offered(workflow, machine, state, run);
                let beside = beside.into_iter().map(|(part, want)| effect(part, want));
                std::iter::once(own).chain(beside).collect()
            }
            Kind::Check(_) => vec![effect(Part::Work, Want::Check)],
            Kind::Ask { question } => {
                let ask = |finding| Want::Ask { question: question.clone(), finding };
                let asked = asked_about(workflow, machine, state, run);
                if asked.is_empty() {
                    return vec![effect(Part::Work, ask(None))];
                }
                let left = asked.into_iter().filter(|it| !ended.contains_key(it));
                left.map(|id| effect(Part::Item(id.clone()), ask(Some(id)))).collect()
            }
            Kind::Do { .. } => vec![effect(Part::Action(*action), Want::Act { index: *action as usize })],
            Kind::Each(each) => match items {
                None => vec![effect(Part::Items, Want::List)],
                Some(items) => due_items(workflow, run, state, each, (items, ended))
                    .into_iter()
                    .map(|(id, want)| effect(Part::Item(id), want))
                    .collect(),
            },
            Kind::Rest { .. } => vec![effect(Part::Work, Want::Await { verbs: verbs(state) })],
            Kind::Choose | Kind::Settle { .. } | Kind::End { .. } => Vec::new(),
        },
    }
}

/// The verbs a state takes.
fn verbs(state: &State) -> Vec<Name> {
    state.cells.keys().filter_map(|it| it.strip_prefix("verb ")).map(Name::from).collect()
}

/// What was spent of budgets, by item; the run's own without a name.
fn spent_so_far(run: &Run) -> IndexMap<String, IndexMap<Name, u32>> {
    let mut all = run.spent_by_item.clone();
    if !run.spent.is_empty() {
        all.insert(String::new(), run.spent.clone());
    }
    all
}

fn due_items(
    workflow: &Workflow,
    run: &Run,
    state: &State,
    each: &Each,
    (items, ended): (&[String], &IndexMap<String, Outcome>),
) -> Vec<(String, Want)> {
    let done_before = |id: &str| {
        let end = run.items.get(&*state.name).and_then(|it| it.get(id));
        end.is_some_and(|it| went_well(workflow, each, it))
    };
    let waiting = items.iter().filter(|it| !ended.contains_key(*it) && !done_before(it));
    let waiting = waiting.filter(|it| is_ready(workflow, (run, each), (items, ended), it));
    // Once one did not end well, none is begun any more beside which it was; those at work are waited for.
    let stopped = !each.apart && ended.values().any(|it| !went_well(workflow, each, &it.signal));
    let waiting = waiting.filter(|it| !stopped || is_at_work(run, it));
    let most = match &each.run {
        // Of journals in which nothing says what comes after what, one after the other.
        _ if each.by_dependency && !run.after.contains_key(&*state.name) => 1,
        // An item that waits for its turn to join is at nobody's work, so that another may be.
        EachRun::Child(_) if each.apart => items.len(),
        _ => most_at_once(run, each),
    };
    waiting
        .take(most)
        .map(|id| {
            let want = match &each.run {
                EachRun::Call(call) => {
                    let role = run.pick(&call.role).cloned().unwrap_or_default();
                    Want::Call { role, advice: Vec::new(), item: Some(id.clone()) }
                }
                EachRun::Child(child) => Want::Child {
                    child: child.clone(),
                    item: id.clone(),
                    vars: each.with.clone(),
                    outer: Box::new(Outer {
                        vars: run.vars.clone(),
                        last: run.last.clone(),
                        ever: run.ever.clone(),
                        lists: run.lists.clone(),
                        decisions: run.decisions.clone(),
                        spent_by_item: spent_so_far(run),
                    }),
                },
            };
            (id.clone(), want)
        })
        .collect()
}
