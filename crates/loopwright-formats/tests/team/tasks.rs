//! Plans.

use loopwright_formats::team::tasks::{STATUSES, Tasks, status_of};
use serde_json::{Value, json};

use super::{differ, told};

/// A task of today with all it needs, and more or other fields.
fn task(id: &str, more: &Value) -> Value {
    let mut task = json!({
        "id": id, "status": "not-started", "type": "feat", "title": "A title", "depends_on": [], "goal": "a goal",
        "non_goals": [], "context_files": ["spec.md"], "files_expected": [], "acceptance_checks": ["cmd: ls"],
        "risk_flags": ["none"], "done_when": ["it works"],
    });
    for (key, value) in more.as_object().unwrap() {
        task[key] = value.clone();
    }
    task
}

fn plan(tasks: &[Value]) -> Value {
    json!({"project": {"name": "Cards"}, "tasks": tasks})
}

#[test]
fn a_plan_of_today_is_read() {
    let more = json!({
        "status": "completed", "type": "docs", "depends_on": ["T-001"], "risk_flags": ["security", "none", "perf"],
        "goal": "a goal\n", "files_expected": ["a.rs"], "acceptance_checks": ["cmd: ls", "manual: look", "cmd: pwd"],
    });
    let found = Tasks::read(&plan(&[task("T-001", &json!({"risk_flags": ["perf"]})), task("T-002", &more)]));
    assert_eq!((told(&found.problems), told(&found.lacking)), (Vec::new(), Vec::new()));
    let wanted = json!({
        "id": "T-002", "status": "completed", "type": "docs", "title": "A title", "depends": ["T-001"],
        "goal": "a goal", "non_goals": [], "context_files": ["spec.md"], "files_expected": ["a.rs"],
        "acceptance_checks": ["cmd: ls", "manual: look", "cmd: pwd"], "risk_flags": ["security", "perf"],
        "done_when": ["it works"],
    });
    assert_eq!(json!(found.items[1]), wanted);
    assert_eq!(found.commands(), ["ls", "pwd"]);
    assert_eq!(found.flags(), ["perf", "security"]);
    let whole = json!({
        "id": "meta", "type": "feat", "title": "Cards", "goal": "All tasks of the plan, together", "depends_on": [],
        "risk_flags": ["perf", "security"], "covers": ["T-001", "T-002"],
        "text": "Cards: all tasks of the plan together (T-001, T-002)",
    });
    assert_eq!(found.whole(), whole);
    let text = "\
T-002: A title (docs)

Goal: a goal
After: T-001
Read before: spec.md
Files expected to change: a.rs
Risks:
- security
- perf
Checks:
- cmd: ls
- manual: look
- cmd: pwd
Done when: it works
";
    assert_eq!(found.items[1].seen()["text"], text, "how far it is, is not part of it");
}

#[test]
fn a_plan_of_the_first_generation_is_read() {
    let file = json!({"tasks": [
        {"id": "T-004", "title": "Timer", "owner": "Coder", "deps": [], "acceptance_checks": [{"cmd": "npm test"}]},
        {"id": "T-005", "title": "Review", "owner": "Reviewer", "deps": ["T-004"], "acceptance_checks": [{"manual": "look"}]},
    ]});
    let found = Tasks::read(&file);
    assert_eq!(told(&found.problems), Vec::<String>::new());
    let [first, second] = found.items.as_slice() else { unreachable!() };
    assert_eq!((first.status, first.kind, first.goal.as_str()), ("not-started", "feat", ""));
    assert_eq!(first.acceptance_checks, ["cmd: npm test"]);
    assert_eq!(
        (second.depends.as_slice(), second.acceptance_checks.as_slice()),
        (&["T-004".to_owned()][..], &["manual: look".to_owned()][..])
    );
    assert_eq!(found.whole()["title"], "The change as a whole");
    // It would not do for a plan that is made today.
    assert_eq!(
        told(&found.lacking),
        [
            "tasks.0.goal: `T-004` has no `goal`",
            "tasks.0.done_when: `T-004` has no `done_when`",
            "tasks.1.goal: `T-005` has no `goal`",
            "tasks.1.done_when: `T-005` has no `done_when`",
        ]
    );
}

#[test]
fn every_field_is_read_in_every_spelling() {
    let cases: Vec<(&str, Value, &str, Value)> = vec![
        ("a number", json!({"id": 1}), "id", json!("1")),
        ("no title", json!({"title": null}), "title", json!("a goal")),
        ("no title, a long goal", json!({"title": "", "goal": "one\ntwo"}), "title", json!("one")),
        ("no title, no goal", json!({"title": null, "goal": null}), "title", json!("T-002")),
        ("no status", json!({"status": null}), "status", json!("not-started")),
        ("another spelling", json!({"status": "In_Progress"}), "status", json!("in-progress")),
        ("with a space", json!({"status": " Not Started "}), "status", json!("not-started")),
        ("no type", json!({"type": null}), "type", json!("feat")),
        ("another spelling of a type", json!({"type": "Docs"}), "type", json!("docs")),
        ("one text", json!({"depends_on": "T-001"}), "depends", json!(["T-001"])),
        ("some in a text", json!({"depends_on": "T-001, T-003"}), "depends", json!(["T-001", "T-003"])),
        ("none", json!({"depends_on": ["none"]}), "depends", json!([])),
        ("deps", json!({"depends_on": null, "deps": ["T-001"]}), "depends", json!(["T-001"])),
        ("depends", json!({"depends_on": null, "depends": ["T-001"]}), "depends", json!(["T-001"])),
        ("a plain command", json!({"acceptance_checks": ["ls"]}), "acceptance_checks", json!(["cmd: ls"])),
        (
            "one check",
            json!({"acceptance_checks": "manual: look"}),
            "acceptance_checks",
            json!(["manual: look"]),
        ),
        ("no list of risks", json!({"risk_flags": "none"}), "risk_flags", json!([])),
        (
            "risks in a text",
            json!({"risk_flags": "Security, breaking_change"}),
            "risk_flags",
            json!(["security", "breaking-change"]),
        ),
        (
            "unquoted",
            json!({"done_when": [{"AC-001": "passes"}, 3]}),
            "done_when",
            json!(["AC-001: passes", "3"]),
        ),
        ("empty entries", json!({"non_goals": [null, "", "x"]}), "non_goals", json!(["x"])),
    ];
    let mut wrong = Vec::new();
    for (title, more, field, wanted) in cases {
        let file = plan(&[task("T-001", &json!({})), task("T-002", &more), task("T-003", &json!({}))]);
        let found = Tasks::read(&file);
        differ(&mut wrong, title, &told(&found.problems), &Vec::new());
        differ(&mut wrong, title, &json!(found.items[1])[field], &wanted);
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn what_would_be_left_out_or_done_too_early_is_refused_at_its_place() {
    let one = |more: Value| plan(&[task("T-001", &more)]);
    let cases: Vec<(Value, &[&str])> = vec![
        (json!({}), &[": there is no list `tasks`"]),
        (json!(null), &[": there is no list `tasks`"]),
        (json!(["T-001"]), &[": there is no list `tasks`"]),
        (json!({"tasks": {"T-001": {}}}), &["tasks: this is no list of tasks"]),
        (
            plan(&[json!("T-001"), task("T-002", &json!({}))]),
            &["tasks.0: this is no task with an `id` and a `goal`"],
        ),
        (one(json!({"id": null})), &["tasks.0.id: this task has no `id`"]),
        (
            one(json!({"id": "meta"})),
            &["tasks.0.id: `meta` is what the change as a whole goes by: call the task something else"],
        ),
        (plan(&[task("1", &json!({})), task("1", &json!({"id": 1}))]), &["tasks.1.id: `1` is there twice"]),
        (
            one(json!({"depends_on": ["T-009"]})),
            &["tasks.0.depends_on: `T-001` depends on `T-009`, which is not there"],
        ),
        (
            one(json!({"depends_on": null, "deps": "x"})),
            &["tasks.0.deps: `T-001` depends on `x`, which is not there"],
        ),
        (
            plan(&[json!(1), task("a", &json!({"depends_on": ["b"]}))]),
            &[
                "tasks.0: this is no task with an `id` and a `goal`",
                "tasks.1.depends_on: `a` depends on `b`, which is not there",
            ],
        ),
        (
            one(json!({"status": "done"})),
            &[
                "tasks.0.status: `done` is no status; one of not-started, in-progress, implemented, completed, blocked",
            ],
        ),
        (
            one(json!({"type": "story"})),
            &["tasks.0.type: `story` is no type; one of feat, fix, refactor, chore, test, docs"],
        ),
        (
            one(json!({"acceptance_checks": [{"Open": "the page"}, ""]})),
            &[
                "tasks.0.acceptance_checks.0: this is no check: write `\"cmd: ...\"` or `\"manual: ...\"`",
                "tasks.0.acceptance_checks.1: this check says nothing",
            ],
        ),
    ];
    let mut wrong = Vec::new();
    for (file, wanted) in cases {
        let found = told(&Tasks::read(&file).problems);
        differ(&mut wrong, &file.to_string(), &found, &wanted.iter().map(|it| (*it).to_owned()).collect());
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_file_counts_once_every_task_is_whole() {
    let without = |name: &str| plan(&[task("a", &json!({})), task("b", &json!({name: null}))]);
    let on = |id: &str, other: &str| task(id, &json!({"depends_on": [other]}));
    let cases: Vec<(Value, &[&str])> = vec![
        (plan(&[task("a", &json!({}))]), &[]),
        (plan(&[]), &["tasks: there is no task"]),
        (without("goal"), &["tasks.1.goal: `b` has no `goal`"]),
        (without("acceptance_checks"), &["tasks.1.acceptance_checks: `b` has no `acceptance_checks`"]),
        (without("done_when"), &["tasks.1.done_when: `b` has no `done_when`"]),
        (plan(&[on("a", "b"), on("b", "a")]), &["tasks: these wait for each other: `a` -> `b` -> `a`"]),
        (plan(&[on("a", "a")]), &["tasks: these wait for each other: `a` -> `a`"]),
    ];
    let mut wrong = Vec::new();
    for (file, wanted) in cases {
        let found = told(&Tasks::read(&file).lacking);
        differ(&mut wrong, &file.to_string(), &found, &wanted.iter().map(|it| (*it).to_owned()).collect());
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn tasks_that_share_a_file_or_lean_on_one_another_are_cross_cutting() {
    let files = |id: &str, files: &[&str]| task(id, &json!({"files_expected": files}));
    let on = |id: &str, others: &[&str]| task(id, &json!({"depends_on": others}));
    let cases = [
        ("apart", vec![files("a", &["x", "x"]), files("b", &["y"])], false),
        ("one file", vec![files("a", &["x"]), files("b", &["./x"])], true),
        ("a chain", vec![on("a", &[]), on("b", &["a"]), on("c", &["b"])], false),
        ("the same twice", vec![on("a", &[]), on("b", &["a", "a"])], false),
        ("one that two need", vec![on("a", &[]), on("b", &["a"]), on("c", &["a"])], true),
    ];
    for (title, tasks, wanted) in cases {
        assert_eq!(Tasks::read(&plan(&tasks)).cross_cutting(), wanted, "{title}");
    }
}

#[test]
fn the_change_as_a_whole_is_papers_only_if_every_task_is() {
    let kind = |id: &str, kind: &str| task(id, &json!({"type": kind}));
    for (tasks, wanted) in [
        (vec![kind("a", "docs"), kind("b", "docs")], "docs"),
        (vec![kind("a", "docs"), kind("b", "chore")], "feat"),
        (vec![], "feat"),
    ] {
        assert_eq!(Tasks::read(&plan(&tasks)).whole()["type"], wanted);
    }
}

#[test]
fn only_a_status_is_written_as_one() {
    for status in STATUSES {
        assert_eq!(status_of(&json!(status)), Ok(json!(status)));
    }
    assert_eq!(status_of(&json!(null)), Ok(json!(null)));
    assert_eq!(status_of(&json!("")), Ok(json!(null)));
    for wrong in [json!("done"), json!("Completed"), json!(1), json!(["completed"]), json!(false)] {
        assert!(status_of(&wrong).is_err(), "{wrong}");
    }
}
