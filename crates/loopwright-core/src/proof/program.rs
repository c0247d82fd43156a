//! A graph compiled for the analyses: what can never happen is gone, what is alike is one.
//!
//! A cell becomes a *chain* of arms, in order, cut after the first that spends nothing. At given counters a
//! chain has exactly one successor, so "else" needs no encoding and branching is the number of chains. Chains
//! that do the same are merged, which is what makes ten failures with one route cost as much as one.
//!
//! A counter is *live* at a node when some path from there tests it before filling it up. A test that fails is
//! a read too. Configurations that agree on the live counters behave alike, so nothing else is ever stored.

use std::ops::Range;

use super::graph::{CounterId, Graph, MonitorId, Move, NodeId};
use super::limits::small;

/// One arm of a chain, as the analyses read it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Arm {
    pub(crate) node: NodeId,
    pub(crate) to: NodeId,
    pub(crate) waits: bool,
    /// Sorted, each once.
    pub(crate) spend: Vec<CounterId>,
    /// Sorted, each once, and only those live at `to`: another refill comes before any other is read.
    pub(crate) refill: Vec<CounterId>,
    /// Monitors that are false afterwards.
    pub(crate) breaks: Vec<MonitorId>,
    /// Monitors that are true afterwards.
    pub(crate) holds: Vec<MonitorId>,
}

/// A cell, or several that do the same.
#[derive(Clone, Debug)]
pub(crate) struct Chain {
    pub(crate) waits: bool,
    /// The last arm spends nothing, so there is always a successor.
    pub(crate) total: bool,
    /// Indices into the program's arms.
    pub(crate) arms: Range<usize>,
    /// The cells it stands for; never empty.
    pub(crate) sources: Vec<Source>,
}

/// A cell that a chain stands for, and which of its steps each arm is.
#[derive(Clone, Debug)]
pub(crate) struct Source {
    pub(crate) cell: u32,
    pub(crate) steps: Vec<u32>,
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
        let drafts: Vec<Vec<Draft>> =
            (0..graph.nodes.len()).map(|node| drafts_of(graph, small(node), left_out)).collect();
        let words = graph.counters.len().div_ceil(64);
        let live = live_counters(graph, &drafts, words);
        let mut program = Program {
            graph,
            arms: Vec::new(),
            chain_of: Vec::new(),
            chains: Vec::new(),
            first: vec![0],
            live,
            words,
            connected: vec![false; graph.nodes.len()],
        };
        for drafts in drafts {
            program.merge(drafts);
        }
        program.connect();
        program
    }

    /// Adds one node's chains, merging those that do the same.
    fn merge(&mut self, drafts: Vec<Draft>) {
        let first = self.chains.len();
        for mut draft in drafts {
            for arm in &mut draft.arms {
                let to = arm.to;
                arm.refill.retain(|counter| self.is_live(to, *counter));
            }
            let total = draft.arms.last().is_some_and(|arm| arm.spend.is_empty());
            let source = Source { cell: draft.cell, steps: draft.steps };
            let next = self.chains.len();
            let arms_of = |chain: &Chain| &self.arms[chain.arms.clone()];
            let alike = |chain: &Chain| chain.waits == draft.waits && *arms_of(chain) == *draft.arms;
            if let Some(same) = self.chains[first..].iter().position(alike) {
                self.chains[first + same].sources.push(source);
                continue;
            }
            let arms = self.arms.len()..self.arms.len() + draft.arms.len();
            self.chain_of.extend(arms.clone().map(|_| small(next)));
            self.arms.extend(draft.arms);
            self.chains.push(Chain { waits: draft.waits, total, arms, sources: vec![source] });
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
        let source = &chain.sources[0];
        Move { node: self.arms[arm].node, cell: source.cell, step: source.steps[arm - chain.arms.start] }
    }

    /// The arm that stands for a move, unless that move can never be made.
    pub(crate) fn arm_of(&self, movement: Move) -> Option<usize> {
        if movement.node as usize >= self.nodes() {
            return None;
        }
        self.chains_of(movement.node).iter().find_map(|chain| {
            let source = chain.sources.iter().find(|source| source.cell == movement.cell)?;
            let place = source.steps.iter().position(|step| *step == movement.step)?;
            Some(chain.arms.start + place)
        })
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
}

/// A chain before liveness is known.
struct Draft {
    cell: u32,
    waits: bool,
    arms: Vec<Arm>,
    steps: Vec<u32>,
}

fn drafts_of(graph: &Graph, node: NodeId, left_out: &dyn Fn(usize, usize) -> bool) -> Vec<Draft> {
    let here = &graph.nodes[node as usize];
    if here.end {
        return Vec::new();
    }
    let mut drafts = Vec::new();
    for (cell, outcome) in here.cells.iter().enumerate() {
        if left_out(node as usize, cell) {
            continue;
        }
        let (mut arms, mut steps) = (Vec::new(), Vec::new());
        for (place, step) in outcome.steps.iter().enumerate() {
            if step.spend.iter().any(|counter| graph.counters[*counter as usize].limit == 0) {
                continue;
            }
            let holds = sorted(&step.holds);
            let mut breaks = sorted(&step.breaks);
            breaks.retain(|monitor| holds.binary_search(monitor).is_err());
            let (spend, refill) = (sorted(&step.spend), sorted(&step.refill));
            arms.push(Arm { node, to: step.to, waits: outcome.waits, spend, refill, breaks, holds });
            steps.push(small(place));
            if step.spend.is_empty() {
                break;
            }
        }
        if !arms.is_empty() {
            drafts.push(Draft { cell: small(cell), waits: outcome.waits, arms, steps });
        }
    }
    drafts
}

fn sorted(ids: &[u16]) -> Vec<u16> {
    let mut ids = ids.to_vec();
    ids.sort_unstable();
    ids.dedup();
    ids
}

/// The least sets such that a node reads what its arms test, and what its successors read unless it is filled
/// up on the way.
fn live_counters(graph: &Graph, drafts: &[Vec<Draft>], words: usize) -> Vec<u64> {
    let mut live = vec![0u64; drafts.len() * words];
    let mut before: Vec<Vec<&Arm>> = vec![Vec::new(); drafts.len()];
    for arm in drafts.iter().flatten().flat_map(|draft| &draft.arms) {
        before[arm.to as usize].push(arm);
        for counter in &arm.spend {
            live[arm.node as usize * words + *counter as usize / 64] |= 1 << (counter % 64);
        }
    }
    let mut queued = vec![true; graph.nodes.len()];
    let mut work: Vec<usize> = (0..graph.nodes.len()).collect();
    while let Some(node) = work.pop() {
        queued[node] = false;
        for arm in &before[node] {
            let from = arm.node as usize;
            let mut grew = false;
            for word in 0..words {
                let filled = arm.refill.iter().filter(|it| **it as usize / 64 == word);
                let filled = filled.fold(0, |set, it| set | 1 << (it % 64));
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

/// The members of a set of bits, in order.
pub(crate) fn members(set: &[u64]) -> impl Iterator<Item = u16> + '_ {
    set.iter().enumerate().flat_map(|(word, bits)| {
        let mut bits = *bits;
        std::iter::from_fn(move || {
            let bit = (bits != 0).then(|| bits.trailing_zeros() as usize)?;
            bits &= bits - 1;
            u16::try_from(word * 64 + bit).ok()
        })
    })
}
