//! The record of a feature and its history of reviews: what workflows see of them, and what a change leaves alone.

use loopwright_core::fact::Type;
use loopwright_core::library;
use loopwright_engine::documents::{About, Page};
use serde_json::{Value, json};

use crate::team::reader;

const META: &str = r#"{
  "id": "003",
  "slug": "export",
  "mode": "Standard",
  "status": "active",
  "owner": "me",
  "lastCompletedPhase": "specify",
  "phases": {
    "specify": {"startedAt": "2026-01-30T08:00:00Z", "completedAt": "2026-01-30T09:00:00Z", "tokens": 7},
    "design": {"started": "2026-01-31T08:00:00Z"}
  }
}
"#;

fn about(stage: &str) -> About {
    let order =
        ["brainstorm", "specify", "design", "create-plan", "create-tasks", "implement", "verify", "finish"];
    About { with: json!({"stage": stage, "order": order}), modified: None }
}

fn value(name: &str, text: &str, stage: &str) -> Result<Value, Vec<String>> {
    let page = Page { path: "a/file".to_owned(), text: text.to_owned(), is_new: false };
    let read = reader(name).value(&[page], &Type::Any, &about(stage));
    read.map_err(|it| it.iter().map(ToString::to_string).collect())
}

#[test]
fn what_is_read_is_what_the_library_promises() {
    let history = "# H\n\n## Phase: design\n\n### Iteration 1 - 2026-01-30T08:00:00Z\n\n**Issues:**\n- [blocker] no (at: R1)\n\n---\n";
    for (name, text) in [
        ("feature-meta", META),
        ("feature-meta", "{}"),
        ("feature-meta", ""),
        ("feature-history", history),
        ("feature-history", ""),
    ] {
        let found = value(name, text, "design").expect("it can be read");
        let gives = library::readers()[name].gives.clone().expect("it says what it gives");
        assert!(gives.accepts(&found), "{name}: {found}");
    }
    let seen = value("feature-meta", META, "create-tasks").expect("a record");
    assert_eq!(
        (&seen["name"], &seen["mode"], &seen["next"]),
        (&json!("export"), &json!("standard"), &json!("design"))
    );
    assert_eq!(seen["phase"]["skips"], json!(["design", "create-plan"]));
    assert_eq!(value("feature-meta", META, "brainstorm").expect("a record")["phase"]["back"], true);
    let issue = &value("feature-history", history, "").expect("a history")["rounds"][0]["issues"][0];
    assert_eq!(*issue, json!({"severity": "blocker", "text": "no", "place": "R1"}));
}

#[test]
fn what_others_wrote_stays() {
    let meta = reader("feature-meta");
    let set =
        |text: &str, field: &str, value: Value| meta.set(text, field, &value, &about("design")).expect(field);
    let text = set(META, "phase.completed", json!("2026-02-01T00:00:00Z"));
    let text = set(&text, "phase.iterations", json!(2));
    let text = set(&text, "phase.reviewerNotes", json!(["dull"]));
    let text = set(&text, "currentPhase", json!("design"));
    let now: Value = serde_json::from_str(&text).expect("JSON");
    assert_eq!(now["lastCompletedPhase"], "design", "in the words the file has");
    assert!(now.get("currentPhase").is_none());
    assert_eq!(
        now["phases"]["design"],
        json!({"started": "2026-01-31T08:00:00Z", "completed": "2026-02-01T00:00:00Z", "iterations": 2, "reviewerNotes": ["dull"]})
    );
    assert_eq!((&now["owner"], &now["phases"]["specify"]["tokens"]), (&json!("me"), &json!(7)));
    assert!(
        text.starts_with("{\n  \"id\": \"003\",\n  \"slug\": \"export\",\n  \"mode\": \"Standard\""),
        "{text}"
    );
    // What is so already is not written again, whatever it is called there.
    for (field, value) in [
        ("mode", json!("standard")),
        ("status", json!("active")),
        ("name", json!("export")),
        ("worktree", json!("")),
    ] {
        assert_eq!(set(&text, field, value), text, "{field}");
        assert_eq!(meta.get(&text, "status").expect("a status"), Some(json!("active")));
    }
    // Skipped phases, each once.
    let skips = json!({"phases": ["design", "create-plan"], "skippedAt": "2026-02-02T00:00:00Z", "toPhase": "create-tasks"});
    let once = meta.append(&text, "skipped", &skips).expect("they are added");
    assert_eq!(meta.append(&once, "skipped", &skips).expect("they are there"), once);
    let now: Value = serde_json::from_str(&once).expect("JSON");
    assert_eq!(
        now["skippedPhases"][1],
        json!({"phase": "create-plan", "skippedAt": "2026-02-02T00:00:00Z", "toPhase": "create-tasks"})
    );
    // A phase that is begun anew is forgotten.
    assert_eq!(
        meta.get_with(&set(&text, "phase", json!("")), "phase.started", &about("design")).expect("a record"),
        None
    );
}

#[test]
fn a_round_is_added_once_and_gets_its_changes() {
    let history = reader("feature-history");
    let round = json!({
        "phase": "design", "iteration": "1", "at": "2026-01-30T08:00:00Z", "decision": "Needs Revision",
        "summary": "# Not yet", "issues": [{"severity": "note", "topic": "out-of-scope", "text": "in color", "file": "a", "line": 3, "subject": "b"}],
    });
    let once = history.append("", "rounds", &round).expect("a round");
    assert_eq!(history.append(&once, "rounds", &round).expect("it is there"), once);
    let rounds = history.get(&once, "rounds").expect("rounds").expect("one");
    assert_eq!(rounds[0], history.entry("rounds", &round), "it stands there as what was added");
    assert_eq!(
        rounds[0]["issues"][0],
        json!({"severity": "note", "text": "out of scope: in color", "place": "a, 3, b"})
    );
    // Another one, about the same round within the same second.
    let mut other = round.clone();
    other["decision"] = json!("Not what was specified");
    let both = history.append(&once, "rounds", &other).expect("another");
    assert!(both.starts_with(&once), "only added to: {both}");
    let changed = history.set(&both, "changes", &json!("I mended it."), &About::default()).expect("changes");
    assert_eq!(
        history.set(&changed, "changes", &json!("I mended it."), &About::default()).expect("the same"),
        changed
    );
    assert_eq!(history.get(&changed, "changes").expect("changes"), Some(json!("I mended it.")));
    for wrong in [json!("a line"), json!({"phase": "design"}), json!({"iteration": "1", "verdict": "x"})] {
        history.append("", "rounds", &wrong).expect_err("no round");
    }
    history.set("", "changes", &json!("x"), &About::default()).expect_err("of no round");
}

#[test]
fn what_cannot_be_understood_is_said_with_its_line() {
    for (text, told) in [
        ("{\"id\": \"1\",\n}}", "line 2"),
        ("[1]", "this is no map of fields"),
        ("{\n  \"phases\": 7\n}", "line 2"),
        ("{\n  \"phases\": {\n    \"specify\": 3\n  }\n}", "line 3"),
    ] {
        let faults = value("feature-meta", text, "design").expect_err(text).join("; ");
        assert!(faults.contains(told), "{text}: {faults}");
        reader("feature-meta")
            .set(text, "status", &json!("completed"), &about("design"))
            .expect_err("it is left as it is");
    }
}
