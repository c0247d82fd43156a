//! What is watched in a machine: the gates somebody needs, and everything that is given to somebody.

use super::monitors::{Watch, What};
use super::presence;
use crate::definition::{EachRun, Given, Kind, Machine, State, Workflow};
use crate::name::Name;
use crate::problem::Place;

/// `docs.spec.items` is there when `docs.spec` is.
pub(super) fn root_of(given: &str) -> String {
    given.split('.').take(2).collect::<Vec<_>>().join(".")
}

/// The watches of a machine.
pub(super) fn watches(workflow: &Workflow, machine: &Machine) -> Vec<Watch> {
    let mut watches = Vec::new();
    for gate in machine.gates.keys() {
        if machine.states.values().any(|it| it.needs.values().flatten().any(|it| it == gate)) {
            watches.push(Watch { name: format!("gate {gate}"), what: What::Gate(gate.clone()) });
        }
    }
    let mut wanted: indexmap::IndexMap<String, Vec<(Name, Place)>> = indexmap::IndexMap::new();
    for state in machine.states.values() {
        for given in all_given(workflow, state) {
            let root = root_of(&given.name);
            if !given.maybe && matches!(root.split('.').next(), Some("docs" | "last" | "inputs")) {
                wanted.entry(root).or_default().push((state.name.clone(), given.place.clone()));
            }
        }
        if let Kind::Each(each) = &state.kind
            && let EachRun::Child(child) = &each.run
            && let Some(child) = workflow.children.get(&**child)
        {
            // What a child is given of its parent must be there when the child starts.
            for inner in child.states.values() {
                for given in all_given(workflow, inner) {
                    let root = root_of(&given.name);
                    let own = root.strip_prefix("last.").is_some_and(|it| child.states.contains_key(it));
                    if !given.maybe
                        && !own
                        && matches!(root.split('.').next(), Some("docs" | "last" | "inputs"))
                    {
                        wanted.entry(root).or_default().push((state.name.clone(), given.place.clone()));
                    }
                }
            }
        }
    }
    for (given, by) in wanted {
        let documents = given.strip_prefix("docs.").map(|it| presence::stands_for(workflow, it));
        let documents = match documents {
            Some(documents) => documents.into_iter().map(Some).collect(),
            None => vec![None],
        };
        for document in documents {
            let (given, mut by) = (given.clone(), by.clone());
            // What every item makes for itself, its child is asked for.
            if document.as_ref().is_some_and(|it| presence::is_made_by_its_item(workflow, it)) {
                by.retain(|(it, _)| !machine.states.get(&**it).is_some_and(runs_child));
            }
            if by.is_empty() {
                continue;
            }
            watches.push(Watch { name: given.clone(), what: What::Defined { given, document, by } });
        }
    }
    watches
}

fn runs_child(state: &State) -> bool {
    matches!(&state.kind, Kind::Each(each) if matches!(each.run, EachRun::Child(_)))
}

/// Everything a state's call or question is given.
pub(super) fn all_given(workflow: &Workflow, state: &State) -> Vec<Given> {
    let mut given: Vec<Given> = Vec::new();
    if let Some(call) = state.call() {
        given.extend(call.given.values().flatten().cloned());
        let advice = match &state.kind {
            Kind::Review { advice, .. } => advice.clone(),
            _ => Vec::new(),
        };
        for role in call.role.values().chain(&advice).filter_map(|it| workflow.roles.get(&**it)) {
            given.extend(role.given.values().flatten().cloned());
        }
        given.extend(workflow.given.iter().cloned());
    }
    if let Kind::Ask { question } = &state.kind {
        given.extend(workflow.questions.get(&**question).into_iter().flat_map(|it| it.shows.iter().cloned()));
    }
    given
}
