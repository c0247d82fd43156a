//! Expanding a node: every way its work can come out.

use std::collections::hash_map::Entry;
use std::rc::Rc;

use rustc_hash::FxHashSet;

use super::choices::turn;
use super::edits::missing;
use super::facts::{Changed, read_facts};
use super::fitted::{Fitted, FittedCell};
use super::plan::{CellPlan, StatePlan};
use super::steps::{Moment, Routed};
use super::{
    Builder, Came, DECIDED, Forced, MOST_GATES, MOST_NODES, MOST_ROUTED, OVER, Spot, THERE, Unfolded, Values,
};
use crate::check::slots::{SPOILT, STANDS, Slot};
use crate::check::writes::{Documents, each};
use crate::definition::{Kind, Term};
use crate::proof::graph::{Cell, Ids, Step};
use crate::signal;

/// Documents a state wrote on its way out, or that somebody edited.
#[derive(Clone, Default)]
pub(super) struct Written {
    /// As a play says it; `None` where the state writes nothing anyway.
    pub(super) documents: Option<Documents>,
    /// Everything that may have changed by it.
    pub(super) touched: Documents,
    /// Gates that went stale because somebody edited what they judged.
    pub(super) stale: Vec<usize>,
    /// Nothing was run, so that nobody was met.
    pub(super) idle: bool,
    /// Somebody decided something in an item beside.
    pub(super) helped: bool,
    /// No item was done, though one may have been.
    pub(super) leaves_nothing: bool,
}

/// A cell as it was found.
struct FoundCell {
    cell: Cell,
    came: Came,
    /// Which of the state's cells it is.
    number: usize,
}

impl Unfolded<'_> {
    pub(super) fn expand(&mut self, node: usize, builder: &mut Builder<'_, '_>) {
        if self.nodes.len() > MOST_NODES || self.routed > MOST_ROUTED {
            self.cut = true;
            return;
        }
        let Some(spot) = self.nodes.get_index(node).filter(|it| it.part != OVER).cloned() else { return };
        let class = self.class_of[node];
        let fitted = self.fitted(class, &spot, builder);
        let heeded = fitted.heeds.iter().map(|it| spot.values[*it]).collect();
        match builder.like.entry((class, spot.part, heeded)) {
            Entry::Occupied(like) => {
                let like = *like.get();
                let cells = self.cells_like(like, &spot, class, &fitted, builder);
                debug_assert!(
                    self.ways_out(&spot, class, &fitted, builder)
                        .into_iter()
                        .map(|it| it.cell)
                        .eq(cells.clone()),
                    "what a state does not heed makes no difference to it: {spot:?}"
                );
                self.graph.nodes[node].cells = cells;
                self.outcomes[node] = Rc::clone(&self.outcomes[like]);
            }
            Entry::Vacant(like) => {
                like.insert(node);
                let found = self.ways_out(&spot, class, &fitted, builder);
                let (cells, outcomes): (Vec<Cell>, Vec<Rc<Came>>) =
                    found.into_iter().map(|it| (it.cell, known(it.came, &mut builder.known))).unzip();
                self.graph.nodes[node].cells = cells;
                self.outcomes[node] = outcomes.into();
            }
        }
    }

    /// The cells of a node whose state heeds nothing that is otherwise than in another node: the same, but for what is
    /// carried along.
    fn cells_like(
        &mut self,
        like: usize,
        spot: &Spot,
        class: u32,
        fitted: &Fitted,
        builder: &Builder<'_, '_>,
    ) -> Vec<Cell> {
        let mut cells = self.graph.nodes[like].cells.clone();
        let mut values = std::mem::take(&mut self.scratch);
        for step in cells.iter_mut().flat_map(|it| &mut it.steps) {
            let there = &self.nodes[step.to as usize];
            let (state, part) = (usize::from(there.state), there.part);
            if part != THERE {
                step.to = self.part(spot, class, part);
                continue;
            }
            values.clone_from(&spot.values);
            fitted.heeds.iter().for_each(|it| values[*it] = there.values[*it]);
            step.to = self.node(state, &mut values, builder);
        }
        self.scratch = values;
        cells
    }

    /// Every way the work of a node can come out.
    fn ways_out(
        &mut self,
        spot: &Spot,
        class: u32,
        fitted: &Fitted,
        builder: &Builder<'_, '_>,
    ) -> Vec<FoundCell> {
        let state = &builder.plan.states[usize::from(spot.state)];
        let missing = missing(fitted, &spot.values, builder);
        if state.attended || !state.sees.is_empty() || fitted.writes != 0 {
            self.tell_gates_apart(&state.state.name, &spot.values, builder);
        }
        let mut found: Vec<FoundCell> = Vec::new();
        for (number, (cell, fit)) in state.cells.iter().zip(&fitted.cells).enumerate() {
            let decided = DECIDED + u16::try_from(number).unwrap_or(0);
            if spot.part != THERE && spot.part != decided || !fit.can || cell.again {
                continue;
            }
            // What is missing already shows before any work is done.
            if !missing.is_empty() && !cell.stale {
                continue;
            }
            if spot.part == THERE && fit.decided {
                let to = self.part(spot, class, decided);
                let came = Came { signal: cell.signal.clone(), decides: true, ..Came::default() };
                let cell = Cell { waits: true, steps: vec![Step { to, ..Step::default() }] };
                found.push(FoundCell { cell, came, number: 0 });
                if !fit.done {
                    continue;
                }
            }
            if cell.choices.too_many {
                if !self.too_wide.contains(&state.state.name) {
                    self.too_wide.push(state.state.name.clone());
                }
                continue;
            }
            self.cells_of(state, number, (fitted, fit), spot, builder, &mut found);
        }
        if matches!(state.state.kind, Kind::End { .. }) && !state.cells.is_empty() && missing.is_empty() {
            let to = self.part(spot, class, OVER);
            let came = Came { signal: signal::ALWAYS.into(), ..Came::default() };
            let cell = Cell { waits: false, steps: vec![Step { to, ..Step::default() }] };
            found.push(FoundCell { cell, came, number: 0 });
        }
        found
    }

    fn fitted(&self, class: u32, spot: &Spot, builder: &mut Builder<'_, '_>) -> Rc<Fitted> {
        let class = class as usize;
        if builder.fitted.len() <= class {
            builder.fitted.resize(class + 1, None);
        }
        let state = &builder.plan.states[usize::from(spot.state)];
        let fit = || builder.fitter.fit(self, &builder.plan, state, &spot.values);
        Rc::clone(builder.fitted[class].get_or_insert_with(fit))
    }

    /// Every way one signal of a state can come out.
    fn cells_of(
        &mut self,
        state: &StatePlan<'_>,
        number: usize,
        (fitted, fit): (&Fitted, &FittedCell),
        spot: &Spot,
        builder: &Builder<'_, '_>,
        found: &mut Vec<FoundCell>,
    ) {
        let cell = &state.cells[number];
        // Under the last topic, it may be about any.
        let any = |it: u16| if it > 0 && it == state.topics { u16::MAX } else { it };
        let handed = state.handed.map(|it| any(spot.values[it]));
        let sizes = cell.choices.sizes(handed.is_some_and(|it| it > 0));
        let waited = spot.part != THERE;
        let done = (fit.done && !waited).then(|| Written { idle: true, ..Written::default() });
        let worked = if fit.only_done || fit.decided && !waited {
            Vec::new()
        } else {
            self.writings((state, cell), fitted, &spot.values, builder)
        };
        let helped = worked.iter().filter(|_| !fit.leaves_by_person.is_empty());
        let helped: Vec<Written> = helped.map(|it| Written { helped: true, ..it.clone() }).collect();
        let told = fit.arms.iter().any(|it| it.holds_by_what_is_left != Ids::default());
        let barren: Vec<Written> =
            worked.iter().filter(|_| told).map(|it| Written { leaves_nothing: true, ..it.clone() }).collect();
        let gate = state.own_gate.and_then(|it| builder.plan.gates[it].slot);
        let is_forced =
            |values: &Values| gate.is_some_and(|it| it.forced != it.fresh && values[it.at] == it.forced);
        for written in done.into_iter().chain(worked).chain(helped).chain(barren) {
            for changed in self.after_work(state, (cell, fit), fitted, &spot.values, &written, builder) {
                // What is not asked for at present cannot be missing.
                let asked_for = |it: &usize| builder.plan.gates[*it].is_asked_for(&changed.values);
                if cell.stale && !written.stale.iter().any(asked_for) {
                    continue;
                }
                if self.routed > MOST_ROUTED {
                    self.cut = true;
                    return;
                }
                let mut chosen = vec![0; sizes.len()];
                loop {
                    self.routed += 1;
                    let moment = Moment {
                        state,
                        cell,
                        fit,
                        before: &spot.values,
                        after: &changed.values,
                        chosen: &chosen,
                        written: &written,
                        forced: cell.passes && fit.forced != Forced::Never && is_forced(&changed.values),
                    };
                    if cell.choices.agree(&chosen, handed) {
                        let routed = self.route(&moment, builder);
                        self.keep(&moment, routed, number, &changed, found);
                    }
                    if !turn(&mut chosen, &sizes) {
                        break;
                    }
                }
            }
        }
    }

    /// Keeps a cell. Outcomes that lead to the same place in the same way are one: ten failures with one route.
    fn keep(
        &self,
        moment: &Moment<'_, '_>,
        routed: Routed,
        number: usize,
        changed: &Changed,
        found: &mut Vec<FoundCell>,
    ) {
        let written = moment.written;
        let missing_already = moment.cell.stale && written.documents.is_none();
        let waits = moment.cell.waits && !missing_already
            || changed.edited != 0
            || changed.by_person
            || written.helped;
        let cell = Cell { waits, steps: routed.steps };
        let place = |number: usize, arm: usize| moment.state.cells[number].arms[arm].arm.place.bytes.start;
        let alike = |it: &FoundCell| {
            it.cell == cell
                && it.came.arms.len() == routed.arms.len()
                && it
                    .came
                    .arms
                    .iter()
                    .zip(&routed.arms)
                    .all(|(a, b)| place(it.number, *a) == place(number, *b))
        };
        if !cell.steps.is_empty() && found.iter().any(alike) {
            return;
        }
        let mut came = Came {
            signal: moment.cell.signal.clone(),
            wrote: written.documents,
            edited: changed.edited,
            retries: routed.retries,
            arms: routed.arms,
            forced: moment.forced,
            ..Came::default()
        };
        moment.cell.choices.tell(moment.chosen, &mut came);
        for slot in &changed.facts {
            if let (Slot::Term(Term::Fact(name)), Some(value)) =
                (&self.slots.kept[*slot].slot, self.value(&changed.values, *slot))
            {
                came.facts.push((name.clone(), value));
            }
        }
        found.push(FoundCell { cell, came, number });
    }

    /// What a state may have written when it comes out. One that judges nothing and spoils nothing anybody routes on is
    /// taken to have written all it may; where routing looks at gates, every subset that tells them apart.
    fn writings(
        &self,
        (state, cell): (&StatePlan<'_>, &CellPlan<'_>),
        fitted: &Fitted,
        values: &Values,
        builder: &Builder<'_, '_>,
    ) -> Vec<Written> {
        let shelf = self.shelf;
        if cell.stale {
            return self.stale_ways(state, fitted, values, builder);
        }
        let may = fitted.writes;
        if may == 0 || cell.idle {
            return vec![Written::default()];
        }
        // Gates routing looks at, that stand settled and that this state could spoil.
        let touched = shelf.touched(may);
        let mut at_stake: Vec<Documents> = Vec::new();
        for gate in builder.plan.gates.iter().filter(|it| it.is_settled(values) || it.stands(values)) {
            let judged = gate.judged(values);
            if touched & judged != 0 && !at_stake.contains(&judged) {
                at_stake.push(judged);
            }
        }
        if at_stake.is_empty() {
            return vec![Written { documents: Some(may), touched, ..Written::default() }];
        }
        let mut found: Vec<Written> = Vec::new();
        for subset in 0..1_u32 << at_stake.len().min(MOST_GATES) {
            let spared = at_stake.iter().enumerate().filter(|(at, _)| subset & (1 << at) != 0);
            let spared: Documents = spared.fold(0, |set, (_, it)| set | it);
            let written = each(may).filter(|it| shelf.touched(*it) & spared == 0).fold(0, |set, it| set | it);
            if !found.iter().any(|it| it.documents == Some(written)) {
                let touched = shelf.touched(written);
                found.push(Written { documents: Some(written), touched, ..Written::default() });
            }
        }
        found
    }

    /// Gates and facts as they stand when the work is done and routing begins.
    fn after_work(
        &self,
        state: &StatePlan<'_>,
        (cell, fit): (&CellPlan<'_>, &FittedCell),
        fitted: &Fitted,
        values: &Values,
        written: &Written,
        builder: &Builder<'_, '_>,
    ) -> Vec<Changed> {
        let mut found = Vec::new();
        for (edited, touched) in self.edits_seen(state, (cell, written.idle), fitted, values, builder) {
            let touched = if written.idle { touched } else { touched | fit.edited };
            let mut after = values.clone();
            let mut open: Vec<(usize, Vec<u16>)> = Vec::new();
            for (at, gate) in builder.plan.gates.iter().enumerate() {
                let touched = touched | written.touched;
                let judged_now = state.own_gate == Some(at) && fitted.judges && !cell.stale;
                if let Some(passed) = gate.passed {
                    let spoilt = gate.stands(values) && touched & gate.judged(values) != 0;
                    if judged_now && cell.passes {
                        after[passed] = STANDS;
                    } else if spoilt {
                        after[passed] = SPOILT;
                    }
                }
                let Some(slot) = gate.slot else { continue };
                if touched != 0 && gate.is_settled(values) && touched & gate.judged(values) != 0 {
                    after[slot.at] = slot.stale;
                }
                if judged_now {
                    match fit.forced {
                        _ if !cell.passes => after[slot.at] = slot.open,
                        Forced::Never => after[slot.at] = slot.fresh,
                        Forced::Always => after[slot.at] = slot.forced,
                        Forced::Maybe => open.push((slot.at, vec![slot.fresh, slot.forced])),
                    }
                }
            }
            read_facts(state, cell, written.touched, after, open, edited, &mut found);
        }
        found
    }
}

/// An outcome, as it was met before if it was.
fn known(came: Came, known: &mut FxHashSet<Rc<Came>>) -> Rc<Came> {
    if let Some(before) = known.get(&came) {
        return Rc::clone(before);
    }
    let came = Rc::new(came);
    known.insert(Rc::clone(&came));
    came
}
