//! The tables, their versions, and what `SQLite`'s errors mean to us.

use std::io::ErrorKind::{PermissionDenied, ReadOnlyFilesystem};
use std::path::Path;
use std::time::{Duration, Instant};

use rusqlite::{Connection, Error, ErrorCode};

use crate::journal::JournalError;

/// Each step brings a journal from the format of its place in this list to the next. Steps are never changed.
const STEPS: &[&str] = &[
    "
    CREATE TABLE runs (
        id         INTEGER PRIMARY KEY,
        name       TEXT NOT NULL UNIQUE,
        workflow   TEXT NOT NULL,
        subject    TEXT NOT NULL,
        definition TEXT NOT NULL,
        parent     TEXT,
        created    INTEGER NOT NULL,
        updated    INTEGER NOT NULL,
        last       INTEGER NOT NULL DEFAULT 0,
        state      TEXT NOT NULL DEFAULT '',
        status     TEXT NOT NULL DEFAULT '',
        holder     TEXT NOT NULL DEFAULT '',
        token      INTEGER NOT NULL DEFAULT 0,
        until      INTEGER NOT NULL DEFAULT 0
    );
    CREATE TABLE events (
        run     INTEGER NOT NULL REFERENCES runs (id),
        seq     INTEGER NOT NULL,
        version INTEGER NOT NULL,
        at      INTEGER NOT NULL,
        body    TEXT NOT NULL,
        sum     INTEGER NOT NULL,
        PRIMARY KEY (run, seq)
    ) WITHOUT ROWID;
    CREATE TABLE snapshots (
        run  INTEGER PRIMARY KEY REFERENCES runs (id),
        seq  INTEGER NOT NULL,
        body TEXT NOT NULL,
        sum  INTEGER NOT NULL
    );
    CREATE TABLE blobs (digest TEXT NOT NULL UNIQUE, bytes BLOB NOT NULL);
    CREATE TABLE inbox (
        id   INTEGER PRIMARY KEY AUTOINCREMENT,
        run  INTEGER NOT NULL REFERENCES runs (id),
        at   INTEGER NOT NULL,
        body TEXT NOT NULL
    );
    CREATE INDEX inbox_of_run ON inbox (run);
",
    // What is appended together is one row, at the end of its table: runs that go on side by side share the pages they are
    // written to. An event that was a row of its own is a batch of one, and its sum still holds.
    "
    CREATE TABLE batches (
        id      INTEGER PRIMARY KEY,
        run     INTEGER NOT NULL,
        last    INTEGER NOT NULL,
        count   INTEGER NOT NULL,
        version INTEGER NOT NULL,
        at      INTEGER NOT NULL,
        body    TEXT NOT NULL,
        sum     INTEGER NOT NULL
    );
    INSERT INTO batches (run, last, count, version, at, body, sum)
        SELECT run, seq, 1, version, at, body, sum FROM events ORDER BY run, seq;
    CREATE UNIQUE INDEX batches_of_run ON batches (run, last);
    DROP TABLE events;
",
    // A run knows its last batch, and each batch the one before it of the same run: nothing has to be found a place in an
    // index for every step of every run.
    "
    ALTER TABLE runs ADD COLUMN tail INTEGER NOT NULL DEFAULT 0;
    ALTER TABLE batches ADD COLUMN before INTEGER NOT NULL DEFAULT 0;
    UPDATE batches SET before = chain.before FROM
        (SELECT id, lag(id, 1, 0) OVER (PARTITION BY run ORDER BY last) AS before FROM batches) AS chain
        WHERE chain.id = batches.id;
    UPDATE runs SET tail =
        coalesce((SELECT id FROM batches WHERE run = runs.id ORDER BY last DESC LIMIT 1), 0);
    DROP INDEX batches_of_run;
",
    // A run remembers how each round of a judge came out, and earlier snapshots do not say. The events do.
    "
    DELETE FROM snapshots;
",
    // A run remembers questions from the moment they are asked, and what was noted with an answer. The events do.
    "
    DELETE FROM snapshots;
",
    // Numbers that were given away: what is filed in one worktree is called otherwise in every other.
    "
    CREATE TABLE numbers (
        series TEXT NOT NULL,
        holder TEXT NOT NULL,
        number INTEGER NOT NULL,
        PRIMARY KEY (series, holder)
    ) WITHOUT ROWID;
    CREATE INDEX numbers_in_order ON numbers (series, number);
",
];

/// So many pages are written before they are brought into the file itself: what many runs write goes to the same pages again
/// and again, and is brought there once.
const CHECKPOINT: u32 = 4_000;
/// So long a connection waits by itself for whoever writes.
const WAIT: Duration = Duration::from_secs(30);
/// So long it is tried again. Nobody writes for that long: whoever is in the way then is stuck.
const PATIENCE: Duration = Duration::from_mins(5);
const PAUSE: Duration = Duration::from_millis(5);

/// Opens the file. Drivers of several processes take turns; each waits for the others a while.
pub(super) fn connect(path: &Path) -> Result<Connection, JournalError> {
    let open = || {
        let connection = Connection::open(path)?;
        connection.busy_timeout(WAIT)?;
        patiently(|| connection.pragma_update(None, "journal_mode", "wal"))?;
        connection.pragma_update(None, "synchronous", "full")?;
        connection.pragma_update(None, "foreign_keys", true)?;
        connection.pragma_update(None, "wal_autocheckpoint", CHECKPOINT)?;
        Ok(connection)
    };
    open().map_err(|it: Error| told(path, &it))
}

/// Does something that others may be in the way of, until they are not. `SQLite` waits by itself where waiting helps; where
/// two wait for each other it gives up at once, and one of them has to begin again.
pub(super) fn patiently<T>(mut work: impl FnMut() -> Result<T, Error>) -> Result<T, Error> {
    let until = Instant::now() + PATIENCE;
    loop {
        match work() {
            Err(error) if is_busy(&error) && Instant::now() < until => std::thread::sleep(PAUSE),
            other => return other,
        }
    }
}

fn is_busy(error: &Error) -> bool {
    matches!(error.sqlite_error_code(), Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked))
}

/// Brings a journal of an earlier format up to date.
pub(super) fn bring_up_to_date(connection: &Connection, path: &Path) -> Result<(), JournalError> {
    let told = |it: Error| told(path, &it);
    let format = || connection.pragma_query_value(None, "user_version", |row| row.get::<_, u32>(0));
    let known = u32::try_from(STEPS.len()).unwrap_or(u32::MAX);
    if format().map_err(told)? == known {
        return Ok(());
    }
    // Somebody else may be about to do the same.
    patiently(|| connection.execute_batch("BEGIN IMMEDIATE")).map_err(told)?;
    let outcome = (|| {
        let found = format().map_err(told)?;
        if found > known {
            return Err(JournalError::TooNew { path: path.to_owned(), found, known });
        }
        for step in STEPS.iter().skip(found as usize) {
            connection.execute_batch(step).map_err(told)?;
        }
        connection.pragma_update(None, "user_version", known).map_err(told)
    })();
    let end = if outcome.is_ok() { "COMMIT" } else { "ROLLBACK" };
    connection.execute_batch(end).map_err(told)?;
    outcome
}

/// What an error of `SQLite`'s means.
pub(super) fn told(path: &Path, error: &Error) -> JournalError {
    let path = path.to_owned();
    match error.sqlite_error_code() {
        Some(ErrorCode::DiskFull) => JournalError::Full { path },
        Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => {
            JournalError::Damaged { what: format!("{} ({error})", path.display()) }
        }
        Some(ErrorCode::CannotOpen) if may_not_be_written(&path) => JournalError::ReadOnly { path },
        Some(ErrorCode::ReadOnly | ErrorCode::PermissionDenied) => JournalError::ReadOnly { path },
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => JournalError::Busy { path },
        Some(ErrorCode::SystemIoFailure) if is_cut_off(error) => {
            JournalError::Damaged { what: format!("{} is shorter than it was", path.display()) }
        }
        Some(ErrorCode::SystemIoFailure) => {
            let why = format!(
                "the disk did not do what it was asked ({error}); see what the system says about it (`dmesg`)"
            );
            JournalError::Unusable { path, why }
        }
        _ => JournalError::Unusable { path, why: error.to_string() },
    }
}

/// Whether there was less to read than there has to be.
fn is_cut_off(error: &Error) -> bool {
    error.sqlite_error().is_some_and(|it| it.extended_code == rusqlite::ffi::SQLITE_IOERR_SHORT_READ)
}

/// Whether a file that cannot be opened may not be written, or nothing beside it.
fn may_not_be_written(path: &Path) -> bool {
    let forbidden = |it: std::io::Error| matches!(it.kind(), PermissionDenied | ReadOnlyFilesystem);
    let folder = path.parent().and_then(|it| it.metadata().ok());
    std::fs::OpenOptions::new().append(true).open(path).is_err_and(forbidden)
        || folder.is_some_and(|it| it.permissions().readonly())
}
