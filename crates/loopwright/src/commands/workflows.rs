//! `loopwright workflows` and `loopwright readers`

use std::fmt::Write as _;
use std::process::ExitCode;

use loopwright_core::language::load;
use loopwright_core::library::readers;
use serde_json::json;

use crate::find::{all, find, own};
use crate::show;

/// List the workflows that can be named here: the repository's own and the built-in ones
#[derive(clap::Args, Debug)]
pub(crate) struct WorkflowsArgs {
    /// Print as JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn cmd_workflows(arguments: &WorkflowsArgs) -> ExitCode {
    let about = |name: &str| {
        find(name).ok().and_then(|it| load(&it.folder).workflow).map(|it| it.about).unwrap_or_default()
    };
    let own = own();
    let is_own = |name: &String| own.contains(name);
    if arguments.json {
        let tell = |it: &String| json!({"name": it, "about": about(it), "built-in": !is_own(it)});
        let all: Vec<_> = all().iter().map(tell).collect();
        show::out(&format!("{}\n", json!(all)));
        return ExitCode::SUCCESS;
    }
    let mut text = String::new();
    for name in all() {
        let where_ = if is_own(&name) { " (this repository's)" } else { "" };
        let _ = writeln!(text, "{name:10} {}{where_}", about(&name));
    }
    show::out(&text);
    ExitCode::SUCCESS
}

/// List the readers a document can name
///
/// A reader understands a file format: `as: markdown` in a document. What it gives can be used in facts and prompts,
/// what it sets in actions. Formats that only the built-in workflows have a use for are left out.
#[derive(clap::Args, Debug)]
pub(crate) struct ReadersArgs {
    /// List also the formats of the built-in workflows
    #[arg(long)]
    all: bool,
    /// Print as JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn cmd_readers(arguments: &ReadersArgs) -> ExitCode {
    let listed = || readers().iter().filter(|(_, it)| arguments.all || !it.special);
    if arguments.json {
        let all: Vec<_> = listed()
            .map(|(name, it)| {
                let gives = it.gives.as_ref().map(ToString::to_string);
                json!({"name": name, "about": it.about, "gives": gives, "sets": it.sets, "with": it.with})
            })
            .collect();
        show::out(&format!("{}\n", json!(all)));
        return ExitCode::SUCCESS;
    }
    let mut text = String::new();
    for (name, reader) in listed() {
        let _ = writeln!(text, "{name:18} {}", reader.about);
        if let Some(gives) = &reader.gives {
            let _ = writeln!(text, "{:18} gives {gives}", "");
        }
        if !reader.sets.is_empty() {
            let _ = writeln!(text, "{:18} sets {}", "", reader.sets.join(", "));
        }
    }
    let left_out = readers().len() - listed().count();
    if left_out > 0 {
        let _ = writeln!(text, "and {left_out} formats of the built-in workflows (`--all` lists them)");
    }
    show::out(&text);
    ExitCode::SUCCESS
}
