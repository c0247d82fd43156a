//! `loopwright fork`

use std::process::ExitCode;

use serde_json::json;

use crate::error::CommandError;
use crate::{moves, progress, session, show};

/// Begin a new run where another one was
///
/// The new run has the same definition and the same past, and works on files of its own: in a worktree beside the
/// repository, as they were then. The other run is not changed.
#[derive(clap::Args, Debug)]
pub(crate) struct ForkArgs {
    /// The run, or the beginning of its name
    run: String,
    /// After this event (`loopwright log RUN` numbers them); the last, unless said
    #[arg(long, value_name = "EVENT")]
    at: Option<u64>,
    /// As JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn cmd_fork(arguments: &ForkArgs) -> Result<ExitCode, CommandError> {
    let engine = progress::reader()?;
    let name = session::find_run(&engine, &arguments.run)?.run.name;
    let forked = engine.fork(&name, arguments.at).map_err(session::told)?;
    let moves = moves::of(&engine, &forked.name)?;
    let commands = moves.map(|it| it.commands).unwrap_or_default();
    if arguments.json {
        let told = json!({
            "run": forked.name, "of": name, "at": forked.at, "state": forked.state, "folder": forked.folder,
            "branch": forked.branch, "commands": commands,
        });
        show::out(&format!("{told}\n"));
        return Ok(ExitCode::SUCCESS);
    }
    let typed: Vec<String> = commands.iter().map(|it| format!("`{it}`")).collect();
    show::out(&format!(
        "{}: forked from {name} after event {}, at `{}`\n  works in {} (branch `{}`)\n  go on with {}\n",
        forked.name,
        forked.at,
        forked.state,
        forked.folder.display(),
        forked.branch,
        typed.join(" or ")
    ));
    Ok(ExitCode::SUCCESS)
}
