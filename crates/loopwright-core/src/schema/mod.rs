//! JSON Schema, as much of it as says what an agent hands in. A keyword that would not be kept to is refused when a
//! workflow is read, so that a schema means all it says.
//!
//! Left out: anything that refers to other files or to the network, formats (they are notes, as in the standard),
//! `contains`, `unevaluatedProperties` and dynamic references.

mod holds;
mod words;

use std::collections::BTreeMap;
use std::fmt;

use serde_json::{Map, Value};

use self::words::{Word, word};

/// A schema that was understood.
#[derive(Clone, Debug)]
pub struct Schema {
    root: Value,
}

/// What does not fit, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// Names and numbers with dots between them; empty for the whole.
    pub at: String,
    /// What about it.
    pub what: String,
}

impl fmt::Display for Fault {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.at.is_empty() {
            return write!(formatter, "it {}", self.what);
        }
        write!(formatter, "`{}` {}", self.at, self.what)
    }
}

impl Schema {
    /// Reads a schema; everything in it that cannot be kept to.
    pub fn read(text: &str) -> Result<Self, Vec<Fault>> {
        let whole = |what: String| vec![Fault { at: String::new(), what }];
        let root: Value = serde_json::from_str(text).map_err(|it| whole(format!("is not JSON: {it}")))?;
        let mut reading = Reading::default();
        reading.schema(&root, "", "");
        for (from, (at, reference)) in &reading.references {
            let target = reference.strip_prefix('#').unwrap_or_default();
            if reading.schemas.contains_key(target) {
                reading.schemas.entry(from.clone()).or_default().push(target.to_owned());
            } else {
                let what = format!("refers to `{reference}`, and there is no schema there");
                reading.faults.push(Fault { at: at.clone(), what });
            }
        }
        if let Some(circle) = circle(&reading.schemas) {
            let what = format!("refers to itself without end (`#{circle}`)");
            reading.faults.push(Fault { at: String::new(), what });
        }
        if reading.faults.is_empty() { Ok(Self { root }) } else { Err(reading.faults) }
    }

    /// The fields it names at its top.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        let properties = self.root.get("properties").and_then(Value::as_object);
        properties.into_iter().flat_map(Map::keys).map(String::as_str).chain(self.required())
    }

    /// Those of them that have to be there.
    pub fn required(&self) -> impl Iterator<Item = &str> {
        let required = self.root.get("required").and_then(Value::as_array);
        required.into_iter().flatten().filter_map(Value::as_str)
    }

    /// Whether its type lets an object be.
    pub fn takes_objects(&self) -> bool {
        self.root.get("type").is_none_or(|it| match it {
            Value::Array(types) => types.iter().any(|it| it == "object"),
            one => one == "object",
        })
    }

    /// Everything of a value that does not fit.
    pub fn faults(&self, value: &Value) -> Vec<Fault> {
        holds::faults(&self.root, value)
    }
}

/// What was seen while a schema is read.
#[derive(Default)]
struct Reading {
    faults: Vec<Fault>,
    /// Where schemas stand, as pointers, and the schemas each applies to the same value.
    schemas: BTreeMap<String, Vec<String>>,
    /// References, by the schema they stand in.
    references: BTreeMap<String, (String, String)>,
}

impl Reading {
    fn wrong(&mut self, at: &str, what: impl Into<String>) {
        self.faults.push(Fault { at: at.to_owned(), what: what.into() });
    }

    /// Reads a schema that stands at a place: `pointer` as references write it, `at` for people.
    fn schema(&mut self, schema: &Value, pointer: &str, at: &str) {
        self.schemas.entry(pointer.to_owned()).or_default();
        let keywords = match schema {
            Value::Bool(_) => return,
            Value::Object(keywords) => keywords,
            _ => return self.wrong(at, "is no schema: an object, `true` or `false`"),
        };
        for (name, value) in keywords {
            let below = format!("{pointer}/{}", escaped(name));
            let here = if at.is_empty() { name.clone() } else { format!("{at}.{name}") };
            let Some(word) = word(name) else {
                self.wrong(&here, "is a keyword that is not kept to");
                continue;
            };
            match word {
                Word::Note => {}
                Word::Schema { same } => {
                    self.schema(value, &below, &here);
                    self.applies(pointer, same, below);
                }
                Word::Schemas { same } => match value.as_array().filter(|it| !it.is_empty()) {
                    Some(list) => {
                        for (index, it) in list.iter().enumerate() {
                            let below = format!("{below}/{index}");
                            self.schema(it, &below, &format!("{here}.{index}"));
                            self.applies(pointer, same, below);
                        }
                    }
                    None => self.wrong(&here, "is no list of schemas"),
                },
                Word::Named { patterns } => match value.as_object() {
                    Some(named) => {
                        for (name, it) in named {
                            let place = format!("{here}.{name}");
                            if patterns && let Err(error) = regex_lite::Regex::new(name) {
                                self.wrong(&place, format!("is no regular expression: {error}"));
                            }
                            self.schema(it, &format!("{below}/{}", escaped(name)), &place);
                        }
                    }
                    None => self.wrong(&here, "is no map of schemas"),
                },
                Word::Reference => match value.as_str() {
                    Some(text) if text.starts_with('#') => {
                        self.references.insert(pointer.to_owned(), (here, text.to_owned()));
                    }
                    Some(text) => self.wrong(
                        &here,
                        format!("refers elsewhere (`{text}`): put what it means into `$defs` of this file"),
                    ),
                    None => self.wrong(&here, "is no text"),
                },
                Word::Plain(fits, what) => {
                    if !fits(value) {
                        self.wrong(&here, format!("is not {what}"));
                    }
                }
                Word::Pattern => match value.as_str().map(regex_lite::Regex::new) {
                    Some(Ok(_)) => {}
                    Some(Err(error)) => self.wrong(&here, format!("is no regular expression: {error}")),
                    None => self.wrong(&here, "is no text"),
                },
                Word::Root => {
                    if !pointer.is_empty() {
                        self.wrong(&here, "may stand at the top only");
                    }
                }
            }
        }
    }

    fn applies(&mut self, pointer: &str, same: bool, below: String) {
        if same {
            self.schemas.entry(pointer.to_owned()).or_default().push(below);
        }
    }
}

/// A schema that applies to a value only if it applies to it.
fn circle(schemas: &BTreeMap<String, Vec<String>>) -> Option<&str> {
    let mut left: BTreeMap<&str, Vec<&str>> =
        schemas.iter().map(|(it, to)| (it.as_str(), to.iter().map(String::as_str).collect())).collect();
    // Whatever leads nowhere any more is in no circle.
    loop {
        let ended: Vec<&str> = left.iter().filter(|(_, to)| to.is_empty()).map(|(it, _)| *it).collect();
        if ended.is_empty() {
            return left.keys().next().copied();
        }
        left.retain(|_, to| !to.is_empty());
        for to in left.values_mut() {
            to.retain(|it| !ended.contains(it));
        }
    }
}

/// A name as pointers write it.
fn escaped(name: &str) -> String {
    name.replace('~', "~0").replace('/', "~1")
}
