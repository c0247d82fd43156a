//! Deciding: what an outcome means, what has to be looked at before it is routed, and whether a condition holds.

use super::effect::Want;
use super::event::{Observed, Outcome, Report};
use super::run::{GateRecord, GateStatus, Run};
use crate::definition::{
    Arm, Condition, Fields, Findings, Kind, Machine, Outcomes, State, Target, Term, Workflow,
};
use crate::name::Name;
use crate::signal;

/// The outcome being routed, and what qualifies it.
pub(super) struct Asked<'a> {
    pub(super) outcome: &'a Outcome,
    pub(super) same_again: bool,
    pub(super) topic: Option<&'a Name>,
}

/// The verdict that what was found makes of a better one, with what comes with it.
pub fn raised<'o>(
    verdict: &str,
    outcomes: &'o Outcomes,
    declared: &Findings,
    found: &[Report],
) -> Option<(&'o Name, &'o Fields)> {
    let least = found.iter().flat_map(|it| declared.asks_for(it.topic.as_ref(), &it.severity));
    let worst = least.filter_map(|it| outcomes.get_full(&**it)).max_by_key(|it| it.0)?;
    let said = outcomes.get_index_of(verdict).unwrap_or(0);
    (worst.0 > said).then_some((worst.1, worst.2))
}

/// What a judge's outcome means: findings go to the ledger, the verdict is at least as bad as the worst of them, and
/// the gate passes or opens.
pub(super) fn judge(
    workflow: &Workflow,
    state: &State,
    run: &mut Run,
    mut outcome: Outcome,
) -> (Outcome, bool, Option<Name>) {
    let mut same_again = false;
    let mut topic = None;
    let outcomes = signal::outcomes_of(workflow, state);
    if let Kind::Review { call, .. } = &state.kind
        && let Some(role) = run.pick(&call.role).and_then(|it| workflow.roles.get(&**it))
        && let Some(declared) = &role.findings
        && outcomes.contains_key(&*outcome.signal)
    {
        let rank = |verdict: &Name| outcomes.get_index_of(&**verdict).unwrap_or(0);
        if let Some((worse, _)) = raised(&outcome.signal, &outcomes, declared, &outcome.findings) {
            outcome.signal = worse.clone();
        }
        let lacks_topic = !declared.topic.is_empty() && outcome.findings.iter().any(|it| it.topic.is_none());
        // A verdict that its findings made worse may lack what comes with the worse one.
        let fields = outcomes.get(&*outcome.signal).map(|it| &it.fields);
        let lacks_field = fields.and_then(|it| it.keys().find(|it| !outcome.fields.contains_key(&***it)));
        if rank(&outcome.signal) > 0 && (outcome.findings.is_empty() || lacks_topic) {
            outcome.summary =
                format!("the verdict `{}` came without a finding that says what it is about", outcome.signal);
            outcome.signal = "malformed".into();
        } else if let Some(field) = lacks_field {
            outcome.summary = format!("the verdict `{}` came without its `{field}`", outcome.signal);
            outcome.signal = "malformed".into();
        } else {
            let gate = gate_name(state);
            let blocks = rank(&outcome.signal) > 0;
            let round = run.ledger.round(&gate, declared, &outcome.findings, blocks);
            run.ledger.say(&gate, &outcome);
            same_again = round.same_again;
            topic = round.topic;
        }
    }
    // Only what is declared to come with a verdict or an answer comes with it.
    let declared = outcomes.get(&*outcome.signal);
    outcome.fields.retain(|name, _| declared.is_some_and(|it| it.fields.contains_key(&**name)));
    if let Some(gate) = &state.gate
        && outcome.signal != signal::STALE
        && run.pick(&gate.judges).is_some_and(|it| !it.is_empty())
    {
        if gate.passes.contains(&outcome.signal) {
            let digest = outcome.judged.clone().unwrap_or_default();
            run.passed.insert(gate.name.clone(), digest.clone());
            run.gates.insert(gate.name.clone(), GateRecord { forced: !outcome.forced.is_empty(), digest });
            if !outcome.forced.is_empty() {
                run.forced.push(gate.name.clone());
            }
        } else {
            run.gates.shift_remove(&*gate.name);
        }
    }
    if state.gate.is_none() {
        run.forced.extend(outcome.forced.iter().cloned());
    }
    (outcome, same_again, topic)
}

/// The name findings of a state are filed under.
pub fn gate_name(state: &State) -> Name {
    state.gate.as_ref().map_or_else(|| state.name.clone(), |it| it.name.clone())
}

/// Gates that were passed for something else than what was seen now.
pub fn outdated<'s>(run: &Run, seen: &'s Observed) -> Vec<&'s Name> {
    let other = |gate: &Name, digest: &String| {
        run.gates.get(&**gate).is_some_and(|it| !it.digest.is_empty() && it.digest != *digest)
    };
    seen.digests.iter().filter(|(gate, digest)| other(gate, digest)).map(|(gate, _)| gate).collect()
}

/// Gates that had no digest yet take the first one seen.
pub(super) fn adopt(run: &mut Run, seen: &Observed) {
    for (gate, digest) in &seen.digests {
        if let Some(record) = run.gates.get_mut(&**gate).filter(|it| it.digest.is_empty()) {
            record.digest.clone_from(digest);
            if let Some(passed) = run.passed.get_mut(&**gate).filter(|it| it.is_empty()) {
                passed.clone_from(digest);
            }
        }
    }
}

/// Where a gate stands, given what was seen.
pub(super) fn status(run: &Run, gate: &str, seen: &Observed) -> GateStatus {
    match run.gates.get(gate) {
        None => GateStatus::Open,
        Some(record) if record.digest.is_empty() || seen.digests.get(gate) == Some(&record.digest) => {
            if record.forced {
                GateStatus::Forced
            } else {
                GateStatus::Fresh
            }
        }
        Some(_) => GateStatus::Stale,
    }
}

/// Whether a gate still has to be passed: it is owed at present, and not settled.
pub(super) fn owed(machine: &Machine, run: &Run, gate: &str, seen: &Observed) -> bool {
    let wanted = Run::owed_when(machine, gate).iter().all(|it| holds_now(machine, run, it, seen));
    wanted && !status(run, gate, seen).is_settled()
}

/// Whether needs can only be judged by looking.
pub(super) fn needs_looking(machine: &Machine, run: &Run, needs: &[Name]) -> bool {
    needs.iter().any(|it| {
        run.gates.contains_key(&**it) || Run::owed_when(machine, it).iter().any(|it| !run.knows(&it.term))
    })
}

/// Whether every gate a state needs is settled, or not owed.
pub(super) fn needs_met(machine: &Machine, run: &Run, needs: &[Name], seen: &Observed) -> bool {
    needs.iter().all(|it| !owed(machine, run, it, seen))
}

/// What to look at before a state's needs are judged.
pub(super) fn look_for_needs(machine: &Machine, run: &Run, needs: &[Name]) -> Want {
    let mut wanted = Wanted::default();
    for gate in needs {
        wanted.gate(machine, run, gate);
    }
    wanted.into_want()
}

/// What to look at before an outcome is routed. `None`: nothing, everything is known.
pub(super) fn wanted(machine: &Machine, state: &State, run: &Run, asked: &Asked<'_>) -> Option<Want> {
    let arms = state.cells.get(&*asked.outcome.signal).map(|it| it.arms.as_slice()).unwrap_or_default();
    let mut wanted = Wanted::default();
    for arm in arms {
        for condition in &arm.when {
            wanted.term(machine, run, &condition.term);
        }
        for gate in &arm.forced {
            push(&mut wanted.gates, gate);
        }
    }
    let nothing = wanted.facts.is_empty() && wanted.gates.is_empty() && wanted.changed.is_empty();
    (!nothing).then(|| wanted.into_want())
}

#[derive(Default)]
struct Wanted {
    facts: Vec<Name>,
    gates: Vec<Name>,
    changed: Vec<Name>,
}

impl Wanted {
    fn term(&mut self, machine: &Machine, run: &Run, term: &Term) {
        match term {
            Term::Fact(name) if !run.once.contains_key(&**name) => push(&mut self.facts, name),
            Term::Gate(gate) => push(&mut self.gates, gate),
            Term::Owed(gate) => self.gate(machine, run, gate),
            Term::Changed(document) => push(&mut self.changed, document),
            Term::Outer(inner) => self.term(machine, run, inner),
            _ => {}
        }
    }

    fn gate(&mut self, machine: &Machine, run: &Run, gate: &Name) {
        push(&mut self.gates, gate);
        for condition in Run::owed_when(machine, gate) {
            self.term(machine, run, &condition.term);
        }
    }

    fn into_want(self) -> Want {
        Want::Observe { facts: self.facts, gates: self.gates, changed: self.changed }
    }
}

fn push(names: &mut Vec<Name>, name: &Name) {
    if !names.contains(name) {
        names.push(name.clone());
    }
}

/// Whether a condition holds.
pub(super) fn holds(
    machine: &Machine,
    run: &Run,
    condition: &Condition,
    asked: &Asked<'_>,
    seen: &Observed,
) -> bool {
    value(machine, run, &condition.term, asked, seen).is_some_and(|it| condition.values.contains(&it))
}

fn value(machine: &Machine, run: &Run, term: &Term, asked: &Asked<'_>, seen: &Observed) -> Option<Name> {
    let none = || Some(Name::from("none"));
    let yes_no = |yes: bool| Some(Name::from(if yes { "yes" } else { "no" }));
    match term {
        Term::Fact(name) => run.once.get(&**name).or_else(|| seen.facts.get(&**name)).cloned(),
        Term::Var(name) => run.vars.get(&**name).cloned(),
        Term::Last(state) => run.last.get(&**state).map(|it| it.signal.clone()).or_else(none),
        Term::LastField(state, field) => {
            run.last.get(&**state).and_then(|it| it.fields.get(&**field)).cloned().or_else(none)
        }
        Term::Ever(state) => yes_no(run.ever.contains(state)),
        Term::Gate(gate) => Some(status(run, gate, seen).word().into()),
        Term::Owed(gate) => yes_no(owed(machine, run, gate, seen)),
        Term::Changed(document) => yes_no(seen.changed.contains(document)),
        Term::SameAgain => yes_no(asked.same_again),
        Term::Topic => asked.topic.cloned(),
        Term::Field(field) => asked.outcome.fields.get(&**field).cloned(),
        Term::Outer(inner) => {
            let outer = run.outer.as_ref()?;
            match &**inner {
                Term::Var(name) => outer.vars.get(&**name).cloned(),
                Term::Last(state) => outer.last.get(&**state).map(|it| it.signal.clone()).or_else(none),
                Term::LastField(state, field) => {
                    outer.last.get(&**state).and_then(|it| it.fields.get(&**field)).cloned().or_else(none)
                }
                Term::Ever(state) => yes_no(outer.ever.contains(state)),
                inner => value(machine, run, inner, asked, seen),
            }
        }
    }
}

/// A budget was filled: loops that draw on it start anew.
pub(super) fn stretch_anew(machine: &Machine, run: &mut Run, budget: &Name) {
    for state in machine.states.values().filter(|it| draws_on(it, budget)) {
        run.ledger.anew(&gate_name(state));
    }
}

/// Whether a review's arms draw on a budget, apart from retries of the call itself.
pub(crate) fn draws_on(state: &State, budget: &Name) -> bool {
    matches!(state.kind, Kind::Review { .. })
        && state
            .cells
            .values()
            .flat_map(|it| &it.arms)
            .any(|it| it.to != Target::Again && it.spend.as_ref() == Some(budget))
}

/// An arm out of a review hands its findings to whatever it leads to.
pub(super) fn repair_is_handed(workflow: &Workflow, state: &State, run: &mut Run, asked: &Asked<'_>) {
    let Kind::Review { call, .. } = &state.kind else { return };
    let role = run.pick(&call.role).and_then(|it| workflow.roles.get(&**it));
    let reports = role.is_some_and(|it| it.findings.is_some());
    if reports && signal::outcomes_of(workflow, state).contains_key(&*asked.outcome.signal) {
        let topic = asked.topic.filter(|_| routes_by_topic(state));
        run.ledger.hand(&gate_name(state), topic);
    }
}

fn routes_by_topic(state: &State) -> bool {
    state.cells.values().flat_map(|it| &it.arms).flat_map(|it| &it.when).any(|it| it.term == Term::Topic)
}

/// Gates an arm passes over. One that is fresh stays as it is.
pub(super) fn force(machine: &Machine, run: &mut Run, arm: &Arm, seen: &Observed) {
    for gate in &arm.forced {
        if status(run, gate, seen) == GateStatus::Fresh && run.gates.contains_key(&**gate) {
            continue;
        }
        let digest = seen.digests.get(&**gate).cloned().unwrap_or_default();
        run.gates.insert(gate.clone(), GateRecord { forced: true, digest });
        run.ledger.force(gate);
        record_forced(machine, run, gate);
    }
}

/// Judges that an arm has begin anew.
pub(super) fn begin_anew(run: &mut Run, arm: &Arm) {
    for gate in &arm.anew {
        run.ledger.begin_anew(gate);
    }
}

/// Puts on record that a gate was passed over, unless nobody asks for it at present.
pub(super) fn record_forced(machine: &Machine, run: &mut Run, gate: &Name) {
    let known: Vec<&Condition> =
        Run::owed_when(machine, gate).iter().filter(|it| run.knows(&it.term)).collect();
    if known.into_iter().all(|it| holds_now(machine, run, it, &Observed::default())) {
        run.forced.push(gate.clone());
    }
}

/// A gate that was passed over while nobody asked for it, and is asked for now, goes on record now.
pub(super) fn record_needed(machine: &Machine, run: &mut Run, needs: &[Name], seen: &Observed) {
    for gate in needs {
        let asked = Run::owed_when(machine, gate).iter().all(|it| holds_now(machine, run, it, seen));
        if asked && !run.forced.contains(gate) && status(run, gate, seen) == GateStatus::Forced {
            run.forced.push(gate.clone());
        }
    }
}

/// Whether a condition holds that is not about an outcome being routed.
pub(super) fn holds_now(machine: &Machine, run: &Run, condition: &Condition, seen: &Observed) -> bool {
    let nothing = Outcome::default();
    let asked = Asked { outcome: &nothing, same_again: false, topic: None };
    holds(machine, run, condition, &asked, seen)
}

/// What a gate judges may depend on a variable; when that changes, an earlier pass was about something else.
pub(super) fn forget_judged(workflow: &Workflow, machine: &Machine, run: &mut Run, arm: &Arm) {
    for variable in arm.set.keys() {
        for gate in machine.states.values().filter_map(|it| it.gate.as_ref()) {
            if workflow.decides_what_is_judged(variable, gate) {
                run.gates.shift_remove(&*gate.name);
                run.passed.shift_remove(&*gate.name);
            }
        }
    }
}
