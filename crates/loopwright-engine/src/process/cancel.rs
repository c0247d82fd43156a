//! Calling work off.

use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Tells work that it is called off. Clones are the same.
#[derive(Clone, Default)]
pub struct Cancel {
    told: Arc<Mutex<Told>>,
}

#[derive(Default)]
struct Told {
    called_off: bool,
    next: u64,
    listening: Vec<(u64, Box<dyn Fn() + Send>)>,
}

impl std::fmt::Debug for Cancel {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("Cancel").field("called_off", &self.is_called_off()).finish()
    }
}

/// Listens until it is dropped.
#[must_use]
pub(super) struct Listening<'c> {
    cancel: &'c Cancel,
    id: u64,
}

impl Cancel {
    /// Calls everything off that listens, and all that will.
    pub fn call_off(&self) {
        let mut told = self.told();
        told.called_off = true;
        told.listening.iter().for_each(|(_, tell)| tell());
    }

    /// Whether it was called off.
    pub fn is_called_off(&self) -> bool {
        self.told().called_off
    }

    /// Waits so long. Whether it was called off meanwhile.
    pub(crate) fn waited(&self, long: Duration) -> bool {
        let (tell, told) = channel();
        let _listening = self.listen(move || {
            let _ = tell.send(());
        });
        told.recv_timeout(long).is_ok()
    }

    /// Calls somebody once it is called off, at once if it was.
    pub(super) fn listen(&self, tell: impl Fn() + Send + 'static) -> Listening<'_> {
        let mut told = self.told();
        if told.called_off {
            tell();
        }
        told.next += 1;
        let id = told.next;
        told.listening.push((id, Box::new(tell)));
        Listening { cancel: self, id }
    }

    fn told(&self) -> MutexGuard<'_, Told> {
        self.told.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Listening<'_> {
    fn drop(&mut self) {
        self.cancel.told().listening.retain(|(id, _)| *id != self.id);
    }
}
