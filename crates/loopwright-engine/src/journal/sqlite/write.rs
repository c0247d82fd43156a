//! What is written, inside a transaction that somebody else begins and ends.

use std::collections::HashMap;

use loopwright_core::machine::VERSION;
use rusqlite::{Connection, Error, OptionalExtension as _, Statement, params};

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

/// So many runs are known by their numbers at most.
const MOST_KNOWN: usize = 16_384;

/// What is kept at hand from one commit to the next: what every append needs.
pub(super) struct Writing<'c> {
    connection: &'c Connection,
    /// The numbers of runs. They are looked at again with each append, so that one that is no longer right does no harm.
    numbers: HashMap<String, i64>,
    advance: Option<Statement<'c>>,
    insert: Option<Statement<'c>>,
}

impl<'c> Writing<'c> {
    pub(super) fn new(connection: &'c Connection) -> Self {
        Self { connection, numbers: HashMap::new(), advance: None, insert: None }
    }

    pub(super) fn connection(&self) -> &'c Connection {
        self.connection
    }

    /// Runs a statement that takes nothing and gives nothing.
    pub(super) fn run(&self, statement: &str) -> Result<(), Error> {
        self.connection.prepare_cached(statement)?.execute([]).map(drop)
    }

    /// Brings a run forward, if it is where its driver thinks and the driver is still its driver.
    fn advance(&mut self, id: i64, prepared: &Prepared) -> Result<bool, Error> {
        const ADVANCE: &str = "UPDATE runs SET last = ?5, updated = ?6, state = coalesce(?7, state),
            status = coalesce(?8, status) WHERE id = ?1 AND name = ?2 AND token = ?3 AND last = ?4 AND until > 0";
        let Prepared { lease, after, at, stands, .. } = prepared;
        let (state, status) = (stands.as_ref().map(|it| &it.state), stands.as_ref().map(|it| &it.status));
        let statement = at_hand(self.connection, &mut self.advance, ADVANCE)?;
        let last = prepared.last();
        let done = statement.execute(params![id, lease.run, lease.token, after, last, at, state, status])?;
        Ok(done == 1)
    }

    fn insert(&mut self, id: i64, prepared: &Prepared) -> Result<(), Error> {
        const INSERT: &str = "INSERT INTO batches (run, last, count, version, at, body, sum) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)";
        let Prepared { count, at, body, sum, .. } = prepared;
        at_hand(self.connection, &mut self.insert, INSERT)?
            .execute(params![id, prepared.last(), count, VERSION, at, body, sum])
            .map(drop)
    }
}

fn at_hand<'a, 'c>(
    connection: &'c Connection,
    kept: &'a mut Option<Statement<'c>>,
    text: &str,
) -> Result<&'a mut Statement<'c>, Error> {
    if kept.is_none() {
        *kept = Some(connection.prepare(text)?);
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
    let known = writing.numbers.get(name).copied();
    let id = match known {
        Some(id) if writing.advance(id, prepared)? => id,
        _ => {
            let id = looked_up(writing.connection, prepared)?;
            writing.advance(id, prepared)?;
            if writing.numbers.len() >= MOST_KNOWN {
                writing.numbers.clear();
            }
            writing.numbers.insert(name.clone(), id);
            id
        }
    };
    if prepared.count > 0 {
        writing.insert(id, prepared)?;
    }
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

/// The number of a run that may be appended to; why it may not.
fn looked_up(connection: &Connection, prepared: &Prepared) -> Written<i64> {
    let Prepared { lease, after, .. } = prepared;
    let find = "SELECT id, last, token, until FROM runs WHERE name = ?1";
    let found: Option<(i64, u64, u64, Millis)> = connection
        .prepare_cached(find)?
        .query_row([&lease.run], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?)))
        .optional()?;
    let Some((id, last, token, until)) = found else { return Err(no_run(&lease.run)) };
    if token != lease.token || until == 0 {
        return Err(lost(lease));
    }
    if last != *after {
        return Err(JournalError::Behind { run: lease.run.clone(), last, after: *after }.into());
    }
    Ok(id)
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

fn no_run(run: &str) -> Failed {
    JournalError::NoRun(run.to_owned()).into()
}

fn lost(lease: &Lease) -> Failed {
    JournalError::LeaseLost { run: lease.run.clone(), holder: lease.holder.clone() }.into()
}
