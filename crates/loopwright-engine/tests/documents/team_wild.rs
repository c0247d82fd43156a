//! Files of a team's session as nobody would write them: nothing panics, and a change is the one that was meant or none.

use loopwright_engine::documents::Format;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Value, json};

use crate::team::{ACCEPTANCE, EARLY_STATUS, EARLY_TASKS, STATUS, TASKS, about, reader, set, value};

const PIECES: &[&str] = &[
    "",
    "\n",
    "  ",
    "    ",
    "- ",
    "\"",
    "'",
    "{",
    "}",
    "[",
    "]",
    ":",
    ": ",
    ",",
    "null",
    "1",
    "1.50",
    "true",
    "# c\n",
    "status: x\n",
    "    status: completed\n",
    "status",
    "id: T-001\n",
    "  - id: T-004\n",
    "tasks:\n",
    "\"status\": 1,",
    "\"mode\": \"lean\",",
    "\"user_decisions\": null,",
    "\"retry_counts\": {},",
    "\"UD-7\"",
    "T-001",
    "&a ",
    "*a",
    "|\n",
    ">\n",
    "\t",
    "\r\n",
    "\u{feff}",
    "é",
    "\\",
    "---\n",
    "?",
    "cmd: ",
    "manual: ",
];

/// A text with stretches of it replaced.
fn mutated(of: Vec<&'static str>) -> impl Strategy<Value = String> {
    let cut = (any::<prop::sample::Index>(), 0..12_usize, select(PIECES));
    (select(of), vec(cut, 0..4)).prop_map(|(text, cuts)| {
        let mut text = text.to_owned();
        for (at, many, piece) in cuts {
            let places: Vec<usize> = text.char_indices().map(|(it, _)| it).chain([text.len()]).collect();
            let from = at.index(places.len());
            let to = (from + many).min(places.len() - 1);
            text.replace_range(places[from]..places[to], piece);
        }
        text
    })
}

fn shown() -> impl Strategy<Value = (&'static str, Value)> {
    let decision = |status: &str, asked: &str| {
        json!({"id": null, "question": "Which color?", "status": status, "answer": "blue", "note": "", "reason": "",
            "asked_at": asked, "resolved_at": "t", "phase": "ASK_USER", "before": "DESIGN"})
    };
    select(vec![
        ("mode", json!("lean")),
        ("current_state", json!("PLAN")),
        ("blocker", json!("")),
        ("blocker", json!("x")),
        ("user_decisions", json!([])),
        ("user_decisions", json!([decision("answered", "2026-02-17T10:00:00Z"), decision("pending", "u")])),
        ("retry_counts", json!({"T-001": {"fix-review": 2}, "": {"fix-build": 1}, "a.b": {"fix-tests": 1}})),
        ("known_issues", json!([{"item": "T-001", "summary": "slow"}])),
        ("assumptions", json!(["a", "b"])),
        ("runtime_flags.copilot_instructions_exists", json!(true)),
        ("gate_tracking.APPROVE_DESIGN.correction_status", json!("queued")),
        ("gate_tracking.APPROVE_DESIGN.last_correction_dispatch.agent", json!("design")),
    ])
}

fn read(format: Format, text: &str) -> Option<Value> {
    format.read(text).ok().map(|it| it.value())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_status_shows_what_was_set_and_keeps_the_rest(text in mutated(vec![STATUS, EARLY_STATUS, "{}", ""]), (field, shows) in shown()) {
        let _ = (value("team-status", &text), reader("team-status").get(&text, field));
        let Ok(changed) = set("team-status", &text, field, &shows) else { return Ok(()) };
        if let Some(is_shown) = reader("team-status").shows(&changed, field, &shows) {
            prop_assert!(is_shown, "{changed}");
        }
        let top = field.split('.').next().unwrap_or_default();
        let (mut before, mut after) = (read(Format::Json, &text).unwrap_or(json!({})), read(Format::Json, &changed).unwrap_or_default());
        for file in [&mut before, &mut after] {
            for name in [top, "last_update"] {
                file.as_object_mut().map(|it| it.shift_remove(name));
            }
        }
        // An empty file is one without fields.
        let before = if before.is_null() { json!({}) } else { before };
        prop_assert!(changed == text || after == before, "{text}\n{changed}");
    }

    #[test]
    fn the_status_of_a_task_is_all_that_changes(text in mutated(vec![TASKS, EARLY_TASKS]), at in 0..3_usize) {
        let _ = (value("team-tasks", &text), reader("team-tasks").lacks(&page(&text), &about()));
        let status = json!("implemented");
        let before = read(Format::Yaml, &text).unwrap_or_default();
        if let Ok(changed) = set("team-tasks", &text, &format!("items.{at}.status"), &status) {
            let mut wanted = before.clone();
            wanted["tasks"][at]["status"] = status.clone();
            prop_assert_eq!(read(Format::Yaml, &changed), Some(wanted), "{}", changed);
        }
        if let Ok(changed) = set("team-tasks", &text, "items.status", &status) {
            let mut wanted = before;
            for task in wanted["tasks"].as_array_mut().into_iter().flatten() {
                task["status"] = status.clone();
            }
            prop_assert_eq!(read(Format::Yaml, &changed), Some(wanted), "{}", changed);
        }
    }

    #[test]
    fn a_plan_that_can_be_read_has_every_task(text in mutated(vec![TASKS, EARLY_TASKS])) {
        if let Ok(found) = value("team-tasks", &text) {
            let written = read(Format::Yaml, &text).unwrap_or_default();
            prop_assert_eq!(found["count"].as_u64(), written["tasks"].as_array().map(|it| it.len() as u64), "{}", text);
            let gives = loopwright_core::library::readers()["team-tasks"].gives.clone();
            prop_assert!(gives.is_some_and(|it| it.accepts(&found)), "{}", found);
        }
    }

    #[test]
    fn criteria_that_can_be_read_are_all_verified(text in mutated(vec![ACCEPTANCE])) {
        if let Ok(found) = value("team-acceptance", &text) {
            let criteria = found["criteria"].as_array().cloned().unwrap_or_default();
            prop_assert!(criteria.iter().all(|it| it["verify"].as_array().is_some_and(|it| !it.is_empty())), "{}", found);
        }
    }
}

fn page(text: &str) -> loopwright_engine::documents::Page {
    loopwright_engine::documents::Page { path: "tasks.yaml".to_owned(), text: text.to_owned(), is_new: true }
}
