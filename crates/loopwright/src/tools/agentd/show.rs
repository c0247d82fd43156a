//! `show`: how far one change is.

use std::fmt::Write as _;
use std::process::ExitCode;

use loopwright_formats::agentd::Problem;
use loopwright_formats::agentd::change::{Decision, Overview};
use loopwright_formats::agentd::tasks::{Action, Task, TaskFile};
use loopwright_formats::agentd::verdict::Verdict;
use serde_json::{Value, json};

use super::changes::Changes;
use crate::error::CommandError;
use crate::show::out;

#[derive(clap::Args, Debug)]
pub(super) struct ShowArgs {
    /// The change
    id: String,
    /// The same as `--format json`
    #[arg(long)]
    pub(super) json: bool,
}

pub(super) fn cmd_show(arguments: &ShowArgs, json: bool) -> Result<ExitCode, CommandError> {
    let changes = Changes::here()?;
    let (files, folder) = changes.find(&arguments.id)?;
    let change = Overview::read(&files);
    let folder = changes.within(&folder);
    if json {
        out(&format!("{}\n", serde_json::to_string_pretty(&data(&change, &folder)).unwrap_or_default()));
    } else {
        out(&text(&change, &folder));
    }
    Ok(ExitCode::SUCCESS)
}

fn data(change: &Overview, folder: &str) -> Value {
    let state = change.state.as_ref();
    let verdict = |it: &Decision| {
        json!({
            "file": it.file, "line": it.line, "iteration": it.iteration, "reviewer": it.reviewer,
            "verdict": it.verdict.map(Verdict::as_str), "written": it.written, "why_not": it.why_not,
        })
    };
    let task = |it: &Task| {
        json!({
            "id": it.id, "title": it.title, "action": it.action.map(Action::as_str), "file": it.file,
            "files": it.files,
            "spec_ref": it.spec_ref, "depends": it.depends, "done": it.done, "status": it.status, "line": it.line,
        })
    };
    let layers: Vec<Value> = change
        .layers
        .iter()
        .map(|it| {
            json!({
                "id": it.id, "kind": it.kind, "title": it.title, "line": it.line,
                "tasks": it.tasks.iter().map(task).collect::<Vec<_>>(),
            })
        })
        .collect();
    json!({
        "id": change.change_id,
        "folder": folder,
        "phase": state.and_then(|it| it.phase),
        "phase_written": state.and_then(|it| it.phase_written.as_ref()),
        "iteration": state.map(|it| it.iteration),
        "last_action": state.and_then(|it| it.last_action.as_ref()),
        "summary": change.summary,
        "specs": change.specs,
        "verdicts": change.verdicts.iter().map(verdict).collect::<Vec<_>>(),
        "layers": layers,
        "tasks": change.tasks,
        "done": change.done,
        "problems": change.problems,
    })
}

fn text(change: &Overview, folder: &str) -> String {
    let mut text = String::new();
    let state = change.state.as_ref();
    let phase = state.and_then(|it| it.phase).unwrap_or("in no phase");
    let iteration = state.map_or(String::new(), |it| format!(", iteration {}", it.iteration));
    let _ = writeln!(text, "{}: {phase}{iteration}  ({folder})", change.change_id);
    if let Some(summary) = &change.summary {
        let _ = writeln!(text, "{summary}");
    }
    for problem in &change.problems {
        let _ = writeln!(text, "{}", said(problem));
    }
    if !change.specs.is_empty() {
        let _ = writeln!(text, "\nspecs  {}", change.specs.join(", "));
    }
    if !change.verdicts.is_empty() {
        text.push_str("\nverdicts\n");
    }
    for it in &change.verdicts {
        let line = it.line.map(|it| format!(", line {it}")).unwrap_or_default();
        let round = it.iteration.map(|it| format!(" (iteration {it})")).unwrap_or_default();
        let verdict = match (it.verdict, &it.why_not) {
            (Some(verdict), _) => verdict.as_str().to_owned(),
            (None, Some(why)) => format!("none: {why}"),
            (None, None) => "none".to_owned(),
        };
        let _ = writeln!(text, "  {}{line}{round}: {verdict}", it.file);
    }
    if change.tasks > 0 {
        let done = if change.done > 0 { format!(", {} done", change.done) } else { String::new() };
        let _ = writeln!(text, "\ntasks  {}{done}", change.tasks);
    }
    for layer in &change.layers {
        let _ = writeln!(text, "  {}", layer.title);
        for task in &layer.tasks {
            let mark = if task.done { 'x' } else { ' ' };
            let file = |it: &TaskFile| match it.action {
                Some(action) => format!("{} {}", action.as_str(), it.path),
                None => it.path.clone(),
            };
            let files: Vec<String> = task.files.iter().map(file).collect();
            let files = if files.is_empty() { String::new() } else { format!("  {}", files.join(", ")) };
            let of = task.spec_ref.as_ref().map(|it| format!("  for {it}")).unwrap_or_default();
            let after = match task.depends.as_slice() {
                [] => String::new(),
                some => format!("  after {}", some.join(", ")),
            };
            let _ = writeln!(text, "    [{mark}] {} {}{files}{of}{after}", task.id, task.title);
        }
    }
    text
}

/// A problem in a line, with its place.
pub(super) fn said(problem: &Problem) -> String {
    let line = problem.line.map(|it| format!(", line {it}")).unwrap_or_default();
    format!("{}{line}: {}", problem.file, problem.message)
}
