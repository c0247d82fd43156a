//! Every transition of every position, played.

use super::coverage::Coverage;
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
}

/// Plays a shortest run to every transition of every position. Besides showing them, it holds the machine and the
/// proof against each other: what the machine does not do is not known.
pub fn exhaustive(workflow: &Workflow, failures: bool, coverage: &mut Coverage) -> Exhausted {
    let Transitions { scenarios, mut unknown, stopped, unplayed, cut } =
        transitions(workflow, failures, coverage);
    unknown.extend(stopped.into_iter().chain(unplayed));
    Exhausted { played: scenarios.len(), unknown, cut }
}
