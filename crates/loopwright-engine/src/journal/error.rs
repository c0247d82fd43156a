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
    #[error("run `{run}` is driven by {}", crate::driver::holder_in_words(holder))]
    Held {
        /// The run.
        run: String,
        /// Who drives it.
        holder: String,
        /// Until when, if it does not keep it longer.
        until: super::Millis,
    },
    /// The lease was taken over, or given back.
    #[error("run `{run}` is no longer driven by {}", crate::driver::holder_in_words(holder))]
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
    /// The file was removed, or another put in its place, while it was used.
    #[error("the journal {} was removed or replaced while a run was at work: what would be written now nobody would find", .0.display())]
    Removed(PathBuf),
    /// What was read is not what was written.
    #[error(
        "the journal is damaged: {what}; keep a copy of the file, with `-wal` beside it, before anything else: what is still whole in it can be read, and nothing was changed"
    )]
    Damaged {
        /// What, and where.
        what: String,
    },
    /// It was written by a later version.
    #[error("the journal at {} was written by a later version of Loopwright (format {found}, this one reads up to {known}): use that version, or a newer one; nothing was changed", path.display())]
    TooNew {
        /// The file.
        path: PathBuf,
        /// Its format.
        found: u32,
        /// The newest format known.
        known: u32,
    },
    /// The disk is full.
    #[error("the disk is full: nothing more can be written to the journal at {}; make room and go on where the run stands (`loopwright resume`), all that was written down is there", path.display())]
    Full {
        /// The file.
        path: PathBuf,
    },
    /// It may not be written.
    #[error("the journal at {} may not be written: make the file and the folder it is in writable, and try again", path.display())]
    ReadOnly {
        /// The file.
        path: PathBuf,
    },
    /// Somebody else does not let go of it.
    #[error("another process has had the journal at {} locked for minutes: see which (`fuser` says), end it, and try again", path.display())]
    Busy {
        /// The file.
        path: PathBuf,
    },
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
