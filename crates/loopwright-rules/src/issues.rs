//! The rule `human-issues-untouched`: what a person has to see to or to decide, no agent takes off the list.
//!
//! Issues are the boxes under `## Active issues` of a state file; below each are its details, one of them the owner. The
//! reading is that of the program these files come from, quirks included: what it would take for an issue is one here.

use std::collections::HashMap;

use crate::listed::Patterns;
use crate::{Change, Report};

/// The status of an issue that a person has to decide about.
const UNDECIDED: &str = "DECISION_REQUIRED";
/// The status of one that is settled, once its box is ticked as well.
const RESOLVED: &str = "RESOLVED";
/// What is known of an issue, wherever below it that stands.
const FIELDS: &[&str] =
    &["impact", "status", "owner", "unblock_condition", "unblock", "evidence_needed", "evidence", "notes"];

/// Issues that a human owns, and those that wait for a decision, stay as they are until they are settled.
pub(crate) fn human_issues_untouched(changes: &[Change<'_>], states: &[String], report: &mut Report) {
    let usual = [".vibe/STATE.md".to_owned(), "**/.vibe/STATE.md".to_owned()];
    let states = Patterns::new(if states.is_empty() { &usual } else { states });
    for change in changes.iter().filter(|it| states.covers(it.path)) {
        let before = change.before.unwrap_or_default();
        let mut left: HashMap<Vec<u8>, usize> = HashMap::new();
        for issue in issues(change.after.unwrap_or_default()) {
            *left.entry(issue.text).or_default() += 1;
        }
        for issue in issues(before).into_iter().filter(Issue::is_guarded) {
            match left.get_mut(&issue.text) {
                Some(count) if *count > 0 => *count -= 1,
                _ => {
                    let why = if issue.is_human { "a human owns" } else { "somebody has to decide about" };
                    let why = format!("{why} `{}`, and it must stay as it is", issue.title);
                    report.add(change.path, None, why);
                }
            }
        }
    }
}

struct Issue {
    title: String,
    is_human: bool,
    is_undecided: bool,
    is_ticked: bool,
    /// The first that is said counts.
    status: Option<String>,
    /// All of it, without the space after it.
    text: Vec<u8>,
}

impl Issue {
    /// One that is settled may be put away.
    fn is_guarded(&self) -> bool {
        let is_settled = self.is_ticked && self.status.as_deref() == Some(RESOLVED);
        self.is_undecided || self.is_human && !is_settled
    }
}

fn issues(text: &[u8]) -> Vec<Issue> {
    let mut issues: Vec<Issue> = Vec::new();
    let lines: Vec<(&[u8], String)> = lines(text).into_iter().map(|it| (it, read(it))).collect();
    let mut spelling = None;
    let mut is_active = false;
    // What a human's issue has in it, boxes below it too, is the human's.
    let mut open: Vec<(usize, usize)> = Vec::new();
    let mut has_owner = false;
    // Where another entry began that is no box: of what comes after it, only fields are the issue's.
    let mut entry: Option<usize> = None;
    for (bytes, line) in &lines {
        if let Some(title) = heading(line) {
            is_active = title.to_lowercase() == "active issues" && *spelling.get_or_insert(title) == title;
            open.clear();
            entry = None;
            continue;
        }
        if !is_active {
            continue;
        }
        let indent = line.chars().take_while(|it| it.is_whitespace()).count();
        let is_field = field(line).is_some();
        if let Some((is_ticked, title)) = boxed(line) {
            entry = None;
            open.retain(|(_, outer)| *outer < indent);
            open.push((issues.len(), indent));
            has_owner = false;
            let title = title.chars().take(80).collect();
            let (is_human, is_undecided, status, text) = (false, false, None, Vec::new());
            issues.push(Issue { title, is_human, is_undecided, is_ticked, status, text });
        } else if let Some(status) = status(line) {
            if let Some(issue) = issues.last_mut().filter(|_| !open.is_empty()) {
                issue.is_undecided |= status == UNDECIDED;
                issue.status.get_or_insert(status);
            }
        } else if let Some(owner) = owner(line)
            && !has_owner
        {
            has_owner = true;
            if let Some(issue) = issues.last_mut().filter(|_| !open.is_empty()) {
                issue.is_human = owner && !is_placeholder(&issue.title);
            }
        } else if !is_field && ["- ", "* ", "+ "].iter().any(|it| line.trim_start().starts_with(it)) {
            entry = Some(entry.map_or(indent, |it| it.min(indent)));
        }
        let belongs = |outer: usize| is_field || entry.is_none_or(|it| it > outer);
        for (index, _) in open.iter().filter(|(_, outer)| belongs(*outer)) {
            issues.get_mut(*index).into_iter().for_each(|it| it.text.extend_from_slice(bytes));
        }
    }
    for issue in &mut issues {
        issue.text.truncate(issue.text.trim_ascii_end().len());
    }
    issues
}

/// The lines of a text with their endings, of which there are more than one would think.
fn lines(text: &[u8]) -> Vec<&[u8]> {
    let mut lines = Vec::new();
    let mut rest = text;
    let mut at = 0;
    while at < rest.len() {
        let length = match rest.get(at..).unwrap_or_default() {
            [b'\r', b'\n', ..] | [0xc2, 0x85, ..] => 2,
            [b'\n' | b'\r' | 0x0b | 0x0c | 0x1c..=0x1e, ..] => 1,
            [0xe2, 0x80, 0xa8 | 0xa9, ..] => 3,
            _ => 0,
        };
        at += length.max(1);
        if length > 0 {
            let (line, after) = rest.split_at(at);
            lines.push(line);
            (rest, at) = (after, 0);
        }
    }
    lines.push(rest);
    lines
}

fn read(line: &[u8]) -> String {
    String::from_utf8_lossy(line).trim_end().to_owned()
}

/// The title of a section.
fn heading(line: &str) -> Option<&str> {
    let rest = line.trim_start().strip_prefix("##")?;
    rest.starts_with(char::is_whitespace).then(|| rest.trim()).filter(|it| !it.is_empty())
}

/// Whether a box is ticked, and what stands after it.
fn boxed(line: &str) -> Option<(bool, &str)> {
    let rest = line.trim_start().strip_prefix('-')?.trim_start().strip_prefix('[')?;
    let (mark, title) = rest.split_once(']')?;
    matches!(mark.trim(), "" | "x" | "X").then(|| (!mark.trim().is_empty(), title.trim()))
}

/// Whether it is what the template has where an issue would be.
fn is_placeholder(title: &str) -> bool {
    let said = title.rsplit(':').next().unwrap_or_default().trim().to_lowercase();
    title.contains("<short") || matches!(said.as_str(), "none" | "none.")
}

/// Whether a human is the owner, if the line says who is.
fn owner(line: &str) -> Option<bool> {
    let (key, value) = line.trim_start().strip_prefix('-')?.split_once(':')?;
    let is_owner = key.trim_matches(|it: char| !it.is_alphanumeric()).eq_ignore_ascii_case("owner");
    let word = value.split(|it: char| !it.is_alphanumeric()).find(|it| !it.is_empty());
    is_owner.then(|| word.is_some_and(|it| it.eq_ignore_ascii_case("human")))
}

/// What a line says of an issue: which field, and what.
fn field(line: &str) -> Option<(String, &str)> {
    let (key, value) = line.trim_start().strip_prefix('-')?.split_once(':')?;
    let words: Vec<&str> = key.split(|it: char| !it.is_alphanumeric()).filter(|it| !it.is_empty()).collect();
    let key = words.join("_").to_lowercase();
    FIELDS.contains(&&*key).then_some((key, value))
}

/// How an issue stands, if a line says so.
fn status(line: &str) -> Option<String> {
    let (key, value) = field(line)?;
    let word = value.split_whitespace().next().unwrap_or_default();
    (key == "status" && !word.is_empty()).then(|| word.to_uppercase())
}
