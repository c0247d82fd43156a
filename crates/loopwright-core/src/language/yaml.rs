//! YAML text to a tree that remembers where everything stood.
//!
//! A deliberately small YAML: 1.2 core scalars, no anchors, aliases, tags or several documents, no duplicate
//! keys. What is absent cannot surprise an author or be used to make a small file large.

use std::ops::Range;

use rustc_hash::FxHashSet;
use saphyr_parser::{Event, Parser, ScalarStyle, Span};

use crate::problem::{Place, Problem};

/// A workflow file larger than this is a mistake.
pub const MOST_BYTES: usize = 1 << 20;
/// A workflow nested deeper than this is a mistake.
const MOST_DEPTH: usize = 48;

/// A piece of YAML and where it stands.
#[derive(Clone, Debug)]
pub struct Node {
    /// Bytes of the file.
    pub bytes: Range<usize>,
    /// What stands there.
    pub value: Value,
}

/// What a piece of YAML is.
#[derive(Clone, Debug)]
pub enum Value {
    /// Nothing, `null` or `~`.
    Empty,
    /// A scalar, as written. `plain` scalars were not quoted.
    Text {
        /// The text.
        text: String,
        /// Whether it was written without quotes.
        plain: bool,
    },
    /// A list.
    List(Vec<Node>),
    /// A map, in the order written.
    Map(Vec<Entry>),
}

/// One key of a map and what it holds.
#[derive(Clone, Debug)]
pub struct Entry {
    /// The key.
    pub key: String,
    /// Where the key stands.
    pub key_bytes: Range<usize>,
    /// The value.
    pub node: Node,
}

impl Node {
    /// The value of a key, if this is a map that has it.
    pub fn get(&self, key: &str) -> Option<&Node> {
        self.entry(key).map(|it| &it.node)
    }

    /// The entry of a key, if this is a map that has it.
    pub fn entry(&self, key: &str) -> Option<&Entry> {
        self.entries().iter().find(|it| it.key == key)
    }

    /// The entries, if this is a map.
    pub fn entries(&self) -> &[Entry] {
        match &self.value {
            Value::Map(entries) => entries,
            _ => &[],
        }
    }

    /// The items: of a list, or this one thing. Authors may leave the brackets off a list of one.
    pub fn items(&self) -> Vec<&Node> {
        match &self.value {
            Value::List(items) => items.iter().collect(),
            Value::Empty => Vec::new(),
            _ => vec![self],
        }
    }

    /// The text, if this is a scalar.
    pub fn text(&self) -> Option<&str> {
        match &self.value {
            Value::Text { text, .. } => Some(text),
            _ => None,
        }
    }

    /// The number, if this is a plain non-negative integer.
    pub fn number(&self) -> Option<u32> {
        match &self.value {
            Value::Text { text, plain: true } => text.parse().ok(),
            _ => None,
        }
    }

    /// The truth value, if this is `true` or `false`.
    pub fn boolean(&self) -> Option<bool> {
        match &self.value {
            Value::Text { text, plain: true } => text.parse().ok(),
            _ => None,
        }
    }

    /// What kind of YAML this is, for messages.
    pub fn kind(&self) -> &'static str {
        match &self.value {
            Value::Empty => "nothing",
            Value::Text { .. } => "a word or text",
            Value::List(_) => "a list",
            Value::Map(_) => "a map",
        }
    }
}

const TOO_DEEP: &str = "a workflow needs no more than a few levels";

/// Reads one YAML document. A syntax error ends it; everything else is collected.
pub fn parse(file: &str, text: &str, problems: &mut Vec<Problem>) -> Option<Node> {
    if text.len() > MOST_BYTES {
        let message = format!("`{file}` is larger than {} KiB, and no workflow is", MOST_BYTES / 1024);
        let problem = Problem::load("too-large", place(file, 0..0), message);
        problems
            .push(problem.help("is it the right file? Long texts go in files of their own, in `prompts/`"));
        return None;
    }
    // A byte order mark is no part of the text, but of the file that places are counted in.
    let plain = text.strip_prefix('\u{feff}').unwrap_or(text);
    let offsets = Offsets::new(plain, text.len() - plain.len());
    let mut reader = Reader { file, text, offsets, length: text.len(), problems };
    let mut parser = Parser::new_from_str(plain);
    let mut open: Vec<Open> = Vec::new();
    let mut root = None;
    let mut documents = 0;
    loop {
        let (event, span) = match parser.next_event() {
            None => break,
            Some(Ok(found)) => found,
            Some(Err(error)) => {
                let at = reader.offsets.byte(error.marker().index());
                reader.syntax(at, error.info(), text);
                return None;
            }
        };
        let bytes = reader.bytes(span);
        let finished = match event {
            Event::DocumentStart(_) => {
                documents += 1;
                if documents > 1 {
                    reader.report(
                        "several-documents",
                        bytes,
                        "a workflow file holds one document",
                        "remove `---` and what follows",
                    );
                    return root;
                }
                None
            }
            Event::Alias(_) => {
                reader.report(
                    "alias",
                    bytes.clone(),
                    "aliases (`*name`) are not part of the workflow language",
                    "write it out",
                );
                Some(Node { bytes, value: Value::Empty })
            }
            Event::Scalar(text, style, anchor, tag) => {
                reader.plain_only(&bytes, anchor, tag.is_some());
                let plain = style == ScalarStyle::Plain;
                let value = if plain && matches!(&*text, "" | "~" | "null") {
                    Value::Empty
                } else {
                    Value::Text { text: text.into_owned(), plain }
                };
                Some(Node { bytes, value })
            }
            Event::SequenceStart(anchor, tag) => {
                reader.plain_only(&bytes, anchor, tag.is_some());
                open.push(Open { start: bytes.start, holds: Holds::List(Vec::new()) });
                None
            }
            Event::MappingStart(anchor, tag) => {
                reader.plain_only(&bytes, anchor, tag.is_some());
                open.push(Open {
                    start: bytes.start,
                    holds: Holds::Map { entries: Vec::new(), seen: FxHashSet::default(), key: None },
                });
                None
            }
            Event::SequenceEnd | Event::MappingEnd => open.pop().map(|it| it.close(bytes.end, text)),
            _ => None,
        };
        if open.len() > MOST_DEPTH {
            reader.report("too-deep", bytes_of(&open), "nested too deeply", TOO_DEEP);
            return None;
        }
        if let Some(node) = finished {
            let outermost = open.len() == 1;
            match open.last_mut() {
                Some(parent) => parent.take(node, outermost, &mut reader),
                None => root = Some(node),
            }
        }
    }
    match root {
        Some(Node { value: Value::Empty, .. }) | None => {
            reader.report("empty", 0..0, "the file is empty", "start with `workflow: NAME`; see docs/guide");
            None
        }
        root => root,
    }
}

fn bytes_of(open: &[Open]) -> Range<usize> {
    let start = open.last().map_or(0, |it| it.start);
    start..start
}

fn place(file: &str, bytes: Range<usize>) -> Place {
    Place { file: file.to_owned(), bytes }
}

/// A list or map whose end has not been met.
struct Open {
    start: usize,
    holds: Holds,
}

enum Holds {
    List(Vec<Node>),
    Map { entries: Vec<Entry>, seen: FxHashSet<String>, key: Option<(String, Range<usize>)> },
}

impl Open {
    fn take(&mut self, node: Node, outermost: bool, reader: &mut Reader<'_>) {
        match &mut self.holds {
            Holds::List(items) => items.push(node),
            Holds::Map { entries, seen, key } => {
                if let Some((key, key_bytes)) = key.take() {
                    let again = !key.is_empty() && !seen.insert(key.clone());
                    if !again {
                        entries.push(Entry { key, key_bytes, node });
                    } else if outermost {
                        merge(entries, &key, node);
                    }
                } else {
                    let text = reader.key(&node);
                    if seen.contains(&text) {
                        let message = format!("`{}` is written twice here", shorten(&text));
                        reader.report("duplicate-key", node.bytes.clone(), &message, "keep one of them");
                    }
                    *key = Some((text, node.bytes));
                }
            }
        }
    }

    fn close(self, end: usize, text: &str) -> Node {
        let end = end.max(self.start);
        // Brackets close where they close; indented lines end with the last of them.
        let bracketed = text.as_bytes().get(self.start).is_some_and(|it| matches!(it, b'[' | b'{'));
        let (last, value) = match self.holds {
            Holds::List(items) => (items.last().map(|it| it.bytes.end.max(self.start)), Value::List(items)),
            Holds::Map { entries, .. } => {
                (entries.last().map(|it| it.node.bytes.end.max(it.key_bytes.end)), Value::Map(entries))
            }
        };
        Node { bytes: self.start..last.filter(|_| !bracketed).unwrap_or(end), value }
    }
}

/// A section that is written twice is reported; what only the second one names stays known.
fn merge(entries: &mut [Entry], key: &str, node: Node) {
    let first = entries.iter_mut().find(|it| it.key == key).map(|it| &mut it.node.value);
    if let (Some(Value::Map(known)), Value::Map(more)) = (first, node.value) {
        let names: FxHashSet<String> = known.iter().map(|it| it.key.clone()).collect();
        known.extend(more.into_iter().filter(|it| !names.contains(&it.key)));
    }
}

struct Reader<'a> {
    file: &'a str,
    text: &'a str,
    offsets: Offsets,
    length: usize,
    problems: &'a mut Vec<Problem>,
}

impl Reader<'_> {
    fn bytes(&self, span: Span) -> Range<usize> {
        let start = self.offsets.byte(span.start.index()).min(self.length);
        let end = self.offsets.byte(span.end.index()).min(self.length);
        start..end.max(start)
    }

    fn report(&mut self, code: &'static str, bytes: Range<usize>, message: &str, help: &str) {
        self.problems.push(Problem::load(code, place(self.file, bytes), message).help(help));
    }

    /// A key, or nothing after saying why it is none.
    fn key(&mut self, node: &Node) -> String {
        let (message, help) = match &node.value {
            Value::Text { text, .. } if !text.is_empty() => return text.clone(),
            Value::Text { .. } | Value::Empty => ("a key is missing here", "write a word before the `:`"),
            Value::Map(_) if self.text[..node.bytes.start].ends_with('{') => {
                ("without quotes `{{ }}` is a map to YAML", "quote the whole text: \"{{subject}}\"")
            }
            _ => ("a key must be a word", "write a word before the `:`; quote texts with brackets in them"),
        };
        self.report("bad-key", node.bytes.clone(), message, help);
        String::new()
    }

    fn plain_only(&mut self, bytes: &Range<usize>, anchor: usize, tagged: bool) {
        if anchor != 0 {
            self.report(
                "anchor",
                bytes.clone(),
                "anchors (`&name`) are not part of the workflow language",
                "write it out",
            );
        }
        if tagged {
            self.report(
                "tag",
                bytes.clone(),
                "tags (`!name`) are not part of the workflow language",
                "remove it",
            );
        }
    }

    fn syntax(&mut self, at: usize, info: &str, text: &str) {
        if info.contains("recursion limit") {
            let bytes = at..(at + 1).min(self.length).max(at);
            return self.report("too-deep", bytes, "nested too deeply", TOO_DEEP);
        }
        // Where the parser finds a tab, it was still reading what stands before it.
        let tab = info.contains("tab").then(|| text.get(at..).and_then(|it| it.find('\t'))).flatten();
        let at = tab.map_or(at, |it| at + it);
        let line_start = text[..at.min(text.len())].rfind('\n').map_or(0, |it| it + 1);
        let indent: String =
            text[line_start..].chars().take_while(|it| it.is_whitespace() && *it != '\n').collect();
        let help = if indent.contains('\t') || tab.is_some() {
            "indent with spaces: YAML does not allow tabs there"
        } else if text[line_start..].lines().next().is_some_and(|it| it.contains("{{") && !it.contains('"')) {
            "a text with `{{ }}` must be quoted: \"{{subject}}\""
        } else if text[at.min(text.len())..].starts_with('*') {
            "a text that begins with `*` must be quoted: \"**\""
        } else {
            "check quotes, brackets, commas and indentation just before this place; quote texts with `: ` in them"
        };
        let bytes = at..(at + 1).min(self.length).max(at);
        self.report("syntax", bytes, &format!("this is not valid YAML: {info}"), help);
    }
}

/// Characters to bytes; the parser counts characters.
struct Offsets {
    /// Where each character begins; absent if each is one byte.
    table: Option<Vec<usize>>,
    /// Bytes of the file before the first character.
    before: usize,
}

impl Offsets {
    fn new(text: &str, before: usize) -> Self {
        let table = || text.char_indices().map(|(at, _)| at).chain([text.len()]).collect();
        Self { table: (!text.is_ascii()).then(table), before }
    }

    fn byte(&self, index: usize) -> usize {
        let within = match &self.table {
            None => index,
            Some(table) => table.get(index).or(table.last()).copied().unwrap_or(0),
        };
        self.before + within
    }
}

/// A text short enough to be part of a message.
pub fn shorten(text: &str) -> String {
    const MOST: usize = 60;
    let mut short: String =
        text.chars().take(MOST).map(|it| if it.is_control() { ' ' } else { it }).collect();
    if text.chars().nth(MOST).is_some() {
        short.push('…');
    }
    short
}
