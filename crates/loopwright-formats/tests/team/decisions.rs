//! Decisions of people, as records.

use loopwright_formats::team::decisions::invalid;
use loopwright_formats::team::status;
use serde_json::{Value, json};

use super::{differ, shown, told};

/// A decision of a run with other fields than usual.
fn decision(more: &Value) -> Value {
    let mut decision = json!({
        "id": null, "state": "ask-user", "question": "Which one?", "status": "pending", "answer": "", "note": "",
        "finding": null, "item": null, "asked_at": "2026-11-19T04:00:00Z", "resolved_at": "", "phase": "ASK_USER",
        "before": "IMPLEMENT_LOOP", "reason": "",
    });
    for (key, value) in more.as_object().unwrap() {
        decision[key] = value.clone();
    }
    decision
}

/// A record with other fields than usual.
fn record(more: &Value) -> Value {
    let mut record = json!({
        "decision_id": "UD-1", "question": "Which one?", "status": "pending", "answer": null,
        "asked_at": "2026-11-19T04:00:00Z", "resolved_at": null, "state_context": "IMPLEMENT_LOOP",
        "resolution_reason": null,
    });
    for (key, value) in more.as_object().unwrap() {
        record[key] = value.clone();
    }
    record
}

fn records(there: &[Value], wanted: &[Value]) -> Vec<Value> {
    let file = json!({"user_decisions": there, "last_update": "2026-11-19T04:30:00Z"});
    let after = shown(&file, "user_decisions", &json!(wanted));
    after["user_decisions"].as_array().unwrap().clone()
}

type Records = Vec<Value>;

/// A decision that was answered at [`AT`].
fn answered(more: &Value) -> Value {
    let mut given = decision(&json!({"status": "answered", "answer": "fix", "resolved_at": AT}));
    given.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    given
}

const AT: &str = "2026-11-19T04:10:00Z";

/// Each decision becomes one record, and that is valid.
fn becomes(cases: Vec<(&str, Value, Value)>) {
    let mut wrong = Vec::new();
    for (title, given, wanted) in cases {
        let found = records(&[], &[given]);
        assert_eq!(found.iter().find_map(invalid), None, "{title}");
        differ(&mut wrong, title, &found, &vec![wanted]);
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_decision_becomes_a_record_that_is_valid() {
    let at = AT;
    becomes(vec![
        ("pending", decision(&json!({})), record(&json!({}))),
        (
            "pending says nothing more",
            decision(&json!({"answer": "x", "note": "y", "reason": "z", "resolved_at": at})),
            record(&json!({})),
        ),
        (
            "a word",
            answered(&json!({})),
            record(&json!({"status": "answered", "answer": "fix", "resolved_at": at})),
        ),
        (
            "a word and a note",
            answered(&json!({"note": " now \n", "reason": "it was asked"})),
            record(
                &json!({"status": "answered", "answer": "fix: now", "resolved_at": at, "resolution_reason": "it was asked"}),
            ),
        ),
        (
            "what was said",
            answered(&json!({"answer": "answered", "note": "the blue one"})),
            record(&json!({"status": "answered", "answer": "the blue one", "resolved_at": at})),
        ),
        (
            "answered without a word",
            answered(&json!({"answer": "answered"})),
            record(&json!({"status": "answered", "answer": "answered", "resolved_at": at})),
        ),
        (
            "nothing at all",
            answered(&json!({"answer": ""})),
            record(&json!({"status": "answered", "answer": "answered", "resolved_at": at})),
        ),
        (
            "nobody noted when",
            answered(&json!({"resolved_at": ""})),
            record(&json!({"status": "answered", "answer": "fix", "resolved_at": "2026-11-19T05:00:00Z"})),
        ),
        (
            "put off",
            decision(
                &json!({"status": "cancelled", "note": "later", "reason": "put off", "resolved_at": at}),
            ),
            record(&json!({"status": "cancelled", "resolved_at": at, "resolution_reason": "put off"})),
        ),
        (
            "put off with a note",
            decision(&json!({"status": "cancelled", "note": "later", "resolved_at": at})),
            record(&json!({"status": "cancelled", "resolved_at": at, "resolution_reason": "later"})),
        ),
        (
            "cancelled for no reason",
            decision(&json!({"status": "cancelled", "resolved_at": at})),
            record(
                &json!({"status": "cancelled", "resolved_at": at, "resolution_reason": "no response provided"}),
            ),
        ),
        (
            "skipped for no reason",
            decision(&json!({"status": "skipped", "answer": "leave", "resolved_at": at})),
            record(
                &json!({"status": "skipped", "answer": "leave", "resolved_at": at, "resolution_reason": "no longer needed"}),
            ),
        ),
        (
            "no phase before",
            decision(&json!({"before": null})),
            record(&json!({"state_context": "ASK_USER"})),
        ),
        ("no question", decision(&json!({"question": ""})), record(&json!({"question": "ask-user"}))),
    ]);
}

#[test]
fn a_gate_becomes_the_record_that_others_know() {
    let at = AT;
    becomes(vec![
        (
            "a gate",
            decision(&json!({"id": "UD-APPROVE-DESIGN", "phase": "APPROVE_DESIGN", "before": "DESIGN"})),
            record(&json!({"decision_id": "UD-APPROVE-DESIGN", "state_context": "APPROVE_DESIGN"})),
        ),
        (
            "a gate whose answer has a note",
            answered(
                &json!({"id": "UD-APPROVE-DESIGN", "answer": "changes-requested", "note": "smaller", "phase": "APPROVE_DESIGN"}),
            ),
            record(
                &json!({"decision_id": "UD-APPROVE-DESIGN", "state_context": "APPROVE_DESIGN", "status": "answered",
                "answer": "changes-requested: smaller", "resolved_at": at}),
            ),
        ),
        (
            "an answer that is one word",
            answered(
                &json!({"id": "UD-REVIEW-STRATEGY", "answer": "per-batch", "note": "safer", "phase": "REVIEW_STRATEGY"}),
            ),
            record(
                &json!({"decision_id": "UD-REVIEW-STRATEGY", "state_context": "REVIEW_STRATEGY", "status": "answered",
                "answer": "per-batch", "resolved_at": at, "resolution_reason": "safer"}),
            ),
        ),
    ]);
}

#[test]
fn a_decision_keeps_its_record_and_others_keep_theirs() {
    let at = "2026-11-19T04:10:00Z";
    let gate = |more: Value| {
        let mut given =
            decision(&json!({"id": "UD-APPROVE-DESIGN", "question": "Approve?", "phase": "APPROVE_DESIGN"}));
        given.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        given
    };
    let of_gate = |more: Value| {
        let mut it = record(
            &json!({"decision_id": "UD-APPROVE-DESIGN", "question": "Approve?", "state_context": "APPROVE_DESIGN"}),
        );
        it.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        it
    };
    let answered = json!({"status": "answered", "answer": "fix", "resolved_at": at});
    let foreign =
        json!({"decision_id": "UD-7", "question": "Old?", "status": "answered", "answer": "yes", "by": "me"});
    // What is there, what was decided, what is there then.
    let cases: Vec<(&str, Records, Records, Records)> = vec![
        (
            "a new one gets the highest number and one more",
            vec![foreign.clone(), json!("decided by hand")],
            vec![decision(&json!({}))],
            vec![foreign.clone(), json!("decided by hand"), record(&json!({"decision_id": "UD-8"}))],
        ),
        (
            "an answer goes to the record that asked",
            vec![foreign.clone(), record(&json!({"decision_id": "UD-8", "more": [1]}))],
            vec![decision(&answered)],
            vec![foreign.clone(), {
                let mut it = record(&json!({"decision_id": "UD-8", "more": [1]}));
                it.as_object_mut().unwrap().extend(answered.as_object().unwrap().clone());
                it
            }],
        ),
        (
            "two questions alike at one moment are two",
            vec![],
            vec![decision(&answered), decision(&json!({}))],
            vec![
                record(&json!({"status": "answered", "answer": "fix", "resolved_at": at})),
                record(&json!({"decision_id": "UD-2"})),
            ],
        ),
        (
            "the same question at another moment is another one",
            vec![record(&json!({}))],
            vec![decision(&json!({})), decision(&json!({"asked_at": "2026-11-20T00:00:00Z"}))],
            vec![
                record(&json!({})),
                record(&json!({"decision_id": "UD-2", "asked_at": "2026-11-20T00:00:00Z"})),
            ],
        ),
        (
            "a gate that is asked again has one record, and nothing of the last time is left",
            vec![of_gate(
                json!({"status": "answered", "answer": "approved", "resolved_at": at, "resolution_reason": "x", "note": 1}),
            )],
            vec![
                gate(json!({"status": "answered", "answer": "approved", "resolved_at": at})),
                gate(json!({"asked_at": "2026-11-20T00:00:00Z"})),
            ],
            vec![of_gate(json!({"asked_at": "2026-11-20T00:00:00Z", "note": 1}))],
        ),
        (
            "of two records of a gate the last one counts",
            vec![of_gate(json!({"question": "First?"})), of_gate(json!({}))],
            vec![gate(json!({"status": "answered", "answer": "approved", "resolved_at": at}))],
            vec![
                of_gate(json!({"question": "First?"})),
                of_gate(json!({"status": "answered", "answer": "approved", "resolved_at": at})),
            ],
        ),
        (
            "what is there has no time, and keeps the one it got",
            vec![record(&json!({"status": "answered", "answer": "fix", "resolved_at": "then"}))],
            vec![decision(&json!({"status": "answered", "answer": "fix"}))],
            vec![record(&json!({"status": "answered", "answer": "fix", "resolved_at": "then"}))],
        ),
        (
            "a key that is not there says what null says",
            vec![json!({"decision_id": "UD-1", "question": "Which one?", "status": "pending",
                "asked_at": "2026-11-19T04:00:00Z", "state_context": "IMPLEMENT_LOOP"})],
            vec![decision(&json!({}))],
            vec![json!({"decision_id": "UD-1", "question": "Which one?", "status": "pending",
                "asked_at": "2026-11-19T04:00:00Z", "state_context": "IMPLEMENT_LOOP"})],
        ),
        ("nothing was decided", vec![foreign.clone()], vec![], vec![foreign]),
    ];
    let mut wrong = Vec::new();
    for (title, there, wanted, after) in cases {
        differ(&mut wrong, title, &records(&there, &wanted), &after);
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert_eq!(shown(&json!({}), "user_decisions", &json!([]))["user_decisions"], json!([]));
    assert_eq!(shown(&json!({}), "user_decisions", &json!(null)), json!({}));
}

#[test]
fn what_is_no_decision_is_not_written() {
    for (there, wanted, why) in [
        (json!([]), json!("yes"), "decisions are a list"),
        (json!({}), json!([]), "what is there is no list of decisions"),
        (
            json!([]),
            json!([{"status": "done"}]),
            "a decision is pending, answered, cancelled, skipped, and not `done`",
        ),
        (json!([]), json!(["yes"]), "a decision is pending, answered, cancelled, skipped, and not ``"),
    ] {
        let file = json!({"user_decisions": there});
        assert_eq!(status::changes(&file, "user_decisions", &wanted, None), Err(why.to_owned()));
    }
}

#[test]
fn records_of_every_generation_are_read() {
    let cases: Vec<(Value, &str, Value, &str)> = vec![
        (record(&json!({})), "pending", json!(null), ""),
        (
            record(&json!({"status": "Answered", "answer": " Approved, ship it "})),
            "answered",
            json!("Approved, ship it"),
            "approved",
        ),
        (
            record(&json!({"status": "answered", "answer": "changes-requested: smaller"})),
            "answered",
            json!("changes-requested: smaller"),
            "changes-requested",
        ),
        (record(&json!({"status": "answered", "answer": "fix: now"})), "answered", json!("fix: now"), "fix"),
        (
            record(&json!({"status": "answered", "answer": "the blue one"})),
            "answered",
            json!("the blue one"),
            "",
        ),
        (record(&json!({"status": "cancelled", "answer": "approved"})), "cancelled", json!("approved"), ""),
        (record(&json!({"status": null, "answer": "fix"})), "answered", json!("fix"), "fix"),
        (record(&json!({"status": null})), "pending", json!(null), ""),
        (
            record(
                &json!({"decision_id": "UD-REVIEW-STRATEGY", "status": "answered", "answer": "per-batch"}),
            ),
            "answered",
            json!("per-batch"),
            "per-batch",
        ),
        (
            record(
                &json!({"decision_id": "UD-REVIEW-STRATEGY", "status": "answered", "answer": "per-batch: ok"}),
            ),
            "answered",
            json!("per-batch: ok"),
            "",
        ),
        (json!("Use SQLite"), "answered", json!("Use SQLite"), ""),
        (json!({}), "pending", json!(null), ""),
    ];
    for (written, status_of, answer, word) in cases {
        let (value, problems) = status::read(&json!({"user_decisions": [written]}));
        let found = &value["user_decisions"][0];
        assert_eq!(told(&problems), Vec::<String>::new(), "{written}");
        assert_eq!(
            (&found["status"], &found["answer"], &found["word"]),
            (&json!(status_of), &answer, &json!(word)),
            "{written}"
        );
    }
}

#[test]
fn every_rule_of_a_record_refuses_what_breaks_it() {
    let done =
        |status: &str| json!({"status": status, "answer": "a", "resolved_at": "t", "resolution_reason": "r"});
    let cases: Vec<(Value, bool)> = vec![
        (record(&json!({})), true),
        (record(&json!({"answer": "a"})), false),
        (record(&json!({"resolved_at": "t"})), false),
        (record(&json!({"resolution_reason": "r"})), false),
        (record(&done("answered")), true),
        (record(&done("cancelled")), true),
        (record(&done("skipped")), true),
        (record(&json!({"status": "answered", "answer": "a", "resolved_at": "t"})), true),
        (record(&json!({"status": "answered", "answer": " ", "resolved_at": "t"})), false),
        (record(&json!({"status": "answered", "answer": "a"})), false),
        (record(&json!({"status": "cancelled", "resolved_at": "t", "resolution_reason": "r"})), true),
        (record(&json!({"status": "cancelled", "resolved_at": "t"})), false),
        (record(&json!({"status": "skipped", "resolution_reason": "r"})), false),
        (record(&json!({"status": "done"})), false),
        (json!("yes"), false),
    ];
    for (written, is_valid) in cases {
        assert_eq!(invalid(&written).is_none(), is_valid, "{written}");
        let file = json!({"user_decisions": [record(&json!({})), written]});
        let place = status::lacking(&file).map(|it| it.field);
        assert_eq!(place, (!is_valid).then(|| "user_decisions.1".to_owned()));
    }
}
