//! Conditions: the names that can be compared, and their values.

use indexmap::IndexSet;

use super::loader::{Loader, names_in};
use super::resolve_arms::Cellar;
use super::resolve_nouns::texts;
use super::scope::Scope;
use super::yaml::{Node, shorten};
use crate::definition::{Condition, Kind, Machine, Term, Workflow};
use crate::name::Name;
use crate::problem::{Problem, did_you_mean};
use crate::signal;

impl Loader<'_> {
    /// Conditions of gates, read once the machine's names are known.
    pub(super) fn gate_conditions(
        &self,
        workflow: &Workflow,
        scope: Scope<'_>,
    ) -> Vec<(Name, Vec<Condition>)> {
        let Some(machine) = workflow.machine(scope.child) else { return Vec::new() };
        let cellar = Cellar { workflow, machine, state: None, signals: Vec::new() };
        let states = scope.node.get("states").map(Node::entries).unwrap_or_default();
        let mut found = Vec::new();
        for entry in states {
            let Some(node) = entry.node.get("only-when") else { continue };
            let mut conditions = self.conditions(node, &cellar, scope);
            conditions.retain(|it| self.is_kept(&entry.key, it));
            found.push((entry.key.as_str().into(), conditions));
        }
        found
    }

    /// Whether a gate is owed has to stand until something changes it, not be otherwise at every look.
    fn is_kept(&self, state: &str, condition: &Condition) -> bool {
        let (name, help) = match &condition.term {
            Term::Changed(document) => (
                format!("changed.{document}"),
                format!(
                    "say it as a fact, `is: \"changed.{document}.count > 0 ? 'yes' : 'no'\"`, and name that"
                ),
            ),
            Term::Outer(inner) => match &**inner {
                Term::Fact(name) => {
                    (name.to_string(), "give the child a fact of its own that says the same".to_owned())
                }
                _ => return true,
            },
            _ => return true,
        };
        let message = format!("whether `{state}` is owed cannot hang on `{name}`, which nobody keeps here");
        self.wrong("loose-condition", &condition.place.bytes, message, Some(help));
        false
    }

    pub(super) fn conditions(&self, node: &Node, cellar: &Cellar<'_>, scope: Scope<'_>) -> Vec<Condition> {
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
                    let problem = Problem::load("outside-domain", Self::place(&item.bytes), message);
                    self.report_later(&entry.key, &value, problem.maybe_help(help));
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
                // A child knows its own gates only: its parent's are looked at where they are needed.
                "gate" if depth == 0 && machine.gates.contains_key(rest) => {
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
