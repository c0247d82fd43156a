//! `loopwright show`

use std::fmt::Write as _;
use std::process::ExitCode;

use indexmap::IndexMap;
use loopwright_core::machine::RunView;
use serde_json::json;

use crate::error::CommandError;
use crate::{moves, progress, session, show};

/// Show where a run stands, and what would move it
#[derive(clap::Args, Debug)]
pub(crate) struct ShowArgs {
    /// The run, or the beginning of its name
    run: String,
    /// As JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn cmd_show(arguments: &ShowArgs) -> Result<ExitCode, CommandError> {
    let engine = progress::reader()?;
    let line = session::find_run(&engine, &arguments.run)?;
    let name = &line.run.name;
    let (definition, run) = engine.read(name).map_err(session::told)?;
    let view = RunView::of(&definition.workflow, &run);
    let says = engine.says(name, (&definition, &run));
    if arguments.json {
        let shows: IndexMap<String, String> =
            moves::of(&engine, name)?.map(|it| it.shows.into_iter().collect()).unwrap_or_default();
        let shown = json!({
            "run": name, "view": view, "status": super::list::status(&engine, &line), "says": says, "events": line.last,
            "shows": shows,
        });
        show::out(&format!("{shown}\n"));
        return Ok(ExitCode::SUCCESS);
    }
    let mut text = format!("{name}: {} {}\n", view.workflow, view.subject);
    let mut row = |what: &str, value: String| {
        if !value.is_empty() {
            let _ = writeln!(text, "  {what:<12} {value}");
        }
    };
    let visit = if view.visit > 1 { format!(", visit {}", view.visit) } else { String::new() };
    row("stands", format!("{} ({}{visit}): {}", view.state, view.kind, super::list::status(&engine, &line)));
    row("says", says.map(|it| it.split_whitespace().collect::<Vec<_>>().join(" ")).unwrap_or_default());
    row("phase", view.phase.as_deref().unwrap_or_default().to_owned());
    row("because", progress::because(&run).unwrap_or_default());
    let left: Vec<String> = view.left.iter().map(|(name, it)| format!("{name} {it}")).collect();
    row("left", left.join(", "));
    let calls: Vec<String> = view.calls.iter().map(|(role, it)| format!("{role} {it}")).collect();
    row("calls", calls.join(", "));
    let gates: Vec<String> = run
        .gates
        .iter()
        .map(|(gate, it)| format!("{gate} {}", if it.forced { "forced" } else { "passed" }))
        .collect();
    row("gates", gates.join(", "));
    let open: Vec<String> = run
        .ledger
        .findings
        .values()
        .filter(|it| it.closed.is_none())
        .map(|it| format!("{}: {}", it.severity, it.text))
        .collect();
    row("findings", open.join("; "));
    let forced: Vec<&str> = view.forced.iter().map(|it| &**it).collect();
    row("passed over", forced.join(", "));
    let moves = moves::of(&engine, name)?;
    if let Some(moves) = &moves {
        row("asks about", moves.open.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "));
        row(moves.waits.label(), moves.text.split_whitespace().collect::<Vec<_>>().join(" "));
        for (what, command) in moves.rows() {
            row(what, command.to_owned());
        }
    }
    show::out(&show::wrapped(&text, 15));
    // As it is: whoever answers has to see what it is about.
    show::out(&moves.map(|it| moves::whole(&it.shows)).unwrap_or_default());
    Ok(ExitCode::SUCCESS)
}
