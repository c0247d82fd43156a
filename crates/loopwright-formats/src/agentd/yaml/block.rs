//! The YAML that tools write: maps and lists by indent, a value a line. Read without the machinery, which takes most of the
//! time that a change takes; whatever is not plainly of this kind is left to it.

use super::{MOST_DEPTH, Node};

/// A line with something on it.
struct Line<'a> {
    indent: usize,
    text: &'a str,
    number: usize,
}

/// Reads a document of this kind. Nothing for all others.
pub(super) fn read(text: &str, before: usize) -> Option<Node> {
    let mut lines = Vec::with_capacity(text.len() / 24 + 1);
    for (at, line) in text.lines().enumerate() {
        let start = line.trim_start_matches(' ');
        if start.is_empty() {
            continue;
        }
        // Beyond ASCII some characters end a line or are not to be seen.
        if !start.bytes().all(|it| matches!(it, b' '..=b'~')) {
            return None;
        }
        lines.push(Line {
            indent: line.len() - start.len(),
            text: start.trim_end_matches(' '),
            number: before + at + 1,
        });
    }
    let mut reader = Reader { lines, at: 0 };
    let first = reader.lines.first().filter(|it| it.indent == 0)?;
    let node = if is_item(first.text) { reader.list(0, 0)? } else { reader.map(0, 0)? };
    (reader.at == reader.lines.len()).then_some(node)
}

struct Reader<'a> {
    lines: Vec<Line<'a>>,
    at: usize,
}

impl<'a> Reader<'a> {
    fn peek(&self) -> Option<&Line<'a>> {
        self.lines.get(self.at)
    }

    /// The map whose keys are this far indented.
    fn map(&mut self, indent: usize, depth: usize) -> Option<Node> {
        let line = self.peek()?.number;
        let mut entries = Vec::new();
        while let Some(own) = self.peek().filter(|it| it.indent == indent && !is_item(it.text)) {
            let (key, value) = entry(own.text)?;
            let (key, number) = (key.to_owned(), own.number);
            self.at += 1;
            entries.push((key, self.value(value, number, indent, depth)?));
        }
        // A line in between is the next one of what is around this, or part of a value.
        let is_end =
            self.peek().is_none_or(|it| it.indent < indent || (it.indent == indent && is_item(it.text)));
        (is_end && !entries.is_empty()).then_some(Node::Map { entries, line })
    }

    /// The list whose dashes are this far indented.
    fn list(&mut self, indent: usize, depth: usize) -> Option<Node> {
        let line = self.peek()?.number;
        let mut items = Vec::new();
        while let Some(own) = self.lines.get_mut(self.at).filter(|it| it.indent == indent && is_item(it.text))
        {
            let rest = own.text.get(2..)?;
            let start = rest.trim_start_matches(' ');
            if entry(start).is_some() {
                // What follows the dash is the first line of a map.
                own.indent += 2 + rest.len() - start.len();
                own.text = start;
                let inner = own.indent;
                items.push(if depth < MOST_DEPTH { self.map(inner, depth + 1)? } else { return None });
            } else {
                let item = scalar(start, own.number)?;
                self.at += 1;
                if self.peek().is_some_and(|it| it.indent > indent) {
                    return None;
                }
                items.push(item);
            }
        }
        let is_end = self.peek().is_none_or(|it| it.indent <= indent);
        (is_end && !items.is_empty()).then_some(Node::List { items, line })
    }

    /// The value of a key whose map is this far indented.
    fn value(&mut self, written: &str, number: usize, indent: usize, depth: usize) -> Option<Node> {
        let next = self.peek().map(|it| (it.indent, is_item(it.text)));
        let is_below = next.is_some_and(|(it, is_item)| it > indent || (it == indent && is_item));
        match (written, next) {
            ("", Some((inner, is_item))) if is_below && depth < MOST_DEPTH => {
                if is_item {
                    self.list(inner, depth + 1)
                } else {
                    self.map(inner, depth + 1)
                }
            }
            ("", _) | (_, Some(_)) if is_below || written.is_empty() => None,
            ("[]", _) => Some(Node::List { items: Vec::new(), line: number }),
            ("{}", _) => Some(Node::Map { entries: Vec::new(), line: number }),
            _ => scalar(written, number),
        }
    }
}

fn is_item(text: &str) -> bool {
    text.starts_with("- ")
}

/// Key and value of a line.
fn entry(text: &str) -> Option<(&str, &str)> {
    let at = text.bytes().position(|it| !(it.is_ascii_alphanumeric() || b"_./-".contains(&it)))?;
    let (key, behind) = text.split_at_checked(at)?;
    let value = behind.strip_prefix(':')?;
    let is_key = key.starts_with(|it: char| it.is_ascii_alphanumeric());
    (is_key && (value.is_empty() || value.starts_with(' '))).then(|| (key, value.trim_matches(' ')))
}

/// A value on one line.
fn scalar(text: &str, line: usize) -> Option<Node> {
    let quote = text.as_bytes().first().copied()?;
    if matches!(quote, b'"' | b'\'') {
        let inner = text.get(1..)?.strip_suffix(char::from(quote))?;
        // Between single quotes, two of them are one.
        let is_simple = match quote {
            b'"' => inner.bytes().all(|it| it != b'"' && it != b'\\'),
            _ => inner.split(|it| it != '\'').all(|it| it.len() % 2 == 0),
        };
        let text = if quote == b'\'' { inner.replace("''", "'") } else { inner.to_owned() };
        return is_simple.then_some(Node::Scalar { text, plain: false, line });
    }
    // What is a plain word in one place means something in another.
    let is_plain =
        quote.is_ascii_alphanumeric() && !text.contains(": ") && !text.contains(" #") && !text.ends_with(':');
    is_plain.then(|| Node::Scalar { text: text.to_owned(), plain: true, line })
}
