//! Layered layout after Sugiyama: break cycles, give every box a rank, order each layer so that few lines
//! cross, find columns, route the lines.
//!
//! Written here rather than taken from a crate because the picture stands or falls with what the crates at
//! hand leave out: labels that own their room, lines that cannot touch a box, and boxes with loops on one side.
//!
//! **Invariant:** boxes live in layers, and every line crosses a layer in a column of its own. Bends happen
//! only between layers, where there are no boxes; so no line runs through a box that is not its end.

mod columns;
mod lanes;
mod order;
mod ranks;
mod route;

use super::geometry::{Area, Point, Size};

/// A box to be placed.
#[derive(Clone, Debug)]
pub(super) struct Block {
    pub(super) size: Size,
    /// Room to keep free to the right of the box, for loops to itself.
    pub(super) beside: f64,
    /// How far from its left and right ends the upper and lower edges of the shape begin.
    pub(super) inset: f64,
    pub(super) side: Side,
}

/// Whether a line to another machine leaves from a box.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    Closed,
    Open,
}

/// A line between two different boxes.
#[derive(Clone, Debug)]
pub(super) struct Link {
    pub(super) from: usize,
    pub(super) to: usize,
    pub(super) label: Option<Size>,
    /// How much it matters that this line is short and straight.
    pub(super) weight: i32,
}

/// A laid out part, with its upper left corner at zero.
#[derive(Clone, Debug, Default)]
pub(super) struct Placed {
    pub(super) size: Size,
    pub(super) boxes: Vec<Area>,
    /// One per link, from its source to its target, upright and level in turn.
    pub(super) routes: Vec<Vec<Point>>,
    /// The middle of each link's label.
    pub(super) labels: Vec<Option<Point>>,
    /// For each box with an open side, the way out to the right that meets no box.
    pub(super) exits: Vec<Option<Vec<Point>>>,
}

/// The layered graph: boxes, labels, and a bend wherever a line passes a layer.
struct Layered {
    vertices: Vec<Vertex>,
    layers: Vec<Vec<usize>>,
    above: Vec<Vec<usize>>,
    below: Vec<Vec<usize>>,
    /// For each link, its vertices from the upper box to the lower one.
    chains: Vec<Vec<usize>>,
    /// For each link, where in its chain the label sits.
    label_at: Vec<Option<usize>>,
    /// For each link, whether it points up.
    upward: Vec<bool>,
}

struct Vertex {
    layer: usize,
    left: f64,
    right: f64,
    height: f64,
    margin: f64,
    part: Part,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    Block,
    Label,
    Bend,
}

/// Above this many vertices the ordering makes do with fewer sweeps, to stay within seconds.
const LARGE: usize = 6000;

/// Lays out connected boxes; `first` are those that should be on top.
pub(super) fn layout(blocks: &[Block], links: &[Link], first: &[usize]) -> Placed {
    if blocks.is_empty() {
        return Placed::default();
    }
    let upward = ranks::upward(blocks.len(), links, first);
    let blocks = &widened(blocks, links, &upward);
    let ranks = ranks::ranks(blocks.len(), links, &upward);
    let mut graph = Layered::new(blocks, links, &ranks, upward);
    order::order(&mut graph);
    let columns = columns::columns(&graph);
    route::route(&graph, blocks, &columns)
}

/// Makes boxes that many lines meet wide enough to keep the lines apart.
fn widened(blocks: &[Block], links: &[Link], upward: &[bool]) -> Vec<Block> {
    const WIDEST: f64 = 320.0;
    let mut met = vec![(0, 0); blocks.len()];
    for (link, &up) in links.iter().zip(upward) {
        let (top, bottom) = if up { (link.to, link.from) } else { (link.from, link.to) };
        met[top].0 += 1;
        met[bottom].1 += 1;
    }
    let wide = |(block, (below, above)): (&Block, (usize, usize))| {
        let needed = super::geometry::real(below.max(above)) * route::PORT_GAP + 2.0 * block.inset;
        let width = block.size.width.max(needed.min(WIDEST));
        Block { size: Size { width, ..block.size }, ..block.clone() }
    };
    blocks.iter().zip(met).map(wide).collect()
}

impl Layered {
    /// Cuts every link at each layer it passes. A label takes a layer of its own between two ranks, the
    /// emptiest its line passes and near its source; ranks with no label between them share no layer.
    fn new(blocks: &[Block], links: &[Link], ranks: &[usize], upward: Vec<bool>) -> Self {
        let deepest = ranks.iter().copied().max().unwrap_or(0);
        let label_rank = label_ranks(links, ranks, &upward, deepest);
        // Each rank's boxes, then the labels below it, if any.
        let mut has_labels = vec![false; deepest + 1];
        for &rank in label_rank.iter().flatten() {
            has_labels[rank] = true;
        }
        let mut layer_of_rank = Vec::with_capacity(deepest + 1);
        let mut count = 0;
        for &labelled in &has_labels {
            layer_of_rank.push(count);
            count += 1 + usize::from(labelled);
        }
        let mut graph = Self {
            vertices: Vec::new(),
            layers: vec![Vec::new(); count],
            above: Vec::new(),
            below: Vec::new(),
            chains: Vec::with_capacity(links.len()),
            label_at: Vec::with_capacity(links.len()),
            upward,
        };
        for (block, &rank) in blocks.iter().zip(ranks) {
            let half = block.size.width / 2.0;
            let right = half + block.beside;
            let layer = layer_of_rank[rank];
            graph.add(Vertex {
                layer,
                left: half,
                right,
                height: block.size.height,
                margin: 17.0,
                part: Part::Block,
            });
        }
        for (index, link) in links.iter().enumerate() {
            let (top, bottom) = if graph.upward[index] { (link.to, link.from) } else { (link.from, link.to) };
            let mut chain = vec![top];
            graph.label_at.push(None);
            for layer in layer_of_rank[ranks[top]] + 1..layer_of_rank[ranks[bottom]] {
                let labelled = label_rank[index].is_some_and(|it| layer_of_rank[it] + 1 == layer);
                let size = link.label.filter(|_| labelled).unwrap_or_default();
                let (part, margin) = if labelled { (Part::Label, 7.0) } else { (Part::Bend, 7.0) };
                if labelled {
                    graph.label_at[index] = Some(chain.len());
                }
                let half = size.width / 2.0;
                chain.push(graph.add(Vertex {
                    layer,
                    left: half,
                    right: half,
                    height: size.height,
                    margin,
                    part,
                }));
            }
            chain.push(bottom);
            for pair in chain.windows(2) {
                graph.below[pair[0]].push(pair[1]);
                graph.above[pair[1]].push(pair[0]);
            }
            graph.chains.push(chain);
        }
        graph
    }

    fn add(&mut self, vertex: Vertex) -> usize {
        let index = self.vertices.len();
        self.layers[vertex.layer].push(index);
        self.vertices.push(vertex);
        self.above.push(Vec::new());
        self.below.push(Vec::new());
        index
    }

    fn is_bend(&self, vertex: usize) -> bool {
        self.vertices[vertex].part != Part::Block
    }

    /// The least distance between the columns of two neighbours.
    fn distance(&self, left: usize, right: usize) -> f64 {
        let (left, right) = (&self.vertices[left], &self.vertices[right]);
        left.right + left.margin + right.margin + right.left
    }
}

/// For each labelled link, the rank below which its label sits.
fn label_ranks(links: &[Link], ranks: &[usize], upward: &[bool], deepest: usize) -> Vec<Option<usize>> {
    const PER_RANK_AWAY: f64 = 40.0;
    let span = |link: &Link| ranks[link.from].abs_diff(ranks[link.to]);
    let mut shortest_first: Vec<usize> = (0..links.len()).filter(|&it| links[it].label.is_some()).collect();
    shortest_first.sort_by_key(|&it| span(&links[it]));
    let mut filled = vec![0.0; deepest + 1];
    let mut chosen = vec![None; links.len()];
    for index in shortest_first {
        let link = &links[index];
        let (top, bottom) = (ranks[link.from].min(ranks[link.to]), ranks[link.from].max(ranks[link.to]));
        let cost = |rank: usize| {
            let away = if upward[index] { bottom - 1 - rank } else { rank - top };
            filled[rank] + PER_RANK_AWAY * super::geometry::real(away)
        };
        let best = (top..bottom).min_by(|&one, &other| cost(one).total_cmp(&cost(other)));
        if let Some(rank) = best {
            filled[rank] += link.label.map_or(0.0, |it| it.width) + 14.0;
            chosen[index] = Some(rank);
        }
    }
    chosen
}
