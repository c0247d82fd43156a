//! What durability costs, held against plain `SQLite` on the same disk in the same minute.
//!
//! `cargo bench -p loopwright-engine`. Every figure is a ratio or stands beside what it is compared with: machines differ.
#![expect(
    clippy::expect_used,
    clippy::print_stdout,
    clippy::cast_precision_loss,
    reason = "this is a benchmark"
)]

use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::time::{Duration, Instant};

use loopwright_core::machine::{EffectId, Event, Evidence, Outcome, Part};
use loopwright_engine::files::Files;
use loopwright_engine::git::Git;
use loopwright_engine::journal::{Batch, Journal, Lease, NewRun, Sqlite, Stands};

const STEPS: u64 = 400;

fn main() {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a folder");
    one_run(folder.path());
    many_runs(folder.path());
    coming_back(folder.path());
    listing(folder.path());
    looking(folder.path());
}

fn timed(work: impl FnOnce()) -> Duration {
    let begun = Instant::now();
    work();
    begun.elapsed()
}

/// The best of several: the rest is what else the machine does.
fn best(times: u32, mut work: impl FnMut() -> Duration) -> Duration {
    (0..times).map(|_| work()).min().unwrap_or_default()
}

fn raw(path: &Path) -> rusqlite::Connection {
    let connection = rusqlite::Connection::open(path).expect("a file");
    connection.pragma_update(None, "journal_mode", "wal").expect("wal");
    connection.pragma_update(None, "synchronous", "full").expect("full");
    connection
        .execute_batch("CREATE TABLE IF NOT EXISTS steps (id INTEGER PRIMARY KEY, body TEXT)")
        .expect("a table");
    connection
}

/// What one step of a run learns: how the last came back, and that the next is begun.
fn step(number: u64) -> Vec<Event> {
    let effect = |visit| EffectId { state: "write".into(), visit, part: Part::Work };
    let outcome = Outcome { summary: "it wrote what it was asked to write".into(), ..Outcome::of("done") };
    let visit = u32::try_from(number).unwrap_or(u32::MAX);
    vec![
        Event::Settled { effect: effect(visit), evidence: Evidence::Out(Box::new(outcome)) },
        Event::Issued {
            effect: effect(visit + 1),
            attempt: 1,
            values: serde_json::json!({"role": "coder", "tree": "0123456789012345678901234567890123456789"}),
        },
    ]
}

fn begun(journal: &dyn Journal, name: &str) -> Lease {
    let run = NewRun { name: name.into(), workflow: "bench".into(), ..NewRun::default() };
    journal.create(&run).expect("a run");
    journal.lease(name, "bench", 0, u64::MAX / 4).expect("a lease")
}

fn batch(lease: &Lease, number: u64) -> Batch {
    Batch {
        lease: lease.clone(),
        after: 2 * number,
        at: number,
        events: step(number),
        snapshot: (number % 32 == 31).then(|| "x".repeat(3_000)),
        taken: Vec::new(),
        blobs: Vec::new(),
        stands: Some(Stands { state: "write".into(), status: "at work".into() }),
    }
}

/// The steps of one run, each on the disk before the next.
fn one_run(folder: &Path) {
    let connection = raw(&folder.join("raw-one.db"));
    let body = serde_json::to_string(&step(0)).expect("a text");
    let journal = Sqlite::open(&folder.join("one.db")).expect("a journal");
    let mut runs = 0;
    let plain = best(3, || {
        timed(|| {
            for _ in 0..STEPS {
                connection.execute("INSERT INTO steps (body) VALUES (?1)", [&body]).expect("a step");
            }
        })
    });
    let ours = best(3, || {
        runs += 1;
        let lease = begun(&journal, &format!("run {runs}"));
        timed(|| {
            for number in 0..STEPS {
                journal.append(&batch(&lease, number)).expect("a step");
            }
        })
    });
    let per = |it: Duration| it.as_secs_f64() * 1e6 / STEPS as f64;
    let ratio = 100.0 * plain.as_secs_f64() / ours.as_secs_f64();
    println!(
        "one run, a commit a step:   plain {:>7.0} µs, ours {:>7.0} µs a step: {ratio:.0} % of plain",
        per(plain),
        per(ours)
    );
}

/// A thousand runs of twenty steps by eight drivers, against one commit per thousand.
fn many_runs(folder: &Path) {
    const RUNS: u64 = 1_000;
    const EACH: u64 = 20;
    let mut connection = raw(&folder.join("raw-many.db"));
    let body = serde_json::to_string(&step(0)).expect("a text");
    let plain = timed(|| {
        for _ in 0..EACH {
            let together = connection.transaction().expect("a transaction");
            for _ in 0..RUNS {
                together.execute("INSERT INTO steps (body) VALUES (?1)", [&body]).expect("a step");
            }
            together.commit().expect("a commit");
        }
    });
    let journal = Arc::new(Sqlite::open(&folder.join("many.db")).expect("a journal"));
    let leases: Vec<Lease> = (0..RUNS).map(|it| begun(&*journal, &format!("run {it}"))).collect();
    let threads = 64;
    let ours = timed(|| {
        std::thread::scope(|scope| {
            for mine in leases.chunks(leases.len().div_ceil(threads)) {
                let journal = Arc::clone(&journal);
                scope.spawn(move || {
                    for number in 0..EACH {
                        for lease in mine {
                            journal.append(&batch(lease, number)).expect("a step");
                        }
                    }
                });
            }
        });
    });
    let ratio = 100.0 * plain.as_secs_f64() / ours.as_secs_f64();
    println!(
        "1000 runs of 20 steps:      plain {:>7.0} ms, ours {:>7.0} ms: {ratio:.0} % of plain",
        ms(plain),
        ms(ours)
    );
}

fn ms(it: Duration) -> f64 {
    it.as_secs_f64() * 1e3
}

/// Reading what has to be folded of a short run and of a long one.
fn coming_back(folder: &Path) {
    let journal = Sqlite::open(&folder.join("back.db")).expect("a journal");
    let long = |name: &str, events: u64| {
        let lease = begun(&journal, name);
        let mut number = 0;
        while 2 * number < events {
            let together: Vec<Event> =
                (0..500.min(events / 2 - number)).flat_map(|it| step(number + it)).collect();
            let count = together.len() as u64 / 2;
            let batch =
                Batch { events: together, snapshot: Some("x".repeat(3_000)), ..batch(&lease, number) };
            journal.append(&batch).expect("events");
            number += count;
        }
        for more in 0..16 {
            journal.append(&Batch { snapshot: None, ..batch(&lease, number + more) }).expect("events");
        }
    };
    long("short", 100);
    long("long", 100_000);
    let read = |name: &str| {
        best(20, || {
            timed(|| {
                let snapshot = journal.snapshot(name).expect("a journal").expect("a snapshot");
                assert_eq!(journal.events(name, snapshot.seq).expect("events").len(), 32);
            })
        })
    };
    let (short, long) = (read("short"), read("long"));
    println!(
        "coming back:                100 events {:.3} ms, 100000 events {:.3} ms: {:.2} times",
        ms(short),
        ms(long),
        long.as_secs_f64() / short.as_secs_f64()
    );
}

/// Ten thousand runs in a list.
fn listing(folder: &Path) {
    let journal = Arc::new(Sqlite::open(&folder.join("list.db")).expect("a journal"));
    std::thread::scope(|scope| {
        for worker in 0..64 {
            let journal = Arc::clone(&journal);
            scope.spawn(move || {
                for run in 0..157 {
                    drop(begun(&*journal, &format!("run {worker} {run}")));
                }
            });
        }
    });
    let taken = best(5, || timed(|| assert!(journal.runs().expect("runs").len() >= 10_000)));
    println!("a list of 10000 runs:       {:.1} ms", ms(taken));
}

/// Looking at a repository of fifty thousand files, of which one changed: what a step of an agent adds.
fn looking(folder: &Path) {
    let root = folder.join("repository");
    for part in 0..500 {
        let place = root.join(format!("part-{part}"));
        std::fs::create_dir_all(&place).expect("a folder");
        for file in 0..100 {
            std::fs::write(place.join(format!("{file}.txt")), format!("{part} {file}\n")).expect("a file");
        }
    }
    for arguments in [
        &["init", "--quiet"][..],
        &["config", "user.name", "bench"],
        &["config", "user.email", "bench@example.invalid"],
        &["add", "--all"],
        &["commit", "--quiet", "--message", "all"],
    ] {
        assert!(Command::new("git").args(arguments).current_dir(&root).status().expect("git").success());
    }
    let files = Files::of(Git::around(&root).expect("git").expect("a repository"), "bench").expect("files");
    let first = timed(|| drop(files.look().expect("a look")));
    let mut number = 0;
    let next = best(5, || {
        number += 1;
        std::fs::write(root.join("part-7/7.txt"), format!("changed {number}\n")).expect("a file");
        timed(|| drop(files.look().expect("a look")))
    });
    println!("50000 files:                first look {:.0} ms, after a change {:.0} ms", ms(first), ms(next));
}
