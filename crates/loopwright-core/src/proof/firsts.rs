//! A shortest run to every step, by one walk.
//!
//! Searching for each step by itself opens the same configurations again and again. A walk in breadth comes to every
//! step for the first time by a shortest run; only what it does not come to is searched for by name.

use rustc_hash::FxHashSet;

use super::graph::{Move, Path};
use super::limits::small;
use super::packed::{Key, Packing};
use super::program::{Program, Scope};
use super::prover::Prover;
use super::quest::Found;

const NONE: u32 = u32::MAX;
/// So many steps that the walk does not come to are searched for. Each takes about as long as a walk.
const SEARCHED: usize = 64;

/// A configuration, and how the walk came to it: from which, by which arm. A root names itself instead of an arm.
struct Walked {
    key: Key,
    parent: u32,
    by: u32,
}

/// Every step of every node, and a shortest path whose last move it is.
pub(crate) fn firsts(prover: &Prover<'_>) -> Vec<(Move, Found)> {
    let program = &prover.program;
    let most = prover.limits.hashed_configurations;
    let (walked, first, complete) = match &prover.packing {
        Some(packing) => walk(program, packing, most),
        None => (Vec::new(), vec![NONE; program.arms.len()], false),
    };
    let mut found = Vec::new();
    let mut searched = 0;
    for node in (0..small(program.nodes())).filter(|it| program.connected[*it as usize]) {
        for chain in program.chains_of(node) {
            for (place, arm) in chain.arms.clone().enumerate() {
                let before = match first[arm] {
                    NONE if complete => Found::Nowhere,
                    NONE if searched == SEARCHED => Found::Unknown,
                    NONE => {
                        searched += 1;
                        prover.path_to_step(program.movement(arm))
                    }
                    at => Found::Path(path_to(program, &walked, at)),
                };
                for source in &chain.sources {
                    let last = Move { node, cell: source.cell, step: source.steps[place] };
                    found.push((last, ending_in(before.clone(), first[arm] == NONE, last)));
                }
            }
        }
    }
    found
}

/// The path with one more move, or with another one last.
fn ending_in(before: Found, instead: bool, last: Move) -> Found {
    match before {
        Found::Path(Path { root, mut moves }) => {
            if instead {
                moves.pop();
            }
            moves.push(last);
            Found::Path(Path { root, moves })
        }
        other => other,
    }
}

/// Walks in breadth until every arm was taken, nothing is left, or there are too many configurations. Also where each
/// arm was first taken, and whether what was not taken never is.
fn walk(program: &Program<'_>, packing: &Packing, most: usize) -> (Vec<Walked>, Vec<u32>, bool) {
    let mut first = vec![NONE; program.arms.len()];
    let mut missing = program.connected_arms(Scope::Whole).count();
    let mut seen: FxHashSet<Key> = FxHashSet::default();
    let mut walked: Vec<Walked> = Vec::new();
    for (root, key) in packing.roots.iter().enumerate() {
        if seen.insert(*key) {
            walked.push(Walked { key: *key, parent: NONE, by: small(root) });
        }
    }
    let mut at = 0;
    while at < walked.len() && missing > 0 {
        if walked.len() > most {
            return (walked, first, false);
        }
        let key = walked[at].key;
        for chain in program.chains_of(packing.node(key)) {
            let Some((arm, to)) = packing.next(key, chain.arms.clone()) else { continue };
            if first[arm] == NONE {
                first[arm] = small(at);
                missing -= 1;
            }
            if seen.insert(to) {
                walked.push(Walked { key: to, parent: small(at), by: small(arm) });
            }
        }
        at += 1;
    }
    (walked, first, true)
}

fn path_to(program: &Program<'_>, walked: &[Walked], mut at: u32) -> Path {
    let mut moves = Vec::new();
    while walked[at as usize].parent != NONE {
        moves.push(program.movement(walked[at as usize].by as usize));
        at = walked[at as usize].parent;
    }
    moves.reverse();
    Path { root: walked[at as usize].by as usize, moves }
}
