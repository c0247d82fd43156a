//! What every journal promises, and what the one on the disk promises beyond that.
#![expect(clippy::expect_used, clippy::panic, reason = "these are tests")]

mod disk;
mod load;
mod promises;

use loopwright_core::machine::{Event, Evidence, Outcome, Started};
use loopwright_engine::journal::{Batch, Journal, Lease, NewRun};

fn new_run(name: &str) -> NewRun {
    NewRun {
        name: name.to_owned(),
        workflow: "task".into(),
        subject: "add a flag".into(),
        definition: "d1".into(),
        parent: None,
        at: 1_000,
    }
}

fn batch(lease: &Lease, after: u64, events: &[Event]) -> Batch {
    Batch {
        lease: lease.clone(),
        after,
        at: 2_000 + after,
        events: events.to_vec(),
        snapshot: None,
        taken: Vec::new(),
        blobs: Vec::new(),
        stands: None,
    }
}

/// An event that can be told from others.
fn event(number: u64) -> Event {
    match number % 3 {
        0 => Event::Stopped { reason: format!("number {number}, \"quoted\"\n\u{1f980}") },
        1 => Event::Started(Box::new(Started { subject: number.to_string(), ..Started::default() })),
        _ => Event::Settled {
            effect: loopwright_core::machine::EffectId {
                state: "work".into(),
                visit: 1,
                part: loopwright_core::machine::Part::Work,
            },
            evidence: Evidence::Out(Box::new(Outcome { summary: number.to_string(), ..Outcome::of("done") })),
        },
    }
}

/// A run that is begun, and the right to drive it.
fn begun(journal: &dyn Journal, name: &str) -> Lease {
    journal.create(&new_run(name)).expect("a new run");
    journal.lease(name, "me", 0, 60_000).expect("a lease nobody has")
}
