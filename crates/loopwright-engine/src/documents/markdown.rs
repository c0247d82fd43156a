//! Markdown by its lines: front matter, ATX headings and check boxes, none of them looked for within a code fence.

use std::ops::Range;

use serde_json::Value;

use super::fault::Fault;
use super::lines::{fields, whole};
use super::splice::newline;
use super::tree::{Entry, Held, Node, Style};
use super::yaml;

/// A Markdown text, taken apart.
#[derive(Debug)]
pub(super) struct Markdown {
    /// The lines between `---` and `---`, if the text begins with such.
    pub front: Option<Range<usize>>,
    /// The headings, in order.
    pub headings: Vec<Heading>,
    /// The check boxes, in order.
    pub boxes: Vec<CheckBox>,
    length: usize,
}

/// A heading with `#`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Heading {
    pub level: usize,
    pub title: String,
    /// The line, without its line end.
    pub line: Range<usize>,
}

/// `- [ ] text`.
#[derive(Clone, Debug)]
pub(super) struct CheckBox {
    /// The line, without its line end.
    pub line: Range<usize>,
    /// `- ` or `1. `, with what stands before.
    pub marker: Range<usize>,
    /// The letter in the brackets.
    pub mark: usize,
    /// The text behind it.
    pub text: Range<usize>,
    pub checked: bool,
}

/// The first of these headings that a text lacks, or below which nothing stands though something has to. Which letters are
/// large, and at which level it stands, is all the same.
pub(crate) fn lacking<'h>(text: &str, wanted: &'h [String], filled: bool) -> Option<&'h str> {
    let found = scan(text).headings;
    let says = |at: usize| {
        let end = found[at + 1..]
            .iter()
            .find(|it| it.level <= found[at].level)
            .map_or(text.len(), |it| it.line.start);
        let mut below = found[at + 1..].iter().take_while(|it| it.line.start < end).peekable();
        let mut start = found[at].line.end;
        text[start..end].split_inclusive('\n').any(|line| {
            let is_heading = below.next_if(|it| it.line.start == start).is_some();
            start += line.len();
            !is_heading && !line.trim().is_empty()
        })
    };
    let is = |wanted: &str| {
        let wanted = wanted.trim().to_lowercase();
        found.iter().enumerate().any(|(at, it)| it.title.to_lowercase() == wanted && (!filled || says(at)))
    };
    wanted.iter().map(String::as_str).find(|it| !is(it))
}

/// Takes a text apart.
pub(super) fn scan(text: &str) -> Markdown {
    let begin = if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
    let front = front(text, begin);
    let mut found = Markdown { headings: Vec::new(), boxes: Vec::new(), length: text.len(), front };
    let from = found.front.as_ref().map_or(begin, |it| next_line(text, it.end));
    let mut fence: Option<(char, usize)> = None;
    let mut start = from;
    for whole in text[from..].split_inclusive('\n') {
        let line = whole.trim_end_matches(['\n', '\r']);
        if let Some((letter, length)) = fence {
            if closes(line, letter, length) {
                fence = None;
            }
        } else if let Some(opened) = opens(line) {
            fence = Some(opened);
        } else if let Some((level, title)) = heading(line) {
            let title = title.to_owned();
            found.headings.push(Heading { level, title, line: start..start + line.len() });
        } else if let Some(it) = check_box(line, start) {
            found.boxes.push(it);
        }
        start += whole.len();
    }
    found
}

impl Markdown {
    /// What belongs to a heading, spaces around it included: up to the next one that is no lower.
    pub(super) fn below(&self, place: usize) -> Range<usize> {
        let Some(heading) = self.headings.get(place) else { return self.length..self.length };
        let next = self.headings.iter().skip(place + 1).find(|it| it.level <= heading.level);
        heading.line.end..next.map_or(self.length, |it| it.line.start)
    }

    /// The same without the spaces around it.
    pub(super) fn body(&self, text: &str, place: usize) -> Range<usize> {
        let below = self.below(place);
        let part = &text[below.clone()];
        let start = below.start + part.len() - part.trim_start().len();
        start..start + part.trim().len()
    }
}

/// Reads `markdown`.
pub(super) fn parse_markdown(text: &str) -> Result<Node, Vec<Fault>> {
    let found = scan(text);
    let front = match &found.front {
        None => Node { bytes: 0..0, style: Style::Block, held: Held::Map(Vec::new()) },
        Some(part) => {
            let node = yaml::parse(text, &text[part.clone()], part.start)?;
            match node.held {
                Held::Map(_) => node,
                Held::Leaf(Value::Null) => Node { held: Held::Map(Vec::new()), ..node },
                _ => {
                    let fault = Fault::at(text, node.bytes.start, "the front matter is not a map");
                    return Err(vec![fault.helped("write `key: value` lines between the `---` lines")]);
                }
            }
        }
    };
    let heading = |it: &Heading| Node::leaf(it.line.clone(), Style::Plain, Value::from(it.title.as_str()));
    let headings = found.headings.iter().map(heading).collect();
    let mut seen = std::collections::HashSet::new();
    let mut sections = Vec::new();
    for (place, heading) in found.headings.iter().enumerate() {
        if !seen.insert(&heading.title) {
            continue;
        }
        let bytes = found.body(text, place);
        let body = plain_lines(&text[bytes.clone()]);
        let node = Node::leaf(bytes, Style::Plain, Value::from(body));
        sections.push(Entry { key: heading.title.clone(), key_bytes: heading.line.clone(), node });
    }
    let list = Node { bytes: 0..text.len(), style: Style::Block, held: Held::List(headings) };
    let sections = Node { bytes: 0..text.len(), style: Style::Block, held: Held::Map(sections) };
    let given = [("text", whole(text)), ("front", front), ("headings", list), ("sections", sections)];
    Ok(fields(text.len(), given))
}

/// Reads `checklist`.
pub(super) fn parse_checklist(text: &str) -> Node {
    let found = scan(text);
    let item = |it: &CheckBox| {
        let written = Value::from(&text[it.text.clone()]);
        let entries = [
            ("text", Node::leaf(it.text.clone(), Style::Plain, written)),
            ("checked", Node::leaf(it.mark..it.mark + 1, Style::Plain, Value::Bool(it.checked))),
        ];
        Node { bytes: it.line.clone(), ..fields(text.len(), entries) }
    };
    let done = found.boxes.iter().filter(|it| it.checked).count();
    let count = |it: usize| Node::leaf(0..0, Style::Plain, Value::from(it));
    let items = found.boxes.iter().map(item).collect();
    let items = Node { bytes: 0..text.len(), style: Style::Block, held: Held::List(items) };
    let given = [
        ("text", whole(text)),
        ("open", count(found.boxes.len() - done)),
        ("done", count(done)),
        ("items", items),
    ];
    fields(text.len(), given)
}

/// The lines between the two `---`. Without the second one the first is only a rule across the page.
fn front(text: &str, begin: usize) -> Option<Range<usize>> {
    let mut start = begin;
    let mut lines = text[begin..].split_inclusive('\n');
    let first = lines.next()?;
    if first.trim_end() != "---" || !first.ends_with('\n') {
        return None;
    }
    start += first.len();
    let from = start;
    for line in lines {
        if matches!(line.trim_end(), "---" | "...") {
            return Some(from..start);
        }
        start += line.len();
    }
    None
}

/// Where the line after this one begins.
fn next_line(text: &str, at: usize) -> usize {
    text[at..].find('\n').map_or(text.len(), |it| at + it + 1)
}

/// The fence a line opens: its letter and length. A fence may stand right behind the `-` of a list.
fn opens(line: &str) -> Option<(char, usize)> {
    let bare = line.trim_start();
    let bare = marker(bare).map_or(bare, |length| bare[length..].trim_start());
    let letter = bare.chars().next().filter(|it| matches!(it, '`' | '~'))?;
    let after = bare.trim_start_matches(letter);
    let length = bare.len() - after.len();
    (length >= 3 && !(letter == '`' && after.contains('`'))).then_some((letter, length))
}

fn closes(line: &str, letter: char, length: usize) -> bool {
    let bare = line.trim();
    bare.len() >= length && bare.chars().all(|it| it == letter)
}

fn heading(line: &str) -> Option<(usize, &str)> {
    let bare = line.trim_start_matches(' ');
    if line.len() - bare.len() > 3 {
        return None;
    }
    let after = bare.trim_start_matches('#');
    let level = bare.len() - after.len();
    if !(1..=6).contains(&level) || !(after.is_empty() || after.starts_with([' ', '\t'])) {
        return None;
    }
    let title = after.trim();
    let open = title.trim_end_matches('#');
    // Closing signs count only when set off.
    let title = if open.is_empty() || open.ends_with([' ', '\t']) { open.trim_end() } else { title };
    Some((level, title))
}

/// The length of `-`, `*`, `+`, `1.` or `1)` with the space behind it.
fn marker(bare: &str) -> Option<usize> {
    let digits = bare.bytes().take_while(u8::is_ascii_digit).count();
    let sign = match bare.as_bytes().get(digits) {
        Some(b'-' | b'*' | b'+') if digits == 0 => 1,
        Some(b'.' | b')') if (1..=9).contains(&digits) => digits + 1,
        _ => return None,
    };
    let spaces = bare[sign..].len() - bare[sign..].trim_start_matches([' ', '\t']).len();
    (spaces > 0).then_some(sign + spaces)
}

fn check_box(line: &str, start: usize) -> Option<CheckBox> {
    let bare = line.trim_start_matches([' ', '\t']);
    let from = line.len() - bare.len();
    let length = marker(bare)?;
    let inside = &bare[length..];
    let checked = match inside.as_bytes() {
        [b'[', b' ', b']', ..] => false,
        [b'[', b'x' | b'X', b']', ..] => true,
        _ => return None,
    };
    let behind = &inside[3..];
    if !(behind.is_empty() || behind.starts_with([' ', '\t'])) {
        return None;
    }
    let at = start + from + length;
    let text = at + 3 + behind.len() - behind.trim_start().len();
    Some(CheckBox {
        line: start..start + line.len(),
        marker: start..at,
        mark: at + 1,
        text: text..text + behind.trim().len(),
        checked,
    })
}

/// A text whose lines end as those of any other system.
fn plain_lines(text: &str) -> String {
    let lines: Vec<&str> = text.split('\n').map(|it| it.trim_end_matches('\r')).collect();
    lines.join("\n")
}

/// A text with the line ends of the file it goes into.
pub(super) fn in_lines_of(file: &str, text: &str) -> String {
    let plain = plain_lines(text);
    match newline(file) {
        "\n" => plain,
        other => plain.replace('\n', other),
    }
}
