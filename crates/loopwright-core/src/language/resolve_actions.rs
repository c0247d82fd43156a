//! Actions: what the engine does, and what that writes.

use super::loader::Loader;
use super::resolve_nouns::{in_folder, to_json};
use super::scope::Scope;
use super::yaml::Node;
use crate::definition::Action;
use crate::library;
use crate::name::{Name, in_expression};
use crate::paths::FileSet;
use crate::problem::{did_you_mean, nearest};

impl Loader<'_> {
    pub(super) fn action(&self, node: &Node, scope: Scope<'_>) -> Option<Action> {
        let verb = ACTIONS.iter().find_map(|it| node.entry(it))?;
        let value = &verb.node;
        let place = Self::place(&verb.key_bytes);
        let mut writes = Some(Vec::new());
        let mut sets = Vec::new();
        let mut makes = Vec::new();
        let mut removes = Some(Vec::new());
        let mut commits = None;
        match verb.key.as_str() {
            "set" => {
                sets = value
                    .entries()
                    .iter()
                    .filter_map(|it| self.field_target(&it.key, &it.key_bytes))
                    .collect();
                writes = Some(self.placed_by(&sets));
            }
            "append" => {
                let to = node.get("to");
                sets = to
                    .and_then(|it| self.field_target(it.text().unwrap_or_default(), &it.bytes))
                    .into_iter()
                    .collect();
                writes = Some(self.placed_by(&sets));
            }
            "write" | "create" => {
                makes = self.document(value).into_iter().collect();
                writes = Some(makes.clone());
                self.template_file(node.get("template"));
            }
            "copy" => {
                if self.names_document(Some(value)) {
                    self.files_or_document(Some(value));
                }
                let there = self.files_or_document(node.get("to"));
                let exact = node.get("exact").and_then(Node::boolean).unwrap_or(false);
                // What it copies to is there afterwards; what else lies there may not be.
                if exact {
                    removes = Some(there.clone());
                }
                if !exact || self.names_document(node.get("to")) {
                    makes.clone_from(&there);
                }
                writes = Some(there);
            }
            "delete" => {
                let table = self.list_table(Some(value), &scope, |it| Some(self.files_or_document(Some(it))));
                removes = Some(table.values().flatten().flatten().cloned().collect());
                writes = removes.clone();
            }
            "move" => {
                let here = self.moved(value);
                let there = self.files_or_document(node.get("to"));
                writes = Some(here.iter().chain(&there).cloned().collect());
                removes = Some(here);
                if self.names_document(node.get("to")) {
                    makes = there;
                }
            }
            "commit" => {
                let what = self.known_list("documents", "document", node.get("what"));
                commits = Some(if node.get("what").is_some() {
                    what
                } else {
                    self.names("documents").into_iter().map(Name::from).collect()
                });
            }
            "push" => commits = Some(self.names("documents").into_iter().map(Name::from).collect()),
            "branch" | "switch" | "merge" | "join" => (writes, removes) = (None, None),
            "restore" => {
                writes = Some(self.known_list("documents", "document", Some(value)));
                removes.clone_from(&writes);
            }
            "run" => {
                writes = node.get("writes").map(|it| self.known_list("documents", "document", Some(it)));
                removes.clone_from(&writes);
            }
            _ => {}
        }
        let parameters = to_json(node);
        let verb = verb.key.as_str().into();
        Some(Action { verb, parameters, writes, sets, makes, removes, commits, place })
    }

    /// Whether what an action is told is a document, and no path.
    fn names_document(&self, node: Option<&Node>) -> bool {
        let text = node.and_then(Node::text).unwrap_or_default();
        self.names("documents").contains(&text.strip_prefix("docs.").unwrap_or(text))
    }

    /// Documents that lose files by a move. Those of the run's folder follow it; others that reach into it do not.
    fn moved(&self, node: &Node) -> Vec<Name> {
        let folder = self.root.get("folder").and_then(Node::text);
        match (node.text(), folder) {
            (Some("folder"), Some(folder)) => {
                let mut found = self.documents_below(folder);
                found.retain(|it| {
                    !self.globs(it).iter().any(|it| it.trim_start_matches('!').starts_with("./"))
                });
                found
            }
            _ => self.files_or_document(Some(node)),
        }
    }

    fn globs(&self, document: &str) -> Vec<&str> {
        let declared = self.root.get("documents").and_then(|it| it.get(document));
        let globs = declared.and_then(|it| it.get("file").or_else(|| it.get("files")));
        globs.map(Node::items).unwrap_or_default().into_iter().filter_map(Node::text).collect()
    }

    /// Documents that have files at a path or below.
    fn documents_below(&self, path: &str) -> Vec<Name> {
        let folder = self.root.get("folder").and_then(Node::text);
        let path = in_folder(folder, path.trim_end_matches('/'));
        let Ok(here) = FileSet::parse(&[&path, &format!("{path}/**")]) else { return Vec::new() };
        let overlaps = |name: &&str| {
            let globs: Vec<String> = self.globs(name).into_iter().map(|it| in_folder(folder, it)).collect();
            FileSet::parse(&globs.iter().map(String::as_str).collect::<Vec<_>>())
                .is_ok_and(|it| it.may_overlap(&here))
        };
        self.names("documents").into_iter().filter(overlaps).map(Name::from).collect()
    }

    fn template_file(&self, node: Option<&Node>) {
        let Some(node) = node else { return };
        let Some(file) = node.text() else { return };
        if self.folder.text(file).is_none() {
            let message = format!("the folder has no file `{file}`");
            self.wrong(
                "no-file",
                &node.bytes,
                message,
                did_you_mean(file, self.folder.files.keys().map(String::as_str)),
            );
        }
    }

    /// Documents that a path or a document's name stands for.
    fn files_or_document(&self, node: Option<&Node>) -> Vec<Name> {
        let Some((node, text)) = node.and_then(|it| Some((it, it.text()?))) else { return Vec::new() };
        if let Some(name) = text.strip_prefix("docs.") {
            return if self.known("documents", "document", name, &node.bytes) {
                vec![name.into()]
            } else {
                Vec::new()
            };
        }
        let names = self.names("documents");
        if names.contains(&text) {
            self.using("documents", text);
            return vec![text.into()];
        }
        if text == "folder" {
            return Vec::new();
        }
        // A path may be any word, but hardly one that is almost the name of a document.
        if let Some(near) = nearest(text, names.iter().copied().chain(["folder"])) {
            let message = format!("there is no document `{text}`");
            self.wrong("unknown-name", &node.bytes, message, Some(format!("did you mean `{near}`?")));
            return Vec::new();
        }
        self.documents_below(text)
    }

    /// Documents whose paths name fields of these: with the field set, each is another file.
    fn placed_by(&self, sets: &[Name]) -> Vec<Name> {
        let folder = self.root.get("folder").and_then(Node::text);
        let named = |template: &str| {
            let document = template.strip_prefix("docs.").and_then(|it| it.split('.').next());
            sets.iter().any(|it| document.map(in_expression) == Some(it.in_expression()))
        };
        let placed = |name: &&str| {
            let globs: Vec<String> = self.globs(name).into_iter().map(|it| in_folder(folder, it)).collect();
            let files = FileSet::parse(&globs.iter().map(String::as_str).collect::<Vec<_>>());
            files.is_ok_and(|it| it.templates().any(named))
        };
        self.names("documents").into_iter().filter(placed).map(Name::from).collect()
    }

    /// `doc.field`, a field that the document's reader can set; the document it is of.
    fn field_target(&self, text: &str, bytes: &std::ops::Range<usize>) -> Option<Name> {
        let (document, field) = text.split_once('.').unwrap_or((text, ""));
        if document == "item" {
            return Some(document.into());
        }
        if !self.known("documents", "document", document, bytes) {
            return None;
        }
        let declared = self.root.get("documents").and_then(|it| it.get(document));
        let reader = declared.and_then(|it| it.get("as")).and_then(Node::text);
        let Some(reader) = reader.and_then(|it| library::readers().get(it)) else {
            let message = format!("`{document}` has no reader, so its fields cannot be set");
            self.wrong("no-reader", bytes, message, Some("say what it is: `as: yaml`".into()));
            return None;
        };
        if !reader.sets.iter().any(|it| settable(it, field)) {
            let message = format!("`{field}` of `{document}` cannot be set");
            self.wrong(
                "unknown-name",
                bytes,
                message,
                did_you_mean(field, reader.sets.iter().map(String::as_str)),
            );
        }
        Some(document.into())
    }
}

/// The words of actions; one that takes another word as a key comes first.
const ACTIONS: &[&str] = &[
    "create", "set", "append", "write", "copy", "move", "delete", "commit", "branch", "switch", "merge",
    "join", "push", "drop", "restore", "run", "say", "refuse",
];

/// Whether a field fits a pattern such as `flags.*`.
fn settable(pattern: &str, field: &str) -> bool {
    let mut parts = field.split(['.', '[']).map(|it| it.trim_end_matches(']'));
    for expected in pattern.split('.') {
        match parts.next() {
            Some(_) if expected == "*" => {}
            Some(part) if part == expected => {}
            _ => return false,
        }
    }
    parts.next().is_none() || pattern == "*"
}
