//! `loop-result`: what a loop came to, recorded for STATE.md as it is.

use std::io::Read as _;
use std::process::ExitCode;

use loopwright_engine::time;
use loopwright_formats::vibe::{LOOP_RESULT, record};
use serde_json::json;

use super::super::output::Output;
use super::files::Folder;
use crate::error::{self, CommandError};
use crate::session;

#[derive(clap::Args, Debug)]
pub(super) struct LoopResultArgs {
    #[command(flatten)]
    given: GivenArgs,
    /// The same as `--format json`
    #[arg(long)]
    pub(super) json: bool,
}

/// Where the result comes from: one of these.
#[derive(clap::Args, Debug)]
#[group(required = true, multiple = false)]
struct GivenArgs {
    /// The line the agent ended with: `LOOP_RESULT: {...}`
    #[arg(long, value_name = "LINE", allow_hyphen_values = true)]
    line: Option<String>,
    /// The object alone
    #[arg(long, value_name = "JSON", allow_hyphen_values = true)]
    json_payload: Option<String>,
    /// Read either from the standard input
    #[arg(long)]
    stdin: bool,
}

pub(super) fn cmd_loop_result(
    folder: &Folder,
    arguments: &LoopResultArgs,
    output: Output,
) -> Result<ExitCode, CommandError> {
    let given = match (&arguments.given.line, &arguments.given.json_payload) {
        (Some(given), _) | (None, Some(given)) => given.clone(),
        (None, None) => {
            let mut given = String::new();
            let read = std::io::stdin().lock().read_to_string(&mut given);
            read.map_err(|it| CommandError::user(format!("the standard input cannot be read: {it}")))?;
            given
        }
    };
    let payload = record::payload(&given).map_err(|why| {
        CommandError::user(format!("this is no loop result: {why}"))
            .hinted("write `LOOP_RESULT: {\"loop\": ..., \"result\": ..., ...}`, on one line")
    })?;
    let (state, _) = folder.state()?;
    match record::check(&payload, &state) {
        Err(errors) => {
            output.write(&json!({"ok": false, "errors": errors}));
            Ok(ExitCode::from(error::NOT_LOADED))
        }
        Ok(checked) => {
            let record = record::accepted(checked, &time(session::now()));
            folder.write(LOOP_RESULT, &record::render(&record))?;
            let path = folder.root.join(LOOP_RESULT).to_string_lossy().into_owned();
            output.write(&json!({"ok": true, "loop_result_path": path, "recorded": record}));
            Ok(ExitCode::SUCCESS)
        }
    }
}
