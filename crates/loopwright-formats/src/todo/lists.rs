//! Lists of issues below a heading: more entries, fewer, or other words in them.

use std::ops::Range;

use super::Status;
use super::entries::{AFTER, IN_PROGRESS, Placed, placed};
use super::fields::replaced;
use crate::agentd::markdown;
use crate::agentd::page::{Page, line_end};

/// An entry that is to be written.
#[derive(Clone, Copy)]
pub(super) struct New<'a> {
    pub id: &'a str,
    pub title: &'a str,
    pub status: Status,
    /// The issues it needs first.
    pub after: &'a [String],
}

/// The entries among some lines.
pub(super) fn entries(page: &Page<'_>, lines: Range<usize>) -> Vec<Placed> {
    let lines = lines.start..lines.end.min(page.lines.len());
    let own = page.lines.get(lines.clone()).unwrap_or_default();
    own.iter().zip(lines).filter_map(|(line, at)| placed(line, at)).collect()
}

/// A text with more entries among the lines below a heading, behind those that the first needs or behind all of them.
pub(super) fn with(text: &str, page: &Page<'_>, lines: Range<usize>, all: &[New<'_>]) -> String {
    let Some(new) = all.first() else { return text.to_owned() };
    let there = entries(page, lines.clone());
    let end = line_end(text);
    let items: Vec<&Placed> = there.iter().filter(|it| !it.is_row()).collect();
    let needed = items.iter().rfind(|it| new.after.contains(&it.entry.id));
    let Some(like) = needed.or(items.last()) else {
        let entries: Vec<String> =
            all.iter().map(|it| format!("- {}", said(*it, true, false, false))).collect();
        return first(text, page, &lines, &entries.join(end));
    };
    // One that needs nothing stands as far out as any.
    let depth = |it: &Placed| page.lines.get(it.at).map_or(0, |it| markdown::indent(it.text));
    let least = items.iter().map(|it| depth(it)).min().unwrap_or(0);
    let line = page.lines.get(like.at).map_or("", |it| it.text);
    let bare = line.trim_start();
    let marker = bare.len() - markdown::bullet(line).map_or(bare.len(), str::len);
    let bullet =
        bare.get(..marker).filter(|it| !it.starts_with(|it: char| it.is_ascii_digit())).unwrap_or("- ");
    let indent = if needed.is_some() { depth(like) + bullet.len() } else { least };
    let entries = all.iter().map(|it| said(*it, like.has_box(), like.has_word(), needed.is_some()));
    let indent = " ".repeat(indent);
    let entries: Vec<String> = entries.map(|it| format!("{end}{indent}{bullet}{it}")).collect();
    let behind = last_of(page, like.at, if needed.is_some() { depth(like) } else { least }, lines.end);
    let at = page.lines.get(behind).map_or(text.len(), |it| it.start + it.text.trim_end().len());
    replaced(text, at..at, &entries.concat())
}

/// The last line that belongs to an entry: those behind it that stand further in than `depth`.
fn last_of(page: &Page<'_>, at: usize, depth: usize, end: usize) -> usize {
    let mut last = at;
    for (place, line) in page.lines.iter().enumerate().take(end).skip(at + 1) {
        let is_blank = line.text.trim().is_empty();
        let is_within =
            markdown::indent(line.text) > depth || markdown::bullet(line.text).is_none() && place == last + 1;
        if is_blank || line.heading().is_some() {
            continue;
        }
        if !is_within || !line.is_body() {
            break;
        }
        last = place;
    }
    last
}

/// A text with the first entry below a heading, behind whatever else stands there.
fn first(text: &str, page: &Page<'_>, lines: &Range<usize>, entry: &str) -> String {
    let end = line_end(text);
    // Up to the next heading, of whatever level: what stands below that belongs to it.
    let own = page.lines.get(lines.clone()).unwrap_or_default();
    let own = own.iter().take_while(|it| it.heading().is_none()).collect::<Vec<_>>();
    let last = own.iter().rev().find(|it| !it.text.trim().is_empty());
    let above = page.lines.get(lines.start.saturating_sub(1));
    let Some(line) = last.copied().or(above) else { return text.to_owned() };
    let at = line.start + line.text.trim_end().len();
    replaced(text, at..at, &format!("{end}{end}{entry}"))
}

/// What an entry says.
pub(super) fn said(new: New<'_>, has_box: bool, has_word: bool, is_after: bool) -> String {
    let title = new.title.split_whitespace().collect::<Vec<_>>().join(" ");
    let mark = match (has_box, new.status) {
        (false, _) => "",
        (true, Status::Done) => "[x] ",
        (true, _) => "[ ] ",
    };
    let arrow = if is_after { format!("{AFTER} ") } else { String::new() };
    let word = match (has_box, has_word, new.status) {
        (true, _, Status::InProgress) => IN_PROGRESS.to_owned(),
        (false, true, status) => format!(" ({})", status.as_str()),
        _ => String::new(),
    };
    let colon = if title.is_empty() { "" } else { ": " };
    format!("{mark}{arrow}[{id}]({id}.md){colon}{title}{word}", id = new.id)
}

/// A text without the lines of some entries.
pub(super) fn without(text: &str, page: &Page<'_>, gone: &[&Placed]) -> String {
    let mut places: Vec<usize> = gone.iter().map(|it| it.at).collect();
    places.sort_unstable();
    places.iter().rev().fold(text.to_owned(), |text, at| {
        let Some(line) = page.lines.get(*at) else { return text };
        // The last line takes the line end before it along.
        let before = page.lines.get(at.wrapping_sub(1)).map(|it| it.start + it.text.len());
        let range = match before {
            Some(before) if line.next == line.start + line.text.len() => before..line.next,
            _ => line.start..line.next,
        };
        replaced(&text, range, "")
    })
}

/// A text in which every entry shows how far its issue is, as far as that is known, and none is there twice.
pub(super) fn in_step(text: &str, found: &[Placed], status_of: &dyn Fn(&str) -> Option<Status>) -> String {
    let own = found.iter().rev().filter_map(|it| Some((it, status_of(&it.entry.id)?)));
    let changed = own.filter(|(it, status)| it.entry.shown.is_some_and(|shown| shown != *status));
    let shown = changed.fold(text.to_owned(), |text, (it, status)| it.showing(&text, status));
    let mut seen = std::collections::HashSet::new();
    let again: Vec<usize> = found.iter().filter(|it| !seen.insert(&it.entry.id)).map(|it| it.at).collect();
    if again.is_empty() {
        return shown;
    }
    let page = Page::read(&shown);
    let found = entries(&page, 0..page.lines.len());
    without(&shown, &page, &found.iter().filter(|it| again.contains(&it.at)).collect::<Vec<_>>())
}

/// A text in which every entry of an issue shows how far that is.
pub(super) fn showing(text: &str, found: &[Placed], id: &str, status: Status) -> String {
    let own = found.iter().rev().filter(|it| it.entry.id == id);
    own.fold(text.to_owned(), |text, it| it.showing(&text, status))
}
