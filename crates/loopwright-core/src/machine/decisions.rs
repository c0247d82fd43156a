//! Decisions of people: on record from the moment a question is about to be asked, and as what became of it.

use serde::{Deserialize, Serialize};

use super::effect::{EffectId, Part};
use super::event::Outcome;
use super::run::Run;
use crate::definition::{Kind, State, Workflow};
use crate::name::Name;
use crate::signal;

/// A question that was asked, and what became of it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct Decision {
    /// The state that asked it.
    pub state: Name,
    /// What the question goes by, if the workflow gives it an id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<Name>,
    /// The question, as it was asked.
    pub question: String,
    /// Whether it is answered.
    #[serde(default)]
    pub status: Asked,
    /// The answer, if there is one.
    pub answer: Name,
    /// In the person's own words.
    pub note: String,
    /// Why there is no answer.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub reason: String,
    /// The finding it was about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub finding: Option<String>,
    /// The item it was about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub item: Option<String>,
    /// When it was asked, in milliseconds since 1970. Nothing, where nobody knows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub asked: Option<u64>,
    /// When it was answered or put aside.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resolved: Option<u64>,
    /// The phase the run showed while it was asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub phase: Option<Name>,
    /// The phase it showed before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<Name>,
}

/// How far a question is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Asked {
    /// It waits for an answer.
    Pending,
    /// It has one. Runs of earlier versions know of no other.
    #[default]
    Answered,
    /// Somebody put it off, or gave no answer that is one.
    Cancelled,
    /// Nobody needs to know any more.
    Skipped,
}

/// A question is about to be asked, with what it says and when. One that was asked already is the same one.
pub(super) fn ask(workflow: &Workflow, run: &mut Run, effect: &EffectId, values: &serde_json::Value) {
    let Some(state) = run.state(workflow) else { return };
    let Kind::Ask { question } = &state.kind else { return };
    let finding = about(effect);
    if let Some(asked) = pending(run, &state.name, finding.as_ref()) {
        // It may say something else than before. One without an id is told from others by what it said.
        if let (true, Some(text)) = (asked.id.is_some(), values["question"].as_str()) {
            text.clone_into(&mut asked.question);
        }
        return;
    }
    let decision = Decision {
        state: state.name.clone(),
        id: workflow.questions.get(&**question).and_then(|it| it.id.clone()),
        question: values["question"].as_str().unwrap_or_default().to_owned(),
        status: Asked::Pending,
        finding,
        item: run.item.clone(),
        asked: values["at"].as_u64(),
        phase: run.phase.clone(),
        before: run.at.before.clone(),
        ..Decision::default()
    };
    run.decisions.push(decision);
}

/// The finding that a question is about.
pub(super) fn about(effect: &EffectId) -> Option<String> {
    match &effect.part {
        Part::Item(id) => Some(id.clone()),
        _ => None,
    }
}

fn pending<'r>(run: &'r mut Run, state: &Name, finding: Option<&String>) -> Option<&'r mut Decision> {
    let is = |it: &&mut Decision| {
        it.status == Asked::Pending && it.state == *state && it.finding.as_ref() == finding
    };
    run.decisions.iter_mut().rev().find(is)
}

/// Puts an answer on record, or why there is none.
pub(super) fn decided(state: &State, run: &mut Run, finding: Option<&String>, outcome: &Outcome) {
    // What is asked about has changed, and it is asked again.
    if outcome.signal == signal::STALE {
        return;
    }
    if let Some(verb) = outcome.signal.strip_prefix("verb ") {
        set_aside(run, &format!("`{verb}` was said instead"));
        return;
    }
    if pending(run, &state.name, finding).is_none() {
        let (state, finding, item) = (state.name.clone(), finding.cloned(), run.item.clone());
        let (phase, before) = (run.phase.clone(), run.at.before.clone());
        let status = Asked::Pending;
        run.decisions.push(Decision { state, status, finding, item, phase, before, ..Decision::default() });
    }
    let Some(decision) = pending(run, &state.name, finding) else { return };
    decision.resolved = outcome.at;
    if !outcome.question.is_empty() {
        decision.question.clone_from(&outcome.question);
    }
    decision.note.clone_from(&outcome.note);
    let or = |text: &str, other: &str| if text.is_empty() { other.to_owned() } else { text.to_owned() };
    match &*outcome.signal {
        signal::DEFERRED => {
            decision.status = Asked::Cancelled;
            decision.reason = or(&outcome.note, &or(&outcome.summary, "put off"));
        }
        signal::UNANSWERED => {
            decision.status = Asked::Cancelled;
            decision.reason = or(&outcome.summary, "no valid answer");
        }
        _ => {
            decision.status = Asked::Answered;
            decision.answer.clone_from(&outcome.signal);
            decision.reason.clone_from(&outcome.summary);
        }
    }
}

/// Nobody waits for an answer any more.
pub(super) fn set_aside(run: &mut Run, reason: &str) {
    for decision in run.decisions.iter_mut().filter(|it| it.status == Asked::Pending) {
        decision.status = Asked::Skipped;
        reason.clone_into(&mut decision.reason);
        decision.resolved = decision.resolved.or(decision.asked);
    }
}
