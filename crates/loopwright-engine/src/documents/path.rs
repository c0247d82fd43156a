//! Fields by dotted path: `flags.done`, `items.2.checked`, also `items[2].checked`. Items count from 0, as in facts.

use serde_json::{Map, Value};

use super::tree::{Held, Node, kind};

/// One step down.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Step {
    Key(String),
    Index(usize),
}

/// Where a path leads in a tree.
#[derive(Debug)]
pub(super) struct Located<'n> {
    /// The nodes on the way that are there, the root first, each but the root with its place in the one before.
    pub way: Vec<(usize, &'n Node)>,
    /// The keys of the path that are there no more.
    pub missing: Vec<String>,
    /// All steps, of what is there and what is not.
    pub steps: Vec<Step>,
}

impl<'n> Located<'n> {
    /// The last node that is there.
    pub(super) fn last(&self) -> Option<&'n Node> {
        self.way.last().map(|(_, node)| *node)
    }
}

/// Follows a path. A key may have dots in it, as long as only one reading of the path is possible.
pub(super) fn locate<'n>(root: &'n Node, field: &str) -> Result<Located<'n>, String> {
    let written = dotted(field);
    if written.is_empty() || written.split('.').any(str::is_empty) {
        return Err(format!("`{field}` is not a field; write a path such as `flags.done`"));
    }
    let mut located = Located { way: vec![(0, root)], missing: Vec::new(), steps: Vec::new() };
    let mut node = root;
    let mut rest = written.as_str();
    while !rest.is_empty() {
        let (place, step, after) = match &node.held {
            Held::Map(entries) => {
                let mut fitting =
                    entries.iter().enumerate().filter(|(_, it)| after_key(rest, &it.key).is_some());
                let Some((place, entry)) = fitting.next() else { break };
                if let Some((_, other)) = fitting.next() {
                    return Err(format!("`{field}` could go by `{}` or by `{}`", entry.key, other.key));
                }
                (place, Step::Key(entry.key.clone()), after_key(rest, &entry.key).unwrap_or_default())
            }
            Held::List(items) => {
                let (first, after) = rest.split_once('.').unwrap_or((rest, ""));
                let Ok(place) = first.parse::<usize>() else {
                    return Err(format!("`{first}` is not the number of an entry, and this is a list"));
                };
                if place >= items.len() {
                    let many = items.len();
                    return Err(format!("there is no entry {place}; the list has {many}, counted from 0"));
                }
                (place, Step::Index(place), after)
            }
            Held::Leaf(Value::Null) => break,
            Held::Leaf(value) => return Err(format!("what is there is {} and has no fields", kind(value))),
        };
        node = match &node.held {
            Held::Map(entries) => entries.get(place).map_or(node, |it| &it.node),
            _ => node.items().get(place).unwrap_or(node),
        };
        located.way.push((place, node));
        located.steps.push(step);
        rest = after;
    }
    if !rest.is_empty() {
        located.missing = rest.split('.').map(str::to_owned).collect();
        located.steps.extend(located.missing.iter().cloned().map(Step::Key));
    }
    Ok(located)
}

/// What follows a key at the start of a path.
fn after_key<'p>(path: &'p str, key: &str) -> Option<&'p str> {
    let after = path.strip_prefix(key)?;
    if after.is_empty() { Some(after) } else { after.strip_prefix('.') }
}

/// `items[2]` as `items.2`. Other brackets are part of a key.
fn dotted(field: &str) -> String {
    let mut written = String::new();
    let mut rest = field;
    while let Some((before, after)) = rest.split_once('[') {
        written.push_str(before);
        let number = after.split_once(']').filter(|(it, _)| it.bytes().all(|it| it.is_ascii_digit()));
        match number {
            Some((number, tail)) if !number.is_empty() => {
                written.push('.');
                written.push_str(number);
                rest = tail;
            }
            _ => {
                written.push('[');
                rest = after;
            }
        }
    }
    written.push_str(rest);
    written
}

/// Puts a value where the steps lead, with maps made on the way.
pub(super) fn put(root: &mut Value, steps: &[Step], value: Value) {
    let Some((first, rest)) = steps.split_first() else {
        *root = value;
        return;
    };
    match first {
        Step::Key(key) => {
            if !root.is_object() {
                *root = Value::Object(Map::new());
            }
            if let Value::Object(fields) = root {
                put(fields.entry(key.clone()).or_insert(Value::Null), rest, value);
            }
        }
        Step::Index(place) => {
            if let Some(item) = root.get_mut(*place) {
                put(item, rest, value);
            }
        }
    }
}

/// A value below these keys.
pub(super) fn wrapped(keys: &[String], value: &Value) -> Value {
    keys.iter().rev().fold(value.clone(), |inner, key| {
        let mut outer = Map::new();
        outer.insert(key.clone(), inner);
        Value::Object(outer)
    })
}
