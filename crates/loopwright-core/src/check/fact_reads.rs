//! What can change a fact: everything it reads, and whatever changes that.

use super::engine_sets;
use super::writes::{Documents, Shelf};
use crate::definition::{Document, Each, EachRun, Files, Kind, Machine, State, Workflow};
use crate::name::{Name, in_expression};
use crate::paths::FileSet;

/// What can change a fact.
#[derive(Clone, Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "each is something a fact may read")]
pub(super) struct Reads {
    pub(super) documents: Documents,
    pub(super) git: bool,
    pub(super) findings: bool,
    pub(super) anything: bool,
    /// It changes by the very step that leaves a state: it reads how that came out, or a variable the step sets.
    pub(super) by_routing: bool,
    /// States of its machine in which the engine sets a field of what it reads.
    set_in: Vec<Name>,
}

impl Reads {
    /// Whether the work of a state may change it, whatever that writes.
    pub(super) fn may_change_by_work(&self, workflow: &Workflow, state: &State) -> bool {
        self.anything
            || self.by_routing
            || self.set_in.contains(&state.name)
            || self.git && acts(workflow, &state.kind)
            || self.findings && matches!(state.kind, Kind::Review { .. } | Kind::Each(_))
    }

    /// Whether the work of a state that may write these documents may change it.
    pub(super) fn may_change(&self, workflow: &Workflow, state: &State, written: Documents) -> bool {
        self.may_change_by_work(workflow, state) || self.documents & written != 0 || self.git && written != 0
    }
}

/// Whether the engine acts in a state, and git may be otherwise afterwards.
fn acts(workflow: &Workflow, kind: &Kind) -> bool {
    match kind {
        Kind::Do { .. } => true,
        Kind::Each(Each { run: EachRun::Child(child), .. }) => {
            let child = workflow.children.get(&**child);
            child.is_some_and(|it| it.states.values().any(|it| acts(workflow, &it.kind)))
        }
        _ => false,
    }
}

pub(super) fn fact_reads(workflow: &Workflow, shelf: &Shelf, machine: &Machine, name: &Name) -> Reads {
    let Some(fact) = machine.facts.get(&**name).filter(|it| !it.once) else { return Reads::default() };
    let mut reader = Reader { workflow, shelf, machine, followed: Vec::new(), reads: Reads::default() };
    fact.reads.iter().for_each(|it| reader.path(it));
    let mut reads = reader.reads;
    let sets = |it: &&State| engine_sets::of_state(workflow, shelf, machine, it) & reads.documents != 0;
    reads.set_in = machine.states.values().filter(sets).map(|it| it.name.clone()).collect();
    reads
}

/// Follows what a fact reads to everything that depends on.
struct Reader<'a> {
    workflow: &'a Workflow,
    shelf: &'a Shelf,
    machine: &'a Machine,
    /// Documents that were followed already.
    followed: Vec<Name>,
    reads: Reads,
}

impl Reader<'_> {
    fn path(&mut self, path: &str) {
        let (workflow, machine) = (self.workflow, self.machine);
        let mut parts = path.split('.');
        let (head, second) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
        let second = in_expression(second);
        let is_meant = |it: &&Name| it.in_expression() == second;
        match head {
            "docs" | "changed" => match workflow.documents.keys().find(is_meant) {
                Some(document) => workflow.leaves(document).into_iter().for_each(|it| self.document(it)),
                None => self.reads.documents |= self.shelf.all(),
            },
            "git" => self.reads.git = true,
            "findings" => {
                self.reads.findings = true;
                self.reads.by_routing |= closes_findings(workflow);
            }
            "last" => self.reads.by_routing |= machine.states.keys().any(|it| is_meant(&it)),
            "project" => {}
            // An item is an entry of the list it comes from.
            "item" => engine_sets::lists_of_items(workflow, machine).iter().for_each(|it| self.path(it)),
            "inputs" => {
                let mut taken = workflow.verbs.values().flat_map(|it| &it.takes);
                self.reads.anything |= second.is_empty() || taken.any(|it| is_meant(&it));
            }
            "lists" | "items" => {
                self.reads.anything = true;
                self.reads.by_routing |= head == "lists" && changes_by_routing(workflow, machine, &second);
            }
            head => {
                let mut arms = machine.arms();
                self.reads.by_routing |= arms.any(|it| it.set.keys().any(|it| it.in_expression() == head));
            }
        }
    }

    /// A document, what its reader is told, and what its path names.
    fn document(&mut self, name: Name) {
        let workflow = self.workflow;
        let Some(document) = workflow.documents.get(&*name).filter(|_| !self.followed.contains(&name)) else {
            return;
        };
        self.reads.documents |= self.shelf.set(workflow, [&name]);
        // What a command says may be otherwise any time; what the engine keeps or shows, on entering a state.
        self.reads.anything |= matches!(document.files, Files::Command(_));
        let shown = |(other, it): (&Name, &Document)| {
            !it.shows.is_empty() && workflow.documents_overlap(other, &name)
        };
        self.reads.by_routing |= document.engine_owned || workflow.documents.iter().any(shown);
        self.followed.push(name);
        for text in texts(&document.with) {
            self.path(text);
        }
        // Which item it is stays as it is.
        let templates = document.set.iter().flat_map(FileSet::templates).filter(|it| *it != "item.id");
        templates.for_each(|it| self.path(it));
    }
}

/// The texts in a value, which may be names of what a reader is told.
fn texts(value: &serde_json::Value) -> Vec<&str> {
    match value {
        serde_json::Value::String(text) => vec![text],
        serde_json::Value::Array(items) => items.iter().flat_map(texts).collect(),
        serde_json::Value::Object(entries) => entries.values().flat_map(texts).collect(),
        _ => Vec::new(),
    }
}

/// Whether findings may be closed other than by a review: by an arm that passes its gate over or has it begin anew, or one by
/// one in a question.
fn closes_findings(workflow: &Workflow) -> bool {
    let states = || workflow.machines().flat_map(|it| it.states.values());
    let mut arms = states().flat_map(|it| it.cells.values()).flat_map(|it| &it.arms);
    arms.any(|it| !it.forced.is_empty() || !it.anew.is_empty())
        || workflow.questions.values().any(|it| it.per_finding)
}

/// Whether taking an arm, or entering where it leads, changes a list.
fn changes_by_routing(workflow: &Workflow, machine: &Machine, list: &str) -> bool {
    let mut arms = machine.arms();
    let cleared = workflow.lists.iter().any(|(name, per)| name.in_expression() == list && !per.is_empty());
    cleared || arms.any(|it| it.record.iter().any(|it| it.in_expression() == list))
}
