//! The nouns of a workflow: inputs, verbs, documents, roles, questions, lists, phases, caps.

use indexmap::IndexMap;

use super::loader::{Loader, Scope};
use super::types::{Types, type_of};
use super::yaml::{Node, Value, shorten};
use super::{shape, units};
use crate::definition::{
    Caps, Document, Fields, Files, Findings, Given, Input, Note, Outcomes, Phase, Question, Role, Subject,
    Table, Unattended, Verb, VerbElse, Workflow,
};
use crate::fact::Type;
use crate::library;
use crate::name::Name;
use crate::paths::FileSet;
use crate::problem::did_you_mean;

const MINUTE: u64 = 60_000;

impl Loader<'_> {
    pub(super) fn scope(&self) -> Scope<'_> {
        Scope { node: self.root, child: None }
    }

    fn section(&self, name: &'static str) -> impl Iterator<Item = &super::yaml::Entry> {
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
        Subject { name: name.into(), matches: self.pattern(node.and_then(|it| it.get("matches"))) }
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

    fn files(&self, node: &Node) -> Option<Files> {
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

    pub(super) fn outcomes(&self, node: Option<&Node>, otherwise: &[&str]) -> Outcomes {
        let Some(node) = node else {
            return otherwise.iter().map(|it| ((*it).into(), Fields::default())).collect();
        };
        if node.entries().is_empty() {
            return node
                .items()
                .into_iter()
                .filter_map(Node::text)
                .map(|it| (it.into(), Fields::default()))
                .collect();
        }
        node.entries()
            .iter()
            .filter(|it| !it.key.is_empty())
            .map(|entry| {
                let mut fields = Fields::default();
                for field in entry.node.entries() {
                    if field.key == "note" {
                        match field.node.text() {
                            Some("required") => fields.note = Note::Required,
                            Some("optional") => fields.note = Note::Optional,
                            _ => {
                                let message = "a note is required or optional".to_owned();
                                let help = "write `note: required` or `note: optional`".to_owned();
                                self.wrong("bad-value", &field.node.bytes, message, Some(help));
                            }
                        }
                        continue;
                    }
                    let values: Vec<Name> =
                        field.node.items().into_iter().filter_map(Node::text).map(Name::from).collect();
                    if values.len() < 2 {
                        let message = format!("the field `{}` has fewer than two values", field.key);
                        self.wrong(
                            "bad-value",
                            &field.node.bytes,
                            message,
                            Some("list what it can be: `[yes, no]`".into()),
                        );
                    }
                    fields.fields.insert(field.key.as_str().into(), values);
                }
                (entry.key.as_str().into(), fields)
            })
            .collect()
    }

    pub(super) fn roles(&self) -> IndexMap<Name, Role> {
        let scope = self.scope();
        self.section("roles")
            .map(|entry| {
                let node = &entry.node;
                let verdicts = self.outcomes(node.get("verdicts"), &["done"]);
                self.no_reserved_signals(node.get("verdicts"), &verdicts);
                let role = Role {
                    agent: node.get("agent").and_then(Node::text).unwrap_or_default().into(),
                    prompt: node
                        .get("prompt")
                        .and_then(|it| self.full_table(it, &scope, |it| it.text().map(str::to_owned))),
                    given: self.list_table(node.get("given"), &scope, Self::given),
                    may_write: self.list_table(node.get("may-write"), &scope, |it| self.writable(it)),
                    findings: node
                        .get("findings")
                        .map(|it| self.findings(it, &verdicts, !self.is_broken(node.get("verdicts")))),
                    verdicts,
                    returns: self.returns(node.get("returns")),
                    asks: node.get("asks").and_then(Node::boolean).unwrap_or(false),
                    rules: self.rules(node.get("rules")),
                    deny: texts(node.get("deny")),
                    timeout: Self::time(node.get("timeout"), 30 * MINUTE),
                    idle: Self::time(node.get("idle"), 10 * MINUTE),
                    costs: node.get("costs").and_then(Node::text).and_then(units::money),
                    tokens: node.get("tokens").and_then(Node::text).and_then(units::tokens),
                    place: Self::place(&entry.key_bytes),
                };
                (entry.key.as_str().into(), role)
            })
            .collect()
    }

    /// A document a role may write. The engine's own are not among them.
    pub(super) fn writable(&self, node: &Node) -> Option<Name> {
        let name = self.document(node)?;
        let declared = self.root.get("documents").and_then(|it| it.get(&name));
        if declared.and_then(|it| it.get("owner")).and_then(Node::text) == Some("engine") {
            let message = format!("`{name}` is the engine's; roles may not write it");
            self.wrong(
                "engine-owned",
                &node.bytes,
                message,
                Some("remove it here, or drop `owner: engine`".into()),
            );
            return None;
        }
        Some(name)
    }

    pub(super) fn rules(&self, node: Option<&Node>) -> Vec<Name> {
        let items = node.map(Node::items).unwrap_or_default();
        for item in &items {
            if let Some(text) = item.text()
                && !library::RULES.contains(&text)
            {
                let message = format!("there is no rule `{text}`");
                self.wrong(
                    "unknown-name",
                    &item.bytes,
                    message,
                    did_you_mean(text, library::RULES.iter().copied()),
                );
            }
        }
        texts(node)
    }

    pub(super) fn returns(&self, node: Option<&Node>) -> Option<String> {
        let node = node?;
        let file = node.text()?;
        match self.folder.text(file) {
            None => {
                let message = format!("the folder has no file `{file}`");
                self.wrong(
                    "no-file",
                    &node.bytes,
                    message,
                    did_you_mean(file, self.folder.files.keys().map(String::as_str)),
                );
            }
            Some(text) => {
                if let Err(error) = serde_json::from_str::<serde_json::Value>(text) {
                    let message = format!("`{file}` is not JSON: {error}");
                    let help = "a JSON Schema is a JSON file; see schemas/ of the built-in workflows";
                    self.wrong("bad-schema", &node.bytes, message, Some(help.into()));
                }
            }
        }
        Some(file.to_owned())
    }

    fn findings(&self, node: &Node, verdicts: &Outcomes, known: bool) -> Findings {
        let severity = texts(node.get("severity"));
        let mut at_least = IndexMap::new();
        for entry in node.get("at-least").map(Node::entries).unwrap_or_default() {
            let severity_known =
                self.is_broken(node.get("severity")) || severity.iter().any(|it| *it == *entry.key);
            if !severity_known {
                let message = format!("`{}` is not a severity of this role", entry.key);
                self.wrong(
                    "outside-domain",
                    &entry.key_bytes,
                    message,
                    did_you_mean(&entry.key, severity.iter().map(|it| &**it)),
                );
            }
            let Some(verdict) = entry.node.text() else { continue };
            if verdicts.contains_key(verdict) {
                at_least.insert(entry.key.as_str().into(), verdict.into());
            } else if known {
                let message = format!("`{verdict}` is not a verdict of this role");
                self.wrong(
                    "outside-domain",
                    &entry.node.bytes,
                    message,
                    did_you_mean(verdict, verdicts.keys().map(|it| &**it)),
                );
            }
        }
        Findings { severity, topic: texts(node.get("topic")), at_least }
    }

    pub(super) fn given(node: &Node) -> Option<Given> {
        let text = node.text()?;
        let (maybe, name) = text.strip_prefix("maybe ").map_or((false, text), |it| (true, it.trim()));
        Some(Given { name: name.to_owned(), maybe, place: Self::place(&node.bytes) })
    }

    pub(super) fn questions(&self) -> IndexMap<Name, Question> {
        self.section("questions")
            .map(|entry| {
                let node = &entry.node;
                let answers = self.outcomes(node.get("answers"), &[]);
                self.no_reserved_signals(node.get("answers"), &answers);
                if let Some(node) = node.get("answers").filter(|_| answers.contains_key("wait")) {
                    let message = "an answer cannot be called `wait`: `unattended: wait` waits for a person";
                    let help = "choose another word".to_owned();
                    self.wrong("reserved", &outcome_place(node, "wait"), message.to_owned(), Some(help));
                }
                let unattended = match node.get("unattended").and_then(|it| it.text().map(|text| (it, text)))
                {
                    None | Some((_, "wait")) => Unattended::Wait,
                    Some((_, text)) if text == "deferred" || answers.contains_key(text) => {
                        Unattended::As(text.into())
                    }
                    Some((_, text)) if self.is_broken(node.get("answers")) => Unattended::As(text.into()),
                    Some((it, text)) => {
                        let message = format!("`{text}` is not an answer of this question");
                        let known = answers.keys().map(|it| &**it).chain(["wait", "deferred"]);
                        self.wrong("outside-domain", &it.bytes, message, did_you_mean(text, known));
                        Unattended::Wait
                    }
                };
                let question = Question {
                    asks: node.get("asks").and_then(Node::text).unwrap_or_default().to_owned(),
                    id: node.get("id").and_then(Node::text).map(Name::from),
                    shows: node
                        .get("shows")
                        .map(Node::items)
                        .unwrap_or_default()
                        .into_iter()
                        .filter_map(Self::given)
                        .collect(),
                    answers,
                    re_ask: node.get("re-ask").and_then(Node::number),
                    unattended,
                    per_finding: node.get("per").is_some(),
                    place: Self::place(&entry.key_bytes),
                };
                (entry.key.as_str().into(), question)
            })
            .collect()
    }

    pub(super) fn phases(&self, workflow: &Workflow) -> IndexMap<Name, Phase> {
        let mut shown: IndexMap<Name, Name> = IndexMap::new();
        let mut others = None;
        let mut phases: IndexMap<Name, Phase> = IndexMap::new();
        for entry in self.section("phases") {
            let node = &entry.node;
            let listed = if matches!(node.value, Value::Map(_)) { node.get("show") } else { Some(node) };
            let mut show: Vec<Name> = Vec::new();
            let mut unknown = self.is_broken(Some(node));
            for item in listed.map(Node::items).unwrap_or_default() {
                let Some(text) = item.text() else { continue };
                if text == "others" {
                    others = Some(entry.key.clone());
                } else if self.state_named(workflow, text, &item.bytes) {
                    if let Some(before) = shown.insert(text.into(), entry.key.as_str().into()) {
                        let message = format!("`{text}` already shows `{before}`");
                        self.wrong(
                            "shown-twice",
                            &item.bytes,
                            message,
                            Some("a state shows one phase".into()),
                        );
                    }
                    show.push(text.into());
                } else {
                    unknown = true;
                }
            }
            let main_state = |key: &str| {
                let it = node.get(key)?;
                let text = it.text()?;
                let known = workflow.main.states.contains_key(text);
                if !known {
                    let message = format!("there is no state `{text}`");
                    self.wrong(
                        "unknown-name",
                        &it.bytes,
                        message,
                        did_you_mean(text, workflow.main.states.keys().map(|it| &**it)),
                    );
                }
                known.then(|| Name::from(text))
            };
            let at = main_state("at");
            let at = at.or_else(|| show.iter().find(|it| workflow.main.states.contains_key(&***it)).cloned());
            let Some(at) = at else {
                if node.get("at").is_none() && !unknown {
                    let message = format!("the phase `{}` does not say where an import lands", entry.key);
                    self.wrong("no-landing", &entry.key_bytes, message, Some("add `at: STATE`".into()));
                }
                continue;
            };
            let mut settles = Vec::new();
            for item in node.get("settles").map(Node::items).unwrap_or_default() {
                let Some(text) = item.text() else { continue };
                if workflow.main.gates.contains_key(text) {
                    settles.push(text.into());
                } else {
                    let message = format!("there is no gate `{text}`");
                    self.wrong(
                        "unknown-name",
                        &item.bytes,
                        message,
                        did_you_mean(text, workflow.main.gates.keys().map(|it| &**it)),
                    );
                }
            }
            phases.insert(
                entry.key.as_str().into(),
                Phase { at, show, settles, back: main_state("back"), place: Self::place(&entry.key_bytes) },
            );
        }
        if let Some(phase) = others.and_then(|it| phases.get_mut(it.as_str())) {
            for machine in workflow.machines() {
                for state in machine.states.keys() {
                    let name = machine.qualified(state);
                    if !shown.contains_key(&*name) {
                        phase.show.push(name);
                    }
                }
            }
        }
        phases
    }

    fn state_named(&self, workflow: &Workflow, text: &str, bytes: &std::ops::Range<usize>) -> bool {
        let known = match text.split_once('.') {
            Some((child, state)) => {
                workflow.children.get(child).is_some_and(|it| it.states.contains_key(state))
            }
            None => workflow.main.states.contains_key(text),
        };
        if !known {
            let names: Vec<Name> = workflow
                .machines()
                .flat_map(|machine| machine.states.keys().map(|it| machine.qualified(it)))
                .collect();
            self.wrong(
                "unknown-name",
                bytes,
                format!("there is no state `{text}`"),
                did_you_mean(text, names.iter().map(|it| &**it)),
            );
        }
        known
    }
}

/// Where a verdict or an answer is named.
pub(super) fn outcome_place(node: &Node, name: &str) -> std::ops::Range<usize> {
    let item = node.items().into_iter().find(|it| it.text() == Some(name)).unwrap_or(node);
    node.entry(name).map_or_else(|| item.bytes.clone(), |it| it.key_bytes.clone())
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
