//! Acting: what the engine itself does.

use std::time::Duration;

use loopwright_core::definition::{Action, Kind};
use loopwright_core::machine::{Effect, Outcome};
use loopwright_core::name::Name;
use loopwright_core::signal::CANCELLED;
use serde_json::{Map, Value, json};

use super::{
    Done, Prepared, append, as_text, branch, commit, copy, create, discard, join, merge, push, relocate, set,
};
use crate::engine::Engine;
use crate::error::EngineError;
use crate::files::FilesError;
use crate::git::GitError;
use crate::process::{Cancel, Command, Ended};
use crate::scene::{Scene, meant};

/// The longest a command may take that is run for its effect.
pub(super) const RUN: Duration = Duration::from_mins(10);

fn action<'s>(scene: &Scene<'s>, index: usize) -> Result<&'s Action, EngineError> {
    let actions = match scene.state().map(|it| &it.kind) {
        Some(Kind::Do { actions, .. }) => actions.as_slice(),
        _ => &[],
    };
    actions
        .get(index)
        .ok_or_else(|| EngineError::Wrong(format!("`{}` has no action {index}", scene.run.at.state)))
}

/// Whether an action looks at what the run did before.
pub(super) fn looks_back(scene: &Scene<'_>, index: usize) -> bool {
    action(scene, index).is_ok_and(|it| *it.verb == *"create")
}

/// Settles the values an action will use.
pub(super) fn prepare(
    engine: &Engine,
    scene: &Scene<'_>,
    effect: &Effect,
    index: usize,
) -> Result<Prepared, EngineError> {
    let action = action(scene, index)?;
    if *action.verb == *"create" {
        let values = create::prepare(engine, scene, effect, action)?;
        return Ok(Prepared::of(values));
    }
    let Value::Object(parameters) = &action.parameters else {
        return Ok(Prepared::of(json!({})));
    };
    let mut values = Map::new();
    for (name, value) in parameters {
        let settled = match (name.as_str(), value) {
            // By a variable: a row that is missing is nothing.
            ("delete", Value::Object(rows)) => {
                let by = rows.get("by").and_then(Value::as_str).map(Name::from);
                let row = by.and_then(|it| scene.run.value_of(&it)).and_then(|it| rows.get(&*it));
                row.cloned().unwrap_or_default()
            }
            ("template", Value::String(file)) => json!(scene.text(meant(scene.folder, file))?),
            (_, value) => filled(scene, value)?,
        };
        values.insert(name.clone(), settled);
    }
    let mut values = Value::Object(values);
    match &*action.verb {
        "append" => append::prepare(scene, &mut values)?,
        "move" => relocate::prepare(scene, &mut values)?,
        "drop" => discard::prepare(scene, &mut values)?,
        _ => {}
    }
    Ok(Prepared::of(values))
}

/// A parameter with its values.
fn filled(scene: &Scene<'_>, value: &Value) -> Result<Value, EngineError> {
    Ok(match value {
        Value::String(text) => scene.value(text)?,
        Value::Array(items) => {
            items.iter().map(|it| filled(scene, it)).collect::<Result<Vec<_>, _>>()?.into()
        }
        Value::Object(fields) => {
            let mut all = Map::new();
            for (name, it) in fields {
                all.insert(name.clone(), filled(scene, it)?);
            }
            all.into()
        }
        other => other.clone(),
    })
}

pub(super) fn perform(
    engine: &Engine,
    scene: &Scene<'_>,
    effect: &Effect,
    (index, values): (usize, &Value),
    cancel: &Cancel,
) -> Result<Done, EngineError> {
    match act(engine, scene, effect, (index, values), cancel) {
        // The disk or git would not: that is for the workflow to route.
        Err(EngineError::Files(
            error @ (FilesError::Disk { .. } | FilesError::Git(GitError::Failed { .. })),
        )) => Ok(Done::plain("failed", error.to_string())),
        other => other,
    }
}

fn act(
    engine: &Engine,
    scene: &Scene<'_>,
    effect: &Effect,
    (index, values): (usize, &Value),
    cancel: &Cancel,
) -> Result<Done, EngineError> {
    let action = action(scene, index)?;
    let text = |name: &str| as_text(&values[name]);
    let done = Done::of(Outcome::of("done"));
    Ok(match &*action.verb {
        // What was told stays on record, for whoever comes later.
        verb @ ("say" | "refuse") => Done { said: vec![text(verb)], ..Done::plain("done", text(verb)) },
        "write" => {
            let name: Name = text("write").into();
            let content = if values.get("template").is_some() { text("template") } else { text("from") };
            match scene.path(&name)? {
                Some(path) => scene.files.write(&path, content.as_bytes())?,
                None => return Ok(Done::plain("failed", format!("`{name}` is not one file"))),
            }
            done
        }
        "delete" => {
            let what = match &values["delete"] {
                Value::Array(several) => several.iter().map(as_text).collect(),
                Value::Null => Vec::new(),
                one => vec![as_text(one)],
            };
            for what in what {
                for path in paths(scene, &what)? {
                    scene.files.remove(&path)?;
                }
            }
            done
        }
        "set" => set::perform(scene, action, values)?,
        "append" => append::perform(scene, values)?,
        "create" => create::perform(scene, values)?,
        "copy" => copy::perform(scene, values)?,
        "move" => relocate::perform(scene, values)?,
        "branch" => branch::branch(engine, scene, values)?,
        "switch" => branch::switch(engine, scene, values)?,
        "merge" => merge::perform(engine, scene, values)?,
        "join" => join::perform(scene, values)?,
        "push" => push::perform(engine, scene, values, cancel)?,
        "drop" => discard::perform(engine, scene, values)?,
        "restore" => restore(scene, values)?,
        "commit" => commit::commit(scene, effect, action, &text("commit"))?,
        "run" => run(engine, (scene, effect), &text("run"), cancel),
        other => {
            return Err(EngineError::Wrong(format!("there is no action `{other}`")));
        }
    })
}

/// The files something stands for: a document's, or those at a path.
fn paths(scene: &Scene<'_>, what: &str) -> Result<Vec<String>, EngineError> {
    let name: Name = what.into();
    if scene.workflow.documents.contains_key(&*name) {
        return Ok(scene.files_of(&name)?);
    }
    let below = format!("{}/", what.trim_end_matches('/'));
    Ok(scene.look.paths().filter(|it| *it == what || it.starts_with(&below)).map(str::to_owned).collect())
}

/// Brings documents back to what they were.
fn restore(scene: &Scene<'_>, values: &Value) -> Result<Done, EngineError> {
    let site = scene.run.site.clone().unwrap_or_default();
    let tree = match values["to"].as_str() {
        Some("start") => site.start,
        Some("before") => match scene.files.git().text(&["rev-parse", "--verify", "--quiet", "HEAD^"]) {
            Ok(commit) => commit.trim().to_owned(),
            Err(GitError::Failed { .. }) => {
                return Ok(Done::plain("failed", "there is no commit before the last one"));
            }
            Err(error) => return Err(FilesError::from(error).into()),
        },
        _ => match scene.files.git().head()? {
            Some(head) => head,
            None => return Ok(Done::plain("failed", "there is no commit to go back to")),
        },
    };
    let then = scene.files.look_back(&tree)?;
    let documents = match &values["restore"] {
        Value::Array(several) => several.iter().map(as_text).collect(),
        one => vec![as_text(one)],
    };
    let mut sets = Vec::new();
    for document in documents {
        sets.extend(scene.set(&document.into())?);
    }
    let changed = scene.look.since(&then);
    let paths: Vec<&str> = changed
        .iter()
        .map(crate::files::Change::path)
        .filter(|path| sets.iter().any(|it| it.matches(path)))
        .collect();
    scene.files.restore(scene.look, &tree, &paths)?;
    Ok(Done::of(Outcome::of("done")))
}

/// Runs a command for its effect.
fn run(engine: &Engine, (scene, effect): (&Scene<'_>, &Effect), command: &str, cancel: &Cancel) -> Done {
    let shell = Command::shell(command, scene.files.root().to_owned(), RUN);
    let shell = Command { environment: super::about(scene, effect), ..shell };
    let ran = shell.run(&engine.supervisor, cancel, &mut |_| {});
    let ran = match ran {
        Ok(ran) => ran,
        Err(error) => return Done::plain("failed", format!("`{command}` cannot be started: {error}")),
    };
    let log = format!("$ {command}\n{}{}", ran.output.text(), ran.errors.text());
    let mut done = match ran.ended {
        Ended::Exit(0) => Done::of(Outcome::of("done")),
        Ended::Exit(code) => Done::plain("failed", format!("`{command}` failed with exit code {code}")),
        Ended::Cancelled => Done::plain(CANCELLED, format!("`{command}` was called off")),
        Ended::Timeout | Ended::Stalled => {
            Done::plain("failed", format!("`{command}` took longer than {} s", RUN.as_secs()))
        }
    };
    done.kept.push(("log".to_owned(), log));
    done
}
