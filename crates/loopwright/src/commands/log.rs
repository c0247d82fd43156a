//! `loopwright log`

use std::process::ExitCode;

use loopwright_core::machine::{Event, Evidence};
use serde_json::json;

use crate::error::CommandError;
use crate::{progress, session, show};

/// Print what happened in a run, from its beginning
#[derive(clap::Args, Debug)]
pub(crate) struct LogArgs {
    /// The run, or the beginning of its name
    run: String,
    /// What was kept under this name: a prompt, a transcript, a log, a patch
    #[arg(long, value_name = "NAME")]
    kept: Option<String>,
    /// As JSON, one event a line
    #[arg(long)]
    json: bool,
}

pub(crate) fn cmd_log(arguments: &LogArgs) -> Result<ExitCode, CommandError> {
    let engine = progress::engine(false, &[], false)?;
    if let Some(kept) = &arguments.kept {
        let bytes = engine.journal.blob(kept).map_err(|it| session::told(it.into()))?;
        let bytes = bytes.ok_or_else(|| {
            CommandError::user(format!("nothing is kept under `{kept}`"))
                .hinted("`loopwright log RUN` lists names")
        })?;
        show::out(&String::from_utf8_lossy(&bytes));
        return Ok(ExitCode::SUCCESS);
    }
    let name = session::find_run(&engine, &arguments.run)?.run.name;
    let events = engine.journal.events(&name, 0).map_err(|it| session::told(it.into()))?;
    for stored in events {
        if arguments.json {
            show::out(&format!("{}\n", json!({"seq": stored.seq, "at": stored.at, "event": stored.event})));
        } else if let Some(line) = line(&stored.event) {
            show::out(&format!("{:>5}  {line}\n", stored.seq));
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// One event in words.
fn line(event: &Event) -> Option<String> {
    let because = |text: &str| if text.is_empty() { String::new() } else { format!(": {text}") };
    Some(match event {
        Event::Started(started) => {
            let verb = started.verb.as_ref().map(|it| format!(" with `{it}`")).unwrap_or_default();
            format!("began{verb}, about `{}`", started.subject)
        }
        Event::Placed(site) => format!("works in {}", site.folder),
        Event::Issued { effect, attempt, values } => {
            let kept = values.as_object().into_iter().flatten();
            let kept: Vec<String> = kept
                .filter(|(name, it)| name.starts_with("prompt") && it.is_string())
                .map(|(name, it)| format!("{name} {}", it.as_str().unwrap_or_default()))
                .collect();
            let again = if *attempt > 1 { format!(", try {attempt}") } else { String::new() };
            format!(
                "{effect} begun{again}{}",
                if kept.is_empty() { String::new() } else { format!(" ({})", kept.join(", ")) }
            )
        }
        Event::Settled { effect, evidence: Evidence::Out(outcome) } => {
            let kept: Vec<String> = outcome.kept.iter().map(|(name, it)| format!("{name} {it}")).collect();
            let kept = if kept.is_empty() { String::new() } else { format!(" ({})", kept.join(", ")) };
            format!("{effect} came out as {}{}{kept}", outcome.signal, because(&outcome.summary))
        }
        Event::Settled { effect, evidence: Evidence::Items { ids, .. } } => {
            format!("{effect}: {}", show::counted(ids.len(), "item"))
        }
        Event::Settled { effect, evidence: Evidence::Observed(seen) } => {
            let facts: Vec<String> = seen.facts.iter().map(|(name, it)| format!("{name} is {it}")).collect();
            if facts.is_empty() {
                return None;
            }
            format!("{effect}: {}", facts.join(", "))
        }
        Event::Said { verb, .. } => format!("somebody said `{verb}`"),
        Event::Raised { budget, by } => format!("somebody raised `{budget}` by {by}"),
        Event::Landed { phase, .. } => format!("somebody edited it to `{phase}`"),
        Event::Stopped { reason } => format!("somebody ended it{}", because(reason)),
    })
}
