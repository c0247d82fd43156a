//! Entries of lists of issues: an item or the row of a table that names an issue, perhaps with how far it is.

use std::ops::Range;

use serde::Serialize;

use super::body::{box_at, tick_in, ticked};
use super::fields::replaced;
use super::{Status, words};
use crate::agentd::markdown;
use crate::agentd::page::Line;

/// What shows that an entry needs another one of its list first.
pub(super) const AFTER: char = '↳';
/// What stands behind an entry whose box cannot say it.
pub(super) const IN_PROGRESS: &str = " (In Progress)";

/// An entry of a list of issues.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Entry {
    /// The issue.
    pub id: String,
    /// Its line.
    pub line: usize,
    /// How far it says the issue is, if it says so.
    pub shown: Option<Status>,
}

/// An entry, and where it stands.
#[derive(Clone, Debug)]
pub(super) struct Placed {
    pub entry: Entry,
    /// The line, counted from 0.
    pub at: usize,
    parts: Parts,
}

/// Where the parts of an entry are in the text.
#[derive(Clone, Debug, Default)]
struct Parts {
    mark: Option<Range<usize>>,
    /// The word that says how far it is.
    word: Option<Range<usize>>,
    /// The word with what sets it off, which goes with it.
    whole: Option<Range<usize>>,
    /// Where one may be put.
    end: usize,
    is_row: bool,
}

/// The entry that a line is.
pub(super) fn placed(line: &Line<'_>, at: usize) -> Option<Placed> {
    if !line.is_body() {
        return None;
    }
    let (id, parts, checked) = if line.text.trim_start().starts_with('|') { row(line)? } else { item(line)? };
    let word = parts
        .word
        .clone()
        .and_then(|it| Status::of(line.text.get(it.start - line.start..it.end - line.start)?));
    let shown = word.or(checked.map(|it| if it { Status::Done } else { Status::Todo }));
    let entry = Entry { id, line: line.number, shown };
    Some(Placed { entry, at, parts })
}

impl Placed {
    /// A text in which this entry shows how far its issue is, in its own way.
    pub fn showing(&self, text: &str, status: Status) -> String {
        let Parts { mark, word, whole, end, is_row } = &self.parts;
        let part = |range: &Range<usize>| text.get(range.clone()).unwrap_or_default();
        let mut splices: Vec<(Range<usize>, String)> = Vec::new();
        match (word, whole) {
            (Some(word), _) if Status::of(part(word)) == Some(status) => {}
            // Beside a box only this one is written here, and goes again.
            (Some(_), Some(whole)) if mark.is_some() && part(whole) == IN_PROGRESS => {
                splices.push((whole.clone(), String::new()));
            }
            (Some(word), _) => splices.push((word.clone(), status.as_str().to_owned())),
            (None, _) if mark.is_some() && status == Status::InProgress && !is_row => {
                splices.push((*end..*end, IN_PROGRESS.to_owned()));
            }
            (None, _) => {}
        }
        if let Some(mark) = mark {
            splices.push((mark.clone(), ticked(part(mark), status == Status::Done)));
        }
        // From the last to the first, so that places stay what they are.
        splices.sort_by_key(|(range, _)| std::cmp::Reverse(range.start));
        splices.into_iter().fold(text.to_owned(), |text, (range, with)| replaced(&text, range, &with))
    }

    /// Whether it has a box.
    pub fn has_box(&self) -> bool {
        self.parts.mark.is_some()
    }

    /// Whether a word says how far its issue is.
    pub fn has_word(&self) -> bool {
        self.parts.word.is_some()
    }

    /// Whether it is the row of a table.
    pub fn is_row(&self) -> bool {
        self.parts.is_row
    }

    /// What it says of its issue besides, without what stands around it.
    pub fn says<'t>(&self, line: &'t str) -> &'t str {
        let behind = line.split_once(&self.entry.id).map_or(line, |(_, it)| it);
        let behind = behind.split_once(".md)").map_or(behind, |(_, it)| it);
        let behind = behind.strip_suffix(IN_PROGRESS).unwrap_or(behind);
        behind.trim_matches([' ', ':', '-', '–', '—', '*', '`', '_', ']', '|'])
    }
}

type Found = (String, Parts, Option<bool>);

fn item(line: &Line<'_>) -> Option<Found> {
    let rest = markdown::bullet(line.text)?;
    let mut at = line.start + line.text.len() - rest.len();
    let mut parts = Parts { end: line.start + line.text.trim_end().len(), ..Parts::default() };
    let mut checked = None;
    let mut rest = past_arrow(rest, &mut at);
    if let Some((mark, behind)) = box_at(rest, at) {
        checked = Some(markdown::is_tick(tick_in(rest.get(..mark.len())?)));
        at += rest.len() - behind.len();
        rest = past_arrow(behind, &mut at);
        parts.mark = Some(mark);
    }
    let (id, length) = named(rest)?;
    let tail_at = at + length;
    let tail = rest.get(length..)?.trim_end();
    if let Some((whole, word)) = word_in(tail) {
        parts.word = Some(tail_at + word.start..tail_at + word.end);
        parts.whole = Some(tail_at + whole.start..tail_at + whole.end);
    }
    Some((id, parts, checked))
}

/// What stands behind an arrow.
fn past_arrow<'t>(text: &'t str, at: &mut usize) -> &'t str {
    let Some(behind) = text.strip_prefix(AFTER) else { return text };
    let behind = behind.trim_start();
    *at += text.len() - behind.len();
    behind
}

/// The issue that a text names at its beginning, and how long that is: an id, marked or not, or a link.
fn named(text: &str) -> Option<(String, usize)> {
    let bare = text.trim_start_matches(['*', '_', '`', '~', ' ']);
    let at = text.len() - bare.len();
    if let Some(inner) = bare.strip_prefix('[') {
        let plain = inner.trim_start_matches(['*', '_', '`', '[']);
        let close = bare.find("](").and_then(|from| Some((from, bare.get(from..)?.find(')')? + from + 1)));
        let shown = words::id_at_start(plain).and_then(|it| plain.get(..it));
        return match (shown, close) {
            (Some(id), Some((_, end))) => Some((id.to_owned(), at + end)),
            // `[GAL-1]` and `[[GAL-1]]`.
            (Some(id), None) => {
                let from = bare.len() - plain.len() + id.len();
                let behind = bare.get(from..)?;
                let behind_len = behind.len() - behind.trim_start_matches([']', '*', '_', '`']).len();
                Some((id.to_owned(), at + from + behind_len))
            }
            // A link that shows the title leads to the file.
            (None, Some((from, end))) => {
                let target = bare.get(from + 2..end - 1)?.trim().trim_start_matches("./");
                let stem = target.rsplit('/').next()?.strip_suffix(".md")?;
                words::is_id(stem).then(|| (stem.to_owned(), at + end))
            }
            (None, None) => None,
        };
    }
    let length = words::id_at_start(bare)?;
    let id = bare.get(..length)?.to_owned();
    let behind = bare.get(length..)?;
    let marks = behind.len() - behind.trim_start_matches(['*', '_', '`', '~']).len();
    Some((id, at + length + marks))
}

/// The word that says how far an issue is, in what stands behind its name: set off right behind that, or at the end.
fn word_in(tail: &str) -> Option<(Range<usize>, Range<usize>)> {
    let lead = tail.len() - tail.trim_start_matches([' ', ':', '-', '–', '—', '·', '|']).len();
    let first = tail.get(lead..)?;
    if let Some(inner) = set_off(first, false) {
        let from = tail.get(..lead)?.trim_end_matches(' ').len();
        let end = lead + inner.1;
        return Some((from..end, lead + inner.0.start..lead + inner.0.end));
    }
    if let Some((inner, length)) = set_off(tail, true) {
        let from = tail.len() - length;
        let before = tail.get(..from)?.trim_end().len();
        return Some((before..tail.len(), inner));
    }
    // Behind the last dash.
    let dash = [" - ", " – ", " — ", " · ", " | ", " → "]
        .iter()
        .filter_map(|it| Some((tail.rfind(it)?, it.len())))
        .max()?;
    let word = tail.get(dash.0 + dash.1..)?;
    let bare = word.trim();
    Status::of(bare)?;
    let from = dash.0 + dash.1 + (word.len() - word.trim_start().len());
    Some((dash.0..tail.len(), from..from + bare.len()))
}

/// A word within marks, at the beginning or the end of a text: where it is, and how long it is with its marks.
fn set_off(text: &str, at_end: bool) -> Option<(Range<usize>, usize)> {
    for (open, close) in [("(", ")"), ("[", "]"), ("`", "`"), ("**", "**"), ("_", "_"), ("*", "*")] {
        let inner = if at_end {
            let Some(before) = text.strip_suffix(close) else { continue };
            let Some(from) = before.rfind(open) else { continue };
            from + open.len()..before.len()
        } else {
            let Some(rest) = text.strip_prefix(open) else { continue };
            let Some(to) = rest.find(close) else { continue };
            open.len()..open.len() + to
        };
        if text.get(inner.clone()).is_some_and(|it| Status::of(it).is_some()) {
            let length = inner.len() + open.len() + close.len();
            return Some((inner, length));
        }
    }
    None
}

fn row(line: &Line<'_>) -> Option<Found> {
    let mut cells = Vec::new();
    let first = line.text.find('|')? + 1;
    let (mut from, mut in_code) = (first, false);
    for (at, it) in line.text.char_indices().skip_while(|(at, _)| *at < first) {
        in_code ^= it == '`';
        if it == '|' && !in_code && !line.text.get(..at).is_some_and(|it| it.ends_with('\\')) {
            cells.push(from..at);
            from = at + 1;
        }
    }
    if line.text.get(from..).is_some_and(|it| !it.trim().is_empty()) {
        cells.push(from..line.text.len());
    }
    let inner = |cell: &Range<usize>| {
        let text = line.text.get(cell.clone()).unwrap_or_default();
        let start = cell.start + text.len() - text.trim_start().len();
        (start, text.trim())
    };
    let (mut id, mut parts, mut checked) = (None, Parts { is_row: true, ..Parts::default() }, None);
    for (start, text) in cells.iter().map(inner) {
        let plain = text.trim_matches(['*', '_', '`']);
        let start_of_word = line.start + start + text.find(plain).unwrap_or(0);
        if let Some((mark, behind)) = box_at(text, line.start + start).filter(|_| checked.is_none()) {
            checked = Some(markdown::is_tick(tick_in(text.get(..mark.len())?)));
            parts.mark = Some(mark);
            id = id.or_else(|| named(behind).map(|it| it.0));
        } else if parts.word.is_none() && id.is_some() && Status::of(plain).is_some() {
            parts.word = Some(start_of_word..start_of_word + plain.len());
        } else {
            id = id.or_else(|| named(text).map(|it| it.0));
        }
    }
    Some((id?, parts, checked))
}
