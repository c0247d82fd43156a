//! The player: the engine's loop with a made-up world. What is due, what comes back, what follows.

use indexmap::IndexMap;

use super::actor::{Actor, Listing, Moment};
use super::coverage::Coverage;
use super::played::{Played, Stop, WalkStep};
use super::scenario::Start;
use crate::definition::{Kind, State, Workflow};
use crate::machine::{
    Effect, EffectId, Event, Evidence, Impossible, Listed, Observed, Outcome, Part, Run, Stage, Started,
    Want, advance, before, begin, due,
};
use crate::name::Name;
use crate::signal;

/// Plays a workflow.
pub struct Player<'a, A> {
    pub(super) workflow: &'a Workflow,
    actor: &'a mut A,
    coverage: &'a mut Coverage,
    pub(super) versions: IndexMap<Name, u64>,
    pub(super) shares: &'a mut Shares,
    walk: Vec<WalkStep>,
    pub(super) calls: IndexMap<Name, u32>,
    spent: IndexMap<Name, u32>,
    unsettled: Vec<(Name, Vec<Name>)>,
    pub(super) untrue: Vec<String>,
    pub(super) stretch: u32,
    longest_stretch: u32,
    steps_left: u32,
}

/// Which documents share files, as far as it was asked. Finding out takes longer than a play does.
pub(crate) type Shares = IndexMap<Name, Vec<Name>>;

/// Plays a workflow from its beginning until it ends, waits, or has gone on for `most` steps.
pub fn play<A: Actor>(
    workflow: &Workflow,
    start: &Start,
    actor: &mut A,
    coverage: &mut Coverage,
    most: u32,
) -> Result<Played, Impossible> {
    play_on(workflow, start, actor, coverage, most, &mut Shares::new())
}

/// The same, where it is known already which documents share files.
pub(super) fn play_on<A: Actor>(
    workflow: &Workflow,
    start: &Start,
    actor: &mut A,
    coverage: &mut Coverage,
    most: u32,
    shares: &mut Shares,
) -> Result<Played, Impossible> {
    let mut player = Player {
        workflow,
        actor,
        coverage,
        versions: IndexMap::new(),
        shares,
        walk: Vec::new(),
        calls: IndexMap::new(),
        spent: IndexMap::new(),
        unsettled: Vec::new(),
        untrue: Vec::new(),
        stretch: 0,
        longest_stretch: 0,
        steps_left: most,
    };
    let started = Started {
        definition: workflow.digest.clone(),
        subject: "rehearsal".into(),
        vars: start.vars.clone(),
        verb: start.verb.clone(),
        phase: start.phase.clone(),
        done: start.done.clone(),
        ..Started::default()
    };
    let started = player.with_once(started);
    let started = player.vouched(started);
    let (run, stop) = player.run(&started)?;
    Ok(Played {
        stop,
        run,
        walk: player.walk,
        calls: player.calls,
        spent: player.spent,
        unsettled: player.unsettled,
        untrue: player.untrue,
        longest_stretch: player.longest_stretch.max(player.stretch),
    })
}

impl<A: Actor> Player<'_, A> {
    /// Facts that are read once are read now.
    fn with_once(&mut self, mut started: Started) -> Started {
        let workflow = self.workflow;
        let Some(machine) = workflow.machine(started.child.as_deref()) else { return started };
        let once: Vec<Name> =
            machine.facts.iter().filter(|(_, it)| it.once).map(|(name, _)| name.clone()).collect();
        let Some(state) = machine.states.values().next().filter(|_| !once.is_empty()) else { return started };
        let Ok(run) = before(workflow, &started) else { return started };
        started.facts = self.actor.facts(&Moment { workflow, run: &run, state }, &once);
        started
    }

    /// What an import vouches for is as it is now.
    fn vouched(&self, mut started: Started) -> Started {
        let row = started.phase.as_ref().and_then(|it| self.workflow.phases.get(&**it));
        if let (Some(row), Ok(run)) = (row, before(self.workflow, &started)) {
            started.digests = row.settles.iter().map(|it| (it.clone(), self.digest(&run, it))).collect();
        }
        started
    }

    /// Runs one machine until it stops.
    fn run(&mut self, started: &Started) -> Result<(Run, Stop), Impossible> {
        let workflow = self.workflow;
        let nowhere = before(workflow, started)?;
        let mut here = self.walk.len();
        let begun = begin(workflow, started);
        let stands = match &begun {
            Ok(run) => run,
            Err(error) => stuck(error).unwrap_or(&nowhere),
        };
        let first = stands.taken.first().map_or_else(|| stands.at.state.clone(), |it| it.state.clone());
        self.stand(&nowhere, &first);
        self.moved(&nowhere, stands, None, &mut here);
        let mut run = match begun {
            Ok(run) => run,
            Err(error) => return self.stopped(nowhere, error, here),
        };
        loop {
            if run.is_over() {
                let name = self.qualified(&run);
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
            let event = match self.perform(&run, state, &effect, here)? {
                Ok(event) => event,
                Err(stop) => return Ok((run, stop)),
            };
            match advance(workflow, &run, &event) {
                Ok(next) => {
                    self.moved(&run, &next, Some(&event), &mut here);
                    run = next;
                }
                Err(error) => {
                    if let Some(stuck) = stuck(&error) {
                        self.moved(&run, stuck, Some(&event), &mut here);
                    }
                    return self.stopped(run, error, here);
                }
            }
        }
    }

    /// What the machine says it cannot do, as the end of a play.
    fn stopped(&mut self, run: Run, error: Impossible, here: usize) -> Result<(Run, Stop), Impossible> {
        match error {
            Impossible::NoRoute { state, signal, run: stuck } => {
                if let Some(step) = self.walk.get_mut(here) {
                    step.signal = Some(signal.clone());
                }
                self.unasked(&stuck, &state, &signal);
                Ok((*stuck, Stop::NoRoute(state, signal)))
            }
            Impossible::Circle { run: stuck, .. } => Ok((*stuck, Stop::TooLong)),
            Impossible::VerbRefused { verb, .. } => Ok((run, Stop::VerbRefused(verb))),
            // A run that never began has nothing to show.
            other if run.at.visit == 0 => Err(other),
            other => Ok((run, Stop::Refused(other.to_string()))),
        }
    }

    pub(super) fn qualified(&self, run: &Run) -> Name {
        run.machine(self.workflow).map_or_else(|| run.at.state.clone(), |it| it.qualified(&run.at.state))
    }

    /// What an effect comes back with.
    fn perform(
        &mut self,
        run: &Run,
        state: &State,
        effect: &Effect,
        here: usize,
    ) -> Result<Result<Event, Stop>, Impossible> {
        let workflow = self.workflow;
        let moment = Moment { workflow, run, state };
        let name = self.qualified(run);
        let settled = |evidence| Event::Settled { effect: effect.id.clone(), evidence };
        let evidence = match &effect.want {
            Want::Await { verbs } => {
                let Some(verb) = self.actor.verb(&moment, verbs) else {
                    return Ok(Err(Stop::Waiting(name)));
                };
                self.meanwhile();
                self.person();
                return Ok(Ok(self.said(run, state, verb)));
            }
            Want::Observe { facts, gates, changed } => {
                let seen = self.actor.facts(&moment, facts);
                if let Some(missing) = facts.iter().find(|it| !seen.contains_key(&***it)) {
                    return Ok(Err(Stop::NoFact(name, missing.clone())));
                }
                let digests = gates.iter().map(|it| (it.clone(), self.digest(run, it))).collect();
                let changed = self.actor.changed(&moment, changed);
                Evidence::Observed(Box::new(Observed { facts: seen, digests, changed }))
            }
            // What is said ahead leads nowhere, and here everybody takes their turn.
            Want::Ahead { .. } => return Ok(Err(Stop::Refused("it is not its turn".into()))),
            Want::List => {
                let Kind::Each(each) = &state.kind else {
                    return Ok(Err(Stop::Refused("not a loop".into())));
                };
                let digest = state.gate.as_ref().map(|it| self.digest(run, &it.name));
                let Some(listing) = self.actor.items(&moment, &each.list) else {
                    return Ok(Err(Stop::Waiting(name)));
                };
                match listing {
                    Listing::Ids(ids) => items(ids, true, digest),
                    Listing::Unordered => items(Vec::new(), false, digest),
                    Listing::TooMany => {
                        let ids = (0..=each.at_most.unwrap_or(0)).map(|it| (it + 1).to_string()).collect();
                        items(ids, true, digest)
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
                if let Some(play) = self.actor.lost(&moment) {
                    let outcome = self.outcome(run, state, effect, &play);
                    return Ok(Ok(settled(Evidence::Out(Box::new(outcome)))));
                }
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
                let wrote = self.actor.wrote_inside(&moment);
                self.write(&wrote);
                let judged = state.gate.as_ref().map(|it| self.digest(run, &it.name));
                let outcome = Outcome {
                    judged,
                    forced: ended.forced.clone(),
                    recorded: ended.lists.clone(),
                    ..Outcome::of(ended.at.state.clone())
                };
                Evidence::Out(Box::new(outcome))
            }
            Want::Call { .. } | Want::Check | Want::Ask { .. } | Want::Act { .. } => {
                let Some(play) = self.actor.come_out(&moment) else { return Ok(Err(Stop::Waiting(name))) };
                self.meanwhile();
                if play.signal.as_deref().is_some_and(|it| it.starts_with("verb ")) {
                    self.person();
                    let verb =
                        play.signal.as_deref().and_then(|it| it.strip_prefix("verb ")).unwrap_or_default();
                    return Ok(Ok(self.said(run, state, verb.into())));
                }
                if let (Want::Call { advice, .. }, Some(step)) = (&effect.want, self.walk.get_mut(here)) {
                    step.calls += 1 + u32::try_from(advice.len()).unwrap_or(u32::MAX);
                }
                let evidence = Evidence::Out(Box::new(self.outcome(run, state, effect, &play)));
                if matches!(effect.want, Want::Ask { .. }) {
                    // A step says how the question comes out, however many findings it is asked about.
                    let effect = EffectId { part: Part::Work, ..effect.id.clone() };
                    return Ok(Ok(Event::Settled { effect, evidence }));
                }
                evidence
            }
        };
        Ok(Ok(settled(evidence)))
    }

    fn said(&self, run: &Run, state: &State, verb: Name) -> Event {
        let judged = state.gate.as_ref().map(|it| self.digest(run, &it.name));
        Event::Said { verb, inputs: IndexMap::new(), judged }
    }

    /// What somebody edited before they answered.
    fn meanwhile(&mut self) {
        let edited = self.actor.edited();
        self.write(&edited);
    }

    pub(super) fn person(&mut self) {
        self.longest_stretch = self.longest_stretch.max(self.stretch);
        self.stretch = 0;
    }

    /// A state is entered.
    fn stand(&mut self, run: &Run, state: &Name) {
        let state = run.machine(self.workflow).map_or_else(|| state.clone(), |it| it.qualified(state));
        let item = run.item.clone();
        self.walk.push(WalkStep { state, item, signal: None, calls: 0, spent: None, person: false });
    }

    /// Tells the actor that a state came out without being asked, if it did.
    fn unasked(&mut self, run: &Run, state: &Name, signal: &Name) {
        let state = run.machine(self.workflow).and_then(|it| it.states.get(&**state));
        if let Some(state) = state.filter(|it| comes_by_itself(it, signal)) {
            self.actor.passed(run.child.as_ref(), state, signal);
        }
    }

    /// Notes what an event did. `here` is the run's own last step of the walk; children's steps come after it.
    fn moved(&mut self, run: &Run, after: &Run, event: Option<&Event>, here: &mut usize) {
        let workflow = self.workflow;
        let machine = run.machine(workflow);
        self.look_at_needs(event, after);
        for taken in &after.taken {
            self.coverage.take(run.child.as_deref(), &taken.arm);
            if let Some(budget) = &taken.spent {
                *self.spent.entry(budget.clone()).or_insert(0) += 1;
            }
            self.unasked(run, &taken.state, &taken.signal);
            let state = machine.and_then(|it| it.states.get(&*taken.state));
            if let Some(step) = self.walk.get_mut(*here) {
                step.signal = Some(taken.signal.clone());
                step.spent.clone_from(&taken.spent);
                step.person = state.is_some_and(|it| signal::waits_for_person(workflow, it, &taken.signal));
            }
            self.stand(run, &taken.to);
            *here = self.walk.len() - 1;
        }
    }

    /// Notes which gates were not settled where states needed them.
    fn look_at_needs(&mut self, event: Option<&Event>, after: &Run) {
        let machine = after.machine(self.workflow);
        let led = after.taken.iter().filter(|it| it.signal == signal::STALE).map(|it| &it.state);
        let here = is_stale(after).then_some(&after.at.state);
        for here in led.chain(here).filter_map(|it| machine?.states.get(&**it)) {
            let seen = match event {
                Some(Event::Settled { effect, evidence: Evidence::Observed(seen) })
                    if effect.state == here.name =>
                {
                    Some(seen)
                }
                _ => None,
            };
            let changed = |gate: &Name, judged: &String| {
                seen.and_then(|it| it.digests.get(&**gate)).is_some_and(|now| now != judged)
            };
            let unsettled = |gate: &&Name| {
                let record = after.gates.get(&***gate);
                record.is_none_or(|it| !it.digest.is_empty() && changed(gate, &it.digest))
            };
            let gates = after.pick(&here.needs).into_iter().flatten().filter(unsettled).cloned().collect();
            self.unsettled.push((here.name.clone(), gates));
        }
    }
}

/// The run as it stands where there is no way on.
fn stuck(error: &Impossible) -> Option<&Run> {
    match error {
        Impossible::NoRoute { run, .. } | Impossible::Circle { run, .. } => Some(run),
        _ => None,
    }
}

/// Whether the state a run stands in came out stale.
fn is_stale(run: &Run) -> bool {
    matches!(&run.at.stage, Stage::Deciding { outcome, .. } if outcome.signal == signal::STALE)
}

/// Whether a state comes out with a signal without anything being asked.
fn comes_by_itself(state: &State, signal: &str) -> bool {
    match &state.kind {
        _ if signal == signal::STALE || signal == signal::OVER_BUDGET => true,
        Kind::Choose | Kind::Settle { .. } => true,
        _ => false,
    }
}

fn items(ids: Vec<String>, ordered: bool, digest: Option<String>) -> Evidence {
    Evidence::Items(Box::new(Listed { ids, ordered, digest, ..Listed::default() }))
}
