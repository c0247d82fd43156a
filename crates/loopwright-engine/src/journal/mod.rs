//! The journal: the truth about runs.
//!
//! Everything a run learns is appended here before anybody acts on it or sees it, and is on the disk when
//! [`Journal::append`] returns. All else a journal holds is there to get at that quickly and safely: snapshots, so that
//! coming back does not take longer the older a run is; blobs, named by what is in them; a lease, so that a run has one
//! driver; an inbox, where people leave what they have to say to a run that somebody else drives.

mod error;
mod memory;
mod sqlite;
mod ticket;

use loopwright_core::machine::Event;

pub use self::error::JournalError;
pub use self::memory::Memory;
pub use self::sqlite::{Amount, Sqlite};
pub use self::ticket::Ticket;

/// A moment, in milliseconds since 1970. The journal never reads a clock.
pub type Millis = u64;

/// A journal. What it promises is written down in `tests/journal`, which holds every one of them to it.
pub trait Journal: Send + Sync {
    /// Begins a run. Its name must not be taken.
    fn create(&self, run: &NewRun) -> Result<(), JournalError>;

    /// Appends events to a run, all of them or none, and keeps what comes with them. They are durable when it returns the
    /// number of the last.
    fn append(&self, batch: &Batch) -> Result<u64, JournalError>;

    /// The same, without waiting: whoever drives many runs has many appends under way, and all that are become durable
    /// together. Appends to one run are written in the order they are given.
    fn submit_append(&self, batch: &Batch) -> Ticket {
        Ticket::known(self.append(batch))
    }

    /// The events of a run after a number (zero for all), in order.
    fn events(&self, run: &str, after: u64) -> Result<Vec<Stored>, JournalError>;

    /// The newest snapshot of a run.
    fn snapshot(&self, run: &str) -> Result<Option<Snapshot>, JournalError>;

    /// One run.
    fn run(&self, run: &str) -> Result<RunLine, JournalError>;

    /// All runs, the newest first.
    fn runs(&self) -> Result<Vec<RunLine>, JournalError>;

    /// Keeps bytes, and says what they are called: the same bytes have the same name.
    fn put(&self, bytes: &[u8]) -> Result<String, JournalError>;

    /// The bytes of a name.
    fn blob(&self, digest: &str) -> Result<Option<Vec<u8>>, JournalError>;

    /// Takes the lease of a run until a moment. Whoever held it before has lost it, which is only allowed once its time
    /// is over.
    fn lease(&self, run: &str, holder: &str, now: Millis, until: Millis) -> Result<Lease, JournalError>;

    /// Keeps a lease for longer.
    fn renew(&self, lease: &Lease, until: Millis) -> Result<(), JournalError>;

    /// Gives a lease back.
    fn release(&self, lease: &Lease) -> Result<(), JournalError>;

    /// Leaves something for a run.
    fn post(&self, run: &str, at: Millis, body: &str) -> Result<(), JournalError>;

    /// What was left for a run and not taken, in order.
    fn inbox(&self, run: &str) -> Result<Vec<Letter>, JournalError>;

    /// A number of a series, for somebody: the one they were given, if that is not below `least`, or else the first from
    /// there on that is above all that anybody was given. Nobody else is ever given it.
    fn number(&self, series: &str, holder: &str, least: u64) -> Result<u64, JournalError>;
}

/// A run about to begin.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NewRun {
    /// Its name.
    pub name: String,
    /// The workflow.
    pub workflow: String,
    /// What it is about.
    pub subject: String,
    /// The digest of its definition.
    pub definition: String,
    /// The run it is a child of.
    pub parent: Option<String>,
    /// When it begins.
    pub at: Millis,
}

/// Events to append, and what has to become true together with them.
#[derive(Clone, Debug, PartialEq)]
pub struct Batch {
    /// Whoever drives the run proves it with this.
    pub lease: Lease,
    /// The number of the last event the driver knows of.
    pub after: u64,
    /// When.
    pub at: Millis,
    /// The events.
    pub events: Vec<Event>,
    /// A snapshot that replaces the one before: the run as it is after these events.
    pub snapshot: Option<String>,
    /// Letters that these events answer.
    pub taken: Vec<u64>,
    /// Bytes that these events name.
    pub blobs: Vec<Vec<u8>>,
    /// Where the run stands now, for lists: the state, and a word about it.
    pub stands: Option<Stands>,
}

/// Where a run stands, as lists show it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Stands {
    /// The state.
    pub state: String,
    /// A word: what it waits for, or how it ended.
    pub status: String,
}

/// An event as it was appended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stored {
    /// Its number in the run, from one.
    pub seq: u64,
    /// When it was appended.
    pub at: Millis,
    /// What happened.
    pub event: Event,
}

/// A run at some moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Snapshot {
    /// The number of the last event in it.
    pub seq: u64,
    /// The run.
    pub body: String,
}

/// One line about a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunLine {
    /// What it began as.
    pub run: NewRun,
    /// When something was last appended.
    pub updated: Millis,
    /// The number of its last event.
    pub last: u64,
    /// Where it stands.
    pub stands: Stands,
    /// Who has the right to drive it, and until when if they do not keep it.
    pub held: Option<(String, Millis)>,
}

/// The right to drive a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lease {
    /// The run.
    pub run: String,
    /// Who has it.
    pub holder: String,
    /// Which of all leases of this run it is. One that was taken over is worth nothing.
    pub token: u64,
}

/// Something that was left for a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Letter {
    /// Its number.
    pub id: u64,
    /// When it was left.
    pub at: Millis,
    /// What it says.
    pub body: String,
}

/// What bytes are called.
pub fn digest(bytes: &[u8]) -> String {
    blake3::hash(bytes).to_hex().to_string()
}
