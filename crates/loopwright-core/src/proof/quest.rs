//! The shortest run to a goal, over configurations and one bit.
//!
//! A monitor is a bit, so is "this step has been taken", and "this node has been entered" needs none. The
//! search is led by the distance that would be left if every arm could be afforded: it never overestimates
//! and never drops by more than one a step, so the first run that arrives is a shortest one.

use std::collections::VecDeque;

use rustc_hash::FxHashSet;

use super::graph::{NodeId, Path};
use super::limits::small;
use super::packed::{Key, Packing};
use super::program::Program;

/// What a step does to the bit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Effect {
    Keep,
    Clear,
    Set,
}

impl Effect {
    fn on(self, bit: bool) -> bool {
        match self {
            Effect::Keep => bit,
            Effect::Clear => false,
            Effect::Set => true,
        }
    }
}

/// What a search is after.
pub(crate) struct Quest<'quest> {
    /// What each arm does to the bit.
    pub(crate) effect: &'quest dyn Fn(usize) -> Effect,
    /// The bit at each root.
    pub(crate) start: &'quest dyn Fn(usize) -> bool,
    /// Whether a run that enters this node with this bit has arrived.
    pub(crate) goal: &'quest dyn Fn(NodeId, bool) -> bool,
}

/// What a search found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Found {
    /// A shortest path.
    Path(Path),
    /// There is none, and that is proved.
    Nowhere,
    /// The search was cut short, or the counters are too many to be followed.
    Unknown,
}

const FAR: u32 = u32::MAX;
const NONE: u32 = u32::MAX;

struct Opened {
    key: Key,
    bit: bool,
    parent: u32,
    arm: u32,
    steps: u32,
}

impl Quest<'_> {
    /// Opens at most `limit` pairs of a configuration and the bit.
    pub(crate) fn seek(&self, program: &Program<'_>, packing: Option<&Packing>, limit: usize) -> Found {
        let far = self.distances(program);
        let reachable =
            |(root, start): (usize, &super::graph::Root)| far[place(start.node, (self.start)(root))] != FAR;
        if !program.graph.roots.iter().enumerate().any(reachable) {
            return Found::Nowhere;
        }
        let Some(packing) = packing else { return Found::Unknown };
        let mut opened: Vec<Opened> = Vec::new();
        let mut buckets: Vec<Vec<u32>> = Vec::new();
        let mut done: FxHashSet<u64> = FxHashSet::default();
        let open = |opened: &mut Vec<Opened>, buckets: &mut Vec<Vec<u32>>, it: Opened| {
            let left = far[place(packing.node(it.key), it.bit)];
            if left != FAR {
                let bucket = it.steps as usize + left as usize;
                if buckets.len() <= bucket {
                    buckets.resize(bucket + 1, Vec::new());
                }
                buckets[bucket].push(small(opened.len()));
                opened.push(it);
            }
        };
        for (root, key) in packing.roots.iter().enumerate().rev() {
            let it = Opened { key: *key, bit: (self.start)(root), parent: NONE, arm: small(root), steps: 0 };
            open(&mut opened, &mut buckets, it);
        }
        let mut bucket = 0;
        while bucket < buckets.len() {
            let Some(at) = buckets[bucket].pop() else {
                bucket += 1;
                continue;
            };
            let Opened { key, bit, steps, .. } = opened[at as usize];
            let node = packing.node(key);
            if (self.goal)(node, bit) {
                return Found::Path(path_to(program, &opened, at));
            }
            if !done.insert(key << 1 | u64::from(bit)) {
                continue;
            }
            if done.len() > limit {
                return Found::Unknown;
            }
            for chain in program.chains_of(node) {
                let Some((arm, key)) = packing.next(key, chain.arms.clone()) else { continue };
                let bit = (self.effect)(arm).on(bit);
                if !done.contains(&(key << 1 | u64::from(bit))) {
                    let it = Opened { key, bit, parent: at, arm: small(arm), steps: steps + 1 };
                    open(&mut opened, &mut buckets, it);
                }
            }
        }
        Found::Nowhere
    }

    /// How many steps the goal is away from each node with each bit, if every arm can be afforded.
    fn distances(&self, program: &Program<'_>) -> Vec<u32> {
        let mut before: Vec<Vec<usize>> = vec![Vec::new(); 2 * program.nodes()];
        for (id, arm) in program.arms.iter().enumerate() {
            for bit in [false, true] {
                before[place(arm.to, (self.effect)(id).on(bit))].push(place(arm.node, bit));
            }
        }
        let mut far = vec![FAR; 2 * program.nodes()];
        let mut queue = VecDeque::new();
        for node in 0..small(program.nodes()) {
            for bit in [false, true] {
                if (self.goal)(node, bit) {
                    far[place(node, bit)] = 0;
                    queue.push_back(place(node, bit));
                }
            }
        }
        while let Some(at) = queue.pop_front() {
            for from in &before[at] {
                if far[*from] == FAR {
                    far[*from] = far[at] + 1;
                    queue.push_back(*from);
                }
            }
        }
        far
    }
}

fn place(node: NodeId, bit: bool) -> usize {
    2 * node as usize + usize::from(bit)
}

fn path_to(program: &Program<'_>, opened: &[Opened], mut at: u32) -> Path {
    let mut moves = Vec::new();
    while opened[at as usize].parent != NONE {
        moves.push(program.movement(opened[at as usize].arm as usize));
        at = opened[at as usize].parent;
    }
    moves.reverse();
    Path { root: opened[at as usize].arm as usize, moves }
}
