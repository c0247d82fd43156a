//! The journal in `SQLite`: one file that every worktree and every driver of a repository shares.
//!
//! One thread writes. What comes while it waits for the disk is taken together into the next commit, so that a thousand
//! runs cost little more than one. A commit is on the disk (`synchronous=FULL`) before anybody is told of it.

mod read;
mod schema;
mod write;

use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

use rusqlite::Connection;

use super::{Batch, Journal, JournalError, Lease, Letter, Millis, NewRun, RunLine, Snapshot, Stored};

/// A journal in a file.
#[derive(Debug)]
pub struct Sqlite {
    path: PathBuf,
    /// Where whoever writes is told what to write.
    jobs: Option<Sender<Job>>,
    writer: Option<JoinHandle<()>>,
    /// Readers do not wait for writers.
    reader: Mutex<Connection>,
}

/// So much is taken into one commit at most: whoever came first must not wait for ever.
const MOST_TOGETHER: usize = 4_096;

/// Something to write.
struct Job {
    perform: Perform,
    /// Where whoever wants it learns that it failed.
    failed: Box<dyn FnOnce(JournalError) + Send>,
}

/// Writes it, inside a transaction.
type Perform = Box<dyn FnOnce(&Connection) -> Result<Tell, JournalError> + Send>;
/// Tells whoever wanted it what came of it, once it is durable.
type Tell = Box<dyn FnOnce() + Send>;

impl std::fmt::Debug for Job {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str("Job")
    }
}

impl Sqlite {
    /// Opens a journal, or begins one.
    pub fn open(path: &Path) -> Result<Self, JournalError> {
        let writer = schema::connect(path)?;
        schema::bring_up_to_date(&writer, path)?;
        let reader = schema::connect(path)?;
        let (jobs, wanted) = channel();
        let own = path.to_owned();
        let writer = std::thread::Builder::new()
            .name("journal".into())
            .spawn(move || write_all(&own, &writer, &wanted));
        let writer =
            writer.map_err(|it| JournalError::Unusable { path: path.to_owned(), why: it.to_string() })?;
        Ok(Self { path: path.to_owned(), jobs: Some(jobs), writer: Some(writer), reader: Mutex::new(reader) })
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

    /// Writes something together with all that waits, and says what came of it when it is durable.
    fn write<T: Send + 'static>(
        &self,
        perform: impl FnOnce(&Connection) -> Result<T, write::Failed> + Send + 'static,
    ) -> Result<T, JournalError> {
        let (told, hears) = channel();
        let path = self.path.clone();
        let failed: Sender<Result<T, JournalError>> = told.clone();
        let job = Job {
            perform: Box::new(move |connection| {
                let done = perform(connection).map_err(|it| it.told(&path))?;
                Ok(Box::new(move || {
                    // Whoever does not wait for it any more does not have to hear it.
                    let _ = told.send(Ok(done));
                }))
            }),
            failed: Box::new(move |error| {
                let _ = failed.send(Err(error));
            }),
        };
        // Where nobody writes any more, nobody is heard of either.
        let _ = self.jobs.as_ref().map(|it| it.send(job));
        hears.recv().unwrap_or_else(|_| {
            Err(JournalError::Unusable { path: self.path.clone(), why: "a writer fell over".into() })
        })
    }
}

impl Drop for Sqlite {
    fn drop(&mut self) {
        self.jobs = None;
        if let Some(writer) = self.writer.take() {
            let _ = writer.join();
        }
    }
}

/// Writes whatever is wanted, as much as there is at a time in one commit, until nobody can want anything any more.
fn write_all(path: &Path, connection: &Connection, wanted: &Receiver<Job>) {
    while let Ok(first) = wanted.recv() {
        let jobs = std::iter::once(first).chain(wanted.try_iter().take(MOST_TOGETHER)).collect();
        commit(path, connection, jobs);
    }
}

/// Performs jobs in one transaction. One that fails leaves nothing behind and does not disturb the others.
fn commit(path: &Path, connection: &Connection, jobs: Vec<Job>) {
    let told = |it: rusqlite::Error| schema::told(path, &it);
    let run = |statement: &str| {
        let mut statement = connection.prepare_cached(statement).map_err(told)?;
        statement.execute([]).map(drop).map_err(told)
    };
    if let Err(error) = run("BEGIN IMMEDIATE") {
        for job in jobs {
            (job.failed)(error.clone());
        }
        return;
    }
    let mut done = Vec::with_capacity(jobs.len());
    for job in jobs {
        let performed = run("SAVEPOINT one").and_then(|()| (job.perform)(connection));
        match performed {
            Ok(tell) => done.push((tell, job.failed)),
            Err(error) => {
                // Where that fails as well, the commit does.
                let _ = run("ROLLBACK TO one");
                (job.failed)(error);
            }
        }
        let _ = run("RELEASE one");
    }
    match run("COMMIT") {
        Ok(()) => done.into_iter().for_each(|(tell, _)| tell()),
        Err(error) => {
            let _ = run("ROLLBACK");
            for (_, failed) in done {
                failed(error.clone());
            }
        }
    }
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
        let batch = write::Prepared::of(batch)?;
        self.write(move |it| write::append(it, &batch))
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
}
