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
    /// The batch before it of the same run; none, if that is no number of one.
    before: i64,
}

/// The events after a number. `None`: there is no such run.
pub(super) fn rows(connection: &Connection, run: &str, after: u64) -> Result<Option<Rows>, Error> {
    // Both from one moment, or a run that is appended to in between looks damaged.
    let transaction = connection.unchecked_transaction()?;
    let Some((id, last)) = numbers(connection, run)? else { return Ok(None) };
    let rows = match chained(connection, id, (after, last))? {
        Some(rows) => rows,
        // What there still is says best what is missing.
        None => found(connection, id, after)?,
    };
    transaction.finish()?;
    Ok(Some(Rows { last, rows }))
}

/// What a batch is read from.
const BATCH: &str = "SELECT last, count, version, at, body, sum, before FROM batches";

fn batch(row: &Row<'_>) -> Result<BatchRow, Error> {
    Ok(BatchRow {
        last: row.get(0)?,
        count: row.get(1)?,
        version: row.get(2)?,
        at: row.get(3)?,
        body: row.get(4)?,
        sum: row.get(5)?,
        before: row.get(6)?,
    })
}

/// The batches after a number to the last, from the last one back. `None`: they do not hang together.
fn chained(
    connection: &Connection,
    run: i64,
    (after, last): (u64, u64),
) -> Result<Option<Vec<BatchRow>>, Error> {
    let mut tail = connection.prepare_cached("SELECT tail FROM runs WHERE id = ?1")?;
    let mut next: i64 = tail.query_row([run], |row| row.get(0))?;
    let mut select = connection.prepare_cached(&format!("{BATCH} WHERE id = ?1 AND run = ?2"))?;
    let mut rows: Vec<BatchRow> = Vec::new();
    while next > 0 {
        let Some(row) = select.query_row(params![next, run], batch).optional()? else { return Ok(None) };
        if row.last <= after {
            break;
        }
        let follows = rows.last().is_none_or(|it| row.last.checked_add(it.count) == Some(it.last));
        // Each is older than the one that names it, so that this comes to an end.
        if !follows || row.before >= next {
            return Ok(None);
        }
        next = row.before;
        rows.push(row);
    }
    let ends = rows.first().map_or(after, |it| it.last) >= last;
    let begins = rows.last().is_none_or(|it| it.last.saturating_sub(it.count) <= after);
    rows.reverse();
    Ok((begins && ends).then_some(rows))
}

/// The batches after a number, wherever they are.
fn found(connection: &Connection, run: i64, after: u64) -> Result<Vec<BatchRow>, Error> {
    let mut select = connection.prepare(&format!("{BATCH} WHERE run = ?1 AND last > ?2 ORDER BY last"))?;
    select.query_map(params![run, after], batch)?.collect()
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
