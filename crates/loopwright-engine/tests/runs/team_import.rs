//! Sessions of `team` that were begun elsewhere: where they are taken up, and what is kept of their files.

use loopwright_core::definition::Outcome as Ending;
use loopwright_engine::process::Cancel;
use loopwright_engine::{Asking, Begin, Engine, Standing};
use serde_json::{Value, json};

use crate::bench::Bench;
use crate::team::{
    SESSION, answer, asked, decision, engine, of_session, project, resume, status, team, walk,
};
use crate::team_files::CREW;

const LEAN: &str = "project: {name: greetings}\ntasks:\n  - {id: T-001, status: completed, type: feat, title: Greet, depends_on: [], goal: greet people, acceptance_checks: [\"cmd: test -s src/greeting\"], risk_flags: [none], done_when: [it greets]}\n";

/// A session as others leave it, standing there with these fields.
fn left(state: &str, more: &Value) -> Bench {
    let bench = project();
    let mut status = json!({
        "current_state": state,
        "session": SESSION,
        "assumptions": ["people read"],
        "known_issues": [],
        "user_decisions": [],
        "retry_counts": {},
        "last_ci_result": "unknown",
        "last_update": "2026-09-21T12:00:00Z",
        "ours": {"kept": [1, 2.50]},
    });
    for (name, value) in more.as_object().into_iter().flatten() {
        status[name] = value.clone();
    }
    bench.write(&of_session("status.json"), &serde_json::to_string_pretty(&status).expect("a text"));
    bench.write(&of_session("spec.md"), "# Greetings\n\n## Goals\n\nGreet.\n\n## Acceptance Criteria\n\n- AC-001\n\n## Definition of Done\n\nIt greets.\n");
    bench.write(&of_session("acceptance.json"), "{\"acceptance_criteria\": [{\"id\": \"AC-001\", \"description\": \"it greets\", \"verify\": [\"test -s src/greeting\"]}]}\n");
    bench.write(
        &of_session("architecture.md"),
        "# Architecture\n\n## Overview\n\nOne file.\n\n## Modules\n\n- greeting\n\n## Risks\n\nNone.\n",
    );
    bench.write(&of_session("tasks.yaml"), LEAN);
    bench.write("src/greeting", "hello\n");
    bench
}

/// Takes it over from its files.
fn taken_over(engine: &Engine) -> (String, Standing) {
    let folder = team();
    let begin = Begin { subject: SESSION.into(), ..Begin::default() };
    let begin = engine.found(&folder, &begin).expect("files").expect("documents that say where it stands");
    let driver = engine.begin(&folder, &begin, &Cancel::default()).expect("it begins");
    let name = driver.name().to_owned();
    (name, driver.drive().expect("it drives"))
}

fn gate(id: &str, answer: &str) -> Value {
    json!({"decision_id": id, "question": "?", "status": "answered", "answer": answer, "asked_at": "2026-09-21T11:00:00Z",
        "resolved_at": "2026-09-21T11:30:00Z", "state_context": id.replace("UD-", "").replace('-', "_"), "resolution_reason": null})
}

/// What is asked, in words.
fn text(standing: &Standing) -> String {
    match standing {
        Standing::Waits { asking, .. } => match &**asking {
            Asking::Question(asked) => asked.text.clone(),
            Asking::Verbs { text, .. } => text.clone(),
        },
        other => panic!("{other:?}"),
    }
}

/// The question that is asked, what it rests with, or that it is over.
fn stands(standing: &Standing) -> String {
    match standing {
        Standing::Over { ending: Some(Ending::Success), .. } => "over".into(),
        other => asked(other),
    }
}

#[test]
fn a_session_begun_elsewhere_goes_on_where_it_stands() {
    let approved = || json!([gate("UD-APPROVE-DESIGN", "approved"), gate("UD-REVIEW-STRATEGY", "per-batch")]);
    let wait = |at: &str| format!("it stands in `{at}` and goes on when somebody says so");
    for (state, more, rests, then, walked) in [
        ("INTAKE", json!({}), wait("entry"), "UD-APPROVE-DESIGN", "intake.1 OK, architect.1 OK"),
        ("DESIGN", json!({}), wait("architect"), "UD-APPROVE-DESIGN", "architect.1 OK"),
        ("APPROVE_DESIGN", json!({}), "UD-APPROVE-DESIGN".into(), "", ""),
        ("PLAN", json!({"user_decisions": approved()}), "UD-APPROVE-DESIGN".into(), "", ""),
        ("REVIEW_STRATEGY", json!({"user_decisions": approved()}), "UD-REVIEW-STRATEGY".into(), "", ""),
        ("IMPLEMENT_LOOP", json!({"user_decisions": approved()}), wait("ready"), "UD-REVIEW-STRATEGY", ""),
        ("FIX_TESTS", json!({"user_decisions": approved()}), wait("ready"), "UD-REVIEW-STRATEGY", ""),
        ("ASK_USER", json!({"user_decisions": approved()}), "ad-hoc".into(), "", ""),
        (
            "BLOCKED",
            json!({"user_decisions": approved()}),
            "It was blocked when it was taken over.".into(),
            "UD-REVIEW-STRATEGY",
            "",
        ),
        (
            "INTEGRATE",
            json!({"mode": "lean"}),
            wait("onward"),
            "over",
            "build.1 pass, review.1 OK, qa.1 OK, security.1 OK, promote-all.1 done, final-pass.1/meta completed, accept.1 pass, lean-report.1 done",
        ),
        (
            "INTEGRATE",
            json!({"user_decisions": approved()}),
            wait("onward"),
            "over",
            "integrate.1 OK, build.1 pass, review.1 OK, qa.1 OK, security.1 OK, promote-all.1 done, final-pass.1/meta completed, accept.1 pass, docs.1 OK, release.1 OK",
        ),
    ] {
        let bench = left(state, &more);
        let engine = engine(&bench, CREW);
        let (name, standing) = taken_over(&engine);
        assert_eq!(stands(&standing), rests, "{state}");
        assert_eq!(walk(&bench), [""; 0], "{state}: nobody is called before somebody says so");
        if !then.is_empty() {
            assert_eq!(stands(&resume(&engine, &name)), then, "{state}: {:?}", walk(&bench));
            let walked: Vec<&str> = walked.split(',').map(str::trim).filter(|it| !it.is_empty()).collect();
            assert_eq!(walk(&bench), walked, "{state}");
        }
        assert!(bench.read(&of_session("status.json")).contains("\"ours\": {"), "{state}");
    }
}

#[test]
fn a_wish_that_was_pending_elsewhere_is_not_forgotten() {
    let wish = "changes-requested: two files, please";
    let row = json!({"at": "2026-09-21T11:30:00Z", "decision_id": "UD-APPROVE-DESIGN", "answer": wish,
        "state_context": "APPROVE_DESIGN"});
    for (status_of, is_logged) in [
        (json!({}), true),
        (json!({"APPROVE_DESIGN": {"correction_status": null}}), true),
        (json!({"APPROVE_DESIGN": {"correction_status": "none"}}), false),
        (json!({"APPROVE_DESIGN": {"correction_status": "queued"}}), true),
        (json!({"APPROVE_DESIGN": {"correction_status": "dispatched"}}), true),
    ] {
        let bench = left(
            "APPROVE_DESIGN",
            &json!({"user_decisions": [gate("UD-APPROVE-DESIGN", wish)], "gate_tracking": status_of}),
        );
        let history = of_session("approve-design-history.jsonl");
        if is_logged {
            bench.write(&history, &format!("{row}\n"));
        }
        let engine = engine(&bench, CREW);
        let (name, standing) = taken_over(&engine);
        assert_eq!(asked(&standing), "UD-APPROVE-DESIGN");
        assert!(text(&standing).contains("two files, please"), "{status_of}: {}", text(&standing));
        assert_eq!(walk(&bench), [""; 0], "nothing is sent twice");
        // Said again it is sent, once, and not told of any more.
        let standing = answer(&engine, &name, "changes-requested", "two files", &[("about", "architecture")]);
        assert_eq!(asked(&standing), "UD-APPROVE-DESIGN", "{:?}", walk(&bench));
        assert!(!text(&standing).contains("taken over"), "{}", text(&standing));
        assert_eq!(bench.read(&history).lines().count(), 1 + usize::from(is_logged));
        assert_eq!(walk(&bench).iter().filter(|it| it.starts_with("correct-architecture")).count(), 1);
    }
}

#[test]
fn what_others_wrote_is_kept_and_their_numbers_are_counted_on() {
    let theirs = json!({"decision_id": "UD-3", "question": "Which?", "status": "answered", "answer": "this one",
        "asked_at": "2026-09-21T11:45:00Z", "resolved_at": "2026-09-21T11:50:00Z", "state_context": "FIX_TESTS", "resolution_reason": null, "by": "them"});
    let bench = left(
        "DESIGN",
        &json!({"user_decisions": [theirs], "retry_counts": {"T-009": {"FIX_TESTS": 2, "mine": "x"}}}),
    );
    let before = bench.read(&of_session("status.json"));
    let crew = CREW.replace("architect|correct-architecture)", "architect|correct-architecture)\n    say '{\"verdict\": \"ASK\", \"question\": \"One file?\"}'; exit");
    let engine = engine(&bench, &crew);
    let (name, _) = taken_over(&engine);
    assert_eq!(asked(&resume(&engine, &name)), "ad-hoc", "{:?}", walk(&bench));
    let now = decision(&bench, "UD-4");
    assert_eq!((&now["question"], &now["state_context"]), (&"One file?".into(), &"DESIGN".into()), "{now}");
    let file = bench.read(&of_session("status.json"));
    let ours = |text: &str| text[text.find("\"ours\"").expect("ours")..].split('}').next().map(str::to_owned);
    assert_eq!(ours(&file), ours(&before), "to the letter");
    assert_eq!(decision(&bench, "UD-3"), theirs_of(&before));
    assert_eq!(status(&bench)["retry_counts"]["T-009"], json!({"FIX_TESTS": 2, "mine": "x"}));
    assert_eq!(status(&bench)["assumptions"], json!(["people read"]));
    assert_eq!(bench.read(&of_session("tasks.yaml")), LEAN);
}

fn theirs_of(file: &str) -> Value {
    serde_json::from_str::<Value>(file).expect("a status")["user_decisions"][0].clone()
}
