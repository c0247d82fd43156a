//! What is read, and whether it is what was written.

use rusqlite::{Connection, Error, OptionalExtension as _, Row, params};

use super::upgrade;
use super::write::sum;
use crate::journal::{JournalError, Letter, Millis, NewRun, RunLine, Snapshot, Stands, Stored};

/// Rows of events, and what the run says it has.
pub(super) struct Rows {
    last: u64,
    rows: Vec<BatchRow>,
}

struct BatchRow {
    last: u64,
    count: u64,
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
    let select =
        "SELECT last, count, version, at, body, sum FROM batches WHERE run = ?1 AND last > ?2 ORDER BY last";
    let mut select = connection.prepare_cached(select)?;
    let read = |row: &Row<'_>| {
        Ok(BatchRow {
            last: row.get(0)?,
            count: row.get(1)?,
            version: row.get(2)?,
            at: row.get(3)?,
            body: row.get(4)?,
            sum: row.get(5)?,
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
    let mut stored: Vec<Stored> = Vec::with_capacity(2 * rows.len());
    // The first may begin before what was asked for.
    let mut next = rows.first().map_or(after + 1, |it| (it.last + 1).saturating_sub(it.count).min(after + 1));
    for row in rows {
        let first = (row.last + 1).saturating_sub(row.count);
        if first < next {
            return damaged(format!("{} there twice", named(first, row.last.min(next.saturating_sub(1)))));
        }
        if first > next {
            return damaged(gap(next, first - 1));
        }
        if sum(row.last, row.at, &row.body) != row.sum {
            return damaged(format!("{} not what was written", named(first, row.last)));
        }
        let events = match upgrade::events(row.version, &row.body) {
            Ok(events) if events.len() as u64 == row.count => events,
            Ok(_) => return damaged(format!("{} not what was written", named(first, row.last))),
            Err(why) => return damaged(format!("{} of no use: {why}", named(first, row.last))),
        };
        let numbered = events.into_iter().zip(first..).filter(|(_, seq)| *seq > after);
        stored.extend(numbered.map(|(event, seq)| Stored { seq, at: row.at, event }));
        next = row.last + 1;
    }
    if next <= last {
        return damaged(gap(next, last));
    }
    Ok(stored)
}

fn named(first: u64, last: u64) -> String {
    if first == last { format!("event {first} is") } else { format!("events {first} to {last} are") }
}

fn gap(first: u64, last: u64) -> String {
    format!("{} missing", named(first, last))
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
const LINE: &str = "SELECT name, workflow, subject, definition, parent, created, updated, last, state, status, \
                    holder, until FROM runs";

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
    let until: Millis = row.get(11)?;
    let held = if until > 0 { Some((row.get(10)?, until)) } else { None };
    Ok(RunLine { run, updated: row.get(6)?, last: row.get(7)?, stands, held })
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
