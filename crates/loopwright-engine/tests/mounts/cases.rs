//! What is tried, each in a namespace of its own.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use loopwright_core::definition::Outcome as Ending;
use loopwright_core::machine::Event;
use loopwright_engine::journal::{Batch, Journal, JournalError, Lease, NewRun, Sqlite};
use loopwright_engine::process::Cancel;
use loopwright_engine::{Begin, EngineError, Standing};

use crate::bench::{Bench, workflow};

fn mount(arguments: &[&str], folder: &Path) {
    let said = Command::new("mount").args(arguments).arg(folder).output().expect("mount");
    assert!(said.status.success(), "{}", String::from_utf8_lossy(&said.stderr));
}

/// A file system of so many kilobytes.
fn small(folder: &Path, kilobytes: u32) {
    std::fs::create_dir_all(folder).expect("a folder");
    mount(&["-t", "tmpfs", "-o", &format!("size={kilobytes}k"), "tmpfs"], folder);
}

/// Takes all the room there is.
fn fill(folder: &Path) -> PathBuf {
    let path = folder.join("filler");
    let mut file = std::fs::File::create(&path).expect("a file");
    while file.write_all(&[7; 512]).is_ok() {}
    path
}

fn batch(lease: &Lease, after: u64) -> Batch {
    Batch {
        lease: lease.clone(),
        after,
        at: after,
        events: vec![Event::Stopped { reason: format!("number {}: {}", after + 1, "x".repeat(300)) }],
        snapshot: None,
        taken: Vec::new(),
        blobs: Vec::new(),
        stands: None,
    }
}

fn begun(journal: &Sqlite, name: &str) -> Lease {
    journal.create(&NewRun { name: name.into(), ..NewRun::default() }).expect("a run");
    journal.lease(name, "me", 0, 1_000).expect("a lease")
}

/// Appends until it does not go on; how many there are, and why there are no more.
fn until_it_fails(journal: &Sqlite, lease: &Lease, mut last: u64) -> (u64, JournalError) {
    loop {
        match journal.append(&batch(lease, last)) {
            Ok(now) => last = now,
            Err(error) => return (last, error),
        }
    }
}

fn is_whole(journal: &Sqlite, name: &str, last: u64) {
    let events = journal.events(name, 0).expect("events");
    assert_eq!(events.iter().map(|it| it.seq).collect::<Vec<_>>(), (1..=last).collect::<Vec<_>>());
    assert_eq!(journal.damage().expect("a look"), Vec::<String>::new());
}

pub(crate) fn full_journal() {
    let folder = tempfile::tempdir().expect("a folder");
    small(folder.path(), 600);
    let path = folder.path().join("journal.db");
    let journal = Sqlite::open(&path).expect("a journal");
    let lease = begun(&journal, "a");
    let (last, error) = until_it_fails(&journal, &lease, 0);
    assert!(last > 20, "only {last}");
    assert!(matches!(error, JournalError::Full { .. }), "{error:?}");
    let told = error.to_string();
    assert!(told.contains("the disk is full") && told.contains("make room"), "{told}");
    // What was acknowledged is there: for this process, and for one that comes after it.
    is_whole(&journal, "a", last);
    drop(journal);
    mount(&["-o", "remount,size=4m"], folder.path());
    let journal = Sqlite::open(&path).expect("the journal");
    is_whole(&journal, "a", last);
    assert_eq!(journal.append(&batch(&lease, last)).expect("there is room"), last + 1);
    // And so it goes on in a process that was there when it was full.
    let filler = fill(folder.path());
    let (last, error) = until_it_fails(&journal, &lease, last + 1);
    assert!(matches!(error, JournalError::Full { .. }), "{error:?}");
    std::fs::remove_file(filler).expect("it is gone");
    assert_eq!(journal.append(&batch(&lease, last)).expect("there is room"), last + 1);
    is_whole(&journal, "a", last + 1);
}

pub(crate) fn too_large() {
    let folder = tempfile::tempdir().expect("a folder");
    small(folder.path(), 2_000);
    let journal = Sqlite::open(&folder.path().join("journal.db")).expect("a journal");
    let leases = ["a", "b", "c"].map(|it| begun(&journal, it));
    let large = Batch { blobs: vec![vec![7; 3_000_000]], ..batch(&leases[1], 0) };
    let under_way =
        [&batch(&leases[0], 0), &large, &batch(&leases[2], 0)].map(|it| journal.submit_append(it));
    let [before, large, after] = under_way.map(loopwright_engine::journal::Ticket::wait);
    assert_eq!(before.expect("it is small"), 1);
    assert!(matches!(large, Err(JournalError::Full { .. })), "{large:?}");
    assert_eq!(after.expect("it is small"), 1);
    is_whole(&journal, "a", 1);
    is_whole(&journal, "b", 0);
    is_whole(&journal, "c", 1);
}

pub(crate) fn full_beginning() {
    let folder = tempfile::tempdir().expect("a folder");
    small(folder.path(), 64);
    let filler = fill(folder.path());
    let path = folder.path().join("journal.db");
    let error = Sqlite::open(&path).expect_err("there is no room");
    assert!(matches!(error, JournalError::Full { .. }), "{error}");
    std::fs::remove_file(filler).expect("it is gone");
    mount(&["-o", "remount,size=4m"], folder.path());
    // What was left of the attempt is no hindrance.
    begun(&Sqlite::open(&path).expect("a journal"), "a");
}

pub(crate) fn read_only() {
    let folder = tempfile::tempdir().expect("a folder");
    small(folder.path(), 4_000);
    let path = folder.path().join("journal.db");
    let journal = Sqlite::open(&path).expect("a journal");
    let lease = begun(&journal, "a");
    journal.append(&batch(&lease, 0)).expect("an event");
    drop(journal);
    mount(&["-o", "remount,ro"], folder.path());
    let error = Sqlite::open(&path).expect_err("it may not be written");
    assert!(matches!(error, JournalError::ReadOnly { .. }), "{error:?}");
    let told = error.to_string();
    assert!(told.contains("may not be written") && told.contains("make the file and the folder"), "{told}");
    mount(&["-o", "remount,rw"], folder.path());
    let journal = Sqlite::open(&path).expect("a journal");
    assert_eq!(journal.append(&batch(&lease, 1)).expect("it may be written"), 2);
    is_whole(&journal, "a", 2);
}

const SIMPLE: &str = r#"
workflow: simple
subject: thing
budgets:
  retries: {limit: 3, per: visit}
documents:
  code: {files: ["src/**"]}
roles:
  coder: {agent: coder, prompt: "Write {{subject}}.", may-write: [code]}
defaults:
  lost: {to: again, spend: retries, else: failed}
  failures: failed
states:
  write: {agent: coder, then: more}
  more: {agent: coder, then: commit}
  commit: {do: [{commit: "{{subject}}", what: [code]}], then: done}
  done: {end: success}
  failed: {end: failure}
"#;

/// The first time it is called for more, it takes all the room the journal has.
const CODER: &str = r#"
    cat > /dev/null
    git="$(git rev-parse --absolute-git-dir)"
    echo "$LOOPWRIGHT_STATE" >> "$git/called"
    mkdir -p src
    echo "$LOOPWRIGHT_STATE" >> src/a
    if [ "$LOOPWRIGHT_STATE" = more ] && [ ! -e "$git/filled" ]; then
      touch "$git/filled"
      cat /dev/zero > "$git/room/filler" 2> /dev/null
    fi
    exit 0
"#;

pub(crate) fn full_run() {
    let bench = Bench::with(&[("test.sh", "true\n")]);
    let room = bench.path().join(".git/room");
    small(&room, 1_000);
    // The journal is on the small disk, what git keeps is not: git would be the first to notice.
    let engine = || {
        let mut engine = bench.engine(&[("coder", CODER)]);
        engine.journal = Arc::new(Sqlite::open(&room.join("journal.db")).expect("a journal"));
        engine
    };
    let begin = Begin { subject: "greet".into(), ..Begin::default() };
    let first = engine();
    let driver = first.begin(&workflow(SIMPLE), &begin, &Cancel::default()).expect("it begins");
    let name = driver.name().to_owned();
    let error = driver.drive().expect_err("the disk is full");
    assert!(matches!(error, EngineError::Journal(JournalError::Full { .. })), "{error:?}");
    assert!(error.to_string().contains("make room and go on"), "{error}");
    // What was recorded is there, in this process and in the next.
    let before = first.journal.events(&name, 0).expect("events");
    assert!(
        before
            .iter()
            .any(|it| matches!(&it.event, Event::Settled { effect, .. } if effect.to_string() == "write.1"))
    );
    drop(first);
    std::fs::remove_file(room.join("filler")).expect("it is gone");
    let engine = engine().after(60_000);
    let standing = engine.drive(&name, &Cancel::default()).expect("it goes on");
    let Standing::Over { ending, .. } = &standing else { panic!("{standing:?}") };
    assert_eq!(*ending, Some(Ending::Success), "{:#?}", bench.lines());
    let after = engine.journal.events(&name, 0).expect("events");
    assert_eq!(after[..before.len()], before[..], "something that was recorded is not there");
    // What had come back was not done again; what was lost was.
    assert_eq!(bench.read(".git/called"), "write\nmore\nmore\n");
    assert_eq!(bench.git(&["log", "--format=%s", "-1"]), "greet");
}
