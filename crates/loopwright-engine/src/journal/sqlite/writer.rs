//! Writing together: whoever first waits for something to be durable writes for all who want something written.
//!
//! One of those who wait leads. It takes what is wanted into one commit, and what comes while it does so as well; then it
//! tells everybody and hands the lead to one of those who came too late. Who is alone writes by itself, and nobody has to
//! be woken for that.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use rusqlite::{Connection, Error};

use super::write::{Failed, Known, Writing};
use super::{held, schema};
use crate::journal::JournalError;
use crate::journal::ticket::{Hears, Leads, Tells, slot};

/// So much is taken into one commit at most: whoever came first must not wait for ever.
const MOST_TOGETHER: usize = 4_096;
/// After so many commits of few, what they wrote is brought into the file: written over, the log beside it costs half of
/// what it costs while it grows.
const TIDY_AFTER: u32 = 500;
const FEW: usize = 16;

/// Something to write.
trait Job: Send {
    /// Writes it, inside a transaction. Where it is refused, nothing was written; where it breaks, all is undone and done
    /// again one by one, so that it may be asked twice.
    fn perform(&mut self, writing: &mut Writing<'_>) -> Result<(), Failed>;
    /// Tells whoever wanted it: it is durable, or it is not there.
    fn tell(self: Box<Self>, outcome: Result<(), JournalError>);
    /// Hands the lead to whoever waits for it, if somebody does.
    fn hand_the_lead(&self) -> bool;
}

struct Task<T, F> {
    work: F,
    done: Option<T>,
    tells: Tells<T>,
}

impl<T, F> Job for Task<T, F>
where
    T: Send,
    F: FnMut(&mut Writing<'_>) -> Result<T, Failed> + Send,
{
    fn perform(&mut self, writing: &mut Writing<'_>) -> Result<(), Failed> {
        self.done = Some((self.work)(writing)?);
        Ok(())
    }

    fn tell(self: Box<Self>, outcome: Result<(), JournalError>) {
        let Self { done, tells, .. } = *self;
        tells.tell(outcome.and_then(|()| done.ok_or(JournalError::Gone)));
    }

    fn hand_the_lead(&self) -> bool {
        self.tells.hand_the_lead()
    }
}

/// What is wanted and what it is written with.
pub(super) struct Writer {
    path: PathBuf,
    queue: Mutex<Queue>,
    /// For whoever leads.
    at_hand: Mutex<AtHand>,
}

#[derive(Default)]
struct Queue {
    jobs: Vec<Box<dyn Job>>,
    /// Whether somebody leads.
    is_led: bool,
}

struct AtHand {
    connection: Connection,
    known: HashMap<String, Known>,
    /// Commits of few since it was last tidied.
    untidy: u32,
}

impl AtHand {
    /// Brings what was written into the file, if it is time for that. Where somebody is in the way, another time will do.
    fn tidy(&mut self, written: usize) {
        self.untidy += u32::from(written <= FEW);
        if self.untidy >= TIDY_AFTER {
            self.untidy = 0;
            let _ = self.connection.query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |_| Ok(()));
        }
    }
}

/// How a job went, while nothing is durable yet.
enum Went {
    Done,
    Refused(JournalError),
}

/// What is in one commit, and how each went.
type Together = Vec<(Box<dyn Job>, Went)>;

impl Writer {
    pub(super) fn new(path: PathBuf, connection: Connection) -> Arc<Self> {
        let at_hand = Mutex::new(AtHand { connection, known: HashMap::new(), untidy: 0 });
        Arc::new(Self { path, queue: Mutex::default(), at_hand })
    }

    /// Wants something written; what came of it is heard when it is durable.
    pub(super) fn want<T: Send + 'static>(
        self: &Arc<Self>,
        work: impl FnMut(&mut Writing<'_>) -> Result<T, Failed> + Send + 'static,
    ) -> Hears<T> {
        let (tells, hears) = slot(Some(Arc::clone(self) as Arc<dyn Leads>));
        held(&self.queue).jobs.push(Box::new(Task { work, done: None, tells }));
        hears
    }

    /// Writes what nobody waits for.
    pub(super) fn write_all(&self) {
        if self.may_lead(&mut || {}) {
            self.lead();
        }
    }

    fn next(&self, most: usize) -> Vec<Box<dyn Job>> {
        let jobs = &mut held(&self.queue).jobs;
        if jobs.len() <= most { std::mem::take(jobs) } else { jobs.drain(..most).collect() }
    }

    fn commit(&self, jobs: Vec<Box<dyn Job>>, at_hand: &mut AtHand, and_more: bool) {
        let mut together = Vec::with_capacity(jobs.len());
        let mut writing = Writing::new(&at_hand.connection, &mut at_hand.known);
        if !at_hand.connection.is_autocommit() {
            // Somebody fell over in the middle of it.
            let _ = writing.run("ROLLBACK");
        }
        let begun = schema::patiently(|| writing.run("BEGIN IMMEDIATE"));
        let done = match begun {
            Ok(()) => {
                self.take_in(jobs, &mut writing, &mut together, and_more).and_then(|()| writing.run("COMMIT"))
            }
            Err(error) => {
                together.extend(jobs.into_iter().map(|it| (it, Went::Done)));
                return tell(together, &Err(schema::told(&self.path, &error)));
            }
        };
        let Err(error) = done else {
            let written = together.len();
            drop(writing);
            tell(together, &Ok(()));
            return at_hand.tidy(written);
        };
        // Where nothing is open any more, there is nothing to take back.
        let _ = writing.run("ROLLBACK");
        drop(writing);
        if together.len() == 1 {
            return tell(together, &Err(schema::told(&self.path, &error)));
        }
        for (job, _) in together {
            self.commit(vec![job], at_hand, false);
        }
    }

    /// Performs jobs, and those that come meanwhile. One that is refused wrote nothing and does not disturb the others.
    fn take_in(
        &self,
        mut jobs: Vec<Box<dyn Job>>,
        writing: &mut Writing<'_>,
        together: &mut Together,
        and_more: bool,
    ) -> Result<(), Error> {
        let mut broken = None;
        while !jobs.is_empty() {
            for mut job in jobs {
                // What comes after something that broke is not even tried, and has its own transaction.
                let went = match broken.is_none().then(|| job.perform(writing)) {
                    Some(Err(Failed::Broken(error))) => {
                        broken = Some(error);
                        Went::Done
                    }
                    Some(Err(Failed::Refused(error))) => Went::Refused(error),
                    Some(Ok(())) | None => Went::Done,
                };
                together.push((job, went));
            }
            let room =
                if and_more && broken.is_none() { MOST_TOGETHER.saturating_sub(together.len()) } else { 0 };
            jobs = self.next(room);
        }
        broken.map_or(Ok(()), Err)
    }
}

fn tell(together: Together, outcome: &Result<(), JournalError>) {
    for (job, went) in together {
        job.tell(match went {
            Went::Done => outcome.clone(),
            Went::Refused(error) => Err(error),
        });
    }
}

impl Leads for Writer {
    fn may_lead(&self, or_else: &mut dyn FnMut()) -> bool {
        let mut queue = held(&self.queue);
        if queue.is_led {
            or_else();
            return false;
        }
        queue.is_led = true;
        true
    }

    fn lead(&self) {
        let _done = StepsDown(self);
        let jobs = self.next(MOST_TOGETHER);
        if !jobs.is_empty() {
            self.commit(jobs, &mut held(&self.at_hand), true);
        }
    }
}

/// Gives the lead away, whatever happens.
struct StepsDown<'w>(&'w Writer);

impl Drop for StepsDown<'_> {
    fn drop(&mut self) {
        let mut queue = held(&self.0.queue);
        queue.is_led = queue.jobs.iter().any(|it| it.hand_the_lead());
    }
}
