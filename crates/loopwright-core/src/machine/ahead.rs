//! Judges beside each other: who may be called while a judge is at work, and what they said until their turn comes.
//!
//! It is a cache and no join. The run stands at one judge at a time and comes out of each in the order of the rows, whoever
//! came back first; what another one said beside it is kept and leads nowhere. At its turn it counts if it was said about the
//! same, which whoever performs effects tells by a key; else the judge is asked again.

use indexmap::IndexMap;
use serde::{Deserialize, Serialize};

use super::advance::{arrive, machine_of, state_of};
use super::decide;
use super::effect::{EffectId, Part, Want};
use super::event::{Observed, Outcome};
use super::impossible::Impossible;
use super::items::charge;
use super::ledger::Finding;
use super::run::{Cause, Run, Stage};
use crate::definition::{Call, Kind, Machine, State, Target, Term, Workflow};
use crate::name::Name;
use crate::signal;

/// What a judge said before its turn.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct Early {
    /// Which call it was.
    pub effect: EffectId,
    /// A digest of what it judged and was told.
    pub key: String,
    /// What it said. What that cost is taken already.
    pub outcome: Outcome,
    /// Whether somebody has worked since who was told what it found.
    #[serde(default, skip_serializing_if = "is_not")]
    pub told: bool,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "it is called with what it looks at")]
fn is_not(it: &bool) -> bool {
    !it
}

/// The dispatcher that has a state's judge called beside others, and how many at once.
fn dispatcher<'m>(machine: &'m Machine, state: &State) -> Option<(&'m State, u32)> {
    let gate = &state.gate.as_ref()?.name;
    machine.states.values().find_map(|it| match &it.kind {
        Kind::Settle { gates, ahead } if *ahead > 1 && gates.contains(gate) => Some((it, *ahead)),
        _ => None,
    })
}

/// The judges among the rows of a dispatcher, in order.
fn judges<'m>(machine: &'m Machine, dispatcher: &'m State) -> impl Iterator<Item = (&'m State, &'m Call)> {
    let rows = dispatcher.cells.values().flat_map(|it| &it.arms);
    rows.filter_map(|arm| {
        let (Target::State(to), Some(Term::Owed(gate))) = (&arm.to, arm.when.first().map(|it| &it.term))
        else {
            return None;
        };
        let state =
            machine.states.get(&**to).filter(|it| it.gate.as_ref().is_some_and(|it| it.name == *gate));
        match (state, state.map(|it| &it.kind)) {
            (Some(state), Some(Kind::Review { call, .. })) => Some((state, call)),
            _ => None,
        }
    })
}

/// The states of other judges that work beside the judge of a state, whether they are owed at present or not, and how many
/// are at work at once.
pub fn beside<'m>(machine: &'m Machine, state: &State) -> (Vec<&'m State>, u32) {
    let Some((dispatcher, at_once)) = dispatcher(machine, state) else { return (Vec::new(), 1) };
    (judges(machine, dispatcher).map(|(it, _)| it).filter(|it| it.name != state.name).collect(), at_once)
}

/// Whether a call may change anything. Two who do would take each other's changes for their own.
fn may_write(workflow: &Workflow, run: &Run, call: &Call) -> bool {
    let role = run.pick(&call.role).and_then(|it| workflow.roles.get(&**it));
    let documents = call.may_write.as_ref().or(role.map(|it| &it.may_write)).and_then(|it| run.pick(it));
    let owned = |it: &Name| workflow.documents.get(&**it).is_some_and(|it| it.engine_owned);
    documents.is_some_and(|it| it.iter().any(|it| !owned(it)))
}

/// The calls that may be made beside the judge whose turn it is: of those that only look, that may be owed, and of which
/// that is not for one of the others to decide.
pub(super) fn offered(workflow: &Workflow, machine: &Machine, state: &State, run: &Run) -> Vec<(Part, Want)> {
    let Kind::Review { call, .. } = &state.kind else { return Vec::new() };
    let Some((dispatcher, at_once)) = dispatcher(machine, state).filter(|_| !may_write(workflow, run, call))
    else {
        return Vec::new();
    };
    let all: Vec<&Name> = judges(machine, dispatcher).map(|(it, _)| &it.name).collect();
    let decides = |term: &Term| match term {
        Term::Last(name) | Term::LastField(name, _) | Term::Ever(name) => all.contains(&name),
        Term::Gate(gate) | Term::Owed(gate) => {
            machine.gates.get(&**gate).is_some_and(|it| it.iter().any(|it| all.contains(&it)))
        }
        _ => false,
    };
    let may_be_owed = |judge: &State| {
        let gate = judge.gate.as_ref().map(|it| it.name.clone()).unwrap_or_default();
        let conditions = Run::owed_when(machine, &gate);
        let known = conditions.iter().filter(|it| run.knows(&it.term));
        !conditions.iter().any(|it| decides(&it.term))
            && known.into_iter().all(|it| decide::holds_now(machine, run, it, &Observed::default()))
    };
    let needs_nothing = |judge: &State| run.pick(&judge.needs).is_none_or(Vec::is_empty);
    judges(machine, dispatcher)
        .filter(|(it, _)| it.name != state.name)
        .filter(|(judge, call)| needs_nothing(judge) && !may_write(workflow, run, call) && may_be_owed(judge))
        .map(|(it, _)| (Part::Ahead(it.name.clone()), Want::Ahead { judge: it.name.clone(), at_once }))
        .collect()
}

/// The gate of a judge that may be called ahead, and what to look at to know whether it is owed.
pub fn looks_for(workflow: &Workflow, run: &Run, judge: &Name) -> Option<(Name, Want)> {
    let machine = run.machine(workflow)?;
    let gate = machine.states.get(&**judge)?.gate.as_ref()?.name.clone();
    let want = decide::look_for_needs(machine, run, std::slice::from_ref(&gate));
    Some((gate, want))
}

/// Whether a gate is owed, given what was seen.
pub fn is_owed(workflow: &Workflow, run: &Run, gate: &Name, seen: &Observed) -> bool {
    run.machine(workflow).is_some_and(|it| decide::owed(it, run, gate, seen))
}

/// A run as it will stand when it is a judge's turn, if nothing comes in between that it is told. It is only looked at.
pub fn in_turn(workflow: &Workflow, run: &Run, judge: &Name) -> Result<Run, Impossible> {
    let machine = machine_of(workflow, run)?;
    let mut then = run.clone();
    let here = state_of(machine, run)?;
    let led = dispatcher(machine, here).map(|(it, _)| it.name.clone());
    then.noted.clear();
    then.taken.clear();
    if let Some(dispatcher) = &led {
        let (signal, summary) = (signal::ALWAYS.into(), String::new());
        then.cause = Some(Cause { state: dispatcher.clone(), signal, summary, exhausted: None });
    }
    let returns = machine.states.get(&**judge).is_some_and(State::returns);
    arrive(workflow, machine, &mut then, judge, led.filter(|_| returns))?;
    then.at.stage = Stage::working();
    Ok(then)
}

/// A judge said something while others were at work.
pub(super) fn hear(
    workflow: &Workflow,
    mut run: Run,
    effect: &EffectId,
    (key, outcome): (&str, &Outcome),
) -> Result<Run, Impossible> {
    let machine = machine_of(workflow, &run)?;
    let not_waiting = || Impossible::NotWaiting { effect: effect.clone() };
    let here = effect.state == run.at.state && effect.visit == run.at.visit;
    let begun = run.at.begun.get_mut(&effect.to_string()).filter(|it| it.open && here);
    begun.ok_or_else(not_waiting)?.open = false;
    let judge = match &effect.part {
        Part::Work => &effect.state,
        Part::Ahead(judge) => judge,
        _ => return Err(not_waiting()),
    };
    let state = machine.states.get(&**judge).filter(|it| matches!(it.kind, Kind::Review { .. }));
    charge(workflow, machine, state.ok_or_else(not_waiting)?, &mut run, outcome.cost);
    let early = Early { effect: effect.clone(), key: key.to_owned(), outcome: outcome.clone(), told: false };
    run.heard.insert(judge.clone(), early);
    Ok(run)
}

/// Somebody has worked who was told what judges found whose turn has not come.
pub(super) fn told(run: &mut Run) {
    run.heard.values_mut().for_each(|it| it.told = true);
}

/// What judges found whose turn has not come, and that nobody has worked on since: as it would stand in the ledger.
pub fn early_findings(workflow: &Workflow, run: &Run) -> IndexMap<String, Finding> {
    let mut found = IndexMap::new();
    let Some(machine) = run.machine(workflow) else { return found };
    for (judge, early) in run.heard.iter().filter(|(_, it)| !it.told) {
        let Some(state) = machine.states.get(&**judge) else { continue };
        let Kind::Review { call, .. } = &state.kind else { continue };
        let role = run.pick(&call.role).and_then(|it| workflow.roles.get(&**it));
        let outcomes = signal::outcomes_of(workflow, state);
        let rank = outcomes.get_index_of(&*early.outcome.signal);
        let (Some(declared), Some(rank)) = (role.and_then(|it| it.findings.as_ref()), rank) else { continue };
        let gate = decide::gate_name(state);
        let mut ledger = run.ledger.clone();
        ledger.round(&gate, declared, &early.outcome.findings, rank > 0);
        let round = ledger.judges.get(&*gate).map(|it| it.rounds);
        let now = ledger.findings.into_iter().filter(|(_, it)| it.gate == gate);
        found.extend(now.filter(|(_, it)| it.rounds.last().copied() == round));
    }
    found
}
