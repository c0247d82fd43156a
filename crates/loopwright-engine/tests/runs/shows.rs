//! Fields that show where a run stands.

use loopwright_engine::Standing;
use loopwright_engine::process::Cancel;

use crate::actions::{die_everywhere, left, start};
use crate::bench::{Bench, workflow};

const SHOWS: &str = r#"
workflow: shows
subject: thing
budgets: {retries: {limit: 3, per: visit}}
documents:
  state: {file: STATE.yaml, as: yaml, owner: engine, shows: {phase: "{{phase}}", round: "{{round}}"}, shape: {phase: text, round: int}}
  plan: {file: PLAN.md, as: markdown, shows: {front.phase: "{{phase}}"}}
  seen: {files: ["seen/**"]}
phases:
  working: {at: first, show: [first, second, check, agent]}
  ended: {at: done, show: others}
roles:
  coder: {agent: coder, prompt: "Write.", may-write: [plan]}
defaults:
  lost: {to: again, spend: retries, else: failed}
  failures: failed
states:
  first: {do: [{run: "mkdir -p seen; cp STATE.yaml seen/first; cat PLAN.md > seen/plan 2>/dev/null || true", writes: [seen]}], then: agent}
  agent: {agent: coder, then: check}
  check:
    check: {run: "true"}
    judges: plan
    on: {pass: second, fail: failed}
  second:
    needs: [check]
    do: [{run: "cp PLAN.md seen/second", writes: [seen]}]
    then: done
  done: {end: success}
  failed: {end: failure}
"#;

const CODER: &str = "cat > /dev/null; printf 'The plan.\\n' > PLAN.md";

#[test]
fn documents_show_where_the_run_stands() {
    let bench = || Bench::with(&[("a", "a\n")]);
    let (_, left) = die_everywhere("showing", &workflow(SHOWS), &bench, &[("coder", CODER)]);
    let file = |path: &str| left.files.get(path).map(String::as_str);
    // Before anything reached outside it was there; what is not the engine's was not made.
    assert_eq!(file("seen/first"), Some("phase: working\nround: 1\n"), "{left:#?}");
    assert_eq!(file("seen/plan"), Some(""));
    assert_eq!(file("seen/second"), Some("---\nphase: working\n---\n\nThe plan.\n"));
    assert_eq!(file("STATE.yaml"), Some("phase: ended\nround: 1\n"));
    assert_eq!(file("PLAN.md"), Some("---\nphase: ended\n---\n\nThe plan.\n"));
}

#[test]
fn what_cannot_be_shown_is_said_and_the_run_goes_on() {
    let bench = Bench::with(&[("PLAN.md", "---\na: [\n---\n")]);
    let engine = bench.engine(&[("coder", "cat > /dev/null")]);
    let driver = start(&engine, &workflow(SHOWS));
    let name = driver.name().to_owned();
    let standing = driver.drive().expect("it runs");
    let left = left(&bench, &engine, &name, &standing);
    assert_eq!(left.files["PLAN.md"], "---\na: [\n---\n");
    assert_eq!(left.files["STATE.yaml"], "phase: ended\nround: 1\n");
    assert!(
        bench.lines().iter().any(|it| it.starts_with("said: `plan` does not show")),
        "{:#?}",
        bench.lines()
    );
}

#[test]
fn what_shows_the_same_is_not_written_again() {
    let bench = Bench::with(&[("PLAN.md", "x\n")]);
    let rests = SHOWS.replace("then: agent}", "then: rest}\n  rest: {rest: \"Wait.\", on: {verb go: agent}}");
    let rests = rests.replace("roles:", "verbs: {go: {}}\nroles:");
    let engine = bench.engine(&[("coder", CODER)]);
    let driver = start(&engine, &workflow(&rests));
    let name = driver.name().to_owned();
    assert!(matches!(driver.drive().expect("it runs"), Standing::Waits { .. }));
    let changed = || bench.path().join("STATE.yaml").metadata().and_then(|it| it.modified()).expect("a time");
    let before = changed();
    assert!(matches!(engine.drive(&name, &Cancel::default()).expect("it waits"), Standing::Waits { .. }));
    assert_eq!(changed(), before);
}

/// A gate judges a document in which the engine keeps fields; then a person, or an action, changes something else.
const GATE: &str = r#"
workflow: gate
subject: thing
budgets: {retries: {limit: 3, per: visit}}
documents:
  tasks: {file: tasks.yaml, as: yaml, shape: {status: text, items: [{id: text, done: text}]}, shows: {phase: "{{state}}"}}
  state: {file: STATE.yaml, as: yaml, owner: engine, shows: {phase: "{{phase}}"}}
phases:
  working: {at: judge, show: [judge, mark, each, look, commit]}
  ended: {at: done, show: [done, stale, failed]}
defaults:
  lost: {to: again, spend: retries, else: failed}
  failures: failed
states:
  judge: {check: {run: "true"}, judges: tasks, on: {pass: mark, fail: failed}}
  mark: {do: [{set: {tasks.status: marked}}, {append: one, to: tasks.log}], then: each}
  each:
    each: {item: task, in: docs.tasks.items, run: task}
    on: {ended | empty: look, broken: failed}
  look: {do: [{run: "CHANGE", writes: []}], then: commit}
  commit: {needs: [judge], do: [{commit: "tasks", what: tasks}], on: {done: done, stale: stale}}
  done: {end: success}
  stale: {end: failure}
  failed: {end: failure}
children:
  task:
    budgets: {retries: {limit: 3, per: visit}}
    defaults:
      lost: {to: again, spend: retries, else: broken}
      failures: broken
    states:
      mark: {do: [{set: {item.done: "yes"}}, {run: "cp STATE.yaml seen", writes: []}], then: ended}
      ended: {end: success}
      broken: {end: failure}
"#;

#[test]
fn what_the_engine_keeps_is_not_judged_and_all_else_is() {
    let tasks =
        "# by hand\nstatus: open\nitems:\n  - {id: a, done: no}\n  - id: b # the other\n    done: no\n";
    for (change, end) in [
        ("true", "done"),
        ("sed -i s/hand/foot/ tasks.yaml", "stale"),
        ("sed -i 's/id: b/id: c/' tasks.yaml", "stale"),
    ] {
        let bench = Bench::with(&[("tasks.yaml", tasks)]);
        let engine = bench.engine(&[]);
        let driver = start(&engine, &workflow(&GATE.replace("CHANGE", change)));
        let standing = driver.drive().expect("it runs");
        assert_eq!(standing.run().at.state.to_string(), end, "{change}: {}", bench.read("tasks.yaml"));
        // The item is in no row: it keeps what was shown.
        assert_eq!(bench.read("seen"), "phase: working\n");
        assert_eq!(bench.read("STATE.yaml"), "phase: ended\n");
        assert!(bench.read("tasks.yaml").contains("done: \"yes\""), "{}", bench.read("tasks.yaml"));
    }
}
