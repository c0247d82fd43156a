//! What is shown is played first. The graph is not the machine: where a run that was found on the one does not play on
//! the other, nothing is shown by it.

use super::Forced;
use crate::definition::{Claim, Happened, Workflow};
use crate::name::Name;
use crate::problem::Problem;
use crate::rehearse::{Coverage, Played, Scenario, Shares, Stop, Verdict, WalkStep, perform_within};

/// The most steps a path may have. A longer one is no help to anybody.
const LONGEST_PATH: usize = 10_000;

/// Leaves out what a run shows that cannot come to it, and says of the rest what was not shown. `repeated` are endless runs,
/// each with one that goes round again and again. Tells whether all that should be shown is.
pub(super) fn only_what_plays(
    workflow: &Workflow,
    problems: &mut Vec<Problem>,
    forced: &mut [Forced],
    repeated: &[(Scenario, Scenario)],
) -> bool {
    let mut stage = Stage { workflow, shares: Shares::new(), coverage: Coverage::of(workflow) };
    stage.leave_out_stopped(problems, forced, repeated);
    let mut all_play = true;
    for problem in problems {
        problem.path.take_if(|it| it.steps.len() > LONGEST_PATH);
        let Some(path) = &problem.path else { continue };
        let longer = repeated.iter().find(|(once, _)| once == path).map(|(_, it)| it);
        let property = workflow.properties.iter().find(|it| it.place == problem.place);
        let claim = property.filter(|_| problem.code == "property").map(|it| &it.claim);
        let once = stage.play(path).filter(|it| claim.is_none_or(|claim| !has_come(claim, path, &it.played)));
        // What goes round by itself does so with nobody's help.
        let helped = |it: &Verdict| it.played.walk.iter().filter(|it| it.person).count();
        let again = longer.map(|it| stage.play(it).map(|it| helped(&it)));
        if once.is_none() || again.is_some_and(|it| it != once.as_ref().map(helped)) {
            all_play = false;
            problem.path = None;
            problem.message = format!("it was not shown that this cannot happen: {}", problem.message);
        }
    }
    for way in forced {
        all_play &= way.path.take_if(|it| stage.play(it).is_none()).is_none();
    }
    all_play
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
        repeated: &[(Scenario, Scenario)],
    ) {
        let is_unsettled = |it: &Problem| it.code == "unsettled";
        if !problems.iter().any(is_unsettled) {
            return;
        }
        // One gate may stop the run to another, but not each the run to all others.
        let first_is_shown = problems.iter().any(|it| is_unsettled(it) && !self.is_stopped(it));
        problems.retain(|it| {
            let longer = repeated.iter().find(|(once, _)| it.path.as_ref() == Some(once));
            if is_unsettled(it) {
                return !first_is_shown || !self.is_stopped(it);
            }
            let runs = it.path.iter().chain(longer.map(|(_, it)| it));
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

/// Whether what a property asks for came in a run that is to show that it need not.
fn has_come(claim: &Claim, path: &Scenario, played: &Played) -> bool {
    let walk = &played.walk;
    match claim {
        Claim::Always { after, comes } => {
            let last = walk.iter().rposition(|it| it.state == *after);
            last.is_some_and(|last| walk[last..].iter().any(|it| came(it, comes)))
        }
        // What happened in a run before it was taken over nobody saw.
        Claim::Never { reach, before, .. } if path.start.phase.is_none() => {
            let mut entries = (0..walk.len()).filter(|it| walk[*it].state == *reach);
            // Where states that do no work lead in a circle, it comes to the same again.
            let circle = played.stop == Stop::TooLong;
            let entered = if circle { entries.next() } else { entries.next_back() };
            let happened =
                |it: &Happened| entered.is_some_and(|at| walk[..at].iter().any(|step| came(step, it)));
            before.iter().all(happened)
        }
        Claim::Never { .. } | Claim::AtMost { .. } => false,
    }
}

/// Whether something happened in a step. Of a gate this cannot be said: one that passed may have been spoilt since.
fn came(step: &WalkStep, happened: &Happened) -> bool {
    let Happened::Signal { child, state, signals } = happened else { return false };
    let name = child.as_ref().map_or_else(|| state.clone(), |it| format!("{it}.{state}").into());
    let so = |signal: &Name| signals.contains(signal);
    step.state == name && (signals.is_empty() || step.signal.as_ref().is_some_and(so))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::language::{Folder, load};
    use crate::rehearse::parse_scenario;

    const TEXT: &str = "workflow: small
subject: thing
verbs: {go: {}}
states:
  s0:
    rest: It rests.
    on: {verb go: s0}
  s1:
    check: project.checks
    on: {pass: done, fail: s0}
  done: {end: success}
properties:
  - never: {reach: done, before: [s1 = pass]}
";

    fn workflow() -> Workflow {
        let mut folder = Folder::default();
        folder.files.insert("workflow.yaml".into(), TEXT.as_bytes().to_vec());
        load(&folder).workflow.expect("it loads")
    }

    fn path(workflow: &Workflow, text: &str) -> Scenario {
        parse_scenario(workflow, "path.yaml", text).0.expect("it is a scenario")
    }

    /// What is left of a problem that one run is said to show, and another that it can be taken again.
    fn kept(code: &'static str, once: &str, longer: Option<&str>) -> Problem {
        let workflow = workflow();
        let path = |text: &str| path(&workflow, text);
        let place = workflow.properties[0].place.clone();
        let mut problems = vec![Problem::proof(code, place, "it is so".to_owned()).path(path(once))];
        let repeated: Vec<(Scenario, Scenario)> =
            longer.map(|it| (path(once), path(it))).into_iter().collect();
        only_what_plays(&workflow, &mut problems, &mut [], &repeated);
        problems.remove(0)
    }

    const NOT_SHOWN: &str = "it was not shown that this cannot happen: it is so";

    #[test]
    fn a_run_that_plays_is_shown() {
        let text = "scenario: it\nsteps: [verb: go]\nexpect: {reaches: s0}\n";
        let kept = kept("trapped", text, None);
        assert!(kept.path.is_some());
        assert_eq!(kept.message, "it is so");
    }

    #[test]
    fn a_run_that_goes_another_way_is_not_shown() {
        let text = "scenario: it\nsteps: [verb: go]\nexpect: {reaches: done}\n";
        let kept = kept("trapped", text, None);
        assert!(kept.path.is_none());
        assert_eq!(kept.message, NOT_SHOWN);
    }

    #[test]
    fn a_round_that_needs_a_person_again_is_not_endless() {
        let once = "scenario: it\nsteps: [verb: go]\nexpect: {reaches: s0}\n";
        let longer = "scenario: it\nsteps: [verb: go, verb: go]\nexpect: {reaches: s0}\n";
        assert_eq!(kept("endless", once, Some(longer)).message, NOT_SHOWN);
        assert_eq!(kept("endless", once, Some(once)).message, "it is so");
    }
}
