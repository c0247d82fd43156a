//! `loopwright log`

use std::collections::BTreeSet;
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
    /// What was kept under this name, or the beginning of it: a prompt, a transcript, a log, a patch
    #[arg(long, visible_alias = "blob", value_name = "NAME")]
    kept: Option<String>,
    /// As JSON, one event a line
    #[arg(long)]
    json: bool,
}

pub(crate) fn cmd_log(arguments: &LogArgs) -> Result<ExitCode, CommandError> {
    let engine = progress::reader()?;
    let name = session::find_run(&engine, &arguments.run)?.run.name;
    let events = engine.journal.events(&name, 0).map_err(|it| session::told(it.into()))?;
    let all: BTreeSet<&str> = events.iter().flat_map(|it| kept(&it.event)).map(|(_, it)| it).collect();
    if let Some(wanted) = &arguments.kept {
        let bytes = engine.journal.blob(meant(&all, wanted)?).map_err(|it| session::told(it.into()))?;
        let bytes = bytes.ok_or_else(|| {
            CommandError::user(format!("what was kept under `{wanted}` is not there any more"))
        })?;
        show::out(&String::from_utf8_lossy(&bytes));
        return Ok(ExitCode::SUCCESS);
    }
    let length = told_apart(&all);
    for stored in &events {
        if arguments.json {
            show::out(&format!("{}\n", json!({"seq": stored.seq, "at": stored.at, "event": stored.event})));
        } else if let Some(line) = line(&stored.event) {
            let kept: Vec<String> = kept(&stored.event)
                .into_iter()
                .map(|(name, it)| format!("{name} {}", it.get(..length).unwrap_or(it)))
                .collect();
            let kept = if kept.is_empty() { String::new() } else { format!(" ({})", kept.join(", ")) };
            show::out(&format!("{:>5}  {line}{kept}\n", stored.seq));
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// What is kept about an event: what it is, and the name of it.
fn kept(event: &Event) -> Vec<(&str, &str)> {
    match event {
        Event::Issued { values, .. } => {
            let values = values.as_object().into_iter().flatten();
            let prompts = values.filter(|(name, _)| name.starts_with("prompt"));
            prompts.filter_map(|(name, it)| Some((name.as_str(), it.as_str()?))).collect()
        }
        Event::Settled { evidence: Evidence::Out(outcome), .. } | Event::Heard { outcome, .. } => {
            outcome.kept.iter().map(|(name, it)| (name.as_str(), it.as_str())).collect()
        }
        Event::PutOff { kept, .. } => kept.iter().map(|(name, it)| (name.as_str(), it.as_str())).collect(),
        _ => Vec::new(),
    }
}

/// The one that is meant by the beginning of its name.
fn meant<'n>(all: &BTreeSet<&'n str>, wanted: &str) -> Result<&'n str, CommandError> {
    let found: Vec<&str> = all.iter().copied().filter(|it| it.starts_with(wanted)).collect();
    match found.as_slice() {
        [one] => Ok(one),
        [] => Err(CommandError::user(format!("nothing of this run is kept under `{wanted}`"))
            .hinted("`loopwright log RUN` lists names")),
        several => Err(session::ambiguous(wanted, several.iter().copied())),
    }
}

/// So many letters tell names apart; not fewer than people take for a name.
fn told_apart(all: &BTreeSet<&str>) -> usize {
    let same = |(one, other): (&&str, &&str)| {
        one.bytes().zip(other.bytes()).take_while(|(one, other)| one == other).count() + 1
    };
    // In order, the one that is most alike stands beside it.
    all.iter().zip(all.iter().skip(1)).map(same).max().unwrap_or(0).max(8)
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
        Event::Issued { effect, attempt, values, .. } => {
            let again = if *attempt > 1 { format!(", try {attempt}") } else { String::new() };
            let by = values["agent"].as_str().map(|it| format!(" by {it}")).unwrap_or_default();
            format!("{effect} begun{by}{again}")
        }
        Event::Settled { effect, evidence: Evidence::Out(outcome) } => {
            let note =
                if outcome.note.is_empty() { String::new() } else { format!(", noting: {}", outcome.note) };
            // What a command of one's own costs, nobody knows; that need not be said each time.
            let cost = show::known_cost(&outcome.cost);
            let cost = if cost.is_empty() { cost } else { format!(" [{}]", show::cost(&outcome.cost)) };
            format!("{effect} came out as {}{}{note}{cost}", outcome.signal, because(&outcome.summary))
        }
        Event::Settled { effect, evidence: Evidence::Items(listed) } => {
            let there = match listed.there.len() {
                0 => String::new(),
                some => format!(", {some} of them there already"),
            };
            format!("{effect}: {}{there}", show::counted(listed.ids.len(), "item"))
        }
        Event::Settled { effect, evidence: Evidence::Observed(seen) } => {
            let facts: Vec<String> = seen.facts.iter().map(|(name, it)| format!("{name} is {it}")).collect();
            if facts.is_empty() {
                return None;
            }
            format!("{effect}: {}", facts.join(", "))
        }
        Event::Heard { effect, outcome, .. } => {
            let cost = show::known_cost(&outcome.cost);
            let cost = if cost.is_empty() { cost } else { format!(" [{}]", show::cost(&outcome.cost)) };
            let because = because(&outcome.summary);
            format!("{effect} was heard, for its turn: {}{because}{cost}", outcome.signal)
        }
        Event::PutOff { effect, why, .. } => format!("{effect} was put off{}", because(why)),
        Event::Said { verb, .. } => format!("somebody said `{verb}`"),
        Event::Jobs { most } => {
            format!("somebody said that at most {most} items may be at work side by side")
        }
        Event::Raised { budget, by } => format!("somebody raised `{budget}` by {by}"),
        Event::Landed { phase, .. } => format!("somebody edited it to `{phase}`"),
        Event::Stopped { reason } => format!("somebody ended it{}", because(reason)),
        // What documents show follows from the rest.
        Event::Shown(_) | Event::Dropped { .. } => return None,
    })
}
