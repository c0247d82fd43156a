//! `loopwright resume`

use std::process::ExitCode;

use loopwright_core::machine::Stage;
use loopwright_engine::Message;

use crate::error::CommandError;
use crate::progress::{self, Manner, Unattended};
use crate::{background, live, session};

/// Take a run up where it was left
#[derive(clap::Args, Debug)]
pub(crate) struct ResumeArgs {
    /// The run, or the beginning of its name
    run: String,
    /// An answer given beforehand
    #[arg(long = "answer", value_name = "QUESTION=ANSWER")]
    answers: Vec<String>,
    /// Ask nothing at the terminal; what becomes of questions
    #[arg(long, value_name = "POLICY")]
    unattended: Option<Unattended>,
    /// In the background: returns once the run is taken up
    #[arg(long)]
    detach: bool,
    /// One event a line, as JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn cmd_resume(arguments: &ResumeArgs) -> Result<ExitCode, CommandError> {
    if arguments.detach && !background::is_here() {
        return background::start(arguments.json);
    }
    let engine = progress::engine_of_runs(&Manner {
        json: arguments.json,
        answers: arguments.answers.clone(),
        unattended: arguments.unattended,
    })?;
    let name = session::find_run(&engine, &arguments.run)?.run.name;
    let (definition, run) = engine.read(&name).map_err(session::told)?;
    live::paid(&engine.account(&name, &definition).map_err(session::told)?.cost);
    if arguments.detach && run.is_over() {
        return Err(CommandError::user(format!("the run `{name}` is over"))
            .hinted(format!("`loopwright show {name}` says how it came out")));
    }
    // One that was imported or edited goes on only when somebody says so, and somebody just did.
    if run.at.stage == Stage::Paused {
        session::leave(
            &engine,
            &name,
            &Message::Say { verb: "resume".into(), inputs: indexmap::IndexMap::new() },
        )?;
    }
    let cancel = session::cancel_on_interrupt();
    let driver = engine.take_up(&name, &cancel).map_err(session::told)?;
    if background::is_here() {
        background::let_go(&engine.home, &name)?;
    }
    let standing = driver.drive().map_err(session::told)?;
    progress::stands(&engine, &name, &standing, arguments.json)
}
