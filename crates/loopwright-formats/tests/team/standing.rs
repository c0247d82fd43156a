//! Where a session stands.

use loopwright_formats::team::status;
use serde_json::{Value, json};

use super::{differ, shown, told};

/// What is read of a file that says nothing, with other fields.
fn calm(more: &Value) -> Value {
    let mut value = json!({
        "session": "", "mode": "full", "current_state": "", "user_decisions": [], "retry_counts": {},
        "known_issues": [], "assumptions": [],
        "gate_tracking": {"APPROVE_DESIGN": {
            "correction_status": "none", "last_correction_dispatch": {"agent": null, "task_id": null, "at": null},
        }},
        "runtime_flags": {"copilot_instructions_exists": false, "copilot_checked_at": ""},
        "last_ci_result": "unknown", "last_update": "", "blocker": null, "completed_tasks": [], "blocked_tasks": [],
    });
    for (key, it) in more.as_object().unwrap() {
        value[key] = it.clone();
    }
    value
}

#[test]
fn a_status_of_every_generation_is_read() {
    let sent = json!({"agent": "Architect", "task_id": "meta", "at": "t"});
    let gate = |status: Value| json!({"gate_tracking": {"APPROVE_DESIGN": {"correction_status": status}}});
    let mut cases: Vec<(&str, Value, Value)> = vec![
        ("nothing", json!({}), json!({})),
        ("null", json!(null), json!({})),
        (
            "nulls",
            json!({"session": null, "mode": null, "user_decisions": null, "retry_counts": null, "gate_tracking": null}),
            json!({}),
        ),
        (
            "a session of today",
            json!({
                "current_state": "DONE", "session": "2026-02-17_x", "assumptions": ["a"], "user_decisions": [],
                "retry_counts": {"T-001": {"FIX_REVIEW": 0, "FIX_TESTS": 1}}, "known_issues": [],
                "last_ci_result": "green", "last_update": "2026-02-17T12:00:00Z", "more": 1,
                "gate_tracking": {"APPROVE_DESIGN": {"correction_status": "dispatched", "last_correction_dispatch": sent}},
                "runtime_flags": {"copilot_instructions_exists": true, "copilot_checked_at": "t"}, "blocker": "x",
            }),
            json!({
                "current_state": "DONE", "session": "2026-02-17_x", "assumptions": ["a"],
                "retry_counts": {"T-001": {"FIX_REVIEW": 0, "FIX_TESTS": 1}}, "last_ci_result": "green",
                "last_update": "2026-02-17T12:00:00Z",
                "gate_tracking": {"APPROVE_DESIGN": {"correction_status": "dispatched", "last_correction_dispatch": sent}},
                "runtime_flags": {"copilot_instructions_exists": true, "copilot_checked_at": "t"}, "blocker": "x",
            }),
        ),
        (
            "the first generation",
            json!({"current_state": "DONE", "completed_tasks": ["T-001", {"id": "T-002"}], "blocked_tasks": [{"task": "T-003", "why": "x"}],
                "known_issues": [{"id": 1, "description": "slow"}, {"a": "b"}, ""]}),
            json!({"current_state": "DONE", "completed_tasks": ["T-001", "T-002"], "blocked_tasks": ["T-003"],
                "known_issues": ["slow", "a: b"]}),
        ),
        (
            "lean by its state",
            json!({"current_state": "INTAKE_LEAN"}),
            json!({"current_state": "INTAKE_LEAN", "mode": "lean"}),
        ),
        (
            "full by its mode",
            json!({"current_state": "INTAKE_LEAN", "mode": "full"}),
            json!({"current_state": "INTAKE_LEAN"}),
        ),
        ("lean by its mode", json!({"mode": "lean"}), json!({"mode": "lean"})),
        ("a state nobody knows", json!({"current_state": "Later"}), json!({"current_state": "Later"})),
        (
            "what others count",
            json!({"retry_counts": {"T-001": {"OTHER": 1.5, "MORE": "x", "ROUNDS": 2}}}),
            json!({"retry_counts": {"T-001": {"ROUNDS": 2}}}),
        ),
        (
            "counts of the session",
            json!({"retry_counts": {"FIX_BUILD": 2, "T-001": null}}),
            json!({"retry_counts": {"meta": {"FIX_BUILD": 2}, "T-001": {}}}),
        ),
    ];
    for word in [json!(null), json!("none")] {
        cases.push(("no correction", gate(word), json!({})));
    }
    for word in ["queued", "dispatched", "completed"] {
        let dispatch = json!({"agent": null, "task_id": null, "at": null});
        let wanted = json!({"correction_status": word, "last_correction_dispatch": dispatch});
        cases.push((word, gate(json!(word)), json!({"gate_tracking": {"APPROVE_DESIGN": wanted}})));
    }
    let mut wrong = Vec::new();
    for (title, file, more) in cases {
        let (found, problems) = status::read(&file);
        differ(&mut wrong, title, &told(&problems), &Vec::new());
        differ(&mut wrong, title, &found, &calm(&more));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn what_cannot_be_understood_is_refused_at_its_place() {
    for (file, wanted) in [
        (json!([]), ": this is no map of fields"),
        (json!({"mode": "quick"}), "mode: `quick` is none of full, lean"),
        (json!({"last_ci_result": "yellow"}), "last_ci_result: `yellow` is none of unknown, green, red"),
        (
            json!({"gate_tracking": {"APPROVE_DESIGN": {"correction_status": "sent"}}}),
            "gate_tracking.APPROVE_DESIGN.correction_status: `sent` is none of none, queued, dispatched, completed",
        ),
        (json!({"user_decisions": {}}), "user_decisions: this is no list of decisions"),
        (json!({"user_decisions": [{}, 7]}), "user_decisions.1: this is no decision"),
        (
            json!({"user_decisions": [{"status": "done"}]}),
            "user_decisions.0.status: `done` is no status; one of pending, answered, cancelled, skipped",
        ),
        (json!({"retry_counts": []}), "retry_counts: this is no map of counts by task"),
        (json!({"retry_counts": {"T-001": 3}}), "retry_counts.T-001: this is no map of counts by kind"),
        (
            json!({"retry_counts": {"T-001": {"FIX_REVIEW": -1}}}),
            "retry_counts.T-001.FIX_REVIEW: this is no count",
        ),
        (
            json!({"retry_counts": {"T-001": {"FIX_REVIEW": "2"}}}),
            "retry_counts.T-001.FIX_REVIEW: this is no count",
        ),
    ] {
        assert_eq!(told(&status::read(&file).1), [wanted]);
    }
}

#[test]
fn a_field_is_shown_among_what_others_wrote() {
    let agent = "gate_tracking.APPROVE_DESIGN.last_correction_dispatch.agent";
    let counted = json!({"T-001": {"FIX_REVIEW": 1, "OTHER": 5}, "T-009": {"FIX_TESTS": 2}});
    let entry = |item: Value, summary: &str| json!({"item": item, "state": "review", "signal": "OK", "summary": summary, "finding": null});
    // The file, the field, the value, and what stands in the field's topmost part then.
    let cases: Vec<(&str, Value, &str, Value, Value)> = vec![
        ("a word", json!({}), "current_state", json!("PLAN"), json!("PLAN")),
        ("a word once more", json!({"mode": "lean"}), "mode", json!("full"), json!("full")),
        ("no blocker", json!({"blocker": "x"}), "blocker", json!(""), json!(null)),
        ("no blocker where none was", json!({}), "blocker", json!(""), json!(null)),
        ("a blocker", json!({"blocker": null}), "blocker", json!("x"), json!("x")),
        (
            "below null",
            json!({"gate_tracking": null}),
            "gate_tracking.APPROVE_DESIGN.correction_status",
            json!("queued"),
            json!({"APPROVE_DESIGN": {"correction_status": "queued"}}),
        ),
        (
            "a role",
            json!({}),
            agent,
            json!("architecture"),
            json!({"APPROVE_DESIGN": {"last_correction_dispatch": {"agent": "Architect"}}}),
        ),
        (
            "an agent by its name",
            json!({}),
            agent,
            json!("SpecAgent"),
            json!({"APPROVE_DESIGN": {"last_correction_dispatch": {"agent": "SpecAgent"}}}),
        ),
        ("no counts", json!({}), "retry_counts", json!({}), json!({})),
        (
            "nothing to say of counts",
            json!({"retry_counts": counted}),
            "retry_counts",
            json!(null),
            counted.clone(),
        ),
        (
            "counts",
            json!({"retry_counts": counted}),
            "retry_counts",
            json!({"": {"fix-build": 2, "re-reviews": 1}, "meta": {"fix-review": 1, "fix-build": 1}, "T-001": {"fix-review": 3, "fix-tests": 0, "retries": 9}}),
            json!({"T-001": {"FIX_REVIEW": 3, "OTHER": 5}, "T-009": {"FIX_TESTS": 2}, "meta": {"FIX_BUILD": 3, "FIX_REVIEW": 1}}),
        ),
        (
            "a count that went down",
            json!({"retry_counts": counted}),
            "retry_counts",
            json!({"T-009": {"fix-tests": 0}}),
            json!({"T-001": {"FIX_REVIEW": 1, "OTHER": 5}, "T-009": {"FIX_TESTS": 0}}),
        ),
        (
            "a task with a dot",
            json!({"retry_counts": counted}),
            "retry_counts",
            json!({"1.2": {"fix-review": 1}, "T-009": {"fix-tests": 3}}),
            json!({"T-001": {"FIX_REVIEW": 1, "OTHER": 5}, "T-009": {"FIX_TESTS": 3}, "1.2": {"FIX_REVIEW": 1}}),
        ),
        ("no issues", json!({}), "known_issues", json!([]), json!([])),
        (
            "issues",
            json!({"known_issues": ["slow", {"summary": "T-001: leaks"}]}),
            "known_issues",
            json!([
                entry(json!(null), "slow"),
                entry(json!("T-001"), "leaks"),
                entry(json!("T-002"), "odd"),
                entry(json!("T-002"), "odd"),
                entry(json!("T-003"), "T-003: said twice"),
                "plain",
                entry(json!(null), ""),
                "",
                {}
            ]),
            json!(["slow", {"summary": "T-001: leaks"}, "T-002: odd", "T-003: said twice", "plain", "review came out OK"]),
        ),
        (
            "what is there instead of a summary",
            json!({}),
            "assumptions",
            json!([{"item": "T-001", "summary": " ", "finding": "F-1"}, {"state": "", "signal": "OK"}]),
            json!(["T-001: F-1", "OK"]),
        ),
    ];
    let mut wrong = Vec::new();
    for (title, file, field, value, wanted) in cases {
        let after = shown(&file, field, &value);
        let top = field.split('.').next().unwrap();
        differ(&mut wrong, title, &after[top], &wanted);
        let is_same = after[top] == file[top];
        let stamped = if is_same && after.get(top) == file.get(top) {
            json!(null)
        } else {
            json!("2026-11-19T05:00:00Z")
        };
        differ(&mut wrong, &format!("{title}, the time"), &after["last_update"], &stamped);
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn times_are_noted_when_something_changed() {
    let field = "runtime_flags.copilot_instructions_exists";
    let (then, now) = ("2026-11-19T04:00:00Z", "2026-11-19T05:00:00Z");
    let file = |exists: Value, update: &str| json!({"last_update": update, "runtime_flags": {"copilot_instructions_exists": exists, "copilot_checked_at": update}});
    assert_eq!(shown(&file(json!(false), then), field, &json!(true)), file(json!(true), now));
    assert_eq!(shown(&file(json!(true), then), field, &json!(true)), file(json!(true), then));
    let absent = shown(&json!({}), field, &json!(false));
    assert_eq!(
        absent["runtime_flags"],
        json!({"copilot_instructions_exists": false, "copilot_checked_at": now})
    );
    // Nobody says what time it is.
    let changes = status::changes(&json!({}), "mode", &json!("lean"), None).unwrap();
    assert_eq!(changes.len(), 1);
    assert_eq!(
        shown(&json!({"last_update": now}), "last_update", &json!(then)),
        json!({"last_update": then})
    );
}

#[test]
fn what_has_no_place_in_a_status_is_not_written() {
    let file = json!({"retry_counts": {"T-001": 3}, "known_issues": "slow"});
    for (field, value, why) in [
        ("mode", json!("quick"), "`quick` is none of full, lean"),
        ("last_ci_result", json!("yellow"), "`yellow` is none of unknown, green, red"),
        (
            "gate_tracking.X.correction_status",
            json!("sent"),
            "`sent` is none of none, queued, dispatched, completed",
        ),
        ("current_state", json!(["PLAN"]), "this field holds one word"),
        ("session", json!({}), "this field holds one word"),
        ("completed_tasks", json!("T-001"), "nobody can set `completed_tasks`"),
        ("gate_tracking", json!("none"), "nobody can set `gate_tracking`"),
        ("retry_counts", json!([]), "counts are a map by item"),
        ("retry_counts", json!({"T-002": 1}), "`T-002` has no map of budgets"),
        ("retry_counts", json!({"T-002": {"fix-review": -1}}), "`fix-review` of `T-002` is no count"),
        ("retry_counts", json!({"T-001": {"fix-review": 1}}), "what is there of `T-001` is no map of counts"),
        ("known_issues", json!("slow"), "this is a list"),
        ("known_issues", json!([]), "what is there is no list"),
    ] {
        assert_eq!(status::changes(&file, field, &value, None), Err(why.to_owned()), "{field}");
    }
    let wrong = status::changes(&json!({"retry_counts": 1}), "retry_counts", &json!({}), None);
    assert_eq!(wrong, Err("what is there is no map of counts".to_owned()));
}
