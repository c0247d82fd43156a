//! Items apart: what comes back of one is what it committed.

use super::sound::{Located, listed};
use super::writes::{Documents, Shelf};
use crate::definition::{EachRun, Kind, State, Workflow};
use crate::name::Name;
use crate::problem::Problem;

/// What an item apart writes and no state of its child commits is gone with its worktree.
pub(super) fn not_brought_back(workflow: &Workflow, shelf: &Shelf, state: &State) -> Option<Located> {
    let Kind::Each(each) = &state.kind else { return None };
    let (EachRun::Child(child), true) = (&each.run, each.apart) else { return None };
    let (mut written, mut committed): (Documents, Documents) = (0, 0);
    for state in workflow.children.get(&**child)?.states.values() {
        if let Some(call) = state.call() {
            let roles = call.role.values().filter_map(|it| workflow.roles.get(&**it));
            let tables = roles.map(|it| call.may_write.as_ref().unwrap_or(&it.may_write));
            written |= tables.fold(0, |all, it| all | shelf.set(workflow, it.values().flatten()));
        }
        let Kind::Do { actions, .. } = &state.kind else { continue };
        for action in actions {
            written |= shelf.set(workflow, action.writes.iter().flatten());
            // A field that the engine sets there is set nowhere else.
            let list = || each.list.strip_prefix("docs.").and_then(|it| it.split('.').next());
            let set_in = |it: &Name| match &**it {
                "item" => list().map_or_else(|| it.clone(), Name::from),
                _ => it.clone(),
            };
            let is_it = |name: &Name, it: &Name| name.in_expression() == it.in_expression();
            let named = |it: Name| workflow.documents.keys().find(|name| is_it(name, &it)).cloned();
            let set: Vec<Name> = action.sets.iter().map(set_in).filter_map(named).collect();
            written |= shelf.set(workflow, &set);
            // What a push counts for is not of this machine.
            let commits = action.commits.iter().flatten().filter(|_| *action.verb == *"commit");
            committed |= shelf.set(workflow, commits);
        }
    }
    let lost = written & !committed;
    if lost == 0 {
        return None;
    }
    let documents = listed(&shelf.names(lost));
    let message = format!(
        "`{}` runs items apart, and what they write is committed by none of their states: {documents}",
        state.name
    );
    let help = format!(
        "let `{child}` commit it before it ends (`do: [{{commit: ...}}]`): what is not committed does not come back"
    );
    Some((
        Problem::proof("not-brought-back", state.place.clone(), message).help(help),
        Some(state.name.clone()),
    ))
}
