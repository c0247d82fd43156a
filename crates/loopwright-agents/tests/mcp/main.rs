//! The face, as an agent meets it: a process spoken to line by line, with a desk behind it.
#![expect(clippy::unwrap_used, clippy::panic, reason = "these are tests")]

mod desk;
mod face;

use serde_json::{Value, json};

use desk::{Desk, Reply};
use face::{Face, text};

/// A desk as the engine keeps it: it offers a tool that takes a verdict, and one that only reads.
fn reviewing(request: &Value) -> Reply {
    if request["token"] != "right" {
        return Reply::Line(json!({ "error": "nobody here goes by that token" }).to_string());
    }
    if request["want"] == "tools" {
        return Reply::Line(
            json!({
                "tools": [
                    { "name": "create_review", "description": "Gives the review.", "input": schema(), "reads-only": false },
                    { "name": "read_task", "description": "Says the task.", "input": null, "reads-only": true },
                ],
                "instructions": "Give one review, then stop.",
            })
            .to_string(),
        );
    }
    let reply = match request["arguments"]["verdict"].as_str() {
        Some("pass" | "fail") => json!({ "text": "taken", "refused": false }),
        _ => json!({ "text": "`verdict` is `pass` or `fail`", "refused": true }),
    };
    Reply::Line(reply.to_string())
}

fn schema() -> Value {
    json!({ "type": "object", "properties": { "verdict": { "type": "string" } }, "required": ["verdict"] })
}

fn over(text: &str) -> bool {
    text.contains("call is over") && text.contains("nothing was taken")
}

#[test]
fn every_version_of_the_protocol_comes_to_the_same_review() {
    // The first that was, the last that begins with `initialize`, and the one after, which begins with nothing. Whoever
    // names the latter in `initialize` all the same is offered the former.
    for (asked, agreed) in [
        ("2024-11-05", "2024-11-05"),
        ("2025-06-18", "2025-06-18"),
        ("2025-11-25", "2025-11-25"),
        ("2026-07-28", "2025-11-25"),
        ("discover", "2026-07-28"),
    ] {
        let desk = Desk::open(reviewing);
        let mut face = Face::start(&desk, "right");
        let begun = if asked == "discover" { face.discover(agreed) } else { face.initialize(asked) };
        assert_eq!(begun["instructions"], "Give one review, then stop.", "{asked}");
        if asked != "discover" {
            assert_eq!(begun["protocolVersion"], agreed, "{asked}");
        }

        let tools = face.ask("tools/list", json!({}))["result"]["tools"].clone();
        assert_eq!(tools[0]["name"], "create_review", "{asked}");
        assert_eq!(tools[0]["inputSchema"], schema(), "{asked}");
        assert_eq!(tools[0]["annotations"]["readOnlyHint"], Value::Null, "{asked}");
        assert_eq!(tools[1]["annotations"]["readOnlyHint"], true, "{asked}");
        assert_eq!(tools[1]["inputSchema"], json!({ "type": "object" }), "{asked}");

        let refused = face.call("create_review", json!({ "verdict": "perhaps" }));
        assert_eq!(
            (text(&refused), &refused["isError"]),
            ("`verdict` is `pass` or `fail`", &json!(true)),
            "{asked}"
        );
        let taken = face.call("create_review", json!({ "verdict": "pass" }));
        assert_eq!((text(&taken), taken["isError"] == true), ("taken", false), "{asked}");
        assert!(face.end().success(), "{asked}");

        let calls: Vec<Value> =
            desk.close().into_iter().filter(|asked| asked.get("call").is_some()).collect();
        assert_eq!(
            calls,
            [
                json!({ "token": "right", "call": "create_review", "arguments": { "verdict": "perhaps" } }),
                json!({ "token": "right", "call": "create_review", "arguments": { "verdict": "pass" } }),
            ],
            "{asked}"
        );
    }
}

#[test]
fn a_wrong_token_is_told_so_and_gives_nothing() {
    let desk = Desk::open(reviewing);
    let mut face = Face::start(&desk, "wrong");
    assert_eq!(face.initialize("2025-11-25")["instructions"], Value::Null);
    let listed = face.ask("tools/list", json!({}));
    assert_eq!(listed["error"]["message"], "nobody here goes by that token. Nothing was taken.");
    let called = face.call("create_review", json!({ "verdict": "pass" }));
    assert_eq!(called["isError"], true);
    assert_eq!(text(&called), "nobody here goes by that token. Nothing was taken.");
}

#[test]
fn without_a_desk_every_call_says_that_it_is_over() {
    let desk = Desk::open(reviewing);
    let mut face = Face::start(&desk, "right");
    face.initialize("2025-11-25");
    assert_eq!(text(&face.call("create_review", json!({ "verdict": "pass" }))), "taken");
    drop(desk.close());
    for _ in 0..2 {
        let called = face.call("create_review", json!({ "verdict": "pass" }));
        assert_eq!(called["isError"], true);
        assert!(over(text(&called)), "{called}");
    }
    let listed = face.ask("tools/list", json!({}));
    assert!(over(listed["error"]["message"].as_str().unwrap()), "{listed}");
    assert!(face.end().success());
}

#[test]
fn an_answer_that_is_none_is_not_counted_on() {
    for (reply, why) in [
        (Reply::Nothing, "before an answer came"),
        (Reply::Half(r#"{"text":"taken","refused":false}"#.to_owned()), "before an answer came"),
        (Reply::Line("taken".to_owned()), "can not be understood"),
        (Reply::Line("{}".to_owned()), "can not be understood"),
        (Reply::Line(r#"{"text":7}"#.to_owned()), "can not be understood"),
        (Reply::Line(format!(r#"{{"text":"{}"}}"#, "x".repeat(17 << 20))), "too long"),
    ] {
        let given = reply.clone();
        let desk = Desk::open(
            move |request| if request.get("call").is_some() { given.clone() } else { reviewing(request) },
        );
        let mut face = Face::start(&desk, "right");
        face.initialize("2025-11-25");
        let called = face.call("create_review", json!({ "verdict": "pass" }));
        assert_eq!(called["isError"], true);
        assert!(text(&called).contains("o not count on this having been taken"), "{}", text(&called));
        assert!(text(&called).contains(why), "{}", text(&called));
        // One bad answer is not the end.
        assert!(face.ask("tools/list", json!({})).get("result").is_some());
    }
}

#[test]
fn what_is_too_large_is_refused_before_the_desk_sees_it() {
    let desk = Desk::open(reviewing);
    let mut face = Face::start(&desk, "right");
    face.initialize("2025-11-25");
    let large = face.call("create_review", json!({ "verdict": "pass", "body": "x".repeat(15 << 20) }));
    assert_eq!(text(&large), "taken");
    let too_large = face.call("create_review", json!({ "verdict": "pass", "body": "x".repeat(17 << 20) }));
    assert_eq!(too_large["isError"], true);
    assert!(text(&too_large).contains("at most 16 MiB. Nothing was taken"), "{}", text(&too_large));
    assert_eq!(text(&face.call("create_review", json!({ "verdict": "fail" }))), "taken");
    let calls = desk.close().into_iter().filter(|asked| asked.get("call").is_some()).count();
    assert_eq!(calls, 2, "the one in the middle never came");
}

#[test]
fn a_line_without_end_ends_the_conversation() {
    let desk = Desk::open(reviewing);
    let mut face = Face::start(&desk, "right");
    face.initialize("2025-11-25");
    face.pour(40 << 20);
    assert_eq!(face.rest(), Vec::<String>::new());
    face.wait();
    assert!(desk.close().iter().all(|asked| asked.get("call").is_none()));
}

#[test]
fn garbage_is_passed_over() {
    let desk = Desk::open(reviewing);
    let mut face = Face::start(&desk, "right");
    face.say("hello?");
    face.say("");
    face.initialize("2024-11-05");
    for line in ["}{", "\u{0}\u{1}", "[1,2", "null", "\"a\"", r#"{"some":"thing"}"#] {
        face.say(line);
    }
    face.say_bytes(b"\xff\xfe\n");
    assert_eq!(text(&face.call("create_review", json!({ "verdict": "pass" }))), "taken");
    let unknown = face.ask("tools/burn", json!({}));
    assert_eq!(unknown["error"]["code"], -32601, "{unknown}");
}

#[test]
fn nobody_who_is_not_an_agent_is_served() {
    for environment in [vec![], vec![("LOOPWRIGHT_DESK", "/nowhere")], vec![("LOOPWRIGHT_TOKEN", "right")]] {
        let output = face::command().envs(environment).stdin(std::process::Stdio::null()).output().unwrap();
        assert_eq!(output.status.code(), Some(2));
        assert!(output.stdout.is_empty());
        assert!(String::from_utf8(output.stderr).unwrap().contains("started by an agent"));
    }
    let desk = Desk::open(reviewing);
    assert!(Face::start(&desk, "right").end().success(), "one that leaves at once did nothing wrong");
}
