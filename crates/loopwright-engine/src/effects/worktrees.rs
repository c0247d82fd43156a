//! Branches and worktrees: what there is, and how a run goes from one to another.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use loopwright_core::machine::Site;

use super::Done;
use crate::config::Worktrees;
use crate::engine::Engine;
use crate::error::EngineError;
use crate::files::{Files, FilesError};
use crate::git::{Git, GitError};
use crate::scene::Scene;

/// What is said where only a repository will do.
pub(crate) const NO_REPOSITORY: &str = "this project is in no git repository; make one (`git init`)";

/// A worktree.
#[derive(Clone, Debug)]
pub struct Worktree {
    /// Where it is.
    pub path: PathBuf,
    /// What is checked out there; nothing, where that is no branch.
    pub branch: Option<String>,
}

/// All worktrees of a repository, the main one first.
pub fn all(git: &Git) -> Result<Vec<Worktree>, GitError> {
    let listed = git.bytes(&["worktree", "list", "--porcelain", "-z"])?;
    let mut found: Vec<Worktree> = Vec::new();
    for line in String::from_utf8_lossy(&listed).split('\0') {
        if let Some(path) = line.strip_prefix("worktree ") {
            found.push(Worktree { path: path.into(), branch: None });
        } else if let (Some(branch), Some(last)) = (line.strip_prefix("branch refs/heads/"), found.last_mut())
        {
            last.branch = Some(branch.to_owned());
        }
    }
    Ok(found)
}

/// Where a branch has a worktree of its own: beside the repository, or where somebody configured.
pub(crate) fn own_place(configured: &Worktrees, main: &Path, branch: &str) -> PathBuf {
    let plain: String = branch.chars().map(|it| if it == '/' { '-' } else { it }).collect();
    let called = main.file_name().map(|it| it.to_string_lossy().into_owned()).unwrap_or_default();
    let folder = match &configured.folder {
        Some(folder) => main.join(folder),
        None => main.parent().unwrap_or(Path::new("/")).to_owned(),
    };
    folder.join(format!("{called}-{plain}"))
}

/// Copies files that git ignores to a worktree that is new. What is there stays.
pub(super) fn bring_along(
    configured: &Worktrees,
    git: &Git,
    main: &Path,
    place: &Path,
) -> Result<(), EngineError> {
    if configured.copy.is_empty() {
        return Ok(());
    }
    let Some(main) = git.at(main)? else { return Ok(()) };
    let mut arguments =
        ["ls-files", "--others", "--ignored", "--exclude-standard", "-z", "--"].map(str::to_owned).to_vec();
    arguments.extend(configured.copy.iter().map(|it| format!(":(glob){it}")));
    let listed = main.bytes(&arguments)?;
    for path in String::from_utf8_lossy(&listed).split('\0').filter(|it| !it.is_empty()) {
        let (from, to) = (main.root().join(path), place.join(path));
        let copied = match to.parent() {
            Some(folder) if !to.exists() => {
                std::fs::create_dir_all(folder).and_then(|()| std::fs::copy(&from, &to).map(drop))
            }
            _ => Ok(()),
        };
        copied.map_err(|error| FilesError::Disk { path: to, error })?;
    }
    Ok(())
}

/// Whether two paths are one place.
pub(crate) fn is_same(one: &Path, other: &Path) -> bool {
    match (one.canonicalize(), other.canonicalize()) {
        (Ok(one), Ok(other)) => one == other,
        _ => one == other,
    }
}

/// The way from one folder to another.
pub(crate) fn way(from: &Path, to: &Path) -> String {
    let whole = |it: &Path| it.canonicalize().unwrap_or_else(|_| it.to_owned());
    let (from, to) = (whole(from), whole(to));
    let shared = from.components().zip(to.components()).take_while(|(one, other)| one == other).count();
    let up = from.components().skip(shared).map(|_| std::path::Component::ParentDir);
    let way: PathBuf = up.chain(to.components().skip(shared)).collect();
    way.to_string_lossy().into_owned()
}

/// The commit something stands for, if it does.
pub(super) fn commit_of(git: &Git, reference: &str) -> Result<Option<String>, GitError> {
    let what = format!("{reference}^{{commit}}");
    match git.text(&["rev-parse", "--verify", "--quiet", "--end-of-options", &what]) {
        Ok(commit) => Ok(Some(commit)),
        Err(GitError::Failed { .. }) => Ok(None),
        Err(error) => Err(error),
    }
}

/// The commit of a branch, if there is such a branch.
pub(super) fn tip(git: &Git, branch: &str) -> Result<Option<String>, GitError> {
    commit_of(git, &format!("refs/heads/{branch}"))
}

/// Why nothing can be done with a branch of this name here.
pub(super) fn unfit(engine: &Engine, git: &Git, name: &str) -> Result<Option<String>, GitError> {
    if !engine.home.is_repository {
        return Ok(Some(NO_REPOSITORY.to_owned()));
    }
    let reference = format!("refs/heads/{name}");
    match git.text(&["check-ref-format", &reference]) {
        Ok(_) if !name.starts_with('-') && name != "HEAD" => Ok(None),
        Ok(_) | Err(GitError::Failed { .. }) => Ok(Some(format!("`{name}` cannot be the name of a branch"))),
        Err(error) => Err(error),
    }
}

/// What git would not do, and what a person can do about it.
pub(super) fn refused(error: GitError, help: &str) -> Result<Done, EngineError> {
    match error {
        GitError::Failed { .. } => Ok(Done::plain("failed", format!("{error}; {help}"))),
        missing @ GitError::Missing(_) => Err(missing.into()),
    }
}

/// The run goes to another worktree. Where it is there already, it stays.
pub(super) fn goes_to(scene: &Scene<'_>, place: &Path, summary: String) -> Result<Done, EngineError> {
    let site = scene.run.site.clone().unwrap_or_default();
    let done = Done::plain("done", summary);
    if is_same(Path::new(&site.folder), place) {
        return Ok(done);
    }
    let Some(git) = scene.files.git().at(place)? else {
        return Ok(Done::plain("failed", format!("{} is no worktree", place.display())));
    };
    let files = Files::of(git, scene.name)?;
    files.see_also(scene.own()?);
    let look = files.look()?;
    files.keep(scene.name, &look.tree)?;
    let placed = Site {
        folder: files.root().to_string_lossy().into_owned(),
        start: look.tree.clone(),
        base: files.git().head()?,
        own: site.own,
        trunk: site.trunk,
        whole: None,
        joins: None,
    };
    Ok(Done { placed: Some(placed), look: Some(Arc::new(look)), ..done })
}
