//! Slots: the finite things a run remembers that routing reads.
//!
//! Unfolding a workflow multiplies its states by the values of its slots. To keep that small, only what some route,
//! table or property reads becomes a slot, and a slot that nothing reads any more before it is set again is dead there
//! and forgotten.

use indexmap::IndexMap;
use rustc_hash::FxHashMap;

use super::fact_reads::{Reads, fact_reads};
use super::terms::{reads_by_state, reads_same_again};
use super::unfold::Memory;
use super::writes::{Documents, Shelf, each};
use crate::definition::{Claim, Condition, Gate, Kind, Machine, State, Target, Term, Workflow};
use crate::machine::gate_name;
use crate::name::Name;
use crate::signal;

/// The values of [`Slot::Outside`].
pub(super) const BY_ITSELF: u16 = 0;
pub(super) const BY_OTHERS: u16 = 1;

/// The values of [`Slot::Passed`] but for the first: it never passed.
pub(super) const STANDS: u16 = 1;
pub(super) const SPOILT: u16 = 2;

/// What a slot remembers.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Slot {
    /// A term of a condition: a variable, a last signal, a gate, a fact that keeps its value.
    Term(Term),
    /// Whether it was somebody outside the run who made a fact such that it asks for a gate.
    Outside(Name),
    /// Whether the last round of a gate's judges handed findings to a repair.
    Handed(Name),
    /// Whether items of a loop may be done already that came to one of these ends.
    Done(Name, Vec<Name>),
    /// Whether a loop's gate passed, and whether what it judged is still the same: what changed undoes its items. A round
    /// that does not pass says nothing about that, and nor does who passes over it.
    Passed(Name),
    /// Who led here.
    From,
}

/// A loop, and ends of its items that are remembered together.
pub(super) type Remembered = (Name, Vec<Name>);

/// One slot with its values. Gates count as `open`, `fresh`, `stale`, `forced`.
#[derive(Clone, Debug)]
pub(super) struct Kept {
    pub(super) slot: Slot,
    pub(super) values: Vec<Name>,
    /// For facts: the documents it reads, and what else can change it.
    pub(super) reads: Reads,
    /// For gates: whether nobody tells open from stale, or fresh from forced, so that two values do.
    pub(super) merged: bool,
}

impl Kept {
    /// The place of a value.
    pub(super) fn index_of(&self, value: &str) -> u16 {
        let value = match value {
            "stale" if self.merged => "open",
            "forced" if self.merged => "fresh",
            other => other,
        };
        self.values.iter().position(|it| **it == *value).and_then(|it| u16::try_from(it).ok()).unwrap_or(0)
    }
}

/// The slots of a machine, and where each is alive.
pub(super) struct Slots {
    pub(super) kept: Vec<Kept>,
    index: FxHashMap<Slot, usize>,
    /// Per state: which slots matter on entering it, apart from what matters where a state that may lead back does.
    alive: IndexMap<Name, Vec<bool>>,
}

impl Slots {
    pub(super) fn position(&self, slot: &Slot) -> Option<usize> {
        self.index.get(slot).copied()
    }

    pub(super) fn term(&self, term: &Term) -> Option<usize> {
        self.position(&Slot::Term(term.clone()))
    }

    /// The slots that remember which items of a loop are done.
    pub(super) fn done(&self, name: &Name) -> impl Iterator<Item = usize> {
        let of_loop = move |it: &Kept| matches!(&it.slot, Slot::Done(of, _) if of == name);
        self.kept.iter().enumerate().filter(move |(_, it)| of_loop(it)).map(|(at, _)| at)
    }

    /// The slot that remembers whether what is done in a loop is undone since.
    pub(super) fn passed(&self, state: &State) -> Option<usize> {
        self.position(&Slot::Passed(state.gate.as_ref()?.name.clone()))
    }

    /// Which slots matter on entering a state. One that may lead back also keeps what matters where that is.
    pub(super) fn alive(&self, state: &str) -> Vec<bool> {
        self.alive.get(state).cloned().unwrap_or_default()
    }

    /// Collects the slots of a machine. `done` are loops and ends that are remembered, once an item came to one of them.
    pub(super) fn collect(
        workflow: &Workflow,
        shelf: &Shelf,
        machine: &Machine,
        done: &[Remembered],
        memory: Memory,
    ) -> Self {
        let mut slots = Self { kept: Vec::new(), index: FxHashMap::default(), alive: IndexMap::new() };
        let mut read = reads_by_state(workflow, machine);
        for gate in spoilt_besides(workflow, shelf, machine, &read) {
            let needing =
                machine.states.values().filter(|it| it.needs.values().flatten().any(|it| *it == gate));
            for state in needing {
                read.entry(state.name.clone()).or_default().push(Term::Gate(gate.clone()));
            }
        }
        for terms in read.values() {
            for term in terms {
                slots.add(workflow, shelf, machine, Slot::Term(term.clone()));
            }
        }
        for name in asking_facts(machine) {
            slots.add(workflow, shelf, machine, Slot::Outside(name));
        }
        for state in machine.states.values() {
            if reads_same_again(state) {
                slots.add(workflow, shelf, machine, Slot::Handed(gate_name(state)));
            }
        }
        for (name, ends) in done {
            slots.add(workflow, shelf, machine, Slot::Done(name.clone(), ends.clone()));
            let gate = machine.states.get(&**name).and_then(|it| it.gate.as_ref());
            let judges = |it: &&Gate| shelf.set(workflow, it.judges.values().flatten()) != 0;
            if let Some(gate) = gate.filter(judges).filter(|_| memory == Memory::Exactly) {
                slots.add(workflow, shelf, machine, Slot::Passed(gate.name.clone()));
            }
        }
        if machine.states.values().any(State::returns) {
            slots.add(workflow, shelf, machine, Slot::From);
        }
        slots.alive = slots.liveness(machine, &read);
        slots
    }

    fn add(&mut self, workflow: &Workflow, shelf: &Shelf, machine: &Machine, slot: Slot) {
        if self.index.contains_key(&slot) {
            return;
        }
        let Some(values) = values_of(workflow, machine, &slot) else { return };
        let reads = match &slot {
            Slot::Term(Term::Fact(name)) => fact_reads(workflow, shelf, machine, name),
            _ => Reads::default(),
        };
        self.index.insert(slot.clone(), self.kept.len());
        let merged = matches!(&slot, Slot::Term(Term::Gate(gate)) if !told_apart(workflow, machine, gate));
        self.kept.push(Kept { slot, values, reads, merged });
    }

    /// Backward: a slot matters in a state if the state reads it, or a state it leads to does and nothing on the way
    /// sets it.
    fn liveness(&self, machine: &Machine, read: &IndexMap<Name, Vec<Term>>) -> IndexMap<Name, Vec<bool>> {
        let mut alive: IndexMap<Name, Vec<bool>> = machine
            .states
            .values()
            .map(|state| {
                let mut here = vec![false; self.kept.len()];
                for term in read.get(&*state.name).into_iter().flatten() {
                    if let Some(at) = self.term(term) {
                        here[at] = true;
                    }
                }
                let handed = reads_same_again(state).then(|| Slot::Handed(gate_name(state)));
                let handed = handed.and_then(|it| self.position(&it));
                for at in self.done(&state.name).chain(handed) {
                    here[at] = true;
                }
                let remembers = self.done(&state.name).next().is_some();
                if let Some(at) = self.passed(state).filter(|_| remembers) {
                    here[at] = true;
                }
                if let Some(at) = self.position(&Slot::From).filter(|_| state.returns()) {
                    here[at] = true;
                }
                for gate in state.needs.values().flatten() {
                    for condition in crate::machine::Run::owed_when(machine, gate) {
                        if let Term::Fact(name) = &condition.term
                            && let Some(at) = self.position(&Slot::Outside(name.clone()))
                        {
                            here[at] = true;
                        }
                    }
                }
                (state.name.clone(), here)
            })
            .collect();
        loop {
            let mut changed = false;
            for state in machine.states.values().rev() {
                let arms =
                    state.cells.iter().flat_map(|(signal, it)| it.arms.iter().map(move |it| (signal, it)));
                for (signal, arm) in arms {
                    let target = match &arm.to {
                        Target::State(name) => name,
                        Target::Again => &state.name,
                        // Where that is, the state knows that led here; see `alive`.
                        Target::Back => continue,
                    };
                    let Some(after) = alive.get(&**target).cloned() else { continue };
                    let Some(here) = alive.get_mut(&*state.name) else { continue };
                    for (at, kept) in self.kept.iter().enumerate() {
                        if after[at] && !here[at] && !sets(state, signal, arm, &kept.slot) {
                            here[at] = true;
                            changed = true;
                        }
                    }
                }
            }
            if !changed {
                return alive;
            }
        }
    }
}

/// Whether taking an arm out of a state gives a slot a value that does not depend on the old one.
fn sets(state: &State, signal: &str, arm: &crate::definition::Arm, slot: &Slot) -> bool {
    match slot {
        // A judge's gate is passed or open again, whatever it was.
        Slot::Term(Term::Gate(name)) => {
            let own = state.gate.as_ref().filter(|it| it.name == *name && signal != signal::STALE);
            own.is_some_and(|it| it.judges.values().all(|it| !it.is_empty()))
        }
        Slot::Term(Term::Var(name)) => arm.set.contains_key(&**name),
        Slot::Term(Term::Last(name) | Term::LastField(name, _)) => *name == state.name,
        Slot::From => !state.returns(),
        _ => false,
    }
}

/// Whether some condition tells apart two ways of being settled, or of not being.
fn told_apart(workflow: &Workflow, machine: &Machine, gate: &Name) -> bool {
    let splits = |condition: &Condition| {
        let named = match &condition.term {
            Term::Gate(name) => name == gate,
            Term::Outer(inner) => matches!(&**inner, Term::Gate(name) if name == gate),
            _ => false,
        };
        let has = |value: &str| condition.values.iter().any(|it| **it == *value);
        named && (has("open") != has("stale") || has("fresh") != has("forced"))
    };
    let machines = std::iter::once(machine).chain(workflow.children.values());
    let arms = machines.flat_map(Machine::arms);
    let in_arms = arms.flat_map(|it| &it.when).any(splits);
    let in_gates =
        machine.states.values().filter_map(|it| it.gate.as_ref()).flat_map(|it| &it.only_when).any(splits);
    let in_properties = workflow.properties.iter().any(|it| match &it.claim {
        Claim::Never { when, .. } => when.iter().any(splits),
        _ => false,
    });
    in_arms || in_gates || in_properties
}

/// Gates that are needed, and that nobody can spare who edits what a gate that somebody routes on judges: what becomes of
/// the one has to be remembered with the other.
fn spoilt_besides(
    workflow: &Workflow,
    shelf: &Shelf,
    machine: &Machine,
    read: &IndexMap<Name, Vec<Term>>,
) -> Vec<Name> {
    // What its judges judge, for each row of their tables.
    let rows = |gate: &Name| {
        let judges = machine.gates.get(&**gate).into_iter().flatten();
        let gates = judges.filter_map(|it| machine.states.get(&**it)?.gate.as_ref());
        gates.flat_map(|it| it.judges.values()).map(|it| shelf.set(workflow, it)).collect::<Vec<_>>()
    };
    let judged = |gate: &Name| rows(gate).iter().fold(0, |set, it| set | it);
    let routed = read.values().flatten().filter_map(|it| match it {
        Term::Gate(gate) => Some(rows(gate)),
        _ => None,
    });
    let mut routed: Vec<Documents> = routed.flatten().filter(|it| *it != 0).collect();
    routed.sort_unstable();
    routed.dedup();
    let spoils = |edited: Documents, other: Documents| {
        let mut one_by_one = each(edited);
        one_by_one.all(|it| shelf.touched(it) & other != 0)
    };
    let is_read = |gate: &Name| read.values().flatten().any(|it| *it == Term::Gate(gate.clone()));
    let mut found: Vec<Name> = Vec::new();
    for gate in machine.states.values().flat_map(|it| it.needs.values().flatten()) {
        let beside = || routed.iter().any(|it| spoils(*it, judged(gate)));
        if !found.contains(gate) && !is_read(gate) && beside() {
            found.push(gate.clone());
        }
    }
    found
}

/// Facts that say whether a gate some state needs is owed.
fn asking_facts(machine: &Machine) -> Vec<Name> {
    let mut names: Vec<Name> = Vec::new();
    for gate in machine.states.values().flat_map(|it| it.needs.values().flatten()) {
        for condition in crate::machine::Run::owed_when(machine, gate) {
            if let Term::Fact(name) = &condition.term
                && !names.contains(name)
            {
                names.push(name.clone());
            }
        }
    }
    names
}

/// The topics findings of a gate are handed on under, if all its judges route by the same.
fn topics_handed(workflow: &Workflow, machine: &Machine, gate: &Name) -> Vec<Name> {
    let reviews = machine.states.values().filter(|it| matches!(it.kind, Kind::Review { .. }));
    let judges = reviews.filter(|it| gate_name(it) == *gate);
    let mut topics: Vec<Vec<Name>> = judges.map(|it| topics_routed_by(workflow, it)).collect();
    topics.dedup();
    if topics.len() == 1 { topics.remove(0) } else { Vec::new() }
}

/// The topics of a review that some arm of it routes by.
fn topics_routed_by(workflow: &Workflow, state: &State) -> Vec<Name> {
    let Kind::Review { call, .. } = &state.kind else { return Vec::new() };
    let mut conditions = state.cells.values().flat_map(|it| &it.arms).flat_map(|it| &it.when);
    if !conditions.any(|it| it.term == Term::Topic) {
        return Vec::new();
    }
    let roles = call.role.values().filter_map(|it| workflow.roles.get(&**it)?.findings.as_ref());
    roles.flat_map(|it| it.topic.clone()).collect()
}

fn values_of(workflow: &Workflow, machine: &Machine, slot: &Slot) -> Option<Vec<Name>> {
    let yes_no = || vec![Name::from("no"), Name::from("yes")];
    match slot {
        Slot::Handed(gate) => {
            let topics = topics_handed(workflow, machine, gate);
            let by_topic = std::iter::once(Name::from("no")).chain(topics.iter().cloned());
            Some(if topics.is_empty() { yes_no() } else { by_topic.collect() })
        }
        Slot::Done(..) | Slot::Outside(_) => Some(yes_no()),
        Slot::Passed(_) => Some(["never", "stands", "spoilt"].map(Name::from).to_vec()),
        Slot::From => Some(std::iter::once(Name::from("")).chain(machine.states.keys().cloned()).collect()),
        Slot::Term(term) => term_values(workflow, machine, term),
    }
}

pub(super) fn term_values(workflow: &Workflow, machine: &Machine, term: &Term) -> Option<Vec<Name>> {
    let none_first =
        |values: Vec<Name>| std::iter::once(Name::from("none")).chain(values).collect::<Vec<_>>();
    match term {
        Term::Fact(name) => machine.facts.get(&**name).map(|it| it.values.clone()),
        Term::Var(name) => machine.vars.get(&**name).map(|it| it.values.clone()),
        Term::Last(state) => {
            machine.states.get(&**state).map(|it| none_first(it.cells.keys().cloned().collect()))
        }
        Term::LastField(state, field) => {
            let outcomes = signal::outcomes_of(workflow, machine.states.get(&**state)?);
            outcomes.values().find_map(|it| it.fields.get(&**field)).map(|it| none_first(it.clone()))
        }
        Term::Ever(_) => Some(vec!["no".into(), "yes".into()]),
        Term::Gate(_) => Some(["open", "fresh", "stale", "forced"].map(Name::from).to_vec()),
        Term::Outer(inner) => term_values(workflow, &workflow.main, inner),
        _ => None,
    }
}
