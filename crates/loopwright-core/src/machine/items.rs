//! Loops over items: what counts as done, when a loop is over, and what calls cost.

use indexmap::IndexMap;

use super::decisions::Decision;
use super::effect::Part;
use super::event::{Cost, Listed, Outcome};
use super::impossible::Impossible;
use super::route::come_out;
use super::run::{Begun, Record, Run, Stage};
use crate::definition::{Each, EachRun, Kind, Machine, State, Workflow};
use crate::language::units::Unit;
use crate::name::Name;
use crate::signal;

/// An item that ended well counts only while it is still the same item and what its gate passed is what it was. A round
/// that did not pass opens the gate; it does not make up for what has changed since the last that did.
pub(super) fn forget_items(state: &State, run: &mut Run, now: &Listed) {
    let passed = state.gate.as_ref().and_then(|it| run.passed.get(&*it.name)).filter(|it| !it.is_empty());
    let stale = passed.is_some_and(|it| now.digest.as_ref().is_some_and(|now| now != it));
    let listed = run.listed.entry(state.name.clone()).or_default();
    let before = listed.clone();
    // One that is gone for a while is known when it comes back.
    listed.extend(now.says.iter().map(|(id, says)| (id.clone(), says.clone())));
    let says_else = |id: &String| match (before.get(id), now.says.get(id)) {
        (Some(before), Some(now)) => before != now,
        _ => false,
    };
    let keeps = |id: &String| !stale && !now.changed.contains(id) && !says_else(id);
    run.after.shift_remove(&*state.name);
    if !now.after.is_empty() {
        run.after.insert(state.name.clone(), now.after.clone());
    }
    if let Some(done) = run.items.get_mut(&*state.name) {
        done.retain(|id, _| keeps(id));
    }
    if let Some(forced) = run.forced_items.get_mut(&*state.name) {
        forced.retain(|id, _| keeps(id));
    }
    if !now.there.is_empty() {
        let done = run.items.entry(state.name.clone()).or_default();
        done.extend(now.there.iter().map(|id| (id.clone(), Name::from("done"))));
    }
}

/// Keeps how an item ended, and what was passed over in it: a later try of the loop passes on what this one left.
pub(super) fn remember_item(state: &State, run: &mut Run, id: &str, outcome: &Outcome) {
    run.items.entry(state.name.clone()).or_default().insert(id.to_owned(), outcome.signal.clone());
    let forced = run.forced_items.entry(state.name.clone()).or_default();
    if outcome.forced.is_empty() {
        forced.shift_remove(id);
    } else {
        forced.insert(id.to_owned(), outcome.forced.clone());
    }
}

/// What an item recorded is in the lists of the run around it. Run again, it does not stand there twice.
pub(super) fn take_records(state: &State, run: &mut Run, id: &str, outcome: &Outcome) {
    if signal::is_failure(&outcome.signal) {
        return;
    }
    let own = |it: &Record| it.of.as_ref() == Some(&state.name) && it.item.as_deref() == Some(id);
    for entries in run.lists.values_mut() {
        entries.retain(|it| !own(it));
    }
    for (list, entries) in &outcome.recorded {
        let of =
            |it: &Record| Record { of: Some(state.name.clone()), item: Some(id.to_owned()), ..it.clone() };
        run.lists.entry(list.clone()).or_default().extend(entries.iter().map(of));
    }
}

/// What people were asked in an item, and what it spent, is on record in the run around it.
pub(super) fn take_decisions(
    run: &mut Run,
    id: &str,
    (decisions, spent): (&[Decision], &IndexMap<Name, u32>),
) {
    run.decisions.extend(decisions.iter().cloned());
    if !spent.is_empty() {
        let all = run.spent_by_item.entry(id.to_owned()).or_default();
        for (budget, times) in spent {
            let so_far = all.entry(budget.clone()).or_insert(0);
            *so_far = so_far.saturating_add(*times);
        }
    }
}

/// Whether an item's end lets its loop go on.
pub(super) fn went_well(workflow: &Workflow, each: &Each, end: &str) -> bool {
    match &each.run {
        EachRun::Call(_) => *end == *"done",
        EachRun::Child(child) => workflow.children.get(&**child).is_some_and(|it| {
            it.ends().any(|(name, outcome)| **name == *end && outcome == crate::definition::Outcome::Success)
        }),
    }
}

/// Whether an item of the visit at hand was begun, and nothing came back yet.
pub(super) fn is_at_work(run: &Run, id: &str) -> bool {
    let is_its = |it: &Begun| matches!(&it.effect.part, Part::Item(item) if item == id);
    run.at.begun.values().any(|it| it.open && is_its(it))
}

/// How many items may be at work side by side.
pub fn most_at_once(run: &Run, each: &Each) -> usize {
    run.jobs.map_or(each.usually, |it| it.min(each.at_once)).max(1) as usize
}

/// The items of the loop at hand of which something may come yet: none came back, none ended well before, and nothing that
/// has to come before did not end well.
pub fn left_over<'r>(workflow: &Workflow, run: &'r Run) -> Vec<&'r str> {
    let (Some(Kind::Each(each)), Stage::Working { items: Some(items), ended, .. }) =
        (run.state(workflow).map(|it| &it.kind), &run.at.stage)
    else {
        return Vec::new();
    };
    let mut left: Vec<&str> = Vec::new();
    let mut barred: Vec<&str> = Vec::new();
    // In their order, so that what comes before is known.
    for id in items {
        let before = after(run, id);
        match end_of(run, ended, id) {
            Some(end) if went_well(workflow, each, end) => {}
            Some(_) if ended.contains_key(id) => barred.push(id),
            _ if before.iter().any(|it| barred.contains(&it.as_str())) => barred.push(id),
            _ => left.push(id),
        }
    }
    left
}

/// Whether what an item has to come after ended well.
pub(super) fn is_ready(
    workflow: &Workflow,
    (run, each): (&Run, &Each),
    (items, ended): (&[String], &IndexMap<String, Outcome>),
    id: &str,
) -> bool {
    let over = |it: &String| end_of(run, ended, it).is_some_and(|it| went_well(workflow, each, it));
    after(run, id).iter().filter(|it| items.contains(it)).all(over)
}

/// What an item of the loop at hand has to come after.
fn after<'r>(run: &'r Run, id: &str) -> &'r [String] {
    run.after.get(&*run.at.state).and_then(|it| it.get(id)).map(Vec::as_slice).unwrap_or_default()
}

/// How an item of the loop at hand ended, in this visit or before.
fn end_of<'r>(run: &'r Run, ended: &'r IndexMap<String, Outcome>, id: &str) -> Option<&'r Name> {
    let before = || run.items.get(&*run.at.state).and_then(|it| it.get(id));
    ended.get(id).map(|it| &it.signal).or_else(before)
}

/// Ends a loop when every item ended well, or one did not and none is at work any more. `now` is a digest of what its gate judges: with every item
/// done before, that is what passes.
pub(super) fn finish_loop(
    workflow: &Workflow,
    machine: &Machine,
    state: &State,
    run: &mut Run,
    now: Option<String>,
) -> Result<(), Impossible> {
    let (Kind::Each(each), Stage::Working { items: Some(items), ended, .. }) =
        (&state.kind, run.at.stage.clone())
    else {
        return Ok(());
    };
    let went_well = |it: &Name| went_well(workflow, each, it);
    let stopped = ended.values().any(|it| !went_well(&it.signal));
    let done_before = |id: &String| ended.contains_key(id) || end_of(run, &ended, id).is_some_and(&went_well);
    let over = if each.apart {
        // What did not end well bars what comes after it, and nothing else.
        left_over(workflow, run).is_empty()
    } else if stopped {
        !items.iter().any(|it| is_at_work(run, it))
    } else {
        items.iter().all(done_before)
    };
    if !over {
        return Ok(());
    }
    let order: Vec<&Name> = state.cells.keys().collect();
    let rank = |signal: &Name| order.iter().position(|it| *it == signal).unwrap_or(usize::MAX);
    let before = items
        .iter()
        .filter(|it| !ended.contains_key(*it))
        .filter_map(|it| run.items.get(&*state.name)?.get(it).cloned());
    let worst = ended.values().map(|it| it.signal.clone()).chain(before).max_by_key(|it| rank(it));
    let worst = worst.unwrap_or_else(|| signal::EMPTY.into());
    // Of several alike it is the first of the list, whichever came back first.
    let mut in_order = items.iter().filter_map(|it| ended.get(it));
    let mut outcome = in_order.find(|it| it.signal == worst).cloned().unwrap_or_else(|| Outcome::of(worst));
    let mut forced: Vec<Name> = ended.values().flat_map(|it| it.forced.clone()).collect();
    // Without a gate of its own, what an earlier try passed over was put on record then.
    if let Some(before) = run.forced_items.get(&*state.name).filter(|_| state.gate.is_some()) {
        let others = before.iter().filter(|(id, _)| items.contains(id) && !ended.contains_key(*id));
        forced.extend(others.flat_map(|(_, it)| it.clone()));
    }
    outcome.forced = forced;
    outcome.judged = ended.values().rev().find_map(|it| it.judged.clone()).or(now);
    outcome.cost = Cost::default();
    come_out(workflow, machine, state, run, outcome)
}

/// Counts a call and takes its cost from budgets with a unit.
pub(super) fn charge(workflow: &Workflow, machine: &Machine, state: &State, run: &mut Run, cost: Cost) {
    let advice = match &state.kind {
        Kind::Review { advice, .. } => advice.as_slice(),
        _ => &[],
    };
    let judge = state.call().and_then(|it| run.pick(&it.role).cloned());
    for role in judge.into_iter().chain(advice.iter().cloned()) {
        if workflow.roles.contains_key(&*role) {
            *run.calls.entry(role).or_insert(0) += 1;
        }
    }
    for (name, budget) in &machine.budgets {
        let used = match budget.unit() {
            Unit::Uses => continue,
            Unit::Time => cost.time,
            Unit::Money => cost.money,
            Unit::Tokens => cost.tokens,
        };
        if let Some((line, _)) = run.line(name, budget)
            && let Some(left) = run.left.get_mut(&*line)
        {
            *left = left.saturating_sub(used);
        }
    }
}
