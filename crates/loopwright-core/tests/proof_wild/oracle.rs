//! The oracle: everything that can happen in a graph, walked as naively as can be.

use std::collections::{HashMap, VecDeque};

use loopwright_core::proof::graph::{Graph, Ids, Move, NodeId, Path};
use loopwright_core::proof::replay;

pub(crate) const UNBOUNDED: u64 = u64::MAX;

pub(crate) struct Edge {
    pub(crate) from: usize,
    pub(crate) to: usize,
    pub(crate) taken: Move,
    pub(crate) waits: bool,
}

/// Everything that can happen, spelled out.
pub(crate) struct Oracle<'graph> {
    pub(crate) graph: &'graph Graph,
    /// In the order of their distance from a root.
    pub(crate) configurations: Vec<(NodeId, Vec<u32>)>,
    pub(crate) distance: Vec<usize>,
    pub(crate) edges: Vec<Edge>,
    /// Per root of the graph.
    pub(crate) roots: Vec<usize>,
}

impl<'graph> Oracle<'graph> {
    pub(crate) fn new(graph: &'graph Graph) -> Self {
        let full: Vec<u32> = graph.counters.iter().map(|counter| counter.limit).collect();
        let mut oracle =
            Oracle { graph, configurations: vec![], distance: vec![], edges: vec![], roots: vec![] };
        let mut known = HashMap::new();
        for root in &graph.roots {
            let id = oracle.add(&mut known, (root.node, full.clone()), 0);
            oracle.roots.push(id);
        }
        let mut from = 0;
        while from < oracle.configurations.len() {
            let (at, left) = oracle.configurations[from].clone();
            let node = &graph.nodes[at as usize];
            for (cell, outcome) in node.cells.iter().enumerate().filter(|_| !node.end) {
                let affordable = |spend: &Ids| spend.iter().all(|counter| left[counter as usize] > 0);
                let Some(step) = outcome.steps.iter().position(|step| affordable(&step.spend)) else {
                    continue;
                };
                let mut next = left.clone();

                for counter in outcome.steps[step].spend.iter() {
                    next[counter as usize] -= 1;
                }
                for counter in outcome.steps[step].refill.iter() {
                    next[counter as usize] = full[counter as usize];
                }
                let distance = oracle.distance[from] + 1;
                let to = oracle.add(&mut known, (outcome.steps[step].to, next), distance);
                let taken = Move { node: at, cell: cell as u32, step: step as u32 };
                oracle.edges.push(Edge { from, to, taken, waits: outcome.waits });
            }
            from += 1;
        }
        oracle
    }

    pub(crate) fn add(
        &mut self,
        known: &mut HashMap<(NodeId, Vec<u32>), usize>,
        at: (NodeId, Vec<u32>),
        far: usize,
    ) -> usize {
        *known.entry(at.clone()).or_insert_with(|| {
            self.configurations.push(at);
            self.distance.push(far);
            self.configurations.len() - 1
        })
    }

    pub(crate) fn node(&self, id: usize) -> usize {
        self.configurations[id].0 as usize
    }

    /// Kosaraju: which component each configuration is in, over all edges or those nobody chooses.
    pub(crate) fn components(&self, people: bool) -> (Vec<usize>, Vec<bool>) {
        let count = self.configurations.len();
        let (mut after, mut before) = (vec![vec![]; count], vec![vec![]; count]);
        let mut cyclic = vec![false; count];
        for edge in self.edges.iter().filter(|edge| people || !edge.waits) {
            after[edge.from].push(edge.to);
            before[edge.to].push(edge.from);
            cyclic[edge.from] |= edge.from == edge.to;
        }
        let (mut finished, mut seen) = (vec![], vec![false; count]);
        for start in 0..count {
            let mut stack = vec![(start, 0)];
            if std::mem::replace(&mut seen[start], true) {
                continue;
            }
            while let Some((at, next)) = stack.pop() {
                match after[at].get(next) {
                    None => finished.push(at),
                    Some(to) => {
                        stack.push((at, next + 1));
                        if !std::mem::replace(&mut seen[*to], true) {
                            stack.push((*to, 0));
                        }
                    }
                }
            }
        }
        let mut component = vec![usize::MAX; count];
        for start in finished.into_iter().rev() {
            let mut work = vec![start];
            let mut size = 0;
            while let Some(at) = work.pop() {
                if component[at] == usize::MAX {
                    component[at] = start;
                    size += 1;
                    work.extend(&before[at]);
                }
            }
            cyclic[start] |= size > 1;
        }
        let cyclic = component.iter().map(|start| cyclic[*start]).collect();
        (component, cyclic)
    }

    /// What can be paid from each configuration on, or `UNBOUNDED`.
    pub(crate) fn costs(&self, lane: &[u64], people: bool) -> Vec<u64> {
        let count = self.configurations.len();
        let (component, cyclic) = self.components(people);
        let mut dear = vec![false; count];
        (0..count).filter(|id| lane[self.node(*id)] > 0).for_each(|id| dear[component[id]] = true);
        let mut cost: Vec<u64> = (0..count)
            .map(|id| if cyclic[id] && dear[component[id]] { UNBOUNDED } else { lane[self.node(id)] })
            .collect();
        loop {
            let mut moved = false;
            for edge in self.edges.iter().rev().filter(|edge| people || !edge.waits) {
                let through = match cost[edge.to] {
                    UNBOUNDED => UNBOUNDED,
                    rest => lane[self.node(edge.from)] + rest,
                };
                if cost[edge.from] < through {
                    cost[edge.from] = through;
                    moved = true;
                }
            }
            if !moved {
                return cost;
            }
        }
    }

    pub(crate) fn dearest_stretch(&self, lane: &[u64]) -> u64 {
        let cost = self.costs(lane, false);
        let after = self.edges.iter().filter(|edge| edge.waits).map(|edge| edge.to);
        self.roots.iter().copied().chain(after).map(|id| cost[id]).max().unwrap_or(0)
    }

    pub(crate) fn dearest_run(&self, lane: &[u64]) -> u64 {
        let cost = self.costs(lane, true);
        self.roots.iter().map(|id| cost[*id]).max().unwrap_or(0)
    }

    /// What a run can cost with at most so many answers; only asked when no stretch is unbounded.
    pub(crate) fn dearest_with(&self, lane: &[u64], answers: usize) -> Vec<u64> {
        let mut told = vec![];
        let mut fewer: Option<Vec<u64>> = None;
        for _ in 0..=answers {
            let mut cost: Vec<u64> = (0..self.configurations.len()).map(|id| lane[self.node(id)]).collect();
            loop {
                let mut moved = false;
                for edge in self.edges.iter().rev() {
                    let rest = match (&fewer, edge.waits) {
                        (_, false) => cost[edge.to],
                        (Some(fewer), true) => fewer[edge.to],
                        (None, true) => continue,
                    };
                    let through = lane[self.node(edge.from)] + rest;
                    if cost[edge.from] < through {
                        cost[edge.from] = through;
                        moved = true;
                    }
                }
                if !moved {
                    break;
                }
            }
            told.push(self.roots.iter().map(|id| cost[*id]).max().unwrap_or(0));
            fewer = Some(cost);
        }
        told
    }

    pub(crate) fn can_end(&self) -> Vec<bool> {
        let mut can: Vec<bool> =
            (0..self.configurations.len()).map(|id| self.graph.nodes[self.node(id)].end).collect();
        loop {
            let mut moved = false;
            for edge in self.edges.iter().rev() {
                if can[edge.to] && !can[edge.from] {
                    can[edge.from] = true;
                    moved = true;
                }
            }
            if !moved {
                return can;
            }
        }
    }

    pub(crate) fn effect(&self, taken: Move, monitor: u16, holds: bool) -> bool {
        let step =
            &self.graph.nodes[taken.node as usize].cells[taken.cell as usize].steps[taken.step as usize];
        step.holds.contains(monitor) || (holds && !step.breaks.contains(monitor))
    }

    /// The least number of moves after which the monitor is false where it is required.
    pub(crate) fn broken(&self, monitor: u16) -> Option<usize> {
        let mut after = vec![vec![]; self.configurations.len()];
        self.edges.iter().for_each(|edge| after[edge.from].push(edge));
        let mut seen: HashMap<(usize, bool), usize> = HashMap::new();
        let mut queue = VecDeque::new();
        for (id, root) in self.roots.iter().zip(&self.graph.roots) {
            let start = (*id, root.holds.contains(monitor));
            seen.insert(start, 0);
            queue.push_back(start);
        }
        while let Some((id, holds)) = queue.pop_front() {
            let distance = seen[&(id, holds)];
            if !holds && self.graph.nodes[self.node(id)].requires.contains(monitor) {
                return Some(distance);
            }
            for edge in &after[id] {
                let next = (edge.to, self.effect(edge.taken, monitor, holds));
                seen.entry(next).or_insert_with(|| {
                    queue.push_back(next);
                    distance + 1
                });
            }
        }
        None
    }

    pub(crate) fn stops(&self, path: &Path) -> Vec<(NodeId, Vec<u32>)> {
        replay(self.graph, path).unwrap_or_else(|message| panic!("{message}: {path:?}"))
    }

    pub(crate) fn waits(&self, taken: &Move) -> bool {
        self.graph.nodes[taken.node as usize].cells[taken.cell as usize].waits
    }

    pub(crate) fn place(&self, stop: &(NodeId, Vec<u32>)) -> usize {
        self.configurations.iter().position(|it| it == stop).expect("the oracle knows it")
    }
}
