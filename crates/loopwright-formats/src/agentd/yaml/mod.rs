//! YAML as text with places. Numbers stay as they are written: `2.10` is no `2.1`.

mod block;

use saphyr_parser::{Event, Parser, ScalarStyle};

const MOST_BYTES: usize = 1 << 22;
const MOST_DEPTH: usize = 48;

/// A value and its line.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Node {
    /// A single value. Plain ones may mean nothing or a number, quoted ones are text.
    Scalar { text: String, plain: bool, line: usize },
    /// A list.
    List { items: Vec<Node>, line: usize },
    /// A map, in the order it is written.
    Map { entries: Vec<(String, Node)>, line: usize },
    /// A reference to another value. They are not followed.
    Alias { line: usize },
}

/// Why a text is not YAML.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Fault {
    pub line: usize,
    pub message: String,
}

impl Node {
    /// The line it begins in.
    pub fn line(&self) -> usize {
        match self {
            Self::Scalar { line, .. }
            | Self::List { line, .. }
            | Self::Map { line, .. }
            | Self::Alias { line } => *line,
        }
    }

    /// The value of a key, if this is a map that has it. The first one counts.
    pub fn get(&self, key: &str) -> Option<&Self> {
        self.entries().iter().find(|(it, _)| it == key).map(|(_, value)| value)
    }

    /// The line at which a key stands a second time.
    pub fn doubled(&self, key: &str) -> Option<usize> {
        self.entries().iter().filter(|(it, _)| it == key).nth(1).map(|(_, value)| value.line())
    }

    /// What a map holds; nothing for anything else.
    pub fn entries(&self) -> &[(String, Self)] {
        if let Self::Map { entries, .. } = self { entries } else { &[] }
    }

    /// What a list holds; nothing for anything else.
    pub fn items(&self) -> &[Self] {
        if let Self::List { items, .. } = self { items } else { &[] }
    }

    /// Whether it says that there is nothing.
    pub fn is_null(&self) -> bool {
        matches!(self, Self::Scalar { text, plain: true, .. } if matches!(text.as_str(), "" | "~" | "null" | "Null" | "NULL"))
    }

    /// A single value as it is written, unless it is nothing.
    pub fn text(&self) -> Option<&str> {
        match self {
            Self::Scalar { text, .. } if !self.is_null() => Some(text),
            _ => None,
        }
    }
}

/// A list or map that is not finished.
enum Open {
    List(Vec<Node>, usize),
    Map(Vec<(String, Node)>, Option<String>, usize),
}

/// Reads a document whose first line is the one after line `before`.
pub(crate) fn read(text: &str, before: usize) -> Result<Node, Fault> {
    match block::read(text, before) {
        Some(node) => Ok(node),
        None => parse(text, before),
    }
}

fn parse(text: &str, before: usize) -> Result<Node, Fault> {
    let fault = |line: usize, message: String| Fault { line: line + before, message };
    if text.len() > MOST_BYTES {
        return Err(fault(1, format!("it is larger than {} MiB", MOST_BYTES >> 20)));
    }
    let mut parser = Parser::new_from_str(text.strip_prefix('\u{feff}').unwrap_or(text));
    let mut open: Vec<Open> = Vec::new();
    let mut root = None;
    let mut documents = 0;
    while let Some(event) = parser.next_event() {
        let (event, span) = event.map_err(|error| {
            fault(error.marker().line().max(1), format!("it is not YAML: {}", error.info()))
        })?;
        let line = span.start.line().max(1) + before;
        let done = match event {
            Event::DocumentStart(_) => {
                documents += 1;
                if documents > 1 {
                    return Err(Fault { line, message: "it has several documents".to_owned() });
                }
                None
            }
            Event::Alias(_) => Some(Node::Alias { line }),
            Event::Scalar(text, style, ..) => {
                Some(Node::Scalar { text: text.into_owned(), plain: style == ScalarStyle::Plain, line })
            }
            Event::SequenceStart(..) => {
                open.push(Open::List(Vec::new(), line));
                None
            }
            Event::MappingStart(..) => {
                open.push(Open::Map(Vec::new(), None, line));
                None
            }
            Event::SequenceEnd | Event::MappingEnd => open.pop().map(|it| match it {
                Open::List(items, line) => Node::List { items, line },
                Open::Map(entries, _, line) => Node::Map { entries, line },
            }),
            _ => None,
        };
        if open.len() > MOST_DEPTH {
            return Err(Fault { line, message: "it is nested too deeply".to_owned() });
        }
        let Some(value) = done else { continue };
        match open.last_mut() {
            None => root = Some(value),
            Some(Open::List(items, _)) => items.push(value),
            Some(Open::Map(entries, key, _)) => match key.take() {
                Some(key) => entries.push((key, value)),
                None => *key = Some(if let Node::Scalar { text, .. } = value { text } else { String::new() }),
            },
        }
    }
    Ok(root.unwrap_or(Node::Scalar { text: String::new(), plain: true, line: before + 1 }))
}

/// Reads a map even where it is not quite YAML: each key by itself, and a value that is no YAML as the text it is. Models
/// write `summary: Fix: it` and mean what a person reads there. The fault is that of the whole.
pub(crate) fn read_loosely(text: &str, before: usize) -> (Node, Option<Fault>) {
    let fault = match read(text, before) {
        Ok(node) => return (node, None),
        Err(fault) => fault,
    };
    let mut entries: Vec<(String, Node)> = Vec::new();
    let text = super::page::unify(text);
    let lines: Vec<&str> = text.lines().collect();
    let mut at = 0;
    while let Some(line) = lines.get(at) {
        let Some((key, value)) = key_of(line) else {
            at += 1;
            continue;
        };
        let behind = lines.iter().skip(at + 1).take_while(|it| key_of(it).is_none()).count();
        let own = lines.get(at..=at + behind).unwrap_or_default().join("\n");
        let number = before + at + 1;
        let node = match read(&own, number - 1) {
            Ok(Node::Map { entries, .. }) if entries.len() == 1 => entries.into_iter().next().map(|it| it.1),
            _ => None,
        };
        let bare =
            || Node::Scalar { text: value.trim_matches(['"', '\'']).to_owned(), plain: false, line: number };
        entries.push((key, node.unwrap_or_else(bare)));
        at += behind + 1;
    }
    (Node::Map { entries, line: before + 1 }, Some(fault))
}

/// Key and value of a line that is not indented.
fn key_of(line: &str) -> Option<(String, &str)> {
    let (key, value) = line.split_once(':')?;
    let is_key =
        !key.is_empty() && key.bytes().all(|it| it.is_ascii_alphanumeric() || matches!(it, b'_' | b'-'));
    (is_key && (value.is_empty() || value.starts_with([' ', '\t']))).then(|| (key.to_owned(), value.trim()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_short_way_says_the_same() {
        let texts = [
            "id: 2.10\naction: CREATE\nfile: src/a-b_c.rs\n",
            "phase: proposed",
            "a: 1\r\nb: x\r\n",
            "a: 'b'\nc: \"d e\"\n\ne: f g h\n",
            "a: []\nb: {}\nc: null\nd: ~x\n",
            "a:\n  b: 1\n  c:\n    d/e.md: 2\nf: 3\n",
            "a:\n- b: 1\n  c: 2\n- b: 3\nd: 4\n",
            "a:\n  - b\n  - 'c: d'\n  - e: f\n    g:\n    - h\ni: j\n",
            "- a: 1\n  b:\n    c: 2\n- d\n",
            "-   a: 1\n    b: 2\n",
            "a: b:c\nb: 2026-01-20T10:00:00Z\n",
            "a: b  \nc:   d\n",
            "a: 'it''s ''so'''\nb: ''''\nc: ''\n",
        ];
        let mut count = 0;
        for text in texts {
            let short = block::read(text, 3);
            count += usize::from(short.is_some());
            assert!(
                short.is_none() || short == parse(text, 3).ok(),
                "{text:?}: {short:?} {:?}",
                parse(text, 3)
            );
        }
        assert!(count >= 11, "only {count} went the short way");
        let others = [
            "a: - b",
            "a: b: c",
            "a: b\n  c",
            "a:\n",
            "a: x #y",
            "",
            "a: [1]",
            "a: {b: c}",
            "a: |\n  b\n",
            "a: &b c",
            "a: *b",
            "? a\n",
            "a: 'b\n  c'",
            "a: 'it's'",
            "a: 'it''",
            "- - a",
            "-",
            "a\n",
            "a: b\n c: d\n",
            "a:\n  b: 1\n c: 2\n",
            "---\na: b\n",
            "\ta: b",
            "a: \u{85}",
            "a: b\n\tc",
            "# a\nb: c",
            "a: !x y",
            "a: \"b\\n\"",
            "- a\n  b\n",
            "- a\nb: c\n",
            "a: b\n- c\n",
            " a: b\n",
        ];
        for text in others {
            assert_eq!(block::read(text, 0), None, "{text:?}");
        }
    }

    #[test]
    fn the_short_way_never_says_something_else() {
        // Every text of a few pieces, which finds what nobody thought of.
        let pieces = [
            "a: b\n", "a:\n", "- a\n", "- a: b\n", "  c: d\n", "  - e\n", "    f\n", "a: 'b'\n", "- b:\n",
            "\n", "  c:\n", "a: []\n", "a: 1 2\n",
        ];
        let mut texts = vec![String::new()];
        let mut count = 0;
        for _ in 0..4 {
            texts = texts.iter().flat_map(|text| pieces.map(|it| format!("{text}{it}"))).collect();
            for text in &texts {
                if let Some(short) = block::read(text, 0) {
                    count += 1;
                    assert_eq!(Ok(short), parse(text, 0), "{text:?}");
                }
            }
        }
        assert!(count > 1000, "only {count} went the short way");
    }
}
