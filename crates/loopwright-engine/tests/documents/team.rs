//! The files of a team's session: in which line what cannot be read stands, and which bytes a change touches.

use loopwright_core::fact::Type;
use loopwright_core::library;
use loopwright_engine::documents::{About, Page, Reader};
use serde_json::{Value, json};

pub(crate) const STATUS: &str = r#"{
  "current_state": "IMPLEMENT_LOOP",
  "session": "2026-02-17_greeting-card",
  "assumptions": [
    "A modern browser — with modules"
  ],
  "user_decisions": [
    {
      "decision_id": "UD-3", "question": "Which color?", "status": "answered", "answer": "blue",
      "asked_at": "2026-02-17T10:00:00Z", "resolved_at": "2026-02-17T10:05:00Z", "state_context": "DESIGN", "by": "me"
    }
  ],
  "retry_counts": {
    "T-001": { "FIX_REVIEW": 0, "FIX_TESTS": 0 },
    "T-002": { "FIX_REVIEW": 1, "OTHER": 1.50 }
  },
  "known_issues": [],
  "x-tool": {"b": 1, "a": [1,2]},
  "last_ci_result": "green",
  "last_update": "2026-02-17T12:00:00Z"
}
"#;

/// The first generation.
pub(crate) const EARLY_STATUS: &str = "{\"current_state\":\"DONE\",\"completed_tasks\":[\"T-001\",\"meta-release-finalize\"],\"blocked_tasks\":[],\"last_ci_result\":\"unknown\"}";

pub(crate) const TASKS: &str = "# by the planner
project:
  name: \"Cards\"
  definition_of_done: [\"all of it\"]

tasks:
  - id: T-001
    status: completed   # by hand
    type: docs
    title: \"Markup\"
    depends_on: []
    goal: >
      All of
      the markup.
    files_expected:
      - \"index.html\"
    acceptance_checks:
      - \"manual: look\"
    risk_flags: []
    done_when:
      - \"it shows\"

  # the second
  - id: T-002
    title: Logic
    depends_on: [\"T-001\"]
    goal: code
    acceptance_checks: [\"cmd: npm test\"]
    risk_flags: [security]
    done_when:
      - AC-001: passes
    x-own: {a: 1}
  - {id: T-003, status: \"not-started\", goal: g, acceptance_checks: [npm run lint], done_when: [d]}
";

/// The first generation.
pub(crate) const EARLY_TASKS: &str = "tasks:
- id: T-004
  title: Timer
  owner: Coder
  deps: []
  acceptance_checks:
  - cmd: npm test
  - manual: look
- id: T-005
  title: Przegląd
  owner: Reviewer
  deps: [T-004]
  acceptance_checks:
  - cmd: npm test
";

pub(crate) const ACCEPTANCE: &str = r#"{
  "acceptance_criteria": [
    {"id": "AC-001", "description": "it works", "verify": ["npm test", "manual: look"]},
    {"id": "AC-002", "description": "it is quick", "verify": "cmd: npm run bench"}
  ]
}
"#;

const EARLY_ACCEPTANCE: &str = r#"{"criteria": [
  {"id": "AC-1", "description": "licznik działa", "verification": "automated", "commands": ["npm test"], "expected_result": "zielono"},
  {"id": "AC-2", "description": "widać go", "verification": "Otworzyć stronę", "expected_result": "jest"}
]}"#;

pub(crate) fn reader(name: &str) -> Reader {
    Reader::named(name).expect("there is such a reader")
}

pub(crate) fn about() -> About {
    About { with: json!({"now": "2026-11-19T05:00:00Z"}), modified: None }
}

fn page(text: &str) -> Page {
    Page { path: "a/file".to_owned(), text: text.to_owned(), is_new: true }
}

pub(crate) fn value(name: &str, text: &str) -> Result<Value, Vec<String>> {
    let faults = |it: Vec<loopwright_engine::documents::Fault>| it.iter().map(ToString::to_string).collect();
    reader(name).value(&[page(text)], &Type::Any, &about()).map_err(faults)
}

#[test]
fn what_is_read_is_what_the_library_promises() {
    for (name, text, field, wanted) in [
        ("team-status", STATUS, "mode", json!("full")),
        ("team-status", STATUS, "known_issues", json!([])),
        ("team-status", EARLY_STATUS, "completed_tasks", json!(["T-001", "meta-release-finalize"])),
        ("team-status", "", "last_ci_result", json!("unknown")),
        ("team-status", "\u{feff}\n", "retry_counts", json!({})),
        ("team-tasks", TASKS, "commands", json!(["npm test", "npm run lint"])),
        ("team-tasks", TASKS, "flags", json!(["security"])),
        ("team-tasks", TASKS, "cross_cutting", json!(false)),
        ("team-tasks", EARLY_TASKS, "count", json!(2)),
        ("team-tasks", EARLY_TASKS, "commands", json!(["npm test"])),
        ("team-acceptance", ACCEPTANCE, "commands", json!(["npm test", "npm run bench"])),
        ("team-acceptance", ACCEPTANCE, "manual", json!(["AC-001: look"])),
        ("team-acceptance", EARLY_ACCEPTANCE, "commands", json!(["npm test"])),
        ("team-acceptance", EARLY_ACCEPTANCE, "manual", json!(["AC-2: Otworzyć stronę (expected: jest)"])),
    ] {
        for text in [text.to_owned(), text.replace('\n', "\r\n"), format!("\u{feff}{text}")] {
            let found = value(name, &text).expect("it can be read");
            assert_eq!(found[field], wanted, "{name}: {text}");
            let gives = library::readers()[name].gives.clone().expect("it says what it gives");
            assert!(gives.accepts(&found), "{name}: {found}");
        }
    }
    let items = value("team-tasks", TASKS).expect("it can be read")["items"].take();
    assert_eq!(items[0]["goal"], "All of the markup.");
    assert_eq!(items[1]["done_when"], json!(["AC-001: passes"]));
    assert_eq!(items[2]["title"], "g");
}

#[test]
fn what_cannot_be_read_is_told_with_its_line() {
    for (name, text, wanted) in [
        ("team-status", "{\n", "line 2, column 1: this is not valid JSON: EOF while parsing an object"),
        (
            "team-status",
            "{\"mode\": \"full\",\n \"mode\": \"lean\"}",
            "line 2, column 2: the key `mode` is written twice here",
        ),
        ("team-status", "\n[]", "line 2: this is no map of fields"),
        ("team-status", "{\n\"mode\":\n \"quick\"}", "line 3, `mode`: `quick` is none of full, lean"),
        (
            "team-status",
            "{\"user_decisions\": [\n{},\n{\"status\": \"done\"}]}",
            "line 3, `user_decisions.1.status`: `done` is no status; one of pending, answered, cancelled, skipped",
        ),
        (
            "team-status",
            "{\"retry_counts\": {\n\"T.1\": 3}}",
            "line 2, `retry_counts.T.1`: this is no map of counts by kind",
        ),
        (
            "team-tasks",
            "tasks: [",
            "line 1, column 9: this is not valid YAML: while parsing a node, did not find expected node content",
        ),
        ("team-tasks", "", "line 1: there is no list `tasks`"),
        ("team-tasks", "# no\nproject: {}\n", "line 2: there is no list `tasks`"),
        ("team-tasks", "project: {}\ntasks:\n  T-001: {}\n", "line 3, `tasks`: this is no list of tasks"),
        ("team-tasks", "tasks:\n- id: a\n- title: b\n", "line 3, `tasks.1.id`: this task has no `id`"),
        ("team-tasks", "tasks:\n- id: a\n- title: b\n  id: a\n", "line 4, `tasks.1.id`: `a` is there twice"),
        (
            "team-tasks",
            "tasks:\n- id: a\n  status: done\n",
            "line 3, `tasks.0.status`: `done` is no status; one of not-started, in-progress, implemented, completed, blocked",
        ),
        (
            "team-tasks",
            "tasks:\n- id: a\n  type: story\n",
            "line 3, `tasks.0.type`: `story` is no type; one of feat, fix, refactor, chore, test, docs",
        ),
        (
            "team-tasks",
            "tasks:\n- id: a\n  deps:\n  - b\n",
            "line 4, `tasks.0.deps`: `a` depends on `b`, which is not there",
        ),
        (
            "team-tasks",
            "tasks:\n- id: a\n  acceptance_checks:\n  - ls\n  - Open: the page\n",
            "line 5, `tasks.0.acceptance_checks.1`: this is no check: write `\"cmd: ...\"` or `\"manual: ...\"`",
        ),
        ("team-tasks", "tasks:\n- a\n", "line 2, `tasks.0`: this is no task with an `id` and a `goal`"),
        ("team-acceptance", "\n{}", "line 2: there is no list `acceptance_criteria`"),
        ("team-acceptance", "", "line 1, column 1: this is not valid JSON: EOF while parsing a value"),
        ("team-acceptance", "[\n{}]", "line 2, `0`: this criterion says nothing"),
        (
            "team-acceptance",
            "{\"criteria\": [\n{\"id\": \"a\",\n\"verify\": [\"ls\",\n7]}]}",
            "line 4, `criteria.0.verify.1`: this is no check: write `\"cmd: ...\"` or `\"manual: ...\"`",
        ),
    ] {
        assert_eq!(value(name, text), Err(vec![wanted.to_owned()]), "{name}: {text}");
    }
}

#[test]
fn a_file_somebody_just_wrote_is_told_what_it_lacks() {
    let lacks = |name: &str, text: &str| reader(name).lacks(&page(text), &about()).unwrap_or_default();
    for (name, text, wanted) in [
        ("team-tasks", TASKS, ""),
        ("team-acceptance", ACCEPTANCE, ""),
        ("team-status", "{}", ""),
        (
            "team-status",
            "{\"user_decisions\": [\n{\"status\": \"pending\", \"answer\": \"x\"}]}",
            "line 2, `user_decisions.0`: a pending decision has no answer, no `resolved_at` and no `resolution_reason` yet",
        ),
        ("team-tasks", "tasks: []\n", "line 1, `tasks`: there is no task"),
        (
            "team-tasks",
            "tasks:\n- id: a\n  goal: g\n  acceptance_checks: [ls]\n",
            "line 2, `tasks.0.done_when`: `a` has no `done_when`",
        ),
        ("team-tasks", "tasks: x\n", "line 1, `tasks`: this is no list of tasks"),
        (
            "team-tasks",
            "a: [",
            "line 1, column 5: this is not valid YAML: while parsing a node, did not find expected node content",
        ),
        ("team-acceptance", "{\"criteria\": []}", "line 1, `criteria`: there is no criterion"),
        (
            "team-acceptance",
            "[{\"id\": \"a\", \"verify\": \"ls\"}]",
            "line 1, `0.description`: `a` has no `description`",
        ),
    ] {
        assert_eq!(lacks(name, text), wanted, "{name}: {text}");
    }
    let many = format!("tasks:\n{}", "- title: t\n".repeat(9));
    assert_eq!(lacks("team-tasks", &many).split("; ").count(), 10, "nobody reads more");
}

/// A text with a field set, and set again: then nothing changes.
pub(crate) fn set(name: &str, text: &str, field: &str, value: &Value) -> Result<String, String> {
    let changed = reader(name).set(text, field, value, &about()).map_err(|it| it.to_string())?;
    let later = About { with: json!({"now": "2030-01-01T00:00:00Z"}), modified: None };
    assert_eq!(
        reader(name).set(&changed, field, value, &later).as_ref(),
        Ok(&changed),
        "{field} of {text} again"
    );
    Ok(changed)
}

#[test]
fn the_status_of_a_task_is_set_and_no_other_byte() {
    for (field, value, from, to) in [
        ("items.0.status", json!("blocked"), "completed   # by hand", "blocked   # by hand"),
        ("items.0.status", json!("completed"), "", ""),
        ("items[0].status", json!("blocked"), "completed   #", "blocked   #"),
        (
            "items.1.status",
            json!("in-progress"),
            "    x-own: {a: 1}\n",
            "    x-own: {a: 1}\n    status: in-progress\n",
        ),
        ("items.2.status", json!("implemented"), "\"not-started\"", "\"implemented\""),
    ] {
        for (end, mark) in [("\n", ""), ("\r\n", ""), ("\n", "\u{feff}")] {
            let text = |it: &str| format!("{mark}{}", it.replace('\n', end));
            let wanted = if from.is_empty() { TASKS.to_owned() } else { TASKS.replacen(from, to, 1) };
            assert_eq!(set("team-tasks", &text(TASKS), field, &value), Ok(text(&wanted)), "{field} {end:?}");
        }
    }
    let early = set("team-tasks", EARLY_TASKS, "items.0.status", &json!("completed"));
    let wanted = EARLY_TASKS.replacen("  - manual: look\n", "  - manual: look\n  status: completed\n", 1);
    assert_eq!(early, Ok(wanted));
    let all = set("team-tasks", TASKS, "items.status", &json!("completed")).expect("all can be set");
    let items = value("team-tasks", &all).expect("it can be read")["items"].take();
    assert!(items.as_array().is_some_and(|it| it.iter().all(|it| it["status"] == "completed")), "{all}");
    assert_eq!(
        all,
        TASKS.replacen("    x-own: {a: 1}\n", "    x-own: {a: 1}\n    status: completed\n", 1).replacen(
            "\"not-started\"",
            "\"completed\"",
            1
        )
    );
}

#[test]
fn what_is_no_status_of_a_task_is_refused() {
    for (field, value, wanted) in [
        (
            "items.0.status",
            json!("done"),
            "line 8, `tasks.0.status`: `done` is no status; one of not-started, in-progress, implemented, completed, blocked",
        ),
        (
            "items.0.status",
            json!([]),
            "line 8, `tasks.0.status`: `` is no status; one of not-started, in-progress, implemented, completed, blocked",
        ),
        (
            "items.9.status",
            json!("completed"),
            "line 7, `tasks.9.status`: there is no task 9; there are 3, counted from 0",
        ),
        ("items.0.title", json!("x"), "line 10, `tasks.0.title`: of tasks only the status can be set"),
        ("meta.0.status", json!("completed"), "line 2, `meta.0.status`: of tasks only the status can be set"),
        ("project.name", json!("x"), "line 3, `project.name`: of tasks only the status can be set"),
        ("items.x.status", json!("completed"), "line 7, `tasks.x.status`: `x` is not the number of a task"),
    ] {
        assert_eq!(set("team-tasks", TASKS, field, &value), Err(wanted.to_owned()));
    }
    // None is made where there is no task.
    for (text, field, wanted) in [
        ("project: {}\n", "items.0.status", "line 1, `tasks.0.status`: there is no list `tasks`"),
        ("tasks: {a: b}\n", "items.status", "line 1, `tasks.status`: there is no list `tasks`"),
        ("tasks:\n- id: a\n- b\n", "items.1.status", "line 3, `tasks.1.status`: entry 1 is no task"),
        ("tasks:\n- id: a\n-\n", "items.status", "line 2, `tasks.status`: entry 1 is no task"),
        (
            "tasks:\n- &x\n  id: a\n",
            "items.status",
            "line 2, `tasks.0.status`: an anchor (`&name`) stands here, so it is not changed; remove the anchor",
        ),
        (
            "tasks: [",
            "items.status",
            "line 1, column 9: this is not valid YAML: while parsing a node, did not find expected node content",
        ),
    ] {
        assert_eq!(set("team-tasks", text, field, &json!("completed")), Err(wanted.to_owned()), "{text}");
    }
    assert!(set("team-acceptance", ACCEPTANCE, "criteria", &json!([])).is_err());
    assert!(reader("team-tasks").append(TASKS, "items", &json!({})).is_err());
}

#[test]
fn a_plan_whose_tasks_only_moved_on_is_the_same_plan() {
    let tasks = reader("team-tasks");
    let without = |text: &str| {
        let count = match tasks.get(text, "items") {
            Ok(Some(Value::Array(items))) => items.len(),
            other => unreachable!("{other:?}"),
        };
        (0..count).fold(text.to_owned(), |text, at| {
            set("team-tasks", &text, &format!("items.{at}.status"), &Value::Null)
                .expect("it can be taken out")
        })
    };
    for text in [TASKS, EARLY_TASKS] {
        let moved = set("team-tasks", text, "items.0.status", &json!("in-progress"))
            .and_then(|it| set("team-tasks", &it, "items.1.status", &json!("implemented")))
            .and_then(|it| set("team-tasks", &it, "items.status", &json!("completed")))
            .expect("they can be set");
        assert_ne!(moved, text);
        assert_eq!(without(&moved), without(text));
        assert_eq!(set("team-tasks", text, "items.status", &Value::Null), Ok(without(text)), "all at once");
        assert_eq!(set("team-tasks", text, "items.status", &json!("")), Ok(without(text)));
        assert_ne!(without(&text.replace("npm test", "npm run x")), without(text));
        value("team-tasks", &without(text)).expect("it is a plan still");
    }
}

#[test]
fn fields_have_values_and_lines() {
    for (name, field, wanted, line) in [
        ("team-tasks", "items.0.status", Some(json!("completed")), Some(8)),
        ("team-tasks", "items.1.status", None, None),
        ("team-tasks", "items.2.goal", Some(json!("g")), Some(33)),
        ("team-tasks", "items.status", None, None),
        ("team-tasks", "itemsx", None, None),
        ("team-tasks", "meta", None, None),
        ("team-status", "current_state", Some(json!("IMPLEMENT_LOOP")), Some(2)),
        ("team-status", "retry_counts.T-001.FIX_TESTS", Some(json!(0)), Some(14)),
        ("team-status", "blocker", None, None),
        ("team-acceptance", "criteria", None, None),
    ] {
        let text = match name {
            "team-tasks" => TASKS,
            "team-status" => STATUS,
            _ => ACCEPTANCE,
        };
        assert_eq!(reader(name).get(text, field), Ok(wanted), "{field}");
        assert_eq!(reader(name).line(text, field), line, "{field}");
    }
    assert!(reader("team-status").get("{", "mode").is_err());
    assert_eq!(reader("team-status").get("\n", "mode"), Ok(None));
}

#[test]
fn a_field_of_a_status_is_set_and_no_other_byte() {
    let stamp = ("\"2026-02-17T12:00:00Z\"\n", "\"2026-11-19T05:00:00Z\"\n");
    let decided = json!([{"id": null, "question": "Now?", "status": "pending", "asked_at": "t", "before": "IMPLEMENT_LOOP"}]);
    let one = r#"    },
    {
      "decision_id": "UD-4",
      "question": "Now?",
      "status": "pending",
      "answer": null,
      "asked_at": "t",
      "resolved_at": null,
      "state_context": "IMPLEMENT_LOOP",
      "resolution_reason": null
    }
  ],
"#;
    for (field, value, from, to) in [
        ("current_state", json!("FIX_REVIEW"), "IMPLEMENT_LOOP", "FIX_REVIEW"),
        (
            "known_issues",
            json!([{"item": "T-001", "summary": "slow"}]),
            "issues\": []",
            "issues\": [\n    \"T-001: slow\"\n  ]",
        ),
        (
            "assumptions",
            json!(["A modern browser — with modules", "b"]),
            "modules\"\n",
            "modules\",\n    \"b\"\n",
        ),
        (
            "retry_counts",
            json!({"T-002": {"fix-review": 2}, "T-001": {"fix-tests": 0}}),
            "\"FIX_REVIEW\": 1",
            "\"FIX_REVIEW\": 2",
        ),
        (
            "retry_counts",
            json!({"": {"fix-build": 1}}),
            "1.50 }\n",
            "1.50 },\n    \"meta\": {\n      \"FIX_BUILD\": 1\n    }\n",
        ),
        ("user_decisions", decided, "    }\n  ],\n", one),
        ("last_ci_result", json!("red"), "green", "red"),
    ] {
        let wanted = STATUS.replacen(from, to, 1).replacen(stamp.0, stamp.1, 1);
        assert_ne!(wanted, STATUS, "{field}");
        for (end, mark) in [("\n", ""), ("\r\n", ""), ("\n", "\u{feff}")] {
            let text = |it: &str| format!("{mark}{}", it.replace('\n', end));
            assert_eq!(set("team-status", &text(STATUS), field, &value), Ok(text(&wanted)), "{field}");
        }
    }
    for (field, value) in [
        ("current_state", json!("IMPLEMENT_LOOP")),
        ("blocker", json!("")),
        ("known_issues", json!([])),
        ("assumptions", json!(["A modern browser — with modules"])),
        ("retry_counts", json!({"T-002": {"fix-review": 1}, "": {"re-reviews": 4}})),
        ("user_decisions", json!([])),
    ] {
        assert_eq!(set("team-status", STATUS, field, &value).as_deref(), Ok(STATUS), "{field}");
    }
    let flag = "runtime_flags.copilot_instructions_exists";
    let with_flag = set("team-status", "", flag, &json!(true)).expect("it is begun");
    let now = "2026-11-19T05:00:00Z";
    let flags = json!({"copilot_instructions_exists": true, "copilot_checked_at": now});
    assert_eq!(
        serde_json::from_str::<Value>(&with_flag).ok(),
        Some(json!({"runtime_flags": flags, "last_update": now}))
    );
    assert_eq!(reader("team-status").blank(), "{}\n");
    assert_eq!((reader("team-tasks").blank(), reader("team-acceptance").blank()), ("", ""));
}

#[test]
fn what_cannot_stand_in_a_status_is_refused() {
    for (text, field, value, wanted) in [
        (STATUS, "mode", json!("quick"), "line 1, `mode`: `quick` is none of full, lean"),
        (STATUS, "user_decisions", json!("x"), "line 7, `user_decisions`: decisions are a list"),
        (
            "[]",
            "mode",
            json!("full"),
            "line 1, `mode`: `mode` is not the number of an entry, and this is a list",
        ),
        (
            "{\n\"known_issues\": 1}",
            "known_issues",
            json!([]),
            "line 2, `known_issues`: what is there is no list",
        ),
        (
            "{\"gate_tracking\":\n 1}",
            "gate_tracking.A.correction_status",
            json!("none"),
            "line 1, `gate_tracking.A.correction_status`: what is there is a whole number and has no fields",
        ),
        ("{", "mode", json!("full"), "line 1, column 1: this is not valid JSON: EOF while parsing an object"),
    ] {
        assert_eq!(set("team-status", text, field, &value), Err(wanted.to_owned()));
    }
}

#[test]
fn a_status_shows_what_others_added_to() {
    let status = reader("team-status");
    for (field, value, wanted) in [
        ("assumptions", json!([]), Some(true)),
        ("assumptions", json!(["A modern browser — with modules"]), Some(true)),
        ("assumptions", json!(["b"]), Some(false)),
        ("retry_counts", json!({"T-002": {"fix-review": 1}}), Some(true)),
        ("retry_counts", json!({"T-002": {"fix-review": 2}}), Some(false)),
        ("user_decisions", json!([]), Some(true)),
        ("user_decisions", json!([{"question": "Now?", "status": "pending"}]), Some(false)),
        ("user_decisions", json!(7), Some(false)),
        // These hold what they hold.
        ("current_state", json!("DONE"), None),
        ("blocker", json!(""), None),
    ] {
        assert_eq!(status.shows(STATUS, field, &value), wanted, "{field} {value}");
    }
    assert_eq!(status.shows("{", "assumptions", &json!([])), None, "whoever reads it says why");
    assert_eq!(status.shows("{}", "assumptions", &json!([])), Some(false));
    assert_eq!(reader("team-tasks").shows(TASKS, "items.0.status", &json!("completed")), None);
}
