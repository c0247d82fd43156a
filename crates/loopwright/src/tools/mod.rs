//! Tools for files: further words after the name of a workflow that says `tools`, and `todo`, which needs none.

mod agentd;
mod feature;
mod output;
pub(crate) mod todo;
mod vibe;

use std::process::ExitCode;

use clap::Command;
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
        Some("agentd") => agentd::tool(around, words),
        Some("feature") => feature::tool(around, words),
        Some("vibe") => vibe::tool(around, words),
        _ => None,
    }
}

/// Why no run hears a verb, where files of another system say so.
pub(crate) fn unheard(workflow: &Workflow, verb: &str, subject: &str) -> Option<CommandError> {
    match workflow.tools.as_deref() {
        Some("agentd") => agentd::unheard(verb, subject),
        _ => None,
    }
}

/// The tools of a workflow, for its help: a line each.
pub(crate) fn about(workflow: &Workflow) -> String {
    match workflow.tools.as_deref() {
        Some("agentd") => agentd::about(),
        Some("feature") => feature::about(),
        Some("vibe") => vibe::about(),
        _ => String::new(),
    }
}

/// The tools of a parser, a line each.
fn lines(command: &Command) -> String {
    let width = command.get_subcommands().map(|it| it.get_name().len()).max().unwrap_or(0);
    let lines = command.get_subcommands().map(|it| {
        let about = it.get_about().map(ToString::to_string).unwrap_or_default();
        format!("  {:width$}  {about}", it.get_name())
    });
    format!("Tools:\n{}\n", lines.collect::<Vec<_>>().join("\n"))
}

/// The first word that is neither an option nor what one is given.
fn first_word(words: &[String]) -> Option<&str> {
    let mut words = words.iter();
    loop {
        match words.next()?.as_str() {
            "--repo-root" | "--format" => drop(words.next()),
            option if option.starts_with('-') => {}
            word => return Some(word),
        }
    }
}
