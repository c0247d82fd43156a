//! `loopwright stop`

use std::process::ExitCode;

use loopwright_engine::EngineError;
use loopwright_engine::Message;
use loopwright_engine::journal::JournalError;

use crate::error::CommandError;
use crate::{progress, session, show};

/// End a run, whatever it does
#[derive(clap::Args, Debug)]
pub(crate) struct StopArgs {
    /// The run, or the beginning of its name
    run: String,
    /// Why, for the record
    #[arg(long, default_value = "")]
    reason: String,
}

pub(crate) fn cmd_stop(arguments: &StopArgs) -> Result<ExitCode, CommandError> {
    let engine = progress::engine_of_runs(false, &[], false)?;
    let name = session::find_run(&engine, &arguments.run)?.run.name;
    let (_, run) = engine.read(&name).map_err(session::told)?;
    if run.is_over() {
        return Err(CommandError::user(format!("the run `{name}` is over already")));
    }
    session::leave(&engine, &name, &Message::Stop { reason: arguments.reason.clone() })?;
    match engine.drive(&name, &session::cancel_on_interrupt()) {
        Ok(_) => show::out(&format!("{name}: ended\n")),
        Err(EngineError::Journal(JournalError::Held { holder, .. })) => {
            show::out(&format!("{name}: {holder} drives it and was told to end it\n"));
        }
        Err(error) => return Err(session::told(error)),
    }
    Ok(ExitCode::SUCCESS)
}
