//! Unfolding: a machine becomes a graph in which facts, signals and what routing remembers are gone.
//!
//! A node is a state with the values of its slots; a cell is one way its work can come out, with everything that
//! qualifies it; a step is an arm. The unfolding follows the machine rule by rule (see `crate::machine`), taking every
//! choice the world has: every signal, every value of a fact, written or not written. So whatever a run can do, the
//! graph can do; and what the graph can do is printed as a scenario that the machine then plays.

use indexmap::{IndexMap, IndexSet};
use rustc_hash::FxHashMap;

use super::monitors::Watch;
use super::slots::{OUTSIDE, Slot, Slots};
use super::writes::{self, Documents, Shelf};
use crate::definition::{Arm, Each, EachRun, Kind, Machine, Per, State, Target, Term, Workflow};
use crate::language::units::Unit;
use crate::machine::{lines, row_line};
use crate::name::Name;
use crate::proof::graph::{Cell, Counter, Graph, Node, NodeId, Root, Step};
use crate::signal;

/// Cells of one state are listed up to here; a choice that reads more is refused.
const MOST_VALUATIONS: usize = 4096;
/// Ways to begin are listed up to here.
const MOST_ROOTS: usize = 16_384;
/// Nodes are listed up to here.
pub(super) const MOST_NODES: usize = 200_000;

/// The values of the slots, as indices into their lists.
pub(super) type Values = Vec<u16>;

/// A machine unfolded.
pub(super) struct Unfolded<'w> {
    pub(super) workflow: &'w Workflow,
    pub(super) machine: &'w Machine,
    pub(super) slots: Slots,
    pub(super) graph: Graph,
    /// What each node stands for.
    pub(super) nodes: IndexSet<Spot>,
    /// What each cell of each node stands for.
    pub(super) outcomes: Vec<Vec<Came>>,
    /// How each root begins.
    pub(super) begins: Vec<Begin>,
    /// States with a choice that reads too much.
    pub(super) too_wide: Vec<Name>,
    /// Whether nodes were left out because there are too many.
    pub(super) cut: bool,
    pub(super) counters: IndexMap<Name, u16>,
}

/// What a node stands for: a state, which part of being there, and the values of the slots.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Spot {
    pub(super) state: u16,
    pub(super) part: u16,
    pub(super) values: Values,
}

/// Being in a state.
const THERE: u16 = 0;
/// Being over: an end that needs gates is left again when they turn out stale, so reaching it and being over are two.
const OVER: u16 = 1;
/// In a loop, after a person decided something in a child that comes to the end of this number (from here on).
const DECIDED: u16 = 2;

/// One way the work of a node comes out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Came {
    pub(super) signal: Name,
    pub(super) fields: IndexMap<Name, Name>,
    pub(super) same_again: Option<bool>,
    pub(super) topic: Option<Name>,
    pub(super) facts: IndexMap<Name, Name>,
    pub(super) changed: IndexMap<Name, bool>,
    pub(super) wrote: Option<Documents>,
    /// Gates that went stale because somebody edited what they judged.
    pub(super) stale: Vec<Name>,
    /// Arms that only try the same visit again, which were walked past: their place in the cell, and how often each can
    /// be taken first.
    pub(super) retries: Vec<(usize, u64)>,
    /// Only that a person decided something in a child; what follows is the next move.
    pub(super) decides: bool,
    /// Per step of the cell: the arm's place in the state's cell.
    pub(super) arms: Vec<usize>,
}

/// How a run begins.
#[derive(Clone, Debug, Default)]
pub(super) struct Begin {
    pub(super) verb: Option<Name>,
    pub(super) phase: Option<Name>,
    pub(super) vars: IndexMap<Name, Name>,
    pub(super) facts: IndexMap<Name, Name>,
}

/// What the parent knows when it runs a child: the child's start values and the parent's terms it reads.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Setting {
    pub(super) with: Vec<(Name, Name)>,
    pub(super) outer: Vec<(Term, Name)>,
}

/// Which ends a loop's children can come to, and whether only by what a person decides: by state and setting. Absent
/// means all.
pub(super) type Ends = FxHashMap<(Name, Setting), IndexMap<Name, bool>>;

impl<'w> Unfolded<'w> {
    /// Unfolds a machine. For a child, `settings` are what its parents run it with.
    pub(super) fn new(
        workflow: &'w Workflow,
        shelf: &Shelf,
        machine: &'w Machine,
        settings: &[Setting],
        ends: &Ends,
        watches: &[Watch],
    ) -> Self {
        let slots = Slots::collect(workflow, shelf, machine);
        let mut counters = IndexMap::new();
        let mut graph = Graph::default();
        for (name, budget) in machine.budgets.iter().filter(|(_, it)| it.unit() == Unit::Uses) {
            for (line, limit) in lines(name, budget) {
                counters.insert(line.clone(), u16::try_from(graph.counters.len()).unwrap_or(u16::MAX));
                graph.counters.push(Counter {
                    name: line.to_string(),
                    limit: u32::try_from(limit).unwrap_or(u32::MAX),
                });
            }
        }
        graph.monitors =
            watches.iter().map(|it| crate::proof::graph::Monitor { name: it.name.clone() }).collect();
        let mut unfolded = Self {
            workflow,
            machine,
            slots,
            graph,
            nodes: IndexSet::new(),
            outcomes: Vec::new(),
            begins: Vec::new(),
            too_wide: Vec::new(),
            cut: false,
            counters,
        };
        let mut builder = Builder { shelf, ends, watches };
        unfolded.roots(settings, &mut builder);
        let mut next = 0;
        while next < unfolded.nodes.len() {
            unfolded.expand(next, &mut builder);
            next += 1;
        }
        unfolded
    }

    /// The graph of runs nobody interferes with: no edit makes a gate stale, no call is cancelled.
    pub(super) fn undisturbed(&self) -> Graph {
        let mut graph = self.graph.clone();
        for (node, outcomes) in graph.nodes.iter_mut().zip(&self.outcomes) {
            for (cell, came) in node.cells.iter_mut().zip(outcomes) {
                if came.signal == signal::STALE || *came.signal == *"cancelled" {
                    cell.steps.clear();
                }
            }
        }
        graph
    }

    /// The state a node stands for.
    pub(super) fn state(&self, node: NodeId) -> Option<&'w State> {
        let spot = self.nodes.get_index(node as usize)?;
        self.machine.states.get_index(usize::from(spot.state)).map(|(_, it)| it)
    }

    /// The values of a node.
    pub(super) fn values(&self, node: NodeId) -> Option<&Values> {
        self.nodes.get_index(node as usize).map(|it| &it.values)
    }

    /// Another part of being where a node stands.
    fn part(&mut self, spot: &Spot, part: u16) -> NodeId {
        let (node, new) = self.nodes.insert_full(Spot { part, ..spot.clone() });
        if new {
            self.graph.nodes.push(Node { end: part == OVER, ..Node::default() });
            self.outcomes.push(Vec::new());
        }
        NodeId::try_from(node).unwrap_or(NodeId::MAX)
    }

    /// Whether a step is the same visit once more.
    pub(super) fn is_again(&self, node: usize, cell: usize, step: usize) -> bool {
        let came = self.outcomes.get(node).and_then(|it| it.get(cell));
        let state = self.state(NodeId::try_from(node).unwrap_or(NodeId::MAX));
        let arm = came
            .zip(state)
            .and_then(|(came, state)| state.cells.get(&*came.signal)?.arms.get(*came.arms.get(step)?));
        arm.is_some_and(|it| it.to == Target::Again)
    }

    /// The value of a slot in a node.
    pub(super) fn value(&self, values: &Values, slot: usize) -> Option<Name> {
        self.slots.kept.get(slot)?.values.get(usize::from(*values.get(slot)?)).cloned()
    }

    /// The value of a term in a node.
    pub(super) fn term(&self, values: &Values, term: &Term) -> Option<Name> {
        self.slots.term(term).and_then(|it| self.value(values, it))
    }

    /// The value of a variable, own or the parent's.
    pub(super) fn lookup(&self, values: &Values, name: &Name) -> Option<Name> {
        self.term(values, &super::slots::variable(self.workflow, self.machine, name))
    }

    fn index_of(&self, slot: usize, value: &str) -> u16 {
        let Some(kept) = self.slots.kept.get(slot) else { return 0 };
        let value = match value {
            "stale" if kept.merged => "open",
            "forced" if kept.merged => "fresh",
            other => other,
        };
        kept.values.iter().position(|it| **it == *value).and_then(|it| u16::try_from(it).ok()).unwrap_or(0)
    }

    fn node(&mut self, state: &Name, mut values: Values, watches: &[Watch]) -> NodeId {
        let index = self.machine.states.get_index_of(&**state).unwrap_or(0);
        let from = self.slots.position(&Slot::From).and_then(|it| self.value(&values, it));
        for (value, alive) in values.iter_mut().zip(self.slots.alive(state, from.as_deref())) {
            if !alive {
                *value = 0;
            }
        }
        let spot =
            Spot { state: u16::try_from(index).unwrap_or(u16::MAX), part: THERE, values: values.clone() };
        let (node, new) = self.nodes.insert_full(spot);
        if new {
            let declared = self.machine.states.get_index(index).map(|(_, it)| it);
            let requires = watches
                .iter()
                .enumerate()
                .filter(|(_, it)| declared.is_some_and(|state| it.requires(self, state, &values)))
                .map(|(at, _)| u16::try_from(at).unwrap_or(u16::MAX))
                .collect();
            let end = declared.is_some_and(|it| matches!(it.kind, Kind::End { .. }) && it.cells.is_empty());
            self.graph.nodes.push(Node { end, cells: Vec::new(), requires });
            self.outcomes.push(Vec::new());
        }
        NodeId::try_from(node).unwrap_or(NodeId::MAX)
    }

    fn roots(&mut self, settings: &[Setting], builder: &mut Builder<'_>) {
        let machine = self.machine;
        if machine.name.is_some() {
            for setting in settings {
                for start in &machine.start {
                    let fixed: Vec<(Term, Name)> = setting
                        .outer
                        .iter()
                        .map(|(term, value)| (Term::Outer(Box::new(term.clone())), value.clone()))
                        .chain(
                            setting.with.iter().map(|(name, value)| (Term::Var(name.clone()), value.clone())),
                        )
                        .collect();
                    let begin = Begin { vars: setting.with.iter().cloned().collect(), ..Begin::default() };
                    self.begin(&start.arm, &fixed, &begin, builder, &[], None);
                }
            }
            return;
        }
        for start in &machine.start {
            let begin = Begin { verb: start.verb.clone(), ..Begin::default() };
            self.begin(&start.arm, &[], &begin, builder, &[], None);
        }
        for (phase, row) in &self.workflow.phases {
            let arm = Arm {
                to: Target::State(row.at.clone()),
                when: Vec::new(),
                spend: None,
                refill: Vec::new(),
                set: IndexMap::new(),
                record: Vec::new(),
                forced: Vec::new(),
                place: row.place.clone(),
            };
            let begin = Begin { phase: Some(phase.clone()), ..Begin::default() };
            self.begin(&arm, &[], &begin, builder, &row.settles, row.back.as_ref());
        }
    }

    /// Roots at one state, for every value of what is free there.
    fn begin(
        &mut self,
        arm: &Arm,
        fixed: &[(Term, Name)],
        begin: &Begin,
        builder: &mut Builder<'_>,
        settled: &[Name],
        back: Option<&Name>,
    ) {
        let Target::State(first) = &arm.to else { return };
        let alive = self.slots.alive(first, back.map(|it| &**it));
        let imported = begin.phase.is_some();
        let mut choices: Vec<Vec<u16>> = Vec::new();
        for (at, kept) in self.slots.kept.iter().enumerate() {
            let all =
                || (0..kept.values.len()).map(|it| u16::try_from(it).unwrap_or(u16::MAX)).collect::<Vec<_>>();
            let one = |value: &str| vec![self.index_of(at, value)];
            let choice = match &kept.slot {
                _ if !alive.get(at).copied().unwrap_or(false) => vec![0],
                Slot::Term(term) => match (fixed.iter().find(|(it, _)| it == term), term) {
                    (Some((_, value)), _) => one(value),
                    (None, Term::Var(name)) => match (arm.set.get(&**name), self.machine.vars.get(&**name)) {
                        (Some(value), _) => one(value),
                        (None, Some(variable)) if !variable.input && !imported => one(&variable.start),
                        _ => all(),
                    },
                    (None, Term::Fact(_) | Term::Outer(_)) => all(),
                    (None, Term::Gate(gate)) => one(if settled.contains(gate) { "forced" } else { "open" }),
                    (None, _) => vec![0],
                },
                Slot::From => vec![back.as_ref().map_or(0, |it| self.index_of(at, it))],
                Slot::Handed(_) | Slot::Inner(_) => vec![0],
            };
            choices.push(choice);
        }
        if choices.iter().map(Vec::len).try_fold(1_usize, usize::checked_mul).is_none_or(|it| it > MOST_ROOTS)
        {
            self.cut = true;
            return;
        }
        for mut values in product(&choices) {
            for at in 0..self.slots.kept.len() {
                // What a fact is at the start, it is by itself.
                if let Slot::Inner(name) = self.slots.kept[at].slot.clone()
                    && let Some(fact) = self.slots.term(&Term::Fact(name))
                {
                    values[at] = values[fact];
                }
            }
            let mut this = begin.clone();
            for (at, kept) in self.slots.kept.iter().enumerate() {
                let Some(value) = self.value(&values, at).filter(|_| alive.get(at).copied().unwrap_or(false))
                else {
                    continue;
                };
                match &kept.slot {
                    Slot::Term(Term::Var(name))
                        if self.machine.vars.get(&**name).is_some_and(|it| it.input || imported) =>
                    {
                        this.vars.insert(name.clone(), value);
                    }
                    Slot::Term(Term::Fact(name)) => {
                        this.facts.insert(name.clone(), value);
                    }
                    _ => {}
                }
            }
            let node = self.node(first, values, builder.watches);
            let holds = builder
                .watches
                .iter()
                .enumerate()
                .filter(|(_, it)| it.holds_at_start(self, &this, first, settled))
                .map(|(at, _)| u16::try_from(at).unwrap_or(u16::MAX))
                .collect();
            self.graph.roots.push(Root { node, holds });
            self.begins.push(this);
        }
    }

    fn expand(&mut self, node: usize, builder: &mut Builder<'_>) {
        if self.nodes.len() > MOST_NODES {
            self.cut = true;
            return;
        }
        let Some(spot) = self.nodes.get_index(node).cloned() else { return };
        let values = spot.values.clone();
        let Some((_, state)) =
            self.machine.states.get_index(usize::from(spot.state)).filter(|_| spot.part != OVER)
        else {
            return;
        };
        let mut cells: Vec<(Cell, Came)> = Vec::new();
        let mut seen: FxHashMap<Vec<StepKey>, usize> = FxHashMap::default();
        for (number, name) in state.cells.keys().enumerate() {
            let decided = DECIDED + u16::try_from(number).unwrap_or(0);
            if spot.part != THERE && spot.part != decided {
                continue;
            }
            if spot.part == THERE && self.only_by_person(state, &values, name, builder) {
                let to = self.part(&spot, decided);
                let came = Came { signal: name.clone(), decides: true, arms: Vec::new(), ..Came::default() };
                cells.push((Cell { waits: true, steps: vec![Step { to, ..Step::default() }] }, came));
                continue;
            }
            for (came, cell) in self.cells_of(state, &values, name, builder) {
                // Outcomes that lead to the same place in the same way are one: ten failures with one route.
                let key: Vec<StepKey> = cell
                    .steps
                    .iter()
                    .zip(&came.arms)
                    .map(|(it, arm)| {
                        let place = state
                            .cells
                            .get(&**name)
                            .and_then(|it| it.arms.get(*arm))
                            .map(|it| it.place.bytes.start);
                        StepKey {
                            waits: cell.waits,
                            to: it.to,
                            spend: it.spend.clone(),
                            refill: it.refill.clone(),
                            breaks: it.breaks.clone(),
                            holds: it.holds.clone(),
                            place: place.unwrap_or(0),
                        }
                    })
                    .collect();
                if key.is_empty() || seen.insert(key, cells.len()).is_none() {
                    cells.push((cell, came));
                }
            }
        }
        if matches!(state.kind, Kind::End { .. }) && !state.cells.is_empty() {
            let to = self.part(&spot, OVER);
            let came = Came { signal: signal::ALWAYS.into(), ..Came::default() };
            cells.push((Cell { waits: false, steps: vec![Step { to, ..Step::default() }] }, came));
        }
        let (cells, came): (Vec<Cell>, Vec<Came>) = cells.into_iter().unzip();
        if let Some(slot) = self.graph.nodes.get_mut(node) {
            slot.cells = cells;
        }
        if let Some(slot) = self.outcomes.get_mut(node) {
            *slot = came;
        }
    }

    /// Every way one signal of a state can come out.
    fn cells_of(
        &mut self,
        state: &State,
        values: &Values,
        signal: &Name,
        builder: &mut Builder<'_>,
    ) -> Vec<(Came, Cell)> {
        if !self.can_signal(state, values, signal, builder) {
            return Vec::new();
        }
        let Some(cell) = state.cells.get(&**signal) else { return Vec::new() };
        let waits = signal::waits_for_person(self.workflow, state, signal);
        let terms = Free::of(self, state, signal, &cell.arms);
        let Some(valuations) = terms.valuations(self, state, values, signal) else {
            if !self.too_wide.contains(&state.name) {
                self.too_wide.push(state.name.clone());
            }
            return Vec::new();
        };
        let mut found = Vec::new();
        for written in self.writings(state, values, signal, builder.shelf) {
            for changed in self.after_work(state, values, signal, &written, waits, builder) {
                // What is not asked for at present cannot be missing.
                if *signal == signal::STALE
                    && !written.stale.iter().any(|it| self.asked_for(&changed.values, it))
                {
                    continue;
                }
                for valuation in &valuations {
                    let mut came = valuation.clone();
                    came.signal = signal.clone();
                    came.wrote = written.documents;
                    came.stale.clone_from(&written.stale);
                    came.facts.extend(changed.facts.iter().map(|(a, b)| (a.clone(), b.clone())));
                    let steps = self.steps(
                        state,
                        values,
                        &changed.values,
                        &mut came,
                        &cell.arms,
                        written.touched,
                        builder,
                    );
                    found.push((came, Cell { waits, steps }));
                }
            }
        }
        found
    }

    /// Whether a loop's children come to an end only by what a person decides.
    fn only_by_person(&self, state: &State, values: &Values, signal: &Name, builder: &Builder<'_>) -> bool {
        let Kind::Each(Each { run: EachRun::Child(child), with, .. }) = &state.kind else { return false };
        let Some(machine) = self.workflow.children.get(&**child) else { return false };
        let setting = self.setting(values, machine, with);
        builder
            .ends
            .get(&(state.name.clone(), setting))
            .and_then(|it| it.get(&**signal))
            .copied()
            .unwrap_or(false)
    }

    fn can_signal(&self, state: &State, values: &Values, signal: &Name, builder: &Builder<'_>) -> bool {
        if *signal == signal::STALE {
            let needs = writes::picked(&state.needs, &|name| self.lookup(values, name));
            return needs.iter().any(|it| !it.is_empty());
        }
        match &state.kind {
            Kind::Each(Each { run: EachRun::Child(child), with, .. }) => {
                let Some(machine) = self.workflow.children.get(&**child) else { return true };
                if !machine.ends().any(|(name, _)| name == signal) {
                    return true;
                }
                let setting = self.setting(values, machine, with);
                builder.ends.get(&(state.name.clone(), setting)).is_none_or(|it| it.contains_key(&**signal))
            }
            Kind::Agent(call) | Kind::Review { call, .. } => {
                // With a table of roles, a verdict of another row cannot come.
                let roles = writes::picked(&call.role, &|name| self.lookup(values, name));
                signal::is_failure(signal)
                    || call.verdicts.as_ref().is_some_and(|it| it.contains_key(&**signal))
                    || roles.iter().filter_map(|it| self.workflow.roles.get(&***it)).any(|it| {
                        call.verdicts.is_none() && it.verdicts.contains_key(&**signal)
                            || it.asks && *signal == signal::ASK
                    })
            }
            _ => true,
        }
    }

    /// What a parent's node runs a child with.
    pub(super) fn setting(&self, values: &Values, child: &Machine, with: &IndexMap<Name, Name>) -> Setting {
        let terms = super::slots::outer_terms(self.workflow, child);
        Setting {
            with: with.iter().map(|(a, b)| (a.clone(), b.clone())).collect(),
            outer: terms.into_iter().filter_map(|it| Some((it.clone(), self.term(values, &it)?))).collect(),
        }
    }
}

/// What expanding shares.
struct Builder<'b> {
    shelf: &'b Shelf,
    ends: &'b Ends,
    watches: &'b [Watch],
}

#[derive(PartialEq, Eq, Hash)]
struct StepKey {
    waits: bool,
    to: NodeId,
    spend: Vec<u16>,
    refill: Vec<u16>,
    breaks: Vec<u16>,
    holds: Vec<u16>,
    place: usize,
}

/// Documents a state wrote on its way out, or that somebody edited.
#[derive(Default)]
struct Written {
    /// As a play says it; `None` where the state writes nothing anyway.
    documents: Option<Documents>,
    /// Everything that may have changed by it.
    touched: Documents,
    /// Gates that went stale because somebody edited what they judged.
    stale: Vec<Name>,
}

/// Slots after the work, before routing.
struct Changed {
    values: Values,
    facts: IndexMap<Name, Name>,
}

impl Unfolded<'_> {
    /// What a state may have written when it comes out. One that judges nothing and spoils nothing anybody routes on is
    /// taken to have written all it may; where routing looks at gates, every subset that tells them apart.
    fn writings(&self, state: &State, values: &Values, signal: &Name, shelf: &Shelf) -> Vec<Written> {
        if *signal == signal::STALE {
            return self.edits(state, values, shelf);
        }
        let may = writes::of_state(self.workflow, shelf, state, &|name| self.lookup(values, name));
        if may == 0 {
            return vec![Written::default()];
        }
        // Gates routing looks at, that stand settled and that this state could spoil.
        let mut at_stake: Vec<Documents> = Vec::new();
        for (at, kept) in self.slots.kept.iter().enumerate() {
            if let Slot::Term(Term::Gate(gate)) = &kept.slot
                && matches!(self.value(values, at).as_deref(), Some("fresh" | "forced"))
            {
                let judged = self.judged(gate, values, shelf);
                if shelf.touched(may) & judged != 0 && !at_stake.contains(&judged) {
                    at_stake.push(judged);
                }
            }
        }
        let mut found: Vec<Written> = Vec::new();
        for subset in 0..1_u32 << at_stake.len().min(6) {
            let kept: Documents = at_stake
                .iter()
                .enumerate()
                .filter(|(at, _)| subset & (1 << at) != 0)
                .fold(0, |set, (_, it)| set | it);
            let mut written = 0;
            for at in 0..128 {
                let one = may & (1 << at);
                if one != 0 && shelf.touched(one) & kept == 0 {
                    written |= one;
                }
            }
            if !found.iter().any(|it| it.documents == Some(written)) {
                found.push(Written {
                    documents: Some(written),
                    touched: shelf.touched(written),
                    stale: Vec::new(),
                });
            }
        }
        found
    }

    /// Ways somebody can edit what the gates a state needs have judged: one document at a time, told apart by the gates
    /// that go stale. Several at once come one after the other, each with a signal of its own.
    fn edits(&self, state: &State, values: &Values, shelf: &Shelf) -> Vec<Written> {
        let gates: Vec<&Name> =
            writes::picked(&state.needs, &|name| self.lookup(values, name)).into_iter().flatten().collect();
        let judged = gates.iter().fold(0, |set, it| set | self.judged(it, values, shelf));
        let mut found: Vec<Written> = Vec::new();
        for document in (0..128).map(|at| judged & (1 << at)).filter(|it| *it != 0) {
            let touched = shelf.touched(document);
            let stale: Vec<Name> = gates
                .iter()
                .filter(|it| self.judged(it, values, shelf) & touched != 0)
                .map(|it| (*it).clone())
                .collect();
            if !found.iter().any(|it| it.stale == stale) {
                found.push(Written { documents: Some(document), touched, stale });
            }
        }
        found
    }

    /// What a gate judges, for the values of a node.
    pub(super) fn judged(&self, gate: &str, values: &Values, shelf: &Shelf) -> Documents {
        let states = self.machine.gates.get(gate).into_iter().flatten();
        states.filter_map(|it| self.machine.states.get(&**it)?.gate.as_ref()).fold(0, |set, gate| {
            writes::picked(&gate.judges, &|name| self.lookup(values, name))
                .into_iter()
                .fold(set, |set, it| set | shelf.set(self.workflow, it))
        })
    }

    /// Whether a state judges something for the values of a node.
    pub(super) fn judges(&self, state: &State, values: &Values) -> bool {
        state.gate.as_ref().is_some_and(|gate| {
            writes::picked(&gate.judges, &|name| self.lookup(values, name)).iter().any(|it| !it.is_empty())
        })
    }

    /// Gates and facts as they stand when the work is done and routing begins.
    fn after_work(
        &self,
        state: &State,
        values: &Values,
        signal: &Name,
        written: &Written,
        person: bool,
        builder: &Builder<'_>,
    ) -> Vec<Changed> {
        let mut after = values.clone();
        let mut open: Vec<(usize, Vec<u16>)> = Vec::new();
        // Facts the run itself may have changed, as opposed to somebody outside it.
        let mut rewritten: Vec<usize> = Vec::new();
        for (at, kept) in self.slots.kept.iter().enumerate() {
            match &kept.slot {
                Slot::Term(Term::Gate(gate)) => {
                    let settled = matches!(self.value(values, at).as_deref(), Some("fresh" | "forced"));
                    if settled && written.touched & self.judged(gate, values, builder.shelf) != 0 {
                        after[at] = self.index_of(at, "stale");
                    }
                    let own = state.gate.as_ref().filter(|it| it.name == *gate && self.judges(state, values));
                    if let Some(own) = own.filter(|_| *signal != signal::STALE) {
                        if own.passes.contains(signal) {
                            let forced_inside =
                                matches!(&state.kind, Kind::Each(each) if self.child_forces(each));
                            let fresh = self.index_of(at, "fresh");
                            open.push((
                                at,
                                if forced_inside {
                                    vec![fresh, self.index_of(at, "forced")]
                                } else {
                                    vec![fresh]
                                },
                            ));
                        } else {
                            after[at] = self.index_of(at, "open");
                        }
                    }
                }
                Slot::Term(Term::Fact(_)) => {
                    let reads = &kept.reads;
                    let edited = person && (reads.documents != 0 || reads.git);
                    let wrote = if *signal == signal::STALE { 0 } else { written.touched };
                    let changed = reads.anything
                        || wrote & reads.documents != 0
                        || reads.git && (wrote != 0 || matches!(state.kind, Kind::Do { .. }))
                        || reads.findings && matches!(state.kind, Kind::Review { .. })
                        || reads.states.contains(&state.name);
                    if changed || edited {
                        open.push((
                            at,
                            (0..kept.values.len()).map(|it| u16::try_from(it).unwrap_or(u16::MAX)).collect(),
                        ));
                    }
                    if changed {
                        rewritten.push(at);
                    }
                }
                _ => {}
            }
        }
        let choices: Vec<Vec<u16>> = open.iter().map(|(_, it)| it.clone()).collect();
        product(&choices)
            .into_iter()
            .map(|choice| {
                let mut values = after.clone();
                let mut facts = IndexMap::new();
                for ((at, _), value) in open.iter().zip(choice) {
                    values[*at] = value;
                    if let (Slot::Term(Term::Fact(name)), Some(chosen)) =
                        (&self.slots.kept[*at].slot, self.value(&values, *at))
                    {
                        if let Some(inner) = self.slots.position(&Slot::Inner(name.clone())) {
                            if rewritten.contains(at) {
                                values[inner] = value;
                            } else if value != after[*at] {
                                values[inner] = self.index_of(inner, OUTSIDE);
                            }
                        }
                        facts.insert(name.clone(), chosen);
                    }
                }
                Changed { values, facts }
            })
            .collect()
    }

    fn child_forces(&self, each: &Each) -> bool {
        let EachRun::Child(child) = &each.run else { return false };
        self.workflow.children.get(&**child).is_some_and(|it| {
            it.states
                .values()
                .flat_map(|it| it.cells.values())
                .flat_map(|it| &it.arms)
                .any(|it| !it.forced.is_empty())
        })
    }

    /// The arms that can be taken, in order, up to the first that spends nothing.
    #[expect(clippy::too_many_arguments, reason = "one call site; a struct would only rename them")]
    fn steps(
        &mut self,
        state: &State,
        before: &Values,
        after: &Values,
        came: &mut Came,
        arms: &[Arm],
        touched: Documents,
        builder: &mut Builder<'_>,
    ) -> Vec<Step> {
        let mut steps = Vec::new();
        for (at, arm) in arms.iter().enumerate() {
            let holds = arm.when.iter().all(|it| {
                self.value_now(after, &it.term, came).is_some_and(|value| it.values.contains(&value))
            });
            if !holds {
                continue;
            }
            if let Some(times) = self.retries(before, arm) {
                came.retries.push((at, times));
                continue;
            }
            let spend = match &arm.spend {
                None => Vec::new(),
                Some(budget) => match self.line(before, budget) {
                    Some(line) => self.counters.get(&*line).copied().into_iter().collect(),
                    None => continue,
                },
            };
            let free = arm.spend.is_none();
            let mut step = self.step(state, before, after, came, arm, builder);
            step.spend = spend;
            let to = self.state(step.to).map(|it| it.name.clone()).unwrap_or_default();
            let watched = super::monitors::Taken { state, before, came, arm, touched, to: &to };
            for (monitor, watch) in builder.watches.iter().enumerate() {
                let monitor = u16::try_from(monitor).unwrap_or(u16::MAX);
                if watch.breaks(self, builder.shelf, &watched) {
                    step.breaks.push(monitor);
                }
                if watch.holds(self, &watched) {
                    step.holds.push(monitor);
                }
            }
            came.arms.push(at);
            steps.push(step);
            if free {
                break;
            }
        }
        steps
    }

    fn step(
        &mut self,
        state: &State,
        before: &Values,
        after: &Values,
        came: &Came,
        arm: &Arm,
        builder: &mut Builder<'_>,
    ) -> Step {
        let mut values = after.clone();
        let set = |unfolded: &Self, values: &mut Values, slot: &Slot, value: &str| {
            if let Some(at) = unfolded.slots.position(slot) {
                values[at] = unfolded.index_of(at, value);
            }
        };
        let came_well = !signal::is_failure(&came.signal) && came.signal != signal::STALE;
        set(self, &mut values, &Slot::Term(Term::Last(state.name.clone())), &came.signal);
        if came_well {
            set(self, &mut values, &Slot::Term(Term::Ever(state.name.clone())), "yes");
        }
        for (at, value) in values.iter_mut().enumerate() {
            if let Slot::Term(Term::LastField(of, field)) = &self.slots.kept[at].slot
                && *of == state.name
            {
                let came = came.fields.get(&**field).cloned().unwrap_or_else(|| "none".into());
                *value = self.index_of(at, &came);
            }
        }
        if matches!(state.kind, Kind::Review { .. }) && came_well {
            let passes = signal::outcomes_of(self.workflow, state).get_index_of(&*came.signal) == Some(0);
            set(self, &mut values, &Slot::Handed(state.name.clone()), if passes { "no" } else { "yes" });
        }
        for gate in &arm.forced {
            let slot = Slot::Term(Term::Gate(gate.clone()));
            let fresh =
                self.slots.position(&slot).and_then(|it| self.value(&values, it)).as_deref() == Some("fresh");
            if !fresh {
                set(self, &mut values, &slot, "forced");
            }
        }
        for (name, value) in &arm.set {
            set(self, &mut values, &Slot::Term(Term::Var(name.clone())), value);
            for other in self.machine.states.values() {
                if let Some(gate) = other.gate.as_ref().filter(|it| it.judges.by() == Some(name)) {
                    set(self, &mut values, &Slot::Term(Term::Gate(gate.name.clone())), "open");
                }
            }
        }
        let mut refilled: Vec<Name> = arm.refill.clone();
        let from = self.slots.position(&Slot::From);
        let came_from = from.and_then(|it| self.value(before, it)).filter(|it| !it.is_empty());
        let target = match &arm.to {
            Target::State(name) => Some(name.clone()),
            Target::Again => None,
            Target::Back => came_from.clone(),
        };
        let again = target.is_none();
        let target = target.unwrap_or_else(|| state.name.clone());
        if !again {
            for (name, budget) in &self.machine.budgets {
                let fills = match &budget.per {
                    Per::Visit => true,
                    Per::States(states) => states.contains(&target),
                    Per::Run => false,
                };
                if fills && !refilled.contains(name) {
                    refilled.push(name.clone());
                }
            }
            if let Some(at) = from {
                let returns = self.machine.states.get(&*target).is_some_and(State::returns);
                let passes_on = state.returns() && arm.to != Target::Back;
                let value = match (returns, passes_on) {
                    (false, _) => Name::from(""),
                    (true, true) => came_from.unwrap_or_else(|| "".into()),
                    (true, false) => state.name.clone(),
                };
                values[at] = self.index_of(at, &value);
            }
        }
        for budget in &refilled {
            for other in self.machine.states.values().filter(|it| crate::machine::draws_on(it, budget)) {
                set(self, &mut values, &Slot::Handed(other.name.clone()), "no");
            }
        }
        let to = self.node(&target, values, builder.watches);
        let refill = refilled
            .iter()
            .filter_map(|it| self.machine.budgets.get(&**it).map(|budget| lines(it, budget)))
            .flatten()
            .filter_map(|(line, _)| self.counters.get(&*line).copied())
            .collect();
        Step { to, spend: Vec::new(), refill, breaks: Vec::new(), holds: Vec::new() }
    }

    /// How often an arm that only tries the same visit again can be taken. Such an arm changes nothing but what is left
    /// of a budget that every entry fills, so a run that takes it comes to nothing it could not come to without; what it
    /// costs is charged to the visit (see `cost`), and a path past it takes it as often as it can.
    pub(super) fn retries(&self, values: &Values, arm: &Arm) -> Option<u64> {
        let name = arm.spend.as_ref().filter(|_| arm.to == Target::Again)?;
        let budget = self.machine.budgets.get(&**name).filter(|it| it.per == Per::Visit)?;
        let plain = arm.set.is_empty() && arm.forced.is_empty() && arm.refill.is_empty();
        let limit = writes::picked(&budget.limit, &|name| self.lookup(values, name))
            .into_iter()
            .map(|it| it.value)
            .max();
        limit.filter(|_| plain)
    }

    /// The line of a budget that counts for the values of a node.
    fn line(&self, values: &Values, budget: &Name) -> Option<Name> {
        let declared = self.machine.budgets.get(&**budget)?;
        match declared.limit.by() {
            None => Some(budget.clone()),
            Some(by) => self.lookup(values, by).map(|value| row_line(budget, &value)),
        }
    }

    /// Whether a gate has to be passed for the values of a node, whether it was or not.
    fn asked_for(&self, values: &Values, gate: &str) -> bool {
        let conditions = crate::machine::Run::owed_when(self.machine, gate);
        conditions.iter().all(|it| self.term(values, &it.term).is_none_or(|value| it.values.contains(&value)))
    }

    /// The value of a term while an outcome is being routed.
    fn value_now(&self, values: &Values, term: &Term, came: &Came) -> Option<Name> {
        let yes_no = |yes: bool| Some(Name::from(if yes { "yes" } else { "no" }));
        match term {
            Term::Owed(gate) if came.stale.contains(gate) => yes_no(self.asked_for(values, gate)),
            Term::Owed(gate)
                if came.signal == signal::STALE && self.term(values, &Term::Gate(gate.clone())).is_none() =>
            {
                yes_no(false)
            }
            Term::Owed(gate) => {
                let wanted = crate::machine::Run::owed_when(self.machine, gate).iter().all(|it| {
                    self.value_now(values, &it.term, came).is_some_and(|value| it.values.contains(&value))
                });
                let settled = matches!(
                    self.term(values, &Term::Gate(gate.clone())).as_deref(),
                    Some("fresh" | "forced")
                );
                yes_no(wanted && !settled)
            }
            Term::SameAgain => yes_no(came.same_again.unwrap_or(false)),
            Term::Topic => came.topic.clone(),
            Term::Field(field) => came.fields.get(&**field).cloned(),
            Term::Changed(document) => yes_no(came.changed.get(&**document).copied().unwrap_or(false)),
            Term::Fact(name) if self.slots.term(term).is_none() => came.facts.get(&**name).cloned(),
            Term::Outer(inner) if self.slots.term(term).is_none() => match &**inner {
                Term::Fact(name) => came.facts.get(&**name).cloned(),
                inner => self.value_now(values, inner, came),
            },
            term => self.term(values, term),
        }
    }
}

/// What may come out any way when a cell is routed.
#[derive(Default)]
struct Free {
    facts: Vec<(Name, Vec<Name>)>,
    changed: Vec<Name>,
    fields: Vec<(Name, Vec<Name>)>,
    same_again: bool,
    topics: Vec<Name>,
}

impl Free {
    fn of(unfolded: &Unfolded<'_>, state: &State, signal: &Name, arms: &[Arm]) -> Self {
        let mut free = Self::default();
        let outcomes = signal::outcomes_of(unfolded.workflow, state);
        let fields = outcomes.get(&**signal).map(|it| it.fields.clone()).unwrap_or_default();
        for condition in arms.iter().flat_map(|it| &it.when) {
            free.term(unfolded, state, &fields, &condition.term);
        }
        // A field somebody reads later has to be told apart now.
        for kept in &unfolded.slots.kept {
            if let Slot::Term(Term::LastField(of, field)) = &kept.slot
                && *of == state.name
                && let Some(values) = fields.get(&**field)
                && !free.fields.iter().any(|(name, _)| name == field)
            {
                free.fields.push((field.clone(), values.clone()));
            }
        }
        free
    }

    fn term(
        &mut self,
        unfolded: &Unfolded<'_>,
        state: &State,
        fields: &IndexMap<Name, Vec<Name>>,
        term: &Term,
    ) {
        match term {
            Term::Fact(name) if unfolded.slots.term(term).is_none() => {
                let values =
                    unfolded.machine.facts.get(&**name).map(|it| it.values.clone()).unwrap_or_default();
                self.fact(name, values);
            }
            Term::Outer(inner) => {
                if let Term::Fact(name) = &**inner {
                    let values = unfolded
                        .workflow
                        .main
                        .facts
                        .get(&**name)
                        .map(|it| it.values.clone())
                        .unwrap_or_default();
                    self.fact(name, values);
                } else if matches!(**inner, Term::Changed(_)) {
                    self.term(unfolded, state, fields, inner);
                }
            }
            Term::Changed(document) if !self.changed.contains(document) => {
                self.changed.push(document.clone());
            }
            Term::SameAgain => self.same_again = true,
            Term::Topic => {
                if let Kind::Review { call, .. } = &state.kind {
                    let roles = call
                        .role
                        .values()
                        .filter_map(|it| unfolded.workflow.roles.get(&**it)?.findings.as_ref());
                    self.topics = roles.flat_map(|it| it.topic.clone()).collect();
                }
            }
            Term::Field(field) => {
                if let Some(values) = fields.get(&**field)
                    && !self.fields.iter().any(|(name, _)| name == field)
                {
                    self.fields.push((field.clone(), values.clone()));
                }
            }
            Term::Owed(gate) => {
                for condition in crate::machine::Run::owed_when(unfolded.machine, gate) {
                    self.term(unfolded, state, fields, &condition.term);
                }
            }
            _ => {}
        }
    }

    fn fact(&mut self, name: &Name, values: Vec<Name>) {
        if !self.facts.iter().any(|(it, _)| it == name) {
            self.facts.push((name.clone(), values));
        }
    }

    /// Every combination, or `None` when there are too many.
    fn valuations(
        &self,
        unfolded: &Unfolded<'_>,
        state: &State,
        values: &Values,
        signal: &Name,
    ) -> Option<Vec<Came>> {
        let sized = |length: usize| {
            (0..length.max(1)).map(|it| u16::try_from(it).unwrap_or(u16::MAX)).collect::<Vec<_>>()
        };
        let best =
            signal::outcomes_of(unfolded.workflow, state).get_index_of(&**signal).is_none_or(|it| it == 0);
        let handed = unfolded
            .slots
            .position(&Slot::Handed(state.name.clone()))
            .and_then(|it| unfolded.value(values, it))
            .is_some_and(|it| *it == *"yes");
        let mut choices: Vec<Vec<u16>> = Vec::new();
        choices.extend(self.facts.iter().map(|(_, it)| sized(it.len())));
        choices.extend(self.changed.iter().map(|_| sized(2)));
        choices.extend(self.fields.iter().map(|(_, it)| sized(it.len())));
        choices.push(if self.same_again && handed && !best { sized(2) } else { vec![0] });
        choices.push(if best { vec![0] } else { sized(self.topics.len()) });
        let combinations: usize = choices.iter().map(Vec::len).try_fold(1_usize, usize::checked_mul)?;
        if combinations > MOST_VALUATIONS {
            return None;
        }
        let found = product(&choices).into_iter().map(|choice| {
            let mut choice = choice.into_iter().map(usize::from);
            let mut came = Came::default();
            for (name, values) in &self.facts {
                came.facts
                    .extend(choice.next().and_then(|it| values.get(it)).map(|it| (name.clone(), it.clone())));
            }
            for document in &self.changed {
                came.changed.insert(document.clone(), choice.next() == Some(1));
            }
            for (name, values) in &self.fields {
                came.fields
                    .extend(choice.next().and_then(|it| values.get(it)).map(|it| (name.clone(), it.clone())));
            }
            let same_again = choice.next() == Some(1);
            came.same_again = self.same_again.then_some(same_again);
            came.topic = choice.next().filter(|_| !best).and_then(|it| self.topics.get(it)).cloned();
            came
        });
        Some(found.collect())
    }
}

/// All combinations.
fn product(choices: &[Vec<u16>]) -> Vec<Values> {
    let mut found: Vec<Values> = vec![Vec::with_capacity(choices.len())];
    for choice in choices {
        let mut longer = Vec::with_capacity(found.len() * choice.len());
        for values in &found {
            for value in choice {
                let mut next = values.clone();
                next.push(*value);
                longer.push(next);
            }
        }
        found = longer;
    }
    found
}
