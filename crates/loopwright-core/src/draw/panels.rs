//! One panel per machine: the outermost at the left, the machines it runs in a column to the right of it,
//! those they run further right. Lines between machines stay in the channels between the columns.

use super::fold::{Folded, said};
use super::geometry::{Area, Point, Size, real, spread};
use super::layout::{Block, Link, Placed, Side, layout};
use super::scene::{
    Figure, Label, Line, Panel, Placement, Scene, Shape, group_title, label_lines, label_size,
};
use super::{Arrow, Drawing, EdgeKind, style};

const PANEL_PADDING: f64 = 18.0;
const PANEL_TITLE: f64 = 24.0;
const CHANNEL: f64 = 36.0;
const BETWEEN: f64 = 32.0;
const DOT: f64 = 12.0;
const LOOP_WIDTH: f64 = 26.0;

/// The parts of one machine, with its upper left corner at zero.
#[derive(Default)]
struct Machine {
    size: Size,
    boxes: Vec<Placement>,
    dots: Vec<Point>,
    lines: Vec<Line>,
    /// The way out to the right from each box that runs a child machine.
    exits: Vec<(usize, Vec<Point>)>,
}

pub(super) fn assemble(drawing: &Drawing, folded: Folded, figures: &[Figure]) -> Scene {
    let machine = |group: Option<usize>| Machine::new(drawing, &folded, figures, group);
    let mut scene = Scene {
        size: Size::default(),
        panels: Vec::new(),
        boxes: Vec::new(),
        dots: Vec::new(),
        lines: Vec::new(),
        footnotes: Vec::new(),
    };
    let mut exits = Vec::new();
    let outermost = machine(None);
    let mut column = if outermost.boxes.is_empty() { 0.0 } else { outermost.size.width };
    scene.size = outermost.size;
    exits.extend(scene.add(outermost, Point::default()));
    let deepest = folded.depths.iter().copied().max().unwrap_or(0);
    for depth in 1..=deepest {
        let here: Vec<usize> = (0..drawing.groups.len()).filter(|&it| folded.depths[it] == depth).collect();
        let runs: Vec<&Arrow> = folded
            .runs
            .iter()
            .filter(|it| drawing.group_of(it.to).is_some_and(|group| here.contains(&group)))
            .collect();
        let widest = runs.iter().map(|it| label_size(&label_lines(&it.labels)).width).fold(0.0, f64::max);
        let left = if column > 0.0 { column + CHANNEL + widest + 8.0 * real(runs.len()) } else { 0.0 };
        let mut right = left;
        let mut top = 0.0_f64;
        for group in here {
            let inner = machine(Some(group));
            let title =
                style::GROUP.block(&group_title(&drawing.groups[group].title)).width + 2.0 * PANEL_PADDING;
            let width = (inner.size.width + 2.0 * PANEL_PADDING).max(title);
            let height = inner.size.height + 2.0 * PANEL_PADDING + PANEL_TITLE;
            let mut callers: Vec<(&Arrow, &Vec<Point>)> = Vec::new();
            for arrow in runs.iter().filter(|it| drawing.group_of(it.to) == Some(group)) {
                callers.extend(exits.iter().find(|it| it.0 == arrow.from).map(|it| (*arrow, &it.1)));
            }
            callers.sort_by(|one, other| level(one.1).total_cmp(&level(other.1)));
            let highest =
                callers.iter().map(|it| label_size(&label_lines(&it.0.labels)).height).fold(8.0, f64::max);
            let height = height.max(real(callers.len()) * (highest + 2.0) + 28.0);
            if let Some(first) = callers.first() {
                top = top.max(level(first.1) - 60.0);
            }
            let area = Area { x: left, y: top, width, height };
            let wished: Vec<f64> = callers.iter().map(|it| level(it.1)).collect();
            let arrivals = spread(&wished, highest + 2.0, area.y + 14.0, area.bottom() - 14.0);
            for (index, ((arrow, way), arrival)) in callers.into_iter().zip(arrivals).enumerate() {
                let lane = column + 14.0 + 8.0 * real(index);
                scene.lines.push(run(arrow, way.clone(), lane, Point { x: area.x, y: arrival }));
            }
            scene.panels.push(Panel { group, area });
            let inset = Point { x: left + PANEL_PADDING, y: top + PANEL_PADDING + PANEL_TITLE };
            let mut out = scene.add(inner, inset);
            out.iter_mut().filter_map(|it| it.1.last_mut()).for_each(|it| it.x = area.right());
            exits.extend(out);
            top = area.bottom() + BETWEEN;
            right = right.max(area.right());
            scene.size.height = scene.size.height.max(area.bottom());
        }
        scene.size.width = scene.size.width.max(right);
        column = right;
    }
    scene.footnotes = folded.footnotes;
    scene
}

/// At which height a way out leaves its machine.
fn level(way: &[Point]) -> f64 {
    way.last().map_or(0.0, |it| it.y)
}

/// The line from a box, out of its machine, through a lane of the channel, to the frame of the machine it runs.
fn run(arrow: &Arrow, mut points: Vec<Point>, lane: f64, arrival: Point) -> Line {
    let y = level(&points);
    points.pop();
    if (arrival.y - y).abs() > 0.05 {
        points.push(Point { x: lane, y });
        points.push(Point { x: lane, y: arrival.y });
    }
    points.push(arrival);
    let lines = label_lines(&arrow.labels);
    let middle = Point { x: arrival.x - 14.0 - label_size(&lines).width / 2.0, y: arrival.y };
    Line {
        kind: EdgeKind::Runs,
        ends: Some((arrow.from, arrow.to)),
        points,
        shape: Shape::Square,
        label: (!lines.is_empty()).then_some(Label { lines, middle }),
        whole: said(arrow),
    }
}

impl Scene {
    /// Adds a machine's parts and returns its ways out, moved with it.
    fn add(&mut self, machine: Machine, by: Point) -> Vec<(usize, Vec<Point>)> {
        self.boxes.extend(machine.boxes.into_iter().map(|it| Placement { area: it.area.shifted(by), ..it }));
        self.dots.extend(machine.dots.into_iter().map(|it| it.shifted(by)));
        self.lines.extend(machine.lines.into_iter().map(|it| it.shifted(by)));
        let moved = |points: Vec<Point>| points.into_iter().map(|it| it.shifted(by)).collect();
        machine.exits.into_iter().map(|(node, points)| (node, moved(points))).collect()
    }
}

impl Line {
    pub(super) fn shifted(mut self, by: Point) -> Self {
        self.points.iter_mut().for_each(|it| *it = it.shifted(by));
        if let Some(label) = &mut self.label {
            label.middle = label.middle.shifted(by);
        }
        self
    }
}

impl Machine {
    fn new(drawing: &Drawing, folded: &Folded, figures: &[Figure], group: Option<usize>) -> Self {
        let members: Vec<usize> =
            (0..drawing.nodes.len()).filter(|&it| drawing.group_of(it) == group).collect();
        let lines: Vec<&Arrow> =
            folded.lines.iter().filter(|it| drawing.group_of(it.from) == group).collect();
        let mut machine = Self::default();
        let parts: Vec<Part> = components(drawing, &members, &lines)
            .into_iter()
            .map(|nodes| Part::new(drawing, folded, figures, nodes, &lines))
            .collect();
        let area: f64 =
            parts.iter().map(|it| (it.placed.size.width + BETWEEN) * (it.placed.size.height + BETWEEN)).sum();
        let main = parts.first().map_or(0.0, |it| it.placed.size.width);
        let widest = main.max(area.sqrt() * 1.2);
        let mut corner = Point::default();
        let mut row = 0.0_f64;
        for (index, part) in parts.into_iter().enumerate() {
            let size = part.placed.size;
            // The first part has the row to itself, and nothing may stand in the way of a line to a child machine.
            if index == 1 || corner.x + size.width > widest {
                corner = Point { x: 0.0, y: if index == 0 { 0.0 } else { corner.y + row + BETWEEN } };
                row = 0.0;
            }
            let leaves = part.add_to(&mut machine, folded, corner);
            machine.size.width = machine.size.width.max(corner.x + size.width);
            machine.size.height = machine.size.height.max(corner.y + size.height);
            corner.x += if leaves { widest } else { size.width + BETWEEN };
            row = row.max(size.height);
        }
        machine
    }
}

/// Boxes that hang together, laid out.
struct Part<'a> {
    nodes: Vec<usize>,
    starts: Vec<usize>,
    arrows: Vec<&'a Arrow>,
    placed: Placed,
}

impl<'a> Part<'a> {
    fn new(
        drawing: &Drawing,
        folded: &Folded,
        figures: &[Figure],
        nodes: Vec<usize>,
        drawn: &[&'a Arrow],
    ) -> Self {
        let mut index_of = rustc_hash::FxHashMap::default();
        for (index, &node) in nodes.iter().enumerate() {
            index_of.insert(node, index);
        }
        let mut blocks: Vec<Block> = nodes.iter().map(|&it| block(folded, &figures[it], it)).collect();
        let mut arrows = Vec::new();
        let mut links = Vec::new();
        for &arrow in drawn {
            let (Some(&from), Some(&to)) = (index_of.get(&arrow.from), index_of.get(&arrow.to)) else {
                continue;
            };
            let text = label_lines(&arrow.labels);
            let label = (!text.is_empty()).then(|| label_size(&text));
            links.push(Link { from, to, label, weight: weight(arrow.kind) });
            arrows.push(arrow);
        }
        let starts: Vec<usize> = (0..nodes.len()).filter(|&it| drawing.nodes[nodes[it]].start).collect();
        for &start in &starts {
            links.push(Link { from: blocks.len(), to: start, label: None, weight: 4 });
            let size = Size { width: DOT, height: DOT };
            blocks.push(Block { size, beside: 0.0, inset: 2.0, side: Side::Closed });
        }
        let first: Vec<usize> = (nodes.len()..blocks.len()).collect();
        let placed = layout(&blocks, &links, &first);
        Self { nodes, starts, arrows, placed }
    }

    /// Adds the parts to the machine and says whether a line leaves to the right.
    fn add_to(self, machine: &mut Machine, folded: &Folded, at: Point) -> bool {
        let Self { nodes, starts, arrows, placed } = self;
        let count = nodes.len();
        for (index, &node) in nodes.iter().enumerate() {
            let area = placed.boxes[index].shifted(at);
            machine.boxes.push(Placement { node, area });
            machine.lines.extend(loops(folded, node, area));
        }
        machine.dots.extend(placed.boxes[count..].iter().map(|it| it.middle().shifted(at)));
        let owners = arrows.iter().map(|&it| Some(it)).chain(starts.iter().map(|_| None));
        for ((arrow, points), middle) in owners.zip(placed.routes).zip(placed.labels) {
            let lines = arrow.map_or_else(Vec::new, |it| label_lines(&it.labels));
            let line = Line {
                kind: arrow.map_or(EdgeKind::Plain, |it| it.kind),
                ends: arrow.map(|it| (it.from, it.to)),
                points,
                shape: Shape::Square,
                label: middle.map(|middle| Label { lines, middle }),
                whole: arrow.map_or_else(String::new, said),
            };
            machine.lines.push(line.shifted(at));
        }
        let mut leaves = false;
        for (&node, exit) in nodes.iter().zip(placed.exits) {
            if let Some(points) = exit {
                leaves = true;
                machine.exits.push((node, points.into_iter().map(|it| it.shifted(at)).collect()));
            }
        }
        leaves
    }
}

fn weight(kind: EdgeKind) -> i32 {
    match kind {
        EdgeKind::Plain | EdgeKind::Person => 3,
        EdgeKind::Forced | EdgeKind::Runs => 2,
        EdgeKind::Spends | EdgeKind::Failure => 1,
    }
}

/// The room a box needs, with its loops.
fn block(folded: &Folded, figure: &Figure, node: usize) -> Block {
    let mut beside = 0.0_f64;
    for arrow in folded.loops.iter().filter(|it| it.from == node) {
        beside = beside.max(LOOP_WIDTH + label_size(&label_lines(&arrow.labels)).width);
    }
    let side = if folded.runs.iter().any(|it| it.from == node) { Side::Open } else { Side::Closed };
    Block { size: figure.size, beside, inset: figure.inset, side }
}

/// How high each loop of a box is with its label.
fn loop_height(arrow: &Arrow) -> f64 {
    label_size(&label_lines(&arrow.labels)).height.max(20.0) + 4.0
}

/// How high all loops of a box are.
pub(super) fn loops_height(folded: &Folded, node: usize) -> f64 {
    folded.loops.iter().filter(|it| it.from == node).map(loop_height).sum()
}

fn loops(folded: &Folded, node: usize, area: Area) -> Vec<Line> {
    let mut top = area.middle().y - loops_height(folded, node) / 2.0;
    let own = folded.loops.iter().filter(|it| it.from == node);
    own.map(|arrow| {
        let y = top + loop_height(arrow) / 2.0;
        top += loop_height(arrow);
        let lines = label_lines(&arrow.labels);
        let x = area.right();
        let middle = Point { x: x + LOOP_WIDTH + label_size(&lines).width / 2.0, y };
        Line {
            kind: arrow.kind,
            ends: Some((node, node)),
            points: vec![Point { x, y: y - 7.0 }, Point { x: x + LOOP_WIDTH, y }, Point { x, y: y + 7.0 }],
            shape: Shape::Loop,
            label: (!lines.is_empty()).then_some(Label { lines, middle }),
            whole: said(arrow),
        }
    })
    .collect()
}

/// The boxes of a machine that hang together, the one with the start first, the rest as the author listed them.
fn components(drawing: &Drawing, members: &[usize], lines: &[&Arrow]) -> Vec<Vec<usize>> {
    let mut near: Vec<Vec<usize>> = vec![Vec::new(); drawing.nodes.len()];
    for line in lines {
        near[line.from].push(line.to);
        near[line.to].push(line.from);
    }
    let mut met = vec![false; drawing.nodes.len()];
    let mut parts = Vec::new();
    let starts = members.iter().filter(|&&it| drawing.nodes[it].start);
    for &root in starts.chain(members) {
        let mut waiting = vec![root];
        let mut part = Vec::new();
        while let Some(node) = waiting.pop() {
            if !std::mem::replace(&mut met[node], true) {
                part.push(node);
                waiting.extend(&near[node]);
            }
        }
        if !part.is_empty() {
            part.sort_unstable();
            parts.push(part);
        }
    }
    parts
}
