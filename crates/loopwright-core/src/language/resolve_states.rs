//! States: what each does. How it can come out is in `resolve_signals`, where that leads in `resolve_routes`.

use indexmap::IndexMap;

use super::loader::Loader;
use super::resolve_nouns::texts;
use super::scope::Scope;
use super::units;
use super::yaml::{Node, shorten};
use crate::definition::{Call, Check, CheckWhat, Each, EachRun, Kind, Machine, Outcome, Unasked};
use crate::library;
use crate::name::Name;
use crate::problem::did_you_mean;

const MINUTE: u64 = 60_000;

impl Loader<'_> {
    pub(super) fn kind(&self, node: &Node, scope: Scope<'_>) -> Kind {
        if let Some(role) = node.get("agent") {
            return Kind::Agent(self.call(role, node, scope));
        }
        if let Some(role) = node.get("review") {
            let advice = self.known_list("roles", "role", node.get("advice"));
            let call = self.call(role, node, scope);
            let unasked = node.get("unasked").map(|it| self.unasked(it, &call));
            return Kind::Review { call, advice, unasked };
        }
        if let Some(check) = node.get("check") {
            return Kind::Check(self.check(check));
        }
        if let Some(question) = node.get("ask") {
            let text = question.text().unwrap_or_default();
            self.known("questions", "question", text, &question.bytes);
            return Kind::Ask { question: text.into() };
        }
        if let Some(actions) = node.get("do") {
            let actions = actions.items().into_iter().filter_map(|it| self.action(it, scope)).collect();
            let without = node.get("without").map(Node::items).unwrap_or_default();
            return Kind::Do {
                actions,
                without: without.into_iter().filter_map(|it| self.gate_name(it, scope)).collect(),
            };
        }
        if node.get("choose").is_some() {
            return Kind::Choose;
        }
        if let Some(gates) = node.get("settle") {
            return Kind::Settle {
                gates: gates.items().into_iter().filter_map(|it| self.gate_name(it, scope)).collect(),
                ahead: node.get("ahead").and_then(Node::number).unwrap_or(1).max(1),
            };
        }
        if let Some(each) = node.get("each") {
            return Kind::Each(self.each(each, scope));
        }
        if let Some(text) = node.get("rest") {
            return Kind::Rest { text: text.text().unwrap_or_default().to_owned() };
        }
        let outcome = match node.get("end").and_then(Node::text) {
            Some("success") => Outcome::Success,
            Some("failure") => Outcome::Failure,
            Some("refused") => Outcome::Refused,
            _ => Outcome::Stopped,
        };
        Kind::End { outcome, says: node.get("says").and_then(Node::text).map(str::to_owned) }
    }

    pub(super) fn call(&self, role: &Node, node: &Node, scope: Scope<'_>) -> Call {
        let read = |it: &Node| {
            let text = it.text()?;
            self.known("roles", "role", text, &it.bytes).then(|| Name::from(text))
        };
        self.by_a_variable(role, &scope);
        let role = self.full_table(role, &scope, read).unwrap_or_default();
        let verdicts = node.get("verdicts").map(|it| {
            let verdicts = self.outcomes(Some(it), &[]);
            self.no_reserved_signals(Some(it), &verdicts);
            verdicts
        });
        Call {
            role,
            prompt: node
                .get("prompt")
                .and_then(|it| self.full_table(it, &scope, |it| it.text().map(str::to_owned))),
            given: self.list_table(node.get("given"), &scope, |it| self.given(it)),
            may_write: node
                .get("may-write")
                .map(|it| self.list_table(Some(it), &scope, |it| self.writable(it))),
            produces: self.list_table(node.get("produces"), &scope, |it| self.document(it)),
            changes: self.known_list("documents", "document", node.get("changes")),
            verdicts,
            returns: self.returns(node.get("returns")),
            rules: self.rules(node.get("rules")),
            timeout: node.get("timeout").and_then(Node::text).and_then(units::time),
        }
    }

    /// What a review finds without a call: a finding as its judge could report it, and one that stands in the way.
    fn unasked(&self, node: &Node, call: &Call) -> Unasked {
        let word = |key: &str| node.get(key).and_then(Node::text);
        for role in call.role.values() {
            let Some(findings) =
                self.root.get("roles").and_then(|it| it.get(role)).map(|it| it.get("findings"))
            else {
                continue;
            };
            let listed = |key: &str| texts(findings.and_then(|it| it.get(key)));
            let severity = word("severity").unwrap_or_default();
            let rated = findings.and_then(|it| it.get("at-least"));
            let asks = |word: &str| rated.is_some_and(|it| it.get(word).is_some());
            let topics = listed("topic");
            let (key, message) = if !listed("severity").iter().any(|it| **it == *severity) {
                ("severity", format!("`{severity}` is not a severity of `{role}`"))
            } else if !asks(severity) && !word("topic").is_some_and(asks) {
                ("severity", format!("a finding like this makes no verdict of `{role}` worse"))
            } else if let Some(topic) = word("topic").filter(|it| !topics.iter().any(|known| **known == **it))
            {
                ("topic", format!("`{topic}` is not a topic of `{role}`"))
            } else if !topics.is_empty() && word("topic").is_none() {
                ("severity", format!("findings of `{role}` have a topic"))
            } else {
                continue;
            };
            let bytes = node.get(key).map_or(0..0, |it| it.bytes.clone());
            let help = "write a finding that the judge could report, and that `at-least` has a verdict for";
            self.wrong("outside-domain", &bytes, message, Some(help.into()));
        }
        Unasked {
            severity: word("severity").unwrap_or_default().into(),
            topic: word("topic").map(Name::from),
            finds: word("finds").unwrap_or_default().to_owned(),
        }
    }

    pub(super) fn check(&self, node: &Node) -> Check {
        let mut uses = self.known_list("documents", "document", node.get("uses"));
        let what = if let Some(text) = node.text() {
            match text.strip_prefix("project.") {
                Some(command) if library::PROJECT_COMMANDS.contains(&command) => {
                    CheckWhat::Project(command.into())
                }
                Some(command) => {
                    let message = format!("a project has no `{command}`");
                    self.wrong(
                        "unknown-name",
                        &node.bytes,
                        message,
                        did_you_mean(command, library::PROJECT_COMMANDS.iter().copied()),
                    );
                    CheckWhat::Project("checks".into())
                }
                None => {
                    let message = format!("`{text}` is neither `project.NAME` nor a check");
                    let help = format!("for a command write `{{run: \"{}\"}}`", shorten(text));
                    self.wrong("bad-value", &node.bytes, message, Some(help));
                    CheckWhat::Run(vec![text.to_owned()])
                }
            }
        } else if let Some(command) = node.get("project") {
            CheckWhat::Project(command.text().unwrap_or_default().into())
        } else if let Some(named) = node.get("named") {
            let text = named.text().unwrap_or_default();
            if !library::CHECKS.contains(&text) {
                let message = format!("there is no check `{text}`");
                self.wrong(
                    "unknown-name",
                    &named.bytes,
                    message,
                    did_you_mean(text, library::CHECKS.iter().copied()),
                );
            }
            CheckWhat::Named(text.into())
        } else {
            let commands: Vec<String> = texts(node.get("run")).into_iter().map(String::from).collect();
            uses.extend(commands.iter().flat_map(|it| self.documents_in(it)));
            CheckWhat::Run(commands)
        };
        // A project's own suite takes longer than a command somebody wrote down.
        let project = matches!(what, CheckWhat::Project(_) | CheckWhat::Named(_));
        Check {
            what,
            each: Self::time(node.get("each"), if project { 20 * MINUTE } else { MINUTE / 2 }),
            timeout: Self::time(node.get("timeout"), if project { 30 * MINUTE } else { 10 * MINUTE }),
            none_passes: node.get("none").and_then(Node::text) == Some("pass"),
            expect_failure: node.get("expect").and_then(Node::text) == Some("fail"),
            uses,
        }
    }

    /// Documents that a text names as `docs.x`.
    pub(super) fn documents_in(&self, text: &str) -> Vec<Name> {
        let names = self.names("documents");
        let mut found = Vec::new();
        for piece in text.split("docs.").skip(1) {
            let end = piece.find(|it: char| !it.is_alphanumeric() && it != '_').unwrap_or(piece.len());
            if let Some(name) = names.iter().find(|it| crate::name::in_expression(it) == piece[..end]) {
                self.using("documents", name);
                found.push(Name::from(*name));
            }
        }
        found
    }

    fn each(&self, node: &Node, scope: Scope<'_>) -> Each {
        let run = match node.get("run") {
            Some(it) if it.text().is_some() => {
                let text = it.text().unwrap_or_default();
                if let Some(child) = scope.child {
                    let message = format!("`{child}` is a child; children do not run children");
                    let help = "give it a call of its own, `run: {agent: ROLE}`, or let the parent run both";
                    self.wrong("nested-children", &it.bytes, message, Some(help.into()));
                    self.using("children", text);
                } else {
                    self.known("children", "child", text, &it.bytes);
                }
                EachRun::Child(text.into())
            }
            Some(it) => EachRun::Call(Box::new(self.call(it.get("agent").unwrap_or(it), it, scope))),
            None => EachRun::Child("".into()),
        };
        let mut with = IndexMap::new();
        if let EachRun::Child(child) = &run
            && let Some(declared) = self.root.get("children").and_then(|it| it.get(child))
        {
            let inner = Scope { node: declared, child: Some(child) };
            for entry in node.get("with").map(Node::entries).unwrap_or_default() {
                let value = entry.node.text().unwrap_or_default();
                let own = declared.get("vars").is_some_and(|it| it.get(&entry.key).is_some());
                if !own && inner.variables(self).contains(&entry.key.as_str()) {
                    let message = format!("`{}` is no variable of the child `{child}`", entry.key);
                    let help = format!(
                        "declare it there; what it reads of its parent it reads as it is: leave `{}` out",
                        entry.key
                    );
                    self.wrong("bad-value", &entry.key_bytes, message, Some(help));
                    continue;
                }
                self.value_of_variable(&inner, &entry.key, &entry.key_bytes, value, &entry.node.bytes);
                with.insert(entry.key.as_str().into(), value.into());
            }
        }
        let list = node.get("in").and_then(Node::text).unwrap_or_default().to_owned();
        self.documents_in(&list);
        if let Some(name) = list.strip_prefix("lists.") {
            self.using("lists", name);
        }
        let at_once = node.get("at-once");
        let most =
            at_once.and_then(|it| it.number().or_else(|| it.get("most")?.number())).unwrap_or(1).max(1);
        let usually = at_once.filter(|it| it.number().is_none());
        let usually = usually.map_or(most, |it| it.get("usually").and_then(Node::number).unwrap_or(1));
        Each {
            item: node.get("item").and_then(Node::text).unwrap_or("item").into(),
            list,
            by_dependency: node.get("order").is_some(),
            run,
            with,
            at_once: most,
            usually: usually.clamp(1, most),
            apart: self.apart(node),
            at_most: node.get("at-most").and_then(Node::number),
            anew: node.get("anew").and_then(Node::boolean).unwrap_or(false),
            if_missing: self.if_missing(node),
        }
    }

    /// Whether items work in worktrees of their own. What one brings back it commits, which a call does not.
    fn apart(&self, node: &Node) -> bool {
        let Some(said) = node.get("apart").filter(|it| it.boolean() == Some(true)) else { return false };
        if node.get("run").is_some_and(|it| it.text().is_none()) {
            let message = "a call commits nothing, so nothing of it would come back".to_owned();
            let help = "let a child do it: `run: NAME`, with a state that commits";
            self.wrong("bad-value", &said.bytes, message, Some(help.into()));
        }
        true
    }

    /// Whether a loop is only about what is not there yet. That can be told only of what a call brings.
    fn if_missing(&self, node: &Node) -> bool {
        let Some(said) = node.get("if-missing").filter(|it| it.boolean() == Some(true)) else { return false };
        if node.get("run").and_then(|it| it.get("produces")).is_none() {
            let message = "nobody can tell what is missing".to_owned();
            let help = "say what a call brings: `run: {agent: ROLE, produces: [DOC]}`, with the item in the path of DOC";
            self.wrong("bad-value", &said.bytes, message, Some(help.into()));
        }
        true
    }

    /// Whether a variable exists and can have that value.
    pub(super) fn value_of_variable(
        &self,
        scope: &Scope<'_>,
        name: &str,
        name_bytes: &std::ops::Range<usize>,
        value: &str,
        value_bytes: &std::ops::Range<usize>,
    ) -> bool {
        let declared = scope.variables(self).contains(&name);
        let Some(values) = scope.values_of(self, name).filter(|_| declared) else {
            self.no_variable(name, name_bytes, scope);
            return false;
        };
        if !values.is_empty() && !values.iter().any(|it| *it == *value) {
            let message = format!("`{name}` is never `{value}`");
            self.wrong(
                "outside-domain",
                value_bytes,
                message,
                did_you_mean(value, values.iter().map(|it| &**it)),
            );
            return false;
        }
        true
    }

    /// What the file says about a state.
    pub(super) fn state_node(&self, machine: &Machine, state: &str) -> Option<&Node> {
        let node = match &machine.name {
            None => self.root,
            Some(child) => self.root.get("children")?.get(child)?,
        };
        node.get("states")?.get(state)
    }
}
