//! Folding a fact into a run.

use indexmap::IndexMap;

use super::ahead;
use super::decide;
use super::decisions;
use super::effect::Part;
use super::event::{Event, Observed, Outcome, Shown, Started};
use super::impossible::Impossible;
use super::items::take_decisions;
use super::ledger::Ledger;
use super::route::{come_out, go_on};
use super::run::{At, Begun, GateRecord, Run, Stage, lines};
use super::settle::{put_off, settle};
use crate::definition::{Kind, Machine, State, Target, Workflow};
use crate::language::units::Unit;
use crate::name::Name;
use crate::signal;

/// Begins a run.
pub fn begin(workflow: &Workflow, started: &Started) -> Result<Run, Impossible> {
    let mut run = before(workflow, started)?;
    let machine = machine_of(workflow, &run)?;
    if let Some(phase) = &started.phase {
        return land(workflow, machine, run, phase, &started.digests);
    }
    let unknown = |what, name: &str| Impossible::Unknown { what, name: name.into() };
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
    let outcome = enter(workflow, machine, &mut run, &first, None)?;
    go_on(workflow, machine, &mut run, outcome)?;
    Ok(run)
}

/// A run that stands nowhere yet.
pub fn before(workflow: &Workflow, started: &Started) -> Result<Run, Impossible> {
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
        of: started.of.clone(),
        inputs: started.inputs.clone(),
        site: None,
        shown: Shown::default(),
        at: At {
            state: "".into(),
            visit: 0,
            attempt: 1,
            from: None,
            before: None,
            stage: Stage::Ended,
            acted: 0,
            begun: IndexMap::new(),
            until: None,
        },
        phase: None,
        vars: machine.vars.iter().map(|(name, it)| (name.clone(), it.start.clone())).collect(),
        once: started.facts.clone(),
        left: IndexMap::new(),
        spent: IndexMap::new(),
        spent_by_item: IndexMap::new(),
        visits: IndexMap::new(),
        last: IndexMap::new(),
        ever: Vec::new(),
        gates: IndexMap::new(),
        passed: IndexMap::new(),
        ledger: Ledger::default(),
        heard: IndexMap::new(),
        lists: IndexMap::new(),
        decisions: Vec::new(),
        noted: String::new(),
        forced: Vec::new(),
        cause: None,
        outer: started.outer.clone(),
        calls: IndexMap::new(),
        items: started.done.clone(),
        listed: IndexMap::new(),
        after: IndexMap::new(),
        jobs: None,
        forced_items: IndexMap::new(),
        taken: Vec::new(),
    };
    choose(machine, &mut run, &started.vars)?;
    for (name, budget) in &machine.budgets {
        run.left.extend(lines(name, budget));
    }
    Ok(run)
}

/// Gives variables values that somebody chose.
fn choose(machine: &Machine, run: &mut Run, vars: &IndexMap<Name, Name>) -> Result<(), Impossible> {
    for (name, value) in vars {
        if !machine.vars.get(&**name).is_some_and(|it| it.values.contains(value)) {
            return Err(Impossible::Unknown { what: "value of a variable", name: value.clone() });
        }
        run.vars.insert(name.clone(), value.clone());
    }
    Ok(())
}

/// Folds a fact into a run.
pub fn advance(workflow: &Workflow, run: &Run, event: &Event) -> Result<Run, Impossible> {
    let mut next = run.clone();
    next.taken.clear();
    match event {
        Event::Started(started) => begin(workflow, started),
        Event::Placed(site) => {
            next.site = Some(site.clone());
            Ok(next)
        }
        Event::Shown(shown) => {
            next.shown = shown.clone();
            Ok(next)
        }
        Event::Issued { effect, attempt, values } => {
            if effect.state == next.at.state && effect.visit == next.at.visit {
                if effect.part == Part::Work {
                    // What was said before its turn does not count: it is asked again.
                    next.heard.shift_remove(&*effect.state);
                    next.at.attempt = (*attempt).max(next.at.attempt);
                }
                next.at.until = None;
                let begun = Begun { effect: effect.clone(), open: true, values: values.clone() };
                next.at.begun.insert(effect.to_string(), begun);
                decisions::ask(workflow, &mut next, effect, values);
            }
            Ok(next)
        }
        Event::Dropped { item, decisions, spent } => {
            take_decisions(&mut next, item, (decisions, spent));
            Ok(next)
        }
        Event::Stopped { reason } => {
            decisions::set_aside(&mut next, &format!("the run was ended: {reason}"));
            next.at.stage = Stage::Ended;
            Ok(next)
        }
        Event::Jobs { most } => {
            next.jobs = Some((*most).max(1));
            Ok(next)
        }
        Event::Raised { budget, by } => {
            let declared = machine_of(workflow, run)?.budgets.get(&**budget);
            let line = declared.and_then(|it| run.line(budget, it)).map(|(line, _)| line);
            let line = next.left.get_mut(line.as_deref().unwrap_or(budget));
            let line = line.ok_or_else(|| Impossible::Unknown { what: "budget", name: budget.clone() })?;
            *line = line.saturating_add(u64::from(*by));
            Ok(next)
        }
        _ if run.is_over() => Err(Impossible::Over),
        Event::Said { verb, inputs, judged } => {
            next.inputs.extend(inputs.iter().map(|(name, it)| (name.clone(), it.clone())));
            say(workflow, next, verb, judged.clone())
        }
        Event::Landed { phase, digests, vars } => {
            let machine = machine_of(workflow, run)?;
            decisions::set_aside(&mut next, &format!("the run was put to `{phase}`"));
            forget(machine, &mut next);
            choose(machine, &mut next, vars)?;
            land(workflow, machine, next, phase, digests)
        }
        Event::Settled { effect, evidence } => settle(workflow, next, effect, evidence),
        Event::Heard { effect, key, outcome } => ahead::hear(workflow, next, effect, (key, outcome)),
        Event::PutOff { effect, until, cost, .. } => put_off(workflow, next, effect, (*until, *cost)),
    }
}

pub(super) fn machine_of<'w>(workflow: &'w Workflow, run: &Run) -> Result<&'w Machine, Impossible> {
    run.machine(workflow)
        .ok_or_else(|| Impossible::Unknown { what: "child", name: run.child.clone().unwrap_or_default() })
}

pub(super) fn state_of<'w>(machine: &'w Machine, run: &Run) -> Result<&'w State, Impossible> {
    machine
        .states
        .get(&*run.at.state)
        .ok_or_else(|| Impossible::Unknown { what: "state", name: run.at.state.clone() })
}

/// A run that a person put elsewhere goes on as one that is imported there: what it was about to do, what it had passed
/// and what it had left was about something else. What happened stays on record.
fn forget(machine: &Machine, run: &mut Run) {
    run.last.clear();
    run.ever.clear();
    run.gates.clear();
    run.passed.clear();
    run.items.clear();
    run.listed.clear();
    run.after.clear();
    run.forced_items.clear();
    run.ledger.judges.values_mut().for_each(|it| it.handed.clear());
    run.heard.clear();
    run.cause = None;
    run.noted.clear();
    for (name, budget) in machine.budgets.iter().filter(|(_, it)| it.unit() == Unit::Uses) {
        run.left.extend(lines(name, budget));
    }
}

/// Puts a run where a phase lands. Nothing starts by itself there.
fn land(
    workflow: &Workflow,
    machine: &Machine,
    mut run: Run,
    phase: &Name,
    digests: &IndexMap<Name, String>,
) -> Result<Run, Impossible> {
    let row = workflow
        .phases
        .get(&**phase)
        .ok_or_else(|| Impossible::Unknown { what: "phase", name: phase.clone() })?;
    for gate in &row.settles {
        let digest = digests.get(&**gate).cloned().unwrap_or_default();
        run.gates.insert(gate.clone(), GateRecord { forced: true, digest });
        decide::record_forced(machine, &mut run, gate);
    }
    let state = arrive(workflow, machine, &mut run, &row.at, row.back.clone())?;
    if pauses_at_landing(state) {
        run.at.stage = Stage::Paused;
    } else {
        let outcome = begin_work(machine, state, &mut run);
        go_on(workflow, machine, &mut run, outcome)?;
    }
    run.phase = Some(phase.clone());
    Ok(run)
}

/// Whether a run that lands in a state waits for `resume`: where something would start by itself, and where a look at
/// the gates it needs could lead on.
pub fn pauses_at_landing(state: &State) -> bool {
    let waits = matches!(state.kind, Kind::Rest { .. } | Kind::Ask { .. } | Kind::End { .. });
    !waits || state.needs.values().any(|it| !it.is_empty())
}

/// Enters a state and begins its work. What comes out at once is returned.
pub(super) fn enter(
    workflow: &Workflow,
    machine: &Machine,
    run: &mut Run,
    name: &Name,
    from: Option<Name>,
) -> Result<Option<Outcome>, Impossible> {
    let state = arrive(workflow, machine, run, name, from)?;
    Ok(begin_work(machine, state, run))
}

/// Stands in a state: counts the visit, fills what it fills, shows what it shows.
pub(super) fn arrive<'m>(
    workflow: &Workflow,
    machine: &'m Machine,
    run: &mut Run,
    name: &Name,
    from: Option<Name>,
) -> Result<&'m State, Impossible> {
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
    let before = run.phase.clone();
    if let Some((phase, _)) = workflow.phases.iter().find(|(_, row)| row.show.contains(&shown)) {
        run.phase = Some(phase.clone());
    }
    if matches!(&state.kind, Kind::Each(each) if each.anew) {
        run.items.shift_remove(&**name);
        run.forced_items.shift_remove(&**name);
    }
    let stage = Stage::working();
    run.at = At {
        state: name.clone(),
        visit,
        attempt: 1,
        from,
        before,
        stage,
        acted: 0,
        begun: IndexMap::new(),
        until: None,
    };
    Ok(state)
}

/// The first thing that happens in a state. What comes out at once is returned.
pub(super) fn begin_work(machine: &Machine, state: &State, run: &mut Run) -> Option<Outcome> {
    let needs = run.pick(&state.needs).cloned().unwrap_or_default();
    if !needs.is_empty() {
        if decide::needs_looking(machine, run, &needs) {
            run.at.stage = Stage::Needing;
            return None;
        }
        if !decide::needs_met(machine, run, &needs, &Observed::default()) {
            return Some(Outcome::of(signal::STALE));
        }
    }
    work(machine, state, run)
}

pub(super) fn work(machine: &Machine, state: &State, run: &mut Run) -> Option<Outcome> {
    run.at.stage =
        Stage::Working { action: run.at.acted, items: None, ordered: true, ended: IndexMap::new() };
    match &state.kind {
        Kind::End { .. } => {
            run.at.stage = Stage::Ended;
            None
        }
        Kind::Choose | Kind::Settle { .. } => Some(Outcome::of(signal::ALWAYS)),
        Kind::Agent(_) | Kind::Review { .. } if run.is_over_budget(machine) => {
            Some(Outcome::of(signal::OVER_BUDGET))
        }
        _ => None,
    }
}

fn say(workflow: &Workflow, mut run: Run, verb: &Name, judged: Option<String>) -> Result<Run, Impossible> {
    let machine = machine_of(workflow, &run)?;
    let state = state_of(machine, &run)?;
    if run.at.stage == Stage::Paused && **verb == *"resume" {
        let outcome = begin_work(machine, state, &mut run);
        go_on(workflow, machine, &mut run, outcome)?;
        return Ok(run);
    }
    let spoken = signal::verb(verb);
    let takes =
        matches!(state.kind, Kind::Rest { .. } | Kind::Ask { .. }) && state.cells.contains_key(&*spoken);
    if !takes || !matches!(run.at.stage, Stage::Working { .. }) {
        return Err(Impossible::VerbRefused { verb: verb.clone(), state: run.at.state.clone() });
    }
    come_out(workflow, machine, state, &mut run, Outcome { judged, ..Outcome::of(spoken) })?;
    Ok(run)
}
