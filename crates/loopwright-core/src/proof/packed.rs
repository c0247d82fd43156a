//! Configurations packed into one word: the node, and what its live counters have left.
//!
//! A counter needs bits only where it is live, so counters that are never live together share theirs, as
//! variables share registers. Sharing is safe because a counter that becomes live on a step is filled up by
//! that very step. Whatever does not fit is left to the arguments that never look at counters.

use rustc_hash::FxHashSet;

use super::graph::{CounterId, NodeId};
use super::ids::members;
use super::limits::{index, small};
use super::program::{Arm, Program};

/// More counters than this are not packed at all.
const MOST_COUNTERS: usize = 1024;
/// One bit is kept free for a monitor, and one so that keys never wrap.
const MOST_BITS: u32 = 62;

/// A packed configuration.
pub(crate) type Key = u64;

/// How configurations are packed, and how arms change them.
#[derive(Clone, Debug)]
pub(crate) struct Packing {
    /// The bits of a key that name the node: the lowest, so that a step forward stays close in memory.
    node_mask: u64,
    /// Per counter: its bits in a key (none when it is never live).
    masks: Vec<u64>,
    arms: Vec<PackedArm>,
    /// Per root: where it begins.
    pub(crate) roots: Vec<Key>,
    /// How many keys there can be.
    pub(crate) keys: u64,
}

#[derive(Clone, Debug)]
struct PackedArm {
    /// One mask for each counter that must have something left.
    tests: Box<[u64]>,
    cost: u64,
    keep: u64,
    base: u64,
}

impl Packing {
    /// `None` when the live counters do not fit.
    pub(crate) fn new(program: &Program<'_>) -> Option<Self> {
        let node_bits = usize::BITS - program.nodes().saturating_sub(1).leading_zeros();
        let (masks, bits) = fields(program, node_bits)?;
        let pack = |arm: &Arm| {
            let mut keep = 0;
            for counter in program.live_at(arm.to) {
                if !arm.refill.contains(counter) {
                    keep |= masks[counter as usize];
                }
            }
            let filled = arm.refill.iter().fold(0, |sum, counter| sum | full(program, &masks, counter));
            PackedArm {
                tests: arm.spend.iter().map(|counter| masks[counter as usize]).collect(),
                cost: arm.spend.iter().map(|counter| 1 << masks[counter as usize].trailing_zeros()).sum(),
                keep,
                base: u64::from(arm.to) | filled,
            }
        };
        let arms = program.arms.iter().map(pack).collect();
        let mut packing =
            Packing { node_mask: (1 << node_bits) - 1, arms, roots: Vec::new(), keys: 1 << bits, masks };
        packing.roots = program.graph.roots.iter().map(|root| packing.start(program, root.node)).collect();
        Some(packing)
    }

    /// A node with every counter full.
    pub(crate) fn start(&self, program: &Program<'_>, node: NodeId) -> Key {
        program.live_at(node).fold(u64::from(node), |key, counter| key | full(program, &self.masks, counter))
    }

    pub(crate) fn node(&self, key: Key) -> NodeId {
        small(index(key & self.node_mask))
    }

    /// What a counter has left, at a node where it is live.
    pub(crate) fn left(&self, key: Key, counter: CounterId) -> u64 {
        match self.masks[counter as usize] {
            0 => 0,
            mask => (key & mask) >> mask.trailing_zeros(),
        }
    }

    /// Which arm of `arms` is taken, and where it leads; `None` when none can be afforded.
    pub(crate) fn next(&self, key: Key, arms: std::ops::Range<usize>) -> Option<(usize, Key)> {
        for arm in arms {
            let packed = &self.arms[arm];
            if packed.tests.iter().all(|mask| key & mask != 0) {
                return Some((arm, ((key - packed.cost) & packed.keep) | packed.base));
            }
        }
        None
    }
}

/// A counter at its limit, in its bits.
fn full(program: &Program<'_>, masks: &[u64], counter: CounterId) -> u64 {
    match masks[counter as usize] {
        0 => 0,
        mask => u64::from(program.limit(counter)) << mask.trailing_zeros(),
    }
}

/// Gives every live counter its bits above those of the node: the widest first, each as low as those live
/// beside it allow. Also how many bits a key has.
fn fields(program: &Program<'_>, node_bits: u32) -> Option<(Vec<u64>, u32)> {
    let counters = program.graph.counters.len();
    let nodes = (0..program.nodes()).map(small);
    let sets: FxHashSet<&[u64]> = nodes.map(|node| program.live_set(node)).collect();
    let mut used = vec![0u64; counters.div_ceil(64)];
    for set in &sets {
        used.iter_mut().zip(*set).for_each(|(all, some)| *all |= some);
    }
    let mut order: Vec<CounterId> = members(&used).collect();
    if order.len() > MOST_COUNTERS {
        return None;
    }
    let width = |counter: CounterId| u32::BITS - program.limit(counter).leading_zeros();
    order.sort_by_key(|counter| (std::cmp::Reverse(width(*counter)), *counter));
    let (mut masks, mut bits) = (vec![0u64; counters], node_bits);
    for counter in order {
        let (word, bit) = (counter as usize / 64, counter % 64);
        let mut taken = 0u64;
        for set in sets.iter().filter(|set| set[word] >> bit & 1 == 1) {
            taken = members(set).fold(taken, |taken, other| taken | masks[other as usize]);
        }
        let field = (1u64 << width(counter)) - 1;
        let shift = (node_bits..=MOST_BITS.checked_sub(width(counter))?)
            .find(|shift| (field << shift) & taken == 0)?;
        masks[counter as usize] = field << shift;
        bits = bits.max(shift + width(counter));
    }
    Some((masks, bits))
}
