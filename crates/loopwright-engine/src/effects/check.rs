//! Running a check.

use std::fmt::Write as _;
use std::time::{Duration, Instant};

use loopwright_core::definition::{Check, CheckWhat, Kind};
use loopwright_core::machine::{Cost, Effect, Outcome};
use loopwright_core::signal::CANCELLED;
use serde_json::{Value, json};

use super::bounds::{Bounds, keep_within, listed};
use super::call::within_budget;
use super::{Done, Prepared, about, heads, told_besides};
use crate::engine::Engine;
use crate::error::EngineError;
use crate::process::{Cancel, Command, Ended};
use crate::scene::Scene;

/// As much of what a check said goes with its outcome; all of it is kept.
const TOLD: usize = 8 << 10;

fn check<'s>(scene: &Scene<'s>) -> Result<&'s Check, EngineError> {
    match scene.state().map(|it| &it.kind) {
        Some(Kind::Check(check)) => Ok(check),
        _ => Err(EngineError::Wrong(format!("`{}` is no check", scene.run.at.state))),
    }
}

pub(super) fn prepare(scene: &Scene<'_>) -> Result<Prepared, EngineError> {
    let commands = match &check(scene)?.what {
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
        CheckWhat::Named(name) => {
            return Err(EngineError::Wrong(format!("the check `{name}` is not built yet")));
        }
    };
    let commands: Vec<String> = commands.into_iter().filter(|it| !it.trim().is_empty()).collect();
    let head = heads::now(scene.files.git())?;
    Ok(Prepared {
        values: json!({"commands": commands, "tree": scene.look.tree, "head": head}),
        kept: Vec::new(),
    })
}

pub(super) fn perform(
    engine: &Engine,
    scene: &Scene<'_>,
    effect: &Effect,
    values: &Value,
    cancel: &Cancel,
) -> Result<Done, EngineError> {
    let check = check(scene)?;
    let commands: Vec<&str> =
        values["commands"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    let begun = Instant::now();
    let (mut log, mut summary) = (String::new(), String::new());
    let mut called_off = false;
    let mut passed = !commands.is_empty() || check.none_passes;
    if commands.is_empty() {
        summary = match &check.what {
            CheckWhat::Project(name) => format!(
                "the project has no command for `{name}`; say in `.loopwright/config.yaml` which: `project: {{test: \"...\"}}`"
            ),
            _ => "there is no command to run".to_owned(),
        };
    }
    for command in commands {
        let left = within_budget(scene, Duration::from_millis(check.timeout)).saturating_sub(begun.elapsed());
        let wall = Duration::from_millis(check.each).min(left);
        let _ = writeln!(log, "$ {command}");
        let shell = Command::shell(command, scene.files.root().to_owned(), wall);
        let shell = Command { environment: about(scene, effect), ..shell };
        let ran = shell.run(&engine.supervisor, cancel, &mut |_| {});
        let ran = match ran {
            Ok(ran) => ran,
            Err(error) => return Ok(Done::plain("lost", format!("`{command}` cannot be started: {error}"))),
        };
        log.push_str(&ran.output.text());
        log.push_str(&ran.errors.text());
        let failed = match ran.ended {
            Ended::Exit(0) => None,
            Ended::Exit(code) => Some(format!("`{command}` failed with exit code {code}")),
            Ended::Timeout | Ended::Stalled => {
                Some(format!("`{command}` took longer than {} s", wall.as_secs()))
            }
            Ended::Cancelled => {
                called_off = true;
                Some(format!("`{command}` was called off"))
            }
        };
        if let Some(why) = failed {
            summary = why;
            passed = false;
            break;
        }
    }
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
    let said = heads::put_back(scene, &values["head"])?;
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
