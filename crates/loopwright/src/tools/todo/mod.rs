//! `loopwright todo`: issues as plain files in a `TODO` folder.
//!
//! Readers and writers of the format are `loopwright_formats::todo`; numbers come from the journal that all worktrees share.
//! Nothing is committed here, and what a verb does not say stays as it was.

mod check;
mod elsewhere;
mod issues;
mod list;
mod new;
mod place;
mod renumber;
mod repair;
mod show;
mod turn;

use std::path::PathBuf;
use std::process::ExitCode;

use loopwright_formats::vibe::record::render;
use serde_json::Value;

use self::place::Place;
use super::output::Format;
use crate::error::CommandError;
use crate::show::{error_line, out};

/// Keep issues as plain files: what there is, what can be done now, what is done
///
/// An issue is a file `TODO/<ID>.md`; `TODO/README.md` lists them by category and is kept in step. They are yours to edit, and merge as
/// text does. In a folder below the repository the `TODO` folder at its root is meant.
#[derive(clap::Args, Debug)]
pub(crate) struct TodoArgs {
    /// The project
    #[arg(long, global = true, value_name = "FOLDER")]
    repo_root: Option<PathBuf>,
    /// How the answer is written
    #[arg(long, global = true, value_name = "FORMAT")]
    format: Option<Format>,
    /// The same as `--format json`
    #[arg(long, global = true)]
    json: bool,
    #[command(subcommand)]
    tool: Tool,
}

#[derive(clap::Subcommand, Debug)]
enum Tool {
    New(new::NewArgs),
    List(list::ListArgs),
    Show(show::ShowArgs),
    Ready(list::ReadyArgs),
    Start(turn::StartArgs),
    Done(turn::DoneArgs),
    Comment(turn::CommentArgs),
    Tree(list::TreeArgs),
    Check(check::CheckArgs),
    Renumber(renumber::RenumberArgs),
}

pub(crate) fn cmd_todo(arguments: &TodoArgs) -> Result<ExitCode, CommandError> {
    let place = Place::meant(arguments.repo_root.as_deref())?;
    let answer = Answer { json: arguments.json || arguments.format == Some(Format::Json) };
    match &arguments.tool {
        Tool::New(tool) => new::cmd_new(&place, tool, answer),
        Tool::List(tool) => list::cmd_list(&place, tool, answer),
        Tool::Show(tool) => show::cmd_show(&place, tool, answer),
        Tool::Ready(tool) => list::cmd_ready(&place, tool, answer),
        Tool::Start(tool) => turn::cmd_start(&place, tool, answer),
        Tool::Done(tool) => turn::cmd_done(&place, tool, answer),
        Tool::Comment(tool) => turn::cmd_comment(&place, tool, answer),
        Tool::Tree(tool) => list::cmd_tree(&place, tool, answer),
        Tool::Check(tool) => check::cmd_check(&place, tool, answer),
        Tool::Renumber(tool) => renumber::cmd_renumber(&place, tool, answer),
    }
}

/// How an answer is written.
#[derive(Clone, Copy)]
struct Answer {
    json: bool,
}

impl Answer {
    /// The one or the other, to stdout.
    fn give(self, value: impl FnOnce() -> Value, text: impl FnOnce() -> String) {
        if self.json {
            out(&render(&value()));
        } else {
            out(&text());
        }
    }
}

/// Says what was not asked for and should be known.
fn notes(lines: &[String]) {
    for line in lines {
        error_line(&format!("note: {line}"));
    }
}
