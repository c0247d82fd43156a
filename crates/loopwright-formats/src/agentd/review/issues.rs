//! The issues of a review, in the forms that agentd's templates, its tool and models without either write them in.

use super::super::Severity;
use super::super::markdown;
use super::super::page::{Line, Page};
use super::Issue;

/// What a line of an issue is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Field {
    Severity,
    Place,
    Description,
    Recommendation,
    Other,
}

/// The field that a line begins, and its value.
pub(super) fn field(line: &str) -> Option<(Field, &str)> {
    let (name, value) = markdown::label(line)?;
    let field = match name.as_str() {
        "severity" | "priority" => Field::Severity,
        "location" | "file" | "files" | "path" => Field::Place,
        "description" => Field::Description,
        "recommendation" | "recommendations" | "suggestion" | "fix" => Field::Recommendation,
        "category" | "requirement" | "evidence" | "note" | "impact" | "spec" => Field::Other,
        _ => return None,
    };
    Some((field, value))
}

/// The severity that a word means.
fn severity(word: &str) -> Option<Severity> {
    Some(match word.to_ascii_lowercase().as_str() {
        "high" | "critical" | "blocker" | "major" => Severity::High,
        "medium" | "moderate" => Severity::Medium,
        "low" | "minor" | "nit" | "info" => Severity::Low,
        _ => return None,
    })
}

/// The severity that a value says. `High | Medium | Low` is a template's, and says none.
fn said_severity(value: &str) -> Option<Severity> {
    let mut words = value.split(|it: char| !it.is_alphanumeric()).filter(|it| !it.is_empty());
    let first = words.next().and_then(severity)?;
    let is_choice = value.contains(['|', '/']) && words.any(|it| severity(it).is_some());
    (!is_choice).then_some(first)
}

/// The severity of all that stands under a heading, if it says one.
#[derive(Clone, Copy)]
struct Group(Option<Severity>);

/// The group that a heading begins: `HIGH`, `High Priority Issues`.
fn group(title: &str) -> Option<Group> {
    let mut found = None;
    for word in title.split(|it: char| !it.is_alphanumeric()).filter(|it| !it.is_empty()) {
        let lower = word.to_ascii_lowercase();
        match severity(&lower) {
            Some(it) if found.is_none() => found = Some(Group(Some(it))),
            None if lower == "unrated" => found = Some(Group(None)),
            None if matches!(
                lower.as_str(),
                "severity" | "priority" | "issues" | "issue" | "findings" | "problems"
            ) => {}
            None if lower.bytes().all(|it| it.is_ascii_digit()) => {}
            _ => return None,
        }
    }
    found
}

/// Severity and title of `HIGH: title`, `[High] title`, `**HIGH** - title`.
fn prefixed(text: &str) -> Option<(Severity, &str)> {
    let start = text.trim_start_matches(['*', '_', '[', '(', '`', ' ']);
    let end = start.find(|it: char| !it.is_alphanumeric()).unwrap_or(start.len());
    let (word, behind) = start.split_at(end);
    let severity = severity(word)?;
    let closed = behind.trim_start_matches(['*', '_', ']', ')', '`']);
    let is_bracketed = start.len() < text.len() && closed.len() < behind.len();
    let rest = closed.trim_start();
    let title = rest.trim_start_matches([':', '-', '–', '—']);
    let title = if title.len() < rest.len() || is_bracketed { title } else { return None };
    let title = title.trim_start_matches(['*', '_', ' ']).trim();
    // `High: 2` and `Low: none` count issues, and are none.
    let is_count = title.bytes().all(|it| it.is_ascii_digit())
        || title.trim_end_matches('.').eq_ignore_ascii_case("none");
    (!is_count).then_some((severity, title))
}

/// Title of `Issue: title`, `Issue 3: title`.
fn issue_title(title: &str) -> Option<&str> {
    let rest = markdown::strip_word(title.trim_start_matches(['*', '_']), "issue")
        .or_else(|| markdown::strip_word(title.trim_start_matches(['*', '_']), "finding"))?;
    let rest = rest.trim_start_matches(|it: char| it.is_ascii_digit() || matches!(it, ' ' | '#'));
    let title = rest.strip_prefix([':', '-', '–', '—'])?.trim();
    Some(title.trim_end_matches("**").trim_end())
}

/// Title of `1. **title**`, and what follows it.
fn numbered(line: &str) -> Option<(String, &str)> {
    if line.starts_with([' ', '\t']) {
        return None;
    }
    let text = markdown::bullet(line)?.strip_prefix("**")?;
    let bytes = text.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        match bytes[at] {
            b'\\' => at += 1,
            b'*' if bytes.get(at + 1) == Some(&b'*') => {
                let behind = text.get(at + 2..)?.trim_start_matches([':', '-', '–', '—', ' ']);
                return Some((text.get(..at)?.to_owned(), behind));
            }
            _ => {}
        }
        at += 1;
    }
    None
}

/// A text with the backslashes of Markdown taken out.
pub(super) fn unescape(text: &str) -> String {
    if !text.contains('\\') {
        return text.to_owned();
    }
    let mut plain = String::with_capacity(text.len());
    let mut characters = text.chars().peekable();
    while let Some(it) = characters.next() {
        match characters.peek() {
            Some(next) if it == '\\' && next.is_ascii_punctuation() => {
                plain.push(*next);
                characters.next();
            }
            _ => plain.push(it),
        }
    }
    plain
}

/// An issue while it is read.
struct Draft {
    issue: Issue,
    /// Which of its texts goes on in the next line.
    goes_on: Field,
    texts: [Vec<String>; 2],
    /// Whether nothing but a template's words was found in it.
    is_empty: bool,
    /// Whether it was written by the tool, with backslashes where they are needed.
    is_escaped: bool,
}

impl Draft {
    fn new(severity: Option<Severity>, title: &str, at: usize, is_escaped: bool) -> Self {
        let title = if is_escaped { unescape(title) } else { title.to_owned() };
        let is_empty = !is_escaped && markdown::is_placeholder(&title);
        let issue = Issue { severity, title, at: Some(at), ..Issue::default() };
        Self { issue, goes_on: Field::Description, texts: Default::default(), is_empty, is_escaped }
    }

    fn take(&mut self, line: &Line<'_>) {
        let text = line.text;
        if let Some((field, value)) = field(text).filter(|_| line.is_body()) {
            self.goes_on = field;
            self.is_empty &= matches!(field, Field::Severity | Field::Other) || is_left_open(value);
            match field {
                Field::Severity => self.issue.severity = said_severity(value).or(self.issue.severity),
                Field::Place => self.take_place(value),
                Field::Description | Field::Recommendation => self.push(value, line.is_body()),
                Field::Other => {}
            }
            return;
        }
        let own = text.strip_prefix("   ").unwrap_or_else(|| text.trim_start_matches(' '));
        let is_text = !(text.trim().is_empty()
            || markdown::is_placeholder(text)
            || text.trim_start().starts_with("[HIGH")
            || text.trim_start().starts_with("[MEDIUM")
            || text.trim_start().starts_with("[LOW"));
        self.is_empty &= !is_text;
        if matches!(self.goes_on, Field::Description | Field::Recommendation) {
            self.push(own, line.is_body());
        }
    }

    fn push(&mut self, text: &str, is_body: bool) {
        let text = if is_body && self.is_escaped { unescape(text) } else { text.to_owned() };
        self.texts[usize::from(self.goes_on == Field::Recommendation)].push(text);
    }

    fn take_place(&mut self, value: &str) {
        if self.issue.file.is_some() || (!self.is_escaped && is_left_open(value)) {
            return;
        }
        let spans = markdown::code_spans(value);
        let written =
            spans.first().map_or_else(|| value.split([',', ' ']).next().unwrap_or_default(), |it| it.0);
        let (file, line) = place(written);
        self.issue.file = Some(file.to_owned()).filter(|it| !it.is_empty());
        self.issue.line = line;
    }

    fn done(self) -> Option<Issue> {
        let mut issue = self.issue;
        let [description, recommendation] =
            self.texts.map(|lines| super::render::tidy_text(&lines.join("\n")));
        issue.description = description;
        issue.recommendation = Some(recommendation).filter(|it| !it.is_empty());
        (!self.is_empty).then_some(issue)
    }
}

/// Whether a value is what a template leaves to be filled in.
fn is_left_open(value: &str) -> bool {
    let bare = value.trim().trim_matches('`');
    markdown::is_placeholder(value) || bare.starts_with("path/to/") || bare.contains("[file")
}

/// Path and line of `path:12`.
pub(super) fn place(text: &str) -> (&str, Option<u64>) {
    match text.rsplit_once(':') {
        Some((path, line))
            if !path.is_empty() && !line.is_empty() && line.bytes().all(|it| it.is_ascii_digit()) =>
        {
            line.parse().map_or((text, None), |line| (path, Some(line)))
        }
        _ => (text, None),
    }
}

/// Every issue of a text.
pub(super) fn all(page: &Page<'_>) -> Vec<Issue> {
    let mut issues = Vec::new();
    let mut draft: Option<Draft> = None;
    // The heading of severity that lines are under, and whether they are under one of issues.
    let mut under: Option<(usize, Group)> = None;
    let mut in_issues: Option<usize> = None;
    for line in page.lines.iter().skip(page.body_start()) {
        if let Some((level, title)) = line.heading() {
            issues.extend(draft.take().and_then(Draft::done));
            if under.is_some_and(|(it, _)| level <= it) {
                under = None;
            }
            if in_issues.is_some_and(|it| level <= it) {
                in_issues = None;
            }
            let inherited = under.and_then(|it| it.1.0);
            if let Some(title) = issue_title(title) {
                let (own, title) =
                    prefixed(title).map_or((inherited, title), |(own, title)| (Some(own), title));
                draft = Some(Draft::new(own, title, line.number, false));
            } else if let Some(severity) = group(title) {
                under = Some((level, severity));
            } else if let Some((severity, title)) = prefixed(title) {
                draft = Some(Draft::new(Some(severity), title, line.number, false));
            } else if is_of_issues(title) {
                in_issues.get_or_insert(level);
            } else if under.is_some() {
                draft = Some(Draft::new(inherited, title, line.number, false));
            }
            continue;
        }
        if line.is_body() && (under.is_some() || in_issues.is_some()) {
            let is_item = !line.text.starts_with([' ', '\t']) && markdown::bullet(line.text).is_some();
            let item = if is_item { markdown::bullet(line.text) } else { None };
            let started = if let Some((title, behind)) = under.and_then(|_| numbered(line.text)) {
                // A bold label is not the title of an issue.
                let is_label = field(line.text).is_some();
                let mut new = Draft::new(under.and_then(|it| it.1.0), &title, line.number, true);
                if !behind.is_empty() {
                    new.push(behind, true);
                }
                (!is_label).then_some(new)
            } else {
                let found = item.and_then(prefixed);
                found.map(|(severity, title)| Draft::new(Some(severity), title, line.number, false))
            };
            if let Some(new) = started {
                issues.extend(draft.replace(new).and_then(Draft::done));
                continue;
            }
        }
        if let Some(draft) = &mut draft {
            draft.take(line);
        }
    }
    issues.extend(draft.and_then(Draft::done));
    issues
}

/// Whether a heading says that faults follow.
fn is_of_issues(title: &str) -> bool {
    let mut words = title.split(|it: char| !it.is_alphanumeric());
    words.any(|it| ["issues", "findings", "issue"].iter().any(|name| it.eq_ignore_ascii_case(name)))
}

/// What stands behind `Next Steps`, as a label or under a heading.
pub(super) fn next_steps(page: &Page<'_>) -> Option<String> {
    let mut lines = page.lines.iter().skip(page.body_start());
    let mut texts = Vec::new();
    lines.by_ref().find(|line| match line.heading() {
        Some((_, title)) => title.eq_ignore_ascii_case("next steps"),
        None => match markdown::label(line.text).filter(|_| line.is_body()) {
            Some((name, value)) if name == "next steps" => {
                texts.push(unescape(value));
                true
            }
            _ => false,
        },
    })?;
    for line in lines.take_while(|it| it.heading().is_none()) {
        texts.push(if line.is_body() { unescape(line.text) } else { line.text.to_owned() });
    }
    let text = super::render::tidy_text(&texts.join("\n"));
    (!text.is_empty() && !markdown::is_placeholder(&text)).then_some(text)
}
