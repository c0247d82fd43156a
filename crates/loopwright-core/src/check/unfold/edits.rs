//! What somebody may edit, told apart by the gates it makes stale.
//!
//! Nobody can keep a person from editing documents while a run goes on. It shows where somebody looks: a state that needs
//! gates, before it works; and routes that read how a gate stands, or a fact, when they are taken.

use super::expand::Written;
use super::fitted::Fitted;
use super::plan::{CellPlan, GatePlan, StatePlan};
use super::{Builder, MOST_GATES, Unfolded, Values};
use crate::check::writes::{Documents, each};
use crate::name::Name;

/// Something somebody may have edited: the documents, everything that changes by it, and what goes stale, each a bit.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
struct Edit {
    documents: Documents,
    touched: Documents,
    stale: u128,
}

impl Unfolded<'_> {
    /// Ways a state can find gates it needs not settled: they are missing already, somebody edited what they judged, or
    /// made a fact such that they are asked for.
    pub(super) fn stale_ways(
        &self,
        state: &StatePlan<'_>,
        fitted: &Fitted,
        values: &Values,
        builder: &Builder<'_, '_>,
    ) -> Vec<Written> {
        let gates = &builder.plan.gates;
        let missing = missing(fitted, values, builder);
        // Whether a gate is settled is known only where somebody routes on it; what is needed may be.
        let standing = |at: usize| gates[at].is_settled(values) || gates[at].slot.is_none();
        let counts = |at: usize| gates[at].is_settled(values) || fitted.needs.contains(&at) && standing(at);
        let counted: Vec<usize> = (0..gates.len()).filter(|it| counts(*it)).collect();
        let looked_at = counted.iter().filter(|it| fitted.needs.contains(it) || state.sees.contains(it));
        let judged = looked_at.fold(0, |set, it| set | gates[*it].judged(values));
        let bit = |at: usize| 1_u128.checked_shl(u32::try_from(at).unwrap_or(u32::MAX)).unwrap_or(0);
        let stale = |touched: Documents| {
            let spoilt = counted.iter().filter(|it| gates[**it].judged(values) & touched != 0);
            spoilt.fold(0, |set, it| set | bit(*it))
        };
        let mut single = self.one_by_one(judged, gates, &stale);
        let asked_by_edits =
            |it: &&usize| gates[**it].slot.is_some() && is_asked_by_edits(&gates[**it], state, values);
        let flips = fitted.needs.iter().filter(|it| !missing.contains(it)).filter(asked_by_edits);
        single.extend(flips.map(|it| Edit { stale: bit(*it), ..Edit::default() }));
        let mut found: Vec<Written> = Vec::new();
        for edit in combined(&single) {
            let is_stale = |it: &usize| edit.stale & bit(*it) != 0 || missing.contains(it);
            let stale: Vec<usize> = fitted.needs.iter().copied().filter(is_stale).collect();
            if !stale.is_empty() {
                let documents = (edit != Edit::default()).then_some(edit.documents);
                found.push(Written { documents, touched: edit.touched, stale, ..Written::default() });
            }
        }
        found
    }

    /// What somebody may have edited when a state routes: what is edited, and everything that changes by it. Nothing comes
    /// first.
    pub(super) fn edits_seen(
        &self,
        state: &StatePlan<'_>,
        (cell, idle): (&CellPlan<'_>, bool),
        fitted: &Fitted,
        values: &Values,
        builder: &Builder<'_, '_>,
    ) -> Vec<(Documents, Documents)> {
        if cell.stale {
            return vec![(0, 0)];
        }
        // Nobody is met in a loop that ran nothing.
        let nobody = cell.idle || idle;
        if state.attended && !nobody {
            return self.edits_meanwhile(values, builder);
        }
        let gates = &builder.plan.gates;
        let seen = state.sees.iter().map(|it| &gates[*it]).filter(|it| it.is_settled(values));
        let judged = seen.fold(0, |set, it| set | it.judged(values));
        // Without any work in between, what spoils a gate that is needed shows there.
        let needs: &[usize] = if nobody || state.only_looks { &fitted.needs } else { &[] };
        let owed = needs.iter().map(|it| &gates[*it]).filter(|it| it.is_asked_for(values));
        let owed = owed.fold(0, |set, it| set | it.judged(values));
        self.told_apart(judged, owed, values, builder)
    }

    /// What somebody may edit while a run waits for people.
    pub(super) fn edits_meanwhile(
        &self,
        values: &Values,
        builder: &Builder<'_, '_>,
    ) -> Vec<(Documents, Documents)> {
        let settled = builder.plan.gates.iter().filter(|it| it.is_settled(values));
        let judged = settled.fold(0, |set, it| set | it.judged(values));
        self.told_apart(judged, 0, values, builder)
    }

    /// Edits of these documents that spare others, told apart by the settled gates they spoil.
    fn told_apart(
        &self,
        judged: Documents,
        spared: Documents,
        values: &Values,
        builder: &Builder<'_, '_>,
    ) -> Vec<(Documents, Documents)> {
        if judged == 0 {
            return vec![(0, 0)];
        }
        let settled: Vec<Documents> = builder
            .plan
            .gates
            .iter()
            .filter(|it| it.is_settled(values))
            .map(|it| it.judged(values))
            .collect();
        let stale = |touched: Documents| {
            settled.iter().fold(0_u128, |set, it| set << 1 | u128::from(it & touched != 0))
        };
        let sparing = each(judged).filter(|it| self.shelf.touched(*it) & spared == 0);
        let judged = sparing.fold(0, |set, it| set | it);
        let single = self.one_by_one(judged, &builder.plan.gates, &stale);
        combined(&single).into_iter().map(|it| (it.documents, it.touched)).collect()
    }

    /// One edit for everything that can go stale by a single document, the one that spoils fewest gates beside: how some
    /// stand, nobody knows here.
    fn one_by_one(
        &self,
        judged: Documents,
        gates: &[GatePlan],
        stale: &dyn Fn(Documents) -> u128,
    ) -> Vec<Edit> {
        let edit = |documents: Documents| {
            let touched = self.shelf.touched(documents);
            Edit { documents, touched, stale: stale(touched) }
        };
        let mut all: Vec<Edit> = each(judged).map(edit).collect();
        let ever: Vec<Documents> = gates.iter().map(GatePlan::ever_judged).collect();
        all.sort_by_cached_key(|it| ever.iter().filter(|judged| *judged & it.touched != 0).count());
        let mut found: Vec<Edit> = Vec::new();
        for edit in all {
            if !found.iter().any(|it| it.stale == edit.stale) {
                found.push(edit);
            }
        }
        found
    }

    /// Makes a note of a state where so many gates are settled that not every way to spoil them is walked.
    pub(super) fn tell_gates_apart(&mut self, state: &Name, values: &Values, builder: &Builder<'_, '_>) {
        let mut judged: Vec<Documents> = Vec::new();
        for gate in builder.plan.gates.iter().filter(|it| it.is_settled(values)) {
            let documents = gate.judged(values);
            if documents != 0 && !judged.contains(&documents) {
                judged.push(documents);
            }
        }
        if judged.len() > MOST_GATES && !self.too_many_gates.contains(state) {
            self.too_many_gates.push(state.clone());
        }
    }
}

/// Several edits together, one for everything that can go stale. Nothing comes first.
fn combined(single: &[Edit]) -> Vec<Edit> {
    const MOST: usize = 1 << MOST_GATES;
    let mut found = vec![Edit::default()];
    for edit in single {
        for at in 0..found.len() {
            let more = Edit {
                documents: found[at].documents | edit.documents,
                touched: found[at].touched | edit.touched,
                stale: found[at].stale | edit.stale,
            };
            if found.len() < MOST && !found.iter().any(|it| it.stale == more.stale) {
                found.push(more);
            }
        }
    }
    found
}

/// Gates a state needs that routing knows not to be settled: somebody edited what they judged while the run waited.
pub(super) fn missing(fitted: &Fitted, values: &Values, builder: &Builder<'_, '_>) -> Vec<usize> {
    let is_missing = |it: &usize| {
        let gate = &builder.plan.gates[*it];
        gate.slot.is_some() && gate.known && !gate.is_settled(values) && gate.is_asked_for(values)
    };
    fitted.needs.iter().copied().filter(is_missing).collect()
}

/// Whether a gate that is not settled and that nobody asks for may be asked for once somebody has edited what facts read.
fn is_asked_by_edits(gate: &GatePlan, state: &StatePlan<'_>, values: &Values) -> bool {
    let by_edits = |slot: usize| state.facts.iter().any(|it| it.slot == slot && it.by_edits());
    let may_be =
        |(slot, allowed): &(usize, Vec<bool>)| allowed[usize::from(values[*slot])] || by_edits(*slot);
    !gate.is_settled(values) && !gate.is_asked_for(values) && gate.asked.iter().all(may_be)
}
