//! Shapes: what a piece of a workflow file may look like.
//!
//! One description serves three readers. [`check`] holds a file against it and reports every mismatch at its
//! place; the JSON Schema that editors complete from is printed from it; and each field carries the sentence
//! a person sees when hovering over it. So the three cannot drift apart.

use std::ops::Range;

use super::units::Unit;
use super::yaml::{Node, Value};
use crate::problem::{Place, Problem, did_you_mean};

/// Whether a number may stand without its unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bare {
    /// It may: the key says the unit.
    Allowed,
    /// It may not.
    Refused,
}

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
    /// An amount of one unit; a bare number only where the key says the unit.
    Measure(Unit, Bare),
    /// One of these words.
    OneOf(&'static [&'static str]),
    /// A list; a single thing may stand for a list of one.
    ListOf(Box<Shape>),
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
        Self { what, fields: Vec::new() }
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

    /// Adds keys that several records share.
    #[must_use]
    pub fn with(mut self, fields: &[Field]) -> Self {
        self.fields.extend_from_slice(fields);
        self
    }

    fn field(&self, key: &str) -> Option<&Field> {
        self.fields.iter().find(|it| it.key == key)
    }

    fn keys(&self) -> impl Iterator<Item = &'static str> {
        self.fields.iter().map(|it| it.key)
    }
}

impl Tagged {
    fn tags(&self) -> impl Iterator<Item = &'static str> {
        self.variants.iter().filter_map(|it| it.fields.first()).map(|it| it.key)
    }
}

impl Shape {
    /// A list of this shape.
    pub fn list(self) -> Self {
        Self::ListOf(Box::new(self))
    }

    /// This shape, or a table of it.
    pub fn table(self) -> Self {
        Self::Table(Box::new(self))
    }

    fn describe(&self) -> String {
        match self {
            Self::Text => "a text".into(),
            Self::Name => "a name".into(),
            Self::Number => "a whole number".into(),
            Self::Truth => "`true` or `false`".into(),
            Self::Time => "a time such as `30s`, `10m` or `2h`".into(),
            Self::Measure(unit, bare) => {
                let example = match unit {
                    Unit::Uses => "3",
                    Unit::Time => "2h",
                    Unit::Money => "0.50 usd",
                    Unit::Tokens => "200k tokens",
                };
                let number = if *bare == Bare::Allowed { "a number, or one " } else { "a number " };
                format!("{number}with its unit, such as `{example}`")
            }
            Self::Amount => "a number, or one with a unit such as `20 usd`, `200k tokens` or `2h`".into(),
            Self::OneOf(words) => words.iter().map(|it| format!("`{it}`")).collect::<Vec<_>>().join(" or "),
            Self::ListOf(inner) => format!("a list of {}", plural(&inner.describe())),
            Self::MapOf(what, _) => format!("a map of {what}"),
            Self::Record(record) => format!("{} (a map)", record.what),
            Self::Tagged(tagged) => format!("{} (a map)", tagged.what),
            Self::Either(shapes) => {
                let mut described: Vec<String> = shapes.iter().map(Self::describe).collect();
                described.dedup();
                described.join(", or ")
            }
            Self::Table(inner) => inner.describe(),
            Self::Ref(name) => format!("`{name}`"),
            Self::Anything => "anything".into(),
        }
    }
}

fn plural(described: &str) -> String {
    described.strip_prefix("a ").map_or_else(|| described.to_owned(), |it| format!("{it}s"))
}

/// Where a shape leads when it says [`Shape::Ref`].
pub type Definitions = [(&'static str, Shape)];

/// Holds a tree against a shape and reports every mismatch.
pub fn check(file: &str, node: &Node, shape: &Shape, definitions: &Definitions, problems: &mut Vec<Problem>) {
    Checker { file, definitions, problems }.check(node, shape);
}

struct Checker<'a> {
    file: &'a str,
    definitions: &'a Definitions,
    problems: &'a mut Vec<Problem>,
}

impl Checker<'_> {
    fn report(&mut self, code: &'static str, bytes: &Range<usize>, message: String, help: Option<String>) {
        let place = Place { file: self.file.to_owned(), bytes: bytes.clone() };
        self.problems.push(Problem::load(code, place, message).maybe_help(help));
    }

    fn mismatch(&mut self, node: &Node, shape: &Shape) {
        let found = match &node.value {
            Value::Text { text, .. } => format!("`{}`", shorten(text)),
            _ => node.kind().to_owned(),
        };
        let help = match &node.value {
            Value::Map(entries) if entries.iter().any(|it| it.key.is_empty()) => {
                Some("a text with `{{ }}` must be quoted: \"{{subject}}\"".to_owned())
            }
            _ => None,
        };
        self.report("bad-type", &node.bytes, format!("expected {}, found {found}", shape.describe()), help);
    }

    fn check(&mut self, node: &Node, shape: &Shape) {
        let fits = match shape {
            Shape::Anything => true,
            Shape::Text => node.text().is_some(),
            Shape::Name => return self.name(node),
            Shape::Number => node.number().is_some(),
            Shape::Truth => node.boolean().is_some(),
            Shape::Time => node.text().is_some_and(|it| super::units::time(it).is_some()),
            Shape::Amount => node.text().is_some_and(|it| super::units::amount(it).is_some()),
            Shape::Measure(unit, bare) => node
                .text()
                .and_then(super::units::amount)
                .is_some_and(|it| it.unit == *unit || *bare == Bare::Allowed && it.unit == Unit::Uses),
            Shape::OneOf(words) => return self.word(node, words),
            Shape::ListOf(inner) => {
                if let Value::List(items) = &node.value {
                    for item in items {
                        self.check(item, inner);
                    }
                } else if !matches!(node.value, Value::Empty) {
                    self.check(node, inner);
                }
                true
            }
            Shape::MapOf(_, inner) => match &node.value {
                Value::Map(entries) => {
                    entries.iter().filter(|it| !it.key.is_empty()).for_each(|it| self.check(&it.node, inner));
                    true
                }
                Value::Empty => true,
                _ => false,
            },
            Shape::Record(record) => match &node.value {
                Value::Map(_) | Value::Empty => {
                    self.record(node, record);
                    true
                }
                _ => false,
            },
            Shape::Tagged(tagged) => match &node.value {
                Value::Map(_) => return self.tagged(node, tagged),
                _ => false,
            },
            Shape::Either(shapes) => match shapes.iter().find(|it| self.suits(node, it)) {
                Some(suited) => {
                    self.check(node, suited);
                    true
                }
                None => false,
            },
            Shape::Table(inner) => {
                if node.get("by").is_some() {
                    self.table(node, inner);
                } else {
                    self.check(node, inner);
                }
                true
            }
            Shape::Ref(name) => match self.definitions.iter().find(|(it, _)| it == name) {
                Some((_, target)) => {
                    self.check(node, target);
                    true
                }
                None => true,
            },
        };
        if !fits {
            self.mismatch(node, shape);
        }
    }

    /// Whether a node has the outer form of a shape, so that it was probably meant.
    fn suits(&self, node: &Node, shape: &Shape) -> bool {
        match shape {
            Shape::Anything => true,
            Shape::Truth => node.boolean().is_some(),
            Shape::Number => node.number().is_some(),
            Shape::Text
            | Shape::Name
            | Shape::Time
            | Shape::Amount
            | Shape::Measure(..)
            | Shape::OneOf(_) => node.text().is_some(),
            Shape::ListOf(_) => matches!(node.value, Value::List(_)),
            Shape::MapOf(..) | Shape::Tagged(_) => matches!(node.value, Value::Map(_)),
            Shape::Record(record) => {
                let required = record.fields.iter().filter(|it| it.required);
                matches!(node.value, Value::Map(_)) && required.clone().all(|it| node.get(it.key).is_some())
                    || required.count() == 0 && matches!(node.value, Value::Map(_) | Value::Empty)
            }
            Shape::Either(shapes) => shapes.iter().any(|it| self.suits(node, it)),
            Shape::Table(inner) => node.get("by").is_some() || self.suits(node, inner),
            Shape::Ref(name) => {
                self.definitions.iter().find(|(it, _)| it == name).is_some_and(|(_, it)| self.suits(node, it))
            }
        }
    }

    fn name(&mut self, node: &Node) {
        match node.text() {
            Some(text) if is_name(text) => {
                if matches!(text, "true" | "false") {
                    let message = format!("`{text}` is a truth value in YAML, not a name");
                    self.report("bad-name", &node.bytes, message, Some("choose another word".into()));
                }
            }
            Some(text) => {
                let message = format!("`{}` is not a name", shorten(text));
                self.report(
                    "bad-name",
                    &node.bytes,
                    message,
                    Some("use letters, digits, `-` and `_`".into()),
                );
            }
            None => self.mismatch(node, &Shape::Name),
        }
    }

    fn word(&mut self, node: &Node, words: &'static [&'static str]) {
        match node.text() {
            Some(text) if words.contains(&text) => {}
            Some(text) => {
                let message = format!("`{}` is not one of {}", shorten(text), listed(words));
                let help = did_you_mean(text, words.iter().copied());
                self.report("bad-value", &node.bytes, message, help.filter(|it| it.starts_with("did")));
            }
            None => self.mismatch(node, &Shape::OneOf(words)),
        }
    }

    fn record(&mut self, node: &Node, record: &Record) {
        for entry in node.entries() {
            if entry.key.is_empty() {
                continue;
            }
            if let Some(field) = record.field(&entry.key) {
                self.check(&entry.node, &field.shape);
            } else {
                let message = format!("unknown key `{}` in {}", entry.key, record.what);
                self.report(
                    "unknown-key",
                    &entry.key_bytes,
                    message,
                    did_you_mean(&entry.key, record.keys()),
                );
            }
        }
        for field in record.fields.iter().filter(|it| it.required && node.get(it.key).is_none()) {
            let message = format!("{} needs `{}`", record.what, field.key);
            self.report("missing-key", &head(node), message, Some(field.about.to_owned()));
        }
    }

    fn tagged(&mut self, node: &Node, tagged: &Tagged) {
        let present: Vec<&Record> = tagged
            .variants
            .iter()
            .filter(|it| it.fields.first().is_some_and(|tag| node.get(tag.key).is_some()))
            .collect();
        // A tag of one variant may be an ordinary key of another, as `set` is of `create`.
        let tags: Vec<&str> = present.iter().filter_map(|it| it.fields.first()).map(|it| it.key).collect();
        let covers = |it: &&&Record| tags.iter().all(|tag| it.field(tag).is_some());
        let covering: Vec<&Record> = present.iter().filter(covers).copied().collect();
        let present = if covering.len() == 1 { covering } else { present };
        match present.as_slice() {
            [record] => self.record(node, record),
            [] => {
                let near = node.entries().iter().find_map(|entry| {
                    crate::problem::nearest(&entry.key, tagged.tags()).map(|near| (entry, near))
                });
                if let Some((entry, near)) = near {
                    let message = format!("unknown key `{}` in {}", entry.key, tagged.what);
                    self.report(
                        "unknown-key",
                        &entry.key_bytes,
                        message,
                        Some(format!("did you mean `{near}`?")),
                    );
                    if let Some(record) =
                        tagged.variants.iter().find(|it| it.fields.first().is_some_and(|tag| tag.key == near))
                    {
                        self.others(node, record, &entry.key);
                    }
                } else {
                    let tags: Vec<&str> = tagged.tags().collect();
                    let message = format!("{} needs one of {}", tagged.what, listed(&tags));
                    self.report("missing-key", &head(node), message, None);
                }
            }
            several => {
                let tags: Vec<&str> =
                    several.iter().filter_map(|it| it.fields.first()).map(|it| it.key).collect();
                let message = format!("{} says {}; it can say only one of them", tagged.what, listed(&tags));
                self.report("several-kinds", &head(node), message, None);
            }
        }
    }

    /// The rest of a record whose tag was misspelt.
    fn others(&mut self, node: &Node, record: &Record, misspelt: &str) {
        for entry in node.entries().iter().filter(|it| it.key != misspelt && !it.key.is_empty()) {
            if let Some(field) = record.field(&entry.key) {
                self.check(&entry.node, &field.shape);
            }
        }
    }

    fn table(&mut self, node: &Node, inner: &Shape) {
        for entry in node.entries() {
            if entry.key == "by" {
                if entry.node.text().is_none() {
                    self.mismatch(&entry.node, &Shape::Name);
                }
            } else {
                self.check(&entry.node, inner);
            }
        }
    }
}

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

fn listed(words: &[&str]) -> String {
    words.iter().map(|it| format!("`{it}`")).collect::<Vec<_>>().join(", ")
}

fn shorten(text: &str) -> String {
    let mut short: String = text.chars().take(60).map(|it| if it.is_control() { ' ' } else { it }).collect();
    if short.len() < text.len() {
        short.push('…');
    }
    short
}
