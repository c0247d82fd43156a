//! Machines and their states: what each does and how it can come out. Routes follow in `resolve_arms`.

use indexmap::IndexMap;

use super::WORKFLOW_FILE;
use super::loader::{Loader, Scope, names_in};
use super::resolve_nouns::{in_folder, outcome_place, texts, to_json};
use super::types::{Types, environment};
use super::units::Amount;
use super::yaml::{Entry, Node, shorten};
use super::{shape, units};
use crate::definition::{
    Action, Budget, Call, Cell, Check, CheckWhat, Each, EachRun, Fact, Gate, Kind, Machine, Outcome,
    Outcomes, Per, State, Table, Variable, Workflow,
};
use crate::fact::{Expression, Fault, Type};
use crate::library;
use crate::name::Name;
use crate::paths::FileSet;
use crate::problem::{Problem, did_you_mean};
use crate::signal;

const MINUTE: u64 = 60_000;

/// The signals of every state of a machine.
type Signals = IndexMap<Name, Vec<Name>>;

impl Loader<'_> {
    pub(super) fn machines(&self, workflow: &mut Workflow, types: &Types) {
        let children: Vec<&Entry> =
            self.root.get("children").map(Node::entries).unwrap_or_default().iter().collect();
        workflow.main = self.machine_body(Scope { node: self.root, child: None });
        for entry in &children {
            let scope = Scope { node: &entry.node, child: Some(&entry.key) };
            workflow.children.insert(entry.key.as_str().into(), self.machine_body(scope));
        }
        // Signals first everywhere, because `last.x` may name any state's.
        let mut signals: Vec<(Option<Name>, Signals)> = Vec::new();
        for machine in workflow.machines() {
            let found = machine
                .states
                .iter()
                .map(|(name, state)| (name.clone(), self.signals(workflow, machine, state)));
            let found: Signals = found.collect();
            signals.push((machine.name.clone(), found));
        }
        for (child, states) in signals {
            let machine = match &child {
                None => Some(&mut workflow.main),
                Some(name) => workflow.children.get_mut(&**name),
            };
            let Some(machine) = machine else { continue };
            for (name, signals) in states {
                if let Some(state) = machine.states.get_mut(&*name) {
                    state.cells = signals.into_iter().map(|it| (it, Cell::default())).collect();
                    if let Some(gate) = &mut state.gate
                        && gate.passes.is_empty()
                    {
                        gate.passes.extend(state.cells.keys().next().cloned());
                    }
                }
            }
        }
        let mut routed = vec![self.routes(workflow, Scope { node: self.root, child: None })];
        for entry in &children {
            routed.push(self.routes(workflow, Scope { node: &entry.node, child: Some(&entry.key) }));
        }
        for (index, (cells, start)) in routed.into_iter().enumerate() {
            let machine = if index == 0 {
                Some(&mut workflow.main)
            } else {
                workflow.children.get_index_mut(index - 1).map(|it| it.1)
            };
            let Some(machine) = machine else { continue };
            for (state, cells) in cells {
                if let Some(state) = machine.states.get_mut(&*state) {
                    state.cells = cells;
                }
            }
            machine.start = start;
        }
        let mut scopes = vec![Scope { node: self.root, child: None }];
        scopes.extend(children.iter().map(|it| Scope { node: &it.node, child: Some(&it.key) }));
        for scope in scopes {
            for (state, conditions) in self.gate_conditions(workflow, scope) {
                let machine = match scope.child {
                    None => Some(&mut workflow.main),
                    Some(name) => workflow.children.get_mut(name),
                };
                let gate = machine.and_then(|it| it.states.get_mut(&*state)).and_then(|it| it.gate.as_mut());
                if let Some(gate) = gate {
                    gate.only_when = conditions;
                }
            }
        }
        self.facts(workflow, types);
    }

    fn machine_body(&self, scope: Scope<'_>) -> Machine {
        let mut machine = Machine {
            name: scope.child.map(Name::from),
            vars: self.vars(scope),
            budgets: self.budgets(scope),
            ..Machine::default()
        };
        for entry in scope.node.get("states").map(Node::entries).unwrap_or_default() {
            if entry.key.is_empty() {
                continue;
            }
            if !shape::is_name(&entry.key) {
                let message = shape::not_a_name(&entry.key);
                self.wrong("bad-name", &entry.key_bytes, message, Some(shape::NAMES.into()));
            }
            if let Some(meaning) = taken(&entry.key, scope) {
                let message = format!("a state cannot be called `{}`: {meaning}", entry.key);
                self.wrong("reserved", &entry.key_bytes, message, Some("choose another name".into()));
            }
            if scope.child.is_some() && entry.node.get("end").is_some() && signal::is_reserved(&entry.key) {
                let message =
                    format!("a child cannot end in `{}`: to its parent that means something else", entry.key);
                self.wrong("reserved", &entry.key_bytes, message, Some("choose another name".into()));
            }
            let state = self.state(&entry.node, &entry.key, &entry.key_bytes, scope);
            if let Some(gate) = &state.gate {
                machine.gates.entry(gate.name.clone()).or_default().push(state.name.clone());
            }
            machine.states.insert(state.name.clone(), state);
        }
        if let Some(entry) = scope.node.entry("states").filter(|_| machine.states.is_empty()) {
            let help = "add at least an end: `done: {end: success}`".to_owned();
            self.wrong("no-states", &entry.key_bytes, "there are no states".into(), Some(help));
        }
        machine
    }

    fn vars(&self, scope: Scope<'_>) -> IndexMap<Name, Variable> {
        let entries = scope.node.get("vars").map(Node::entries).unwrap_or_default();
        entries
            .iter()
            .map(|entry| {
                let values = texts(entry.node.get("in"));
                let start = entry.node.get("start");
                let first = start.and_then(Node::text).map(Name::from).or_else(|| values.first().cloned());
                self.has_values(entry);
                if let (Some(node), Some(first)) = (start, &first)
                    && !values.is_empty()
                    && !self.is_broken(entry.node.get("in"))
                    && !values.contains(first)
                {
                    let message = format!("`{first}` is not a value of `{}`", entry.key);
                    self.wrong(
                        "outside-domain",
                        &node.bytes,
                        message,
                        did_you_mean(first, values.iter().map(|it| &**it)),
                    );
                }
                let variable = Variable {
                    start: first.unwrap_or_else(|| "none".into()),
                    values,
                    input: entry.node.get("input").and_then(Node::boolean).unwrap_or(false),
                    place: Self::place(&entry.key_bytes),
                };
                (entry.key.as_str().into(), variable)
            })
            .collect()
    }

    /// Reports a variable or fact that can have no value at all.
    fn has_values(&self, entry: &Entry) {
        if let Some(node) = entry.node.get("in").filter(|it| texts(Some(it)).is_empty()) {
            let message = format!("`{}` has no values", entry.key);
            self.wrong("bad-value", &node.bytes, message, Some("list what it can be: `[yes, no]`".into()));
        }
    }

    fn budgets(&self, scope: Scope<'_>) -> IndexMap<Name, Budget> {
        let own = scope.node.get("budgets").map(Node::entries).unwrap_or_default();
        let mut budgets: IndexMap<Name, Budget> =
            own.iter().filter_map(|it| Some((it.key.as_str().into(), self.budget(it, scope)?))).collect();
        if scope.child.is_some() && scope.node.get("defaults").is_none() {
            // A child that takes the file's defaults takes what they spend at each visit.
            for entry in self.root.get("budgets").map(Node::entries).unwrap_or_default() {
                let visit = entry.node.get("per").and_then(Node::text) == Some("visit");
                if visit && !budgets.contains_key(entry.key.as_str()) {
                    budgets.extend(self.budget(entry, scope).map(|it| (entry.key.as_str().into(), it)));
                }
            }
        }
        budgets
    }

    fn budget(&self, entry: &Entry, scope: Scope<'_>) -> Option<Budget> {
        let node = &entry.node;
        let limit = node.get("limit").unwrap_or(node);
        let limit = self.full_table(limit, &scope, |it| it.text().and_then(units::amount))?;
        let per = match node.get("per") {
            None => Per::Run,
            Some(it) if it.text() == Some("visit") => Per::Visit,
            Some(it) => {
                let states = names_in(scope.node, "states");
                let mut found = Vec::new();
                for item in it.items() {
                    let Some(text) = item.text() else { continue };
                    if states.contains(&text) {
                        found.push(text.into());
                    } else {
                        let message = format!("there is no state `{text}`");
                        self.wrong(
                            "unknown-name",
                            &item.bytes,
                            message,
                            did_you_mean(text, states.iter().copied()),
                        );
                    }
                }
                Per::States(found)
            }
        };
        self.one_unit(entry, &limit);
        Some(Budget {
            limit,
            per,
            shared: node.get("shared").and_then(Node::boolean).unwrap_or(false),
            keep: node.get("keep").and_then(Node::text).and_then(units::amount),
            place: Self::place(&entry.key_bytes),
        })
    }

    /// A limit, its other rows and what is kept of it all count the same.
    fn one_unit(&self, entry: &Entry, limit: &Table<Amount>) {
        let Some(unit) = limit.values().next().map(|it| it.unit) else { return };
        let rows = entry.node.get("limit").map(Node::entries).unwrap_or_default();
        let rows = rows.iter().filter(|it| it.key != "by").map(|it| &it.node);
        for node in rows.chain(entry.node.get("keep")) {
            let amount = node.text().and_then(units::amount);
            if amount.is_some_and(|it| it.unit != unit) {
                let message =
                    format!("`{}` counts something else than the limit", node.text().unwrap_or_default());
                let help = "give all of them the same unit".to_owned();
                self.wrong("bad-value", &node.bytes, message, Some(help));
            }
        }
    }

    fn state(&self, node: &Node, name: &str, bytes: &std::ops::Range<usize>, scope: Scope<'_>) -> State {
        let kind = self.kind(node, scope);
        let gate = node.get("judges").map(|judges| Gate {
            name: node.get("gate").and_then(Node::text).unwrap_or(name).into(),
            judges: self.list_table(Some(judges), &scope, |it| self.document(it)),
            passes: texts(node.get("passes")),
            only_when: Vec::new(),
        });
        if gate.is_none() {
            for key in ["gate", "passes", "only-when"] {
                if let Some(entry) = node.entry(key) {
                    let message = format!("`{key}` goes with `judges`");
                    self.wrong(
                        "no-judges",
                        &entry.key_bytes,
                        message,
                        Some("say what the state judges".into()),
                    );
                }
            }
        }
        State {
            name: name.into(),
            about: node.get("about").and_then(Node::text).map(str::to_owned),
            kind,
            needs: self.list_table(node.get("needs"), &scope, |it| self.gate_name(it, scope)),
            gate,
            cells: IndexMap::new(),
            place: Self::place(bytes),
        }
    }

    /// A gate of this machine, or of the parent.
    pub(super) fn gate_name(&self, node: &Node, scope: Scope<'_>) -> Option<Name> {
        let text = node.text()?;
        let gates = gates_in(scope.node);
        if gates.contains(&text) {
            return Some(text.into());
        }
        let message = format!("there is no gate `{}`", shorten(text));
        let judge = scope.node.get("states").and_then(|it| it.get(text));
        let help = if judge.is_some() {
            if !self.misses_gate(scope, text) || self.is_broken(judge) {
                return None;
            }
            Some(format!("say what `{text}` judges: `judges: DOCUMENT`"))
        } else if scope.child.is_some() && gates_in(self.root).contains(&text) {
            Some("it is the parent's; a child has gates of its own".to_owned())
        } else {
            did_you_mean(text, gates).or_else(|| Some("a state with `judges: DOCUMENT` is a gate".to_owned()))
        };
        self.wrong("unknown-name", &node.bytes, message, help);
        None
    }

    fn kind(&self, node: &Node, scope: Scope<'_>) -> Kind {
        if let Some(role) = node.get("agent") {
            return Kind::Agent(self.call(role, node, scope));
        }
        if let Some(role) = node.get("review") {
            let advice = self.known_list("roles", "role", node.get("advice"));
            return Kind::Review { call: self.call(role, node, scope), advice };
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

    fn call(&self, role: &Node, node: &Node, scope: Scope<'_>) -> Call {
        let read = |it: &Node| {
            let text = it.text()?;
            self.known("roles", "role", text, &it.bytes).then(|| Name::from(text))
        };
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
            given: self.list_table(node.get("given"), &scope, Self::given),
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

    fn check(&self, node: &Node) -> Check {
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
        let project = matches!(what, CheckWhat::Project(_));
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
    fn documents_in(&self, text: &str) -> Vec<Name> {
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
                self.value_of_variable(&inner, &entry.key, &entry.key_bytes, value, &entry.node.bytes);
                with.insert(entry.key.as_str().into(), value.into());
            }
        }
        let list = node.get("in").and_then(Node::text).unwrap_or_default().to_owned();
        self.documents_in(&list);
        if let Some(name) = list.strip_prefix("lists.") {
            self.using("lists", name);
        }
        Each {
            item: node.get("item").and_then(Node::text).unwrap_or("item").into(),
            list,
            by_dependency: node.get("order").is_some(),
            run,
            with,
            at_once: node.get("at-once").and_then(Node::number).unwrap_or(1).max(1),
            at_most: node.get("at-most").and_then(Node::number),
            anew: node.get("anew").and_then(Node::boolean).unwrap_or(false),
        }
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

    fn action(&self, node: &Node, scope: Scope<'_>) -> Option<Action> {
        let verb = ACTIONS.iter().find_map(|it| node.entry(it))?;
        let value = &verb.node;
        let place = Self::place(&verb.key_bytes);
        let mut writes = Some(Vec::new());
        let mut commits = None;
        match verb.key.as_str() {
            "set" => {
                for entry in value.entries() {
                    self.field_target(&entry.key, &entry.key_bytes);
                }
            }
            "append" => {
                if let Some(to) = node.get("to") {
                    self.field_target(to.text().unwrap_or_default(), &to.bytes);
                }
            }
            "write" | "create" => {
                writes = Some(self.document(value).into_iter().collect());
                self.template_file(node.get("template"));
            }
            "copy" => writes = Some(self.files_or_document(node.get("to"))),
            "delete" => {
                let table = self.list_table(Some(value), &scope, |it| Some(self.files_or_document(Some(it))));
                writes = Some(table.values().flatten().flatten().cloned().collect());
            }
            "move" => {
                self.files_or_document(Some(value));
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
            "switch" | "merge" => writes = None,
            "restore" => writes = Some(self.known_list("documents", "document", Some(value))),
            "run" => {
                writes = node.get("writes").map(|it| self.known_list("documents", "document", Some(it)));
            }
            _ => {}
        }
        Some(Action { verb: verb.key.as_str().into(), parameters: to_json(node), writes, commits, place })
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
        let folder = self.root.get("folder").and_then(Node::text);
        let path = in_folder(folder, text);
        let Ok(here) = FileSet::parse(&[&path, &format!("{path}/**")]) else { return Vec::new() };
        names
            .into_iter()
            .filter(|name| {
                let declared = self.root.get("documents").and_then(|it| it.get(name));
                let globs = declared
                    .and_then(|it| it.get("file").or_else(|| it.get("files")))
                    .map(Node::items)
                    .unwrap_or_default();
                let globs: Vec<String> =
                    globs.into_iter().filter_map(Node::text).map(|it| in_folder(folder, it)).collect();
                FileSet::parse(&globs.iter().map(String::as_str).collect::<Vec<_>>())
                    .is_ok_and(|it| it.may_overlap(&here))
            })
            .map(Name::from)
            .collect()
    }

    /// `doc.field`, a field that the document's reader can set.
    fn field_target(&self, text: &str, bytes: &std::ops::Range<usize>) {
        let (document, field) = text.split_once('.').unwrap_or((text, ""));
        if document == "item" {
            return;
        }
        if !self.known("documents", "document", document, bytes) {
            return;
        }
        let declared = self.root.get("documents").and_then(|it| it.get(document));
        let reader = declared.and_then(|it| it.get("as")).and_then(Node::text);
        let Some(reader) = reader.and_then(|it| library::readers().get(it)) else {
            let message = format!("`{document}` has no reader, so its fields cannot be set");
            self.wrong("no-reader", bytes, message, Some("say what it is: `as: yaml`".into()));
            return;
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
    }

    /// Whether what a state does is wrong in a way that leaves open how it can come out.
    fn leaves_open(&self, workflow: &Workflow, node: &Node) -> bool {
        let mut kinds = KINDS.iter().filter_map(|it| node.entry(it));
        let (Some(kind), None) = (kinds.next(), kinds.next()) else { return true };
        match kind.key.as_str() {
            "agent" | "review" | "ask" | "each" if self.is_broken(Some(&kind.node)) => true,
            "agent" | "review" if node.get("verdicts").is_some() => self.is_broken(node.get("verdicts")),
            "agent" | "review" => {
                let rows: Vec<&Node> = match kind.node.entries() {
                    [] => vec![&kind.node],
                    rows => rows.iter().filter(|it| it.key != "by").map(|it| &it.node).collect(),
                };
                rows.iter().filter_map(|it| it.text()).any(|role| {
                    let declared = self.root.get("roles").and_then(|it| it.get(role));
                    let keys = ["verdicts", "asks", "findings"];
                    let open = keys.iter().any(|key| self.is_broken(declared.and_then(|it| it.get(key))));
                    open || workflow.roles.get(role).is_none_or(|it| it.verdicts.is_empty())
                })
            }
            "ask" => {
                let question = kind.node.text().unwrap_or_default();
                let declared = self.root.get("questions").and_then(|it| it.get(question));
                let known = workflow.questions.get(question).is_some_and(|it| !it.answers.is_empty());
                !known || self.is_broken(declared)
            }
            "each" => match kind.node.get("run").and_then(Node::text) {
                None => false,
                Some(child) => {
                    let states = self.root.get("children").and_then(|it| it.get(child)?.get("states"));
                    let kinds = |it: &Entry| KINDS.iter().filter(|key| it.node.get(key).is_some()).count();
                    states.is_none_or(|it| it.entries().iter().any(|it| kinds(it) != 1))
                }
            },
            _ => false,
        }
    }

    fn signals(&self, workflow: &Workflow, machine: &Machine, state: &State) -> Vec<Name> {
        if self.state_node(machine, &state.name).is_none_or(|it| self.leaves_open(workflow, it)) {
            self.set_vague(machine, &state.name);
        }
        let mut signals: Vec<Name> = match &state.kind {
            Kind::Agent(call) | Kind::Review { call, .. } => {
                let mut signals: Vec<Name> = signal::outcomes_of(workflow, state).into_keys().collect();
                let asks = call.role.values().any(|it| workflow.roles.get(&**it).is_some_and(|it| it.asks));
                signals.extend(asks.then(|| signal::ASK.into()));
                signals
            }
            Kind::Check(_) => vec!["pass".into(), "fail".into()],
            Kind::Ask { question } => {
                let mut signals: Vec<Name> = signal::outcomes_of(workflow, state).into_keys().collect();
                signals.push(signal::DEFERRED.into());
                let re_asks = workflow.questions.get(&**question).is_some_and(|it| it.re_ask.is_some());
                signals.extend(re_asks.then(|| signal::UNANSWERED.into()));
                signals.extend(self.listed_verbs(machine, state));
                signals
            }
            Kind::Do { .. } => vec!["done".into()],
            Kind::Choose | Kind::Settle { .. } => vec![signal::ALWAYS.into()],
            Kind::Each(each) => {
                let mut signals: Vec<Name> = match &each.run {
                    EachRun::Call(_) => vec!["done".into()],
                    EachRun::Child(child) => workflow
                        .children
                        .get(&**child)
                        .map(|it| it.ends().map(|(name, _)| name.clone()).collect())
                        .unwrap_or_default(),
                };
                signals.push(signal::EMPTY.into());
                signals.extend(each.by_dependency.then(|| signal::UNORDERED.into()));
                signals
            }
            Kind::Rest { .. } => self.listed_verbs(machine, state),
            Kind::End { .. } => Vec::new(),
        };
        signals.extend(signal::failures_of(workflow, &state.kind));
        let needs = !state.needs.values().all(Vec::is_empty);
        signals.extend(needs.then(|| signal::STALE.into()));
        signals
    }

    /// What the file says about a state.
    pub(super) fn state_node(&self, machine: &Machine, state: &str) -> Option<&Node> {
        let node = match &machine.name {
            None => self.root,
            Some(child) => self.root.get("children")?.get(child)?,
        };
        node.get("states")?.get(state)
    }

    fn listed_verbs(&self, machine: &Machine, state: &State) -> Vec<Name> {
        let on = self.state_node(machine, &state.name).and_then(|it| it.get("on"));
        let mut verbs = Vec::new();
        for entry in on.map(Node::entries).unwrap_or_default() {
            for word in entry.key.split('|').map(str::trim).filter(|it| it.starts_with("verb ")) {
                verbs.push(Name::from(word));
            }
        }
        verbs
    }

    /// Verdicts and answers may not be words that mean something else.
    pub(super) fn no_reserved_signals(&self, node: Option<&Node>, outcomes: &Outcomes) {
        let Some(node) = node else { return };
        for name in outcomes.keys().filter(|it| signal::is_reserved(it)) {
            let bytes = outcome_place(node, name);
            let message = format!("`{name}` already means something and cannot be a verdict or an answer");
            self.wrong("reserved", &bytes, message, Some("choose another word".into()));
        }
        if outcomes.is_empty() {
            let help = "name at least one, best first".to_owned();
            self.wrong("bad-value", &node.bytes, "the list is empty".into(), Some(help));
        }
    }

    fn facts(&self, workflow: &mut Workflow, types: &Types) {
        let mut all =
            vec![self.facts_of(workflow, &workflow.main, Scope { node: self.root, child: None }, types)];
        for entry in self.root.get("children").map(Node::entries).unwrap_or_default() {
            if let Some(machine) = workflow.children.get(entry.key.as_str()) {
                all.push(self.facts_of(
                    workflow,
                    machine,
                    Scope { node: &entry.node, child: Some(&entry.key) },
                    types,
                ));
            }
        }
        for (index, facts) in all.into_iter().enumerate() {
            if index == 0 {
                workflow.main.facts = facts;
            } else if let Some((_, machine)) = workflow.children.get_index_mut(index - 1) {
                machine.facts = facts;
            }
        }
    }

    fn facts_of(
        &self,
        workflow: &Workflow,
        machine: &Machine,
        scope: Scope<'_>,
        types: &Types,
    ) -> IndexMap<Name, Fact> {
        let names = environment(self, workflow, machine, &scope, types);
        let mut facts = IndexMap::new();
        for entry in scope.node.get("facts").map(Node::entries).unwrap_or_default() {
            let values = texts(entry.node.get("in"));
            self.has_values(entry);
            let source = entry.node.get("is");
            let expression = source.and_then(|it| self.expression(it));
            let mut reads = Vec::new();
            if let (Some(node), Some(expression)) = (source, &expression) {
                let checked = expression.check(&names);
                for fault in &checked.faults {
                    self.bad_fact(node, fault);
                }
                let known =
                    checked.faults.is_empty() && !values.is_empty() && !self.is_broken(entry.node.get("in"));
                if let Some(leaves) = checked.leaves.as_ref().filter(|_| known) {
                    for leaf in leaves.iter().filter(|leaf| !values.iter().any(|it| **it == ***leaf)) {
                        let message = format!(
                            "the fact `{}` can come out as `{leaf}`, which is not in its domain",
                            entry.key
                        );
                        self.wrong(
                            "outside-domain",
                            &node.bytes,
                            message,
                            Some(format!("add `{leaf}` to `in`")),
                        );
                    }
                    for value in values.iter().filter(|it| !leaves.contains(&***it)) {
                        let message = format!("the fact `{}` never comes out as `{value}`", entry.key);
                        let problem = Problem::proof("never-holds", Self::place(&entry.key_bytes), message);
                        self.report(problem.help(format!("remove `{value}` from `in`, or let `is` give it")));
                    }
                }
                // What is wrong elsewhere can leave open what is read here.
                let open = checked.result == Type::Any && self.has_problems();
                if known && checked.leaves.is_none() && !open {
                    let message =
                        format!("the fact `{}` gives {}, not one of its values", entry.key, checked.result);
                    self.wrong("bad-fact", &node.bytes, message, Some(FACT_HELP.into()));
                }
                for read in &checked.reads {
                    for name in read
                        .strip_prefix("docs.")
                        .into_iter()
                        .flat_map(|it| self.documents_in(&format!("docs.{it}")))
                    {
                        self.using("documents", &name);
                    }
                    self.using_path(read);
                }
                reads = checked.reads.into_iter().collect();
            }
            let once = entry.node.get("once").and_then(Node::boolean).unwrap_or(false);
            let fact = Fact { values, expression, reads, once, place: Self::place(&entry.key_bytes) };
            facts.insert(entry.key.as_str().into(), fact);
        }
        facts
    }

    /// Remembers what a dotted name uses.
    pub(super) fn using_path(&self, path: &str) {
        let mut parts = path.split('.');
        let head = parts.next().unwrap_or_default();
        let second = parts.next().unwrap_or_default();
        for section in ["vars", "facts"] {
            for node in std::iter::once(self.root).chain(
                self.root.get("children").map(Node::entries).unwrap_or_default().iter().map(|it| &it.node),
            ) {
                for name in names_in(node, section) {
                    let written = crate::name::in_expression(name);
                    if written == head || (head == "facts" && written == second) {
                        self.using(section, name);
                    }
                }
            }
        }
        for (word, section) in
            [("inputs", "inputs"), ("lists", "lists"), ("docs", "documents"), ("changed", "documents")]
        {
            if head == word {
                for name in self.names(section) {
                    if crate::name::in_expression(name) == crate::name::in_expression(second) {
                        self.using(section, name);
                    }
                }
            }
        }
    }

    fn expression(&self, node: &Node) -> Option<Expression> {
        match Expression::parse(node.text()?) {
            Ok(expression) => Some(expression),
            Err(fault) => {
                self.bad_fact(node, &fault);
                None
            }
        }
    }

    /// Reports a fault of an expression, at its place in it if the expression is written as it is read.
    fn bad_fact(&self, node: &Node, fault: &Fault) {
        let text = node.text().unwrap_or_default();
        let written = self.folder.text(WORKFLOW_FILE).and_then(|it| it.get(node.bytes.clone()));
        let bytes = match written.and_then(|it| it.find(text)) {
            Some(at) if fault.range.end <= text.len() => {
                let start = node.bytes.start + at;
                start + fault.range.start..start + fault.range.end
            }
            _ => node.bytes.clone(),
        };
        let problem = Problem::load("bad-fact", Self::place(&bytes), fault.message.clone());
        self.report(problem.help(fault.help.as_deref().unwrap_or(FACT_HELP)));
    }
}

/// What to do about a fact that cannot be read, where there is nothing better to say.
const FACT_HELP: &str = "write a CEL expression that gives one of the values: \"git.dirty ? 'yes' : 'no'\"";

/// What a state can do, by the key that says so.
const KINDS: &[&str] = &["agent", "review", "check", "ask", "do", "choose", "settle", "each", "rest", "end"];

/// What a word means that no state can be called, if it is one.
fn taken(name: &str, scope: Scope<'_>) -> Option<&'static str> {
    match name {
        "again" | "back" => Some("arms lead there without a state"),
        "visit" => Some("a budget is `per: visit`"),
        // In scenarios and phases a child's states have its name before theirs.
        "edit" | "facts" | "verb" if scope.child.is_none() => Some("in scenarios it is a step of its own"),
        "others" if scope.child.is_none() => Some("in phases it means every other state"),
        _ => None,
    }
}

/// The words of actions; one that takes another word as a key comes first.
const ACTIONS: &[&str] = &[
    "create", "set", "append", "write", "copy", "move", "delete", "commit", "branch", "switch", "merge",
    "push", "drop", "restore", "run", "say", "refuse",
];

/// Gates declared in a machine's part of the file.
pub(super) fn gates_in(node: &Node) -> Vec<&str> {
    let states = node.get("states").map(Node::entries).unwrap_or_default();
    let mut gates: Vec<&str> = states
        .iter()
        .filter(|it| it.node.get("judges").is_some())
        .map(|it| it.node.get("gate").and_then(Node::text).unwrap_or(&it.key))
        .collect();
    gates.dedup();
    gates
}

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
