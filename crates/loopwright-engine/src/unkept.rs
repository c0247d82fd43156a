//! What a workflow may say that the engine does not keep to yet. A run that would go on as if nothing had been said is
//! not begun.

use loopwright_core::definition::{CheckWhat, Kind, Workflow};

use crate::documents::Reader;

/// The first thing a workflow says that would not be kept to, in words.
pub(crate) fn first(workflow: &Workflow) -> Option<String> {
    let documents = workflow.documents.iter().find_map(|(name, it)| {
        let reader = it.reader.as_ref().filter(|it| Reader::named(it).is_none())?;
        Some(format!("the document `{name}` is read as `{reader}`"))
    });
    let machines = workflow.machines().find_map(|machine| {
        let named = |kind: &Kind| matches!(kind, Kind::Check(it) if matches!(it.what, CheckWhat::Named(_)));
        let check = machine.states.values().find(|it| named(&it.kind));
        check.map(|it| format!("`{}` is a check of the library", it.name))
    });
    documents.or(machines)
}
