//! What agents ask for, and what they are told.

use loopwright_agents::acp::{Permissions, Turn};
use loopwright_agents::streams::Failed;
use serde_json::{Value, json};

use crate::player::{Stage, only, play, turn, with_tools};

/// Asks whether it may, and goes on whatever the answer is.
fn asks(stage: &mut Stage, call: Value, options: &[&str]) -> Value {
    let option = stage.may(call, options);
    stage.say_chunk("well then");
    option
}

const BOTH: &[&str] = &["allow_always", "allow_once", "reject_always", "reject_once"];

fn may(what: &str) -> Permissions {
    Permissions { write: what.contains('w'), shell: what.contains('s'), network: what.contains('n') }
}

#[test]
fn what_an_agent_may_do_goes_by_the_kind_of_it() {
    let diff = json!([{ "type": "diff", "path": "/repo/a", "newText": "a" }]);
    // The kind, what else is said, and the sets of permissions under which it is allowed.
    for (call, allowed) in [
        (json!({ "kind": "edit" }), ["w", "wsn"].as_slice()),
        (json!({ "kind": "delete" }), &["w", "wsn"]),
        (json!({ "kind": "move" }), &["w", "wsn"]),
        (json!({ "kind": "switch_mode" }), &["w", "wsn"]),
        (json!({ "kind": "execute" }), &["s", "wsn"]),
        (json!({ "kind": "fetch" }), &["n", "wsn"]),
        (json!({ "kind": "read" }), &["", "w", "s", "n", "wsn"]),
        (json!({ "kind": "search" }), &["", "w", "s", "n", "wsn"]),
        (json!({ "kind": "think" }), &["", "w", "s", "n", "wsn"]),
        (json!({ "kind": "other" }), &["", "w", "s", "n", "wsn"]),
        (json!({}), &["", "w", "s", "n", "wsn"]),
        (json!({ "kind": "other", "content": diff }), &["w", "wsn"]),
        (json!({ "content": diff }), &["w", "wsn"]),
        (json!({ "kind": "teleport" }), &["wsn"]),
        (json!({ "kind": "execute", "title": "mcp.ours.create_review" }), &["s", "wsn"]),
        (json!({ "kind": "execute", "rawInput": { "server": "ours" } }), &["s", "wsn"]),
    ] {
        for permissions in ["", "w", "s", "n", "wsn"] {
            let turn = Turn { permissions: may(permissions), ..with_tools() };
            let mut asked = call.clone();
            asked["toolCallId"] = json!("c");
            let (option, said) = only(&turn, move |stage| asks(stage, asked, BOTH));
            let yes = allowed.contains(&permissions);
            assert_eq!(
                option,
                if yes { "id-allow_once" } else { "id-reject_once" },
                "{call} with `{permissions}`"
            );
            assert_eq!(said.denied.len(), usize::from(!yes), "{call} with `{permissions}`");
        }
    }
}

#[test]
fn only_a_marked_call_of_our_own_tools_is_ours() {
    let mark = json!({ "is_mcp_tool_call": true });
    for (server, meta, expected) in [
        ("ours", mark.clone(), "id-allow_once"),
        ("theirs", mark, "id-reject_once"),
        ("ours", json!({ "is_mcp_tool_call": "yes" }), "id-reject_once"),
        ("ours", Value::Null, "id-reject_once"),
    ] {
        let (option, said) = only(&with_tools(), move |stage| {
            stage.update(json!({
                "sessionUpdate": "tool_call", "toolCallId": "c", "kind": "execute", "title": "mcp.ours.give",
                "rawInput": { "server": server, "tool": "give" }, "_meta": meta,
            }));
            asks(stage, json!({ "toolCallId": "c" }), BOTH)
        });
        assert_eq!(option, expected, "{server}");
        assert_eq!(
            said.denied,
            if expected == "id-allow_once" { vec![] } else { vec!["execute: mcp.ours.give"] }
        );
    }
    // Whoever brings no tools has none of its own.
    let (option, _) = only(&turn(), |stage| {
        stage.update(json!({ "sessionUpdate": "tool_call", "toolCallId": "c", "kind": "execute", "_meta": { "is_mcp_tool_call": true } }));
        asks(stage, json!({ "toolCallId": "c" }), BOTH)
    });
    assert_eq!(option, "id-reject_once");
}

#[test]
fn an_answer_is_one_of_those_that_are_offered() {
    for (permissions, offered, chosen, denied) in [
        ("w", ["allow_always", "reject_once"].as_slice(), json!("id-allow_always"), 0),
        ("", &["allow_once", "reject_always"], json!("id-reject_always"), 1),
        ("", &["allow_once", "allow_always"], Value::Null, 1),
        ("w", &["reject_once"], json!("id-reject_once"), 1),
        ("w", &[], Value::Null, 1),
    ] {
        let turn = Turn { permissions: may(permissions), ..turn() };
        let (option, said) =
            only(&turn, move |stage| asks(stage, json!({ "toolCallId": "c", "kind": "edit" }), offered));
        assert_eq!((option, said.denied.len()), (chosen, denied), "{permissions} {offered:?}");
    }
}

#[test]
fn an_agent_that_stops_where_it_is_refused_something_was_denied_it() {
    let played = play(&turn(), |stage| {
        let prompt = stage.begin();
        stage.may(json!({ "toolCallId": "c", "kind": "edit", "title": "a.txt" }), BOTH);
        stage.end(&prompt);
    });
    assert_eq!(played.said.failed, Some(Failed::Denied("edit: a.txt".to_owned())));
    assert_eq!(played.said.denied, ["edit: a.txt"]);
}

#[test]
fn a_question_with_a_long_name_is_one_all_the_same() {
    let (_, said) = only(&turn(), |stage| {
        let params =
            json!({ "sessionId": "s", "toolCall": { "toolCallId": "c", "kind": "edit" }, "options": [] });
        let id = "x".repeat(1_000);
        stage.send(
            &json!({ "jsonrpc": "2.0", "id": id, "method": "session/request_permission", "params": params }),
        );
        let answer = stage.next().unwrap();
        stage.say_chunk("well then");
        answer
    });
    assert_eq!(said.denied, ["edit"]);
}
