//! What comes of something that is to be written: whoever wants it waits when it has nothing else to do, and may be the one
//! who writes it.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use super::JournalError;

/// What will come of an append. Nothing may be done on the strength of it before [`Ticket::wait`] says that it is durable.
#[derive(Debug)]
#[must_use = "nothing is known to be durable before it was waited for"]
pub struct Ticket(Hears<u64>);

impl Ticket {
    /// One that is known already.
    pub fn known(outcome: Result<u64, JournalError>) -> Self {
        let (tells, hears) = slot(None);
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

/// Writes what several want written, led by one of them.
pub(super) trait Leads: Send + Sync {
    /// Whether whoever asks leads from now on. Otherwise somebody does, and cannot step down before it was seen to that
    /// the lead can be handed on.
    fn may_lead(&self, or_else: &mut dyn FnMut()) -> bool;
    /// Writes what is wanted, tells everybody, and hands the lead on.
    fn lead(&self);
}

/// Where one thread tells another what came of something, once.
pub(super) fn slot<T>(leads: Option<Arc<dyn Leads>>) -> (Tells<T>, Hears<T>) {
    let slot = Arc::new(Slot { inside: Mutex::new(Inside::Open { awaited: false }), told: Condvar::new() });
    (Tells(Some(Arc::clone(&slot))), Hears { slot, leads })
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
    /// Not known, and whoever waits for it leads.
    Lead,
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

    /// Hands the lead to whoever sleeps until this is known, if somebody does.
    fn hand_the_lead(&self) -> bool {
        let mut inside = self.inside();
        let sleeps = matches!(*inside, Inside::Open { awaited: true });
        if sleeps {
            *inside = Inside::Lead;
            self.told.notify_one();
        }
        sleeps
    }

    /// From here on somebody sleeps until it is known.
    fn await_it(&self) {
        let mut inside = self.inside();
        if let Inside::Open { awaited } = &mut *inside {
            *awaited = true;
        }
    }

    /// Sleeps until it is known, or until somebody has to lead. Whether that is so.
    fn sleep(&self) -> bool {
        let mut inside = self.inside();
        loop {
            match *inside {
                Inside::Open { .. } => {}
                Inside::Lead => {
                    *inside = Inside::Open { awaited: false };
                    return true;
                }
                Inside::Known(_) | Inside::Taken => return false,
            }
            inside = self.told.wait(inside).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// What came of it, if that is known.
    fn taken(&self) -> Option<Result<T, JournalError>> {
        let mut inside = self.inside();
        match std::mem::replace(&mut *inside, Inside::Taken) {
            Inside::Known(outcome) => Some(outcome),
            Inside::Taken => Some(Err(JournalError::Gone)),
            open => {
                *inside = open;
                None
            }
        }
    }
}

/// The side that tells. One that is dropped without a word tells that nobody is left to write.
#[derive(Debug)]
pub(super) struct Tells<T>(Option<Arc<Slot<T>>>);

impl<T> Tells<T> {
    pub(super) fn hand_the_lead(&self) -> bool {
        self.0.as_ref().is_some_and(|it| it.hand_the_lead())
    }

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
pub(super) struct Hears<T> {
    slot: Arc<Slot<T>>,
    leads: Option<Arc<dyn Leads>>,
}

impl<T> std::fmt::Debug for Hears<T> {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("Hears").finish_non_exhaustive()
    }
}

impl<T> Hears<T> {
    /// Waits until it is known. Where nobody writes, whoever waits does.
    pub(super) fn wait(self) -> Result<T, JournalError> {
        loop {
            if let Some(outcome) = self.slot.taken() {
                return outcome;
            }
            let Some(leads) = &self.leads else { return Err(JournalError::Gone) };
            if leads.may_lead(&mut || self.slot.await_it()) || self.slot.sleep() {
                leads.lead();
            }
        }
    }
}
