//! `loopwright test`

use std::fmt::Write as _;
use std::process::ExitCode;

use loopwright_core::definition::Workflow;
use loopwright_core::rehearse::{Coverage, Scenario, Verdict, parse_scenario, perform, step_at};
use serde_json::{Value, json};

use crate::error::{CommandError, NOT_LOADED, NOT_PROVED, OK};
use crate::find::{Found, wanted};
use crate::show;

/// Play a workflow's scenarios, as its CI would
///
/// Plays every file in the folder's `scenarios/`, prints what did not go as expected, and lists the arms that no
/// scenario takes.
///
/// Exit codes: 0 all passed, 1 a scenario failed (or, with --complete, an arm is not covered), 2 something does not load.
#[derive(clap::Args, Debug)]
pub(crate) struct TestArgs {
    /// Workflows: names, folders or files. If none is given, the folder you are in if it has a `workflow.yaml`, else the
    /// repository's own and all built-ins
    #[arg(value_name = "WORKFLOW|PATH")]
    workflows: Vec<String>,
    /// Fail also when some arm is taken by no scenario
    #[arg(long)]
    complete: bool,
    /// Print as JSON
    #[arg(long)]
    json: bool,
}

/// The scenarios of a folder and their files, and how many do not load. What is wrong with those is shown.
fn scenarios(found: &Found, workflow: &Workflow) -> (Vec<(String, Scenario)>, usize) {
    let mut scenarios = Vec::new();
    let mut broken = 0;
    for (file, content) in
        found.folder.files.iter().filter(|(it, _)| it.starts_with("scenarios/") && is_yaml(it))
    {
        let name = found.path(file);
        let read = std::str::from_utf8(content)
            .map_err(|_| CommandError::user(format!("`{name}` is not UTF-8 text")))
            .and_then(|text| scenario(workflow, &name, text));
        match read {
            Ok(scenario) => scenarios.push((file.clone(), scenario)),
            Err(error) => {
                error.report();
                broken += 1;
            }
        }
    }
    (scenarios, broken)
}

fn is_yaml(file: &str) -> bool {
    std::path::Path::new(file).extension().is_some_and(|it| it == "yaml" || it == "yml")
}

/// Reads one scenario, which goes by this name in messages.
pub(crate) fn scenario(workflow: &Workflow, name: &str, text: &str) -> Result<Scenario, CommandError> {
    let (scenario, problems) = parse_scenario(workflow, name, text);
    for problem in &problems {
        show::error_line(show::problem(&std::io::stderr(), name, Some(text), problem).trim_end());
    }
    scenario
        .filter(|_| problems.is_empty())
        .ok_or_else(|| CommandError::user(format!("the scenario `{name}` does not load")))
}

/// What did not go as expected; with the line of the scenario, which goes by this name, if it is about a step.
pub(crate) fn complaints(verdict: &Verdict, name: &str, text: &str) -> Vec<String> {
    let mut complaints = verdict.complaints.clone();
    let at = verdict.never_came.and_then(|it| step_at(text, it));
    if let (Some(at), Some(first)) = (at, complaints.first_mut()) {
        *first = format!("{name}:{}: {first}", show::position(text, at).0);
    }
    complaints
}

pub(crate) fn cmd_test(arguments: &TestArgs) -> ExitCode {
    let mut worst = OK;
    let mut reports: Vec<Value> = Vec::new();
    for found in wanted(&arguments.workflows) {
        let loaded = found.and_then(|it| super::graph::loaded(&it).map(|workflow| (it, workflow)));
        let (found, workflow) = match loaded {
            Ok(loaded) => loaded,
            Err(error) => {
                error.report();
                worst = NOT_LOADED;
                continue;
            }
        };
        let mut coverage = Coverage::of(&workflow);
        let mut text = String::new();
        let (mut passed, mut failed) = (0, 0);
        let mut results: Vec<Value> = Vec::new();
        let (scenarios, broken) = scenarios(&found, &workflow);
        for (file, scenario) in scenarios {
            let verdict = perform(&workflow, &scenario, &mut coverage);
            let complaints = match verdict {
                Ok(verdict) => {
                    let text = found.folder.text(&file).unwrap_or_default();
                    self::complaints(&verdict, &found.path(&file), text)
                }
                Err(error) => vec![error.to_string()],
            };
            if complaints.is_empty() {
                passed += 1;
            } else {
                failed += 1;
                let _ = writeln!(text, "FAILED {file}: {}", scenario.name);
                for complaint in &complaints {
                    let _ = writeln!(text, "       {complaint}");
                }
            }
            results.push(json!({"file": file, "scenario": scenario.name, "complaints": complaints}));
        }
        let (all, taken) = coverage.count();
        let missed: Vec<String> = coverage
            .arms()
            .filter(|(_, arm)| arm.taken == 0)
            .map(|(place, arm)| {
                let (line, _) =
                    show::position(found.folder.text(&place.file).unwrap_or_default(), place.bytes.start);
                let default = if arm.default { " (default)" } else { "" };
                format!("{}:{line} {} {} -> {}{default}", place.file, arm.state, arm.signal, arm.to)
            })
            .collect();
        // What a scenario that does not load would have taken, nobody knows.
        for arm in missed.iter().filter(|_| broken == 0) {
            let _ = writeln!(text, "never taken: {arm}");
        }
        let _ = if results.is_empty() && broken == 0 {
            write!(text, "{}: there are no scenarios; they go into `scenarios/*.yaml`", workflow.name)
        } else {
            write!(text, "{}: {passed} passed, {failed} failed", workflow.name)
        };
        if broken > 0 {
            let _ = write!(text, ", {broken} did not load");
        }
        let _ = writeln!(text, "; {taken} of {all} arms taken");
        if broken > 0 {
            worst = NOT_LOADED;
        } else if failed > 0 || arguments.complete && taken < all {
            worst = worst.max(NOT_PROVED);
        }
        if arguments.json {
            reports.push(json!({
                "workflow": workflow.name, "passed": passed, "failed": failed, "broken": broken, "scenarios": results,
                "arms": all, "taken": taken, "never-taken": missed,
            }));
        } else {
            show::out(&text);
        }
    }
    if arguments.json {
        show::out(&format!("{}\n", json!({"reports": reports})));
    }
    ExitCode::from(worst)
}
