//! Items side by side that ask: when one of them leads on, nobody waits for the others.

use loopwright_core::machine::Asked;
use loopwright_engine::process::Cancel;
use loopwright_engine::{Answered, Begin, Message, Standing};

use crate::bench::{Bench, run, workflow};

const WORKFLOW: &str = r#"
workflow: both
subject: thing
documents:
  list: {file: list.yaml, as: yaml, shape: {items: [{id: text}]}}
questions:
  go: {asks: "Go on with {{item.id}}?", answers: [yes, no]}
defaults: {lost | cancelled: stopped}
states:
  all: {each: {item: part, in: docs.list.items, run: kid, at-once: 2}, on: {done: done, stopped | empty: stopped}}
  done: {end: success}
  stopped: {end: stopped}
children:
  kid:
    states:
      ask-it: {ask: go, on: {yes: done, no | deferred: stopped}}
      done: {end: success}
      stopped: {end: stopped}
"#;

#[test]
fn what_was_asked_beside_it_is_on_record_as_nobodys_business_any_more() {
    let bench = Bench::with(&[("list.yaml", "items:\n  - id: a\n  - id: b\n")]);
    let engine = bench.engine(&[]);
    let (name, standing) =
        run(&engine, &workflow(WORKFLOW), &Begin { subject: "x".into(), ..Begin::default() }).expect("a run");
    assert!(matches!(standing, Standing::Waits { .. }), "{standing:?}");
    let no = Message::Answer(Answered { answer: "no".into(), ..Answered::default() });
    let letter = serde_json::to_string(&no).expect("a letter");
    engine.journal.post(&format!("{name}/all.1/b"), 0, &letter).expect("it is left");
    let standing = engine.take_up(&name, &Cancel::default()).expect("a driver").drive().expect("it drives");
    let Standing::Over { run, .. } = standing else { panic!("{standing:?}") };
    let decided: Vec<(&str, Asked, &str)> = run
        .decisions
        .iter()
        .map(|it| (it.item.as_deref().unwrap_or_default(), it.status, &*it.answer))
        .collect();
    assert_eq!(decided, [("b", Asked::Answered, "no"), ("a", Asked::Skipped, "")]);
    assert!(engine.read(&format!("{name}/all.1/a")).expect("the other one").1.is_over());
}
