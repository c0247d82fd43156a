//! Actions where they have no business: in an item, and without a repository.

use loopwright_core::machine::{Event, Evidence};

use crate::actions::start;
use crate::bench::{Bench, workflow};

const ITEM: &str = r#"
workflow: item
subject: thing
folder: "changes/{{subject}}"
documents:
  tasks: {file: tasks.yaml, as: yaml, shape: {items: [text]}}
defaults:
  failures: failed
states:
  all:
    each: {item: task, in: docs.tasks.items, run: task}
    on: {ended | empty: done, broken: failed}
  done: {end: success}
  failed: {end: failure}
children:
  task:
    defaults: {failures: broken}
    states:
      act: {do: [ACTION], then: ended}
      ended: {end: success}
      broken: {end: failure}
"#;

/// What was said of everything that failed, in all runs.
fn failures(bench: &Bench, text: &str) -> Vec<String> {
    let engine = bench.engine(&[]);
    let standing = start(&engine, &workflow(text)).drive().expect("it runs");
    assert_eq!(standing.run().at.state.to_string(), "failed");
    let mut said = Vec::new();
    for line in engine.journal.runs().expect("runs") {
        for stored in engine.journal.events(&line.run.name, 0).expect("events") {
            if let Event::Settled { evidence: Evidence::Out(outcome), .. } = stored.event
                && *outcome.signal == *"failed"
                && !outcome.summary.is_empty()
            {
                said.push(outcome.summary);
            }
        }
    }
    said
}

#[test]
fn an_item_does_not_move_its_run() {
    for (action, why) in [
        ("{branch: x, worktree: true}", "an item cannot go elsewhere"),
        ("{move: folder, to: archive}", "an item cannot move the folder"),
    ] {
        let bench = Bench::with(&[("tasks.yaml", "items: [a]\n"), ("changes/greet/x", "x\n")]);
        let said = failures(&bench, &ITEM.replace("ACTION", action));
        assert!(matches!(&*said, [it] if it.contains(why)), "{action}: {said:?}");
        assert_eq!(bench.read("changes/greet/x"), "x\n");
        assert!(!bench.around().join("repo-x").exists());
        assert_eq!(bench.git(&["branch", "--list"]), "* main");
    }
}

#[test]
fn an_item_works_where_its_run_went_and_does_not_drop_that() {
    let bench = Bench::with(&[("tasks.yaml", "items: [a]\n")]);
    let text = ITEM
        .replace("states:\n  all:", "states:\n  go: {do: [{branch: x, worktree: true}], then: all}\n  all:");
    let said = failures(&bench, &text.replace("ACTION", "{run: \"echo b > b\"}, {drop: x, if: always}"));
    assert!(matches!(&*said, [it] if it.contains("an item cannot drop")), "{said:?}");
    assert_eq!(bench.read("../repo-x/b"), "b\n");
    assert!(!bench.path().join("b").exists());
}

#[test]
fn without_a_repository_there_are_no_branches() {
    for action in ["{branch: x}", "{switch: x}", "{merge: x, into: y}", "{push: x}", "{drop: x}"] {
        let bench = Bench::with(&[("a", "a\n")]);
        std::fs::remove_dir_all(bench.path().join(".git")).expect("it is gone");
        let text = format!(
            "workflow: none\nsubject: thing\ndefaults: {{failures: failed}}\nstates:\n  act: {{do: [{action}], then: done}}\n  done: {{end: success}}\n  failed: {{end: failure}}\n"
        );
        let said = failures(&bench, &text);
        assert!(matches!(&*said, [it] if it.contains("no git repository")), "{action}: {said:?}");
        assert_eq!(bench.read("a"), "a\n");
    }
}
