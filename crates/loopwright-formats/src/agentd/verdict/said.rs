//! What a piece of text says, if it is in the place for verdicts.

use super::super::markdown;
use super::{Form, Verdict};

/// The words, in capitals and with blanks; longer ones before those they begin with.
const WORDS: [(&str, Verdict); 7] = [
    ("APPROVED", Verdict::Approved),
    ("NEEDS REVISION", Verdict::NeedsRevision),
    ("NEEDS FIX", Verdict::NeedsFix),
    ("NEEDS CHANGES", Verdict::NeedsFix),
    ("MAJOR ISSUES", Verdict::MajorIssues),
    ("REJECTED", Verdict::Rejected),
    ("REJECT", Verdict::Rejected),
];

/// Signs that turn what follows around, or leave it open.
const AGAINST: [char; 12] = ['❌', '✗', '✘', '✖', '☐', '⬜', '◻', '🔲', '⛔', '🚫', '☒', '🟥'];

/// First words behind a verdict that take it back or put it off.
const TAKES_BACK: [&str; 18] = [
    "not",
    "false",
    "pending",
    "if",
    "once",
    "when",
    "after",
    "provided",
    "unless",
    "until",
    "assuming",
    "conditional",
    "conditionally",
    "subject",
    "but",
    "except",
    "only",
    "never",
];

/// What a text says.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Said<'a> {
    /// Nothing that looks like a verdict.
    Nothing,
    /// A verdict.
    Word { verdict: Verdict, written: &'a str, form: Form, is_alone: bool },
    /// Something that looks like one and is none, and why.
    Odd { why: &'static str, is_choice: bool },
}

/// A box and what stands beside it.
#[derive(Clone, Debug)]
pub(super) struct Boxed<'a> {
    pub mark: char,
    pub said: Said<'a>,
}

/// What a whole word means.
pub(super) fn exact(word: &str) -> Option<Verdict> {
    let (verdict, length) = word_at(word.trim())?;
    (length == word.trim().len()).then_some(verdict)
}

/// The verdict that a text begins with, and the length of its word.
fn word_at(text: &str) -> Option<(Verdict, usize)> {
    let same = |a: u8, b: u8| a.to_ascii_uppercase() == b || (b == b' ' && matches!(a, b'_' | b'-'));
    let found = WORDS.iter().find(|(word, _)| {
        let start = text.as_bytes().get(..word.len());
        start.is_some_and(|it| it.iter().zip(word.bytes()).all(|(a, b)| same(*a, b)))
            && !text[word.len()..].starts_with(|it: char| it.is_ascii_alphabetic())
    });
    found.map(|(word, verdict)| (*verdict, word.len()))
}

/// Reads a text that may be a verdict, without boxes.
pub(super) fn value(text: &str) -> Said<'_> {
    let odd = |why: &'static str| Said::Odd { why, is_choice: false };
    let mut rest = text.trim();
    let mut is_against = false;
    let mut bold = false;
    loop {
        let Some(first) = rest.chars().next() else { return Said::Nothing };
        if rest.starts_with("~~") {
            return odd("it is struck through");
        }
        if first.is_alphanumeric() {
            break;
        }
        if matches!(first, '<' | '>' | '|' | '\\' | '"' | '\'' | '#' | '~' | '(' | '{' | '“' | '‘') {
            return Said::Nothing;
        }
        if first == '[' {
            let inner = rest.get(1..).unwrap_or_default();
            return if word_at(inner.trim_start()).is_some() {
                odd("it is a placeholder")
            } else {
                Said::Nothing
            };
        }
        is_against |= AGAINST.contains(&first);
        bold |= rest.starts_with("**") || rest.starts_with("__");
        rest = rest.get(first.len_utf8()..).unwrap_or_default();
    }
    let Some((verdict, length)) = word_at(rest) else { return negated(rest) };
    let (written, behind) = rest.split_at(length);
    if behind.starts_with(|it: char| it.is_alphanumeric() || it == '_') {
        // `_` may also close a word in italics.
        if !(behind.starts_with('_') && behind.trim_start_matches('_').trim().is_empty()) {
            return odd("more hangs on to the word");
        }
    }
    let behind = behind.trim_start_matches(['*', '_', '`']);
    let is_alone = behind
        .trim_matches(|it: char| !it.is_alphanumeric() && !matches!(it, '|' | '/' | '?' | '~' | '['))
        .is_empty();
    if let Some(why) = tail(verdict, behind) {
        return why;
    }
    if is_against && verdict == Verdict::Approved {
        return odd("the sign before it says otherwise");
    }
    Said::Word { verdict, written, form: if bold { Form::Bold } else { Form::Plain }, is_alone }
}

/// A text that does not begin with a verdict, but denies one.
fn negated(text: &str) -> Said<'_> {
    let mut rest = text;
    for word in ["not", "never", "cannot", "no"] {
        if let Some(behind) = markdown::strip_word(text, word) {
            rest = behind.trim_start_matches(|it: char| !it.is_alphanumeric());
            break;
        }
    }
    if rest.len() < text.len() && word_at(rest).is_some() {
        return Said::Odd { why: "it is denied", is_choice: false };
    }
    Said::Nothing
}

/// Why a word with this behind it is no verdict.
fn tail(verdict: Verdict, behind: &str) -> Option<Said<'static>> {
    let odd = |why: &'static str| Some(Said::Odd { why, is_choice: false });
    let text = behind.trim_start();
    let first = text.chars().next()?;
    let choice = text.strip_prefix(['|', '/', ',']).or_else(|| markdown::strip_word(text, "or"));
    if let Some(other) = choice {
        let other = other.trim_start_matches(|it: char| !it.is_alphanumeric() && it != '[');
        if text.starts_with(['|', '/']) || word_at(other).is_some() {
            return Some(Said::Odd { why: "it is a choice of several", is_choice: true });
        }
    }
    let next = text.trim_start_matches("<br").trim_start_matches(|it: char| !it.is_alphanumeric());
    if word_at(next).is_some_and(|(other, _)| other != verdict) {
        return Some(Said::Odd { why: "another verdict follows it", is_choice: true });
    }
    let marks = text.split(char::is_alphanumeric).next().unwrap_or_default();
    if marks.starts_with(['?', '.', '!', '*', '_']) && marks.contains('?') {
        return odd("it is a question");
    }
    if text.starts_with("~~") {
        return odd("it is struck through");
    }
    if first.is_alphanumeric() {
        return odd("more words follow it");
    }
    let is_tight = text.len() == behind.len() && matches!(first, '-' | '.' | '_' | '=');
    if is_tight
        && text
            .get(first.len_utf8()..)
            .is_some_and(|it| it.starts_with(|it: char| it.is_alphanumeric() || it == '_'))
    {
        return odd("more hangs on to the word");
    }
    if verdict == Verdict::Approved {
        let remark = text.trim_start_matches(|it: char| !it.is_alphanumeric());
        let end = remark.find(|it: char| !it.is_alphanumeric()).unwrap_or(remark.len());
        let (word, after) = remark.split_at(end);
        let word = word.to_lowercase();
        let is_no = word == "no" && !after.trim_start().starts_with(|it: char| it.is_alphanumeric());
        if is_no || TAKES_BACK.contains(&word.as_str()) {
            return odd("what follows it takes it back");
        }
    }
    None
}

/// The boxes that a text begins with, several in a line if there are bars or words of verdicts between them.
pub(super) fn boxes(text: &str) -> Vec<Boxed<'_>> {
    let mut boxes = Vec::new();
    let mut rest = text.trim_start_matches(['*', '_', ' ', '\t', '`']);
    while let Some((mark, behind)) = markdown::checkbox(rest) {
        let end = next_box(behind);
        let (own, others) = behind.split_at(end.unwrap_or(behind.len()));
        let own = own.trim().trim_end_matches(['|', '/', ',']);
        boxes.push(Boxed { mark, said: value(own) });
        rest = others;
    }
    boxes
}

/// Where the next box of a line begins: behind a bar, or right behind a word of its own.
fn next_box(text: &str) -> Option<usize> {
    let mut from = 0;
    while let Some(at) = text.get(from..)?.find('[').map(|it| it + from) {
        let before = text.get(..at)?.trim_end();
        let is_parted =
            before.ends_with(['|', '/', ',']) || exact(before.trim_matches(['*', '_', '`'])).is_some();
        if is_parted && markdown::checkbox(text.get(at..)?).is_some() {
            return Some(at);
        }
        from = at + 1;
    }
    None
}
