//! Each way to misbehave, as the one who asks meets it.

use std::collections::BTreeMap;

use loopwright_testkit::Answer;
use serde_json::{Value, json};

use crate::client::{APIS, Ended, ask, path, prompt, request, send};
use crate::{PATIENCE, parse, serve};

#[derive(serde::Deserialize)]
struct Case {
    name: String,
    api: String,
    http: Value,
    headers: BTreeMap<String, String>,
    /// Text if it is sent as it is.
    body: Value,
}

#[test]
fn errors_have_the_shape_of_the_interface() {
    let cases: Vec<Case> = serde_json::from_str(include_str!("../data/errors.json")).unwrap();
    for case in &cases {
        let server = serve(&json!({"it": [{"http": case.http}]}).to_string());
        for streams in [false, true] {
            let (path, body) = request(&case.api, streams, &prompt(&case.api, "[[script:it]]"));
            let answer = ask(&server.url(), "POST", path, &body);
            assert_eq!(json!(answer.status), case.http["status"], "{}", case.name);
            let told = if case.body.is_string() { json!(answer.body) } else { answer.json() };
            assert_eq!(told, case.body, "{}", case.name);
            let mut headers = answer.headers.clone();
            headers.retain(|name, _| !["content-length", "date", "connection"].contains(&name.as_str()));
            assert_eq!(headers, case.headers, "{}", case.name);
        }
    }
}

#[test]
fn a_step_misbehaves_as_often_as_it_says_and_errands_do_not_count() {
    let server = serve(
        r#"{"it": [{"shell": "x"}, {"http": {"status": 429}, "times": 2}, {"cut": null, "times": 1}, {"text": "Now."}]}"#,
    );
    let mut body = prompt("chat", "[[script:it]]");
    let messages = body["messages"].as_array_mut().unwrap();
    messages.push(json!({"role": "tool", "tool_call_id": "c", "content": ""}));
    let mut errand = body.clone();
    errand["tools"] = json!([]);
    let mut told = Vec::new();
    for _ in 0..5 {
        ask(&server.url(), "POST", path("chat", false), &errand);
        ask(&server.url(), "POST", path("chat", false), &body);
    }
    for pair in server.requests().chunks(2) {
        assert_eq!((&pair[0].answer, pair[0].step), (&Answer::Text("Now.".to_owned()), Some(3)));
        told.push((pair[1].answer.clone(), pair[1].step));
    }
    let limited = (Answer::Http(429), Some(1));
    let now = (Answer::Text("Now.".to_owned()), Some(3));
    assert_eq!(told, [limited.clone(), limited, (Answer::Cut, Some(2)), now.clone(), now]);
    // Those that come later find all of it behind them, also from the beginning.
    body["messages"].as_array_mut().unwrap().pop();
    ask(&server.url(), "POST", path("chat", false), &body);
    assert_eq!(server.requests().pop().unwrap().step, Some(0));
}

#[test]
fn garbage_means_nothing() {
    let server = serve(r#"{"it": ["garbage"]}"#);
    for (api, streams) in both() {
        let (path, body) = request(api, streams, &prompt(api, "[[script:it]]"));
        let answer = ask(&server.url(), "POST", path, &body);
        assert_eq!((answer.status, &answer.ended), (200, &Ended::InOrder));
        assert!(serde_json::from_str::<Value>(&answer.body).is_err());
        let data = answer.body.lines().filter_map(|it| it.strip_prefix("data: "));
        assert!(data.map(serde_json::from_str::<Value>).all(|it| it.is_err()));
    }
}

#[test]
fn an_answer_is_cut_or_torn_after_something_was_said() {
    let server = serve(r#"{"cut": ["cut"], "torn": ["torn"]}"#);
    for (script, ended) in [("cut", Ended::InOrder), ("torn", Ended::TooEarly)] {
        for (api, streams) in both() {
            let (path, body) = request(api, streams, &prompt(api, &format!("[[script:{script}]]")));
            let answer = ask(&server.url(), "POST", path, &body);
            assert_eq!((answer.status, &answer.ended), (200, &ended), "{script} {api} {streams}");
            is_begun(api, streams, &answer.body);
        }
    }
}

#[test]
fn a_stall_begins_and_lasts_until_the_one_who_asks_goes_away() {
    let server = serve(r#"{"it": ["stall"], "text": [{"text": "Yes."}]}"#);
    for (number, (api, streams)) in both().into_iter().enumerate() {
        let (path, body) = request(api, streams, &prompt(api, "[[script:it]]"));
        let mut connection = send(&server.url(), "POST", path, "", &body.to_string());
        let (status, _) = connection.head().unwrap();
        assert_eq!(status, 200);
        let mut said = String::new();
        while !(if streams { is_delta(&said) } else { !said.is_empty() }) {
            said.push_str(&connection.piece().unwrap());
        }
        is_begun(api, streams, &said);
        // Others are served meanwhile, and nothing more comes.
        let (path, body) = request(api, streams, &prompt(api, "[[script:text]]"));
        assert_eq!(ask(&server.url(), "POST", path, &body).status, 200);
        assert!(connection.is_silent());
        assert!(!server.requests()[number * 2].left);
        drop(connection);
        assert!(server.wait_until(PATIENCE, |requests| requests[number * 2].left));
    }
}

#[test]
fn nothing_comes_from_a_server_that_hangs_until_the_one_who_asks_goes_away() {
    let server = serve(r#"{"it": ["hang"], "text": [{"text": "Yes."}]}"#);
    for (number, api) in APIS.into_iter().enumerate() {
        let body = prompt(api, "[[script:it]]");
        let mut connection = send(&server.url(), "POST", path(api, true), "", &body.to_string());
        assert!(server.wait_until(PATIENCE, |requests| requests.len() == number * 2 + 1));
        let body = prompt(api, "[[script:text]]");
        assert_eq!(ask(&server.url(), "POST", path(api, false), &body).status, 200);
        assert!(connection.is_silent());
        assert_eq!(server.requests()[number * 2].answer, Answer::Hang);
        assert!(!server.requests()[number * 2].left);
        drop(connection);
        assert!(server.wait_until(PATIENCE, |requests| requests[number * 2].left));
    }
}

#[test]
fn a_server_that_stops_ends_every_silence() {
    let server = serve(r#"{"hang": ["hang"], "stall": ["stall"]}"#);
    let body = |script: &str| prompt("chat", &format!("[[script:{script}]]")).to_string();
    let hanging = send(&server.url(), "POST", path("chat", false), "", &body("hang"));
    let mut stalled = send(&server.url(), "POST", path("chat", false), "", &body("stall"));
    stalled.head().unwrap();
    stalled.piece().unwrap();
    assert!(server.wait_until(PATIENCE, |requests| requests.len() == 2));
    let url = server.url();
    drop(server);
    assert!(hanging.ends_without_a_word());
    assert!(stalled.ends_without_a_word());
    assert!(std::net::TcpStream::connect(url.strip_prefix("http://").unwrap()).is_err());
}

#[test]
fn waiting_for_what_does_not_come_ends() {
    let server = serve("{}");
    assert!(!server.wait_until(std::time::Duration::ZERO, |requests| !requests.is_empty()));
}

fn both() -> Vec<(&'static str, bool)> {
    APIS.into_iter().flat_map(|api| [(api, false), (api, true)]).collect()
}

/// Whether a stream has come to where something is said.
fn is_delta(body: &str) -> bool {
    body.contains("This is an answer")
}

/// An answer that has begun and is not all there.
fn is_begun(api: &str, streams: bool, body: &str) {
    if !streams {
        assert!(body.starts_with('{') && serde_json::from_str::<Value>(body).is_err(), "{api}: {body}");
        return;
    }
    assert!(is_delta(body) && !body.contains("never ended"), "{api}: {body}");
    let events = parse::events(body);
    let ends = ["message_stop", "response.completed", "[DONE]", "finishReason\""];
    let told: Vec<String> = events.iter().map(|(name, data)| format!("{name} {data}")).collect();
    assert!(told.iter().all(|it| ends.iter().all(|end| !it.contains(end))), "{api}: {body}");
}
