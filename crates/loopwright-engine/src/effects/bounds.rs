//! Bounds: what an effect may change, and what is done about the rest.

use std::sync::Arc;

use loopwright_core::definition::{Call, Kind};
use loopwright_core::machine::{Effect, Want};
use loopwright_core::name::Name;
use loopwright_core::paths::FileSet;
use serde_json::Value;

use crate::error::EngineError;
use crate::files::{Change, Look};
use crate::scene::Scene;

/// What may be changed.
pub(super) enum Bounds {
    /// These files, and no others.
    Only(Vec<FileSet>),
    /// Everything but these.
    AllBut(Vec<FileSet>),
}

impl Bounds {
    fn allow(&self, path: &str) -> bool {
        match self {
            Self::Only(sets) => sets.iter().any(|it| it.matches(path)),
            Self::AllBut(sets) => !sets.iter().any(|it| it.matches(path)),
        }
    }

    /// What a role may change in a call: documents it may write that are not the engine's.
    pub(super) fn of_call(scene: &Scene<'_>, role: &Name, call: Option<&Call>) -> Result<Self, EngineError> {
        let declared = scene.workflow.roles.get(&**role).map(|it| &it.may_write);
        let narrowed = call.and_then(|it| it.may_write.as_ref());
        let documents = narrowed.or(declared).and_then(|it| scene.run.pick(it)).cloned().unwrap_or_default();
        let owned = |it: &Name| scene.workflow.documents.get(&**it).is_some_and(|it| it.engine_owned);
        let mut sets = Vec::new();
        for document in documents.iter().filter(|it| !owned(it)) {
            sets.extend(scene.set(document)?);
        }
        Ok(Self::Only(sets))
    }

    /// What a check may change: nothing that a document names.
    pub(super) fn of_check(scene: &Scene<'_>) -> Result<Self, EngineError> {
        let mut sets = Vec::new();
        for document in scene.workflow.documents.keys() {
            sets.extend(scene.set(document)?);
        }
        Ok(Self::AllBut(sets))
    }
}

/// What was found out of bounds and undone.
pub(super) struct Undone {
    pub(super) paths: Vec<String>,
    pub(super) patch: String,
}

/// All files, what changed of them within bounds, and what was undone.
type Seen = (Arc<Look>, Vec<Change>, Option<Undone>);

/// Looks at what changed, and undoes what may not have. All files afterwards are given, too.
pub(super) fn keep_within(scene: &Scene<'_>, before: &Look, bounds: &Bounds) -> Result<Seen, EngineError> {
    let after = scene.files.look()?;
    let changes = after.since(before);
    let (within, outside): (Vec<Change>, Vec<Change>) =
        changes.into_iter().partition(|it| bounds.allow(it.path()));
    if outside.is_empty() {
        return Ok((Arc::new(after), within, None));
    }
    let paths: Vec<&str> = outside.iter().map(Change::path).collect();
    let patch = scene.files.patch(&before.tree, &after.tree, &paths)?;
    scene.files.restore(&after, &before.tree, &paths)?;
    let paths = paths.into_iter().map(str::to_owned).collect();
    Ok((Arc::new(scene.files.look()?), within, Some(Undone { paths, patch })))
}

/// Undoes what somebody who is gone may not have changed: a patch of it, and all files afterwards.
pub(crate) fn undo_out_of_bounds(
    scene: &Scene<'_>,
    effect: &Effect,
    values: &Value,
) -> Result<(Option<String>, Option<Arc<Look>>), EngineError> {
    let state = scene.state();
    let bounds = match &effect.want {
        Want::Call { role, .. } => Bounds::of_call(scene, role, state.and_then(|it| it.call()))?,
        Want::Check if state.is_some_and(|it| matches!(it.kind, Kind::Check(_))) => Bounds::of_check(scene)?,
        _ => return Ok((None, None)),
    };
    let Some(tree) = values["tree"].as_str() else { return Ok((None, None)) };
    let before = scene.files.look_back(tree)?;
    let (after, _, undone) = keep_within(scene, &before, &bounds)?;
    Ok((undone.map(|it| it.patch), Some(after)))
}

/// Some paths, in a sentence.
pub(super) fn listed(paths: &[String]) -> String {
    const SHOWN: usize = 5;
    let first: Vec<String> = paths.iter().take(SHOWN).map(|it| format!("`{it}`")).collect();
    match paths.len().checked_sub(SHOWN).filter(|it| *it > 0) {
        Some(more) => format!("{} and {more} more", first.join(", ")),
        None => first.join(", "),
    }
}
