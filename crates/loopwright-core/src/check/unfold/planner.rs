//! Planning: a machine's states, cells, arms and gates, looked up and put in numbers.

use indexmap::IndexMap;

use super::super::monitors::{Watch, What};
use super::super::slots::{Slot, Slots};
use super::super::terms;
use super::super::writes::Shelf;
use super::choices::Choices;
use super::plan::{ArmPlan, CellPlan, FactPlan, GatePlan, GateSlot, Plan, Read, StatePlan, Test, To};
use crate::definition::{
    Arm, Call, Condition, Each, EachRun, Kind, Machine, Per, State, Target, Term, Workflow,
};
use crate::machine::{Run, gate_name, lines};
use crate::name::Name;
use crate::proof::graph::Ids;
use crate::signal;

/// What planning reads.
pub(super) struct Planner<'p, 'w> {
    pub(super) workflow: &'w Workflow,
    pub(super) machine: &'w Machine,
    pub(super) shelf: &'p Shelf,
    pub(super) slots: &'p Slots,
    pub(super) counters: &'p IndexMap<Name, u16>,
    pub(super) watches: &'p [Watch],
}

impl<'w> Planner<'_, 'w> {
    pub(super) fn plan(&self) -> Plan<'w> {
        let gate_names: Vec<&Name> = self.machine.gates.keys().collect();
        let gate = |name: &Name| gate_names.iter().position(|it| *it == name);
        let state = |name: &Name| self.machine.states.get_index_of(&**name);
        let numbered = || self.watches.iter().zip(0_u16..);
        Plan {
            states: self.machine.states.values().map(|it| self.state(it)).collect(),
            gates: gate_names.iter().map(|it| self.gate(it)).collect(),
            from: self.slots.position(&Slot::From),
            gate_watches: numbered().filter_map(|(it, at)| Some((at, gate(it.gate()?)?))).collect(),
            write_watches: numbered().filter_map(|(it, at)| Some((at, it.unwritten()?))).collect(),
            after_watches: numbered()
                .filter_map(|(it, at)| match &it.what {
                    What::After { after, .. } => Some((at, state(after)?)),
                    _ => None,
                })
                .collect(),
            enter_watches: numbered()
                .filter_map(|(it, at)| Some((at, state(it.entered(self.machine)?)?)))
                .collect(),
        }
    }

    fn gate_index(&self, name: &Name) -> Option<usize> {
        self.machine.gates.get_index_of(&**name)
    }

    fn gate(&self, name: &Name) -> GatePlan {
        let judges = self.machine.gates.get(&**name).into_iter().flatten();
        let judged = judges.filter_map(|it| self.machine.states.get(&**it)?.gate.as_ref()).map(|gate| {
            let slot = gate
                .judges
                .by()
                .and_then(|it| self.slots.term(&terms::variable(self.workflow, self.machine, it)));
            let set = |it: &Vec<Name>| self.shelf.set(self.workflow, it);
            let rows = match (slot, &gate.judges) {
                (Some(slot), crate::definition::Table::By { rows, .. }) => {
                    self.slots.kept[slot].values.iter().map(|it| rows.get(&**it).map_or(0, set)).collect()
                }
                (_, table) => table.values().map(set).collect(),
            };
            (slot, rows)
        });
        let asked = Run::owed_when(self.machine, name).iter().filter_map(|it| {
            let slot = self.slots.term(&it.term)?;
            Some((slot, allowed(it, &self.slots.kept[slot].values)))
        });
        let slot = self.slots.term(&Term::Gate(name.clone())).map(|at| {
            let value = |it: &str| self.slots.kept[at].index_of(it);
            GateSlot {
                at,
                open: value("open"),
                fresh: value("fresh"),
                stale: value("stale"),
                forced: value("forced"),
            }
        });
        let asked: Vec<(usize, Vec<bool>)> = asked.collect();
        let known = asked.iter().all(|(slot, _)| !self.slots.kept[*slot].reads.by_routing);
        let passed = self.slots.position(&Slot::Passed(name.clone()));
        GatePlan { slot, passed, judged: judged.collect(), asked, known }
    }

    fn state(&self, state: &'w State) -> StatePlan<'w> {
        let position = |slot: Slot| self.slots.position(&slot);
        let (fills, mut anew) = self.filled(self.machine.budgets.iter().filter_map(|(name, budget)| {
            let fills = match &budget.per {
                Per::Visit => true,
                Per::States(states) => states.contains(&state.name),
                Per::Run => false,
            };
            fills.then_some(name)
        }));
        if matches!(&state.kind, Kind::Each(each) if each.anew) {
            anew.extend(self.slots.done(&state.name));
        }
        let reports = matches!(&state.kind, Kind::Review { call, .. } if self.reports(call));
        let handed = position(Slot::Handed(gate_name(state))).filter(|_| reports);
        let cells = self.cells(state);
        StatePlan {
            index: self.machine.states.get_index_of(&*state.name).unwrap_or(0),
            state,
            alive: self.slots.alive(&state.name),
            looks_at: terms::looked_at(self.workflow, self.machine, state)
                .iter()
                .filter_map(|it| self.slots.term(it))
                .chain(self.slots.done(&state.name))
                .chain(self.slots.passed(state))
                .collect(),
            own_gate: state.gate.as_ref().and_then(|it| self.gate_index(&it.name)),
            attended: self.is_attended(&state.kind),
            sees: self.gates_seen(&cells),
            only_looks: matches!(state.kind, Kind::Choose | Kind::Settle { .. }),
            facts: self.facts(state, &cells),
            last: position(Slot::Term(Term::Last(state.name.clone()))),
            ever: position(Slot::Term(Term::Ever(state.name.clone()))),
            handed,
            topics: handed
                .map_or(0, |it| self.slots.kept[it].values.len() - 1)
                .try_into()
                .unwrap_or(u16::MAX),
            returns: state.returns(),
            fills,
            anew,
            watches: self
                .watches
                .iter()
                .zip(0_u16..)
                .filter(|(it, _)| it.may_require(state))
                .map(|(_, at)| at)
                .collect(),
            cells,
        }
    }

    /// Gates that the routes of a state look at: to choose an arm, or because an arm passes over what is not fresh.
    fn gates_seen(&self, cells: &[CellPlan<'_>]) -> Vec<usize> {
        let mut seen: Vec<usize> = Vec::new();
        for arm in cells.iter().flat_map(|it| &it.arms) {
            seen.extend(&arm.forced);
            arm.when.iter().for_each(|it| self.gates_read(it, &mut seen));
        }
        seen.sort_unstable();
        seen.dedup();
        seen
    }

    fn gates_read(&self, test: &Test, found: &mut Vec<usize>) {
        match &test.read {
            Read::Slot(at) => {
                if let Slot::Term(Term::Gate(gate)) = &self.slots.kept[*at].slot {
                    found.extend(self.gate_index(gate));
                }
            }
            Read::Owed(gate, wanted) => {
                found.push(*gate);
                for test in wanted {
                    self.gates_read(test, found);
                }
            }
            Read::Choice(_) | Read::Nothing => {}
        }
    }

    /// Whether somebody in a call's table reports findings.
    fn reports(&self, call: &Call) -> bool {
        call.role.values().any(|it| self.workflow.roles.get(&**it).is_some_and(|it| it.findings.is_some()))
    }

    fn is_attended(&self, kind: &Kind) -> bool {
        match kind {
            Kind::Rest { .. } | Kind::Ask { .. } => true,
            Kind::Each(Each { run: EachRun::Child(child), .. }) => {
                let child = self.workflow.children.get(&**child);
                child.is_some_and(|it| it.states.values().any(|it| self.is_attended(&it.kind)))
            }
            _ => false,
        }
    }

    /// How facts that keep their value may change when a state works.
    fn facts(&self, state: &State, cells: &[CellPlan<'_>]) -> Vec<FactPlan> {
        let mut seen: Vec<usize> = Vec::new();
        for test in cells.iter().flat_map(|it| &it.arms).flat_map(|it| &it.when) {
            test.slots_read(&mut seen);
        }
        let facts = self.slots.kept.iter().enumerate().filter_map(|(slot, kept)| {
            let Slot::Term(Term::Fact(name)) = &kept.slot else { return None };
            let reads = &kept.reads;
            let outside = self.slots.position(&Slot::Outside(name.clone()));
            let asks = |value: &Name| {
                let asking = self.machine.gates.keys().flat_map(|it| Run::owed_when(self.machine, it));
                asking.filter(|it| it.term == Term::Fact(name.clone())).any(|it| it.values.contains(value))
            };
            Some(FactPlan {
                slot,
                outside: outside.map(|it| (it, kept.values.iter().map(asks).collect())),
                values: u16::try_from(kept.values.len()).unwrap_or(u16::MAX),
                always: reads.may_change_by_work(self.workflow, state),
                documents: reads.documents,
                git: reads.git,
                seen: seen.contains(&slot),
            })
        });
        facts.collect()
    }

    fn cells(&self, state: &'w State) -> Vec<CellPlan<'w>> {
        let mut cells: Vec<CellPlan<'w>> = Vec::new();
        let remembered = self.slots.term(&Term::Last(state.name.clone())).is_some();
        for signal in state.cells.keys() {
            let mut cell = self.cell(state, signal);
            cell.again = !remembered && !cell.well && !cell.stale && cells.iter().any(|it| it.is_like(&cell));
            cells.push(cell);
        }
        cells
    }

    fn cell(&self, state: &'w State, signal: &'w Name) -> CellPlan<'w> {
        let outcomes = signal::outcomes_of(self.workflow, state);
        let arms = state.cells.get(&**signal).map(|it| it.arms.as_slice()).unwrap_or_default();
        let choices = Choices::of(self, state, signal, arms, &outcomes);
        let last = self.slots.term(&Term::Last(state.name.clone()));
        let last_fields = self.slots.kept.iter().enumerate().filter_map(|(at, kept)| match &kept.slot {
            Slot::Term(Term::LastField(of, field)) if *of == state.name => {
                let choice = choices.field(field);
                let values = choice.map(|it| choices.all[it].values.iter().map(|it| kept.index_of(it)));
                Some((at, choice, values.into_iter().flatten().collect()))
            }
            _ => None,
        });
        let well = !signal::is_failure(signal) && *signal != signal::STALE;
        CellPlan {
            again: false,
            signal,
            arms: arms.iter().map(|it| self.arm(it, &choices)).collect(),
            well,
            stale: *signal == signal::STALE,
            idle: signal::NO_ITEMS.contains(&&**signal),
            waits: signal::waits_for_person(self.workflow, state, signal),
            passes: state.gate.as_ref().is_some_and(|it| it.passes.contains(signal)),
            last: last.map_or(0, |it| self.slots.kept[it].index_of(signal)),
            judged: outcomes.contains_key(&**signal),
            hands: outcomes.get_index_of(&**signal) != Some(0),
            last_fields: last_fields.collect(),
            choices,
        }
    }

    fn arm(&self, arm: &'w Arm, choices: &Choices) -> ArmPlan<'w> {
        let gates_by = |name: &Name| {
            let judges = self.machine.states.values().filter_map(|it| it.gate.as_ref());
            judges
                .filter(|it| self.workflow.decides_what_is_judged(name, it))
                .filter_map(|it| self.gate_index(&it.name))
                .collect::<Vec<_>>()
        };
        let (fills, anew) = self.filled(arm.refill.iter());
        ArmPlan {
            arm,
            when: arm.when.iter().map(|it| self.test(it, choices)).collect(),
            set: arm
                .set
                .iter()
                .filter_map(|(name, value)| {
                    let slot = self.slots.term(&Term::Var(name.clone()))?;
                    Some((slot, self.slots.kept[slot].index_of(value)))
                })
                .collect(),
            forced: arm.forced.iter().filter_map(|it| self.gate_index(it)).collect(),
            reopened: arm.set.keys().flat_map(gates_by).collect(),
            fills,
            anew,
            to: match &arm.to {
                Target::State(name) => To::State(self.machine.states.get_index_of(&**name).unwrap_or(0)),
                Target::Again => To::Again,
                Target::Back => To::Back,
            },
        }
    }

    /// The counters of budgets, and slots of the reviews that draw on them.
    fn filled<'b>(&self, budgets: impl Iterator<Item = &'b Name>) -> (Ids, Vec<usize>) {
        let (mut fills, mut anew) = (Ids::default(), Vec::new());
        for name in budgets {
            if let Some(budget) = self.machine.budgets.get(&**name) {
                fills.extend(
                    lines(name, budget).iter().filter_map(|(line, _)| self.counters.get(&**line).copied()),
                );
            }
            let drawing = self.machine.states.values().filter(|it| crate::machine::draws_on(it, name));
            anew.extend(drawing.filter_map(|it| self.slots.position(&Slot::Handed(gate_name(it)))));
        }
        (fills, anew)
    }

    pub(super) fn test(&self, condition: &Condition, choices: &Choices) -> Test {
        let slot = |at: usize| Test {
            read: Read::Slot(at),
            allowed: allowed(condition, &self.slots.kept[at].values),
        };
        let choice =
            |at: usize| Test { read: Read::Choice(at), allowed: allowed(condition, &choices.all[at].values) };
        if let Some(at) = self.slots.term(&condition.term) {
            return slot(at);
        }
        match &condition.term {
            Term::Owed(gate) => {
                let wanted =
                    Run::owed_when(self.machine, gate).iter().map(|it| self.test(it, choices)).collect();
                let yes_no = [Name::from("no"), Name::from("yes")];
                match self.gate_index(gate) {
                    Some(at) => Test { read: Read::Owed(at, wanted), allowed: allowed(condition, &yes_no) },
                    None => Test { read: Read::Nothing, allowed: Vec::new() },
                }
            }
            term => match choices.of_term(term) {
                Some(at) => choice(at),
                None => Test { read: Read::Nothing, allowed: Vec::new() },
            },
        }
    }
}

/// Which of these values a condition asks for.
fn allowed(condition: &Condition, values: &[Name]) -> Vec<bool> {
    values.iter().map(|it| condition.values.contains(it)).collect()
}
