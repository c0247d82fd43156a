//! Reading patterns.

use std::ops::RangeInclusive;

/// The longest pattern, and the most alternatives of one.
const LONGEST: usize = 512;
const MOST_ALTERNATIVES: usize = 64;

/// One path pattern, alternatives already taken apart.
pub(super) type Pattern = Vec<Piece>;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Piece {
    Char(char),
    /// `?`, and the first letter of a segment that is only `*`.
    One,
    Many,
    Class(Class),
    /// `**/`: any number of whole segments.
    Deep,
    Template(Template),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Class {
    pub(super) negated: bool,
    pub(super) ranges: Vec<RangeInclusive<char>>,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Template {
    pub(super) name: String,
    /// The segment and the text before it in its segment; unknown after a wildcard.
    pub(super) place: Option<(usize, String)>,
}

pub(super) fn read(pattern: &str) -> Result<Vec<Pattern>, String> {
    if pattern.len() > LONGEST {
        return Err(format!("longer than {LONGEST} bytes"));
    }
    if pattern.contains('\\') {
        return Err("`\\` is not allowed: separate folders with `/`; nothing needs escaping".to_owned());
    }
    if pattern.starts_with('!') {
        return Err("one `!` is enough".to_owned());
    }
    let mut relative = pattern;
    while let Some(rest) = relative.strip_prefix("./") {
        relative = rest;
    }
    alternatives(relative)?.iter().map(|pattern| path(pattern)).collect()
}

/// Takes `{a,b}` apart, the first pair of braces first, until no pattern has one.
fn alternatives(pattern: &str) -> Result<Vec<String>, String> {
    let (mut open, mut done) = (vec![pattern.to_owned()], Vec::new());
    while let Some(next) = open.pop() {
        match braces(&next)? {
            None => done.push(next),
            Some(Braces { start, end, choices }) => {
                open.extend(
                    choices.iter().rev().map(|choice| format!("{}{choice}{}", &next[..start], &next[end..])),
                );
            }
        }
        if open.len() + done.len() > MOST_ALTERNATIVES {
            return Err(format!("more than {MOST_ALTERNATIVES} alternatives"));
        }
    }
    Ok(done)
}

/// The first `{a,b}`: where it is and what it offers.
struct Braces<'p> {
    start: usize,
    end: usize,
    choices: Vec<&'p str>,
}

fn braces(pattern: &str) -> Result<Option<Braces<'_>>, String> {
    let (mut at, mut depth, mut start, mut from, mut choices) = (0, 0_usize, 0, 0, Vec::new());
    while let Some(letter) = pattern[at..].chars().next() {
        let rest = &pattern[at..];
        let next = at + letter.len_utf8();
        match letter {
            '{' if rest.starts_with("{{") => {
                at += template(rest)?.1;
                continue;
            }
            '[' => {
                at += class(rest)?.1;
                continue;
            }
            '{' => {
                depth += 1;
                if depth == 1 {
                    (start, from) = (at, next);
                }
            }
            '}' if depth == 0 => return Err("`}` closes nothing".to_owned()),
            '}' => depth -= 1,
            _ => {}
        }
        if (letter == ',' && depth == 1) || (letter == '}' && depth == 0) {
            choices.push(&pattern[from..at]);
            from = next;
        }
        if letter == '}' && depth == 0 {
            return Ok(Some(Braces { start, end: next, choices }));
        }
        at = next;
    }
    if depth > 0 { Err("`{` is never closed".to_owned()) } else { Ok(None) }
}

/// The name of the `{{...}}` at the start, and its length in bytes.
fn template(text: &str) -> Result<(&str, usize), String> {
    let end = text.find("}}").ok_or("`{{` is never closed")?;
    let name = text[2..end].trim();
    let plain = |it: char| it.is_alphanumeric() || matches!(it, '_' | '-' | '.');
    if name.is_empty() || !name.chars().all(plain) {
        return Err(format!("`{{{{{name}}}}}` is not a name"));
    }
    Ok((name, end + 2))
}

/// The `[...]` at the start, and its length in bytes.
fn class(text: &str) -> Result<(Class, usize), String> {
    let body = &text[1..];
    let negated = body.starts_with(['!', '^']);
    let skipped = usize::from(negated);
    // A `]` right at the start is a letter of the class.
    let length =
        body.char_indices().skip(skipped + 1).find(|(_, it)| *it == ']').ok_or("`[` is never closed")?.0;
    let letters: Vec<char> = body[skipped..length].chars().collect();
    if letters.contains(&'/') {
        return Err("`/` cannot be in `[...]`".to_owned());
    }
    let (mut ranges, mut at) = (Vec::new(), 0);
    while let Some(low) = letters.get(at) {
        let high = if letters.get(at + 1) == Some(&'-') { letters.get(at + 2) } else { None };
        let high_or_low = *high.unwrap_or(low);
        if high_or_low < *low {
            return Err(format!("`{low}-{high_or_low}` is the wrong way round"));
        }
        ranges.push(*low..=high_or_low);
        at += if high.is_some() { 3 } else { 1 };
    }
    Ok((Class { negated, ranges }, length + 2))
}

fn path(pattern: &str) -> Result<Pattern, String> {
    if pattern.is_empty() {
        return Err("empty".to_owned());
    }
    if pattern.starts_with('/')
        || (pattern.get(1..2) == Some(":") && pattern.starts_with(char::is_alphabetic))
    {
        return Err("absolute: write it relative to the root of the repository".to_owned());
    }
    if pattern.ends_with('/') {
        return Err(format!("a folder: write `{pattern}**` for the files in it"));
    }
    let segments: Vec<&str> = pattern.split('/').collect();
    let mut pieces = Vec::new();
    for (index, written) in segments.iter().enumerate() {
        let last = index + 1 == segments.len();
        match *written {
            "" => return Err("`//` is one `/` too many".to_owned()),
            "." => return Err("`.` is only allowed in front".to_owned()),
            ".." => return Err("`..` leads out: write it relative to the root of the repository".to_owned()),
            "**" => {
                if pieces.last() != Some(&Piece::Deep) {
                    pieces.push(Piece::Deep);
                }
                if last {
                    pieces.extend([Piece::One, Piece::Many]);
                }
            }
            _ => {
                let anchored = (!pieces.contains(&Piece::Deep)).then_some(index);
                pieces.extend(segment(written, anchored)?);
                if !last {
                    pieces.push(Piece::Char('/'));
                }
            }
        }
    }
    Ok(pieces)
}

fn segment(written: &str, index: Option<usize>) -> Result<Vec<Piece>, String> {
    if written.contains("**") {
        return Err("`**` has to be a whole segment, as in `a/**/b`".to_owned());
    }
    let (mut pieces, mut at) = (Vec::new(), 0);
    while let Some(letter) = written[at..].chars().next() {
        let rest = &written[at..];
        let (piece, length) = match letter {
            '{' => {
                let (name, length) = template(rest)?;
                let fixed = |it: &Piece| {
                    matches!(it, Piece::Char(_) | Piece::Template(Template { place: Some(_), .. }))
                };
                let place =
                    index.filter(|_| pieces.iter().all(fixed)).map(|it| (it, written[..at].replace(' ', "")));
                (Piece::Template(Template { name: name.to_owned(), place }), length)
            }
            '[' => class(rest).map(|(class, length)| (Piece::Class(class), length))?,
            '*' => (Piece::Many, 1),
            '?' => (Piece::One, 1),
            other => (Piece::Char(other), other.len_utf8()),
        };
        // `*?` is `?*`; in that order each way to read it is tried once.
        match (pieces.last(), &piece) {
            (Some(Piece::Many), Piece::One) => pieces.insert(pieces.len() - 1, piece),
            (Some(Piece::Many), Piece::Many) => {}
            _ => pieces.push(piece),
        }
        at += length;
    }
    // A name is never empty.
    if pieces == [Piece::Many] {
        pieces.insert(0, Piece::One);
    }
    Ok(pieces)
}
