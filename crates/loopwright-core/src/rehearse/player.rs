//! The player: the engine's loop with a made-up world. What is due, what comes back, what follows.

use indexmap::IndexMap;
use serde::Serialize;

use super::coverage::Coverage;
use super::scenario::Start;
use crate::definition::{Kind, State, Table, Workflow};
use crate::machine::{
    Effect, Event, Evidence, Impossible, Observed, Outcome, Report, Run, Started, Want, advance, begin, due,
};
use crate::name::Name;
use crate::signal;

/// Decides what comes back.
pub trait Actor {
    /// How the work of a state comes out. `None` stops the play there.
    fn come_out(&mut self, moment: &Moment<'_>) -> Option<Play>;
    /// Values of facts that are read. A fact left out is reported.
    fn facts(&mut self, moment: &Moment<'_>, facts: &[Name]) -> IndexMap<Name, Name>;
    /// Which of these documents differ from the start of the run.
    fn changed(&mut self, moment: &Moment<'_>, documents: &[Name]) -> Vec<Name>;
    /// What a loop finds.
    fn items(&mut self, moment: &Moment<'_>, list: &str) -> Listing;
    /// The verb a person says to a resting run. `None` leaves it resting.
    fn verb(&mut self, moment: &Moment<'_>, verbs: &[Name]) -> Option<Name>;
    /// Documents a person edits before the run goes on.
    fn edits(&mut self, moment: &Moment<'_>) -> Vec<Name>;
}

/// Where the run stands when something is asked of an actor.
pub struct Moment<'a> {
    /// The workflow.
    pub workflow: &'a Workflow,
    /// The run, or the child run.
    pub run: &'a Run,
    /// The state.
    pub state: &'a State,
}

/// What a loop finds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Listing {
    /// These items.
    Ids(Vec<String>),
    /// Items whose dependencies go in a circle.
    Unordered,
    /// It could not be found out.
    Failed(Name),
}

/// How the work of a state is made to come out.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct Play {
    /// The signal; the best if it is left out.
    pub signal: Option<Name>,
    /// Finite fields that come along.
    pub fields: IndexMap<Name, Name>,
    /// Whether a judge reports what was handed to the last repair.
    pub same_again: Option<bool>,
    /// What its finding is about.
    pub topic: Option<Name>,
    /// Facts that hold from here on.
    pub facts: IndexMap<Name, Name>,
    /// Documents that differ from the start, from here on.
    pub changed: Option<Vec<Name>>,
    /// Documents it wrote; by default all it may, when it gives a verdict.
    pub wrote: Option<Vec<Name>>,
    /// The ids a loop finds.
    pub items: Option<Vec<String>>,
}

/// One state of the walk and how it came out.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct WalkStep {
    /// The state, `child.state` in a child.
    pub state: Name,
    /// The item, in a child.
    pub item: Option<String>,
    /// How it came out; `None` where the walk stopped.
    pub signal: Option<Name>,
    /// Whether an agent was called.
    pub calls: u32,
    /// The budget it spent.
    pub spent: Option<Name>,
    /// Whether a person brought it about.
    pub person: bool,
}

/// Why a play stopped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stop {
    /// The run is over.
    Ended(Name),
    /// It rests, or waits for an answer.
    Waiting(Name),
    /// No route: what `check` calls a hole.
    NoRoute(Name, Name),
    /// A fact was read that has no value.
    NoFact(Name, Name),
    /// A verb that is not taken there.
    VerbRefused(Name),
    /// Something else the machine refused.
    Refused(String),
    /// Too many steps.
    TooLong,
}

/// A play that is over.
#[derive(Clone, Debug)]
pub struct Played {
    /// Why it stopped.
    pub stop: Stop,
    /// The states it went through.
    pub walk: Vec<WalkStep>,
    /// The run as it was left.
    pub run: Run,
    /// Agent calls by role, children included.
    pub calls: IndexMap<Name, u32>,
    /// What was spent, children included.
    pub spent: IndexMap<Name, u32>,
    /// Gates a state needed when it was entered, that were not settled.
    pub unsettled: Vec<(Name, Vec<Name>)>,
    /// The most agent calls between two things a person did.
    pub longest_stretch: u32,
}

/// Plays a workflow.
pub struct Player<'a, A> {
    workflow: &'a Workflow,
    actor: &'a mut A,
    coverage: &'a mut Coverage,
    versions: IndexMap<Name, u64>,
    walk: Vec<WalkStep>,
    calls: IndexMap<Name, u32>,
    spent: IndexMap<Name, u32>,
    unsettled: Vec<(Name, Vec<Name>)>,
    stretch: u32,
    longest_stretch: u32,
    steps_left: u32,
}

/// Plays a workflow from its beginning until it ends, waits, or has gone on for `most` steps.
pub fn play<A: Actor>(
    workflow: &Workflow,
    start: &Start,
    actor: &mut A,
    coverage: &mut Coverage,
    most: u32,
) -> Result<Played, Impossible> {
    let started = Started {
        definition: workflow.digest.clone(),
        subject: "rehearsal".into(),
        vars: start.vars.clone(),
        verb: start.verb.clone(),
        phase: start.phase.clone(),
        ..Started::default()
    };
    let mut player = Player {
        workflow,
        actor,
        coverage,
        versions: IndexMap::new(),
        walk: Vec::new(),
        calls: IndexMap::new(),
        spent: IndexMap::new(),
        unsettled: Vec::new(),
        stretch: 0,
        longest_stretch: 0,
        steps_left: most,
    };
    let started = player.with_once(started);
    let (run, stop) = player.run(&started)?;
    Ok(Played {
        stop,
        run,
        walk: player.walk,
        calls: player.calls,
        spent: player.spent,
        unsettled: player.unsettled,
        longest_stretch: player.longest_stretch.max(player.stretch),
    })
}

impl<A: Actor> Player<'_, A> {
    /// Facts that are read once are read now.
    fn with_once(&mut self, mut started: Started) -> Started {
        let Some(machine) = self.workflow.machine(started.child.as_deref()) else { return started };
        let once: Vec<Name> =
            machine.facts.iter().filter(|(_, it)| it.once).map(|(name, _)| name.clone()).collect();
        if once.is_empty() {
            return started;
        }
        let Ok(run) = begin(self.workflow, &started) else { return started };
        if let Some(state) = run.state(self.workflow) {
            let moment = Moment { workflow: self.workflow, run: &run, state };
            started.facts = self.actor.facts(&moment, &once);
        }
        started
    }

    /// Runs one machine until it stops.
    fn run(&mut self, started: &Started) -> Result<(Run, Stop), Impossible> {
        let workflow = self.workflow;
        let mut run = begin(workflow, started)?;
        let first = run.taken.first().map_or_else(|| run.at.state.clone(), |it| it.state.clone());
        let first = run.machine(workflow).map_or_else(|| first.clone(), |it| it.qualified(&first));
        self.walk.push(WalkStep {
            state: first,
            item: run.item.clone(),
            signal: None,
            calls: 0,
            spent: None,
            person: false,
        });
        let mut here = self.walk.len() - 1;
        if let Some(state) = run.state(workflow) {
            self.moved(&run, state, &mut here);
        }
        loop {
            if run.is_over() {
                let name = run
                    .machine(workflow)
                    .map_or_else(|| run.at.state.clone(), |it| it.qualified(&run.at.state));
                return Ok((run, Stop::Ended(name)));
            }
            if self.steps_left == 0 {
                return Ok((run, Stop::TooLong));
            }
            self.steps_left -= 1;
            let Some(state) = run.state(workflow) else {
                return Ok((run.clone(), Stop::Refused(format!("there is no state `{}`", run.at.state))));
            };
            let edits = self.actor.edits(&Moment { workflow, run: &run, state });
            self.write(&edits);
            let Some(effect) = due(workflow, &run).into_iter().next() else {
                return Ok((run, Stop::Refused("nothing is due".into())));
            };
            let event = match self.perform(&run, state, &effect)? {
                Ok(event) => event,
                Err(stop) => return Ok((run, stop)),
            };
            match advance(workflow, &run, &event) {
                Ok(next) => {
                    self.moved(&next, state, &mut here);
                    run = next;
                }
                Err(Impossible::NoRoute { state, signal }) => {
                    if let Some(step) = self.walk.get_mut(here) {
                        step.signal = Some(signal.clone());
                    }
                    return Ok((run, Stop::NoRoute(state, signal)));
                }
                Err(Impossible::VerbRefused { verb, .. }) => return Ok((run, Stop::VerbRefused(verb))),
                Err(other) => return Ok((run, Stop::Refused(other.to_string()))),
            }
        }
    }

    /// What an effect comes back with.
    fn perform(
        &mut self,
        run: &Run,
        state: &State,
        effect: &Effect,
    ) -> Result<Result<Event, Stop>, Impossible> {
        let workflow = self.workflow;
        let moment = Moment { workflow, run, state };
        let here =
            || run.machine(workflow).map_or_else(|| run.at.state.clone(), |it| it.qualified(&run.at.state));
        let settled = |evidence| Event::Settled { effect: effect.id.clone(), evidence };
        let evidence = match &effect.want {
            Want::Await { verbs } => {
                let Some(verb) = self.actor.verb(&moment, verbs) else {
                    return Ok(Err(Stop::Waiting(here())));
                };
                self.person();
                return Ok(Ok(Event::Said { verb, inputs: IndexMap::new() }));
            }
            Want::Observe { facts, gates, changed } => {
                let seen = self.actor.facts(&moment, facts);
                if let Some(missing) = facts.iter().find(|it| !seen.contains_key(&***it)) {
                    return Ok(Err(Stop::NoFact(here(), missing.clone())));
                }
                let digests = gates.iter().map(|it| (it.clone(), self.digest(run, it))).collect();
                let changed = self.actor.changed(&moment, changed);
                let observed = Observed { facts: seen, digests, changed };
                if matches!(effect.id.part, crate::machine::Part::Needs) {
                    self.look_at_needs(run, state, &observed);
                }
                Evidence::Observed(Box::new(observed))
            }
            Want::List => {
                let Kind::Each(each) = &state.kind else {
                    return Ok(Err(Stop::Refused("not a loop".into())));
                };
                let digest = state.gate.as_ref().map(|it| self.digest(run, &it.name));
                match self.actor.items(&moment, &each.list) {
                    Listing::Ids(ids) => Evidence::Items { ids, ordered: true, digest, changed: Vec::new() },
                    Listing::Unordered => {
                        Evidence::Items { ids: Vec::new(), ordered: false, digest, changed: Vec::new() }
                    }
                    Listing::Failed(failure) => {
                        if signal::waits_for_person(workflow, state, &failure) {
                            self.person();
                        }
                        Evidence::Out(Box::new(Outcome::of(failure)))
                    }
                }
            }
            Want::Child { child, item, vars, outer } => {
                let started = Started {
                    definition: workflow.digest.clone(),
                    child: Some(child.clone()),
                    subject: run.subject.clone(),
                    vars: vars.clone(),
                    item: Some(item.clone()),
                    outer: Some(outer.clone()),
                    ..Started::default()
                };
                let started = self.with_once(started);
                let (ended, stop) = self.run(&started)?;
                if !matches!(stop, Stop::Ended(_)) {
                    return Ok(Err(stop));
                }
                let judged = state.gate.as_ref().map(|it| self.digest(run, &it.name));
                let outcome =
                    Outcome { judged, forced: ended.forced.clone(), ..Outcome::of(ended.at.state.clone()) };
                Evidence::Out(Box::new(outcome))
            }
            Want::Call { .. } | Want::Check | Want::Ask { .. } | Want::Act { .. } => {
                let Some(play) = self.actor.come_out(&moment) else { return Ok(Err(Stop::Waiting(here()))) };
                if play.signal.as_deref().is_some_and(|it| it.starts_with("verb ")) {
                    self.person();
                    let verb =
                        play.signal.as_deref().and_then(|it| it.strip_prefix("verb ")).unwrap_or_default();
                    return Ok(Ok(Event::Said { verb: verb.into(), inputs: IndexMap::new() }));
                }
                Evidence::Out(Box::new(self.outcome(run, state, effect, &play)))
            }
        };
        Ok(Ok(settled(evidence)))
    }

    fn outcome(&mut self, run: &Run, state: &State, effect: &Effect, play: &Play) -> Outcome {
        let best = state.best().cloned().unwrap_or_default();
        let signal = play.signal.clone().unwrap_or(best);
        let failed = signal::is_failure(&signal);
        if let Want::Call { role, .. } = &effect.want {
            *self.calls.entry(role.clone()).or_insert(0) += 1;
            self.stretch += 1;
        }
        if signal::waits_for_person(self.workflow, state, &signal) {
            self.person();
        }
        let may = writes_of(self.workflow, run, state, effect);
        let wrote = play.wrote.clone().unwrap_or_else(|| if failed { Vec::new() } else { may });
        self.write(&wrote);
        let mut fields = play.fields.clone();
        if let Some(declared) = signal::outcomes_of(self.workflow, state).get(&*signal) {
            for (name, values) in &declared.fields {
                if let Some(first) = values.first() {
                    fields.entry(name.clone()).or_insert_with(|| first.clone());
                }
            }
        }
        Outcome {
            findings: if failed { Vec::new() } else { self.findings(run, state, &signal, play) },
            judged: state.gate.as_ref().map(|it| self.digest(run, &it.name)),
            fields,
            signal,
            ..Outcome::default()
        }
    }

    /// Findings that make a judge's outcome mean what the play says.
    fn findings(&self, run: &Run, state: &State, signal: &Name, play: &Play) -> Vec<Report> {
        let Kind::Review { call, .. } = &state.kind else { return Vec::new() };
        let Some(declared) =
            run.pick(&call.role).and_then(|it| self.workflow.roles.get(&**it)?.findings.as_ref())
        else {
            return Vec::new();
        };
        let outcomes = signal::outcomes_of(self.workflow, state);
        if outcomes.get_index_of(&**signal).is_none_or(|it| it == 0) {
            return Vec::new();
        }
        let rank = |verdict: &Name| outcomes.get_index_of(&**verdict).unwrap_or(0);
        // The worst severity that does not raise the verdict beyond what the play says, blocking if one does.
        let raising = declared
            .at_least
            .iter()
            .filter(|(_, verdict)| rank(verdict) <= rank(signal) && rank(verdict) > 0);
        let severity = raising.map(|(severity, _)| severity.clone()).next_back();
        let severity = severity.or_else(|| declared.severity.first().cloned()).unwrap_or_default();
        let gate = state.gate.as_ref().map_or(&state.name, |it| &it.name);
        let judge = run.ledger.judges.get(&**gate);
        let handed = judge.and_then(|it| it.handed.first().cloned());
        let topic = play.topic.clone().or_else(|| declared.topic.first().cloned());
        let repeated = play.same_again.unwrap_or(false).then_some(handed).flatten();
        let round = judge.map_or(1, |it| it.rounds + 1);
        vec![Report {
            id: repeated,
            severity,
            topic,
            file: String::new(),
            subject: format!("{gate} round {round}"),
            text: "made up for the rehearsal".into(),
        }]
    }

    fn look_at_needs(&mut self, run: &Run, state: &State, seen: &Observed) {
        let needs = run.pick(&state.needs).cloned().unwrap_or_default();
        let unsettled: Vec<Name> = needs
            .into_iter()
            .filter(|gate| {
                run.gates
                    .get(&**gate)
                    .is_none_or(|it| !it.digest.is_empty() && seen.digests.get(&**gate) != Some(&it.digest))
            })
            .collect();
        if !unsettled.is_empty() {
            self.unsettled.push((run.at.state.clone(), unsettled));
        }
    }

    /// A hash of what a gate judges, in the made-up world.
    fn digest(&self, run: &Run, gate: &str) -> String {
        let Some(machine) = run.machine(self.workflow) else { return String::new() };
        let judges = machine
            .gates
            .get(gate)
            .into_iter()
            .flatten()
            .filter_map(|it| machine.states.get(&**it)?.gate.as_ref());
        let mut parts: Vec<String> = Vec::new();
        for gate in judges {
            for document in run.pick(&gate.judges).into_iter().flatten() {
                for leaf in self.workflow.leaves(document) {
                    parts.push(format!("{leaf}={}", self.versions.get(&*leaf).copied().unwrap_or(0)));
                }
            }
        }
        parts.sort();
        parts.dedup();
        format!("[{}]", parts.join(","))
    }

    /// Documents were written: they, and whatever shares files with them, are no longer what they were.
    fn write(&mut self, documents: &[Name]) {
        let mut touched: Vec<Name> = Vec::new();
        for document in documents {
            for leaf in self.workflow.documents.keys() {
                let own = self.workflow.leaves(leaf) == [leaf.clone()];
                if own && self.workflow.documents_overlap(document, leaf) {
                    touched.push(leaf.clone());
                }
            }
        }
        touched.sort();
        touched.dedup();
        for leaf in touched {
            *self.versions.entry(leaf).or_insert(0) += 1;
        }
    }

    fn person(&mut self) {
        self.longest_stretch = self.longest_stretch.max(self.stretch);
        self.stretch = 0;
    }

    /// Notes what an event did. `here` is the run's own last step of the walk; children's steps come after it.
    fn moved(&mut self, after: &Run, state: &State, here: &mut usize) {
        let machine = after.machine(self.workflow);
        for (at, taken) in after.taken.iter().enumerate() {
            self.coverage.take(after.child.as_deref(), &taken.arm);
            if let Some(budget) = &taken.spent {
                *self.spent.entry(budget.clone()).or_insert(0) += 1;
            }
            if let Some(step) = self.walk.get_mut(*here) {
                step.signal = Some(taken.signal.clone());
                step.spent.clone_from(&taken.spent);
                step.person = at == 0 && signal::waits_for_person(self.workflow, state, &taken.signal);
            }
            let state = machine.map_or_else(|| taken.to.clone(), |it| it.qualified(&taken.to));
            self.walk.push(WalkStep {
                state,
                item: after.item.clone(),
                signal: None,
                calls: 0,
                spent: None,
                person: false,
            });
            *here = self.walk.len() - 1;
        }
    }
}

/// Documents a state may change.
fn writes_of(workflow: &Workflow, run: &Run, state: &State, effect: &Effect) -> Vec<Name> {
    match (&state.kind, &effect.want) {
        (Kind::Do { actions, .. }, Want::Act { index }) => match actions.get(*index).map(|it| &it.writes) {
            Some(Some(documents)) => documents.clone(),
            Some(None) => workflow.documents.keys().cloned().collect(),
            None => Vec::new(),
        },
        (Kind::Agent(call) | Kind::Review { call, .. }, _) => call_writes(workflow, run, call),
        (Kind::Each(_), Want::Call { .. }) => {
            state.call().map(|it| call_writes(workflow, run, it)).unwrap_or_default()
        }
        _ => Vec::new(),
    }
}

fn call_writes(workflow: &Workflow, run: &Run, call: &crate::definition::Call) -> Vec<Name> {
    let role = run.pick(&call.role).and_then(|it| workflow.roles.get(&**it));
    let narrowed: Option<&Table<Vec<Name>>> =
        call.may_write.as_ref().or_else(|| role.map(|it| &it.may_write));
    narrowed.and_then(|it| run.pick(it)).cloned().unwrap_or_default()
}
