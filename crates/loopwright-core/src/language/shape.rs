//! Shapes: what a piece of a workflow file may look like.
//!
//! One description serves three readers. [`check`] holds a file against it and reports every mismatch at its
//! place; the JSON Schema that editors complete from is printed from it; and each field carries the sentence
//! a person sees when hovering over it. So the three cannot drift apart.

use std::ops::Range;

use rustc_hash::FxHashMap;

use super::units;
use super::yaml::{Entry, Node, Value, shorten};
use crate::problem::{Place, Problem, did_you_mean, nearest};

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

    fn field(&self, key: &str) -> Option<&Field> {
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
    fn tag(&self) -> Option<&'static str> {
        self.fields.first().map(|it| it.key)
    }

    /// The key that a word was probably meant to be.
    fn meant(&self, word: &str) -> Option<&'static str> {
        self.said(word).or_else(|| nearest(word, self.keys()))
    }

    /// The key that another word stands for.
    fn said(&self, word: &str) -> Option<&'static str> {
        let said = self.synonyms.iter().find(|(it, _)| *it == word).map(|(_, key)| *key);
        said.filter(|key| self.field(key).is_some())
    }

    fn keys(&self) -> impl Iterator<Item = &'static str> {
        self.fields.iter().map(|it| it.key)
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

    /// What one could write, for those who wrote something else.
    fn example(&self) -> Option<String> {
        let example = match self {
            Self::Text | Self::Name => "write a word, or quote it: \"...\"",
            Self::Number => "write it without a unit: `3`",
            Self::Truth => "write `true` or `false`, without quotes",
            Self::Time => "write a number and `s`, `m`, `h` or `d`: `90s`, `30m`",
            Self::Amount => "write `3`, `20 usd`, `200k tokens` or `2h`",
            Self::Money => "write it with its unit: `2 usd`",
            Self::Dollars => "write `20` or `20 usd`",
            Self::Tokens => "write `200k`, `5M` or `300000`",
            Self::ListOf(_) => "write `[one, other]`, or one a line with `- ` before it",
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

    fn describe(&self) -> String {
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
            Self::ListOf(inner) => format!("a list of {}", plural(&inner.describe())),
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

/// Holds a tree against a shape and reports every mismatch.
///
/// A misspelt key is reported and then read as what it was probably meant to be, so that what uses it is not wrong as
/// well. What is already known to be broken is not reported again.
pub fn check(
    file: &str,
    node: &mut Node,
    shape: &Shape,
    definitions: &Definitions,
    problems: &mut Vec<Problem>,
) {
    let broken = Broken::of(problems);
    let mut checker = Checker { file, definitions, broken: &broken, problems, meant: FxHashMap::default() };
    checker.check(node, shape);
    let meant = checker.meant;
    if !meant.is_empty() {
        rename(node, &meant);
    }
}

/// Gives misspelt keys, found by where they begin, the name they were meant to have.
fn rename(node: &mut Node, meant: &FxHashMap<usize, &'static str>) {
    match &mut node.value {
        Value::List(items) => items.iter_mut().for_each(|it| rename(it, meant)),
        Value::Map(entries) => {
            for entry in entries {
                if let Some(key) = meant.get(&entry.key_bytes.start) {
                    entry.key = (*key).to_owned();
                }
                rename(&mut entry.node, meant);
            }
        }
        Value::Empty | Value::Text { .. } => {}
    }
}

/// Places something has been reported at.
pub struct Broken(Vec<usize>);

impl Broken {
    /// The places of these problems.
    pub fn of(problems: &[Problem]) -> Self {
        let mut starts: Vec<usize> = problems.iter().map(|it| it.place.bytes.start).collect();
        starts.sort_unstable();
        Self(starts)
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether something in these bytes has been reported.
    pub fn touches(&self, bytes: &Range<usize>) -> bool {
        let first = self.0.partition_point(|it| *it < bytes.start);
        self.0.get(first).is_some_and(|it| *it == bytes.start || *it < bytes.end)
    }
}

struct Checker<'a> {
    file: &'a str,
    definitions: &'a Definitions,
    broken: &'a Broken,
    problems: &'a mut Vec<Problem>,
    /// Misspelt keys, by where they begin.
    meant: FxHashMap<usize, &'static str>,
}

impl<'a> Checker<'a> {
    fn report(&mut self, code: &'static str, bytes: &Range<usize>, message: String, help: Option<String>) {
        let place = Place { file: self.file.to_owned(), bytes: bytes.clone() };
        self.problems.push(Problem::load(code, place, message).maybe_help(help));
    }

    fn mismatch(&mut self, node: &Node, shape: &Shape) {
        if self.broken.touches(&node.bytes) {
            return;
        }
        let found = match &node.value {
            Value::Text { text, .. } => format!("`{}`", shorten(text)),
            _ => node.kind().to_owned(),
        };
        let message = format!("expected {}, found {found}", shape.describe());
        self.report("bad-type", &node.bytes, message, shape.example());
    }

    fn check(&mut self, node: &Node, shape: &Shape) {
        let fits = match shape {
            Shape::Anything => true,
            Shape::Text => node.text().is_some(),
            Shape::Name => return self.name(node),
            Shape::Number => node.number().is_some(),
            Shape::Truth => node.boolean().is_some(),
            Shape::Time => node.text().is_some_and(|it| units::time(it).is_some()),
            Shape::Amount => node.text().is_some_and(|it| units::amount(it).is_some()),
            Shape::Money => node.text().is_some_and(|it| units::money(it).is_some()),
            Shape::Dollars => node.text().is_some_and(|it| units::dollars(it).is_some()),
            Shape::Tokens => node.text().is_some_and(|it| units::tokens(it).is_some()),
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
                    self.record(node, record, &[]);
                    true
                }
                _ => false,
            },
            Shape::Tagged(tagged) => match &node.value {
                Value::Map(_) => return self.tagged(node, tagged),
                _ => false,
            },
            Shape::Either(shapes) => {
                let suited = shapes.iter().find(|it| self.suits(node, it));
                match suited.or_else(|| shapes.iter().find(|it| self.resembles(node, it))) {
                    Some(suited) => {
                        self.check(node, suited);
                        true
                    }
                    None => false,
                }
            }
            Shape::Table(inner) => {
                if node.get("by").is_some() {
                    self.table(node, inner);
                } else {
                    self.check(node, inner);
                }
                true
            }
            Shape::Ref(name) => {
                if let Some(target) = self.definition(name) {
                    self.check(node, target);
                }
                true
            }
        };
        if !fits {
            self.mismatch(node, shape);
        }
    }

    /// What a shape that is defined elsewhere stands for.
    fn definition(&self, name: &str) -> Option<&'a Shape> {
        self.definitions.iter().find(|(it, _)| *it == name).map(|(_, it)| it)
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
            | Shape::Money
            | Shape::Dollars
            | Shape::Tokens
            | Shape::OneOf(_) => node.text().is_some(),
            Shape::ListOf(inner) => match &node.value {
                Value::List(_) => true,
                // A list of one word may be written without brackets.
                Value::Text { .. } => matches!(**inner, Shape::Text | Shape::Name | Shape::OneOf(_)),
                _ => false,
            },
            Shape::MapOf(..) | Shape::Tagged(_) => matches!(node.value, Value::Map(_)),
            Shape::Record(record) => {
                let required = record.fields.iter().filter(|it| it.required);
                matches!(node.value, Value::Map(_)) && required.clone().all(|it| node.get(it.key).is_some())
                    || required.count() == 0 && matches!(node.value, Value::Map(_) | Value::Empty)
            }
            Shape::Either(shapes) => shapes.iter().any(|it| self.suits(node, it)),
            Shape::Table(inner) => node.get("by").is_some() || self.suits(node, inner),
            Shape::Ref(name) => self.definition(name).is_some_and(|it| self.suits(node, it)),
        }
    }

    /// Whether a map could be this record with a key missing: then the missing key is what to report.
    fn resembles(&self, node: &Node, shape: &Shape) -> bool {
        match shape {
            Shape::Record(_) => matches!(node.value, Value::Map(_)),
            Shape::Ref(name) => self.definition(name).is_some_and(|it| self.resembles(node, it)),
            _ => false,
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
            Some(text) => self.report("bad-name", &node.bytes, not_a_name(text), Some(NAMES.into())),
            None => self.mismatch(node, &Shape::Name),
        }
    }

    fn word(&mut self, node: &Node, words: &'static [&'static str]) {
        match node.text() {
            Some(text) if words.contains(&text) => {}
            Some(text) => {
                let message = format!("`{}` cannot stand here", shorten(text));
                let near = nearest(text, words.iter().copied());
                let help = match (near, words) {
                    (Some(near), _) => format!("did you mean `{near}`?"),
                    (None, [only]) => format!("write `{only}`"),
                    (None, _) => format!("it is one of {}", listed(words)),
                };
                self.report("bad-value", &node.bytes, message, Some(help));
            }
            None => self.mismatch(node, &Shape::OneOf(words)),
        }
    }

    /// Holds a map against a record. `others` are records a reader could have had in mind instead.
    fn record(&mut self, node: &Node, record: &Record, others: &[Record]) {
        let mut meant: Vec<&'static str> = Vec::new();
        for entry in node.entries().iter().filter(|it| !it.key.is_empty()) {
            if let Some(field) = record.field(&entry.key) {
                self.check(&entry.node, &field.shape);
                continue;
            }
            // A merge key whose alias has been reported.
            if entry.key == "<<" && self.broken.touches(&entry.node.bytes) {
                continue;
            }
            let elsewhere: Vec<&str> =
                others.iter().filter(|it| it.field(&entry.key).is_some()).filter_map(Record::tag).collect();
            let refused = record.refused.iter().find(|(key, _)| *key == entry.key);
            let near = record.meant(&entry.key).or_else(|| self.only_one_missing(node, entry, record));
            let near = near.filter(|_| elsewhere.is_empty() && refused.is_none());
            let help = match near {
                None if refused.is_some() => refused.map(|(_, help)| (*help).to_owned()),
                Some(near) => Some(format!("did you mean `{near}`?")),
                None if elsewhere.is_empty() => did_you_mean(&entry.key, record.keys()),
                None => Some(format!("`{}` goes with {}", entry.key, any_of(&elsewhere))),
            };
            let message = format!("unknown key `{}` in {}", shorten(&entry.key), record.what);
            self.report("unknown-key", &entry.key_bytes, message, help);
            let field = near.and_then(|it| record.field(it));
            if let Some(field) = field.filter(|it| node.get(it.key).is_none() && !meant.contains(&it.key)) {
                meant.push(field.key);
                if self.fits(&entry.node, &field.shape) {
                    self.meant.insert(entry.key_bytes.start, field.key);
                }
            }
        }
        let missing = |it: &&Field| it.required && node.get(it.key).is_none() && !meant.contains(&it.key);
        for field in record.fields.iter().filter(missing) {
            if node.entries().iter().any(|it| it.key.is_empty()) {
                continue;
            }
            let message = format!("{} needs `{}`", record.what, field.key);
            let help = format!("add `{}: ...`. {}", field.key, field.about);
            self.report("missing-key", &head(node), message, Some(help));
        }
    }

    /// The one key that must be there and is not, if this entry could be it.
    fn only_one_missing(&self, node: &Node, entry: &Entry, record: &Record) -> Option<&'static str> {
        let mut missing = record.fields.iter().filter(|it| it.required && node.get(it.key).is_none());
        let (Some(field), None) = (missing.next(), missing.next()) else { return None };
        let unknown = node.entries().iter().filter(|it| record.field(&it.key).is_none()).count();
        (unknown == 1 && self.fits(&entry.node, &field.shape)).then_some(field.key)
    }

    /// Whether a node fits a shape.
    fn fits(&self, node: &Node, shape: &Shape) -> bool {
        let mut problems = Vec::new();
        let (file, definitions, broken) = (self.file, self.definitions, self.broken);
        let mut inner =
            Checker { file, definitions, broken, problems: &mut problems, meant: FxHashMap::default() };
        inner.check(node, shape);
        problems.is_empty()
    }

    fn tagged(&mut self, node: &Node, tagged: &Tagged) {
        let present: Vec<&Record> =
            tagged.variants.iter().filter(|it| it.tag().is_some_and(|tag| node.get(tag).is_some())).collect();
        // A tag of one variant may be an ordinary key of another, as `set` is of `create`.
        let tags: Vec<&str> = present.iter().filter_map(|it| it.tag()).collect();
        let covers = |it: &&&Record| tags.iter().all(|tag| it.field(tag).is_some());
        let covering: Vec<&Record> = present.iter().filter(covers).copied().collect();
        let present = if covering.len() == 1 { covering } else { present };
        match present.as_slice() {
            [record] => self.record(node, record, &tagged.variants),
            [] => self.untagged(node, tagged),
            _ => {
                let message = format!("{} says {}; it can say only one of them", tagged.what, listed(&tags));
                let help = format!("keep one of {}", listed(&tags));
                self.report("several-kinds", &head(node), message, Some(help));
            }
        }
    }

    /// A map without the key that says what it is: perhaps that key is misspelt.
    fn untagged(&mut self, node: &Node, tagged: &Tagged) {
        let near = node.entries().iter().find_map(|entry| {
            let said =
                tagged.variants.iter().find(|it| it.tag().is_some() && it.said(&entry.key) == it.tag());
            let near = || {
                let near = nearest(&entry.key, tagged.variants.iter().filter_map(Record::tag))?;
                tagged.variants.iter().find(|it| it.tag() == Some(near))
            };
            Some((entry, said.or_else(near)?))
        });
        let Some((entry, record)) = near else {
            if !node.entries().iter().any(|it| it.key.is_empty()) {
                let tags: Vec<&str> = tagged.variants.iter().filter_map(Record::tag).collect();
                let message = format!("{} must say what it is", tagged.what);
                self.report(
                    "missing-key",
                    &head(node),
                    message,
                    Some(format!("add one of {}", listed(&tags))),
                );
            }
            return;
        };
        let Some(tag) = record.fields.first() else { return };
        let message = format!("unknown key `{}` in {}", entry.key, tagged.what);
        self.report("unknown-key", &entry.key_bytes, message, Some(format!("did you mean `{}`?", tag.key)));
        self.meant.insert(entry.key_bytes.start, tag.key);
        let mut read = node.clone();
        if let Value::Map(entries) = &mut read.value {
            for it in entries.iter_mut().filter(|it| it.key_bytes == entry.key_bytes) {
                tag.key.clone_into(&mut it.key);
            }
        }
        self.record(&read, record, &tagged.variants);
    }

    fn table(&mut self, node: &Node, inner: &Shape) {
        for entry in node.entries() {
            let shape = if entry.key == "by" { &Shape::Name } else { inner };
            self.check(&entry.node, shape);
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

/// What to do about something that is no name.
pub const NAMES: &str = "use letters, digits, `-` and `_`, at most 80 of them";

/// Says that a text is no name.
pub fn not_a_name(text: &str) -> String {
    format!("`{}` is not a name", shorten(text))
}

fn listed(words: &[&str]) -> String {
    words.iter().map(|it| format!("`{it}`")).collect::<Vec<_>>().join(", ")
}

fn any_of(words: &[&str]) -> String {
    match words {
        [rest @ .., last] if !rest.is_empty() => format!("{} or `{last}`", listed(rest)),
        _ => listed(words),
    }
}
