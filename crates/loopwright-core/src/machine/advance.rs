//! Folding a fact into a run.

use indexmap::IndexMap;

use super::decide;
use super::effect::{EffectId, Part};
use super::event::{Event, Evidence, Observed, Outcome, Started};
use super::ledger::Ledger;
use super::run::{At, Cause, GateRecord, Last, Record, Run, Stage, Taken, lines};
use crate::definition::{Arm, EachRun, Kind, Machine, State, Target, Workflow};
use crate::language::units::Unit;
use crate::name::Name;
use crate::signal;

/// An event that cannot follow. A journal that holds one is damaged; a workflow that leads to one was not proved.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Impossible {
    /// The run is pinned to another definition.
    #[error("the run is pinned to definition `{pinned}`, and this is `{given}`")]
    OtherDefinition {
        /// What it is pinned to.
        pinned: String,
        /// What it was given.
        given: String,
    },
    /// The definition has no such name.
    #[error("the workflow has no {what} `{name}`")]
    Unknown {
        /// What kind of thing.
        what: &'static str,
        /// Its name.
        name: Name,
    },
    /// Nothing is waiting for this.
    #[error("nothing is waiting for `{effect}`")]
    NotWaiting {
        /// The effect.
        effect: EffectId,
    },
    /// The state cannot come out like that.
    #[error("`{state}` cannot signal `{signal}`")]
    NoSuchSignal {
        /// The state.
        state: Name,
        /// The signal.
        signal: Name,
    },
    /// No arm holds and can be paid.
    #[error("`{state}` has no route for `{signal}`")]
    NoRoute {
        /// The state.
        state: Name,
        /// The signal.
        signal: Name,
    },
    /// The verb is not taken here.
    #[error("`{verb}` is not taken in `{state}`")]
    VerbRefused {
        /// The verb.
        verb: Name,
        /// Where the run stands.
        state: Name,
    },
    /// The run is over.
    #[error("the run is over")]
    Over,
}

/// Begins a run.
pub fn begin(workflow: &Workflow, started: &Started) -> Result<Run, Impossible> {
    if started.definition != workflow.digest {
        return Err(Impossible::OtherDefinition {
            pinned: started.definition.clone(),
            given: workflow.digest.clone(),
        });
    }
    let unknown = |what, name: &str| Impossible::Unknown { what, name: name.into() };
    let machine = workflow
        .machine(started.child.as_deref())
        .ok_or_else(|| unknown("child", started.child.as_deref().unwrap_or_default()))?;
    let mut run = Run {
        definition: started.definition.clone(),
        child: started.child.clone(),
        subject: started.subject.clone(),
        item: started.item.clone(),
        inputs: started.inputs.clone(),
        at: At { state: "".into(), visit: 0, attempt: 1, from: None, stage: Stage::Ended },
        phase: None,
        vars: machine.vars.iter().map(|(name, it)| (name.clone(), it.start.clone())).collect(),
        once: started.facts.clone(),
        left: IndexMap::new(),
        spent: IndexMap::new(),
        visits: IndexMap::new(),
        last: IndexMap::new(),
        ever: Vec::new(),
        gates: IndexMap::new(),
        ledger: Ledger::default(),
        lists: IndexMap::new(),
        forced: Vec::new(),
        cause: None,
        outer: started.outer.clone(),
        calls: IndexMap::new(),
        items: IndexMap::new(),
        taken: Vec::new(),
    };
    for (name, value) in &started.vars {
        if !machine.vars.get(&**name).is_some_and(|it| it.values.contains(value)) {
            return Err(unknown("value of a variable", value));
        }
        run.vars.insert(name.clone(), value.clone());
    }
    for (name, budget) in &machine.budgets {
        run.left.extend(lines(name, budget));
    }
    if let Some(phase) = &started.phase {
        return land(workflow, machine, run, phase);
    }
    let start = machine
        .start
        .iter()
        .find(|it| it.verb == started.verb || started.verb.is_none() && it.verb.is_none())
        .or_else(|| machine.start.first().filter(|_| started.verb.is_none()))
        .ok_or_else(|| unknown("beginning with the verb", started.verb.as_deref().unwrap_or_default()))?;
    let Target::State(first) = &start.arm.to else { return Err(unknown("state", "again")) };
    for (name, value) in &start.arm.set {
        run.vars.insert(name.clone(), value.clone());
    }
    let first = first.clone();
    enter(workflow, machine, &mut run, &first, None)?;
    Ok(run)
}

/// Folds a fact into a run.
pub fn advance(workflow: &Workflow, run: &Run, event: &Event) -> Result<Run, Impossible> {
    let mut next = run.clone();
    next.taken.clear();
    match event {
        Event::Started(started) => begin(workflow, started),
        Event::Issued { effect, attempt } => {
            if *effect.state == *next.at.state && effect.part == Part::Work {
                next.at.attempt = (*attempt).max(next.at.attempt);
            }
            Ok(next)
        }
        Event::Stopped { .. } => {
            next.at.stage = Stage::Ended;
            Ok(next)
        }
        Event::Raised { budget, by } => {
            let line = next.left.get_mut(&**budget);
            let line = line.ok_or_else(|| Impossible::Unknown { what: "budget", name: budget.clone() })?;
            *line = line.saturating_add(u64::from(*by));
            Ok(next)
        }
        _ if run.is_over() => Err(Impossible::Over),
        Event::Said { verb, inputs } => {
            next.inputs.extend(inputs.iter().map(|(name, it)| (name.clone(), it.clone())));
            say(workflow, next, verb)
        }
        Event::Landed { phase } => {
            let machine = machine_of(workflow, run)?;
            land(workflow, machine, next, phase)
        }
        Event::Settled { effect, evidence } => settle(workflow, next, effect, evidence),
    }
}

fn machine_of<'w>(workflow: &'w Workflow, run: &Run) -> Result<&'w Machine, Impossible> {
    run.machine(workflow)
        .ok_or_else(|| Impossible::Unknown { what: "child", name: run.child.clone().unwrap_or_default() })
}

fn state_of<'w>(machine: &'w Machine, run: &Run) -> Result<&'w State, Impossible> {
    machine
        .states
        .get(&*run.at.state)
        .ok_or_else(|| Impossible::Unknown { what: "state", name: run.at.state.clone() })
}

/// Puts a run where a phase lands. Nothing starts by itself there.
fn land(workflow: &Workflow, machine: &Machine, mut run: Run, phase: &Name) -> Result<Run, Impossible> {
    let row = workflow
        .phases
        .get(&**phase)
        .ok_or_else(|| Impossible::Unknown { what: "phase", name: phase.clone() })?;
    for gate in &row.settles {
        run.gates.insert(gate.clone(), GateRecord { forced: true, digest: String::new() });
        run.forced.push(gate.clone());
    }
    let at = row.at.clone();
    enter(workflow, machine, &mut run, &at, row.back.clone())?;
    let waits = machine
        .states
        .get(&*at)
        .is_some_and(|it| matches!(it.kind, Kind::Rest { .. } | Kind::Ask { .. } | Kind::End { .. }));
    if !waits {
        run.at.stage = Stage::Paused;
    }
    run.phase = Some(phase.clone());
    Ok(run)
}

/// Enters a state: counts the visit, fills what it fills, shows what it shows.
fn enter(
    workflow: &Workflow,
    machine: &Machine,
    run: &mut Run,
    name: &Name,
    from: Option<Name>,
) -> Result<(), Impossible> {
    let state = machine
        .states
        .get(&**name)
        .ok_or_else(|| Impossible::Unknown { what: "state", name: name.clone() })?;
    let visit = run.visits.entry(name.clone()).or_insert(0);
    *visit = visit.saturating_add(1);
    let visit = *visit;
    for budget in Run::filled_by(machine, name).cloned().collect::<Vec<_>>() {
        run.fill(machine, &budget);
        decide::stretch_anew(machine, run, &budget);
    }
    for (list, per) in &workflow.lists {
        if per.contains(name) {
            run.lists.shift_remove(&**list);
        }
    }
    let shown = machine.qualified(name);
    if let Some((phase, _)) = workflow.phases.iter().find(|(_, row)| row.show.contains(&shown)) {
        run.phase = Some(phase.clone());
    }
    if matches!(&state.kind, Kind::Each(each) if each.anew) {
        run.items.shift_remove(&**name);
    }
    run.at = At { state: name.clone(), visit, attempt: 1, from, stage: Stage::working() };
    begin_work(workflow, machine, state, run)
}

/// The first thing that happens in a state.
fn begin_work(
    workflow: &Workflow,
    machine: &Machine,
    state: &State,
    run: &mut Run,
) -> Result<(), Impossible> {
    let needs = run.pick(&state.needs).cloned().unwrap_or_default();
    if !needs.is_empty() {
        if decide::needs_looking(machine, run, &needs) {
            run.at.stage = Stage::Needing;
            return Ok(());
        }
        if !decide::needs_met(machine, run, &needs, &Observed::default()) {
            return come_out(workflow, machine, state, run, Outcome::of(signal::STALE));
        }
    }
    work(workflow, machine, state, run)
}

fn work(workflow: &Workflow, machine: &Machine, state: &State, run: &mut Run) -> Result<(), Impossible> {
    run.at.stage = Stage::working();
    match &state.kind {
        Kind::End { .. } => {
            run.at.stage = Stage::Ended;
            Ok(())
        }
        Kind::Choose | Kind::Settle { .. } => {
            come_out(workflow, machine, state, run, Outcome::of(signal::ALWAYS))
        }
        Kind::Do { actions, .. } if actions.is_empty() => {
            come_out(workflow, machine, state, run, Outcome::of("done"))
        }
        Kind::Agent(_) | Kind::Review { .. } if run.is_over_budget(machine) => {
            come_out(workflow, machine, state, run, Outcome::of(signal::OVER_BUDGET))
        }
        _ => Ok(()),
    }
}

fn say(workflow: &Workflow, mut run: Run, verb: &Name) -> Result<Run, Impossible> {
    let machine = machine_of(workflow, &run)?;
    let state = state_of(machine, &run)?;
    if run.at.stage == Stage::Paused && **verb == *"resume" {
        begin_work(workflow, machine, state, &mut run)?;
        return Ok(run);
    }
    let spoken = signal::verb(verb);
    let takes =
        matches!(state.kind, Kind::Rest { .. } | Kind::Ask { .. }) && state.cells.contains_key(&*spoken);
    if !takes || matches!(run.at.stage, Stage::Deciding { .. }) {
        return Err(Impossible::VerbRefused { verb: verb.clone(), state: run.at.state.clone() });
    }
    come_out(workflow, machine, state, &mut run, Outcome::of(spoken))?;
    Ok(run)
}

fn settle(
    workflow: &Workflow,
    mut run: Run,
    effect: &EffectId,
    evidence: &Evidence,
) -> Result<Run, Impossible> {
    let machine = machine_of(workflow, &run)?;
    let state = state_of(machine, &run)?;
    let not_waiting = || Impossible::NotWaiting { effect: effect.clone() };
    if effect.state != run.at.state || effect.visit != run.at.visit {
        return Err(not_waiting());
    }
    if let Evidence::Observed(seen) = evidence {
        decide::adopt(&mut run, seen);
    }
    match (run.at.stage.clone(), &effect.part, evidence) {
        (Stage::Needing, Part::Needs, Evidence::Observed(seen)) => {
            let needs = run.pick(&state.needs).cloned().unwrap_or_default();
            if decide::needs_met(machine, &run, &needs, seen) {
                work(workflow, machine, state, &mut run)?;
            } else {
                come_out(workflow, machine, state, &mut run, Outcome::of(signal::STALE))?;
            }
            Ok(run)
        }
        (Stage::Deciding { outcome, same_again, topic }, Part::Routing, Evidence::Observed(seen)) => {
            let asked = decide::Asked { outcome: &outcome, same_again, topic: topic.as_ref() };
            route(workflow, machine, state, &mut run, &asked, seen)?;
            Ok(run)
        }
        (Stage::Working { .. }, Part::Work, Evidence::Out(outcome)) => {
            charge(workflow, machine, state, &mut run, outcome);
            come_out(workflow, machine, state, &mut run, (**outcome).clone())?;
            Ok(run)
        }
        (Stage::Working { action, .. }, Part::Action(index), Evidence::Out(outcome)) if *index == action => {
            let Kind::Do { actions, .. } = &state.kind else { return Err(not_waiting()) };
            let more = (action as usize) + 1 < actions.len();
            if *outcome.signal == *"done" && more {
                run.at.stage =
                    Stage::Working { action: action + 1, items: None, ordered: true, ended: IndexMap::new() };
            } else {
                come_out(workflow, machine, state, &mut run, (**outcome).clone())?;
            }
            Ok(run)
        }
        (Stage::Working { items: None, .. }, Part::Items, Evidence::Out(outcome))
            if signal::is_failure(&outcome.signal) =>
        {
            come_out(workflow, machine, state, &mut run, (**outcome).clone())?;
            Ok(run)
        }
        (
            Stage::Working { items: None, ended, .. },
            Part::Items,
            Evidence::Items { ids, ordered, digest, changed },
        ) => {
            forget_items(state, &mut run, digest.as_deref(), changed);
            run.at.stage = Stage::Working { action: 0, items: Some(ids.clone()), ordered: *ordered, ended };
            if !ordered {
                come_out(workflow, machine, state, &mut run, Outcome::of(signal::UNORDERED))?;
            } else if ids.is_empty() {
                come_out(workflow, machine, state, &mut run, Outcome::of(signal::EMPTY))?;
            } else {
                finish_loop(workflow, machine, state, &mut run)?;
            }
            Ok(run)
        }
        (Stage::Working { items: Some(items), .. }, Part::Item(id), Evidence::Out(outcome))
            if items.contains(id) =>
        {
            charge(workflow, machine, state, &mut run, outcome);
            if let Stage::Working { ended, .. } = &mut run.at.stage {
                ended.insert(id.clone(), (**outcome).clone());
            }
            run.items.entry(state.name.clone()).or_default().insert(id.clone(), outcome.signal.clone());
            finish_loop(workflow, machine, state, &mut run)?;
            Ok(run)
        }
        _ => Err(not_waiting()),
    }
}

/// An item that ended well counts only while its gate is not stale and it is still the same item.
fn forget_items(state: &State, run: &mut Run, digest: Option<&str>, changed: &[String]) {
    let gate = state.gate.as_ref().and_then(|it| run.gates.get(&*it.name));
    let stale = gate.is_some_and(|it| !it.digest.is_empty() && digest.is_some_and(|now| now != it.digest));
    if let Some(done) = run.items.get_mut(&*state.name) {
        done.retain(|id, _| !stale && !changed.contains(id));
    }
}

/// Ends a loop when every item ended well, or one did not.
fn finish_loop(
    workflow: &Workflow,
    machine: &Machine,
    state: &State,
    run: &mut Run,
) -> Result<(), Impossible> {
    let (Kind::Each(each), Stage::Working { items: Some(items), ended, .. }) =
        (&state.kind, run.at.stage.clone())
    else {
        return Ok(());
    };
    let went_well = |signal: &Name| match &each.run {
        EachRun::Call(_) => **signal == *"done",
        EachRun::Child(child) => workflow.children.get(&**child).is_some_and(|it| {
            it.ends().any(|(name, outcome)| name == signal && outcome == crate::definition::Outcome::Success)
        }),
    };
    let stopped = ended.values().any(|it| !went_well(&it.signal));
    let done_before = |id: &String| {
        ended.contains_key(id)
            || run.items.get(&*state.name).and_then(|it| it.get(id)).is_some_and(&went_well)
    };
    if !stopped && !items.iter().all(done_before) {
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
    let mut outcome =
        ended.values().find(|it| it.signal == worst).cloned().unwrap_or_else(|| Outcome::of(worst));
    outcome.forced = ended.values().flat_map(|it| it.forced.clone()).collect();
    outcome.judged = ended.values().rev().find_map(|it| it.judged.clone());
    outcome.cost = super::event::Cost::default();
    come_out(workflow, machine, state, run, outcome)
}

/// Counts a call and takes its cost from budgets with a unit.
fn charge(workflow: &Workflow, machine: &Machine, state: &State, run: &mut Run, outcome: &Outcome) {
    if let Some(role) = state.call().and_then(|it| run.pick(&it.role).cloned())
        && workflow.roles.contains_key(&*role)
    {
        *run.calls.entry(role).or_insert(0) += 1;
    }
    for (name, budget) in &machine.budgets {
        let used = match budget.unit() {
            Unit::Uses => continue,
            Unit::Time => outcome.cost.time,
            Unit::Money => outcome.cost.money,
            Unit::Tokens => outcome.cost.tokens,
        };
        if let Some(left) = run.left.get_mut(&**name) {
            *left = left.saturating_sub(used);
        }
    }
}

/// The work of a state came out: what a judge found goes to the ledger, gates open or pass, and the way on is sought.
fn come_out(
    workflow: &Workflow,
    machine: &Machine,
    state: &State,
    run: &mut Run,
    outcome: Outcome,
) -> Result<(), Impossible> {
    let (outcome, same_again, topic) = decide::judge(workflow, state, run, outcome);
    if !state.cells.contains_key(&*outcome.signal) {
        return Err(Impossible::NoSuchSignal { state: state.name.clone(), signal: outcome.signal });
    }
    let asked = decide::Asked { outcome: &outcome, same_again, topic: topic.as_ref() };
    if decide::wanted(machine, state, run, &asked).is_none() {
        return route(workflow, machine, state, run, &asked, &Observed::default());
    }
    run.at.stage = Stage::Deciding { outcome: Box::new(outcome), same_again, topic };
    Ok(())
}

/// Takes the first arm that holds and can be paid.
fn route(
    workflow: &Workflow,
    machine: &Machine,
    state: &State,
    run: &mut Run,
    asked: &decide::Asked<'_>,
    seen: &Observed,
) -> Result<(), Impossible> {
    let signal = asked.outcome.signal.clone();
    let arms = state.cells.get(&*signal).map(|it| it.arms.as_slice()).unwrap_or_default();
    let mut exhausted = None;
    let mut found: Option<&Arm> = None;
    for arm in arms {
        if !arm.when.iter().all(|it| decide::holds(machine, run, it, asked, seen)) {
            continue;
        }
        if let Some(budget) = arm.spend.as_ref().filter(|it| !run.can_spend(machine, it)) {
            exhausted = Some(budget.clone());
            continue;
        }
        found = Some(arm);
        break;
    }
    // With nowhere to go back to, there is no route.
    let leads = |arm: &&Arm| arm.to != Target::Back || run.at.from.is_some();
    let Some(arm) = found.filter(leads) else {
        return Err(Impossible::NoRoute { state: state.name.clone(), signal });
    };
    remember(state, run, asked);
    pay(machine, run, arm);
    decide::repair_is_handed(state, run, asked);
    record(state, run, arm, asked);
    decide::force(run, arm, seen);
    for (name, value) in &arm.set {
        run.vars.insert(name.clone(), value.clone());
    }
    decide::forget_tables(machine, run, arm);
    for budget in &arm.refill {
        run.fill(machine, budget);
        decide::stretch_anew(machine, run, budget);
    }
    run.cause = Some(Cause {
        state: state.name.clone(),
        signal: signal.clone(),
        summary: asked.outcome.summary.clone(),
        exhausted,
    });
    let came_from = run.at.from.clone();
    let (to, back) = match &arm.to {
        Target::State(name) => (Some(name.clone()), false),
        Target::Again => (None, false),
        Target::Back => (came_from.clone(), true),
    };
    run.taken.push(Taken {
        state: state.name.clone(),
        signal,
        arm: arm.place.clone(),
        spent: arm.spend.clone(),
        to: to.clone().unwrap_or_else(|| state.name.clone()),
    });
    let Some(to) = to else {
        run.at.attempt = run.at.attempt.saturating_add(1);
        return begin_work(workflow, machine, state, run);
    };
    let target_returns = machine.states.get(&*to).is_some_and(State::returns);
    let from = match (target_returns, state.returns()) {
        (false, _) => None,
        (true, true) if !back => came_from,
        (true, _) => Some(state.name.clone()),
    };
    enter(workflow, machine, run, &to, from)
}

fn remember(state: &State, run: &mut Run, asked: &decide::Asked<'_>) {
    let outcome = asked.outcome;
    if !signal::is_failure(&outcome.signal)
        && outcome.signal != signal::STALE
        && !run.ever.contains(&state.name)
    {
        run.ever.push(state.name.clone());
    }
    run.last.insert(
        state.name.clone(),
        Last {
            signal: outcome.signal.clone(),
            fields: outcome.fields.clone(),
            summary: outcome.summary.clone(),
            note: outcome.note.clone(),
            visit: run.at.visit,
        },
    );
}

fn pay(machine: &Machine, run: &mut Run, arm: &Arm) {
    let Some(name) = &arm.spend else { return };
    if let Some((line, _)) = machine.budgets.get(&**name).and_then(|it| run.line(name, it))
        && let Some(left) = run.left.get_mut(&*line)
    {
        *left = left.saturating_sub(1);
        *run.spent.entry(name.clone()).or_insert(0) += 1;
    }
}

fn record(state: &State, run: &mut Run, arm: &Arm, asked: &decide::Asked<'_>) {
    for list in &arm.record {
        let gate = state.gate.as_ref().map_or(&state.name, |it| &it.name);
        let mut entries: Vec<Record> = Vec::new();
        if matches!(state.kind, Kind::Review { .. }) {
            let blocking = run.ledger.open(gate).any(|(_, it)| it.blocks);
            for (id, finding) in run.ledger.open(gate).filter(|(_, it)| it.blocks || !blocking) {
                entries.push(Record {
                    item: run.item.clone(),
                    state: state.name.clone(),
                    signal: asked.outcome.signal.clone(),
                    summary: finding.text.clone(),
                    finding: Some(id.clone()),
                });
            }
        }
        if entries.is_empty() {
            entries.push(Record {
                item: run.item.clone(),
                state: state.name.clone(),
                signal: asked.outcome.signal.clone(),
                summary: asked.outcome.summary.clone(),
                finding: None,
            });
        }
        run.lists.entry(list.clone()).or_default().extend(entries);
    }
}
