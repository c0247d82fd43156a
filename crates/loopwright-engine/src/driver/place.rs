//! One run is at work in a folder at a time: two would take each other's changes for what their own agents did.

use std::fs::{File, TryLockError};
use std::io::{Read as _, Seek as _, Write as _};
use std::path::Path;

use super::holder::{holder_in_words, is_alive};
use crate::error::EngineError;
use crate::files::FilesError;
use crate::git::Git;

/// The file that says who has taken a folder.
const AT_WORK: &str = "loopwright-at-work";

/// A folder that is taken for as long as this is kept. Whoever is gone has let go of it.
pub(crate) struct Place {
    file: File,
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
