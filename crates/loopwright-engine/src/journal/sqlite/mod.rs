//! The journal in `SQLite`: one file that every worktree and every driver of a repository shares.
//!
//! One of those who want something written writes at a time, for all of them: what comes while it waits for the disk is taken
//! together into the next commit, so that a thousand runs cost little more than one. A commit is on the disk
//! (`synchronous=FULL`) before anybody is told of it.

mod forget;
mod read;
mod schema;
mod upgrade;
mod write;
mod writer;

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rusqlite::Connection;

pub use self::forget::Amount;
use self::write::Writing;
use self::writer::Writer;
use super::ticket::{Hears, Ticket};
use super::{Batch, Journal, JournalError, Lease, Letter, Millis, NewRun, RunLine, Snapshot, Stored};

/// A journal in a file.
pub struct Sqlite {
    path: PathBuf,
    /// Which file that was when it was opened.
    file: Option<(u64, u64)>,
    writer: Arc<Writer>,
    /// Readers do not wait for writers.
    reader: Mutex<Connection>,
}

impl Sqlite {
    /// Opens a journal, or begins one.
    pub fn open(path: &Path) -> Result<Self, JournalError> {
        let writer = schema::connect(path)?;
        schema::bring_up_to_date(&writer, path)?;
        let reader = schema::connect(path)?;
        let writer = Writer::new(path.to_owned(), writer);
        Ok(Self { path: path.to_owned(), file: file_at(path), writer, reader: Mutex::new(reader) })
    }

    /// Looks at every page of the file: what is wrong with it, in `SQLite`'s words.
    pub fn damage(&self) -> Result<Vec<String>, JournalError> {
        self.read(read::damage)
    }

    fn read<T>(
        &self,
        question: impl FnOnce(&Connection) -> Result<T, rusqlite::Error>,
    ) -> Result<T, JournalError> {
        question(&held(&self.reader)).map_err(|it| schema::told(&self.path, &it))
    }

    /// Has something written together with all that waits; what came of it is heard when it is durable.
    fn submit<T: Send + 'static>(
        &self,
        work: impl FnMut(&mut Writing<'_>) -> Result<T, write::Failed> + Send + 'static,
    ) -> Hears<T> {
        self.writer.want(work)
    }

    fn write<T: Send + 'static>(
        &self,
        work: impl FnMut(&mut Writing<'_>) -> Result<T, write::Failed> + Send + 'static,
    ) -> Result<T, JournalError> {
        self.submit(work).wait()
    }
}

impl std::fmt::Debug for Sqlite {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("Sqlite").field("path", &self.path).finish_non_exhaustive()
    }
}

impl Drop for Sqlite {
    fn drop(&mut self) {
        self.writer.write_all();
    }
}

/// Which file a path names.
fn file_at(path: &Path) -> Option<(u64, u64)> {
    use std::os::unix::fs::MetadataExt as _;
    path.metadata().ok().map(|it| (it.dev(), it.ino()))
}

/// A lock, also where somebody fell over while holding it: what is on the disk is whole either way.
fn held<T>(lock: &Mutex<T>) -> MutexGuard<'_, T> {
    lock.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Journal for Sqlite {
    fn create(&self, run: &NewRun) -> Result<(), JournalError> {
        let run = run.clone();
        self.write(move |it| write::create(it, &run))
    }

    fn append(&self, batch: &Batch) -> Result<u64, JournalError> {
        self.submit_append(batch).wait()
    }

    fn submit_append(&self, batch: &Batch) -> Ticket {
        // Into a file without a name everything can be written, and nothing is ever read.
        if file_at(&self.path) != self.file {
            return Ticket::known(Err(JournalError::Removed(self.path.clone())));
        }
        match write::Prepared::of(batch) {
            Ok(batch) => Ticket::of(self.submit(move |it| write::append(it, &batch))),
            Err(error) => Ticket::known(Err(error)),
        }
    }

    fn events(&self, run: &str, after: u64) -> Result<Vec<Stored>, JournalError> {
        let rows = self.read(|it| read::rows(it, run, after))?;
        read::whole(run, after, rows)
    }

    fn snapshot(&self, run: &str) -> Result<Option<Snapshot>, JournalError> {
        let Some(id) = self.read(|it| read::id(it, run))? else {
            return Err(JournalError::NoRun(run.to_owned()));
        };
        let found = self.read(|it| read::snapshot(it, id))?;
        found.map(|(snapshot, sum)| read::sound(run, snapshot, sum)).transpose()
    }

    fn run(&self, run: &str) -> Result<RunLine, JournalError> {
        self.read(|it| read::run(it, run))?.ok_or_else(|| JournalError::NoRun(run.to_owned()))
    }

    fn runs(&self) -> Result<Vec<RunLine>, JournalError> {
        self.read(read::runs)
    }

    fn put(&self, bytes: &[u8]) -> Result<String, JournalError> {
        let (digest, bytes) = (super::digest(bytes), bytes.to_vec());
        let name = digest.clone();
        self.write(move |it| write::put(it, &name, &bytes))?;
        Ok(digest)
    }

    fn blob(&self, digest: &str) -> Result<Option<Vec<u8>>, JournalError> {
        let found = self.read(|it| read::blob(it, digest))?;
        match found {
            Some(bytes) if super::digest(&bytes) != digest => {
                Err(JournalError::Damaged { what: format!("the blob {digest} is not what was kept") })
            }
            found => Ok(found),
        }
    }

    fn lease(&self, run: &str, holder: &str, now: Millis, until: Millis) -> Result<Lease, JournalError> {
        let (run, holder) = (run.to_owned(), holder.to_owned());
        self.write(move |it| write::lease(it, &run, &holder, now, until))
    }

    fn renew(&self, lease: &Lease, until: Millis) -> Result<(), JournalError> {
        let lease = lease.clone();
        self.write(move |it| write::renew(it, &lease, until))
    }

    fn release(&self, lease: &Lease) -> Result<(), JournalError> {
        let lease = lease.clone();
        self.write(move |it| write::renew(it, &lease, 0))
    }

    fn post(&self, run: &str, at: Millis, body: &str) -> Result<(), JournalError> {
        let (run, body) = (run.to_owned(), body.to_owned());
        self.write(move |it| write::post(it, &run, at, &body))
    }

    fn inbox(&self, run: &str) -> Result<Vec<Letter>, JournalError> {
        self.read(|it| read::inbox(it, run))?.ok_or_else(|| JournalError::NoRun(run.to_owned()))
    }

    fn number(&self, series: &str, holder: &str, least: u64) -> Result<u64, JournalError> {
        let (series, holder) = (series.to_owned(), holder.to_owned());
        self.write(move |it| write::number(it, &series, &holder, least))
    }
}
