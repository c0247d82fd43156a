//! What each state reads of what a run remembers.

use indexmap::IndexMap;

use crate::definition::{Claim, Condition, EachRun, Happened, Kind, Machine, Origin, State, Term, Workflow};
use crate::name::Name;

pub(super) fn reads_same_again(state: &State) -> bool {
    state.cells.values().flat_map(|it| &it.arms).flat_map(|it| &it.when).any(|it| it.term == Term::SameAgain)
}

/// The terms each state reads that a run has to remember.
pub(super) fn reads_by_state(workflow: &Workflow, machine: &Machine) -> IndexMap<Name, Vec<Term>> {
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
