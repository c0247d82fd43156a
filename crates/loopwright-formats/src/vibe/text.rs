//! Text the way the original sees it: how bytes become text, where lines end, what a blank is.
//!
//! It is written in Python, whose ideas of these differ from Rust's in a few characters. They are kept, for else a file
//! would mean one thing there and another here.

use std::ops::Range;

/// Bytes of a file as text: what is not UTF-8 becomes U+FFFD, and every way to end a line becomes a line feed. A byte order
/// mark stays.
pub fn decode(bytes: &[u8]) -> String {
    unify(&String::from_utf8_lossy(bytes))
}

/// Every way to end a line as a line feed. Text that was decoded already stays as it is.
pub(crate) fn unify(text: &str) -> String {
    if text.contains('\r') { text.replace("\r\n", "\n").replace('\r', "\n") } else { text.to_owned() }
}

/// The lines of a text without their ends. More than line feeds end one: also form feeds and a few separators.
pub fn lines(text: &str) -> impl Iterator<Item = &str> {
    places(text, Ends::All).map(|line| line.text)
}

/// A line and where it stands.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Line<'a> {
    /// The line without its end.
    pub text: &'a str,
    /// Where it begins.
    pub start: usize,
    /// Where the next one begins.
    pub next: usize,
}

impl Line<'_> {
    /// Where the line ends, its line break not counted.
    pub fn end(&self) -> usize {
        self.start + self.text.len()
    }

    /// Where a part of this line stands in the whole text.
    pub fn place(&self, part: &str) -> Range<usize> {
        // Parts are made by cutting the line, so their addresses say where they were cut.
        let from = part.as_ptr().addr().saturating_sub(self.text.as_ptr().addr());
        self.start + from..self.start + from + part.len()
    }
}

/// What ends a line.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ends {
    /// Everything that is a line break to anybody.
    All,
    /// Line feed, carriage return, or both: what is one line to an editor.
    Plain,
}

/// The lines of a text with their places.
pub(crate) fn places(text: &str, ends: Ends) -> impl Iterator<Item = Line<'_>> {
    let bytes = text.as_bytes();
    let mut start = 0;
    std::iter::from_fn(move || {
        if start >= bytes.len() {
            return None;
        }
        let mut at = start;
        let mut width = 0;
        while at < bytes.len() {
            width = break_at(bytes, at, ends);
            if width > 0 {
                break;
            }
            at += 1;
        }
        let line = Line { text: text.get(start..at).unwrap_or_default(), start, next: at + width };
        start = line.next;
        Some(line)
    })
}

/// How many bytes of line break stand at a place.
fn break_at(bytes: &[u8], at: usize, ends: Ends) -> usize {
    let after = |distance: usize| bytes.get(at + distance).copied();
    match bytes[at] {
        b'\n' => 1,
        b'\r' => 1 + usize::from(after(1) == Some(b'\n')),
        0x0b | 0x0c | 0x1c..=0x1e if ends == Ends::All => 1,
        0xc2 if ends == Ends::All && after(1) == Some(0x85) => 2,
        0xe2 if ends == Ends::All && after(1) == Some(0x80) && matches!(after(2), Some(0xa8 | 0xa9)) => 3,
        _ => 0,
    }
}

/// Whether a text has anything in it that ends a line.
pub(crate) fn has_break(text: &str) -> bool {
    let bytes = text.as_bytes();
    (0..bytes.len()).any(|at| break_at(bytes, at, Ends::All) > 0)
}

/// How the lines of a text end, told by the first of them.
pub(crate) fn line_end(text: &str) -> &'static str {
    match text.find(['\n', '\r']).and_then(|at| text.get(at..)) {
        Some(rest) if rest.starts_with("\r\n") => "\r\n",
        Some(rest) if rest.starts_with('\r') => "\r",
        _ => "\n",
    }
}

/// A blank. The information separators are blanks in the original and not in Rust.
pub(crate) fn is_blank(character: char) -> bool {
    character.is_whitespace() || matches!(character, '\u{1c}'..='\u{1f}')
}

/// Without the blanks at both ends.
pub(crate) fn trim(text: &str) -> &str {
    text.trim_matches(is_blank)
}

/// Without the blanks before it.
pub(crate) fn trim_start(text: &str) -> &str {
    text.trim_start_matches(is_blank)
}

/// Without the blanks behind it.
pub(crate) fn trim_end(text: &str) -> &str {
    text.trim_end_matches(is_blank)
}

/// The first word, up to a blank.
pub(crate) fn first_word(text: &str) -> Option<&str> {
    text.split(is_blank).find(|word| !word.is_empty())
}

/// The rest after at least one blank, with no blanks before it.
pub(crate) fn after_blanks(text: &str) -> Option<&str> {
    let rest = trim_start(text);
    (rest.len() < text.len()).then_some(rest)
}

/// Whether a character is part of words.
fn is_wordly(character: char) -> bool {
    character.is_alphanumeric() || character == '_'
}

/// Whether a word begins or ends between two characters.
pub(crate) fn is_edge(before: Option<char>, after: Option<char>) -> bool {
    before.is_some_and(is_wordly) != after.is_some_and(is_wordly)
}

/// Whether what begins with `wanted` has the edge of a word behind it. Gives what follows.
pub(crate) fn strip_word<'a>(text: &'a str, wanted: &str) -> Option<&'a str> {
    let rest = text.strip_prefix(wanted)?;
    is_edge(wanted.chars().next_back(), rest.chars().next()).then_some(rest)
}

/// Whether `wanted` stands somewhere in a line as a word of its own.
pub(crate) fn has_word(line: &str, wanted: &str) -> bool {
    !wanted.is_empty()
        && line.match_indices(wanted).any(|(at, _)| {
            let before = line.get(..at).and_then(|it| it.chars().next_back());
            is_edge(before, wanted.chars().next())
                && line.get(at..).and_then(|it| strip_word(it, wanted)).is_some()
        })
}

/// The level of a heading and what follows its hashes and blanks.
pub(crate) fn heading(line: &str) -> Option<(usize, &str)> {
    let rest = line.trim_start_matches('#');
    let level = line.len() - rest.len();
    (level > 0).then_some(())?;
    after_blanks(rest).map(|title| (level, title))
}

/// What stands behind the mark of a list item, if the line is one: a dash or a star and a blank.
pub(crate) fn bullet(line: &str) -> Option<&str> {
    after_blanks(trim_start(line).strip_prefix(['-', '*'])?)
}
