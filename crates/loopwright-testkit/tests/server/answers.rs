//! What comes back for a request, case by case: `tests/data/answers.json`.

use loopwright_testkit::{ModelServer, Scripts};
use serde_json::{Value, json};

use crate::client::{APIS, Ended, ask, request};
use crate::parse;

#[test]
fn each_interface_says_the_same_whole_and_streamed() {
    let cases: Vec<Value> = serde_json::from_str(include_str!("../data/answers.json")).unwrap();
    for api in APIS {
        assert!(cases.iter().any(|it| it["api"] == api), "no case for {api}");
    }
    let server = ModelServer::start(Scripts::new()).unwrap();
    for case in &cases {
        let api = case["api"].as_str().unwrap();
        server.add(Scripts::parse(&json!({"it": case["script"]}).to_string()).unwrap());
        for streams in [false, true] {
            let name = format!("{api}: {} (streams: {streams})", case["name"]);
            let (path, body) = request(api, streams, &case["body"]);
            let answer = ask(&server.url(), "POST", path, &body);
            assert_eq!((answer.status, &answer.ended), (200, &Ended::InOrder), "{name}");
            let kind = if streams { "text/event-stream" } else { "application/json" };
            assert_eq!(answer.headers["content-type"], kind, "{name}");
            let parsed =
                if streams { parse::stream(api, &answer.body) } else { parse::whole(api, &answer.json()) };
            assert_eq!(parsed.value(), case["expect"], "{name}");
        }
    }
    assert_eq!(server.requests().len(), cases.len() * 2);
}

#[test]
fn the_names_of_calls_do_not_repeat_in_a_conversation_that_goes_on_with_another_server() {
    let scripts = r#"{"it": [{"shell": "one"}, {"shell": "two"}]}"#;
    let mut body = crate::client::prompt("anthropic", "[[script:it]]");
    let mut names = Vec::new();
    for _ in 0..2 {
        let server = crate::serve(scripts);
        let answer = ask(&server.url(), "POST", "/v1/messages", &body).json();
        let name = answer["content"][0]["id"].clone();
        let messages = body["messages"].as_array_mut().unwrap();
        messages.push(json!({"role": "assistant", "content": answer["content"]}));
        messages.push(json!({"role": "user", "content": [{"type": "tool_result", "tool_use_id": name}]}));
        names.push(name);
    }
    assert_ne!(names[0], names[1]);
}
