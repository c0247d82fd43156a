//! One run is at work in a folder at a time: two would take each other's changes for what their own agents did.

use std::fs::{File, TryLockError};
use std::io::{Read as _, Seek as _, Write as _};
use std::path::Path;

use super::Driver;
use super::holder::{holder_in_words, is_alive};
use crate::error::EngineError;
use crate::files::FilesError;
use crate::git::Git;

/// The file that says who has taken a folder.
const AT_WORK: &str = "loopwright-at-work";

/// Who has taken it before the run has a name.
pub(crate) const BEGINS: &str = "a run that is about to begin";

/// A folder that is taken for as long as this is kept. Whoever is gone has let go of it.
pub(crate) struct Place {
    file: File,
}

impl Driver<'_> {
    /// Whether nothing that a person began with git stands in the way of what the run will commit.
    pub(super) fn may_commit(&self) -> Result<(), EngineError> {
        if self.run.of.is_some() || self.run.is_over() {
            return Ok(());
        }
        self.engine.is_finished(&self.definition.workflow, self.files.git())
    }
}

impl Place {
    /// Says which run has it, now that it has begun. Only for people: who cannot be told it is told what was said before.
    pub(crate) fn is_for(&self, run: &str, holder: &str) {
        let mut file = &self.file;
        let said = file.rewind().and_then(|()| file.set_len(0));
        drop(said.and_then(|()| write!(file, "{run}, {holder}")));
    }
}

impl Drop for Place {
    /// Not left to the closing of the file: a process that was begun meanwhile holds a copy of it for a moment.
    fn drop(&mut self) {
        let _ = self.file.set_len(0);
        let _ = self.file.unlock();
    }
}

/// The run that is at work in a folder, if one is. Nothing is asked of git, and nobody is kept from anything.
pub fn at_work_in(root: &Path) -> Option<String> {
    let git = root.join(".git");
    let folder = match std::fs::read_to_string(&git) {
        // Of a worktree this is a file that says where.
        Ok(said) => root.join(said.trim().strip_prefix("gitdir:")?.trim()),
        Err(_) => git,
    };
    taken_by(&folder)
}

/// Whether somebody is about to begin a run, here or in another worktree: theirs may have a name and nothing more yet.
pub(crate) fn is_begun_somewhere(git: &Git) -> bool {
    let worktrees = std::fs::read_dir(git.common().join("worktrees")).into_iter().flatten().flatten();
    let mut folders = worktrees.map(|it| it.path()).chain([git.common().to_owned()]);
    folders.any(|it| taken_by(&it).is_some_and(|it| it == BEGINS))
}

/// Who has taken what belongs to a folder of git's.
fn taken_by(folder: &Path) -> Option<String> {
    let said = std::fs::read_to_string(folder.join(AT_WORK)).ok()?;
    let (run, holder) = said.split_once(", ")?;
    is_alive(holder).then(|| run.to_owned())
}

/// Takes the folder of a repository or worktree for a run.
pub(crate) fn take(git: &Git, run: &str, holder: &str) -> Result<Place, EngineError> {
    let path = git.folder().join(AT_WORK);
    let disk = |error| EngineError::Files(FilesError::Disk { path: path.clone(), error });
    let open = File::options().read(true).write(true).create(true).truncate(false).open(&path);
    let mut file = open.map_err(disk)?;
    match file.try_lock() {
        Ok(()) => {}
        Err(TryLockError::Error(error)) => return Err(disk(error)),
        Err(TryLockError::WouldBlock) => {
            let mut by = String::new();
            // Whoever took it may not have said yet who they are.
            let _ = file.read_to_string(&mut by);
            let by = match by.split_once(", ") {
                Some((run, holder)) => format!("{run}, {}", holder_in_words(holder)),
                None => "another run".to_owned(),
            };
            return Err(EngineError::Busy { folder: git.root().to_owned(), by });
        }
    }
    // Only for people.
    let said = file.rewind().and_then(|()| file.set_len(0)).and_then(|()| write!(file, "{run}, {holder}"));
    said.map_err(disk)?;
    Ok(Place { file })
}
