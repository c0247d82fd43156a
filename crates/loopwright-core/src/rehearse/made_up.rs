//! What comes back in a made-up world: outcomes with their findings, and documents that have versions instead of bytes.

use super::actor::{Actor, Play};
use super::claims::{declared, untrue};
use super::player::Player;
use crate::definition::{Call, Kind, State, Table, Workflow};
use crate::machine::{Effect, Outcome, Report, Run, Want};
use crate::name::Name;
use crate::signal;

impl<A: Actor> Player<'_, A> {
    pub(super) fn outcome(&mut self, run: &Run, state: &State, effect: &Effect, play: &Play) -> Outcome {
        let best = state.best().cloned().unwrap_or_default();
        let signal = play.signal.clone().unwrap_or(best);
        let failed = signal::is_failure(&signal);
        if let Want::Call { role, advice, .. } = &effect.want {
            for role in std::iter::once(role).chain(advice) {
                *self.calls.entry(role.clone()).or_insert(0) += 1;
                self.stretch += 1;
            }
        }
        if signal::waits_for_person(self.workflow, state, &signal) {
            self.person();
        }
        let may = writes_of(self.workflow, run, state, effect);
        let wrote = play.wrote.clone().unwrap_or_else(|| if failed { Vec::new() } else { may });
        self.write(&wrote);
        let mut fields = play.fields.clone();
        if let Some(declared) = signal::outcomes_of(self.workflow, state).get(&*signal) {
            for (name, values) in &declared.fields {
                if let Some(first) = values.first() {
                    fields.entry(name.clone()).or_insert_with(|| first.clone());
                }
            }
        }
        let outcome = Outcome {
            findings: if failed { Vec::new() } else { self.findings(run, state, &signal, play) },
            judged: state.gate.as_ref().map(|it| self.digest(run, &it.name)),
            fields,
            signal,
            ..Outcome::default()
        };
        let name = self.qualified(run);
        self.untrue.extend(untrue(self.workflow, run, state, &name, &outcome, play));
        outcome
    }

    /// Findings that make a judge's outcome mean what the play says.
    fn findings(&self, run: &Run, state: &State, signal: &Name, play: &Play) -> Vec<Report> {
        let Some(declared) = declared(self.workflow, run, state) else { return Vec::new() };
        let outcomes = signal::outcomes_of(self.workflow, state);
        if outcomes.get_index_of(&**signal).is_none_or(|it| it == 0) {
            return Vec::new();
        }
        let rank = |verdict: &Name| outcomes.get_index_of(&**verdict).unwrap_or(0);
        // The worst severity that does not raise the verdict beyond what the play says, blocking if one does.
        let raising = declared
            .at_least
            .iter()
            .filter(|(word, _)| declared.severity.contains(word))
            .filter(|(_, verdict)| rank(verdict) <= rank(signal) && rank(verdict) > 0);
        let severity = raising.map(|(severity, _)| severity.clone()).next_back();
        let severity = severity.or_else(|| declared.severity.first().cloned()).unwrap_or_default();
        let gate = state.gate.as_ref().map_or(&state.name, |it| &it.name);
        let judge = run.ledger.judges.get(&**gate);
        let topic = play.topic.clone().or_else(|| declared.topic.first().cloned());
        let round = judge.map_or(1, |it| it.rounds + 1);
        let report = |id: Option<String>, topic: Option<Name>| Report {
            id,
            severity: severity.clone(),
            topic,
            file: String::new(),
            subject: format!("{gate} round {round}"),
            text: "made up for the rehearsal".into(),
            ..Report::default()
        };
        let handed = judge.map(|it| it.handed.as_slice()).unwrap_or_default();
        let topic_of = |id: &String| run.ledger.findings.get(id).and_then(|it| it.topic.clone());
        let on_topic = handed.iter().find(|it| topic_of(it) == topic).or_else(|| handed.first());
        match on_topic.filter(|_| play.same_again.unwrap_or(false)) {
            // A finding that is reported again is about what it was about, if that was said; another one brings the topic.
            Some(id) if topic_of(id).is_some() && topic_of(id) != topic => {
                vec![report(Some(id.clone()), topic_of(id)), report(None, topic)]
            }
            Some(id) => vec![report(Some(id.clone()), topic)],
            None => vec![report(None, topic)],
        }
    }

    /// A hash of what a gate judges, in the made-up world.
    pub(super) fn digest(&self, run: &Run, gate: &str) -> String {
        let Some(machine) = run.machine(self.workflow) else { return String::new() };
        let judges = machine
            .gates
            .get(gate)
            .into_iter()
            .flatten()
            .filter_map(|it| machine.states.get(&**it)?.gate.as_ref());
        let mut parts: Vec<String> = Vec::new();
        for gate in judges {
            for document in run.pick(&gate.judges).into_iter().flatten() {
                for leaf in self.workflow.leaves(document) {
                    parts.push(format!("{leaf}={}", self.versions.get(&*leaf).copied().unwrap_or(0)));
                }
            }
        }
        parts.sort();
        parts.dedup();
        format!("[{}]", parts.join(","))
    }

    /// Documents were written: they, and whatever shares files with them, are no longer what they were.
    pub(super) fn write(&mut self, documents: &[Name]) {
        let mut touched: Vec<Name> = Vec::new();
        for document in documents {
            let workflow = self.workflow;
            let shares = self.shares.entry(document.clone()).or_insert_with(|| {
                let leaves = workflow.documents.keys().filter(|it| workflow.leaves(it) == [(*it).clone()]);
                leaves.filter(|it| workflow.documents_overlap(document, it)).cloned().collect()
            });
            touched.extend(shares.iter().cloned());
        }
        touched.sort();
        touched.dedup();
        for leaf in touched {
            *self.versions.entry(leaf).or_insert(0) += 1;
        }
    }
}

/// Documents a state may change.
fn writes_of(workflow: &Workflow, run: &Run, state: &State, effect: &Effect) -> Vec<Name> {
    match (&state.kind, &effect.want) {
        (Kind::Do { actions, .. }, Want::Act { index }) => match actions.get(*index).map(|it| &it.writes) {
            Some(Some(documents)) => documents.clone(),
            Some(None) => workflow.documents.keys().cloned().collect(),
            None => Vec::new(),
        },
        (Kind::Agent(call) | Kind::Review { call, .. }, _) => call_writes(workflow, run, call),
        (Kind::Each(_), Want::Call { .. }) => {
            state.call().map(|it| call_writes(workflow, run, it)).unwrap_or_default()
        }
        _ => Vec::new(),
    }
}

fn call_writes(workflow: &Workflow, run: &Run, call: &Call) -> Vec<Name> {
    let role = run.pick(&call.role).and_then(|it| workflow.roles.get(&**it));
    let narrowed: Option<&Table<Vec<Name>>> =
        call.may_write.as_ref().or_else(|| role.map(|it| &it.may_write));
    narrowed.and_then(|it| run.pick(it)).cloned().unwrap_or_default()
}
