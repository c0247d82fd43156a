//! What single fields say, and what is said about them.

use loopwright_formats::feature::{Meta, way};
use serde_json::{Value, json};

use super::told;

#[test]
fn what_is_odd_is_understood_and_said_with_its_place() {
    let plain = json!({"id": "007", "name": "export", "mode": "quick", "status": "active", "created": "2026-03-01T10:00:00Z"});
    let with = |more: &Value| {
        let mut file = plain.clone();
        file.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        file
    };
    let cases = [
        (json!({}), vec![]),
        (json!({"id": 7}), vec!["id: this is no text"]),
        (json!({"name": "", "slug": ""}), vec!["name: it has no name"]),
        (json!({"slug": "import"}), vec!["name: `slug` says `import`"]),
        (json!({"mode": "FULL"}), vec!["mode: `FULL` is written `full`"]),
        (json!({"mode": "fast"}), vec!["mode: `fast` is no mode; one of hotfix, quick, standard, full"]),
        (json!({"status": "planning"}), vec!["status: `planning` counts as active"]),
        (json!({"status": "done", "completed": "2026-03-02"}), vec!["status: `done` counts as completed"]),
        (json!({"status": "completed"}), vec!["completed: it is completed, and does not say since when"]),
        (
            json!({"completed": "2026-02-28"}),
            vec![
                "completed: it is active, and says when it was over",
                "completed: it was over before it was begun",
            ],
        ),
        (json!({"created": "yesterday"}), vec!["created: `yesterday` is no time"]),
        (
            json!({"phases": {"specify": {"startedAt": "2026-03-01T11:00:00Z", "completed": "2026-03-01T10:30:00Z"}}, "currentPhase": "specify"}),
            vec![
                "phases.specify.startedAt: `startedAt` is written `started`",
                "phases.specify: `specify` was completed before it was begun",
            ],
        ),
        (
            json!({"phases": {"specify": {"completed": "2026-03-01T11:00:00Z"}}}),
            vec![
                "currentPhase: it does not say which phase was completed last: the phases do",
                "phases.specify: `specify` was completed and never begun",
            ],
        ),
        (json!({"currentPhase": "design"}), vec!["currentPhase: `design` is not recorded as completed"]),
        (
            json!({"currentPhase": "implementing"}),
            vec!["currentPhase: `implementing` is no phase: `create-tasks` was completed last"],
        ),
        (
            json!({"phases": {"spec": {"started": "2026-03-01", "iterations": "two", "verified": "maybe", "status": "well"}}}),
            vec![
                "phases.spec: `spec` is written `specify`",
                "phases.spec.verified: `maybe` is neither true nor false",
                "phases.spec.iterations: `two` is no number of rounds",
                "phases.spec.status: `well` does not say how far it is",
            ],
        ),
        (json!({"phases": {"deploy": {}}}), vec!["phases.deploy: `deploy` is no phase"]),
        (
            json!({"phases": {"design": {"started": "2026-03-01"}}, "design": {"started": "2026-03-02"}}),
            vec![
                "design: this phase stands outside of `phases`",
                "design: `design` stands in `phases.design` too",
            ],
        ),
        (
            json!({"skippedPhases": ["design", {"phase": "deploy"}]}),
            vec!["skippedPhases.1: `deploy` is no phase"],
        ),
    ];
    for (more, wanted) in cases {
        let meta = Meta::read(&with(&more));
        assert_eq!(told(&meta.remarks), wanted, "{more}");
        assert!(meta.problems.is_empty(), "{more}: {:?}", meta.problems);
    }
}

#[test]
fn what_cannot_be_understood_is_refused_with_its_place() {
    let cases = [
        (json!([]), ": this is no map of fields"),
        (json!("active"), ": this is no map of fields"),
        (
            json!({"status": "somewhere"}),
            "status: `somewhere` is no status; one of active, completed, abandoned",
        ),
        (json!({"phases": 7}), "phases: `7` is no map of phases"),
        (json!({"phases": {"design": 7}}), "phases.design: `7` is no phase"),
        (json!({"phases": [{"started": "2026-03-01"}]}), "phases.0: this phase has no name"),
    ];
    for (file, wanted) in cases {
        assert_eq!(told(&Meta::read(&file).problems), [wanted], "{file}");
    }
    assert_eq!(Meta::read(&Value::Null), Meta::default(), "a record that is not begun says nothing");
}

#[test]
fn a_step_leaves_out_what_lies_between() {
    let order = |names: &str| names.split(' ').map(str::to_owned).collect::<Vec<_>>();
    let quick = order("specify create-tasks implement finish");
    let full = order("brainstorm specify design create-plan create-tasks implement verify finish");
    let done = "2026-03-01T10:00:00Z";
    let at = |last: &str, partial: &str| {
        let mut file = json!({"status": "active", "currentPhase": last, "phases": {}});
        for name in full.iter().take_while(|it| *it != last).chain(full.iter().filter(|it| *it == last)) {
            file["phases"][name] = json!({"started": done, "completed": done});
        }
        if !partial.is_empty() {
            file["phases"][partial] = json!({"started": done});
        }
        Meta::read(&file)
    };
    // Completed last, begun, the order, asked for: what is next, what is skipped, whether it goes back.
    let cases = [
        ("specify", "", &full, "design", "design", "", false),
        ("specify", "", &full, "create-tasks", "design", "design create-plan", false),
        ("specify", "", &quick, "implement", "create-tasks", "create-tasks", false),
        ("specify", "", &quick, "design", "create-tasks", "", false),
        ("specify", "", &full, "specify", "design", "", true),
        ("create-plan", "", &full, "specify", "create-tasks", "", true),
        ("create-plan", "design", &full, "design", "design", "", false),
        ("implement", "", &full, "finish", "verify", "verify", false),
        ("verify", "", &full, "finish", "finish", "", false),
        ("finish", "", &full, "finish", "finish", "", true),
    ];
    for (last, partial, order, stage, next, skips, back) in cases {
        let way = way(&at(last, partial), order, stage);
        let found = (way.next.as_str(), way.skips.join(" "), way.back);
        assert_eq!(found, (next, skips.to_owned(), back), "{last} {partial} {stage}");
    }
    let nothing = way(&Meta::read(&json!({"status": "active"})), &full, "design");
    assert_eq!(
        (nothing.next.as_str(), nothing.skips.join(" ").as_str()),
        ("brainstorm", "brainstorm specify")
    );
    let over = way(&Meta::read(&json!({"status": "abandoned"})), &full, "design");
    assert_eq!(over.next, "", "what is over has nothing that comes next");
}
