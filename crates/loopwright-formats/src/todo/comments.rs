//! What was said about an issue: under a heading each, or in an item or a paragraph each.

use std::fmt::Write as _;
use std::ops::Range;

use super::body::{About, Body};
use super::fields::replaced;
use super::issue::{Issue, top, without_lines};
use crate::agentd::markdown::{self, Fence};
use crate::agentd::page::{Line, Page, line_end};

/// What was said in some lines.
pub(super) fn read(page: &Page<'_>, lines: Range<usize>) -> Vec<String> {
    let own = page.lines.get(lines).unwrap_or_default();
    let has_headings = own.iter().any(|it| it.heading().is_some());
    let mut found: Vec<String> = Vec::new();
    let (mut gap, mut in_item) = (true, false);
    for line in own {
        let is_item = line.is_body() && is_item(line.text);
        let is_blank = line.text.trim().is_empty();
        let begins = match line.heading() {
            Some(_) => true,
            None if has_headings => found.is_empty() && !is_blank,
            None => {
                is_item && (gap || in_item)
                    || gap && line.is_body() && !is_blank && markdown::indent(line.text) == 0
            }
        };
        let text = match line.heading() {
            Some((_, title)) => title,
            None if begins && is_item && !has_headings => markdown::bullet(line.text).unwrap_or_default(),
            // As it is written here, what goes on with an item stands two blanks in.
            None if !begins && in_item => {
                line.text.strip_prefix("  ").unwrap_or_else(|| line.text.trim_start())
            }
            None => line.text,
        };
        if begins {
            in_item = is_item && !has_headings;
            found.push(String::new());
        }
        if let Some(comment) = found.last_mut() {
            comment.push_str(text);
            comment.push('\n');
        }
        gap = is_blank;
    }
    found.iter().map(|it| tidy(it)).filter(|it| !it.is_empty()).collect()
}

/// Whether a line is an item of the outermost list.
fn is_item(line: &str) -> bool {
    markdown::indent(line) == 0 && markdown::bullet(line).is_some()
}

/// A comment without what nobody sees: blanks at the ends of lines, empty lines around it and behind its first.
fn tidy(text: &str) -> String {
    let mut lines: Vec<&str> = Vec::new();
    for line in text.lines().map(str::trim_end) {
        if !line.is_empty() || lines.len() > 1 && lines.last().is_some_and(|it| !it.is_empty()) {
            lines.push(line);
        }
    }
    lines.join("\n").trim().to_owned()
}

/// A comment as it is written, whoever says it: nothing in it takes in what stands around it.
pub fn comment(text: &str) -> String {
    let text = tidy(&text.replace("\r\n", "\n").replace(['\r', '\u{feff}'], "\n"));
    // Behind a dash or a hash, code would not be seen to begin.
    let is_code = text.lines().next().is_some_and(|it| Fence::opened_by(it).is_some());
    let text = if is_code { format!("As follows:\n{text}") } else { text };
    let mut open: Option<(usize, String)> = None;
    let mut lines: Vec<String> = Vec::new();
    for line in text.lines() {
        let is_fence = Fence::opened_by(line).is_some();
        let line = match &open {
            Some((_, fence)) => {
                if Fence::opened_by(fence).is_some_and(|it| it.is_closed_by(line)) {
                    open = None;
                }
                line.to_owned()
            }
            None if is_fence => {
                open = Some((lines.len(), line.to_owned()));
                line.to_owned()
            }
            None if markdown::heading(line).is_some() => line.replacen('#', "\\#", 1),
            None => line.to_owned(),
        };
        lines.push(line.replace("<!--", "<! --"));
    }
    // What is never closed would go on behind the comment, and what was taken for code is none.
    if let Some((from, _)) = open {
        for line in lines.iter_mut().skip(from) {
            let sign = line.trim_start().chars().next().filter(|it| matches!(it, '`' | '~'));
            let is_sign = Fence::opened_by(line).is_some() || markdown::heading(line).is_some();
            if is_sign && let Some(at) = line.find(sign.unwrap_or('#')) {
                line.insert(at, '\\');
            }
        }
    }
    lines.join("\n")
}

/// The text with one more comment at the end of its comments.
pub fn with_comment(text: &str, said: &str) -> Result<String, String> {
    let said = comment(said);
    if said.is_empty() {
        return Err("a comment says something".to_owned());
    }
    let page = Page::read(text);
    let body = Body::read(&page);
    let end = line_end(text);
    let section = body.section(About::Comments);
    let heading = section.and_then(|it| {
        let own = page.lines.get(it.lines.clone()).unwrap_or_default();
        own.iter().rev().find_map(Line::heading).map(|(level, _)| level)
    });
    let mut lines = said.lines();
    let first = lines.next().unwrap_or_default();
    let mut written = match heading {
        Some(level) => format!("{} {first}", "#".repeat(level)),
        None => format!("- {first}"),
    };
    for (at, line) in lines.enumerate() {
        let apart = if at == 0 && heading.is_some() { end } else { "" };
        let indent = if heading.is_some() || line.is_empty() { "" } else { "  " };
        let _ = write!(written, "{apart}{end}{indent}{line}");
    }
    let changed = match section {
        Some(section) => {
            let own = page.lines.get(section.lines.clone()).unwrap_or_default();
            let last = own.iter().rposition(|it| !it.text.trim().is_empty()).and_then(|it| own.get(it));
            let above = page.lines.get(section.lines.start.saturating_sub(1));
            let Some(last) = last.or(above) else {
                return Err("there is nowhere to put a comment".to_owned());
            };
            // An item follows an item at once, and anything else behind an empty line.
            let outermost =
                own.iter().rev().find(|it| !it.text.trim().is_empty() && markdown::indent(it.text) == 0);
            let in_list = heading.is_none() && outermost.is_some_and(|it| is_item(it.text));
            let at = last.start + last.text.trim_end().len();
            let apart = if in_list { end.to_owned() } else { end.repeat(2) };
            replaced(text, at..at, &format!("{apart}{written}"))
        }
        None => appended(text, &format!("## Comments{end}{end}{written}")),
    };
    let (before, after) = (Issue::read("", text), Issue::read("", &changed));
    let mut wanted = without_lines(&before);
    wanted.2.push(said);
    let same = wanted == without_lines(&after) && top(&before) == top(&after);
    let same = same && before.problems.len() == after.problems.len();
    if same {
        Ok(changed)
    } else {
        Err("this comment cannot be written here without changing something else".to_owned())
    }
}

/// A text with something behind it, an empty line between them; it ends as it did.
pub(super) fn appended(text: &str, behind: &str) -> String {
    let end = line_end(text);
    let is_empty = text.trim_start_matches('\u{feff}').trim().is_empty();
    let (apart, last) = match text {
        it if is_empty => {
            (if it.is_empty() || it.ends_with(['\n', '\r', '\u{feff}']) { "" } else { end }, end)
        }
        it if it.ends_with(&end.repeat(2)) => ("", end),
        it if it.ends_with(['\n', '\r']) => (end, end),
        _ => (&*end.repeat(2), ""),
    };
    format!("{text}{apart}{behind}{last}")
}
