//! What can go wrong with a journal.

use std::path::PathBuf;

/// Why a journal did not do what it was asked. Nothing was changed, unless it says otherwise.
#[derive(Clone, Debug, thiserror::Error)]
pub enum JournalError {
    /// There is no such run.
    #[error("there is no run `{0}`")]
    NoRun(String),
    /// The name is taken.
    #[error("there is a run `{0}` already")]
    Taken(String),
    /// Somebody else drives the run.
    #[error("run `{run}` is driven by {holder}")]
    Held {
        /// The run.
        run: String,
        /// Who drives it.
        holder: String,
        /// Until when, if it does not keep it longer.
        until: super::Millis,
    },
    /// The lease was taken over, or given back.
    #[error("run `{run}` is no longer driven by {holder}")]
    LeaseLost {
        /// The run.
        run: String,
        /// Who drove it.
        holder: String,
    },
    /// The driver does not know the run as it is.
    #[error("run `{run}` has {last} events, and the driver knew of {after}")]
    Behind {
        /// The run.
        run: String,
        /// The number of its last event.
        last: u64,
        /// The number the driver gave.
        after: u64,
    },
    /// What was read is not what was written.
    #[error("the journal is damaged: {what}")]
    Damaged {
        /// What, and where.
        what: String,
    },
    /// It was written by a later version.
    #[error("the journal at {} was written by a later version of Loopwright (format {found}, this one reads up to {known})", path.display())]
    TooNew {
        /// The file.
        path: PathBuf,
        /// Its format.
        found: u32,
        /// The newest format known.
        known: u32,
    },
    /// The disk is full.
    #[error("the disk is full: {0}")]
    Full(String),
    /// Whoever writes is gone.
    #[error(
        "nobody writes the journal any more: the thread that did fell over; start again, what was written is there"
    )]
    Gone,
    /// It cannot be read or written.
    #[error("the journal at {}: {why}", path.display())]
    Unusable {
        /// The file.
        path: PathBuf,
        /// Why.
        why: String,
    },
}
