//! What a step says of a judge's findings, held against what the machine makes of them. A step whose words do not come
//! true shows something else than it says.

use super::actor::Play;
use crate::definition::{Findings, Kind, State, Workflow};
use crate::machine::{Outcome, Round, Run, gate_name};
use crate::signal;

/// What does not come true, in sentences. `name` is what the state is called.
pub(super) fn untrue(
    workflow: &Workflow,
    run: &Run,
    state: &State,
    name: &str,
    outcome: &Outcome,
    play: &Play,
) -> Vec<String> {
    let same_again = play.same_again == Some(true);
    if !same_again && play.topic.is_none() {
        return Vec::new();
    }
    let signal = &outcome.signal;
    let round = round(workflow, run, state, outcome);
    let mut untrue = Vec::new();
    if same_again && !round.as_ref().is_some_and(|it| it.same_again) {
        let why = match round {
            Some(_) if is_first(run, state) => "nothing was handed to a repair before".to_owned(),
            Some(_) => "nothing was handed to a repair before in this loop".to_owned(),
            None => format!("`{signal}` comes without findings"),
        };
        untrue.push(format!("`{name}`: the step says same-again, and {why}"));
    }
    let came = round.as_ref().and_then(|it| it.topic.as_ref());
    if let Some(topic) = play.topic.as_ref().filter(|it| came != Some(it)) {
        let why = match came {
            Some(came) => format!("a finding about `{came}`, which comes before it, is open again"),
            None => format!("`{signal}` comes without a finding that has one"),
        };
        untrue.push(format!("`{name}`: the step says the topic `{topic}`, and {why}"));
    }
    untrue
}

/// Whether a judge gives its first verdict.
fn is_first(run: &Run, state: &State) -> bool {
    run.ledger.judges.get(&*gate_name(state)).is_none_or(|it| it.rounds == 0)
}

/// What the findings of an outcome mean, if there are any.
fn round(workflow: &Workflow, run: &Run, state: &State, outcome: &Outcome) -> Option<Round> {
    let declared = declared(workflow, run, state)?;
    if outcome.findings.is_empty() {
        return None;
    }
    let blocks = signal::outcomes_of(workflow, state).get_index_of(&*outcome.signal).is_some_and(|it| it > 0);
    Some(run.ledger.clone().round(&gate_name(state), declared, &outcome.findings, blocks))
}

/// How the judge of a review reports findings, if it does.
pub(super) fn declared<'w>(workflow: &'w Workflow, run: &Run, state: &State) -> Option<&'w Findings> {
    let Kind::Review { call, .. } = &state.kind else { return None };
    run.pick(&call.role).and_then(|it| workflow.roles.get(&**it)?.findings.as_ref())
}
