//! What a workflow may say that the engine does not keep to yet. A run that would go on as if nothing had been said is
//! not begun.

use loopwright_core::definition::Workflow;

use crate::documents::Reader;

/// The first thing a workflow says that would not be kept to, in words.
pub(crate) fn first(workflow: &Workflow) -> Option<String> {
    workflow.documents.iter().find_map(|(name, it)| {
        let reader = it.reader.as_ref().filter(|it| Reader::named(it).is_none())?;
        Some(format!("the document `{name}` is read as `{reader}`"))
    })
}
