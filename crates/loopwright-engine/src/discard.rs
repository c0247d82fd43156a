//! Throwing away what a run made: the worktree it worked in, and the branch that is checked out there.

use std::path::{Path, PathBuf};

use loopwright_core::machine::Run;

use crate::effects::worktrees::{all, is_same};
use crate::engine::Engine;
use crate::error::EngineError;
use crate::files::FilesError;

/// What goes when the worktree of a run is thrown away.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Discard {
    /// The worktree.
    pub folder: PathBuf,
    /// The branch that is checked out there.
    pub branch: String,
    /// What it began from, as well as anybody knows.
    pub base: String,
    /// Its commits that are in no other branch, the newest first, a line each.
    pub commits: Vec<String>,
    /// Files that were changed or added and never committed.
    pub files: Vec<String>,
    /// The main worktree, where all of it is done from.
    main: PathBuf,
}

impl Engine {
    /// What would go, if what a run made were thrown away. Nothing is touched.
    pub fn to_discard(&self, name: &str, run: &Run) -> Result<Discard, EngineError> {
        let wrong = |why: String| Err(EngineError::Wrong(why));
        if !run.is_over() {
            return wrong(format!("`{name}` is not over; `loopwright stop {name}` ends it"));
        }
        let Some(site) = run.site.as_ref().filter(|_| self.home.is_repository) else {
            return wrong(format!("`{name}` worked in no git repository, so there is nothing to go back to"));
        };
        let git = &self.home.git;
        let trees = all(git).map_err(FilesError::from)?;
        let Some((main, others)) = trees.split_first() else {
            return wrong("git knows of no worktree".to_owned());
        };
        let folder = Path::new(&site.folder);
        if is_same(&main.path, folder) {
            let branch = main.branch.clone().unwrap_or_default();
            let base = site.trunk.clone().unwrap_or_default();
            return wrong(format!(
                "`{name}` worked in {}, the main worktree, which is not thrown away; by hand: `git switch {base}`, then `git branch -D {branch}`",
                folder.display()
            ));
        }
        let Some(tree) = others.iter().find(|it| is_same(&it.path, folder)) else {
            return wrong(format!("the worktree of `{name}`, {}, is not there any more", folder.display()));
        };
        let Some(branch) = tree.branch.clone() else {
            return wrong(format!("in {} no branch is checked out", folder.display()));
        };
        let base = site.trunk.clone().unwrap_or_default();
        if branch == base {
            return wrong(format!("`{branch}` is the base branch, which is not thrown away"));
        }
        for line in self.journal.runs()? {
            let other = line.run.name;
            if line.last == 0 || line.run.parent.is_some() || other == name {
                continue;
            }
            let (_, run) = self.read(&other)?;
            let is_there = run.site.as_ref().is_some_and(|it| is_same(Path::new(&it.folder), folder));
            if is_there && !run.is_over() {
                return wrong(format!(
                    "`{other}` works there too, and is not over; `loopwright stop {other}` ends it"
                ));
            }
        }
        let at = git.at(folder).map_err(FilesError::from)?;
        let Some(at) = at else { return wrong(format!("{} has no files checked out", folder.display())) };
        let own = format!("refs/heads/{branch}");
        let exclude = format!("--exclude={branch}");
        let commits = at.text(&["log", "--format=%h %s", &own, "--not", &exclude, "--branches", "--remotes"]);
        let changed = at.bytes(&["status", "--porcelain", "-z", "--untracked-files=all"]);
        let changed = changed.map_err(FilesError::from)?;
        let changed = String::from_utf8_lossy(&changed).into_owned();
        Ok(Discard {
            folder: tree.path.clone(),
            branch,
            base,
            commits: commits.map_err(FilesError::from)?.lines().map(str::to_owned).collect(),
            files: changed.split('\0').filter_map(|it| it.get(3..)).map(str::to_owned).collect(),
            main: main.path.clone(),
        })
    }

    /// Throws it away: the worktree with all that is in it, then the branch. The journal keeps the run.
    pub fn discard(&self, discard: &Discard) -> Result<(), EngineError> {
        let git = self.home.git.at(&discard.main).map_err(FilesError::from)?;
        let Some(git) = git else {
            return Err(EngineError::Wrong(format!("{} has no files checked out", discard.main.display())));
        };
        let folder = discard.folder.to_string_lossy();
        git.text(&["worktree", "remove", "--force", "--force", &folder]).map_err(FilesError::from)?;
        git.text(&["branch", "--delete", "--force", "--", &discard.branch]).map_err(FilesError::from)?;
        Ok(())
    }
}
