//! Loops: items in order, side by side, each a run of its own.

use loopwright_core::machine::{Event, Evidence};
use loopwright_engine::process::Cancel;
use loopwright_engine::{Answered, Asking, Begin, Message, Standing};

use crate::bench::{Bench, run, workflow};

pub(crate) const LOOP: &str = r#"
workflow: several
subject: thing
documents:
  tasks: {file: tasks.yaml, as: yaml, shape: {items: [{id: text, title: text, depends: [text]}]}}
  part: {file: "out/{{item.id}}.txt"}
roles:
  writer: {agent: writer, prompt: "{{item.id}}: {{item.title}}", may-write: [part]}
questions:
  good: {asks: "Is {{item.id}} good?", answers: [yes, no]}
defaults:
  failures: failed
states:
  all: {each: {item: task, in: docs.tasks.items, order: depends, run: one}, on: {done: done, bad | unordered: failed}}
  done: {end: success}
  failed: {end: failure}
children:
  one:
    defaults: {failures: bad}
    states:
      write: {agent: writer, produces: [part], then: ask}
      ask: {ask: good, judges: part, on: {yes: done, no | deferred: bad}}
      done: {end: success, needs: [ask]}
      bad: {end: failure}
"#;

pub(crate) const TASKS: &str = "# what there is to do\nitems:\n  - {id: roof, title: A roof, depends: [walls]}\n  - {id: floor, title: A floor, depends: []}\n  - {id: walls, title: Walls, depends: [floor]}\n";

pub(crate) const WRITER: &str = r#"mkdir -p out; cat > "out/$LOOPWRIGHT_ITEM.txt"; echo "$LOOPWRIGHT_ITEM" >> "$(git rev-parse --git-dir)/order""#;

fn begin() -> Begin {
    Begin { subject: "house".into(), ..Begin::default() }
}

fn yes() -> Answered {
    Answered { answer: "yes".into(), ..Answered::default() }
}

#[test]
fn items_run_after_those_they_depend_on() {
    let bench = Bench::with(&[("tasks.yaml", TASKS)]);
    bench.answers.left.lock().expect("answers").extend([yes(), yes(), yes()]);
    let engine = bench.engine(&[("writer", WRITER)]);
    let (_, standing) = run(&engine, &workflow(LOOP), &begin()).expect("it runs");
    let Standing::Over { run, .. } = standing else { panic!("{standing:?}") };
    assert_eq!(&*run.at.state, "done", "{:#?}", bench.lines());
    assert_eq!(bench.read(".git/order"), "floor\nwalls\nroof\n");
    assert!(bench.read("out/roof.txt").starts_with("roof: A roof"), "{}", bench.read("out/roof.txt"));
}

#[test]
fn an_item_that_waits_lets_its_loop_wait_and_is_taken_up_again() {
    let bench = Bench::with(&[("tasks.yaml", TASKS)]);
    let engine = bench.engine(&[("writer", WRITER)]);
    let (name, mut standing) = run(&engine, &workflow(LOOP), &begin()).expect("it runs");
    for item in ["floor", "walls", "roof"] {
        let Standing::Waits { asking, .. } = &standing else { panic!("{standing:?}") };
        let Asking::Question(asked) = &**asking else { panic!("{asking:?}") };
        assert_eq!(asked.text, format!("Is {item} good?"));
        let body = serde_json::to_string(&Message::Answer(yes())).expect("a message");
        engine.journal.post(&asked.run, 0, &body).expect("it is left");
        standing = engine.drive(&name, &Cancel::default()).expect("it goes on");
    }
    let Standing::Over { run, .. } = standing else { panic!("{standing:?}") };
    assert_eq!(&*run.at.state, "done", "{:#?}", bench.lines());
    assert_eq!(bench.read(".git/order"), "floor\nwalls\nroof\n", "each was written once");
}

#[test]
fn items_in_a_circle_are_told_from_items_in_order() {
    let circle = TASKS.replace("title: A floor, depends: []", "title: A floor, depends: [roof]");
    let bench = Bench::with(&[("tasks.yaml", circle.as_str())]);
    let engine = bench.engine(&[("writer", WRITER)]);
    let (_, standing) = run(&engine, &workflow(LOOP), &begin()).expect("it runs");
    assert_eq!(&*standing.run().at.state, "failed");
    assert!(!bench.path().join(".git/order").exists(), "one was run");
}

#[test]
fn a_document_that_cannot_be_read_stops_the_run_where_it_is() {
    let broken = TASKS.replace("title: Walls", "title: 7");
    let bench = Bench::with(&[("tasks.yaml", broken.as_str())]);
    bench.answers.left.lock().expect("answers").extend([yes(), yes(), yes()]);
    let engine = bench.engine(&[("writer", WRITER)]);
    let driver = engine.begin(&workflow(LOOP), &begin(), &Cancel::default()).expect("it begins");
    let name = driver.name().to_owned();
    let error = driver.drive().expect_err("it cannot be read").to_string();
    assert!(error.contains("tasks.yaml") && error.contains("line 5") && error.contains("title"), "{error}");
    assert_eq!(bench.read("tasks.yaml"), broken, "the file is as it was");
    bench.write("tasks.yaml", TASKS);
    let standing = engine.drive(&name, &Cancel::default()).expect("it goes on");
    assert_eq!(&*standing.run().at.state, "done", "{:#?}", bench.lines());
}

/// Two items that are surely at work at the same time: each waits for the other at some point.
const TOGETHER: &str = r#"git=$(git rev-parse --git-dir); cat > /dev/null; mkdir -p out
case $LOOPWRIGHT_ITEM in
  floor) read -r _ < "$git/begun"; echo floor > out/floor.txt; echo stray > stray.txt; echo done > "$git/wrote" ;;
  roof) echo begun > "$git/begun"; read -r _ < "$git/wrote"; echo roof > out/roof.txt ;;
esac"#;

#[test]
fn items_side_by_side_leave_each_others_files_alone() {
    let bench = Bench::with(&[(
        "tasks.yaml",
        "items:\n  - {id: roof, title: A roof, depends: []}\n  - {id: floor, title: A floor, depends: []}\n",
    )]);
    for pipe in ["begun", "wrote"] {
        let made = std::process::Command::new("mkfifo").arg(bench.path().join(".git").join(pipe)).status();
        assert!(made.expect("mkfifo").success());
    }
    let text = LOOP
        .replace(
            "order: depends, run: one}, on: {done: done, bad | unordered: failed}",
            "at-once: 2, run: one}, on: {done: done, bad: failed}",
        )
        .replace("then: ask}", "then: done}")
        .replace("      ask: {ask: good, judges: part, on: {yes: done, no | deferred: bad}}\n", "")
        .replace(", needs: [ask]", "")
        .replace("questions:\n  good: {asks: \"Is {{item.id}} good?\", answers: [yes, no]}\n", "");
    let engine = bench.engine(&[("writer", TOGETHER)]);
    let driver = crate::actions::start(&engine, &workflow(&text));
    let name = driver.name().to_owned();
    driver.drive().expect("it runs");
    assert_eq!(bench.read("out/roof.txt"), "roof\n");
    assert_eq!(bench.read("out/floor.txt"), "floor\n");
    // What is nobody's is undone, by whoever looks first.
    assert!(!bench.path().join("stray.txt").exists());
    let ended =
        |item: &str| engine.read(&format!("{name}/all.1/{item}")).expect("a run").1.at.state.to_string();
    let mut ends = [ended("roof"), ended("floor")];
    ends.sort();
    assert!(ends.contains(&"bad".to_owned()), "{ends:?}");
}

#[test]
fn what_items_cost_is_taken_from_the_budget_around_them_once() {
    let bench = Bench::with(&[("tasks.yaml", TASKS)]);
    for _ in 0..3 {
        bench.answers.left.lock().expect("answers").push(yes());
    }
    let engine = bench.engine(&[("writer", WRITER)]);
    let limit: u64 = 60 * 60 * 1_000;
    let text = LOOP.replacen("documents:\n", "budgets: {time: {limit: 1h, shared: true}}\ndocuments:\n", 1);
    let (name, standing) = run(&engine, &workflow(&text), &begin()).expect("it runs");
    let of_items: u64 = engine
        .journal
        .runs()
        .expect("runs")
        .iter()
        .map(|line| {
            let events = engine.journal.events(&line.run.name, 0).expect("events");
            let costs = events.iter().map(|it| match &it.event {
                Event::Settled { evidence: Evidence::Out(it), .. } if line.run.parent.is_some() => {
                    it.cost.time
                }
                _ => 0,
            });
            costs.sum::<u64>()
        })
        .sum();
    assert!(of_items > 0, "{:#?}", bench.lines());
    assert_eq!(standing.run().left.get("time").copied(), Some(limit - of_items));
    let (definition, _) = engine.read(&name).expect("a run");
    assert_eq!(engine.account(&name, &definition).expect("an account").cost.time, of_items);
}
