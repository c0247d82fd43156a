//! YAML with places, by the events of `saphyr-parser`. The same small YAML as that of workflows: 1.2 core scalars, no
//! aliases, tags, complex keys or several documents. An anchor nobody can refer to is read over, and not edited.

mod edit;
mod scalar;
mod spell;

use std::collections::HashSet;
use std::ops::Range;

use saphyr_parser::{Event, Parser, ScalarStyle, Span};
use serde_json::Value;

use super::fault::Fault;
use super::tree::{Entry, Held, Node, Style};

pub(super) use self::edit::{first_key, insert, push, replace};
pub(super) use self::spell::Texts;

/// Nothing that people or tools write nests deeper.
const MOST_DEPTH: usize = 100;
/// So many faults are told at once.
const MOST_FAULTS: usize = 20;

/// Reads the YAML in `part`, which begins at byte `base` of `text`. Nothing at all is an empty value.
pub(super) fn parse(text: &str, part: &str, base: usize) -> Result<Node, Vec<Fault>> {
    let mut reader =
        Reader { text, offsets: Offsets::new(part, base), end: base + part.len(), faults: Vec::new() };
    let mut parser = Parser::new_from_str(part);
    let mut open: Vec<Open> = Vec::new();
    let mut root = None;
    let mut documents = 0;
    while let Some(next) = parser.next_event() {
        let (event, span) = match next {
            Ok(found) => found,
            Err(error) => {
                let at = reader.offsets.byte(error.marker().index()).min(reader.end);
                reader.syntax(at, error.info());
                return Err(reader.faults);
            }
        };
        let bytes = reader.bytes(span);
        let finished = match event {
            Event::DocumentStart(_) => {
                documents += 1;
                if documents > 1 {
                    reader.fault(
                        bytes.start,
                        "there are several documents in this file",
                        "remove `---` and what follows",
                    );
                    return Err(reader.faults);
                }
                None
            }
            Event::Alias(_) => {
                reader.fault(bytes.start, "aliases (`*name`) are not read", "write it out");
                Some(Node::leaf(bytes, Style::Plain, Value::Null))
            }
            Event::Scalar(written, style, anchor, tag) => {
                reader.untagged(&bytes, tag.is_some());
                Some(reader.scalar(&written, style, anchor, bytes))
            }
            Event::SequenceStart(anchor, tag) => {
                reader.untagged(&bytes, tag.is_some());
                open.push(Open { start: bytes, anchor, holds: Holds::List(Vec::new()) });
                None
            }
            Event::MappingStart(anchor, tag) => {
                reader.untagged(&bytes, tag.is_some());
                let holds = Holds::Map { entries: Vec::new(), seen: HashSet::new(), key: None };
                open.push(Open { start: bytes, anchor, holds });
                None
            }
            Event::SequenceEnd | Event::MappingEnd => open.pop().map(|it| it.close(bytes, text)),
            _ => None,
        };
        if open.len() > MOST_DEPTH || reader.faults.len() >= MOST_FAULTS {
            if open.len() > MOST_DEPTH {
                let at = open.last().map_or(base, |it| it.start.start);
                reader.fault(at, "nested too deeply", "a document needs no more than a few levels");
            }
            return Err(reader.faults);
        }
        if let Some(node) = finished {
            match open.last_mut() {
                Some(parent) => parent.take(node, &mut reader),
                None => root = Some(node),
            }
        }
    }
    if reader.faults.is_empty() {
        Ok(root.unwrap_or_else(|| Node::leaf(reader.end..reader.end, Style::Plain, Value::Null)))
    } else {
        Err(reader.faults)
    }
}

/// A list or map whose end has not been met.
struct Open {
    start: Range<usize>,
    anchor: usize,
    holds: Holds,
}

enum Holds {
    List(Vec<Node>),
    Map { entries: Vec<Entry>, seen: HashSet<String>, key: Option<(String, Range<usize>)> },
}

impl Open {
    fn take(&mut self, mut node: Node, reader: &mut Reader<'_>) {
        match &mut self.holds {
            Holds::List(items) => items.push(node),
            Holds::Map { entries, seen, key } => {
                if let Some((key, key_bytes)) = key.take() {
                    // What is not written stands right behind its key, whatever the parser met next.
                    if node.is_null() && node.bytes.is_empty() {
                        node.bytes = key_bytes.end..key_bytes.end;
                    }
                    // A list as far out as its key begins with its first `-`, not behind it.
                    if node.style == Style::Block && !node.items().is_empty() {
                        node.bytes.start = first_sign(reader.text, key_bytes.end).unwrap_or(node.bytes.start);
                    }
                    entries.push(Entry { key, key_bytes, node });
                } else {
                    let text = reader.key(&node);
                    if !text.is_empty() && !seen.insert(text.clone()) {
                        let message = format!("the key `{text}` is written twice here");
                        reader.fault(node.bytes.start, &message, "keep one of them");
                    }
                    *key = Some((text, node.bytes));
                }
            }
        }
    }

    fn close(self, end: Range<usize>, text: &str) -> Node {
        let start = self.start.start;
        // Brackets close where they close; indented lines end with the last of them.
        let flow = text.get(self.start).is_some_and(|it| it.ends_with(['[', '{']));
        let (last, held) = match self.holds {
            Holds::List(items) => (items.last().map(|it| it.bytes.end), Held::List(items)),
            Holds::Map { entries, .. } => {
                (entries.last().map(|it| it.node.bytes.end.max(it.key_bytes.end)), Held::Map(entries))
            }
        };
        // The parser counts spaces and a comment behind a bracket as part of it.
        let end = if flow { end.start + 1 } else { last.unwrap_or(end.end) };
        let style = match self.anchor {
            0 if flow => Style::Flow,
            0 => Style::Block,
            _ => Style::Anchored,
        };
        Node { bytes: start..end.max(start), style, held }
    }
}

/// The range without the spaces at its end.
fn trimmed(text: &str, bytes: Range<usize>) -> Range<usize> {
    let length = text.get(bytes.clone()).map_or(0, |it| it.trim_end().len());
    bytes.start..bytes.start + length
}

/// Where a quoted text ends; the parser counts spaces and a comment behind it as part of it.
fn closing(text: &str, bytes: Range<usize>) -> usize {
    let written = text.get(bytes.clone()).unwrap_or_default();
    let quote = written.bytes().next().unwrap_or(b'"');
    let mut letters = written.bytes().enumerate().skip(1).peekable();
    while let Some((at, letter)) = letters.next() {
        let twice = quote == b'\'' && letters.peek().is_some_and(|(_, it)| *it == b'\'');
        if (letter == b'\\' && quote == b'"') || (letter == quote && twice) {
            letters.next();
        } else if letter == quote {
            return bytes.start + at + 1;
        }
    }
    trimmed(text, bytes).end
}

/// Where the last line of a text over lines ends. Empty lines behind it count when the text has them.
fn last_line(text: &str, bytes: Range<usize>, written: &str) -> usize {
    let lines = text.get(bytes.clone()).unwrap_or_default();
    let end = if written.ends_with("\n\n") {
        // The spaces behind the last line end belong to what comes next.
        let whole = lines.rfind('\n').map_or(lines, |it| &lines[..it]);
        whole.strip_suffix('\r').unwrap_or(whole).len()
    } else if written.trim_end_matches('\n').ends_with([' ', '\t']) {
        lines.trim_end_matches(['\n', '\r']).len()
    } else {
        lines.trim_end().len()
    };
    bytes.start + end
}

/// The first sign behind `:`, spaces and comments aside.
fn first_sign(text: &str, key_end: usize) -> Option<usize> {
    let mut at = key_end + text.get(key_end..)?.find(':')? + 1;
    loop {
        let rest = text.get(at..)?;
        let bare = rest.trim_start();
        at += rest.len() - bare.len();
        if !bare.starts_with('#') {
            return bare.starts_with('-').then_some(at);
        }
        at += bare.find('\n')?;
    }
}

struct Reader<'t> {
    text: &'t str,
    offsets: Offsets,
    end: usize,
    faults: Vec<Fault>,
}

impl Reader<'_> {
    fn bytes(&self, span: Span) -> Range<usize> {
        let start = self.offsets.byte(span.start.index()).min(self.end);
        let end = self.offsets.byte(span.end.index()).min(self.end);
        start..end.max(start)
    }

    fn fault(&mut self, byte: usize, message: &str, help: &str) {
        self.faults.push(Fault::at(self.text, byte, message).helped(help));
    }

    fn untagged(&mut self, bytes: &Range<usize>, tagged: bool) {
        if tagged {
            self.fault(bytes.start, "tags (`!name`) are not read", "remove it");
        }
    }

    fn scalar(&self, written: &str, style: ScalarStyle, anchor: usize, bytes: Range<usize>) -> Node {
        let value = match style {
            ScalarStyle::Plain => scalar::resolve(written),
            _ => Value::from(written),
        };
        let style = match style {
            _ if anchor != 0 => Style::Anchored,
            ScalarStyle::Plain => Style::Plain,
            ScalarStyle::SingleQuoted => Style::Single,
            ScalarStyle::DoubleQuoted => Style::Double,
            ScalarStyle::Literal | ScalarStyle::Folded => Style::Long,
        };
        let bytes = match style {
            // In brackets the parser gives what is not written the place of what closes them.
            Style::Plain if written.is_empty() => bytes.start..bytes.start,
            Style::Single | Style::Double => bytes.start..closing(self.text, bytes),
            Style::Long if self.text.get(bytes.clone()).is_none_or(|it| it.trim().is_empty()) => {
                // No line of it is written, so it ends where its first one does.
                let end = self.text.get(..bytes.start).map_or(0, |it| it.trim_end().len());
                end..end
            }
            Style::Long => bytes.start..last_line(self.text, bytes, written),
            _ => trimmed(self.text, bytes),
        };
        Node::leaf(bytes, style, value)
    }

    /// A key, or nothing after saying why it is none.
    fn key(&mut self, node: &Node) -> String {
        let written = self.text.get(node.bytes.clone()).unwrap_or_default();
        let (message, help) = match &node.held {
            Held::Leaf(_) if node.style == Style::Anchored => {
                ("a key with an anchor is not read", "remove the anchor")
            }
            Held::Leaf(Value::String(text)) if !text.is_empty() => return text.clone(),
            // Numbers and the like are keys as they are written.
            Held::Leaf(_) if !written.is_empty() && node.style == Style::Plain => return written.to_owned(),
            Held::Leaf(_) => ("a key is missing here", "write a word before the `:`"),
            _ => ("a key must be a word", "write a word before the `:`; quote texts with brackets in them"),
        };
        self.fault(node.bytes.start, message, help);
        String::new()
    }

    fn syntax(&mut self, at: usize, info: &str) {
        if info.contains("unknown anchor") {
            return self.fault(
                at,
                "aliases (`*name`) are not read",
                "write it out, or quote a text that begins with `*`",
            );
        }
        if info.contains("recursion limit") {
            return self.fault(at, "nested too deeply", "a document needs no more than a few levels");
        }
        // Where the parser finds a tab, it was still reading what stands before it.
        let tab = info.contains("tab").then(|| self.text.get(at..).and_then(|it| it.find('\t'))).flatten();
        let help = if tab.is_some() {
            "indent with spaces: YAML does not allow tabs there"
        } else {
            "check quotes, brackets and indentation just before this place; quote texts with `: ` in them"
        };
        self.fault(tab.map_or(at, |it| at + it), &format!("this is not valid YAML: {info}"), help);
    }
}

/// Characters to bytes; the parser counts characters.
struct Offsets {
    /// Where each character begins; absent if each is one byte.
    table: Option<Vec<usize>>,
    base: usize,
}

impl Offsets {
    fn new(part: &str, base: usize) -> Self {
        let table = || part.char_indices().map(|(at, _)| at).chain([part.len()]).collect();
        Self { table: (!part.is_ascii()).then(table), base }
    }

    fn byte(&self, index: usize) -> usize {
        let within = match &self.table {
            None => index,
            Some(table) => table.get(index).or(table.last()).copied().unwrap_or(0),
        };
        self.base + within
    }
}
