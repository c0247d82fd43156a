//! Routes: which arms every cell of every state has, and where they came from.

use indexmap::IndexMap;
use rustc_hash::FxHashSet;

use super::loader::{Loader, names_in};
use super::resolve_arms::Cellar;
use super::scope::Scope;
use super::yaml::{Entry, Node, Value, shorten};
use crate::definition::{
    Arm, Cell, Condition, EachRun, Kind, Machine, Origin, Start, State, Target, Term, Workflow,
};
use crate::name::Name;
use crate::problem::{Problem, did_you_mean, nearest};
use crate::signal;

/// Every state's cells, and how the machine begins.
type Routed = (Vec<(Name, IndexMap<Name, Cell>)>, Vec<Start>);

impl Loader<'_> {
    pub(super) fn routes(&self, workflow: &Workflow, scope: Scope<'_>) -> Routed {
        let Some(machine) = workflow.machine(scope.child) else { return (Vec::new(), Vec::new()) };
        let defaults = scope.node.get("defaults").or_else(|| self.root.get("defaults"));
        let mut routed = Vec::new();
        let mut used_defaults = FxHashSet::default();
        for (name, state) in &machine.states {
            let Some(node) = scope.node.get("states").and_then(|it| it.get(name)) else { continue };
            let cells = self.cells(workflow, machine, state, node, defaults, &mut used_defaults, scope);
            routed.push((name.clone(), cells));
        }
        if scope.node.get("defaults").is_some() {
            for entry in defaults.map(Node::entries).unwrap_or_default() {
                for word in words(&entry.key) {
                    if !used_defaults.contains(word) {
                        let groups = [signal::GROUP_TRANSIENT, signal::GROUP_FAILURES];
                        let signals = machine.states.values().flat_map(|it| it.cells.keys());
                        let near = nearest(word, signals.map(|it| &**it).chain(groups));
                        let near = near.filter(|it| *it != word).map(|it| format!("did you mean `{it}`?"));
                        let message = format!("no state takes the default for `{}`", shorten(word));
                        let problem = Problem::proof("unused", Self::place(&entry.key_bytes), message);
                        self.report(problem.help(near.unwrap_or_else(|| "remove it".to_owned())));
                    }
                }
            }
        }
        let start = self.start(workflow, machine, scope);
        (routed, start)
    }

    #[expect(clippy::too_many_arguments, reason = "one call site; a struct would only rename them")]
    fn cells(
        &self,
        workflow: &Workflow,
        machine: &Machine,
        state: &State,
        node: &Node,
        defaults: Option<&Node>,
        used_defaults: &mut FxHashSet<String>,
        scope: Scope<'_>,
    ) -> IndexMap<Name, Cell> {
        let mut cells: IndexMap<Name, Cell> = IndexMap::new();
        let failures = signal::failures_of(workflow, &state.kind);
        self.own_signals_exist(workflow, machine, state, node, &failures);
        if let Kind::Settle { gates, .. } = &state.kind {
            let arms = self.settle(workflow, machine, gates, node, scope);
            cells.insert(signal::ALWAYS.into(), Cell { arms, origin: Origin::Own });
            return cells;
        }
        if let Some(choose) = node.get("choose") {
            let cellar =
                Cellar { workflow, machine, state: Some(state), signals: vec![signal::ALWAYS.into()] };
            let arms = self.arms(choose, &cellar, scope);
            cells.insert(signal::ALWAYS.into(), Cell { arms, origin: Origin::Own });
            return cells;
        }
        let best = state.cells.keys().next().cloned();
        for name in state.cells.keys() {
            let own = Self::find_route(node.get("on"), name, &failures);
            let then = node.get("then").filter(|_| best.as_ref() == Some(name));
            if let (Some(own), Some(_)) = (own, node.entry("then").filter(|_| then.is_some())) {
                let message = format!("`{name}` is routed twice, by `then` and by `on`");
                self.wrong("routed-twice", &own.key_bytes, message, Some("keep one of them".into()));
            }
            let signals = vec![name.clone()];
            let cellar = Cellar { workflow, machine, state: Some(state), signals };
            let cell = if let Some(entry) = own {
                Cell { arms: self.arms(&entry.node, &cellar, scope), origin: Origin::Own }
            } else if let Some(then) = then {
                Cell { arms: self.arms(then, &cellar, scope), origin: Origin::Own }
            } else if let Some(entry) = Self::find_route(defaults, name, &failures) {
                used_defaults
                    .extend(words(&entry.key).filter(|it| covers(it, name, &failures)).map(str::to_owned));
                let arms = self.arms(&entry.node, &cellar, scope);
                self.default_leads_elsewhere(state, name, &arms);
                Cell { arms, origin: Origin::Default }
            } else {
                Cell { arms: Vec::new(), origin: Origin::Implied }
            };
            cells.insert(name.clone(), cell);
        }
        Self::imply(machine, state, &mut cells);
        cells
    }

    /// Routes the language itself knows: a stale gate is judged again, an empty loop went well.
    fn imply(machine: &Machine, state: &State, cells: &mut IndexMap<Name, Cell>) {
        let best = cells.values().next().map(|it| it.arms.clone()).unwrap_or_default();
        if let Some(cell) = cells.get_mut(signal::EMPTY).filter(|it| it.arms.is_empty()) {
            cell.arms = best;
        }
        let Some(cell) = cells.get_mut(signal::STALE).filter(|it| it.arms.is_empty()) else { return };
        let mut gates: Vec<&Name> = state.needs.values().flatten().collect();
        gates.dedup();
        for (index, gate) in gates.iter().enumerate() {
            let [judge] = machine.gates.get(&***gate).map(Vec::as_slice).unwrap_or_default() else { return };
            let last = index + 1 == gates.len();
            let owed = Condition {
                term: Term::Owed((*gate).clone()),
                values: vec!["yes".into()],
                place: state.place.clone(),
            };
            let when = if last { Vec::new() } else { vec![owed] };
            cell.arms.push(Arm { when, ..plain(judge.clone(), state) });
        }
    }

    /// A default that leads a state to itself would loop, and hides that from whoever reads the state.
    fn default_leads_elsewhere(&self, state: &State, signal: &Name, arms: &[Arm]) {
        if arms.iter().any(|it| it.to == Target::State(state.name.clone())) {
            let message = format!("the default for `{signal}` leads `{}` to itself", state.name);
            let help = format!("give `{}` its own route for `{signal}`", state.name);
            let problem = Problem::load("default-to-itself", state.place.clone(), message).help(help);
            self.report(problem);
        }
    }

    fn find_route<'n>(on: Option<&'n Node>, signal: &str, failures: &[Name]) -> Option<&'n Entry> {
        let entries = on.map(Node::entries).unwrap_or_default();
        let find = |wanted: &str| entries.iter().find(|it| words(&it.key).any(|word| word == wanted));
        let is_failure = failures.iter().any(|it| **it == *signal);
        find(signal)
            .or_else(|| {
                find(signal::GROUP_TRANSIENT).filter(|_| is_failure && signal::TRANSIENT.contains(&signal))
            })
            .or_else(|| find(signal::GROUP_FAILURES).filter(|_| is_failure))
    }

    /// Whether a signal is missing only because of something that was reported as wrong.
    fn may_signal(&self, workflow: &Workflow, node: &Node, word: &str) -> bool {
        let declared: usize = std::iter::once(self.root)
            .chain(self.root.get("children").map(Node::entries).unwrap_or_default().iter().map(|it| &it.node))
            .map(|it| names_in(it, "budgets").len())
            .sum();
        let read: usize = workflow.machines().map(|it| it.budgets.len()).sum();
        word == signal::STALE && node.get("needs").is_some() || word == signal::OVER_BUDGET && read < declared
    }

    fn own_signals_exist(
        &self,
        workflow: &Workflow,
        machine: &Machine,
        state: &State,
        node: &Node,
        failures: &[Name],
    ) {
        let mut seen: FxHashSet<&str> = FxHashSet::default();
        for entry in node.get("on").map(Node::entries).unwrap_or_default() {
            for word in words(&entry.key) {
                if !seen.insert(word) {
                    let message = format!("`{word}` is routed twice");
                    self.wrong("routed-twice", &entry.key_bytes, message, Some("keep one of them".into()));
                }
                if let Some(verb) = word.strip_prefix("verb ") {
                    if verb != "resume" {
                        self.known("verbs", "verb", verb, &entry.key_bytes);
                    }
                    if !matches!(state.kind, Kind::Rest { .. } | Kind::Ask { .. }) {
                        let message = format!("only `rest` and `ask` take verbs; `{}` works", state.name);
                        let help = "lead to a `rest` state and list the verb there".to_owned();
                        self.wrong("unknown-signal", &entry.key_bytes, message, Some(help));
                    }
                    continue;
                }
                if self.is_vague(machine, &state.name) || self.may_signal(workflow, node, word) {
                    continue;
                }
                let group = word == signal::GROUP_FAILURES && !failures.is_empty()
                    || word == signal::GROUP_TRANSIENT
                        && failures.iter().any(|it| signal::TRANSIENT.contains(&&**it));
                if group || state.cells.contains_key(word) {
                    continue;
                }
                let message = format!("`{}` never signals `{}`", state.name, shorten(word));
                let help = did_you_mean(word, state.cells.keys().map(|it| &**it));
                // In a key several signals stand side by side, not in a list.
                let help = help.map(|it| match it.strip_prefix("write a list: ") {
                    Some(list) => {
                        format!("write {}", list.replace(['[', ']'], "").replace(", ", " | "))
                    }
                    None => it,
                });
                let nothing = match &state.kind {
                    Kind::End { .. } => "nothing follows an end: remove it",
                    _ => "a resting state takes `verb NAME`",
                };
                self.wrong(
                    "unknown-signal",
                    &entry.key_bytes,
                    message,
                    help.or_else(|| Some(nothing.into())),
                );
            }
        }
        if self.is_vague(machine, &state.name) {
            return;
        }
        if let Some(entry) = node.entry("then")
            && state.cells.is_empty()
            && !matches!(state.kind, Kind::Settle { .. })
        {
            let help = "list signals in `on`".to_owned();
            self.wrong("unknown-signal", &entry.key_bytes, "`then` has nothing to follow".into(), Some(help));
        }
        if let Some(gate) = &state.gate {
            for pass in gate.passes.iter().filter(|it| !state.cells.contains_key(&***it)) {
                let bytes = node.get("passes").map_or(0..0, |it| it.bytes.clone());
                let message = format!("`{}` never signals `{pass}`", state.name);
                self.wrong(
                    "unknown-signal",
                    &bytes,
                    message,
                    did_you_mean(pass, state.cells.keys().map(|it| &**it)),
                );
            }
        }
    }

    fn settle(
        &self,
        workflow: &Workflow,
        machine: &Machine,
        gates: &[Name],
        node: &Node,
        scope: Scope<'_>,
    ) -> Vec<Arm> {
        let place = Self::place(&node.entry("settle").map_or(0..0, |it| it.key_bytes.clone()));
        let items = node.get("settle").map(Node::items).unwrap_or_default();
        let mut arms = Vec::new();
        for gate in gates {
            let judges = machine.gates.get(&**gate).map(Vec::as_slice).unwrap_or_default();
            let [judge] = judges else {
                let message = format!("several states judge `{gate}`, so `settle` does not know where to go");
                self.wrong(
                    "several-judges",
                    &place.bytes,
                    message,
                    Some("write a `choose` over `gate.NAME` instead".into()),
                );
                continue;
            };
            let at = items
                .iter()
                .find(|it| it.text() == Some(gate))
                .map_or(place.clone(), |it| Self::place(&it.bytes));
            let owed =
                Condition { term: Term::Owed(gate.clone()), values: vec!["yes".into()], place: at.clone() };
            arms.push(Arm {
                to: Target::State(judge.clone()),
                when: vec![owed],
                spend: None,
                refill: Vec::new(),
                set: IndexMap::new(),
                record: Vec::new(),
                forced: Vec::new(),
                anew: Vec::new(),
                place: at,
            });
        }
        if let Some(then) = node.get("then") {
            let cellar = Cellar { workflow, machine, state: None, signals: Vec::new() };
            arms.extend(self.arms(then, &cellar, scope));
        }
        arms
    }

    pub(super) fn start(&self, workflow: &Workflow, machine: &Machine, scope: Scope<'_>) -> Vec<Start> {
        let cellar = Cellar { workflow, machine, state: None, signals: Vec::new() };
        let Some(node) = scope.node.get("start") else {
            let first = machine.states.values().next();
            return first
                .map(|it| Start { verb: None, arm: plain(it.name.clone(), it) })
                .into_iter()
                .collect();
        };
        if !matches!(node.value, Value::Map(_)) {
            let arms = self.arms(node, &cellar, scope);
            return arms.into_iter().take(1).map(|arm| Start { verb: None, arm }).collect();
        }
        let mut starts = Vec::new();
        for entry in node.entries() {
            let Some(verb) = entry.key.strip_prefix("verb ") else {
                let message = format!("`{}` is not a verb", entry.key);
                self.wrong(
                    "unknown-signal",
                    &entry.key_bytes,
                    message,
                    Some("write `verb NAME: STATE`".into()),
                );
                continue;
            };
            if self.known("verbs", "verb", verb, &entry.key_bytes) {
                let arms = self.arms(&entry.node, &cellar, scope);
                starts.extend(arms.into_iter().take(1).map(|arm| Start { verb: Some(verb.into()), arm }));
            }
        }
        starts
    }
}

/// The signals a key names.
fn words(key: &str) -> impl Iterator<Item = &str> {
    key.split('|').map(str::trim).filter(|it| !it.is_empty())
}

/// Whether a word of a key covers a signal.
fn covers(word: &str, signal: &str, failures: &[Name]) -> bool {
    let is_failure = failures.iter().any(|it| **it == *signal);
    word == signal
        || is_failure
            && (word == signal::GROUP_FAILURES
                || word == signal::GROUP_TRANSIENT && signal::TRANSIENT.contains(&signal))
}

/// An arm that only leads somewhere.
fn plain(to: Name, state: &State) -> Arm {
    Arm {
        to: Target::State(to),
        when: Vec::new(),
        spend: None,
        refill: Vec::new(),
        set: IndexMap::new(),
        record: Vec::new(),
        forced: Vec::new(),
        anew: Vec::new(),
        place: state.place.clone(),
    }
}

/// Which child machines a machine runs, and from where.
pub(crate) fn runs_child<'m>(machine: &'m Machine, child: &str) -> Vec<&'m State> {
    machine
        .states
        .values()
        .filter(|it| match &it.kind {
            Kind::Each(each) => matches!(&each.run, EachRun::Child(name) if **name == *child),
            _ => false,
        })
        .collect()
}
