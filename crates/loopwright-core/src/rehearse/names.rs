//! Names in scenarios: a misspelt one would make a scenario that passes for no reason, or fails for a wrong one.

use indexmap::IndexSet;

use super::parse::Reader;
use crate::definition::{Findings, Kind, State, Workflow};
use crate::language::Node;
use crate::name::Name;
use crate::problem::did_you_mean;

/// Everything a scenario can name.
struct Known {
    states: IndexSet<Name>,
    gates: IndexSet<Name>,
    budgets: IndexSet<Name>,
    documents: IndexSet<Name>,
    lists: IndexSet<Name>,
}

impl Known {
    fn of(workflow: &Workflow) -> Self {
        let mut known = Self {
            states: IndexSet::new(),
            gates: IndexSet::new(),
            budgets: IndexSet::new(),
            documents: workflow.documents.keys().cloned().collect(),
            lists: IndexSet::new(),
        };
        for machine in workflow.machines() {
            known.states.extend(machine.states.keys().map(|it| machine.qualified(it)));
            known.gates.extend(machine.gates.keys().map(|it| machine.qualified(it)));
            known.gates.extend(machine.gates.keys().cloned());
            known.budgets.extend(machine.budgets.keys().cloned());
            for (name, state) in &machine.states {
                if let Kind::Each(each) = &state.kind {
                    known.lists.extend([name.clone(), machine.qualified(name), each.list.as_str().into()]);
                }
            }
        }
        known
    }
}

impl Reader<'_> {
    /// Holds the names of a scenario against those there are. Names of states, signals and facts in steps were.
    pub(super) fn names(&mut self, root: &Node) {
        let workflow = self.workflow;
        let known = Known::of(workflow);
        for entry in root.get("items").map(Node::entries).unwrap_or_default() {
            self.known("loop or list", &entry.key, &entry.key_bytes, &known.lists);
        }
        if let Some(start) = root.get("start") {
            let verbs: IndexSet<Name> = workflow.verbs.keys().cloned().collect();
            let phases: IndexSet<Name> = workflow.phases.keys().cloned().collect();
            self.texts("verb", start.get("verb"), &verbs);
            self.texts("phase", start.get("phase"), &phases);
            let vars: IndexSet<Name> = workflow.main.vars.keys().cloned().collect();
            for entry in start.get("vars").map(Node::entries).unwrap_or_default() {
                if !self.known("variable", &entry.key, &entry.key_bytes, &vars) {
                    continue;
                }
                let variable = workflow.main.vars.get(entry.key.as_str());
                let values = variable.map(|it| it.values.iter().cloned().collect()).unwrap_or_default();
                self.texts(&format!("value of `{}`:", entry.key), Some(&entry.node), &values);
            }
        }
        for step in root.get("steps").map(Node::items).unwrap_or_default() {
            for entry in step.entries() {
                if entry.key == "edit" {
                    self.texts("document", Some(&entry.node), &known.documents);
                }
                for key in ["wrote", "edited", "changed"] {
                    self.texts("document", entry.node.get(key), &known.documents);
                }
            }
        }
        if let Some(expect) = root.get("expect") {
            for key in ["end", "rest", "reaches"] {
                self.texts("state", expect.get(key), &known.states);
            }
            for key in ["forced", "unsettled"] {
                self.texts("gate", expect.get(key), &known.gates);
            }
            for entry in expect.get("spent").map(Node::entries).unwrap_or_default() {
                self.known("budget", &entry.key, &entry.key_bytes, &known.budgets);
            }
        }
    }

    /// `same-again` and `topic` are about findings: a state must report some, and the value be one there is.
    pub(super) fn of_findings(&mut self, state: &State, key: &str, node: &Node) {
        let declared = findings_of(self.workflow, state);
        if declared.is_empty() {
            let message = format!("`{}` reports no findings that `{key}` could be about", state.name);
            self.wrong(&node.bytes, message, None);
            return;
        }
        let values: IndexSet<Name> = match key {
            "topic" => declared.iter().flat_map(|it| it.topic.iter().cloned()).collect(),
            _ => ["yes", "no"].map(Name::from).into_iter().collect(),
        };
        self.texts(&format!("value of `{key}`:"), Some(node), &values);
    }

    /// The texts of a node, each of which has to be one of these.
    fn texts(&mut self, what: &str, node: Option<&Node>, known: &IndexSet<Name>) {
        for node in node.map(Node::items).unwrap_or_default() {
            if let Some(text) = node.text() {
                self.known(what, text, &node.bytes, known);
            }
        }
    }

    fn known(
        &mut self,
        what: &str,
        name: &str,
        bytes: &std::ops::Range<usize>,
        known: &IndexSet<Name>,
    ) -> bool {
        let found = known.contains(name);
        if !found {
            let help = did_you_mean(name, known.iter().map(|it| &**it));
            self.wrong(bytes, format!("there is no {what} `{name}`"), help);
        }
        found
    }
}

/// How the judges of a review report findings; none for those that do not.
fn findings_of<'w>(workflow: &'w Workflow, state: &State) -> Vec<&'w Findings> {
    let Kind::Review { call, .. } = &state.kind else { return Vec::new() };
    call.role.values().filter_map(|it| workflow.roles.get(&**it)?.findings.as_ref()).collect()
}
