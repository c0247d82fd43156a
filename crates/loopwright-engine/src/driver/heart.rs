//! The heart of a driver: it keeps the lease, and hears when somebody ends the run meanwhile.

use std::sync::Arc;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

use super::LEASE;
use super::holder::{is_alive, is_gone};
use crate::engine::Engine;
use crate::error::EngineError;
use crate::journal::{Journal, JournalError, Lease, Millis};
use crate::people::Message;
use crate::process::Cancel;

/// How often it beats.
const BEAT: Duration = Duration::from_secs(1);

/// Beats until it is dropped.
pub(super) struct Heart {
    stop: Option<Sender<()>>,
    beats: Option<JoinHandle<()>>,
}

/// A lease, what keeps it, and when whoever had it before was surely gone, if they went without a word.
pub(super) type Taken = (Lease, Heart, Option<Millis>);

/// Takes the lease of a run, and keeps it.
pub(super) fn take(engine: &Engine, run: &str, cancel: &Cancel) -> Result<Taken, EngineError> {
    let mut gone = None;
    let now = (engine.clock)();
    let lease = |now| engine.journal.lease(run, &engine.holder, now, (engine.clock)().saturating_add(LEASE));
    let lease = match engine.journal.run(run)?.held {
        // Nobody has to wait for a lease of the dead to run out.
        Some((holder, until)) if is_gone(&holder) => {
            // A heart that beats has renewed it since.
            gone = Some(until.saturating_sub(LEASE / 2));
            lease(until)?
        }
        // A clock may jump, or stand still with the whole machine: of a process that can be seen, that says nothing.
        Some((holder, until)) if is_alive(&holder) => {
            return Err(JournalError::Held { run: run.to_owned(), holder, until }.into());
        }
        _ => lease(now)?,
    };
    let (stop, stopped) = channel();
    let (journal, clock) = (Arc::clone(&engine.journal), Arc::clone(&engine.clock));
    let (kept, cancel) = (lease.clone(), cancel.clone());
    let beats = std::thread::Builder::new().stack_size(1 << 20).spawn(move || {
        let mut renewed = clock();
        while stopped.recv_timeout(BEAT) == Err(RecvTimeoutError::Timeout) {
            let now = clock();
            if now.saturating_sub(renewed) > LEASE / 3 {
                renewed = now;
                // Whoever lost the lease must not go on; what it does now counts for nothing.
                if journal.renew(&kept, now.saturating_add(LEASE)).is_err() {
                    cancel.call_off();
                }
            }
            if is_ended(&*journal, &kept.run) {
                cancel.call_off();
            }
        }
    });
    let beats = beats.map_err(|it| EngineError::Wrong(format!("no thread can be started: {it}")))?;
    Ok((lease, Heart { stop: Some(stop), beats: Some(beats) }, gone))
}

/// Whether somebody wants the run ended.
fn is_ended(journal: &dyn Journal, run: &str) -> bool {
    let letters = journal.inbox(run).unwrap_or_default();
    letters.iter().any(|it| matches!(serde_json::from_str(&it.body), Ok(Message::Stop { .. })))
}

impl Drop for Heart {
    fn drop(&mut self) {
        self.stop = None;
        if let Some(beats) = self.beats.take() {
            let _ = beats.join();
        }
    }
}
