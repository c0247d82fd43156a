//! The dearest run under prices, and real runs for when it cannot be found.
//!
//! What a run has paid plus what prices say it can still pay never grows along the run. So opening the most
//! promising configuration first finds the dearest run while looking at little more than that run, and when
//! the search is cut short its frontier still bounds what it has not seen.
//!
//! Nothing is ever left out because another configuration has more left of every counter: having a budget
//! forces the first arm, lacking it opens the dear fallback, so less can cost more.

use std::collections::BinaryHeap;

use rustc_hash::FxHashSet;

use super::graph::{Move, NodeId};
use super::limits::{Limits, small};
use super::packed::{Key, Packing};
use super::prices::Prices;
use super::program::{Program, Scope};

const NONE: u32 = u32::MAX;

/// The dearest run a search saw.
#[derive(Clone, Debug)]
pub(crate) struct Climb {
    pub(crate) value: u64,
    /// Which of the beginnings it starts from.
    pub(crate) beginning: usize,
    pub(crate) moves: Vec<Move>,
    /// Nothing costs more than this, as far as the search can tell.
    pub(crate) at_most: Option<u64>,
}

/// What the searches read.
#[derive(Clone, Copy)]
pub(crate) struct Field<'field> {
    pub(crate) program: &'field Program<'field>,
    pub(crate) packing: &'field Packing,
    pub(crate) scope: Scope,
    pub(crate) weights: &'field [u64],
}

#[derive(Clone, Copy)]
struct Opened {
    key: Key,
    parent: u32,
    /// The arm that led here, or which beginning this is.
    arm: u32,
    /// What was paid before this node.
    paid: u64,
}

impl Field<'_> {
    fn weight(&self, node: NodeId) -> u64 {
        self.weights[node as usize]
    }

    fn successors(&self, key: Key) -> impl Iterator<Item = (usize, Key)> + '_ {
        let chains = self.program.chains_of(self.packing.node(key)).iter();
        let included = chains.filter(|chain| self.scope.includes(chain.waits));
        included.filter_map(move |chain| self.packing.next(key, chain.arms.clone()))
    }

    fn climb(&self, opened: &[Opened], best: (u64, u32), at_most: Option<u64>) -> Climb {
        let (mut at, mut moves) = (best.1, Vec::new());
        if opened.is_empty() {
            return Climb { value: 0, beginning: 0, moves, at_most };
        }
        while opened[at as usize].parent != NONE {
            moves.push(self.program.movement(opened[at as usize].arm as usize));
            at = opened[at as usize].parent;
        }
        moves.reverse();
        Climb { value: best.0, beginning: opened[at as usize].arm as usize, moves, at_most }
    }

    fn begin(beginnings: &[Key]) -> Vec<Opened> {
        let begin =
            |(place, key): (usize, &Key)| Opened { key: *key, parent: NONE, arm: small(place), paid: 0 };
        beginnings.iter().enumerate().map(begin).collect()
    }

    /// Best first, opening at most `limit` configurations. The value is exact when `at_most` equals it.
    pub(crate) fn best_first(&self, prices: &Prices, beginnings: &[Key], limit: usize) -> Climb {
        let promise = |it: &Opened| {
            prices.scale * i128::from(it.paid) + prices.rest(self.program, self.packing, it.key)
        };
        let mut opened = Self::begin(beginnings);
        // Among equals the deepest goes first, so that a tight bound leads straight to a run that meets it.
        let mut heap: BinaryHeap<(i128, u32, u32)> =
            (0..small(opened.len())).map(|at| (promise(&opened[at as usize]), 0, at)).collect();
        let (mut best, mut done) = ((0u64, 0u32), FxHashSet::default());
        while let Some((promised, depth, at)) = heap.pop() {
            if promised <= prices.scale * i128::from(best.0) {
                break;
            }
            let Opened { key, paid, .. } = opened[at as usize];
            if !done.insert(key) {
                continue;
            }
            if done.len() > limit {
                let at_most = u64::try_from(promised / prices.scale).ok().map(|most| most.min(prices.bound));
                return self.climb(&opened, best, at_most);
            }
            let paid = paid.saturating_add(self.weight(self.packing.node(key)));
            if paid > best.0 {
                best = (paid, at);
            }
            for (arm, key) in self.successors(key) {
                if !done.contains(&key) {
                    let it = Opened { key, parent: at, arm: small(arm), paid };
                    heap.push((promise(&it), depth + 1, small(opened.len())));
                    opened.push(it);
                }
            }
        }
        self.climb(&opened, best, Some(best.0))
    }

    /// A dear run that exists, found by keeping only the most promising configurations of each length.
    pub(crate) fn beam(&self, prices: Option<&Prices>, beginnings: &[Key], limits: &Limits) -> Climb {
        let promise = |it: &Opened| match prices {
            Some(prices) => {
                prices.scale * i128::from(it.paid) + prices.rest(self.program, self.packing, it.key)
            }
            None => i128::from(it.paid),
        };
        let mut opened: Vec<Opened> = Vec::new();
        let mut layer: Vec<(i128, Key, Opened)> =
            Self::begin(beginnings).into_iter().map(|it| (promise(&it), it.key, it)).collect();
        let mut best = (0u64, 0u32);
        // Without prices nothing says that the runs end.
        let most = if prices.is_some() { limits.kept } else { limits.opened.min(limits.kept) };
        while !layer.is_empty() && opened.len() <= most {
            layer.sort_by_key(|(promise, key, _)| std::cmp::Reverse((*promise, *key)));
            layer.dedup_by_key(|it| it.1);
            layer.truncate(limits.beam.max(1));
            let mut next = Vec::new();
            for (_, key, it) in layer {
                let at = small(opened.len());
                opened.push(it);
                let paid = it.paid.saturating_add(self.weight(self.packing.node(key)));
                if paid > best.0 {
                    best = (paid, at);
                }
                for (arm, key) in self.successors(key) {
                    let it = Opened { key, parent: at, arm: small(arm), paid };
                    next.push((promise(&it), key, it));
                }
            }
            if let Some(prices) = prices {
                next.retain(|it| it.0 > prices.scale * i128::from(best.0));
            }
            layer = next;
        }
        self.climb(&opened, best, prices.map(|prices| prices.bound))
    }
}
