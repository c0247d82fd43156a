//! What is checked out: agents and checks do not commit, and do not go to other branches.
//!
//! What was committed is what was judged, so committing is the workflow's. Whatever was committed meanwhile is put back
//! to where it came from: the branch is where it was, and the files stay as they are. After a crash nothing is put back:
//! nobody can tell what a person committed since.

use serde_json::{Value, json};

use super::commit::TRAILER;
use crate::error::EngineError;
use crate::git::Git;
use crate::scene::Scene;

/// What the reflog says of it.
const WHY: &str = "loopwright: put back to where it was";

/// What is checked out now, for later.
pub(super) fn now(git: &Git) -> Result<Value, EngineError> {
    Ok(json!({"commit": git.head()?, "branch": git.branch()?}))
}

/// Puts back what is checked out to what it was. `Some`: what had become of it.
pub(super) fn put_back(scene: &Scene<'_>, then: &Value) -> Result<Option<String>, EngineError> {
    let git = scene.files.git();
    let now = now(git)?;
    if *then == now || then.is_null() {
        return Ok(None);
    }
    let text = |it: &Value, name: &str| it[name].as_str().map(str::to_owned);
    let ((branch, commit), (to, made)) =
        ((text(then, "branch"), text(then, "commit")), (text(&now, "branch"), text(&now, "commit")));
    if let Some(made) = &made
        && is_ours(git, commit.as_deref(), made)?
    {
        return Ok(None);
    }
    match (&branch, &commit) {
        (Some(branch), commit) => {
            let reference = format!("refs/heads/{branch}");
            match commit {
                Some(commit) => git.text(&["update-ref", "-m", WHY, &reference, commit])?,
                None => git.text(&["update-ref", "-d", &reference])?,
            };
            git.text(&["symbolic-ref", "-m", WHY, "HEAD", &reference])?;
        }
        (None, Some(commit)) => {
            git.text(&["update-ref", "--no-deref", "-m", WHY, "HEAD", commit])?;
        }
        (None, None) => return Ok(None),
    }
    let short = |it: &str| it[..it.len().min(10)].to_owned();
    let mut became = Vec::new();
    if let Some(made) = made.filter(|it| Some(it) != commit.as_ref()) {
        became.push(format!("`{}` was committed", short(&made)));
    }
    if to != branch {
        became.push(match to {
            Some(to) => format!("the branch `{to}` was checked out"),
            None => "no branch was checked out any more".to_owned(),
        });
    }
    let place = branch.map_or_else(|| "what is checked out".to_owned(), |it| format!("`{it}`"));
    Ok(Some(format!(
        "{}, which is for the workflow to do: {place} is back where it was, and the files are as they were left",
        became.join(" and ")
    )))
}

/// Whether a workflow committed meanwhile: one of the items at work beside this one.
fn is_ours(git: &Git, from: Option<&str>, to: &str) -> Result<bool, EngineError> {
    let range = from.map_or_else(|| to.to_owned(), |it| format!("{it}..{to}"));
    let format = format!("--format=%(trailers:key={TRAILER},valueonly)");
    Ok(!git.text(&["log", &format, &range, "--"])?.trim().is_empty())
}
