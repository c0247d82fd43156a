//! YAML as a tree that can be changed and written again.

use saphyr_parser::{Event, Parser, ScalarStyle};

/// A piece of YAML.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Tree {
    Text { text: String, plain: bool },
    List(Vec<Tree>),
    Map(Vec<(String, Tree)>),
}

/// One step down a tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    Key(String),
    Item(usize),
}

pub(crate) fn key(name: &str) -> Part {
    Part::Key(name.to_owned())
}

pub(crate) fn join(place: &[Part], rest: &[Part]) -> Vec<Part> {
    place.iter().chain(rest).cloned().collect()
}

impl Tree {
    pub(crate) fn word(text: &str) -> Self {
        Self::Text { text: text.to_owned(), plain: true }
    }

    pub(crate) fn text(&self) -> Option<&str> {
        match self {
            Self::Text { text, .. } => Some(text),
            _ => None,
        }
    }

    pub(crate) fn entries(&self) -> &[(String, Tree)] {
        match self {
            Self::Map(entries) => entries,
            _ => &[],
        }
    }

    pub(crate) fn entries_mut(&mut self) -> &mut Vec<(String, Tree)> {
        match self {
            Self::Map(entries) => entries,
            _ => panic!("not a map"),
        }
    }

    pub(crate) fn get(&self, key: &str) -> Option<&Tree> {
        self.entries().iter().find(|(it, _)| it == key).map(|(_, it)| it)
    }

    /// The items of a list, or the one thing that stands for it.
    pub(crate) fn items(&self) -> Vec<&Tree> {
        match self {
            Self::List(items) => items.iter().collect(),
            other => vec![other],
        }
    }

    pub(crate) fn words(&self) -> Vec<&str> {
        self.items().into_iter().filter_map(Tree::text).collect()
    }

    /// The piece at a place.
    pub(crate) fn at<'t>(&'t self, place: &[Part]) -> Option<&'t Tree> {
        let Some((first, rest)) = place.split_first() else { return Some(self) };
        match (first, self) {
            (Part::Key(key), Self::Map(_)) => self.get(key)?.at(rest),
            (Part::Item(at), Self::List(items)) => items.get(*at)?.at(rest),
            // A list of one may be written without brackets.
            (Part::Item(0), other) => other.at(rest),
            _ => None,
        }
    }

    pub(crate) fn at_mut<'t>(&'t mut self, place: &[Part]) -> &'t mut Tree {
        let Some((first, rest)) = place.split_first() else { return self };
        match (first, self) {
            (Part::Key(key), Self::Map(entries)) => {
                let entry = entries.iter_mut().find(|(it, _)| it == key);
                entry.map(|(_, it)| it).expect("a key").at_mut(rest)
            }
            (Part::Item(at), Self::List(items)) => items.get_mut(*at).expect("an item").at_mut(rest),
            (Part::Item(0), other) => other.at_mut(rest),
            _ => panic!("no such place"),
        }
    }

    pub(crate) fn remove(&mut self, key: &str) {
        self.entries_mut().retain(|(it, _)| it != key);
    }

    pub(crate) fn put(&mut self, key: &str, value: Tree) {
        match self.entries_mut().iter_mut().find(|(it, _)| it == key) {
            Some((_, it)) => *it = value,
            None => self.entries_mut().push((key.to_owned(), value)),
        }
    }

    pub(crate) fn to_yaml(&self) -> String {
        let mut text = String::new();
        self.write(&mut text);
        text
    }

    /// All in one line: what a file means does not depend on how it is laid out.
    fn write(&self, into: &mut String) {
        let quoted = |text: &str| serde_json::to_string(text).expect("a text");
        match self {
            Self::Text { text, plain } => {
                let simple = text.chars().all(|it| it.is_alphanumeric() || "._-".contains(it));
                // Only a plain `2` is a number, and only a plain `true` a truth.
                if *plain && simple {
                    into.push_str(if text.is_empty() { "~" } else { text });
                } else {
                    into.push_str(&quoted(text));
                }
            }
            Self::List(items) => {
                into.push('[');
                for item in items {
                    item.write(into);
                    into.push_str(", ");
                }
                into.push(']');
            }
            Self::Map(entries) => {
                into.push('{');
                for (key, value) in entries {
                    into.push_str(&quoted(key));
                    into.push_str(": ");
                    value.write(into);
                    into.push_str(", ");
                }
                into.push('}');
            }
        }
    }
}

/// A list or a map that is still being read.
enum Open {
    List(Vec<Tree>),
    Map(Vec<(String, Tree)>, Option<String>),
}

pub(crate) fn read_tree(text: &str) -> Tree {
    let mut open: Vec<Open> = Vec::new();
    for event in Parser::new_from_str(text) {
        let (event, _) = event.expect("YAML");
        let done = match event {
            Event::Scalar(text, style, ..) => {
                Tree::Text { text: text.into_owned(), plain: style == ScalarStyle::Plain }
            }
            Event::SequenceStart(..) => {
                open.push(Open::List(Vec::new()));
                continue;
            }
            Event::MappingStart(..) => {
                open.push(Open::Map(Vec::new(), None));
                continue;
            }
            Event::SequenceEnd | Event::MappingEnd => match open.pop().expect("something open") {
                Open::List(items) => Tree::List(items),
                Open::Map(entries, _) => Tree::Map(entries),
            },
            _ => continue,
        };
        match open.last_mut() {
            None => return done,
            Some(Open::List(items)) => items.push(done),
            Some(Open::Map(entries, waiting)) => match waiting.take() {
                Some(key) => entries.push((key, done)),
                None => *waiting = Some(done.text().expect("a key").to_owned()),
            },
        }
    }
    panic!("no document")
}
