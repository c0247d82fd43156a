//! Everything in its place: the finished picture as boxes, lines and texts, before it is written as SVG.

use super::fold::{Note, fold};
use super::geometry::{Area, Point, Size};
use super::text::Font;
use super::{DrawKind, DrawNode, Drawing, EdgeKind, panels, style};

/// The widest line of text in a box, and beside an arrow.
const BOX_TEXT: f64 = 170.0;
const EDGE_TEXT: f64 = 150.0;
const MOST_LINES: usize = 10;

pub(super) struct Scene {
    pub(super) size: Size,
    pub(super) panels: Vec<Panel>,
    pub(super) boxes: Vec<Placement>,
    pub(super) dots: Vec<Point>,
    pub(super) lines: Vec<Line>,
    pub(super) footnotes: Vec<String>,
}

/// The frame of a child machine.
pub(super) struct Panel {
    pub(super) group: usize,
    pub(super) area: Area,
}

pub(super) struct Placement {
    pub(super) node: usize,
    pub(super) area: Area,
}

pub(super) struct Line {
    pub(super) kind: EdgeKind,
    /// The boxes it connects; none for the arrow from the dot.
    pub(super) ends: Option<(usize, usize)>,
    pub(super) points: Vec<Point>,
    pub(super) shape: Shape,
    pub(super) label: Option<Label>,
    /// The whole label, as it was given.
    pub(super) whole: String,
}

/// How a line goes from point to point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shape {
    /// Along straight lines with round corners.
    Square,
    /// A loop at the right of a box, from the first point to the last.
    Loop,
}

#[derive(Clone, Debug)]
pub(super) struct Label {
    pub(super) lines: Vec<String>,
    pub(super) middle: Point,
}

/// The texts of a box and the room they need.
pub(super) struct Figure {
    pub(super) label: Vec<String>,
    pub(super) detail: Vec<String>,
    pub(super) notes: Vec<(EdgeKind, Vec<String>)>,
    pub(super) size: Size,
    /// How far from its ends the flat upper and lower edges of the shape begin.
    pub(super) inset: f64,
}

pub(super) const NOTE_RULE: f64 = 8.0;

impl Figure {
    /// `least` is the height that loops beside the box take.
    fn new(node: &DrawNode, notes: &[Note], least: f64) -> Self {
        let mark = node.kind.is_mark();
        let mut label = style::LABEL.wrap(&node.label, BOX_TEXT, MOST_LINES);
        let mut detail = style::DETAIL.wrap(node.detail.as_deref().unwrap_or(""), BOX_TEXT, MOST_LINES);
        // A mark is smaller than a state, and so is what it says.
        if mark {
            label.clear();
            detail.splice(0..0, style::DETAIL.wrap(&node.label, BOX_TEXT, MOST_LINES));
        }
        let notes: Vec<_> =
            notes.iter().map(|it| (it.kind, style::NOTE.wrap(&it.text, BOX_TEXT, MOST_LINES))).collect();
        let mut width = 0.0_f64;
        let mut height = 0.0;
        let mut add = |font: Font, lines: &[String]| {
            let block = font.block(lines);
            width = width.max(block.width);
            height += block.height;
        };
        add(style::LABEL, &label);
        add(style::DETAIL, &detail);
        for (_, lines) in &notes {
            add(style::NOTE, lines);
        }
        if !notes.is_empty() {
            height += NOTE_RULE;
        }
        let (air, least_height, least_width) = if mark { (10.0, 18.0, 24.0) } else { (16.0, 32.0, 64.0) };
        let height = (height + air).max(least_height).max(least);
        let (padding, inset) = match node.kind {
            DrawKind::Choose | DrawKind::Settle => (32.0, 14.0),
            DrawKind::EndSuccess | DrawKind::EndFailure | DrawKind::EndStopped => (34.0, 14.0),
            DrawKind::Ask => (34.0, 10.0),
            DrawKind::Check => (28.0, 10.0),
            DrawKind::Back | DrawKind::Landing => (18.0, 6.0),
            _ => (24.0, 6.0),
        };
        Self { label, detail, notes, size: Size { width: (width + padding).max(least_width), height }, inset }
    }
}

/// The lines of an arrow's labels.
pub(super) fn label_lines(labels: &[String]) -> Vec<String> {
    let mut lines: Vec<String> =
        labels.iter().flat_map(|it| style::EDGE.wrap(it, EDGE_TEXT, MOST_LINES)).collect();
    if lines.len() > 2 * MOST_LINES {
        lines.truncate(2 * MOST_LINES);
        lines.push("…".to_owned());
    }
    lines
}

/// The title of a child machine, on one line.
pub(super) fn group_title(title: &str) -> Vec<String> {
    style::GROUP.wrap(title, 2.0 * BOX_TEXT, 1)
}

/// The room of a label, with a little air so that lines do not touch it.
pub(super) fn label_size(lines: &[String]) -> Size {
    let block = style::EDGE.block(lines);
    Size { width: block.width + 8.0, height: block.height + 2.0 }
}

pub(super) fn scene(drawing: &Drawing) -> (Scene, Vec<Figure>) {
    let folded = fold(drawing);
    let notes = drawing.nodes.iter().zip(&folded.notes).enumerate();
    let figures: Vec<Figure> = notes
        .map(|(index, (node, notes))| Figure::new(node, notes, panels::loops_height(&folded, index)))
        .collect();
    (panels::assemble(drawing, folded, &figures), figures)
}
