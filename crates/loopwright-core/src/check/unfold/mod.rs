//! Unfolding: a machine becomes a graph in which facts, signals and what routing remembers are gone.
//!
//! A node is a state with the values of its slots; a cell is one way its work can come out, with everything that
//! qualifies it; a step is an arm. The unfolding follows the machine rule by rule (see `crate::machine`), taking every
//! choice the world has: every signal, every value of a fact, written or not written. So whatever a run can do, the
//! graph can do; and what the graph can do is printed as a scenario that the machine then plays.

mod came;
mod choices;
mod done;
mod edits;
mod expand;
mod facts;
mod fitted;
mod heeds;
mod plan;
mod planner;
mod roots;
mod steps;

use std::cell::Cell;
use std::rc::Rc;

use indexmap::{Equivalent, IndexMap, IndexSet};
use rustc_hash::{FxBuildHasher, FxHashMap, FxHashSet};

pub(super) use self::came::{Begin, Came, Ends, Forced, Reached, Setting};
pub(super) use self::done::Memory;
pub(super) use self::fitted::goes_before;
use self::fitted::{Fitted, Fitter};
use self::plan::Plan;
use self::planner::Planner;
use super::monitors::Watch;
use super::slots::Slots;
use super::writes::{self, Documents, Shelf};
use crate::definition::{Kind, Machine, State, Target, Term, Workflow};
use crate::language::units::Unit;
use crate::machine::lines;
use crate::name::Name;
use crate::proof::graph::{Counter, Graph, Monitor, Node, NodeId};
use crate::proof::{Limits, Prover};
use crate::signal;

/// Cells of one state are listed up to here; a choice that reads more is refused.
const MOST_VALUATIONS: usize = 4096;
/// So many gates that routing looks at may be spoilt at once and told apart.
const MOST_GATES: usize = 8;
/// Ways to begin are listed up to here.
const MOST_ROOTS: usize = 16_384;
/// Nodes are listed up to here.
const MOST_NODES: usize = 200_000;

/// Outcomes are routed up to here.
const MOST_ROUTED: u32 = 2_000_000;

/// The values of the slots, as indices into their lists.
pub(super) type Values = Vec<u16>;

/// A machine unfolded.
pub(super) struct Unfolded<'w> {
    pub(super) workflow: &'w Workflow,
    pub(super) shelf: &'w Shelf,
    pub(super) machine: &'w Machine,
    pub(super) slots: Slots,
    pub(super) graph: Graph,
    /// What each node stands for.
    pub(super) nodes: IndexSet<Spot, FxBuildHasher>,
    /// What each cell of each node stands for. Many stand for the same.
    pub(super) outcomes: Vec<Rc<[Rc<Came>]>>,
    /// How each root begins.
    pub(super) begins: Vec<Begin>,
    /// States with a choice that reads too much.
    pub(super) too_wide: Vec<Name>,
    /// States where more gates may be spoilt at once than can be told apart.
    pub(super) too_many_gates: Vec<Name>,
    /// Whether nodes were left out because there are too many.
    pub(super) cut: bool,
    pub(super) counters: IndexMap<Name, u16>,
    /// Which class each node is of.
    class_of: Vec<u32>,
    /// Nodes of a state that agree on what the state looks at: the state, and the values it looks at.
    classes: IndexSet<(u16, Values), FxBuildHasher>,
    /// A node of each class.
    examples: Vec<NodeId>,
    /// How many outcomes were routed.
    routed: u32,
    /// Slots of a node that is looked for.
    scratch: Values,
    /// Terms of this machine that each child reads.
    outer_terms: FxHashMap<Name, Vec<Term>>,
    /// What children of its loops can come to.
    ends: Ends,
    /// Whether a path was written down that lacks an item: see [`Memory`].
    pub(super) lacks_item: Cell<bool>,
}

/// What a node stands for: a state, which part of being there, and the values of the slots.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Spot {
    pub(super) state: u16,
    pub(super) part: u16,
    pub(super) values: Values,
}

/// The same, borrowed: most nodes that are come to are known.
#[derive(Hash)]
struct SpotOf<'v> {
    state: u16,
    part: u16,
    values: &'v [u16],
}

impl Equivalent<Spot> for SpotOf<'_> {
    fn equivalent(&self, spot: &Spot) -> bool {
        (self.state, self.part, self.values) == (spot.state, spot.part, &*spot.values)
    }
}

/// Being in a state.
const THERE: u16 = 0;
/// Being over: an end that needs gates is left again when they turn out stale, so reaching it and being over are two.
const OVER: u16 = 1;
/// In a loop, after a person decided something in a child that comes to the end of this number (from here on).
const DECIDED: u16 = 2;

/// What unfolding one machine shares.
struct Builder<'b, 'w> {
    plan: Plan<'w>,
    fitter: Fitter<'b>,
    /// By class.
    fitted: Vec<Option<Rc<Fitted>>>,
    /// A node for each class, part and values of what the state heeds.
    like: FxHashMap<(u32, u16, Values), usize>,
    /// Outcomes that were met before.
    known: FxHashSet<Rc<Came>>,
}

impl<'w> Unfolded<'w> {
    /// Unfolds a machine. For a child, `settings` are what its parents run it with.
    pub(super) fn new(
        workflow: &'w Workflow,
        shelf: &'w Shelf,
        machine: &'w Machine,
        settings: &[Setting],
        ends: &Ends,
        watches: &[Watch],
        memory: Memory,
    ) -> Self {
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
        graph.monitors = watches.iter().map(|it| Monitor { name: it.name.clone() }).collect();
        let children = workflow.children.iter();
        let outer_terms =
            children.map(|(name, it)| (name.clone(), super::terms::outer_terms(workflow, it))).collect();
        let mut unfolded = Self {
            workflow,
            shelf,
            machine,
            slots: Slots::collect(
                workflow,
                shelf,
                machine,
                &done::remembered(workflow, machine, ends, watches, memory),
                memory,
            ),
            graph,
            nodes: IndexSet::default(),
            outcomes: Vec::new(),
            begins: Vec::new(),
            too_wide: Vec::new(),
            too_many_gates: Vec::new(),
            cut: false,
            counters,
            class_of: Vec::new(),
            classes: IndexSet::default(),
            examples: Vec::new(),
            routed: 0,
            scratch: Values::new(),
            outer_terms,
            ends: ends.clone(),
            lacks_item: Cell::new(false),
        };
        let counters = unfolded.counted();
        let plan =
            Planner { workflow, machine, shelf, slots: &unfolded.slots, counters: &counters, watches }.plan();
        let mut builder = Builder {
            plan,
            fitter: Fitter { ends, watches },
            fitted: Vec::new(),
            like: FxHashMap::default(),
            known: FxHashSet::default(),
        };
        unfolded.roots(settings, &builder);
        let mut next = 0;
        while next < unfolded.nodes.len() {
            unfolded.expand(next, &mut builder);
            next += 1;
        }
        unfolded
    }

    /// Counters that some arm spends. One that only pays for tries of the same visit is charged to the visit.
    fn counted(&self) -> IndexMap<Name, u16> {
        let mut counted = IndexMap::new();
        for (name, budget) in &self.machine.budgets {
            let spends = |state: &State| {
                let cells = state.cells.iter();
                let mut arms = cells.flat_map(|(signal, it)| it.arms.iter().map(move |arm| (signal, arm)));
                arms.any(|(signal, it)| {
                    it.spend.as_ref() == Some(name) && self.retries(state, &Vec::new(), signal, it).is_none()
                })
            };
            if self.machine.states.values().any(spends) {
                let lines = lines(name, budget).into_iter();
                counted.extend(lines.filter_map(|(it, _)| Some((it.clone(), *self.counters.get(&*it)?))));
            }
        }
        counted
    }

    /// Answers about runs nobody interferes with: no edit makes a gate stale, no call is cancelled.
    pub(super) fn undisturbed(&self, limits: Limits) -> Prover<'_> {
        Prover::without(&self.graph, limits, &|node, cell| {
            let came = self.outcomes.get(node).and_then(|it| it.get(cell));
            came.is_some_and(|it| it.signal == signal::STALE || *it.signal == *signal::CANCELLED)
        })
    }

    /// The state a node stands for.
    pub(super) fn state(&self, node: NodeId) -> Option<&'w State> {
        let spot = self.nodes.get_index(node as usize)?;
        self.machine.states.get_index(usize::from(spot.state)).map(|(_, it)| it)
    }

    /// Whether a node only says that a person decided something in a child.
    pub(super) fn is_decided(&self, node: NodeId) -> bool {
        self.nodes.get_index(node as usize).is_some_and(|it| it.part >= DECIDED)
    }

    /// The values of a node.
    pub(super) fn values(&self, node: NodeId) -> Option<&Values> {
        self.nodes.get_index(node as usize).map(|it| &it.values)
    }

    /// A number for every node that is not over, by its state and what that looks at alone.
    pub(super) fn by_class(&self, number: impl Fn(&State, &Values) -> u64) -> Vec<u64> {
        let of_example = |it: &NodeId| match (self.state(*it), self.values(*it)) {
            (Some(state), Some(values)) => number(state, values),
            _ => 0,
        };
        let numbers: Vec<u64> = self.examples.iter().map(of_example).collect();
        let nodes = self.class_of.iter().zip(&self.nodes);
        nodes.map(|(class, spot)| if spot.part == OVER { 0 } else { numbers[*class as usize] }).collect()
    }

    /// Whether a step is the same visit once more, or goes on with it.
    pub(super) fn is_again(&self, node: usize, cell: usize, step: usize) -> bool {
        let came = self.outcomes.get(node).and_then(|it| it.get(cell));
        let state = self.state(NodeId::try_from(node).unwrap_or(NodeId::MAX));
        let arm = came
            .zip(state)
            .and_then(|(came, state)| state.cells.get(&*came.signal)?.arms.get(*came.arms.get(step)?));
        // What is no arm leads to another part of being there.
        arm.is_none_or(|it| it.to == Target::Again)
    }

    /// Whether only part of the machine was walked.
    pub(super) fn is_partial(&self) -> bool {
        self.cut || !self.too_wide.is_empty() || !self.too_many_gates.is_empty()
    }

    /// The value of a slot in a node.
    pub(super) fn value(&self, values: &[u16], slot: usize) -> Option<Name> {
        self.slots.kept.get(slot)?.values.get(usize::from(*values.get(slot)?)).cloned()
    }

    /// The value of a term in a node.
    pub(super) fn term(&self, values: &[u16], term: &Term) -> Option<Name> {
        self.slots.term(term).and_then(|it| self.value(values, it))
    }

    /// The value of a variable, own or the parent's.
    pub(super) fn lookup(&self, values: &[u16], name: &Name) -> Option<Name> {
        self.term(values, &super::terms::variable(self.workflow, self.machine, name))
    }

    /// What a gate judges, for the values of a node.
    pub(super) fn judged(&self, gate: &str, values: &Values) -> Documents {
        let states = self.machine.gates.get(gate).into_iter().flatten();
        states.filter_map(|it| self.machine.states.get(&**it)?.gate.as_ref()).fold(0, |set, gate| {
            writes::picked(&gate.judges, &|name| self.lookup(values, name))
                .into_iter()
                .fold(set, |set, it| set | self.shelf.set(self.workflow, it))
        })
    }

    /// Whether a state judges something for the values of a node.
    pub(super) fn judges(&self, state: &State, values: &Values) -> bool {
        state.gate.as_ref().is_some_and(|gate| {
            writes::picked(&gate.judges, &|name| self.lookup(values, name)).iter().any(|it| !it.is_empty())
        })
    }

    /// What a parent's node runs a child with.
    pub(super) fn setting(&self, values: &Values, child: &Machine, with: &IndexMap<Name, Name>) -> Setting {
        let terms = child.name.as_ref().and_then(|it| self.outer_terms.get(it)).into_iter().flatten();
        Setting {
            with: with.iter().map(|(a, b)| (a.clone(), b.clone())).collect(),
            outer: terms.filter_map(|it| Some((it.clone(), self.term(values, it)?))).collect(),
        }
    }

    /// The node of a state with these values, as far as they matter there.
    fn node(&mut self, index: usize, values: &mut Values, builder: &Builder<'_, '_>) -> NodeId {
        let plan = &builder.plan;
        let state = &plan.states[index];
        // Who led here, if it may lead back: then what matters there matters here.
        let back = plan.from.map_or(0, |it| usize::from(values[it]));
        let there = back.checked_sub(1).map(|it| &plan.states[it].alive);
        for (at, value) in values.iter_mut().enumerate() {
            if !state.alive[at] && !there.is_some_and(|it| it[at]) {
                *value = 0;
            }
        }
        let known = SpotOf { state: u16::try_from(index).unwrap_or(u16::MAX), part: THERE, values };
        if let Some(node) = self.nodes.get_index_of(&known) {
            return NodeId::try_from(node).unwrap_or(NodeId::MAX);
        }
        let spot = Spot { state: known.state, part: THERE, values: values.clone() };
        let requires =
            state.watches.iter().copied().filter(|it| {
                builder.fitter.watches[usize::from(*it)].requires(self, state.state, &spot.values)
            });
        let requires = requires.collect();
        let end = matches!(state.state.kind, Kind::End { .. }) && state.state.cells.is_empty();
        let looked_at = state.looks_at.iter().map(|it| spot.values[*it]).collect();
        let class = (spot.state, looked_at);
        self.add(spot, class, Node { end, requires, ..Node::default() })
    }

    /// Another part of being where a node stands.
    fn part(&mut self, spot: &Spot, class: u32, part: u16) -> NodeId {
        let spot = Spot { part, ..spot.clone() };
        if let Some(node) = self.nodes.get_index_of(&spot) {
            return NodeId::try_from(node).unwrap_or(NodeId::MAX);
        }
        let class = self.classes[class as usize].clone();
        self.add(spot, class, Node { end: part == OVER, ..Node::default() })
    }

    fn add(&mut self, spot: Spot, class: (u16, Values), node: Node) -> NodeId {
        let id = NodeId::try_from(self.nodes.len()).unwrap_or(NodeId::MAX);
        let (class, new) = self.classes.insert_full(class);
        if new {
            self.examples.push(id);
        }
        self.class_of.push(u32::try_from(class).unwrap_or(u32::MAX));
        self.nodes.insert(spot);
        self.graph.nodes.push(node);
        self.outcomes.push(Rc::default());
        id
    }
}
