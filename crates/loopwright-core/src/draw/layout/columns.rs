//! The column of every vertex, after Brandes and Köpf: align vertices with their middle neighbour in four
//! ways (from above or below, leaning left or right), pack each as tightly as the boxes allow, and take the
//! average of the middle two. Lines that pass many layers come out straight.

use rustc_hash::FxHashSet;

use super::Layered;

pub(super) fn columns(graph: &Layered) -> Vec<f64> {
    let conflicts = conflicts(graph);
    let mut candidates = Vec::with_capacity(4);
    for vertical in [From::Above, From::Below] {
        for leaning in [Lean::Left, Lean::Right] {
            let layers = turned(graph, vertical, leaning);
            let root = align(graph, &layers, &conflicts, vertical);
            candidates.push((leaning, compact(graph, &layers, &root, leaning)));
        }
    }
    balance(graph, &mut candidates)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum From {
    Above,
    Below,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Lean {
    Left,
    Right,
}

/// The layers as they look after turning the picture so that it is always aligned from above, leaning left.
fn turned(graph: &Layered, vertical: From, leaning: Lean) -> Vec<Vec<usize>> {
    let mut layers = graph.layers.clone();
    if vertical == From::Below {
        layers.reverse();
    }
    if leaning == Lean::Right {
        for layer in &mut layers {
            layer.reverse();
        }
    }
    layers
}

/// Lines between a box and its neighbour that cross a line passing straight through: those give way.
fn conflicts(graph: &Layered) -> FxHashSet<(usize, usize)> {
    let mut place = vec![0; graph.vertices.len()];
    for layer in &graph.layers {
        for (index, &vertex) in layer.iter().enumerate() {
            place[vertex] = index;
        }
    }
    let mut found = FxHashSet::default();
    for pair in graph.layers.windows(2) {
        let (upper, lower) = (&pair[0], &pair[1]);
        let mut low = 0;
        let mut scanned = 0;
        for (index, &vertex) in lower.iter().enumerate() {
            let straight = if graph.is_bend(vertex) {
                graph.above[vertex].iter().copied().find(|&it| graph.is_bend(it))
            } else {
                None
            };
            if straight.is_none() && index + 1 < lower.len() {
                continue;
            }
            let high = straight.map_or(upper.len(), |it| place[it]);
            for &scan in &lower[scanned..=index] {
                for &end in &graph.above[scan] {
                    let outside = place[end] < low || place[end] > high;
                    if outside && !(graph.is_bend(end) && graph.is_bend(scan)) {
                        found.insert((end, scan));
                    }
                }
            }
            scanned = index + 1;
            low = high;
        }
    }
    found
}

/// Chains vertices that shall share a column; returns the head of each vertex's chain.
fn align(
    graph: &Layered,
    layers: &[Vec<usize>],
    conflicts: &FxHashSet<(usize, usize)>,
    from: From,
) -> Vec<usize> {
    let count = graph.vertices.len();
    let mut place = vec![0; count];
    for layer in layers {
        for (index, &vertex) in layer.iter().enumerate() {
            place[vertex] = index;
        }
    }
    let mut root: Vec<usize> = (0..count).collect();
    let mut aligned = vec![false; count];
    for layer in layers {
        let mut taken: Option<usize> = None;
        for &vertex in layer {
            let mut near =
                if from == From::Above { graph.above[vertex].clone() } else { graph.below[vertex].clone() };
            if near.is_empty() {
                continue;
            }
            near.sort_by_key(|&it| place[it]);
            for &other in &near[(near.len() - 1) / 2..=near.len() / 2] {
                let segment = if from == From::Above { (other, vertex) } else { (vertex, other) };
                if root[vertex] == vertex
                    && !aligned[other]
                    && taken.is_none_or(|it| it < place[other])
                    && !conflicts.contains(&segment)
                {
                    aligned[other] = true;
                    root[vertex] = root[other];
                    taken = Some(place[other]);
                }
            }
        }
    }
    root
}

/// Packs the chains to the left, then lets each move right again as far as its neighbours leave room.
fn compact(graph: &Layered, layers: &[Vec<usize>], root: &[usize], leaning: Lean) -> Vec<f64> {
    let count = graph.vertices.len();
    let mut before: Vec<Vec<(usize, f64)>> = vec![Vec::new(); count];
    let mut after: Vec<Vec<(usize, f64)>> = vec![Vec::new(); count];
    for layer in layers {
        for pair in layer.windows(2) {
            let (one, other) = (root[pair[0]], root[pair[1]]);
            let distance = match leaning {
                Lean::Left => graph.distance(pair[0], pair[1]),
                Lean::Right => graph.distance(pair[1], pair[0]),
            };
            after[one].push((other, distance));
            before[other].push((one, distance));
        }
    }
    let mut waiting: Vec<usize> = before.iter().map(Vec::len).collect();
    let mut sorted: Vec<usize> = (0..count).filter(|&it| root[it] == it && waiting[it] == 0).collect();
    let mut next = 0;
    while let Some(&chain) = sorted.get(next) {
        next += 1;
        for &(other, _) in &after[chain] {
            waiting[other] -= 1;
            if waiting[other] == 0 {
                sorted.push(other);
            }
        }
    }
    let mut column = vec![0.0_f64; count];
    for &chain in &sorted {
        column[chain] = before[chain].iter().map(|&(it, gap)| column[it] + gap).fold(0.0, f64::max);
    }
    for &chain in sorted.iter().rev() {
        let limit = after[chain].iter().map(|&(it, gap)| column[it] - gap).fold(f64::INFINITY, f64::min);
        if limit.is_finite() {
            column[chain] = column[chain].max(limit);
        }
    }
    let sign = if leaning == Lean::Right { -1.0 } else { 1.0 };
    root.iter().map(|&it| column[it] * sign).collect()
}

/// Brings the four candidates to the bounds of the narrowest and takes the average of the middle two.
fn balance(graph: &Layered, candidates: &mut [(Lean, Vec<f64>)]) -> Vec<f64> {
    let bounds = |columns: &[f64]| {
        let ends =
            columns.iter().zip(&graph.vertices).map(|(it, vertex)| (it - vertex.left, it + vertex.right));
        ends.fold((f64::INFINITY, f64::NEG_INFINITY), |all, it| (all.0.min(it.0), all.1.max(it.1)))
    };
    let all: Vec<(f64, f64)> = candidates.iter().map(|it| bounds(&it.1)).collect();
    let narrowest = all.iter().copied().min_by(|one, other| (one.1 - one.0).total_cmp(&(other.1 - other.0)));
    let (low, high) = narrowest.unwrap_or((0.0, 0.0));
    for ((leaning, columns), own) in candidates.iter_mut().zip(&all) {
        let shift = if *leaning == Lean::Left { low - own.0 } else { high - own.1 };
        for column in columns {
            *column += shift;
        }
    }
    (0..graph.vertices.len())
        .map(|vertex| {
            let mut four: Vec<f64> = candidates.iter().map(|it| it.1[vertex]).collect();
            four.sort_by(f64::total_cmp);
            f64::midpoint(four[1], four[2])
        })
        .collect()
}
