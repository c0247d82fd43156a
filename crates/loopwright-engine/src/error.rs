//! Why a run did not go on.

use loopwright_core::machine::Impossible;

use crate::files::FilesError;
use crate::journal::JournalError;
use crate::scene::Unseen;

/// Why a run did not go on. Whatever it is, nothing that was written down is lost.
#[derive(Debug, thiserror::Error)]
pub enum EngineError {
    /// By the journal.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// By files or git.
    #[error(transparent)]
    Files(#[from] FilesError),
    /// The machine knows no way on.
    #[error("the run cannot go on: {0}")]
    Impossible(Box<Impossible>),
    /// The workflow is not one that may run.
    #[error("`{workflow}` does not run: {why}")]
    Unfit {
        /// Which.
        workflow: String,
        /// Why.
        why: String,
    },
    /// Another run is at work in the same folder.
    #[error(
        "in {} another run is at work ({by}), and two would undo each other's work; wait for it, or give this one a folder of its own: `git worktree add ../OTHER`, and run it there",
        folder.display()
    )]
    Busy {
        /// The folder.
        folder: std::path::PathBuf,
        /// Who works there.
        by: String,
    },
    /// Something a person can mend.
    #[error("{0}")]
    Wrong(String),
}

impl From<Impossible> for EngineError {
    fn from(error: Impossible) -> Self {
        Self::Impossible(Box::new(error))
    }
}

impl From<Unseen> for EngineError {
    fn from(error: Unseen) -> Self {
        match error {
            Unseen::Files(error) => Self::Files(error),
            Unseen::Wrong(why) => Self::Wrong(why),
        }
    }
}

impl From<crate::git::GitError> for EngineError {
    fn from(error: crate::git::GitError) -> Self {
        Self::Files(error.into())
    }
}
