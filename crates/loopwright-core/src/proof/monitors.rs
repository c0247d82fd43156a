//! What must be true on entering certain nodes: a review that is still fresh, an approval that was given.
//!
//! A step makes a monitor true, makes it false or leaves it alone. Such effects distribute over alternatives,
//! so one pass over the nodes answers 64 monitors at once and no product of them is ever built. Where the pass
//! over nodes raises an alarm, a search over configurations looks for the shortest run that breaks the
//! monitor; only when that gives up does a pass over all configurations decide.

use std::sync::OnceLock;

use super::graph::{Ids, MonitorId, Path};
use super::limits::small;
use super::program::{Program, Scope};
use super::prover::Prover;
use super::quest::{Effect, Found, Quest};

/// Whether a monitor is true whenever it has to be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It is.
    Holds,
    /// A shortest run whose last move enters (or whose root is) a node that requires it, while it is false.
    Broken(Path),
    /// Nothing was shown.
    Unknown,
}

/// The monitors of a graph, each looked at when somebody asks.
#[derive(Debug)]
pub(crate) struct Monitors {
    batches: Vec<Batch>,
    verdicts: Vec<OnceLock<Verdict>>,
}

impl Monitors {
    pub(crate) fn new(program: &Program<'_>) -> Self {
        let count = program.graph.monitors.len();
        let firsts = (0..count).step_by(64).filter_map(|it| MonitorId::try_from(it).ok());
        Monitors {
            batches: firsts.map(|it| Batch::new(program, it)).collect(),
            verdicts: std::iter::repeat_with(OnceLock::new).take(count).collect(),
        }
    }

    /// What is known of a monitor; of one that does not exist, nothing.
    pub(crate) fn verdict(&self, prover: &Prover<'_>, at: usize) -> &Verdict {
        let (Some(known), Some(batch)) = (self.verdicts.get(at), self.batches.get(at / 64)) else {
            return &Verdict::Unknown;
        };
        known.get_or_init(|| batch.verdict(prover, at % 64))
    }
}

/// Up to 64 monitors, as bits.
#[derive(Debug)]
struct Batch {
    /// Per arm: what it makes false, and what it makes true.
    effects: Vec<(u64, u64)>,
    required: Vec<u64>,
    /// Per root: what is false at the beginning.
    begin: Vec<u64>,
    /// Those that might be broken if every arm could be afforded.
    alarms: u64,
    /// Those that some run really breaks, once that had to be found out; `None` when the configurations are too many.
    really: OnceLock<Option<u64>>,
}

impl Batch {
    fn new(program: &Program<'_>, first: MonitorId) -> Self {
        let set = |ids: &Ids| ids.bits_from(first);
        let count = program.graph.monitors.len() - first as usize;
        let all = if count < 64 { (1u64 << count) - 1 } else { u64::MAX };
        let mut batch = Batch {
            effects: program.arms.iter().map(|arm| (set(&arm.breaks), set(&arm.holds))).collect(),
            required: program.graph.nodes.iter().map(|node| set(&node.requires)).collect(),
            begin: program.graph.roots.iter().map(|root| all & !set(&root.holds)).collect(),
            alarms: 0,
            really: OnceLock::new(),
        };
        batch.alarms = batch.might_break(program);
        batch
    }

    fn after(&self, arm: usize, broken: u64) -> u64 {
        let (breaks, holds) = self.effects[arm];
        (broken | breaks) & !holds
    }

    fn might_break(&self, program: &Program<'_>) -> u64 {
        let mut broken = vec![0u64; program.nodes()];
        let mut known = vec![false; program.nodes()];
        let (mut work, mut alarms) = (Vec::new(), 0);
        for (root, begin) in program.graph.roots.iter().zip(&self.begin) {
            broken[root.node as usize] |= begin;
            known[root.node as usize] = true;
            alarms |= begin & self.required[root.node as usize];
            work.push(root.node);
        }
        while let Some(node) = work.pop() {
            let here = broken[node as usize];
            for arm in program.arms_of(node) {
                let (to, after) = (program.arms[arm].to, self.after(arm, here));
                let there = &mut broken[to as usize];
                alarms |= after & self.required[to as usize];
                if after & !*there != 0 || !known[to as usize] {
                    *there |= after;
                    known[to as usize] = true;
                    work.push(to);
                }
            }
        }
        alarms
    }

    fn really_broken(&self, prover: &Prover<'_>) -> Option<u64> {
        let view = prover.view(Scope::Whole).filter(|view| view.space.complete)?;
        let mut broken = vec![0u64; view.space.len()];
        let (mut queued, mut alarms) = (vec![true; view.space.len()], 0);
        for (key, begin) in view.packing.roots.iter().zip(&self.begin) {
            broken[view.space.id(*key)? as usize] |= begin;
            alarms |= begin & self.required[view.packing.node(*key) as usize];
        }
        let mut work: Vec<u32> = (0..small(view.space.len())).rev().collect();
        while let Some(id) = work.pop() {
            queued[id as usize] = false;
            let (key, here) = (view.space.keys[id as usize], broken[id as usize]);
            for chain in prover.program.chains_of(view.packing.node(key)) {
                let Some((arm, to)) = view.packing.next(key, chain.arms.clone()) else { continue };
                let (after, there) = (self.after(arm, here), view.space.id(to)? as usize);
                alarms |= after & self.required[prover.program.arms[arm].to as usize];
                if after & !broken[there] != 0 {
                    broken[there] |= after;
                    if !std::mem::replace(&mut queued[there], true) {
                        work.push(small(there));
                    }
                }
            }
        }
        Some(alarms)
    }

    fn seek(&self, prover: &Prover<'_>, bit: usize, limit: usize) -> Found {
        let effect = |arm: usize| match self.effects[arm] {
            (_, holds) if holds >> bit & 1 == 1 => Effect::Set,
            (breaks, _) if breaks >> bit & 1 == 1 => Effect::Clear,
            _ => Effect::Keep,
        };
        let quest = Quest {
            effect: &effect,
            start: &|root| self.begin[root] >> bit & 1 == 0,
            goal: &|node, holds| !holds && self.required[node as usize] >> bit & 1 == 1,
        };
        quest.seek(&prover.program, prover.packing.as_deref(), limit)
    }

    fn verdict(&self, prover: &Prover<'_>, bit: usize) -> Verdict {
        if self.alarms >> bit & 1 == 0 {
            return Verdict::Holds;
        }
        let found = match self.seek(prover, bit, prover.limits.quest) {
            Found::Unknown => {
                match (self.really.get_or_init(|| self.really_broken(prover)), prover.space()) {
                    (Some(really), Some(space)) if really >> bit & 1 == 1 => {
                        self.seek(prover, bit, 2 * space.len())
                    }
                    (Some(_), _) => Found::Nowhere,
                    (None, _) => Found::Unknown,
                }
            }
            found => found,
        };
        match found {
            Found::Path(path) => Verdict::Broken(path),
            Found::Nowhere => Verdict::Holds,
            Found::Unknown => Verdict::Unknown,
        }
    }
}
