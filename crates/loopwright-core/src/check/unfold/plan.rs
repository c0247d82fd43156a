//! The plan of a machine: what unfolding asks of its states again and again, looked up once and put in numbers.
//!
//! Slots, values, states, gates and counters are indices here; names come back when a path is written down.

use indexmap::IndexMap;

use super::super::monitors::{Watch, What};
use super::super::slots::{Slot, Slots};
use super::super::terms;
use super::super::writes::{Documents, Shelf};
use super::choices::Choices;
use crate::definition::{
    Arm, Call, Condition, Each, EachRun, Kind, Machine, Per, State, Target, Term, Workflow,
};
use crate::machine::{Run, gate_name, lines};
use crate::name::Name;
use crate::proof::graph::Ids;
use crate::signal;

/// A machine, planned.
pub(super) struct Plan<'w> {
    pub(super) states: Vec<StatePlan<'w>>,
    pub(super) gates: Vec<GatePlan>,
    /// The slot that remembers who led here.
    pub(super) from: Option<usize>,
    /// Watches of a gate: the watch, the gate.
    pub(super) gate_watches: Vec<(u16, usize)>,
    /// Watches that begin anew when a state is entered: the watch, the state.
    pub(super) after_watches: Vec<(u16, usize)>,
    /// Watches that come true when a state is entered, such as an end.
    pub(super) enter_watches: Vec<(u16, usize)>,
}

/// A state, planned.
pub(super) struct StatePlan<'w> {
    /// Its place in the machine.
    pub(super) index: usize,
    pub(super) state: &'w State,
    pub(super) cells: Vec<CellPlan<'w>>,
    /// Slots that matter on entering it.
    pub(super) alive: Vec<bool>,
    /// Slots its tables look at: whatever the others are, it does the same.
    pub(super) looks_at: Vec<usize>,
    pub(super) own_gate: Option<usize>,
    /// Whether what it runs may pass gates over, so that its own pass counts as forced.
    pub(super) forces_inside: bool,
    /// Whether it matters here what somebody edited meanwhile: people act here, or its routing looks at gates.
    pub(super) others_edit: bool,
    pub(super) facts: Vec<FactPlan>,
    pub(super) last: Option<usize>,
    pub(super) ever: Option<usize>,
    pub(super) handed: Option<usize>,
    /// How many topics findings are handed on under.
    pub(super) topics: u16,
    pub(super) returns: bool,
    /// Counters that entering it fills, and slots of reviews that begin anew by that.
    pub(super) fills: Ids,
    pub(super) anew: Vec<usize>,
    /// Watches that may have to be true on entering it.
    pub(super) watches: Vec<u16>,
}

/// One way a state comes out, planned.
#[expect(clippy::struct_excessive_bools, reason = "each is a question of its own, asked of every cell")]
pub(super) struct CellPlan<'w> {
    /// A cell before it does exactly the same: ten failures with one route.
    pub(super) again: bool,
    pub(super) signal: &'w Name,
    pub(super) arms: Vec<ArmPlan<'w>>,
    pub(super) choices: Choices,
    /// Neither a failure nor a stale gate.
    pub(super) well: bool,
    pub(super) stale: bool,
    /// A loop that ran nothing, and so wrote nothing.
    pub(super) idle: bool,
    pub(super) waits: bool,
    pub(super) passes: bool,
    /// The signal as a value of the slot that remembers it.
    pub(super) last: u16,
    /// Whether it is a verdict or an answer, not a question or a verb.
    pub(super) judged: bool,
    /// For a review: whether findings are handed on.
    pub(super) hands: bool,
    /// Slots that remember a field: which choice it is, and the slot's value for each.
    pub(super) last_fields: Vec<(usize, Option<usize>, Vec<u16>)>,
}

/// An arm, planned.
pub(super) struct ArmPlan<'w> {
    pub(super) arm: &'w Arm,
    pub(super) when: Vec<Test>,
    pub(super) set: Vec<(usize, u16)>,
    pub(super) forced: Vec<usize>,
    /// Gates that are open again because what they judge is by a variable that is set.
    pub(super) reopened: Vec<usize>,
    pub(super) fills: Ids,
    pub(super) anew: Vec<usize>,
    pub(super) to: To,
}

/// Where an arm leads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum To {
    State(usize),
    Again,
    Back,
}

/// A condition: which values of what is read let it hold.
#[derive(Clone, Debug)]
pub(super) struct Test {
    pub(super) read: Read,
    pub(super) allowed: Vec<bool>,
}

/// What a condition reads.
#[derive(Clone, Debug)]
pub(super) enum Read {
    Slot(usize),
    Choice(usize),
    /// Whether a gate is owed: no or yes. It is when all of these hold and it is not settled.
    Owed(usize, Vec<Test>),
    /// Something that has no value here.
    Nothing,
}

/// A gate, planned.
pub(super) struct GatePlan {
    pub(super) slot: Option<GateSlot>,
    /// Per judge: the slot that decides, and what is judged for each of its values.
    judged: Vec<(Option<usize>, Vec<Documents>)>,
    /// It is asked for while these slots have these values.
    asked: Vec<(usize, Vec<bool>)>,
    /// Whether that is known when a state is entered.
    pub(super) known: bool,
}

/// The slot of a gate and its values.
#[derive(Clone, Copy)]
pub(super) struct GateSlot {
    pub(super) at: usize,
    pub(super) open: u16,
    pub(super) fresh: u16,
    pub(super) stale: u16,
    pub(super) forced: u16,
}

/// A fact that keeps its value, as one state may change it.
pub(super) struct FactPlan {
    pub(super) slot: usize,
    /// The slot that remembers what the run itself left, and its value for a change from outside.
    pub(super) outside: Option<(usize, Vec<bool>)>,
    pub(super) values: u16,
    /// It may change whenever the state works.
    pub(super) always: bool,
    pub(super) documents: Documents,
    pub(super) git: bool,
}

impl CellPlan<'_> {
    /// Whether two failures have the same routes, as they are written.
    fn is_like(&self, other: &Self) -> bool {
        let places = |it: &Self| it.arms.iter().map(|it| it.arm.place.clone()).collect::<Vec<_>>();
        !self.well
            && !self.stale
            && self.waits == other.waits
            && self.passes == other.passes
            && !self.arms.is_empty()
            && places(self) == places(other)
    }
}

impl GatePlan {
    /// What is judged, for the values of a node.
    pub(super) fn judged(&self, values: &[u16]) -> Documents {
        self.judged.iter().fold(0, |set, (slot, rows)| match slot {
            Some(slot) => set | rows.get(usize::from(values[*slot])).copied().unwrap_or(0),
            None => rows.iter().fold(set, |set, it| set | it),
        })
    }

    /// All it judges, whatever decides.
    pub(super) fn ever_judged(&self) -> Documents {
        self.judged.iter().flat_map(|(_, rows)| rows).fold(0, |set, it| set | it)
    }

    /// Every slot that says how it stands, what it judges and whether it is asked for.
    pub(super) fn slots(&self) -> impl Iterator<Item = usize> + '_ {
        let judged = self.judged.iter().filter_map(|(slot, _)| *slot);
        self.slot.map(|it| it.at).into_iter().chain(judged).chain(self.asked.iter().map(|(slot, _)| *slot))
    }

    pub(super) fn is_settled(&self, values: &[u16]) -> bool {
        self.slot.is_some_and(|it| values[it.at] == it.fresh || values[it.at] == it.forced)
    }

    /// Whether it has to be passed, whether it was or not.
    pub(super) fn is_asked_for(&self, values: &[u16]) -> bool {
        self.asked.iter().all(|(slot, allowed)| allowed[usize::from(values[*slot])])
    }
}

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
        GatePlan { slot, judged: judged.collect(), asked, known }
    }

    fn state(&self, state: &'w State) -> StatePlan<'w> {
        let position = |slot: Slot| self.slots.position(&slot);
        let (fills, anew) = self.filled(self.machine.budgets.iter().filter_map(|(name, budget)| {
            let fills = match &budget.per {
                Per::Visit => true,
                Per::States(states) => states.contains(&state.name),
                Per::Run => false,
            };
            fills.then_some(name)
        }));
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
                .collect(),
            own_gate: state.gate.as_ref().and_then(|it| self.gate_index(&it.name)),
            forces_inside: self.forces_inside(state),
            others_edit: self.is_attended(&state.kind) || self.looks_at_gates(state, &cells),
            facts: self.facts(state),
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

    /// Whether the routes of a state look at gates as they are then. One that needs gates looked at them before.
    fn looks_at_gates(&self, state: &State, cells: &[CellPlan<'_>]) -> bool {
        let is_gate = |it: &Test| match it.read {
            Read::Slot(at) => matches!(self.slots.kept[at].slot, Slot::Term(Term::Gate(_))),
            Read::Owed(..) => true,
            _ => false,
        };
        let mut tests = cells.iter().flat_map(|it| &it.arms).flat_map(|it| &it.when);
        let needs_nothing = state.needs.values().all(Vec::is_empty);
        needs_nothing && !matches!(state.kind, Kind::Each(_)) && tests.any(is_gate)
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

    /// Whether the engine acts in a state, and git may be otherwise afterwards.
    fn acts(&self, kind: &Kind) -> bool {
        match kind {
            Kind::Do { .. } => true,
            Kind::Each(Each { run: EachRun::Child(child), .. }) => {
                let child = self.workflow.children.get(&**child);
                child.is_some_and(|it| it.states.values().any(|it| self.acts(&it.kind)))
            }
            _ => false,
        }
    }

    fn forces_inside(&self, state: &State) -> bool {
        let Kind::Each(Each { run: EachRun::Child(child), .. }) = &state.kind else { return false };
        self.workflow.children.get(&**child).is_some_and(|it| {
            let arms = it.states.values().flat_map(|it| it.cells.values()).flat_map(|it| &it.arms);
            arms.into_iter().any(|it| !it.forced.is_empty())
        })
    }

    /// How facts that keep their value may change when a state works.
    fn facts(&self, state: &State) -> Vec<FactPlan> {
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
                always: reads.anything
                    || reads.git && self.acts(&state.kind)
                    || reads.findings && matches!(state.kind, Kind::Review { .. } | Kind::Each(_))
                    || reads.by_routing,
                documents: reads.documents,
                git: reads.git,
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
                .filter(|it| it.judges.by() == Some(name))
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
