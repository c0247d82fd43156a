//! Another id for an issue.

use super::body::Body;
use super::entries::Placed;
use super::fields::{Fields, replaced};
use super::issue::FIELDS;
use super::words;
use crate::agentd::page::Page;

/// The text of an issue that is called otherwise from now on: wherever it speaks of itself.
pub fn renamed(text: &str, from: &str, to: &str) -> String {
    within(text, 0..text.len(), from, to)
}

/// What of a text leads to an issue, and not only speaks of it.
#[derive(Clone, Copy)]
pub struct Meant<'m> {
    /// Whether its parent and its dependencies do.
    pub fields: bool,
    /// Which entries of lists do, given what they say besides.
    pub entries: &'m dyn Fn(&str) -> bool,
}

/// An issue in which what leads to another leads to a third: parent, dependencies, and entries of its sub-issues.
pub fn referred(text: &str, from: &str, to: &str, meant: Meant<'_>) -> String {
    let page = Page::read(text);
    let fields = Fields::read(&page, FIELDS);
    let is_meant = meant.entries;
    let mut places: Vec<_> =
        fields.places(if meant.fields { &["parent", "depends-on"] } else { &[] }).collect();
    let entries = Body::read(&page).sub_issues;
    places.extend(lines_of(&page, &entries, from, is_meant));
    all_within(text, places, from, to)
}

/// A list of issues in which the entries of one that `is_meant` lead to another.
pub fn listed_as(text: &str, from: &str, to: &str, is_meant: &dyn Fn(&str) -> bool) -> String {
    let page = Page::read(text);
    let entries = super::lists::entries(&page, 0..page.lines.len());
    let places = lines_of(&page, &entries, from, is_meant).collect();
    all_within(text, places, from, to)
}

fn lines_of<'p>(
    page: &'p Page<'_>,
    entries: &'p [Placed],
    id: &'p str,
    is_meant: &'p dyn Fn(&str) -> bool,
) -> impl Iterator<Item = std::ops::Range<usize>> + 'p {
    let own = entries.iter().filter(move |it| it.entry.id == id);
    let lines = own.filter_map(|it| page.lines.get(it.at).map(|line| (it, line)));
    lines
        .filter(|(it, line)| is_meant(it.says(line.text)))
        .map(|(_, line)| line.start..line.start + line.text.len())
}

fn all_within(text: &str, mut places: Vec<std::ops::Range<usize>>, from: &str, to: &str) -> String {
    places.sort_by_key(|it| std::cmp::Reverse(it.start));
    places.into_iter().fold(text.to_owned(), |text, it| within(&text, it, from, to))
}

fn within(text: &str, range: std::ops::Range<usize>, from: &str, to: &str) -> String {
    let Some(part) = text.get(range.clone()) else { return text.to_owned() };
    let found = words::ids_in(part);
    let own = found.into_iter().rev().filter(|it| part.get(it.clone()) == Some(from));
    let part = own.fold(part.to_owned(), |part, it| replaced(&part, it, to));
    replaced(text, range, &part)
}
