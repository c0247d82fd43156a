//! The world's books: documents, what was judged as it is, what happened before what.

use std::collections::BTreeMap;

use indexmap::IndexMap;
use loopwright_core::definition::{
    Arm, Claim, Condition, EachRun, Happened, Kind, Machine, Phase, State, Target, Term,
};
use loopwright_core::machine::{Run, Taken};
use loopwright_core::name::Name;
use loopwright_core::signal;

use crate::world::{Frame, People, World};

impl World<'_> {
    /// Documents are written: they, and whatever shares files with them, are no longer what they were.
    pub(crate) fn write(&mut self, documents: &[Name]) {
        self.clock += 1;
        for leaf in documents.iter().flat_map(|it| &self.shares[it]) {
            *self.versions.entry(leaf.clone()).or_insert(0) += 1;
            self.touched_at.insert(leaf.clone(), self.clock);
        }
        if !documents.is_empty() {
            self.git_at = self.clock;
        }
    }

    /// Fields are set: facts over these documents may be otherwise, and no gate judges that.
    pub(crate) fn set(&mut self, run: &Run, documents: &[Name]) {
        self.clock += 1;
        let mut set: Vec<Name> = documents.iter().filter(|it| ***it != *"item").cloned().collect();
        if set.len() < documents.len() {
            set.extend(self.lists_of(run.child.as_ref()));
        }
        for leaf in set.iter().flat_map(|it| &self.shares[it]) {
            self.touched_at.insert(leaf.clone(), self.clock);
        }
    }

    /// The documents a child's items come from.
    fn lists_of(&self, child: Option<&Name>) -> Vec<Name> {
        let loops = self.workflow.main.states.values().filter_map(|it| match &it.kind {
            Kind::Each(each) => Some(each),
            _ => None,
        });
        let loops = loops.filter(|it| matches!(&it.run, EachRun::Child(name) if Some(name) == child));
        let named = loops.filter_map(|it| it.list.strip_prefix("docs.")?.split('.').next());
        named.map(Name::from).collect()
    }

    /// Somebody outside the run edits documents.
    pub(crate) fn edit(&mut self, percent: usize) {
        if self.edits == 0 || !self.dice.yes(percent) {
            return;
        }
        self.edits -= 1;
        let all: Vec<Name> = self.workflow.documents.keys().cloned().collect();
        let edited = self.dice.some(&all, 40);
        self.note(|| format!("somebody edits {edited:?}"));
        self.write(&edited);
        self.person_acts();
    }

    pub(crate) fn person_acts(&mut self) {
        self.clock += 1;
        self.person_at = self.clock;
    }

    /// What a gate judges at present: leaf to version.
    pub(crate) fn judged(
        &self,
        machine: &Machine,
        lookup: &dyn Fn(&Name) -> Option<Name>,
        gate: &str,
    ) -> BTreeMap<Name, u64> {
        let judges = machine.gates.get(gate).into_iter().flatten();
        let declared = judges.filter_map(|it| machine.states.get(&**it)?.gate.as_ref());
        let documents = declared.flat_map(|it| it.judges.get(lookup).into_iter().flatten());
        let leaves = documents.flat_map(|it| self.workflow.leaves(it));
        leaves
            .map(|leaf| {
                let version = self.versions.get(&leaf).copied().unwrap_or(0);
                (leaf, version)
            })
            .collect()
    }

    pub(crate) fn digest(&self, run: &Run, gate: &str) -> String {
        let Some(machine) = run.machine(self.workflow) else { return String::new() };
        format!("{:?}", self.judged(machine, &|name| run.value_of(name), gate))
    }

    /// What a landing vouches for, as it is now.
    pub(crate) fn vouched(
        &self,
        phase: &Name,
        lookup: &dyn Fn(&Name) -> Option<Name>,
    ) -> IndexMap<Name, String> {
        let machine = &self.workflow.main;
        let gates = self.workflow.phases.get(&**phase).into_iter().flat_map(|it| &it.settles);
        gates.map(|it| (it.clone(), format!("{:?}", self.judged(machine, lookup, it)))).collect()
    }

    /// A run is taken over: what a landing vouches for counts as judged, and nothing else does.
    pub(crate) fn lands(&self, machine: &Machine, run: &Run, phase: &Phase, frame: &mut Frame) {
        frame.truth.clear();
        frame.passed.clear();
        for gate in &phase.settles {
            let judged = self.judged(machine, &|name| run.value_of(name), gate);
            frame.truth.insert(gate.clone(), judged);
        }
    }

    /// The value of a fact. It stays what it was unless something it reads may have changed.
    pub(crate) fn fact(&mut self, run: &Run, frame: &mut Frame, name: &Name) -> Option<Name> {
        if let Some(value) = run.once.get(&**name) {
            return Some(value.clone());
        }
        let machine = run.machine(self.workflow)?;
        let own = machine.facts.get(&**name);
        let fact = own.or_else(|| self.workflow.main.facts.get(&**name))?;
        if let Some((value, at)) = frame.facts.get(name).filter(|_| own.is_some()).cloned()
            && !fact.reads.iter().any(|it| self.may_have_changed(machine, frame, it, at))
        {
            return Some(value);
        }
        let value = self.dice.one(&fact.values).clone();
        frame.facts.insert(name.clone(), (value.clone(), self.clock));
        Some(value)
    }

    fn may_have_changed(&self, machine: &Machine, frame: &Frame, path: &str, at: u64) -> bool {
        let outside = self.people != People::Quiet && self.person_at > at;
        let mut parts = path.split('.');
        let (head, second) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
        let since = |times: &BTreeMap<Name, u64>, name: &Name| times.get(name).is_some_and(|it| *it > at);
        match head {
            "docs" | "changed" => {
                let document = self.workflow.documents.keys().find(|it| it.in_expression() == second);
                let leaves = document.map(|it| self.workflow.leaves(it)).unwrap_or_default();
                outside || leaves.iter().any(|it| since(&self.touched_at, it))
            }
            "git" => outside || self.git_at > at,
            "findings" => frame.findings_at > at,
            "last" => {
                machine.states.keys().any(|it| it.in_expression() == second && since(&frame.last_at, it))
            }
            "lists" | "items" => self.lists_at > at,
            "item" => {
                let lists = self.lists_of(machine.name.as_ref());
                outside || lists.iter().any(|it| since(&self.touched_at, it))
            }
            "project" | "inputs" => false,
            head => machine.vars.keys().any(|it| it.in_expression() == head && since(&frame.vars_at, it)),
        }
    }

    fn holds(
        &mut self,
        run: &Run,
        frame: &mut Frame,
        condition: &Condition,
        vars: &IndexMap<Name, Name>,
    ) -> bool {
        let value = match &condition.term {
            Term::Var(name) => vars.get(&**name).cloned(),
            Term::Fact(name) => self.fact(run, frame, name),
            Term::Last(state) => {
                Some(run.last.get(&**state).map_or_else(|| "none".into(), |it| it.signal.clone()))
            }
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

    /// A state goes on: whatever gates it needs must have been judged as things are.
    pub(crate) fn went_on(&mut self, machine: &Machine, run: &Run, state: &State, frame: &mut Frame) {
        for gate in run.pick(&state.needs).cloned().unwrap_or_default() {
            let owed = Run::owed_when(machine, &gate).to_vec();
            if !owed.iter().all(|it| self.holds(run, frame, it, &run.vars.clone())) {
                continue;
            }
            let now = self.judged(machine, &|name| run.value_of(name), &gate);
            if frame.truth.get(&gate) != Some(&now) {
                let name = machine.qualified(&state.name);
                self.note(|| format!("{name} goes on although {gate} was not judged as it is"));
                self.seen.unjudged.push((name, gate.clone()));
            }
        }
    }

    /// The arms an event took, one after the other.
    pub(crate) fn moved(&mut self, machine: &Machine, before: &Run, after: &Run, frame: &mut Frame) {
        let mut vars = before.vars.clone();
        for (at, taken) in after.taken.iter().enumerate() {
            let Some(state) = machine.states.get(&*taken.state) else { continue };
            let arms = state.cells.get(&*taken.signal).map(|it| it.arms.as_slice()).unwrap_or_default();
            let Some(arm) = arms.iter().find(|it| it.place == taken.arm && it.spend == taken.spent) else {
                continue;
            };
            let now = Run { vars: vars.clone(), ..if at == 0 { before.clone() } else { after.clone() } };
            let person = signal::waits_for_person(self.workflow, state, &taken.signal);
            let qualified = machine.qualified(&taken.state);
            self.note(|| {
                let by = if person { " (person)" } else { "" };
                format!("{qualified}: {} -> {}{by}", taken.signal, taken.to)
            });
            self.seen.taken.insert((machine.name.clone(), taken.arm.clone()));
            if *taken.signal == *signal::STALE {
                let needs: Vec<Name> = now.pick(&state.needs).cloned().unwrap_or_default();
                let unsettled = needs.into_iter().filter(|gate| {
                    let judged = self.judged(machine, &|name| now.value_of(name), gate);
                    frame.truth.get(gate) != Some(&judged)
                });
                let unsettled = unsettled.collect();
                self.found_stale(qualified, unsettled);
            }
            if self.as_said {
                return;
            }
            self.seen.disturbed |= taken.signal == signal::STALE || *taken.signal == *"cancelled";
            if person {
                self.stretch_over();
            }
            self.came_out(machine, state, taken, arm, frame);
            self.judge(machine, state, taken, arm, &now, frame);
            for (name, set) in &arm.set {
                if vars.insert(name.clone(), set.clone()).as_ref() != Some(set) {
                    frame.vars_at.insert(name.clone(), self.clock);
                }
            }
            self.happens(machine, state, taken, arm);
            let again = arm.to == Target::Again || arm.to == Target::Back && taken.to == taken.state;
            if !again {
                self.enters(machine, after, frame, &taken.to, &vars.clone());
            }
        }
    }

    /// When what facts read last changed.
    fn came_out(&mut self, machine: &Machine, state: &State, taken: &Taken, arm: &Arm, frame: &mut Frame) {
        self.clock += 1;
        frame.last_at.insert(state.name.clone(), self.clock);
        let cleared = self.workflow.lists.values().any(|it| it.contains(&taken.to));
        if cleared || !arm.record.is_empty() || matches!(state.kind, Kind::Each(_)) {
            self.lists_at = self.clock;
        }
        let forces = machine.states.get(&*taken.state).and_then(|it| it.cells.get(&*taken.signal));
        let forces = forces.is_some_and(|it| it.arms.iter().any(|it| !it.forced.is_empty()));
        if matches!(state.kind, Kind::Review { .. }) || forces {
            frame.findings_at = self.clock;
        }
        if matches!(state.kind, Kind::Do { .. }) {
            self.git_at = self.clock;
        }
    }

    /// What was judged as it is.
    fn judge(
        &mut self,
        machine: &Machine,
        state: &State,
        taken: &Taken,
        arm: &Arm,
        now: &Run,
        frame: &mut Frame,
    ) {
        let lookup = |name: &Name| now.value_of(name);
        if let Some(gate) =
            state.gate.as_ref().filter(|it| it.judges.get(lookup).is_some_and(|it| !it.is_empty()))
            && *taken.signal != *signal::STALE
        {
            let skipped = matches!(state.kind, Kind::Each(_)) && !frame.ran_items;
            if gate.passes.contains(&taken.signal) {
                // With all items done before, what was judged is what passed then, if that ever did.
                let now = self.judged(machine, &lookup, &gate.name);
                let then =
                    frame.passed.get(&gate.name).filter(|_| skipped && *taken.signal != *signal::EMPTY);
                let judged = then.cloned().unwrap_or(now);
                frame.passed.insert(gate.name.clone(), judged.clone());
                frame.truth.insert(gate.name.clone(), judged);
            } else {
                frame.truth.remove(&gate.name);
            }
        }
        if matches!(state.kind, Kind::Each(_)) {
            frame.ran_items = false;
        }
        for gate in &arm.forced {
            let judged = self.judged(machine, &lookup, gate);
            frame.truth.insert(gate.clone(), judged);
        }
        // What a gate judges depends on a variable that is set: an earlier pass was about something else.
        for other in machine.states.values() {
            let by = other.gate.as_ref().and_then(|it| Some((&it.name, it.judges.by()?)));
            if let Some((gate, _)) = by.filter(|(_, by)| arm.set.contains_key(&***by)) {
                frame.truth.remove(gate);
                frame.passed.remove(gate);
            }
        }
    }

    /// What properties speak of has happened.
    fn happens(&mut self, machine: &Machine, state: &State, taken: &Taken, arm: &Arm) {
        self.happened.insert((machine.name.clone(), taken.state.clone(), taken.signal.clone()));
        for (index, property) in self.workflow.properties.iter().enumerate() {
            let Claim::Always { comes, .. } = &property.claim else { continue };
            let came = match comes {
                Happened::Signal { child, state, signals } => {
                    *child == machine.name && *state == taken.state && signals.contains(&taken.signal)
                }
                Happened::Settled { gate } => {
                    let passes = state
                        .gate
                        .as_ref()
                        .is_some_and(|it| it.name == *gate && it.passes.contains(&taken.signal));
                    machine.name.is_none() && (passes || arm.forced.contains(gate))
                }
            };
            if came {
                self.pending.remove(&index);
            }
        }
    }

    /// A state is entered.
    pub(crate) fn enters(
        &mut self,
        machine: &Machine,
        run: &Run,
        frame: &mut Frame,
        name: &Name,
        vars: &IndexMap<Name, Name>,
    ) {
        let first = self.seen.entered.insert(machine.qualified(name));
        if machine.name.is_some() {
            return;
        }
        self.seen.came_again |= !first;
        for (index, property) in self.workflow.properties.iter().enumerate() {
            let broken = match &property.claim {
                Claim::Never { reach, before, when } if reach == name => {
                    when.iter().all(|it| self.holds(run, frame, it, vars))
                        && !before.iter().all(|it| self.is_so(machine, run, frame, it, vars))
                }
                Claim::AtMost { visits, times } if visits == name && !self.taken_over => {
                    run.visits.get(&**name).copied().unwrap_or(0) > *times
                }
                Claim::Always { after, .. } if after == name && !self.taken_over => {
                    self.awaited.insert(index);
                    self.pending.insert(index);
                    false
                }
                _ => false,
            };
            if broken {
                self.seen.broken.insert(index);
                self.note(|| format!("property {index} is broken: {name} is entered"));
            }
        }
    }

    fn is_so(
        &self,
        machine: &Machine,
        run: &Run,
        frame: &Frame,
        happened: &Happened,
        vars: &IndexMap<Name, Name>,
    ) -> bool {
        match happened {
            Happened::Signal { child, state, signals } => {
                let came = |it: &Name| self.happened.contains(&(child.clone(), state.clone(), it.clone()));
                self.imported || signals.iter().any(came)
            }
            Happened::Settled { gate } => {
                let lookup = |name: &Name| vars.get(&**name).cloned().or_else(|| run.value_of(name));
                frame.truth.get(gate) == Some(&self.judged(machine, &lookup, gate))
            }
        }
    }
}
