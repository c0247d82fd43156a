//! `loopwright check`

use std::fmt::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;

use loopwright_core::check::{Figure, Report, check};
use loopwright_core::language::{Loaded, load, units};
use loopwright_core::name::Name;
use loopwright_core::problem::{Problem, Stage};
use serde_json::{Value, json};

use crate::error::{CommandError, NOT_LOADED, NOT_PROVED, OK};
use crate::find::{Found, wanted};
use crate::show;

/// Prove a workflow before it runs
///
/// Says whether every signal has a route, every run ends, nothing passes a gate unjudged and the author's properties
/// hold, and what the worst case costs. Where a run can show what is wrong, a shortest one is printed.
///
/// Exit codes: 0 proved, 1 not proved, 2 the file does not load.
#[derive(clap::Args, Debug)]
pub(crate) struct CheckArgs {
    /// Workflows: names, folders or files. If none is given, the folder you are in if it has a `workflow.yaml`, else the
    /// repository's own and all built-ins
    #[arg(value_name = "WORKFLOW|PATH")]
    workflows: Vec<String>,
    /// Print the report as JSON
    #[arg(long)]
    json: bool,
    /// Write the run that shows each problem to this folder, as scenarios for `rehearse --scenario`
    #[arg(long, value_name = "FOLDER")]
    paths: Option<PathBuf>,
    /// Print also which cells take a default, and every run that passes a gate over
    #[arg(long, short, conflicts_with = "json")]
    verbose: bool,
}

/// More problems than this are counted and not shown: nobody reads them.
const MOST_SHOWN: usize = 100;

/// Loads a workflow and proves it.
pub(crate) fn examine(found: &Found) -> (Loaded, Option<Report>) {
    let loaded = load(&found.folder);
    let broken = loaded.problems.iter().any(|it| it.stage == Stage::Load);
    let report = loaded.workflow.as_ref().filter(|_| !broken).map(check);
    (loaded, report)
}

pub(crate) fn cmd_check(arguments: &CheckArgs) -> Result<ExitCode, CommandError> {
    let mut worst = OK;
    let mut reports: Vec<Value> = Vec::new();
    for found in wanted(&arguments.workflows) {
        let found = match found {
            Ok(found) => found,
            Err(error) => {
                error.report();
                worst = NOT_LOADED;
                continue;
            }
        };
        let (loaded, report) = examine(&found);
        // That something is not used tends to follow from the rest.
        let (unused, loading): (Vec<&Problem>, Vec<&Problem>) =
            loaded.problems.iter().partition(|it| it.code == "unused");
        let proving = report.iter().flat_map(|it| &it.problems);
        let problems: Vec<&Problem> = loading.into_iter().chain(proving).chain(unused).collect();
        let code = if report.is_none() {
            NOT_LOADED
        } else if problems.is_empty() {
            OK
        } else {
            NOT_PROVED
        };
        worst = worst.max(code);
        if let Some(folder) = &arguments.paths {
            write_paths(folder, &found, &problems)?;
        }
        if arguments.json {
            reports.push(as_json(&found, &problems, report.as_ref(), code));
        } else {
            print(&found, &problems, report.as_ref(), arguments);
        }
    }
    if arguments.json {
        let printed = serde_json::to_string_pretty(&json!({"reports": reports})).unwrap_or_default();
        show::out(&format!("{printed}\n"));
    }
    Ok(ExitCode::from(worst))
}

/// A report is what was asked for; that a file does not load is an error.
fn print(found: &Found, problems: &[&Problem], report: Option<&Report>, arguments: &CheckArgs) {
    let say = |text: &str| match report {
        Some(_) => show::out(&format!("{text}\n")),
        None => show::error_line(text),
    };
    for problem in problems.iter().take(MOST_SHOWN) {
        let (name, text) = (found.path(&problem.place.file), found.folder.text(&problem.place.file));
        let drawn = match report {
            Some(_) => show::problem(&std::io::stdout(), &name, text, problem),
            None => show::problem(&std::io::stderr(), &name, text, problem),
        };
        say(drawn.trim_end());
        if let Some(path) = &problem.path {
            say(&format!("  a run that shows it:\n{}", indent(&path.to_yaml(), 4)));
        }
    }
    if problems.len() > MOST_SHOWN {
        let more = show::counted(problems.len() - MOST_SHOWN, "more problem");
        say(&format!("and {more}; `--json` lists all"));
    }
    let name = found.name();
    let count = show::counted(problems.len(), "problem");
    let Some(report) = report else {
        say(&format!("{name}: does not load ({count})"));
        return;
    };
    if problems.is_empty() {
        show::out(&format!("{name}: proved\n{}", summary(report)));
    } else {
        say(&format!("{name}: not proved ({count})"));
        if report.worst.is_some() {
            show::out(&summary(report));
        }
    }
    if arguments.verbose {
        show::out(&details(report));
    }
}

/// What was proved, in a few lines.
fn summary(report: &Report) -> String {
    let plain = |it: u64| it.to_string();
    let calls = |it: u64| show::counted(it, "agent call");
    let mut text = String::new();
    let size = &report.size;
    let _ = writeln!(
        text,
        "  size         {}, {}, {} written",
        show::counted(size.states, "state"),
        show::counted(size.cells, "cell"),
        show::counted(size.arms, "arm")
    );
    if let Some(because) = &report.ends_because {
        let _ = writeln!(text, "  ends         {because}");
    }
    if let Some(worst) = &report.worst {
        let _ = writeln!(text, "  worst case   unattended: {}", figure(&worst.calls, &calls, &plain));
        let roles: Vec<String> = worst
            .calls_of
            .iter()
            .filter(|(_, it)| it.at_most > 0 || !it.per_item.is_empty())
            .map(|(name, it)| format!("{name} {}", figure(it, &plain, &plain)))
            .collect();
        let plainly = worst.calls_of.values().all(|it| it.per_item.is_empty());
        match roles.len() {
            0 => {}
            _ if plainly => {
                let _ = writeln!(text, "               by role: {}", roles.join(", "));
            }
            _ => {
                let _ = writeln!(text, "               by role:");
                for role in roles {
                    let _ = writeln!(text, "                 {role}");
                }
            }
        }
        let _ = writeln!(
            text,
            "               time: {}",
            figure(&worst.time, &units::show_time, &units::show_time)
        );
        if let Some(money) = &worst.money {
            let show = |it: u64| units::show(units::Amount { value: it, unit: units::Unit::Money });
            let _ = writeln!(text, "               money: {}", figure(money, &show, &show));
        }
        if let Some(tokens) = &worst.tokens {
            let _ = writeln!(text, "               tokens: {}", figure(tokens, &plain, &plain));
        }
        match (&worst.whole_run, worst.per_answer) {
            (Some(whole), _) => {
                let _ = writeln!(text, "               whole run: {}", figure(whole, &calls, &plain));
            }
            (None, Some(each)) => {
                let _ = writeln!(
                    text,
                    "               whole run: people can keep it going; at most {} more per answer",
                    calls(each)
                );
            }
            (None, None) => {
                let _ = writeln!(
                    text,
                    "               whole run: people can keep it going; each answer allows another unattended stretch"
                );
            }
        }
    }
    for property in &report.properties {
        let _ = writeln!(text, "  property     {property}");
    }
    for cap in &report.caps {
        let _ = writeln!(text, "  cap          {}", cap.said);
    }
    if !report.forced.is_empty() {
        let ways: Vec<String> =
            report.forced.iter().map(|it| format!("{} at {} {}", it.gate, it.state, it.signal)).collect();
        let count = show::counted(report.forced.len(), "way");
        let _ = writeln!(text, "  forced       {count} past a gate: {}", ways.join("; "));
    }
    if !report.defaults.is_empty() {
        let count = match report.defaults.len() {
            1 => "1 cell takes".to_owned(),
            more => format!("{more} cells take"),
        };
        let _ = writeln!(text, "  defaults     {count} a default (see `matrix`)");
    }
    show::wrapped(&text, 17)
}

fn details(report: &Report) -> String {
    let mut text = String::new();
    for cell in &report.defaults {
        let _ = writeln!(text, "  default      {} {} -> {}", cell.state, cell.signal, cell.to.join(" or "));
    }
    for forced in &report.forced {
        let _ = writeln!(
            text,
            "  forced       {} at {} on {} -> {}",
            forced.gate, forced.state, forced.signal, forced.to
        );
        if let Some(path) = &forced.path {
            let _ = writeln!(text, "{}", indent(&path.to_yaml(), 15));
        }
    }
    text
}

/// A figure and how sure it is: `68 agent calls`, `at most 70 agent calls (a run with 66 exists)`. `named` shows a
/// number with what it counts, `plain` without.
fn figure(figure: &Figure, named: &dyn Fn(u64) -> String, plain: &dyn Fn(u64) -> String) -> String {
    let mut text = if figure.at_most == 0 && !figure.per_item.is_empty() {
        String::new()
    } else if figure.at_most == figure.at_least {
        named(figure.at_most)
    } else {
        format!("at most {} (a run with {} exists)", named(figure.at_most), plain(figure.at_least))
    };
    for items in &figure.per_item {
        let mut loops = items.loops.iter().rev();
        let innermost = loops.next().map(Name::to_string).unwrap_or_default();
        let (and, number) =
            if text.is_empty() { ("", named(items.at_most)) } else { (" + ", plain(items.at_most)) };
        let _ = write!(text, "{and}at most {number} an item of {innermost}");
        for outer in loops {
            let _ = write!(text, " in each item of {outer}");
        }
    }
    text
}

fn indent(text: &str, by: usize) -> String {
    text.lines().map(|it| format!("{}{it}", " ".repeat(by))).collect::<Vec<_>>().join("\n")
}

fn as_json(found: &Found, problems: &[&Problem], report: Option<&Report>, code: u8) -> Value {
    let problems: Vec<Value> = problems
        .iter()
        .map(|it| {
            let text = found.folder.text(&it.place.file).unwrap_or_default();
            let (line, column) = show::position(text, it.place.bytes.start);
            json!({
                "code": it.code,
                "stage": it.stage,
                "file": it.place.file,
                "line": line,
                "column": column,
                "bytes": [it.place.bytes.start, it.place.bytes.end],
                "message": it.message,
                "help": it.help,
                "path": it.path.as_ref().map(loopwright_core::rehearse::Scenario::to_yaml),
            })
        })
        .collect();
    json!({
        "workflow": found.name(),
        "origin": found.origin,
        "verdict": match code { OK => "proved", NOT_PROVED => "not-proved", _ => "does-not-load" },
        "problems": problems,
        "size": report.map(|it| it.size),
        "ends-because": report.and_then(|it| it.ends_because.clone()),
        "worst": report.and_then(|it| it.worst.clone()),
        "forced": report.map(|it| it.forced.iter().map(|it| json!({
            "gate": it.gate, "state": it.state, "signal": it.signal, "to": it.to,
            "path": it.path.as_ref().map(loopwright_core::rehearse::Scenario::to_yaml),
        })).collect::<Vec<_>>()),
        "properties": report.map(|it| it.properties.clone()),
        "caps": report.map(|it| it.caps.clone()),
        "defaults": report.map(|it| it.defaults.clone()),
        "digest": report.map(|it| it.digest.clone()),
    })
}

/// Writes a file, or leaves what was there: half a scenario would be another one.
fn write_whole(file: &std::path::Path, text: &str) -> std::io::Result<()> {
    let beside = file.with_extension("unfinished");
    let written = std::fs::write(&beside, text).and_then(|()| std::fs::rename(&beside, file));
    if written.is_err() {
        let _ = std::fs::remove_file(&beside);
    }
    written
}

fn write_paths(folder: &std::path::Path, found: &Found, problems: &[&Problem]) -> Result<(), CommandError> {
    let unwritable = |error: std::io::Error| {
        CommandError::user(format!("`{}` cannot be written: {error}", folder.display()))
    };
    std::fs::create_dir_all(folder).map_err(unwritable)?;
    for (at, problem) in problems.iter().enumerate() {
        if let Some(path) = &problem.path {
            let file = folder.join(format!("{}-{:02}-{}.yaml", found.stem(), at + 1, problem.code));
            write_whole(&file, &path.to_yaml()).map_err(unwritable)?;
        }
    }
    Ok(())
}
