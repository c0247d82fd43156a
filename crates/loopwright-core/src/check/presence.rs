//! Documents that come and go: what a state makes, and what it may leave without files.
//!
//! A document that the run does not make and that need not be optional is part of the project: going to another branch
//! or back to a commit does not lose it, only deleting or moving it does.

use super::monitors::Taken;
use super::unfold::Unfolded;
use super::writes;
use crate::definition::{Action, EachRun, Files, Kind, Machine, State, Workflow};
use crate::name::{Name, in_expression};
use crate::signal;

/// What an action does about a document being there.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Fate {
    Made,
    Gone,
}

/// The documents that must be there for a name in a prompt to be: itself, or every member of a group.
pub(super) fn stands_for(workflow: &Workflow, given: &str) -> Vec<Name> {
    let named = workflow.documents.keys().find(|it| it.in_expression() == in_expression(given));
    named.map(|it| workflow.leaves(it)).unwrap_or_default()
}

/// Whether a document is there when a run begins.
pub(super) fn is_there_at_start(workflow: &Workflow, wanted: &Name) -> bool {
    !is_made_here(workflow, wanted) && workflow.documents.get(&**wanted).is_none_or(|it| !it.optional)
}

/// Whether nobody but the run of an item itself can be relied on to make a document.
pub(super) fn is_made_by_its_item(workflow: &Workflow, wanted: &Name) -> bool {
    is_per_item(workflow, wanted) && !is_there_at_start(workflow, wanted)
}

/// Whether a child finds a document that its parent had when the loop was entered: no item before it loses it.
pub(super) fn stays_in_child(workflow: &Workflow, child: &Machine, wanted: &Name) -> bool {
    if is_made_by_its_item(workflow, wanted) {
        return false;
    }
    let one_item = |state: &State| match &state.kind {
        Kind::Each(each) => {
            each.at_most == Some(1)
                || !matches!(&each.run, EachRun::Child(it) if child.name.as_ref() == Some(it))
        }
        _ => true,
    };
    !child_loses(workflow, child, wanted) || workflow.main.states.values().all(one_item)
}

/// Whether a state that came out like this may have left a document without files.
pub(super) fn loses(workflow: &Workflow, state: &State, came: &Name, wanted: &Name) -> bool {
    if *came == signal::STALE {
        return false;
    }
    match &state.kind {
        // Nobody knows how far actions came that failed.
        Kind::Do { actions, .. } if signal::is_failure(came) => may_lose(workflow, actions, wanted),
        Kind::Do { actions, .. } => last_fate(workflow, actions, wanted) == Some(Fate::Gone),
        Kind::Each(each) if !signal::NO_ITEMS.contains(&&**came) => match &each.run {
            EachRun::Child(child) => {
                workflow.children.get(&**child).is_some_and(|it| child_loses(workflow, it, wanted))
            }
            EachRun::Call(_) => false,
        },
        _ => false,
    }
}

/// Whether a state that came out like this made a document.
pub(super) fn makes(unfolded: &Unfolded<'_>, taken: &Taken<'_>, wanted: &Name) -> bool {
    if signal::is_failure(taken.signal) || *taken.signal == signal::STALE || *taken.signal == signal::ASK {
        return false;
    }
    let workflow = unfolded.workflow;
    let lookup = |name: &Name| unfolded.lookup(taken.before, name);
    match &taken.state.kind {
        Kind::Do { actions, .. } => last_fate(workflow, actions, wanted) == Some(Fate::Made),
        Kind::Each(each) if matches!(each.run, EachRun::Child(_)) => false,
        // What is made for the items of one loop need not be there for those of the next.
        Kind::Each(_) if is_per_item(workflow, wanted) => false,
        _ => taken.state.call().is_some_and(|call| {
            let mut produced = writes::picked(&call.produces, &lookup).into_iter().flatten();
            !signal::NO_ITEMS.contains(&&**taken.signal)
                && produced.any(|it| workflow.leaves(it).contains(wanted))
        }),
    }
}

/// Whether some state of the workflow makes a document.
fn is_made_here(workflow: &Workflow, wanted: &Name) -> bool {
    let declared = workflow.documents.get(&**wanted);
    if declared.is_some_and(|it| !it.shows.is_empty() || matches!(it.files, Files::Command(_))) {
        return false;
    }
    workflow.machines().flat_map(|it| it.states.values()).any(|state| {
        let produced = state.call().into_iter().flat_map(|it| it.produces.values().flatten());
        let actions = match &state.kind {
            Kind::Do { actions, .. } => actions.as_slice(),
            _ => &[],
        };
        let mut made = produced.chain(actions.iter().flat_map(|it| &it.makes));
        made.any(|it| workflow.leaves(it).contains(wanted))
    })
}

fn child_loses(workflow: &Workflow, child: &Machine, wanted: &Name) -> bool {
    child.states.values().any(|it| match &it.kind {
        Kind::Do { actions, .. } => may_lose(workflow, actions, wanted),
        _ => false,
    })
}

fn may_lose(workflow: &Workflow, actions: &[Action], wanted: &Name) -> bool {
    // An exact copy that breaks off may have removed what it was to copy to.
    let half_copied = |it: &Action| *it.verb == *"copy" && removes(workflow, it, wanted);
    actions.iter().any(|it| fate(workflow, it, wanted) == Some(Fate::Gone) || half_copied(it))
}

fn last_fate(workflow: &Workflow, actions: &[Action], wanted: &Name) -> Option<Fate> {
    actions.iter().rev().find_map(|it| fate(workflow, it, wanted))
}

fn fate(workflow: &Workflow, action: &Action, wanted: &Name) -> Option<Fate> {
    let document = workflow.documents.get(&**wanted)?;
    if action.makes.iter().any(|it| workflow.leaves(it).contains(wanted)) {
        // A list may be empty; and taking back what vanished from it may take the last one.
        let for_a_list = action.parameters.get("for").is_some();
        let prunes = action.parameters.get("prune").is_some_and(|it| *it == serde_json::Value::Bool(true));
        return if prunes { Some(Fate::Gone) } else { (!for_a_list).then_some(Fate::Made) };
    }
    let for_good = matches!(&*action.verb, "delete" | "move" | "copy");
    if matches!(document.files, Files::Command(_)) || !for_good && is_there_at_start(workflow, wanted) {
        return None;
    }
    removes(workflow, action, wanted).then_some(Fate::Gone)
}

fn removes(workflow: &Workflow, action: &Action, wanted: &Name) -> bool {
    action.removes.as_ref().is_none_or(|it| it.iter().any(|it| takes_along(workflow, it, wanted)))
}

/// Whether a document may be without files when another one's are removed. Of many files, some stay when others that
/// share a glob with them go.
fn takes_along(workflow: &Workflow, removed: &Name, wanted: &Name) -> bool {
    let Some(document) = workflow.documents.get(&**wanted) else { return false };
    let lies_in = |it: &Name| {
        let around = workflow.documents.get(&**it).and_then(|it| it.set.as_ref());
        document.set.as_ref().zip(around).is_some_and(|(inner, around)| inner.surely_within(around))
    };
    let leaves = workflow.leaves(removed);
    matches!(document.files, Files::One(_)) && workflow.documents_overlap(removed, wanted)
        || leaves.contains(wanted)
        || leaves.iter().any(lies_in)
}

/// Whether a document is another one for every item.
fn is_per_item(workflow: &Workflow, document: &Name) -> bool {
    let set = workflow.documents.get(&**document).and_then(|it| it.set.as_ref());
    let loops = workflow.main.states.values().filter_map(|it| match &it.kind {
        Kind::Each(each) => Some(&*each.item),
        _ => None,
    });
    let items: Vec<&str> = loops.chain(["item"]).collect();
    let of_item = |template: &str| items.iter().any(|it| Some(*it) == template.split('.').next());
    set.is_some_and(|it| it.templates().any(of_item))
}
