//! Changes by span: what is not named in a splice stays, byte for byte.

use std::ops::Range;

/// Puts a text in the place of some bytes.
#[derive(Clone, Debug)]
pub(super) struct Splice {
    pub bytes: Range<usize>,
    pub with: String,
}

impl Splice {
    pub(super) fn replace(bytes: Range<usize>, with: impl Into<String>) -> Self {
        Self { bytes, with: with.into() }
    }

    pub(super) fn insert(at: usize, with: impl Into<String>) -> Self {
        Self { bytes: at..at, with: with.into() }
    }
}

/// The text with the splices made. They are in order and do not overlap; one that does is left out, and the
/// comparison after every edit says so.
pub(super) fn apply(text: &str, splices: &[Splice]) -> String {
    let mut changed =
        String::with_capacity(text.len() + splices.iter().map(|it| it.with.len()).sum::<usize>());
    let mut from = 0;
    for splice in splices {
        let Some(kept) = text.get(from..splice.bytes.start) else { continue };
        changed.push_str(kept);
        changed.push_str(&splice.with);
        from = splice.bytes.end.max(splice.bytes.start);
    }
    changed.push_str(text.get(from..).unwrap_or_default());
    changed
}

/// How the lines of a text end.
pub(super) fn newline(text: &str) -> &'static str {
    match text.find('\n') {
        Some(at) if text[..at].ends_with('\r') => "\r\n",
        _ => "\n",
    }
}

/// Where the line of a byte begins.
pub(super) fn line_start(text: &str, byte: usize) -> usize {
    let start = text[..byte].rfind('\n').map_or(0, |it| it + 1);
    if start == 0 && text.starts_with('\u{feff}') { '\u{feff}'.len_utf8().min(byte) } else { start }
}

/// Where the line of a byte ends, before its line end.
pub(super) fn line_end(text: &str, byte: usize) -> usize {
    let rest = &text[byte..];
    let line = rest.find('\n').map_or(rest, |it| &rest[..it]);
    byte + line.strip_suffix('\r').unwrap_or(line).len()
}

/// The spaces and tabs a line begins with.
pub(super) fn indent(text: &str, byte: usize) -> &str {
    let line = &text[line_start(text, byte)..];
    &line[..line.len() - line.trim_start_matches([' ', '\t']).len()]
}

/// How many bytes stand before this one in its line.
pub(super) fn column(text: &str, byte: usize) -> usize {
    byte - line_start(text, byte)
}

/// One more piece at the end of what stands in brackets, set off as the pieces before it are.
pub(super) fn add_in_brackets(
    text: &str,
    open: usize,
    children: &[Range<usize>],
    piece: &str,
) -> Vec<Splice> {
    let Some(last) = children.last() else { return Vec::new() };
    if line_start(text, last.start) > open && indent_only(text, last.start) {
        return add_on_a_line(text, last, &format!("{}{}{piece}", newline(text), indent(text, last.start)));
    }
    let between = children.len().checked_sub(2).and_then(|it| children.get(it)).map(|it| it.end..last.start);
    let close = between.and_then(|it| text.get(it)).is_some_and(|it| it == ",");
    let comma = if close { "," } else { ", " };
    vec![Splice::insert(last.end, format!("{comma}{piece}"))]
}

/// On a line of its own; a comment behind the last piece stays with that.
fn add_on_a_line(text: &str, last: &Range<usize>, line: &str) -> Vec<Splice> {
    let end = line_end(text, last.end);
    let behind = &text[last.end..end];
    match behind.trim_start().strip_prefix(',') {
        Some(rest) if rest.trim().is_empty() || rest.trim_start().starts_with('#') => {
            vec![Splice::insert(end, format!("{line},"))]
        }
        None if behind.trim_start().starts_with('#') => {
            vec![Splice::insert(last.end, ","), Splice::insert(end, line)]
        }
        _ => vec![Splice::insert(last.end, format!(",{line}"))],
    }
}

fn indent_only(text: &str, byte: usize) -> bool {
    text[line_start(text, byte)..byte].chars().all(|it| matches!(it, ' ' | '\t'))
}
