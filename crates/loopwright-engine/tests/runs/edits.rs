//! Documents that people edit while a run waits: it follows, or says why not and leaves the file alone.

use loopwright_core::machine::{Event, Run};
use loopwright_engine::process::Cancel;
use loopwright_engine::{Engine, Message, Standing};

use crate::actions::start;
use crate::bench::{Bench, workflow};

const EDITED: &str = r#"
workflow: edited
subject: thing
verbs: {go: {}, grow: {}}
vars: {mode: {in: [lean, full], start: lean}}
documents:
  state:
    file: STATE.yaml
    as: yaml
    owner: engine
    shows: {phase: "{{phase}}", mode: "{{mode}}", round: "{{round}}"}
    shape: {phase: text, mode: text, round: int}
  plan: {file: PLAN.md, as: markdown, shows: {front.phase: "{{phase}}"}, optional: true}
phases:
  planning: {at: plan, show: [plan, write]}
  building: {at: build, show: [build], settles: [look]}
  ended: {at: done, show: others}
roles:
  coder: {agent: coder, prompt: "Write.", may-write: [plan]}
defaults:
  failures: failed
states:
  plan: {rest: "Plan it.", on: {verb go: write, verb grow: {to: plan, set: {mode: full}}}}
  write: {agent: coder, then: look}
  look: {check: {run: "true"}, judges: plan, on: {pass: build, fail: failed}}
  build: {rest: "Build it.", on: {verb go: [{to: lean, when: {mode: lean}}, full]}}
  lean: {needs: [look], do: [{say: "lean"}], on: {done: done, stale: failed}}
  full: {needs: [look], do: [{say: "full"}], on: {done: done, stale: failed}}
  done: {end: success}
  failed: {end: failure}
"#;

const CODER: &str = "cat > /dev/null; printf -- '---\\nphase: ended\\n---\\n\\nThe plan.\\n' > PLAN.md";

/// A run that stands in `plan`, with the repository around it.
fn standing() -> (Bench, Engine, String) {
    let bench = Bench::with(&[("a", "a\n")]);
    let engine = bench.engine(&[("coder", CODER)]);
    let driver = start(&engine, &workflow(EDITED));
    let name = driver.name().to_owned();
    assert!(matches!(driver.drive().expect("it runs"), Standing::Waits { .. }));
    assert_eq!(bench.read("STATE.yaml"), "phase: planning\nmode: lean\nround: 1\n");
    (bench, engine, name)
}

fn go_on(engine: &Engine, name: &str) -> Result<Run, String> {
    engine.drive(name, &Cancel::default()).map(|it| it.run().clone()).map_err(|it| it.to_string())
}

fn say(engine: &Engine, name: &str, verb: &str) -> Run {
    let message = Message::Say { verb: verb.into(), inputs: indexmap::IndexMap::new() };
    let body = serde_json::to_string(&message).expect("a message");
    engine.journal.post(name, 0, &body).expect("it is posted");
    go_on(engine, name).expect("it goes on")
}

#[test]
fn a_run_follows_where_a_person_puts_it() {
    let (bench, engine, name) = standing();
    bench.write("PLAN.md", "By hand.\n");
    bench.write("STATE.yaml", "# mine\nphase: building\nmode: full\nround: 1\n");
    let run = go_on(&engine, &name).expect("it follows");
    assert_eq!(&*run.at.state, "build");
    assert_eq!(&*run.vars["mode"], "full");
    assert!(run.forced.iter().any(|it| **it == *"look"), "the landing vouches for the plan");
    assert_eq!(bench.read("STATE.yaml"), "# mine\nphase: building\nmode: full\nround: 1\n");
    let events = engine.journal.events(&name, 0).expect("events");
    assert!(
        events.iter().any(|it| matches!(&it.event, Event::Landed { phase, .. } if **phase == *"building"))
    );
    // What it vouched for counts until it is changed.
    let run = say(&engine, &name, "go");
    assert_eq!(&*run.at.state, "done", "{:?}", bench.lines());
    assert!(bench.lines().contains(&"said: full".to_owned()));
    assert_eq!(bench.read("STATE.yaml"), "# mine\nphase: ended\nmode: full\nround: 1\n");
}

#[test]
fn what_cannot_be_followed_stops_the_run_and_leaves_the_file() {
    for (text, says) in [
        (
            "phase: planing\nmode: lean\nround: 1\n",
            "STATE.yaml, line 1: `phase` was edited, and `planing` is no phase: it is one of `planning`, `building`, `ended`",
        ),
        (
            "phase: planning\nmode: thick\nround: 1\n",
            "STATE.yaml, line 2: `mode` was edited, and `thick` cannot be: it is one of `lean`, `full`",
        ),
        (
            "phase: planning\nmode: lean\nround: 7\n",
            "STATE.yaml, line 3: `round` was edited, and this only shows what the run is at",
        ),
        ("phase: [planning\nmode: lean\n", "STATE.yaml: line "),
    ] {
        let (bench, engine, name) = standing();
        bench.write("STATE.yaml", text);
        let why = go_on(&engine, &name).expect_err("it stops");
        assert!(why.contains(says), "{why}");
        assert!(
            why.contains("The file was left as it is") || why.contains("the file was left as it is"),
            "{why}"
        );
        assert_eq!(bench.read("STATE.yaml"), text);
        // Put right, it goes on as if nothing had been.
        bench.write("STATE.yaml", "phase: planning\nmode: lean\nround: 1\n");
        assert_eq!(&*go_on(&engine, &name).expect("it goes on").at.state, "plan");
    }
}

#[test]
fn two_documents_that_say_different_things_stop_it() {
    let (bench, engine, name) = standing();
    say(&engine, &name, "go");
    bench.write("PLAN.md", "---\nphase: ended\n---\n\nThe plan.\n");
    bench.write("STATE.yaml", "phase: planning\nmode: lean\nround: 1\n");
    let why = go_on(&engine, &name).expect_err("it stops");
    assert!(why.contains("PLAN.md, line 2: `front.phase` was edited, and `ended` stands here, and `planning` in STATE.yaml, line 1"), "{why}");
}

#[test]
fn an_edit_counts_before_what_is_said_after_it() {
    let (bench, engine, name) = standing();
    bench.write("PLAN.md", "By hand.\n");
    bench.write("STATE.yaml", "phase: building\nmode: lean\nround: 1\n");
    let run = say(&engine, &name, "go");
    assert_eq!(&*run.at.state, "done", "{:?}", bench.lines());
}

#[test]
fn an_agent_is_not_followed() {
    let (bench, engine, name) = standing();
    let run = say(&engine, &name, "go");
    // It wrote `ended` into the plan; the run stands where it is, and the plan says so.
    assert_eq!(&*run.at.state, "build", "{:?}", bench.lines());
    assert_eq!(bench.read("PLAN.md"), "---\nphase: building\n---\n\nThe plan.\n");
    assert_eq!(&*go_on(&engine, &name).expect("it waits").at.state, "build");
}

#[test]
fn what_is_gone_is_shown_again() {
    let (bench, engine, name) = standing();
    std::fs::remove_file(bench.path().join("STATE.yaml")).expect("gone");
    assert_eq!(&*go_on(&engine, &name).expect("it waits").at.state, "plan");
    assert_eq!(bench.read("STATE.yaml"), "phase: planning\nmode: lean\nround: 1\n");
}

/// A loop whose items show where they are.
const ITEMS: &str = r#"
workflow: items
subject: thing
verbs: {go: {}}
documents:
  state: {file: STATE.yaml, as: yaml, owner: engine, shows: {phase: "{{phase}}"}, shape: {phase: text}}
  list: {file: list.yaml, as: yaml, shape: {items: [{id: text}]}}
phases:
  early: {at: first, show: [first]}
  tasks: {at: each, show: [each]}
  waiting: {at: each, show: [task.wait]}
  ended: {at: done, show: others}
defaults: {failures: failed}
states:
  first: {rest: "First.", on: {verb go: each}}
  each: {each: {item: task, in: docs.list.items, run: task}, on: {ended: done, empty: failed}}
  done: {end: success}
  failed: {end: failure}
children:
  task:
    states:
      wait: {rest: "Wait.", on: {verb go: more}}
      more: {do: [{say: "more"}], on: {done: ended, failed | lost | cancelled: wait}}
      ended: {end: success}
"#;

#[test]
fn a_person_takes_a_run_out_of_its_items() {
    let bench = Bench::with(&[("list.yaml", "items: [{id: a}, {id: b}]\n")]);
    let engine = bench.engine(&[]);
    let driver = start(&engine, &workflow(ITEMS));
    let name = driver.name().to_owned();
    assert!(matches!(driver.drive().expect("it runs"), Standing::Waits { .. }));
    let run = say(&engine, &name, "go");
    assert_eq!(&*run.at.state, "each");
    assert_eq!(bench.read("STATE.yaml"), "phase: waiting\n");
    // Coming back to it changes nothing.
    go_on(&engine, &name).expect("it waits");
    assert_eq!(bench.read("STATE.yaml"), "phase: waiting\n");
    bench.write("STATE.yaml", "phase: early\n");
    assert_eq!(&*go_on(&engine, &name).expect("it follows").at.state, "first");
    assert_eq!(bench.read("STATE.yaml"), "phase: early\n");
    // The item's run is over, and others are begun when the loop is entered again.
    let item = engine.read(&format!("{name}/each.1/a")).expect("a run").1;
    assert!(item.is_over());
    say(&engine, &name, "go");
    assert!(!engine.read(&format!("{name}/each.2/a")).expect("a run").1.is_over());
    assert_eq!(bench.read("STATE.yaml"), "phase: waiting\n");
}
