//! Merging: worked out beside all files, so that a conflict leaves nothing behind.

use serde_json::Value;

use super::worktrees::{all, tip, unfit};
use super::{Done, as_text};
use crate::engine::Engine;
use crate::error::EngineError;
use crate::git::{Git, GitError};
use crate::scene::Scene;

/// Merges a branch into another, or into the one that is checked out.
pub(super) fn perform(engine: &Engine, scene: &Scene<'_>, values: &Value) -> Result<Done, EngineError> {
    let git = scene.files.git();
    let failed = |why: String| Ok(Done::plain("failed", why));
    let (name, into) = (as_text(&values["merge"]), as_text(&values["into"]));
    let into = match (into.is_empty(), git.branch()?) {
        (false, _) => into,
        (true, Some(here)) => here,
        (true, None) => return failed("no branch is checked out that could be merged into".to_owned()),
    };
    for branch in [&name, &into] {
        if let Some(why) = unfit(engine, git, branch)? {
            return failed(why);
        }
    }
    let (theirs, ours) = match (tip(git, &name)?, tip(git, &into)?) {
        (Some(theirs), Some(ours)) => (theirs, ours),
        (None, _) => return failed(format!("there is no branch `{name}`")),
        (_, None) => return failed(format!("there is no branch `{into}` to merge into")),
    };
    let message = format!("Merge branch '{name}' into {into}");
    Ok(match bring_together(git, (&name, &theirs), (&into, &ours), &message)? {
        Together::Already => Done::plain("done", format!("`{name}` is in `{into}` already")),
        Together::Now => Done::plain("done", format!("`{name}` is in `{into}`")),
        Together::Conflict(why) => {
            return failed(format!("{why}: bring `{into}` into `{name}` first, and settle it there"));
        }
        Together::Refused(why) => return failed(why),
    })
}

/// What came of merging.
pub(super) enum Together {
    /// It was merged before.
    Already,
    /// It is merged.
    Now,
    /// Both cannot be had, and nothing was changed.
    Conflict(String),
    /// Git would not, and nothing was changed.
    Refused(String),
}

/// Merges a commit into a branch, worked out beside all files.
pub(super) fn bring_together(
    git: &Git,
    (name, theirs): (&str, &str),
    (into, ours): (&str, &str),
    message: &str,
) -> Result<Together, EngineError> {
    if is_within(git, theirs, ours)? {
        return Ok(Together::Already);
    }
    let target = if is_within(git, ours, theirs)? {
        theirs.to_owned()
    } else {
        match merged(git, (name, theirs), (into, ours), message)? {
            Ok(commit) => commit,
            Err(not) => return Ok(not),
        }
    };
    match forward(git, into, ours, &target) {
        Ok(()) => Ok(Together::Now),
        Err(error) => would_not(
            error,
            "nothing was merged: commit or put away (`git stash`) what is in the way, and try again",
        ),
    }
}

/// The commit that has what both have, on top of the second; nothing stands on it yet. Or why there is none.
pub(super) fn merged(
    git: &Git,
    (name, theirs): (&str, &str),
    (into, ours): (&str, &str),
    message: &str,
) -> Result<Result<String, Together>, EngineError> {
    let tree = match git.text(&["merge-tree", "--write-tree", "--name-only", ours, theirs]) {
        Ok(said) => said.lines().next().unwrap_or_default().to_owned(),
        Err(GitError::Failed { said, .. }) => {
            return Ok(Err(Together::Conflict(conflict(name, into, &said))));
        }
        Err(error) => return Err(error.into()),
    };
    Ok(match git.text(&["commit-tree", &tree, "-p", ours, "-p", theirs, "-m", message]) {
        Ok(commit) => Ok(commit),
        Err(error) => Err(would_not(error, "nothing was merged")?),
    })
}

/// What git would not do, and what a person can do about it.
fn would_not(error: GitError, help: &str) -> Result<Together, EngineError> {
    match error {
        GitError::Failed { .. } => Ok(Together::Refused(format!("{error}; {help}"))),
        missing @ GitError::Missing(_) => Err(missing.into()),
    }
}

/// Whether a commit is in what another stands on.
pub(super) fn is_within(git: &Git, commit: &str, other: &str) -> Result<bool, GitError> {
    match git.text(&["merge-base", "--is-ancestor", commit, other]) {
        Ok(_) => Ok(true),
        // It says nothing when the answer is no.
        Err(GitError::Failed { said, .. }) if said.is_empty() => Ok(false),
        Err(error) => Err(error),
    }
}

/// Moves a branch on, with the files of whoever has it checked out.
fn forward(git: &Git, branch: &str, from: &str, to: &str) -> Result<(), GitError> {
    let trees = all(git)?;
    let found = trees.iter().find(|it| it.branch.as_deref() == Some(branch));
    match found.map(|it| git.at(&it.path)).transpose()?.flatten() {
        Some(there) => there.text(&["merge", "--quiet", "--ff-only", to]).map(drop),
        None => git.text(&["update-ref", &format!("refs/heads/{branch}"), to, from]).map(drop),
    }
}

/// What a conflict is about: after the tree come the files, up to an empty line.
fn conflict(name: &str, into: &str, said: &str) -> String {
    let files: Vec<String> =
        said.lines().skip(1).take_while(|it| !it.is_empty()).map(str::to_owned).collect();
    if files.is_empty() {
        return format!("`{name}` cannot be merged into `{into}`: {said}");
    }
    format!("`{name}` and `{into}` conflict in {}; nothing was merged", super::bounds::listed(&files))
}
