//! What comes of something that is being written: whoever wants it waits when it has nothing else to do.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use super::JournalError;

/// What will come of an append. Nothing may be done on the strength of it before [`Ticket::wait`] says that it is durable.
#[derive(Debug)]
#[must_use = "nothing is known to be durable before it was waited for"]
pub struct Ticket(Hears<u64>);

impl Ticket {
    /// One that is known already.
    pub fn known(outcome: Result<u64, JournalError>) -> Self {
        let (tells, hears) = slot();
        tells.tell(outcome);
        Self(hears)
    }

    pub(super) fn of(hears: Hears<u64>) -> Self {
        Self(hears)
    }

    /// Waits until it is durable, and says the number of the last event; or why nothing was written.
    pub fn wait(self) -> Result<u64, JournalError> {
        self.0.wait()
    }
}

/// Where one thread tells another what came of something, once.
pub(super) fn slot<T>() -> (Tells<T>, Hears<T>) {
    let slot = Arc::new(Slot { inside: Mutex::new(Inside::Open { awaited: false }), told: Condvar::new() });
    (Tells(Some(Arc::clone(&slot))), Hears(slot))
}

#[derive(Debug)]
struct Slot<T> {
    inside: Mutex<Inside<T>>,
    told: Condvar,
}

#[derive(Debug)]
enum Inside<T> {
    /// Not known; whether somebody sleeps until it is. Nobody is woken who does not sleep: that is a call to the kernel.
    Open {
        awaited: bool,
    },
    Known(Result<T, JournalError>),
    Taken,
}

impl<T> Slot<T> {
    fn inside(&self) -> MutexGuard<'_, Inside<T>> {
        self.inside.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn tell(&self, outcome: Result<T, JournalError>) {
        let before = std::mem::replace(&mut *self.inside(), Inside::Known(outcome));
        if matches!(before, Inside::Open { awaited: true }) {
            self.told.notify_one();
        }
    }
}

/// The side that tells. One that is dropped without a word tells that nobody is left to write.
#[derive(Debug)]
pub(super) struct Tells<T>(Option<Arc<Slot<T>>>);

impl<T> Tells<T> {
    pub(super) fn tell(mut self, outcome: Result<T, JournalError>) {
        if let Some(slot) = self.0.take() {
            slot.tell(outcome);
        }
    }
}

impl<T> Drop for Tells<T> {
    fn drop(&mut self) {
        if let Some(slot) = self.0.take() {
            slot.tell(Err(JournalError::Gone));
        }
    }
}

/// The side that hears.
#[derive(Debug)]
pub(super) struct Hears<T>(Arc<Slot<T>>);

impl<T> Hears<T> {
    pub(super) fn wait(self) -> Result<T, JournalError> {
        let mut inside = self.0.inside();
        loop {
            match std::mem::replace(&mut *inside, Inside::Taken) {
                Inside::Known(outcome) => return outcome,
                Inside::Taken => return Err(JournalError::Gone),
                Inside::Open { .. } => *inside = Inside::Open { awaited: true },
            }
            inside = self.0.told.wait(inside).unwrap_or_else(PoisonError::into_inner);
        }
    }
}
