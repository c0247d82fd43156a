//! JSON with places. `serde_json` says what JSON is and where it is broken; `jsonc-parser`, held to plain JSON, says
//! where everything stands.

use std::collections::HashSet;

use jsonc_parser::common::Ranged as _;
use jsonc_parser::{CollectOptions, CommentCollectionStrategy, ParseOptions, ast, parse_to_ast};
use serde::de::IgnoredAny;
use serde_json::{Map, Number, Value};

use super::fault::Fault;
use super::splice::{Splice, add_in_brackets, indent, line_start, newline};
use super::tree::{Entry, Held, Node, Style};

/// Nothing that people or tools write nests deeper.
const MOST_DEPTH: usize = 100;

/// Reads the JSON in `part`, which begins at byte `base` of `text`.
pub(super) fn parse(text: &str, part: &str, base: usize) -> Result<Node, Vec<Fault>> {
    let fault = |byte: usize, message: String| vec![Fault::at(text, base + byte, message)];
    if let Err(error) = serde_json::from_str::<IgnoredAny>(part) {
        let message = error.to_string();
        let message = message.split(" at line ").next().unwrap_or_default();
        let faults =
            fault(byte_of(part, error.line(), error.column()), format!("this is not valid JSON: {message}"));
        return Err(helped(
            faults,
            "check quotes, commas and brackets just before this place; JSON has no comments",
        ));
    }
    let collect = CollectOptions { comments: CommentCollectionStrategy::Off, tokens: false };
    let parsed = parse_to_ast(part, &collect, &plain_json())
        .map_err(|error| fault(error.range().start, format!("this is not valid JSON: {}", error.kind())))?;
    let Some(value) = parsed.value else {
        return Err(helped(fault(0, "there is no JSON here".to_owned()), "write at least `{}`"));
    };
    let mut reader = Reader { text, base, faults: Vec::new() };
    let node = reader.node(&value, 0);
    if reader.faults.is_empty() { Ok(node) } else { Err(reader.faults) }
}

fn helped(faults: Vec<Fault>, help: &str) -> Vec<Fault> {
    faults.into_iter().map(|it| it.helped(help)).collect()
}

fn plain_json() -> ParseOptions {
    ParseOptions {
        allow_comments: false,
        allow_loose_object_property_names: false,
        allow_trailing_commas: false,
        allow_missing_commas: false,
        allow_single_quoted_strings: false,
        allow_hexadecimal_numbers: false,
        allow_unary_plus_numbers: false,
        allow_bare_decimal_point_numbers: false,
        allow_non_finite_numbers: false,
        allow_extended_string_escapes: false,
    }
}

/// `serde_json` counts the column in bytes.
fn byte_of(part: &str, line: usize, column: usize) -> usize {
    let start: usize = part.split_inclusive('\n').take(line.saturating_sub(1)).map(str::len).sum();
    (start + column.saturating_sub(1)).min(part.len())
}

struct Reader<'t> {
    text: &'t str,
    base: usize,
    faults: Vec<Fault>,
}

impl Reader<'_> {
    fn node(&mut self, value: &ast::Value<'_>, depth: usize) -> Node {
        let range = value.range();
        let bytes = self.base + range.start..self.base + range.end;
        if depth > MOST_DEPTH {
            self.faults.push(Fault::at(self.text, bytes.start, "nested too deeply"));
            return Node::leaf(bytes, Style::Plain, Value::Null);
        }
        match value {
            ast::Value::StringLit(it) => Node::leaf(bytes, Style::Double, Value::from(it.value.as_ref())),
            ast::Value::NumberLit(it) => Node::leaf(bytes, Style::Plain, number(it.value)),
            ast::Value::BooleanLit(it) => Node::leaf(bytes, Style::Plain, Value::Bool(it.value)),
            ast::Value::NullKeyword(_) => Node::leaf(bytes, Style::Plain, Value::Null),
            ast::Value::Array(it) => {
                let items = it.elements.iter().map(|it| self.node(it, depth + 1)).collect();
                Node { bytes, style: Style::Flow, held: Held::List(items) }
            }
            ast::Value::Object(it) => {
                let mut seen = HashSet::new();
                let mut entries = Vec::with_capacity(it.properties.len());
                for property in &it.properties {
                    let key = property.name.as_str().to_owned();
                    let range = property.name.range();
                    let key_bytes = self.base + range.start..self.base + range.end;
                    if !seen.insert(key.clone()) {
                        let message = format!("the key `{key}` is written twice here");
                        self.faults
                            .push(Fault::at(self.text, key_bytes.start, message).helped("keep one of them"));
                    }
                    entries.push(Entry { key, key_bytes, node: self.node(&property.value, depth + 1) });
                }
                Node { bytes, style: Style::Flow, held: Held::Map(entries) }
            }
        }
    }
}

/// A number as written: whole if it is written so and fits, else the nearest fraction.
pub(super) fn number(written: &str) -> Value {
    if let Ok(whole) = written.parse::<i64>() {
        return Value::from(whole);
    }
    if let Ok(whole) = written.parse::<u64>() {
        return Value::from(whole);
    }
    let near = written.parse::<f64>().ok().and_then(Number::from_f64);
    near.map_or_else(|| Value::from(written), Value::Number)
}

/// How a JSON text is laid out.
#[derive(Clone, Debug)]
pub(super) struct Layout {
    newline: &'static str,
    /// What one level is indented by; nothing if the text is all on one line.
    unit: Option<String>,
    colon: String,
    comma: &'static str,
}

impl Layout {
    /// Over several lines, as the root is.
    pub(super) fn of(text: &str, root: &Node) -> Self {
        let first = root.children().into_iter().next().map(|it| it.start);
        let apart = first.is_some_and(|it| line_start(text, it) > root.bytes.start);
        let unit = if apart {
            first.map(|it| {
                indent(text, it).strip_prefix(indent(text, root.bytes.start)).unwrap_or("  ").to_owned()
            })
        } else {
            first.is_none().then(|| "  ".to_owned())
        };
        Self { unit, ..Self::on_a_line(text, Some(root)) }
    }

    /// All on one line.
    pub(super) fn on_a_line(text: &str, root: Option<&Node>) -> Self {
        let first = root.and_then(|it| it.entries().first());
        let colon = first.and_then(|it| text.get(it.key_bytes.end..it.node.bytes.start));
        let children = root.map(Node::children).unwrap_or_default();
        let close = |it: &[std::ops::Range<usize>]| matches!(it, [one, two, ..] if text.get(one.end..two.start) == Some(","));
        Self {
            newline: newline(text),
            unit: None,
            colon: colon.filter(|it| !it.contains('\n')).unwrap_or(": ").to_owned(),
            comma: if close(&children) { "," } else { ", " },
        }
    }

    fn spell(&self, value: &Value, unit: Option<&str>, indent: &str) -> String {
        let inner = format!("{indent}{}", unit.unwrap_or_default());
        let pieces: Vec<String> = match value {
            Value::Array(items) => items.iter().map(|it| self.spell(it, unit, &inner)).collect(),
            Value::Object(fields) => fields
                .iter()
                .map(|(key, it)| format!("{}{}{}", quoted(key), self.colon, self.spell(it, unit, &inner)))
                .collect(),
            leaf => return leaf.to_string(),
        };
        let (open, close) = if value.is_array() { ('[', ']') } else { ('{', '}') };
        match unit {
            _ if pieces.is_empty() => format!("{open}{close}"),
            None => format!("{open}{}{close}", pieces.join(self.comma)),
            Some(_) => {
                let newline = self.newline;
                let between = format!(",{newline}{inner}");
                format!("{open}{newline}{inner}{}{newline}{indent}{close}", pieces.join(&between))
            }
        }
    }
}

fn quoted(text: &str) -> String {
    Value::from(text).to_string()
}

/// Another value in the place of one.
pub(super) fn replace(text: &str, layout: &Layout, old: &Node, value: &Value) -> Vec<Splice> {
    let was_on_a_line = !old.children().is_empty() && !text[old.bytes.clone()].contains('\n');
    let unit = layout.unit.as_deref().filter(|_| !was_on_a_line);
    let with = layout.spell(value, unit, indent(text, old.bytes.start));
    vec![Splice::replace(old.bytes.clone(), with)]
}

/// One more key at the end of a map.
pub(super) fn insert(text: &str, layout: &Layout, map: &Node, key: &str, value: &Value) -> Vec<Splice> {
    let Some(last) = map.entries().last() else {
        let mut fields = Map::new();
        fields.insert(key.to_owned(), value.clone());
        return replace(text, layout, map, &Value::Object(fields));
    };
    let colon = text.get(last.key_bytes.end..last.node.bytes.start).unwrap_or(": ");
    add(text, layout, map, last.key_bytes.start, |spelled| format!("{}{colon}{spelled}", quoted(key)), value)
}

/// One more entry at the end of a list.
pub(super) fn push(text: &str, layout: &Layout, list: &Node, value: &Value) -> Vec<Splice> {
    let Some(last) = list.items().last() else {
        return replace(text, layout, list, &Value::Array(vec![value.clone()]));
    };
    add(text, layout, list, last.bytes.start, |spelled| spelled, value)
}

fn add(
    text: &str,
    layout: &Layout,
    parent: &Node,
    last: usize,
    piece: impl Fn(String) -> String,
    value: &Value,
) -> Vec<Splice> {
    let apart = line_start(text, last) > parent.bytes.start;
    let unit = layout.unit.as_deref().filter(|_| apart);
    let piece = piece(layout.spell(value, unit, indent(text, last)));
    add_in_brackets(text, parent.bytes.start, &parent.children(), &piece)
}
