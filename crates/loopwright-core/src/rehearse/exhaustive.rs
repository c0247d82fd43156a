//! Every transition of every position, played.

use super::coverage::Coverage;
use super::script::perform;
use crate::definition::Workflow;

/// What playing everything showed.
#[derive(Clone, Debug, Default)]
pub struct Exhausted {
    /// How many runs were played.
    pub played: usize,
    /// Whether they take every transition there is.
    pub complete: bool,
    /// Where the machine did not do what the proof says it does.
    pub complaints: Vec<String>,
}

/// Plays a shortest run to every transition of every position. Besides showing them, it holds the machine and the
/// proof against each other.
pub fn exhaustive(workflow: &Workflow, failures: bool, coverage: &mut Coverage) -> Exhausted {
    let (scenarios, complete) = crate::check::transitions(workflow, failures);
    let mut exhausted = Exhausted { played: scenarios.len(), complete, complaints: Vec::new() };
    for scenario in &scenarios {
        match perform(workflow, scenario, coverage) {
            Ok(verdict) if verdict.complaints.is_empty() => {}
            Ok(verdict) => {
                exhausted.complaints.push(format!("{}: {}", scenario.name, verdict.complaints.join("; ")));
            }
            Err(error) => exhausted.complaints.push(format!("{}: {error}", scenario.name)),
        }
    }
    exhausted
}
