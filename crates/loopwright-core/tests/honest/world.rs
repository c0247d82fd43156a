//! A made-up world around the machine, written without looking at the player or the proof.
//!
//! It drives `begin`, `due` and `advance` itself, chooses every outcome at random, and keeps books of its own (`books`):
//! which documents have which version, what was judged when, what happened before what. What it allows (`back`) is what
//! a real engine could see: a fact changes only when something it reads may have changed, a judge reports findings and a
//! verdict and the machine makes of them what it will, a failing agent may have written all the same.

use std::collections::{BTreeMap, BTreeSet};

use indexmap::IndexMap;
use loopwright_core::definition::{Claim, Happened, Kind, Machine, Outcome as EndOutcome, Target, Workflow};
use loopwright_core::machine::{
    EffectId, Event, Evidence, Impossible, Part, Run, Stage, Started, advance, begin, due,
};
use loopwright_core::name::Name;
use loopwright_core::signal;

use crate::dice::Dice;
use crate::seen::{Begin, Bill, Ground, Seen, Stop};

/// Items a loop finds at most.
pub(crate) const MOST_ITEMS: u64 = 2;

/// What people outside the run do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum People {
    /// They answer and say verbs, and touch nothing.
    Quiet,
    /// They also edit documents just before a state looks at the gates it needs; facts may be others after they acted.
    EditAtNeeds,
    /// They also edit while the run rests or asks, and take it over by hand.
    EditAtRest,
}

/// The books of one run: the workflow's own, or an item's.
#[derive(Default)]
pub(crate) struct Frame {
    /// What facts were when they were last looked at, and when that was.
    pub(crate) facts: BTreeMap<Name, (Name, u64)>,
    pub(crate) last_at: BTreeMap<Name, u64>,
    pub(crate) vars_at: BTreeMap<Name, u64>,
    pub(crate) findings_at: u64,
    /// What each gate's judge saw: leaf to version.
    pub(crate) truth: BTreeMap<Name, BTreeMap<Name, u64>>,
    /// What each gate's judge saw when it last passed, also when a later round opened it.
    pub(crate) passed: BTreeMap<Name, BTreeMap<Name, u64>>,
    /// Whether some item of the present loop was worked on in this visit.
    pub(crate) ran_items: bool,
}

/// The world.
#[expect(clippy::struct_excessive_bools, reason = "each says one thing about the world")]
pub(crate) struct World<'w> {
    pub(crate) workflow: &'w Workflow,
    pub(crate) dice: Dice,
    pub(crate) people: People,
    /// How many in a hundred pieces of work fail.
    pub(crate) faults: usize,
    /// How often people still answer or say something.
    pub(crate) patience: u32,
    /// How often they still edit something. Who edits for ever keeps a run going for ever.
    pub(crate) edits: u32,
    steps: u32,
    pub(crate) clock: u64,
    pub(crate) versions: BTreeMap<Name, u64>,
    pub(crate) touched_at: BTreeMap<Name, u64>,
    pub(crate) git_at: u64,
    pub(crate) person_at: u64,
    pub(crate) lists_at: u64,
    pub(crate) bill: Bill,
    pub(crate) happened: BTreeSet<(Option<Name>, Name, Name)>,
    /// Properties whose state was come to, and those of them that wait for something to come.
    pub(crate) awaited: BTreeSet<usize>,
    pub(crate) pending: BTreeSet<usize>,
    pub(crate) imported: bool,
    /// Whether a person put the run elsewhere: properties speak of runs from their start.
    pub(crate) taken_over: bool,
    /// Gates that are said to be unsettled somewhere.
    said: &'w BTreeSet<Name>,
    pub(crate) shares: &'w BTreeMap<Name, Vec<Name>>,
    pub(crate) as_said: bool,
    pub(crate) seen: Seen,
    tracing: bool,
}

/// Plays a workflow once.
pub(crate) fn play(ground: &Ground<'_>, start: &Begin, seed: u64, people: People, tracing: bool) -> Seen {
    let workflow = ground.workflow;
    let mut world = World {
        workflow,
        dice: Dice(seed),
        people,
        faults: 0,
        patience: 8,
        edits: 12,
        steps: ground.steps,
        clock: 1,
        versions: BTreeMap::new(),
        touched_at: BTreeMap::new(),
        git_at: 0,
        person_at: 0,
        lists_at: 0,
        bill: Bill::default(),
        happened: BTreeSet::new(),
        awaited: BTreeSet::new(),
        pending: BTreeSet::new(),
        imported: start.phase.is_some(),
        taken_over: false,
        said: &ground.said,
        shares: &ground.shares,
        as_said: false,
        seen: Seen::default(),
        tracing,
    };
    world.faults = *world.dice.one(&[0, 10, 25, 50, 80]);
    let mut vars = IndexMap::new();
    for (name, it) in &workflow.main.vars {
        if it.input || start.phase.is_some() {
            vars.insert(name.clone(), world.dice.one(&it.values).clone());
        }
    }
    let lookup = |name: &Name| vars.get(&**name).cloned();
    let digests = start.phase.as_ref().map(|it| world.vouched(it, &lookup)).unwrap_or_default();
    let started = Started {
        definition: workflow.digest.clone(),
        subject: "subject".into(),
        vars,
        verb: start.verb.clone(),
        phase: start.phase.clone(),
        digests,
        ..Started::default()
    };
    let (_, stop) = world.run(started);
    world.stretch_over();
    world.seen.stop = Some(if world.as_said { Stop::AsSaid } else { stop });
    world.seen
}

impl World<'_> {
    pub(crate) fn note(&mut self, text: impl FnOnce() -> String) {
        if self.tracing {
            let text = text();
            self.seen.trace.push(text);
        }
    }

    /// A person did something: another stretch begins.
    pub(crate) fn stretch_over(&mut self) {
        let bill = std::mem::take(&mut self.bill);
        self.seen.stretch.worst(&bill);
    }

    /// A gate was found unsettled.
    pub(crate) fn found_stale(&mut self, state: Name, gates: Vec<Name>) {
        if gates.iter().any(|it| self.said.contains(it)) {
            self.as_said = true;
        }
        self.seen.stale.push((state, gates));
    }

    /// Plays one machine until it stops.
    pub(crate) fn run(&mut self, mut started: Started) -> (Option<Run>, Stop) {
        let workflow = self.workflow;
        let Some(machine) = workflow.machine(started.child.as_deref()) else {
            return (None, Stop::Refused("no such child".into()));
        };
        for (name, fact) in machine.facts.iter().filter(|(_, it)| it.once) {
            started.facts.insert(name.clone(), self.dice.one(&fact.values).clone());
        }
        let mut frame = Frame::default();
        let mut run = match begin(workflow, &started) {
            Ok(run) => run,
            Err(Impossible::Circle { .. }) if !self.said.is_empty() => return (None, Stop::AsSaid),
            Err(error) => return (None, stop_of(machine, &error)),
        };
        self.begun(machine, &started, &run, &mut frame);
        let mut events = vec![Event::Started(Box::new(started.clone()))];
        let mut settled: BTreeSet<(EffectId, u32)> = BTreeSet::new();
        let stop = loop {
            if self.as_said {
                break Stop::AsSaid;
            }
            if run.is_over() {
                let end = run.at.state.clone();
                if started.child.is_none() {
                    self.ended(&run, &frame, &end);
                }
                break Stop::Ended(end);
            }
            if self.steps == 0 {
                break Stop::TooLong;
            }
            self.steps -= 1;
            let Some(state) = machine.states.get(&*run.at.state) else {
                break Stop::Refused("no such state".into());
            };
            let effects = due(workflow, &run);
            self.due_is_right(&run, &effects, &settled);
            if effects.is_empty() {
                break Stop::Refused(format!("nothing is due in `{}`", run.at.state));
            }
            let effect = self.dice.one(&effects).clone();
            let event = match self.perform(machine, &run, state, &effect, &mut frame) {
                Ok(event) => event,
                Err(stop) => break stop,
            };
            if let Event::Settled { effect: id, .. } = &event {
                settled.insert((id.clone(), effect.attempt));
            }
            let next = match advance(workflow, &run, &event) {
                Ok(next) => next,
                Err(error) => {
                    self.note(|| error.to_string());
                    // A circle of gates that are said to be unsettled is one that was spoken of.
                    let circle = matches!(error, Impossible::Circle { .. }) && !self.said.is_empty();
                    break if circle { Stop::AsSaid } else { stop_of(machine, &error) };
                }
            };
            if advance(workflow, &run, &event).as_ref() != Ok(&next) {
                self.seen.wrong.push("`advance` does not answer the same twice".into());
            }
            if effect.id.part == Part::Needs && !came_stale(&next) {
                self.went_on(machine, &run, state, &mut frame);
            }
            if let Event::Landed { phase, .. } = &event {
                let phase = &workflow.phases[&**phase];
                self.lands(machine, &next, phase, &mut frame);
                self.enters(machine, &next, &mut frame, &phase.at, &next.vars.clone());
            }
            events.push(event);
            self.moved(machine, &run, &next, &mut frame);
            run = next;
        };
        self.replays(&events, &run);
        (Some(run), stop)
    }

    /// The first states of a run.
    fn begun(&mut self, machine: &Machine, started: &Started, run: &Run, frame: &mut Frame) {
        // As it was before: the variables as the start set them.
        let mut before = run.clone();
        before.vars = machine.vars.iter().map(|(name, it)| (name.clone(), it.start.clone())).collect();
        before.vars.extend(started.vars.iter().map(|(a, b)| (a.clone(), b.clone())));
        let first = if let Some(phase) = started.phase.as_ref().and_then(|it| self.workflow.phases.get(&**it))
        {
            self.lands(machine, run, phase, frame);
            Some(phase.at.clone())
        } else {
            let start = machine.start.iter().find(|it| it.verb == started.verb);
            before.vars.extend(start.iter().flat_map(|it| it.arm.set.clone()));
            start.and_then(|it| match &it.arm.to {
                Target::State(name) => Some(name.clone()),
                _ => None,
            })
        };
        if let Some(first) = first {
            self.enters(machine, &before, frame, &first, &before.vars.clone());
        }
        self.moved(machine, &before, run, frame);
    }

    /// The run is over: what was to come in a run that succeeds has come, and gates that were to be settled still are.
    fn ended(&mut self, run: &Run, frame: &Frame, end: &Name) {
        let machine = &self.workflow.main;
        let success = |it: &Kind| matches!(it, Kind::End { outcome: EndOutcome::Success, .. });
        if !machine.states.get(&**end).is_some_and(|it| success(&it.kind)) {
            return;
        }
        for property in self.awaited.clone() {
            let settled = match &self.workflow.properties[property].claim {
                Claim::Always { comes: Happened::Settled { gate }, .. } => {
                    let now = self.judged(machine, &|name| run.value_of(name), gate);
                    frame.truth.get(gate) == Some(&now)
                }
                _ => true,
            };
            if self.pending.contains(&property) || !settled {
                self.seen.broken.insert(property);
                self.note(|| format!("property {property} is broken: it ended at {end}"));
            }
        }
    }

    fn due_is_right(
        &mut self,
        run: &Run,
        effects: &[loopwright_core::machine::Effect],
        settled: &BTreeSet<(EffectId, u32)>,
    ) {
        if effects != due(self.workflow, run) {
            self.seen.wrong.push("`due` does not answer the same twice".into());
        }
        for effect in effects {
            if settled.contains(&(effect.id.clone(), effect.attempt)) {
                self.seen.wrong.push(format!("`{}` try {} is asked for again", effect.id, effect.attempt));
            }
        }
    }

    /// A run is the fold of its events, as a journal would hold them.
    fn replays(&mut self, events: &[Event], run: &Run) {
        let mut again: Option<Run> = None;
        for event in events {
            let text = serde_json::to_string(event).expect("an event is data");
            let event: Event = serde_json::from_str(&text).expect("an event reads back");
            let next = match (&again, &event) {
                (None, Event::Started(started)) => begin(self.workflow, started),
                (Some(run), event) => advance(self.workflow, run, event),
                _ => return,
            };
            match next {
                Ok(next) => again = Some(next),
                Err(error) => {
                    self.seen.wrong.push(format!("a replay is refused: {error}"));
                    return;
                }
            }
        }
        if again.as_ref() != Some(run) {
            self.seen.wrong.push("a replay gives another run".into());
        }
    }
}

/// Whether a look at what a state needs came out stale.
fn came_stale(next: &Run) -> bool {
    let deciding =
        matches!(&next.at.stage, Stage::Deciding { outcome, .. } if outcome.signal == signal::STALE);
    deciding || next.taken.first().is_some_and(|it| it.signal == signal::STALE)
}

fn stop_of(machine: &Machine, error: &Impossible) -> Stop {
    match error {
        Impossible::NoRoute { state, signal, .. } => Stop::NoRoute(machine.qualified(state), signal.clone()),
        Impossible::Circle { .. } => Stop::TooLong,
        other => Stop::Refused(other.to_string()),
    }
}

/// Evidence that some work came out like this.
pub(crate) fn out(outcome: loopwright_core::machine::Outcome) -> Evidence {
    Evidence::Out(Box::new(outcome))
}
