//! `loopwright why`

use std::fmt::Write as _;
use std::process::ExitCode;

use loopwright_core::machine::{Event, Evidence, Run, Want, advance, begin, due};
use loopwright_engine::Definition;

use crate::error::CommandError;
use crate::{progress, session, show};

/// Explain how a run came to where it is, and what would move it
#[derive(clap::Args, Debug)]
pub(crate) struct WhyArgs {
    /// The run, or the beginning of its name
    run: String,
}

pub(crate) fn cmd_why(arguments: &WhyArgs) -> Result<ExitCode, CommandError> {
    let engine = progress::reader()?;
    let name = session::find_run(&engine, &arguments.run)?.run.name;
    let (definition, last) = engine.read(&name).map_err(session::told)?;
    let events = engine.journal.events(&name, 0).map_err(|it| session::told(it.into()))?;
    let mut text = format!("{name}: {} {}\n", definition.workflow.name, last.subject);
    let mut run: Option<Run> = None;
    for stored in &events {
        let next = match (&run, &stored.event) {
            (None, Event::Started(started)) => begin(&definition.workflow, started),
            (Some(run), event) => advance(&definition.workflow, run, event),
            (None, _) => continue,
        };
        let next =
            next.map_err(|it| CommandError::user(format!("event {} does not fit: {it}", stored.seq)))?;
        let summary = match &stored.event {
            Event::Settled { evidence: Evidence::Out(outcome), .. } if !outcome.summary.is_empty() => {
                format!(" ({})", outcome.summary)
            }
            _ => String::new(),
        };
        for (at, taken) in next.taken.iter().enumerate() {
            let spent =
                taken.spent.as_ref().map(|it| format!(", which spent one of `{it}`")).unwrap_or_default();
            let said = if at == 0 { summary.as_str() } else { "" };
            let came = match &*taken.signal {
                "*" => format!("  `{}` chose `{}`{spent}", taken.state, taken.to),
                "stale" => format!(
                    "  `{}` found a gate not settled, so it went to `{}`{spent}",
                    taken.state, taken.to
                ),
                signal => format!(
                    "  `{}` came out as {signal}{said}, so it went to `{}`{spent}",
                    taken.state, taken.to
                ),
            };
            text.push_str(&came);
            text.push('\n');
        }
        run = Some(next);
    }
    text.push_str(&moves(&definition, &last, &name));
    show::out(&show::wrapped(&text, 4));
    Ok(ExitCode::SUCCESS)
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
        Some(Want::Ask { question }) => {
            format!("It asks `{question}` at `{state}`; `loopwright answer {name} ...` moves it.\n")
        }
        _ => format!("It is at work in `{state}`; if nobody drives it, `loopwright resume {name}` does.\n"),
    };
    for (signal, cell) in cells.into_iter().flatten() {
        let to: Vec<String> = cell.arms.iter().map(|it| format!("`{}`", it.to)).collect();
        let _ = writeln!(text, "  {signal} would lead to {}", to.join(" or "));
    }
    text
}
