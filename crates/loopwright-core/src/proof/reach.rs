//! Which nodes a run can reach, and which steps it can take.
//!
//! A step that no run takes is a fallback whose budget never runs out: worth a warning, and only the counters
//! tell. So configurations are walked, depth first because that drains budgets soonest, and the walk stops as
//! soon as nothing that could be seen is unseen. Where it is cut short, what was seen is certain, what even a
//! run without budgets could not see is certain, and the rest is said to be unknown.

use rustc_hash::FxHashSet;

use super::graph::{Move, NodeId, Path};
use super::limits::{Limits, index, small};
use super::packed::Packing;
use super::program::{Program, Scope};
use super::prover::Prover;
use super::quest::{Effect, Found, Quest};

/// Whether something can happen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Certainty {
    /// It can: a run was found.
    Yes,
    /// It cannot, and that is proved.
    No,
    /// It could if budgets did not matter, and no run was found.
    Unknown,
}

/// What runs can reach.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reach {
    /// Per node: a run can enter it.
    pub nodes: Vec<Certainty>,
    /// Per node, cell and step, one after the other: a run can take it.
    steps: Vec<Certainty>,
    /// Per node: the number of its first cell.
    first_cell: Vec<usize>,
    /// Per cell: where its steps begin; one entry more than there are cells.
    first_step: Vec<usize>,
    /// Nothing is unknown.
    pub exact: bool,
}

pub(crate) fn reach(prover: &Prover<'_>, configurations: usize) -> Reach {
    let program = &prover.program;
    let (mut taken, mut complete) = (vec![false; program.arms.len()], false);
    if let Some(space) = prover.known() {
        taken = (0..program.arms.len()).map(|arm| space.takes(arm)).collect();
        complete = true;
    } else if let Some(packing) = &prover.packing {
        (taken, complete) = probe(program, packing, &prover.limits, configurations);
    }
    let judge = |seen: bool, possible: bool| match (seen, possible) {
        (true, _) => Certainty::Yes,
        (false, true) if !complete => Certainty::Unknown,
        (false, _) => Certainty::No,
    };
    let mut entered = vec![false; program.nodes()];
    program.graph.roots.iter().for_each(|root| entered[root.node as usize] = true);
    taken
        .iter()
        .zip(&program.arms)
        .filter(|(taken, _)| **taken)
        .for_each(|(_, arm)| entered[arm.to as usize] = true);
    let nodes: Vec<Certainty> = entered
        .iter()
        .zip(&program.connected)
        .map(|(entered, connected)| judge(*entered, *connected))
        .collect();
    let mut found =
        Reach { nodes, steps: Vec::new(), first_cell: Vec::new(), first_step: vec![0], exact: true };
    for (node, here) in program.graph.nodes.iter().enumerate() {
        let first = found.first_step.len() - 1;
        found.first_cell.push(first);
        for cell in &here.cells {
            found.steps.resize(found.steps.len() + cell.steps.len(), Certainty::No);
            found.first_step.push(found.steps.len());
        }
        for (it, arm) in program.moves_of(small(node)) {
            let at = found.first_step[first + it.cell as usize] + it.step as usize;
            found.steps[at] = judge(taken[arm], program.connected[node]);
        }
    }
    found.exact = !found.nodes.iter().chain(&found.steps).any(|it| *it == Certainty::Unknown);
    found
}

impl Reach {
    /// Which steps of a cell runs can take.
    pub fn steps(&self, node: usize, cell: usize) -> &[Certainty] {
        let Some(first) = self.first_cell.get(node) else { return &[] };
        match self.first_step.get(first + cell..first + cell + 2) {
            Some([begin, end]) => &self.steps[*begin..*end],
            _ => &[],
        }
    }

    /// Every step of the graph.
    pub fn all_steps(&self) -> &[Certainty] {
        &self.steps
    }
}

/// The arms that were taken, and whether there are no others.
fn probe(
    program: &Program<'_>,
    packing: &Packing,
    limits: &Limits,
    configurations: usize,
) -> (Vec<bool>, bool) {
    let mut taken = vec![false; program.arms.len()];
    let dense = packing.keys <= limits.dense_keys;
    let most = if dense { limits.dense_configurations } else { limits.hashed_configurations };
    let most = most.min(configurations);
    let mut missing = program.connected_arms(Scope::Whole).count();
    let mut seen = Seen::new(packing.keys, limits);
    let mut work = packing.roots.clone();
    work.retain(|key| seen.insert(*key));
    let mut count = work.len();
    while let Some(key) = work.pop() {
        if missing == 0 {
            return (taken, true);
        }
        if count > most {
            return (taken, false);
        }
        for chain in program.chains_of(packing.node(key)) {
            let Some((arm, to)) = packing.next(key, chain.arms.clone()) else { continue };
            if !std::mem::replace(&mut taken[arm], true) {
                missing -= 1;
            }
            if seen.insert(to) {
                count += 1;
                work.push(to);
            }
        }
    }
    (taken, true)
}

/// A set of configurations: bits when there can only be few, else a hash.
enum Seen {
    Bits(Vec<u64>),
    Hashed(FxHashSet<u64>),
}

impl Seen {
    fn new(keys: u64, limits: &Limits) -> Self {
        if keys <= limits.dense_keys {
            Seen::Bits(vec![0; index(keys.div_ceil(64))])
        } else {
            Seen::Hashed(FxHashSet::default())
        }
    }

    /// Whether it was not in the set.
    fn insert(&mut self, key: u64) -> bool {
        match self {
            Seen::Bits(words) => {
                let word = &mut words[index(key / 64)];
                let new = *word >> (key % 64) & 1 == 0;
                *word |= 1 << (key % 64);
                new
            }
            Seen::Hashed(set) => set.insert(key),
        }
    }
}

/// A shortest path that enters a node.
pub(crate) fn path_to_node(prover: &Prover<'_>, node: NodeId) -> Found {
    if let Some(space) = prover.few() {
        return space.path_to_node(&prover.program, node);
    }
    let quest = Quest { effect: &|_| Effect::Keep, start: &|_| false, goal: &|at, _| at == node };
    prover.seek(&quest)
}

/// A shortest path whose last move is this one.
pub(crate) fn path_to_step(prover: &Prover<'_>, last: Move) -> Found {
    let Some(wanted) = prover.program.arm_of(last) else { return Found::Nowhere };
    if let Some(space) = prover.few() {
        return space.path_to_step(&prover.program, wanted, last);
    }
    let effect = |arm| if arm == wanted { Effect::Set } else { Effect::Keep };
    let quest = Quest { effect: &effect, start: &|_| false, goal: &|_, taken| taken };
    match prover.seek(&quest) {
        Found::Path(Path { root, mut moves }) => {
            moves.pop();
            moves.push(last);
            Found::Path(Path { root, moves })
        }
        other => other,
    }
}
