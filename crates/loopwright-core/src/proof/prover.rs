//! One graph, compiled once, and everything that can be asked about it.
//!
//! The walk over configurations and the termination argument serve several answers, so they are made when
//! first needed and kept.

use std::borrow::Cow;
use std::sync::{Arc, OnceLock};

use super::answers::{self, PerAnswer};
use super::ending::{self, Ending};
use super::firsts;
use super::graph::{Graph, Move, NodeId};
use super::limits::Limits;
use super::monitors::{Monitors, Verdict};
use super::packed::Packing;
use super::program::{Program, Scope};
use super::quest::{Found, Quest};
use super::reach::{self, Reach};
use super::space::{Space, View};
use super::termination::{self, Termination};
use super::worst::{self, Dearest, Worst};

/// Answers questions about a graph. Every id in the graph must name something that exists.
///
/// A counter named twice by one step is spent once, an end's cells are never looked at, and a run stops where
/// the outcome has no affordable step.
#[derive(Debug)]
pub struct Prover<'graph> {
    pub(crate) program: Arc<Program<'graph>>,
    pub(crate) packing: Option<Arc<Packing>>,
    pub(crate) limits: Limits,
    space: OnceLock<Arc<Space>>,
    termination: OnceLock<Termination>,
    monitors: OnceLock<Monitors>,
}

impl<'graph> Prover<'graph> {
    /// Compiles a graph.
    pub fn new(graph: &'graph Graph, limits: Limits) -> Self {
        Self::without(graph, limits, &|_, _| false)
    }

    /// Compiles a graph as if some cells could not happen: those of a node and a place that this is true of.
    pub fn without(graph: &'graph Graph, limits: Limits, left_out: &dyn Fn(usize, usize) -> bool) -> Self {
        let program = Arc::new(Program::without(graph, left_out));
        let packing = Packing::new(&program).map(Arc::new);
        Self::compiled(program, packing, limits, OnceLock::new())
    }

    /// Asks the same graph with other limits.
    #[must_use]
    pub fn within(&self, limits: Limits) -> Self {
        let (program, packing) = (Arc::clone(&self.program), self.packing.clone());
        // What was walked is walked, if the other limits allow for so much.
        let most = limits.dense_configurations.min(limits.hashed_configurations);
        let space = OnceLock::new();
        if let Some(known) = self.space.get().filter(|it| it.complete && it.len() <= most) {
            let _ = space.set(Arc::clone(known));
        }
        Self::compiled(program, packing, limits, space)
    }

    fn compiled(
        program: Arc<Program<'graph>>,
        packing: Option<Arc<Packing>>,
        limits: Limits,
        space: OnceLock<Arc<Space>>,
    ) -> Self {
        let (termination, monitors) = (OnceLock::new(), OnceLock::new());
        Prover { program, packing, limits, space, termination, monitors }
    }

    /// Whether configurations can be walked at all; if not, there are too many counters and only arguments
    /// that do not look at them are made.
    pub fn fits(&self) -> bool {
        self.packing.is_some()
    }

    /// Which nodes runs can enter, and which steps they can take, as far as walking so many configurations tells.
    pub fn reach(&self, configurations: usize) -> Reach {
        reach::reach(self, configurations)
    }

    /// A shortest path that enters a node.
    pub fn path_to_node(&self, node: NodeId) -> Found {
        reach::path_to_node(self, node)
    }

    /// A shortest path whose last move is this one.
    pub fn path_to_step(&self, last: Move) -> Found {
        reach::path_to_step(self, last)
    }

    /// Every step of the graph, with a shortest path whose last move it is.
    pub fn firsts(&self) -> Vec<(Move, Found)> {
        firsts::firsts(self)
    }

    /// Whether unattended runs end.
    pub fn termination(&self) -> &Termination {
        self.termination.get_or_init(|| termination::termination(self))
    }

    /// Whether an end stays within reach.
    pub fn ending(&self) -> Ending {
        ending::ending(self)
    }

    /// Whether each monitor is true whenever it has to be.
    pub fn monitors(&self) -> Vec<Verdict> {
        (0..self.program.graph.monitors.len()).map(|it| self.monitor(it).clone()).collect()
    }

    /// Whether a monitor is true whenever it has to be. The others are not looked for.
    pub fn monitor(&self, monitor: usize) -> &Verdict {
        self.monitors.get_or_init(|| Monitors::new(&self.program)).verdict(self, monitor)
    }

    /// The dearest stretch and the dearest run of each lane. A lane gives a weight for each node, charged
    /// whenever the node is entered; a node it does not name costs nothing.
    pub fn worst(&self, lanes: &[Vec<u64>]) -> Worst {
        worst::worst(self, lanes)
    }

    /// The dearest stretch of each lane, without asking about whole runs.
    pub fn stretch(&self, lanes: &[Vec<u64>]) -> Vec<Dearest> {
        worst::stretch(self, lanes)
    }

    /// The dearest run of each lane, without asking about stretches.
    pub fn whole(&self, lanes: &[Vec<u64>]) -> Vec<Dearest> {
        worst::whole(self, lanes)
    }

    /// What a whole run of a lane costs at most, by argument alone: prices, or budgets one within the other. `None`: no
    /// argument bounds it. A bound of at most `enough` will do.
    pub fn bound(&self, lane: &[u64], enough: u64) -> Option<u64> {
        worst::bound(self, lane, enough)
    }

    /// What a whole run of each lane costs at most, in the number of answers. `worst` is the answer for the
    /// same lanes.
    pub fn per_answer(&self, lanes: &[Vec<u64>], worst: &Worst) -> Vec<PerAnswer> {
        answers::per_answer(self, lanes, &worst.stretch)
    }

    /// Whether some step that a person chooses might be taken.
    pub(crate) fn attended(&self) -> bool {
        self.program.connected_arms(Scope::Whole).any(|arm| self.program.arms[arm].waits)
    }

    /// Every configuration, if they were walked before.
    pub(crate) fn known(&self) -> Option<&Space> {
        self.space.get().map(|it| &**it).filter(|space| space.complete)
    }

    /// Every configuration, where there are few.
    pub(crate) fn few(&self) -> Option<&Space> {
        let small = self.packing.as_ref().is_some_and(|it| it.keys <= self.limits.small_keys);
        if small { self.space().filter(|space| space.complete) } else { None }
    }

    /// The reachable configurations, or as many as the limits allow.
    pub(crate) fn space(&self) -> Option<&Space> {
        let packing = self.packing.as_ref()?;
        Some(self.space.get_or_init(|| Arc::new(Space::explore(&self.program, packing, &self.limits))))
    }

    pub(crate) fn view(&self, scope: Scope) -> Option<View<'_>> {
        let (packing, space) = (self.packing.as_ref()?, self.space()?);
        Some(View { program: &self.program, packing, space, scope })
    }

    /// Searches within the limits, and if that is not enough in all the space, provided it was explored.
    pub(crate) fn seek(&self, quest: &Quest<'_>) -> Found {
        match quest.seek(&self.program, self.packing.as_deref(), self.limits.quest) {
            Found::Unknown => match self.space().filter(|space| space.complete) {
                Some(space) => quest.seek(&self.program, self.packing.as_deref(), 2 * space.len()),
                None => Found::Unknown,
            },
            found => found,
        }
    }

    /// A weight for every node.
    pub(crate) fn weights<'lane>(&self, lane: &'lane [u64]) -> Cow<'lane, [u64]> {
        let nodes = self.program.nodes();
        match lane.get(..nodes) {
            Some(all) => Cow::Borrowed(all),
            None => lane.iter().copied().chain(std::iter::repeat(0)).take(nodes).collect(),
        }
    }
}
