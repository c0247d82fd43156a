//! A graph compiled for the analyses: what can never happen is gone, what is alike is one.
//!
//! A cell becomes a *chain* of arms, in order, cut after the first that spends nothing. At given counters a
//! chain has exactly one successor, so "else" needs no encoding and branching is the number of chains. Chains
//! that do the same are merged, which is what makes ten failures with one route cost as much as one.
//!
//! A counter is *live* at a node when some path from there tests it before filling it up. A test that fails is
//! a read too. Configurations that agree on the live counters behave alike, so nothing else is ever stored.

use std::ops::Range;

use super::graph::{CounterId, Graph, Move, NodeId, Step};
use super::ids::{Ids, members};
use super::limits::small;

const NONE: u32 = u32::MAX;

/// One arm of a chain, as the analyses read it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Arm {
    pub(crate) node: NodeId,
    pub(crate) to: NodeId,
    pub(crate) waits: bool,
    pub(crate) spend: Ids,
    /// Only those live at `to`: another refill comes before any other is read.
    pub(crate) refill: Ids,
    /// Monitors that are false afterwards.
    pub(crate) breaks: Ids,
    /// Monitors that are true afterwards.
    pub(crate) holds: Ids,
}

/// A cell, or several that do the same.
#[derive(Clone, Debug)]
pub(crate) struct Chain {
    pub(crate) waits: bool,
    /// The last arm spends nothing, so there is always a successor.
    pub(crate) total: bool,
    /// Indices into the program's arms.
    pub(crate) arms: Range<usize>,
    /// The first of the cells it stands for.
    cell: u32,
}

/// Which steps count: all of them, or only those taken while nobody is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scope {
    /// Whole runs, people answering as they like.
    Whole,
    /// Unattended stretches: steps chosen by a person are left out, and begin a new stretch.
    Stretch,
}

impl Scope {
    /// Whether a chain or arm that waits (or not) belongs to this scope.
    pub(crate) fn includes(self, waits: bool) -> bool {
        self == Scope::Whole || !waits
    }
}

/// The compiled graph.
#[derive(Debug)]
pub(crate) struct Program<'graph> {
    pub(crate) graph: &'graph Graph,
    pub(crate) arms: Vec<Arm>,
    /// Which chain each arm belongs to.
    chain_of: Vec<u32>,
    chains: Vec<Chain>,
    /// Where each node's chains begin; one entry more than there are nodes.
    first: Vec<usize>,
    /// Which chain stands for each cell, the nodes' cells one after the other.
    of_cell: Vec<u32>,
    /// Where each node's cells begin; one entry more than there are nodes.
    first_cell: Vec<usize>,
    live: Vec<u64>,
    words: usize,
    /// Nodes that can be reached when every arm can be afforded.
    pub(crate) connected: Vec<bool>,
}

impl<'graph> Program<'graph> {
    pub(crate) fn new(graph: &'graph Graph) -> Self {
        Self::without(graph, &|_, _| false)
    }

    /// Compiles a graph as if some cells of nodes could not happen.
    pub(crate) fn without(graph: &'graph Graph, left_out: &dyn Fn(usize, usize) -> bool) -> Self {
        let words = graph.counters.len().div_ceil(64);
        let mut first_cell = Vec::with_capacity(graph.nodes.len() + 1);
        let mut of_cell = Vec::new();
        first_cell.push(0);
        for (node, here) in graph.nodes.iter().enumerate() {
            let cells = if here.end { 0 } else { here.cells.len() };
            // Until the chains are known: whether there will be one.
            of_cell.extend((0..cells).map(|cell| if left_out(node, cell) { NONE } else { 0 }));
            first_cell.push(of_cell.len());
        }
        let cells = || graph.nodes.iter().filter(|it| !it.end).flat_map(|it| &it.cells);
        let steps = cells().map(|it| it.steps.len()).sum();
        let mut program = Program {
            graph,
            arms: Vec::with_capacity(steps),
            chain_of: Vec::with_capacity(steps),
            chains: Vec::with_capacity(of_cell.len()),
            first: vec![0],
            of_cell,
            first_cell,
            live: Vec::new(),
            words,
            connected: vec![false; graph.nodes.len()],
        };
        program.live = program.live_counters();
        for node in 0..graph.nodes.len() {
            program.merge(node);
        }
        program.connect();
        program
    }

    /// The cells of a node that can happen.
    fn cells_of(&self, node: usize) -> impl Iterator<Item = usize> + '_ {
        let here = &self.of_cell[self.first_cell[node]..self.first_cell[node + 1]];
        here.iter().enumerate().filter(|(_, chain)| **chain != NONE).map(|(cell, _)| cell)
    }

    fn steps_of(
        &self,
        node: usize,
        cell: usize,
    ) -> impl Iterator<Item = (usize, &'graph Step)> + use<'graph> {
        steps_of(self.graph, node, cell)
    }

    /// Adds one node's chains, merging those that do the same.
    fn merge(&mut self, node: usize) {
        let first = self.chains.len();
        for cell in 0..self.first_cell[node + 1] - self.first_cell[node] {
            if self.of_cell[self.first_cell[node] + cell] == NONE {
                continue;
            }
            let waits = self.graph.nodes[node].cells[cell].waits;
            let begin = self.arms.len();
            for (_, step) in self.steps_of(node, cell) {
                let Step { to, spend, refill, breaks, holds } = step.clone();
                let mut arm = Arm { node: small(node), to, waits, spend, refill, breaks, holds };
                arm.refill.retain(|counter| self.is_live(to, counter));
                arm.breaks.retain(|monitor| !arm.holds.contains(monitor));
                self.arms.push(arm);
            }
            let arms = begin..self.arms.len();
            let place = self.first_cell[node] + cell;
            if arms.is_empty() {
                self.of_cell[place] = NONE;
                continue;
            }
            let arms_of = |chain: &Chain| &self.arms[chain.arms.clone()];
            let alike = |chain: &Chain| chain.waits == waits && *arms_of(chain) == self.arms[arms.clone()];
            if let Some(same) = self.chains[first..].iter().position(alike) {
                self.of_cell[place] = small(first + same);
                self.arms.truncate(begin);
                continue;
            }
            let total = self.arms.last().is_some_and(|arm| arm.spend.is_empty());
            let chain = small(self.chains.len());
            self.of_cell[place] = chain;
            self.chain_of.extend(arms.clone().map(|_| chain));
            self.chains.push(Chain { waits, total, arms, cell: small(cell) });
        }
        self.first.push(self.chains.len());
    }

    fn connect(&mut self) {
        let mut work: Vec<NodeId> = self.graph.roots.iter().map(|root| root.node).collect();
        while let Some(node) = work.pop() {
            if !std::mem::replace(&mut self.connected[node as usize], true) {
                work.extend(self.arms_of(node).map(|arm| self.arms[arm].to));
            }
        }
    }

    pub(crate) fn nodes(&self) -> usize {
        self.graph.nodes.len()
    }

    pub(crate) fn is_end(&self, node: NodeId) -> bool {
        self.graph.nodes[node as usize].end
    }

    /// What can happen at a node, in the order of its cells.
    pub(crate) fn chains_of(&self, node: NodeId) -> &[Chain] {
        &self.chains[self.first[node as usize]..self.first[node as usize + 1]]
    }

    /// Every arm that leaves a node.
    pub(crate) fn arms_of(&self, node: NodeId) -> Range<usize> {
        match self.chains_of(node) {
            [] => 0..0,
            [first, .., last] => first.arms.start..last.arms.end,
            [only] => only.arms.clone(),
        }
    }

    /// The arms that leave nodes connected to a root.
    pub(crate) fn connected_arms(&self, scope: Scope) -> impl Iterator<Item = usize> + '_ {
        (0..self.arms.len()).filter(move |arm| {
            let arm = &self.arms[*arm];
            self.connected[arm.node as usize] && scope.includes(arm.waits)
        })
    }

    pub(crate) fn is_live(&self, node: NodeId, counter: CounterId) -> bool {
        self.live_set(node)[counter as usize / 64] >> (counter % 64) & 1 == 1
    }

    /// The live counters of a node as a set of bits.
    pub(crate) fn live_set(&self, node: NodeId) -> &[u64] {
        &self.live[node as usize * self.words..(node as usize + 1) * self.words]
    }

    /// The live counters of a node, in order.
    pub(crate) fn live_at(&self, node: NodeId) -> impl Iterator<Item = CounterId> + '_ {
        members(self.live_set(node))
    }

    pub(crate) fn limit(&self, counter: CounterId) -> u32 {
        self.graph.counters[counter as usize].limit
    }

    /// The move that takes an arm: of the cells that do the same, the first.
    pub(crate) fn movement(&self, arm: usize) -> Move {
        let chain = &self.chains[self.chain_of[arm] as usize];
        let node = self.arms[arm].node;
        let step = self.steps_of(node as usize, chain.cell as usize).nth(arm - chain.arms.start);
        Move { node, cell: chain.cell, step: step.map_or(NONE, |(place, _)| small(place)) }
    }

    /// The moves of a node, each with the arm that stands for it.
    pub(crate) fn moves_of(&self, node: NodeId) -> impl Iterator<Item = (Move, usize)> + '_ {
        self.cells_of(node as usize).flat_map(move |cell| {
            let chain = self.of_cell[self.first_cell[node as usize] + cell];
            let arms = self.chains[chain as usize].arms.clone();
            let steps = self.steps_of(node as usize, cell);
            steps
                .zip(arms)
                .map(move |((step, _), arm)| (Move { node, cell: small(cell), step: small(step) }, arm))
        })
    }

    /// The arm that stands for a move, unless that move can never be made.
    pub(crate) fn arm_of(&self, movement: Move) -> Option<usize> {
        let node = Some(movement.node).filter(|it| (*it as usize) < self.nodes())?;
        self.moves_of(node).find(|(other, _)| *other == movement).map(|(_, arm)| arm)
    }

    /// Where stretches or runs begin, counters aside: the roots, and for stretches what follows an answer.
    pub(crate) fn sources(&self, scope: Scope) -> Vec<NodeId> {
        let mut found: Vec<NodeId> = self.graph.roots.iter().map(|root| root.node).collect();
        if scope == Scope::Stretch {
            let answers = self.connected_arms(Scope::Whole).filter(|arm| self.arms[*arm].waits);
            found.extend(answers.map(|arm| self.arms[arm].to));
        }
        found.sort_unstable();
        found.dedup();
        found
    }

    /// The least sets such that a node reads what its arms test, and what its successors read unless it is filled up on
    /// the way.
    fn live_counters(&self) -> Vec<u64> {
        let (nodes, words) = (self.nodes(), self.words);
        let mut live = vec![0u64; nodes * words];
        if words == 0 {
            return live;
        }
        // The steps that lead to each node, one node's after the other's.
        let steps = |node: usize| self.cells_of(node).flat_map(move |cell| self.steps_of(node, cell));
        let mut ends = vec![0_u32; nodes + 1];
        for (_, step) in (0..nodes).flat_map(steps) {
            ends[step.to as usize + 1] += 1;
        }
        for node in 0..nodes {
            ends[node + 1] += ends[node];
        }
        let none = Ids::default();
        let mut before: Vec<(u32, &Ids)> = vec![(0, &none); ends[nodes] as usize];
        for node in 0..nodes {
            for (_, step) in steps(node) {
                let place = &mut ends[step.to as usize];
                before[*place as usize] = (small(node), &step.refill);
                *place += 1;
                for counter in step.spend.iter() {
                    live[node * words + counter as usize / 64] |= 1 << (counter % 64);
                }
            }
        }
        let mut queued = vec![true; nodes];
        let mut work: Vec<usize> = (0..nodes).collect();
        while let Some(node) = work.pop() {
            queued[node] = false;
            let begin = node.checked_sub(1).map_or(0, |it| ends[it]) as usize;
            for (from, refill) in &before[begin..ends[node] as usize] {
                let from = *from as usize;
                let mut grew = false;
                for word in 0..words {
                    let filled = refill.bits_from(u16::try_from(word * 64).unwrap_or(u16::MAX));
                    let passed = live[node * words + word] & !filled;
                    let known = &mut live[from * words + word];
                    grew |= passed & !*known != 0;
                    *known |= passed;
                }
                if grew && !std::mem::replace(&mut queued[from], true) {
                    work.push(from);
                }
            }
        }
        live
    }
}

/// The steps of a cell that can be taken, and their places: up to the first that spends nothing.
fn steps_of(graph: &Graph, node: usize, cell: usize) -> impl Iterator<Item = (usize, &Step)> {
    let steps = &graph.nodes[node].cells[cell].steps;
    let last = steps.iter().position(|step| step.spend.is_empty()).map_or(steps.len(), |it| it + 1);
    let can = |step: &Step| step.spend.iter().all(|counter| graph.counters[counter as usize].limit > 0);
    steps[..last].iter().enumerate().filter(move |(_, step)| can(step))
}
