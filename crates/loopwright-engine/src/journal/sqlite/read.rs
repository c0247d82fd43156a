//! What is read, and whether it is what was written.

use loopwright_core::machine::{Event, VERSION};
use rusqlite::{Connection, Error, OptionalExtension as _, Row, params};

use super::write::sum;
use crate::journal::{JournalError, Letter, Millis, NewRun, RunLine, Snapshot, Stands, Stored};

/// Rows of events, and what the run says it has.
pub(super) struct Rows {
    last: u64,
    rows: Vec<EventRow>,
}

struct EventRow {
    seq: u64,
    version: u32,
    at: Millis,
    body: String,
    sum: i64,
}

/// The events after a number. `None`: there is no such run.
pub(super) fn rows(connection: &Connection, run: &str, after: u64) -> Result<Option<Rows>, Error> {
    // Both from one moment, or a run that is appended to in between looks damaged.
    let transaction = connection.unchecked_transaction()?;
    let Some((id, last)) = numbers(connection, run)? else { return Ok(None) };
    let select = "SELECT seq, version, at, body, sum FROM events WHERE run = ?1 AND seq > ?2 ORDER BY seq";
    let mut select = connection.prepare_cached(select)?;
    let read = |row: &Row<'_>| {
        Ok(EventRow {
            seq: row.get(0)?,
            version: row.get(1)?,
            at: row.get(2)?,
            body: row.get(3)?,
            sum: row.get(4)?,
        })
    };
    let rows = select.query_map(params![id, after], read)?.collect::<Result<Vec<_>, _>>()?;
    transaction.finish()?;
    Ok(Some(Rows { last, rows }))
}

fn numbers(connection: &Connection, run: &str) -> Result<Option<(i64, u64)>, Error> {
    connection
        .prepare_cached("SELECT id, last FROM runs WHERE name = ?1")?
        .query_row([run], |row| Ok((row.get(0)?, row.get(1)?)))
        .optional()
}

/// The events of rows, if they are all there and as they were written.
pub(super) fn whole(run: &str, after: u64, rows: Option<Rows>) -> Result<Vec<Stored>, JournalError> {
    let Some(Rows { last, rows }) = rows else { return Err(JournalError::NoRun(run.to_owned())) };
    let damaged = |what: String| Err(JournalError::Damaged { what: format!("run `{run}`, {what}") });
    let mut stored = Vec::with_capacity(rows.len());
    for (row, expected) in rows.into_iter().zip(after + 1..) {
        let EventRow { seq, version, at, body, sum: written } = row;
        if seq != expected {
            return damaged(format!("event {expected} is missing"));
        }
        if sum(seq, at, &body) != written {
            return damaged(format!("event {seq} is not what was written"));
        }
        if version > VERSION {
            return damaged(format!(
                "event {seq} is of version {version}, and this Loopwright knows {VERSION}"
            ));
        }
        match serde_json::from_str::<Event>(&body) {
            Ok(event) => stored.push(Stored { seq, at, event }),
            Err(error) => return damaged(format!("event {seq} cannot be read: {error}")),
        }
    }
    let found = stored.last().map_or(after.min(last), |it| it.seq);
    if found != last.max(found) {
        return damaged(format!("events {} to {last} are missing", found + 1));
    }
    Ok(stored)
}

/// The number of a run.
pub(super) fn id(connection: &Connection, run: &str) -> Result<Option<i64>, Error> {
    Ok(numbers(connection, run)?.map(|(id, _)| id))
}

/// The snapshot of a run with its sum.
pub(super) fn snapshot(connection: &Connection, id: i64) -> Result<Option<(Snapshot, i64)>, Error> {
    connection
        .prepare_cached("SELECT seq, body, sum FROM snapshots WHERE run = ?1")?
        .query_row([id], |row| Ok((Snapshot { seq: row.get(0)?, body: row.get(1)? }, row.get(2)?)))
        .optional()
}

pub(super) fn sound(run: &str, snapshot: Snapshot, written: i64) -> Result<Snapshot, JournalError> {
    if sum(snapshot.seq, 0, &snapshot.body) == written {
        Ok(snapshot)
    } else {
        Err(JournalError::Damaged { what: format!("the snapshot of run `{run}` is not what was written") })
    }
}

/// What a line about a run is read from.
const LINE: &str =
    "SELECT name, workflow, subject, definition, parent, created, updated, last, state, status FROM runs";

fn line(row: &Row<'_>) -> Result<RunLine, Error> {
    let run = NewRun {
        name: row.get(0)?,
        workflow: row.get(1)?,
        subject: row.get(2)?,
        definition: row.get(3)?,
        parent: row.get(4)?,
        at: row.get(5)?,
    };
    let stands = Stands { state: row.get(8)?, status: row.get(9)? };
    Ok(RunLine { run, updated: row.get(6)?, last: row.get(7)?, stands })
}

/// The line of one run.
pub(super) fn run(connection: &Connection, name: &str) -> Result<Option<RunLine>, Error> {
    connection.prepare_cached(&format!("{LINE} WHERE name = ?1"))?.query_row([name], line).optional()
}

pub(super) fn runs(connection: &Connection) -> Result<Vec<RunLine>, Error> {
    connection
        .prepare_cached(&format!("{LINE} ORDER BY created DESC, id DESC"))?
        .query_map([], line)?
        .collect()
}

pub(super) fn blob(connection: &Connection, digest: &str) -> Result<Option<Vec<u8>>, Error> {
    connection
        .prepare_cached("SELECT bytes FROM blobs WHERE digest = ?1")?
        .query_row([digest], |row| row.get(0))
        .optional()
}

/// The letters of a run; `None`: there is no such run.
pub(super) fn inbox(connection: &Connection, run: &str) -> Result<Option<Vec<Letter>>, Error> {
    let Some((id, _)) = numbers(connection, run)? else { return Ok(None) };
    let mut select =
        connection.prepare_cached("SELECT id, at, body FROM inbox WHERE run = ?1 ORDER BY id")?;
    let read = |row: &Row<'_>| Ok(Letter { id: row.get(0)?, at: row.get(1)?, body: row.get(2)? });
    let letters = select.query_map([id], read)?.collect::<Result<_, _>>()?;
    Ok(Some(letters))
}

pub(super) fn damage(connection: &Connection) -> Result<Vec<String>, Error> {
    let mut select = connection.prepare("PRAGMA quick_check")?;
    let found = select.query_map([], |row| row.get::<_, String>(0))?.collect::<Result<Vec<_>, _>>()?;
    Ok(found.into_iter().filter(|it| it != "ok").collect())
}
