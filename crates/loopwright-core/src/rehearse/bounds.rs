//! What scenarios say was written, held against what may be: an agent that wrote more would have been stopped, and what it
//! wrote undone.

use indexmap::IndexSet;

use super::parse::Reader;
use crate::definition::{Call, EachRun, Kind, State, Workflow};
use crate::language::Node;
use crate::name::Name;

impl Reader<'_> {
    /// The documents a state is said to have written must be among those it may write.
    pub(super) fn wrote(&mut self, state: &State, node: &Node) {
        let workflow = self.workflow;
        let may = may_write(workflow, state);
        for written in node.items() {
            let Some(name) = written.text().filter(|it| workflow.documents.contains_key(*it)) else {
                continue;
            };
            let within = |leaf: &Name| may.iter().any(|it| workflow.documents_overlap(leaf, it));
            if workflow.leaves(name).iter().all(within) {
                continue;
            }
            let what = if may.is_empty() {
                "it writes nothing".to_owned()
            } else {
                let may: Vec<String> = may.iter().map(|it| format!("`{it}`")).collect();
                format!("it may write {}", may.join(", "))
            };
            let help = format!("{what}; `edit: [{name}]` as a step of its own is what a person writes");
            self.wrong(&written.bytes, format!("`{}` may not write `{name}`", state.name), Some(help));
        }
    }
}

/// Every document a state may write, whatever variables say.
fn may_write(workflow: &Workflow, state: &State) -> IndexSet<Name> {
    match &state.kind {
        Kind::Agent(call) => of_call(workflow, call),
        Kind::Review { call, advice, .. } => {
            let advisers = advice.iter().filter_map(|it| workflow.roles.get(&**it));
            let mut documents = of_call(workflow, call);
            documents.extend(advisers.flat_map(|it| it.may_write.values()).flatten().cloned());
            documents
        }
        Kind::Do { actions, .. } => {
            let all = || workflow.documents.keys().cloned().collect();
            actions.iter().flat_map(|it| it.writes.clone().unwrap_or_else(all)).collect()
        }
        Kind::Each(each) => match &each.run {
            EachRun::Call(call) => of_call(workflow, call),
            EachRun::Child(child) => workflow.children.get(&**child).map_or_else(IndexSet::new, |it| {
                it.states
                    .values()
                    .filter(|it| !runs_child(it))
                    .flat_map(|it| may_write(workflow, it))
                    .collect()
            }),
        },
        _ => IndexSet::new(),
    }
}

/// Children run no children; a file that says otherwise does not load, and must not make this go round.
fn runs_child(state: &State) -> bool {
    matches!(&state.kind, Kind::Each(each) if matches!(each.run, EachRun::Child(_)))
}

fn of_call(workflow: &Workflow, call: &Call) -> IndexSet<Name> {
    let roles = call.role.values().filter_map(|it| workflow.roles.get(&**it));
    let tables = roles.map(|it| call.may_write.as_ref().unwrap_or(&it.may_write));
    tables.flat_map(|it| it.values()).flatten().cloned().collect()
}
