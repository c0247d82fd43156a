//! Judges that may be at work beside each other: whether there are any, and whether they can be asked before the others
//! have said anything.

use super::loader::Loader;
use super::scope::Scope;
use super::yaml::Node;
use crate::definition::{Call, Given, Kind, Machine, State, Table, Workflow};
use crate::name::{Name, in_expression};

impl Loader<'_> {
    /// Whether what is said about judges at work at once can come about.
    pub(super) fn ahead(&self, workflow: &Workflow, scope: Scope<'_>) {
        let Some(machine) = workflow.machine(scope.child) else { return };
        for entry in scope.node.get("states").map(Node::entries).unwrap_or_default() {
            let (Some(said), Some(gates)) = (entry.node.entry("ahead"), entry.node.get("settle")) else {
                continue;
            };
            if said.node.number().is_some_and(|it| it < 2) {
                let message = "one judge at a time is what `settle` does anyway".to_owned();
                let help = "say how many may work at once, two or more, or leave it out".to_owned();
                self.wrong("bad-value", &said.node.bytes, message, Some(help));
                continue;
            }
            let gates: Vec<&str> = gates.items().into_iter().filter_map(Node::text).collect();
            let reviews = gates.iter().filter_map(|it| review(machine, it)).collect::<Vec<_>>();
            let look: Vec<_> = reviews.iter().filter(|(_, call)| may_only_look(workflow, call)).collect();
            // One whose judge cannot be made out is reported elsewhere.
            let known = gates.iter().all(|it| machine.gates.contains_key(*it));
            if known && look.len() < 2 && !reviews.iter().any(|(it, _)| self.is_vague(machine, &it.name)) {
                let message = "nobody here can be called ahead of their turn".to_owned();
                let help = "that takes two of these gates with a `review` of a role that writes nothing: others work alone";
                self.wrong("bad-value", &said.key_bytes, message, Some(help.to_owned()));
            }
            for (judge, call) in look {
                let others = reviews.iter().map(|(it, _)| &it.name).filter(|it| **it != judge.name);
                self.hears_nobody(workflow, (judge, call), &others.collect::<Vec<_>>());
            }
        }
    }

    /// A judge that is called ahead cannot be told what another one says: that one may not have said it yet.
    fn hears_nobody(&self, workflow: &Workflow, (judge, call): (&State, &Call), others: &[&Name]) {
        let of_role = call.role.values().filter_map(|it| workflow.roles.get(&**it));
        let of_role = of_role.flat_map(|it| it.given.values().flatten());
        let given: Vec<&Given> =
            of_role.chain(call.given.values().flatten()).chain(&workflow.given).collect();
        for other in others {
            let named = |it: &&&Given| {
                let mut parts = it.name.split('.');
                parts.next() == Some("last")
                    && parts.next().is_some_and(|it| in_expression(it) == other.in_expression())
            };
            let Some(given) = given.iter().find(named) else { continue };
            let message = format!(
                "`{}` may be called ahead of its turn, before `{other}` has said anything",
                judge.name
            );
            let help = format!("do not give it `{}`, or leave `ahead` out", given.name);
            self.wrong("ahead-hears", &given.place.bytes, message, Some(help));
        }
    }
}

/// The judge of a gate, if one role judges.
fn review<'m>(machine: &'m Machine, gate: &str) -> Option<(&'m State, &'m Call)> {
    let [judge] = machine.gates.get(gate)?.as_slice() else { return None };
    let state = machine.states.get(&**judge)?;
    match &state.kind {
        Kind::Review { call, .. } => Some((state, call)),
        _ => None,
    }
}

/// Whether there may be a call in which nothing may be written.
fn may_only_look(workflow: &Workflow, call: &Call) -> bool {
    let owned = |it: &Name| workflow.documents.get(&**it).is_some_and(|it| it.engine_owned);
    let looks = |table: &Table<Vec<Name>>| match table {
        Table::One(documents) => documents.iter().all(owned),
        // Rows that are not there are empty.
        Table::By { .. } => true,
    };
    match &call.may_write {
        Some(own) => looks(own),
        None => call.role.values().filter_map(|it| workflow.roles.get(&**it)).any(|it| looks(&it.may_write)),
    }
}
