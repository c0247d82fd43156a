//! The bullets `- key: value` that say where a project stands. They count wherever in the file they are, the first one of a
//! key wins.
//!
//! We differ from the original in one thing: there, blanks around the colon reach over lines, so that an empty `- Stage:`
//! takes the next line for its value, whatever it is. Here it takes only a line that was meant as one.

use std::ops::Range;

use indexmap::IndexMap;

use super::text::{self, Ends, Line};

/// One of these bullets.
#[derive(Clone, Debug)]
pub(crate) struct Bullet {
    /// What it says. Nothing if there is no value.
    pub value: Option<Range<usize>>,
    /// Where its line begins.
    pub start: usize,
    /// The blanks before its dash.
    pub indent: Range<usize>,
    /// Just behind its colon.
    pub colon: usize,
    /// Where the line ends that it stands on, or its value does; without the line break.
    pub end: usize,
    /// Where the next line begins.
    pub next: usize,
}

/// The first bullet of each key.
pub(crate) fn read(text: &str) -> IndexMap<String, Bullet> {
    let mut bullets = IndexMap::new();
    let mut lines = text::places(text, Ends::Plain).peekable();
    while let Some(line) = lines.next() {
        let Some((key, rest)) = key(line.text) else { continue };
        let value = text::trim(rest);
        let mut last = line;
        let place = if value.is_empty() {
            lines.next_if(|next| is_value(next.text)).map(|next| {
                last = next;
                next.place(text::trim(next.text))
            })
        } else {
            Some(line.place(value))
        };
        let blanks = line.text.len() - text::trim_start(line.text).len();
        bullets.entry(key).or_insert(Bullet {
            value: place,
            start: line.start,
            indent: line.start..line.start + blanks,
            colon: line.place(rest).start,
            end: last.end(),
            next: last.next,
        });
    }
    bullets
}

/// The key of such a bullet, in its normal form, and what follows the colon.
pub(crate) fn key(line: &str) -> Option<(String, &str)> {
    let inside = text::trim_start(text::trim_start(line).strip_prefix('-')?);
    if !inside.starts_with(|it: char| it.is_ascii_alphabetic() || it == '_') {
        return None;
    }
    let rest =
        inside.trim_start_matches(|it: char| it.is_ascii_alphanumeric() || matches!(it, '_' | '-' | ' '));
    let key = text::trim(inside.strip_suffix(rest)?).to_ascii_lowercase().replace(' ', "_");
    text::trim_start(rest).strip_prefix(':').map(|rest| (key, rest))
}

/// Whether a line below an empty bullet is meant as its value: indented or a single word, and nothing of its own.
fn is_value(line: &str) -> bool {
    let inside = text::trim_start(line);
    let is_word = !text::trim(line).contains(char::is_whitespace);
    (inside.len() < line.len() || is_word)
        && !inside.is_empty()
        && !["-", "* ", "+ ", "#", ">", "<!--", "```", "~~~"].iter().any(|mark| inside.starts_with(mark))
}

/// Whether a place is on one of these lines.
pub(crate) fn is_among(lines: &[Line<'_>], place: usize) -> bool {
    lines.iter().any(|line| (line.start..line.next).contains(&place))
}
