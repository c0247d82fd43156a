//! The model every analysis works on: a finite control graph with counters.
//!
//! A workflow is unfolded into nodes (a state with the variables, remembered signals and gates its routing
//! reads), so facts and signals are gone and what is left is small: nodes, budgets as counters, and one bit
//! for each thing that has to be true when a node is entered.

pub use super::ids::Ids;

/// Names a node of a [`Graph`].
pub type NodeId = u32;
/// Names a counter (a budget) of a [`Graph`].
pub type CounterId = u16;
/// Names a monitor of a [`Graph`].
pub type MonitorId = u16;

/// A workflow unfolded: what the analyses read, and nothing else.
#[derive(Clone, Debug, Default)]
pub struct Graph {
    /// Where a run can stand.
    pub nodes: Vec<Node>,
    /// The budgets that routing spends.
    pub counters: Vec<Counter>,
    /// What must be true when certain nodes are entered.
    pub monitors: Vec<Monitor>,
    /// Where runs begin, every counter full.
    pub roots: Vec<Root>,
}

impl Graph {
    /// The arm a move takes.
    pub fn step(&self, it: &Move) -> Option<&Step> {
        self.nodes.get(it.node as usize)?.cells.get(it.cell as usize)?.steps.get(it.step as usize)
    }

    /// Where a path ends.
    pub fn end_of(&self, path: &Path) -> Option<NodeId> {
        match path.moves.last() {
            Some(last) => self.step(last).map(|it| it.to),
            None => self.roots.get(path.root).map(|it| it.node),
        }
    }
}

/// A place where a run can begin.
#[derive(Clone, Debug)]
pub struct Root {
    /// The first node.
    pub node: NodeId,
    /// Monitors that are true at the beginning.
    pub holds: Ids,
}

/// One place where a run can stand.
#[derive(Clone, Debug, Default)]
pub struct Node {
    /// The run is over here. An end has no cells.
    pub end: bool,
    /// Every way the work done here can come out.
    pub cells: Vec<Cell>,
    /// Monitors that must be true when this node is entered.
    pub requires: Ids,
}

/// One way the work of a node comes out. The first affordable step is taken.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cell {
    /// A person decides that it comes out this way, so an unattended stretch ends before it.
    pub waits: bool,
    /// Ordered. The last one spends nothing, or the cell has a hole.
    pub steps: Vec<Step>,
}

/// One arm of a cell.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Step {
    /// Where it leads.
    pub to: NodeId,
    /// Counters it takes one from; it is affordable when each of them has one left.
    pub spend: Ids,
    /// Counters it fills up, after spending.
    pub refill: Ids,
    /// Monitors it makes false (before `holds` makes others true).
    pub breaks: Ids,
    /// Monitors it makes true.
    pub holds: Ids,
}

/// A budget.
#[derive(Clone, Debug)]
pub struct Counter {
    /// Its name in the workflow.
    pub name: String,
    /// How often it can be spent before it is used up.
    pub limit: u32,
}

/// Something that has to be true on entering the nodes that require it.
#[derive(Clone, Debug)]
pub struct Monitor {
    /// What a person would call it.
    pub name: String,
}

/// One step of a run through the graph: at `node`, the outcome `cell`, the arm `step`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Move {
    /// Where the run stood.
    pub node: NodeId,
    /// How the work came out (an index into the node's cells).
    pub cell: u32,
    /// Which arm was taken (an index into the cell's steps).
    pub step: u32,
}

/// A run through the graph from a root.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Path {
    /// Which root it begins at (an index into the graph's roots).
    pub root: usize,
    /// What happened, in order.
    pub moves: Vec<Move>,
}
