//! `list`: which changes there are, and how far each is.

use std::fmt::Write as _;
use std::process::ExitCode;

use loopwright_formats::agentd::change::Overview;
use serde_json::{Value, json};

use super::changes::Changes;
use crate::error::CommandError;
use crate::show::out;

#[derive(clap::Args, Debug)]
pub(super) struct ListArgs {
    /// Also those that are archived
    #[arg(long)]
    all: bool,
    /// The same as `--format json`
    #[arg(long)]
    pub(super) json: bool,
}

pub(super) fn cmd_list(arguments: &ListArgs, json: bool) -> Result<ExitCode, CommandError> {
    let changes = Changes::here()?;
    let mut lines = Vec::new();
    for id in changes.open() {
        lines.push(line(&Overview::read(&changes.brief(&id)), None));
    }
    if arguments.all {
        for (date, id, _) in changes.all_archived() {
            lines.push(json!({"id": id, "phase": "archived", "archived": date}));
        }
    }
    if json {
        out(&format!("{}\n", serde_json::to_string_pretty(&json!({"changes": lines})).unwrap_or_default()));
        return Ok(ExitCode::SUCCESS);
    }
    if lines.is_empty() {
        out("no changes; `loopwright change plan ID \"what should change\"` begins one\n");
    }
    let width = lines.iter().filter_map(|it| it["id"].as_str()).map(str::len).max().unwrap_or(0);
    let mut text = String::new();
    for line in &lines {
        let word = |name: &str| line[name].as_str().unwrap_or_default();
        let rest = match (&line["tasks"], line["archived"].as_str()) {
            (_, Some(date)) => format!("on {date}"),
            (Value::Number(tasks), None) if tasks.as_u64() > Some(0) => {
                let done = line["done"].as_u64().filter(|it| *it > 0);
                let done = done.map(|it| format!(", {it} done")).unwrap_or_default();
                format!("{tasks} tasks{done}  {}", word("summary"))
            }
            _ => word("summary").to_owned(),
        };
        let phase = if word("phase").is_empty() { "?" } else { word("phase") };
        let one = format!("{:width$}  {phase:12}  {rest}", word("id"));
        let _ = writeln!(text, "{}", one.trim_end());
        if let Some(problem) = line["problem"].as_str() {
            let _ = writeln!(text, "{:width$}  {problem}", "");
        }
    }
    out(&text);
    Ok(ExitCode::SUCCESS)
}

fn line(change: &Overview, archived: Option<&str>) -> Value {
    let state = change.state.as_ref();
    let problem = change.problems.first().map(super::show::said);
    json!({
        "id": change.change_id,
        "phase": state.and_then(|it| it.phase),
        "iteration": state.map(|it| it.iteration),
        "tasks": change.tasks,
        "done": change.done,
        "summary": change.summary,
        "problem": problem,
        "archived": archived,
    })
}
