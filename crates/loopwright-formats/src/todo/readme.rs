//! `README.md` of the folder: issues by category.

use serde::Serialize;

use super::Status;
use super::comments::appended;
use super::entries::{Entry, Placed};
use super::fields::replaced;
use super::lists::{self, New};
use crate::agentd::page::{Page, line_end};

/// Where an issue goes for which nobody says a category.
pub const CATEGORY: &str = "Issues";
/// The list that is begun.
pub(super) const BEGUN: &str =
    "# Issues\n\nOne file an issue. This list is kept in step with them; its categories are yours.\n";

/// A list of issues by category.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Readme {
    /// The categories, in order. What stands before the first has no name.
    pub categories: Vec<Category>,
}

/// Issues below a heading.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Category {
    /// Its heading.
    pub name: String,
    /// The issues.
    pub entries: Vec<Entry>,
}

impl Readme {
    /// Reads one.
    pub fn read(text: &str) -> Self {
        let page = Page::read(text);
        let mut found = Self { categories: vec![Category::default()] };
        for (at, line) in page.lines.iter().enumerate() {
            if let Some((_, title)) = line.heading() {
                found.categories.push(Category { name: title.to_owned(), entries: Vec::new() });
            } else if let (Some(it), Some(last)) =
                (super::entries::placed(line, at), found.categories.last_mut())
            {
                last.entries.push(it.entry);
            }
        }
        found.categories.retain(|it| !it.name.is_empty() || !it.entries.is_empty());
        found
    }

    /// All issues it lists.
    pub fn entries(&self) -> impl Iterator<Item = &Entry> {
        self.categories.iter().flat_map(|it| &it.entries)
    }

    /// The category that lists an issue.
    pub fn category_of(&self, id: &str) -> Option<&str> {
        let found = self.categories.iter().find(|it| it.entries.iter().any(|it| it.id == id));
        found.map(|it| it.name.as_str()).filter(|it| !it.is_empty())
    }
}

/// A list that shows how far an issue is. One that it does not list changes nothing. Where the categories are named after
/// statuses, the entry goes to the one it is of.
pub fn shown_in_readme(text: &str, id: &str, status: Status) -> String {
    let page = Page::read(text);
    let found = lists::entries(&page, 0..page.lines.len());
    let changed = lists::showing(text, &found, id, status);
    moved(&changed, id, status).unwrap_or(changed)
}

/// The list with an entry below the heading that says how far its issue is, where headings do.
fn moved(text: &str, id: &str, status: Status) -> Option<String> {
    let page = Page::read(text);
    let headings: Vec<(usize, Status)> = page
        .lines
        .iter()
        .enumerate()
        .filter_map(|(at, it)| Some((at, Status::of(it.heading()?.1)?)))
        .collect();
    let target = headings.iter().find(|(_, it)| *it == status)?.0;
    let found = lists::entries(&page, 0..page.lines.len());
    let own: Vec<&Placed> = found.iter().filter(|it| it.entry.id == id && !it.is_row()).collect();
    let [one] = own.as_slice() else { return None };
    let above = page.lines.iter().take(one.at).rposition(|it| it.heading().is_some())?;
    let is_elsewhere = headings.iter().any(|(at, it)| *at == above && *it != status);
    let line = page.lines.get(one.at).filter(|_| is_elsewhere)?.text;
    let without = lists::without(text, &page, &own);
    let page = Page::read(&without);
    // What went out above the heading moved it up.
    let target = if one.at < target { target - 1 } else { target };
    let lines = below(&page, target);
    let there = lists::entries(&page, lines.clone());
    let behind = there.last().map_or(target, |it| it.at);
    let at = page.lines.get(behind).map_or(without.len(), |it| it.start + it.text.len());
    let end = line_end(&without);
    let apart = if there.is_empty() { end.repeat(2) } else { end.to_owned() };
    Some(replaced(&without, at..at, &format!("{apart}{line}")))
}

/// The lines below a heading, up to the next one.
fn below(page: &Page<'_>, heading: usize) -> std::ops::Range<usize> {
    let next = page.lines.iter().enumerate().skip(heading + 1).find(|(_, it)| it.heading().is_some());
    heading + 1..next.map_or(page.lines.len(), |(at, _)| at)
}

/// A list that shows of all its issues how far they are, each once.
pub fn readme_in_step(text: &str, status_of: &dyn Fn(&str) -> Option<Status>) -> String {
    let page = Page::read(text);
    let found = lists::entries(&page, 0..page.lines.len());
    let mut changed = lists::in_step(text, &found, status_of);
    let by_status = page.lines.iter().any(|it| it.heading().is_some_and(|(_, it)| Status::of(it).is_some()));
    for entry in found.iter().filter(|_| by_status) {
        if let Some(status) = status_of(&entry.entry.id) {
            changed = moved(&changed, &entry.entry.id, status).unwrap_or(changed);
        }
    }
    changed
}

/// A list with an issue in a category, which is made if there is none of that name. An empty text is begun.
pub fn with_entry(text: &str, category: Option<&str>, (id, title): (&str, &str), status: Status) -> String {
    if lists::entries(&Page::read(text), 0..usize::MAX).iter().any(|it| it.entry.id == id) {
        return shown_in_readme(text, id, status);
    }
    with_entries(text, category, &[(id, title, status)])
}

/// The same with several that it does not have.
pub fn with_entries(text: &str, category: Option<&str>, all: &[(&str, &str, Status)]) -> String {
    let is_blank = text.trim_start_matches('\u{feff}').trim().is_empty();
    let text = if is_blank { BEGUN } else { text };
    let page = Page::read(text);
    let all: Vec<New<'_>> =
        all.iter().map(|(id, title, status)| New { id, title, status: *status, after: &[] }).collect();
    let name = category.unwrap_or(CATEGORY).trim();
    let is_it = |it: &str| it.to_lowercase() == name.to_lowercase();
    let headings = page.lines.iter().enumerate();
    let mut headings = headings.filter_map(|(at, it)| it.heading().map(|(level, title)| (at, level, title)));
    // The title of the page is no category, as long as there are others.
    let named = headings.find(|(_, level, title)| *level > 1 && is_it(title));
    if let Some((at, ..)) = named {
        return lists::with(text, &page, below(&page, at), &all);
    }
    let end = line_end(text);
    let entries: Vec<String> =
        all.iter().map(|it| format!("- {}", lists::said(*it, true, false, false))).collect();
    appended(text, &format!("## {name}{end}{end}{}", entries.join(end)))
}

/// A list without an issue.
pub fn without_entry(text: &str, id: &str) -> String {
    let page = Page::read(text);
    let found = lists::entries(&page, 0..page.lines.len());
    let gone: Vec<&Placed> = found.iter().filter(|it| it.entry.id == id).collect();
    lists::without(text, &page, &gone)
}
