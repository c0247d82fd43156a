//! Who does the work of a role: the first that is wanted and there, the next where that one has no more to give, or
//! somebody who stands in.

use loopwright_engine::agents::Wish;
use loopwright_engine::{Begin, Engine};

use crate::bench::{Bench, run, workflow};

const WORKFLOW: &str = r#"
workflow: crewed
subject: thing
documents: {code: {files: ["src/**"]}}
roles:
  coder: {agent: [first, second], prompt: "Write.", may-write: [code]}
  judge: {agent: first, prompt: "Judge.", verdicts: [GOOD, BAD]}
states:
  write: {agent: coder, then: judge, on: {failures: failed}}
  judge: {review: judge, on: {GOOD: done, BAD: failed, failures: failed}}
  done: {end: success}
  failed: {end: failure}
"#;

const WRITES: &str = "cat > /dev/null; case $LOOPWRIGHT_ROLE in coder) echo x > src/WHO;; esac";
const GOOD: &str = r#"; case $LOOPWRIGHT_ROLE in judge) printf '```json\n{"verdict": "GOOD"}\n```\n';; esac"#;

fn engine(bench: &Bench, agents: &[(&str, &str)]) -> Engine {
    let scripts: Vec<(&str, String)> = agents
        .iter()
        .map(|(name, script)| (*name, format!("{}{GOOD}", script.replace("WHO", name))))
        .collect();
    let scripts: Vec<(&str, &str)> = scripts.iter().map(|(name, it)| (*name, it.as_str())).collect();
    bench.engine(&scripts)
}

fn worked(bench: &Bench) -> Vec<&'static str> {
    ["first", "second", "third"].into_iter().filter(|it| bench.path().join("src").join(it).exists()).collect()
}

fn drive(bench: &Bench, engine: &Engine) -> String {
    std::fs::create_dir_all(bench.path().join("src")).expect("a folder");
    let begin = Begin { subject: "it".into(), ..Begin::default() };
    match run(engine, &workflow(WORKFLOW), &begin) {
        Ok((_, standing)) => standing.run().at.state.to_string(),
        Err(error) => error.to_string(),
    }
}

#[test]
fn the_first_that_is_wanted_and_there_does_the_work() {
    let bench = Bench::with(&[("a", "a\n")]);
    let mut engine = engine(&bench, &[("second", WRITES), ("third", WRITES)]);
    engine.crew.spare = vec!["third".into(), "second".into()];
    engine.crew.usual = vec!["first".into()];
    // For the judge nobody is there who was wanted; one who may stands in, and both are said.
    assert_eq!(drive(&bench, &engine), "done", "{:?}", bench.lines());
    assert_eq!(worked(&bench), ["second"]);
    let said = bench.lines().join("\n");
    assert!(said.contains("`third` stands in for `first` as `judge`"), "{said}");
}

#[test]
fn where_nobody_can_it_is_said_what_is_missing_of_those_that_somebody_configured() {
    let bench = Bench::with(&[("a", "a\n")]);
    let mut engine = bench.engine(&[]);
    for name in ["second", "mine", "known"] {
        let command = vec!["no-such-program".to_owned(), "x".to_owned()];
        let agent = loopwright_engine::agents::CommandAgent { command };
        engine.crew.agents.insert(name.into(), std::sync::Arc::new(agent));
    }
    engine.crew.spare = vec!["known".into(), "second".into(), "mine".into()];
    engine.crew.usual = vec!["first".into(), "second".into(), "known".into()];
    let why = drive(&bench, &engine);
    assert!(why.contains("there is no agent `first`; `second`: "), "{why}");
    assert!(why.contains("; `mine`: ") && !why.contains("`known`"), "{why}");
    assert!(why.contains("`no-such-program`"), "{why}");
}

#[test]
fn what_somebody_wants_goes_before_what_the_workflow_does() {
    let bench = Bench::with(&[("a", "a\n")]);
    let mut engine = engine(&bench, &[("first", "cat > /dev/null"), ("second", WRITES), ("third", WRITES)]);
    let wish =
        |agents: &[&str]| Wish { agents: agents.iter().map(|it| (*it).into()).collect(), ..Wish::default() };
    engine.crew.wishes.insert("coder".to_owned(), wish(&["second"]));
    engine.crew.wishes.insert("crewed.coder".to_owned(), wish(&["third"]));
    assert_eq!(drive(&bench, &engine), "done");
    assert_eq!(worked(&bench), ["third"]);
}

#[test]
fn where_one_has_no_more_to_give_the_next_goes_on() {
    let bench = Bench::with(&[("a", "a\n")]);
    let limited = "cat > /dev/null; case $LOOPWRIGHT_ROLE in coder) echo 3600 >&2; exit 75;; esac";
    let engine = engine(&bench, &[("first", limited), ("second", WRITES)]);
    assert_eq!(drive(&bench, &engine), "done", "{:?}", bench.lines());
    assert_eq!(worked(&bench), ["second"]);
}

#[test]
fn judge_and_worker_being_the_same_is_said() {
    let bench = Bench::with(&[("a", "a\n")]);
    let engine = engine(&bench, &[("first", WRITES)]);
    drive(&bench, &engine);
    let said = bench.lines().join("\n");
    assert!(said.contains("judge and worker are the same"), "{said}");
}

#[test]
fn with_nobody_for_a_role_nothing_is_begun() {
    let bench = Bench::with(&[("a", "a\n")]);
    let engine = engine(&bench, &[("second", WRITES)]);
    let mut engine = engine;
    engine.crew.spare = vec!["second".into()];
    let said = drive(&bench, &engine);
    assert!(said.contains("nobody can be the `judge` of `crewed`: there is no agent `first`"), "{said}");
    assert_eq!(engine.journal.runs().expect("runs"), []);
}
