//! What the shapes and lines mean, for those in use only, and the footnotes of folded arrows.

use std::fmt::Write;

use super::geometry::{Area, Point, Size};
use super::scene::{Figure, Scene, Shape};
use super::shapes::{arrow, number, outline};
use super::text::xml;
use super::{DrawKind, Drawing, EdgeKind, style};

const ROW: f64 = 20.0;
const SWATCH: f64 = 26.0;
const GAP: f64 = 18.0;

pub(super) struct Legend {
    pub(super) kinds: Vec<DrawKind>,
    pub(super) edges: Vec<EdgeKind>,
}

impl Legend {
    /// The kinds a scene shows, in a fixed order.
    pub(super) fn new(drawing: &Drawing, scene: &Scene, figures: &[Figure]) -> Self {
        let shows = |kind: EdgeKind| {
            scene.lines.iter().any(|it| it.kind == kind)
                || figures.iter().flat_map(|it| &it.notes).any(|it| it.0 == kind)
        };
        Self {
            kinds: style::KINDS
                .into_iter()
                .filter(|kind| drawing.nodes.iter().any(|it| it.kind == *kind))
                .collect(),
            edges: style::EDGE_KINDS.into_iter().filter(|kind| shows(*kind)).collect(),
        }
    }

    /// Writes footnotes and legend below `top`, no wider than `width`; returns the room they took.
    pub(super) fn add_to(
        &self,
        out: &mut String,
        footnotes: &[String],
        left: f64,
        top: f64,
        width: f64,
    ) -> Size {
        let mut taken = Size::default();
        for (index, note) in footnotes.iter().enumerate() {
            for line in style::LEGEND.wrap(&format!("[{}] {note}", index + 1), width, 6) {
                let y = top + taken.height + 11.0;
                let _ = write!(
                    out,
                    r#"<text class="y" x="{}" y="{}">{}</text>"#,
                    number(left),
                    number(y),
                    xml(&line)
                );
                taken.width = taken.width.max(style::LEGEND.width(&line));
                taken.height += style::LEGEND.line();
            }
        }
        if !footnotes.is_empty() {
            taken.height += 8.0;
        }
        for row in [self.boxes(), self.lines()] {
            let mut x = 0.0;
            for (swatch, class, meaning) in &row {
                let entry = SWATCH + 7.0 + style::LEGEND.width(meaning);
                if x > 0.0 && x + entry > width {
                    x = 0.0;
                    taken.height += ROW;
                }
                let by = format!("translate({} {})", number(left + x), number(top + taken.height));
                let _ = write!(
                    out,
                    r#"<g class="{class}" transform="{by}">{swatch}<text class="y" x="{}" y="12">{meaning}</text></g>"#,
                    number(SWATCH + 7.0)
                );
                x += entry;
                taken.width = taken.width.max(x);
                x += GAP;
            }
            if !row.is_empty() {
                taken.height += ROW;
            }
        }
        taken
    }

    fn boxes(&self) -> Vec<(String, &'static str, &'static str)> {
        let area = Area { x: 0.0, y: 1.0, width: SWATCH, height: 14.0 };
        self.kinds.iter().map(|it| (outline(*it, area), it.class(), it.meaning())).collect()
    }

    fn lines(&self) -> Vec<(String, &'static str, &'static str)> {
        let (line, head) = arrow(&[Point { x: 0.0, y: 8.0 }, Point { x: SWATCH, y: 8.0 }], Shape::Square);
        let swatch = format!(r#"<path class="e" d="{line}"/><path class="a" d="{head}"/>"#);
        self.edges.iter().map(|it| (swatch.clone(), it.class(), it.meaning())).collect()
    }
}
