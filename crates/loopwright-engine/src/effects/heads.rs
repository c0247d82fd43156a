//! What is checked out: agents and checks do not commit, and do not go to other branches.
//!
//! What was committed is what was judged, so committing is the workflow's. Whatever was committed meanwhile is put back
//! to where it came from: the branch is where it was, and the files stay as they are. After a crash nothing is put back:
//! nobody can tell what a person committed since.

use serde_json::{Value, json};

use super::commit::TRAILER;
use super::references;
use super::settings::{self, Settings};
use crate::error::EngineError;
use crate::git::{Git, GitError};
use crate::scene::Scene;

/// What the reflog says of it.
const WHY: &str = "loopwright: put back to where it was";
/// What git keeps of something that was begun and not committed. The next commit would be taken for the end of it.
const UNFINISHED: &[&str] = &["MERGE_HEAD", "CHERRY_PICK_HEAD", "REVERT_HEAD"];
/// The same, as people call it, with what is said to git to end it.
const MIDDLE: &[(&str, &str, &str)] = &[
    ("MERGE_HEAD", "merge", "merge"),
    ("CHERRY_PICK_HEAD", "cherry-pick", "cherry-pick"),
    ("REVERT_HEAD", "revert", "revert"),
    ("rebase-apply/applying", "series of patches", "am"),
    ("rebase-merge", "rebase", "rebase"),
    ("rebase-apply", "rebase", "rebase"),
];
/// What goes with it.
const BESIDE: &[&str] = &["MERGE_MODE", "MERGE_MSG", "AUTO_MERGE"];

/// What git is in the middle of, and what to do about it: a commit now would be taken for the end of that, with whatever is
/// not settled in it.
pub(crate) fn unfinished(git: &Git) -> Result<Option<String>, EngineError> {
    if let Some((_, what, word)) = MIDDLE.iter().find(|(file, ..)| git.folder().join(file).exists()) {
        return Ok(Some(format!(
            "a {what} is not finished here: finish it (`git {word} --continue`) or call it off (`git {word} --abort`)"
        )));
    }
    let unmerged = git.text(&["ls-files", "--unmerged", "-z"])?;
    let unmerged = unmerged.split('\0').filter_map(|it| it.split_once('\t'));
    let mut paths: Vec<String> = unmerged.map(|(_, path)| path.to_owned()).collect();
    // A path is there once for each side.
    paths.dedup();
    Ok((!paths.is_empty()).then(|| {
        format!("there are conflicts in {}: settle them, and say so with `git add`", super::listed(&paths))
    }))
}

/// What is checked out now, for later.
pub(super) fn now(git: &Git) -> Result<Value, EngineError> {
    let begun: Vec<&str> = UNFINISHED.iter().copied().filter(|it| git.folder().join(it).exists()).collect();
    Ok(json!({
        "commit": git.head()?, "branch": git.branch()?, "begun": begun, "references": references::now(git)?,
        "staged": staged(git),
    }))
}

/// What is staged, by the name of that. Nothing where that has no name, as in the middle of a merge.
fn staged(git: &Git) -> Option<String> {
    git.text(&["write-tree"]).ok().map(|it| it.trim().to_owned())
}

/// Has the same staged as before: what was staged meanwhile would come with somebody's next commit.
fn staged_back(git: &Git, then: &Value) -> Result<Option<String>, EngineError> {
    let Some(was) = then["staged"].as_str() else { return Ok(None) };
    if staged(git).as_deref() == Some(was) {
        return Ok(None);
    }
    git.text(&["read-tree", was])?;
    Ok(Some("something was staged, and is not any more".to_owned()))
}

/// Puts back what is checked out, and what git is told, to what it was. `Some`: what had become of it.
pub(super) fn put_back(
    scene: &Scene<'_>,
    then: &Value,
    settings: &Settings,
) -> Result<Option<String>, EngineError> {
    let git = scene.files.git();
    // First of all: whatever git does from here on, it does as it was told before.
    let told = settings::put_back(git, settings)?;
    let moved = moved_back(git, then)?;
    // Items at work beside this one have branches of their own.
    let alone = scene.run.of.is_none() && super::bounds::beside(scene).is_none();
    let hung = if alone {
        references::put_back(git, &then["references"], then["branch"].as_str())?
    } else {
        Vec::new()
    };
    let staged = if alone { staged_back(git, then)? } else { None };
    let all: Vec<String> = moved.into_iter().chain(told).chain(hung).chain(staged).collect();
    Ok((!all.is_empty()).then(|| all.join("; ")))
}

/// Puts back what is checked out to what it was. `Some`: what had become of it.
fn moved_back(git: &Git, then: &Value) -> Result<Option<String>, EngineError> {
    let now = now(git)?;
    if *then == now || then.is_null() {
        return Ok(None);
    }
    let text = |it: &Value, name: &str| it[name].as_str().map(str::to_owned);
    let (branch, to) = (text(then, "branch"), text(&now, "branch"));
    let (commit, made) = (text(then, "commit"), text(&now, "commit"));
    let mut became = Vec::new();
    if now["begun"] != then["begun"] && is_dropped(git, then) {
        became.push("a merge was begun".to_owned());
    }
    let descends = is_before(git, commit.as_deref(), made.as_deref())?;
    // An item at work beside this one may have come to its commit.
    let ours = made
        .as_deref()
        .filter(|_| descends && branch == to)
        .map(|it| last_of_ours(git, commit.as_deref(), it));
    let commit = ours.transpose()?.flatten().or(commit);
    if commit != made || branch != to {
        if !moved(git, (branch.as_deref(), commit.as_deref()), made.as_deref().filter(|_| branch == to))? {
            return Ok(None);
        }
        let short = |it: &str| it[..it.len().min(10)].to_owned();
        match made.filter(|it| Some(it) != commit.as_ref()) {
            Some(made) if descends => became.push(format!("`{}` was committed", short(&made))),
            Some(made) => became.push(format!("`{}` was checked out or committed", short(&made))),
            None => {}
        }
        if to != branch {
            became.push(match to {
                Some(to) => format!("the branch `{to}` was checked out"),
                None => "no branch was checked out any more".to_owned(),
            });
        }
    }
    if became.is_empty() {
        return Ok(None);
    }
    let place = branch.map_or_else(|| "what is checked out".to_owned(), |it| format!("`{it}`"));
    Ok(Some(format!(
        "{}, which is for the workflow to do: {place} is back where it was, and the files are as they were left",
        became.join(" and ")
    )))
}

/// Forgets what was begun since and not finished. Whether there was something.
fn is_dropped(git: &Git, then: &Value) -> bool {
    let known = |it: &str| then["begun"].as_array().is_some_and(|all| all.iter().any(|known| known == it));
    let mut dropped = false;
    for file in UNFINISHED.iter().filter(|it| !known(it)) {
        dropped |= std::fs::remove_file(git.folder().join(file)).is_ok();
    }
    if dropped {
        for file in BESIDE {
            let _ = std::fs::remove_file(git.folder().join(file));
        }
    }
    dropped
}

/// Has a branch at a commit checked out. `false`: somebody moved it at just this moment, and it is left to them.
fn moved(
    git: &Git,
    (branch, commit): (Option<&str>, Option<&str>),
    expected: Option<&str>,
) -> Result<bool, EngineError> {
    let Some(branch) = branch else {
        if let Some(commit) = commit {
            git.text(&["update-ref", "--no-deref", "-m", WHY, "HEAD", commit])?;
        }
        return Ok(commit.is_some());
    };
    let reference = format!("refs/heads/{branch}");
    let put = match (commit, expected) {
        (Some(commit), Some(expected)) => git.text(&["update-ref", "-m", WHY, &reference, commit, expected]),
        (Some(commit), None) => git.text(&["update-ref", "-m", WHY, &reference, commit]),
        (None, _) => git.text(&["update-ref", "-d", &reference]),
    };
    match put {
        Ok(_) => {}
        Err(GitError::Failed { .. }) => return Ok(false),
        Err(error) => return Err(error.into()),
    }
    git.text(&["symbolic-ref", "-m", WHY, "HEAD", &reference])?;
    Ok(true)
}

/// Whether one commit is an ancestor of another.
fn is_before(git: &Git, one: Option<&str>, other: Option<&str>) -> Result<bool, EngineError> {
    let Some(other) = other else { return Ok(false) };
    let Some(one) = one else { return Ok(true) };
    match git.text(&["merge-base", "--is-ancestor", one, other]) {
        Ok(_) => Ok(true),
        Err(GitError::Failed { .. }) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

/// The last commit between two that a workflow made.
fn last_of_ours(git: &Git, from: Option<&str>, to: &str) -> Result<Option<String>, EngineError> {
    let range = from.map_or_else(|| to.to_owned(), |it| format!("{it}..{to}"));
    let format = format!("--format=%H%x09%(trailers:key={TRAILER},valueonly,separator=%x2C)");
    let made = git.text(&["log", "--first-parent", &format, &range, "--"])?;
    let mut made = made.lines().filter_map(|it| it.split_once('\t'));
    Ok(made.find(|(_, of)| !of.is_empty()).map(|(commit, _)| commit.to_owned()))
}
