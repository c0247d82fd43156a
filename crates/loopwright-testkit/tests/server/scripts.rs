//! What is a script and what is none.

use loopwright_testkit::{Act, Call, Failure, Http, Scripts, Step, Usage};
use serde_json::json;

#[test]
fn scripts_in_json_and_in_rust_are_the_same() {
    let read = Scripts::parse(
        r#"{
            "a": [
                {"shell": "ls"},
                {"write": ["a", "b"]},
                {"mcp": ["review", {"n": 1}], "usage": {"output": 9}},
                {"calls": [{"tool": ["Read", {}]}, {"shell": "pwd"}]},
                {"structured": {"x": null}},
                {"text": "Done."}
            ],
            "b": ["hang", {"stall": null, "times": 2}, {"http": {"status": 429, "retry-after": 7}}]
        }"#,
    );
    let usage = Usage { output: 9, ..Usage::default() };
    let made = Scripts::new()
        .with(
            "a",
            [
                Step::shell("ls"),
                Step::write("a", "b"),
                Step { usage, ..Step::mcp("review", json!({"n": 1})) },
                Step::calls([Call::Tool("Read".to_owned(), json!({})), Call::Shell("pwd".to_owned())]),
                Act::Structured(json!({"x": null})).into(),
                Step::text("Done."),
            ],
        )
        .with(
            "b",
            [
                Act::Fail(Failure::Hang).into(),
                Step { times: Some(2), ..Act::Fail(Failure::Stall).into() },
                Act::Fail(Failure::Http(Http { status: 429, retry_after: Some(7), ..Http::default() }))
                    .into(),
            ],
        );
    assert_eq!(read.unwrap(), made);
}

#[test]
fn what_is_no_step_is_said_so() {
    let cases = [
        ("3", "a step is an object"),
        ("{}", "a step has one act, not 0"),
        (r#"{"usage": {}}"#, "a step has one act, not 0"),
        (r#"{"text": "a", "shell": "b"}"#, "a step has one act, not 2: text, shell"),
        (r#"{"txt": "a"}"#, "`txt`: unknown variant"),
        (r#""sleep""#, "`sleep`: unknown variant"),
        (r#"{"text": 3}"#, "`text`: invalid type"),
        (r#"{"write": ["a"]}"#, "`write`: invalid length"),
        (r#"{"calls": []}"#, "`calls` is empty"),
        (r#"{"calls": ["hang"]}"#, "`calls`: unknown variant"),
        (r#"{"text": "a", "times": 1}"#, "`times` is only for steps that misbehave"),
        (r#"{"stall": null, "times": -1}"#, "`times`: invalid value"),
        (r#"{"text": "a", "usage": {"in": 1}}"#, "`usage`: unknown field"),
        (r#"{"http": {"status": 200}}"#, "`200` is no status of an error"),
        (r#"{"http": {"status": 1000}}"#, "`1000` is no status of an error"),
        (r#"{"http": {"body": "x"}}"#, "`http`: missing field `status`"),
        (r#"{"http": {"status": 429, "retry_after": 1}}"#, "`http`: unknown field `retry_after`"),
        (r#"{"http": {"status": 429, "headers": {"a b": "c"}}}"#, "`a b` is no header"),
        (r#"{"http": {"status": 429, "headers": {"a": "c\n"}}}"#, "`a` is no header"),
    ];
    for (step, wrong) in cases {
        let error = Scripts::parse(&format!(r#"{{"it": [{step}]}}"#)).unwrap_err().to_string();
        assert!(error.starts_with(wrong), "{step}: {error}");
    }
}
