//! What a text holds, and where everything stands in it. Every format is read into this, so that places, paths and
//! the comparison after an edit are the same for all.

use std::ops::Range;

use serde_json::{Map, Value};

/// A value and where it stands.
#[derive(Clone, Debug)]
pub(super) struct Node {
    /// Bytes of the text, without spaces around.
    pub bytes: Range<usize>,
    /// How it is written.
    pub style: Style,
    /// What it is.
    pub held: Held,
}

/// How a value is written; an edit keeps to it where it can.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Style {
    /// A word, number or line of text without quotes.
    Plain,
    /// In `'`.
    Single,
    /// In `"`.
    Double,
    /// A text over several lines, begun by `|`, `>` or three quotes.
    Long,
    /// A list or map in brackets.
    Flow,
    /// A list or map over lines, without brackets.
    Block,
    /// A TOML table that only dotted keys or the headers of others make.
    Implied,
    /// An anchor stands before it.
    Anchored,
}

/// What a [`Node`] holds.
#[derive(Clone, Debug)]
pub(super) enum Held {
    /// Anything but a list or map.
    Leaf(Value),
    /// A list.
    List(Vec<Node>),
    /// A map, in the order written.
    Map(Vec<Entry>),
}

/// One key of a map, and its value.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    pub key: String,
    pub key_bytes: Range<usize>,
    pub node: Node,
}

impl Node {
    pub(super) fn leaf(bytes: Range<usize>, style: Style, value: Value) -> Self {
        Self { bytes, style, held: Held::Leaf(value) }
    }

    /// The value alone.
    pub(super) fn value(&self) -> Value {
        match &self.held {
            Held::Leaf(value) => value.clone(),
            Held::List(items) => Value::Array(items.iter().map(Self::value).collect()),
            Held::Map(entries) => {
                let fields = entries.iter().map(|it| (it.key.clone(), it.node.value()));
                Value::Object(fields.collect::<Map<_, _>>())
            }
        }
    }

    pub(super) fn is_null(&self) -> bool {
        matches!(self.held, Held::Leaf(Value::Null))
    }

    pub(super) fn entries(&self) -> &[Entry] {
        match &self.held {
            Held::Map(entries) => entries,
            _ => &[],
        }
    }

    pub(super) fn items(&self) -> &[Self] {
        match &self.held {
            Held::List(items) => items,
            _ => &[],
        }
    }

    pub(super) fn get(&self, key: &str) -> Option<&Self> {
        self.entries().iter().find(|it| it.key == key).map(|it| &it.node)
    }

    /// Entries or items in brackets: where each begins and ends, its key included.
    pub(super) fn children(&self) -> Vec<Range<usize>> {
        match &self.held {
            Held::Leaf(_) => Vec::new(),
            Held::List(items) => items.iter().map(|it| it.bytes.clone()).collect(),
            Held::Map(entries) => {
                entries.iter().map(|it| it.key_bytes.start..it.node.bytes.end.max(it.key_bytes.end)).collect()
            }
        }
    }
}

/// What a value is, in the words of a message.
pub(super) fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "empty",
        Value::Bool(_) => "true or false",
        Value::Number(it) if it.is_i64() => "a whole number",
        Value::Number(_) => "a number",
        Value::String(_) => "a text",
        Value::Array(_) => "a list",
        Value::Object(_) => "a map",
    }
}
