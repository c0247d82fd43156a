//! `loopwright status`

use std::fmt::Write as _;
use std::process::ExitCode;

use loopwright_core::machine::{Run, RunView};
use loopwright_engine::journal::RunLine;
use loopwright_engine::{Account, Definition, Engine};
use serde_json::json;

use crate::error::CommandError;
use crate::moves::{self, Moves};
use crate::{progress, session, show};

/// Say what runs, where it is, and what would move it
///
/// Without a run: all runs of this worktree that are not over.
#[derive(clap::Args, Debug)]
pub(crate) struct StatusArgs {
    /// The run, or the beginning of its name
    run: Option<String>,
    /// As JSON, one run a line
    #[arg(long)]
    json: bool,
}

/// A run as somebody sees it who wants to know where it is.
struct Seen {
    name: String,
    view: RunView,
    run: Run,
    account: Account,
    driver: Option<String>,
    moves: Option<Moves>,
    says: Option<String>,
    /// Items that are not over: what they are called, and where they are.
    items: Vec<(String, RunView)>,
}

pub(crate) fn cmd_status(arguments: &StatusArgs) -> Result<ExitCode, CommandError> {
    let engine = progress::reader()?;
    if let Some(wanted) = &arguments.run {
        let line = session::find_run(&engine, wanted)?;
        let read = engine.read(&line.run.name).map_err(session::told)?;
        tell(&engine, &seen(&engine, &line, read)?, arguments.json);
        return Ok(ExitCode::SUCCESS);
    }
    let here = engine.home.root().to_string_lossy().into_owned();
    let (mut told, mut elsewhere) = (0_usize, 0_usize);
    for line in engine.journal.runs().map_err(|it| session::told(it.into()))? {
        if line.run.parent.is_some() || line.last == 0 {
            continue;
        }
        let read = engine.read(&line.run.name).map_err(session::told)?;
        if read.1.is_over() {
            continue;
        }
        if read.1.site.as_ref().is_some_and(|it| it.folder != here) {
            elsewhere += 1;
            continue;
        }
        if told > 0 && !arguments.json {
            show::out("\n");
        }
        told += 1;
        tell(&engine, &seen(&engine, &line, read)?, arguments.json);
    }
    if told == 0 && !arguments.json {
        let none = match session::nowhere(&engine.home) {
            Some(why) => format!("no runs: {why}"),
            None => "no run is open in this worktree; `loopwright list` shows all there were".to_owned(),
        };
        show::out(&format!("{none}\n"));
    }
    if elsewhere > 0 && !arguments.json {
        show::out(&format!(
            "{} in other worktrees (`loopwright list`)\n",
            show::counted(elsewhere, "open run")
        ));
    }
    Ok(ExitCode::SUCCESS)
}

fn seen(engine: &Engine, line: &RunLine, (definition, run): (Definition, Run)) -> Result<Seen, CommandError> {
    let name = line.run.name.clone();
    let account = engine.account(&name, &definition).map_err(session::told)?;
    let mut items = Vec::new();
    let runs = engine.journal.runs().map_err(|it| session::told(it.into()))?;
    for line in runs.iter().rev().filter(|it| it.run.parent.as_ref() == Some(&name) && it.last > 0) {
        let (_, item) = engine.read(&line.run.name).map_err(session::told)?;
        if !item.is_over() {
            let called = item.item.clone().unwrap_or_else(|| line.run.name.clone());
            items.push((called, RunView::of(&definition.workflow, &item)));
        }
    }
    Ok(Seen {
        view: RunView::of(&definition.workflow, &run),
        account,
        driver: engine.driven_by(&name).map_err(session::told)?,
        moves: moves::of(engine, &name)?,
        says: engine.says(&name, (&definition, &run)),
        items,
        name,
        run,
    })
}

fn tell(engine: &Engine, seen: &Seen, json: bool) {
    show::out(&if json { as_json(seen) } else { as_text(engine, seen) });
}

fn as_json(seen: &Seen) -> String {
    let items: Vec<_> = seen
        .items
        .iter()
        .map(|(item, view)| json!({"item": item, "state": view.state, "role": view.role}))
        .collect();
    let told = json!({
        "run": seen.name, "view": seen.view, "since": seen.account.since, "driver": seen.driver,
        "cost": seen.account.cost, "items": items, "says": seen.says,
        "waits": seen.moves.as_ref().map(|it| it.waits.word()),
        "text": seen.moves.as_ref().map(|it| it.text.as_str()),
        "commands": seen.moves.as_ref().map(|it| &it.commands),
        "asks-about": seen.moves.as_ref().map(|it| it.open.iter().map(|it| &it.id).collect::<Vec<_>>()),
        "folder": seen.run.site.as_ref().map(|it| it.folder.as_str()),
    });
    format!("{told}\n")
}

fn as_text(engine: &Engine, seen: &Seen) -> String {
    let view = &seen.view;
    let mut text = format!("{}: {} {}\n", seen.name, view.workflow, view.subject);
    let mut row = |what: &str, value: &str| {
        if !value.is_empty() {
            let _ = writeln!(text, "  {what:<12} {value}");
        }
    };
    let at = |view: &RunView| match &view.role {
        Some(role) => format!("{} ({role})", view.state),
        None => view.state.to_string(),
    };
    let since = show::lasting(session::now().saturating_sub(seen.account.since));
    let ended = match (seen.run.is_over(), view.outcome) {
        (false, _) => format!("for {since}"),
        (true, outcome) => {
            format!("{}, {since} ago", outcome.map_or("ended by a person", |it| it.word()))
        }
    };
    let visit = if view.visit > 1 { format!(", visit {}", view.visit) } else { String::new() };
    row("stands", &format!("{}{visit}, {ended}", at(view)));
    for (item, view) in &seen.items {
        row("", &format!("{item}: {}", at(view)));
    }
    row("says", seen.says.as_deref().unwrap_or_default());
    let elsewhere = seen.run.site.as_ref().filter(|it| engine.home.root().to_string_lossy() != it.folder);
    row("works in", elsewhere.map(|it| it.folder.as_str()).unwrap_or_default());
    row("driven by", seen.driver.as_deref().map(plain).unwrap_or_default());
    let left: Vec<String> = view.left.iter().map(|(name, it)| format!("{name} {it}")).collect();
    row("left", &left.join(", "));
    let calls: Vec<String> = view.calls.iter().map(|(role, it)| format!("{role} {it}")).collect();
    row("calls", &calls.join(", "));
    row("cost", &show::cost(&seen.account.cost));
    if let Some(moves) = &seen.moves {
        let asks = if moves.text.is_empty() { String::new() } else { format!(": {}", one_line(&moves.text)) };
        row("waits for", &format!("{}{asks}", moves.waits.word()));
        row("is about", &moves::look(&seen.name, &moves.shows).unwrap_or_default());
        row("asks about", &moves.open.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "));
        for (what, command) in moves.rows() {
            row(what, command);
        }
    }
    show::wrapped(&text, 15)
}

/// Whoever drives, without what only programs need.
fn plain(holder: &str) -> &str {
    holder.split('/').next().unwrap_or(holder)
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
