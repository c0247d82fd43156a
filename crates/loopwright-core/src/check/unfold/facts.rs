//! Facts that keep their value, and when they are read anew.

use super::Values;
use super::choices::turn;
use super::plan::{CellPlan, StatePlan};
use crate::check::slots::{BY_ITSELF, BY_OTHERS};
use crate::check::writes::Documents;

/// Slots after the work, before routing, and which facts were read anew.
pub(super) struct Changed {
    pub(super) values: Values,
    pub(super) facts: Vec<usize>,
    pub(super) edited: Documents,
    /// Whether a fact is otherwise by what somebody edited.
    pub(super) by_person: bool,
}

/// Facts that may have changed are read anew, every way they can come.
pub(super) fn read_facts(
    state: &StatePlan<'_>,
    cell: &CellPlan<'_>,
    touched: Documents,
    after: Values,
    mut open: Vec<(usize, Vec<u16>)>,
    edited: Documents,
    found: &mut Vec<Changed>,
) {
    // Facts the run itself may have changed, as opposed to somebody outside it.
    let mut rewritten: Vec<usize> = Vec::new();
    let wrote = if cell.stale { 0 } else { touched };
    for fact in &state.facts {
        let by_person = (cell.waits || fact.seen) && fact.by_edits();
        let changed = fact.always || wrote & fact.documents != 0 || fact.git && wrote != 0;
        if changed || by_person {
            // That nothing changes comes first, and so stands in paths where it makes no difference.
            let now = after[fact.slot];
            let others = (0..fact.values).filter(|it| *it != now);
            open.push((fact.slot, std::iter::once(now).chain(others).collect()));
        }
        if changed {
            rewritten.push(fact.slot);
        }
    }
    if open.is_empty() {
        found.push(Changed { values: after, facts: Vec::new(), edited, by_person: false });
        return;
    }
    let facts: Vec<usize> = open.iter().map(|(slot, _)| *slot).collect();
    let sizes: Vec<u16> = open.iter().map(|(_, it)| u16::try_from(it.len()).unwrap_or(u16::MAX)).collect();
    let mut places = vec![0; sizes.len()];
    loop {
        let mut values = after.clone();
        let mut by_person = false;
        for ((slot, choices), place) in open.iter().zip(&places) {
            let value = choices[usize::from(*place)];
            values[*slot] = value;
            let fact = state.facts.iter().find(|it| it.slot == *slot);
            by_person |= fact.is_some() && value != after[*slot] && !rewritten.contains(slot);
            if let Some((outside, asks)) = fact.and_then(|it| it.outside.as_ref()) {
                let changed = value != after[*slot];
                if rewritten.contains(slot) || changed && !asks[usize::from(value)] {
                    values[*outside] = BY_ITSELF;
                } else if changed {
                    values[*outside] = BY_OTHERS;
                }
            }
        }
        found.push(Changed { values, facts: facts.clone(), edited, by_person });
        if !turn(&mut places, &sizes) {
            return;
        }
    }
}
