//! `.review-history.md`: what reviewers said, round by round, and what was done about it.
//!
//! The form is a heading for the phase, one for each round with its time, then paragraphs that begin with a bold word.
//! Several agents wrote it in several ways; all are read. What is written is added to, never written anew.

use std::fmt::Write as _;
use std::ops::Range;

use serde::Serialize;

use super::words::{moment, phase};

/// A round.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Entry {
    /// The phase, if it is known.
    pub phase: String,
    /// The round, from one. Zero: nobody counted.
    pub iteration: u64,
    /// When, as written.
    pub at: String,
    /// How it came out: `Approved`, `Needs Revision`.
    pub decision: String,
    /// What the reviewer said in all.
    pub summary: String,
    /// What the reviewer found.
    pub issues: Vec<Issue>,
    /// What was changed about it.
    pub changes: String,
    /// The line of its heading, from 1.
    pub line: usize,
}

/// A round and where it stands.
#[derive(Default)]
struct Placed {
    entry: Entry,
    bytes: Range<usize>,
    changed_at: Option<Range<usize>>,
}

/// Something a reviewer found.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Issue {
    /// How bad.
    pub severity: String,
    /// What.
    pub text: String,
    /// Where, if that is said.
    pub place: String,
}

/// What a heading is.
enum Heading {
    Title,
    Phase(&'static str),
    Round { phase: Option<&'static str>, iteration: u64, at: String },
}

/// The rounds of a text, in order.
pub fn read(text: &str) -> Vec<Entry> {
    placed(text).into_iter().map(|it| it.entry).collect()
}

fn placed(text: &str) -> Vec<Placed> {
    let mut entries: Vec<Placed> = Vec::new();
    let mut current = "";
    let mut field = String::new();
    // What is above all rounds belongs to none.
    let mut is_within = false;
    let mut at = 0;
    for (number, whole) in text.split_inclusive('\n').enumerate() {
        let (start, end) = (at, at + whole.len());
        at = end;
        let line = whole.trim_end();
        if let Some(heading) = heading(line) {
            match heading {
                Heading::Title => is_within = false,
                Heading::Phase(name) => (current, is_within) = (name, false),
                Heading::Round { phase, iteration, at } => {
                    current = phase.unwrap_or(current);
                    let bytes = start..end;
                    let (phase, line) = (current.to_owned(), number + 1);
                    let entry = Entry { phase, iteration, at, line, ..Entry::default() };
                    entries.push(Placed { entry, bytes, changed_at: None });
                    (is_within, field) = (true, String::new());
                }
            }
            continue;
        }
        let Some(entry) = entries.last_mut().filter(|_| is_within) else { continue };
        if is_rule(line) {
            is_within = false;
            continue;
        }
        if !line.trim().is_empty() {
            entry.bytes.end = end;
        }
        let said = match bold(line) {
            Some((name, said)) => {
                field = name;
                if field.starts_with("changes") {
                    entry.changed_at = Some(start..end);
                }
                said
            }
            None => line,
        };
        if field.starts_with("changes")
            && !line.trim().is_empty()
            && let Some(bytes) = &mut entry.changed_at
        {
            bytes.end = end;
        }
        entry.entry.take(&field, said);
    }
    for Placed { entry, .. } in &mut entries {
        for text in [&mut entry.summary, &mut entry.changes] {
            *text = text.trim().to_owned();
        }
    }
    entries
}

impl Entry {
    fn take(&mut self, field: &str, line: &str) {
        let plain = unescaped(line);
        match field {
            "decision" if !plain.trim().is_empty() => plain.trim().clone_into(&mut self.decision),
            "summary" | "reviewer feedback" | "feedback" => more(&mut self.summary, &plain),
            it if it.starts_with("changes") => more(&mut self.changes, &plain),
            it if it.starts_with("issues") => match plain.trim_start().strip_prefix(['-', '*']) {
                Some(said) if !plain.starts_with(char::is_whitespace) => self.issues.push(Issue::read(said)),
                _ => {
                    if let Some(issue) = self.issues.last_mut().filter(|_| !plain.trim().is_empty()) {
                        let _ = write!(issue.text, " {}", plain.trim());
                    }
                }
            },
            _ => {}
        }
    }
}

fn more(text: &mut String, line: &str) {
    text.push_str(line.trim_end());
    text.push('\n');
}

impl Issue {
    fn read(said: &str) -> Self {
        let said = said.trim();
        let (severity, text) = match said.strip_prefix('[').and_then(|it| it.split_once(']')) {
            Some((severity, rest)) => (severity.trim().to_owned(), rest.trim()),
            None => (String::new(), said),
        };
        let (text, place) = match text.strip_suffix(')').and_then(|it| it.rsplit_once("(at: ")) {
            Some((text, place)) => (text.trim(), place.trim().to_owned()),
            None => (text, String::new()),
        };
        Self { severity, text: text.to_owned(), place }
    }
}

/// What a line is a heading of.
fn heading(line: &str) -> Option<Heading> {
    let said = line.strip_prefix('#')?.trim_start_matches('#').trim();
    let level = line.len() - line.trim_start_matches('#').len();
    let parts: Vec<&str> = said.split(" - ").map(str::trim).collect();
    let is_time = |it: &&&str| moment(it).is_some();
    let time = parts.iter().rev().find(is_time).map(|it| (*it).to_owned());
    let count = parts.iter().find_map(|it| {
        let small = it.to_lowercase();
        let (_, rest) = small.split_once("iteration")?;
        let rest = rest.trim_start_matches([' ', '#']);
        rest.split(|it: char| !it.is_ascii_digit()).next()?.parse().ok()
    });
    let of = parts.iter().find_map(|it| named(it));
    if level > 1 && (count.is_some() || time.is_some() && parts.len() > 1) {
        let (iteration, at) = (count.unwrap_or(0), time.unwrap_or_default());
        return Some(Heading::Round { phase: of, iteration, at });
    }
    match of {
        Some(phase) if level > 1 => Some(Heading::Phase(phase)),
        _ => Some(Heading::Title),
    }
}

/// The phase that a heading names: `Phase: design`, `Design Phase`, `Stage 1: Spec-Reviewer Review`.
fn named(said: &str) -> Option<&'static str> {
    let said = match said.split_once(':') {
        Some((before, after))
            if ["phase", "stage"].iter().any(|it| before.to_lowercase().starts_with(it)) =>
        {
            after
        }
        Some(_) => return None,
        None => said,
    };
    let words: Vec<&str> = said.split_whitespace().collect();
    let plain = match words.split_last() {
        Some((last, before)) if matches!(last.to_lowercase().as_str(), "phase" | "review") => {
            before.join("-")
        }
        _ => words.join("-"),
    };
    let plain = plain.to_lowercase();
    phase(plain.trim_end_matches("-reviewer"))
}

fn is_rule(line: &str) -> bool {
    let line = line.trim();
    line.len() >= 3 && line.chars().all(|it| it == '-')
}

/// A bold word at the start of a line, in small letters, and what follows it.
fn bold(line: &str) -> Option<(String, &str)> {
    let (name, rest) = line.strip_prefix("**")?.split_once("**")?;
    let (name, rest) = match (name.trim().strip_suffix(':'), rest.strip_prefix(':')) {
        (Some(name), _) => (name, rest),
        (None, Some(rest)) => (name, rest),
        (None, None) => return None,
    };
    Some((name.trim().to_lowercase(), rest.trim()))
}

/// Text in which nothing is taken for the form around it.
fn escaped(text: &str) -> String {
    let line = |it: &str| {
        let it = it.trim_end();
        let is_form = it.starts_with(['#', '\\']) || is_rule(it) || bold(it).is_some();
        if is_form { format!("\\{it}") } else { it.to_owned() }
    };
    text.trim().lines().map(line).collect::<Vec<_>>().join("\n")
}

fn unescaped(line: &str) -> String {
    line.strip_prefix('\\').unwrap_or(line).to_owned()
}

/// A text on one line.
fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The text with one more round. One that is there already is not written again.
pub fn append(text: &str, title: &str, entry: &Entry) -> String {
    let there = read(text);
    // One reviewer after the other may say something of a round, within a second.
    let decision = one_line(&entry.decision);
    let is_same = |it: &Entry| {
        (&it.phase, it.iteration, it.at.as_str(), &it.decision)
            == (&entry.phase, entry.iteration, entry.at.trim(), &decision)
    };
    if there.iter().any(is_same) {
        return text.to_owned();
    }
    let mut written = text.to_owned();
    if written.trim_start_matches('\u{feff}').trim().is_empty() {
        let title = one_line(title);
        let title =
            if title.is_empty() { "Review History".to_owned() } else { format!("Review History: {title}") };
        written = format!("# {title}\n");
    } else if !written.ends_with('\n') {
        written.push('\n');
    }
    if !written.ends_with("\n\n") {
        written.push('\n');
    }
    if there.last().is_none_or(|it| it.phase != entry.phase) {
        let _ = write!(written, "## Phase: {}\n\n", entry.phase);
    }
    let _ = write!(written, "### Iteration {} - {}\n\n", entry.iteration, entry.at.trim());
    if !entry.decision.trim().is_empty() {
        let _ = write!(written, "**Decision:** {}\n\n", one_line(&entry.decision));
    }
    let _ = write!(written, "**Reviewer Feedback:**\n{}\n\n**Issues:**\n", or_none(&escaped(&entry.summary)));
    for Issue { severity, text, place } in &entry.issues {
        let severity = if severity.is_empty() { "note" } else { severity };
        let place = if place.is_empty() { String::new() } else { format!(" (at: {})", one_line(place)) };
        let _ = writeln!(written, "- [{severity}] {}{place}", one_line(text));
    }
    if entry.issues.is_empty() {
        written.push_str("None.\n");
    }
    if !entry.changes.trim().is_empty() {
        let _ = write!(written, "\n**Changes Made:**\n{}\n", escaped(&entry.changes));
    }
    written.push_str("\n---\n");
    written
}

fn or_none(text: &str) -> &str {
    if text.is_empty() { "None." } else { text }
}

/// The text with what was changed after its last round. What is said there already is not said again.
pub fn with_changes(text: &str, changes: &str) -> Result<String, &'static str> {
    let entries = placed(text);
    let Some(last) = entries.last() else { return Err("there is no round yet") };
    let changes = escaped(changes);
    if changes.is_empty() || escaped(&last.entry.changes) == changes {
        return Ok(text.to_owned());
    }
    let (before, after) = match &last.changed_at {
        Some(bytes) => (&text[..bytes.start], &text[bytes.end..]),
        None => (&text[..last.bytes.end], &text[last.bytes.end..]),
    };
    let gap = if last.changed_at.is_some() || before.ends_with("\n\n") { "" } else { "\n" };
    let gap = if before.ends_with('\n') { gap } else { "\n\n" };
    Ok(format!("{before}{gap}**Changes Made:**\n{changes}\n{after}"))
}
