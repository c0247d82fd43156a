//! A journal whose changes somebody watches, and may keep from being made or from being told.

use std::sync::Arc;

use loopwright_core::machine::Event;
use loopwright_engine::journal::{
    Batch, Journal, JournalError, Lease, Letter, Millis, NewRun, RunLine, Snapshot, Stored,
};
use loopwright_engine::process::Cancel;

/// What is about to be changed, or was.
pub(crate) enum Change<'a> {
    Create(&'a NewRun),
    Append(&'a Batch),
    Put(&'a [u8]),
    /// A lease is taken, kept or given back.
    Lease,
}

#[derive(Clone, Copy, PartialEq)]
pub(crate) enum When {
    Before,
    After,
}

type Gate = dyn Fn(When, &Change<'_>) -> Result<(), JournalError> + Send + Sync;

/// A journal and who watches it.
pub(crate) struct Watched {
    inner: Arc<dyn Journal>,
    gate: Box<Gate>,
}

impl Watched {
    pub(crate) fn around(
        inner: Arc<dyn Journal>,
        gate: impl Fn(When, &Change<'_>) -> Result<(), JournalError> + Send + Sync + 'static,
    ) -> Arc<dyn Journal> {
        Arc::new(Self { inner, gate: Box::new(gate) })
    }

    /// Somebody leaves a run when something about it is written down, or is about to be.
    pub(crate) fn leaving(
        inner: &Arc<dyn Journal>,
        cancel: &Cancel,
        at: When,
        about: fn(&Event) -> bool,
    ) -> Arc<dyn Journal> {
        let cancel = cancel.clone();
        Self::around(Arc::clone(inner), move |when, change| {
            if let Change::Append(batch) = change
                && when == at
                && batch.events.iter().any(about)
            {
                cancel.call_off();
            }
            Ok(())
        })
    }

    fn change<T>(
        &self,
        change: &Change<'_>,
        make: impl FnOnce() -> Result<T, JournalError>,
    ) -> Result<T, JournalError> {
        (self.gate)(When::Before, change)?;
        let made = make()?;
        (self.gate)(When::After, change)?;
        Ok(made)
    }
}

impl Journal for Watched {
    fn create(&self, run: &NewRun) -> Result<(), JournalError> {
        self.change(&Change::Create(run), || self.inner.create(run))
    }

    fn append(&self, batch: &Batch) -> Result<u64, JournalError> {
        self.change(&Change::Append(batch), || self.inner.append(batch))
    }

    fn events(&self, run: &str, after: u64) -> Result<Vec<Stored>, JournalError> {
        self.inner.events(run, after)
    }

    fn snapshot(&self, run: &str) -> Result<Option<Snapshot>, JournalError> {
        self.inner.snapshot(run)
    }

    fn run(&self, run: &str) -> Result<RunLine, JournalError> {
        self.inner.run(run)
    }

    fn runs(&self) -> Result<Vec<RunLine>, JournalError> {
        self.inner.runs()
    }

    fn put(&self, bytes: &[u8]) -> Result<String, JournalError> {
        self.change(&Change::Put(bytes), || self.inner.put(bytes))
    }

    fn blob(&self, digest: &str) -> Result<Option<Vec<u8>>, JournalError> {
        self.inner.blob(digest)
    }

    fn lease(&self, run: &str, holder: &str, now: Millis, until: Millis) -> Result<Lease, JournalError> {
        self.change(&Change::Lease, || self.inner.lease(run, holder, now, until))
    }

    fn renew(&self, lease: &Lease, until: Millis) -> Result<(), JournalError> {
        self.change(&Change::Lease, || self.inner.renew(lease, until))
    }

    fn release(&self, lease: &Lease) -> Result<(), JournalError> {
        self.change(&Change::Lease, || self.inner.release(lease))
    }

    fn number(&self, series: &str, holder: &str, least: u64) -> Result<u64, JournalError> {
        self.inner.number(series, holder, least)
    }

    fn post(&self, run: &str, at: Millis, body: &str) -> Result<(), JournalError> {
        self.inner.post(run, at, body)
    }

    fn inbox(&self, run: &str) -> Result<Vec<Letter>, JournalError> {
        self.inner.inbox(run)
    }
}
