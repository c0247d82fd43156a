//! Fields the engine sets. No gate judges them, but facts read them.

use super::writes::{Documents, Shelf};
use crate::definition::{Each, EachRun, Kind, Machine, State, Workflow};
use crate::name::in_expression;

/// Everything that may change when a state has set what it sets.
pub(super) fn of_state(workflow: &Workflow, shelf: &Shelf, machine: &Machine, state: &State) -> Documents {
    match &state.kind {
        Kind::Do { actions, .. } => {
            let sets = || actions.iter().flat_map(|it| &it.sets);
            let (items, documents): (Vec<_>, Vec<_>) = sets().partition(|it| ***it == *"item");
            let set = shelf.set(workflow, documents);
            let of_item = if items.is_empty() { 0 } else { documents_of_items(workflow, shelf, machine) };
            shelf.touched(set | of_item)
        }
        Kind::Each(Each { run: EachRun::Child(child), .. }) => {
            let child = workflow.children.get(&**child);
            let states = child.into_iter().flat_map(|child| child.states.values().map(move |it| (child, it)));
            states
                .filter(|(_, it)| matches!(it.kind, Kind::Do { .. }))
                .fold(0, |set, (child, it)| set | of_state(workflow, shelf, child, it))
        }
        _ => 0,
    }
}

/// The documents that hold the items a child is run for.
fn documents_of_items(workflow: &Workflow, shelf: &Shelf, child: &Machine) -> Documents {
    let lists = lists_of_items(workflow, child);
    let named = lists.iter().filter_map(|it| it.strip_prefix("docs.")?.split('.').next());
    let named: Vec<String> = named.map(in_expression).collect();
    let documents = workflow.documents.keys().filter(|it| named.contains(&it.in_expression()));
    shelf.set(workflow, documents)
}

/// The lists whose items a child is run for. Items that another loop is done with are items of its list.
pub(super) fn lists_of_items(workflow: &Workflow, child: &Machine) -> Vec<String> {
    let runs = |it: &&Each| matches!(&it.run, EachRun::Child(name) if child.name.as_ref() == Some(name));
    let loops = workflow.main.states.values().filter_map(|it| match &it.kind {
        Kind::Each(each) => Some(each),
        _ => None,
    });
    let mut waiting: Vec<&Each> = loops.filter(runs).collect();
    let mut found: Vec<String> = Vec::new();
    let mut followed: Vec<&str> = Vec::new();
    while let Some(each) = waiting.pop() {
        let of_loop = each.list.strip_prefix("items.").and_then(|it| it.split('.').next());
        let Some(name) = of_loop else {
            found.push(each.list.clone());
            continue;
        };
        let is_meant = |it: &&State| it.name.in_expression() == in_expression(name);
        if let Some(Kind::Each(each)) = workflow.main.states.values().find(is_meant).map(|it| &it.kind)
            && !followed.contains(&name)
        {
            followed.push(name);
            waiting.push(each);
        }
    }
    found
}
