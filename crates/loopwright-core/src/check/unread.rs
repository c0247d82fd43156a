//! Verdicts nobody reads.

use super::sound::Located;
use super::watched::all_given;
use crate::definition::{Arm, Claim, Happened, Kind, Machine, State, Term, Workflow};
use crate::problem::Problem;
use crate::signal;

/// A verdict nobody reads: every way it comes out leads to the same place, and nobody needs, routes on or is given it.
pub(super) fn check(workflow: &Workflow, machine: &Machine, state: &State) -> Option<Located> {
    if !matches!(state.kind, Kind::Review { .. } | Kind::Check(_)) {
        return None;
    }
    let apart = state
        .cells
        .iter()
        .filter(|(signal, _)| !signal::is_failure(signal) && **signal != signal::STALE)
        .map(|(_, cell)| cell.arms.as_slice());
    let ways: Vec<&[Arm]> = apart.collect();
    if ways.windows(2).any(|it| !lead_alike(it[0], it[1]))
        || state.cells.values().all(|it| it.arms.is_empty())
    {
        return None;
    }
    let gate = state.gate.as_ref().map(|it| &it.name);
    let reads_last = |term: &Term| match term {
        Term::Last(name) | Term::LastField(name, _) | Term::Ever(name) => *name == state.name,
        Term::Outer(inner) => {
            matches!(&**inner, Term::Last(name) | Term::LastField(name, _) if *name == state.name)
        }
        _ => false,
    };
    let reads_gate = |term: &Term| matches!(term, Term::Gate(name) | Term::Owed(name) if Some(name) == gate);
    let read = workflow.machines().flat_map(|it| it.states.values()).any(|other| {
        let needed = machine.states.contains_key(&*other.name)
            && other.needs.values().flatten().any(|it| Some(it) == gate);
        let routed = other
            .cells
            .values()
            .flat_map(|it| &it.arms)
            .flat_map(|it| &it.when)
            .any(|it| reads_last(&it.term) || reads_gate(&it.term));
        let last = format!("last.{}", state.name);
        let given = all_given(workflow, other)
            .iter()
            .any(|it| it.name == last || it.name.starts_with(&format!("{last}.")));
        needed || routed || given
    });
    let in_facts = workflow.machines().flat_map(|it| it.facts.values()).any(|it| {
        it.reads.iter().any(|path| {
            path.split('.').nth(1) == Some(&state.name.in_expression()) && path.starts_with("last.")
        })
    });
    if read || in_facts || workflow.properties.iter().any(|it| names(&it.claim, machine, state)) {
        return None;
    }
    let message = format!("nobody reads how `{}` comes out: every way leads on alike", state.name);
    let help = "route its signals apart, need its gate, or give it to somebody as `last.…`".to_owned();
    Some((Problem::proof("unread", state.place.clone(), message).help(help), Some(state.name.clone())))
}

/// Whether two signals do the same to a run.
fn lead_alike(one: &[Arm], other: &[Arm]) -> bool {
    let alike = |(a, b): (&Arm, &Arm)| {
        let same_when =
            a.when.iter().map(|it| (&it.term, &it.values)).eq(b.when.iter().map(|it| (&it.term, &it.values)));
        same_when
            && (&a.to, &a.spend, &a.refill) == (&b.to, &b.spend, &b.refill)
            && (&a.set, &a.record, &a.forced) == (&b.set, &b.record, &b.forced)
    };
    one.len() == other.len() && one.iter().zip(other).all(alike)
}

/// Whether a property asks how a state came out.
fn names(claim: &Claim, machine: &Machine, state: &State) -> bool {
    let named = |it: &Happened| match it {
        Happened::Signal { child, state: name, .. } => *child == machine.name && *name == state.name,
        Happened::Settled { gate } => {
            machine.name.is_none() && state.gate.as_ref().is_some_and(|it| it.name == *gate)
        }
    };
    match claim {
        Claim::Never { before, .. } => before.iter().any(named),
        Claim::Always { comes, .. } => named(comes),
        Claim::AtMost { .. } => false,
    }
}
