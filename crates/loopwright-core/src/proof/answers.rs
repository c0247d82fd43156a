//! What a whole run costs at most, in the number of answers people give.
//!
//! A run that goes round through people has no largest cost, but each answer pays for only so much: the dearest
//! cycle, per answer in it. Once every answer is charged that much, no cycle gains, and the dearest run that is
//! left is what a run costs before the first answer is counted.

use super::program::Scope;
use super::prover::Prover;
use super::space::{Components, View};
use super::worst::Dearest;

/// A line that no run exceeds: `first + each * answers`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PerAnswer {
    /// No run costs more than `first`, and `each` for every answer it was given.
    Line {
        /// What is paid however few the answers.
        first: u64,
        /// What each answer adds.
        each: u64,
        /// Some run meets the line, and with a smaller `each` no `first` would do. Otherwise it is only a
        /// bound.
        exact: bool,
    },
    /// A run can cost as much as it likes without anybody being asked.
    Unbounded,
    /// No line was found.
    Unknown,
}

/// One line per lane. `stretch` is the dearest stretch of each lane.
pub(crate) fn per_answer(prover: &Prover<'_>, lanes: &[Vec<u64>], stretch: &[Dearest]) -> Vec<PerAnswer> {
    let view = prover.view(Scope::Whole).filter(|view| view.space.complete);
    let components = view.map(|view| (view, Components::new(&view)));
    let line = |(lane, stretch): (&Vec<u64>, &Dearest)| {
        let weights = prover.weights(lane);
        let exact = components.as_ref().and_then(|(view, components)| {
            Newton { view, components, weights: &weights, left: prover.limits.relaxations }.line()
        });
        exact.unwrap_or(match stretch {
            Dearest::Unbounded => PerAnswer::Unbounded,
            Dearest::Exact { value: most, .. } | Dearest::Between { at_most: Some(most), .. } => {
                // A run is a stretch, and one more for each answer.
                PerAnswer::Line { first: *most, each: *most, exact: false }
            }
            Dearest::Between { at_most: None, .. } => PerAnswer::Unknown,
        })
    };
    lanes.iter().zip(stretch).map(line).collect()
}

/// Raises the charge for an answer until no cycle gains.
struct Newton<'newton> {
    view: &'newton View<'newton>,
    components: &'newton Components,
    weights: &'newton [u64],
    /// How many relaxations may still be made.
    left: usize,
}

/// A cycle that gains: what it costs, and how many answers it takes.
struct Gaining {
    cost: i128,
    answers: i128,
}

impl Newton<'_> {
    /// `None` when it takes too long.
    fn line(mut self) -> Option<PerAnswer> {
        let (mut each, mut exact) = (0i128, true);
        loop {
            match self.potentials(each)? {
                Ok(potentials) => {
                    let first =
                        self.view.space.roots().map(|root| potentials[root as usize]).max().unwrap_or(0);
                    let (first, each) = (u64::try_from(first).ok()?, u64::try_from(each).ok()?);
                    return Some(PerAnswer::Line { first, each, exact });
                }
                Err(Gaining { answers: 0, .. }) => return Some(PerAnswer::Unbounded),
                Err(Gaining { cost, answers }) => {
                    // It gains, so its cost per answer is above the charge and rounding up raises it.
                    exact = cost % answers == 0;
                    each = (cost + answers - 1) / answers;
                }
            }
        }
    }

    fn weight(&self, id: u32) -> i128 {
        i128::from(self.weights[self.view.packing.node(self.view.space.keys[id as usize]) as usize])
    }

    /// What a run can cost at most from each configuration when every answer is charged, or a gaining cycle.
    fn potentials(&mut self, each: i128) -> Option<Result<Vec<i128>, Gaining>> {
        let ids = 0..super::limits::small(self.view.space.len());
        let mut most: Vec<i128> = ids.map(|id| self.weight(id)).collect();
        let mut best: Vec<Option<(u32, bool)>> = vec![None; most.len()];
        for (members, cyclic) in self.components.iter() {
            loop {
                let mut moved = false;
                for id in members {
                    for (to, answered) in self.view.answered(*id) {
                        self.left = self.left.checked_sub(1)?;
                        let charge = if answered { each } else { 0 };
                        let through = self.weight(*id) + most[to as usize] - charge;
                        if through > most[*id as usize] {
                            most[*id as usize] = through;
                            best[*id as usize] = Some((to, answered));
                            moved = true;
                        }
                    }
                }
                if !moved || !cyclic {
                    break;
                }
                if let Some(gaining) = self.cycle(members, &best) {
                    return Some(Err(gaining));
                }
            }
        }
        Some(Ok(most))
    }

    /// A cycle of best choices: it was closed by an improvement, so it gains.
    fn cycle(&self, members: &[u32], best: &[Option<(u32, bool)>]) -> Option<Gaining> {
        let mut seen = rustc_hash::FxHashMap::default();
        for start in members {
            let mut at = *start;
            while !seen.contains_key(&at) {
                seen.insert(at, *start);
                let Some((to, _)) = best[at as usize] else { break };
                at = to;
            }
            if seen.get(&at) != Some(start) || best[at as usize].is_none() {
                continue;
            }
            let (round, mut gaining) = (at, Gaining { cost: 0, answers: 0 });
            while let Some((to, answered)) = best[at as usize] {
                gaining.cost += self.weight(at);
                gaining.answers += i128::from(answered);
                at = to;
                if at == round {
                    return Some(gaining);
                }
            }
        }
        None
    }
}
