//! What a run can cost at most: calls, tokens, money, visits. All are weights that a node charges on entry.
//!
//! Exact answers come first: by walking a small space, by a search under prices in a large one, by walking as
//! much of a large one as the limits allow. What is left is a bound from above, and beside it a run that
//! exists. Lanes are asked for together, but the largest total is its own lane: maxima do not add up.

use std::borrow::Cow;

use indexmap::IndexSet;
use rustc_hash::FxBuildHasher;

use super::graph::Path;
use super::lexicographic;
use super::packed::Packing;
use super::prices::{Prices, Pricing};
use super::program::Scope;
use super::prover::Prover;
use super::search::{Climb, Field};
use super::termination::Termination;

/// How many beginnings of stretches are tried when only a lower bound can be had.
const BEGINNINGS: usize = 1024;

/// The worst cases, lane by lane.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Worst {
    /// The dearest stretch that nobody attends: from a root, or from just after an answer.
    pub stretch: Vec<Dearest>,
    /// The dearest run from its root on, people answering as they like.
    pub whole: Vec<Dearest>,
}

/// What something costs at most.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Dearest {
    /// Exactly this, and here is how.
    Exact {
        /// The cost.
        value: u64,
        /// A run that costs it.
        witness: Witness,
    },
    /// A run costs `at_least` this much, and none costs more than `at_most`.
    Between {
        /// What the witness costs.
        at_least: u64,
        /// A run that exists.
        witness: Witness,
        /// The bound, when one could be proved.
        at_most: Option<u64>,
    },
    /// A run can cost as much as it likes: it can go round a cycle that costs something.
    Unbounded,
}

/// A run that costs what is claimed, counted from the node after the first `from` moves to the last node,
/// both included. It goes no further than it has to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Witness {
    /// From a root.
    pub path: Path,
    /// How many moves come before the stretch; zero for a whole run.
    pub from: usize,
}

/// What a whole run costs at most, without walking; not the least bound once it is no more than `enough`.
pub(crate) fn bound(prover: &Prover<'_>, lane: &[u64], enough: u64) -> Option<u64> {
    let lane = prover.weights(lane);
    let by_order = lexicographic::bound(&prover.program, Scope::Whole, &lane).ok();
    if by_order.is_some_and(|it| it <= enough) {
        return by_order;
    }
    let by_prices = Pricing::new(&prover.program, Scope::Whole, &prover.limits).find(&lane);
    by_order.into_iter().chain(by_prices.map(|it| it.bound)).min()
}

/// The dearest stretch of each lane.
pub(crate) fn stretch(prover: &Prover<'_>, lanes: &[Vec<u64>]) -> Vec<Dearest> {
    let lanes: Vec<Cow<'_, [u64]>> = lanes.iter().map(|lane| prover.weights(lane)).collect();
    ladder(prover, Scope::Stretch, &lanes.iter().map(|it| &**it).collect::<Vec<_>>())
}

/// The dearest run of each lane.
pub(crate) fn whole(prover: &Prover<'_>, lanes: &[Vec<u64>]) -> Vec<Dearest> {
    let lanes: Vec<Cow<'_, [u64]>> = lanes.iter().map(|lane| prover.weights(lane)).collect();
    let lanes: Vec<&[u64]> = lanes.iter().map(|it| &**it).collect();
    ladder(prover, if prover.attended() { Scope::Whole } else { Scope::Stretch }, &lanes)
}

pub(crate) fn worst(prover: &Prover<'_>, lanes: &[Vec<u64>]) -> Worst {
    let lanes: Vec<Cow<'_, [u64]>> = lanes.iter().map(|lane| prover.weights(lane)).collect();
    let lanes: Vec<&[u64]> = lanes.iter().map(|it| &**it).collect();
    let stretch = ladder(prover, Scope::Stretch, &lanes);
    let whole = if prover.attended() { ladder(prover, Scope::Whole, &lanes) } else { stretch.clone() };
    Worst { stretch, whole }
}

fn ladder(prover: &Prover<'_>, scope: Scope, lanes: &[&[u64]]) -> Vec<Dearest> {
    // A lane that costs nothing anywhere needs no thought.
    let costs: Vec<&[u64]> = lanes.iter().filter(|lane| lane.iter().any(|it| *it > 0)).copied().collect();
    if costs.len() < lanes.len() {
        let mut found = ladder(prover, scope, &costs).into_iter();
        let nothing = || Dearest::Exact { value: 0, witness: Witness::default() };
        let mut answers = Vec::with_capacity(lanes.len());
        for lane in lanes {
            let costs = lane.iter().any(|it| *it > 0);
            answers.push(if costs { found.next().unwrap_or_else(nothing) } else { nothing() });
        }
        return answers;
    }
    if lanes.is_empty() {
        return Vec::new();
    }
    let alike = Alike::new(lanes);
    let answers = several(prover, scope, &alike.lanes.iter().map(Vec::as_slice).collect::<Vec<_>>());
    alike.of.iter().map(|(at, times)| answers[*at].clone().times(*times)).collect()
}

/// Lanes that are another so many times cost so many times as much, on the same runs: one of them is asked about.
struct Alike {
    lanes: Vec<Vec<u64>>,
    /// Per lane that was given: which of these it is, and how many times.
    of: Vec<(usize, u64)>,
}

impl Alike {
    fn new(lanes: &[&[u64]]) -> Self {
        let mut found: IndexSet<Vec<u64>, FxBuildHasher> = IndexSet::default();
        let mut of = Vec::with_capacity(lanes.len());
        for lane in lanes {
            let times = lane.iter().fold(0, |times, it| common(times, *it)).max(1);
            let least = lane.iter().map(|it| it / times).collect();
            of.push((found.insert_full(least).0, times));
        }
        Alike { lanes: found.into_iter().collect(), of }
    }
}

/// The greatest number that goes into both.
fn common(one: u64, other: u64) -> u64 {
    if other == 0 { one } else { common(other, one % other) }
}

impl Dearest {
    fn times(self, times: u64) -> Self {
        match self {
            Dearest::Exact { value, witness } => match value.checked_mul(times) {
                Some(value) => Dearest::Exact { value, witness },
                None => Dearest::Between { at_least: u64::MAX, witness, at_most: None },
            },
            Dearest::Between { at_least, witness, at_most } => Dearest::Between {
                at_least: at_least.saturating_mul(times),
                witness,
                at_most: at_most.and_then(|it| it.checked_mul(times)),
            },
            Dearest::Unbounded => Dearest::Unbounded,
        }
    }
}

fn several(prover: &Prover<'_>, scope: Scope, lanes: &[&[u64]]) -> Vec<Dearest> {
    let small = prover.packing.as_ref().is_some_and(|packing| packing.keys <= prover.limits.small_keys);
    if small && let Some(exact) = walk(prover, scope, lanes) {
        return exact;
    }
    // Lanes are much alike: where prices do not lead one search to its end, they rarely lead the next, and a
    // walk answers all that are left at once.
    let (mut answers, mut stuck) = (Vec::with_capacity(lanes.len()), None);
    let mut pricing = Pricing::new(&prover.program, scope, &prover.limits);
    for lane in lanes {
        let rung = Rung::new(prover, scope, lane, &mut pricing);
        if !rung.exact {
            stuck = Some(rung);
            break;
        }
        answers.push(rung.answer);
    }
    let open = &lanes[answers.len()..];
    if !small
        && !open.is_empty()
        && let Some(exact) = walk(prover, scope, open)
    {
        answers.extend(exact);
        return answers;
    }
    for lane in open {
        let rung = stuck.take().unwrap_or_else(|| Rung::new(prover, scope, lane, &mut pricing));
        answers.push(if rung.exact { rung.answer } else { bounded(prover, scope, lane, rung) });
    }
    answers
}

/// By walking every configuration; `None` when there are too many.
fn walk(prover: &Prover<'_>, scope: Scope, lanes: &[&[u64]]) -> Option<Vec<Dearest>> {
    let view = prover.view(scope).filter(|view| view.space.complete)?;
    Some(super::dearest::dearest(&view, lanes, prover.limits.values))
}

/// What is known about a lane without walking.
struct Rung {
    answer: Dearest,
    exact: bool,
    prices: Option<Prices>,
}

impl Rung {
    /// By a search under prices from the roots, where no stretch after an answer can be dearer.
    fn new(prover: &Prover<'_>, scope: Scope, lane: &[u64], pricing: &mut Pricing<'_>) -> Self {
        let prices = pricing.find(lane);
        let first = prover
            .program
            .graph
            .roots
            .iter()
            .enumerate()
            .max_by_key(|(place, root)| (lane[root.node as usize], std::cmp::Reverse(*place)));
        let Some((place, root)) = first else {
            let answer = Dearest::Exact { value: 0, witness: Witness::default() };
            return Rung { answer, exact: true, prices };
        };
        let witness = Witness { path: Path { root: place, moves: Vec::new() }, from: 0 };
        let at_most = prices.as_ref().map(|prices| prices.bound);
        let at_least = lane[root.node as usize];
        let answer = if at_most == Some(at_least) {
            Dearest::Exact { value: at_least, witness }
        } else {
            Dearest::Between { at_least, witness, at_most }
        };
        let mut rung = Rung { exact: matches!(answer, Dearest::Exact { .. }), answer, prices };
        if let (false, Some(packing), Some(prices)) = (rung.exact, &prover.packing, &rung.prices) {
            let field = Field { program: &prover.program, packing, scope, weights: lane };
            let mut climb = field.best_first(prices, &packing.roots, prover.limits.opened);
            let after_answers = Self::after_answers(prover, scope, packing, prices);
            climb.at_most = climb.at_most.map(|it| it.max(after_answers));
            rung.exact = climb.at_most == Some(climb.value);
            rung.answer = tell(climb, |beginning| Path { root: beginning, moves: Vec::new() });
        }
        rung
    }

    /// What a stretch that begins after an answer can cost at most: nobody knows what its counters have left, so they
    /// are taken to be full.
    fn after_answers(prover: &Prover<'_>, scope: Scope, packing: &Packing, prices: &Prices) -> u64 {
        let program = &prover.program;
        let begin = |node: u32| prices.rest(program, packing, packing.start(program, node));
        let dearest = program.sources(scope).into_iter().map(begin).max().unwrap_or(0);
        let answers = scope == Scope::Stretch && prover.attended();
        if answers { u64::try_from(dearest / prices.scale).unwrap_or(0).min(prices.bound) } else { 0 }
    }
}

fn tell(climb: Climb, before: impl Fn(usize) -> Path) -> Dearest {
    let mut path = before(climb.beginning);
    let from = path.moves.len();
    path.moves.extend(climb.moves);
    let (value, witness) = (climb.value, Witness { path, from });
    match climb.at_most {
        Some(most) if most == value => Dearest::Exact { value, witness },
        at_most => Dearest::Between { at_least: value, witness, at_most },
    }
}

/// The least bound from above, and the dearest run that a beam finds.
fn bounded(prover: &Prover<'_>, scope: Scope, lane: &[u64], rung: Rung) -> Dearest {
    if let Termination::Endless { turn, .. } = prover.termination()
        && turn.iter().any(|it| lane[it.node as usize] > 0)
    {
        return Dearest::Unbounded;
    }
    let Rung { answer: Dearest::Between { mut at_least, mut witness, mut at_most }, prices, .. } = rung
    else {
        return rung.answer;
    };
    if let Ok(bound) = lexicographic::bound(&prover.program, scope, lane)
        && bound < at_most.unwrap_or(u64::MAX)
    {
        at_most = Some(bound);
    }
    if let (Some(packing), Some(view)) = (&prover.packing, prover.view(scope)) {
        let field = Field { program: &prover.program, packing, scope, weights: lane };
        let ids: Vec<u32> = view.space.beginnings(scope).take(BEGINNINGS).collect();
        let keys: Vec<u64> = ids.iter().map(|id| view.space.keys[*id as usize]).collect();
        let climb = field.beam(prices.as_ref(), &keys, &prover.limits);
        if climb.value > at_least {
            at_least = climb.value;
            let found = tell(climb, |beginning| {
                view.space.path_to_beginning(&prover.program, packing, ids[beginning])
            });
            if let Dearest::Exact { witness: run, .. } | Dearest::Between { witness: run, .. } = found {
                witness = run;
            }
        }
    }
    if at_most == Some(at_least) {
        Dearest::Exact { value: at_least, witness }
    } else {
        Dearest::Between { at_least, witness, at_most }
    }
}
