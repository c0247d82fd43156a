//! Questions that are asked once per finding: what is asked about, and what all the answers mean.

use super::decide::gate_name;
use super::decisions::{about, decided};
use super::effect::EffectId;
use super::event::{Outcome, Report};
use super::impossible::Impossible;
use super::route::come_out;
use super::run::{Run, Stage};
use crate::definition::{Kind, Machine, State, Target, Workflow};
use crate::name::Name;

/// The findings a state's question is about, by id: those that are open of the reviews that lead to it, or of all if none
/// does. Empty: it is asked once.
pub fn asked_about(workflow: &Workflow, machine: &Machine, state: &State, run: &Run) -> Vec<String> {
    let Kind::Ask { question } = &state.kind else { return Vec::new() };
    if !workflow.questions.get(&**question).is_some_and(|it| it.per_finding) {
        return Vec::new();
    }
    let leads = |it: &&State| {
        let mut arms = it.cells.values().flat_map(|it| &it.arms);
        matches!(it.kind, Kind::Review { .. })
            && arms.any(|it| matches!(&it.to, Target::State(to) if *to == state.name))
    };
    let judges: Vec<Name> = machine.states.values().filter(leads).map(gate_name).collect();
    let of = |gate: &Name| judges.is_empty() || judges.contains(gate);
    let open = run.ledger.findings.iter().filter(|(_, it)| it.closed.is_none() && of(&it.gate));
    open.map(|(id, _)| id.clone()).collect()
}

/// Takes in an answer: to one finding, or to all that were not answered. The worst is how the question comes out.
pub(super) fn answer(
    workflow: &Workflow,
    machine: &Machine,
    state: &State,
    run: &mut Run,
    (effect, outcome): (&EffectId, &Outcome),
) -> Result<(), Impossible> {
    let asked = asked_about(workflow, machine, state, run);
    let about = about(effect);
    let Stage::Working { ended, .. } = &mut run.at.stage else { return Ok(()) };
    if about.as_ref().is_some_and(|it| !asked.contains(it) || ended.contains_key(it)) {
        return Err(Impossible::NotWaiting { effect: effect.clone() });
    }
    if asked.is_empty() {
        return come_out(workflow, machine, state, run, outcome.clone());
    }
    if !state.cells.contains_key(&*outcome.signal) {
        let signal = outcome.signal.clone();
        return Err(Impossible::NoSuchSignal { state: state.name.clone(), signal });
    }
    let answered = asked.iter().filter(|it| about.as_ref().is_none_or(|about| about == *it));
    let answered: Vec<&String> = answered.filter(|it| !ended.contains_key(*it)).collect();
    for id in &answered {
        ended.insert((*id).clone(), outcome.clone());
    }
    let left = asked.iter().any(|it| !ended.contains_key(it));
    let ended = if left { None } else { Some(std::mem::take(ended)) };
    for id in answered {
        decided(state, run, Some(id), outcome);
    }
    let Some(ended) = ended else { return Ok(()) };
    let rank = |signal: &Name| state.cells.get_index_of(&**signal).unwrap_or(usize::MAX);
    let worst = ended.values().map(|it| &it.signal).max_by_key(|it| rank(it)).cloned().unwrap_or_default();
    let is_best = state.best() == Some(&worst);
    let mut reports = Vec::new();
    for (id, it) in &ended {
        // What the way on is about stays open for whoever comes next.
        let settled = is_best || it.signal != worst;
        if let Some(finding) = run.ledger.answer(id, &it.signal, settled) {
            reports.push(Report { id: Some(id.clone()), ..finding });
        }
    }
    let of_worst: Vec<&Outcome> = ended.values().filter(|it| it.signal == worst).collect();
    let notes: Vec<&str> = of_worst.iter().map(|it| it.note.as_str()).filter(|it| !it.is_empty()).collect();
    let whole = Outcome {
        note: notes.join("\n"),
        findings: reports,
        // What changed since the first was answered was not shown with it.
        judged: ended.values().next().and_then(|it| it.judged.clone()),
        ..of_worst.first().map_or_else(|| Outcome::of(worst.clone()), |it| (*it).clone())
    };
    come_out(workflow, machine, state, run, whole)
}
