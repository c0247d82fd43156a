//! What texts can name and do.

use loopwright_engine::Answered;

use crate::actions::start;
use crate::bench::{Bench, workflow};

/// A role that asks, a person who answers, a person who decides; and all of it in one text.
const TEXTS: &str = r#"
workflow: texts
subject: thing
inputs: {goal: {optional: true}}
documents:
  spec: {file: spec.md}
  read: {file: read.md, as: markdown}
  log: {file: log.md}
roles:
  asker: {agent: asker, prompt: "{{docs.spec}}|{{docs.read}}|{{note}}", given: [docs.spec, docs.read, maybe note], asks: true}
questions:
  ad-hoc: {asks: "It asks: {{question}}", answers: {answered: {note: required}}}
  ship: {asks: "Ship {{subject}}?", answers: [yes, no]}
defaults: {failures: failed}
states:
  work: {agent: asker, on: {done: decide, ASK: ask}}
  ask: {ask: ad-hoc, on: {answered: work, deferred: failed}}
  decide: {ask: ship, on: {yes: note, no | deferred: failed}}
  note:
    do:
      - {write: log, from: "{{question}} {{answer}} {{ {'a': subject, 'b': inputs.goal, 'c': '<&>'} | tojson }}\n{% for it in decisions %}{{it.state}}: {{it.question}} {{it.answer}} {{it.note}};{% endfor %}"}
    then: done
  done: {end: success}
  failed: {end: failure}
"#;

const ASKER: &str = r#"cat > ../told
    if grep -q '|blue' ../told; then printf '```json\n{"verdict": "done"}\n```\n'
    else printf '```json\n{"verdict": "ASK", "question": "Which colour?"}\n```\n'; fi"#;

#[test]
fn texts_name_questions_answers_and_decisions() {
    let bench = Bench::with(&[("spec.md", "all of the spec\n"), ("read.md", "# All\nof it\n")]);
    let answer =
        |word: &str, note: &str| Answered { answer: word.into(), note: note.into(), ..Answered::default() };
    bench.answers.left.lock().expect("answers").extend([answer("answered", "blue"), answer("yes", "")]);
    let engine = bench.engine(&[("asker", ASKER)]);
    let standing = start(&engine, &workflow(TEXTS)).drive().expect("it runs");
    assert_eq!(&*standing.run().at.state, "done", "{:?}", standing.run().cause);
    assert_eq!(*bench.answers.asked.lock().expect("questions"), ["It asks: Which colour?", "Ship greet?"]);
    assert_eq!(
        bench.read("log.md").trim_end(),
        "Ship greet? yes {\"a\":\"greet\",\"b\":null,\"c\":\"<&>\"}\n\
         ask: It asks: Which colour? answered blue;decide: Ship greet? yes ;"
    );
    let told = std::fs::read_to_string(bench.around().join("told")).expect("a prompt");
    assert!(told.starts_with("all of the spec\n|# All\nof it\n|"), "{told}");
}
