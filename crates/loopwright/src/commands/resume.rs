//! `loopwright resume`

use std::process::ExitCode;

use loopwright_core::machine::Stage;
use loopwright_engine::Message;

use crate::error::CommandError;
use crate::{progress, session};

/// Take a run up where it was left
#[derive(clap::Args, Debug)]
pub(crate) struct ResumeArgs {
    /// The run, or the beginning of its name
    run: String,
    /// An answer given beforehand
    #[arg(long = "answer", value_name = "QUESTION=ANSWER")]
    answers: Vec<String>,
    /// Never ask at the terminal
    #[arg(long)]
    unattended: bool,
    /// One event a line, as JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn cmd_resume(arguments: &ResumeArgs) -> Result<ExitCode, CommandError> {
    let engine = progress::engine_of_runs(arguments.json, &arguments.answers, !arguments.unattended)?;
    let name = session::find_run(&engine, &arguments.run)?.run.name;
    let (_, run) = engine.read(&name).map_err(session::told)?;
    // One that was imported or edited goes on only when somebody says so, and somebody just did.
    if run.at.stage == Stage::Paused {
        session::leave(
            &engine,
            &name,
            &Message::Say { verb: "resume".into(), inputs: indexmap::IndexMap::new() },
        )?;
    }
    let standing = engine.drive(&name, &session::cancel_on_interrupt()).map_err(session::told)?;
    progress::stands(&engine, &name, &standing, arguments.json)
}
