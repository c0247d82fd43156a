//! Facts: their expressions, held against the types of what they read.

use indexmap::IndexMap;

use super::WORKFLOW_FILE;
use super::loader::{Loader, names_in};
use super::resolve_nouns::texts;
use super::scope::Scope;
use super::types::{Types, environment};
use super::yaml::Node;
use crate::definition::{Fact, Machine, Workflow};
use crate::fact::{Expression, Fault, Type};
use crate::name::Name;
use crate::problem::Problem;

impl Loader<'_> {
    pub(super) fn facts(&self, workflow: &mut Workflow, types: &Types) {
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
                        self.leaks(&entry.key, leaf);
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
