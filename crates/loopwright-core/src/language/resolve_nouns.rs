//! The nouns of a workflow: inputs, verbs, caps, lists, documents.

use indexmap::IndexMap;

use super::loader::Loader;
use super::scope::Scope;
use super::types::{Types, type_of};
use super::yaml::{Node, Value, shorten};
use super::{shape, units};
use crate::definition::{Caps, Document, Files, Input, Subject, Table, Verb, VerbElse};
use crate::fact::Type;
use crate::name::Name;
use crate::paths::FileSet;

impl Loader<'_> {
    pub(super) fn scope(&self) -> Scope<'_> {
        Scope { node: self.root, child: None }
    }

    pub(super) fn section(&self, name: &'static str) -> impl Iterator<Item = &super::yaml::Entry> {
        self.root.get(name).map(Node::entries).unwrap_or_default().iter().filter(move |it| {
            if it.key.is_empty() {
                return false;
            }
            let fits = shape::is_name(&it.key) || name == "phases";
            if !fits {
                let message = shape::not_a_name(&it.key);
                self.wrong("bad-name", &it.key_bytes, message, Some(shape::NAMES.into()));
            }
            fits
        })
    }

    fn pattern(&self, node: Option<&Node>) -> Option<String> {
        let node = node?;
        let text = node.text()?;
        if let Err(error) = regex_lite::Regex::new(text) {
            let message = format!("`{}` is not a regular expression: {error}", shorten(text));
            let help = "a plain letter stands for itself; `\\` before one of `.[](){}*+?^$|` makes it plain";
            self.wrong("bad-pattern", &node.bytes, message, Some(help.into()));
        }
        Some(text.to_owned())
    }

    pub(super) fn subject(&self) -> Subject {
        let node = self.root.get("subject");
        let name = node
            .and_then(|it| it.text().or_else(|| it.get("name").and_then(Node::text)))
            .unwrap_or("subject");
        Subject {
            name: name.into(),
            matches: self.pattern(node.and_then(|it| it.get("matches"))),
            optional: node.and_then(|it| it.get("optional")).and_then(Node::boolean).unwrap_or(false),
            made: node.and_then(|it| it.get("made")).and_then(Node::text).map(str::to_owned),
        }
    }

    pub(super) fn inputs(&self) -> IndexMap<Name, Input> {
        self.section("inputs")
            .map(|entry| {
                let input = Input {
                    about: entry.node.get("about").and_then(Node::text).map(str::to_owned),
                    matches: self.pattern(entry.node.get("matches")),
                    optional: entry.node.get("optional").and_then(Node::boolean).unwrap_or(false),
                };
                (entry.key.as_str().into(), input)
            })
            .collect()
    }

    pub(super) fn verbs(&self) -> IndexMap<Name, Verb> {
        self.section("verbs")
            .map(|entry| {
                if entry.key == "resume" {
                    let message = "`resume` is built in and cannot be declared".to_owned();
                    self.wrong("reserved", &entry.key_bytes, message, Some("choose another word".into()));
                }
                let otherwise = entry.node.get("else").and_then(|it| {
                    let text = |key: &str| it.get(key).and_then(Node::text).map(str::to_owned);
                    it.text()
                        .map(|text| VerbElse::Error(text.to_owned()))
                        .or_else(|| text("say").map(VerbElse::Say))
                        .or_else(|| text("error").map(VerbElse::Error))
                });
                let verb = Verb {
                    about: entry.node.get("about").and_then(Node::text).map(str::to_owned),
                    takes: self.known_list("inputs", "input", entry.node.get("takes")),
                    otherwise,
                };
                (entry.key.as_str().into(), verb)
            })
            .collect()
    }

    pub(super) fn caps(&self) -> Caps {
        let Some(node) = self.root.get("caps") else { return Caps::default() };
        let amount = |key: &str, read: fn(&str) -> Option<u64>| {
            let it = node.get(key)?;
            Some((it.text().and_then(read)?, Self::place(&it.bytes)))
        };
        Caps {
            calls: amount("calls", |it| it.parse().ok()),
            calls_of: node
                .get("calls-of")
                .map(Node::entries)
                .unwrap_or_default()
                .iter()
                .filter(|it| self.known("roles", "role", &it.key, &it.key_bytes))
                .filter_map(|it| {
                    Some((it.key.as_str().into(), (u64::from(it.node.number()?), Self::place(&it.key_bytes))))
                })
                .collect(),
            time: amount("time", units::time),
            money: amount("usd", units::dollars),
            tokens: amount("tokens", units::tokens),
        }
    }

    pub(super) fn lists(&self) -> IndexMap<Name, Vec<Name>> {
        let Some(node) = self.root.get("lists") else { return IndexMap::new() };
        if node.entries().is_empty() {
            return node
                .items()
                .into_iter()
                .filter_map(Node::text)
                .map(|it| (it.into(), Vec::new()))
                .collect();
        }
        self.section("lists")
            .map(|entry| {
                (entry.key.as_str().into(), self.known_list("states", "state", entry.node.get("per")))
            })
            .collect()
    }

    pub(super) fn documents(&self, types: &Types) -> IndexMap<Name, Document> {
        // The proof tells each from all others.
        const MOST: usize = 120;
        if let Some(entry) = self.root.get("documents").and_then(|it| it.entries().get(MOST)) {
            let message = format!("a workflow has at most {MOST} documents, and this is one more");
            let help = "put files that are always written together under one name, by `files` with a glob";
            self.wrong("too-many-documents", &entry.key_bytes, message, Some(help.into()));
        }
        self.section("documents")
            .map(|entry| {
                let node = &entry.node;
                // What does not fit is reported elsewhere; the name stays known.
                let files = self.files(node).unwrap_or_else(|| Files::Group(Vec::new()));
                let folder = self.root.get("folder").and_then(Node::text);
                let set = match (&files, node.get("file").or_else(|| node.get("files"))) {
                    (Files::One(path), Some(node)) => self.file_set(node, folder, &[path]),
                    (Files::Many(globs), Some(node)) => {
                        let globs: Vec<&str> = globs.iter().map(String::as_str).collect();
                        self.file_set(node, folder, &globs)
                    }
                    _ => None,
                };
                let document = Document {
                    files,
                    set,
                    reader: node.get("as").and_then(Node::text).map(Name::from),
                    gives: types.documents.get(entry.key.as_str()).cloned().unwrap_or(Type::Any),
                    has: node
                        .get("has")
                        .map(Node::items)
                        .unwrap_or_default()
                        .iter()
                        .filter_map(|it| it.text())
                        .map(str::to_owned)
                        .collect(),
                    filled: self.filled(node),
                    engine_owned: node.get("owner").and_then(Node::text) == Some("engine"),
                    shows: node
                        .get("shows")
                        .map(Node::entries)
                        .unwrap_or_default()
                        .iter()
                        .filter_map(|it| Some((it.key.clone(), it.node.text()?.to_owned())))
                        .collect(),
                    optional: node.get("optional").and_then(Node::boolean).unwrap_or(false),
                    with: node.get("with").map(to_json).unwrap_or_default(),
                    place: Self::place(&entry.key_bytes),
                };
                if !document.shows.is_empty() {
                    self.using("documents", &entry.key);
                }
                (entry.key.as_str().into(), document)
            })
            .collect()
    }

    /// Whether headings need something below them. Without headings that says nothing.
    fn filled(&self, node: &Node) -> bool {
        let Some(entry) = node.entry("filled").filter(|it| it.node.boolean() == Some(true)) else {
            return false;
        };
        if node.get("has").is_none() {
            let message = "there are no headings that could be filled".to_owned();
            self.wrong("bad-value", &entry.key_bytes, message, Some("name them: `has: [HEADING]`".into()));
        }
        true
    }

    pub(super) fn files(&self, node: &Node) -> Option<Files> {
        if let Some(file) = node.get("file") {
            return Some(Files::One(file.text()?.to_owned()));
        }
        if let Some(files) = node.get("files") {
            return Some(Files::Many(
                files.items().into_iter().filter_map(Node::text).map(str::to_owned).collect(),
            ));
        }
        if let Some(group) = node.get("group") {
            let members: Vec<Name> = group.items().into_iter().filter_map(|it| self.document(it)).collect();
            for member in &members {
                let nested =
                    self.root.get("documents").and_then(|it| it.get(member)).and_then(|it| it.get("group"));
                if nested.is_some() {
                    let message = format!("`{member}` is a group itself; groups hold documents");
                    self.wrong("nested-group", &group.bytes, message, Some("name its members".into()));
                    return Some(Files::Group(Vec::new()));
                }
            }
            return Some(Files::Group(members));
        }
        node.get("from").and_then(Node::text).map(|it| Files::Command(it.to_owned()))
    }

    fn file_set(&self, node: &Node, folder: Option<&str>, globs: &[&str]) -> Option<FileSet> {
        let whole: Vec<String> = globs.iter().map(|it| in_folder(folder, it)).collect();
        match FileSet::parse(&whole.iter().map(String::as_str).collect::<Vec<_>>()) {
            Ok(set) => Some(set),
            Err(fault) => {
                let help = "paths are relative to the root of the repository, with `/` between: `src/**`";
                self.wrong("bad-path", &node.bytes, fault.to_string(), Some(help.into()));
                None
            }
        }
    }
}

/// The words of a list.
pub(super) fn texts(node: Option<&Node>) -> Vec<Name> {
    node.map(Node::items).unwrap_or_default().into_iter().filter_map(Node::text).map(Name::from).collect()
}

/// A path below the workflow's folder, if it begins with `./`.
pub(super) fn in_folder(folder: Option<&str>, path: &str) -> String {
    let (bang, rest) = path.strip_prefix('!').map_or(("", path), |it| ("!", it));
    match (rest.strip_prefix("./"), folder) {
        (Some(rest), Some(folder)) => format!("{bang}{}/{rest}", folder.trim_end_matches('/')),
        (Some(rest), None) => format!("{bang}{rest}"),
        (None, _) => path.to_owned(),
    }
}

/// YAML as JSON, for parameters that are passed on as they are.
pub(super) fn to_json(node: &Node) -> serde_json::Value {
    match &node.value {
        Value::Empty => serde_json::Value::Null,
        Value::Text { text, plain } => {
            if *plain && let Ok(number) = text.parse::<u64>() {
                return number.into();
            }
            match (text.as_str(), plain) {
                ("true", true) => true.into(),
                ("false", true) => false.into(),
                _ => text.as_str().into(),
            }
        }
        Value::List(items) => items.iter().map(to_json).collect(),
        Value::Map(entries) => entries.iter().map(|it| (it.key.clone(), to_json(&it.node))).collect(),
    }
}

/// A table that must be there, for callers that only need its values.
pub(super) fn all<T: Clone>(table: &Table<Vec<T>>) -> Vec<T> {
    table.values().flatten().cloned().collect()
}

/// The type of a `shape:`.
pub(super) fn declared_shape(node: &Node) -> Option<Type> {
    node.get("shape").map(type_of)
}
