//! What comes back: everything a real engine could see, chosen at random.

use indexmap::IndexMap;
use loopwright_core::definition::{Each, EachRun, Kind, Machine, State, Unattended};
use loopwright_core::machine::{
    Cost, Effect, Event, Evidence, Listed, Observed, Outcome, Part, Report, Run, Stage, Started, Want,
};
use loopwright_core::name::Name;
use loopwright_core::signal;

use crate::seen::Stop;
use crate::world::{Frame, MOST_ITEMS, People, World, out};

impl World<'_> {
    /// What an effect comes back with.
    pub(crate) fn perform(
        &mut self,
        machine: &Machine,
        run: &Run,
        state: &State,
        effect: &Effect,
        frame: &mut Frame,
    ) -> Result<Event, Stop> {
        let settled = |evidence| Event::Settled { effect: effect.id.clone(), evidence };
        match &effect.want {
            Want::Await { verbs } => self.verb(run, verbs),
            Want::Observe { facts, gates, changed } => {
                if effect.id.part == Part::Needs && self.people != People::Quiet {
                    self.edit(40);
                }
                let mut observed = Observed::default();
                for name in facts {
                    let value = self.fact(run, frame, name);
                    let value = value.ok_or_else(|| Stop::Refused(format!("no fact `{name}`")))?;
                    observed.facts.insert(name.clone(), value);
                }
                for gate in gates {
                    observed.digests.insert(gate.clone(), self.digest(run, gate));
                }
                observed.changed = self.dice.some(changed, 50);
                self.note(|| format!("  looks: {:?} changed {:?}", observed.facts, observed.changed));
                Ok(settled(Evidence::Observed(Box::new(observed))))
            }
            // What is offered beside a judge leads nowhere.
            Want::Ahead { .. } => Err(Stop::Refused("it is not its turn".into())),
            Want::List => match &state.kind {
                Kind::Each(each) => Ok(settled(self.list(run, state, each))),
                _ => Err(Stop::Refused("not a loop".into())),
            },
            Want::Child { child, item, vars, outer } => {
                if self.faults > 0 && self.dice.yes(4) {
                    let failure = *self.dice.one(signal::EACH_FAILURES);
                    self.person_acts();
                    return Ok(settled(out(Outcome::of(failure))));
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
                let (forced, recorded) = (ended.forced.clone(), ended.lists.clone());
                Ok(settled(out(Outcome { judged, forced, recorded, ..Outcome::of(end) })))
            }
            Want::Call { role, advice, .. } => {
                let timeout = state.call().and_then(|it| it.timeout);
                for name in std::iter::once(role).chain(advice) {
                    self.charge(name, timeout);
                }
                self.given(machine, run, state, role);
                if matches!(effect.id.part, Part::Item(_)) {
                    frame.ran_items = true;
                }
                Ok(settled(out(self.call(run, state, effect, role))))
            }
            Want::Check | Want::Act { .. } => {
                if let Kind::Check(check) = &state.kind {
                    self.bill.time += check.timeout;
                }
                let signal = self.signal(state, effect);
                self.works(run, state, effect);
                let judged = state.gate.as_ref().map(|it| self.digest(run, &it.name));
                Ok(settled(out(Outcome { judged, ..Outcome::of(signal) })))
            }
            Want::Ask { question, .. } => self.ask(run, state, question).map(|it| match it {
                Ok(outcome) => settled(out(outcome)),
                Err(verb) => {
                    let judged = state.gate.as_ref().map(|it| self.digest(run, &it.name));
                    Event::Said { verb, inputs: IndexMap::new(), judged }
                }
            }),
        }
    }

    /// A call takes as much as it may.
    fn charge(&mut self, role: &Name, timeout: Option<u64>) {
        self.seen.calls += 1;
        self.bill.calls += 1;
        *self.bill.calls_of.entry(role.clone()).or_insert(0) += 1;
        if let Some(declared) = self.workflow.roles.get(&**role) {
            self.bill.time += timeout.unwrap_or(declared.timeout);
            self.bill.money += declared.costs.unwrap_or(0);
            self.bill.tokens += declared.tokens.unwrap_or(0);
        }
    }

    fn verb(&mut self, run: &Run, verbs: &[Name]) -> Result<Event, Stop> {
        if self.patience == 0 || verbs.is_empty() {
            return Err(Stop::Waiting);
        }
        self.patience -= 1;
        self.person_acts();
        if self.people == People::EditAtRest {
            self.edit(30);
            let phases: Vec<Name> = self.workflow.phases.keys().cloned().collect();
            if run.child.is_none() && !phases.is_empty() && self.dice.yes(25) {
                let phase = self.dice.one(&phases).clone();
                self.imported = true;
                self.taken_over = true;
                self.awaited.clear();
                self.stretch_over();
                self.note(|| format!("lands at {phase}"));
                let digests = self.vouched(&phase, &|name| run.value_of(name));
                return Ok(Event::Landed { phase, digests, vars: IndexMap::new() });
            }
        }
        let verb = self.dice.one(verbs).clone();
        if run.at.stage == Stage::Paused {
            self.note(|| "resume".into());
            self.stretch_over();
        }
        let state = run.machine(self.workflow).and_then(|it| it.states.get(&*run.at.state));
        let judged = state.and_then(|it| it.gate.as_ref()).map(|it| self.digest(run, &it.name));
        Ok(Event::Said { verb, inputs: IndexMap::new(), judged })
    }

    /// What a call is given for sure is there.
    fn given(&mut self, machine: &Machine, run: &Run, state: &State, role: &Name) {
        let Some(call) = state.call() else { return };
        let mut given = run.pick(&call.given).cloned().unwrap_or_default();
        let of_role = self.workflow.roles.get(&**role).and_then(|it| run.pick(&it.given));
        given.extend(of_role.cloned().unwrap_or_default());
        for given in given.iter().filter(|it| !it.maybe) {
            let Some(name) = given.name.strip_prefix("last.") else { continue };
            let name = name.split('.').next().unwrap_or_default();
            let known = if machine.states.contains_key(name) {
                run.last.contains_key(name)
            } else {
                run.outer.as_ref().is_some_and(|it| it.last.contains_key(name))
            };
            if !known {
                self.seen.missing.insert((machine.qualified(&state.name), format!("last.{name}")));
            }
        }
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
        let Some(role) = run.pick(&call.role).and_then(|it| self.workflow.roles.get(&**it)) else {
            return Vec::new();
        };
        run.pick(call.may_write.as_ref().unwrap_or(&role.may_write)).cloned().unwrap_or_default()
    }

    /// Some of what it may write is written.
    fn works(&mut self, run: &Run, state: &State, effect: &Effect) {
        let may = self.may_write(run, state, effect);
        let percent = *self.dice.one(&[0, 50, 100]);
        let wrote = self.dice.some(&may, percent);
        if !wrote.is_empty() {
            self.note(|| format!("  {} wrote {wrote:?}", state.name));
        }
        self.write(&wrote);
        if let (Kind::Do { actions, .. }, Want::Act { index }) = (&state.kind, &effect.want)
            && let Some(action) = actions.get(*index)
        {
            self.set(run, &action.sets);
        }
    }

    fn failure(&mut self, state: &State) -> Option<Name> {
        let failures =
            state.cells.keys().filter(|it| signal::is_failure(it) && ***it != *signal::OVER_BUDGET);
        let failures: Vec<Name> = failures.cloned().collect();
        let fails = !failures.is_empty() && self.dice.below(100) < self.faults;
        let failure = fails.then(|| self.dice.one(&failures).clone());
        // Whoever cancels a call acts before anything is looked at.
        if failure.as_ref().is_some_and(|it| signal::waits_for_person(self.workflow, state, it)) {
            self.person_acts();
        }
        failure
    }

    fn signal(&mut self, state: &State, effect: &Effect) -> Name {
        if let Some(failure) = self.failure(state) {
            return failure;
        }
        if matches!(effect.want, Want::Act { .. }) {
            return "done".into();
        }
        let well = state.cells.keys().filter(|it| !signal::is_failure(it) && ***it != *signal::STALE);
        self.dice.one(&well.cloned().collect::<Vec<_>>()).clone()
    }

    fn list(&mut self, run: &Run, state: &State, each: &Each) -> Evidence {
        if self.faults > 0 && self.dice.yes(5) {
            let failure = *self.dice.one(signal::EACH_FAILURES);
            self.person_acts();
            return out(Outcome::of(failure));
        }
        let digest = state.gate.as_ref().map(|it| self.digest(run, &it.name));
        let ordered = !(each.by_dependency && self.dice.yes(10));
        let most = each.at_most.map_or(MOST_ITEMS, u64::from).min(MOST_ITEMS);
        let count = self.dice.roll() % (most + 1);
        let ids: Vec<String> = (1..=count).map(|it| it.to_string()).collect();
        let changed = self.dice.some(&ids, 15);
        Evidence::Items(Box::new(Listed { ids, ordered, digest, changed, ..Listed::default() }))
    }

    /// A call comes back: for a judge, a verdict and findings as it would report them.
    fn call(&mut self, run: &Run, state: &State, effect: &Effect, role: &Name) -> Outcome {
        self.works(run, state, effect);
        let declared = self.workflow.roles.get(&**role);
        let money = declared.and_then(|it| it.costs).unwrap_or(0);
        let money = self.dice.roll() % (money + 1);
        let cost = Cost { time: 1, money, tokens: 1, ..Cost::default() };
        let judged = state.gate.as_ref().map(|it| self.digest(run, &it.name));
        let back = Outcome { judged, cost, ..Outcome::default() };
        if let Some(failure) = self.failure(state) {
            return Outcome { signal: failure, ..back };
        }
        if matches!(state.kind, Kind::Each(Each { run: EachRun::Call(_), .. })) {
            return Outcome { signal: "done".into(), ..back };
        }
        let own = state.call().and_then(|it| it.verdicts.clone());
        let verdicts = own.or_else(|| declared.map(|it| it.verdicts.clone())).unwrap_or_default();
        if declared.is_some_and(|it| it.asks) && self.dice.yes(15) {
            return Outcome { signal: signal::ASK.into(), ..back };
        }
        let Some((verdict, fields)) = verdicts.get_index(self.dice.below(verdicts.len())) else {
            return Outcome { signal: "done".into(), ..back };
        };
        let mut outcome = Outcome { signal: verdict.clone(), ..back };
        // A judge that says what comes with a worse verdict, in case its findings make it one, or does not.
        let worse = if self.dice.yes(50) { verdicts.values().collect() } else { vec![fields] };
        for (name, values) in worse.into_iter().flat_map(|it| &it.fields) {
            outcome.fields.insert(name.clone(), self.dice.one(values).clone());
        }
        let reports = declared.and_then(|it| it.findings.as_ref());
        if let Some(findings) = reports.filter(|_| matches!(state.kind, Kind::Review { .. })) {
            let gate = state.gate.as_ref().map_or(&state.name, |it| &it.name);
            let known = run.ledger.findings.iter().filter(|(_, it)| it.gate == *gate);
            let known: Vec<String> = known.map(|(id, _)| id.clone()).collect();
            let best = verdicts.get_index_of(&*outcome.signal) == Some(0);
            let count = if best { self.dice.below(2) } else { 1 + self.dice.below(2) };
            for _ in 0..count {
                let repeats = !known.is_empty() && self.dice.yes(50);
                outcome.findings.push(Report {
                    id: repeats.then(|| self.dice.one(&known).clone()),
                    severity: self.dice.one(&findings.severity).clone(),
                    topic: (!findings.topic.is_empty()).then(|| self.dice.one(&findings.topic).clone()),
                    file: String::new(),
                    subject: format!("subject {}", self.dice.below(50)),
                    text: "a remark".into(),
                    ..Report::default()
                });
            }
        }
        outcome
    }

    /// An answer, or a verb.
    fn ask(&mut self, run: &Run, state: &State, question: &Name) -> Result<Result<Outcome, Name>, Stop> {
        let Some(declared) = self.workflow.questions.get(&**question) else {
            return Err(Stop::Refused("no question".into()));
        };
        let nobody = match &declared.unattended {
            Unattended::As(answer) if self.patience == 0 || self.dice.yes(30) => Some(answer.clone()),
            Unattended::Wait if self.patience == 0 => return Err(Stop::Waiting),
            _ => None,
        };
        let signal = if let Some(answer) = nobody {
            answer
        } else {
            self.patience -= 1;
            self.person_acts();
            if self.people == People::EditAtRest {
                self.edit(30);
            }
            let signals = state.cells.keys().filter(|it| ***it != *signal::STALE);
            self.dice.one(&signals.cloned().collect::<Vec<_>>()).clone()
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
