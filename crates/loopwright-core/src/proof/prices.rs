//! One price per counter: a proof that runs end, a bound on their cost and a guide for the search, in one.
//!
//! Let every counter have a price and every node a potential such that no arm gains: what a run pays at a node
//! and the potential it moves to are covered by the potential it leaves and the price of what it spends (a
//! refill is paid for in full). Then what a run can still cost is at most the potential where it stands plus
//! the worth of what its live counters have left.
//!
//! A linear program proposes the prices. **Invariant:** no floating-point number is believed. The proposal is
//! rounded to integers, the potentials are computed anew, and a cycle that gains, or a number that does not
//! fit, rejects it. A wrong proposal can cost the certificate, never its truth.

use microlp::{ComparisonOp, OptimizationDirection, Problem, SolveOutcome};
use rustc_hash::{FxHashMap, FxHashSet};

use super::graph::{CounterId, NodeId};
use super::limits::Limits;
use super::packed::{Key, Packing};
use super::program::{Program, Scope};

/// Prices are multiplied by each of these in turn and rounded up. A vertex of the linear program is a small
/// fraction, so one of the first usually hits it; the last is a fine grid for the others.
const SCALES: [u32; 9] = [1, 2, 3, 4, 6, 12, 60, 2520, 1 << 20];
/// The solver wants the coefficients of a row within six orders of magnitude.
const WIDEST: u32 = 1_000_000;

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
    /// `None` when the linear program has no answer, or none that can be certified.
    pub(crate) fn find(
        program: &Program<'_>,
        scope: Scope,
        weights: &[u64],
        limits: &Limits,
    ) -> Option<Self> {
        let rows = rows(program, scope);
        if rows.len() > limits.price_rows {
            return None;
        }
        let proposed = propose(program, scope, weights, &rows, &Places::each(program))?;
        Self::certified(program, scope, weights, &rows, &proposed)
    }

    /// The same, found in a fraction of the time by taking nodes of one kind for one; as true, but not as good.
    pub(crate) fn rough(program: &Program<'_>, scope: Scope, weights: &[u64]) -> Option<Self> {
        let places = Places::by_kind(program)?;
        let rows = rows(program, scope);
        let proposed = propose(program, scope, weights, &rows, &places)?;
        Self::certified(program, scope, weights, &rows, &proposed)
    }

    fn certified(
        program: &Program<'_>,
        scope: Scope,
        weights: &[u64],
        rows: &[Row],
        proposed: &[f64],
    ) -> Option<Self> {
        let certified = SCALES.iter().filter_map(|scale| {
            let prices: Option<Vec<i128>> =
                proposed.iter().map(|it| round_up(it * f64::from(*scale))).collect();
            certify(program, scope, weights, rows, prices?, i128::from(*scale))
        });
        certified.min_by_key(|it| (it.bound, it.scale))
    }

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

/// What certificates have to be shown for: the arms, each kind once.
struct Row {
    from: NodeId,
    to: NodeId,
    /// How much of each counter is paid for: one for a spend, minus its limit for a refill.
    change: Vec<(CounterId, i64)>,
}

fn rows(program: &Program<'_>, scope: Scope) -> Vec<Row> {
    let mut known = FxHashSet::default();
    let mut rows = Vec::new();
    for arm in program.connected_arms(scope).map(|arm| &program.arms[arm]) {
        let mut change: Vec<(CounterId, i64)> = arm.spend.iter().map(|counter| (*counter, 1)).collect();
        for counter in &arm.refill {
            let filled = i64::from(program.limit(*counter));
            match change.iter_mut().find(|(other, _)| other == counter) {
                Some((_, amount)) => *amount -= filled,
                None => change.push((*counter, -filled)),
            }
        }
        change.retain(|(_, amount)| *amount != 0);
        if known.insert((arm.node, arm.to, change.clone())) {
            rows.push(Row { from: arm.node, to: arm.to, change });
        }
    }
    rows
}

/// Which nodes share a potential while prices are sought.
struct Places {
    of: Vec<usize>,
    count: usize,
}

impl Places {
    fn each(program: &Program<'_>) -> Self {
        Self { of: (0..program.nodes()).collect(), count: program.nodes() }
    }

    /// `None` when that would not make them fewer.
    fn by_kind(program: &Program<'_>) -> Option<Self> {
        let mut kinds: FxHashMap<u32, usize> = FxHashMap::default();
        let mut of = Vec::with_capacity(program.nodes());
        let mut count = 0;
        for node in &program.graph.nodes {
            let place = if node.kind == 0 { count } else { *kinds.entry(node.kind).or_insert(count) };
            count = count.max(place + 1);
            of.push(place);
        }
        (count < program.nodes()).then_some(Self { of, count })
    }

    fn at(&self, node: NodeId) -> usize {
        self.of[node as usize]
    }
}

/// Asks for prices that make the dearest beginning as cheap as possible.
#[expect(clippy::cast_precision_loss, reason = "a proposal may be off; it is certified in integers")]
fn propose(
    program: &Program<'_>,
    scope: Scope,
    weights: &[u64],
    rows: &[Row],
    places: &Places,
) -> Option<Vec<f64>> {
    let counters = program.graph.counters.len();
    let too_wide =
        rows.iter().flat_map(|row| &row.change).any(|(counter, _)| program.limit(*counter) > WIDEST);
    let dearest = *weights.iter().max()?;
    if dearest == 0 || counters == 0 {
        return Some(vec![0.0; counters]);
    }
    if too_wide {
        return None;
    }
    let unit = dearest as f64;
    let weight = |node: NodeId| match weights[node as usize] {
        0 => 0.0,
        weight => (weight as f64 / unit).max(1.0 / f64::from(WIDEST)),
    };
    let mut problem = Problem::new(OptimizationDirection::Minimize);
    let prices: Vec<_> = (0..counters).map(|_| problem.add_var(0.0, (0.0, f64::INFINITY))).collect();
    let mut least = vec![0.0_f64; places.count];
    for (node, _) in (0u32..).zip(weights) {
        least[places.at(node)] = least[places.at(node)].max(weight(node));
    }
    let potentials: Vec<_> =
        least.into_iter().map(|least| problem.add_var(0.0, (least, f64::INFINITY))).collect();
    let most = problem.add_var(1.0, (0.0, f64::INFINITY));
    let mut known = FxHashSet::default();
    for source in program.sources(scope) {
        // A counter that is dead at the beginning brings no credit.
        let mut row = vec![(most, 1.0), (potentials[places.at(source)], -1.0)];
        let live: Vec<CounterId> =
            program.live_at(source).filter(|counter| program.limit(*counter) <= WIDEST).collect();
        if !known.insert((places.at(source), live.clone())) {
            continue;
        }
        let live = live.into_iter();
        row.extend(live.map(|counter| (prices[counter as usize], -f64::from(program.limit(counter)))));
        problem.add_constraint(&row, ComparisonOp::Ge, 0.0);
    }
    let mut known = FxHashSet::default();
    for row in rows {
        let (from, to) = (places.at(row.from), places.at(row.to));
        if !known.insert((from, to, &row.change, weights[row.from as usize])) {
            continue;
        }
        let mut terms: Vec<_> =
            row.change.iter().map(|(counter, amount)| (prices[*counter as usize], *amount as f64)).collect();
        if from != to {
            terms.push((potentials[from], 1.0));
            terms.push((potentials[to], -1.0));
        }
        if terms.is_empty() && weight(row.from) > 0.0 {
            return None;
        }
        if !terms.is_empty() {
            problem.add_constraint(&terms, ComparisonOp::Ge, weight(row.from));
        }
    }
    let SolveOutcome::Solution(solution) = problem.solve().ok()? else { return None };
    Some(prices.iter().map(|price| solution.var_value(*price) * unit).collect())
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

/// Computes the potentials that go with integer prices, as longest paths; a cycle that gains rejects them.
fn certify(
    program: &Program<'_>,
    scope: Scope,
    weights: &[u64],
    rows: &[Row],
    prices: Vec<i128>,
    scale: i128,
) -> Option<Prices> {
    // A run may stop anywhere, so a potential is never below what the node itself costs.
    let own: Option<Vec<i128>> =
        weights.iter().map(|weight| i128::from(*weight).checked_mul(scale)).collect();
    let mut potentials = own?;
    let mut gains = Vec::with_capacity(rows.len());
    for row in rows {
        let mut gain = i128::from(weights[row.from as usize]).checked_mul(scale)?;
        for (counter, amount) in &row.change {
            gain = gain.checked_sub(prices[*counter as usize].checked_mul(i128::from(*amount))?)?;
        }
        gains.push(gain);
    }
    let mut round = 0;
    loop {
        let mut moved = false;
        for (row, gain) in rows.iter().zip(&gains).rev() {
            let through = potentials[row.to as usize].checked_add(*gain)?;
            if through > potentials[row.from as usize] {
                potentials[row.from as usize] = through;
                moved = true;
            }
        }
        if !moved {
            break;
        }
        round += 1;
        if round > weights.len() {
            return None;
        }
    }
    let mut most = 0i128;
    for source in program.sources(scope) {
        let mut total = potentials[source as usize];
        for counter in program.live_at(source) {
            let worth = prices[counter as usize].checked_mul(i128::from(program.limit(counter)))?;
            total = total.checked_add(worth)?;
        }
        most = most.max(total);
    }
    // Searches add the worth of any configuration to a cost, so that sum has to fit as well.
    let fits = |it: &i128| it.checked_mul(1 << 20).is_some();
    let worth = (0u16..).zip(&prices).filter(|(_, price)| **price != 0);
    let richest =
        worth.map(|(id, price)| price.checked_mul(i128::from(program.graph.counters[id as usize].limit)));
    let richest = richest.collect::<Option<Vec<_>>>()?.into_iter().try_fold(0i128, i128::checked_add)?;
    if !potentials.iter().all(fits) || !fits(&richest) {
        return None;
    }
    let bound = u64::try_from(most / scale).ok().filter(|bound| *bound < u64::MAX)?;
    Some(Prices { scale, potentials, worth: prices, bound })
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
        let found = Prices::find(&program, Scope::Stretch, &weights, &Limits::default());
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
        let find = |weight| Prices::find(&program, Scope::Stretch, &[weight, 0], &Limits::default());
        assert_eq!(find(3).map(|it| it.bound), Some(3_000_003));
        assert!(find(u64::MAX).is_none());
    }
}
