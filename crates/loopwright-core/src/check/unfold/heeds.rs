//! What a state heeds: the slots it reads or changes. Nodes of a state that differ in nothing it heeds come out alike.
//!
//! It may name too many, never too few; where debug assertions are on, every node that is taken to be like another is
//! expanded all the same and compared.

use super::plan::{Plan, Read, StatePlan, Test, To};
use crate::check::writes::{Documents, Shelf};

/// The slots a state heeds that writes these documents and needs these gates.
pub(super) fn heeds(
    plan: &Plan<'_>,
    shelf: &Shelf,
    state: &StatePlan<'_>,
    writes: Documents,
    needs: &[usize],
) -> Vec<usize> {
    let mut heeded = state.looks_at.clone();
    heeded.extend([state.last, state.ever, state.handed, plan.from].into_iter().flatten());
    for cell in &state.cells {
        heeded.extend(cell.last_fields.iter().map(|(slot, ..)| *slot));
    }
    for arm in state.cells.iter().flat_map(|it| &it.arms) {
        arm.when.iter().for_each(|it| read_by(it, plan, &mut heeded));
        heeded.extend(arm.set.iter().map(|(slot, _)| *slot));
        for gate in arm.forced.iter().chain(&arm.reopened) {
            heeded.extend(plan.gates[*gate].slot.map(|it| it.at));
        }
        heeded.extend(&arm.anew);
        match arm.to {
            To::State(there) => heeded.extend(&plan.states[there].anew),
            To::Again => {}
            To::Back => heeded.extend(plan.states.iter().flat_map(|it| &it.anew)),
        }
    }
    let touched = shelf.touched(writes);
    let others_edit = state.attended || !state.sees.is_empty() || !needs.is_empty();
    for (at, gate) in plan.gates.iter().enumerate() {
        let spoiled = others_edit || gate.ever_judged() & touched != 0;
        if spoiled || state.own_gate == Some(at) {
            heeded.extend(gate.slots());
        }
    }
    let waits = state.cells.iter().any(|it| it.waits);
    for fact in &state.facts {
        let written = touched & fact.documents != 0 || fact.git && touched != 0;
        if fact.always || written || (waits || fact.seen || !needs.is_empty()) && fact.by_edits() {
            heeded.push(fact.slot);
            heeded.extend(fact.outside.as_ref().map(|(slot, _)| *slot));
        }
    }
    heeded.sort_unstable();
    heeded.dedup();
    heeded
}

fn read_by(test: &Test, plan: &Plan<'_>, heeded: &mut Vec<usize>) {
    if let Read::Owed(gate, wanted) = &test.read {
        heeded.extend(plan.gates[*gate].slots());
        for test in wanted {
            read_by(test, plan, heeded);
        }
    }
    test.slots_read(heeded);
}
