//! Every run a proof shows, played: it must play, and it must show what it is said to show.

use std::collections::BTreeSet;

use indexmap::IndexMap;
use loopwright_core::check::{Report, transitions};
use loopwright_core::definition::{Claim, Happened, State, Workflow};
use loopwright_core::name::Name;
use loopwright_core::rehearse::{
    Actor, Chance, Coverage, Listing, Moment, Play, Played, Scenario, Script, Step, Stop, WalkStep,
    parse_scenario, perform, play,
};

use crate::claims::Lie;

/// Where a run that a report shows does not play, or does not show it.
pub(crate) fn that_do_not_replay(workflow: &Workflow, report: &Report) -> Vec<Lie> {
    let shown = report.problems.iter().filter_map(|it| Some((it.code, it.path.as_ref()?)));
    let forced = report.forced.iter().filter_map(|it| Some(("forced", it.path.as_ref()?)));
    let mut found = Vec::new();
    for (code, path) in shown.chain(forced) {
        let complaint = match perform(workflow, path, &mut Coverage::of(workflow)) {
            Err(error) => Some(format!("{code}-path: {error}")),
            Ok(verdict) => match verdict.complaints.first() {
                Some(complaint) => Some(format!("{code}-path: {complaint}")),
                None => shows_nothing(workflow, report, code, path, &verdict.played)
                    .map(|it| format!("{code}-shows: {it}")),
            },
        };
        found.extend(complaint.or_else(|| reread(workflow, code, path)).map(|it| lie(&it, path)));
    }
    found
}

fn lie(text: &str, path: &Scenario) -> Lie {
    Lie { text: format!("{text}\n{}", path.to_yaml()), shown_by: None }
}

/// What is printed is what is played.
fn reread(workflow: &Workflow, code: &str, path: &Scenario) -> Option<String> {
    let (again, problems) = parse_scenario(workflow, "path.yaml", &path.to_yaml());
    if let Some(problem) = problems.first() {
        return Some(format!("{code}-text: {}", problem.message));
    }
    match perform(workflow, &again?, &mut Coverage::of(workflow)) {
        Err(error) => Some(format!("{code}-reread: {error}")),
        Ok(verdict) => verdict.complaints.first().map(|it| format!("{code}-reread: {it}")),
    }
}

/// Where a path plays well and still does not show what it is said to show.
fn shows_nothing(
    workflow: &Workflow,
    report: &Report,
    code: &str,
    path: &Scenario,
    played: &Played,
) -> Option<String> {
    match code {
        "property" => {
            let problem = report.problems.iter().find(|it| it.path.as_ref() == Some(path))?;
            let property = workflow.properties.iter().find(|it| it.place == problem.place)?;
            breaks_nothing(workflow, &property.claim, path, played)
        }
        "endless" => goes_round(workflow, path),
        "trapped" => ends_after_all(workflow, path),
        _ => None,
    }
}

fn breaks_nothing(workflow: &Workflow, claim: &Claim, path: &Scenario, played: &Played) -> Option<String> {
    let came = |it: &WalkStep, happened: &Happened| match happened {
        Happened::Signal { child, state, signals } => {
            let name = child.as_ref().map_or_else(|| state.clone(), |it| format!("{it}.{state}").into());
            it.state == name && it.signal.as_ref().is_some_and(|it| signals.contains(it))
        }
        Happened::Settled { gate } => {
            let judge = workflow.main.states.get(&*it.state).and_then(|it| it.gate.as_ref());
            let passed = |passes: &[Name]| it.signal.as_ref().is_some_and(|it| passes.contains(it));
            judge.is_some_and(|judge| judge.name == *gate && passed(&judge.passes))
        }
    };
    match claim {
        Claim::AtMost { visits, times } => {
            let visited = played.run.visits.get(&**visits).copied().unwrap_or(0);
            (visited <= *times).then(|| format!("`{visits}` was entered only {visited} times"))
        }
        Claim::Never { reach, before, .. } => {
            let mut entries = (0..played.walk.len()).filter(|it| played.walk[*it].state == *reach);
            // Where it came to what it shows, and passed on at once, what follows came after; in a circle of states that
            // do no work, to the same again.
            let circle = played.stop == Stop::TooLong;
            let entered = if circle { entries.next()? } else { entries.next_back()? };
            // A gate that passed once may have been spoilt since.
            let happened = |it: &Happened| {
                matches!(it, Happened::Signal { .. })
                    && (path.start.phase.is_some()
                        || played.walk[..entered].iter().any(|step| came(step, it)))
            };
            before.iter().all(happened).then(|| "all of it happened before".to_owned())
        }
        // A gate that passed may have been spoilt since.
        Claim::Always { comes: Happened::Settled { .. }, .. } => None,
        Claim::Always { after, comes } => {
            let last = played.walk.iter().rposition(|it| it.state == *after)?;
            played.walk[last..].iter().any(|it| came(it, comes)).then(|| "it came".to_owned())
        }
    }
}

/// The last steps of an endless path, played five more times: some of them are the turn.
fn goes_round(workflow: &Workflow, path: &Scenario) -> Option<String> {
    let turn = path.expect.endless?;
    let perform = |scenario: &Scenario| perform(workflow, scenario, &mut Coverage::of(workflow)).ok();
    let whole = perform(path)?.played;
    if whole.stop == Stop::TooLong {
        // A circle in which no work is done goes round by itself.
        return None;
    }
    let own = |played: &Played| played.walk.iter().filter(|it| same_machine(&it.state, &whole)).count();
    let is_the_turn = |begun: &usize| {
        let mut longer = path.clone();
        for round in 1..=5 {
            let turn = (*begun..path.steps.len()).map(|at| with_new_items(path, at, round));
            longer.steps.extend(turn);
        }
        let verdict = perform(&longer);
        verdict.is_some_and(|it| it.complaints.is_empty() && own(&it.played) == own(&whole) + 5 * turn)
    };
    let found = (0..path.steps.len()).rev().find(is_the_turn);
    found.is_none().then(|| "its last steps do not go round again".to_owned())
}

/// Whether a state belongs to the machine an endless walk goes round in: that of its last state.
fn same_machine(state: &Name, whole: &Played) -> bool {
    let machine = |it: &Name| it.split_once('.').map(|(child, _)| child.to_owned());
    whole.walk.last().is_some_and(|it| machine(&it.state) == machine(state))
}

/// A step of another round. An item that ended well is done, so that there are others; one that was done already is the
/// same, and so is one that an import brought along.
fn with_new_items(path: &Scenario, at: usize, round: usize) -> Step {
    let found = |step: &Step| match step {
        Step::State { child, state, play } => Some(((child.clone(), state.clone()), play.items.clone()?)),
        _ => None,
    };
    let mut step = path.steps[at].clone();
    let Some((of, _)) = found(&step) else { return step };
    let brought = path.start.done.get(&of.1).into_iter().flat_map(|it| it.keys().cloned());
    let earlier = path.steps[..at].iter().filter_map(found).filter(|(it, _)| *it == of);
    let known: BTreeSet<String> = brought.chain(earlier.flat_map(|(_, it)| it)).collect();
    if let Step::State { play, .. } = &mut step {
        for id in play.items.iter_mut().flatten().filter(|it| !known.contains(*it)) {
            *id = format!("{id}-{round}");
        }
    }
    step
}

/// Played on at random, a trapped run must not end.
fn ends_after_all(workflow: &Workflow, path: &Scenario) -> Option<String> {
    (0..12).find_map(|seed| {
        let mut actor = Onward { script: Script::new(path), chance: Chance::new(seed, true) };
        actor.chance.patience = 40;
        let played = play(workflow, &path.start, &mut actor, &mut Coverage::of(workflow), 3_000).ok()?;
        matches!(played.stop, Stop::Ended(_)).then(|| "it comes to an end after all".to_owned())
    })
}

/// Transitions that do not play, of a sample; and how many there are.
pub(crate) fn transitions_that_do_not_play(workflow: &Workflow, most: usize) -> (Vec<Lie>, Listed) {
    let all = transitions(workflow, true, &mut Coverage::of(workflow));
    let listed = Listed {
        known: all.scenarios.len(),
        unknown: all.unknown.len(),
        stopped: all.stopped.len(),
        unplayed: all.unplayed.len(),
    };
    let stride = (all.scenarios.len() / most.max(1)).max(1);
    let mut found = Vec::new();
    for scenario in all.scenarios.iter().step_by(stride) {
        let complaint = match perform(workflow, scenario, &mut Coverage::of(workflow)) {
            Ok(verdict) => verdict.complaints.first().cloned(),
            Err(error) => Some(error.to_string()),
        };
        found.extend(complaint.map(|it| lie(&format!("transition: {it}"), scenario)));
    }
    (found, listed)
}

/// How many transitions there are.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Listed {
    /// With a run that takes it.
    pub(crate) known: usize,
    /// In too large a space to tell.
    pub(crate) unknown: usize,
    /// A gate stops the run that was found.
    pub(crate) stopped: usize,
    /// The machine does not play the run that was found.
    pub(crate) unplayed: usize,
}

/// Follows a script, then chance.
struct Onward<'s> {
    script: Script<'s>,
    chance: Chance,
}

impl Onward<'_> {
    /// Whoever is asked for the next piece of work.
    fn next(&mut self) -> &mut dyn Actor {
        if self.script.left().next().is_none() { &mut self.chance } else { &mut self.script }
    }
}

impl Actor for Onward<'_> {
    fn come_out(&mut self, moment: &Moment<'_>) -> Option<Play> {
        self.next().come_out(moment)
    }

    /// Facts stay what they were: whether they could change is for the proof to know.
    fn facts(&mut self, moment: &Moment<'_>, facts: &[Name]) -> IndexMap<Name, Name> {
        let mut known = self.script.facts(moment, facts);
        let others: Vec<Name> = facts.iter().filter(|it| !known.contains_key(&***it)).cloned().collect();
        known.extend(self.chance.facts(moment, &others));
        known
    }

    fn changed(&mut self, moment: &Moment<'_>, documents: &[Name]) -> Vec<Name> {
        self.script.changed(moment, documents)
    }

    fn items(&mut self, moment: &Moment<'_>, list: &str) -> Option<Listing> {
        self.next().items(moment, list)
    }

    fn verb(&mut self, moment: &Moment<'_>, verbs: &[Name]) -> Option<Name> {
        self.next().verb(moment, verbs)
    }

    fn edits(&mut self, moment: &Moment<'_>) -> Vec<Name> {
        self.script.edits(moment)
    }

    fn edited(&mut self) -> Vec<Name> {
        self.script.edited()
    }

    fn passed(&mut self, child: Option<&Name>, state: &State, signal: &Name) {
        self.script.passed(child, state, signal);
    }
}
