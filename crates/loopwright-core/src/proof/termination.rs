//! No run goes on for ever while nobody is asked.
//!
//! Two arguments that look only at the graph come first, because they cost next to nothing and hold for any
//! limits. What they cannot settle is decided by walking the configurations: there a cycle *is* an endless
//! run, and the one that is reported can be replayed.

use super::graph::{Graph, Move, Path};
use super::lexicographic;
use super::prices::Pricing;
use super::program::Scope;
use super::prover::Prover;
use super::replay::replay;

/// Whether unattended runs end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Termination {
    /// They do.
    Proved(Argument),
    /// A run can follow `stem` and then go round `turn` for ever; each turn ends in the configuration it
    /// began in, to the last counter, and nobody is asked on the way.
    Endless {
        /// From a root to the first configuration of the turn.
        stem: Path,
        /// What repeats; never empty.
        turn: Vec<Move>,
    },
    /// Nothing was shown. The cycle exists if every step of it can be afforded again and again.
    Unknown {
        /// A short cycle that no argument rules out.
        cycle: Vec<Move>,
    },
}

/// Why unattended runs end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Argument {
    /// In every loop some budget is spent that the loop never fills up.
    Lexicographic,
    /// The budgets have prices under which every step loses.
    Prices,
    /// No reachable configuration leads back to itself.
    Walk,
}

pub(crate) fn termination(prover: &Prover<'_>) -> Termination {
    let program = &prover.program;
    let ones = lexicographic::ones(program);
    let Err(cycle) = lexicographic::bound(program, Scope::Stretch, &ones) else {
        return Termination::Proved(Argument::Lexicographic);
    };
    if Pricing::new(program, Scope::Stretch, &prover.limits).find(&ones).is_some() {
        return Termination::Proved(Argument::Prices);
    }
    let unknown = || Termination::Unknown { cycle: cycle.iter().map(|arm| program.movement(*arm)).collect() };
    let Some(view) = prover.view(Scope::Stretch) else { return unknown() };
    // The configurations are in the order of their distance, so the first cyclic one has the shortest stem.
    let mut first: Option<u32> = None;
    view.components(|members, cyclic| {
        let nearest = members.iter().copied().min().filter(|_| cyclic);
        first = first.into_iter().chain(nearest).min();
    });
    match first {
        Some(first) => {
            let stem = view.space.path_to(program, first);
            let (stem, turn) = settle(program.graph, stem, view.space.turn(&view, first));
            Termination::Endless { stem, turn }
        }
        None if view.space.complete => Termination::Proved(Argument::Walk),
        None => unknown(),
    }
}

/// What a dead counter has left is not told apart, and changes once, when it is filled up. So the turn begins
/// at the first place to which a run comes back with every counter as it was.
fn settle(graph: &Graph, stem: Path, turn: Vec<Move>) -> (Path, Vec<Move>) {
    let (before, length) = (stem.moves.len(), turn.len());
    let mut twice = stem.clone();
    twice.moves.extend(turn.iter().chain(&turn));
    let stops = replay(graph, &twice).unwrap_or_default();
    let returns = |from: &usize| stops.get(*from).is_some_and(|stop| stops.get(from + length) == Some(stop));
    match (before..=before + length).find(returns) {
        Some(from) => {
            let turn = twice.moves[from..from + length].to_vec();
            twice.moves.truncate(from);
            (twice, turn)
        }
        None => (stem, turn),
    }
}
