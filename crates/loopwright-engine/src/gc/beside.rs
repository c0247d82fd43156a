//! What runs have beside the journal: what is known of files, what keeps trees in git, and worktrees.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};

use loopwright_core::machine::Event;

use super::{Family, Kept};
use crate::effects::worktrees::{all, is_same, own_place};
use crate::engine::Engine;
use crate::error::EngineError;
use crate::files::{FilesError, REFERENCES, index, reference};
use crate::git::{Git, GitError};
use crate::home::Home;
use crate::journal::{Amount, JournalError};

/// What there is beside the journal.
pub(super) struct Beside {
    git: Git,
    indexes: Vec<PathBuf>,
    references: Vec<String>,
    /// What drivers in the background said, a folder a run.
    said: Vec<PathBuf>,
}

pub(super) fn find(home: &Home) -> Result<Beside, GitError> {
    let git = &home.git;
    let entries = |folder: &Path| fs::read_dir(folder).into_iter().flatten().flatten().map(|it| it.path());
    let mut indexes = Vec::new();
    let worktrees = entries(&git.common().join("worktrees"));
    for folder in worktrees.chain([git.common().to_owned()]) {
        let name =
            |it: &PathBuf| it.file_name().is_some_and(|it| it.to_string_lossy().starts_with(&index("")));
        indexes.extend(entries(&folder.join("loopwright")).filter(name));
    }
    let references = git.text(&["for-each-ref", "--format=%(refname)", REFERENCES])?;
    let references = references.lines().map(str::to_owned).collect();
    let said = entries(&home.kept().join("runs")).collect();
    Ok(Beside { git: git.clone(), indexes, references, said })
}

impl Beside {
    /// Removes what belongs to none of these runs.
    pub(super) fn remove_all_but(self, runs: &HashSet<String>, dry_run: bool) -> Result<Amount, EngineError> {
        let mut amount = Amount::default();
        let indexes: HashSet<String> = runs.iter().map(|it| index(it)).collect();
        for path in self.indexes {
            let name = path.file_name().map(|it| it.to_string_lossy().into_owned()).unwrap_or_default();
            if indexes.contains(name.trim_end_matches(".lock")) {
                continue;
            }
            amount.count += 1;
            amount.bytes += fs::metadata(&path).map_or(0, |it| it.len());
            if dry_run {
                continue;
            }
            match fs::remove_file(&path) {
                Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                    return Err(FilesError::Disk { path, error }.into());
                }
                _ => {}
            }
        }
        let is_of_one = |it: &PathBuf| it.file_name().is_some_and(|it| runs.contains(&*it.to_string_lossy()));
        for path in self.said.into_iter().filter(|it| !is_of_one(it)) {
            amount.count += 1;
            let files = fs::read_dir(&path).into_iter().flatten().flatten();
            amount.bytes += files.filter_map(|it| it.metadata().ok()).map(|it| it.len()).sum::<u64>();
            if !dry_run {
                fs::remove_dir_all(&path).map_err(|error| FilesError::Disk { path, error })?;
            }
        }
        let kept: HashSet<String> = runs.iter().map(|it| reference(it)).collect();
        for reference in self.references.iter().filter(|it| !kept.contains(*it)) {
            amount.count += 1;
            if !dry_run {
                self.git.text(&["update-ref", "-d", reference])?;
            }
        }
        Ok(amount)
    }
}

/// Worktrees that a run went to.
pub(super) struct Worktrees {
    git: Git,
    /// Those it made, with why one stays.
    found: Vec<(PathBuf, Option<String>)>,
    pub(super) removed: Vec<String>,
    pub(super) kept: Vec<Kept>,
}

impl Worktrees {
    /// Those a run made for itself or for its items: where it did not begin, in the place such worktrees have. Of runs that
    /// stay, `others`, none may be at work there.
    pub(super) fn of(engine: &Engine, family: &Family, others: &[String]) -> Result<Self, EngineError> {
        let git = engine.home.git.clone();
        let went = |run: &str| -> Result<Vec<PathBuf>, JournalError> {
            let folder = |it| match it {
                Event::Placed(site) => Some(PathBuf::from(site.folder)),
                _ => None,
            };
            Ok(engine.journal.events(run, 0)?.into_iter().filter_map(|it| folder(it.event)).collect())
        };
        let places = went(&family.first.run.name)?;
        let mut made: Vec<PathBuf> = places.iter().skip(1).cloned().collect();
        for item in &family.items {
            made.extend(went(&item.run.name)?);
        }
        let mut found: Vec<(PathBuf, Option<String>)> = Vec::new();
        if engine.home.is_repository && !made.is_empty() {
            let trees = all(&git)?;
            let main = trees.first().map(|it| it.path.clone()).unwrap_or_default();
            for tree in trees.iter().skip(1).filter(|it| it.path.is_dir()) {
                let is_there = |it: &PathBuf| is_same(it, &tree.path);
                let Some(branch) = &tree.branch else { continue };
                if made.iter().any(is_there)
                    && !places.first().is_some_and(is_there)
                    && is_same(&own_place(&engine.project.worktrees, &main, branch), &tree.path)
                {
                    // Where that cannot be told, it may have.
                    let was_there = |it: &&String| went(it).map_or(true, |it| it.iter().any(is_there));
                    let at_work = others.iter().find(was_there);
                    let why = match at_work {
                        Some(other) => Some(format!("the run `{other}`, which stays, was there as well")),
                        None => why_not(&git, &tree.path)?,
                    };
                    found.push((tree.path.clone(), why));
                }
            }
        }
        Ok(Self { git, found, removed: Vec::new(), kept: Vec::new() })
    }

    /// Removes those of which nothing would be lost.
    pub(super) fn remove(&mut self, dry_run: bool) -> Result<(), EngineError> {
        for (path, why) in std::mem::take(&mut self.found) {
            let what = path.to_string_lossy().into_owned();
            let why = match why {
                None if dry_run => None,
                // Git looks again, and does not remove what holds changes by now.
                None => match self.git.text(&["worktree", "remove", &what]) {
                    Ok(_) => None,
                    Err(GitError::Failed { said, .. }) => Some(said),
                    Err(error) => return Err(FilesError::from(error).into()),
                },
                why => why,
            };
            match why {
                None => self.removed.push(what),
                Some(why) => self.kept.push(Kept { what, why }),
            }
        }
        Ok(())
    }
}

/// Why a worktree stays: something in it is nowhere else.
fn why_not(git: &Git, path: &Path) -> Result<Option<String>, EngineError> {
    if is_same(git.root(), path) || std::env::current_dir().is_ok_and(|it| it.starts_with(path)) {
        return Ok(Some("you are in it".to_owned()));
    }
    let Ok(Some(there)) = Git::around(path) else {
        return Ok(Some("it cannot be read as a worktree".to_owned()));
    };
    let status = there.text(&["status", "--porcelain", "--ignored", "--untracked-files=normal"])?;
    let by_hand = format!("`git worktree remove --force {}` removes it with that", path.display());
    Ok(match status.lines().next() {
        None => None,
        Some(line) if status.lines().all(|it| it.starts_with("!!")) => {
            let file = line.get(3..).unwrap_or_default();
            Some(format!("it holds files that git ignores (`{file}`); {by_hand}"))
        }
        Some(line) => {
            let file = line.get(3..).unwrap_or_default();
            Some(format!("something in it is not committed (`{file}`); {by_hand}"))
        }
    })
}
