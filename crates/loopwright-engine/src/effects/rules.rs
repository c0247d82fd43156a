//! Rules: finer bounds than files are. What was changed within the bounds of a role is held against the rules it has.

use std::path::Path;
use std::sync::Arc;

use loopwright_core::definition::{Call, Kind, Role};
use loopwright_core::name::Name;
use loopwright_core::paths::FileSet;
use loopwright_rules::{Broken, Given, RULES};
use serde_json::Value;

use super::bounds::{Undone, undo};
use crate::error::EngineError;
use crate::files::{Change, Look};
use crate::scene::Scene;

/// The rules a role has in a call.
pub(super) fn of<'a>(role: &'a Role, call: Option<&'a Call>) -> Vec<&'a Name> {
    let mut all: Vec<&Name> = role.rules.iter().chain(call.iter().flat_map(|it| &it.rules)).collect();
    all.dedup();
    all
}

/// A rule in words.
pub(super) fn told(rule: &str) -> &'static str {
    RULES.iter().find(|(name, _)| *name == rule).map_or("", |(_, words)| words)
}

/// What broke a rule and was undone: the files afterwards, and why, in words.
pub(super) type Kept = (Arc<Look>, Undone, String);

/// Holds what changed against the rules of a role, and undoes what breaks one.
pub(super) fn keep(
    scene: &Scene<'_>,
    (before, after): (&Look, &Arc<Look>),
    changes: &[Change],
    (role, call): (&Role, Option<&Call>),
) -> Result<Option<Kept>, EngineError> {
    let rules = of(role, call);
    if rules.is_empty() || changes.is_empty() {
        return Ok(None);
    }
    let mut bytes = Vec::new();
    for change in changes {
        let path = change.path();
        bytes.push((path, bytes_of(scene, before, path)?, scene.files.read(path)?));
    }
    let changed: Vec<loopwright_rules::Change<'_>> = bytes
        .iter()
        .map(|(path, before, after)| loopwright_rules::Change {
            path,
            before: before.as_deref(),
            after: after.as_deref(),
        })
        .collect();
    let known = Known::of(scene, changes, (role, call))?;
    let reads = |path: &str| scene.files.read(path).ok().flatten();
    let given = Given {
        listed: &known.listed,
        gate: &known.gate,
        ticks: &known.ticks,
        states: &known.states,
        reads: Some(&reads),
    };
    let mut broken: Vec<Broken> = Vec::new();
    for rule in rules {
        let found = loopwright_rules::broken(rule, &changed, &given);
        broken.extend(found.map_err(|it| EngineError::Wrong(it.to_string()))?);
    }
    if broken.is_empty() {
        return Ok(None);
    }
    let paths: Vec<&str> =
        changes.iter().map(Change::path).filter(|it| broken.iter().any(|one| one.path == *it)).collect();
    let (look, undone) = undo(scene, before, (after, changes), &paths)?;
    let why: Vec<String> = broken.iter().map(|it| format!("{it} (rule `{}`)", it.rule)).collect();
    Ok(Some((look, undone, why.join("; "))))
}

/// What a file held at an earlier look.
fn bytes_of(scene: &Scene<'_>, look: &Look, path: &str) -> Result<Option<Vec<u8>>, EngineError> {
    let Some((_, name)) = look.file(path).and_then(|it| it.split_once(' ')) else { return Ok(None) };
    Ok(Some(scene.files.git().bytes(&["cat-file", "blob", name])?))
}

/// What rules have to know beside the change.
#[derive(Default)]
struct Known {
    listed: Vec<String>,
    gate: Vec<String>,
    ticks: Vec<String>,
    states: Vec<String>,
}

impl Known {
    fn of(
        scene: &Scene<'_>,
        changes: &[Change],
        (role, call): (&Role, Option<&Call>),
    ) -> Result<Self, EngineError> {
        // The changed files of a document: rules are only ever asked about what changed.
        let of_sets = |sets: Vec<FileSet>| -> Vec<String> {
            let paths = changes.iter().map(Change::path);
            paths.filter(|path| sets.iter().any(|it| it.matches(path))).map(str::to_owned).collect()
        };
        let mut known = Self { listed: listed(scene, (role, call))?, ..Self::default() };
        for (name, document) in &scene.workflow.documents {
            match document.reader.as_deref() {
                Some("checklist") => known.ticks.extend(of_sets(scene.set(name)?)),
                Some("vibe-state") => known.states.extend(of_sets(scene.set(name)?)),
                _ => {}
            }
        }
        // Where no document is known to be a checklist, any text with boxes may be one.
        if known.ticks.is_empty() {
            let is_text =
                |it: &&str| Path::new(it).extension().is_some_and(|it| it.eq_ignore_ascii_case("md"));
            let texts = changes.iter().map(Change::path).filter(is_text);
            known.ticks = texts.map(str::to_owned).collect();
        }
        for state in scene.workflow.machines().flat_map(|it| it.states.values()) {
            if let Kind::Check(check) = &state.kind {
                for document in &check.uses {
                    known.gate.extend(of_sets(scene.set(document)?));
                }
            }
        }
        Ok(known)
    }
}

/// The files that the task of a role lists: those of the first thing it is given that has any.
fn listed(scene: &Scene<'_>, (role, call): (&Role, Option<&Call>)) -> Result<Vec<String>, EngineError> {
    let own = call.and_then(|it| scene.run.pick(&it.given));
    let given = own.into_iter().flatten().chain(scene.run.pick(&role.given).into_iter().flatten());
    let mut names: Vec<String> = given.map(|it| it.name.replace('-', "_")).collect();
    names.push("item".to_owned());
    for name in names.iter().filter(|it| *it == "item" || it.starts_with("docs.")) {
        let all = scene.names(&[name])?;
        let found = name.split('.').try_fold(&all, |value, part| value.get(part));
        let files = found.and_then(|it| it.get("files")).and_then(Value::as_array);
        if let Some(files) = files {
            return Ok(files.iter().filter_map(Value::as_str).map(str::to_owned).collect());
        }
    }
    Ok(Vec::new())
}
