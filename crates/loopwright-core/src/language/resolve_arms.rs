//! Routes: which arms every cell of every state has, and where they came from.

use indexmap::{IndexMap, IndexSet};
use rustc_hash::FxHashSet;

use super::loader::{Loader, Scope, names_in};
use super::resolve_nouns::texts;
use super::yaml::{Entry, Node, Value, shorten};
use crate::definition::{
    Arm, Cell, Condition, EachRun, Kind, Machine, Origin, Per, Start, State, Target, Term, Unattended,
    Workflow,
};
use crate::name::Name;
use crate::problem::{Problem, did_you_mean};
use crate::signal;

/// Every state's cells, and how the machine begins.
type Routed = (Vec<(Name, IndexMap<Name, Cell>)>, Vec<Start>);

/// What an arm is read in: the state, and the outcome being routed.
struct Cellar<'w> {
    workflow: &'w Workflow,
    machine: &'w Machine,
    state: Option<&'w State>,
    signals: Vec<Name>,
}

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
                        let message = format!("no state takes the default for `{word}`");
                        self.report(
                            Problem::proof("unused", Self::place(&entry.key_bytes), message)
                                .help("remove it"),
                        );
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
        if let Kind::Settle { gates } = &state.kind {
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
                place: at,
            });
        }
        if let Some(then) = node.get("then") {
            let cellar = Cellar { workflow, machine, state: None, signals: Vec::new() };
            arms.extend(self.arms(then, &cellar, scope));
        }
        arms
    }

    /// Conditions of gates, read once the machine's names are known.
    pub(super) fn gate_conditions(
        &self,
        workflow: &Workflow,
        scope: Scope<'_>,
    ) -> Vec<(Name, Vec<Condition>)> {
        let Some(machine) = workflow.machine(scope.child) else { return Vec::new() };
        let cellar = Cellar { workflow, machine, state: None, signals: Vec::new() };
        let states = scope.node.get("states").map(Node::entries).unwrap_or_default();
        states
            .iter()
            .filter_map(|it| {
                Some((it.key.as_str().into(), self.conditions(it.node.get("only-when")?, &cellar, scope)))
            })
            .collect()
    }

    fn start(&self, workflow: &Workflow, machine: &Machine, scope: Scope<'_>) -> Vec<Start> {
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

    fn arms(&self, node: &Node, cellar: &Cellar<'_>, scope: Scope<'_>) -> Vec<Arm> {
        let mut arms = Vec::new();
        for item in node.items() {
            if let Some(to) = item.text() {
                arms.extend(self.target(to, item, cellar).map(|to| Arm {
                    to,
                    when: Vec::new(),
                    spend: None,
                    refill: Vec::new(),
                    set: IndexMap::new(),
                    record: Vec::new(),
                    forced: Vec::new(),
                    place: Self::place(&item.bytes),
                }));
                continue;
            }
            let Some(to) = item.get("to") else { continue };
            let Some(target) = to.text().and_then(|text| self.target(text, to, cellar)) else { continue };
            let arm = self.arm(item, target, cellar, scope);
            let when = arm.when.clone();
            if let (None, Some(entry)) = (item.get("spend"), item.entry("else")) {
                let message = "`else` goes with `spend`".to_owned();
                self.wrong(
                    "else-without-spend",
                    &entry.key_bytes,
                    message,
                    Some("write a second arm instead".into()),
                );
            }
            arms.push(arm);
            for mut other in item.get("else").map(|it| self.arms(it, cellar, scope)).unwrap_or_default() {
                other.when.splice(0..0, when.iter().cloned());
                arms.push(other);
            }
        }
        arms
    }

    fn arm(&self, node: &Node, to: Target, cellar: &Cellar<'_>, scope: Scope<'_>) -> Arm {
        let machine = cellar.machine;
        let budget = |it: &Node| {
            let text = it.text()?;
            match machine.budgets.get(text) {
                Some(budget) if budget.unit() == super::units::Unit::Uses => Some(Name::from(text)),
                Some(_) => {
                    let message = format!("`{text}` has a unit: every call spends it, arms do not");
                    let help = "spend a budget without a unit, such as `fixes: 2`".to_owned();
                    self.wrong("metered-budget", &it.bytes, message, Some(help));
                    None
                }
                // It does not fit, which has been reported.
                None if names_in(scope.node, "budgets").contains(&text) => None,
                None => {
                    let message = format!("there is no budget `{}`", shorten(text));
                    let help = if names_in(self.root, "budgets").contains(&text) {
                        Some("it is the parent's; a child has budgets of its own".to_owned())
                    } else {
                        did_you_mean(text, names_in(scope.node, "budgets"))
                            .or_else(|| Some(format!("declare it: `budgets: {{{}: 2}}`", shorten(text))))
                    };
                    self.wrong("unknown-name", &it.bytes, message, help);
                    None
                }
            }
        };
        let spend = node.get("spend").and_then(budget);
        if let (Some(spend), Target::State(target)) = (&spend, &to)
            && let Some(Per::States(states)) = machine.budgets.get(&**spend).map(|it| &it.per)
            && states.contains(target)
        {
            let message = format!("spends `{spend}` and at once fills it again by entering `{target}`");
            let bytes = node.get("spend").map_or(0..0, |it| it.bytes.clone());
            self.wrong(
                "spend-and-refill",
                &bytes,
                message,
                Some(format!("leave `{target}` out of `per`, or lead elsewhere")),
            );
        }
        if let Some(spend) = &spend
            && machine.budgets.get(&**spend).is_some_and(|it| it.per == Per::Visit)
            && to != Target::Again
        {
            let message = format!(
                "`{spend}` is `per: visit`: leaving the state fills it again, so only `again` can spend it"
            );
            let bytes = node.get("spend").map_or(0..0, |it| it.bytes.clone());
            let help = "drop `per: visit`; or spend it on `again`, and lead on in `else`".to_owned();
            self.wrong("visit-budget", &bytes, message, Some(help));
        }
        let refill: Vec<Name> =
            node.get("refill").map(Node::items).unwrap_or_default().into_iter().filter_map(budget).collect();
        if let (Some(entry), Some(state)) = (node.entry("refill"), cellar.state) {
            self.only_a_person_refills(entry, state, cellar);
        }
        let mut set = IndexMap::new();
        for entry in node.get("set").map(Node::entries).unwrap_or_default() {
            let value = entry.node.text().unwrap_or_default();
            if self.value_of_variable(&scope, &entry.key, &entry.key_bytes, value, &entry.node.bytes) {
                set.insert(entry.key.as_str().into(), value.into());
            }
        }
        let forced = node.get("forced").map(Node::items).unwrap_or_default();
        Arm {
            to,
            when: node.get("when").map(|it| self.conditions(it, cellar, scope)).unwrap_or_default(),
            spend,
            refill,
            set,
            record: self.known_list("lists", "list", node.get("record")),
            forced: forced.into_iter().filter_map(|it| self.gate_name(it, scope)).collect(),
            place: Self::place(&node.bytes),
        }
    }

    fn only_a_person_refills(&self, entry: &Entry, state: &State, cellar: &Cellar<'_>) {
        let person = matches!(state.kind, Kind::Ask { .. } | Kind::Rest { .. });
        let nobody = match &state.kind {
            Kind::Ask { question } => {
                cellar.workflow.questions.get(&**question).is_some_and(|it| match &it.unattended {
                    Unattended::Wait => false,
                    Unattended::As(answer) => cellar.signals.contains(answer),
                })
            }
            _ => false,
        };
        if !person {
            let message = "only a person refills a budget".to_owned();
            let help = "refill on an arm out of `ask` or `rest`, or use `per: STATE`".to_owned();
            self.wrong("refill", &entry.key_bytes, message, Some(help));
        } else if nobody {
            let message = "this arm is taken when nobody is there, so nobody decides to refill".to_owned();
            self.wrong("refill", &entry.key_bytes, message, Some("choose another `unattended`".into()));
        }
    }

    fn target(&self, text: &str, node: &Node, cellar: &Cellar<'_>) -> Option<Target> {
        match text {
            "again" | "back"
                if cellar.state.is_some_and(|it| !matches!(it.kind, Kind::Choose | Kind::Settle { .. })) =>
            {
                Some(if text == "again" { Target::Again } else { Target::Back })
            }
            "back" if cellar.state.is_some() => Some(Target::Back),
            _ if cellar.machine.states.contains_key(text) => Some(Target::State(text.into())),
            // That there are none has been reported.
            _ if cellar.machine.states.is_empty() => None,
            _ => {
                let message = format!("there is no state `{}`", shorten(text));
                let help = if cellar.workflow.main.states.contains_key(text) {
                    Some(
                        "it is a state of the parent; a child ends, and the parent routes its end".to_owned(),
                    )
                } else {
                    did_you_mean(text, cellar.machine.states.keys().map(|it| &**it))
                };
                self.wrong("unknown-name", &node.bytes, message, help);
                None
            }
        }
    }

    fn conditions(&self, node: &Node, cellar: &Cellar<'_>, scope: Scope<'_>) -> Vec<Condition> {
        let mut conditions = Vec::new();
        for entry in node.entries().iter().filter(|it| !it.key.is_empty()) {
            let Some((term, domain)) = self.term(&entry.key, cellar, scope) else {
                // Of an outcome nobody knows, nobody knows the fields.
                let open = cellar.state.is_some_and(|it| self.is_vague(cellar.machine, &it.name));
                if !self.misplaced(&entry.key) && (!open || entry.key.contains('.')) {
                    let message = format!("there is nothing called `{}` to compare", shorten(&entry.key));
                    let help = self.comparable(&entry.key, cellar, scope);
                    self.wrong("unknown-name", &entry.key_bytes, message, Some(help));
                }
                continue;
            };
            let Some(domain) = domain else { continue };
            let mut values = Vec::new();
            for (item, value) in entry.node.items().into_iter().zip(texts(Some(&entry.node))) {
                if domain.contains(&value) {
                    values.push(value);
                } else {
                    let message = format!("`{}` is never `{value}`", entry.key);
                    let help = did_you_mean(&value, domain.iter().map(|it| &**it));
                    self.wrong("outside-domain", &item.bytes, message, help);
                }
            }
            if !values.is_empty() {
                conditions.push(Condition { term, values, place: Self::place(&entry.key_bytes) });
            }
        }
        conditions
    }

    /// Conditions of a property, where no outcome is being routed.
    pub(super) fn property_conditions(&self, workflow: &Workflow, node: Option<&Node>) -> Vec<Condition> {
        let cellar = Cellar { workflow, machine: &workflow.main, state: None, signals: Vec::new() };
        node.map(|it| self.conditions(it, &cellar, self.scope())).unwrap_or_default()
    }

    /// What could have been meant by a name that is not there.
    fn comparable(&self, text: &str, cellar: &Cellar<'_>, scope: Scope<'_>) -> String {
        let machines = [cellar.machine, &cellar.workflow.main];
        let states = || machines.iter().flat_map(|it| it.states.keys()).map(ToString::to_string);
        let known: Vec<String> = match text.split_once('.').map(|it| it.0) {
            Some("gate") => machines.iter().flat_map(|it| it.gates.keys()).map(ToString::to_string).collect(),
            Some("changed") => self.names("documents").into_iter().map(str::to_owned).collect(),
            Some("last" | "ever") => states().collect(),
            _ => {
                let mut known: Vec<String> = scope.variables(self).into_iter().map(str::to_owned).collect();
                for node in [scope.node, self.root] {
                    known.extend(names_in(node, "facts").into_iter().map(str::to_owned));
                }
                if let Some(state) = cellar.state {
                    let outcomes = signal::outcomes_of(cellar.workflow, state);
                    known.extend(outcomes.values().flat_map(|it| it.fields.keys()).map(ToString::to_string));
                }
                known
            }
        };
        let named: IndexSet<&str> = known.iter().map(String::as_str).collect();
        let (family, name) = text.split_once('.').map_or(("", text), |(family, name)| (family, name));
        match did_you_mean(name.split('.').next().unwrap_or_default(), named) {
            Some(help) if family.is_empty() => help,
            Some(help) => help.replace("mean `", &format!("mean `{family}.")),
            None => {
                "compare a variable, a fact, or `last.STATE`, `ever.STATE`, `gate.NAME`, `changed.DOCUMENT`"
                    .to_owned()
            }
        }
    }

    /// What a name in a condition stands for, and its values, if those can be known.
    fn term(&self, text: &str, cellar: &Cellar<'_>, scope: Scope<'_>) -> Option<(Term, Option<Vec<Name>>)> {
        if let Some((term, values)) = Self::outcome_term(text, cellar) {
            return Some((term, Some(values)));
        }
        for (depth, node) in [scope.node, self.root].into_iter().enumerate() {
            let declared = |section: &str| {
                let values = node.get(section)?.get(text)?.get("in");
                let listed = texts(values);
                Some((!listed.is_empty() && !self.is_broken(values)).then_some(listed))
            };
            let outer = |term| if depth == 0 { term } else { Term::Outer(Box::new(term)) };
            if let Some(values) = declared("vars") {
                self.using("vars", text);
                return Some((outer(Term::Var(text.into())), values));
            }
            if let Some(values) = declared("facts") {
                self.using("facts", text);
                return Some((outer(Term::Fact(text.into())), values));
            }
            if scope.child.is_none() {
                break;
            }
        }
        let (head, rest) = text.split_once('.')?;
        let yes_no = || Some(vec![Name::from("yes"), Name::from("no")]);
        if head == "changed" {
            self.names("documents").contains(&rest).then(|| self.using("documents", rest))?;
            return Some((Term::Changed(rest.into()), yes_no()));
        }
        for (depth, machine) in [cellar.machine, &cellar.workflow.main].into_iter().enumerate() {
            let outer = |term| if depth == 0 { term } else { Term::Outer(Box::new(term)) };
            let found = match head {
                "gate" if machine.gates.contains_key(rest) => {
                    let values = ["open", "fresh", "stale", "forced"].map(Name::from).to_vec();
                    Some((Term::Gate(rest.into()), Some(values)))
                }
                "ever" if machine.states.contains_key(rest) => Some((Term::Ever(rest.into()), yes_no())),
                "last" => self.remembered(cellar.workflow, machine, rest),
                _ => None,
            };
            if let Some((term, values)) = found {
                return Some((outer(term), values));
            }
        }
        None
    }

    /// `last.STATE` or `last.STATE.FIELD`.
    fn remembered(
        &self,
        workflow: &Workflow,
        machine: &Machine,
        text: &str,
    ) -> Option<(Term, Option<Vec<Name>>)> {
        let or_none =
            |values: &mut dyn Iterator<Item = &Name>| values.cloned().chain(["none".into()]).collect();
        if let Some((name, state)) = machine.states.get_key_value(text) {
            let values = (!self.is_vague(machine, name)).then(|| or_none(&mut state.cells.keys()));
            return Some((Term::Last(text.into()), values));
        }
        let (name, field) = text.split_once('.')?;
        let (name, state) = machine.states.get_key_value(name)?;
        let term = Term::LastField(name.clone(), field.into());
        if self.is_vague(machine, name) {
            return Some((term, None));
        }
        let outcomes = signal::outcomes_of(workflow, state);
        let values = outcomes.values().find_map(|it| it.fields.get(field))?;
        Some((term, Some(or_none(&mut values.iter()))))
    }

    /// Names that qualify the outcome being routed.
    fn outcome_term(text: &str, cellar: &Cellar<'_>) -> Option<(Term, Vec<Name>)> {
        let state = cellar.state?;
        if let Kind::Review { call, .. } = &state.kind {
            let findings: Vec<_> = call
                .role
                .values()
                .filter_map(|it| cellar.workflow.roles.get(&**it)?.findings.as_ref())
                .collect();
            let topics: Vec<Name> = findings.iter().flat_map(|it| it.topic.iter().cloned()).collect();
            if text == "same-again" && !findings.is_empty() {
                return Some((Term::SameAgain, vec!["yes".into(), "no".into()]));
            }
            if text == "topic" && !topics.is_empty() {
                return Some((Term::Topic, topics));
            }
        }
        let outcomes = signal::outcomes_of(cellar.workflow, state);
        let fields = cellar.signals.iter().find_map(|it| outcomes.get(&**it)?.fields.get(text))?;
        Some((Term::Field(text.into()), fields.clone()))
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
