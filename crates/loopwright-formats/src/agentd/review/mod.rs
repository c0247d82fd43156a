//! `REVIEW.md` and its like: what was found, and the form that agentd's `create_review` writes it in.
//!
//! What is written can be read again, whatever the texts hold: a line that would be a heading, a label, a fence without an
//! end or a comment is written with backslashes, as Markdown has them.

mod issues;
mod render;

use serde::Serialize;

use super::page::Page;
use super::verdict::{self, Found, NoVerdict};
use super::{Severity, markdown};
pub use render::{TestResults, Written, render};

/// A fault that a reviewer found.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Issue {
    /// How much it matters, if that is said.
    pub severity: Option<Severity>,
    /// What it is called, on one line.
    pub title: String,
    /// What is wrong.
    pub description: String,
    /// The file it is in.
    pub file: Option<String>,
    /// The line of that file.
    pub line: Option<u64>,
    /// What would put it right.
    pub recommendation: Option<String>,
    /// Where it stands in the review, counted from 1. Nothing for an issue that is yet to be written.
    pub at: Option<usize>,
}

/// A review as it is read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Review {
    /// Its first heading.
    pub title: Option<String>,
    /// The round it is of.
    pub iteration: Option<u64>,
    /// What was decided, or why nothing was.
    #[serde(serialize_with = "plain_result")]
    pub verdict: Result<Found, NoVerdict>,
    /// What was found, in the order of the text. What a template leaves to be filled in is no issue.
    pub issues: Vec<Issue>,
    /// What is to be done next.
    pub next_steps: Option<String>,
}

fn plain_result<S: serde::Serializer>(
    verdict: &Result<Found, NoVerdict>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    match verdict {
        Ok(found) => found.serialize(serializer),
        Err(reason) => reason.serialize(serializer),
    }
}

impl Review {
    /// Reads a review. Nothing makes it fail: what is not there is not there.
    pub fn read(text: &str) -> Self {
        let page = Page::read(text);
        let body = || page.lines.iter().skip(page.body_start());
        Self {
            title: body().find_map(super::page::Line::heading).map(|(_, title)| issues::unescape(title)),
            iteration: body().find_map(iteration),
            verdict: verdict::of_page(&page),
            issues: issues::all(&page),
            next_steps: issues::next_steps(&page),
        }
    }

    /// How many issues there are of a severity.
    pub fn count(&self, severity: Severity) -> usize {
        self.issues.iter().filter(|it| it.severity == Some(severity)).count()
    }
}

/// The round in a heading, `Code Review (Iteration 2)`, or behind a label.
fn iteration(line: &super::page::Line<'_>) -> Option<u64> {
    let number = |text: &str| {
        let digits = text.trim_start_matches(|it: char| !it.is_ascii_digit() && !it.is_alphabetic());
        let end = digits.find(|it: char| !it.is_ascii_digit()).unwrap_or(digits.len());
        digits.get(..end)?.parse().ok()
    };
    if let Some((_, title)) = line.heading() {
        let lower = title.to_ascii_lowercase();
        let at = lower.rfind("iteration").map(|it| it + "iteration".len())?;
        return number(title.get(at..)?);
    }
    if !line.is_body() {
        return None;
    }
    let (name, value) = markdown::label(line.text)?;
    (name == "iteration").then(|| number(value))?
}
