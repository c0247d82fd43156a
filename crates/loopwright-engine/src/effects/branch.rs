//! Going to a branch: here, or in a worktree of its own.

use serde_json::Value;

use super::worktrees::{
    Worktree, all, bring_along, commit_of, goes_to, is_same, own_place, refused, tip, unfit,
};
use super::{Done, as_text};
use crate::engine::Engine;
use crate::error::EngineError;
use crate::scene::Scene;

/// What helps when git does not go to a branch.
const HELP: &str = "nothing was changed: commit or put away (`git stash`) what is in the way, and try again";

/// Goes to a branch, which is created if it is missing.
pub(super) fn branch(engine: &Engine, scene: &Scene<'_>, values: &Value) -> Result<Done, EngineError> {
    let git = scene.files.git();
    let (name, mut from) = (as_text(&values["branch"]), as_text(&values["from"]));
    if let Some(why) = unfit(engine, git, &name)? {
        return Ok(Done::plain("failed", why));
    }
    let own = values["worktree"].as_bool().unwrap_or(false);
    if own && from.is_empty() {
        from = scene.project.worktrees.base.clone().unwrap_or_default();
    }
    if !own && git.branch()?.as_deref() == Some(&name) {
        return Ok(Done::plain("done", format!("`{name}` is checked out")));
    }
    // A branch that is there begins where it begins.
    let missing = tip(git, &name)?.is_none();
    let start = if missing && !from.is_empty() {
        match commit_of(git, &from)? {
            Some(commit) => Some(commit),
            None => {
                return Ok(Done::plain(
                    "failed",
                    format!("there is no `{from}` that `{name}` could start from"),
                ));
            }
        }
    } else {
        None
    };
    if own {
        return in_worktree(scene, &name, missing, start.as_deref());
    }
    let went = if missing {
        let mut arguments = vec!["switch", "--quiet", "--no-track", "--create", &name];
        arguments.extend(start.as_deref());
        git.text(&arguments)
    } else {
        git.text(&["switch", "--quiet", "--no-guess", &name])
    };
    match went {
        Ok(_) => Ok(Done::plain("done", format!("on `{name}`"))),
        Err(error) => refused(error, HELP),
    }
}

/// Goes to a branch that is there.
pub(super) fn switch(engine: &Engine, scene: &Scene<'_>, values: &Value) -> Result<Done, EngineError> {
    let git = scene.files.git();
    let name = as_text(&values["switch"]);
    if let Some(why) = unfit(engine, git, &name)? {
        return Ok(Done::plain("failed", why));
    }
    if git.branch()?.as_deref() == Some(&name) {
        return Ok(Done::plain("done", format!("`{name}` is checked out")));
    }
    if tip(git, &name)?.is_none() {
        return Ok(Done::plain("failed", format!("there is no branch `{name}`; `branch` makes one")));
    }
    match git.text(&["switch", "--quiet", "--no-guess", &name]) {
        Ok(_) => Ok(Done::plain("done", format!("on `{name}`"))),
        Err(error) => refused(error, HELP),
    }
}

/// Goes to the branch's own worktree, beside the repository.
fn in_worktree(
    scene: &Scene<'_>,
    name: &str,
    missing: bool,
    start: Option<&str>,
) -> Result<Done, EngineError> {
    if scene.run.item.is_some() {
        return Ok(Done::plain("failed", "an item cannot go elsewhere by itself; do it outside of the loop"));
    }
    let git = scene.files.git();
    let trees = all(git)?;
    let main = trees.first().map_or(git.root(), |it| it.path.as_path());
    let configured = &scene.project.worktrees;
    let place = own_place(configured, main, name);
    let at = |it: &&Worktree| it.branch.as_deref() == Some(name);
    match trees.iter().find(at) {
        Some(tree) if is_same(&tree.path, &place) && place.is_dir() => {}
        Some(tree) => {
            return Ok(Done::plain(
                "failed",
                format!(
                    "`{name}` is checked out in {}; go to another branch there, or remove it (`git worktree remove`, `git worktree prune`)",
                    tree.path.display()
                ),
            ));
        }
        None => {
            let path = place.to_string_lossy();
            let mut arguments = vec!["worktree", "add", "--quiet"];
            if missing {
                arguments.extend(["--no-track", "-b", name, &path]);
                arguments.extend(start);
            } else {
                arguments.extend([&*path, name]);
            }
            if let Err(error) = git.text(&arguments) {
                return refused(error, "nothing was changed: move away what is in its place, and try again");
            }
        }
    }
    bring_along(configured, git, main, &place)?;
    goes_to(scene, &place, format!("on `{name}` in {}", place.display()))
}
