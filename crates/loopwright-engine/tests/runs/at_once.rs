//! Calls for items, side by side in one working tree: at work at the same time, and what came of each is taken in.

use loopwright_core::machine::{Event, Evidence};
use loopwright_engine::process::Cancel;
use loopwright_engine::{Begin, Standing};

use crate::bench::{Bench, run, workflow};

const PAGES: &str = r#"
workflow: pages
subject: thing
documents:
  list: {file: list.yaml, as: yaml, shape: {items: [{id: text}]}}
  page: {file: "out/{{item.id}}.txt"}
roles:
  writer: {agent: writer, prompt: "Write {{item.id}}.", may-write: [page], timeout: 1m, idle: 1m}
states:
  all:
    each: {item: part, in: docs.list.items, at-once: 2, run: {agent: writer, produces: [page]}}
    on: {done: done, empty | failures: failed}
  done: {end: success}
  failed: {end: failure}
"#;

const LIST: &str = "items:\n  - id: a\n  - id: b\n  - id: c\n";

/// Pipes that items meet at: whoever reads one waits for whoever writes to it.
fn pipes(bench: &Bench, names: &[&str]) {
    for name in names {
        let made = std::process::Command::new("mkfifo").arg(bench.path().join(".git").join(name)).status();
        assert!(made.expect("mkfifo").success());
    }
}

/// Writes the page of its item, once it met whom it has to meet.
fn writer(meets: &str) -> String {
    format!(
        "git=$(git rev-parse --git-dir); cat > /dev/null; mkdir -p out\ncase $LOOPWRIGHT_ITEM in\n{meets}\nesac\n\
         echo \"$LOOPWRIGHT_ITEM\" >> \"$git/called\"; echo page > \"out/$LOOPWRIGHT_ITEM.txt\""
    )
}

fn begin() -> Begin {
    Begin { subject: "house".into(), ..Begin::default() }
}

fn ended(standing: &Standing) -> &str {
    &standing.run().at.state
}

/// What came of items, in the order it was written down.
fn came(engine: &loopwright_engine::Engine, name: &str) -> Vec<String> {
    let events = engine.journal.events(name, 0).expect("events");
    let came = events.into_iter().filter_map(|it| match it.event {
        Event::Settled { effect, evidence: Evidence::Out(it) } => Some(format!("{effect} {}", it.signal)),
        Event::PutOff { effect, .. } => Some(format!("{effect} put off")),
        _ => None,
    });
    came.collect()
}

#[test]
fn items_are_at_work_at_the_same_time_and_where_one_ends_the_next_begins() {
    let bench = Bench::with(&[("list.yaml", LIST)]);
    pipes(&bench, &["b-begun", "c-begun"]);
    // The first is not over before the third began, which is begun once the second is over.
    let meets = "a) read -r _ < $git/b-begun; read -r _ < $git/c-begun ;;\nb) echo > $git/b-begun ;;\n\
                 c) echo > $git/c-begun ;;";
    let engine = bench.engine(&[("writer", &writer(meets))]);
    let (name, standing) = run(&engine, &workflow(PAGES), &begin()).expect("it runs");
    assert_eq!(ended(&standing), "done", "{:#?}", bench.lines());
    let mut came = came(&engine, &name);
    assert_eq!(came.remove(0), "all.1/b done");
    came.sort();
    assert_eq!(came, ["all.1/a done", "all.1/c done"]);
    let (_, read) = engine.read(&name).expect("a run");
    assert_eq!(read.calls.get("writer").copied(), Some(3), "and it reads as it was driven");
}

#[test]
fn one_that_fails_stops_the_loop_once_those_beside_it_are_over() {
    let bench = Bench::with(&[("list.yaml", LIST)]);
    pipes(&bench, &["b-over"]);
    let engine = bench.engine(&[("writer", &writer("a) read -r _ < $git/b-over ;;\nb) exit 7 ;;"))]);
    let driver = engine.begin(&workflow(PAGES), &begin(), &Cancel::default()).expect("it begins");
    let name = driver.name().to_owned();
    let standing = std::thread::scope(|scope| {
        let driven = scope.spawn(|| driver.drive().expect("it runs"));
        // The first one goes on once it is on record that the second one failed.
        while !bench.lines().contains(&"all.1/b crashed".to_owned()) {
            std::thread::yield_now();
        }
        std::fs::write(bench.path().join(".git/b-over"), "\n").expect("somebody at work");
        driven.join().expect("a driver")
    });
    assert_eq!(ended(&standing), "failed");
    let mut came = came(&engine, &name);
    came.sort();
    assert_eq!(came, ["all.1/a done", "all.1/b crashed"], "the third was not begun");
    assert_eq!(bench.read("out/a.txt"), "page\n");
}

#[test]
fn what_one_may_not_write_is_undone_and_the_others_are_left_alone() {
    let bench = Bench::with(&[("list.yaml", "items:\n  - id: a\n  - id: b\n")]);
    pipes(&bench, &["a-wrote", "b-over"]);
    let meets = "a) echo half > out/a.txt; echo > $git/a-wrote; read -r _ < $git/b-over ;;\n\
                 b) read -r _ < $git/a-wrote; echo stray > stray.txt; echo mine > out/b.txt; echo > $git/b-over ;;";
    let engine = bench.engine(&[("writer", &writer(meets))]);
    let (name, standing) = run(&engine, &workflow(PAGES), &begin()).expect("it runs");
    assert_eq!(ended(&standing), "failed");
    assert!(!bench.path().join("stray.txt").exists());
    assert_eq!(bench.read("out/a.txt"), "page\n");
    assert_eq!(bench.read("out/b.txt"), "page\n");
    assert!(came(&engine, &name).iter().any(|it| it.ends_with("out-of-bounds")));
}

#[test]
fn left_while_two_are_at_work_both_are_begun_anew_and_those_that_are_done_are_not() {
    let bench = Bench::with(&[("list.yaml", LIST)]);
    pipes(&bench, &["b-begun", "c-begun", "never"]);
    let git = bench.path().join(".git");
    // The second and the third say that they are at work, and then wait for nobody who ever comes, unless they are told.
    let meets = "a) ;;\nb) test -e $git/go || { echo > $git/b-begun; read -r _ < $git/never; } ;;\n\
                 c) test -e $git/go || { echo > $git/c-begun; read -r _ < $git/never; } ;;";
    let engine = bench.engine(&[("writer", &writer(meets))]);
    let cancel = Cancel::default();
    let driver = engine.begin(&workflow(PAGES), &begin(), &cancel).expect("it begins");
    let name = driver.name().to_owned();
    let standing = std::thread::scope(|scope| {
        let driven = scope.spawn(|| driver.drive().expect("it is left"));
        // All that two say who are at work at the same time is heard; then the run is left.
        for begun in ["b-begun", "c-begun"] {
            std::fs::read(git.join(begun)).expect("somebody at work");
        }
        cancel.call_off();
        driven.join().expect("a driver")
    });
    assert!(matches!(standing, Standing::CalledOff { .. }), "{standing:?}");
    let mut before = came(&engine, &name);
    before.sort();
    assert_eq!(before, ["all.1/a done", "all.1/b put off", "all.1/c put off"]);
    std::fs::write(git.join("go"), "").expect("a file");
    let standing = engine.drive(&name, &Cancel::default()).expect("it goes on");
    assert_eq!(ended(&standing), "done", "{:#?}", bench.lines());
    let mut called: Vec<String> = bench.read(".git/called").lines().map(str::to_owned).collect();
    called.sort();
    assert_eq!(called, ["a", "b", "c"]);
}
