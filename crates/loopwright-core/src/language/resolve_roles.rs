//! Who is asked: roles and questions, and how they can answer.

use indexmap::IndexMap;

use super::loader::Loader;
use super::resolve_nouns::texts;
use super::units;
use super::yaml::{Node, shorten};
use crate::definition::{Fields, Findings, Given, Note, Outcomes, Question, Role, Unattended};
use crate::library;
use crate::name::Name;
use crate::problem::did_you_mean;
use crate::schema::Schema;
use crate::signal;

const MINUTE: u64 = 60_000;

impl Loader<'_> {
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
                    agents: texts(node.get("agent")),
                    model: node.get("model").and_then(Node::text).map(str::to_owned),
                    effort: node.get("effort").and_then(Node::text).map(str::to_owned),
                    prompt: node
                        .get("prompt")
                        .and_then(|it| self.full_table(it, &scope, |it| it.text().map(str::to_owned))),
                    given: self.list_table(node.get("given"), &scope, |it| self.given(it)),
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
            Some(text) => match Schema::read(text) {
                Err(faults) => {
                    let faults: Vec<String> = faults.iter().map(ToString::to_string).collect();
                    let message = format!("`{file}` cannot be used: {}", faults.join("; "));
                    let help = "section 6 of the reference lists what there is of JSON Schema";
                    self.wrong("bad-schema", &node.bytes, message, Some(help.into()));
                }
                Ok(schema) => {
                    if let Some(name) = schema.names().find(|it| signal::COMES_ALONG.contains(it)) {
                        let message = format!("`{file}` names `{name}`, which every outcome has of its own");
                        let help = "choose another name".to_owned();
                        self.wrong("bad-schema", &node.bytes, message, Some(help));
                    }
                    if !schema.takes_objects() {
                        let message = format!("`{file}` is about something that is no object");
                        let help = "what comes with a verdict has names: make the top `type: object`";
                        self.wrong("bad-schema", &node.bytes, message, Some(help.into()));
                    }
                }
            },
        }
        Some(file.to_owned())
    }

    fn findings(&self, node: &Node, verdicts: &Outcomes, known: bool) -> Findings {
        let severity: Vec<Name> = texts(node.get("severity"));
        let topic: Vec<Name> = texts(node.get("topic"));
        let mut at_least = IndexMap::new();
        for entry in node.get("at-least").map(Node::entries).unwrap_or_default() {
            let broken = self.is_broken(node.get("severity")) || self.is_broken(node.get("topic"));
            if !broken && !severity.iter().chain(&topic).any(|it| *it == *entry.key) {
                let message = format!("`{}` is neither a severity nor a topic of this role", entry.key);
                self.wrong(
                    "outside-domain",
                    &entry.key_bytes,
                    message,
                    did_you_mean(&entry.key, severity.iter().chain(&topic).map(|it| &**it)),
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
        let exact = node.get("exact").and_then(Node::boolean).unwrap_or(false);
        if let Some(entry) = node.entry("exact").filter(|_| exact && at_least.is_empty()) {
            let message = "no finding asks for a verdict, so none but the best could be given".to_owned();
            let help = "say which does: `at-least: {SEVERITY: VERDICT}`".to_owned();
            self.wrong("bad-value", &entry.key_bytes, message, Some(help));
        }
        let at_most = self.at_most(node, (&severity, &topic));
        Findings { severity, topic, at_least, at_most, exact }
    }

    /// How bad a finding can be that is about something.
    fn at_most(&self, node: &Node, (severity, topic): (&[Name], &[Name])) -> IndexMap<Name, Name> {
        let mut at_most = IndexMap::new();
        for entry in node.get("at-most").map(Node::entries).unwrap_or_default() {
            let said = entry.node.text().unwrap_or_default();
            let words = [
                ("topic", entry.key.as_str(), &entry.key_bytes, topic),
                ("severity", said, &entry.node.bytes, severity),
            ];
            for (what, word, bytes, known) in words {
                if !self.is_broken(node.get(what)) && !known.iter().any(|it| **it == *word) {
                    let message = format!("`{word}` is not a {what} of this role");
                    let help = did_you_mean(word, known.iter().map(|it| &**it));
                    self.wrong("outside-domain", bytes, message, help);
                }
            }
            at_most.insert(entry.key.as_str().into(), said.into());
        }
        at_most
    }

    pub(super) fn given(&self, node: &Node) -> Option<Given> {
        let text = node.text()?;
        let (word, name) = text.split_once(' ').map_or(("", text), |(word, name)| (word, name.trim()));
        if !matches!(word, "" | "maybe") {
            let message = format!("`{}` means nothing before `{}`", shorten(word), shorten(name));
            let help = format!("write `maybe {0}`, or `{0}` alone", shorten(name));
            self.wrong("unknown-input", &node.bytes, message, Some(help));
        }
        Some(Given { name: name.to_owned(), maybe: !word.is_empty(), place: Self::place(&node.bytes) })
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
                        .filter_map(|it| self.given(it))
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
}

/// Where a verdict or an answer is named.
pub(super) fn outcome_place(node: &Node, name: &str) -> std::ops::Range<usize> {
    let item = node.items().into_iter().find(|it| it.text() == Some(name)).unwrap_or(node);
    node.entry(name).map_or_else(|| item.bytes.clone(), |it| it.key_bytes.clone())
}
