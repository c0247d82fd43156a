//! What runs cost at most, exactly, from every configuration at once.
//!
//! Components are visited after those they lead to, so what follows is always known. Several lanes are carried
//! through one pass. A cycle that costs nothing in a lane does not make
//! that lane unbounded; one that costs anything does.

use rustc_hash::FxHashSet;

use super::graph::{Move, Path};
use super::space::{Components, View, move_between};
use super::worst::{Dearest, Witness};

/// A run can cost as much as it likes.
const UNBOUNDED: u64 = u64::MAX;
/// A run can cost more than can be counted.
const UNCOUNTABLE: u64 = u64::MAX - 1;

/// So many lanes are carried through one pass: a few stay close in memory.
const TOGETHER: usize = 8;

/// The dearest run or stretch of each lane, each lane giving a weight per node.
pub(crate) fn dearest(view: &View<'_>, lanes: &[&[u64]], values: usize) -> Vec<Dearest> {
    let components = Components::new(view);
    let together = values / view.space.len().max(1);
    let several = |lanes| batch::<TOGETHER>(view, &components, lanes);
    let alone = |lanes| batch::<1>(view, &components, lanes);
    if lanes.len() > 1 && together >= TOGETHER {
        lanes.chunks(TOGETHER).flat_map(several).collect()
    } else {
        lanes.chunks(1).flat_map(alone).collect()
    }
}

/// What at most `WIDTH` lanes cost, in one pass. Those that are missing cost nothing.
fn batch<const WIDTH: usize>(view: &View<'_>, components: &Components, lanes: &[&[u64]]) -> Vec<Dearest> {
    let mut weights = vec![[0u64; WIDTH]; view.program.nodes()];
    for (place, lane) in lanes.iter().enumerate().take(WIDTH) {
        weights.iter_mut().zip(*lane).for_each(|(all, weight)| all[place] = *weight);
    }
    let mut costs = vec![[0u64; WIDTH]; view.space.len()];
    for (members, cyclic) in components.iter() {
        let mut rest = [0u64; WIDTH];
        for id in members {
            view.successors(*id).for_each(|to| {
                let there = &costs[to as usize];
                rest.iter_mut().zip(there).for_each(|(most, cost)| *most = (*most).max(*cost));
            });
        }
        if cyclic {
            for weight in members.iter().map(|id| &weights[node(view, *id)]) {
                let dear = rest.iter_mut().zip(weight).filter(|(_, weight)| **weight > 0);
                dear.for_each(|(most, _)| *most = UNBOUNDED);
            }
        }
        for id in members {
            let weight = &weights[node(view, *id)];
            for place in 0..WIDTH {
                costs[*id as usize][place] = match rest[place] {
                    UNBOUNDED => UNBOUNDED,
                    rest => rest.saturating_add(weight[place]).min(UNCOUNTABLE),
                };
            }
        }
    }
    let cost = |id: u32, place: usize| costs[id as usize][place];
    let beginnings: Vec<u32> = view.space.beginnings(view.scope).collect();
    let tell = |place: usize| {
        let mut best: Option<(u64, u32)> = None;
        for id in beginnings.iter().copied() {
            if best.is_none_or(|(most, _)| cost(id, place) > most) {
                best = Some((cost(id, place), id));
            }
        }
        match best {
            None => Dearest::Exact { value: 0, witness: Witness::default() },
            Some((UNBOUNDED, _)) => Dearest::Unbounded,
            Some((value, id)) => {
                let mut path = view.space.path_to_beginning(view.program, view.packing, id);
                let from = path.moves.len();
                if value == UNCOUNTABLE {
                    let at_least = lanes[place][node(view, id)];
                    return Dearest::Between { at_least, witness: Witness { path, from }, at_most: None };
                }
                path.moves.extend(follow(view, id, lanes[place], |id| cost(id, place)));
                Dearest::Exact { value, witness: Witness { path, from } }
            }
        }
    };
    (0..lanes.len()).map(tell).collect()
}

fn node(view: &View<'_>, id: u32) -> usize {
    view.packing.node(view.space.keys[id as usize]) as usize
}

/// Moves that really cost what was found: steps that lose nothing, until there is nothing left to pay.
fn follow(view: &View<'_>, start: u32, lane: &[u64], cost: impl Fn(u32) -> u64) -> Vec<Move> {
    let mut trail = vec![start];
    let mut seen = FxHashSet::from_iter([start]);
    while let Some(at) = trail.last() {
        let rest = cost(*at).saturating_sub(lane[node(view, *at)]);
        if rest == 0 {
            break;
        }
        // Only inside a cycle that costs nothing can this come to a dead end, and then it backs out.
        match view.successors(*at).find(|to| cost(*to) == rest && !seen.contains(to)) {
            Some(to) => {
                seen.insert(to);
                trail.push(to);
            }
            None => {
                trail.pop();
            }
        }
    }
    let key = |id: u32| view.space.keys[id as usize];
    let between = |pair: &[u32]| {
        move_between(view.program, view.packing, key(pair[0]), key(pair[1]), |waits| {
            view.scope.includes(waits)
        })
    };
    trail.windows(2).filter_map(between).collect()
}

impl Default for Witness {
    fn default() -> Self {
        Witness { path: Path { root: 0, moves: Vec::new() }, from: 0 }
    }
}
