//! One walk in breadth that answers where every node is first entered and where every step is first taken.
//!
//! Searching for each by itself opens the same configurations again and again. A walk in breadth comes to everything for
//! the first time by a shortest run. It ends as soon as nothing that could be seen is unseen.

use super::graph::{Move, NodeId, Path};
use super::limits::{Limits, small};
use super::packed::{Key, Packing};
use super::program::{Program, Scope};
use super::prover::Prover;
use super::quest::Found;
use super::reach::Seen;

const NONE: u32 = u32::MAX;
/// So many steps that the walk does not come to are searched for. Each takes about as long as a walk.
const SEARCHED: usize = 64;

/// What a walk saw.
#[derive(Debug)]
pub(crate) struct Look {
    walked: Vec<Walked>,
    /// Per arm: where it was first taken.
    taken: Vec<u32>,
    /// Per node: where it was first entered.
    entered: Vec<u32>,
    /// What was not seen never happens.
    pub(crate) complete: bool,
}

/// A configuration, and how the walk came to it: from which, by which arm (or which root it is).
#[derive(Debug)]
struct Walked {
    key: Key,
    parent: u32,
    by: u32,
}

impl Look {
    pub(crate) fn new(program: &Program<'_>, packing: &Packing, limits: &Limits, most: usize) -> Self {
        let mut look = Look {
            walked: Vec::new(),
            taken: vec![NONE; program.arms.len()],
            entered: vec![NONE; program.nodes()],
            complete: true,
        };
        let mut missing = program.connected_arms(Scope::Whole).count();
        let mut seen = Seen::new(packing.keys, limits);
        for (root, key) in packing.roots.iter().enumerate() {
            if seen.insert(*key) {
                look.add(packing, Walked { key: *key, parent: NONE, by: small(root) });
            }
        }
        let mut at = 0;
        while at < look.walked.len() && missing > 0 {
            if look.walked.len() > most {
                look.complete = false;
                break;
            }
            let key = look.walked[at].key;
            for chain in program.chains_of(packing.node(key)) {
                let Some((arm, to)) = packing.next(key, chain.arms.clone()) else { continue };
                if look.taken[arm] == NONE {
                    look.taken[arm] = small(at);
                    missing -= 1;
                }
                if seen.insert(to) {
                    look.add(packing, Walked { key: to, parent: small(at), by: small(arm) });
                }
            }
            at += 1;
        }
        look
    }

    fn add(&mut self, packing: &Packing, it: Walked) {
        let entered = &mut self.entered[packing.node(it.key) as usize];
        if *entered == NONE {
            *entered = small(self.walked.len());
        }
        self.walked.push(it);
    }

    pub(crate) fn was_taken(&self, arm: usize) -> bool {
        self.taken[arm] != NONE
    }

    /// A shortest path that enters a node.
    pub(crate) fn path_to_node(&self, program: &Program<'_>, node: NodeId) -> Found {
        self.found(program, self.entered.get(node as usize).copied().unwrap_or(NONE))
    }

    /// A shortest path whose last move is one that an arm stands for.
    pub(crate) fn path_to_step(&self, program: &Program<'_>, arm: usize, last: Move) -> Found {
        match self.found(program, self.taken[arm]) {
            Found::Path(Path { root, mut moves }) => {
                moves.push(last);
                Found::Path(Path { root, moves })
            }
            other => other,
        }
    }

    fn found(&self, program: &Program<'_>, mut at: u32) -> Found {
        if at == NONE {
            return if self.complete { Found::Nowhere } else { Found::Unknown };
        }
        let mut moves = Vec::new();
        while self.walked[at as usize].parent != NONE {
            moves.push(program.movement(self.walked[at as usize].by as usize));
            at = self.walked[at as usize].parent;
        }
        moves.reverse();
        Found::Path(Path { root: self.walked[at as usize].by as usize, moves })
    }
}

/// Every step of every node, and a shortest path whose last move it is.
pub(crate) fn firsts(prover: &Prover<'_>) -> Vec<(Move, Found)> {
    let program = &prover.program;
    let most = prover.limits.hashed_configurations;
    let look = prover.packing.as_ref().map(|it| Look::new(program, it, &prover.limits, most));
    let (mut found, mut searched) = (Vec::new(), 0);
    for node in (0..small(program.nodes())).filter(|it| program.connected[*it as usize]) {
        for (last, arm) in program.moves_of(node) {
            let path = look.as_ref().map_or(Found::Unknown, |it| it.path_to_step(program, arm, last));
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
