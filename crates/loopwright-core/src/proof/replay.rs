//! Follows a path through the raw graph, as the engine would.
//!
//! **Invariant:** it shares no code with the analyses. A path they hand out is believed because it passes here.

use super::graph::{Graph, Ids, NodeId, Path};

/// Where a run that follows `path` stands, and what each counter has left, at the root and after every move.
///
/// Every move must be the first affordable step of its cell. A counter named twice by one step is spent once.
pub fn replay(graph: &Graph, path: &Path) -> Result<Vec<(NodeId, Vec<u32>)>, String> {
    let root = graph.roots.get(path.root).ok_or_else(|| format!("there is no root {}", path.root))?;
    let mut at = root.node;
    let mut left: Vec<u32> = graph.counters.iter().map(|counter| counter.limit).collect();
    let mut stops = vec![(at, left.clone())];
    for (turn, taken) in path.moves.iter().enumerate() {
        let Some(node) = graph.nodes.get(at as usize).filter(|node| taken.node == at && !node.end) else {
            return Err(format!("move {turn} leaves node {}, but the run stands at {at}", taken.node));
        };
        let Some(cell) = node.cells.get(taken.cell as usize) else {
            return Err(format!("move {turn}: node {at} has no cell {}", taken.cell));
        };
        let affordable = |spend: &Ids| spend.iter().all(|it| left.get(it as usize).is_some_and(|n| *n > 0));
        let first = cell.steps.iter().position(|step| affordable(&step.spend));
        let Some(step) = cell.steps.get(taken.step as usize).filter(|_| first == Some(taken.step as usize))
        else {
            return Err(format!("move {turn}: the engine takes step {first:?} there, not {}", taken.step));
        };
        let before = left.clone();
        for counter in step.spend.iter() {
            left[counter as usize] = before[counter as usize] - 1;
        }
        for counter in step.refill.iter() {
            if let (Some(value), Some(full)) =
                (left.get_mut(counter as usize), graph.counters.get(counter as usize))
            {
                *value = full.limit;
            }
        }
        at = step.to;
        stops.push((at, left.clone()));
    }
    Ok(stops)
}

#[cfg(test)]
mod tests {
    use super::super::graph::{Cell, Counter, Move, Node, Root, Step};
    use super::*;

    fn once_then_out() -> Graph {
        let again = Step { to: 0, spend: [0].into(), ..Step::default() };
        let out = Step { to: 1, refill: [0].into(), ..Step::default() };
        let cell = Cell { waits: false, steps: vec![again, out] };
        Graph {
            nodes: vec![Node { cells: vec![cell], ..Node::default() }, Node { end: true, ..Node::default() }],
            counters: vec![Counter { name: "again".to_owned(), limit: 1 }],
            roots: vec![Root { node: 0, holds: [].into() }],
            ..Graph::default()
        }
    }

    fn check(moves: &[(u32, u32)], expected: Result<&[(NodeId, u32)], &str>) {
        let moves = moves.iter().map(|&(node, step)| Move { node, cell: 0, step }).collect();
        let told = replay(&once_then_out(), &Path { root: 0, moves });
        match (told, expected) {
            (Ok(stops), Ok(expected)) => {
                let stops: Vec<_> = stops.into_iter().map(|(node, left)| (node, left[0])).collect();
                assert_eq!(stops, expected);
            }
            (Err(message), Err(part)) => assert!(message.contains(part), "{message}"),
            (told, _) => panic!("{told:?}"),
        }
    }

    #[test]
    fn follows_only_what_the_engine_would_do() {
        check(&[], Ok(&[(0, 1)]));
        check(&[(0, 0), (0, 1)], Ok(&[(0, 1), (0, 0), (1, 1)]));
        check(&[(0, 1)], Err("takes step Some(0)"));
        check(&[(0, 0), (0, 0)], Err("takes step Some(1)"));
        check(&[(1, 0)], Err("stands at 0"));
        check(&[(0, 0), (0, 1), (1, 0)], Err("stands at 1"));
    }
}
