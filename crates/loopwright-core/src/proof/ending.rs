//! From wherever a run can get to, some end can be reached, people answering as they like.
//!
//! Once unattended runs are known to end, it is enough that at every node there is a choice that stays, for
//! whatever is affordable, among nodes with such a choice: going on like that must arrive at an end or at a
//! person, and people are ranked so that each answer leads to a smaller rank. Otherwise the configurations
//! decide. An outcome with a hole is never relied on: it may have no step at all.

use super::graph::Path;
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
    let sure = surely_ends(program, prover.limits.relaxations);
    let everywhere = program.connected.iter().zip(&sure).all(|(connected, sure)| *sure || !*connected);
    if everywhere && matches!(prover.termination(), Termination::Proved(_)) {
        return Ending::Proved;
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
            Some(id) => Ending::Trapped(view.space.path_to(program, view.packing, small(id))),
        };
    }
    let hopeless: Vec<bool> = may_end(program).into_iter().map(|may| !may).collect();
    let goal = |node: u32, _| hopeless[node as usize];
    match prover.seek(&Quest { effect: &|_| Effect::Keep, start: &|_| false, goal: &goal }) {
        Found::Path(path) => Ending::Trapped(path),
        Found::Nowhere | Found::Unknown => Ending::Unknown,
    }
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
