//! What is written, and that everything else stays.

use loopwright_formats::feature::{Meta, append, changes};
use serde_json::{Value, json};

use super::{cases, changed};

const NOW: &str = "2026-11-19T05:00:00Z";

fn order() -> Vec<String> {
    loopwright_formats::feature::PHASES.iter().map(|it| (*it).to_owned()).collect()
}

/// A file in which a field holds a value. Set again, nothing changes.
fn set(file: &Value, field: &str, value: &Value, stage: &str) -> Value {
    let order = order();
    let after = changed(file, &changes(file, field, value, (stage, &order)).unwrap());
    assert_eq!(changes(&after, field, value, (stage, &order)), Ok(vec![]), "{field} of {after}");
    after
}

#[test]
fn a_field_is_written_in_the_words_of_its_file() {
    let seed = json!({"id": "007", "name": "export", "status": "planning", "currentPhase": "specify", "phases": {"design": {"started": NOW}}});
    let later = json!({"slug": "export", "mode": "Standard", "lastCompletedPhase": "specify", "phases": {"design": {"startedAt": NOW, "x": 1}}});
    let beside = json!({"phases": {}, "phases_extra": {"design": {"started": NOW}}});
    let list = json!({"phases": [{"name": "design", "started": NOW}]});
    let word = json!({"phases": {"design": "in progress"}});
    let cases = [
        (&seed, "status", json!("active"), "/status", json!("planning")),
        (&seed, "status", json!("completed"), "/status", json!("completed")),
        (&later, "mode", json!("standard"), "/mode", json!("Standard")),
        (&later, "mode", json!("full"), "/mode", json!("full")),
        (&seed, "name", json!("import"), "/name", json!("import")),
        (&later, "name", json!("import"), "/slug", json!("import")),
        (&seed, "currentPhase", json!("design"), "/currentPhase", json!("design")),
        (&later, "currentPhase", json!("design"), "/lastCompletedPhase", json!("design")),
        (&seed, "phase.completed", json!(NOW), "/phases/design/completed", json!(NOW)),
        (&later, "phase.started", json!("2027"), "/phases/design/startedAt", json!("2027")),
        (&later, "phase", json!(""), "/phases/design", json!({"x": 1, "iterations": 0, "reviewerNotes": []})),
        (&seed, "phase", json!(""), "/phases/design", json!({})),
        (&beside, "phase.iterations", json!(2), "/phases_extra/design/iterations", json!(2)),
        (&list, "phase.verified", json!(true), "/phases/0/verified", json!(true)),
        (
            &word,
            "phase.completed",
            json!(NOW),
            "/phases/design",
            json!({"started": "unknown", "completed": NOW}),
        ),
        (&json!({}), "phases.specify.started", json!(NOW), "/phases/specify/started", json!(NOW)),
        (&seed, "completed", json!(""), "/completed", Value::Null),
        (
            &seed,
            "phase.reviewerNotes",
            json!([{"severity": "blocker", "text": "no bounds", "file": "spec.md"}, "a gap"]),
            "/phases/design/reviewerNotes",
            json!(["[blocker] no bounds (at: spec.md)", "a gap"]),
        ),
    ];
    for (file, field, value, place, wanted) in cases {
        let after = set(file, field, &value, "design");
        assert_eq!(after.pointer(place).unwrap_or(&Value::Null), &wanted, "{field} of {file}: {after}");
    }
    let both = json!({"currentPhase": "design", "lastCompletedPhase": "specify", "phases": {}});
    let after = set(&both, "currentPhase", &json!("design"), "design");
    assert_eq!(after["lastCompletedPhase"], "design");
}

#[test]
fn a_phase_outside_of_the_order_does_not_move_it() {
    let file = json!({"currentPhase": "create-tasks"});
    let quick: Vec<String> = ["specify", "create-tasks", "implement"].map(str::to_owned).into();
    assert_eq!(changes(&file, "currentPhase", &json!("design"), ("design", &quick)), Ok(vec![]));
}

#[test]
fn skipped_phases_are_added_once() {
    let entry = |phase: &str| json!({"phase": phase, "skippedAt": NOW, "fromPhase": "specify", "toPhase": "create-tasks"});
    let file = json!({"id": "007"});
    let both = json!([entry("design"), entry("create-plan")]);
    let after = changed(&file, &append(&file, "skipped", &both).unwrap());
    assert_eq!(after["skippedPhases"], both);
    assert_eq!(append(&after, "skipped", &both), Ok(vec![]));
    assert_eq!(Meta::read(&after).skipped, ["design", "create-plan"]);
    assert!(append(&file, "phases", &both).is_err());
    assert!(append(&json!({"skippedPhases": 7}), "skipped", &both).is_err());
}

#[test]
fn nothing_else_changes_in_any_record() {
    for case in cases("meta") {
        let Some(file) = case.file() else { continue };
        let before = Meta::read(&file);
        for stage in ["design", "verify"] {
            let mut after = file.clone();
            for (field, value) in [
                ("phase.started", json!(NOW)),
                ("phase.iterations", json!(4)),
                ("phase.completed", json!(NOW)),
                ("currentPhase", json!(stage)),
            ] {
                after = set(&after, field, &value, stage);
            }
            let meta = Meta::read(&after);
            assert_eq!(meta.last.as_deref(), Some(stage), "{}: {after}", case.id);
            assert_eq!(
                (meta.phases[stage].iterations, meta.phases[stage].is_partial()),
                (4, false),
                "{}",
                case.id
            );
            for (name, phase) in before.phases.iter().filter(|(name, _)| *name != stage) {
                assert_eq!(meta.phases.get(name), Some(phase), "{}: {name}", case.id);
            }
            for (name, value) in file.as_object().unwrap() {
                let touched = ["phases", "phases_extra", "currentPhase", "lastCompletedPhase", stage];
                if !touched.contains(&name.as_str()) {
                    assert_eq!(after.get(name), Some(value), "{}: {name}", case.id);
                }
            }
        }
    }
}
