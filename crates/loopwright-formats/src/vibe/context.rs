//! `.vibe/CONTEXT.md`: what a newcomer has to know.

use indexmap::IndexMap;

use super::sections::Sections;
use super::text;

/// How many seconds it may be older than what it tells of.
pub const STALE_AFTER: f64 = 86400.0;

/// The titles of its sections.
pub fn headings(text: &str) -> Vec<String> {
    Sections::read(text).iter().map(|(title, _)| title.to_owned()).collect()
}

/// All lines of each section, without those that say nothing.
pub fn sections(text: &str) -> IndexMap<String, Vec<String>> {
    let lines = |lines: &[text::Line<'_>]| {
        lines
            .iter()
            .map(|line| text::trim_end(line.text))
            .filter(|it| !it.is_empty())
            .map(str::to_owned)
            .collect()
    };
    Sections::read(text).iter().map(|(title, section)| (title.to_owned(), lines(&section.lines))).collect()
}

/// The first thing each section says: its first item, or its first line if it has none.
pub fn summary(text: &str) -> IndexMap<String, String> {
    Sections::read(text)
        .iter()
        .filter_map(|(title, section)| {
            let lines: Vec<&str> = section.lines.iter().map(|line| line.text).collect();
            first_item(&lines)
                .or_else(|| {
                    lines.iter().map(|it| text::trim(it)).find(|it| !it.is_empty()).map(str::to_owned)
                })
                .map(|first| (title.to_owned(), first))
        })
        .collect()
}

/// The first item with the indented lines that go on with it.
fn first_item(lines: &[&str]) -> Option<String> {
    let (at, first) = lines.iter().enumerate().find_map(|(at, line)| Some((at, item(line)?)))?;
    let goes_on = |line: &&&str| {
        line.starts_with(text::is_blank) && !text::trim(line).is_empty() && item(line).is_none()
    };
    let rest = lines.iter().skip(at + 1).take_while(goes_on).map(|line| text::trim(line));
    Some(std::iter::once(first).chain(rest).collect::<Vec<_>>().join(" "))
}

/// What stands behind a dash or a star. Here no blank is needed, so that a line in italics is an item too.
fn item(line: &str) -> Option<&str> {
    text::trim(line).strip_prefix(['-', '*']).map(text::trim_start).filter(|it| !it.is_empty())
}

/// Whether it is out of date, by when it and the others were written: `others` are those that exist.
pub fn is_stale(context: f64, others: &[f64]) -> bool {
    others.iter().any(|other| other - context > STALE_AFTER)
}
