//! What somebody may edit meanwhile, told apart by the gates it makes stale.

use super::expand::Written;
use super::fitted::Fitted;
use super::{Builder, MOST_GATES, Unfolded, Values};
use crate::check::writes::Documents;
use crate::name::Name;

impl Unfolded<'_> {
    /// Ways somebody can edit what the gates a state needs have judged: one document at a time, told apart by the gates that
    /// go stale. Several at once come one after the other, each with a signal of its own.
    pub(super) fn edits(&self, fitted: &Fitted, values: &Values, builder: &Builder<'_, '_>) -> Vec<Written> {
        let gates: Vec<(usize, Documents)> =
            fitted.needs.iter().map(|it| (*it, builder.plan.gates[*it].judged(values))).collect();
        let judged = gates.iter().fold(0, |set, (_, it)| set | it);
        let mut found: Vec<Written> = Vec::new();
        for document in (0..128).map(|at| judged & (1 << at)).filter(|it| *it != 0) {
            let touched = self.shelf.touched(document);
            let stale: Vec<usize> =
                gates.iter().filter(|(_, judged)| judged & touched != 0).map(|(gate, _)| *gate).collect();
            if !found.iter().any(|it| it.stale == stale) {
                found.push(Written { documents: Some(document), touched, stale, idle: false });
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

    /// What somebody may edit before a state looks at its needs, of gates that routing looks at and nobody asks for at
    /// present: it makes them stale, and the state goes on all the same. Nothing comes first.
    pub(super) fn edits_of_unasked(
        &self,
        fitted: &Fitted,
        values: &Values,
        builder: &Builder<'_, '_>,
    ) -> Vec<(Documents, Documents)> {
        let needs = || fitted.needs.iter().map(|it| &builder.plan.gates[*it]);
        let (asked, unasked): (Vec<_>, Vec<_>) = needs().partition(|it| it.is_asked_for(values));
        let owed = asked.iter().fold(0, |set, it| set | it.judged(values));
        let mut found: Vec<(Documents, Documents)> = vec![(0, 0)];
        for gate in unasked.into_iter().filter(|it| it.known && it.is_settled(values)) {
            let judged = gate.judged(values);
            let one_by_one = (0..128).map(|at| judged & (1 << at)).filter(|it| *it != 0);
            // What also spoils a gate that is asked for does not go on.
            let document = one_by_one.into_iter().find(|it| self.shelf.touched(*it) & owed == 0);
            found.extend(document.map(|it| (it, self.shelf.touched(it))));
        }
        found
    }

    /// What somebody may edit while a run waits for people, told apart by the gates routing looks at: what is edited, and
    /// everything that changes by it. Nothing comes first.
    pub(super) fn edits_meanwhile(
        &self,
        values: &Values,
        builder: &Builder<'_, '_>,
    ) -> Vec<(Documents, Documents)> {
        const MOST: usize = 1 << MOST_GATES;
        let settled: Vec<Documents> = builder
            .plan
            .gates
            .iter()
            .filter(|it| it.is_settled(values))
            .map(|it| it.judged(values))
            .collect();
        // Which of them go stale, each a bit.
        let stale = |touched: Documents| {
            settled.iter().fold(0_u128, |set, it| set << 1 | u128::from(it & touched != 0))
        };
        let mut judged = settled.iter().fold(0, |set, it| set | it);
        let mut found: Vec<(Documents, Documents, u128)> = vec![(0, 0, 0)];
        while judged != 0 && found.len() < MOST {
            let document = judged & judged.wrapping_neg();
            judged ^= document;
            let touches = self.shelf.touched(document);
            for at in 0..found.len() {
                let (edited, touched, _) = found[at];
                let more = (edited | document, touched | touches, stale(touched | touches));
                if found.len() < MOST && !found.iter().any(|it| it.2 == more.2) {
                    found.push(more);
                }
            }
        }
        found.into_iter().map(|(edited, touched, _)| (edited, touched)).collect()
    }
}

/// Gates a state needs that routing knows not to be settled: somebody edited what they judged while the run waited.
pub(super) fn missing(fitted: &Fitted, values: &Values, builder: &Builder<'_, '_>) -> Vec<usize> {
    let is_missing = |it: &usize| {
        let gate = &builder.plan.gates[*it];
        gate.slot.is_some() && gate.known && !gate.is_settled(values) && gate.is_asked_for(values)
    };
    fitted.needs.iter().copied().filter(is_missing).collect()
}
