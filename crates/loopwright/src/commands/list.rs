//! `loopwright list`

use std::process::ExitCode;

use loopwright_engine::journal::RunLine;
use loopwright_engine::{AT_WORK, Engine, WAITS_UNTIL};
use serde_json::json;

use crate::error::CommandError;
use crate::{progress, session, show};

/// The widest a column is.
const MOST: usize = 40;

/// List the runs of this project, the newest first
#[derive(clap::Args, Debug)]
pub(crate) struct ListArgs {
    /// Runs of items as well
    #[arg(long)]
    items: bool,
    /// As JSON, one a line
    #[arg(long)]
    json: bool,
}

pub(crate) fn cmd_list(arguments: &ListArgs) -> Result<ExitCode, CommandError> {
    let engine = progress::reader()?;
    let mut runs = engine.journal.runs().map_err(|it| session::told(it.into()))?;
    runs.retain(|it| arguments.items || it.run.parent.is_none());
    if arguments.json {
        for line in &runs {
            let line = json!({
                "run": line.run.name, "workflow": line.run.workflow, "subject": line.run.subject,
                "state": line.stands.state, "status": status(&engine, line), "parent": line.run.parent,
                "begun": line.run.at, "updated": line.updated, "events": line.last,
            });
            show::out(&format!("{line}\n"));
        }
        return Ok(ExitCode::SUCCESS);
    }
    if runs.is_empty() {
        let none = match session::nowhere(&engine.home) {
            Some(why) => format!("no runs: {why}"),
            None => "no runs yet; `loopwright run WORKFLOW SUBJECT` begins one".to_owned(),
        };
        show::out(&format!("{none}\n"));
        return Ok(ExitCode::SUCCESS);
    }
    let width = |of: fn(&RunLine) -> &str, least: usize| {
        runs.iter().map(|it| of(it).chars().count()).max().unwrap_or(0).clamp(least, MOST)
    };
    let (name, workflow) = (width(|it| &it.run.name, 3), width(|it| &it.run.workflow, 8));
    let (subject, state) = (width(|it| &it.run.subject, 7), width(|it| &it.stands.state, 5));
    show::out(&format!(
        "{:name$}  {:workflow$}  {:subject$}  {:state$}  status\n",
        "run", "workflow", "subject", "state"
    ));
    for line in &runs {
        show::out(&format!(
            "{:name$}  {:workflow$}  {:subject$}  {:state$}  {}\n",
            line.run.name,
            line.run.workflow,
            show::short(&line.run.subject.split_whitespace().collect::<Vec<_>>().join(" "), MOST),
            line.stands.state,
            status(&engine, line)
        ));
    }
    Ok(ExitCode::SUCCESS)
}

/// Where a run stands. Whoever drove it may be gone without a word.
pub(super) fn status(engine: &Engine, line: &RunLine) -> String {
    let status = line.stands.status.as_str();
    if line.last == 0 {
        return if engine.driver_of(line).is_some() { AT_WORK } else { "never began" }.to_owned();
    }
    let by_itself = status == AT_WORK || status.starts_with(WAITS_UNTIL);
    if !by_itself || line.run.parent.is_some() || engine.driver_of(line).is_some() {
        return status.to_owned();
    }
    if status == AT_WORK { "left".to_owned() } else { format!("left, {status}") }
}
