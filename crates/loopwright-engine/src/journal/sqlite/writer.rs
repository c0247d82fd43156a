//! The one thread that writes: whatever waits is taken together into one commit.

use std::path::PathBuf;
use std::sync::mpsc::Receiver;
use std::time::{Duration, Instant};

use rusqlite::{Connection, Error};

use super::schema;
use super::write::{Failed, Writing};
use crate::journal::JournalError;
use crate::journal::ticket::{Hears, Tells, slot};

/// So much is taken into one commit at most: whoever came first must not wait for ever.
const MOST_TOGETHER: usize = 4_096;

/// Something to write.
pub(super) trait Job: Send {
    /// Writes it, inside a transaction. Where it is refused, nothing was written; where it breaks, all is undone and done
    /// again one by one, so that it may be asked twice.
    fn perform(&mut self, writing: &mut Writing<'_>) -> Result<(), Failed>;
    /// Tells whoever wanted it: it is durable, or it is not there.
    fn tell(self: Box<Self>, outcome: Result<(), JournalError>);
}

struct Task<T, F> {
    work: F,
    done: Option<T>,
    tells: Tells<T>,
}

/// Something to write, and where what comes of it is heard.
pub(super) fn job<T, F>(work: F) -> (Box<dyn Job>, Hears<T>)
where
    T: Send + 'static,
    F: FnMut(&mut Writing<'_>) -> Result<T, Failed> + Send + 'static,
{
    let (tells, hears) = slot();
    (Box::new(Task { work, done: None, tells }), hears)
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
}

/// A moment: so long is waited at a time to see whether more comes.
const MOMENT: Duration = Duration::from_micros(50);

/// Writes whatever is wanted, as much as there is at a time in one commit, until nobody can want anything any more.
pub(super) fn write_all(path: PathBuf, connection: &Connection, wanted: &Receiver<Box<dyn Job>>) {
    let mut writer = Writer { path, writing: Writing::new(connection) };
    let (mut together, mut took) = (1, Duration::ZERO);
    while let Ok(first) = wanted.recv() {
        let mut jobs = vec![first];
        more(&mut jobs, wanted);
        // Whoever was just told that it is durable is about to come again. Where many do, it is cheaper for all to let them
        // than to have two halves of them wait for each other's commits. Who is alone never waits.
        let until = Instant::now() + took / 2;
        while together > 1 && jobs.len() < MOST_TOGETHER && Instant::now() < until {
            std::thread::sleep(MOMENT);
            if more(&mut jobs, wanted) == 0 {
                break;
            }
        }
        let begun = Instant::now();
        together = jobs.len();
        writer.commit(jobs);
        took = begun.elapsed();
    }
}

/// Takes what waits; how much that was.
fn more(jobs: &mut Vec<Box<dyn Job>>, wanted: &Receiver<Box<dyn Job>>) -> usize {
    let before = jobs.len();
    jobs.extend(wanted.try_iter().take(MOST_TOGETHER.saturating_sub(before)));
    jobs.len() - before
}

struct Writer<'c> {
    path: PathBuf,
    writing: Writing<'c>,
}

/// How a job went, while nothing is durable yet.
enum Went {
    Done,
    Refused(JournalError),
}

impl Writer<'_> {
    /// Performs jobs in one transaction. One that is refused wrote nothing and does not disturb the others; where something
    /// breaks, each has a transaction of its own.
    fn commit(&mut self, mut jobs: Vec<Box<dyn Job>>) {
        let begun = schema::patiently(|| self.writing.run("BEGIN IMMEDIATE"));
        let broken = match begun.map(|()| self.together(&mut jobs)) {
            Ok(Ok(went)) => return tell(jobs, went),
            Ok(Err(_)) if jobs.len() > 1 => return jobs.into_iter().for_each(|it| self.commit(vec![it])),
            Ok(Err(error)) | Err(error) => schema::told(&self.path, &error),
        };
        for job in jobs {
            job.tell(Err(broken.clone()));
        }
    }

    fn together(&mut self, jobs: &mut [Box<dyn Job>]) -> Result<Vec<Went>, Error> {
        let done = jobs
            .iter_mut()
            .map(|job| match job.perform(&mut self.writing) {
                Ok(()) => Ok(Went::Done),
                Err(Failed::Refused(error)) => Ok(Went::Refused(error)),
                Err(Failed::Broken(error)) => Err(error),
            })
            .collect::<Result<Vec<_>, _>>()
            .and_then(|went| self.writing.run("COMMIT").map(|()| went));
        if done.is_err() {
            // Where nothing is open any more, there is nothing to take back.
            let _ = self.writing.run("ROLLBACK");
        }
        done
    }
}

fn tell(jobs: Vec<Box<dyn Job>>, went: Vec<Went>) {
    for (job, went) in jobs.into_iter().zip(went) {
        job.tell(match went {
            Went::Done => Ok(()),
            Went::Refused(error) => Err(error),
        });
    }
}
