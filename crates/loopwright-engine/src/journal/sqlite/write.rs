//! What is written, inside a transaction that somebody else begins and ends.

use std::path::Path;

use loopwright_core::machine::VERSION;
use rusqlite::{Connection, Error, OptionalExtension as _, params};

use super::schema;
use crate::journal::{Batch, JournalError, Lease, Millis, NewRun};

/// Why something was not written.
pub(super) enum Failed {
    /// By what a journal promises.
    Refused(JournalError),
    /// By `SQLite` or the disk.
    Broken(Error),
}

impl Failed {
    pub(super) fn told(self, path: &Path) -> JournalError {
        match self {
            Self::Refused(error) => error,
            Self::Broken(error) => schema::told(path, &error),
        }
    }
}

impl From<Error> for Failed {
    fn from(error: Error) -> Self {
        Self::Broken(error)
    }
}

impl From<JournalError> for Failed {
    fn from(error: JournalError) -> Self {
        Self::Refused(error)
    }
}

type Written<T> = Result<T, Failed>;

/// A batch whose events are texts already, so that nothing is written out while others wait.
pub(super) struct Prepared {
    batch: Batch,
    bodies: Vec<String>,
}

impl Prepared {
    pub(super) fn of(batch: &Batch) -> Result<Self, JournalError> {
        let body = |it| serde_json::to_string(it);
        let bodies = batch.events.iter().map(body).collect::<Result<_, _>>();
        let bodies = bodies.map_err(|it| JournalError::Damaged { what: format!("an event: {it}") })?;
        Ok(Self { batch: batch.clone(), bodies })
    }
}

/// A few bytes that say whether a text is the one that was written, where and when it was.
pub(super) fn sum(seq: u64, at: Millis, body: &str) -> i64 {
    let mut hasher = blake3::Hasher::new();
    hasher.update(&seq.to_le_bytes()).update(&at.to_le_bytes()).update(body.as_bytes());
    let mut first = [0; 8];
    hasher.finalize_xof().fill(&mut first);
    i64::from_le_bytes(first)
}

pub(super) fn create(connection: &Connection, run: &NewRun) -> Written<()> {
    let taken = "SELECT 1 FROM runs WHERE name = ?1";
    if connection.prepare_cached(taken)?.exists([&run.name])? {
        return Err(JournalError::Taken(run.name.clone()).into());
    }
    let insert = "INSERT INTO runs (name, workflow, subject, definition, parent, created, updated)
        VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?6)";
    let NewRun { name, workflow, subject, definition, parent, at } = run;
    connection.prepare_cached(insert)?.execute(params![name, workflow, subject, definition, parent, at])?;
    Ok(())
}

pub(super) fn append(connection: &Connection, prepared: &Prepared) -> Written<u64> {
    let Prepared { batch, bodies } = prepared;
    let run = &batch.lease.run;
    let find = "SELECT id, last, token, until FROM runs WHERE name = ?1";
    let found: Option<(i64, u64, u64, Millis)> = connection
        .prepare_cached(find)?
        .query_row([run], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?)))
        .optional()?;
    let Some((id, mut last, token, until)) = found else { return Err(no_run(run)) };
    if token != batch.lease.token || until == 0 {
        return Err(lost(&batch.lease));
    }
    if last != batch.after {
        return Err(JournalError::Behind { run: run.clone(), last, after: batch.after }.into());
    }
    let mut insert = connection.prepare_cached(
        "INSERT INTO events (run, seq, version, at, body, sum) VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
    )?;
    for body in bodies {
        last += 1;
        insert.execute(params![id, last, VERSION, batch.at, body, sum(last, batch.at, body)])?;
    }
    match &batch.stands {
        Some(stands) => connection
            .prepare_cached("UPDATE runs SET last = ?2, updated = ?3, state = ?4, status = ?5 WHERE id = ?1")?
            .execute(params![id, last, batch.at, stands.state, stands.status])?,
        None => connection
            .prepare_cached("UPDATE runs SET last = ?2, updated = ?3 WHERE id = ?1")?
            .execute(params![id, last, batch.at])?,
    };
    if let Some(body) = &batch.snapshot {
        connection
            .prepare_cached("REPLACE INTO snapshots (run, seq, body, sum) VALUES (?1, ?2, ?3, ?4)")?
            .execute(params![id, last, body, sum(last, 0, body)])?;
    }
    for bytes in &batch.blobs {
        put(connection, &crate::journal::digest(bytes), bytes)?;
    }
    for letter in &batch.taken {
        connection
            .prepare_cached("DELETE FROM inbox WHERE id = ?1 AND run = ?2")?
            .execute(params![letter, id])?;
    }
    Ok(last)
}

pub(super) fn put(connection: &Connection, digest: &str, bytes: &[u8]) -> Written<()> {
    let insert = "INSERT INTO blobs (digest, bytes) VALUES (?1, ?2) ON CONFLICT DO NOTHING";
    connection.prepare_cached(insert)?.execute(params![digest, bytes])?;
    Ok(())
}

pub(super) fn lease(
    connection: &Connection,
    run: &str,
    holder: &str,
    now: Millis,
    until: Millis,
) -> Written<Lease> {
    let find = "SELECT holder, token, until FROM runs WHERE name = ?1";
    let found: Option<(String, u64, Millis)> = connection
        .prepare_cached(find)?
        .query_row([run], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))
        .optional()?;
    let Some((other, token, theirs)) = found else { return Err(no_run(run)) };
    if theirs > now {
        return Err(JournalError::Held { run: run.to_owned(), holder: other, until: theirs }.into());
    }
    let token = token + 1;
    connection
        .prepare_cached("UPDATE runs SET holder = ?2, token = ?3, until = ?4 WHERE name = ?1")?
        .execute(params![run, holder, token, until])?;
    Ok(Lease { run: run.to_owned(), holder: holder.to_owned(), token })
}

/// Keeps a lease until another moment; until the beginning of time is giving it back.
pub(super) fn renew(connection: &Connection, lease: &Lease, until: Millis) -> Written<()> {
    let update = "UPDATE runs SET until = ?3 WHERE name = ?1 AND token = ?2 AND until > 0";
    let kept = connection.prepare_cached(update)?.execute(params![lease.run, lease.token, until])?;
    let exists = || connection.prepare_cached("SELECT 1 FROM runs WHERE name = ?1")?.exists([&lease.run]);
    match kept {
        0 if exists()? => Err(lost(lease)),
        0 => Err(no_run(&lease.run)),
        _ => Ok(()),
    }
}

pub(super) fn post(connection: &Connection, run: &str, at: Millis, body: &str) -> Written<()> {
    let insert = "INSERT INTO inbox (run, at, body) SELECT id, ?2, ?3 FROM runs WHERE name = ?1";
    let left = connection.prepare_cached(insert)?.execute(params![run, at, body])?;
    if left == 0 { Err(no_run(run)) } else { Ok(()) }
}

fn no_run(run: &str) -> Failed {
    JournalError::NoRun(run.to_owned()).into()
}

fn lost(lease: &Lease) -> Failed {
    JournalError::LeaseLost { run: lease.run.clone(), holder: lease.holder.clone() }.into()
}
