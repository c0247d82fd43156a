//! Loops that do no work and look at nothing: a run goes round them in one go, and only so often.

use indexmap::IndexSet;

use super::sound::Located;
use crate::definition::{Arm, Cell, Kind, Machine, State, Target, Term, Workflow};
use crate::machine::{MOST_PASSED, lines};
use crate::name::Name;
use crate::problem::Problem;
use crate::signal;

/// What a loop may pass at once. A run passes more, which leaves room for the ways in and out.
const MOST: usize = MOST_PASSED / 4;

/// A loop that may pass more states at once than a run does.
pub(super) fn check(workflow: &Workflow, machine: &Machine) -> Option<Located> {
    let mut seen: IndexSet<&Name> = IndexSet::new();
    let state = machine.states.values().find(|state| {
        if seen.contains(&state.name) {
            return false;
        }
        let around = loop_of(workflow, machine, state);
        seen.extend(around.iter().copied());
        !around.is_empty() && most_passed(workflow, machine, &around) > MOST
    })?;
    let message = format!(
        "the loop of `{}` may pass more than {MOST} states in one go, without work or anything to look at",
        state.name
    );
    let help = "lower the limits of what this loop spends, or let it do something";
    Some((Problem::proof("too-large", state.place.clone(), message).help(help), None))
}

/// The states of the loop a state is in, of those that are passed at once.
fn loop_of<'m>(workflow: &Workflow, machine: &'m Machine, state: &State) -> IndexSet<&'m Name> {
    let reached = reached(workflow, machine, &state.name);
    let is_back = |it: &&&Name| self::reached(workflow, machine, it).contains(&state.name);
    if !reached.contains(&state.name) {
        return IndexSet::new();
    }
    reached.iter().filter(is_back).copied().collect()
}

fn reached<'m>(workflow: &Workflow, machine: &'m Machine, from: &Name) -> IndexSet<&'m Name> {
    let mut found: IndexSet<&Name> = IndexSet::new();
    let mut waiting: Vec<&Name> =
        machine.states.get_key_value(&**from).map(|(it, _)| it).into_iter().collect();
    while let Some(state) = waiting.pop().and_then(|it| machine.states.get(&**it)) {
        for next in
            arms_at_once(workflow, machine, state).into_iter().flat_map(|it| targets(machine, state, it))
        {
            if found.insert(next) {
                waiting.push(next);
            }
        }
    }
    found
}

/// Each state, for every value of a variable and for every use of a budget on the way.
fn most_passed(workflow: &Workflow, machine: &Machine, around: &IndexSet<&Name>) -> usize {
    let states = around.iter().filter_map(|it| machine.states.get(&***it));
    let arms: Vec<&Arm> = states.flat_map(|it| arms_at_once(workflow, machine, it)).collect();
    let set: IndexSet<&Name> = arms.iter().flat_map(|it| it.set.keys()).collect();
    let spent: IndexSet<&Name> = arms.iter().filter_map(|it| it.spend.as_ref()).collect();
    let values = set.iter().filter_map(|it| machine.vars.get(&***it)).map(|it| it.values.len());
    let budgets = spent.iter().filter_map(|it| Some((*it, machine.budgets.get(&***it)?)));
    let uses = budgets.flat_map(|(name, it)| lines(name, it));
    let uses = uses.map(|(_, limit)| usize::try_from(limit).unwrap_or(usize::MAX).saturating_add(1));
    values.chain(uses).fold(around.len(), usize::saturating_mul)
}

fn targets<'m>(machine: &'m Machine, state: &'m State, arm: &Arm) -> Vec<&'m Name> {
    match &arm.to {
        Target::State(name) => machine.states.get_key_value(&**name).map(|(it, _)| it).into_iter().collect(),
        Target::Again => vec![&state.name],
        Target::Back => machine.states.keys().collect(),
    }
}

/// The arms that may be taken without anything being done or looked at.
fn arms_at_once<'s>(workflow: &Workflow, machine: &Machine, state: &'s State) -> Vec<&'s Arm> {
    let comes = |signal: &Name| match &state.kind {
        Kind::Choose | Kind::Settle { .. } => true,
        Kind::Agent(_) | Kind::Review { .. } if *signal == signal::OVER_BUDGET => workflow.is_metered(),
        _ => *signal == signal::STALE,
    };
    let looks = |cell: &Cell| {
        let mut terms = cell.arms.iter().flat_map(|it| &it.when).map(|it| &it.term);
        terms.any(|it| is_looked_at(workflow, machine, it))
            || cell.arms.iter().any(|it| !it.forced.is_empty())
    };
    let cells = state.cells.iter().filter(|(signal, cell)| comes(signal) && !looks(cell));
    cells.flat_map(|(_, it)| &it.arms).collect()
}

/// Whether something outside the run is looked at to know a term.
fn is_looked_at(workflow: &Workflow, machine: &Machine, term: &Term) -> bool {
    match term {
        Term::Fact(name) => machine.facts.get(&**name).is_none_or(|it| !it.once),
        Term::Gate(_) | Term::Owed(_) | Term::Changed(_) => true,
        Term::Outer(inner) => is_looked_at(workflow, &workflow.main, inner),
        _ => false,
    }
}
