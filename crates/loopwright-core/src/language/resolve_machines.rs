//! Machines: their variables and budgets, and their states before anybody knows how these can come out.

use std::collections::{BTreeMap, BTreeSet};

use indexmap::IndexMap;

use super::loader::{Loader, names_in};
use super::resolve_nouns::texts;
use super::scope::Scope;
use super::types::Types;
use super::units::{Amount, Unit};
use super::yaml::{Entry, Node, shorten};
use super::{shape, units};
use crate::definition::{Budget, Cell, Gate, Machine, Per, State, Table, Variable, Workflow};
use crate::fact::Type;
use crate::library;
use crate::name::{Name, in_expression};
use crate::problem::did_you_mean;
use crate::signal;

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
            self.one_condition(scope);
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
            self.ahead(workflow, scope);
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
                let input = entry.node.get("input").and_then(Node::boolean).unwrap_or(false);
                let variable = Variable {
                    start: first.unwrap_or_else(|| "none".into()),
                    values,
                    input,
                    about: entry.node.get("about").and_then(Node::text).map(str::to_owned),
                    from: entry.node.get("from").and_then(|it| self.said_by_document(it, input)),
                    place: Self::place(&entry.key_bytes),
                };
                (entry.key.as_str().into(), variable)
            })
            .collect()
    }

    /// The field of a document that says what a variable is at the start.
    fn said_by_document(&self, node: &Node, input: bool) -> Option<String> {
        let path = node.text()?;
        if !input {
            let message = "only a variable that can be chosen can be said by a document".to_owned();
            self.wrong("bad-value", &node.bytes, message, Some("add `input: true`".into()));
        }
        let known = |document: &str, field: &str| {
            let of = self.root.get("documents")?.entries().iter();
            let entry = of.into_iter().find(|it| in_expression(&it.key) == in_expression(document))?;
            self.using("documents", &entry.key);
            let reader = entry.node.get("as").and_then(Node::text)?;
            match library::readers().get(reader).map(|it| &it.gives) {
                Some(Some(Type::Record(fields))) => fields.contains_key(field).then_some(()),
                // What a general reader finds is said by the document's `shape`.
                _ => entry.node.get("shape")?.get(field).map(|_| ()),
            }
        };
        let named = path.strip_prefix("docs.").and_then(|it| it.split_once('.'));
        if named.and_then(|(document, field)| known(document, field)).is_none() {
            let message = format!("`{path}` is no field of a document");
            let help = "name one that its reader gives: `docs.config.tries`".to_owned();
            self.wrong("unknown-name", &node.bytes, message, Some(help));
            return None;
        }
        Some(path.to_owned())
    }

    /// Reports a variable or fact that can have no value at all.
    pub(super) fn has_values(&self, entry: &Entry) {
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
        self.by_a_variable(limit, &scope);
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
                            did_you_mean(text, states.iter().copied().chain(["visit"])),
                        );
                    }
                }
                Per::States(found)
            }
        };
        self.one_unit(entry, &limit);
        self.countable(entry);
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

    /// Reports limits of uses beyond what anybody counts to.
    fn countable(&self, entry: &Entry) {
        const MOST_USES: u64 = 1_000_000_000;
        let limit = entry.node.get("limit").unwrap_or(&entry.node);
        let rows = limit.entries().iter().filter(|it| it.key != "by").map(|it| &it.node);
        for node in rows.chain([limit]) {
            let amount = node.text().and_then(units::amount);
            if amount.is_some_and(|it| it.unit == Unit::Uses && it.value > MOST_USES) {
                let message = format!("`{}` can be used at most {MOST_USES} times", entry.key);
                let help = "write a limit that ends a loop while somebody still waits for it".to_owned();
                self.wrong("bad-value", &node.bytes, message, Some(help));
            }
        }
    }

    /// A gate is owed or not, whoever judges it: its judges say the same `only-when`.
    fn one_condition(&self, scope: Scope<'_>) {
        let asked = |node: &Node| -> BTreeMap<String, BTreeSet<Name>> {
            let entries = node.get("only-when").map(Node::entries).unwrap_or_default();
            entries
                .iter()
                .map(|it| (in_expression(&it.key), texts(Some(&it.node)).into_iter().collect()))
                .collect()
        };
        let mut first: IndexMap<&str, &Entry> = IndexMap::new();
        for entry in scope.node.get("states").map(Node::entries).unwrap_or_default() {
            if entry.node.get("judges").is_none() {
                continue;
            }
            let gate = entry.node.get("gate").and_then(Node::text).unwrap_or(&entry.key);
            let judge = *first.entry(gate).or_insert(entry);
            if asked(&judge.node) != asked(&entry.node) {
                let place = entry.node.entry("only-when").map_or(&entry.key_bytes, |it| &it.key_bytes);
                let message = format!(
                    "`{}` and `{}` both judge `{gate}`, and say different things about when it is owed",
                    judge.key, entry.key
                );
                let help =
                    "a gate is owed or not, whoever judges it: write the same `only-when` at each of them";
                self.wrong("other-condition", place, message, Some(help.into()));
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
            label: node.get("label").and_then(Node::text).map(Name::from),
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
}

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
