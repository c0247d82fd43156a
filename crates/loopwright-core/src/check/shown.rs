//! What is shown is played first. The graph is not the machine: where a run that was found on the one does not play on
//! the other, nothing is shown by it.

use super::Forced;
use crate::definition::{Claim, Happened, Workflow};
use crate::problem::Problem;
use crate::rehearse::{Coverage, Played, Scenario, Shares, Verdict, perform_within};

/// The most steps a path may have. A longer one is no help to anybody.
const LONGEST_PATH: usize = 10_000;

/// Leaves out what a run shows that cannot come to it, and says of the rest what was not shown. `doubled` are endless runs
/// that go round twice, with what is said of them.
pub(super) fn only_what_plays(
    workflow: &Workflow,
    problems: &mut Vec<Problem>,
    forced: &mut [Forced],
    doubled: &[(String, Scenario)],
) {
    let mut stage = Stage { workflow, shares: Shares::new(), coverage: Coverage::of(workflow) };
    stage.leave_out_stopped(problems, forced, doubled);
    for problem in problems {
        problem.path.take_if(|it| it.steps.len() > LONGEST_PATH);
        let twice = doubled.iter().find(|(message, _)| *message == problem.message).map(|(_, it)| it);
        let Some(path) = &problem.path else { continue };
        let property = workflow.properties.iter().find(|it| it.place == problem.place);
        let claim = property.filter(|_| problem.code == "property").map(|it| &it.claim);
        let once = stage.play(path).filter(|it| claim.is_none_or(|claim| !has_come(claim, &it.played)));
        if once.is_none() || twice.is_some_and(|it| stage.play(it).is_none()) {
            problem.path = None;
            problem.message = format!("it was not shown that this cannot happen: {}", problem.message);
        }
    }
    for way in forced {
        way.path.take_if(|it| stage.play(it).is_none());
    }
}

/// Where runs are played.
struct Stage<'w> {
    workflow: &'w Workflow,
    shares: Shares,
    /// Nobody asks what is covered here.
    coverage: Coverage,
}

impl Stage<'_> {
    fn perform(&mut self, scenario: &Scenario) -> Option<Verdict> {
        let most = u32::try_from(2 * LONGEST_PATH).unwrap_or(u32::MAX);
        perform_within(self.workflow, scenario, &mut self.coverage, &mut self.shares, most).ok()
    }

    /// A run that goes as it is written.
    fn play(&mut self, scenario: &Scenario) -> Option<Verdict> {
        self.perform(scenario).filter(|it| it.complaints.is_empty())
    }

    /// Past a gate that is not settled a run does not go on as the graph does. What only such runs show is left out while
    /// the gate is reported, and comes back when that is repaired, if it is true.
    fn leave_out_stopped(
        &mut self,
        problems: &mut Vec<Problem>,
        forced: &mut [Forced],
        doubled: &[(String, Scenario)],
    ) {
        let is_unsettled = |it: &Problem| it.code == "unsettled";
        if !problems.iter().any(is_unsettled) {
            return;
        }
        // One gate may stop the run to another, but not each the run to all others.
        let first_is_shown = problems.iter().any(|it| is_unsettled(it) && !self.is_stopped(it));
        problems.retain(|it| {
            let twice = doubled.iter().find(|(message, _)| *message == it.message);
            if is_unsettled(it) {
                return !first_is_shown || !self.is_stopped(it);
            }
            let runs = it.path.iter().chain(twice.map(|(_, it)| it));
            !runs.into_iter().any(|it| self.meets_unsettled(it))
        });
        for way in forced {
            way.path.take_if(|it| self.meets_unsettled(it));
        }
    }

    /// Whether a run needs a gate somewhere that is not settled.
    fn meets_unsettled(&mut self, scenario: &Scenario) -> bool {
        self.perform(scenario).is_some_and(|it| !it.played.unsettled.is_empty())
    }

    /// Whether the run that should show a problem is stopped by a gate that is not settled.
    fn is_stopped(&mut self, problem: &Problem) -> bool {
        let verdict = problem.path.as_ref().and_then(|it| self.perform(it));
        verdict.is_some_and(|it| !it.complaints.is_empty() && !it.played.unsettled.is_empty())
    }
}

/// Whether what should always come came in a run that is to show that it need not.
fn has_come(claim: &Claim, played: &Played) -> bool {
    let Claim::Always { after, comes: Happened::Signal { child, state, signals } } = claim else {
        return false;
    };
    let name = child.as_ref().map_or_else(|| state.clone(), |it| format!("{it}.{state}").into());
    let Some(last) = played.walk.iter().rposition(|it| it.state == *after) else { return false };
    let came = |signal: &_| signals.contains(signal) || signals.is_empty();
    played.walk[last..].iter().any(|it| it.state == name && it.signal.as_ref().is_some_and(came))
}
