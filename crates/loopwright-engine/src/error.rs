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
