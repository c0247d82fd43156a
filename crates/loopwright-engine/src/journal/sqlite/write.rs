//! What is written, inside a transaction that somebody else begins and ends.

use std::collections::HashMap;

use loopwright_core::machine::VERSION;
use rusqlite::{CachedStatement, Connection, Error, OptionalExtension as _, params};

use crate::journal::{Batch, JournalError, Lease, Millis, NewRun, Stands};

/// Why something was not written.
pub(super) enum Failed {
    /// By what a journal promises.
    Refused(JournalError),
    /// By `SQLite` or the disk.
    Broken(Error),
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

/// So many runs are known at most.
const MOST_KNOWN: usize = 16_384;

/// A run by its number, and its last batch.
#[derive(Clone, Copy)]
pub(super) struct Known {
    id: i64,
    tail: i64,
}

/// What one commit is written with.
pub(super) struct Writing<'c> {
    connection: &'c Connection,
    /// Runs, kept from one commit to the next. What is known of one is looked at again with each append, so that nothing that
    /// is no longer right does any harm.
    known: &'c mut HashMap<String, Known>,
    /// The number of the next batch.
    next: Option<i64>,
    advance: Option<CachedStatement<'c>>,
    insert: Option<CachedStatement<'c>>,
}

impl<'c> Writing<'c> {
    pub(super) fn new(connection: &'c Connection, known: &'c mut HashMap<String, Known>) -> Self {
        Self { connection, known, next: None, advance: None, insert: None }
    }

    pub(super) fn connection(&self) -> &'c Connection {
        self.connection
    }

    /// Runs a statement that takes nothing and gives nothing.
    pub(super) fn run(&self, statement: &str) -> Result<(), Error> {
        self.connection.prepare_cached(statement)?.execute([]).map(drop)
    }

    /// Brings a run forward to a batch, if it is where its driver thinks and the driver is still its driver.
    fn advance(&mut self, run: Known, prepared: &Prepared) -> Result<bool, Error> {
        const ADVANCE: &str = "UPDATE runs SET last = ?6, updated = ?7, state = coalesce(?8, state),
            status = coalesce(?9, status), tail = ?10
            WHERE id = ?1 AND name = ?2 AND token = ?3 AND last = ?4 AND tail = ?5 AND until > 0";
        let Prepared { lease, after, at, stands, .. } = prepared;
        let (state, status) = (stands.as_ref().map(|it| &it.state), stands.as_ref().map(|it| &it.status));
        let tail = self.tail_after(run, prepared)?;
        let statement = at_hand(self.connection, &mut self.advance, ADVANCE)?;
        let Lease { run: name, token, .. } = lease;
        let last = prepared.last();
        let done = statement
            .execute(params![run.id, name, token, after, run.tail, last, at, state, status, tail])?;
        Ok(done == 1)
    }

    /// Adds a batch to a run.
    fn insert(&mut self, run: Known, prepared: &Prepared) -> Result<(), Error> {
        const INSERT: &str = "INSERT INTO batches (id, run, last, count, version, at, body, sum, before)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)";
        let Prepared { count, at, body, sum, .. } = prepared;
        let next = self.next()?;
        at_hand(self.connection, &mut self.insert, INSERT)?.execute(params![
            next,
            run.id,
            prepared.last(),
            count,
            VERSION,
            at,
            body,
            sum,
            run.tail
        ])?;
        self.next = Some(next + 1);
        Ok(())
    }

    fn remember(&mut self, name: &str, run: Known) {
        if let Some(known) = self.known.get_mut(name) {
            *known = run;
            return;
        }
        if self.known.len() >= MOST_KNOWN {
            self.known.clear();
        }
        self.known.insert(name.to_owned(), run);
    }

    /// The last batch of a run once something is appended.
    fn tail_after(&mut self, run: Known, prepared: &Prepared) -> Result<i64, Error> {
        if prepared.count > 0 { self.next() } else { Ok(run.tail) }
    }

    /// The number of the next batch. Nobody else writes before this commit is done.
    fn next(&mut self) -> Result<i64, Error> {
        if let Some(next) = self.next {
            return Ok(next);
        }
        let mut last = self.connection.prepare_cached("SELECT coalesce(max(id), 0) FROM batches")?;
        let next = last.query_row([], |row| row.get::<_, i64>(0))? + 1;
        self.next = Some(next);
        Ok(next)
    }
}

fn at_hand<'a, 'c>(
    connection: &'c Connection,
    kept: &'a mut Option<CachedStatement<'c>>,
    text: &str,
) -> Result<&'a mut CachedStatement<'c>, Error> {
    if kept.is_none() {
        *kept = Some(connection.prepare_cached(text)?);
    }
    kept.as_mut().ok_or(Error::InvalidQuery)
}

/// A batch as it is written: whoever appends makes its texts and sums, so that nobody else waits for that.
pub(super) struct Prepared {
    lease: Lease,
    after: u64,
    at: Millis,
    count: u64,
    /// An event a line: JSON has no line breaks of its own.
    body: String,
    sum: i64,
    snapshot: Option<(String, i64)>,
    taken: Vec<u64>,
    blobs: Vec<(String, Vec<u8>)>,
    stands: Option<Stands>,
}

impl Prepared {
    pub(super) fn of(batch: &Batch) -> Result<Self, JournalError> {
        let mut body = Vec::with_capacity(256 * batch.events.len());
        for event in &batch.events {
            if !body.is_empty() {
                body.push(b'\n');
            }
            serde_json::to_writer(&mut body, event)
                .map_err(|it| JournalError::Damaged { what: format!("an event: {it}") })?;
        }
        let body = String::from_utf8(body)
            .map_err(|it| JournalError::Damaged { what: format!("an event: {it}") })?;
        let count = batch.events.len() as u64;
        let last = batch.after + count;
        Ok(Self {
            lease: batch.lease.clone(),
            after: batch.after,
            at: batch.at,
            count,
            sum: sum(last, batch.at, &body),
            body,
            snapshot: batch.snapshot.as_ref().map(|it| (it.clone(), sum(last, 0, it))),
            taken: batch.taken.clone(),
            blobs: batch.blobs.iter().map(|it| (crate::journal::digest(it), it.clone())).collect(),
            stands: batch.stands.clone(),
        })
    }

    fn last(&self) -> u64 {
        self.after + self.count
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

pub(super) fn create(writing: &mut Writing<'_>, run: &NewRun) -> Written<()> {
    let taken = "SELECT 1 FROM runs WHERE name = ?1";
    if writing.connection.prepare_cached(taken)?.exists([&run.name])? {
        return Err(JournalError::Taken(run.name.clone()).into());
    }
    let insert = "INSERT INTO runs (name, workflow, subject, definition, parent, created, updated)
        VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?6)";
    let NewRun { name, workflow, subject, definition, parent, at } = run;
    writing
        .connection
        .prepare_cached(insert)?
        .execute(params![name, workflow, subject, definition, parent, at])?;
    Ok(())
}

pub(super) fn append(writing: &mut Writing<'_>, prepared: &Prepared) -> Written<u64> {
    let name = &prepared.lease.run;
    let run = match writing.known.get(name).copied() {
        Some(run) if writing.advance(run, prepared)? => run,
        _ => {
            let run = looked_up(writing.connection, prepared)?;
            writing.advance(run, prepared)?;
            run
        }
    };
    let (id, tail) = (run.id, writing.tail_after(run, prepared)?);
    if prepared.count > 0 {
        writing.insert(run, prepared)?;
    }
    writing.remember(name, Known { id, tail });
    let last = prepared.last();
    let connection = writing.connection;
    if let Some((body, sum)) = &prepared.snapshot {
        connection
            .prepare_cached("REPLACE INTO snapshots (run, seq, body, sum) VALUES (?1, ?2, ?3, ?4)")?
            .execute(params![id, last, body, sum])?;
    }
    for (digest, bytes) in &prepared.blobs {
        put(writing, digest, bytes)?;
    }
    for letter in &prepared.taken {
        connection
            .prepare_cached("DELETE FROM inbox WHERE id = ?1 AND run = ?2")?
            .execute(params![letter, id])?;
    }
    Ok(last)
}

/// The number of a run that may be appended to, and of its last batch; why it may not.
fn looked_up(connection: &Connection, prepared: &Prepared) -> Written<Known> {
    let Prepared { lease, after, .. } = prepared;
    let find = "SELECT id, last, token, until, tail FROM runs WHERE name = ?1";
    let found: Option<(i64, u64, u64, Millis, i64)> = connection
        .prepare_cached(find)?
        .query_row([&lease.run], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?, row.get(4)?)))
        .optional()?;
    let Some((id, last, token, until, tail)) = found else { return Err(no_run(&lease.run)) };
    if token != lease.token || until == 0 {
        return Err(lost(lease));
    }
    if last != *after {
        return Err(JournalError::Behind { run: lease.run.clone(), last, after: *after }.into());
    }
    Ok(Known { id, tail })
}

pub(super) fn put(writing: &mut Writing<'_>, digest: &str, bytes: &[u8]) -> Written<()> {
    let insert = "INSERT INTO blobs (digest, bytes) VALUES (?1, ?2) ON CONFLICT DO NOTHING";
    writing.connection.prepare_cached(insert)?.execute(params![digest, bytes])?;
    Ok(())
}

pub(super) fn lease(
    writing: &mut Writing<'_>,
    run: &str,
    holder: &str,
    now: Millis,
    until: Millis,
) -> Written<Lease> {
    let find = "SELECT holder, token, until FROM runs WHERE name = ?1";
    let found: Option<(String, u64, Millis)> = writing
        .connection
        .prepare_cached(find)?
        .query_row([run], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))
        .optional()?;
    let Some((other, token, theirs)) = found else { return Err(no_run(run)) };
    if theirs > now {
        return Err(JournalError::Held { run: run.to_owned(), holder: other, until: theirs }.into());
    }
    let token = token + 1;
    writing
        .connection
        .prepare_cached("UPDATE runs SET holder = ?2, token = ?3, until = ?4 WHERE name = ?1")?
        .execute(params![run, holder, token, until])?;
    Ok(Lease { run: run.to_owned(), holder: holder.to_owned(), token })
}

/// Keeps a lease until another moment; until the beginning of time is giving it back.
pub(super) fn renew(writing: &mut Writing<'_>, lease: &Lease, until: Millis) -> Written<()> {
    let update = "UPDATE runs SET until = ?3 WHERE name = ?1 AND token = ?2 AND until > 0";
    let kept = writing.connection.prepare_cached(update)?.execute(params![lease.run, lease.token, until])?;
    let exists =
        || writing.connection.prepare_cached("SELECT 1 FROM runs WHERE name = ?1")?.exists([&lease.run]);
    match kept {
        0 if exists()? => Err(lost(lease)),
        0 => Err(no_run(&lease.run)),
        _ => Ok(()),
    }
}

pub(super) fn post(writing: &mut Writing<'_>, run: &str, at: Millis, body: &str) -> Written<()> {
    let insert = "INSERT INTO inbox (run, at, body) SELECT id, ?2, ?3 FROM runs WHERE name = ?1";
    let left = writing.connection.prepare_cached(insert)?.execute(params![run, at, body])?;
    if left == 0 { Err(no_run(run)) } else { Ok(()) }
}

pub(super) fn number(writing: &mut Writing<'_>, series: &str, holder: &str, least: u64) -> Written<u64> {
    let find = "SELECT number FROM numbers WHERE series = ?1 AND holder = ?2";
    let own: Option<u64> =
        writing.connection.prepare_cached(find)?.query_row([series, holder], |row| row.get(0)).optional()?;
    if let Some(own) = own.filter(|it| *it >= least) {
        return Ok(own);
    }
    let find = "SELECT coalesce(max(number), 0) FROM numbers WHERE series = ?1";
    let last: u64 = writing.connection.prepare_cached(find)?.query_row([series], |row| row.get(0))?;
    let number = least.max(last.saturating_add(1));
    // Numbers only grow, so one that somebody gives up is never given again.
    let insert = "INSERT INTO numbers (series, holder, number) VALUES (?1, ?2, ?3)
        ON CONFLICT (series, holder) DO UPDATE SET number = excluded.number";
    writing.connection.prepare_cached(insert)?.execute(params![series, holder, number])?;
    Ok(number)
}

fn no_run(run: &str) -> Failed {
    JournalError::NoRun(run.to_owned()).into()
}

fn lost(lease: &Lease) -> Failed {
    JournalError::LeaseLost { run: lease.run.clone(), holder: lease.holder.clone() }.into()
}
