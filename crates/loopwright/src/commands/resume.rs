//! `loopwright resume`

use std::process::ExitCode;

use loopwright_engine::Message;

use crate::error::CommandError;
use crate::progress::{self, MannerArgs};
use crate::session::RESUME;
use crate::{background, live, session};

/// Take a run up where it was left
#[derive(clap::Args, Debug)]
pub(crate) struct ResumeArgs {
    /// The run, or the beginning of its name
    run: String,
    #[command(flatten)]
    manner: MannerArgs,
}

pub(crate) fn cmd_resume(arguments: &ResumeArgs) -> Result<ExitCode, CommandError> {
    if arguments.manner.detach && !background::is_here() {
        return background::start(arguments.manner.json);
    }
    let engine = progress::engine_of_runs(&arguments.manner.manner())?;
    let name = session::find_run(&engine, &arguments.run)?.run.name;
    let (definition, run) = engine.read(&name).map_err(session::told)?;
    live::paid(&engine.account(&name, &definition).map_err(session::told)?.cost);
    if arguments.manner.detach && run.is_over() {
        return Err(CommandError::user(format!("the run `{name}` is over"))
            .hinted(format!("`loopwright show {name}` says how it came out")));
    }
    // One that rests goes on only when somebody says so, and somebody just did.
    let waiting = session::who_waits(&engine, &name)?;
    if session::waits_for(&engine, &waiting, RESUME)? {
        let message = Message::Say { verb: RESUME.into(), inputs: indexmap::IndexMap::new() };
        session::leave(&engine, &waiting, &message)?;
    }
    let cancel = session::cancel_on_interrupt();
    let driver = engine.take_up(&name, &cancel).map_err(session::told)?;
    if background::is_here() {
        background::let_go(&engine.home, &name)?;
    }
    let standing = driver.drive().map_err(session::told)?;
    progress::stands(&engine, &name, &standing, arguments.manner.json)
}
