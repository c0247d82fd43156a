//! As much Markdown as the files are written in, a line at a time.

use std::borrow::Cow;
use std::collections::BTreeMap;

/// Level and title of a heading: up to three blanks, hashes, a blank, and no hashes behind it.
pub(crate) fn heading(line: &str) -> Option<(usize, &str)> {
    let start = line.trim_start_matches(' ');
    if line.len() - start.len() > 3 || !start.starts_with('#') {
        return None;
    }
    let rest = start.trim_start_matches('#');
    let level = start.len() - rest.len();
    if level > 6 || !(rest.is_empty() || rest.starts_with([' ', '\t'])) {
        return None;
    }
    let title = rest.trim();
    let bare = title.trim_end_matches('#');
    Some((level, if bare.is_empty() || bare.ends_with([' ', '\t']) { bare.trim_end() } else { title }))
}

/// Fenced code that is open.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fence<'a> {
    mark: u8,
    /// How many marks opened it.
    pub length: usize,
    info: &'a str,
}

impl<'a> Fence<'a> {
    /// The fence that a line opens. In lists they are indented, so blanks do not count.
    pub fn opened_by(line: &'a str) -> Option<Self> {
        let text = line.trim_start();
        let mark = text.bytes().next().filter(|it| matches!(it, b'`' | b'~'))?;
        let length = text.bytes().take_while(|it| *it == mark).count();
        let info = text.get(length..)?.trim();
        (length >= 3 && !(mark == b'`' && info.contains('`'))).then_some(Self { mark, length, info })
    }

    /// Whether a line closes it.
    pub fn is_closed_by(&self, line: &str) -> bool {
        fence_end(line).is_some_and(|(kind, length)| kind == self.kind() && length >= self.length)
    }

    /// 0 for backticks, 1 for tildes.
    pub fn kind(&self) -> usize {
        usize::from(self.mark == b'~')
    }

    /// Whether it says that it holds values.
    pub fn is_yaml(&self) -> bool {
        let word = self.info.split_whitespace().next().unwrap_or_default();
        word.eq_ignore_ascii_case("yaml") || word.eq_ignore_ascii_case("yml")
    }

    /// Whether it says that it holds values in the form that is YAML, too.
    pub fn is_json(&self) -> bool {
        let word = self.info.split_whitespace().next().unwrap_or_default();
        ["json", "jsonc", "json5"].iter().any(|it| word.eq_ignore_ascii_case(it))
    }

    /// Whether it holds a text like the one it stands in.
    pub fn is_markdown(&self) -> bool {
        let word = self.info.split_whitespace().next().unwrap_or_default();
        word.eq_ignore_ascii_case("markdown") || word.eq_ignore_ascii_case("md")
    }

    /// Whether it does not say what it holds.
    pub fn is_bare(&self) -> bool {
        self.info.is_empty()
    }
}

/// Kind and length of a line that could close a fence.
pub(crate) fn fence_end(line: &str) -> Option<(usize, usize)> {
    let text = line.trim();
    let mark = text.bytes().next().filter(|it| matches!(it, b'`' | b'~'))?;
    (text.len() >= 3 && text.bytes().all(|it| it == mark)).then_some((usize::from(mark == b'~'), text.len()))
}

/// Where the text of a comment begins that a line opens, if not within code.
pub(crate) fn opens_comment(line: &str) -> Option<usize> {
    let at = line.rfind("<!--")?;
    let is_in_code = line.get(..at).is_none_or(|it| it.bytes().filter(|it| *it == b'`').count() % 2 == 1);
    (!is_in_code).then_some(at + 4)
}

/// What follows a word, whatever its case, if it ends there.
pub(crate) fn strip_word<'a>(text: &'a str, word: &str) -> Option<&'a str> {
    let rest = text.get(word.len()..)?;
    let same = text.get(..word.len())?.eq_ignore_ascii_case(word);
    (same && !rest.starts_with(|it: char| it.is_alphanumeric() || it == '_')).then_some(rest)
}

/// How far a line is indented. A tab goes to the next fourth column.
pub(crate) fn indent(line: &str) -> usize {
    let mut column = 0;
    for byte in line.bytes() {
        match byte {
            b' ' => column += 1,
            b'\t' => column += 4 - column % 4,
            _ => break,
        }
    }
    column
}

/// Marks of list items that a word processor puts in the place of a dash.
pub(crate) const PRINTED_BULLETS: [char; 6] = ['•', '◦', '▪', '‣', '–', '—'];

/// What stands behind the mark of a list item: a dash, star, plus or number, and a blank.
pub(crate) fn bullet(line: &str) -> Option<&str> {
    let text = line.trim_start();
    let mark = text.strip_prefix(['-', '*', '+']).or_else(|| text.strip_prefix(PRINTED_BULLETS));
    let rest = mark.or_else(|| {
        let rest = text.trim_start_matches(|it: char| it.is_ascii_digit());
        if rest.len() == text.len() || text.len() - rest.len() > 9 {
            None
        } else {
            rest.strip_prefix(['.', ')'])
        }
    })?;
    (rest.is_empty() || rest.starts_with(char::is_whitespace)).then(|| rest.trim_start())
}

/// Mark and text of a box that a text begins with. `[]` is not ticked; `[1]` and `[x](…)` are no boxes.
pub(crate) fn checkbox(text: &str) -> Option<(char, &str)> {
    const SIGNS: [(char, char); 6] =
        [('☑', 'x'), ('☒', 'x'), ('☐', ' '), ('⬜', ' '), ('🔲', ' '), ('◻', ' ')];
    for (sign, mark) in SIGNS {
        if let Some(rest) = text.strip_prefix(sign) {
            return Some((mark, rest.trim_start_matches('\u{fe0f}').trim_start()));
        }
    }
    // Some editors escape the brackets.
    let inner = text.strip_prefix("\\[").or_else(|| text.strip_prefix('['))?;
    let (mark, rest) = inner.split_at_checked(inner.find(']')?)?;
    let mut marks = mark.trim_end_matches('\\').trim().chars().filter(|it| *it != '\u{fe0f}');
    let mark = match (marks.next(), marks.next()) {
        (None, _) => ' ',
        (Some(it), None) if !it.is_ascii_digit() => it,
        _ => return None,
    };
    let rest = rest.get(1..)?;
    (!rest.starts_with(['(', '[', ':'])).then(|| (mark, rest.trim_start()))
}

/// Whether the mark of a checkbox says that it is ticked.
pub(crate) fn is_tick(mark: char) -> bool {
    matches!(mark, 'x' | 'X' | '✓' | '✔' | '☑' | '✅')
}

/// Name and value of `Name: value`, whose name may be bold and stand in a list. The name comes in lower case.
pub(crate) fn label(line: &str) -> Option<(String, &str)> {
    let text = bullet(line).unwrap_or_else(|| line.trim_start());
    let (name, value) = text.split_at_checked(text.find(':')?)?;
    let name = name.trim_matches(['*', '_', ' ', '`']);
    let is_name = |it: char| it.is_alphanumeric() || matches!(it, ' ' | '_' | '-' | '(' | ')' | '/');
    if name.is_empty() || name.len() > 32 || !name.chars().all(is_name) {
        return None;
    }
    let value = value.get(1..)?;
    // `**Name:** value` closes its marks behind the colon.
    let value = if text.starts_with(['*', '_']) && value.starts_with(['*', '_']) {
        value.trim_start_matches(['*', '_'])
    } else {
        value
    };
    let name = if name.is_ascii() { name.to_ascii_lowercase() } else { name.to_lowercase() };
    Some((name, value.trim()))
}

/// The texts between backticks, with what stands behind each up to the next.
pub(crate) fn code_spans(text: &str) -> Vec<(&str, &str)> {
    let mut pieces = text.split('`').skip(1);
    let mut spans = Vec::new();
    while let (Some(code), Some(behind)) = (pieces.next(), pieces.next()) {
        if !code.trim().is_empty() {
            spans.push((code.trim(), behind));
        }
    }
    spans
}

/// A text without what is in parentheses, code left alone.
pub(crate) fn without_parentheses(text: &str) -> Cow<'_, str> {
    if !text.contains('(') {
        return Cow::Borrowed(text);
    }
    let mut depth = 0_usize;
    let mut in_code = false;
    let mut kept = String::with_capacity(text.len());
    for it in text.chars() {
        match it {
            '`' => in_code = !in_code,
            '(' if !in_code => depth += 1,
            ')' if !in_code && depth > 0 => {
                depth -= 1;
                continue;
            }
            _ => {}
        }
        if depth == 0 {
            kept.push(it);
        }
    }
    Cow::Owned(kept)
}

/// A heading as the anchor that names it: lower case, dashes for blanks, no punctuation.
pub(crate) fn slug(title: &str) -> String {
    let mut slug = String::with_capacity(title.len());
    for it in title.chars().flat_map(char::to_lowercase) {
        if it.is_alphanumeric() || it == '_' {
            slug.push(it);
        } else if (it.is_whitespace() || it == '-') && !slug.ends_with('-') {
            slug.push('-');
        }
    }
    slug.trim_matches('-').to_owned()
}

/// Whether a text is what a template leaves to be filled in.
pub(crate) fn is_placeholder(text: &str) -> bool {
    let text = text.trim().trim_matches(['*', '_']).trim_end_matches('.');
    let is_bracketed = || {
        let inner = text.strip_prefix('[').and_then(|it| it.strip_suffix(']'));
        inner.is_some_and(|it| it.trim().chars().count() > 1 && !it.contains(['[', ']']))
    };
    matches!(text, "" | "…" | "TODO" | "TBD" | "todo" | "tbd") || is_bracketed()
}

/// The attributes of a `<review …>` tag that a line begins with, and where the text behind it begins. Nothing for a tag
/// without any: that is how prose speaks of the markers of a self-review.
pub(crate) fn review_tag(line: &str) -> Option<(BTreeMap<String, String>, usize)> {
    let start = line.trim_start_matches(' ');
    if line.len() - start.len() > 3 {
        return None;
    }
    let mut rest = start.strip_prefix("<review").filter(|it| it.starts_with([' ', '\t']))?;
    let mut attributes = BTreeMap::new();
    loop {
        rest = rest.trim_start();
        if let Some(behind) = rest.strip_prefix('>') {
            return (!attributes.is_empty()).then(|| (attributes, line.len() - behind.len()));
        }
        let (name, value) = rest.split_once('=')?;
        let name = name.trim();
        if !is_attribute(name) {
            return None;
        }
        let value = value.trim_start();
        let quote = value.chars().next().filter(|it| matches!(it, '"' | '\''))?;
        let (value, behind) = value.get(1..)?.split_once(quote)?;
        attributes.insert(name.to_owned(), unescape(value));
        rest = behind;
    }
}

/// Whether an attribute may be called so.
pub(crate) fn is_attribute(name: &str) -> bool {
    name.starts_with(|it: char| it.is_ascii_alphabetic())
        && name.bytes().all(|it| it.is_ascii_alphanumeric() || matches!(it, b'_' | b'-'))
}

/// The value of an attribute with its entities replaced.
fn unescape(value: &str) -> String {
    if !value.contains('&') {
        return value.to_owned();
    }
    let pairs = [
        ("&#96;", "`"),
        ("&#13;", "\r"),
        ("&#10;", "\n"),
        ("&quot;", "\""),
        ("&lt;", "<"),
        ("&gt;", ">"),
        ("&amp;", "&"),
    ];
    pairs.iter().fold(value.to_owned(), |text, (from, to)| text.replace(from, to))
}
