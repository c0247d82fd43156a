//! Tools for files of other systems: further words after the name of a workflow that says `tools`.

mod vibe;

use std::process::ExitCode;

use loopwright_core::definition::Workflow;
use loopwright_core::language::Folder;

use crate::error::CommandError;

/// A workflow, as a tool meets it.
pub(crate) struct Around<'t> {
    /// What it is called on the command line.
    pub(crate) name: &'t str,
    pub(crate) workflow: &'t Workflow,
    pub(crate) folder: &'t Folder,
}

/// What to do with words after a workflow's name, if they are for one of its tools.
pub(crate) fn tool(around: &Around<'_>, words: &[String]) -> Option<Result<ExitCode, CommandError>> {
    match around.workflow.tools.as_deref() {
        Some("vibe") => vibe::tool(around, words),
        _ => None,
    }
}

/// The tools of a workflow, for its help: a line each.
pub(crate) fn about(workflow: &Workflow) -> String {
    match workflow.tools.as_deref() {
        Some("vibe") => vibe::about(),
        _ => String::new(),
    }
}
