//! Where a project's runs are kept: with its repository, so that every worktree shares them, or beside its files.

use std::fs;
use std::path::{Path, PathBuf};

use loopwright_core::paths::OWN;

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

impl Home {
    /// The project a folder is in, with room for its runs.
    pub fn around(folder: &Path) -> Result<Self, FilesError> {
        let home = Self::find(folder)?;
        make(home.kept())?;
        if !home.is_repository {
            Git::own(home.root(), home.git.folder())?;
            let exclude = home.git.folder().join("info/exclude");
            make(&home.git.folder().join("info"))?;
            fs::write(&exclude, format!("/{OWN}\n"))
                .map_err(|error| FilesError::Disk { path: exclude, error })?;
        }
        Ok(home)
    }

    /// The project a folder is in, for somebody who only looks: nothing is made, and nothing may be there yet.
    pub fn find(folder: &Path) -> Result<Self, FilesError> {
        if let Some(git) = Git::around(folder)? {
            let journal = git.common().join("loopwright/journal.db");
            return Ok(Self { git, is_repository: true, journal });
        }
        let above = folder.ancestors().find(|it| it.join(OWN).is_dir()).unwrap_or(folder);
        let kept = above.join(OWN);
        let git = Git::named(above, &kept.join("files.git"));
        Ok(Self { git, is_repository: false, journal: kept.join("journal.db") })
    }

    /// Where everything of ours is.
    pub fn kept(&self) -> &Path {
        self.journal.parent().unwrap_or(Path::new("."))
    }

    /// Where something about one run is kept that is no event: what whoever drives it in the background says.
    pub fn of_run(&self, run: &str) -> PathBuf {
        self.kept().join("runs").join(run)
    }

    /// The root of the project's files.
    pub fn root(&self) -> &Path {
        self.git.root()
    }
}

fn make(folder: &Path) -> Result<(), FilesError> {
    fs::create_dir_all(folder).map_err(|error| FilesError::Disk { path: folder.to_owned(), error })
}
