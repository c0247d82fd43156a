//! Parts of a graph that lead back to themselves.

/// Tarjan's algorithm without recursion: the component of each node, numbered so that what a component leads
/// to has a smaller number.
pub(crate) fn components(successors: &[Vec<usize>]) -> Vec<usize> {
    const OPEN: usize = usize::MAX;
    let (mut component, mut found) = (vec![OPEN; successors.len()], 0);
    let (mut low, mut seen) = (vec![0usize; successors.len()], 0);
    let (mut open, mut calls): (Vec<usize>, Vec<(usize, usize, usize)>) = (Vec::new(), Vec::new());
    for start in 0..successors.len() {
        if low[start] != 0 {
            continue;
        }
        seen += 1;
        low[start] = seen;
        open.push(start);
        calls.push((start, 0, seen));
        while let Some((node, cursor, number)) = calls.last_mut() {
            let (node, number) = (*node, *number);
            if let Some(to) = successors[node].get(*cursor) {
                *cursor += 1;
                if low[*to] == 0 {
                    seen += 1;
                    low[*to] = seen;
                    open.push(*to);
                    calls.push((*to, 0, seen));
                } else if component[*to] == OPEN {
                    low[node] = low[node].min(low[*to]);
                }
                continue;
            }
            calls.pop();
            if let Some((caller, _, _)) = calls.last() {
                low[*caller] = low[*caller].min(low[node]);
            }
            if low[node] == number {
                while let Some(member) = open.pop() {
                    component[member] = found;
                    if member == node {
                        break;
                    }
                }
                found += 1;
            }
        }
    }
    component
}
