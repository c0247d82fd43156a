//! A shortest run to every step.
//!
//! Searching for each step by itself opens the same configurations again and again. A walk in breadth comes to every
//! step for the first time by a shortest run; only what it does not come to is searched for by name.

use super::graph::Move;
use super::limits::small;
use super::prover::Prover;
use super::quest::Found;

/// So many steps that the walk does not come to are searched for. Each takes about as long as a walk.
const SEARCHED: usize = 64;

/// Every step of every node, and a shortest path whose last move it is.
pub(crate) fn firsts(prover: &Prover<'_>) -> Vec<(Move, Found)> {
    let (program, space) = (&prover.program, prover.space());
    let (mut found, mut searched) = (Vec::new(), 0);
    for node in (0..small(program.nodes())).filter(|it| program.connected[*it as usize]) {
        for (last, arm) in program.moves_of(node) {
            let path = space.map_or(Found::Unknown, |it| it.path_to_step(program, arm, last));
            let path = match path {
                Found::Unknown if searched < SEARCHED => {
                    searched += 1;
                    prover.path_to_step(last)
                }
                path => path,
            };
            found.push((last, path));
        }
    }
    found
}
