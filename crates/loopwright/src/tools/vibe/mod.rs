//! Tools for a `.vibe` folder, with the words and fields of the tool that people have them from.

mod begin;
mod decide;
mod files;
mod record;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{CommandFactory as _, Parser as _};

use self::files::Folder;
use super::output::{Format, Output};
use super::{Around, first_word, lines};
use crate::commands::drive;
use crate::error::CommandError;
use crate::progress::MannerArgs;

/// The tool that is told more than it can know of.
const ADD_CHECKPOINT: &str = "add-checkpoint";

/// Tools for a `.vibe` folder
#[derive(clap::Parser, Debug)]
struct VibeArgs {
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
    /// Say what is to be done next, and why; runs the demo commands of a checkpoint in review
    Next(JsonArgs),
    /// Say where the work stands and what is next
    Status(decide::StatusArgs),
    /// Look for mistakes in STATE.md, PLAN.md and the catalog of prompts
    Validate(files::ValidateArgs),
    /// Record what a loop came to
    LoopResult(record::LoopResultArgs),
    /// Work through the plan until it is done or a person is needed
    Run(RunArgs),
    /// Begin a `.vibe` folder
    Init(JsonArgs),
    /// Add a checkpoint to the plan
    AddCheckpoint(begin::AddCheckpointArgs),
}

#[derive(clap::Args, Debug)]
struct JsonArgs {
    /// The same as `--format json`
    #[arg(long)]
    json: bool,
}

#[derive(clap::Args, Debug)]
struct RunArgs {
    #[command(flatten)]
    manner: MannerArgs,
}

pub(super) fn tool(around: &Around<'_>, words: &[String]) -> Option<Result<ExitCode, CommandError>> {
    let word = first_word(words)?;
    VibeArgs::command().get_subcommands().find(|it| it.get_name() == word)?;
    let name = format!("loopwright {}", around.name);
    let at = words.iter().position(|it| it == ADD_CHECKPOINT).filter(|_| word == ADD_CHECKPOINT);
    let (before, after) = words.split_at(at.map_or(words.len(), |it| it + 1));
    let words = before.iter().cloned().chain(begin::in_order(after));
    let parsed = VibeArgs::try_parse_from(std::iter::once(name).chain(words));
    // As clap itself would: it prints what is asked for, or what is wrong, and ends.
    let arguments = parsed.unwrap_or_else(|error| error.exit());
    Some(act(around, &arguments))
}

pub(super) fn about() -> String {
    lines(&VibeArgs::command())
}

fn act(around: &Around<'_>, arguments: &VibeArgs) -> Result<ExitCode, CommandError> {
    let as_json = arguments.format == Some(Format::Json);
    let output = |json: bool| Output { json: json || as_json };
    let folder = || Folder::meant(arguments.repo_root.is_some());
    match &arguments.tool {
        Tool::Next(tool) => decide::cmd_next(around, &folder()?, output(tool.json)),
        Tool::Status(tool) => decide::cmd_status(around, &folder()?, tool, output(tool.json)),
        Tool::Validate(tool) => Ok(files::cmd_validate(&folder()?, tool, output(tool.json))),
        Tool::LoopResult(tool) => record::cmd_loop_result(&folder()?, tool, output(tool.json)),
        Tool::Run(tool) => {
            let mut manner = tool.manner.clone();
            manner.json |= as_json;
            drive(around, &manner)
        }
        Tool::Init(tool) => begin::cmd_init(&folder()?, output(tool.json)),
        Tool::AddCheckpoint(tool) => begin::cmd_add_checkpoint(&folder()?, tool, output(tool.json)),
    }
}
