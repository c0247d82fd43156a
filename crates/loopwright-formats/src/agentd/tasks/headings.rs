//! Lines that are headings for whoever reads `tasks.md`, also where Markdown sees none.

use super::super::markdown;
use super::super::page::{Line, Page};
use super::fields;
use super::layers;
use super::starts::{self, Start};

/// A heading: its level, its title, and the line behind it.
pub(super) type Heading<'a> = (usize, &'a str, usize);

/// The heading that begins in a line.
pub(super) fn at<'a>(page: &Page<'a>, at: usize) -> Option<Heading<'a>> {
    let line = page.lines.get(at)?;
    if let Some((level, title)) = line.heading() {
        return Some((level, title, at + 1));
    }
    tight(line.text).map(|(level, title)| (level, title, at + 1)).or_else(|| underlined(page, at, line))
}

/// `###Task 1.1: Title` lacks a blank, and is still meant.
fn tight(line: &str) -> Option<(usize, &str)> {
    let start = line.trim_start_matches(' ');
    let rest = start.trim_start_matches('#');
    let level = start.len() - rest.len();
    if line.len() - start.len() > 3 || !(2..=6).contains(&level) || rest.starts_with([' ', '\t']) {
        return None;
    }
    let title = rest.trim_end().trim_end_matches('#').trim_end();
    let is_meant = layers::is_numbered(title) || starts::of_heading(title, level, false).is_some();
    is_meant.then_some((level, title))
}

/// A title with a line of `===` or `---` below it. Three dashes below a sentence are more likely a ruler.
fn underlined<'a>(page: &Page<'a>, at: usize, line: &Line<'a>) -> Option<Heading<'a>> {
    let below = page.lines.get(at + 1).filter(|it| it.is_body())?.text;
    let marks = below.trim();
    let mark = marks.bytes().next().filter(|it| matches!(it, b'=' | b'-'))?;
    if marks.len() < 3 || !marks.bytes().all(|it| it == mark) || markdown::indent(below) > 3 {
        return None;
    }
    let title = line.text.trim();
    let is_text = markdown::indent(line.text) <= 3
        && title.chars().any(char::is_alphanumeric)
        && !title.starts_with(['-', '+', '>', '|', '<'])
        && !title.starts_with("* ")
        && markdown::label(title).and_then(|(name, _)| fields::field(&name)).is_none();
    if !is_text {
        return None;
    }
    let level = if mark == b'=' { 1 } else { 2 };
    let is_plain = layers::is_numbered(title) || starts::of_heading(title, 2, false).is_some();
    let is_title = !title.ends_with(['.', ',', ';', '!', '?']) && (mark == b'=' || marks.len() > 3);
    (is_plain || (is_title && begins_paragraph(page, at))).then_some((level, title, at + 2))
}

/// Whether nothing before a line belongs to it.
fn begins_paragraph(page: &Page<'_>, at: usize) -> bool {
    let Some(before) = at.checked_sub(1).and_then(|it| page.lines.get(it)) else { return true };
    let text = before.text.trim();
    !before.is_body() || text.is_empty() || text.starts_with('<') || before.heading().is_some()
}

/// Whether the next thing below a line is a task. Sentences may stand between.
pub(super) fn tasks_follow(page: &Page<'_>, at: usize) -> bool {
    let lines = page.lines.iter().enumerate().skip(at + 1).filter(|(_, it)| !it.text.trim().is_empty());
    for (at, line) in lines.take(12) {
        if !line.is_body() {
            return markdown::Fence::opened_by(line.text).is_some_and(|it| it.is_yaml());
        }
        if let Some((level, title, _)) = self::at(page, at) {
            return matches!(starts::of_heading(title, level, false), Some(Start::Task { .. }));
        }
        match starts::of_line(line.text).or_else(|| starts::of_paragraph(line.text)) {
            Some(Start::Task { .. }) => return true,
            Some(_) => return false,
            None if markdown::bullet(line.text).is_some() => return false,
            None => {}
        }
    }
    false
}
