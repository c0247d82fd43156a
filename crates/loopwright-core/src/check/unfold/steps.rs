//! Routing an outcome: the arms that can be taken, in order, and where each leads.

use super::expand::Written;
use super::fitted::{FittedCell, Spends};
use super::plan::{ArmPlan, CellPlan, Read, StatePlan, Test, To};
use super::{Builder, Unfolded, Values};
use crate::proof::graph::{Ids, Step};

/// An outcome about to be routed.
pub(super) struct Moment<'m, 'w> {
    pub(super) state: &'m StatePlan<'w>,
    pub(super) cell: &'m CellPlan<'w>,
    pub(super) fit: &'m FittedCell,
    /// The slots when the state was entered.
    pub(super) before: &'m Values,
    /// The slots when the work was done.
    pub(super) after: &'m Values,
    /// What the world decided.
    pub(super) chosen: &'m [u16],
    /// What was written, or what somebody edited.
    pub(super) written: &'m Written,
    /// A gate was passed over in an item, and the loop's own counts as passed over by that.
    pub(super) forced: bool,
}

/// The arms that can be taken, up to the first that spends nothing.
pub(super) struct Routed {
    pub(super) steps: Vec<Step>,
    /// Per step: the arm's place in the cell.
    pub(super) arms: Vec<usize>,
    /// Arms that only try the same visit again, and how often each can be taken.
    pub(super) retries: Vec<(usize, u64)>,
}

impl Unfolded<'_> {
    pub(super) fn route(&mut self, moment: &Moment<'_, '_>, builder: &Builder<'_, '_>) -> Routed {
        // Most cells have one arm that can be taken; there are very many cells.
        let mut routed =
            Routed { steps: Vec::with_capacity(1), arms: Vec::with_capacity(1), retries: Vec::new() };
        for (at, (arm, fit)) in moment.cell.arms.iter().zip(&moment.fit.arms).enumerate() {
            if !arm.when.iter().all(|it| holds(it, moment, builder)) {
                continue;
            }
            // With nowhere to go back to, there is no route.
            if arm.to == To::Back && builder.plan.from.is_none_or(|it| moment.before[it] == 0) {
                break;
            }
            if let Some(times) = fit.retries {
                routed.retries.push((at, times));
                continue;
            }
            let spend = match fit.spends {
                Spends::Never => continue,
                Spends::Nothing => Ids::default(),
                Spends::Counter(counter) => [counter].into(),
            };
            let mut values = std::mem::take(&mut self.scratch);
            let (target, refill) = lead(arm, moment, builder, &mut values);
            let to = self.node(target, &mut values, builder);
            self.scratch = values;
            let mut step = Step { to, spend, refill, breaks: fit.breaks.clone(), holds: fit.holds.clone() };
            if !moment.written.idle {
                step.holds.extend(fit.holds_by_an_item.iter());
            }
            if !moment.written.leaves_nothing {
                step.holds.extend(fit.holds_by_what_is_left.iter());
            }
            watch(&mut step, target, moment, builder);
            routed.arms.push(at);
            routed.steps.push(step);
            if fit.spends == Spends::Nothing {
                break;
            }
        }
        routed
    }
}

fn holds(test: &Test, moment: &Moment<'_, '_>, builder: &Builder<'_, '_>) -> bool {
    let value = match &test.read {
        Read::Slot(at) => moment.after[*at],
        Read::Choice(at) => moment.chosen[*at],
        Read::Owed(gate, wanted) => u16::from(owed(*gate, wanted, moment, builder)),
        Read::Nothing => return false,
    };
    test.allowed.get(usize::from(value)).copied().unwrap_or(false)
}

fn owed(index: usize, wanted: &[Test], moment: &Moment<'_, '_>, builder: &Builder<'_, '_>) -> bool {
    let gate = &builder.plan.gates[index];
    if moment.written.stale.contains(&index) {
        return gate.is_asked_for(moment.after);
    }
    // Nobody routes on it, so that an edit says which gates it made stale; this one is not among them.
    if moment.cell.stale && gate.slot.is_none() {
        return false;
    }
    wanted.iter().all(|it| holds(it, moment, builder)) && !gate.is_settled(moment.after)
}

/// What the watches see of a step beyond what the arm always does: gates that were spoiled, states that were entered.
fn watch(step: &mut Step, target: usize, moment: &Moment<'_, '_>, builder: &Builder<'_, '_>) {
    for (watch, gate) in &builder.plan.gate_watches {
        // Somebody's edit counts against the gates it is signalled for; others are looked at where they are needed.
        let spoiled = if moment.cell.stale {
            moment.written.stale.contains(gate)
        } else {
            moment.written.touched != 0
                && moment.written.touched & builder.plan.gates[*gate].judged(moment.before) != 0
        };
        if spoiled {
            step.breaks.insert(*watch);
        }
    }
    for (watch, documents) in &builder.plan.write_watches {
        if !moment.cell.stale && moment.written.touched & documents != 0 {
            step.breaks.insert(*watch);
        }
    }
    for (watch, after) in &builder.plan.after_watches {
        if *after == target {
            step.holds.remove(*watch);
            step.breaks.insert(*watch);
        }
    }
    for (watch, entered) in &builder.plan.enter_watches {
        if *entered == target {
            step.holds.insert(*watch);
        }
    }
}

/// Where an arm leads: the state, and the counters that are filled. The slots there are written to `values`.
fn lead(
    arm: &ArmPlan<'_>,
    moment: &Moment<'_, '_>,
    builder: &Builder<'_, '_>,
    values: &mut Values,
) -> (usize, Ids) {
    let (state, cell, plan) = (moment.state, moment.cell, &builder.plan);
    values.clone_from(moment.after);
    if let Some(at) = state.last {
        values[at] = cell.last;
    }
    if let Some(at) = state.ever.filter(|_| cell.well) {
        values[at] = 1;
    }
    for (at, choice, known) in &cell.last_fields {
        values[*at] = choice.map_or(0, |it| known[usize::from(moment.chosen[it])]);
    }
    if let Some(at) = state.handed.filter(|_| cell.judged) {
        // Under which topic, where the state routes by it; the last one where that does not matter here.
        let topic = cell.choices.topic().map_or(state.topics, |it| moment.chosen[it] + 1);
        values[at] = if cell.hands { topic.min(state.topics) } else { 0 };
    }
    if !moment.written.idle && !moment.written.leaves_nothing {
        moment.fit.leaves.iter().for_each(|it| values[*it] = 1);
    }
    if moment.written.helped {
        moment.fit.leaves_by_person.iter().for_each(|it| values[*it] = 1);
    }
    for slot in arm.forced.iter().filter_map(|it| plan.gates[*it].slot) {
        if values[slot.at] != slot.fresh {
            values[slot.at] = slot.forced;
        }
    }
    for (at, value) in &arm.set {
        values[*at] = *value;
    }
    for slot in arm.reopened.iter().filter_map(|it| plan.gates[*it].slot) {
        values[slot.at] = slot.open;
    }
    let own = state.index;
    let came_from = plan.from.map_or(0, |it| moment.before[it]);
    let target = match arm.to {
        To::State(at) => at,
        To::Again => own,
        To::Back => usize::from(came_from).saturating_sub(1),
    };
    let mut refill = arm.fills.clone();
    arm.anew.iter().for_each(|it| values[*it] = 0);
    if arm.to != To::Again {
        let there = &plan.states[target];
        refill.extend(there.fills.iter());
        there.anew.iter().for_each(|it| values[*it] = 0);
        if let Some(at) = plan.from {
            let passes_on = state.returns && arm.to != To::Back;
            values[at] = match (there.returns, passes_on) {
                (false, _) => 0,
                (true, true) => came_from,
                (true, false) => u16::try_from(own + 1).unwrap_or(u16::MAX),
            };
        }
    }
    (target, refill)
}
