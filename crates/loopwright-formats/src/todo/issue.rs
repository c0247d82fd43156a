//! `<ID>.md`: one issue.

use serde::Serialize;

use super::body::{Body, Criterion};
use super::entries::Entry;
use super::fields::{Fields, Names};
use super::spelled::Written;
use super::{Problem, Status, words};
use crate::agentd::page::Page;

/// What an issue says at its top.
pub(super) const FIELDS: Names = &[
    &["id", "issue", "issue-id", "key"],
    &["title", "name", "summary"],
    &["status", "state"],
    &["labels", "label", "tags"],
    &["parent", "parent-id", "parent-issue"],
    &["depends-on", "depends", "dependson", "dependencies", "blocked-by", "requires"],
];

/// An issue.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Issue {
    /// What it is called; the name of its file, if it does not say.
    pub id: String,
    /// In a few words.
    pub title: String,
    /// How far it is.
    pub status: Status,
    /// What kind of issue it is.
    pub labels: Vec<String>,
    /// The issue it is part of.
    pub parent: Option<String>,
    /// The issues that have to be done before.
    pub depends_on: Vec<String>,
    /// When it is done.
    pub criteria: Vec<Criterion>,
    /// The issues it lists as parts of it.
    pub sub_issues: Vec<Entry>,
    /// What was said about it.
    pub comments: Vec<String>,
    /// What of it cannot be understood.
    pub problems: Vec<Problem>,
    /// What of it is odd, and nobody has to stop at.
    pub doubts: Vec<Problem>,
    /// Lines of the fields that others are held against.
    pub lines: Lines,
}

/// Where the fields of an issue stand; 1 for one that is not there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Lines {
    /// Of its id.
    pub id: usize,
    /// Of its status.
    pub status: usize,
    /// Of its parent.
    pub parent: usize,
    /// Of what it depends on.
    pub depends_on: usize,
}

impl Default for Lines {
    fn default() -> Self {
        Self { id: 1, status: 1, parent: 1, depends_on: 1 }
    }
}

impl Issue {
    /// Reads one. `stem` is the name of its file without `.md`.
    pub fn read(stem: &str, text: &str) -> Self {
        let page = Page::read(text);
        let mut issue = Self::of(stem, &page);
        let body = Body::read(&page);
        issue.criteria = body.criteria().cloned().collect();
        issue.sub_issues = body.sub_issues.into_iter().map(|it| it.entry).collect();
        issue.comments = body.comments;
        issue.doubts.extend(body.doubts);
        issue
    }

    /// Reads only what it says at its top.
    pub fn head(stem: &str, text: &str) -> Self {
        let quick = front_of(text).map(|it| Self::of(stem, &Page::bare(it)));
        quick.filter(|it| !it.title.is_empty()).unwrap_or_else(|| Self::of(stem, &Page::read(text)))
    }

    fn of(stem: &str, page: &Page<'_>) -> Self {
        let mut fields = Fields::read(page, FIELDS);
        let mut problems = Vec::new();
        let line = |fields: &Fields<'_>, name: &str| fields.get(name).map_or(1, |it| it.line);
        let lines = Lines {
            id: line(&fields, "id"),
            status: line(&fields, "status"),
            parent: line(&fields, "parent"),
            depends_on: line(&fields, "depends-on"),
        };
        let heading =
            page.lines.iter().find_map(|it| it.heading().filter(|(level, _)| *level == 1)).map(|(_, it)| it);
        let (called, said) = heading.map_or((None, None), split_title);
        let id = fields.text_of("id").or(called.map(str::to_owned));
        let title = fields.text_of("title").or(said.map(str::to_owned)).unwrap_or_default();
        if title.is_empty() {
            problems.push(Problem::new(1, "the issue has no title: write `title: ...` at its top"));
        }
        let written = fields.text_of("status");
        let status = written.as_deref().map_or(Some(Status::Todo), Status::of);
        if let (None, Some(word)) = (status, &written) {
            let all = Status::ALL.map(Status::as_str).join(", ");
            problems.push(Problem::new(lines.status, format!("`{word}` is no status; one of {all}")));
        }
        let mut ids = |name: &'static str, line: usize| -> Vec<String> {
            let mut found = Vec::new();
            for entry in fields.list_of(name) {
                match words::ids(&entry) {
                    Ok(ids) => found.extend(ids),
                    Err(odd) => problems
                        .push(Problem::new(line, format!("`{odd}` in `{name}` is no id such as `GAL-39`"))),
                }
            }
            let mut seen = std::collections::HashSet::new();
            found.retain(|it| seen.insert(it.clone()));
            found
        };
        let depends_on = ids("depends-on", lines.depends_on);
        let parents = ids("parent", lines.parent);
        if parents.len() > 1 {
            problems.push(Problem::new(lines.parent, "an issue is part of one other issue at most"));
        }
        let labels = fields.list_of("labels");
        let labels = labels.iter().flat_map(|it| it.split(',')).map(str::trim);
        let labels = labels.filter(|it| !words::says_nothing(it)).map(str::to_owned).collect();
        problems.append(&mut fields.problems);
        problems.sort();
        problems.dedup();
        Self {
            id: id.unwrap_or_else(|| stem.to_owned()),
            title,
            status: status.unwrap_or_default(),
            labels,
            parent: parents.into_iter().next(),
            depends_on,
            problems,
            lines,
            ..Self::default()
        }
    }

    /// How many criteria are not ticked.
    pub fn open_criteria(&self) -> usize {
        self.criteria.iter().filter(|it| !it.checked).count()
    }

    /// The ids of the criteria that are ticked.
    pub fn checked(&self) -> Vec<String> {
        self.criteria.iter().filter(|it| it.checked).map(|it| it.id.clone()).collect()
    }
}

/// What stands below the front matter of an issue; all of it, where there is none.
pub fn below(text: &str) -> &str {
    let page = Page::bare(text);
    page.slice(page.body_start(), page.lines.len()).trim_start_matches(['\u{feff}', '\r', '\n'])
}

/// The front matter of a text whose headings need not be looked at for what it is called.
fn front_of(text: &str) -> Option<&str> {
    let front = text.strip_prefix("---\n")?;
    let close = front.find("\n---\n")?;
    let has = |key: &str| front.get(..close).is_some_and(|it| it.starts_with(&key[1..]) || it.contains(key));
    if has("\nid: ") && has("\ntitle: ") { text.get(..4 + close + 5) } else { None }
}

/// The id and the title of a heading such as `GAL-39: Print it`.
fn split_title(heading: &str) -> (Option<&str>, Option<&str>) {
    let inner = heading.trim_start_matches('[');
    let Some(length) = words::id_at_start(inner) else { return (None, Some(heading)) };
    let id = inner.get(..length);
    let rest = inner.get(length..).unwrap_or_default();
    let rest = rest.trim_start_matches([']', ':', ' ', '-', '–', '—', '.', '·']).trim();
    (id, Some(rest).filter(|it| !it.is_empty()))
}

/// A text with another value in a field at its top; `None` for one that cannot be written there without changing what
/// else it says.
pub(super) fn with_field(stem: &str, text: &str, name: &'static str, value: &Written) -> Option<String> {
    let page = Page::read(text);
    let changed = Fields::read(&page, FIELDS).set(name, value);
    let (before, after) = (Issue::read(stem, text), Issue::read(stem, &changed));
    let mut wanted = before.clone();
    match (name, value) {
        ("id", Written::Text(it)) => wanted.id = line(it),
        ("title", Written::Text(it)) => wanted.title = line(it),
        ("status", Written::Text(it)) => wanted.status = Status::of(it)?,
        ("parent", Written::Text(it)) => wanted.parent = Some(it.clone()).filter(|it| !it.is_empty()),
        ("labels", Written::List(it)) => wanted.labels = it.iter().map(|it| line(it)).collect(),
        ("depends-on", Written::List(it)) => wanted.depends_on.clone_from(it),
        _ => return None,
    }
    let is_there = Fields::read(&Page::read(&changed), FIELDS).get(name).is_some();
    let same = is_there && top(&after) == top(&wanted) && without_lines(&after) == without_lines(&before);
    let same = same && after.problems.len() <= before.problems.len();
    same.then_some(changed)
}

/// What an issue says at its top.
pub(super) fn top(issue: &Issue) -> (&str, &str, Status, &[String], Option<&str>, &[String]) {
    let Issue { id, title, status, labels, parent, depends_on, .. } = issue;
    (id, title, *status, labels, parent.as_deref(), depends_on)
}

/// Criteria, sub-issues and comments.
pub(super) type Below = (Vec<Criterion>, Vec<(String, Option<Status>)>, Vec<String>);

/// What an issue says below its top, wherever it stands.
pub(super) fn without_lines(issue: &Issue) -> Below {
    let entries = issue.sub_issues.iter().map(|it| (it.id.clone(), it.shown)).collect();
    (
        issue.criteria.iter().map(|it| Criterion { line: 0, ..it.clone() }).collect(),
        entries,
        issue.comments.clone(),
    )
}

fn line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
