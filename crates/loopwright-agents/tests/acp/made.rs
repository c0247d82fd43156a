//! Agents as they might be: what they are told, what they say that is not for us, what of it is the answer.

use loopwright_agents::acp::{Turn, Way};
use loopwright_agents::streams::Failed;
use serde_json::{Value, json};

use crate::player::{only, play, turn, with_tools};
use crate::shown::shown;

#[test]
fn what_is_not_for_us_is_heard_and_passed_over() {
    let noise = [
        "Loading extensions...",
        "{",
        "[]",
        r#"[{"jsonrpc":"2.0","id":1,"method":"session/request_permission"}]"#,
        "null",
        r#"{"level":"info","message":"started"}"#,
        r#"{"jsonrpc":"2.0"}"#,
        r#"{"jsonrpc":"2.0","id":7}"#,
        r#"{"jsonrpc":"2.0","id":"nobody's","result":{"stopReason":"refusal"}}"#,
        r#"{"jsonrpc":"2.0","id":"nobody's","result":null}"#,
        r#"{"jsonrpc":"2.0","method":"session/update"}"#,
        r#"{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"dance"}}}"#,
        r#"{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":7}}"#,
        r#"{"jsonrpc":"2.0","method":"_auth/status_update","params":{}}"#,
        r#"{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"other","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"a helper"}}}}"#,
        r#"{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"agent_thought_chunk","content":{"type":"text","text":"hm"}}}}"#,
    ];
    let played = play(&turn(), move |stage| {
        stage.say("starting");
        let prompt = stage.begin();
        for line in noise {
            stage.say(line);
        }
        stage.say("");
        stage.say(&"[".repeat(10_000));
        stage.say_chunk("the answer");
        stage.end(&prompt);
    });
    assert_eq!(shown(&played.said), json!({ "text": "the answer", "session": "s" }));
    assert_eq!(played.got.len(), 3, "nothing of it was answered: {:?}", played.got);
    for line in noise {
        assert!(played.heard.contains(&(Way::In, line.to_owned())), "{line}");
    }
}

#[test]
fn whatever_else_an_agent_asks_for_is_not_there() {
    let (codes, said) = only(&turn(), |stage| {
        let methods =
            ["fs/read_text_file", "fs/write_text_file", "terminal/create", "elicitation/create", "no/such"];
        let codes = methods.map(|method| {
            let params = json!({ "sessionId": "s", "path": "/repo/a", "content": "", "command": "ls" });
            stage.send(&json!({ "jsonrpc": "2.0", "id": 3, "method": method, "params": params }));
            stage.next().unwrap()["error"]["code"].clone()
        });
        stage.say_chunk("well then");
        json!(codes)
    });
    assert_eq!(codes, json!([-32601, -32601, -32601, -32601, -32601]));
    assert_eq!(said.text, "well then");
}

#[test]
fn an_agent_is_told_what_it_needs_and_nothing_that_it_may_not_use() {
    let played = play(&with_tools(), |stage| {
        let prompt = stage.begin();
        stage.end(&prompt);
    });
    let hello = &played.got[0]["params"];
    assert_eq!((&hello["protocolVersion"], &hello["clientInfo"]["name"]), (&json!(1), &json!("loopwright")));
    let can = &hello["clientCapabilities"];
    assert_eq!(can["fs"], json!({ "readTextFile": false, "writeTextFile": false }));
    assert_eq!(can["terminal"], false);
    let server = json!({ "name": "ours", "command": "/bin/tools", "args": ["mcp"], "env": [{ "name": "TOKEN", "value": "hush-hush" }] });
    assert_eq!(played.got[1]["params"], json!({ "cwd": "/repo", "mcpServers": [server] }));
    assert_eq!(
        played.got[2]["params"],
        json!({ "sessionId": "s", "prompt": [{ "type": "text", "text": "do it" }] })
    );
    // A transcript is kept longer than a token should be known.
    assert!(played.heard.iter().all(|(_, line)| !line.contains("hush-hush")));
    assert!(played.heard.iter().any(|(way, line)| *way == Way::Out && line.contains(r#""value":"...""#)));
}

/// An agent that begins a session with this, and says yes to whatever is asked then.
fn obliging(turn: &Turn, can: Value, begun: Value) -> (Option<Failed>, Vec<(String, Value)>) {
    let played = play(turn, move |stage| {
        while let Some(request) = stage.next() {
            match request["method"].as_str().unwrap() {
                "initialize" => {
                    stage.answer(&request, json!({ "protocolVersion": 1, "agentCapabilities": can }));
                }
                "session/new" | "session/load" | "session/resume" => stage.answer(&request, begun.clone()),
                "session/prompt" => stage.end(&request),
                _ => stage.answer(&request, json!({})),
            }
        }
    });
    let asked = played
        .got
        .iter()
        .skip(1)
        .map(|asked| (asked["method"].as_str().unwrap().to_owned(), asked["params"].clone()));
    (played.said.failed, asked.collect())
}

#[test]
fn modes_and_models_are_set_as_the_agent_lets_them_be() {
    let modes = json!({ "availableModes": [{ "id": "plan" }], "currentModeId": "build" });
    let options = json!([{ "id": "m1", "category": "mode" }, { "id": "m2", "category": "model" }]);
    for (begun, expected) in [
        (
            json!({ "sessionId": "s", "modes": modes, "models": { "currentModelId": "a" } }),
            json!([
                ["session/set_mode", { "sessionId": "s", "modeId": "plan" }],
                ["session/set_model", { "sessionId": "s", "modelId": "big" }],
            ]),
        ),
        (
            json!({ "sessionId": "s", "modes": modes, "configOptions": options }),
            json!([
                ["session/set_mode", { "sessionId": "s", "modeId": "plan" }],
                ["session/set_config_option", { "sessionId": "s", "configId": "m2", "value": "big" }],
            ]),
        ),
        (
            json!({ "sessionId": "s", "configOptions": options }),
            json!([
                ["session/set_config_option", { "sessionId": "s", "configId": "m1", "value": "plan" }],
                ["session/set_config_option", { "sessionId": "s", "configId": "m2", "value": "big" }],
            ]),
        ),
        // A model that can not be set is one the command line was given, or none.
        (
            json!({ "sessionId": "s", "modes": modes }),
            json!([["session/set_mode", { "sessionId": "s", "modeId": "plan" }]]),
        ),
    ] {
        let turn = Turn { mode: Some("plan".to_owned()), model: Some("big".to_owned()), ..turn() };
        let (failed, asked) = obliging(&turn, json!({}), begun.clone());
        assert_eq!(failed, None);
        assert_eq!(asked.last().unwrap().0, "session/prompt");
        assert_eq!(json!(asked[1..asked.len() - 1]), expected, "{begun}");
    }
    // A mode the agent does not have is not done without, nor is one that can not be set.
    for (error, limited) in [
        (
            json!({ "code": -32603, "message": "Internal error", "data": { "details": "Invalid Mode" } }),
            false,
        ),
        (json!({ "code": -32602, "message": "Invalid params" }), false),
        (json!({ "code": 429, "message": "slow down" }), true),
    ] {
        let turn = Turn { mode: Some("plan".to_owned()), ..turn() };
        let given = error.clone();
        let played = play(&turn, |stage| {
            let hello = stage.request("initialize");
            stage.answer(&hello, json!({ "protocolVersion": 1, "agentCapabilities": {} }));
            let new = stage.request("session/new");
            stage.answer(&new, json!({ "sessionId": "s", "modes": { "currentModeId": "build" } }));
            let set = stage.request("session/set_mode");
            stage.fail(&set, given);
        });
        assert_eq!(played.got.len(), 3, "it was not asked anything");
        let failed = played.said.failed;
        assert!(
            matches!(
                (&failed, limited),
                (Some(Failed::Refused(_)), false) | (Some(Failed::Limited { .. }), true)
            ),
            "{error}: {failed:?}"
        );
    }
    let turn = Turn { mode: Some("plan".to_owned()), ..turn() };
    let (failed, asked) = obliging(&turn, json!({}), json!({ "sessionId": "s" }));
    assert!(matches!(failed, Some(Failed::Refused(why)) if why.contains("`plan`")));
    assert!(asked.iter().all(|(method, _)| method != "session/prompt"));
}

#[test]
fn a_session_goes_on_by_its_id_or_not_at_all() {
    for (can, expected) in [
        (json!({ "loadSession": true, "sessionCapabilities": { "resume": {} } }), Some("session/resume")),
        (json!({ "sessionCapabilities": { "resume": {} } }), Some("session/resume")),
        (json!({ "loadSession": true, "sessionCapabilities": { "resume": null } }), Some("session/load")),
        (json!({ "loadSession": true }), Some("session/load")),
        (json!({ "loadSession": false }), None),
        (json!({}), None),
        (Value::Null, None),
    ] {
        let turn = Turn { session: Some("before".to_owned()), ..turn() };
        let (failed, asked) = obliging(&turn, can.clone(), json!({}));
        if let Some(method) = expected {
            assert_eq!((failed, asked[0].0.as_str()), (None, method), "{can}");
            assert_eq!(asked[0].1["sessionId"], "before");
            assert_eq!(asked[1].1["sessionId"], "before");
        } else {
            assert!(matches!(failed, Some(Failed::Refused(_))), "{can}");
            assert_eq!(asked, [], "{can}");
        }
    }
}

#[test]
fn the_answer_is_what_was_said_last() {
    let chunk = |text: &str, message: Option<&str>| json!({ "sessionUpdate": "agent_message_chunk", "content": { "type": "text", "text": text }, "messageId": message });
    let call = || json!({ "sessionUpdate": "tool_call", "toolCallId": "c", "kind": "read" });
    let over = || json!({ "sessionUpdate": "tool_call_update", "toolCallId": "c", "status": "completed" });
    for (updates, answer) in [
        (vec![chunk("a", None), chunk("b", None)], "ab"),
        (vec![chunk("a", None), call(), chunk("b", None), chunk("c", None)], "bc"),
        // Words before a call that nothing follows are the last ones.
        (vec![chunk("a", None), call(), over()], "a"),
        (vec![call(), chunk("Info: a", None), over(), chunk("b", None)], "b"),
        // Where messages have names, a call that ends meanwhile does not part them.
        (vec![chunk("a", Some("1")), over(), chunk("b", Some("1"))], "ab"),
        (vec![chunk("a", Some("1")), chunk("b", Some("2"))], "b"),
        (vec![chunk("Warning: x\n\n", None), chunk("a", Some("1"))], "a"),
        (vec![chunk("a", Some("1")), chunk("Warning: x", None)], "a"),
        (
            vec![
                chunk("", None),
                json!({ "sessionUpdate": "agent_message_chunk", "content": { "type": "image" } }),
            ],
            "",
        ),
    ] {
        let (_, said) = only(&turn(), move |stage| {
            for update in updates {
                stage.update(update);
            }
            Value::Null
        });
        assert_eq!(said.text, answer);
    }
}

#[test]
fn money_is_counted_in_dollars_or_not_at_all() {
    for (cost, money) in [
        (json!({ "amount": 0.5, "currency": "USD" }), Some(500_000)),
        (json!({ "amount": 0.5, "currency": "EUR" }), None),
        (json!({ "amount": 0.5 }), None),
    ] {
        let given = cost.clone();
        let (_, said) = only(&turn(), move |stage| {
            stage.update(json!({ "sessionUpdate": "usage_update", "used": 1, "size": 2, "cost": given }));
            Value::Null
        });
        assert_eq!(said.usage.money, money, "{cost}");
    }
}

#[test]
fn what_is_said_before_anybody_asked_is_no_answer() {
    let played = play(&turn(), |stage| {
        let hello = stage.request("initialize");
        stage.send(&json!({ "jsonrpc": "2.0", "id": "nobody's", "result": { "stopReason": "end_turn" } }));
        stage.send(&json!({ "jsonrpc": "2.0", "id": "nobody's", "error": { "code": 401, "message": "no" } }));
        stage.answer(&hello, json!({ "protocolVersion": 1, "agentCapabilities": {} }));
        let new = stage.request("session/new");
        stage.say_chunk("welcome");
        stage.answer(&new, json!({ "sessionId": "s" }));
    });
    let failed = json!({ "crashed": "the agent left before it answered `session/prompt`" });
    assert_eq!(shown(&played.said), json!({ "failed": failed, "session": "s" }));
}
