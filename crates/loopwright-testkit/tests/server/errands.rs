//! What agents ask for besides answers, and what is kept of a request.

use loopwright_testkit::{Answer, Api, ModelServer, Options, Scripts};
use serde_json::{Value, json};

use crate::client::{ask, prompt, send};
use crate::serve;

#[test]
fn probes_and_errands_are_answered_and_written_down() {
    let server = serve("{}");
    let cases = [
        ("HEAD", "/", 200, json!(null)),
        ("HEAD", "/v1", 200, json!(null)),
        ("GET", "/", 200, json!({})),
        ("GET", "/favicon", 404, json!({"error": {"message": "not found: /favicon"}})),
        (
            "POST",
            "/api/event_logging/batch",
            404,
            json!({"error": {"message": "not found: /api/event_logging/batch"}}),
        ),
        ("POST", "/v1/messages/count_tokens?beta=true", 200, json!({"input_tokens": 120})),
        ("POST", "/v1beta/models/m:countTokens", 200, json!({"totalTokens": 120})),
    ];
    for (method, path, status, body) in &cases {
        let answer = ask(&server.url(), method, path, &json!({}));
        let told = if answer.body.is_empty() { Value::Null } else { answer.json() };
        assert_eq!((answer.status, &told), (*status, body), "{method} {path}");
    }
    let models = ask(&server.url(), "GET", "/v1/models", &json!({})).json();
    assert_eq!(models["data"][0]["id"], "scripted-1");

    let requests = server.requests();
    assert_eq!(requests.len(), cases.len() + 1);
    for (request, (method, path, status, _)) in requests.iter().zip(&cases) {
        let answer = if *status == 200 { Answer::Errand } else { Answer::Http(404) };
        assert_eq!((request.method.as_str(), request.path.as_str()), (*method, *path));
        assert_eq!((&request.api, &request.answer), (&None, &answer));
    }
}

#[test]
fn what_is_no_json_is_refused_in_the_words_of_the_interface() {
    let server = serve("{}");
    for body in ["", "{", "[]", "\u{1}"] {
        let answer = send(&server.url(), "POST", "/v1/messages", "", body).answer(false);
        assert_eq!((answer.status, &answer.json()["error"]["type"]), (400, &json!("invalid_request_error")));
    }
    // A request that is JSON and makes no sense is answered all the same.
    for body in
        [json!({}), json!({"messages": 3, "tools": "x"}), json!({"messages": [null, {"content": [1]}]})]
    {
        for (path, api) in
            [("/v1/messages", "anthropic"), ("/v1/chat/completions", "chat"), ("/responses", "responses")]
        {
            let answer = ask(&server.url(), "POST", path, &body);
            let said = crate::parse::whole(api, &answer.json()).text;
            assert_eq!(said, "no script: the prompts have no [[script:NAME]]");
        }
    }
}

#[test]
fn a_request_is_kept_with_its_key_and_logged_without() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("log");
    let log = Some(std::fs::File::create(&file).unwrap());
    let scripts = Scripts::parse(r#"{"it": [{"shell": "ls"}]}"#).unwrap();
    let server = ModelServer::start_with(scripts, Options { log, ..Options::default() }).unwrap();
    let body = prompt("anthropic", "[[script:it]]");
    let headers = "x-api-key: secret-1\r\nauthorization: Bearer secret-2\r\nx-other: o\r\nuser-agent: me\r\n";
    send(&server.url(), "POST", "/v1/messages", headers, &body.to_string()).answer(false);

    let request = server.requests().pop().unwrap();
    assert_eq!(request.api, Some(Api::Anthropic));
    assert_eq!(request.headers["x-api-key"], "secret-1");
    assert_eq!(request.headers["user-agent"], "me");
    assert!(!request.headers.contains_key("x-other"));
    assert_eq!((&request.body, request.tools.as_slice()), (&body, &["Bash".to_owned()][..]));
    assert_eq!((request.script.as_deref(), request.step, request.left), (Some("it"), Some(0), false));

    let logged = std::fs::read_to_string(&file).unwrap();
    assert!(!logged.contains("secret"), "{logged}");
    let line: Value = serde_json::from_str(&logged).unwrap();
    let calls = json!({"calls": [{"tool": "Bash", "arguments": {"command": "ls"}}]});
    assert_eq!((&line["api"], &line["step"], &line["answer"]), (&json!("anthropic"), &json!(0), &calls));
}
