//! Dropping a branch: its worktree, then the branch itself.

use serde_json::{Value, json};

use super::worktrees::{all, goes_to, is_same, refused, tip, unfit};
use super::{Done, as_text};
use crate::engine::Engine;
use crate::error::EngineError;
use crate::git::{Git, GitError};
use crate::scene::Scene;

/// Settles where the run goes if it stands in the worktree that is dropped: whoever tries again may find it gone.
pub(super) fn prepare(scene: &Scene<'_>, values: &mut Value) -> Result<(), EngineError> {
    let name = as_text(&values["drop"]);
    let trees = all(scene.files.git())?;
    let Some((main, others)) = trees.split_first() else { return Ok(()) };
    let here = |path| is_same(path, scene.files.root());
    if others.iter().any(|it| it.branch.as_deref() == Some(&*name) && here(&it.path)) {
        values["leaves"] = json!(main.path.to_string_lossy());
    }
    Ok(())
}

pub(super) fn perform(engine: &Engine, scene: &Scene<'_>, values: &Value) -> Result<Done, EngineError> {
    let failed = |why: String| Ok(Done::plain("failed", why));
    let name = as_text(&values["drop"]);
    let always = values["if"].as_str() == Some("always");
    if let Some(why) = unfit(engine, scene.files.git(), &name)? {
        return failed(why);
    }
    let trees = all(scene.files.git())?;
    let Some((main, others)) = trees.split_first() else { return failed("there is no worktree".to_owned()) };
    let leaves = values["leaves"].is_string();
    let stays = values["only"].as_str() == Some("worktree");
    if stays && !others.iter().any(|it| it.branch.as_deref() == Some(&*name)) {
        return Ok(Done::plain("done", format!("`{name}` has no worktree of its own")));
    }
    if leaves && scene.run.item.is_some() {
        return failed(
            "an item cannot drop the worktree its run is in; do it outside of the loop".to_owned(),
        );
    }
    if main.branch.as_deref() == Some(&*name) {
        return failed(format!(
            "`{name}` is checked out in {}; go to another branch there first (`switch`)",
            main.path.display()
        ));
    }
    // From here on nothing may depend on a worktree that is about to go.
    let Some(git) = scene.files.git().at(&main.path)? else {
        return failed(format!("{} has no files checked out", main.path.display()));
    };
    let commit = tip(&git, &name)?;
    if let Some(commit) = commit.as_ref().filter(|_| !always && !stays)
        && !is_kept(&git, &name, commit)?
    {
        return failed(format!(
            "`{name}` has commits that are in no other branch; merge it first, or drop it with `if: always`"
        ));
    }
    if let Some(tree) = others.iter().find(|it| it.branch.as_deref() == Some(&*name)) {
        let path = tree.path.to_string_lossy();
        let mut arguments = vec!["worktree", "remove"];
        arguments.extend(always.then_some("--force"));
        arguments.push(&path);
        if let Err(error) = git.text(&arguments) {
            return refused(error, "nothing was dropped: commit what is there, or drop it with `if: always`");
        }
    }
    let summary = match &commit {
        Some(_) if stays => format!("the worktree of `{name}` is gone, the branch stays"),
        Some(commit) => {
            if let Err(error) = git.text(&["branch", "--quiet", "-D", &name]) {
                return refused(error, "its worktree is gone, the branch is not");
            }
            format!("`{name}` was at {}", &commit[..commit.len().min(10)])
        }
        None => format!("there is no branch `{name}` any more"),
    };
    if leaves { goes_to(scene, &main.path, summary) } else { Ok(Done::plain("done", summary)) }
}

/// Whether what a branch stands on is in another one, so that nothing is lost without it.
fn is_kept(git: &Git, branch: &str, commit: &str) -> Result<bool, GitError> {
    let contains = format!("--contains={commit}");
    let listed =
        git.text(&["for-each-ref", "--format=%(refname)", &contains, "refs/heads", "refs/remotes"])?;
    // The same branch elsewhere has it by being the same.
    let own = |it: &&str| {
        it.strip_prefix("refs/heads/") == Some(branch)
            || it.strip_prefix("refs/remotes/").and_then(|it| it.split_once('/')).map(|it| it.1)
                == Some(branch)
    };
    Ok(listed.lines().any(|it| !own(&it)))
}
