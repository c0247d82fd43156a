//! Running a check.

use std::fmt::Write as _;
use std::path::Path;
use std::time::{Duration, Instant};

use loopwright_core::definition::{Check, CheckWhat, Kind};
use loopwright_core::machine::{Cost, Effect, Outcome};
use loopwright_core::signal::CANCELLED;
use serde_json::{Value, json};

use super::bounds::{Bounds, keep_within, listed};
use super::call::within_budget;
use super::new_tests;
use super::settings::{self, Settings};
use super::{Done, Prepared, about, heads, told_besides};
use crate::engine::Engine;
use crate::error::EngineError;
use crate::process::{Cancel, Command, Ended, Supervisor};
use crate::scene::Scene;

/// As much of what a check said goes with its outcome; all of it is kept.
const TOLD: usize = 8 << 10;

fn check<'s>(scene: &Scene<'s>) -> Result<&'s Check, EngineError> {
    match scene.state().map(|it| &it.kind) {
        Some(Kind::Check(check)) => Ok(check),
        _ => Err(EngineError::Wrong(format!("`{}` is no check", scene.run.at.state))),
    }
}

/// The commands of a check, with their values.
pub(crate) fn commands_of(scene: &Scene<'_>, check: &Check) -> Result<Vec<String>, EngineError> {
    let commands = match &check.what {
        CheckWhat::Project(name) => scene.project.commands_of(name),
        CheckWhat::Run(commands) => {
            let mut all = Vec::new();
            for command in commands {
                match scene.value(command)? {
                    Value::Array(several) => all.extend(several.iter().map(super::as_text)),
                    one => all.push(super::as_text(&one)),
                }
            }
            all
        }
        CheckWhat::Named(_) => new_tests::commands_of(scene),
    };
    Ok(commands.into_iter().filter(|it| !it.trim().is_empty()).collect())
}

pub(super) fn prepare(scene: &Scene<'_>) -> Result<Prepared, EngineError> {
    let commands = commands_of(scene, check(scene)?)?;
    let head = heads::now(scene.files.git())?;
    let values = json!({"commands": commands, "tree": scene.look.tree, "head": head});
    Ok(Prepared { settings: settings::now(scene.files.git())?, ..Prepared::of(values) })
}

pub(super) fn perform(
    engine: &Engine,
    scene: &Scene<'_>,
    effect: &Effect,
    (values, settings): (&Value, &Settings),
    cancel: &Cancel,
) -> Result<Done, EngineError> {
    let check = check(scene)?;
    let commands: Vec<&str> =
        values["commands"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    let begun = Instant::now();
    let wall = within_budget(scene, Duration::from_millis(check.timeout));
    let environment = about(scene, effect);
    let place = (scene.files.root(), &*environment, wall);
    let Judged { mut passed, called_off, summary, log, .. } =
        match judge(scene, check, &commands, place, &engine.supervisor, cancel)? {
            Ok(judged) => judged,
            Err(why) => return Ok(Done::plain("lost", why)),
        };
    if check.expect_failure {
        passed = !passed;
    }
    let signal = match passed {
        _ if called_off => CANCELLED,
        true => "pass",
        false => "fail",
    };
    let time = u64::try_from(begun.elapsed().as_millis()).unwrap_or(u64::MAX);
    let mut outcome = Outcome {
        summary,
        output: end_of(&log),
        cost: Cost { time, ..Cost::default() },
        ..Outcome::of(signal)
    };
    let mut kept = vec![("log".to_owned(), log)];
    let (look, _, undone) = keep_within(scene, scene.look, &Bounds::of_check(scene)?)?;
    let said = heads::put_back(scene, &values["head"], settings)?;
    if let Some(said) = said {
        told_besides(&mut outcome, &format!("while the check ran, {said}"));
    }
    if let Some(undone) = undone {
        let files = listed(&undone.paths);
        if undone.only_added {
            let left = "the check left files behind that git does not ignore, and they were removed";
            told_besides(&mut outcome, &format!("{left}: {files}"));
        } else if !called_off {
            outcome.signal = "out-of-bounds".into();
            outcome.summary = format!("files changed while the check ran, and that was undone: {files}");
        }
        kept.push(("undone".to_owned(), undone.patch));
    }
    if let Some(gate) = scene.state().and_then(|it| it.gate.as_ref()) {
        outcome.judged = Some(Scene { look: &look, ..*scene }.judged(&gate.name)?);
    }
    Ok(Done { kept, look: Some(look), ..Done::of(outcome) })
}

/// What commands came to.
pub(crate) struct Judged {
    pub(crate) passed: bool,
    pub(super) called_off: bool,
    /// Whether a command did not come to its end, or could not be run.
    pub(super) cut_short: bool,
    /// What is wrong, if anything is.
    pub(crate) summary: String,
    /// All that was said.
    pub(crate) log: String,
}

/// Where commands are run, with what around them, and for how long at most.
type Place<'p> = (&'p Path, &'p [(String, String)], Duration);

/// Runs a check. `Err` within: a command could not even be begun.
pub(crate) fn judge(
    scene: &Scene<'_>,
    check: &Check,
    commands: &[&str],
    (folder, environment, wall): Place<'_>,
    supervisor: &Supervisor,
    cancel: &Cancel,
) -> Result<Result<Judged, String>, EngineError> {
    let CheckWhat::Named(name) = &check.what else {
        return Ok(run(check, commands, (folder, environment, wall), supervisor, cancel));
    };
    let environment = [environment, &new_tests::environment()].concat();
    let ran = run(check, commands, (folder, &environment, wall), supervisor, cancel);
    let Ok(judged) = ran else { return Ok(ran) };
    // Half of what a runner says is no ground to judge by.
    if commands.is_empty() || judged.called_off || judged.cut_short {
        return Ok(Ok(judged));
    }
    new_tests::judge(scene, name, judged).map(Ok)
}

/// Runs the commands of a check, one after the other, until one fails; those of a check of the library all of them.
/// `Err`: one could not even be begun.
fn run(
    check: &Check,
    commands: &[&str],
    (folder, environment, wall): Place<'_>,
    supervisor: &Supervisor,
    cancel: &Cancel,
) -> Result<Judged, String> {
    let begun = Instant::now();
    let mut judged = Judged {
        passed: !commands.is_empty() || check.none_passes,
        called_off: false,
        cut_short: false,
        summary: String::new(),
        log: String::new(),
    };
    let wants_all = matches!(check.what, CheckWhat::Named(_));
    if commands.is_empty() {
        judged.summary = match &check.what {
            CheckWhat::Named(_) => new_tests::no_command(),
            CheckWhat::Project(name) => format!(
                "the project has no command for `{name}`; say in `.loopwright/config.yaml` which: `project: {{{name}: \"...\"}}`"
            ),
            CheckWhat::Run(_) => "there is no command to run".to_owned(),
        };
    }
    for command in commands {
        let wall = Duration::from_millis(check.each).min(wall.saturating_sub(begun.elapsed()));
        let _ = writeln!(judged.log, "$ {command}");
        let shell = Command::shell(command, folder.to_owned(), wall);
        let shell = Command { environment: environment.to_vec(), ..shell };
        let ran = shell.run(supervisor, cancel, &mut |_| {});
        let ran = ran.map_err(|error| format!("`{command}` cannot be started: {error}"))?;
        judged.log.push_str(&ran.output.text());
        judged.log.push_str(&ran.errors.text());
        let why = match ran.ended {
            Ended::Exit(0) => continue,
            // What a shell says when there is no such program, or none that it may run.
            Ended::Exit(code @ (126 | 127)) => {
                judged.cut_short = true;
                format!("`{command}` could not be run (exit code {code})")
            }
            Ended::Exit(code) => format!("`{command}` failed with exit code {code}"),
            Ended::Timeout | Ended::Stalled => {
                judged.cut_short = true;
                let seconds = wall.as_millis().div_ceil(1000);
                format!("`{command}` timed out: it took longer than {seconds} s")
            }
            Ended::Cancelled => {
                judged.called_off = true;
                format!("`{command}` was called off")
            }
        };
        let said = ran.errors.text();
        judged.summary = match said.trim() {
            "" => why,
            said => format!("{why}: {}", first_of(said)),
        };
        judged.passed = false;
        if !wants_all || judged.called_off || judged.cut_short {
            break;
        }
    }
    Ok(judged)
}

/// As much of what a command complained of as goes in a sentence.
fn first_of(text: &str) -> String {
    const MOST: usize = 200;
    let line: String = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let cut: String = line.chars().take(MOST).collect();
    if cut.len() < line.len() { format!("{cut}…") } else { cut }
}

/// The end of a text, from the beginning of a line.
fn end_of(text: &str) -> String {
    let Some(mut at) = text.len().checked_sub(TOLD).filter(|it| *it > 0) else { return text.to_owned() };
    while !text.is_char_boundary(at) {
        at += 1;
    }
    let rest = &text[at..];
    let line = rest.find('\n').map_or(rest, |it| &rest[it + 1..]);
    format!("…\n{line}")
}
