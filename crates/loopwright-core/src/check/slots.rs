//! Slots: the finite things a run remembers that routing reads.
//!
//! Unfolding a workflow multiplies its states by the values of its slots. To keep that small, only what some route,
//! table or property reads becomes a slot, and a slot that nothing reads any more before it is set again is dead there
//! and forgotten.

use indexmap::IndexMap;
use rustc_hash::FxHashMap;

use super::writes::{Documents, Shelf};
use crate::definition::{
    Claim, Condition, EachRun, Files, Happened, Kind, Machine, Origin, State, Target, Term, Workflow,
};
use crate::machine::gate_name;
use crate::name::Name;
use crate::signal;

/// The values of [`Slot::Outside`].
pub(super) const BY_ITSELF: u16 = 0;
pub(super) const BY_OTHERS: u16 = 1;

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

/// What can change a fact.
#[derive(Clone, Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "each is something a fact may read")]
pub(super) struct Reads {
    pub(super) documents: Documents,
    pub(super) git: bool,
    pub(super) findings: bool,
    pub(super) anything: bool,
    /// It changes by the very step that leaves a state: it reads how that came out, or a variable the step sets.
    pub(super) by_routing: bool,
}

impl Reads {
    /// Whether the work of a state that may write these documents may change it.
    pub(super) fn may_change(&self, state: &State, written: Documents) -> bool {
        let acts = matches!(state.kind, Kind::Do { .. } | Kind::Each(_));
        self.anything
            || self.by_routing
            || self.documents & written != 0
            || self.git && (acts || written != 0)
            || self.findings && matches!(state.kind, Kind::Review { .. } | Kind::Each(_))
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
    ) -> Self {
        let mut slots = Self { kept: Vec::new(), index: FxHashMap::default(), alive: IndexMap::new() };
        let read = reads_by_state(workflow, machine);
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
    let arms =
        machines.flat_map(|it| it.states.values()).flat_map(|it| it.cells.values()).flat_map(|it| &it.arms);
    let in_arms = arms.flat_map(|it| &it.when).any(splits);
    let in_gates =
        machine.states.values().filter_map(|it| it.gate.as_ref()).flat_map(|it| &it.only_when).any(splits);
    let in_properties = workflow.properties.iter().any(|it| match &it.claim {
        Claim::Never { when, .. } => when.iter().any(splits),
        _ => false,
    });
    in_arms || in_gates || in_properties
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

fn reads_same_again(state: &State) -> bool {
    state.cells.values().flat_map(|it| &it.arms).flat_map(|it| &it.when).any(|it| it.term == Term::SameAgain)
}

/// The terms each state reads that a run has to remember.
fn reads_by_state(workflow: &Workflow, machine: &Machine) -> IndexMap<Name, Vec<Term>> {
    let kept_facts = kept_facts(workflow, machine);
    let mut read: IndexMap<Name, Vec<Term>> = IndexMap::new();
    for state in machine.states.values() {
        let mut terms = Vec::new();
        let mut add = |term: &Term| add_term(workflow, machine, &kept_facts, term, &mut terms);
        for arm in state.cells.values().filter(|it| it.origin != Origin::Implied).flat_map(|it| &it.arms) {
            arm.when.iter().for_each(|it| add(&it.term));
        }
        for gate in state.needs.values().flatten() {
            for condition in crate::machine::Run::owed_when(machine, gate) {
                add(&condition.term);
            }
            judged_by(workflow, machine, gate).iter().for_each(&mut add);
        }
        for name in tables_of(workflow, state) {
            add(&variable(workflow, machine, &name));
        }
        for budget in state.cells.values().flat_map(|it| &it.arms).filter_map(|it| it.spend.as_ref()) {
            if let Some(by) = machine.budgets.get(&**budget).and_then(|it| it.limit.by()) {
                add(&variable(workflow, machine, by));
            }
        }
        if let Kind::Each(each) = &state.kind
            && let EachRun::Child(child) = &each.run
            && let Some(child) = workflow.children.get(&**child)
        {
            for term in outer_terms(workflow, child) {
                add(&term);
            }
        }
        for property in workflow.properties.iter().filter(|_| machine.name.is_none()) {
            let (asked, happened, when) = match &property.claim {
                Claim::Never { reach, before, when } => {
                    (*reach == state.name, before.as_slice(), when.as_slice())
                }
                Claim::Always { comes, .. } => {
                    (matches!(state.kind, Kind::End { .. }), std::slice::from_ref(comes), &[][..])
                }
                Claim::AtMost { .. } => continue,
            };
            if asked {
                for condition in when {
                    add(&condition.term);
                }
                for happened in happened {
                    if let Happened::Settled { gate } = happened {
                        judged_by(workflow, machine, gate).iter().for_each(&mut add);
                    }
                }
            }
        }
        read.insert(state.name.clone(), terms);
    }
    // A gate that somebody routes on is looked at wherever it is needed.
    let routed: Vec<Name> = read
        .values()
        .flatten()
        .filter_map(|it| match it {
            Term::Gate(gate) => Some(gate.clone()),
            _ => None,
        })
        .collect();
    for state in machine.states.values() {
        for gate in state.needs.values().flatten().filter(|it| routed.contains(it)) {
            if let Some(terms) = read.get_mut(&*state.name) {
                push(terms, Term::Gate(gate.clone()));
            }
        }
    }
    read
}

fn push(terms: &mut Vec<Term>, term: Term) {
    if !terms.contains(&term) {
        terms.push(term);
    }
}

/// What decides which documents a gate judges. Whoever looks at the gate has to know, and so has whoever writes before.
fn judged_by(workflow: &Workflow, machine: &Machine, gate: &str) -> Vec<Term> {
    let judges = machine.gates.get(gate).into_iter().flatten();
    let tables = judges.filter_map(|it| machine.states.get(&**it)?.gate.as_ref()?.judges.by());
    tables.map(|it| variable(workflow, machine, it)).collect()
}

fn add_term(workflow: &Workflow, machine: &Machine, kept_facts: &[Name], term: &Term, terms: &mut Vec<Term>) {
    match term {
        Term::Fact(name) if !kept_facts.contains(name) => {}
        Term::Changed(_) | Term::SameAgain | Term::Topic | Term::Field(_) => {}
        Term::Gate(gate) => {
            push(terms, term.clone());
            for by in judged_by(workflow, machine, gate) {
                add_term(workflow, machine, kept_facts, &by, terms);
            }
        }
        Term::Owed(gate) => {
            add_term(workflow, machine, kept_facts, &Term::Gate(gate.clone()), terms);
            for condition in crate::machine::Run::owed_when(machine, gate) {
                add_term(workflow, machine, kept_facts, &condition.term, terms);
            }
        }
        Term::Outer(inner) if matches!(**inner, Term::Changed(_) | Term::Fact(_)) => {}
        term => push(terms, term.clone()),
    }
}

/// Facts that keep their value until something they read changes: those that say whether a gate is owed, those a
/// property speaks of, and those read once. All others may come out any way each time they are read.
pub(super) fn kept_facts(workflow: &Workflow, machine: &Machine) -> Vec<Name> {
    let mut kept: Vec<Name> =
        machine.facts.iter().filter(|(_, it)| it.once).map(|(name, _)| name.clone()).collect();
    let mut keep = |condition: &Condition| {
        if let Term::Fact(name) = &condition.term
            && !kept.contains(name)
        {
            kept.push(name.clone());
        }
    };
    for gate in machine.states.values().filter_map(|it| it.gate.as_ref()) {
        gate.only_when.iter().for_each(&mut keep);
    }
    if machine.name.is_none() {
        for property in &workflow.properties {
            if let Claim::Never { when, .. } = &property.claim {
                when.iter().for_each(&mut keep);
            }
        }
    }
    kept
}

/// Variables that a state's tables are by.
fn tables_of(workflow: &Workflow, state: &State) -> Vec<Name> {
    let mut names: Vec<Name> = state.needs.by().cloned().into_iter().collect();
    names.extend(state.gate.iter().filter_map(|it| it.judges.by().cloned()));
    if let Some(call) = state.call() {
        names.extend(call.role.by().cloned());
        names.extend(call.may_write.iter().filter_map(|it| it.by().cloned()));
        names.extend(call.produces.by().cloned());
        names.extend(call.given.by().cloned());
        for role in call.role.values().filter_map(|it| workflow.roles.get(&**it)) {
            names.extend(role.may_write.by().cloned());
            names.extend(role.given.by().cloned());
        }
    }
    names.sort();
    names.dedup();
    names
}

/// Terms that decide what a state does, apart from how its arms are chosen: those its tables are by, those that give a
/// budget its line, and those a child it runs reads.
pub(super) fn looked_at(workflow: &Workflow, machine: &Machine, state: &State) -> Vec<Term> {
    let mut names = tables_of(workflow, state);
    let spent = state.cells.values().flat_map(|it| &it.arms).filter_map(|it| it.spend.as_ref());
    names.extend(spent.filter_map(|it| machine.budgets.get(&**it)?.limit.by().cloned()));
    let mut terms: Vec<Term> = Vec::new();
    for name in &names {
        push(&mut terms, variable(workflow, machine, name));
    }
    if let Kind::Each(each) = &state.kind
        && let EachRun::Child(child) = &each.run
        && let Some(child) = workflow.children.get(&**child)
    {
        for term in outer_terms(workflow, child) {
            push(&mut terms, term);
        }
    }
    // What a gate this state needs or spoils judges may be by a variable of another state's table.
    for by in machine.states.values().filter_map(|it| it.gate.as_ref()?.judges.by()) {
        push(&mut terms, variable(workflow, machine, by));
    }
    terms
}

/// A variable as a term of a machine: its own, or the parent's.
pub(super) fn variable(workflow: &Workflow, machine: &Machine, name: &Name) -> Term {
    let own = machine.vars.contains_key(&**name) || machine.facts.contains_key(&**name);
    let term = |machine: &Machine| {
        if machine.facts.contains_key(&**name) { Term::Fact(name.clone()) } else { Term::Var(name.clone()) }
    };
    if own { term(machine) } else { Term::Outer(Box::new(term(&workflow.main))) }
}

/// Terms of the parent that a child reads, as the parent writes them.
pub(super) fn outer_terms(workflow: &Workflow, child: &Machine) -> Vec<Term> {
    let mut terms = Vec::new();
    for found in reads_by_state(workflow, child).into_values().flatten() {
        if let Term::Outer(inner) = found
            && !matches!(*inner, Term::Fact(_) | Term::Changed(_))
        {
            push(&mut terms, *inner);
        }
    }
    terms
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

/// Whether findings may be closed other than by a review: by an arm that passes its gate over, or one by one in a question.
fn closes_findings(workflow: &Workflow) -> bool {
    let states = || workflow.machines().flat_map(|it| it.states.values());
    let mut arms = states().flat_map(|it| it.cells.values()).flat_map(|it| &it.arms);
    arms.any(|it| !it.forced.is_empty()) || workflow.questions.values().any(|it| it.per_finding)
}

fn fact_reads(workflow: &Workflow, shelf: &Shelf, machine: &Machine, name: &Name) -> Reads {
    let Some(fact) = machine.facts.get(&**name) else { return Reads::default() };
    let mut reads = Reads::default();
    if fact.once {
        return reads;
    }
    for path in &fact.reads {
        let mut parts = path.split('.');
        let (head, second) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
        let named = |names: Vec<&Name>| names.into_iter().find(|it| it.in_expression() == second).cloned();
        match head {
            "docs" | "changed" => match named(workflow.documents.keys().collect()) {
                Some(document) => {
                    reads.documents |= shelf.set(workflow, [&document]);
                    for leaf in workflow.leaves(&document) {
                        let Some(leaf) = workflow.documents.get(&*leaf) else { continue };
                        // What a command says may be otherwise any time; what the engine keeps, on entering a state.
                        reads.anything |= matches!(leaf.files, Files::Command(_));
                        reads.by_routing |= leaf.engine_owned;
                    }
                }
                None => reads.documents |= shelf.all(),
            },
            "git" => reads.git = true,
            "findings" => {
                reads.findings = true;
                reads.by_routing |= closes_findings(workflow);
            }
            "last" => {
                reads.by_routing |= named(machine.states.keys().collect()).is_some();
            }
            "project" | "item" => {}
            "inputs" => {
                let mut taken = workflow.verbs.values().flat_map(|it| &it.takes);
                reads.anything |= second.is_empty() || taken.any(|it| it.in_expression() == second);
            }
            "lists" | "items" => {
                reads.anything = true;
                reads.by_routing |= head == "lists" && changes_by_routing(workflow, machine, second);
            }
            head => {
                let mut arms =
                    machine.states.values().flat_map(|it| it.cells.values()).flat_map(|it| &it.arms);
                reads.by_routing |= arms.any(|it| it.set.keys().any(|it| it.in_expression() == head));
            }
        }
    }
    reads
}

/// Whether taking an arm, or entering where it leads, changes a list.
fn changes_by_routing(workflow: &Workflow, machine: &Machine, list: &str) -> bool {
    let mut arms = machine.states.values().flat_map(|it| it.cells.values()).flat_map(|it| &it.arms);
    let cleared = workflow.lists.iter().any(|(name, per)| name.in_expression() == list && !per.is_empty());
    cleared || arms.any(|it| it.record.iter().any(|it| it.in_expression() == list))
}
