//! A journal that is gone when the process is: for trying things out and for tests. It promises everything else that the
//! one on the disk does.

use std::sync::{Mutex, MutexGuard, PoisonError};

use indexmap::IndexMap;

use super::{
    Batch, Journal, JournalError, Lease, Letter, Millis, NewRun, RunLine, Snapshot, Stands, Stored, digest,
};

/// A journal in memory.
#[derive(Debug, Default)]
pub struct Memory(Mutex<Kept>);

#[derive(Debug, Default)]
struct Kept {
    runs: IndexMap<String, Run>,
    blobs: IndexMap<String, Vec<u8>>,
    letters: u64,
    /// The last number of each series, and what was given to whom.
    numbers: IndexMap<String, (u64, IndexMap<String, u64>)>,
}

#[derive(Debug)]
struct Run {
    line: RunLine,
    events: Vec<Stored>,
    snapshot: Option<Snapshot>,
    holder: String,
    token: u64,
    until: Millis,
    inbox: Vec<Letter>,
}

impl Run {
    fn line(&self) -> RunLine {
        let held = (self.until > 0).then(|| (self.holder.clone(), self.until));
        RunLine { held, ..self.line.clone() }
    }
}

impl Memory {
    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Kept {
    fn run(&mut self, name: &str) -> Result<&mut Run, JournalError> {
        self.runs.get_mut(name).ok_or_else(|| JournalError::NoRun(name.to_owned()))
    }

    /// The run a lease is for, if it is still worth something.
    fn leased(&mut self, lease: &Lease) -> Result<&mut Run, JournalError> {
        let run = self.run(&lease.run)?;
        if run.token == lease.token && run.until > 0 {
            return Ok(run);
        }
        Err(JournalError::LeaseLost { run: lease.run.clone(), holder: lease.holder.clone() })
    }
}

impl Journal for Memory {
    fn create(&self, run: &NewRun) -> Result<(), JournalError> {
        let mut kept = self.kept();
        if kept.runs.contains_key(&run.name) {
            return Err(JournalError::Taken(run.name.clone()));
        }
        let line =
            RunLine { run: run.clone(), updated: run.at, last: 0, stands: Stands::default(), held: None };
        let new = Run {
            line,
            events: Vec::new(),
            snapshot: None,
            holder: String::new(),
            token: 0,
            until: 0,
            inbox: Vec::new(),
        };
        kept.runs.insert(run.name.clone(), new);
        Ok(())
    }

    fn append(&self, batch: &Batch) -> Result<u64, JournalError> {
        let mut kept = self.kept();
        let run = kept.leased(&batch.lease)?;
        let last = run.line.last;
        if last != batch.after {
            return Err(JournalError::Behind { run: batch.lease.run.clone(), last, after: batch.after });
        }
        let numbered = batch.events.iter().zip(last + 1..);
        run.events.extend(numbered.map(|(event, seq)| Stored { seq, at: batch.at, event: event.clone() }));
        run.line.last += batch.events.len() as u64;
        run.line.updated = batch.at;
        if let Some(stands) = &batch.stands {
            run.line.stands = stands.clone();
        }
        if let Some(body) = &batch.snapshot {
            run.snapshot = Some(Snapshot { seq: run.line.last, body: body.clone() });
        }
        run.inbox.retain(|it| !batch.taken.contains(&it.id));
        let last = run.line.last;
        kept.blobs.extend(batch.blobs.iter().map(|it| (super::digest(it), it.clone())));
        Ok(last)
    }

    fn events(&self, run: &str, after: u64) -> Result<Vec<Stored>, JournalError> {
        let mut kept = self.kept();
        let events = kept.run(run)?.events.iter();
        Ok(events.filter(|it| it.seq > after).cloned().collect())
    }

    fn snapshot(&self, run: &str) -> Result<Option<Snapshot>, JournalError> {
        Ok(self.kept().run(run)?.snapshot.clone())
    }

    fn run(&self, run: &str) -> Result<RunLine, JournalError> {
        Ok(self.kept().run(run)?.line())
    }

    fn runs(&self) -> Result<Vec<RunLine>, JournalError> {
        let mut lines: Vec<RunLine> = self.kept().runs.values().rev().map(Run::line).collect();
        lines.sort_by_key(|it| std::cmp::Reverse(it.run.at));
        Ok(lines)
    }

    fn put(&self, bytes: &[u8]) -> Result<String, JournalError> {
        let name = digest(bytes);
        self.kept().blobs.entry(name.clone()).or_insert_with(|| bytes.to_vec());
        Ok(name)
    }

    fn blob(&self, digest: &str) -> Result<Option<Vec<u8>>, JournalError> {
        Ok(self.kept().blobs.get(digest).cloned())
    }

    fn lease(&self, run: &str, holder: &str, now: Millis, until: Millis) -> Result<Lease, JournalError> {
        let mut kept = self.kept();
        let found = kept.run(run)?;
        if found.until > now {
            let (holder, until) = (found.holder.clone(), found.until);
            return Err(JournalError::Held { run: run.to_owned(), holder, until });
        }
        found.token += 1;
        found.until = until;
        holder.clone_into(&mut found.holder);
        Ok(Lease { run: run.to_owned(), holder: holder.to_owned(), token: found.token })
    }

    fn renew(&self, lease: &Lease, until: Millis) -> Result<(), JournalError> {
        self.kept().leased(lease)?.until = until;
        Ok(())
    }

    fn release(&self, lease: &Lease) -> Result<(), JournalError> {
        self.renew(lease, 0)
    }

    fn post(&self, run: &str, at: Millis, body: &str) -> Result<(), JournalError> {
        let mut kept = self.kept();
        kept.run(run)?;
        kept.letters += 1;
        let letter = Letter { id: kept.letters, at, body: body.to_owned() };
        kept.run(run)?.inbox.push(letter);
        Ok(())
    }

    fn inbox(&self, run: &str) -> Result<Vec<Letter>, JournalError> {
        Ok(self.kept().run(run)?.inbox.clone())
    }

    fn number(&self, series: &str, holder: &str, least: u64) -> Result<u64, JournalError> {
        let mut kept = self.kept();
        let (last, given) = kept.numbers.entry(series.to_owned()).or_default();
        if let Some(own) = given.get(holder).filter(|it| **it >= least) {
            return Ok(*own);
        }
        let number = least.max(last.saturating_add(1));
        *last = number;
        given.insert(holder.to_owned(), number);
        Ok(number)
    }
}
