//! Shapes: what a piece of a workflow file may look like.
//!
//! One description serves three readers. [`super::conform`] holds a file against it and reports every mismatch at its
//! place; the JSON Schema that editors complete from is printed from it; and each field carries the sentence
//! a person sees when hovering over it. So the three cannot drift apart.

use std::ops::Range;

use super::yaml::{Node, shorten};
use crate::problem::nearest;

/// What a piece of YAML may be.
#[derive(Clone, Debug)]
pub enum Shape {
    /// Any scalar.
    Text,
    /// A name: letters, digits, `-`, `_`.
    Name,
    /// A whole number.
    Number,
    /// `true` or `false`.
    Truth,
    /// A span of time: `90s`, `30m`, `2h`.
    Time,
    /// A number with or without a unit: `3`, `20 usd`, `200k tokens`, `2h`.
    Amount,
    /// Money: `20 usd`.
    Money,
    /// Money, where the key already says the unit: `20`, `20 usd`.
    Dollars,
    /// Tokens: `200k tokens`, `5M`, `300000`.
    Tokens,
    /// One of these words.
    OneOf(&'static [&'static str]),
    /// A list; a single thing may stand for a list of one.
    ListOf(Box<Shape>),
    /// The same, and there is at least one.
    SomeOf(Box<Shape>),
    /// A map with names of the author's choosing.
    MapOf(&'static str, Box<Shape>),
    /// A map with fixed keys.
    Record(Record),
    /// A map told apart by the one key that must be there.
    Tagged(Tagged),
    /// One of several, told apart by being a scalar, a list or a map.
    Either(Vec<Shape>),
    /// `{by: NAME, VALUE: ..., VALUE: ...}` or the thing itself.
    Table(Box<Shape>),
    /// Defined elsewhere in the grammar; breaks recursion.
    Ref(&'static str),
    /// Anything at all.
    Anything,
}

/// A map with fixed keys.
#[derive(Clone, Debug)]
pub struct Record {
    /// What it is, with its article: `a role`.
    pub what: &'static str,
    /// Its keys.
    pub fields: Vec<Field>,
    /// Keys one could expect, and why they are not there.
    pub refused: Vec<(&'static str, &'static str)>,
    /// Other words for its keys, which people use who do not know these yet.
    pub synonyms: Vec<(&'static str, &'static str)>,
}

/// A key of a record.
#[derive(Clone, Debug)]
pub struct Field {
    /// The key.
    pub key: &'static str,
    /// What it holds.
    pub shape: Shape,
    /// Whether it must be there.
    pub required: bool,
    /// One sentence for a person.
    pub about: &'static str,
}

/// Maps told apart by which of several keys they have.
#[derive(Clone, Debug)]
pub struct Tagged {
    /// What it is, with its article: `a state`.
    pub what: &'static str,
    /// One record a tag; its first field is the tag.
    pub variants: Vec<Record>,
}

impl Record {
    /// A record without keys yet.
    pub fn new(what: &'static str) -> Self {
        Self { what, fields: Vec::new(), refused: Vec::new(), synonyms: Vec::new() }
    }

    /// Adds a key that must be there.
    #[must_use]
    pub fn must(mut self, key: &'static str, shape: Shape, about: &'static str) -> Self {
        self.fields.push(Field { key, shape, required: true, about });
        self
    }

    /// Adds a key that may be there.
    #[must_use]
    pub fn may(mut self, key: &'static str, shape: Shape, about: &'static str) -> Self {
        self.fields.push(Field { key, shape, required: false, about });
        self
    }

    /// Says why a key is not there, and what to do instead.
    #[must_use]
    pub fn not(mut self, key: &'static str, help: &'static str) -> Self {
        self.refused.push((key, help));
        self
    }

    /// Says what a key is called elsewhere.
    #[must_use]
    pub fn also(mut self, key: &'static str, words: &[&'static str]) -> Self {
        self.synonyms.extend(words.iter().map(|it| (*it, key)));
        self
    }

    /// Adds keys that several records share.
    #[must_use]
    pub fn with(mut self, fields: &[Field]) -> Self {
        self.fields.extend_from_slice(fields);
        self
    }

    pub(super) fn field(&self, key: &str) -> Option<&Field> {
        self.fields.iter().find(|it| it.key == key)
    }

    fn example(&self) -> Option<String> {
        let required = self.fields.iter().filter(|it| it.required);
        let shown: Vec<&Field> = if required.clone().count() == 0 {
            self.fields.iter().take(1).collect()
        } else {
            required.collect()
        };
        let keys: Vec<String> = shown.iter().map(|it| format!("{}: ...", it.key)).collect();
        (!keys.is_empty()).then(|| format!("write `{{{}}}`", keys.join(", ")))
    }

    /// The key that tells it from other variants.
    pub(super) fn tag(&self) -> Option<&'static str> {
        self.fields.first().map(|it| it.key)
    }

    /// The key that a word was probably meant to be.
    pub(super) fn meant(&self, word: &str) -> Option<&'static str> {
        self.said(word).or_else(|| nearest(word, self.keys()))
    }

    /// The key that another word stands for.
    pub(super) fn said(&self, word: &str) -> Option<&'static str> {
        let said = self.synonyms.iter().find(|(it, _)| *it == word).map(|(_, key)| *key);
        said.filter(|key| self.field(key).is_some())
    }

    pub(super) fn keys(&self) -> impl Iterator<Item = &'static str> {
        self.fields.iter().map(|it| it.key)
    }
}

impl Shape {
    /// A list of this shape.
    pub fn list(self) -> Self {
        Self::ListOf(Box::new(self))
    }

    /// A list of this shape that is not empty.
    pub fn some(self) -> Self {
        Self::SomeOf(Box::new(self))
    }

    /// This shape, or a table of it.
    pub fn table(self) -> Self {
        Self::Table(Box::new(self))
    }

    /// What one could write, for those who wrote something else.
    pub(super) fn example(&self) -> Option<String> {
        let example = match self {
            Self::Text | Self::Name => "write a word, or quote it: \"...\"",
            Self::Number => "write it without a unit: `3`",
            Self::Truth => "write `true` or `false`, without quotes",
            Self::Time => "write a number and `s`, `m`, `h` or `d`: `90s`, `30m`",
            Self::Amount => "write `3`, `20 usd`, `200k tokens` or `2h`",
            Self::Money => "write it with its unit: `2 usd`",
            Self::Dollars => "write `20` or `20 usd`",
            Self::Tokens => "write `200k`, `5M` or `300000`",
            Self::ListOf(_) | Self::SomeOf(_) => "write `[one, other]`, or one a line with `- ` before it",
            Self::MapOf(..) => "write `name: ...`, one a line and further to the right",
            Self::Record(record) => return record.example(),
            Self::Tagged(tagged) => {
                let tags: Vec<&str> = tagged.variants.iter().filter_map(Record::tag).collect();
                return Some(format!("write `{{KEY: ...}}`, where KEY is {}", any_of(&tags)));
            }
            Self::Either(shapes) => {
                let last = shapes.last().and_then(Self::example)?;
                let word = matches!(shapes.first(), Some(Self::Name | Self::Text));
                return Some(if word { last.replacen("write ", "write a word, or ", 1) } else { last });
            }
            Self::Table(inner) => return inner.example(),
            Self::OneOf(words) => return Some(format!("write {}", any_of(words))),
            Self::Ref(_) | Self::Anything => return None,
        };
        Some(example.to_owned())
    }

    pub(super) fn describe(&self) -> String {
        match self {
            Self::Text => "a text".into(),
            Self::Name => "a name".into(),
            Self::Number => "a whole number".into(),
            Self::Truth => "`true` or `false`".into(),
            Self::Time => "a time".into(),
            Self::Amount => "a number, with or without a unit".into(),
            Self::Money | Self::Dollars => "an amount of money".into(),
            Self::Tokens => "a number of tokens".into(),
            Self::OneOf(words) => words.iter().map(|it| format!("`{it}`")).collect::<Vec<_>>().join(" or "),
            Self::ListOf(inner) | Self::SomeOf(inner) => format!("a list of {}", plural(&inner.describe())),
            Self::MapOf(what, _) => format!("a map of {what}"),
            Self::Record(record) => record.what.into(),
            Self::Tagged(tagged) => tagged.what.into(),
            Self::Either(shapes) => {
                let mut described: Vec<String> = shapes.iter().map(Self::describe).collect();
                described.dedup();
                let last = described.pop().unwrap_or_default();
                if described.is_empty() { last } else { format!("{} or {last}", described.join(", ")) }
            }
            Self::Table(inner) => inner.describe(),
            Self::Ref("arm") => "an arm".into(),
            Self::Ref(name) => format!("a {name}"),
            Self::Anything => "anything".into(),
        }
    }
}

fn plural(described: &str) -> String {
    let bare = described.strip_prefix("an ").or_else(|| described.strip_prefix("a "));
    bare.map_or_else(|| described.to_owned(), |it| format!("{it}s"))
}

/// Where a shape leads when it says [`Shape::Ref`].
pub type Definitions = [(&'static str, Shape)];

/// Where a map begins: its first key, so that a message does not underline a whole block.
pub fn head(node: &Node) -> Range<usize> {
    node.entries().first().map_or_else(|| node.bytes.clone(), |it| it.key_bytes.clone())
}

/// Whether a text can be a name.
pub fn is_name(text: &str) -> bool {
    !text.is_empty()
        && text.len() <= 80
        && text.chars().all(|it| it.is_alphanumeric() || it == '-' || it == '_')
}

/// What to do about something that is no name.
pub const NAMES: &str = "use letters, digits, `-` and `_`, at most 80 of them";

/// Says that a text is no name.
pub fn not_a_name(text: &str) -> String {
    format!("`{}` is not a name", shorten(text))
}

pub(super) fn listed(words: &[&str]) -> String {
    words.iter().map(|it| format!("`{it}`")).collect::<Vec<_>>().join(", ")
}

pub(super) fn any_of(words: &[&str]) -> String {
    match words {
        [rest @ .., last] if !rest.is_empty() => format!("{} or `{last}`", listed(rest)),
        _ => listed(words),
    }
}
