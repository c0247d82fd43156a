//! Somebody damages the journal while a run is driven.

use std::path::Path;

use loopwright_core::definition::Outcome as Ending;
use loopwright_core::machine::Event;
use loopwright_engine::journal::{Journal as _, Sqlite};
use loopwright_engine::process::Cancel;
use loopwright_engine::{Begin, EngineError, Standing};

use crate::bench::{Bench, workflow};

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

/// The first time it is called for more, it keeps a copy of the journal, and does something to it.
fn coder(damage: &str) -> String {
    format!(
        r#"
    cat > /dev/null
    git="$(git rev-parse --absolute-git-dir)"
    mkdir -p src
    echo "$LOOPWRIGHT_STATE" >> src/a
    if [ "$LOOPWRIGHT_STATE" = more ] && [ ! -e "$git/kept" ]; then
      mkdir "$git/kept"
      cd "$git/loopwright"
      cp journal.db journal.db-wal "$git/kept"
      {damage}
    fi
    exit 0
"#
    )
}

fn events(folder: &Path, run: &str) -> Result<Vec<Event>, String> {
    let journal = Sqlite::open(&folder.join("journal.db")).map_err(|it| it.to_string())?;
    let events = journal.events(run, 0).map_err(|it| it.to_string())?;
    Ok(events.into_iter().map(|it| it.event).collect())
}

/// Drives a run while its journal is damaged. It is noticed, in these words or when the run is next looked at; nothing that is
/// read is anything else than what was written; and with the copy the run goes on.
fn damaged(damage: &str) -> Vec<String> {
    let bench = Bench::with(&[("test.sh", "true\n")]);
    let script = coder(damage);
    let agents = [("coder", script.as_str())];
    let kept = bench.path().join(".git/loopwright");
    let engine = bench.engine(&agents);
    let begin = Begin { subject: "greet".into(), ..Begin::default() };
    let driver = engine.begin(&workflow(SIMPLE), &begin, &Cancel::default()).expect("it begins");
    let name = driver.name().to_owned();
    let driven = driver.drive();
    let mut told = Vec::new();
    match &driven {
        Ok(standing) => assert!(matches!(standing, Standing::Over { .. }), "{standing:?}"),
        Err(EngineError::Journal(error)) => told.push(error.to_string()),
        Err(error) => panic!("{error:?}"),
    }
    drop((driven, engine));
    let saved = bench.path().join(".git/kept");
    let before = events(&saved, &name).expect("the copy is whole");
    match events(&kept, &name) {
        // What is there is what was written: at least what was there before.
        Ok(events) => assert_eq!(events[..before.len()], before[..]),
        Err(error) => told.push(error),
    }
    for file in ["journal.db", "journal.db-wal", "journal.db-shm"] {
        let _ = std::fs::remove_file(kept.join(file));
        let _ = std::fs::copy(saved.join(file), kept.join(file));
    }
    let engine = bench.engine(&agents).after(60_000);
    let standing = engine.drive(&name, &Cancel::default()).expect("it goes on");
    let Standing::Over { ending, .. } = &standing else { panic!("{standing:?}") };
    assert_eq!(*ending, Some(Ending::Success), "{:#?}", bench.lines());
    told
}

#[test]
fn a_journal_that_is_cut_off_under_a_run_is_noticed() {
    let told = damaged(": > journal.db; : > journal.db-wal");
    assert!(told.iter().any(|it| it.contains("the journal is damaged")), "{told:#?}");
    assert!(told.iter().all(|it| it.contains("keep a copy") || it.contains("dmesg")), "{told:#?}");
    // What is not on the disk yet is still in what a process has open: nothing has to be lost by this one.
    damaged("truncate -s 4096 journal.db; rm journal.db-wal journal.db-shm");
}

#[test]
fn a_journal_whose_bits_are_flipped_under_a_run_is_noticed() {
    // Every byte after the first page, in both files.
    let flip = r#"for file in journal.db journal.db-wal; do
        head -c 4096 "$file" > whole; tail -c +4097 "$file" | tr '\000-\377' '\020-\377\000-\017' >> whole
        cat whole > "$file"; rm whole; done"#;
    let told = damaged(flip);
    assert!(!told.is_empty(), "nobody noticed");
    assert!(
        told.iter().all(|it| it.contains("the journal is damaged") && it.contains("keep a copy")),
        "{told:#?}"
    );
}

#[test]
fn a_journal_that_is_removed_under_a_run_is_noticed_before_anything_is_committed() {
    for way in ["rm journal.db journal.db-wal journal.db-shm", "cp journal.db other; mv other journal.db"] {
        let bench = Bench::with(&[("test.sh", "true\n")]);
        let script = coder(way);
        let engine = bench.engine(&[("coder", script.as_str())]);
        let begin = Begin { subject: "greet".into(), ..Begin::default() };
        let driver = engine.begin(&workflow(SIMPLE), &begin, &Cancel::default()).expect("it begins");
        let told = driver.drive().expect_err("it is noticed").to_string();
        assert!(told.contains("was removed or replaced while a run was at work"), "{way}: {told}");
        assert_eq!(bench.git(&["log", "--format=%s"]), "start", "{way}: nothing is committed");
    }
}
