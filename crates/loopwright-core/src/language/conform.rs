//! Holds a tree against a shape: what does not fit is reported at its place, and read as what it was meant to be.

use std::ops::Range;

use rustc_hash::FxHashMap;

use super::shape::{
    Definitions, Field, NAMES, Record, Shape, Tagged, any_of, head, is_name, listed, not_a_name,
};
use super::units;
use super::yaml::{Entry, Node, Value, shorten};
use crate::problem::{Place, Problem, did_you_mean, nearest};

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

/// Whether a shape is one word.
fn is_word(shape: &Shape) -> bool {
    matches!(shape, Shape::Text | Shape::Name | Shape::OneOf(_))
}

/// Several names in one text.
fn several(text: &str) -> Option<Vec<&str>> {
    let parts: Vec<&str> = text.split([' ', ',']).filter(|it| !it.is_empty()).collect();
    (parts.len() > 1 && parts.iter().all(|it| is_name(it))).then_some(parts)
}

/// What to do about a number that is none of those that can stand here.
fn number_help(node: &Node, shape: &Shape) -> Option<String> {
    let counts = match shape {
        Shape::Number => true,
        Shape::Amount => false,
        _ => return None,
    };
    let Value::Text { text, plain } = &node.value else { return None };
    if !plain && text.parse::<u32>().is_ok() {
        return Some(format!("write it without quotes: `{text}`"));
    }
    if let Some(positive) = text.strip_prefix('-').filter(|it| it.starts_with(|it: char| it.is_ascii_digit()))
    {
        return Some(format!("it cannot be below 0: write `0`, `{}` or another", shorten(positive)));
    }
    if text.parse::<u128>().is_ok() {
        let most = if counts { u64::from(u32::MAX) } else { u64::MAX };
        return Some(format!("it can be {most} at most"));
    }
    let number = text.parse::<f64>().ok().filter(|it| it.is_finite())?;
    let whole = format!("{:.0}", number.ceil());
    Some(if counts {
        format!("it counts something: write a whole number, such as `{whole}`")
    } else {
        format!(
            "without a unit it counts something: write a whole number, such as `{whole}`, or add the unit"
        )
    })
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
        let help = number_help(node, shape).or_else(|| shape.example());
        self.report("bad-type", &node.bytes, message, help);
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
            Shape::SomeOf(inner) if node.items().is_empty() => {
                let what = inner.describe();
                let what = what.trim_start_matches("an ").trim_start_matches("a ");
                let help = inner.example().map(|it| format!("{it}, or leave the state out"));
                return self.report(
                    "bad-type",
                    &node.bytes,
                    format!("expected at least one {what}, found none"),
                    help,
                );
            }
            Shape::ListOf(inner) | Shape::SomeOf(inner) => {
                match &node.value {
                    Value::List(items) => items.iter().for_each(|it| self.check(it, inner)),
                    Value::Empty => {}
                    // Of one word the brackets may be left off; of several, and of a map, they were forgotten.
                    Value::Map(_) if is_word(inner) => return self.mismatch(node, shape),
                    Value::Text { text, .. } if matches!(**inner, Shape::Name) && several(text).is_some() => {
                        let message = format!("expected {}, found `{}`", shape.describe(), shorten(text));
                        let help = several(text).map(|it| format!("write a list: `[{}]`", it.join(", ")));
                        return self.report("bad-type", &node.bytes, message, help);
                    }
                    _ => self.check(node, inner),
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
            Shape::ListOf(inner) | Shape::SomeOf(inner) => match &node.value {
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
        let entries = node.entries().iter();
        let unknown: Vec<&Entry> = entries.filter(|it| record.field(&it.key).is_none()).take(2).collect();
        for entry in node.entries().iter().filter(|it| !it.key.is_empty()) {
            if let Some(field) = record.field(&entry.key) {
                let before = self.problems.len();
                self.check(&entry.node, &field.shape);
                // What is no name was perhaps meant to be what the name stands for.
                for problem in &mut self.problems[before..] {
                    if problem.code == "bad-name" && problem.place.bytes == entry.node.bytes {
                        problem.help =
                            Some(format!("{} Names are letters, digits, `-` and `_`.", field.about));
                    }
                }
                continue;
            }
            // A merge key whose alias has been reported.
            if entry.key == "<<" && self.broken.touches(&entry.node.bytes) {
                continue;
            }
            let elsewhere: Vec<&str> =
                others.iter().filter(|it| it.field(&entry.key).is_some()).filter_map(Record::tag).collect();
            let refused = record.refused.iter().find(|(key, _)| *key == entry.key);
            let near = record.meant(&entry.key).or_else(|| {
                let alone = unknown.len() == 1;
                alone.then(|| self.only_one_missing(node, entry, record)).flatten()
            });
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

    /// The one key that must be there and is not, if this entry, the only unknown one, could be it.
    fn only_one_missing(&self, node: &Node, entry: &Entry, record: &Record) -> Option<&'static str> {
        let mut missing = record.fields.iter().filter(|it| it.required && node.get(it.key).is_none());
        let (Some(field), None) = (missing.next(), missing.next()) else { return None };
        self.fits(&entry.node, &field.shape).then_some(field.key)
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
            // Of `file` and `files`, `filse` is the one that its value fits.
            let mut near: Vec<&Record> =
                tagged.variants.iter().filter(|it| nearest(&entry.key, it.tag()).is_some()).collect();
            near.sort_by_key(|it| !it.fields.first().is_some_and(|tag| self.fits(&entry.node, &tag.shape)));
            Some((entry, said.or_else(|| near.first().copied())?))
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
