//! What walks gain under given prices: the weights they collect, less the price of what they spend.
//!
//! The arms are put in an order in which what follows comes first, one strongly connected part after the other, so a
//! part without a loop is settled in one pass. A walk that gains by going round shows as a cycle among the arms by which
//! the nodes gain most; it is looked for after every pass, so prices that are no good are found out early.

use std::ops::{Add, Range};

use rustc_hash::FxHashSet;

use super::components::components;
use super::graph::{CounterId, NodeId};
use super::limits::small;
use super::program::{Program, Scope};

const NONE: u32 = u32::MAX;

/// What prices have to be shown for: the arms, each kind once.
#[derive(Debug)]
pub(crate) struct Row {
    pub(crate) from: NodeId,
    pub(crate) to: NodeId,
    /// How much of each counter is paid for: one for a spend, minus its limit for a refill.
    pub(crate) change: Vec<(CounterId, i64)>,
}

/// The arms of a scope, ordered.
#[derive(Debug)]
pub(crate) struct Rows {
    pub(crate) list: Vec<Row>,
    /// The parts, those first that the others lead to.
    parts: Vec<Part>,
    nodes: usize,
}

#[derive(Debug, Default)]
struct Part {
    /// Arms that leave the part, and lead to one that comes earlier.
    leaving: Range<usize>,
    /// Arms that stay in it.
    staying: Range<usize>,
}

/// What a sweep over the arms came to.
pub(crate) enum Swept<N> {
    /// No walk gains by going round.
    Settled {
        /// The most that a walk from each node gains.
        most: Vec<N>,
        /// The first arm of a walk that gains so much; past the last one where it stops at once.
        first: Vec<u32>,
    },
    /// These arms, each list once round, gain.
    Gaining(Vec<Vec<u32>>),
    /// There was more to do than was allowed.
    Unknown,
}

impl Rows {
    pub(crate) fn new(program: &Program<'_>, scope: Scope) -> Self {
        let nodes = program.nodes();
        let mut successors = vec![Vec::new(); nodes];
        let (mut known, mut list) = (FxHashSet::default(), Vec::new());
        for arm in program.connected_arms(scope).map(|arm| &program.arms[arm]) {
            let mut change: Vec<(CounterId, i64)> = arm.spend.iter().map(|counter| (counter, 1)).collect();
            for counter in arm.refill.iter() {
                let filled = i64::from(program.limit(counter));
                match change.iter_mut().find(|(other, _)| *other == counter) {
                    Some((_, amount)) => *amount -= filled,
                    None => change.push((counter, -filled)),
                }
            }
            change.retain(|(_, amount)| *amount != 0);
            if known.insert((arm.node, arm.to, change.clone())) {
                successors[arm.node as usize].push(arm.to as usize);
                list.push(Row { from: arm.node, to: arm.to, change });
            }
        }
        let component = components(&successors);
        let stays = |row: &Row| component[row.from as usize] == component[row.to as usize];
        // Nodes are numbered as they were found, so later ones mostly follow earlier ones.
        list.sort_by_key(|row| (component[row.from as usize], stays(row), std::cmp::Reverse(row.from)));
        let mut parts: Vec<Part> = Vec::new();
        let mut at = 0;
        while at < list.len() {
            let here = component[list[at].from as usize];
            let end = at + list[at..].partition_point(|row| component[row.from as usize] == here);
            let middle = at + list[at..end].partition_point(|row| !stays(row));
            parts.push(Part { leaving: at..middle, staying: middle..end });
            at = end;
        }
        Rows { list, parts, nodes }
    }

    /// The most that walks gain, given what each node is worth when a walk stops there and what each arm gains. Gains of
    /// no more than `slack` do not count. `work` is how many arms may still be looked at.
    pub(crate) fn sweep<N>(&self, own: Vec<N>, gains: &[N], slack: N, work: &mut usize) -> Swept<N>
    where
        N: Copy + PartialOrd + Add<Output = N>,
    {
        let (mut most, mut first) = (own, vec![NONE; self.nodes]);
        let mut pass = |range: &Range<usize>, first: &mut Vec<u32>| {
            let mut moved = false;
            for at in range.clone() {
                let row = &self.list[at];
                let through = most[row.to as usize] + gains[at];
                if through > most[row.from as usize] + slack {
                    most[row.from as usize] = through;
                    first[row.from as usize] = small(at);
                    moved = true;
                }
            }
            moved
        };
        let mut seen = vec![0u32; self.nodes];
        let mut stamp = 0;
        let mut gaining = Vec::new();
        for part in &self.parts {
            pass(&part.leaving, &mut first);
            *work = work.saturating_sub(part.leaving.len());
            while pass(&part.staying, &mut first) {
                *work = work.saturating_sub(part.staying.len());
                if *work == 0 {
                    return Swept::Unknown;
                }
                let cycles = self.cycles(&part.staying, &first, &mut seen, &mut stamp);
                if !cycles.is_empty() {
                    gaining.extend(cycles);
                    break;
                }
            }
        }
        if gaining.is_empty() { Swept::Settled { most, first } } else { Swept::Gaining(gaining) }
    }

    /// Cycles among the first arms of the nodes of a part.
    fn cycles(&self, part: &Range<usize>, first: &[u32], seen: &mut [u32], stamp: &mut u32) -> Vec<Vec<u32>> {
        let before = *stamp;
        let stays = |node: NodeId| part.contains(&(first[node as usize] as usize));
        let mut cycles = Vec::new();
        for row in &self.list[part.clone()] {
            let mut at = row.from;
            if seen[at as usize] > before {
                continue;
            }
            *stamp += 1;
            while seen[at as usize] <= before {
                seen[at as usize] = *stamp;
                if !stays(at) {
                    break;
                }
                at = self.list[first[at as usize] as usize].to;
            }
            if seen[at as usize] == *stamp && stays(at) {
                cycles.push(self.walk(first, at));
            }
        }
        cycles
    }

    /// The walk that first arms lead on from a node, until it ends or comes back to where it began.
    pub(crate) fn walk(&self, first: &[u32], from: NodeId) -> Vec<u32> {
        let (mut walk, mut at) = (Vec::new(), from);
        while let Some(row) = self.list.get(first[at as usize] as usize) {
            walk.push(first[at as usize]);
            at = row.to;
            if at == from {
                break;
            }
        }
        walk
    }
}
