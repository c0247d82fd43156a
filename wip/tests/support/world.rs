//! A made-up world around the machine, written without looking at the player or the proof.
//!
//! It drives `begin`, `due` and `advance` itself, chooses every outcome at random, and keeps books of its own: which
//! documents have which version, what was judged when, what happened before what. What it allows is what a real
//! engine could see: a fact changes only when something it reads may have changed, a judge reports findings and a
//! verdict and the machine makes of them what it will, a failing agent may have written all the same.

use std::collections::{BTreeMap, BTreeSet};

use indexmap::IndexMap;
use loopwright_core::definition::{
    Arm, Claim, Condition, Each, EachRun, Happened, Kind, Machine, Outcome as EndOutcome, State, Target, Term, Unattended, Workflow,
};
use loopwright_core::machine::{
    Effect, Event, Evidence, Impossible, Observed, Outcome, Part, Report, Run, Stage, Started, Want, advance, begin, due,
};
use loopwright_core::name::Name;
use loopwright_core::problem::Place;
use loopwright_core::signal;

use super::Dice;

/// What people outside the run do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum People {
    /// They answer and say verbs, and touch nothing.
    Quiet,
    /// They also edit documents just before a state looks at the gates it needs; facts may be others after they acted.
    EditAtNeeds,
    /// They also edit while the run rests or asks.
    EditAtRest,
}

/// Why a play stopped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stop {
    Ended(Name),
    Waiting,
    NoRoute(Name, Name),
    Refused(String),
    TooLong,
}

/// Everything worth complaining about, in words, with a key that tells kinds apart.
#[derive(Clone, Debug, Default)]
pub struct Seen {
    pub stop: Option<Stop>,
    /// Gates found unsettled on entering a state: machine, state, gates.
    pub stale: Vec<(Option<Name>, Name, Vec<Name>)>,
    /// Gates a state went on with that nobody had judged as they were.
    pub unjudged: Vec<(Option<Name>, Name, Name)>,
    /// Most calls between two things people did, in all and by role.
    pub most_calls: u64,
    pub most_calls_of: BTreeMap<Name, u64>,
    /// Properties broken, by index.
    pub broken: BTreeSet<usize>,
    /// States entered, `child.state` in a child.
    pub entered: BTreeSet<Name>,
    /// Arms taken, with the child they were taken in.
    pub taken: BTreeSet<(Option<Name>, Place)>,
    /// Something given that was not there: state, name.
    pub missing: BTreeSet<(Name, String)>,
    /// Mistakes of the machine itself.
    pub wrong: Vec<String>,
    pub trace: Vec<String>,
}

struct Frame {
    facts: BTreeMap<Name, (Name, u64)>,
    last_at: BTreeMap<Name, u64>,
    vars_at: BTreeMap<Name, u64>,
    findings_at: u64,
    /// What each gate's judge saw: leaf to version.
    truth: BTreeMap<Name, BTreeMap<Name, u64>>,
    ran_items: bool,
}

pub struct World<'w> {
    workflow: &'w Workflow,
    pub dice: Dice,
    people: People,
    pub faults: usize,
    patience: u32,
    pub most_items: u64,
    steps: u32,
    clock: u64,
    versions: BTreeMap<Name, u64>,
    touched_at: BTreeMap<Name, u64>,
    git_at: u64,
    person_at: u64,
    lists_at: u64,
    calls: u64,
    calls_of: BTreeMap<Name, u64>,
    happened: BTreeSet<(Option<Name>, Name, Name)>,
    pending: BTreeSet<usize>,
    imported: bool,
    pub seen: Seen,
    tracing: bool,
}

/// How a play begins.
#[derive(Clone, Debug, Default)]
pub struct Begin {
    pub verb: Option<Name>,
    pub phase: Option<Name>,
}

/// Every way a run can begin.
pub fn begins(workflow: &Workflow) -> Vec<Begin> {
    let mut found: Vec<Begin> = workflow.main.start.iter().map(|it| Begin { verb: it.verb.clone(), phase: None }).collect();
    found.extend(workflow.phases.keys().map(|it| Begin { verb: None, phase: Some(it.clone()) }));
    found
}

/// Plays a workflow once.
pub fn play(workflow: &Workflow, start: &Begin, seed: u64, people: People, tracing: bool) -> Seen {
    let mut world = World {
        workflow,
        dice: Dice(seed),
        people,
        faults: 25,
        patience: 8,
        most_items: 2,
        steps: 4_000,
        clock: 1,
        versions: BTreeMap::new(),
        touched_at: BTreeMap::new(),
        git_at: 0,
        person_at: 0,
        lists_at: 0,
        calls: 0,
        calls_of: BTreeMap::new(),
        happened: BTreeSet::new(),
        pending: BTreeSet::new(),
        imported: start.phase.is_some(),
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
    let started = Started {
        definition: workflow.digest.clone(),
        subject: "subject".into(),
        vars,
        verb: start.verb.clone(),
        phase: start.phase.clone(),
        ..Started::default()
    };
    let (_, stop) = world.run(started);
    world.stretch_over();
    world.seen.stop = Some(stop);
    world.seen
}

impl World<'_> {
    fn note(&mut self, text: impl FnOnce() -> String) {
        if self.tracing {
            let text = text();
            self.seen.trace.push(text);
        }
    }

    fn stretch_over(&mut self) {
        self.seen.most_calls = self.seen.most_calls.max(self.calls);
        for (role, count) in std::mem::take(&mut self.calls_of) {
            let most = self.seen.most_calls_of.entry(role).or_insert(0);
            *most = (*most).max(count);
        }
        self.calls = 0;
    }

    fn person(&mut self) {
        self.stretch_over();
        self.clock += 1;
        self.person_at = self.clock;
    }

    fn write(&mut self, documents: &[Name]) {
        self.clock += 1;
        for document in documents {
            for leaf in self.workflow.documents.keys() {
                if self.workflow.leaves(leaf).len() == 1 && self.workflow.documents_overlap(document, leaf) {
                    *self.versions.entry(leaf.clone()).or_insert(0) += 1;
                    self.touched_at.insert(leaf.clone(), self.clock);
                }
            }
        }
        if !documents.is_empty() {
            self.git_at = self.clock;
        }
    }

    fn version(&self, leaf: &Name) -> u64 {
        self.versions.get(leaf).copied().unwrap_or(0)
    }

    /// What a gate judges at present: leaf to version.
    fn judged(&self, machine: &Machine, lookup: &dyn Fn(&Name) -> Option<Name>, gate: &str) -> BTreeMap<Name, u64> {
        let mut found = BTreeMap::new();
        for state in machine.gates.get(gate).into_iter().flatten() {
            let Some(declared) = machine.states.get(&**state).and_then(|it| it.gate.as_ref()) else { continue };
            for document in declared.judges.get(lookup).into_iter().flatten() {
                for leaf in self.workflow.leaves(document) {
                    let version = self.version(&leaf);
                    found.insert(leaf, version);
                }
            }
        }
        found
    }

    fn digest(&self, run: &Run, gate: &str) -> String {
        let Some(machine) = run.machine(self.workflow) else { return String::new() };
        format!("{:?}", self.judged(machine, &|name| run.value_of(name), gate))
    }

    /// Documents the work of a state may change.
    fn may_write(&self, run: &Run, state: &State, effect: &Effect) -> Vec<Name> {
        if let (Kind::Do { actions, .. }, Want::Act { index }) = (&state.kind, &effect.want) {
            return match actions.get(*index).map(|it| it.writes.clone()) {
                Some(Some(documents)) => documents,
                Some(None) => self.workflow.documents.keys().cloned().collect(),
                None => Vec::new(),
            };
        }
        let Some(call) = state.call() else { return Vec::new() };
        let Some(role) = run.pick(&call.role).and_then(|it| self.workflow.roles.get(&**it)) else { return Vec::new() };
        run.pick(call.may_write.as_ref().unwrap_or(&role.may_write)).cloned().unwrap_or_default()
    }

    fn fact(&mut self, run: &Run, frame: &mut Frame, name: &Name) -> Option<Name> {
        if let Some(value) = run.once.get(&**name) {
            return Some(value.clone());
        }
        let machine = run.machine(self.workflow)?;
        let own = machine.facts.get(&**name);
        let fact = own.or_else(|| self.workflow.main.facts.get(&**name))?;
        if let Some((value, at)) = frame.facts.get(name).filter(|_| own.is_some()).cloned() {
            let outside = self.people != People::Quiet;
            let mut changed = false;
            for path in &fact.reads {
                let mut parts = path.split('.');
                let (head, second) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
                changed |= match head {
                    "docs" | "changed" => {
                        let document = self.workflow.documents.keys().find(|it| it.in_expression() == second);
                        let leaves = document.map(|it| self.workflow.leaves(it)).unwrap_or_default();
                        outside && self.person_at > at || leaves.iter().any(|it| self.touched_at.get(it).is_some_and(|it| *it > at))
                    }
                    "git" => outside && self.person_at > at || self.git_at > at,
                    "findings" => frame.findings_at > at,
                    "last" => machine.states.keys().any(|it| it.in_expression() == second && frame.last_at.get(it).is_some_and(|it| *it > at)),
                    "lists" | "items" => self.lists_at > at,
                    "project" | "item" | "inputs" => false,
                    head => machine.vars.keys().any(|it| it.in_expression() == head && frame.vars_at.get(it).is_some_and(|it| *it > at)),
                };
            }
            if !changed {
                return Some(value);
            }
        }
        let value = self.dice.one(&fact.values).clone();
        frame.facts.insert(name.clone(), (value.clone(), self.clock));
        Some(value)
    }

    fn qualified(machine: &Machine, state: &str) -> Name {
        machine.qualified(state)
    }

    /// Plays one machine until it stops.
    fn run(&mut self, mut started: Started) -> (Option<Run>, Stop) {
        let workflow = self.workflow;
        let Some(machine) = workflow.machine(started.child.as_deref()) else { return (None, Stop::Refused("no such child".into())) };
        for (name, fact) in machine.facts.iter().filter(|(_, it)| it.once) {
            started.facts.insert(name.clone(), self.dice.one(&fact.values).clone());
        }
        let mut frame = Frame {
            facts: BTreeMap::new(),
            last_at: BTreeMap::new(),
            vars_at: BTreeMap::new(),
            findings_at: 0,
            truth: BTreeMap::new(),
            ran_items: false,
        };
        let mut run = match begin(workflow, &started) {
            Ok(run) => run,
            Err(Impossible::NoRoute { state, signal }) => return (None, Stop::NoRoute(state, signal)),
            Err(error) => return (None, Stop::Refused(format!("begin: {error}"))),
        };
        let mut events = vec![Event::Started(Box::new(started.clone()))];
        let mut settled: BTreeSet<(loopwright_core::machine::EffectId, u32)> = BTreeSet::new();
        let first = match &started.phase {
            Some(phase) => workflow.phases.get(&**phase).map(|it| it.at.clone()),
            None => machine.start.iter().find(|it| it.verb == started.verb).and_then(|it| match &it.arm.to {
                Target::State(name) => Some(name.clone()),
                _ => None,
            }),
        };
        if let Some(phase) = started.phase.as_ref().and_then(|it| workflow.phases.get(&**it)) {
            for gate in &phase.settles {
                let judged = self.judged(machine, &|name| run.value_of(name), gate);
                frame.truth.insert(gate.clone(), judged);
            }
        }
        // What the first event did, as of before it: the variables as the start set them.
        let mut before = run.clone();
        before.vars = machine.vars.iter().map(|(name, it)| (name.clone(), it.start.clone())).collect();
        before.vars.extend(started.vars.iter().map(|(a, b)| (a.clone(), b.clone())));
        if started.phase.is_none()
            && let Some(start) = machine.start.iter().find(|it| it.verb == started.verb)
        {
            before.vars.extend(start.arm.set.iter().map(|(a, b)| (a.clone(), b.clone())));
        }
        if let Some(first) = first {
            self.enters(machine, &before, &mut frame, &first, &before.vars.clone());
        }
        self.moved(machine, &before, &run, &mut frame);
        let stop = loop {
            if run.is_over() {
                let end = run.at.state.clone();
                if started.child.is_none() && machine.states.get(&*end).is_some_and(|it| matches!(it.kind, Kind::End { outcome: EndOutcome::Success, .. })) {
                    for property in self.pending.clone() {
                        self.seen.broken.insert(property);
                        self.note(|| format!("property {property} is broken: it ended at {end}"));
                    }
                }
                break Stop::Ended(end);
            }
            if self.steps == 0 {
                break Stop::TooLong;
            }
            self.steps -= 1;
            let Some(state) = machine.states.get(&*run.at.state) else { break Stop::Refused("no such state".into()) };
            let effects = due(workflow, &run);
            if effects != due(workflow, &run) {
                self.seen.wrong.push("`due` does not answer the same twice".into());
            }
            for effect in &effects {
                if settled.contains(&(effect.id.clone(), effect.attempt)) {
                    self.seen.wrong.push(format!("`{}` try {} is asked for again", effect.id, effect.attempt));
                }
            }
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
            let observed = match &event {
                Event::Settled { evidence: Evidence::Observed(seen), .. } if effect.id.part == Part::Needs => Some((**seen).clone()),
                _ => None,
            };
            let next = match advance(workflow, &run, &event) {
                Ok(next) => next,
                Err(Impossible::NoRoute { state, signal }) => {
                    self.note(|| format!("no route: {state} {signal}"));
                    break Stop::NoRoute(Self::qualified(machine, &state), signal);
                }
                Err(error) => break Stop::Refused(error.to_string()),
            };
            if advance(workflow, &run, &event).as_ref() != Ok(&next) {
                self.seen.wrong.push("`advance` does not answer the same twice".into());
            }
            if observed.is_some() && !next.taken.first().is_some_and(|it| *it.signal == *signal::STALE) {
                self.went_on(machine, &run, state, &mut frame);
            }
            events.push(event);
            self.moved(machine, &run, &next, &mut frame);
            run = next;
        };
        self.replay(&events, &run);
        (Some(run), stop)
    }

    /// A state goes on: whatever gates it needs must have been judged as things are.
    fn went_on(&mut self, machine: &Machine, run: &Run, state: &State, frame: &mut Frame) {
        for gate in run.pick(&state.needs).cloned().unwrap_or_default() {
            let owed = Run::owed_when(machine, &gate).to_vec();
            if !owed.iter().all(|it| self.holds(run, frame, it, &run.vars.clone())) {
                continue;
            }
            let now = self.judged(machine, &|name| run.value_of(name), &gate);
            if frame.truth.get(&gate) != Some(&now) {
                let (child, name) = (machine.name.clone(), state.name.clone());
                self.note(|| format!("{name} goes on although {gate} was not judged as it is"));
                self.seen.unjudged.push((child, state.name.clone(), gate.clone()));
            }
        }
    }

    fn replay(&mut self, events: &[Event], run: &Run) {
        let mut again: Option<Run> = None;
        for event in events {
            // As a journal would hold it.
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

    fn holds(&mut self, run: &Run, frame: &mut Frame, condition: &Condition, vars: &IndexMap<Name, Name>) -> bool {
        let value = match &condition.term {
            Term::Var(name) => vars.get(&**name).cloned(),
            Term::Fact(name) => self.fact(run, frame, name),
            Term::Last(state) => Some(run.last.get(&**state).map_or_else(|| "none".into(), |it| it.signal.clone())),
            Term::Ever(state) => Some(if run.ever.contains(state) { "yes".into() } else { "no".into() }),
            Term::Outer(inner) => match &**inner {
                Term::Var(name) => run.outer.as_ref().and_then(|it| it.vars.get(&**name).cloned()),
                Term::Fact(name) => self.fact(run, frame, name),
                _ => return false,
            },
            _ => return false,
        };
        value.is_some_and(|it| condition.values.contains(&it))
    }

    /// The states an event led through.
    fn moved(&mut self, machine: &Machine, before: &Run, after: &Run, frame: &mut Frame) {
        let mut vars = before.vars.clone();
        let mut running = before.clone();
        let mut here = before.at.state.clone();
        for taken in after.taken.clone() {
            here = taken.to.clone();
            let Some(state) = machine.states.get(&*taken.state) else { continue };
            let Some(arm) = state.cells.get(&*taken.signal).and_then(|it| it.arms.iter().find(|it| it.place == taken.arm && it.spend == taken.spent)) else { continue };
            let arm: Arm = arm.clone();
            let person = signal::waits_for_person(self.workflow, state, &taken.signal);
            self.note(|| format!("{}: {} -> {}{}", Self::qualified(machine, &taken.state), taken.signal, taken.to, if person { " (person)" } else { "" }));
            self.seen.taken.insert((machine.name.clone(), taken.arm.clone()));
            if *taken.signal == *signal::STALE {
                let needs: Vec<Name> = running.pick(&state.needs).cloned().unwrap_or_default();
                let unsettled = needs.into_iter().filter(|gate| {
                    let now = self.judged(machine, &|name| vars.get(&**name).cloned().or_else(|| before.value_of(name)), gate);
                    frame.truth.get(gate) != Some(&now)
                });
                self.seen.stale.push((machine.name.clone(), state.name.clone(), unsettled.collect()));
            }
            if person {
                self.stretch_over();
                if matches!(state.kind, Kind::Rest { .. } | Kind::Ask { .. }) || *taken.signal == *signal::STALE || *taken.signal == *"cancelled" {
                    self.clock += 1;
                    self.person_at = self.clock;
                }
            }
            self.clock += 1;
            frame.last_at.insert(state.name.clone(), self.clock);
            self.lists_at = self.clock;
            if matches!(state.kind, Kind::Review { .. }) || !arm.forced.is_empty() {
                frame.findings_at = self.clock;
            }
            if matches!(state.kind, Kind::Do { .. }) {
                self.git_at = self.clock;
            }
            let value = |vars: &IndexMap<Name, Name>, name: &Name| vars.get(&**name).cloned().or_else(|| before.value_of(name));
            if let Some(gate) = state.gate.as_ref().filter(|it| it.judges.get(|name| value(&vars, name)).is_some_and(|it| !it.is_empty()))
                && *taken.signal != *signal::STALE
            {
                let now = self.judged(machine, &|name| value(&vars, name), &gate.name);
                let skipped = matches!(state.kind, Kind::Each(_)) && !frame.ran_items;
                if !gate.passes.contains(&taken.signal) {
                    frame.truth.remove(&gate.name);
                } else if !skipped || *taken.signal == *signal::EMPTY {
                    frame.truth.insert(gate.name.clone(), now);
                }
            }
            if matches!(state.kind, Kind::Each(_)) {
                frame.ran_items = false;
            }
            for gate in &arm.forced {
                let now = self.judged(machine, &|name| value(&vars, name), gate);
                frame.truth.insert(gate.clone(), now);
            }
            for (name, set) in &arm.set {
                if vars.insert(name.clone(), set.clone()).as_ref() != Some(set) {
                    frame.vars_at.insert(name.clone(), self.clock);
                }
                for other in machine.states.values() {
                    if let Some(gate) = other.gate.as_ref().filter(|it| it.judges.by() == Some(name)) {
                        frame.truth.remove(&gate.name);
                    }
                }
            }
            self.happened.insert((machine.name.clone(), taken.state.clone(), taken.signal.clone()));
            if machine.name.is_none() {
                for (index, property) in self.workflow.properties.iter().enumerate() {
                    let Claim::Always { comes, .. } = &property.claim else { continue };
                    let came = match comes {
                        Happened::Signal { child: None, state, signals } => *state == taken.state && signals.contains(&taken.signal),
                        Happened::Settled { gate } => {
                            state.gate.as_ref().is_some_and(|it| it.name == *gate && it.passes.contains(&taken.signal)) || arm.forced.contains(gate)
                        }
                        Happened::Signal { .. } => false,
                    };
                    if came {
                        self.pending.remove(&index);
                    }
                }
            } else {
                for (index, property) in self.workflow.properties.iter().enumerate() {
                    if let Claim::Always { comes: Happened::Signal { child, state, signals }, .. } = &property.claim
                        && *child == machine.name
                        && *state == taken.state
                        && signals.contains(&taken.signal)
                    {
                        self.pending.remove(&index);
                    }
                }
            }
            running = after.clone();
            running.vars.clone_from(&vars);
            let again = arm.to == Target::Again || arm.to == Target::Back && taken.to == taken.state;
            if !again {
                self.enters(machine, after, frame, &taken.to, &vars.clone());
            }
        }
        let _ = here;
    }

    /// A state is entered.
    fn enters(&mut self, machine: &Machine, run: &Run, frame: &mut Frame, name: &Name, vars: &IndexMap<Name, Name>) {
        self.seen.entered.insert(Self::qualified(machine, name));
        if machine.name.is_some() {
            return;
        }
        for (index, property) in self.workflow.properties.iter().enumerate() {
            match &property.claim {
                Claim::Never { reach, before, when } if reach == name => {
                    let vars = vars.clone();
                    if !when.iter().all(|it| self.holds(run, frame, it, &vars)) {
                        continue;
                    }
                    for happened in before {
                        let true_now = match happened {
                            Happened::Signal { child, state, signals } => {
                                self.imported || signals.iter().any(|it| self.happened.contains(&(child.clone(), state.clone(), it.clone())))
                            }
                            Happened::Settled { gate } => {
                                let now = self.judged(machine, &|name| vars.get(&**name).cloned().or_else(|| run.value_of(name)), gate);
                                frame.truth.get(gate) == Some(&now)
                            }
                        };
                        if !true_now {
                            self.seen.broken.insert(index);
                            self.note(|| format!("property {index} is broken: {name} is entered"));
                        }
                    }
                }
                Claim::AtMost { visits, times } if visits == name => {
                    if run.visits.get(&**name).copied().unwrap_or(0) > *times {
                        self.seen.broken.insert(index);
                        self.note(|| format!("property {index} is broken: {name} once too often"));
                    }
                }
                Claim::Always { after, .. } if after == name => {
                    self.pending.insert(index);
                }
                _ => {}
            }
        }
    }

    fn edit(&mut self, percent: usize) -> bool {
        if !self.dice.yes(percent) {
            return false;
        }
        let all: Vec<Name> = self.workflow.documents.keys().cloned().collect();
        let edited = self.dice.some(&all, 40);
        self.note(|| format!("somebody edits {edited:?}"));
        self.write(&edited);
        self.clock += 1;
        self.person_at = self.clock;
        true
    }

    /// What an effect comes back with.
    fn perform(&mut self, machine: &Machine, run: &Run, state: &State, effect: &Effect, frame: &mut Frame) -> Result<Event, Stop> {
        let settled = |evidence| Event::Settled { effect: effect.id.clone(), evidence };
        match &effect.want {
            Want::Await { verbs } => {
                if self.patience == 0 || verbs.is_empty() {
                    return Err(Stop::Waiting);
                }
                self.patience -= 1;
                self.clock += 1;
                self.person_at = self.clock;
                if self.people == People::EditAtRest {
                    self.edit(30);
                    let phases: Vec<Name> = self.workflow.phases.keys().cloned().collect();
                    if run.child.is_none() && !phases.is_empty() && self.dice.yes(25) {
                        let phase = self.dice.one(&phases).clone();
                        self.imported = true;
                        self.stretch_over();
                        self.note(|| format!("lands at {phase}"));
                        return Ok(Event::Landed { phase });
                    }
                }
                let verb = self.dice.one(verbs).clone();
                if run.at.stage == Stage::Paused {
                    self.note(|| "resume".into());
                    self.person();
                }
                Ok(Event::Said { verb, inputs: IndexMap::new() })
            }
            Want::Observe { facts, gates, changed } => {
                if effect.id.part == Part::Needs && self.people != People::Quiet {
                    self.edit(15);
                }
                let mut observed = Observed::default();
                for name in facts {
                    let Some(value) = self.fact(run, frame, name) else { return Err(Stop::Refused(format!("no fact `{name}`"))) };
                    observed.facts.insert(name.clone(), value);
                }
                for gate in gates {
                    observed.digests.insert(gate.clone(), self.digest(run, gate));
                }
                observed.changed = self.dice.some(changed, 50);
                self.note(|| format!("  looks: {:?} changed {:?}", observed.facts, observed.changed));
                Ok(settled(Evidence::Observed(Box::new(observed))))
            }
            Want::List => {
                let Kind::Each(each) = &state.kind else { return Err(Stop::Refused("not a loop".into())) };
                Ok(settled(self.list(run, state, each)))
            }
            Want::Child { child, item, vars, outer } => {
                if self.faults > 0 && self.dice.yes(4) {
                    let failure = *self.dice.one(signal::EACH_FAILURES);
                    return Ok(settled(Evidence::Out(Box::new(Outcome::of(failure)))));
                }
                let started = Started {
                    definition: self.workflow.digest.clone(),
                    child: Some(child.clone()),
                    subject: run.subject.clone(),
                    vars: vars.clone(),
                    item: Some(item.clone()),
                    outer: Some(outer.clone()),
                    ..Started::default()
                };
                frame.ran_items = true;
                self.note(|| format!("item {item} of {}", state.name));
                let (ended, stop) = self.run(started);
                let (Some(ended), Stop::Ended(end)) = (ended, stop.clone()) else { return Err(stop) };
                let judged = state.gate.as_ref().map(|it| self.digest(run, &it.name));
                Ok(settled(Evidence::Out(Box::new(Outcome { judged, forced: ended.forced.clone(), ..Outcome::of(end) }))))
            }
            Want::Call { role, advice, .. } => {
                for name in std::iter::once(role).chain(advice) {
                    self.calls += 1;
                    *self.calls_of.entry(name.clone()).or_insert(0) += 1;
                }
                self.given(machine, run, state, role);
                if matches!(effect.id.part, Part::Item(_)) {
                    frame.ran_items = true;
                }
                Ok(settled(Evidence::Out(Box::new(self.call(run, state, effect, role)))))
            }
            Want::Check | Want::Act { .. } => {
                let signal = self.signal(state, effect);
                self.writes(run, state, effect);
                let judged = state.gate.as_ref().map(|it| self.digest(run, &it.name));
                Ok(settled(Evidence::Out(Box::new(Outcome { judged, ..Outcome::of(signal) }))))
            }
            Want::Ask { question } => self.ask(run, state, question).map(|it| match it {
                Ok(outcome) => settled(Evidence::Out(Box::new(outcome))),
                Err(verb) => Event::Said { verb, inputs: IndexMap::new() },
            }),
        }
    }

    /// What a call is given for sure is there.
    fn given(&mut self, machine: &Machine, run: &Run, state: &State, role: &Name) {
        let Some(call) = state.call() else { return };
        let mut given = run.pick(&call.given).cloned().unwrap_or_default();
        given.extend(self.workflow.roles.get(&**role).and_then(|it| run.pick(&it.given)).cloned().unwrap_or_default());
        for given in given.iter().filter(|it| !it.maybe) {
            let Some(name) = given.name.strip_prefix("last.") else { continue };
            let name = name.split('.').next().unwrap_or_default();
            let known = if machine.states.contains_key(name) {
                run.last.contains_key(name)
            } else {
                run.outer.as_ref().is_some_and(|it| it.last.contains_key(name))
            };
            if !known {
                self.seen.missing.insert((Self::qualified(machine, &state.name), format!("last.{name}")));
            }
        }
    }

    fn writes(&mut self, run: &Run, state: &State, effect: &Effect) {
        let may = self.may_write(run, state, effect);
        let percent = *self.dice.one(&[0, 50, 100]);
        let wrote = self.dice.some(&may, percent);
        if !wrote.is_empty() {
            self.note(|| format!("  {} wrote {wrote:?}", state.name));
        }
        self.write(&wrote);
    }

    fn signal(&mut self, state: &State, effect: &Effect) -> Name {
        let failures: Vec<Name> = state.cells.keys().filter(|it| signal::is_failure(it) && ***it != *signal::OVER_BUDGET).cloned().collect();
        let well: Vec<Name> = state.cells.keys().filter(|it| !signal::is_failure(it) && ***it != *signal::STALE).cloned().collect();
        let act = matches!(effect.want, Want::Act { .. });
        if !failures.is_empty() && self.dice.below(100) < self.faults {
            return self.dice.one(&failures).clone();
        }
        if act { "done".into() } else { self.dice.one(&well).clone() }
    }

    fn list(&mut self, run: &Run, state: &State, each: &Each) -> Evidence {
        if self.faults > 0 && self.dice.yes(5) {
            let failure = *self.dice.one(signal::EACH_FAILURES);
            return Evidence::Out(Box::new(Outcome::of(failure)));
        }
        let digest = state.gate.as_ref().map(|it| self.digest(run, &it.name));
        let ordered = !(each.by_dependency && self.dice.yes(10));
        let count = self.dice.next() % (self.most_items + 1);
        let ids: Vec<String> = (1..=count).map(|it| it.to_string()).collect();
        let changed = self.dice.some(&ids, 15);
        Evidence::Items { ids, ordered, digest, changed }
    }

    /// A call comes back: for a judge, a verdict and findings as it would report them.
    fn call(&mut self, run: &Run, state: &State, effect: &Effect, role: &Name) -> Outcome {
        let failures: Vec<Name> = state.cells.keys().filter(|it| signal::is_failure(it) && ***it != *signal::OVER_BUDGET).cloned().collect();
        self.writes(run, state, effect);
        let judged = state.gate.as_ref().map(|it| self.digest(run, &it.name));
        if !failures.is_empty() && self.dice.below(100) < self.faults {
            return Outcome { judged, ..Outcome::of(self.dice.one(&failures).clone()) };
        }
        let declared = self.workflow.roles.get(&**role);
        if matches!(state.kind, Kind::Each(_)) {
            return Outcome { judged, ..Outcome::of("done") };
        }
        let own = state.call().and_then(|it| it.verdicts.clone());
        let verdicts = own.or_else(|| declared.map(|it| it.verdicts.clone())).unwrap_or_default();
        if declared.is_some_and(|it| it.asks) && self.dice.yes(15) {
            return Outcome { judged, ..Outcome::of(signal::ASK) };
        }
        let Some((verdict, fields)) = verdicts.get_index(self.dice.below(verdicts.len())) else { return Outcome::of("done") };
        let mut outcome = Outcome { judged, ..Outcome::of(verdict.clone()) };
        for (name, values) in &fields.fields {
            outcome.fields.insert(name.clone(), self.dice.one(values).clone());
        }
        let findings = declared.and_then(|it| it.findings.as_ref()).filter(|_| matches!(state.kind, Kind::Review { .. }));
        if let Some(findings) = findings {
            let gate = state.gate.as_ref().map_or(&state.name, |it| &it.name);
            let known: Vec<String> = run.ledger.findings.iter().filter(|(_, it)| it.gate == *gate).map(|(id, _)| id.clone()).collect();
            let best = verdicts.get_index_of(&*outcome.signal) == Some(0);
            let count = if best { self.dice.below(2) } else { 1 + self.dice.below(2) };
            for _ in 0..count {
                let id = if !known.is_empty() && self.dice.yes(50) { Some(self.dice.one(&known).clone()) } else { None };
                outcome.findings.push(Report {
                    id,
                    severity: self.dice.one(&findings.severity).clone(),
                    topic: (!findings.topic.is_empty()).then(|| self.dice.one(&findings.topic).clone()),
                    file: String::new(),
                    subject: format!("subject {}", self.dice.below(50)),
                    text: "a remark".into(),
                });
            }
        }
        outcome
    }

    fn ask(&mut self, run: &Run, state: &State, question: &Name) -> Result<Result<Outcome, Name>, Stop> {
        let Some(declared) = self.workflow.questions.get(&**question) else { return Err(Stop::Refused("no question".into())) };
        let nobody = match &declared.unattended {
            Unattended::As(answer) if self.patience == 0 || self.dice.yes(30) => Some(answer.clone()),
            Unattended::Wait if self.patience == 0 => return Err(Stop::Waiting),
            _ => None,
        };
        let signal = match nobody {
            Some(answer) => answer,
            None => {
                self.patience -= 1;
                self.clock += 1;
                self.person_at = self.clock;
                if self.people == People::EditAtRest {
                    self.edit(30);
                }
                let signals: Vec<Name> = state.cells.keys().filter(|it| ***it != *signal::STALE).cloned().collect();
                self.dice.one(&signals).clone()
            }
        };
        if let Some(verb) = signal.strip_prefix("verb ") {
            return Ok(Err(verb.into()));
        }
        let judged = state.gate.as_ref().map(|it| self.digest(run, &it.name));
        let mut outcome = Outcome { judged, ..Outcome::of(signal.clone()) };
        for (name, values) in declared.answers.get(&*signal).map(|it| it.fields.clone()).unwrap_or_default() {
            outcome.fields.insert(name.clone(), self.dice.one(&values).clone());
        }
        Ok(Ok(outcome))
    }
}

/// Whether a machine's loops run a child.
pub fn runs_children(workflow: &Workflow) -> bool {
    workflow.main.states.values().any(|it| matches!(&it.kind, Kind::Each(each) if matches!(each.run, EachRun::Child(_))))
}
