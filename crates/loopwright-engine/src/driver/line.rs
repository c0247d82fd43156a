//! The line of items that work apart: how many are at work, and whose turn it is to join.

use std::sync::mpsc::Sender;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::items::Came;
use crate::process::Cancel;

/// How long nobody looks whether they were called off.
const LOOK: Duration = Duration::from_millis(100);

/// What all items of a loop share.
pub(super) struct Line {
    stands: Mutex<Stands>,
    moved: Condvar,
}

struct Stands {
    /// How many more may be at work.
    free: usize,
    /// Items that may come back yet, in their order: the first one's turn it is.
    left: Vec<String>,
    /// Those that wait for their turn.
    waiting: Vec<String>,
    closed: bool,
}

impl Stands {
    fn is_turn(&self, item: &str) -> bool {
        self.left.first().is_some_and(|it| it == item)
    }
}

impl Line {
    pub(super) fn of(most: usize, left: Vec<String>) -> Self {
        let stands = Stands { free: most, left, waiting: Vec::new(), closed: false };
        Self { stands: Mutex::new(stands), moved: Condvar::new() }
    }

    fn stands(&self) -> MutexGuard<'_, Stands> {
        self.stands.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes a place to work for one that begins. Whoever waits and has its turn goes first.
    pub(super) fn take(&self) -> bool {
        let mut stands = self.stands();
        let first = stands.waiting.iter().filter(|it| stands.is_turn(it)).count();
        let free = stands.free > first;
        stands.free -= usize::from(free);
        free
    }

    /// One is not at work any more.
    pub(super) fn give(&self) {
        self.stands().free += 1;
        self.moved.notify_all();
    }

    /// Whose turn it may be from now on.
    pub(super) fn are_left(&self, left: Vec<String>) {
        self.stands().left = left;
        self.moved.notify_all();
    }

    /// Whether everything before this one is over.
    pub(super) fn is_turn(&self, item: &str) -> bool {
        self.stands().is_turn(item)
    }

    /// Nobody's turn comes any more.
    pub(super) fn close(&self) {
        self.stands().closed = true;
        self.moved.notify_all();
    }
}

/// The place of one item in it.
pub(super) struct Turn {
    pub(super) line: Arc<Line>,
    pub(super) item: String,
    /// Where it says that another one may work meanwhile.
    pub(super) tell: Sender<Came>,
}

impl Turn {
    /// Waits until everything before it is over, while another one may work. `false`: it is not to go on.
    pub(super) fn comes(&self, cancel: &Cancel) -> bool {
        let mut stands = self.line.stands();
        if stands.is_turn(&self.item) {
            return !cancel.is_called_off();
        }
        stands.free += 1;
        stands.waiting.push(self.item.clone());
        // Whoever waits to hear it is there as long as somebody is at work.
        drop(self.tell.send(Came::Freed));
        loop {
            if stands.closed || cancel.is_called_off() {
                stands.waiting.retain(|it| *it != self.item);
                // It is told once more that it is not at work when it comes back.
                stands.free -= 1.min(stands.free);
                return false;
            }
            if stands.free > 0 && stands.is_turn(&self.item) {
                stands.free -= 1;
                stands.waiting.retain(|it| *it != self.item);
                return true;
            }
            let waited = self.line.moved.wait_timeout(stands, LOOK);
            stands = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}
