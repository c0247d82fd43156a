//! The order of vertices within each layer, by sweeps that put each vertex at the average place of its
//! neighbours, and then by swapping neighbours while that takes away crossings.

use super::super::geometry::real;
use super::{LARGE, Layered};

pub(super) fn order(graph: &mut Layered) {
    const SWEEPS: usize = 24;
    let large = graph.vertices.len() > LARGE;
    let mut best: Option<(usize, Vec<Vec<usize>>)> = None;
    for start in [Start::FromTop, Start::FromBottom] {
        initial(graph, start);
        let sweeps = if large { 6 } else { SWEEPS };
        for sweep in 0..sweeps {
            let bias = if sweep % 4 < 2 { Bias::Left } else { Bias::Right };
            let downwards = (sweep % 2 == 0) == (start == Start::FromTop);
            pass(graph, downwards, bias);
            if !large {
                swap(graph);
            }
            let crossings = crossings(graph);
            if best.as_ref().is_none_or(|it| crossings < it.0) {
                best = Some((crossings, graph.layers.clone()));
            }
        }
        if large {
            break;
        }
    }
    if let Some((_, layers)) = best {
        graph.layers = layers;
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Start {
    FromTop,
    FromBottom,
}

/// Which of two vertices with the same average goes first.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Bias {
    Left,
    Right,
}

/// Walks the graph depth first and lets each layer keep the order in which its vertices were met.
fn initial(graph: &mut Layered, start: Start) {
    let count = graph.vertices.len();
    let layers = graph.layers.len();
    let mut roots: Vec<usize> = (0..count).collect();
    roots.sort_by_key(|&it| {
        let layer = graph.vertices[it].layer;
        if start == Start::FromTop { layer } else { layers - layer }
    });
    let mut met = vec![false; count];
    let mut order = vec![Vec::new(); layers];
    for root in roots {
        let mut path = vec![root];
        while let Some(vertex) = path.pop() {
            if std::mem::replace(&mut met[vertex], true) {
                continue;
            }
            order[graph.vertices[vertex].layer].push(vertex);
            let next = if start == Start::FromTop { &graph.below[vertex] } else { &graph.above[vertex] };
            path.extend(next.iter().rev());
        }
    }
    graph.layers = order;
}

fn places(graph: &Layered) -> Vec<usize> {
    let mut place = vec![0; graph.vertices.len()];
    for layer in &graph.layers {
        for (index, &vertex) in layer.iter().enumerate() {
            place[vertex] = index;
        }
    }
    place
}

/// Reorders every layer by the average place of the neighbours in the layer before it.
fn pass(graph: &mut Layered, downwards: bool, bias: Bias) {
    let mut place = places(graph);
    let count = graph.layers.len();
    for step in 1..count {
        let layer = if downwards { step } else { count - 1 - step };
        let neighbours = if downwards { &graph.above } else { &graph.below };
        let mut sorted: Vec<(f64, usize)> = Vec::new();
        let mut fixed: Vec<(usize, usize)> = Vec::new();
        for (index, &vertex) in graph.layers[layer].iter().enumerate() {
            let near = &neighbours[vertex];
            if near.is_empty() {
                fixed.push((index, vertex));
            } else {
                let total: f64 = near.iter().map(|&it| real(place[it])).sum();
                sorted.push((total / real(near.len()), vertex));
            }
        }
        if bias == Bias::Right {
            sorted.reverse();
        }
        sorted.sort_by(|one, other| one.0.total_cmp(&other.0));
        let mut merged: Vec<usize> = sorted.into_iter().map(|it| it.1).collect();
        for (index, vertex) in fixed {
            merged.insert(index.min(merged.len()), vertex);
        }
        for (index, &vertex) in merged.iter().enumerate() {
            place[vertex] = index;
        }
        graph.layers[layer] = merged;
    }
}

/// Swaps neighbours within layers as long as crossings disappear.
fn swap(graph: &mut Layered) {
    const ROUNDS: usize = 8;
    let mut place = places(graph);
    for _ in 0..ROUNDS {
        let mut improved = false;
        for layer in 0..graph.layers.len() {
            for index in 1..graph.layers[layer].len() {
                let (left, right) = (graph.layers[layer][index - 1], graph.layers[layer][index]);
                let crossed = |one: usize, other: usize| {
                    pair(&graph.above[one], &graph.above[other], &place)
                        + pair(&graph.below[one], &graph.below[other], &place)
                };
                if crossed(right, left) < crossed(left, right) {
                    graph.layers[layer].swap(index - 1, index);
                    place.swap(left, right);
                    improved = true;
                }
            }
        }
        if !improved {
            break;
        }
    }
}

/// How many lines cross between two neighbours, given what each is connected to.
fn pair(left: &[usize], right: &[usize], place: &[usize]) -> usize {
    left.iter().map(|&one| right.iter().filter(|&&other| place[one] > place[other]).count()).sum()
}

/// All crossings, counted layer by layer with a tree of partial sums.
fn crossings(graph: &Layered) -> usize {
    let place = places(graph);
    let mut total = 0;
    for (index, layer) in graph.layers.iter().enumerate().skip(1) {
        let width = graph.layers[index - 1].len();
        let mut tree = vec![0_usize; width + 1];
        let mut placed = 0;
        for &vertex in layer {
            let mut ends: Vec<usize> = graph.above[vertex].iter().map(|&it| place[it]).collect();
            ends.sort_unstable();
            for &end in &ends {
                let mut not_right = 0;
                let mut at = end + 1;
                while at > 0 {
                    not_right += tree[at];
                    at &= at - 1;
                }
                total += placed - not_right;
            }
            for &end in &ends {
                placed += 1;
                let mut at = end + 1;
                while at <= width {
                    tree[at] += 1;
                    at += at & at.wrapping_neg();
                }
            }
        }
    }
    total
}
