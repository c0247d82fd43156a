//! `loopwright discard`

use std::fmt::Write as _;
use std::process::ExitCode;

use loopwright_engine::Discard;
use serde_json::json;

use crate::error::CommandError;
use crate::progress;
use crate::{session, show};

/// As many commits and files are named; the rest is counted.
const MOST_NAMED: usize = 10;

/// Throw away what a run made: its worktree, and the branch there
#[derive(clap::Args, Debug)]
pub(crate) struct DiscardArgs {
    /// The run, or the beginning of its name
    run: String,
    /// Do it; without this it is only said what would go
    #[arg(long)]
    yes: bool,
    /// As JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn cmd_discard(arguments: &DiscardArgs) -> Result<ExitCode, CommandError> {
    let engine = progress::reader()?;
    let line = session::find_run(&engine, &arguments.run)?;
    let name = &line.run.name;
    let (_, run) = engine.read(name).map_err(session::told)?;
    let discard = engine.to_discard(name, &run).map_err(session::told)?;
    if arguments.yes {
        engine.discard(&discard).map_err(session::told)?;
    }
    show::out(&if arguments.json {
        let Discard { folder, branch, base, commits, files, .. } = &discard;
        let value = json!({
            "run": name, "folder": folder, "branch": branch, "base": base,
            "commits": commits, "files": files, "discarded": arguments.yes,
        });
        format!("{value}\n")
    } else {
        told(name, &line.run.workflow, &run.subject, &discard, arguments.yes)
    });
    Ok(ExitCode::SUCCESS)
}

fn told(name: &str, workflow: &str, subject: &str, discard: &Discard, done: bool) -> String {
    let Discard { folder, branch, base, commits, files, .. } = discard;
    let folder = folder.display();
    let mut text = String::new();
    let says = if done { "went" } else { "would go" };
    let _ = writeln!(text, "{name}: the worktree {folder} and the branch `{branch}` {says}");
    named(&mut text, ("commit that is", "commits that are"), "in no other branch", commits);
    named(&mut text, ("file that was", "files that were"), "never committed", files);
    let again = format!("git worktree add '{folder}' -b '{branch}' '{base}'");
    let _ = if done {
        writeln!(text, "  to try again: {again} && cd '{folder}' && loopwright run {workflow} '{subject}'")
    } else {
        writeln!(text, "  do it with `loopwright discard {name} --yes`; the journal keeps the run")
    };
    text
}

fn named(text: &mut String, (one, many): (&str, &str), what: &str, all: &[String]) {
    if all.is_empty() {
        return;
    }
    let kind = if all.len() == 1 { one } else { many };
    let _ = writeln!(text, "  {} {kind} {what}:", all.len());
    for one in all.iter().take(MOST_NAMED) {
        let _ = writeln!(text, "    {one}");
    }
    if all.len() > MOST_NAMED {
        let _ = writeln!(text, "    and {} more", all.len() - MOST_NAMED);
    }
}
