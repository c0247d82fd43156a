//! `validate`: what is wrong with a change, or with all of them.

use std::process::ExitCode;

use loopwright_formats::agentd::change::{self, Report};
use serde_json::{Value, json};

use super::changes::Changes;
use super::show::said;
use crate::error::{self, CommandError};
use crate::show::out;

#[derive(clap::Args, Debug)]
pub(super) struct ValidateArgs {
    /// The change; all that are not archived, if none is named
    id: Option<String>,
    /// Every finding counts, and not only those of high severity
    #[arg(long)]
    strict: bool,
    /// The same as `--format json`
    #[arg(long)]
    pub(super) json: bool,
}

pub(super) fn cmd_validate(arguments: &ValidateArgs, json: bool) -> Result<ExitCode, CommandError> {
    let changes = Changes::here()?;
    let ids = arguments.id.clone().map_or_else(|| changes.open(), |it| vec![it]);
    let mut all = Vec::new();
    for id in ids {
        let files = if arguments.id.is_some() { changes.find(&id)?.0 } else { changes.files(&id) };
        all.push((id, change::validate(&files, arguments.strict)));
    }
    let valid = all.iter().all(|(_, it)| it.valid);
    if json {
        let reports: Vec<Value> = all.iter().map(|(id, it)| data(id, it)).collect();
        let answer = json!({"valid": valid, "strict": arguments.strict, "changes": reports});
        out(&format!("{}\n", serde_json::to_string_pretty(&answer).unwrap_or_default()));
    } else {
        for (id, report) in &all {
            print(id, report);
        }
    }
    Ok(ExitCode::from(if valid { error::OK } else { error::NOT_PROVED }))
}

fn data(id: &str, report: &Report) -> Value {
    json!({
        "id": id, "valid": report.valid, "high": report.high, "medium": report.medium, "low": report.low,
        "problems": report.problems,
    })
}

fn print(id: &str, report: &Report) {
    let word = if report.valid { "valid" } else { "not valid" };
    let counts = [(report.high, "high"), (report.medium, "medium"), (report.low, "low")];
    let counts: Vec<String> =
        counts.iter().filter(|it| it.0 > 0).map(|(count, name)| format!("{count} {name}")).collect();
    let counts = if counts.is_empty() { String::new() } else { format!(" ({})", counts.join(", ")) };
    out(&format!("{id}: {word}{counts}\n"));
    for problem in &report.problems {
        let severity = format!("{:?}", problem.severity).to_lowercase();
        out(&format!("  {severity:6}  {}\n", said(problem)));
    }
}
