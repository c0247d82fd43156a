//! Records of loops, and what is refused as one.

use loopwright_formats::vibe::State;
use loopwright_formats::vibe::record::{
    Acknowledged, accepted, acknowledgement, check, payload, render, state_sha256,
};
use serde_json::{Value, json};

const STATE: &str = "- Stage: 01\n- Checkpoint: 1.0\n- Status: IN_REVIEW\n";

fn good() -> Value {
    let top = json!({"loop": "review", "result": "pass", "stage": "1", "checkpoint": "01.0", "status": "IN_REVIEW",
        "next_role_hint": "advance | issues_triage"});
    let mut all = top.clone();
    all["extra"] = json!(1);
    all["report"] = json!({
        "acceptance_matrix": [{"item": "i", "status": "pass", "evidence": "e", "critical": true, "confidence": "0.8",
            "evidence_strength": "high"}],
        "top_findings": [{"impact": "MAJOR", "title": "t", "evidence": "e", "action": "a"},
            {"impact": "MINOR", "title": "t", "evidence": "e", "action": "a"}],
        "state_transition": {"before": {}, "after": {"stage": "1", "checkpoint": "1.0", "status": "IN_REVIEW"}},
        "loop_result": top,
    });
    all
}

fn errors(change: impl FnOnce(&mut Value)) -> usize {
    let mut result = good();
    change(&mut result);
    check(&result, &State::read(STATE)).map_or_else(|errors| errors.len(), |_| 0)
}

#[test]
fn a_good_result_becomes_a_record() {
    let record = check(&good(), &State::read(STATE)).unwrap();
    assert_eq!(record["protocol_version"], 1);
    assert_eq!(record["state_sha256"], state_sha256(STATE));
    assert_eq!(record.get("extra"), None);
    assert_eq!(accepted(record, "then")["recorded_at"], "then");
}

#[test]
fn every_rule_refuses_what_breaks_it() {
    let matrix = "/report/acceptance_matrix/0";
    let first = "/report/top_findings/0";
    let cases: Vec<(&str, Value, usize)> = vec![
        ("/loop", json!("stop"), 2),
        ("/result", json!(""), 2),
        ("/stage", json!("2"), 3),
        ("/checkpoint", json!(null), 4),
        ("/status", json!("DONE"), 3),
        ("/status", json!("ODD"), 4),
        ("/report", json!([]), 1),
        ("/report/acceptance_matrix", json!([]), 1),
        ("/report/acceptance_matrix", json!([1]), 1),
        ("/report/acceptance_matrix", json!({}), 1),
        ("/report/top_findings", json!(null), 1),
        ("/report/state_transition", json!(1), 1),
        ("/report/state_transition/before", json!(1), 1),
        ("/report/state_transition/after", json!(1), 1),
        ("/report/state_transition/after/stage", json!("2"), 1),
        ("/report/loop_result", json!(1), 1),
        ("/report/loop_result/result", json!("fail"), 1),
        ("/report/top_findings/1/impact", json!("BLOCKER"), 1),
    ];
    for (place, value, count) in cases {
        let found = errors(|all| *all.pointer_mut(place).unwrap() = value.clone());
        assert_eq!(found, count, "{place} {value}");
    }
    for (field, wrong) in [
        ("item", json!(" ")),
        ("status", json!("MAYBE")),
        ("evidence", json!(1)),
        ("critical", json!(1)),
        ("confidence", json!("high")),
        ("confidence", json!(-0.1)),
        ("confidence", json!("nan")),
        ("evidence_strength", json!("SOME")),
    ] {
        let set = |all: &mut Value| all.pointer_mut(matrix).unwrap()[field] = wrong.clone();
        assert_eq!(errors(set), 1, "{field} {wrong}");
    }
    for (field, wrong) in [
        ("impact", json!("MODERATE")),
        ("title", json!("")),
        ("evidence", json!(null)),
        ("action", json!([])),
    ] {
        assert_eq!(
            errors(|all| all.pointer_mut(first).unwrap()[field] = wrong.clone()),
            1,
            "{field} {wrong}"
        );
    }
    let six = |all: &mut Value| {
        let one = all.pointer(first).unwrap().clone();
        *all.pointer_mut("/report/top_findings").unwrap() = json!(vec![one; 6]);
    };
    assert_eq!(errors(six), 1);
    let gone = |all: &mut Value| {
        all.pointer_mut(matrix).unwrap().as_object_mut().unwrap().remove("confidence");
    };
    assert_eq!(errors(gone), 2);
}

#[test]
fn doubt_in_something_critical_is_not_a_pass() {
    for (field, value) in [("confidence", json!(0.7499)), ("evidence_strength", json!("low"))] {
        let doubt = |all: &mut Value| {
            all.pointer_mut("/report/acceptance_matrix/0").unwrap()[field] = value.clone();
        };
        assert_eq!(errors(doubt), 1, "the status has to change");
        let no_hint = |all: &mut Value| {
            doubt(all);
            all["next_role_hint"] = json!("advance");
            all["report"]["loop_result"]["next_role_hint"] = json!("advance");
        };
        assert_eq!(errors(no_hint), 2);
        let not_critical = |all: &mut Value| {
            doubt(all);
            all["report"]["acceptance_matrix"][0]["critical"] = json!(false);
        };
        assert_eq!(errors(not_critical), 0);
        let other_loop = |all: &mut Value| {
            doubt(all);
            all["loop"] = json!("implement");
            all["report"]["loop_result"]["loop"] = json!("implement");
        };
        assert_eq!(errors(other_loop), 0);
    }
}

#[test]
fn what_is_handed_in_is_an_object() {
    assert_eq!(payload(" LOOP_RESULT: {\"a\": 1} \n").unwrap(), json!({"a": 1}));
    assert_eq!(payload("{}").unwrap(), json!({}));
    for wrong in ["", "LOOP_RESULT:", "[]", "{", "LOOP_RESULT {}", "null"] {
        assert!(payload(wrong).is_err(), "{wrong}");
    }
}

#[test]
fn a_record_acknowledges_the_state_it_has_seen() {
    let known = format!("{{\"state_sha256\": \"{}\"}}", state_sha256(STATE));
    assert_eq!(acknowledgement(None, STATE), Acknowledged::Missing);
    assert_eq!(acknowledgement(Some(known.as_bytes()), STATE), Acknowledged::Current);
    assert_eq!(acknowledgement(Some(known.as_bytes()), &STATE.replace('\n', "\r\n")), Acknowledged::Current);
    assert_eq!(acknowledgement(Some(known.as_bytes()), "other"), Acknowledged::Differs);
    for wrong in ["{}", "{\"state_sha256\": 5}", "{\"state_sha256\": \"\"}"] {
        assert_eq!(acknowledgement(Some(wrong.as_bytes()), STATE), Acknowledged::NoHash);
    }
    let no_json = known.replace('{', "{\"confidence\": NaN, ");
    for wrong in [b"".as_slice(), b"[]", b"\xff", b"{", no_json.as_bytes()] {
        assert!(matches!(acknowledgement(Some(wrong), STATE), Acknowledged::Unreadable(_)));
    }
}

#[test]
fn records_are_written_as_the_original_writes_them() {
    let value = json!({"b": [1, -2, 0.5, 1.0, 1e16, 1e-5, 0.0001, 1e22, 123_456_789.125], "a": {"ü\u{7f}": "\u{1f600}\"\\\n\t\u{1}"},
        "c": [], "d": {}, "e": null, "f": true});
    let wanted = "{\n  \"a\": {\n    \"\\u00fc\\u007f\": \"\\ud83d\\ude00\\\"\\\\\\n\\t\\u0001\"\n  },\n  \"b\": [\n    1,\n    -2,\n    0.5,\n    \
                  1.0,\n    1e+16,\n    1e-05,\n    0.0001,\n    1e+22,\n    123456789.125\n  ],\n  \"c\": [],\n  \"d\": {},\n  \"e\": null,\n  \"f\": true\n}\n";
    assert_eq!(render(&value), wanted);
}
