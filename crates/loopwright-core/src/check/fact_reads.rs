//! What can change a fact: everything it reads, and whatever changes that.

use super::writes::{Documents, Shelf};
use crate::definition::{Each, EachRun, Files, Kind, Machine, State, Workflow};
use crate::name::Name;

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
}

impl Reads {
    /// Whether the work of a state may change it, whatever that writes.
    pub(super) fn may_change_by_work(&self, workflow: &Workflow, state: &State) -> bool {
        self.anything
            || self.by_routing
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
    let Some(fact) = machine.facts.get(&**name) else { return Reads::default() };
    let mut reads = Reads::default();
    if fact.once {
        return reads;
    }
    for path in &fact.reads {
        let mut parts = path.split('.');
        let (head, second) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
        let named = |names: Vec<&Name>| names.into_iter().find(|it| it.in_expression() == second).cloned();
        match head {
            "docs" | "changed" => match named(workflow.documents.keys().collect()) {
                Some(document) => {
                    reads.documents |= shelf.set(workflow, [&document]);
                    for leaf in workflow.leaves(&document) {
                        let Some(leaf) = workflow.documents.get(&*leaf) else { continue };
                        // What a command says may be otherwise any time; what the engine keeps, on entering a state.
                        reads.anything |= matches!(leaf.files, Files::Command(_));
                        reads.by_routing |= leaf.engine_owned;
                    }
                }
                None => reads.documents |= shelf.all(),
            },
            "git" => reads.git = true,
            "findings" => {
                reads.findings = true;
                reads.by_routing |= closes_findings(workflow);
            }
            "last" => {
                reads.by_routing |= named(machine.states.keys().collect()).is_some();
            }
            "project" | "item" => {}
            "inputs" => {
                let mut taken = workflow.verbs.values().flat_map(|it| &it.takes);
                reads.anything |= second.is_empty() || taken.any(|it| it.in_expression() == second);
            }
            "lists" | "items" => {
                reads.anything = true;
                reads.by_routing |= head == "lists" && changes_by_routing(workflow, machine, second);
            }
            head => {
                let mut arms = machine.arms();
                reads.by_routing |= arms.any(|it| it.set.keys().any(|it| it.in_expression() == head));
            }
        }
    }
    reads
}

/// Whether findings may be closed other than by a review: by an arm that passes its gate over, or one by one in a question.
fn closes_findings(workflow: &Workflow) -> bool {
    let states = || workflow.machines().flat_map(|it| it.states.values());
    let mut arms = states().flat_map(|it| it.cells.values()).flat_map(|it| &it.arms);
    arms.any(|it| !it.forced.is_empty()) || workflow.questions.values().any(|it| it.per_finding)
}

/// Whether taking an arm, or entering where it leads, changes a list.
fn changes_by_routing(workflow: &Workflow, machine: &Machine, list: &str) -> bool {
    let mut arms = machine.arms();
    let cleared = workflow.lists.iter().any(|(name, per)| name.in_expression() == list && !per.is_empty());
    cleared || arms.any(|it| it.record.iter().any(|it| it.in_expression() == list))
}
