//! Tools for `docs/features/`: they only look.

mod features;
mod list;
mod show;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{CommandFactory as _, Parser as _};

use self::features::Features;
use super::output::Format;
use super::{Around, first_word, lines};
use crate::commands;
use crate::error::CommandError;
use crate::show::{error_line, out};

/// Tools for features
#[derive(clap::Parser, Debug)]
struct FeatureArgs {
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
    /// Say how far a feature is: its phases, what reviewers left open, what is due
    Show(show::ShowArgs),
    /// Say what features there are, in all worktrees
    List(list::ListArgs),
}

pub(super) fn tool(around: &Around<'_>, words: &[String]) -> Option<Result<ExitCode, CommandError>> {
    let word = first_word(words)?;
    if around.workflow.verbs.contains_key(word) {
        stands_elsewhere(around, words);
        return None;
    }
    FeatureArgs::command().get_subcommands().find(|it| it.get_name() == word)?;
    let name = format!("loopwright {}", around.name);
    let parsed = FeatureArgs::try_parse_from(std::iter::once(&name).chain(words));
    // As clap itself would: it prints what is asked for, or what is wrong, and ends.
    let arguments = parsed.unwrap_or_else(|error| error.exit());
    let as_json = arguments.format == Some(Format::Json);
    Some(match &arguments.tool {
        Tool::Show(tool) => show::cmd_show(around, tool, tool.json || as_json),
        Tool::List(tool) => list::cmd_list(around, tool, tool.json || as_json),
    })
}

pub(super) fn about() -> String {
    lines(&FeatureArgs::command())
}

/// Says once where a feature's files are, if somebody stands elsewhere. The run goes on there all the same.
fn stands_elsewhere(around: &Around<'_>, words: &[String]) {
    let Ok(features) = Features::of(around.workflow) else { return };
    let named = commands::subject_of(around.workflow, words);
    let named = named.and_then(|it| features.find(&it).ok());
    let active = || features.only_active();
    let Some(feature) = named.or_else(active) else { return };
    if let Some(place) = features.elsewhere(&feature) {
        error_line(&format!(
            "warning: {} is in its own worktree, {place}; what you see here is not what is worked on (`cd {place}`)",
            feature.name
        ));
    }
}

fn json(value: &serde_json::Value) {
    out(&format!("{}\n", serde_json::to_string_pretty(value).unwrap_or_default()));
}
