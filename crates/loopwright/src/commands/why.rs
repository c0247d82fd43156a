//! `loopwright why`

use std::fmt::Write as _;
use std::process::ExitCode;

use loopwright_core::machine::{Event, Evidence, Run, Want, due, outdated};
use loopwright_engine::Definition;
use serde_json::json;

use crate::error::CommandError;
use crate::{progress, session, show};

/// Explain how a run came to where it is, and what would move it
#[derive(clap::Args, Debug)]
pub(crate) struct WhyArgs {
    /// The run, or the beginning of its name
    run: String,
    /// As JSON, one step a line
    #[arg(long)]
    json: bool,
}

pub(crate) fn cmd_why(arguments: &WhyArgs) -> Result<ExitCode, CommandError> {
    let engine = progress::reader()?;
    let name = session::find_run(&engine, &arguments.run)?.run.name;
    let (definition, last) = engine.read(&name).map_err(session::told)?;
    let mut text = format!("{name}: {} {}\n", definition.workflow.name, last.subject);
    let mut before: Option<Run> = None;
    for (stored, run) in engine.history(&name, &definition).map_err(session::told)? {
        let changed = changed_since(before.as_ref(), &stored.event);
        before = Some(run.clone());
        let summary = match &stored.event {
            Event::Settled { evidence: Evidence::Out(outcome), .. } => outcome.summary.as_str(),
            _ => "",
        };
        for (at, taken) in run.taken.iter().enumerate() {
            // What came back led to the first step only; the others were passed at once.
            let said = if at == 0 { summary } else { "" };
            if arguments.json {
                let step = json!({
                    "event": stored.seq, "state": taken.state, "signal": taken.signal, "to": taken.to,
                    "spent": taken.spent, "summary": said,
                });
                show::out(&format!("{step}\n"));
                continue;
            }
            let spent =
                taken.spent.as_ref().map(|it| format!(", which spent one of `{it}`")).unwrap_or_default();
            let said = if said.is_empty() { String::new() } else { format!(" ({said})") };
            let came = match &*taken.signal {
                "*" => format!("  `{}` chose `{}`{spent}", taken.state, taken.to),
                "stale" => {
                    format!("  `{}` found {changed}, so it went to `{}`{spent}", taken.state, taken.to)
                }
                signal => format!(
                    "  `{}` came out as {signal}{said}, so it went to `{}`{spent}",
                    taken.state, taken.to
                ),
            };
            text.push_str(&came);
            text.push('\n');
        }
    }
    if !arguments.json {
        text.push_str(&moves(&definition, &last, &name));
        show::out(&show::wrapped(&text, 4));
    }
    Ok(ExitCode::SUCCESS)
}

/// What a state found that needs gates which are not settled.
fn changed_since(run: Option<&Run>, event: &Event) -> String {
    let gates: Vec<String> = match (run, event) {
        (Some(run), Event::Settled { evidence: Evidence::Observed(seen), .. }) => {
            outdated(run, seen).iter().map(|it| format!("`{it}`")).collect()
        }
        _ => Vec::new(),
    };
    if gates.is_empty() {
        return "a gate not settled".to_owned();
    }
    format!("that what {} passed has changed since", gates.join(" and "))
}

/// Where it stands, and what would move it.
fn moves(definition: &Definition, run: &Run, name: &str) -> String {
    let state = &run.at.state;
    if run.is_over() {
        return format!("It is over, at `{state}`.\n");
    }
    let cells = run.state(&definition.workflow).map(|it| &it.cells);
    let mut text = match due(&definition.workflow, run).first().map(|it| it.want.clone()) {
        Some(Want::Await { .. }) => format!("It rests at `{state}` until somebody says one of its verbs.\n"),
        Some(Want::Ask { question, finding }) => {
            let about = due(&definition.workflow, run).into_iter().filter_map(|it| match it.want {
                Want::Ask { finding, .. } => finding,
                _ => None,
            });
            let about: Vec<String> = about.collect();
            let about =
                if finding.is_some() { format!(" about {}", about.join(", ")) } else { String::new() };
            format!("It asks `{question}`{about} at `{state}`; `loopwright answer {name} ...` moves it.\n")
        }
        _ if run.at.until.is_some_and(|it| it > session::now()) => {
            let until = loopwright_engine::time(run.at.until.unwrap_or_default());
            format!(
                "What is due in `{state}` was put off until {until}; `loopwright log {name}` says why, and `loopwright resume {name}` waits for it.\n"
            )
        }
        _ => format!("It is at work in `{state}`; if nobody drives it, `loopwright resume {name}` does.\n"),
    };
    for (signal, cell) in cells.into_iter().flatten() {
        let to: Vec<String> = cell.arms.iter().map(|it| format!("`{}`", it.to)).collect();
        let _ = writeln!(text, "  {signal} would lead to {}", to.join(" or "));
    }
    text
}
