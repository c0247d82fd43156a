//! What agents ask for, and what they are told.

use loopwright_agents::acp::{Permissions, Turn};
use serde_json::{Value, json};

use crate::player::{only, turn, with_tools};

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
            let (option, said) = only(&turn, move |stage| stage.may(asked, BOTH));
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
            stage.may(json!({ "toolCallId": "c" }), BOTH)
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
        stage.may(json!({ "toolCallId": "c" }), BOTH)
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
            only(&turn, move |stage| stage.may(json!({ "toolCallId": "c", "kind": "edit" }), offered));
        assert_eq!((option, said.denied.len()), (chosen, denied), "{permissions} {offered:?}");
    }
}
