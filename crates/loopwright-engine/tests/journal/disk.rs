//! What the journal on the disk promises beyond that: many writers, damage that is noticed, formats that are known.

use std::path::{Path, PathBuf};

use loopwright_engine::journal::{Journal, JournalError, Sqlite};

use crate::{batch, begun, event, new_run};

struct Disk {
    _folder: tempfile::TempDir,
    path: PathBuf,
}

fn disk() -> Disk {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("journal.db");
    Disk { _folder: folder, path }
}

#[test]
fn many_runs_share_commits_and_none_is_mixed_up() {
    const RUNS: usize = 24;
    const STEPS: u64 = 20;
    let disk = disk();
    // Two journals on one file, as two processes have them.
    let journals = [Sqlite::open(&disk.path).expect("one"), Sqlite::open(&disk.path).expect("two")];
    std::thread::scope(|scope| {
        for run in 0..RUNS {
            let journal = &journals[run % 2];
            scope.spawn(move || {
                let lease = begun(journal, &format!("run-{run}"));
                for step in 0..STEPS {
                    let number = run as u64 * 1_000 + step;
                    let last = journal.append(&batch(&lease, step, &[event(number)])).expect("an event");
                    assert_eq!(last, step + 1);
                }
            });
        }
    });
    for run in 0..RUNS {
        let events = journals[0].events(&format!("run-{run}"), 0).expect("events");
        let wanted: Vec<_> = (0..STEPS).map(|step| event(run as u64 * 1_000 + step)).collect();
        assert_eq!(events.into_iter().map(|it| it.event).collect::<Vec<_>>(), wanted);
    }
    assert_eq!(journals[1].runs().expect("runs").len(), RUNS);
}

/// A journal with one run of a few events, closed.
fn written(path: &Path) {
    let journal = Sqlite::open(path).expect("a journal");
    let lease = begun(&journal, "a");
    let mut first = batch(&lease, 0, &[event(1)]);
    first.snapshot = Some("the run".into());
    journal.append(&first).expect("events");
    journal.append(&batch(&lease, 1, &[event(2)])).expect("events");
    journal.append(&batch(&lease, 2, &[event(3), event(4)])).expect("events");
    journal.put(b"a transcript").expect("bytes");
}

fn change(path: &Path, statement: &str) {
    let connection = rusqlite::Connection::open(path).expect("the file");
    connection.execute_batch(statement).expect("a change");
}

fn damage_in(error: JournalError) -> String {
    match error {
        JournalError::Damaged { what } => what,
        other => panic!("not taken for damage: {other}"),
    }
}

#[test]
fn what_is_not_as_it_was_written_is_noticed() {
    for (statement, wanted) in [
        (
            "UPDATE batches SET body = replace(body, 'number', 'nomber') WHERE last = 4",
            "run `a`, events 3 to 4 are not what was written",
        ),
        ("UPDATE batches SET at = at + 1 WHERE last = 2", "run `a`, event 2 is not what was written"),
        ("UPDATE batches SET count = 2 WHERE last = 2", "run `a`, event 1 is there twice"),
        ("UPDATE batches SET count = 1 WHERE last = 4", "run `a`, event 3 is missing"),
        ("UPDATE batches SET count = 2 WHERE last = 1", "run `a`, events 0 to 1 are not what was written"),
        ("DELETE FROM batches WHERE last = 2", "run `a`, event 2 is missing"),
        ("DELETE FROM batches WHERE last = 1", "run `a`, event 1 is missing"),
        ("DELETE FROM batches WHERE last = 4", "run `a`, events 3 to 4 are missing"),
        ("DELETE FROM batches", "run `a`, events 1 to 4 are missing"),
        ("DELETE FROM batches WHERE last IN (1, 2)", "run `a`, events 1 to 2 are missing"),
        (
            "UPDATE batches SET version = 99 WHERE last = 1",
            "run `a`, event 1 is of no use: a later Loopwright wrote it (version 99 of events, this one knows VERSION); use that one, or a newer one",
        ),
    ] {
        let wanted = wanted.replace("VERSION", &loopwright_core::machine::VERSION.to_string());
        let disk = disk();
        written(&disk.path);
        change(&disk.path, statement);
        let journal = Sqlite::open(&disk.path).expect("it opens");
        assert_eq!(damage_in(journal.events("a", 0).expect_err("damage")), wanted, "{statement}");
    }
    // Where only the way from one to the next is lost, they are found all the same.
    for statement in [
        "UPDATE batches SET before = 0",
        "UPDATE batches SET before = id",
        "UPDATE batches SET before = id + 1",
        "UPDATE batches SET before = 99 WHERE last = 4",
        "UPDATE runs SET tail = 0",
        "UPDATE runs SET tail = tail - 1",
    ] {
        let disk = disk();
        written(&disk.path);
        change(&disk.path, statement);
        let journal = Sqlite::open(&disk.path).expect("it opens");
        assert_eq!(journal.events("a", 0).expect("events").len(), 4, "{statement}");
        assert_eq!(journal.events("a", 2).expect("events").len(), 2, "{statement}");
    }
    let disk = disk();
    written(&disk.path);
    change(&disk.path, "UPDATE snapshots SET body = 'another'; UPDATE blobs SET bytes = x'00'");
    let journal = Sqlite::open(&disk.path).expect("it opens");
    let what = damage_in(journal.snapshot("a").expect_err("damage"));
    assert_eq!(what, "the snapshot of run `a` is not what was written");
    let digest = blake3::hash(b"a transcript").to_hex().to_string();
    let what = damage_in(journal.blob(&digest).expect_err("damage"));
    assert_eq!(what, format!("the blob {digest} is not what was kept"));
}

#[test]
fn a_file_that_is_cut_off_or_flipped_is_never_taken_for_a_whole_one() {
    let disk = disk();
    written(&disk.path);
    let whole = std::fs::read(&disk.path).expect("the file");
    let intact = Sqlite::open(&disk.path).and_then(|it| it.events("a", 0)).expect("events");
    let (mut noticed, mut harmless) = (0, 0);
    let cuts = (0..whole.len()).step_by(509).map(|at| whole[..at].to_vec());
    let flips = (0..whole.len()).step_by(101).map(|at| {
        let mut bytes = whole.clone();
        bytes[at] ^= 0x10;
        bytes
    });
    for bytes in cuts.chain(flips) {
        let other = disk.path.with_file_name("other.db");
        std::fs::write(&other, &bytes).expect("a copy");
        match Sqlite::open(&other).and_then(|it| it.events("a", 0)) {
            // What is not in use, or is in a table that was not asked for, may be otherwise.
            Ok(events) => {
                assert_eq!(events, intact, "something else was read, and nobody noticed");
                harmless += 1;
            }
            Err(_) => noticed += 1,
        }
        for name in ["other.db", "other.db-wal", "other.db-shm"] {
            let _ = std::fs::remove_file(disk.path.with_file_name(name));
        }
    }
    assert!(noticed > 20 && harmless > 0, "{noticed} noticed, {harmless} harmless");
}

#[test]
fn appends_that_are_not_waited_for_are_written_in_their_order() {
    let disk = disk();
    let journal = Sqlite::open(&disk.path).expect("a journal");
    let leases = ["a", "b", "c"].map(|it| begun(&journal, it));
    let mut tickets = Vec::new();
    for step in 0..50 {
        for lease in &leases {
            tickets.push((step + 1, journal.submit_append(&batch(lease, step, &[event(step)]))));
        }
    }
    for (last, ticket) in tickets {
        assert_eq!(ticket.wait().expect("an event"), last);
    }
    // One that is refused says so, and those after it are not disturbed by it.
    let behind = journal.submit_append(&batch(&leases[0], 7, &[event(7)]));
    let next = journal.submit_append(&batch(&leases[0], 50, &[event(50)]));
    behind.wait().expect_err("the driver is behind");
    assert_eq!(next.wait().expect("an event"), 51);
    assert_eq!(journal.events("a", 0).expect("events").len(), 51);
    assert_eq!(journal.events("c", 0).expect("events").len(), 50);
    // What nobody waited for is written all the same.
    drop(journal.submit_append(&batch(&leases[1], 50, &[event(50)])));
    drop(journal);
    let journal = Sqlite::open(&disk.path).expect("the journal");
    assert_eq!(journal.events("b", 0).expect("events").len(), 51);
}

#[test]
fn events_after_one_in_the_middle_of_a_batch_are_found() {
    let disk = disk();
    written(&disk.path);
    let journal = Sqlite::open(&disk.path).expect("it opens");
    let all = journal.events("a", 0).expect("events");
    assert_eq!(all.iter().map(|it| it.seq).collect::<Vec<_>>(), [1, 2, 3, 4]);
    for after in 0..=4 {
        let some = journal.events("a", after).expect("events");
        assert_eq!(some, all[usize::try_from(after).expect("a place")..], "after {after}");
    }
    assert_eq!(journal.events("a", 9).expect("events"), []);
}

#[test]
fn a_later_format_is_left_alone() {
    let disk = disk();
    written(&disk.path);
    change(&disk.path, "PRAGMA user_version = 7");
    let error = Sqlite::open(&disk.path).expect_err("too new");
    assert!(matches!(error, JournalError::TooNew { found: 7, known: 1..7, .. }), "{error}");
    let connection = rusqlite::Connection::open(&disk.path).expect("the file");
    let format: u32 = connection.pragma_query_value(None, "user_version", |it| it.get(0)).expect("a format");
    assert_eq!(format, 7);
}

#[test]
fn what_is_no_journal_is_not_made_one() {
    let disk = disk();
    std::fs::write(&disk.path, "These are my notes, and I want to keep them.\n".repeat(40)).expect("notes");
    damage_in(Sqlite::open(&disk.path).expect_err("no journal"));
    assert!(std::fs::read_to_string(&disk.path).expect("notes").starts_with("These are my notes"));
    let folder = disk.path.with_file_name("folder");
    std::fs::create_dir(&folder).expect("a folder");
    let error = Sqlite::open(&folder).expect_err("a folder");
    assert!(error.to_string().contains("unable to open"), "{error}");
}

#[test]
fn one_that_fails_does_not_take_others_along() {
    let disk = disk();
    let journal = Sqlite::open(&disk.path).expect("a journal");
    let lease = begun(&journal, "a");
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| journal.create(&new_run("a")).expect_err("it is taken"));
        }
        for step in 0..8 {
            journal.append(&batch(&lease, step, &[event(step)])).expect("an event");
        }
    });
    assert_eq!(journal.events("a", 0).expect("events").len(), 8);
    assert_eq!(journal.damage().expect("a look"), Vec::<String>::new());
}
