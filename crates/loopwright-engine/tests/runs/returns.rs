//! What comes with a verdict: held against its schema, and read by whoever comes after.

use loopwright_core::language::Folder;

use crate::actions::start;
use crate::bench::{Bench, workflow};

/// A judge that hands something in, a fact and a text over it, and a worker that is told of it.
const RETURNING: &str = r#"
workflow: returning
subject: thing
documents: {report: {file: report.md}}
roles:
  judge: {agent: judge, prompt: "Judge.", verdicts: {GOOD: {ui: [yes, no]}, BAD: {}}, asks: true, returns: schemas/bugs.json}
  coder: {agent: coder, prompt: "Mend{% for it in last.judge.bugs %} {{it.id}}{% endfor %}.", given: [maybe last.judge], may-write: [report]}
facts:
  amount: {in: [none, some], is: "has(last.judge.bugs) && last.judge.bugs.size() > 0 ? 'some' : 'none'"}
defaults: {failures: failed}
states:
  look: {choose: [{when: {amount: none}, to: judge}, {to: failed}]}
  judge: {agent: judge, on: {GOOD | BAD: weigh, ASK: asked, malformed: malformed}}
  weigh: {choose: [{when: {amount: some}, to: mend}, {to: note}]}
  mend: {agent: coder, then: note}
  note: {do: [{write: report, from: "{{last.judge.signal}} {{last.judge.bugs | length}} {{last.judge.deep.n}}"}], then: done}
  done: {end: success}
  malformed: {end: stopped}
  asked: {end: refused}
  failed: {end: failure}
"#;

const SCHEMA: &str = r##"{
  "type": "object", "required": ["bugs"], "additionalProperties": false,
  "properties": {
    "bugs": {"type": "array", "items": {"$ref": "#/$defs/bug"}},
    "deep": {"properties": {"n": {"type": "integer"}}}
  },
  "$defs": {"bug": {"type": "object", "required": ["id"], "properties": {"id": {"pattern": "^[a-z]+$"}}}}
}"##;

fn folder(text: &str) -> Folder {
    let mut folder = workflow(text);
    folder.files.insert("schemas/bugs.json".to_owned(), SCHEMA.as_bytes().to_vec());
    folder
}

/// What the judge answers; where that leads; what is said of it, or what the report says.
const CASES: &[(&str, &str, &str)] = &[
    (r#"{"verdict": "BAD", "bugs": []}"#, "done", "BAD 0 "),
    (
        r#"{"verdict": "GOOD", "ui": "no", "bugs": [{"id": "a"}, {"id": "b"}], "deep": {"n": 7}}"#,
        "done",
        "GOOD 2 7",
    ),
    // What an outcome has of its own is not for an agent to say.
    (r#"{"verdict": "BAD", "summary": "s", "bugs": [], "signal": "GOOD"}"#, "done", "BAD 0 "),
    (r#"{"verdict": "ASK", "question": "Which?"}"#, "asked", ""),
    (
        r#"{"verdict": "BAD"}"#,
        "malformed",
        "what came with the verdict does not fit `schemas/bugs.json`: it lacks `bugs`",
    ),
    (
        r#"{"verdict": "BAD", "bugs": [{"id": "a"}, {"id": "B"}], "deep": {"n": 1.5}}"#,
        "malformed",
        "`bugs.1.id` is `B`, which does not match `^[a-z]+$`; `deep.n` is `1.5`, and should be a whole number",
    ),
    (r#"{"verdict": "BAD", "bugs": [], "more": 1}"#, "malformed", "`more` may not be there"),
    // A field belongs to its verdict, not to what comes with every verdict.
    (r#"{"verdict": "BAD", "bugs": [], "ui": "no"}"#, "malformed", "`ui` may not be there"),
    (r#"{"verdict": "GOOD", "bugs": []}"#, "malformed", "`GOOD` comes with `ui`"),
];

#[test]
fn what_comes_with_a_verdict_fits_its_schema_or_is_malformed() {
    for (answer, end, said) in CASES {
        let bench = Bench::with(&[("a", "a\n")]);
        let judge = format!("cat > ../judge; printf '```json\\n%s\\n```\\n' '{answer}'");
        let engine = bench.engine(&[("judge", &judge), ("coder", "cat > ../coder; echo done")]);
        let driver = start(&engine, &folder(RETURNING));
        let name = driver.name().to_owned();
        let standing = driver.drive().expect("it runs");
        let run = standing.run();
        assert_eq!(&*run.at.state, *end, "{answer}: {:?}", run.cause);
        let told = std::fs::read_to_string(bench.around().join("judge")).expect("a prompt");
        assert!(told.contains("JSON Schema `schemas/bugs.json`") && told.contains("\"^[a-z]+$\""), "{told}");
        match *end {
            "done" => assert_eq!(bench.read("report.md").trim_end_matches('\n'), *said, "{answer}"),
            "malformed" => {
                let summary = run.last.get("judge").map(|it| it.summary.clone()).unwrap_or_default();
                assert!(summary.contains(said), "{answer}: {summary}");
            }
            _ => {}
        }
        if answer.contains(r#""id": "b""#) {
            let told = std::fs::read_to_string(bench.around().join("coder")).expect("a prompt");
            assert!(told.starts_with("Mend a b."), "{told}");
        }
        // Read again from its journal, the run is the same.
        let (_, again) = engine.read(&name).expect("a run");
        assert_eq!(again.last, run.last, "{answer}");
    }
}

/// A call that says for itself what comes with its verdict.
#[test]
fn a_call_may_hand_in_something_of_its_own() {
    let text = RETURNING.replace(", asks: true, returns: schemas/bugs.json", "").replace(
        "{agent: judge, on: {GOOD | BAD: weigh, ASK: asked,",
        "{agent: judge, returns: schemas/bugs.json, on: {GOOD | BAD: weigh,",
    );
    let text = text.replace("  asked: {end: refused}\n", "");
    for (answer, end) in
        [(r#"{"verdict": "BAD", "bugs": []}"#, "done"), (r#"{"verdict": "BAD"}"#, "malformed")]
    {
        let bench = Bench::with(&[("a", "a\n")]);
        let judge = format!("cat > /dev/null; printf '```json\\n%s\\n```\\n' '{answer}'");
        let engine = bench.engine(&[("judge", &judge), ("coder", "cat > /dev/null")]);
        let standing = start(&engine, &folder(&text)).drive().expect("it runs");
        assert_eq!(&*standing.run().at.state, end, "{answer}");
    }
}
