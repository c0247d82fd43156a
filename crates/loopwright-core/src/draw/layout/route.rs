//! From columns and layers to boxes, lines and the places of labels.

use super::super::geometry::{Area, Point, Size, real, spread};
use super::lanes::{Shift, lanes};
use super::{Block, Layered, Part, Placed, Side};

/// The distance between two lines at the same side of a box.
pub(super) const PORT_GAP: f64 = 14.0;
/// Room between a layer and the first lane below it, and between the last lane and the layer below, where the
/// heads of arrows are.
const BEFORE: f64 = 13.0;
const AFTER: f64 = 16.0;
/// The distance between lanes, and the most room they get.
const LANE: f64 = 9.0;
const LANES_MOST: f64 = 150.0;

/// The top and bottom of a layer, and the lanes below it.
struct Band {
    top: f64,
    bottom: f64,
    first_lane: f64,
    lane: f64,
}

pub(super) fn route(graph: &Layered, blocks: &[Block], columns: &[f64]) -> Placed {
    let left = columns
        .iter()
        .zip(&graph.vertices)
        .map(|(it, vertex)| it - vertex.left)
        .fold(f64::INFINITY, f64::min);
    let mut columns: Vec<f64> = columns.iter().map(|it| it - left).collect();
    let ports = Ports::new(graph, blocks, &columns);
    straighten(graph, &ports, &mut columns);
    let (bands, lane) = bands(graph, &columns, &ports);
    let mut placed = Placed::default();
    for (index, block) in blocks.iter().enumerate() {
        let band = &bands[graph.vertices[index].layer];
        let middle = Point { x: columns[index], y: f64::midpoint(band.top, band.bottom) };
        placed.boxes.push(Area::centred(middle, block.size));
    }
    for (index, lane) in lane.iter().enumerate() {
        let mut points = line(graph, index, &columns, &bands, lane, &ports, &placed.boxes);
        if graph.upward[index] {
            points.reverse();
        }
        placed.routes.push(points);
        placed.labels.push(graph.label_at[index].map(|at| {
            let vertex = graph.chains[index][at];
            let band = &bands[graph.vertices[vertex].layer];
            Point { x: columns[vertex], y: f64::midpoint(band.top, band.bottom) }
        }));
    }
    let width = columns.iter().zip(&graph.vertices).map(|(it, vertex)| it + vertex.right).fold(0.0, f64::max);
    placed.size = Size { width, height: bands.last().map_or(0.0, |it| it.bottom) };
    placed.exits = exits(graph, blocks, &bands, &ports, &placed);
    let lowest = placed.exits.iter().flatten().flatten().map(|it| it.y + 2.0).fold(0.0, f64::max);
    placed.size.height = placed.size.height.max(lowest);
    placed
}

/// Where along its upper and lower side each box is met by its lines.
struct Ports {
    /// For each link, at its upper and its lower box.
    ends: Vec<(f64, f64)>,
    /// For each box with an open side, where that line leaves below.
    open: Vec<Option<f64>>,
}

impl Ports {
    /// Lets every line leave right above or below its next bend where the box is wide enough, and keeps
    /// neighbours apart.
    fn new(graph: &Layered, blocks: &[Block], columns: &[f64]) -> Self {
        let mut ports = Self { ends: vec![(0.0, 0.0); graph.chains.len()], open: vec![None; blocks.len()] };
        // Per box: the column a line goes to, then the link and whether this is its upper end.
        let mut lower: Vec<Vec<(f64, Option<usize>)>> = vec![Vec::new(); blocks.len()];
        let mut upper: Vec<Vec<(f64, Option<usize>)>> = vec![Vec::new(); blocks.len()];
        for (index, chain) in graph.chains.iter().enumerate() {
            let [top, next, ..] = chain[..] else { continue };
            let [.., last, bottom] = chain[..] else { continue };
            lower[top].push((columns[next], Some(index)));
            upper[bottom].push((columns[last], Some(index)));
        }
        for (index, block) in blocks.iter().enumerate() {
            if block.side == Side::Open && (block.beside > 0.0 || !last_box(graph, index)) {
                lower[index].push((f64::MAX, None));
            }
            let half = (block.size.width / 2.0 - block.inset - 4.0).max(0.0);
            let (low, high) = (columns[index] - half, columns[index] + half);
            for (side, lines) in [(0, &mut lower[index]), (1, &mut upper[index])] {
                lines.sort_by(|one, other| one.0.total_cmp(&other.0));
                let wished: Vec<f64> = lines.iter().map(|it| it.0.clamp(low, high)).collect();
                for (&(_, link), at) in lines.iter().zip(spread(&wished, PORT_GAP, low, high)) {
                    match (link, side) {
                        (None, _) => ports.open[index] = Some(at),
                        (Some(link), 0) => ports.ends[link].0 = at,
                        (Some(link), _) => ports.ends[link].1 = at,
                    }
                }
            }
        }
        ports
    }
}

/// Takes out the small steps between where a line leaves its box and where it passes the next layers: moves
/// the straight run next to the box over, if its neighbours leave room in every layer.
fn straighten(graph: &Layered, ports: &Ports, columns: &mut [f64]) {
    const STEP: f64 = 26.0;
    let mut place = vec![0; graph.vertices.len()];
    for layer in &graph.layers {
        for (index, &vertex) in layer.iter().enumerate() {
            place[vertex] = index;
        }
    }
    for (chain, ends) in graph.chains.iter().zip(&ports.ends) {
        let inner: Vec<usize> = chain[1..chain.len() - 1].to_vec();
        let reversed: Vec<usize> = inner.iter().rev().copied().collect();
        for (run, wished, other) in [(inner, ends.0, ends.1), (reversed, ends.1, ends.0)] {
            let Some(&head) = run.first() else { continue };
            let own = columns[head];
            let straight = run.iter().take_while(|&&it| (columns[it] - own).abs() < 0.05).count();
            let whole = straight == run.len();
            // A run that reaches from box to box already touches the other one where it should.
            if (own - wished).abs() < 0.05
                || (own - wished).abs() > STEP
                || whole && (own - other).abs() < 0.05
            {
                continue;
            }
            let fits = |vertex: usize| {
                let layer = &graph.layers[graph.vertices[vertex].layer];
                let at = place[vertex];
                let left = at
                    .checked_sub(1)
                    .is_none_or(|it| columns[layer[it]] + graph.distance(layer[it], vertex) <= wished);
                let right =
                    layer.get(at + 1).is_none_or(|&it| wished + graph.distance(vertex, it) <= columns[it]);
                let inside = wished >= graph.vertices[vertex].left;
                left && right && inside
            };
            if run[..straight].iter().all(|&it| fits(it)) {
                run[..straight].iter().for_each(|&it| columns[it] = wished);
            }
        }
    }
}

/// Whether no other box stands to the right of this one in its layer.
fn last_box(graph: &Layered, block: usize) -> bool {
    let layer = &graph.layers[graph.vertices[block].layer];
    layer.iter().rev().find(|&&it| graph.vertices[it].part == Part::Block) == Some(&block)
}

/// The layers, and for each link the lane it takes below each vertex of its chain.
fn bands(graph: &Layered, columns: &[f64], ports: &Ports) -> (Vec<Band>, Vec<Vec<usize>>) {
    let mut shifts: Vec<Vec<Shift>> = graph.layers.iter().map(|_| Vec::new()).collect();
    let mut owners: Vec<Vec<(usize, usize)>> = vec![Vec::new(); graph.layers.len()];
    let mut lane: Vec<Vec<usize>> = graph.chains.iter().map(|it| vec![0; it.len()]).collect();
    for (index, (chain, ends)) in graph.chains.iter().zip(&ports.ends).enumerate() {
        for (step, pair) in chain.windows(2).enumerate() {
            let from = if step == 0 { ends.0 } else { columns[pair[0]] };
            let to = if step + 2 == chain.len() { ends.1 } else { columns[pair[1]] };
            if (from - to).abs() > 0.05 {
                let layer = graph.vertices[pair[0]].layer;
                shifts[layer].push(Shift { from, to });
                owners[layer].push((index, step));
            }
        }
    }
    let mut bands = Vec::with_capacity(graph.layers.len());
    let mut top = 0.0;
    for (index, layer) in graph.layers.iter().enumerate() {
        let bottom = top + layer.iter().map(|&it| graph.vertices[it].height).fold(0.0, f64::max);
        let (chosen, count) = lanes(&shifts[index]);
        for (&(link, step), chosen) in owners[index].iter().zip(chosen) {
            lane[link][step] = chosen;
        }
        let between = real(count.saturating_sub(1));
        let room = (between * LANE).min(LANES_MOST);
        let first_lane = bottom + BEFORE;
        bands.push(Band { top, bottom, first_lane, lane: room / between.max(1.0) });
        top = first_lane + room + AFTER;
    }
    (bands, lane)
}

/// The way of a link from its upper to its lower box.
fn line(
    graph: &Layered,
    index: usize,
    columns: &[f64],
    bands: &[Band],
    lane: &[usize],
    ports: &Ports,
    boxes: &[Area],
) -> Vec<Point> {
    let chain = &graph.chains[index];
    let mut points: Vec<Point> = Vec::new();
    for (step, &vertex) in chain.iter().enumerate() {
        let last = step + 1 == chain.len();
        let x = match step {
            0 => ports.ends[index].0,
            _ if last => ports.ends[index].1,
            _ => columns[vertex],
        };
        if let Some(&before) = points.last()
            && (before.x - x).abs() > 0.05
        {
            let above = &bands[graph.vertices[chain[step - 1]].layer];
            let y = above.first_lane + above.lane * real(lane[step - 1]);
            points.push(Point { x: before.x, y });
            points.push(Point { x, y });
        }
        if step == 0 {
            points.push(Point { x, y: boxes[vertex].bottom() });
        } else if last {
            points.push(Point { x, y: boxes[vertex].y });
        }
    }
    points
}

/// The way right out of the picture: straight from a box with no box beside it, else below its layer.
fn exits(
    graph: &Layered,
    blocks: &[Block],
    bands: &[Band],
    ports: &Ports,
    placed: &Placed,
) -> Vec<Option<Vec<Point>>> {
    const BELOW: f64 = 5.0;
    let exit = |index: usize| {
        if blocks[index].side == Side::Closed {
            return None;
        }
        let area = placed.boxes[index];
        let edge = placed.size.width;
        let Some(x) = ports.open[index] else {
            let y = area.middle().y;
            return Some(vec![Point { x: area.right(), y }, Point { x: edge, y }]);
        };
        let band = &bands[graph.vertices[index].layer];
        let y = band.bottom + BELOW + real(index % 3);
        Some(vec![Point { x, y: area.bottom() }, Point { x, y }, Point { x: edge, y }])
    };
    (0..blocks.len()).map(exit).collect()
}
