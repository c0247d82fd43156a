//! Files nobody would write.

use loopwright_formats::team::acceptance::Acceptance;
use loopwright_formats::team::decisions::invalid;
use loopwright_formats::team::status;
use loopwright_formats::team::tasks::Tasks;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Map, Value, json};

use super::changed;

const KEYS: &[&str] = &[
    "id",
    "tasks",
    "criteria",
    "acceptance_criteria",
    "verify",
    "verification",
    "commands",
    "expected_result",
    "cmd",
    "manual",
    "status",
    "type",
    "goal",
    "depends_on",
    "deps",
    "acceptance_checks",
    "risk_flags",
    "done_when",
    "project",
    "name",
    "mode",
    "current_state",
    "user_decisions",
    "retry_counts",
    "known_issues",
    "gate_tracking",
    "APPROVE_DESIGN",
    "correction_status",
    "answer",
    "question",
    "decision_id",
    "asked_at",
    "T-001",
    "FIX_REVIEW",
    "",
];
const WORDS: &[&str] = &[
    "",
    " ",
    "T-001",
    "T-002",
    "meta",
    "none",
    "cmd: ls",
    "manual:",
    "manual",
    "é",
    "manuél",
    "UD-1",
    "UD-99999999999",
    "pending",
    "answered",
    "done",
    "Which one?",
    "AC-001",
    "a: b",
    "`x`",
    "`",
    ":",
    "\n",
];

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        5 => select(WORDS).prop_map(Value::from),
        1 => any::<i64>().prop_map(Value::from),
        1 => select(vec![json!(null), json!(true), json!(1.5)]),
    ];
    leaf.prop_recursive(4, 24, 5, |inner| {
        let fields = vec((select(KEYS), inner.clone()), 0..5);
        prop_oneof![
            vec(inner, 0..4).prop_map(Value::from),
            fields.prop_map(|it| Value::Object(
                it.into_iter().map(|(key, it)| (key.to_owned(), it)).collect::<Map<_, _>>()
            )),
        ]
    })
}

fn decision() -> impl Strategy<Value = Value> {
    let text = || select(WORDS);
    let status = select(vec!["pending", "answered", "cancelled", "skipped"]);
    let id = select(vec![json!(null), json!("UD-APPROVE-DESIGN"), json!("UD-REVIEW-STRATEGY")]);
    (id, status, text(), text(), text(), (text(), text(), text())).prop_map(|(id, status, question, answer, note, (reason, asked, resolved))| {
        json!({"id": id, "state": "ask", "status": status, "question": question, "answer": answer, "note": note,
            "reason": reason, "asked_at": asked, "resolved_at": resolved, "phase": "ASK_USER", "before": null})
    })
}

/// Whatever the field was, all else is as it was, but for the times.
fn others(file: &Value, field: &str) -> Value {
    let mut file = file.clone();
    for name in [field.split('.').next().unwrap(), "last_update", "runtime_flags"] {
        file.as_object_mut().map(|it| it.shift_remove(name));
    }
    file
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn nothing_is_left_out_unsaid(file in value()) {
        let tasks = Tasks::read(&file);
        let count = file["tasks"].as_array().map_or(0, Vec::len);
        prop_assert!(tasks.items.len() == count || !tasks.problems.is_empty(), "{file}");
        let _ = (tasks.commands(), tasks.flags(), tasks.cross_cutting(), tasks.whole());
        let acceptance = Acceptance::read(&file);
        // Nothing passes because nobody looked.
        prop_assert!(acceptance.criteria.iter().all(|it| !it.verify.is_empty()) || !acceptance.problems.is_empty(), "{file}");
        prop_assert!(acceptance.criteria.iter().flat_map(|it| &it.verify).all(|it| !it.text().is_empty()));
        let _ = (acceptance.commands(), acceptance.manual(), status::read(&file), status::lacking(&file));
    }

    #[test]
    fn a_field_shows_what_it_was_set_to_and_nothing_else_changed(
        mut file in value(), value in value(),
        field in select(vec!["mode", "session", "blocker", "retry_counts", "known_issues", "assumptions", "user_decisions",
            "runtime_flags.copilot_instructions_exists", "gate_tracking.APPROVE_DESIGN.correction_status"]),
    ) {
        if !file.is_object() {
            file = json!({});
        }
        // What stands on the way and is no map is for whoever makes the changes to refuse.
        if let Some(top) = field.split_once('.').map(|it| it.0) {
            file[top] = json!({});
        }
        let Ok(changes) = status::changes(&file, field, &value, Some("now")) else { return Ok(()) };
        let after = changed(&file, &changes);
        prop_assert_eq!(others(&after, field), others(&file, field));
        prop_assert_eq!(status::changes(&after, field, &value, Some("later")), Ok(vec![]), "{} {}", file, after);
    }

    #[test]
    fn records_are_valid_and_those_of_others_stay(there in vec(value(), 0..4), wanted in vec(decision(), 0..5), more in vec(decision(), 0..3)) {
        let file = json!({"user_decisions": there});
        let one = changed(&file, &status::changes(&file, "user_decisions", &json!(wanted), None).unwrap());
        let again = status::changes(&one, "user_decisions", &json!(wanted), Some("now"));
        prop_assert_eq!(again, Ok(vec![]), "{}", &one);
        let all: Vec<&Value> = wanted.iter().chain(&more).collect();
        let two = changed(&one, &status::changes(&one, "user_decisions", &json!(all), None).unwrap());
        let records = two["user_decisions"].as_array().unwrap();
        let mut names = std::collections::HashSet::new();
        for (at, record) in records.iter().enumerate() {
            let of_others = there.get(at);
            prop_assert!(of_others == Some(record) || invalid(record).is_none(), "{record}");
            prop_assert!(of_others.is_some() || names.insert(record["decision_id"].to_string()), "{record}");
        }
    }
}
