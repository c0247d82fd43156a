//! The verdict on a scenario: how it went, held against what it expects.

use super::coverage::Coverage;
use super::played::{Played, Stop, WalkStep, describe};
use super::player::{Shares, play_on};
use super::scenario::{Scenario, Step};
use super::script::Script;
use crate::definition::Workflow;
use crate::machine::Impossible;
use crate::name::Name;
use crate::signal;

/// Steps after which a scenario is taken to run in circles.
const MOST_STEPS: u32 = 20_000;

/// How a scenario went.
#[derive(Clone, Debug)]
pub struct Verdict {
    /// The play.
    pub played: Played,
    /// What did not go as expected, in sentences. Empty when all did.
    pub complaints: Vec<String>,
    /// The first step that never came, counted from 0. The first complaint is about it.
    pub never_came: Option<usize>,
}

/// Plays a scenario and holds it against what it expects.
pub fn perform(
    workflow: &Workflow,
    scenario: &Scenario,
    coverage: &mut Coverage,
) -> Result<Verdict, Impossible> {
    perform_within(workflow, scenario, coverage, &mut Shares::new(), MOST_STEPS)
}

/// The same, where it is known already which documents share files, for so many steps at most.
pub(crate) fn perform_within(
    workflow: &Workflow,
    scenario: &Scenario,
    coverage: &mut Coverage,
    shares: &mut Shares,
    most: u32,
) -> Result<Verdict, Impossible> {
    let mut script = Script::new(scenario);
    let played = play_on(workflow, &scenario.start, &mut script, coverage, most, shares)?;
    // Nobody reads facts after the end.
    let left: Vec<&Step> = script.left().skip_while(|it| matches!(it, Step::Facts(_))).collect();
    let never_came = (!left.is_empty()).then(|| scenario.steps.len() - left.len());
    let left: Vec<String> = left
        .into_iter()
        .map(|it| match it {
            Step::State { child, state, .. } => {
                child.as_ref().map_or_else(|| state.to_string(), |it| format!("{it}.{state}"))
            }
            Step::Verb(verb) => format!("verb {verb}"),
            Step::Facts(_) => "facts".into(),
            Step::Edit(_) => "edit".into(),
        })
        .collect();
    let mut complaints = Vec::new();
    if let Some(first) = left.first() {
        complaints.push(format!("the step `{first}` never came ({} left)", left.len()));
    }
    complaints.extend(played.untrue.iter().cloned());
    complaints.extend(compare(scenario, &played));
    Ok(Verdict { played, complaints, never_came })
}

fn compare(scenario: &Scenario, played: &Played) -> Vec<String> {
    let expect = &scenario.expect;
    let mut complaints = Vec::new();
    let stopped = describe(&played.stop);
    let mut explained = false;
    if let Some(end) = &expect.end {
        explained = true;
        if played.stop != Stop::Ended(end.clone()) {
            complaints.push(format!("expected the end `{end}`, and {stopped}"));
        }
    }
    if let Some(rest) = &expect.rest {
        explained = true;
        if played.stop != Stop::Waiting(rest.clone()) {
            complaints.push(format!("expected to rest at `{rest}`, and {stopped}"));
        }
    }
    if let Some(state) = &expect.reaches {
        explained = true;
        if !arrived(played, state) {
            complaints.push(format!("expected to reach `{state}`, and {stopped}"));
        }
    }
    if let Some(signal) = &expect.unrouted {
        explained = true;
        if !matches!(&played.stop, Stop::NoRoute(_, it) if it == signal) {
            complaints.push(format!("expected `{signal}` to have no route, and {stopped}"));
        }
    }
    if let Some(gate) = &expect.unsettled {
        explained = true;
        if !played.unsettled.iter().any(|(_, gates)| gates.contains(gate)) {
            complaints
                .push(format!("expected the gate `{gate}` to be needed and not settled, and {stopped}"));
        }
    }
    if let Some(turn) = expect.endless {
        explained = true;
        if !comes_round(played, turn) {
            complaints.push(format!(
                "expected the last {turn} steps to lead back to where they began, and {stopped}"
            ));
        }
    }
    if let Some(verb) = &expect.refused {
        explained = true;
        if played.stop != Stop::VerbRefused(verb.clone()) {
            complaints.push(format!("expected the verb `{verb}` to be refused, and {stopped}"));
        }
    }
    if !explained
        && matches!(
            played.stop,
            Stop::NoRoute(..) | Stop::NoFact(..) | Stop::Refused(_) | Stop::VerbRefused(_) | Stop::TooLong
        )
    {
        complaints.push(stopped.clone());
    }
    if let Some(walk) = &expect.walk {
        let walked: Vec<&Name> = played.walk.iter().map(|it| &it.state).collect();
        if let Some(at) =
            (0..walk.len().max(walked.len())).find(|it| walk.get(*it) != walked.get(*it).copied())
        {
            let name = |it: Option<&Name>| it.map_or_else(|| "nothing".to_owned(), |it| format!("`{it}`"));
            complaints.push(format!(
                "step {} of the walk: expected {}, came {}",
                at + 1,
                name(walk.get(at)),
                name(walked.get(at).copied())
            ));
        }
    }
    if let Some(forced) = &expect.forced
        && *forced != played.run.forced
    {
        complaints.push(format!("expected forced {}, came {}", listed(forced), listed(&played.run.forced)));
    }
    for (budget, count) in &expect.spent {
        let spent = played.spent.get(&**budget).copied().unwrap_or(0);
        if spent != *count {
            let times = if *count == 1 { "once".to_owned() } else { format!("{count} times") };
            complaints.push(format!("expected `{budget}` spent {times}, came {spent}"));
        }
    }
    let calls: u32 = played.calls.values().sum();
    if let Some(expected) = expect.calls.filter(|it| *it != calls) {
        let what = if expected == 1 { "call" } else { "calls" };
        complaints.push(format!("expected {expected} {what}, came {calls}"));
    }
    complaints
}

/// Names, as the other complaints show them.
fn listed(names: &[Name]) -> String {
    if names.is_empty() {
        return "nothing".to_owned();
    }
    names.iter().map(|it| format!("`{it}`")).collect::<Vec<_>>().join(", ")
}

/// Whether a walk came to a state at its end: nothing of the same machine follows it but states that do no work.
fn arrived(played: &Played, state: &Name) -> bool {
    let own = of_machine(played, state);
    let Some(at) = own.iter().rposition(|it| it.state == *state) else { return false };
    let passed = |signal: Option<&str>| signal == Some(signal::ALWAYS) || signal == Some(signal::STALE);
    own[at..].iter().rev().skip(1).all(|it| passed(it.signal.as_deref()))
}

/// Whether the last so many steps of a machine lead back to where they began. States that do no work may have been passed
/// after that.
fn comes_round(played: &Played, turn: usize) -> bool {
    let last = played.walk.last().map(|it| &it.state);
    let top = played.walk.iter().rfind(|it| !it.state.contains('.')).map(|it| &it.state);
    [last, top].into_iter().flatten().any(|it| {
        let own = of_machine(played, it);
        let passed = |at: &usize| own.get(*at).is_some_and(|it| it.signal.as_deref() == Some(signal::ALWAYS));
        let mut end = own.len().checked_sub(1);
        while let Some(at) = end.filter(|it| *it >= turn) {
            if own.get(at - turn).map(|it| &it.state) == own.get(at).map(|it| &it.state) {
                return true;
            }
            end = at.checked_sub(1).filter(passed);
        }
        false
    })
}

/// The steps of the machine a state belongs to.
fn of_machine<'p>(played: &'p Played, state: &Name) -> Vec<&'p WalkStep> {
    let machine = |it: &str| it.split_once('.').map(|(child, _)| child.to_owned());
    played.walk.iter().filter(|it| machine(&it.state) == machine(state)).collect()
}
