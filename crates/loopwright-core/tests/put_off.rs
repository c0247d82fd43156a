//! Work that came to nothing for a reason outside it is due again, as if it had not been begun.
#![expect(clippy::expect_used, reason = "these are tests")]

use std::collections::BTreeMap;

use loopwright_core::definition::Workflow;
use loopwright_core::language::{Folder, load};
use loopwright_core::machine::{Cost, Event, Impossible, Run, Started, advance, begin, due};

const WORKFLOW: &str = r#"
workflow: strict
subject: thing
budgets: {hours: {limit: 2h, shared: true}, tries: {limit: 1, per: visit}}
documents: {code: {file: a}}
roles: {coder: {agent: coder, prompt: "Write.", may-write: [code]}}
defaults: {over-budget: spent, lost: {to: again, spend: tries, else: failed}, failures: failed}
states:
  write: {agent: coder, then: done}
  done: {end: success}
  spent: {end: stopped}
  failed: {end: failure}
"#;

fn workflow() -> Workflow {
    let files = BTreeMap::from([("workflow.yaml".to_owned(), WORKFLOW.as_bytes().to_vec())]);
    let loaded = load(&Folder { name: "strict".into(), files });
    assert!(loaded.problems.is_empty(), "{:?}", loaded.problems);
    loaded.workflow.expect("a workflow")
}

fn begun(workflow: &Workflow) -> Run {
    let started = Started { definition: workflow.digest.clone(), subject: "it".into(), ..Started::default() };
    begin(workflow, &started).expect("a run")
}

fn issued(workflow: &Workflow, run: &Run) -> Run {
    let effect = due(workflow, run).remove(0);
    let event = Event::Issued { effect: effect.id, attempt: effect.attempt, values: serde_json::Value::Null };
    advance(workflow, run, &event).expect("it is begun")
}

fn put_off(workflow: &Workflow, run: &Run, hours: u64, until: Option<u64>) -> Result<Run, Impossible> {
    let effect = due(workflow, run).remove(0).id;
    let cost = Cost { time: hours * 3_600_000, ..Cost::default() };
    let why = "the run was left".into();
    advance(workflow, run, &Event::PutOff { effect, why, until, cost, kept: indexmap::IndexMap::new() })
}

#[test]
fn it_is_due_again_as_the_same_try_and_nothing_is_spent() {
    let workflow = workflow();
    let run = begun(&workflow);
    let mut again = run.clone();
    for until in [None, Some(5), None, Some(7)] {
        again = put_off(&workflow, &issued(&workflow, &again), 0, until).expect("it is put off");
        assert_eq!(due(&workflow, &again), due(&workflow, &run));
        assert_eq!((&again.left, &again.spent), (&run.left, &run.spent));
        assert_eq!(again.at.until, until);
    }
    // Begun, it waits for nothing any more.
    assert_eq!(issued(&workflow, &again).at.until, None);
}

#[test]
fn what_was_not_begun_cannot_be_put_off() {
    let workflow = workflow();
    let run = begun(&workflow);
    put_off(&workflow, &run, 0, None).expect_err("nobody began it");
    let once = put_off(&workflow, &issued(&workflow, &run), 0, None).expect("it is put off");
    put_off(&workflow, &once, 0, None).expect_err("nobody began it again");
}

#[test]
fn what_it_cost_counts_and_what_is_used_up_is_not_there_for_another_call() {
    let workflow = workflow();
    let run = issued(&workflow, &begun(&workflow));
    let run = put_off(&workflow, &run, 1, None).expect("it is put off");
    assert_eq!(&*run.at.state, "write");
    assert_eq!(run.left["hours"], 3_600_000);
    let run = put_off(&workflow, &issued(&workflow, &run), 1, None).expect("it is put off");
    assert_eq!(&*run.at.state, "spent");
    assert!(run.is_over());
}
