//! Which script and which step a conversation has come to: `tests/data/places.json`.

use serde_json::{Value, json};

use crate::client::{APIS, ask, path, prompt};
use crate::{parse, serve};

const SCRIPTS: &str = r#"{
    "one": [{"shell": "1"}, {"shell": "2"}, {"text": "one is done"}],
    "two": [{"text": "two is done"}],
    "many": [{"calls": [{"shell": "a"}, {"shell": "b"}]}, {"shell": "c"}, {"text": "many are done"}],
    "talk": [{"text": "said"}, {"text": "said after a result"}],
    "late": [{"shell": "x"}, {"http": {"status": 500}, "times": 1}, {"text": "late is done"}],
    "early": [{"http": {"status": 500}, "times": 1}, {"shell": "x"}, {"text": "early is done"}],
    "a.b-c_1": [{"text": "odd is done"}],
    "empty": []
}"#;

/// A conversation in the words of an interface. `user: TEXT`, `model: TEXT` and `result` are one message each.
fn conversation(api: &str, said: &[Value]) -> Value {
    let mut body = prompt(api, "");
    let messages = said.iter().map(|it| {
        let line = it.as_str().unwrap();
        let (who, text) = line.split_once(": ").unwrap_or((line, ""));
        message(api, who, text)
    });
    let field = match api {
        "responses" => "input",
        "gemini" => "contents",
        _ => "messages",
    };
    body[field] = messages.collect();
    body
}

fn message(api: &str, who: &str, text: &str) -> Value {
    let assistant = if api == "gemini" { "model" } else { "assistant" };
    let role = if who == "model" { assistant } else { "user" };
    match (api, who) {
        ("anthropic", "result") => {
            json!({"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t", "content": "[[script:two]]"}]})
        }
        ("anthropic", _) => json!({"role": role, "content": [{"type": "text", "text": text}]}),
        ("responses", "result") => {
            json!({"type": "function_call_output", "call_id": "c", "output": "[[script:two]]"})
        }
        ("responses", _) => {
            json!({"type": "message", "role": role, "content": [{"type": "input_text", "text": text}]})
        }
        ("chat", "result") => json!({"role": "tool", "tool_call_id": "c", "content": "[[script:two]]"}),
        ("chat", _) => json!({"role": role, "content": text}),
        (_, "result") => {
            json!({"role": "user", "parts": [{"functionResponse": {"name": "n", "response": {"output": "[[script:two]]"}}}]})
        }
        _ => json!({"role": role, "parts": [{"text": text}]}),
    }
}

#[test]
fn the_last_prompt_with_a_marker_picks_the_script_and_results_after_it_the_step() {
    let cases: Vec<Value> = serde_json::from_str(include_str!("../data/places.json")).unwrap();
    for case in &cases {
        for api in APIS {
            // A server each: nothing may depend on what was asked before.
            let server = serve(SCRIPTS);
            let body = conversation(api, case["said"].as_array().unwrap());
            let answer = ask(&server.url(), "POST", path(api, false), &body);
            let parsed = parse::whole(api, &answer.json());
            let calls =
                parsed.calls.iter().map(|it| it["arguments"].as_object().unwrap().values().next().unwrap());
            let calls: Vec<&Value> = calls.collect();
            let told = if calls.is_empty() { json!(parsed.text) } else { json!(calls) };
            assert_eq!(told, case["told"], "{api}: {}", case["name"]);
            let request = server.requests().pop().unwrap();
            assert_eq!(json!([request.script, request.step]), case["place"], "{api}: {}", case["name"]);
        }
    }
}

#[test]
fn scripts_that_are_added_replace_those_of_the_same_name() {
    let server = serve(r#"{"it": [{"text": "old"}], "other": [{"text": "kept"}]}"#);
    let said = |name: &str| {
        let body = prompt("chat", &format!("[[script:{name}]]"));
        parse::whole("chat", &ask(&server.url(), "POST", path("chat", false), &body).json()).text
    };
    assert_eq!(said("it"), "old");
    server.add(loopwright_testkit::Scripts::parse(r#"{"it": [{"text": "new"}]}"#).unwrap());
    assert_eq!((said("it"), said("other")), ("new".to_owned(), "kept".to_owned()));
}
