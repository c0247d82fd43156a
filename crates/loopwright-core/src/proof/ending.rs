//! From wherever a run can get to, some end can be reached, people answering as they like.
//!
//! Once unattended runs are known to end, it is enough that at every node there is a choice that stays, for
//! whatever is affordable, among nodes with such a choice: going on like that must arrive at an end or at a
//! person, and people are ranked so that each answer leads to a smaller rank. Where that is not enough, nodes
//! are told apart by the counters that are surely full. Otherwise the configurations decide. An outcome with a
//! hole is never relied on: it may have no step at all.

use indexmap::IndexSet;
use rustc_hash::FxBuildHasher;

use super::graph::{Cell, CounterId, Graph, Ids, Node, NodeId, Path, Root, Step};
use super::limits::small;
use super::program::{Program, Scope};
use super::prover::Prover;
use super::quest::{Effect, Found, Quest};
use super::termination::Termination;

/// Whether an end stays within reach.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ending {
    /// Always.
    Proved,
    /// Not after this run: nothing that can happen afterwards reaches an end.
    Trapped(Path),
    /// Nothing was shown.
    Unknown,
}

pub(crate) fn ending(prover: &Prover<'_>) -> Ending {
    let program = &prover.program;
    let everywhere = |program: &Program<'_>| {
        let sure = surely_ends(program, prover.limits.relaxations);
        program.connected.iter().zip(&sure).all(|(connected, sure)| *sure || !*connected)
    };
    if matches!(prover.termination(), Termination::Proved(_)) {
        let known_full = || filled(program).is_some_and(|graph| everywhere(&Program::new(&graph)));
        if everywhere(program) || known_full() {
            return Ending::Proved;
        }
    }
    if let Some(view) = prover.view(Scope::Whole).filter(|view| view.space.complete) {
        let mut ends = vec![false; view.space.len()];
        view.components(|members, _| {
            let ending = members.iter().any(|id| {
                program.is_end(view.packing.node(view.space.keys[*id as usize]))
                    || view.successors(*id).any(|to| ends[to as usize])
            });
            for id in members {
                ends[*id as usize] = ending;
            }
        });
        return match ends.iter().position(|ends| !ends) {
            None => Ending::Proved,
            Some(id) => Ending::Trapped(view.space.path_to(program, small(id))),
        };
    }
    let hopeless: Vec<bool> = may_end(program).into_iter().map(|may| !may).collect();
    let goal = |node: u32, _| hopeless[node as usize];
    match prover.seek(&Quest { effect: &|_| Effect::Keep, start: &|_| false, goal: &goal }) {
        Found::Path(path) => Ending::Trapped(path),
        Found::Nowhere | Found::Unknown => Ending::Unknown,
    }
}

/// The same graph, with nodes told apart by the counters that are surely full there: a resting place that fills a budget
/// leads on to an arm that can then be paid. `None` when there are too many counters or nodes.
fn filled(program: &Program<'_>) -> Option<Graph> {
    const TIMES_AS_LARGE: usize = 4;
    let counters = &program.graph.counters;
    if counters.len() > 64 {
        return None;
    }
    let bit = |counter: &CounterId| 1_u64 << counter;
    let bits = |counters: &Ids| counters.bits_from(0);
    let some = (0..).zip(counters).filter(|(_, it)| it.limit > 0).fold(0, |set, (it, _)| set | bit(&it));
    let alive = |node: NodeId| {
        (0..)
            .zip(counters)
            .filter(|(it, _)| program.is_live(node, *it))
            .fold(0, |set, (it, _)| set | bit(&it))
    };
    let mut places: IndexSet<(NodeId, u64), FxBuildHasher> = IndexSet::default();
    let mut graph = Graph { counters: counters.clone(), ..Graph::default() };
    for root in &program.graph.roots {
        let (node, _) = places.insert_full((root.node, some & alive(root.node)));
        graph.roots.push(Root { node: small(node), holds: Ids::default() });
    }
    let mut next = 0;
    while let Some((node, full)) = places.get_index(next).copied() {
        next += 1;
        let mut cells = Vec::new();
        for chain in program.chains_of(node) {
            let mut steps = Vec::new();
            for arm in &program.arms[chain.arms.clone()] {
                let sure = bits(&arm.spend) & !full == 0;
                let left = (full & !bits(&arm.spend) | bits(&arm.refill) & some) & alive(arm.to);
                let (to, _) = places.insert_full((arm.to, left));
                let spend = if sure { Ids::default() } else { arm.spend.clone() };
                steps.push(Step { to: small(to), spend, ..Step::default() });
                if sure {
                    break;
                }
            }
            cells.push(Cell { waits: chain.waits, steps });
        }
        graph.nodes.push(Node { end: program.is_end(node), cells, ..Node::default() });
        if places.len() > TIMES_AS_LARGE * program.nodes() {
            return None;
        }
    }
    Some(graph)
}

/// Nodes from which an end can be reached whatever the counters have left, given that unattended runs end;
/// none when that takes too long to tell.
fn surely_ends(program: &Program<'_>, mut relaxations: usize) -> Vec<bool> {
    let stays = |node: u32, waits: bool, inside: &[bool]| {
        program.chains_of(node).iter().any(|chain| {
            chain.waits == waits
                && chain.total
                && chain.arms.clone().all(|arm| inside[program.arms[arm].to as usize])
        })
    };
    let nodes = 0..small(program.nodes());
    let mut people = vec![false; program.nodes()];
    loop {
        let mut inside = vec![true; program.nodes()];
        loop {
            let Some(left) = relaxations.checked_sub(program.arms.len()) else {
                return vec![false; program.nodes()];
            };
            relaxations = left;
            let mut shrank = false;
            for node in nodes.clone().rev() {
                let id = node as usize;
                if inside[id] && !people[id] && !program.is_end(node) && !stays(node, false, &inside) {
                    inside[id] = false;
                    shrank = true;
                }
            }
            if !shrank {
                break;
            }
        }
        let mut grew = false;
        for node in nodes.clone() {
            if !people[node as usize] && stays(node, true, &inside) {
                people[node as usize] = true;
                grew = true;
            }
        }
        if !grew {
            return inside;
        }
    }
}

/// Nodes from which an end could be reached if every arm could be afforded.
fn may_end(program: &Program<'_>) -> Vec<bool> {
    let mut before: Vec<Vec<u32>> = vec![Vec::new(); program.nodes()];
    program.arms.iter().for_each(|arm| before[arm.to as usize].push(arm.node));
    let mut may = vec![false; program.nodes()];
    let mut work: Vec<u32> = (0..small(program.nodes())).filter(|node| program.is_end(*node)).collect();
    while let Some(node) = work.pop() {
        if !std::mem::replace(&mut may[node as usize], true) {
            work.extend(&before[node as usize]);
        }
    }
    may
}
