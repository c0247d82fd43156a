//! What durability costs, held against plain `SQLite` on the same disk in the same minute.
//!
//! `cargo bench -p loopwright-engine --bench engine`, or only some: `-- one many back waiting looking`. Every figure is a ratio or stands beside what it is compared with: machines differ.
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

use loopwright_core::language::Folder;
use loopwright_core::machine::{EffectId, Event, Evidence, Outcome, Part, Run};
use loopwright_engine::agents::{Agent, CommandAgent};
use loopwright_engine::files::Files;
use loopwright_engine::git::Git;
use loopwright_engine::journal::{Batch, Journal, Lease, NewRun, Sqlite, Stands};
use loopwright_engine::process::{Cancel, Supervisor};
use loopwright_engine::{Begin, Config, Driver, Engine, Home, Nobody, Project, Standing, Unwatched};

const STEPS: u64 = 400;
const INSERT: &str = "INSERT INTO steps (body) VALUES (?1)";

/// One of the things that are measured.
type Measured = fn(&Path);

fn main() {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a folder");
    let asked: Vec<String> = std::env::args().skip(1).filter(|it| !it.starts_with('-')).collect();
    let parts: [(&str, Measured); 5] = [
        ("one", one_run),
        ("many", many_runs),
        ("back", coming_back),
        ("waiting", |folder| {
            let (journal, leases) = listing(folder);
            waiting(folder, &journal, &leases);
        }),
        ("looking", looking),
    ];
    for (name, part) in parts {
        if asked.is_empty() || asked.iter().any(|it| it == name) {
            part(folder.path());
        }
    }
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

/// The best of several of two that are compared, by turns: a machine that is busy for a while is so for both.
fn best_of_both(
    times: u32,
    mut one: impl FnMut() -> Duration,
    mut other: impl FnMut() -> Duration,
) -> (Duration, Duration) {
    let all: Vec<_> = (0..times).map(|_| (one(), other())).collect();
    let least = |pick: fn(&(Duration, Duration)) -> Duration| all.iter().map(pick).min().unwrap_or_default();
    (least(|it| it.0), least(|it| it.1))
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
    let plainly = || {
        let mut insert = connection.prepare_cached(INSERT).expect("a statement");
        timed(|| {
            for _ in 0..STEPS {
                insert.execute([&body]).expect("a step");
            }
        })
    };
    let (plain, ours) = best_of_both(4, plainly, || {
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

const RUNS: usize = 1_000;
const EACH: u64 = 20;

/// A thousand runs of twenty steps, each step on the disk before the run's next, against one commit per thousand rows.
///
/// Once as whoever drives a thousand runs does it, with few threads, each of which has an append of every run of its own
/// under way; and once with a thread for every run, as one would drive a few.
fn many_runs(folder: &Path) {
    let body = serde_json::to_string(&step(0)).expect("a text");
    let mut plain = 0;
    let mut plainly = || {
        // Both begin with nothing: a file that grows costs more than one that is written over.
        plain += 1;
        let mut connection = raw(&folder.join(format!("raw-many-{plain}.db")));
        timed(|| {
            for _ in 0..EACH {
                let together = connection.transaction().expect("a transaction");
                {
                    let mut insert = together.prepare_cached(INSERT).expect("a statement");
                    for _ in 0..RUNS {
                        insert.execute([&body]).expect("a step");
                    }
                }
                together.commit().expect("a commit");
            }
        })
    };
    let mut times = 0;
    let mut compare = |how: &str, drive: fn(&Sqlite, &[Lease])| {
        let (plain, ours) = best_of_both(4, &mut plainly, || {
            times += 1;
            let journal = Sqlite::open(&folder.join(format!("many-{times}.db"))).expect("a journal");
            let leases: Vec<Lease> = (0..RUNS).map(|it| begun(&journal, &format!("run {it}"))).collect();
            let taken = timed(|| drive(&journal, &leases));
            for lease in &leases {
                assert_eq!(journal.run(&lease.run).expect("a run").last, 2 * EACH);
            }
            taken
        });
        let ratio = 100.0 * plain.as_secs_f64() / ours.as_secs_f64();
        println!(
            "1000 runs of 20 steps:      plain {:>7.0} ms, ours {:>7.0} ms: {ratio:.0} % of plain ({how})",
            ms(plain),
            ms(ours)
        );
    };
    compare("4 threads, tickets", by_few);
    compare("a thread a run", by_threads);
}

fn by_few(journal: &Sqlite, leases: &[Lease]) {
    std::thread::scope(|scope| {
        for mine in leases.chunks(RUNS / 4) {
            scope.spawn(move || {
                for number in 0..EACH {
                    let under_way: Vec<_> =
                        mine.iter().map(|it| journal.submit_append(&batch(it, number))).collect();
                    for ticket in under_way {
                        ticket.wait().expect("a step");
                    }
                }
            });
        }
    });
}

fn by_threads(journal: &Sqlite, leases: &[Lease]) {
    std::thread::scope(|scope| {
        for lease in leases {
            let thread = std::thread::Builder::new().stack_size(128 << 10);
            let drive = move || {
                for number in 0..EACH {
                    journal.append(&batch(lease, number)).expect("a step");
                }
            };
            thread.spawn_scoped(scope, drive).expect("a thread");
        }
    });
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
fn listing(folder: &Path) -> (Sqlite, Vec<Lease>) {
    let journal = Sqlite::open(&folder.join("list.db")).expect("a journal");
    let leases = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..50)
            .map(|worker| {
                let journal = &journal;
                let begin = move |it| begun(journal, &format!("run {worker} {it}"));
                scope.spawn(move || (0..200).map(begin).collect::<Vec<_>>())
            })
            .collect();
        workers.into_iter().flat_map(|it| it.join().expect("leases")).collect()
    });
    let taken = best(5, || timed(|| assert!(journal.runs().expect("runs").len() >= 10_000)));
    println!("a list of 10000 runs:       {:.1} ms", ms(taken));
    (journal, leases)
}

/// What a process holds for each of ten thousand runs that wait for a person: its name, what is asked, and whatever the
/// journal remembers of having written it. The run itself is in the journal and is read when somebody answers; what it
/// would cost to hold that as well is said beside it. Measured as what the process has more of than before (`VmRSS`).
fn waiting(folder: &Path, journal: &Sqlite, leases: &[Lease]) {
    let standing = waits(folder);
    let Standing::Waits { asking, run } = &standing else { unreachable!("{standing:?}") };
    let text = serde_json::to_string(run).expect("a run");
    // What is taken once for all is not counted for each.
    journal.append(&batch(&leases[0], 0)).expect("a step");
    let before = resident();
    let mut held = Vec::new();
    for some in leases[1..].chunks(100) {
        let tickets: Vec<_> = some.iter().map(|it| journal.submit_append(&batch(it, 0))).collect();
        for ticket in tickets {
            ticket.wait().expect("a step");
        }
        held.extend(some.iter().map(|it| (it.run.clone(), asking.clone())));
    }
    let waiting = resident();
    let read = |_| serde_json::from_str(&text).expect("a run");
    let runs: Vec<Box<Run>> = held.iter().map(read).collect();
    let whole = resident();
    let each = |from: u64, to: u64| to.saturating_sub(from) as f64 / runs.len() as f64;
    println!(
        "memory per waiting run:     {:.0} bytes; with the run as it stands {:.0} bytes (VmRSS, {} runs)",
        each(before, waiting),
        each(before, whole),
        runs.len()
    );
}

/// A run that has gone through a check and a call, and waits.
fn waits(folder: &Path) -> Standing {
    const WORKFLOW: &str = include_str!("waits.yaml");
    let root = folder.join("waits");
    std::fs::create_dir(&root).expect("a folder");
    git(&root, &["init", "--quiet"]);
    git(&root, &["config", "user.name", "bench"]);
    git(&root, &["config", "user.email", "bench@example.invalid"]);
    git(&root, &["commit", "--quiet", "--allow-empty", "--message", "all"]);
    let home = Home::around(&root).expect("a home");
    let journal = Arc::new(Sqlite::open(&home.journal).expect("a journal"));
    let agent =
        Arc::new(CommandAgent { command: vec!["mkdir -p src; cat > src/a".into()] }) as Arc<dyn Agent>;
    let project = [("test".to_owned(), "true".to_owned())].into_iter().collect();
    let config = Config { project, ..Config::default() };
    let supervisor =
        Supervisor { program: env!("CARGO_BIN_EXE_loopwright-supervise").into(), arguments: Vec::new() };
    let engine = Engine::new(
        journal,
        home,
        Project::default().with(&config),
        [("coder".into(), agent)].into_iter().collect(),
        supervisor,
        Arc::new(Nobody),
        Arc::new(Unwatched),
        Arc::new(|| 1_790_000_000_000),
        "bench".into(),
    );
    let files = [("workflow.yaml".to_owned(), WORKFLOW.as_bytes().to_vec())].into_iter().collect();
    let begin = Begin { subject: "a thing that takes a few words to tell".into(), ..Begin::default() };
    let folder = Folder { name: "waits".into(), files };
    engine.begin(&folder, &begin, &Cancel::default()).and_then(Driver::drive).expect("it runs")
}

fn resident() -> u64 {
    let text = std::fs::read_to_string("/proc/self/status").expect("what the kernel says");
    let line = text.lines().find_map(|it| it.strip_prefix("VmRSS:")).expect("a line");
    1_024 * line.trim().trim_end_matches(" kB").parse::<u64>().expect("a number")
}

fn git(root: &Path, arguments: &[&str]) {
    assert!(Command::new("git").args(arguments).current_dir(root).status().expect("git").success());
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
        git(&root, arguments);
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
