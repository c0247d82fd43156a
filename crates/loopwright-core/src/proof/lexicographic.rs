//! A proof that runs end which never looks at how much the counters have left.
//!
//! In a strongly connected part of the graph, a counter that is spent there and filled up nowhere there can
//! be spent only as often as its limit. Arms that spend it are used finitely often, so they are taken out and
//! what remains is looked at again. When nothing remains, no run goes round for ever; the same argument counts
//! how often each part can be gone through, and so bounds what a run costs.

use std::collections::VecDeque;

use rustc_hash::FxHashMap;

use super::components::components;
use super::graph::NodeId;
use super::program::{Program, Scope};

/// Deeper arguments than this are not looked for.
const DEEPEST: usize = 256;
/// From how many nodes the shortest cycle of a part is looked for.
const STARTS: usize = 64;

/// Arms that form a cycle for which there is no argument.
pub(crate) type Cycle = Vec<usize>;

/// The most that a run can cost from wherever it begins, or a cycle that may go on for ever.
pub(crate) fn bound(program: &Program<'_>, scope: Scope, weights: &[u64]) -> Result<u64, Cycle> {
    let arms: Vec<usize> = program.connected_arms(scope).collect();
    let connected = program.connected.iter().zip(weights).filter(|(connected, _)| **connected);
    let single = connected.map(|(_, weight)| *weight).max().unwrap_or(0);
    Ok(part(program, &arms, weights, 0)?.max(single))
}

fn part(program: &Program<'_>, arms: &[usize], weights: &[u64], depth: usize) -> Result<u64, Cycle> {
    let local = Local::new(program, arms);
    let component = components(&local.successors);
    let count = component.iter().max().map_or(0, |last| last + 1);
    let mut inside: Vec<Vec<usize>> = vec![Vec::new(); count];
    let mut after: Vec<Vec<usize>> = vec![Vec::new(); count];
    for (arm, (from, to)) in arms.iter().zip(&local.ends) {
        let (from, to) = (component[*from], component[*to]);
        if from == to { inside[from].push(*arm) } else { after[from].push(to) }
    }
    let mut most = vec![0u64; count];
    for (place, node) in local.nodes.iter().enumerate() {
        most[component[place]] = most[component[place]].max(weights[*node as usize]);
    }
    // Components come before those that lead to them, so what follows is known.
    for here in 0..count {
        if !inside[here].is_empty() {
            most[here] = most[here].max(rounds(program, &inside[here], weights, depth)?);
        }
        let rest = after[here].iter().map(|next| most[*next]).max().unwrap_or(0);
        most[here] = most[here].saturating_add(rest);
    }
    Ok(most.into_iter().max().unwrap_or(0))
}

/// The most a run can cost inside one strongly connected part.
fn rounds(program: &Program<'_>, arms: &[usize], weights: &[u64], depth: usize) -> Result<u64, Cycle> {
    let mut counts: FxHashMap<u16, bool> = FxHashMap::default();
    for arm in arms {
        program.arms[*arm].spend.iter().for_each(|counter| {
            counts.entry(counter).or_insert(true);
        });
        program.arms[*arm].refill.iter().for_each(|counter| {
            counts.insert(counter, false);
        });
    }
    // A refill met before a spend is not overwritten by it, and one met after overwrites it.
    let runs_out = |counter: u16| counts.get(&counter) == Some(&true);
    let rest: Vec<usize> =
        arms.iter().copied().filter(|arm| !program.arms[*arm].spend.iter().any(runs_out)).collect();
    if rest.len() == arms.len() || depth == DEEPEST {
        return Err(shortest_cycle(program, arms));
    }
    let turns =
        counts.iter().filter(|(_, good)| **good).map(|(counter, _)| u64::from(program.limit(*counter)));
    let turns = turns.fold(1u64, u64::saturating_add);
    let nodes = arms.iter().flat_map(|arm| [program.arms[*arm].node, program.arms[*arm].to]);
    let single = nodes.map(|node| weights[node as usize]).max().unwrap_or(0);
    Ok(turns.saturating_mul(part(program, &rest, weights, depth + 1)?.max(single)))
}

/// The nodes that some arms touch, numbered anew.
struct Local {
    nodes: Vec<NodeId>,
    ends: Vec<(usize, usize)>,
    successors: Vec<Vec<usize>>,
}

impl Local {
    fn new(program: &Program<'_>, arms: &[usize]) -> Self {
        let touched = arms.iter().flat_map(|arm| [program.arms[*arm].node, program.arms[*arm].to]);
        let mut nodes: Vec<NodeId> = touched.collect();
        nodes.sort_unstable();
        nodes.dedup();
        let place = |node: NodeId| nodes.partition_point(|other| *other < node);
        let ends: Vec<(usize, usize)> =
            arms.iter().map(|arm| (place(program.arms[*arm].node), place(program.arms[*arm].to))).collect();
        let mut successors = vec![Vec::new(); nodes.len()];
        for (from, to) in &ends {
            successors[*from].push(*to);
        }
        Local { nodes, ends, successors }
    }
}

/// A short cycle of a strongly connected part.
fn shortest_cycle(program: &Program<'_>, arms: &[usize]) -> Cycle {
    let local = Local::new(program, arms);
    let mut leaving: Vec<Vec<(usize, usize)>> = vec![Vec::new(); local.nodes.len()];
    for (arm, (from, to)) in arms.iter().zip(&local.ends) {
        leaving[*from].push((*arm, *to));
    }
    let mut best: Cycle = Vec::new();
    for start in 0..local.nodes.len().min(STARTS) {
        if let Some(cycle) = cycle_from(&leaving, start)
            && (best.is_empty() || cycle.len() < best.len())
        {
            best = cycle;
        }
    }
    best
}

fn cycle_from(leaving: &[Vec<(usize, usize)>], start: usize) -> Option<Cycle> {
    let mut parents: Vec<Option<(usize, usize)>> = vec![None; leaving.len()];
    let mut queue = VecDeque::from([start]);
    while let Some(from) = queue.pop_front() {
        for (arm, to) in &leaving[from] {
            if *to == start {
                let (mut cycle, mut at) = (vec![*arm], from);
                while at != start {
                    let (arm, parent) = parents[at]?;
                    cycle.push(arm);
                    at = parent;
                }
                cycle.reverse();
                return Some(cycle);
            }
            if parents[*to].is_none() {
                parents[*to] = Some((*arm, from));
                queue.push_back(*to);
            }
        }
    }
    None
}

/// Weights under which a bound is a proof that runs end: every node counts.
pub(crate) fn ones(program: &Program<'_>) -> Vec<u64> {
    vec![1; program.nodes()]
}
