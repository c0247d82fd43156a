//! Committing: only what is meant, only while what judged it still holds, and once.

use std::ffi::OsStr;

use loopwright_core::definition::Action;
use loopwright_core::machine::{Effect, Outcome};

use super::Done;
use crate::error::EngineError;
use crate::scene::Scene;

/// Under what a commit says which effect made it, so that none makes two.
pub(crate) const TRAILER: &str = "Loopwright-Effect";

/// Commits the documents of an action.
pub(super) fn commit(
    scene: &Scene<'_>,
    effect: &Effect,
    action: &Action,
    message: &str,
) -> Result<Done, EngineError> {
    let git = scene.files.git();
    let mark = format!("{TRAILER}: {} {}", scene.name, effect.id);
    let base = scene.run.site.as_ref().and_then(|it| it.base.clone());
    let head = git.head()?;
    if let Some(head) = head.as_ref().filter(|it| base.as_ref() != Some(it)) {
        let since = base.map_or_else(|| head.clone(), |it| format!("{it}..{head}"));
        let made = git.text(&["log", "--format=%H", "--fixed-strings", "--grep", &mark, &since])?;
        if let Some(commit) = made.lines().next() {
            // Whoever made it may not have come to the end.
            let paths =
                git.bytes(&["diff-tree", "-r", "-z", "--root", "--no-commit-id", "--name-only", commit])?;
            let paths = String::from_utf8_lossy(&paths).into_owned();
            scene.files.unstage(&paths.split('\0').filter(|it| !it.is_empty()).collect::<Vec<_>>())?;
            return Ok(made_of(commit));
        }
    }
    if let Some(what) = super::unfinished(git)? {
        return Ok(Done::plain("failed", format!("nothing was committed, as {what}")));
    }
    if let Some(gate) = stale(scene)? {
        return Ok(Done::plain(
            "failed",
            format!("what `{gate}` judged has changed since; nothing was committed"),
        ));
    }
    let mut paths = Vec::new();
    let committed = match &head {
        Some(head) => scene.files.look_back(head)?,
        None => crate::files::Look::default(),
    };
    let mut sets = Vec::new();
    for document in action.commits.iter().flatten() {
        sets.extend(scene.set(document)?);
    }
    for change in scene.look.since(&committed) {
        if sets.iter().any(|it| it.matches(change.path())) {
            paths.push(change.path().to_owned());
        }
    }
    if paths.is_empty() {
        return Ok(Done::plain("done", "there is nothing to commit"));
    }
    // An index of our own, so that what somebody else has staged stays staged and is not committed.
    let index = git.folder().join("loopwright").join("index-commit");
    // Whoever was killed may have left both.
    for left in [&index, &index.with_extension("lock")] {
        let _ = std::fs::remove_file(left);
    }
    let own: [(&str, &OsStr); 1] = [("GIT_INDEX_FILE", index.as_os_str())];
    match &head {
        Some(head) => git.with(&["read-tree", head.as_str()], &own, None)?,
        None => git.with(&["read-tree", "--empty"], &own, None)?,
    };
    let listed = paths.join("\0") + "\0";
    git.with(&["update-index", "--add", "--remove", "-z", "--stdin"], &own, Some(listed.as_bytes()))?;
    let text = format!("{}\n\n{mark}\n", message.trim_end());
    let made =
        git.with(&["commit", "--quiet", "--cleanup=verbatim", "--file=-"], &own, Some(text.as_bytes()));
    let _ = std::fs::remove_file(&index);
    if let Err(error) = made {
        return Ok(Done::plain("failed", error.to_string()));
    }
    // What was committed is not to be seen as staged for removal.
    scene.files.unstage(&paths.iter().map(String::as_str).collect::<Vec<_>>())?;
    Ok(made_of(&git.head()?.unwrap_or_default()))
}

fn made_of(commit: &str) -> Done {
    let outcome =
        Outcome { summary: format!("commit {}", &commit[..commit.len().min(10)]), ..Outcome::of("done") };
    Done::of(outcome)
}

/// A gate the state needs whose documents are no longer what it passed.
fn stale(scene: &Scene<'_>) -> Result<Option<String>, EngineError> {
    let Some(state) = scene.state() else { return Ok(None) };
    for gate in scene.run.pick(&state.needs).into_iter().flatten() {
        if let Some(record) = scene.run.gates.get(&**gate)
            && !record.digest.is_empty()
            && record.digest != scene.judged(gate)?
        {
            return Ok(Some(gate.to_string()));
        }
    }
    Ok(None)
}
