//! A text as lines, each of which knows whether it is body, front matter, fenced code or a comment.
//!
//! What is opened and never closed hides nothing: a reader that lost the rest of a file over three stray backticks would
//! lose tasks.

use super::yaml::{self, Node};
use super::{markdown, task_id};

/// What a line is part of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    /// The text itself.
    Body,
    /// Between the first two `---`, these included.
    FrontMatter,
    /// The line that opens fenced code.
    FenceOpen,
    /// Fenced code, with the line that closes it.
    Fence,
    /// An HTML comment.
    Comment,
}

/// A line and where it stands.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Line<'a> {
    /// Counted from 1.
    pub number: usize,
    /// Without its end and without a byte order mark.
    pub text: &'a str,
    /// Where its text begins.
    pub start: usize,
    /// Where the next line begins.
    pub next: usize,
    /// What it is part of.
    pub part: Part,
}

impl<'a> Line<'a> {
    /// Whether it is text and not code, a comment or front matter.
    pub fn is_body(&self) -> bool {
        self.part == Part::Body
    }

    /// Level and title, if it is a heading of the body.
    pub fn heading(&self) -> Option<(usize, &'a str)> {
        if self.is_body() { markdown::heading(self.text) } else { None }
    }
}

/// A text, cut into lines.
pub(crate) struct Page<'a> {
    pub text: &'a str,
    pub lines: Vec<Line<'a>>,
    /// How many lines the front matter has, its two rulers included.
    front: usize,
    /// Where the first thing begins that is never closed.
    pub unclosed: Option<usize>,
}

impl<'a> Page<'a> {
    /// Cuts a text into lines and says what each is part of.
    pub fn read(text: &'a str) -> Self {
        let mut page = Self::bare(text);
        page.mark_parts(page.front, page.lines.len());
        page
    }

    /// Cuts a text into lines and finds its front matter, nothing else.
    pub fn bare(text: &'a str) -> Self {
        let mut page = Self { text, lines: lines(text), front: 0, unclosed: None };
        page.mark_front();
        page
    }

    /// The number of the first line behind the front matter, counted from 0.
    pub fn body_start(&self) -> usize {
        self.front
    }

    /// Whether there is front matter.
    pub fn has_front_matter(&self) -> bool {
        self.front > 0
    }

    /// The front matter as values, or the line and reason why it is none.
    pub fn front_matter(&self) -> Option<Result<Node, yaml::Fault>> {
        let (text, before) = self.front_text();
        (self.front > 0).then(|| yaml::read(text, before))
    }

    /// The front matter as values, however badly it is written, and what is wrong with it.
    pub fn front_values(&self) -> (Node, Option<yaml::Fault>) {
        match self.front_matter() {
            None => (Node::Map { entries: Vec::new(), line: 1 }, None),
            Some(Ok(node)) => (node, None),
            Some(Err(_)) => {
                let (text, before) = self.front_text();
                yaml::read_loosely(text, before)
            }
        }
    }

    /// What stands between the rulers of the front matter, and how many lines are before it.
    fn front_text(&self) -> (&'a str, usize) {
        let opens =
            self.lines.iter().take(self.front).position(|it| it.text.trim_end() == "---").unwrap_or(0);
        let inner = self.lines.get(opens + 1..self.front.saturating_sub(1)).unwrap_or_default();
        let (from, to) = (inner.first().map_or(0, |it| it.start), inner.last().map_or(0, |it| it.next));
        (self.text.get(from..to).unwrap_or_default(), opens + 1)
    }

    /// The text of whole lines.
    pub fn slice(&self, from: usize, to: usize) -> &'a str {
        let place = |at: usize| self.lines.get(at).map_or(self.text.len(), |it| it.start);
        self.text.get(place(from)..place(to.max(from))).unwrap_or_default()
    }

    fn mark_front(&mut self) {
        let Some(first) = self.lines.iter().position(|it| !it.text.trim().is_empty()) else { return };
        if self.lines.get(first).is_none_or(|it| it.text.trim_end() != "---") {
            return;
        }
        // A review block in it means that the ruler that was found closes something else.
        let close = self.lines.iter().enumerate().skip(first + 1).find_map(|(at, it)| {
            let text = it.text.trim_end();
            (text == "---" || text == "..." || markdown::review_tag(it.text).is_some()).then_some((at, text))
        });
        let Some((close, "---" | "...")) = close else { return };
        self.front = close + 1;
        // With blank lines before it, a ruler is more likely one of the text.
        if first > 0 && !matches!(self.front_matter(), Some(Ok(Node::Map { .. }))) {
            self.front = 0;
        }
        for line in self.lines.iter_mut().take(self.front) {
            line.part = Part::FrontMatter;
        }
    }

    /// Marks fences and comments among some of the lines, as if there were no others.
    pub fn mark_parts(&mut self, from: usize, to: usize) {
        let Some(lines) = self.lines.get_mut(from..to) else { return };
        // Most texts have no code, and need not be looked through for its end.
        let mut closers: Option<Vec<[usize; 2]>> = None;
        let last_comment_end = lines.iter().rposition(|it| it.text.contains("-->"));
        let mut at = 0;
        while at < lines.len() {
            let text = lines[at].text;
            if let Some(fence) = markdown::Fence::opened_by(text) {
                let closers = closers.get_or_insert_with(|| longest_closers(lines));
                let closable = closers.get(at + 1).is_some_and(|it| it[fence.kind()] >= fence.length);
                if closable {
                    let open = at;
                    at = mark_fence(lines, at, &fence);
                    // Where the heading of a task cuts it short, nothing closes it.
                    if !lines.get(at - 1).is_some_and(|it| fence.is_closed_by(it.text)) {
                        self.unclosed.get_or_insert(from + open);
                    }
                    continue;
                }
                self.unclosed.get_or_insert(from + at);
                // Values that somebody forgot to close are still values, as far as they go without a gap.
                if fence.is_yaml() {
                    at = mark_values(lines, at);
                    continue;
                }
            } else if let Some(inside) = markdown::opens_comment(text) {
                if text[inside..].contains("-->") {
                    if text.trim_start().starts_with("<!--") {
                        lines[at].part = Part::Comment;
                    }
                } else if last_comment_end.is_some_and(|it| it > at) {
                    at = mark_comment(lines, at);
                    continue;
                } else {
                    self.unclosed.get_or_insert(from + at);
                }
            }
            at += 1;
        }
    }
}

/// The longest line that could close a fence from each line on, for both kinds of fence.
fn longest_closers(lines: &[Line<'_>]) -> Vec<[usize; 2]> {
    let mut longest = vec![[0, 0]; lines.len() + 1];
    for (at, line) in lines.iter().enumerate().rev() {
        longest[at] = longest[at + 1];
        if let Some((kind, length)) = markdown::fence_end(line.text) {
            longest[at][kind] = longest[at][kind].max(length);
        }
    }
    longest
}

/// Marks a fence that begins at a line. Gives the line behind it.
fn mark_fence(lines: &mut [Line<'_>], open: usize, fence: &markdown::Fence) -> usize {
    lines[open].part = Part::FenceOpen;
    let mut at = open + 1;
    while let Some(line) = lines.get_mut(at) {
        // A block of values that somebody forgot to close does not swallow the tasks behind it.
        if fence.is_yaml() && task_id::is_task_heading(line.text) {
            return at;
        }
        line.part = Part::Fence;
        at += 1;
        if fence.is_closed_by(line.text) {
            break;
        }
    }
    at
}

/// Marks values whose fence is never closed, up to a blank line or a heading. Gives the line behind them.
fn mark_values(lines: &mut [Line<'_>], open: usize) -> usize {
    let is_end = |it: &Line<'_>| it.text.trim().is_empty() || markdown::heading(it.text).is_some();
    let length = lines.iter().skip(open + 1).take_while(|it| !is_end(it)).count();
    for line in lines.iter_mut().skip(open).take(length + 1) {
        line.part = Part::Fence;
    }
    lines[open].part = Part::FenceOpen;
    open + 1 + length
}

/// Marks a comment that begins at a line and ends on a later one. Gives the line behind it.
fn mark_comment(lines: &mut [Line<'_>], open: usize) -> usize {
    if lines[open].text.trim_start().starts_with("<!--") {
        lines[open].part = Part::Comment;
    }
    let mut at = open + 1;
    while let Some(line) = lines.get_mut(at) {
        line.part = Part::Comment;
        at += 1;
        if line.text.contains("-->") {
            break;
        }
    }
    at
}

/// The lines of a text. Line feed, carriage return, or both end one.
pub(crate) fn lines(text: &str) -> Vec<Line<'_>> {
    let bytes = text.as_bytes();
    let has_returns = text.contains('\r');
    let mut lines = Vec::with_capacity(bytes.len() / 32 + 1);
    let mut start = if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
    while start < bytes.len() {
        let rest = text.get(start..).unwrap_or_default();
        let end = if has_returns { rest.find(['\n', '\r']) } else { rest.find('\n') }
            .map_or(bytes.len(), |it| start + it);
        let width = match (bytes.get(end), bytes.get(end + 1)) {
            (Some(b'\r'), Some(b'\n')) => 2,
            (Some(_), _) => 1,
            (None, _) => 0,
        };
        let line = text.get(start..end).unwrap_or_default();
        lines.push(Line { number: lines.len() + 1, text: line, start, next: end + width, part: Part::Body });
        start = end + width;
    }
    lines
}

/// How the lines of a text end, told by the first of them.
pub(crate) fn line_end(text: &str) -> &'static str {
    match text.find(['\n', '\r']).and_then(|at| text.get(at..)) {
        Some(rest) if rest.starts_with("\r\n") => "\r\n",
        Some(rest) if rest.starts_with('\r') => "\r",
        _ => "\n",
    }
}

/// Every way to end a line as a line feed.
pub(crate) fn unify(text: &str) -> String {
    if text.contains('\r') { text.replace("\r\n", "\n").replace('\r', "\n") } else { text.to_owned() }
}
