//! The ways in which there is no answer.

use loopwright_agents::acp::Turn;
use loopwright_agents::streams::Failed;
use serde_json::{Value, json};

use crate::player::{play, turn};
use crate::shown::{failed, shown};

#[test]
fn an_agent_that_leaves_has_crashed_whenever_it_does() {
    for (answers, missing) in
        [(0, "initialize"), (1, "session/new"), (2, "session/prompt"), (3, "session/prompt")]
    {
        let played = play(&turn(), move |stage| {
            let hello = stage.request("initialize");
            if answers == 0 {
                return;
            }
            stage.answer(&hello, json!({ "protocolVersion": 1, "agentCapabilities": {} }));
            let new = stage.request("session/new");
            if answers == 1 {
                return;
            }
            stage.answer(&new, json!({ "sessionId": "s" }));
            stage.request("session/prompt");
            if answers == 3 {
                stage.say_chunk("half a sen");
                stage.say(r#"{"jsonrpc":"2.0","method":"session/upd"#);
            }
        });
        let expected = format!("the agent left before it answered `{missing}`");
        assert_eq!(played.said.failed, Some(Failed::Crashed(expected)), "{answers}");
        assert_eq!(played.said.session.as_deref(), (answers >= 2).then_some("s"), "{answers}");
        assert_eq!(played.said.text, if answers == 3 { "half a sen" } else { "" });
    }
}

#[test]
fn what_was_said_in_earlier_turns_is_no_answer_to_a_turn_that_never_came() {
    let turn = Turn { session: Some("s".to_owned()), ..turn() };
    let played = play(&turn, |stage| {
        let hello = stage.request("initialize");
        stage.answer(&hello, json!({ "protocolVersion": 1, "agentCapabilities": { "loadSession": true } }));
        stage.request("session/load");
        stage.say_chunk("said long ago");
        let cost = json!({ "amount": 3.5, "currency": "USD" });
        stage.update(json!({ "sessionUpdate": "usage_update", "used": 1, "size": 2, "cost": cost }));
    });
    let failed = json!({ "crashed": "the agent left before it answered `session/load`" });
    assert_eq!(shown(&played.said), json!({ "failed": failed, "session": "s" }));
}

#[test]
fn an_agent_that_wants_a_login_says_how() {
    let played = play(&turn(), |stage| {
        let hello = stage.request("initialize");
        let ways = json!([{ "id": "key", "name": "API key" }, { "id": "browser" }]);
        stage.answer(&hello, json!({ "protocolVersion": 1, "agentCapabilities": {}, "authMethods": ways }));
        let new = stage.request("session/new");
        stage.fail(&new, json!({ "code": -32000, "message": "Authentication required" }));
    });
    let why = "the agent wants a login: Authentication required (it knows: API key, browser)";
    assert_eq!(played.said.failed, Some(Failed::Denied(why.to_owned())));
    assert_eq!(played.got.len(), 2, "it was not asked anything");
}

#[test]
fn an_agent_of_another_time_is_not_talked_to() {
    let played = play(&turn(), |stage| {
        let hello = stage.request("initialize");
        stage.answer(&hello, json!({ "protocolVersion": 2, "agentCapabilities": {} }));
    });
    assert!(
        matches!(played.said.failed, Some(Failed::Crashed(_) | Failed::Refused(_))),
        "{:?}",
        played.said.failed
    );
    assert_eq!(played.got.len(), 1);
}

#[test]
fn an_error_is_known_by_its_cause() {
    for (error, expected) in [
        (json!({ "code": 429, "message": "x" }), "limited"),
        (json!({ "code": 402, "message": "x" }), "limited"),
        (json!({ "code": 401, "message": "x" }), "denied"),
        (json!({ "code": 403, "message": "x" }), "denied"),
        (json!({ "code": 400, "message": "x" }), "refused"),
        (json!({ "code": 404, "message": "x" }), "refused"),
        (json!({ "code": 500, "message": "x" }), "crashed"),
        (json!({ "code": 529, "message": "x" }), "limited"),
        (json!({ "code": -32000, "message": "x" }), "denied"),
        (json!({ "code": -32602, "message": "Invalid params" }), "refused"),
        (json!({ "code": -32002, "message": "Resource not found" }), "refused"),
        (json!({ "code": -32603, "message": "Internal error" }), "crashed"),
        (
            json!({ "code": -32603, "message": "Internal error", "data": { "errorKind": "rate_limit" } }),
            "limited",
        ),
        (
            json!({ "code": -32603, "message": "Internal error", "data": { "errorKind": "authentication_failed" } }),
            "denied",
        ),
        (
            json!({ "code": -32603, "message": "Internal error", "data": { "errorKind": "invalid_request" } }),
            "refused",
        ),
        (json!({ "code": -32603, "message": "Internal error", "data": { "statusCode": 401 } }), "denied"),
        (json!({ "code": -32603, "message": "Internal error", "data": "429 Too Many Requests" }), "limited"),
        (
            json!({ "code": -32603, "message": "Internal error", "data": { "details": "You exceeded your quota" } }),
            "limited",
        ),
        (json!({ "code": -32603, "message": "API Error: 401 invalid x-api-key" }), "denied"),
        (json!({ "code": -32603, "message": "API Error: 500 rate limiter broke" }), "crashed"),
        (json!({ "code": -32603, "message": "no route to 127.0.0.1:429" }), "crashed"),
        (json!({ "code": -32603, "message": "took 429ms" }), "crashed"),
        (json!({ "code": 7, "message": "" }), "crashed"),
    ] {
        let given = error.clone();
        let played = play(&turn(), move |stage| {
            let prompt = stage.begin();
            stage.fail(&prompt, given);
        });
        let came = failed(played.said.failed.as_ref().unwrap());
        assert!(came.get(expected).is_some(), "{error}: {came}");
    }
    let played = play(&turn(), |stage| {
        let prompt = stage.begin();
        stage.fail(&prompt, json!({ "code": -32800, "message": "Request cancelled" }));
    });
    assert_eq!(played.said.failed, Some(Failed::Cancelled));
}

#[test]
fn an_end_that_is_not_a_good_one_is_a_failure() {
    for (reason, expected) in [
        ("end_turn", None),
        ("refusal", Some(json!({ "refused": "the model refuses: no" }))),
        ("cancelled", Some(json!("cancelled"))),
        (
            "max_tokens",
            Some(json!({ "crashed": "the answer is cut off: it is longer than the model may write" })),
        ),
        ("max_turn_requests", Some(json!({ "crashed": "it took more steps than it may" }))),
        ("boredom", Some(json!({ "crashed": "it stopped for `boredom`" }))),
    ] {
        let played = play(&turn(), move |stage| {
            let prompt = stage.begin();
            stage.say_chunk("no");
            stage.answer(&prompt, json!({ "stopReason": reason }));
        });
        assert_eq!(played.said.failed.as_ref().map(failed), expected, "{reason}");
    }
}

#[test]
fn an_error_that_is_said_as_an_answer_is_no_answer() {
    let long = format!("Error: {}", "and so on ".repeat(1000));
    for (text, acted, expected) in [
        ("Error: 400 bad request", false, Some("refused")),
        ("Error: Failed to get response from the AI model; retried 5 times", true, Some("crashed")),
        ("Error: 429 slow down", false, Some("limited")),
        ("Error: 401 bad key", false, Some("denied")),
        ("Error: socket hang up", false, Some("crashed")),
        ("error: unexpected status 500 Internal Server Error: boom", false, Some("crashed")),
        ("API Error: 500 boom", false, Some("crashed")),
        (
            "Warning: no metadata for `m`.\n\nunexpected status 429 Too Many Requests: slow down",
            false,
            Some("limited"),
        ),
        ("stream disconnected before completion: closed", false, Some("crashed")),
        ("You've hit your usage limit. Try again later.", false, Some("limited")),
        // A report of an error is an answer.
        ("Error: 400 is what the log says.", true, None),
        ("Error: the test `a` fails, as `b` is not closed.", true, None),
        ("There is an error: 400 lines are missing.", false, None),
        ("Done.", false, None),
        ("", false, None),
        (long.as_str(), false, None),
    ] {
        let (given, ours) = (text.to_owned(), text.to_owned());
        let played = play(&turn(), move |stage| {
            let prompt = stage.begin();
            if acted {
                stage.update(json!({ "sessionUpdate": "tool_call", "toolCallId": "c", "kind": "read" }));
            }
            stage.say_chunk(&given);
            stage.end(&prompt);
        });
        let came = played.said.failed.as_ref().map(failed);
        assert_eq!(came.is_some(), expected.is_some(), "{text}: {came:?}");
        if let Some(expected) = expected {
            assert!(came.as_ref().unwrap().get(expected).is_some(), "{text}: {came:?}");
        }
        // An error in the place of an answer is none.
        assert_eq!(played.said.text, if expected.is_some() { "" } else { &ours });
    }
}

#[test]
fn an_error_that_comes_last_is_told_from_what_was_said_before_it() {
    let used = json!({ "inputTokens": 1, "outputTokens": 1, "totalTokens": 2 });
    let retries = "Info: Request failed due to a transient API error. Retrying...";
    let gives_up = "Error: Failed to get response from the AI model; retried 5 times. Last error: 500 boom";
    for (pieces, usage, failed, text) in [
        (vec!["I begin. ", "Error: it is gone"], Value::Null, true, "I begin. "),
        // A model that was asked may well end with such words.
        (vec!["It prints ", "Error: it is gone"], used.clone(), false, "It prints Error: it is gone"),
        (vec!["I begin. ", "Error: 429 slow down"], used.clone(), true, "I begin. "),
        (vec![retries, retries, gives_up], used.clone(), true, ""),
        (vec!["I begin. ", gives_up], used.clone(), true, "I begin. "),
        (vec!["I begin. ", retries, "Done."], used, false, "Done."),
    ] {
        let given = pieces.clone();
        let played = play(&turn(), move |stage| {
            let prompt = stage.begin();
            for piece in given {
                stage.say_chunk(piece);
            }
            stage.answer(&prompt, json!({ "stopReason": "end_turn", "usage": usage }));
        });
        let came = (played.said.failed.is_some(), played.said.text.as_str());
        assert_eq!(came, (failed, text), "{pieces:?}: {:?}", played.said.failed);
    }
}

#[test]
fn an_agent_that_says_it_is_broken_has_failed_whatever_it_said() {
    let info = |codex: Value| json!({ "sessionUpdate": "session_info_update", "_meta": { "codex": codex } });
    let error =
        json!({ "error": { "codexErrorInfo": { "responseStreamDisconnected": { "httpStatusCode": 429 } } } });
    let broken = json!({ "threadStatus": { "type": "systemError" } });
    let active = json!({ "threadStatus": { "type": "active" } });
    for (news, expected) in [
        (vec![error.clone(), broken.clone()], Some("limited")),
        (vec![broken.clone()], Some("crashed")),
        (vec![error, broken, active], None),
    ] {
        let given: Vec<Value> = news.iter().cloned().map(info).collect();
        let played = play(&turn(), move |stage| {
            let prompt = stage.begin();
            stage.say_chunk("I begin.");
            for update in given {
                stage.update(update);
            }
            stage.end(&prompt);
        });
        let came = played.said.failed.as_ref().map(failed);
        let kind = came.as_ref().and_then(|it| it.as_object()?.keys().next().cloned());
        assert_eq!(kind.as_deref(), expected, "{news:?}");
        assert_eq!(played.said.text, "I begin.");
    }
}

#[test]
fn an_answer_that_does_not_say_why_the_turn_ended_is_none() {
    let played = play(&turn(), |stage| {
        let prompt = stage.begin();
        stage.say_chunk("well");
        stage.answer(&prompt, json!({}));
    });
    let why = "it stopped, and does not say why";
    assert_eq!(played.said.failed, Some(Failed::Crashed(why.to_owned())));
}
