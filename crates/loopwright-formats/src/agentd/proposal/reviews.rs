//! What stands in the review blocks of a proposal, and how they are filed.

use serde::Serialize;

use super::super::markdown;
use super::super::page::{Page, line_end, unify};
use super::super::verdict::{self, Form, Found, NoVerdict, Verdict, Why};
use super::blocks::{self, Blocks, Span};

/// A review block of a proposal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Block {
    /// The round it says it is of; 0 if it does not say.
    pub iteration: u64,
    /// Who wrote it.
    pub reviewer: Option<String>,
    /// Its `status` as it is written.
    pub status: Option<String>,
    /// The key that it was filed under.
    pub round: Option<String>,
    /// What was decided, or why nothing was. The status decides only where the text has no place for a verdict.
    #[serde(skip)]
    pub verdict: Result<Found, NoVerdict>,
    /// The line of its tag, counted from 1.
    pub line: usize,
    /// All of it, with its tags, as it is written.
    pub raw: String,
    /// What stands between its tags.
    pub text: String,
}

/// A review that is to be filed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Filed {
    /// What it is found by again.
    pub key: String,
    /// Who wrote it.
    pub reviewer: String,
    /// `approved`, `needs_revision` or `rejected`.
    pub status: String,
    /// What it says, in Markdown.
    pub body: String,
}

pub(super) fn block(text: &str, span: &Span) -> Block {
    let attribute =
        |name: &str| span.attributes.get(name).map(|it| it.trim().to_owned()).filter(|it| !it.is_empty());
    let inner = text.get(span.inner.0..span.inner.1).unwrap_or_default();
    let status = attribute("status");
    Block {
        iteration: iteration(span),
        reviewer: attribute("reviewer"),
        verdict: decided(inner, status.as_deref(), span.line),
        status,
        round: span.attributes.get(ROUND).cloned(),
        line: span.line,
        raw: text.get(span.start..span.end).unwrap_or_default().to_owned(),
        text: inner.to_owned(),
    }
}

const ROUND: &str = "round";

fn iteration(span: &Span) -> u64 {
    span.attributes.get("iteration").and_then(|it| it.trim().parse().ok()).unwrap_or(0)
}

/// The verdict of a block: that of its text, or of its status if the text has no place for one.
fn decided(inner: &str, status: Option<&str>, line: usize) -> Result<Found, NoVerdict> {
    let said = status.and_then(Verdict::of);
    // A line before it keeps a ruler from beginning front matter. The tag's own line is the first.
    let below = |it: usize| (it + line).saturating_sub(2).max(line);
    let text = format!("\n{inner}");
    match (verdict::read(&text), said) {
        (Ok(found), Some(said)) if found.verdict != said => {
            let status = status.unwrap_or_default();
            let reason = format!("the text says `{}`, and the status of the block `{status}`", found.written);
            Err(NoVerdict::new(Why::Contradiction, below(found.line), reason))
        }
        (Ok(found), _) => Ok(Found { line: below(found.line), ..found }),
        (Err(NoVerdict { why: Why::Absent, .. }), Some(verdict)) => {
            // What stands elsewhere in the text decides nothing, and leaves open what the status does.
            if let Some(other) = verdict::other_than(&text, verdict) {
                let status = status.unwrap_or_default();
                let reason =
                    format!("the status of the block says `{status}`, and its text `{}`", other.written);
                return Err(NoVerdict::new(Why::Contradiction, below(other.line), reason));
            }
            let written = status.unwrap_or_default().to_owned();
            Ok(Found { verdict, written, line, form: Form::Attribute })
        }
        (Err(reason), _) => Err(NoVerdict { line: Some(reason.line.map_or(line, below)), ..reason }),
    }
}

/// Files reviews that are not in a proposal yet, each as a block at its end. Blocks that are there stay as they are, also
/// those that somebody edited, and so does every other byte.
pub fn file_reviews(text: &str, reviews: &[Filed]) -> String {
    let found = blocks::find(text);
    let mut iteration = found.spans.iter().map(iteration).max().unwrap_or(0);
    let mut keys: Vec<&str> =
        found.spans.iter().filter_map(|it| it.attributes.get(ROUND)).map(String::as_str).collect();
    let mut filed = text.to_owned();
    for review in reviews {
        if keys.contains(&review.key.as_str()) {
            continue;
        }
        keys.push(&review.key);
        iteration = iteration.saturating_add(1);
        let block = written(review, iteration, blocks::find_all(&filed).is_loose);
        append(&mut filed, &block);
    }
    filed
}

/// Whether a proposal has a block for each of the keys.
pub fn holds_reviews(text: &str, keys: &[String]) -> bool {
    if keys.is_empty() {
        return true;
    }
    let found = blocks::find(text);
    keys.iter().all(|key| found.spans.iter().any(|it| it.attributes.get(ROUND) == Some(key)))
}

/// Makes the review blocks of a proposal exactly these, word for word. If they are, the text stays as it is; otherwise all
/// are taken out, and these put at the end.
pub fn restore_reviews(text: &str, blocks: &[String]) -> String {
    let found = blocks::find(text);
    let raw = found.spans.iter().filter_map(|it| text.get(it.start..it.end));
    if raw.eq(blocks.iter().map(String::as_str)) {
        return text.to_owned();
    }
    let end = line_end(text);
    let mut restored = without(text, &found);
    if !restored.is_empty() {
        restored.push_str(end);
    }
    for block in blocks {
        if !restored.is_empty() {
            restored.push_str(end);
        }
        restored.push_str(block);
        restored.push_str(end);
    }
    restored
}

/// A proposal without its review blocks and without blanks at its end: what the reviews are about. Filing another changes
/// nothing about it.
pub fn without_reviews(text: &str) -> String {
    without(text, &blocks::find(text))
}

fn without(text: &str, found: &Blocks) -> String {
    let kept = blocks::cut(text, found);
    kept.trim_end_matches([' ', '\t', '\n', '\r']).to_owned()
}

/// Puts a block at the end of a text, on lines of its own.
fn append(text: &mut String, block: &str) {
    let end = line_end(text);
    if !text.is_empty() {
        if !text.ends_with(['\n', '\r']) {
            text.push_str(end);
        }
        let last = text.trim_end_matches(['\n', '\r']).len();
        let ends = text.get(last..).unwrap_or_default();
        if ends.matches(if end == "\r" { '\r' } else { '\n' }).count() < 2 {
            text.push_str(end);
        }
    }
    text.push_str(&if end == "\n" { block.to_owned() } else { block.replace('\n', end) });
    text.push_str(end);
}

/// A block. Where something before it has no end, nothing in it may be one; and it leaves nothing open itself.
fn written(review: &Filed, iteration: u64, is_loose: bool) -> String {
    let body = unify(&review.body);
    let body = hide_tags(body.trim_matches('\n').trim_end());
    let [reviewer, key, status] = [&review.reviewer, &review.key, &review.status].map(|it| attribute(it));
    let tag = format!(
        "<review iteration=\"{iteration}\" reviewer=\"{reviewer}\" round=\"{key}\" status=\"{status}\">"
    );
    let block = format!("{tag}\n{body}\n</review>");
    if !is_loose && !blocks::find_all(&block).is_loose {
        return block;
    }
    format!("{tag}\n{}\n</review>", quote_code(&body))
}

fn attribute(value: &str) -> String {
    let pairs = [
        ("&", "&amp;"),
        ("\"", "&quot;"),
        ("<", "&lt;"),
        (">", "&gt;"),
        ("\n", "&#10;"),
        ("\r", "&#13;"),
        ("`", "&#96;"),
    ];
    pairs.iter().fold(value.to_owned(), |text, (from, to)| text.replace(from, to))
}

/// A text in which no tag of a review is one.
fn hide_tags(text: &str) -> String {
    let lower = text.to_ascii_lowercase();
    let mut hidden = String::with_capacity(text.len());
    let mut from = 0;
    for (at, _) in lower.match_indices('<') {
        let rest = lower.get(at..).unwrap_or_default();
        if rest.starts_with("<review") || rest.starts_with("</review") {
            hidden.push_str(text.get(from..at).unwrap_or_default());
            hidden.push_str("&lt;");
            from = at + 1;
        }
    }
    hidden.push_str(text.get(from..).unwrap_or_default());
    hidden
}

/// A text in which no line begins or ends code or a comment: what is in them is quoted, which says as little as before.
fn quote_code(text: &str) -> String {
    // Without a line before it, a ruler would begin front matter.
    let before = format!(".\n{text}");
    let page = Page::read(&before);
    let mut quoted = Vec::new();
    for line in page.lines.iter().skip(1) {
        let is_mark =
            markdown::Fence::opened_by(line.text).is_some() || markdown::fence_end(line.text).is_some();
        let text = line.text.replace("-->", "--&gt;").replace("<!--", "&lt;!--");
        quoted.push(if line.is_body() && !is_mark { text } else { format!("> {text}") });
    }
    quoted.join("\n")
}
