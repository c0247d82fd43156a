//! Fields of documents that others may write and whose values only the engine says: what somebody else made of one is put
//! right, and the rest of what they wrote stays.

use std::sync::Arc;
use std::time::SystemTime;

use crate::documents::{About, Reader, text_of};
use crate::error::EngineError;
use crate::files::{Change, Look};
use crate::scene::{Kept, Scene};

/// Puts such fields back to what they were before some changes were made: all files afterwards, and what is to be said of
/// it. Files written after a moment were written by somebody else, who may.
pub(super) fn put_back(
    scene: &Scene<'_>,
    before: &Look,
    changes: &[Change],
    until: Option<SystemTime>,
) -> Result<Option<(Arc<Look>, String)>, EngineError> {
    let kept = scene.set_by_engine()?;
    let mut told = Vec::new();
    let gone = bring_back(scene, before, (&kept, changes), until)?;
    for (path, (reader, fields)) in &kept {
        let changed = |it: &Change| matches!(it, Change::Changed(changed) if changed == path);
        if !changes.iter().any(changed) || until.is_some_and(|it| written_after(scene, path, it)) {
            continue;
        }
        let (Some(then), Some(now)) = (scene.files.read_in(&before.tree, path)?, scene.files.read(path)?)
        else {
            continue;
        };
        let (Ok(then), Ok(now)) = (text_of(&then), text_of(&now)) else { continue };
        let (text, names) = put_right(*reader, (then, now), fields.iter().map(String::as_str))?;
        if !names.is_empty() {
            scene.files.write(path, text.as_bytes())?;
            told.push(format!("{} of `{path}`", names.join(", ")));
        }
    }
    let mut said = Vec::new();
    if !told.is_empty() {
        said.push(format!(
            "only the engine sets {}: what was written there was put back",
            told.join(" and ")
        ));
    }
    if !gone.is_empty() {
        said.push(format!("without {} nobody could go on: it is back as it was", gone.join(" and ")));
    }
    if said.is_empty() {
        return Ok(None);
    }
    Ok(Some((Arc::new(scene.files.look()?), said.join("; "))))
}

/// Brings files with such fields back that were removed, or that something else stands in the place of.
fn bring_back(
    scene: &Scene<'_>,
    before: &Look,
    (kept, changes): (&Kept, &[Change]),
    until: Option<SystemTime>,
) -> Result<Vec<String>, EngineError> {
    let is_gone = |path: &&String| {
        let removed = changes.iter().any(|it| matches!(it, Change::Removed(it) if it == *path));
        // Of somebody who was killed nobody knows whether it was they who removed it.
        removed && until.is_none()
    };
    let mut gone = Vec::new();
    for path in kept.keys().filter(is_gone) {
        let below = format!("{path}/");
        let inner = changes.iter().map(Change::path).filter(|it| it.starts_with(&below));
        let paths: Vec<&str> = inner.chain([path.as_str()]).collect();
        scene.files.restore(&scene.files.look()?, &before.tree, &paths)?;
        gone.push(format!("`{path}`"));
    }
    Ok(gone)
}

fn written_after(scene: &Scene<'_>, path: &str, moment: SystemTime) -> bool {
    let written = scene.files.root().join(path).metadata().and_then(|it| it.modified());
    written.is_ok_and(|it| it > moment)
}

/// A text in which the fields are what they were, and which of them were not. One that was not there before may be
/// begun by anybody.
fn put_right<'f>(
    reader: Reader,
    (then, now): (&str, &str),
    fields: impl Iterator<Item = &'f str>,
) -> Result<(String, Vec<String>), EngineError> {
    let (mut text, mut names) = (now.to_owned(), Vec::new());
    // Of an entry in a list nobody can tell which one it was before.
    for field in fields.filter(|it| !it.contains('*')) {
        let value = |text: &str| reader.get(text, field).ok().flatten().filter(|it| !it.is_null());
        let Some(was) = value(then) else { continue };
        if value(&text).as_ref() == Some(&was) {
            continue;
        }
        let set = reader.set(&text, field, &was, &About::default());
        text = set.map_err(|why| {
            EngineError::Wrong(format!(
                "`{field}` was changed by somebody else and cannot be put back: {why}"
            ))
        })?;
        names.push(format!("`{field}`"));
    }
    Ok((text, names))
}
