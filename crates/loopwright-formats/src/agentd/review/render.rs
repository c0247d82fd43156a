//! A review as agentd's `create_review` writes it.

use std::fmt::Write as _;

use super::super::Severity;
use super::super::markdown;
use super::super::page::{Page, Part, unify};
use super::super::verdict;
use super::{Issue, issues};

/// How the tests of the project came out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TestResults {
    /// `PASS`, `FAIL`, `PARTIAL` or `UNKNOWN`.
    pub status: String,
    /// How many there are. Without any, no numbers are written.
    pub total: u64,
    /// How many held.
    pub passed: u64,
    /// How many did not.
    pub failed: u64,
    /// How many were left out.
    pub skipped: u64,
}

/// A review that is to be written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Written {
    /// The heading: `Code Review`, `Archive Review`. Without one there is none, as in a block of a proposal.
    pub title: String,
    /// The round it is of.
    pub iteration: u64,
    /// The verdict, in the word it is to have in the file.
    pub verdict: String,
    /// What it comes to, in a few sentences.
    pub summary: Option<String>,
    /// How the tests came out, if anybody looked.
    pub tests: Option<TestResults>,
    /// `CLEAN`, `WARNINGS`, `VULNERABILITIES` or `NOT_RUN`, if anybody looked.
    pub security: Option<String>,
    /// What was found.
    pub issues: Vec<Issue>,
    /// What is to be done next.
    pub next_steps: Option<String>,
}

/// Writes a review. [`super::Review::read`] finds the same verdict in it and the same issues, tidied up and the worst first,
/// whatever their texts hold.
pub fn render(review: &Written) -> String {
    let mut text = String::new();
    if !review.title.trim().is_empty() {
        let _ = writeln!(text, "# {} (Iteration {})\n", line_of(&review.title), review.iteration);
    }
    if let Some(summary) = review.summary.as_deref().map(tidy_text).filter(|it| !it.is_empty()) {
        let _ = writeln!(text, "## Summary\n\n{}\n", escape(&summary, ""));
    }
    if let Some(tests) = &review.tests {
        let _ = writeln!(text, "## Test Results\n\n- **Status**: {}", line_of(&tests.status));
        if tests.total > 0 {
            let TestResults { total, passed, failed, skipped, .. } = tests;
            let _ =
                writeln!(text, "- Total: {total}, Passed: {passed}, Failed: {failed}, Skipped: {skipped}");
        }
        text.push('\n');
    }
    if let Some(security) = &review.security {
        let _ = writeln!(text, "## Security\n\n- **Status**: {}\n", line_of(security));
    }
    text.push_str("## Issues\n\n");
    if review.issues.is_empty() {
        text.push_str("No issues found.\n\n");
    }
    let groups = [
        (Some(Severity::High), "HIGH"),
        (Some(Severity::Medium), "MEDIUM"),
        (Some(Severity::Low), "LOW"),
        (None, "UNRATED"),
    ];
    for (severity, name) in groups {
        let mut found = review.issues.iter().filter(|it| it.severity == severity).peekable();
        if found.peek().is_some() {
            let _ = writeln!(text, "### {name}\n");
        }
        for (at, it) in found.enumerate() {
            write_issue(&mut text, at + 1, &it.tidy());
        }
    }
    let _ = writeln!(text, "## Verdict\n\n{}", line_of(&review.verdict));
    let next = review.next_steps.as_deref().map(tidy_text).filter(|it| !it.is_empty());
    if let Some(next) = next {
        let _ = writeln!(text, "\n**Next Steps**:{}", behind_label(&next, ""));
    }
    text
}

impl Issue {
    /// The issue as it is read again: its title on one line, its texts without blanks around them, a line number in the path
    /// as the line.
    #[must_use]
    pub fn tidy(&self) -> Self {
        let title = one_line(&self.title);
        // No path has a backtick, and one would end the code that it is written as.
        let written =
            self.file.as_deref().map(|it| one_line(it).replace('`', "'")).filter(|it| !it.is_empty());
        let (file, line) = match (written, self.line) {
            (Some(file), None) => {
                let (path, line) = issues::place(&file);
                (Some(path.to_owned()), line)
            }
            (Some(file), line) => (Some(file), line),
            (None, _) => (None, None),
        };
        Self {
            severity: self.severity,
            title: if title.is_empty() { "Untitled".to_owned() } else { title },
            description: tidy_text(&self.description),
            file,
            line,
            recommendation: self.recommendation.as_deref().map(tidy_text).filter(|it| !it.is_empty()),
            at: None,
        }
    }
}

fn write_issue(text: &mut String, number: usize, issue: &Issue) {
    let _ = writeln!(text, "{number}. **{}**\n", escape_title(&issue.title));
    if !issue.description.is_empty() {
        let _ = writeln!(text, "   {}\n", escape(&issue.description, "   "));
    }
    if let Some(file) = &issue.file {
        let line = issue.line.map(|it| format!(":{it}")).unwrap_or_default();
        let _ = writeln!(text, "   Location: `{file}{line}`\n");
    }
    if let Some(recommendation) = &issue.recommendation {
        let _ = writeln!(text, "   Recommendation:{}\n", behind_label(recommendation, "   "));
    }
}

/// A text with one way to end a line, and without blanks at the ends of lines and around it.
pub(super) fn tidy_text(text: &str) -> String {
    let lines: Vec<String> = unify(text).split('\n').map(|it| it.trim_end().to_owned()).collect();
    lines.join("\n").trim().to_owned()
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// A text on one line, that says what it says and nothing else.
fn line_of(text: &str) -> String {
    escape(&one_line(text), "")
}

/// A title with a backslash before whatever might end it or be taken for a label.
fn escape_title(title: &str) -> String {
    let label = title.find(':').filter(|_| issues::field(title).is_some());
    let mut escaped = String::with_capacity(title.len());
    let mut previous = ' ';
    for (at, it) in title.char_indices() {
        if matches!(it, '\\' | '*' | '[' | ']' | '<' | '#')
            || (it == '!' && previous == '<')
            || label == Some(at)
        {
            escaped.push('\\');
        }
        escaped.push(it);
        previous = it;
    }
    escaped
}

/// A text that follows a label: on the same line, unless it begins with code.
fn behind_label(text: &str, indent: &str) -> String {
    let is_code = markdown::Fence::opened_by(text.lines().next().unwrap_or_default()).is_some();
    let gap = if is_code { format!("\n{indent}") } else { " ".to_owned() };
    gap + &escape(text, indent)
}

/// A text, its lines indented but for the first, with backslashes where a line would mean something. Code whose fences are
/// all closed stays as it is.
fn escape(text: &str, indent: &str) -> String {
    // Without a line before it, a ruler would begin front matter.
    let before = format!(".\n{text}");
    let page = Page::read(&before);
    let is_clean = page.unclosed.is_none() && page.lines.iter().all(|it| it.part != Part::Comment);
    let mut escaped = String::with_capacity(text.len() + 16);
    for (at, line) in page.lines.iter().skip(1).enumerate() {
        if at > 0 {
            escaped.push('\n');
            if !line.text.is_empty() {
                escaped.push_str(indent);
            }
        }
        if is_clean && line.part != Part::Body {
            escaped.push_str(line.text);
        } else {
            escape_line(&mut escaped, line.text);
        }
    }
    escaped
}

fn escape_line(escaped: &mut String, line: &str) {
    let start = line.trim_start();
    escaped.push_str(&line[..line.len() - start.len()]);
    // Marks that mean something at the start of a line: headings, fences, boxes, labels, comments.
    let marks = start.bytes().take_while(|it| matches!(it, b'#' | b'`' | b'~')).count();
    let is_marked = start.starts_with('#') || marks >= 3;
    let is_name = |name: &str| name == "next steps" || verdict::is_label(name);
    let is_label =
        issues::field(line).is_some() || markdown::label(line).is_some_and(|(name, _)| is_name(&name));
    let label = start.find(':').filter(|_| is_label);
    let mut previous = '\0';
    for (at, it) in start.char_indices() {
        let next = start.get(at + it.len_utf8()..).and_then(|it| it.chars().next());
        let is_special = match it {
            '\\' => next.is_none_or(|it| it.is_ascii_punctuation()),
            '!' => previous == '<',
            // Whoever looks for `[x]` anywhere must not find it in a text.
            ']' => next.is_some() && at >= 2 && start.as_bytes().get(at - 2) == Some(&b'['),
            ':' => label == Some(at),
            _ => is_marked && at < marks,
        };
        if is_special {
            escaped.push('\\');
        }
        escaped.push(it);
        previous = it;
    }
}
