//! Where a project's runs are kept: with its repository, so that every worktree shares them, or beside its files.

use std::fs;
use std::path::{Path, PathBuf};

use crate::files::FilesError;
use crate::git::Git;

/// A project and where its runs are kept.
#[derive(Clone, Debug)]
pub struct Home {
    /// The repository; one of our own, where the project has none.
    pub git: Git,
    /// Whether the project has a repository.
    pub is_repository: bool,
    /// Where the journal is.
    pub journal: PathBuf,
}

/// What is ours in a project without a repository.
const OURS: &str = ".loopwright";

impl Home {
    /// The project a folder is in.
    pub fn around(folder: &Path) -> Result<Self, FilesError> {
        if let Some(git) = Git::around(folder)? {
            let kept = git.common().join("loopwright");
            make(&kept)?;
            return Ok(Self { git, is_repository: true, journal: kept.join("journal.db") });
        }
        let above = folder.ancestors().find(|it| it.join(OURS).is_dir()).unwrap_or(folder);
        let kept = above.join(OURS);
        make(&kept)?;
        let git = Git::own(above, &kept.join("files.git"))?;
        let exclude = git.folder().join("info/exclude");
        make(&git.folder().join("info"))?;
        fs::write(&exclude, format!("/{OURS}/\n"))
            .map_err(|error| FilesError::Disk { path: exclude, error })?;
        Ok(Self { git, is_repository: false, journal: kept.join("journal.db") })
    }

    /// The root of the project's files.
    pub fn root(&self) -> &Path {
        self.git.root()
    }
}

fn make(folder: &Path) -> Result<(), FilesError> {
    fs::create_dir_all(folder).map_err(|error| FilesError::Disk { path: folder.to_owned(), error })
}
