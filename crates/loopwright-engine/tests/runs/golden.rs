//! Journals of every version there was: they replay to what they replayed to when they were written.
//!
//! A journal has a format, and its events have a version: each pair that ever was has a folder here, `v2e4` by name. (The
//! first two are called by their format alone; their events are of version 1.)
//!
//! `UPDATE_JOURNALS=1 cargo test -p loopwright-engine --test runs golden` makes the journal of the present pair, if there is
//! none, from real runs of `tests/data/journals/workflow.yaml`, and writes down what every journal replays to. Read the
//! difference: a journal that is there is never made anew, and what it replays to changes only where what is told of a run
//! has changed.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use indexmap::IndexMap;
use loopwright_core::machine::{Event, Evidence, RunView, VERSION};
use loopwright_engine::journal::{Batch, Journal, NewRun, RunLine, Sqlite};
use loopwright_engine::process::Cancel;
use loopwright_engine::{Answered, Begin, Engine, Message, Standing};
use serde_json::{Value, json};

use crate::ahead::InOrder;
use crate::bench::{Bench, run, workflow};
use crate::watched::{Change, Watched, When};

const WORKFLOW: &str = include_str!("../data/journals/workflow.yaml");
/// Two judges at work at once, of whom one comes back when the other was heard.
const BESIDE: &str = include_str!("../data/journals/beside.yaml");
const JUDGES: [(&str, &str); 2] = [
    ("coder", "cat > /dev/null; mkdir -p src; echo two > src/a"),
    (
        "judge",
        r#"cat > /dev/null
        if [ -p "../go.$LOOPWRIGHT_STATE" ]; then read -r _ < "../go.$LOOPWRIGHT_STATE"; fi
        printf '```json\n{"verdict": "GOOD"}\n```\n'"#,
    ),
];
const TASKS: &str =
    "items:\n  - {id: roof, title: A roof, depends: [floor]}\n  - {id: floor, title: A floor, depends: []}\n";
const TEST: &str = "grep -q 'two\\|three' src/a\n";
const AGENTS: [(&str, &str); 3] = [
    (
        "coder",
        r#"cat > /dev/null; mkdir -p src
        case "$LOOPWRIGHT_STATE.$LOOPWRIGHT_VISIT" in
          write.1) echo one > src/a ;;
          fix.1) echo two > src/a ;;
          fix.2) echo three > src/a ;;
        esac"#,
    ),
    (
        "judge",
        r#"cat > /dev/null
        if [ "$LOOPWRIGHT_VISIT" = 1 ]; then
          printf '```json\n{"verdict": "BAD", "findings": [{"severity": "bad", "text": "two is not enough"}]}\n```\n'
        else
          printf '```json\n{"verdict": "GOOD"}\n```\n'
        fi"#,
    ),
    ("writer", r#"mkdir -p out; cat > "out/$LOOPWRIGHT_ITEM.txt""#),
];

fn kept() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/journals")
}

/// What a journal was asked to write, in order.
enum Asked {
    Create(NewRun),
    Append(Batch),
    Put(Vec<u8>),
}

/// A journal that remembers what was written.
fn recording(inner: Arc<dyn Journal>, asked: &Arc<Mutex<Vec<Asked>>>) -> Arc<dyn Journal> {
    let asked = Arc::clone(asked);
    Watched::around(inner, move |when, change| {
        let change = match (when, change) {
            (When::After, Change::Create(run)) => Asked::Create((*run).clone()),
            (When::After, Change::Append(batch)) => Asked::Append((*batch).clone()),
            // Somebody may name it before it is there.
            (When::Before, Change::Put(bytes)) => Asked::Put(bytes.to_vec()),
            _ => return Ok(()),
        };
        asked.lock().expect("what was asked").push(change);
        Ok(())
    })
}

/// Time that passes when it is asked for here. How often others ask, such as who keeps the lease, nobody can say beforehand.
fn ticking() -> Arc<dyn Fn() -> u64 + Send + Sync> {
    let (here, now) = (std::thread::current().id(), AtomicU64::new(1_790_000_000_000));
    Arc::new(move || now.fetch_add(u64::from(std::thread::current().id() == here), Ordering::Relaxed))
}

/// Real runs: one that ended after calls, checks, a question, items and a rest; one that rests; one that asks; one that was
/// ended by a person; one that was left in between. What they wrote, with what differs from machine to machine made the same.
fn recorded() -> Vec<Asked> {
    let bench = Bench::with(&[("test.sh", TEST), ("tasks.yaml", TASKS)]);
    let first = bench.git(&["rev-parse", "HEAD"]);
    let asked = Arc::new(Mutex::new(Vec::new()));
    for (subject, answers, said) in
        [("first", 1, "go"), ("second", 1, ""), ("third", 0, ""), ("fourth", 0, "stop"), ("fifth", 0, "")]
    {
        let yes = || Answered { answer: "yes".into(), ..Answered::default() };
        bench.answers.left.lock().expect("answers").extend((0..answers).map(|_| yes()));
        let engine = |agents: &[(&str, &str)]| {
            let mut engine = bench.engine(agents);
            engine.journal = recording(Arc::clone(&engine.journal), &asked);
            engine.holder = subject.into();
            engine.clock = ticking();
            engine
        };
        let begin = Begin { subject: subject.into(), ..Begin::default() };
        let left = (subject == "fifth").then(|| left(engine(&[IDLE, AGENTS[1], AGENTS[2]]), &begin));
        let engine = engine(&AGENTS);
        let (name, standing) = match left {
            Some(name) => (name.clone(), engine.drive(&name, &Cancel::default()).expect("it goes on")),
            None => run(&engine, &workflow(WORKFLOW), &begin).expect("it runs"),
        };
        assert!(matches!(standing, Standing::Waits { .. }), "{standing:?}: {:#?}", bench.lines());
        let message = match said {
            "go" => Message::Say { verb: "go".into(), inputs: IndexMap::default() },
            "stop" => Message::Stop { reason: "nobody wants it".into() },
            _ => continue,
        };
        engine
            .journal
            .post(&name, 0, &serde_json::to_string(&message).expect("a message"))
            .expect("it is left");
        let standing = engine.drive(&name, &Cancel::default()).expect("it goes on");
        assert!(matches!(standing, Standing::Over { .. }), "{standing:?}: {:#?}", bench.lines());
        bench.git(&["reset", "--quiet", "--hard", &first]);
        bench.git(&["clean", "--quiet", "--force", "-d"]);
    }
    besides(&bench, &asked);
    let last = bench.git(&["log", "--format=%H", "--reflog"]);
    let commits = last.lines().filter(|it| **it != *first);
    let mut same = vec![
        (bench.path().to_string_lossy().into_owned(), "/project".to_owned()),
        (first.clone(), "1".repeat(40)),
    ];
    for (commit, number) in commits.zip(2..) {
        let made_up = format!("{number:040}");
        same.extend([
            (commit.to_owned(), made_up.clone()),
            (commit[..10].to_owned(), made_up[30..].to_owned()),
        ]);
    }
    let replaced = |text: String| same.iter().fold(text, |text, (from, to)| text.replace(from.as_str(), to));
    let asked = std::mem::take(&mut *asked.lock().expect("what was asked"));
    let same_everywhere = |(at, asked): (u64, Asked)| match asked {
        Asked::Create(run) => Asked::Create(NewRun { at, ..run }),
        Asked::Append(batch) => {
            let events = batch.events.iter().cloned().map(untimed).collect::<Vec<_>>();
            let events = serde_json::to_string(&events).expect("events");
            let events = serde_json::from_str(&replaced(events)).expect("events");
            let snapshot = batch.snapshot.clone().map(replaced);
            for blob in &batch.blobs {
                assert!(
                    !String::from_utf8_lossy(blob).contains(&same[0].0),
                    "a place of this machine is in what is kept"
                );
            }
            Asked::Append(Batch { at, events, snapshot, ..batch })
        }
        Asked::Put(bytes) => Asked::Put(bytes),
    };
    (1_790_000_000_000..).zip(asked).map(same_everywhere).collect()
}

/// One in which somebody is heard before their turn.
fn besides(bench: &Bench, asked: &Arc<Mutex<Vec<Asked>>>) {
    let mut engine = bench.engine(&JUDGES);
    engine.journal = recording(Arc::clone(&engine.journal), asked);
    engine.holder = "sixth".into();
    engine.clock = ticking();
    engine.watch = InOrder::of(bench, &["audit", "review"]);
    let begin = Begin { subject: "sixth".into(), ..Begin::default() };
    let (_, standing) = run(&engine, &workflow(BESIDE), &begin).expect("it runs");
    assert!(matches!(standing, Standing::Over { .. }), "{standing:?}: {:#?}", bench.lines());
}

/// A coder that never comes back.
const IDLE: (&str, &str) = ("coder", "exec sleep 1000");

/// A run that somebody left when it was first at work.
fn left(mut engine: Engine, begin: &Begin) -> String {
    let cancel = Cancel::default();
    let begun = |it: &Event| matches!(it, Event::Issued { .. });
    engine.journal = Watched::leaving(&engine.journal, &cancel, When::After, begun);
    let driver = engine.begin(&workflow(WORKFLOW), begin, &cancel).expect("it begins");
    let name = driver.name().to_owned();
    let standing = driver.drive().expect("it can be left");
    assert!(matches!(standing, Standing::CalledOff { .. }), "{standing:?}");
    name
}

/// An event as if it had taken no time.
fn untimed(mut event: Event) -> Event {
    match &mut event {
        Event::Settled { evidence: Evidence::Out(outcome), .. } | Event::Heard { outcome, .. } => {
            outcome.cost.time = 0;
        }
        Event::PutOff { cost, .. } => cost.time = 0,
        _ => {}
    }
    event
}

/// Writes what was recorded to a new journal. Runs that take snapshots are longer than these: they take some early.
fn write(path: &Path, asked: Vec<Asked>) {
    let (_bench, engine) = reader(path);
    let journal = Arc::clone(&engine.journal);
    let mut leases = BTreeMap::new();
    let mut appended = 0;
    for asked in asked {
        match asked {
            Asked::Create(run) => {
                journal.create(&run).expect("a run");
                let lease = journal.lease(&run.name, "whoever recorded it", 0, 1).expect("a lease");
                leases.insert(run.name, lease);
            }
            Asked::Append(batch) => {
                let lease = leases[&batch.lease.run].clone();
                // Numbers of letters are those of another journal, where they were taken already.
                let batch = Batch { lease, taken: Vec::new(), ..batch };
                let after = journal.append(&batch).expect("events");
                appended += 1;
                if appended % 8 == 0 {
                    let (_, run) = engine.read(&batch.lease.run).expect("a run");
                    let snapshot = Some(serde_json::to_string(&run).expect("a run"));
                    let (events, blobs) = (Vec::new(), Vec::new());
                    journal.append(&Batch { after, events, blobs, snapshot, ..batch }).expect("a snapshot");
                }
            }
            Asked::Put(bytes) => drop(journal.put(&bytes).expect("bytes")),
        }
    }
    for lease in leases.values() {
        journal.release(lease).expect("a lease");
    }
}

/// An engine that reads a journal.
fn reader(journal: &Path) -> (Bench, Engine) {
    let bench = Bench::with(&[("test.sh", TEST)]);
    let mut engine = bench.engine(&AGENTS);
    engine.journal = Arc::new(Sqlite::open(journal).expect("the journal"));
    (bench, engine)
}

/// What a journal says: every run, as it stands and as it is shown.
fn told(journal: &Path) -> Value {
    let (_bench, engine) = reader(journal);
    let mut runs = engine.journal.runs().expect("runs");
    runs.sort_by_key(|it| it.run.at);
    let tell = |line: RunLine| {
        let (definition, run) = engine.read(&line.run.name).expect("a run");
        let events = engine.journal.events(&line.run.name, 0).expect("events");
        assert_eq!(events.len() as u64, line.last);
        json!({
            "name": line.run.name,
            "subject": line.run.subject,
            "parent": line.run.parent,
            "updated": line.updated,
            "stands": [line.stands.state, line.stands.status],
            "events": events.iter().map(|it| &it.event).collect::<Vec<_>>(),
            "run": run,
            "view": RunView::of(&definition.workflow, &run),
        })
    };
    Value::Array(runs.into_iter().map(tell).collect())
}

fn format_of(path: &Path) -> u32 {
    let connection = rusqlite::Connection::open(path).expect("the file");
    connection.pragma_query_value(None, "user_version", |it| it.get(0)).expect("a format")
}

#[test]
fn journals_of_every_version_replay_to_what_they_did() {
    let folder = tempfile::tempdir().expect("a folder");
    let fresh = folder.path().join("journal.db");
    drop(Sqlite::open(&fresh).expect("a journal"));
    let format = format_of(&fresh);
    let is_update = std::env::var_os("UPDATE_JOURNALS").is_some();
    let present = kept().join(format!("v{format}e{VERSION}"));
    if is_update && !present.exists() {
        std::fs::create_dir_all(&present).expect("a folder");
        write(&present.join("journal.db"), recorded());
    }
    let places = std::fs::read_dir(kept()).expect("journals").map(|it| it.expect("a folder").path());
    let places: Vec<PathBuf> = places.filter(|it| it.is_dir()).collect();
    assert!(places.contains(&present), "there is no journal of the present format and version");
    for place in places {
        let version = place.file_name().expect("a name").to_string_lossy().into_owned();
        // Opening it brings it up to date: not the one that is kept.
        let copy = folder.path().join(format!("{version}.db"));
        std::fs::copy(place.join("journal.db"), &copy).expect("a journal of each format is kept");
        assert!(version[1..].starts_with(&format_of(&copy).to_string()), "{version}");
        let replayed = told(&copy);
        assert_eq!(format_of(&copy), format, "it is brought up to date");
        let snapshots = "DELETE FROM snapshots";
        let removed =
            rusqlite::Connection::open(&copy).and_then(|it| it.execute(snapshots, [])).expect("a change");
        // Those of a format before do not say all that a run remembers now.
        assert!(removed > 0 || place != present, "there is no snapshot in it");
        assert!(told(&copy) == replayed, "{version} is another without its snapshots");
        let runs = place.join("runs.json");
        if is_update {
            let text = serde_json::to_string_pretty(&replayed).expect("a text");
            std::fs::write(&runs, text + "\n").expect("a file");
        }
        let wanted: Value =
            serde_json::from_slice(&std::fs::read(&runs).expect("what it replayed to")).expect("JSON");
        for (is, was) in replayed.as_array().expect("runs").iter().zip(wanted.as_array().expect("runs")) {
            assert_eq!(is, was, "{version}");
        }
        assert_eq!(replayed.as_array().map(Vec::len), wanted.as_array().map(Vec::len));
    }
}

#[test]
fn what_is_recorded_is_the_same_every_time() {
    let folder = tempfile::tempdir().expect("a folder");
    let [one, other] = ["one.db", "other.db"].map(|it| folder.path().join(it));
    write(&one, recorded());
    write(&other, recorded());
    assert_eq!(told(&one), told(&other));
}
