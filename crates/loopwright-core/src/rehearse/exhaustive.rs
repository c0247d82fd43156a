//! Every transition of every position, played.

use super::coverage::Coverage;
use super::player::Shares;
use super::verdict::perform_on;
use crate::check::{Transitions, transitions};
use crate::definition::Workflow;

/// What playing everything showed.
#[derive(Clone, Debug, Default)]
pub struct Exhausted {
    /// How many runs were played.
    pub played: usize,
    /// Transitions of which it is not known whether a run takes them.
    pub unknown: Vec<String>,
    /// Whether there are more transitions than were played, because there are too many.
    pub cut: bool,
    /// Where the machine did not do what the proof says it does.
    pub complaints: Vec<String>,
}

/// Plays a shortest run to every transition of every position. Besides showing them, it holds the machine and the
/// proof against each other.
pub fn exhaustive(workflow: &Workflow, failures: bool, coverage: &mut Coverage) -> Exhausted {
    let Transitions { scenarios, mut unknown, stopped, cut } = transitions(workflow, failures);
    unknown.extend(stopped);
    let mut exhausted = Exhausted { played: scenarios.len(), unknown, cut, complaints: Vec::new() };
    let mut shares = Shares::new();
    for scenario in &scenarios {
        match perform_on(workflow, scenario, coverage, &mut shares) {
            Ok(verdict) if verdict.complaints.is_empty() => {}
            Ok(verdict) => {
                exhausted.complaints.push(format!("{}: {}", scenario.name, verdict.complaints.join("; ")));
            }
            Err(error) => exhausted.complaints.push(format!("{}: {error}", scenario.name)),
        }
    }
    exhausted
}
