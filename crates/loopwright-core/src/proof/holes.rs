//! Outcomes that routing does not cover once the budgets are spent.
//!
//! Read straight from the graph, before anything is compiled away: a hole is the author's mistake whether or
//! not a run can fall into it.

use super::graph::{Graph, NodeId};
use super::limits::small;

/// A cell that may have no affordable step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Hole {
    /// Where the run would stand.
    pub node: NodeId,
    /// The outcome that is not covered (an index into the node's cells).
    pub cell: u32,
}

/// Every cell without a step that spends nothing, in order. The cells of an end are never looked at.
pub fn holes(graph: &Graph) -> Vec<Hole> {
    let mut found = Vec::new();
    for (node, here) in graph.nodes.iter().enumerate().filter(|(_, it)| !it.end) {
        for (cell, outcome) in here.cells.iter().enumerate() {
            if !outcome.steps.iter().any(|step| step.spend.is_empty()) {
                found.push(Hole { node: small(node), cell: small(cell) });
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::super::graph::{Cell, Node, Step};
    use super::*;

    #[test]
    fn a_cell_is_total_when_some_step_is_free() {
        let free = Step::default();
        let paid = Step { spend: [0].into(), ..Step::default() };
        let cell =
            |steps: &[&Step]| Cell { waits: false, steps: steps.iter().map(|it| (*it).clone()).collect() };
        let cells = vec![cell(&[&paid]), cell(&[&paid, &free]), cell(&[]), cell(&[&free, &paid])];
        let end = Node { end: true, cells: vec![cell(&[])], ..Node::default() };
        let graph = Graph { nodes: vec![Node { cells, ..Node::default() }, end], ..Graph::default() };
        assert_eq!(holes(&graph), [Hole { node: 0, cell: 0 }, Hole { node: 0, cell: 2 }]);
    }
}
