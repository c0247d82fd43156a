//! Items apart: a worktree and a branch for each, and the way back.
//!
//! All of it may be done again from any point at which it was cut off. What an item did comes back by its commits alone;
//! what was not committed in the run when it began comes along for looking at, and does not come back.

use std::path::{Path, PathBuf};

use loopwright_core::machine::Run;
use loopwright_core::name::Name;

use super::bounds::written_by;
use super::merge::{Together, bring_together, is_within};
use super::worktrees::{all, bring_along, own_place, tip};
use crate::engine::Engine;
use crate::error::EngineError;
use crate::files::{Change, Files, FilesError, Look, Own};
use crate::git::{Git, GitError};
use crate::scene::Scene;

/// Below this are the branches of items.
const BRANCHES: &str = "loopwright/";

/// Where an item works, and what its branch is called.
#[derive(Clone, Debug)]
pub(crate) struct Apart {
    pub(crate) branch: String,
    pub(crate) folder: PathBuf,
}

/// Where the run of an item works. It is known by what that run is called, so that whoever comes next finds it.
pub(crate) fn place(engine: &Engine, git: &Git, name: &str) -> Result<Apart, EngineError> {
    let is_odd = |it: &str| it.starts_with('.') || it.ends_with('.') || it.strip_suffix(".lock").is_some();
    let odd = name.contains("..") || name.split('/').any(is_odd);
    let fits = if odd { "-_/" } else { "-_/." };
    let plain = |it: char| if it.is_ascii_alphanumeric() || fits.contains(it) { it } else { '-' };
    let mut branch: String = BRANCHES.chars().chain(name.chars().map(plain)).collect();
    if branch[BRANCHES.len()..] != *name {
        // Others may look alike now.
        branch = format!("{branch}-{}", &crate::journal::digest(name.as_bytes())[..8]);
    }
    let trees = all(git)?;
    let main = trees.first().map_or(git.root(), |it| it.path.as_path());
    let folder = own_place(&engine.project.worktrees, main, &branch);
    Ok(Apart { branch, folder })
}

/// The branch that items go back to, or why there is none.
pub(crate) fn joined(engine: &Engine, git: &Git) -> Result<(String, String), EngineError> {
    let why = |why: &str| EngineError::Wrong(format!("items cannot work apart here: {why}"));
    if !engine.home.is_repository {
        return Err(why(super::NO_REPOSITORY));
    }
    let branch = git.branch()?.ok_or_else(|| why("no branch is checked out that they could go back to"))?;
    let commit = git.head()?.ok_or_else(|| why("there is no commit yet that they could begin at"))?;
    Ok((branch, commit))
}

/// Makes the worktree of an item anew, at a commit.
pub(crate) fn make(
    engine: &Engine,
    git: &Git,
    apart: &Apart,
    commit: &str,
    name: &str,
) -> Result<Files, EngineError> {
    // Whoever began it before may not have come far.
    remove(git, apart)?;
    let path = apart.folder.to_string_lossy();
    git.text(&["worktree", "add", "--quiet", "--no-track", "-b", &apart.branch, &path, commit])?;
    let trees = all(git)?;
    let main = trees.first().map_or(git.root(), |it| it.path.as_path());
    bring_along(&engine.project.worktrees, git, main, &apart.folder)?;
    at(git, &apart.folder, name)
}

/// The files of an item's worktree.
fn at(git: &Git, folder: &Path, name: &str) -> Result<Files, EngineError> {
    let there = git.at(folder)?;
    let there = there.ok_or_else(|| EngineError::Wrong(format!("{} is no worktree", folder.display())))?;
    Ok(Files::of(there, name)?)
}

/// Brings along what was not committed in the run and what the item does not write: plans, lists, what people noted.
pub(crate) fn show_around(
    scene: &Scene<'_>,
    (child, item): (&Name, &str),
    commit: &str,
    there: &Files,
) -> Result<(), EngineError> {
    let run = Run { item: Some(item.to_owned()), ..scene.run.clone() };
    let scene = Scene { run: &run, ..*scene };
    let written = written_by(scene.workflow, child);
    let (mut own, mut others) = (Vec::new(), Vec::new());
    for document in scene.workflow.documents.keys() {
        let sets = if written.contains(document) { &mut own } else { &mut others };
        sets.extend(scene.set(document)?);
    }
    let changed = scene.look.since(&scene.files.look_back(commit)?);
    let comes =
        |it: &&str| !own.iter().any(|set| set.matches(it)) && others.iter().any(|set| set.matches(it));
    let paths: Vec<&str> = changed.iter().map(Change::path).filter(comes).collect();
    Ok(there.restore(&Look::default(), &scene.look.tree, &paths)?)
}

/// Brings back what an item committed. `Some`: why it cannot be had together with what is there.
/// Where it joined before, it comes back as it was then or not at all.
pub(crate) fn bring_back(
    git: &Git,
    apart: &Apart,
    item: &str,
    joined: bool,
) -> Result<Option<String>, EngineError> {
    // Whoever did it before was gone before it was on record.
    let Some(theirs) = tip(git, &apart.branch)? else { return Ok(None) };
    let (Some(into), Some(ours)) = (git.branch()?, git.head()?) else {
        return Ok(Some("no branch is checked out that it could go back to".to_owned()));
    };
    if joined && !is_within(git, &ours, &theirs)? && !is_within(git, &theirs, &ours)? {
        return Ok(Some(format!("`{into}` has gone on since it joined")));
    }
    let message = format!("Merge item {item} into {into}");
    Ok(match bring_together(git, (&apart.branch, &theirs), (&into, &ours), &message)? {
        Together::Already | Together::Now => None,
        Together::Conflict(why) | Together::Refused(why) => Some(why),
    })
}

/// Whether all an item did is in the run, or it did nothing.
pub(crate) fn is_empty(git: &Git, apart: &Apart, run: &Run, own: Option<Own>) -> Result<bool, EngineError> {
    let (Some(commit), Some(head)) = (tip(git, &apart.branch)?, git.head()?) else {
        return Ok(!apart.folder.exists());
    };
    if !is_within(git, &commit, &head)? {
        return Ok(false);
    }
    let start = run.site.as_ref().map(|it| it.start.clone()).unwrap_or_default();
    Ok(match git.at(&apart.folder)? {
        Some(there) => {
            let files = Files::of(there, "apart")?;
            files.see_also(own);
            files.look()?.tree == start
        }
        None => true,
    })
}

/// Removes a worktree and its branch, with all that is there.
pub(crate) fn remove(git: &Git, apart: &Apart) -> Result<(), EngineError> {
    let path = apart.folder.to_string_lossy();
    // One that was only just begun is locked.
    let removed = git.text(&["worktree", "remove", "--force", "--force", &path]);
    if let Err(error @ GitError::Missing(_)) = removed {
        return Err(error.into());
    }
    if apart.folder.exists() {
        let disk = |error| FilesError::Disk { path: apart.folder.clone(), error };
        std::fs::remove_dir_all(&apart.folder).map_err(disk)?;
    }
    if tip(git, &apart.branch)?.is_some() || removed.is_err() {
        git.text(&["worktree", "prune"])?;
    }
    if tip(git, &apart.branch)?.is_some() {
        git.text(&["branch", "--quiet", "-D", &apart.branch])?;
    }
    Ok(())
}
