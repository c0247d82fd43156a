//! Signals: how the work of a state can come out.
//!
//! The closed sets of failures live here, so that nothing can fail in a way the language has no word for.

use crate::definition::{Kind, Outcomes, State, Workflow};
use crate::name::Name;

/// How an agent call can fail.
pub const CALL_FAILURES: &[&str] =
    &["timeout", "stalled", "crashed", "malformed", "refused", "denied", "out-of-bounds", "lost", CANCELLED];
/// How a check can fail to be a check.
pub const CHECK_FAILURES: &[&str] = &["out-of-bounds", "lost", CANCELLED];
/// How an action can fail.
pub const ACTION_FAILURES: &[&str] = &["failed", "lost", CANCELLED];
/// How a loop over items can fail as a whole.
pub const EACH_FAILURES: &[&str] = &["lost", CANCELLED];
/// What an item did apart and what was done meanwhile cannot both be had.
pub const CONFLICT: &str = "conflict";
/// Failures that may well not happen again.
pub const TRANSIENT: &[&str] = &["timeout", "stalled", "crashed", "lost"];
/// What an answer and an outcome have of their own: a role's schema names none of it.
pub const COMES_ALONG: &[&str] =
    &["verdict", "signal", "summary", "findings", "question", "note", "output", "advice"];
/// Somebody called it off.
pub const CANCELLED: &str = "cancelled";
/// A metered budget is used up.
pub const OVER_BUDGET: &str = "over-budget";
/// A gate the state needs is not settled (any more).
pub const STALE: &str = "stale";
/// The role asks instead of answering.
pub const ASK: &str = "ASK";
/// A person put the question off.
pub const DEFERRED: &str = "deferred";
/// Nobody answered, as often as it was asked.
pub const UNANSWERED: &str = "unanswered";
/// The loop found no items.
pub const EMPTY: &str = "empty";
/// The items' dependencies cannot be put in order.
pub const UNORDERED: &str = "unordered";
/// The loop found more items than it may have.
pub const TOO_MANY: &str = "too-many";
/// The ways a loop comes out without doing anything.
pub const NO_ITEMS: &[&str] = &[EMPTY, UNORDERED, TOO_MANY];
/// The one way out of a state that does no work.
pub const ALWAYS: &str = "*";
/// Stands for every failure of a state.
pub const GROUP_FAILURES: &str = "failures";
/// Stands for the failures in [`TRANSIENT`].
pub const GROUP_TRANSIENT: &str = "transient";

/// Words a verdict or an answer cannot be, because they mean something else.
pub fn is_reserved(word: &str) -> bool {
    is_failure(word)
        || [
            STALE,
            ASK,
            DEFERRED,
            UNANSWERED,
            EMPTY,
            UNORDERED,
            TOO_MANY,
            ALWAYS,
            GROUP_FAILURES,
            GROUP_TRANSIENT,
            "settled",
            "none",
        ]
        .contains(&word)
}

/// Whether a signal is one of the failures.
pub fn is_failure(signal: &str) -> bool {
    CALL_FAILURES.contains(&signal)
        || ACTION_FAILURES.contains(&signal)
        || [OVER_BUDGET, CONFLICT].contains(&signal)
}

/// Whether a loop of runs comes out like this where an item did not come to its own end.
pub fn fails_a_loop(signal: &str) -> bool {
    EACH_FAILURES.contains(&signal) || signal == CONFLICT
}

/// The failures a state can signal.
pub fn failures_of(workflow: &Workflow, kind: &Kind) -> Vec<Name> {
    let metered = workflow.is_metered().then_some(OVER_BUDGET);
    let names: Vec<&str> = match kind {
        Kind::Agent(_) | Kind::Review { .. } => CALL_FAILURES.iter().copied().chain(metered).collect(),
        Kind::Check(_) => CHECK_FAILURES.to_vec(),
        Kind::Do { actions, .. } => {
            let joins = actions.iter().any(|it| *it.verb == *"join");
            ACTION_FAILURES.iter().copied().chain(joins.then_some(CONFLICT)).collect()
        }
        Kind::Each(each) => match each.run {
            crate::definition::EachRun::Call(_) => CALL_FAILURES.iter().copied().chain(metered).collect(),
            crate::definition::EachRun::Child(_) => {
                EACH_FAILURES.iter().copied().chain(each.apart.then_some(CONFLICT)).collect()
            }
        },
        Kind::Ask { .. } | Kind::Choose | Kind::Settle { .. } | Kind::Rest { .. } | Kind::End { .. } => {
            Vec::new()
        }
    };
    names.into_iter().map(Name::from).collect()
}

/// The verdicts or answers a state can come out with, and the fields that come along.
pub fn outcomes_of(workflow: &Workflow, state: &State) -> Outcomes {
    match &state.kind {
        Kind::Agent(call) | Kind::Review { call, .. } => {
            if let Some(own) = &call.verdicts {
                return own.clone();
            }
            let mut outcomes = Outcomes::new();
            for role in call.role.values().filter_map(|it| workflow.roles.get(&**it)) {
                for (verdict, fields) in &role.verdicts {
                    outcomes.entry(verdict.clone()).or_insert_with(|| fields.clone());
                }
            }
            outcomes
        }
        Kind::Ask { question } => {
            workflow.questions.get(&**question).map(|it| it.answers.clone()).unwrap_or_default()
        }
        _ => Outcomes::new(),
    }
}

/// A verb as a signal.
pub fn verb(name: &str) -> Name {
    format!("verb {name}").into()
}

/// Whether a person brings this signal about, so that an unattended run does not.
///
/// A stale gate is one: what a judge passed changes between the pass and its use only if somebody outside the
/// run changed it; `check` proves the rest. A cancelled call is another.
pub fn waits_for_person(workflow: &Workflow, state: &State, signal: &str) -> bool {
    match &state.kind {
        _ if signal == STALE || signal == CANCELLED => true,
        Kind::Rest { .. } => true,
        Kind::Ask { question } => workflow.questions.get(&**question).is_none_or(|it| match &it.unattended {
            crate::definition::Unattended::Wait => true,
            crate::definition::Unattended::As(answer) => **answer != *signal,
        }),
        _ => false,
    }
}
