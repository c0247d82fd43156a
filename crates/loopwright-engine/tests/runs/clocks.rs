//! Clocks that jump: forward by days under a run that is driven, and back to before it began.

use loopwright_core::definition::Outcome as Ending;
use loopwright_engine::journal::JournalError;
use loopwright_engine::process::Cancel;
use loopwright_engine::{EngineError, Message, Standing, this_process};

use crate::actions::start;
use crate::bench::{Bench, workflow};

const DAY: u64 = 24 * 60 * 60 * 1_000;

const RESTS: &str = r#"
workflow: rests
subject: thing
verbs: {go: {}}
budgets: {time: {limit: 2h, shared: true}}
documents: {code: {file: a}}
roles: {coder: {agent: coder, prompt: "Write.", may-write: [code]}}
defaults: {failures: failed}
states:
  rest: {rest: "It waits.", on: {verb go: write}}
  write: {agent: coder, then: done}
  done: {end: success}
  failed: {end: failure}
"#;

const CODER: (&str, &str) = ("coder", "cat > /dev/null; echo b > a");

#[test]
fn whoever_can_be_seen_to_drive_keeps_a_run_whatever_the_clock_says() {
    let bench = Bench::with(&[("a", "a\n")]);
    let mut engine = bench.engine(&[CODER]);
    engine.holder = this_process();
    let driver = start(&engine, &workflow(RESTS));
    let name = driver.name().to_owned();
    let later = bench.engine(&[CODER]).after(3 * DAY);
    let refused = later.drive(&name, &Cancel::default()).expect_err("it is driven");
    assert!(matches!(&refused, EngineError::Journal(JournalError::Held { .. })), "{refused}");
    assert_eq!(later.driven_by(&name).expect("a run"), Some(this_process()));
    // It still has it, and goes on.
    assert!(matches!(driver.drive().expect("it goes on"), Standing::Waits { .. }));
    assert_eq!(later.driven_by(&name).expect("a run"), None);
}

#[test]
fn a_clock_that_was_put_back_stops_nobody() {
    let bench = Bench::with(&[("a", "a\n")]);
    let ahead = bench.engine(&[CODER]).after(400 * DAY);
    let driver = start(&ahead, &workflow(RESTS));
    let name = driver.name().to_owned();
    driver.drive().expect("it waits");
    let now = bench.engine(&[CODER]);
    let go = Message::Say { verb: "go".into(), inputs: indexmap::IndexMap::default() };
    now.journal.post(&name, 0, &serde_json::to_string(&go).expect("a message")).expect("it is left");
    let standing = now.drive(&name, &Cancel::default()).expect("it goes on");
    let Standing::Over { ending, .. } = &standing else { panic!("{standing:?}") };
    // No time of its budget went by or came back with the clock.
    assert_eq!(*ending, Some(Ending::Success), "{:#?}", bench.lines());
    let (definition, _) = now.read(&name).expect("a run");
    assert!(now.account(&name, &definition).expect("an account").cost.time < DAY);
}
