//! `loopwright stop`

use std::path::Path;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use loopwright_engine::EngineError;
use loopwright_engine::Message;
use loopwright_engine::journal::JournalError;

use serde_json::json;

use crate::error::CommandError;
use crate::progress::{self, Manner};
use crate::{session, show};

/// So long somebody who drives the run is waited for.
const PATIENCE: Duration = Duration::from_secs(30);

/// End a run, whatever it does
#[derive(clap::Args, Debug)]
pub(crate) struct StopArgs {
    /// The run, or the beginning of its name
    run: String,
    /// Why, for the record
    #[arg(long, default_value = "")]
    reason: String,
    /// As JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn cmd_stop(arguments: &StopArgs) -> Result<ExitCode, CommandError> {
    let engine = progress::ender(&Manner::plain(arguments.json))?;
    let name = session::find_run(&engine, &arguments.run)?.run.name;
    let (_, run) = engine.read(&name).map_err(session::told)?;
    if run.is_over() {
        return Err(CommandError::user(format!("the run `{name}` is over already")));
    }
    if run.site.as_ref().is_some_and(|it| !Path::new(&it.folder).is_dir()) {
        engine.end(&name, &arguments.reason).map_err(session::told)?;
        ended(&name, arguments.json);
        return Ok(ExitCode::SUCCESS);
    }
    session::leave(&engine, &name, &Message::Stop { reason: arguments.reason.clone() })?;
    let cancel = session::cancel_on_interrupt();
    let begun = Instant::now();
    loop {
        match engine.drive(&name, &cancel) {
            Ok(_) => {
                ended(&name, arguments.json);
                return Ok(ExitCode::SUCCESS);
            }
            // Whoever drives it hears of it within a second, ends what is at work and lets go.
            Err(EngineError::Journal(JournalError::Held { .. }))
                if begun.elapsed() < PATIENCE && !cancel.is_called_off() =>
            {
                std::thread::sleep(Duration::from_millis(50));
            }
            Err(EngineError::Journal(JournalError::Held { holder, .. })) => {
                show::out(&if arguments.json {
                    format!("{}\n", json!({"run": name, "ended": false, "driver": holder}))
                } else {
                    format!("{name}: {holder} drives it and was told to end it\n")
                });
                return Ok(ExitCode::SUCCESS);
            }
            Err(error) => return Err(session::told(error)),
        }
    }
}

fn ended(name: &str, json: bool) {
    show::out(&if json {
        format!("{}\n", json!({"run": name, "ended": true}))
    } else {
        format!("{name}: ended\n")
    });
}
