//! What a workflow may say that the engine does not keep to yet. A run that would go on as if nothing had been said is
//! not begun.

use loopwright_core::definition::{CheckWhat, Kind, Workflow};
use loopwright_core::language::units::Unit;

use crate::documents::Format;

/// The first thing a workflow says that would not be kept to, in words.
pub(crate) fn first(workflow: &Workflow) -> Option<String> {
    let roles = workflow.roles.iter().find_map(|(name, role)| {
        let says = [(!role.rules.is_empty(), "`rules`"), (!role.deny.is_empty(), "`deny`")];
        says.into_iter().find(|(said, _)| *said).map(|(_, what)| format!("the role `{name}` has {what}"))
    });
    let documents = workflow.documents.iter().find_map(|(name, it)| {
        let reader = it.reader.as_ref().filter(|it| Format::named(it).is_none())?;
        Some(format!("the document `{name}` is read as `{reader}`"))
    });
    let machines = workflow.machines().find_map(|machine| {
        let metered = |it: Unit| matches!(it, Unit::Money | Unit::Tokens);
        let budget = machine.budgets.iter().find(|(_, it)| metered(it.unit()));
        let calls = machine.states.values().filter_map(|it| Some((it, it.call()?)));
        let mut calls = calls.filter(|(_, it)| !it.rules.is_empty());
        let named = |kind: &Kind| matches!(kind, Kind::Check(it) if matches!(it.what, CheckWhat::Named(_)));
        let check = machine.states.values().find(|it| named(&it.kind));
        budget
            .map(|(name, _)| format!("the budget `{name}` counts what no agent reports"))
            .or_else(|| calls.next().map(|(it, _)| format!("`{}` has `rules`", it.name)))
            .or_else(|| check.map(|it| format!("`{}` is a check of the library", it.name)))
    });
    roles.or(documents).or(machines)
}
