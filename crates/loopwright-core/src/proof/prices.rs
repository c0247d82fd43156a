//! One price per counter: a proof that runs end, a bound on their cost and a guide for the search, in one.
//!
//! Let every counter have a price and every node a potential such that no arm gains: what a run pays at a node
//! and the potential it moves to are covered by the potential it leaves and the price of what it spends (a
//! refill is paid for in full). Then what a run can still cost is at most the potential where it stands plus
//! the worth of what its live counters have left.
//!
//! A linear program proposes the prices. It has an unknown for each counter and none for the nodes: it is told of the
//! cycles that gain and of the dearest walks under the prices it last proposed, until there is nothing to tell. That
//! takes a few dozen rows where one for each arm would take thousands, and what was told for one lane is worth telling
//! for the next.
//!
//! **Invariant:** no floating-point number is believed. The proposal is
//! rounded to integers, the potentials are computed anew, and a cycle that gains, or a number that does not
//! fit, rejects it. A wrong proposal can cost the certificate, never its truth.

use indexmap::IndexSet;
use microlp::{ComparisonOp, OptimizationDirection, Problem, SolveOutcome};
use rustc_hash::{FxBuildHasher, FxHashMap};

use super::gains::{Rows, Swept};
use super::graph::{CounterId, NodeId};
use super::limits::Limits;
use super::packed::{Key, Packing};
use super::program::{Program, Scope};

/// Prices are multiplied by each of these in turn and rounded up. A vertex of the linear program is a small
/// fraction, so one of the first usually hits it; the last is a fine grid for the others.
const SCALES: [u32; 9] = [1, 2, 3, 4, 6, 12, 60, 2520, 1 << 20];
/// The solver wants the coefficients of a row within six orders of magnitude.
const WIDEST: u32 = 1_000_000;
/// What proposals may be off by.
const SLACK: f64 = 1e-9;
/// Sums of gains of at most this size fit, however many nodes there are.
const LARGEST: i128 = 1 << 80;

/// A certificate: `scale * (cost still to come) <= potential + sum of price * left` at every configuration.
#[derive(Clone, Debug)]
pub(crate) struct Prices {
    pub(crate) scale: i128,
    potentials: Vec<i128>,
    /// Per counter, what one of it is worth.
    worth: Vec<i128>,
    /// The most that a run of this scope can cost.
    pub(crate) bound: u64,
}

impl Prices {
    /// `scale` times what a run can still cost here, at most.
    pub(crate) fn rest(&self, program: &Program<'_>, packing: &Packing, key: Key) -> i128 {
        let node = packing.node(key);
        let worth = |counter: CounterId| match self.worth[counter as usize] {
            0 => 0,
            price => price * i128::from(packing.left(key, counter)),
        };
        self.potentials[node as usize] + program.live_at(node).map(worth).sum::<i128>()
    }
}

/// Finds prices for the lanes of a scope.
pub(crate) struct Pricing<'program> {
    program: &'program Program<'program>,
    rows: Rows,
    /// Where runs begin, and the counters that are live there: a dead one brings no credit.
    sources: Vec<(NodeId, Vec<CounterId>)>,
    told: IndexSet<Walk, FxBuildHasher>,
    relaxations: usize,
}

/// A walk that prices have to allow for.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Walk {
    visits: Vec<NodeId>,
    /// What it spends in all, less what it fills up.
    change: Vec<(CounterId, i64)>,
    /// From which source it starts; it goes round when from none.
    source: Option<usize>,
}

impl<'program> Pricing<'program> {
    pub(crate) fn new(program: &'program Program<'program>, scope: Scope, limits: &Limits) -> Self {
        let live = |node: NodeId| (node, program.live_at(node).collect());
        let sources = program.sources(scope).into_iter().map(live).collect();
        let (rows, told) = (Rows::new(program, scope), IndexSet::default());
        Pricing { program, rows, sources, told, relaxations: limits.relaxations }
    }

    /// `None` when no prices will do, or none that can be certified.
    pub(crate) fn find(&mut self, weights: &[u64]) -> Option<Prices> {
        let (proposed, least) = self.propose(weights)?;
        let mut best: Option<Prices> = None;
        for scale in SCALES {
            let prices: Option<Vec<i128>> =
                proposed.iter().map(|it| round_up(it * f64::from(scale))).collect();
            let certified = self.certify(weights, prices?, i128::from(scale));
            best = best.into_iter().chain(certified).min_by_key(|it| it.bound);
            if best.as_ref().is_some_and(|it| it.bound <= least) {
                break;
            }
        }
        best
    }

    /// Prices that make the dearest beginning as cheap as possible, and how cheap that is.
    #[expect(clippy::cast_precision_loss, reason = "a proposal may be off; it is certified in integers")]
    fn propose(&mut self, weights: &[u64]) -> Option<(Vec<f64>, u64)> {
        let counters = self.program.graph.counters.len();
        let dearest = *weights.iter().max()?;
        if dearest == 0 || counters == 0 {
            return Some((vec![0.0; counters], 0));
        }
        let mut changes = self.rows.list.iter().flat_map(|row| &row.change);
        if changes.any(|(counter, _)| self.program.limit(*counter) > WIDEST) {
            return None;
        }
        let unit = dearest as f64;
        let weights: Vec<f64> = weights
            .iter()
            .map(
                |weight| {
                    if *weight == 0 { 0.0 } else { (*weight as f64 / unit).max(1.0 / f64::from(WIDEST)) }
                },
            )
            .collect();
        self.tell_of_sources(&weights);
        let mut work = self.relaxations;
        loop {
            let (prices, most) = self.solve(&weights)?;
            let gain = |row: &super::gains::Row| {
                let paid =
                    row.change.iter().map(|(counter, amount)| prices[usize::from(*counter)] * *amount as f64);
                weights[row.from as usize] - paid.sum::<f64>()
            };
            let gains: Vec<f64> = self.rows.list.iter().map(gain).collect();
            let news = match self.rows.sweep(weights.clone(), &gains, SLACK, &mut work) {
                Swept::Unknown => return None,
                Swept::Gaining(cycles) => {
                    cycles.into_iter().map(|arms| self.walk(&arms, None)).collect::<Vec<_>>()
                }
                Swept::Settled { most: potentials, first } => {
                    self.dearest(&prices, &potentials, &first, most).into_iter().collect()
                }
            };
            let known = self.told.len();
            self.told.extend(news);
            if self.told.len() == known {
                return Some((prices.iter().map(|it| it * unit).collect(), whole(most * unit)));
            }
        }
    }

    /// Of the sources that are alike, one: a run can stop where it begins.
    fn tell_of_sources(&mut self, weights: &[f64]) {
        let mut alike: FxHashMap<&[CounterId], usize> = FxHashMap::default();
        for (place, (node, live)) in self.sources.iter().enumerate() {
            let weight = |place: usize| weights[self.sources[place].0 as usize];
            let dearest = alike.entry(live).or_insert(place);
            if weights[*node as usize] > weight(*dearest) {
                *dearest = place;
            }
        }
        let places: Vec<usize> = alike.into_values().collect();
        self.told.extend(places.into_iter().map(|source| Walk {
            visits: vec![self.sources[source].0],
            change: Vec::new(),
            source: Some(source),
        }));
    }

    /// The walk from a source that costs most, unless it costs no more than what was proposed.
    fn dearest(&self, prices: &[f64], potentials: &[f64], first: &[u32], most: f64) -> Option<Walk> {
        let cost = |(node, live): &(NodeId, Vec<CounterId>)| {
            let worth = live.iter().map(|it| prices[usize::from(*it)] * f64::from(self.program.limit(*it)));
            potentials[*node as usize] + worth.sum::<f64>()
        };
        let costs = self.sources.iter().map(cost).enumerate();
        let (source, cost) = costs.max_by(|(_, one), (_, other)| one.total_cmp(other))?;
        let dearer = cost > most + SLACK * most.max(1.0);
        dearer.then(|| self.walk(&self.rows.walk(first, self.sources[source].0), Some(source)))
    }

    fn walk(&self, arms: &[u32], source: Option<usize>) -> Walk {
        let mut rows = arms.iter().map(|arm| &self.rows.list[*arm as usize]);
        let mut change: FxHashMap<CounterId, i64> = FxHashMap::default();
        let mut visits: Vec<NodeId> = Vec::with_capacity(arms.len() + 1);
        for row in rows.clone() {
            visits.push(row.from);
            for (counter, amount) in &row.change {
                let sum = change.entry(*counter).or_insert(0);
                *sum = sum.saturating_add(*amount);
            }
        }
        if let Some(source) = source {
            visits.push(rows.next_back().map_or(self.sources[source].0, |row| row.to));
        }
        let mut change: Vec<(CounterId, i64)> =
            change.into_iter().filter(|(_, amount)| *amount != 0).collect();
        change.sort_unstable();
        Walk { visits, change, source }
    }

    /// The best prices for the walks that were told of, and what they make of the dearest beginning.
    #[expect(clippy::cast_precision_loss, reason = "a proposal may be off; it is certified in integers")]
    fn solve(&self, weights: &[f64]) -> Option<(Vec<f64>, f64)> {
        let mut problem = Problem::new(OptimizationDirection::Minimize);
        let counters = 0..self.program.graph.counters.len();
        let prices: Vec<_> = counters.map(|_| problem.add_var(0.0, (0.0, f64::INFINITY))).collect();
        let most = problem.add_var(1.0, (0.0, f64::INFINITY));
        for walk in &self.told {
            let cost: f64 = walk.visits.iter().map(|node| weights[*node as usize]).sum();
            let mut paid: Vec<f64> = vec![0.0; prices.len()];
            for (counter, amount) in &walk.change {
                paid[usize::from(*counter)] += *amount as f64;
            }
            if let Some(source) = walk.source {
                for counter in &self.sources[source].1 {
                    paid[usize::from(*counter)] -= f64::from(self.program.limit(*counter));
                }
            }
            let mut terms: Vec<_> =
                prices.iter().copied().zip(paid).filter(|(_, amount)| *amount != 0.0).collect();
            terms.extend(walk.source.map(|_| (most, 1.0)));
            if terms.is_empty() && cost > 0.0 {
                return None;
            }
            if !terms.is_empty() {
                problem.add_constraint(&terms, ComparisonOp::Ge, cost);
            }
        }
        let SolveOutcome::Solution(solution) = problem.solve().ok()? else { return None };
        let prices = prices.iter().map(|price| solution.var_value(*price)).collect();
        Some((prices, solution.var_value(most)))
    }

    /// Computes the potentials that go with integer prices; a cycle that gains rejects them.
    fn certify(&self, weights: &[u64], prices: Vec<i128>, scale: i128) -> Option<Prices> {
        // A run may stop anywhere, so a potential is never below what the node itself costs.
        let own: Vec<i128> = weights.iter().map(|weight| i128::from(*weight) * scale).collect();
        let mut gains = Vec::with_capacity(self.rows.list.len());
        for row in &self.rows.list {
            let mut gain = own[row.from as usize];
            for (counter, amount) in &row.change {
                gain = gain.checked_sub(prices[usize::from(*counter)].checked_mul(i128::from(*amount))?)?;
            }
            gains.push(Some(gain).filter(|it| it.abs() < LARGEST)?);
        }
        let mut work = self.relaxations;
        let Swept::Settled { most: potentials, .. } = self.rows.sweep(own, &gains, 0, &mut work) else {
            return None;
        };
        let mut most = 0i128;
        for (source, live) in &self.sources {
            let mut total = potentials[*source as usize];
            for counter in live {
                let limit = i128::from(self.program.limit(*counter));
                total = total.checked_add(prices[usize::from(*counter)].checked_mul(limit)?)?;
            }
            most = most.max(total);
        }
        // Searches add the worth of any configuration to a cost, so that sum has to fit as well.
        let fits = |it: &i128| it.checked_mul(1 << 20).is_some();
        let counters = self.program.graph.counters.iter();
        let richest = counters.zip(&prices).map(|(it, price)| price.checked_mul(i128::from(it.limit)));
        let richest = richest.collect::<Option<Vec<_>>>()?.into_iter().try_fold(0i128, i128::checked_add)?;
        if !potentials.iter().all(fits) || !fits(&richest) {
            return None;
        }
        let bound = u64::try_from(most / scale).ok().filter(|bound| *bound < u64::MAX)?;
        Some(Prices { scale, potentials, worth: prices, bound })
    }
}

/// The whole part of a cost that is off by next to nothing.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a cost, and saturating is right"
)]
fn whole(cost: f64) -> u64 {
    (cost * (1.0 + SLACK) + 1e-6).floor() as u64
}

/// The integer a price stands for when it is one but for rounding, else the next one up.
#[expect(clippy::cast_possible_truncation, reason = "the range is checked first")]
fn round_up(price: f64) -> Option<i128> {
    if !(-1.0..1e24).contains(&price) {
        return None;
    }
    let near = price.round();
    let exact = (price - near).abs() < 1e-6 * near.abs().max(1.0);
    Some(if exact { near } else { price.ceil() }.max(0.0) as i128)
}

#[cfg(test)]
mod tests {
    use super::super::lexicographic::{bound, ones};
    use super::super::sketch::Sketch;
    use super::*;

    /// Which of the two arguments that do not look at counters shows that a graph ends.
    fn check(text: &str, lexicographic: bool, prices: bool) {
        let sketch = Sketch::read(text).expect("a sketch");
        let program = Program::new(&sketch.graph);
        let weights = ones(&program);
        assert_eq!(bound(&program, Scope::Stretch, &weights).is_ok(), lexicographic, "{text}");
        let found = Pricing::new(&program, Scope::Stretch, &Limits::default()).find(&weights);
        assert_eq!(found.is_some(), prices, "{text}");
    }

    #[test]
    fn each_argument_sees_what_the_other_does_not() {
        check("counter x 3\n root A\n A: A ~x / Z\n end Z", true, true);
        // P orders a before b and Q b before a: one price list would need y_a > 2 y_b > 4 y_a.
        check(
            "counter a 2\n counter b 2\n root P
             P: P ~a !b / Q !a !b | P ~b / Q !a !b
             Q: Q ~b !a / Z | Q ~a / Z
             end Z",
            true,
            false,
        );
        // Every counter is filled up somewhere in the loop, but always at the price of two others.
        check(
            "counter a 1\n counter b 1\n counter c 1\n root A
             A: A ~a ~b !c / Z | A ~b ~c !a / Z | A ~a ~c !b / Z
             end Z",
            false,
            true,
        );
        // The free loop of C is out of reach, which only the configurations show.
        check(
            "counter x 3\n counter y 1\n root A\n A: B ~x / C\n B: A ~y / Z\n C: C | Z\n end Z",
            false,
            false,
        );
        // It really goes on for ever.
        check("counter r 2\n root A\n A: B !r\n B: A ~r / Z\n end Z", false, false);
    }

    #[test]
    fn numbers_that_do_not_fit_certify_nothing() {
        let text = "counter x 1000000\n root A\n A: A ~x / Z\n end Z";
        let sketch = Sketch::read(text).expect("a sketch");
        let program = Program::new(&sketch.graph);
        let find = |weight| Pricing::new(&program, Scope::Stretch, &Limits::default()).find(&[weight, 0]);
        assert_eq!(find(3).map(|it| it.bound), Some(3_000_003));
        assert!(find(u64::MAX).is_none());
    }
}
