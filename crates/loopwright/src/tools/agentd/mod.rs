//! Tools for an `agentd/` folder: they only look.

mod changes;
mod list;
mod show;
mod validate;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{CommandFactory as _, Parser as _};
use loopwright_core::definition::VerbElse;

use self::changes::Changes;
use super::output::Format;
use super::{Around, first_word, lines};
use crate::commands;
use crate::error::{self, CommandError};
use crate::show::out;

/// Tools for an `agentd/` folder
#[derive(clap::Parser, Debug)]
struct AgentdArgs {
    /// The project
    #[arg(long, global = true, value_name = "FOLDER")]
    repo_root: Option<PathBuf>,
    /// How the answer is written
    #[arg(long, global = true, value_name = "FORMAT")]
    format: Option<Format>,
    #[command(subcommand)]
    tool: Tool,
}

#[derive(clap::Subcommand, Debug)]
enum Tool {
    /// Say how far a change is: its phase, its verdicts, its tasks
    Show(show::ShowArgs),
    /// Say what changes there are
    List(list::ListArgs),
    /// Look for mistakes in a change, or in all of them
    Validate(validate::ValidateArgs),
}

pub(super) fn tool(around: &Around<'_>, words: &[String]) -> Option<Result<ExitCode, CommandError>> {
    let word = first_word(words)?;
    if around.workflow.verbs.contains_key(word) {
        return archived(around, word, words).transpose();
    }
    AgentdArgs::command().get_subcommands().find(|it| it.get_name() == word)?;
    let name = format!("loopwright {}", around.name);
    let parsed = AgentdArgs::try_parse_from(std::iter::once(&name).chain(words));
    // As clap itself would: it prints what is asked for, or what is wrong, and ends.
    let arguments = parsed.unwrap_or_else(|error| error.exit());
    let as_json = arguments.format == Some(Format::Json);
    Some(match &arguments.tool {
        Tool::Show(tool) => show::cmd_show(tool, tool.json || as_json),
        Tool::List(tool) => list::cmd_list(tool, tool.json || as_json),
        Tool::Validate(tool) => validate::cmd_validate(tool, tool.json || as_json),
    })
}

pub(super) fn about() -> String {
    lines(&AgentdArgs::command())
}

/// Why no run hears a verb about a change: nobody planned it.
pub(super) fn unheard(verb: &str, id: &str) -> Option<CommandError> {
    Changes::here().ok().filter(|it| it.is_open(id) && !it.has_state(id))?;
    let why = format!(
        "{id} has no STATE.yaml, so it was never planned; `loopwright change plan {id}` takes up what is there"
    );
    Some(CommandError::with_code(format!("{}: {why}", refusal(verb)), error::NOT_PROVED))
}

/// What a refusal of a verb is called.
fn refusal(verb: &str) -> &'static str {
    if verb == "archive" { "ChangeNotComplete" } else { "ChangeNotReady" }
}

/// What a verb says to a change that is archived: its files are where no run looks for them.
fn archived(around: &Around<'_>, verb: &str, words: &[String]) -> Result<Option<ExitCode>, CommandError> {
    let Some(id) = commands::subject_of(around.workflow, words) else { return Ok(None) };
    let changes = Changes::here()?;
    let otherwise = around.workflow.verbs.get(verb).and_then(|it| it.otherwise.as_ref());
    if changes.is_open(&id) {
        return Ok(None);
    }
    let Some(folder) = changes.archived(&id) else { return Ok(None) };
    let told = format!("{id} is archived, in {}", changes.within(&folder));
    if let Some(VerbElse::Say(_)) = otherwise {
        out(&format!("{told}; a new change needs an id of its own\n"));
        return Ok(Some(ExitCode::SUCCESS));
    }
    Err(CommandError::with_code(format!("{}: {told}", refusal(verb)), error::NOT_PROVED))
}
