//! Clearing away: runs that nobody needs any more, and bytes that no run names.

use std::collections::{BTreeMap, HashSet};

use rusqlite::{Connection, Error, OptionalExtension as _, params};

use super::write::{Failed, Writing};
use super::{Sqlite, schema};
use crate::journal::{JournalError, Millis};

/// How many there are of something, and how large they are together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Amount {
    /// How many.
    pub count: u64,
    /// How many bytes.
    pub bytes: u64,
}

impl Sqlite {
    /// How many bytes each run takes, without what it shares with others.
    pub fn sizes(&self) -> Result<BTreeMap<String, u64>, JournalError> {
        let select = "SELECT name, coalesce(events.size, 0)
            + coalesce((SELECT length(body) FROM snapshots WHERE run = runs.id), 0)
            + coalesce((SELECT sum(length(body)) FROM inbox WHERE run = runs.id), 0)
            FROM runs LEFT JOIN (SELECT run, sum(length(body)) AS size FROM batches GROUP BY run) AS events
                ON events.run = runs.id";
        self.read(|it| it.prepare(select)?.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?.collect())
    }

    /// The runs somebody drives at a moment, and who does.
    pub fn driven(&self, now: Millis) -> Result<BTreeMap<String, String>, JournalError> {
        let select = "SELECT name, holder FROM runs WHERE until > ?1";
        self.read(|it| it.prepare(select)?.query_map([now], |row| Ok((row.get(0)?, row.get(1)?)))?.collect())
    }

    /// Removes runs, all of them or none: everything they learnt, and what was left for them. Each is given with the number
    /// of its last event; where it has another by now, or somebody drives it, or it has an item that is not among them,
    /// nothing is removed.
    pub fn forget(&self, runs: &[(String, u64)], now: Millis) -> Result<(), JournalError> {
        let runs = runs.to_vec();
        self.write(move |it| forget(it, &runs, now))
    }

    /// Bytes that nothing names, were some runs not there.
    pub fn unnamed(&self, without: &HashSet<String>) -> Result<Amount, JournalError> {
        let found = self.read(|it| {
            // All from one moment.
            let transaction = it.unchecked_transaction()?;
            let found = unnamed(it, without)?;
            transaction.finish().map(|()| found)
        })?;
        Ok(amount(&found))
    }

    /// Removes bytes that nothing names.
    pub fn sweep(&self) -> Result<Amount, JournalError> {
        self.write(|it| {
            // Of runs that are gone, what their last event did not lead to.
            it.connection().execute("DELETE FROM batches WHERE run NOT IN (SELECT id FROM runs)", [])?;
            let found = unnamed(it.connection(), &HashSet::new())?;
            for (row, _) in &found {
                it.connection().prepare_cached("DELETE FROM blobs WHERE rowid = ?1")?.execute([row])?;
            }
            Ok(amount(&found))
        })
    }

    /// Makes the file as small as it can be; by how many bytes it is smaller. It takes room for a while.
    pub fn shrink(&self) -> Result<u64, JournalError> {
        let size = || std::fs::metadata(&self.path).map_or(0, |it| it.len());
        let before = size();
        let connection = schema::connect(&self.path)?;
        let done = connection.execute_batch("VACUUM; PRAGMA wal_checkpoint(TRUNCATE);");
        done.map_err(|it| schema::told(&self.path, &it))?;
        Ok(before.saturating_sub(size()))
    }
}

fn amount(found: &[(i64, u64)]) -> Amount {
    Amount { count: found.len() as u64, bytes: found.iter().map(|(_, bytes)| bytes).sum() }
}

fn forget(writing: &mut Writing<'_>, runs: &[(String, u64)], now: Millis) -> Result<(), Failed> {
    let connection = writing.connection();
    let names: HashSet<&str> = runs.iter().map(|(name, _)| name.as_str()).collect();
    let mut found = Vec::new();
    // Whether all of them may go is settled before any of them does.
    for (name, known) in runs {
        let find = "SELECT id, last, holder, until FROM runs WHERE name = ?1";
        let row: Option<(i64, u64, String, Millis)> = connection
            .prepare_cached(find)?
            .query_row([name], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?)))
            .optional()?;
        let Some((id, last, holder, until)) = row else { continue };
        if until > now {
            return Err(JournalError::Held { run: name.clone(), holder, until }.into());
        }
        let items = connection
            .prepare_cached("SELECT name FROM runs WHERE parent = ?1")?
            .query_map([name], |row| row.get::<_, String>(0))?
            .collect::<Result<Vec<_>, _>>()?;
        if last != *known || items.iter().any(|it| !names.contains(it.as_str())) {
            return Err(JournalError::Behind { run: name.clone(), last, after: *known }.into());
        }
        found.push(id);
    }
    for id in found {
        for delete in [
            "WITH RECURSIVE chain (id) AS (SELECT tail FROM runs WHERE id = ?1
                UNION SELECT before FROM batches JOIN chain USING (id) WHERE run = ?1)
                DELETE FROM batches WHERE id IN chain AND run = ?1",
            "DELETE FROM snapshots WHERE run = ?1",
            "DELETE FROM inbox WHERE run = ?1",
            "DELETE FROM runs WHERE id = ?1",
        ] {
            connection.prepare_cached(delete)?.execute(params![id])?;
        }
    }
    Ok(())
}

/// Blobs that nothing names. Whatever looks like a name in what is kept is taken for one: too much may stay, never too little.
fn unnamed(connection: &Connection, without: &HashSet<String>) -> Result<Vec<(i64, u64)>, Error> {
    let mut named = HashSet::new();
    for select in [
        "SELECT name, body FROM batches JOIN runs ON runs.id = batches.run",
        "SELECT name, body FROM snapshots JOIN runs ON runs.id = snapshots.run",
        "SELECT name, body FROM inbox JOIN runs ON runs.id = inbox.run",
        "SELECT name, definition FROM runs",
    ] {
        let mut select = connection.prepare(select)?;
        let mut rows = select.query([])?;
        while let Some(row) = rows.next()? {
            if !without.contains(row.get_ref(0)?.as_str()?) {
                names_in(row.get_ref(1)?.as_str()?, &mut named);
            }
        }
    }
    let mut select = connection.prepare("SELECT rowid, digest, length(bytes) FROM blobs")?;
    let mut rows = select.query([])?;
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        if !named.contains(row.get_ref(1)?.as_str()?) {
            found.push((row.get(0)?, row.get(2)?));
        }
    }
    Ok(found)
}

/// What looks like a digest in a text.
fn names_in(text: &str, into: &mut HashSet<String>) {
    const LENGTH: usize = 64;
    let is_digit = |it: char| matches!(it, '0'..='9' | 'a'..='f');
    for word in text.split(|it| !is_digit(it)).filter(|it| it.len() >= LENGTH) {
        for from in 0..=word.len() - LENGTH {
            into.insert(word[from..from + LENGTH].to_owned());
        }
    }
}
