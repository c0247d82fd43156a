//! Which arrows are drawn as lines, and which are said in words inside the boxes they leave.
//!
//! Twenty states that all fail to the same place would bury the picture under twenty lines that tell a reader
//! one thing. Such arrows become a note in the box, and a label that many notes share becomes a footnote.

use rustc_hash::FxHashMap;

use super::{Arrow, Drawing, EdgeKind};

/// From so many boxes on, failures that lead to one box are notes.
const MANY_FAILURES: usize = 4;
/// From so many boxes on, loops with the same label are notes.
const MANY_LOOPS: usize = 3;
/// From so many boxes on, answers that lead to one box are notes.
const MANY_ANSWERS: usize = 7;
/// A label at least this long, in at least this many notes, is written once below the picture.
const FOOTNOTE_LETTERS: usize = 14;
const FOOTNOTE_USES: usize = 3;

pub(super) struct Folded {
    /// Lines between two boxes of one machine.
    pub(super) lines: Vec<Arrow>,
    /// Loops from a box to itself.
    pub(super) loops: Vec<Arrow>,
    /// Lines from a box to the child machine it runs.
    pub(super) runs: Vec<Arrow>,
    /// For each box, what is said inside it.
    pub(super) notes: Vec<Vec<Note>>,
    pub(super) footnotes: Vec<String>,
    /// For each child machine, how many machines away from the outermost it is drawn.
    pub(super) depths: Vec<usize>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Note {
    pub(super) text: String,
    pub(super) kind: EdgeKind,
}

pub(super) fn fold(drawing: &Drawing) -> Folded {
    let arrows = drawing.arrows();
    let depths = depths(drawing, &arrows);
    let mut sources: FxHashMap<(usize, EdgeKind), usize> = FxHashMap::default();
    let mut loop_labels: FxHashMap<String, usize> = FxHashMap::default();
    for arrow in &arrows {
        if arrow.from == arrow.to {
            *loop_labels.entry(said(arrow)).or_default() += 1;
        } else {
            *sources.entry((arrow.to, arrow.kind)).or_default() += 1;
        }
    }
    let crowded = |arrow: &Arrow| {
        let limit = match arrow.kind {
            EdgeKind::Failure => MANY_FAILURES,
            EdgeKind::Person => MANY_ANSWERS,
            _ => return false,
        };
        sources.get(&(arrow.to, arrow.kind)).is_some_and(|&it| it >= limit)
    };
    let mut folded = Folded {
        lines: Vec::new(),
        loops: Vec::new(),
        runs: Vec::new(),
        notes: vec![Vec::new(); drawing.nodes.len()],
        footnotes: Vec::new(),
        depths,
    };
    let mut noted: Vec<Arrow> = Vec::new();
    for arrow in arrows {
        let (from, to) = (drawing.group_of(arrow.from), drawing.group_of(arrow.to));
        if arrow.from == arrow.to {
            let many = loop_labels.get(&said(&arrow)).is_some_and(|&it| it >= MANY_LOOPS);
            if many && arrow.kind != EdgeKind::Plain { noted.push(arrow) } else { folded.loops.push(arrow) }
        } else if from == to {
            if crowded(&arrow) { noted.push(arrow) } else { folded.lines.push(arrow) }
        } else if arrow.kind == EdgeKind::Runs && folded.is_next(from, to) {
            folded.runs.push(arrow);
        } else {
            noted.push(arrow);
        }
    }
    folded.runs.sort_by_key(|it| (it.from, drawing.group_of(it.to)));
    folded.runs.dedup_by(|later, kept| {
        let same = later.from == kept.from && drawing.group_of(later.to) == drawing.group_of(kept.to);
        if same {
            kept.labels.append(&mut later.labels);
        }
        same
    });
    folded.note(drawing, &noted);
    folded
}

impl Folded {
    fn is_next(&self, from: Option<usize>, to: Option<usize>) -> bool {
        let depth = |group: Option<usize>| group.map_or(0, |it| self.depths[it]);
        to.is_some() && depth(from) + 1 == depth(to)
    }

    fn note(&mut self, drawing: &Drawing, noted: &[Arrow]) {
        let mut uses: FxHashMap<String, usize> = FxHashMap::default();
        for arrow in noted {
            *uses.entry(said(arrow)).or_default() += 1;
        }
        let mut arriving = vec![0_usize; drawing.nodes.len()];
        for arrow in noted {
            let label = said(arrow);
            let long = label.chars().count() >= FOOTNOTE_LETTERS;
            let label = if long && uses.get(&label).is_some_and(|&it| it >= FOOTNOTE_USES) {
                let known = self.footnotes.iter().position(|it| *it == label);
                let number = known.unwrap_or_else(|| {
                    self.footnotes.push(label);
                    self.footnotes.len() - 1
                });
                format!("[{}] ", number + 1)
            } else if label.is_empty() {
                label
            } else {
                format!("{label} ")
            };
            let target = if arrow.from == arrow.to { "again" } else { drawing.nodes[arrow.to].label.trim() };
            arriving[arrow.to] += usize::from(arrow.from != arrow.to);
            self.notes[arrow.from].push(Note { text: format!("{label}→ {target}"), kind: arrow.kind });
        }
        for (notes, count) in self.notes.iter_mut().zip(arriving) {
            if count >= MANY_FAILURES {
                notes.insert(0, Note { text: format!("from {count} states"), kind: EdgeKind::Plain });
            }
        }
    }
}

/// An arrow's labels as one text.
pub(super) fn said(arrow: &Arrow) -> String {
    arrow.labels.join(if arrow.labels.iter().any(|it| it.contains(": ")) { "; " } else { ", " })
}

/// How many runs away from the outermost machine each child machine is; one that nothing runs stands first.
fn depths(drawing: &Drawing, arrows: &[Arrow]) -> Vec<usize> {
    let mut depths: Vec<Option<usize>> = vec![None; drawing.groups.len()];
    for depth in 1..=drawing.groups.len() {
        for arrow in arrows.iter().filter(|it| it.kind == EdgeKind::Runs) {
            let from = drawing.group_of(arrow.from);
            let reached = if depth == 1 {
                from.is_none()
            } else {
                from.is_some_and(|it| depths[it] == Some(depth - 1))
            };
            if let Some(group) = drawing.group_of(arrow.to).filter(|&it| reached && depths[it].is_none()) {
                depths[group] = Some(depth);
            }
        }
    }
    depths.into_iter().map(|it| it.unwrap_or(1)).collect()
}
