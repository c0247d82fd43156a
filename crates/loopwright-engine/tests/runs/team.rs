//! Whole sessions of `team`: real files, real checks, a crew of shell scripts, and answers of people.

use indexmap::IndexMap;
use loopwright_core::definition::Outcome as Ending;
use loopwright_core::language::Folder;
use loopwright_core::name::Name;
use loopwright_engine::process::Cancel;
use loopwright_engine::{Answered, Asking, Begin, Engine, Message, Standing};
use serde_json::Value;

use crate::bench::{Bench, in_folder, run};
use crate::team_files::CREW;

pub(crate) const SESSION: &str = "2026-09-21_greet-people";

/// A copy of the session's files beside the repository.
const ASIDE: &str = r#"
at="../aside.$LOOPWRIGHT_STATE$LOOPWRIGHT_ITEM"; rm -rf "$at"; mkdir "$at"
cp -r ".agents-work/$LOOPWRIGHT_SUBJECT/." "$at" 2> /dev/null"#;

pub(crate) fn team() -> Folder {
    in_folder("../../workflows", "team")
}

pub(crate) fn project() -> Bench {
    Bench::with(&[("test.sh", "test ! -e broken\n"), (".gitignore", ".agents-work/\n")])
}

/// Everybody keeps what they were told, and how the session looks while they are at work.
pub(crate) fn engine(bench: &Bench, crew: &str) -> Engine {
    let told = format!("cat > \"../prompt.$LOOPWRIGHT_STATE$LOOPWRIGHT_ITEM\"; {ASIDE}; {crew}");
    bench.engine(&[("claude", &told), ("codex", &told), ("gemini", &told)])
}

pub(crate) fn begin(mode: &str) -> Begin {
    Begin {
        inputs: IndexMap::from([(Name::from("goal"), "Greet people!".to_owned())]),
        vars: IndexMap::from([(Name::from("mode"), Name::from(mode))]),
        verb: Some("start".into()),
        ..Begin::default()
    }
}

pub(crate) fn status(bench: &Bench) -> Value {
    serde_json::from_str(&bench.read(&format!(".agents-work/{SESSION}/status.json"))).expect("a status")
}

pub(crate) fn decision(bench: &Bench, id: &str) -> Value {
    let status = status(bench);
    let all = status["user_decisions"].as_array().cloned().unwrap_or_default();
    let found: Vec<Value> = all.into_iter().filter(|it| it["decision_id"] == id).collect();
    assert!(found.len() < 2, "{id} is there once: {found:?}");
    found.into_iter().next().unwrap_or_default()
}

/// The question that waits.
pub(crate) fn asked(standing: &Standing) -> String {
    match standing {
        Standing::Waits { asking, .. } => match &**asking {
            Asking::Question(asked) => asked.id.clone(),
            Asking::Verbs { text, .. } => text.clone(),
        },
        other => panic!("{other:?}"),
    }
}

/// Answers a run, and drives it on.
pub(crate) fn answer(
    engine: &Engine,
    run: &str,
    answer: &str,
    note: &str,
    fields: &[(&str, &str)],
) -> Standing {
    let fields = fields.iter().map(|(name, it)| (Name::from(*name), Name::from(*it))).collect();
    let answered = Answered { answer: answer.into(), note: note.to_owned(), fields, finding: None };
    let letter = serde_json::to_string(&Message::Answer(answered)).expect("a letter");
    engine.journal.post(run, 0, &letter).expect("it is left");
    engine.take_up(run, &Cancel::default()).expect("a driver").drive().expect("it drives")
}

/// What came out, in order; which action of several it was says nothing.
pub(crate) fn walk(bench: &Bench) -> Vec<String> {
    let plain = |it: String| it.replace("/action-0", "").replace("/action-1", "");
    bench.lines().into_iter().filter(|it| !it.starts_with("said: ")).map(plain).collect()
}

/// Says `resume` to a run that is blocked, and drives it on.
pub(crate) fn resume(engine: &Engine, run: &str) -> Standing {
    let said = Message::Say { verb: "resume".into(), inputs: IndexMap::new() };
    engine.journal.post(run, 0, &serde_json::to_string(&said).expect("a letter")).expect("it is left");
    engine.take_up(run, &Cancel::default()).expect("a driver").drive().expect("it drives")
}

/// A session whose design is approved, and the question that is open then.
pub(crate) fn planned(bench: &Bench, crew: &str) -> (Engine, String) {
    let engine = engine(bench, crew);
    let (name, _) = run(&engine, &team(), &begin("full")).expect("a run");
    let standing = answer(&engine, &name, "approved", "", &[]);
    assert_eq!(asked(&standing), "UD-REVIEW-STRATEGY");
    (engine, name)
}

pub(crate) fn of_session(file: &str) -> String {
    format!(".agents-work/{SESSION}/{file}")
}

#[test]
fn a_goal_becomes_a_release_with_two_questions_and_one_by_hand() {
    let bench = project();
    let engine = engine(&bench, CREW);
    let (name, standing) = run(&engine, &team(), &begin("full")).expect("a run");
    assert_eq!(asked(&standing), "UD-APPROVE-DESIGN");
    assert_eq!(status(&bench)["current_state"], "APPROVE_DESIGN");
    assert_eq!(status(&bench)["session"], SESSION);
    let pending = decision(&bench, "UD-APPROVE-DESIGN");
    assert_eq!((&pending["status"], &pending["answer"]), (&"pending".into(), &Value::Null), "{pending}");
    assert_eq!(pending["state_context"], "APPROVE_DESIGN");
    assert_eq!(status(&bench)["assumptions"], serde_json::json!(["people read English"]));
    assert_eq!(status(&bench)["last_ci_result"], "unknown");
    assert_eq!(status(&bench)["gate_tracking"]["APPROVE_DESIGN"]["correction_status"], "none");

    let about = [("about", "architecture")];
    let standing = answer(&engine, &name, "changes-requested", "two files, please", &about);
    assert_eq!(asked(&standing), "UD-APPROVE-DESIGN", "it is asked again");
    let tracking = &status(&bench)["gate_tracking"]["APPROVE_DESIGN"];
    assert_eq!(tracking["correction_status"], "completed", "{tracking}");
    assert_eq!(tracking["last_correction_dispatch"]["agent"], "Architect", "{tracking}");
    let history = bench.read(&format!(".agents-work/{SESSION}/approve-design-history.jsonl"));
    let rows: Vec<Value> = history.lines().map(|it| serde_json::from_str(it).expect("a row")).collect();
    assert_eq!(rows.len(), 1, "{history}");
    assert_eq!(rows[0]["answer"], "changes-requested: two files, please");
    let prompt =
        std::fs::read_to_string(bench.around().join("prompt.correct-architecture")).expect("a prompt");
    assert!(prompt.contains("two files, please"), "{prompt}");

    let standing = answer(&engine, &name, "approved", "", &[]);
    assert_eq!(asked(&standing), "UD-REVIEW-STRATEGY");
    let approved = decision(&bench, "UD-APPROVE-DESIGN");
    assert_eq!((&approved["status"], &approved["answer"]), (&"answered".into(), &"approved".into()));
    assert_eq!(status(&bench)["current_state"], "REVIEW_STRATEGY");

    let standing = answer(&engine, &name, "per-batch", "", &[]);
    assert_eq!(asked(&standing), "manual", "somebody has to read it");
    let tasks = bench.read(&format!(".agents-work/{SESSION}/tasks.yaml"));
    assert!(tasks.contains("# the first") && tasks.matches("status: completed").count() == 2, "{tasks}");
    assert_eq!(status(&bench)["retry_counts"], serde_json::json!({"T-001": {"FIX_REVIEW": 1}}));
    assert_eq!(status(&bench)["last_ci_result"], "green");
    assert_eq!(decision(&bench, "UD-1")["state_context"], "INTEGRATE");

    let standing = answer(&engine, &name, "met", "", &[]);
    assert!(matches!(standing, Standing::Over { ending: Some(Ending::Success), .. }), "{standing:?}");
    assert_eq!(status(&bench)["current_state"], "DONE");
    let states = walk(&bench);
    let expected = "
        intake.1 OK, architect.1 OK, approve-design.1 changes-requested, log-request.1 done, log-request.1 done,
        correct-architecture.1 OK, approve-design.2 approved, plan.1 OK, review-strategy.1 per-batch,
        begin.1 done, code.1 OK, coded.1 done, review.1 BLOCKED, fix-review.1 OK, review.2 OK, qa.1 OK, promote.1 done,
        implement.1/T-001 completed,
        begin.1 done, code.1 OK, coded.1 done, review.1 OK, promote.1 done, implement.1/T-002 completed,
        review.1 OK, qa.1 OK, security.1 OK, promote-all.1 done, final-pass.1/meta completed,
        integrate.1 OK, build.1 pass, accept.1 pass, confirm-manual.1 met, docs.1 OK, release.1 OK";
    let expected: Vec<&str> = expected.split(',').map(str::trim).collect();
    assert_eq!(states, expected);
}

#[test]
fn a_lean_session_asks_nothing_and_reports() {
    let bench = project();
    let engine = engine(&bench, CREW);
    let (_, standing) = run(&engine, &team(), &begin("lean")).expect("a run");
    assert!(matches!(standing, Standing::Over { ending: Some(Ending::Success), .. }), "{standing:?}");
    let status = status(&bench);
    assert_eq!((&status["current_state"], &status["mode"]), (&"DONE".into(), &"lean".into()));
    assert_eq!(status["user_decisions"], serde_json::json!([]));
    let walked = walk(&bench);
    for absent in ["architect", "plan", "integrate", "docs", "approve-design", "review-strategy"] {
        assert!(!walked.iter().any(|it| it.starts_with(&format!("{absent}."))), "{absent}: {walked:?}");
    }
    let report = bench.read(&of_session("report.md"));
    for heading in ["What was done", "How to run", "How to test", "Acceptance", "Known issues"] {
        assert!(report.contains(&format!("## {heading}")), "{heading}: {report}");
    }
    assert!(report.contains("T-001 Greet (completed)") && report.contains("came out `pass`"), "{report}");
}

#[test]
fn a_gate_without_a_valid_answer_blocks_and_is_asked_again() {
    let bench = project();
    let engine = engine(&bench, CREW);
    let invalid = || Answered { answer: "maybe".into(), ..Answered::default() };
    bench.answers.left.lock().expect("answers").extend([invalid(), invalid(), invalid(), invalid()]);
    let (name, standing) = run(&engine, &team(), &begin("full")).expect("a run");
    assert!(asked(&standing).starts_with("Blocked at approve-design (unanswered)"), "{}", asked(&standing));
    assert_eq!(bench.answers.asked.lock().expect("questions").len(), 4, "asked once, and three times again");
    let now = status(&bench);
    assert_eq!(
        (&now["current_state"], &now["blocker"]),
        (&"BLOCKED".into(), &"mandatory_user_decision_missing".into())
    );
    let cancelled = decision(&bench, "UD-APPROVE-DESIGN");
    assert_eq!(cancelled["status"], "cancelled", "{cancelled}");
    assert_eq!(cancelled["resolution_reason"], "no valid answer in 4 tries", "{cancelled}");
    let standing = resume(&engine, &name);
    assert_eq!(asked(&standing), "UD-APPROVE-DESIGN");
    assert_eq!(decision(&bench, "UD-APPROVE-DESIGN")["status"], "pending");
    assert!(!walk(&bench).iter().any(|it| it.starts_with("plan")), "nobody planned");
}

#[test]
fn a_gate_that_is_put_off_blocks_and_is_asked_again() {
    let bench = project();
    let (engine, name) = planned(&bench, CREW);
    let standing = answer(&engine, &name, "deferred", "after the holidays", &[]);
    assert!(asked(&standing).starts_with("Blocked at review-strategy (deferred)"), "{}", asked(&standing));
    let now = status(&bench);
    assert_eq!(
        (&now["current_state"], &now["blocker"]),
        (&"BLOCKED".into(), &"mandatory_user_decision_missing".into())
    );
    let put_off = decision(&bench, "UD-REVIEW-STRATEGY");
    assert_eq!(
        (&put_off["status"], &put_off["resolution_reason"]),
        (&"cancelled".into(), &"after the holidays".into())
    );
    assert_eq!(asked(&resume(&engine, &name)), "UD-REVIEW-STRATEGY");
    assert_eq!(status(&bench)["blocker"], Value::Null);
}

#[test]
fn what_was_approved_and_edited_is_approved_again_before_anything_is_built() {
    let bench = project();
    let (engine, name) = planned(&bench, CREW);
    bench.write(
        &of_session("spec.md"),
        &bench.read(&of_session("spec.md")).replace("Greet people.", "Greet everybody."),
    );
    let standing = answer(&engine, &name, "single-final", "", &[]);
    assert_eq!(asked(&standing), "UD-APPROVE-DESIGN", "{:?}", walk(&bench));
    assert!(!walk(&bench).iter().any(|it| it.starts_with("code")), "nobody coded");
    assert_eq!(
        asked(&answer(&engine, &name, "approved", "", &[])),
        "UD-REVIEW-STRATEGY",
        "it is planned anew"
    );
    answer(&engine, &name, "single-final", "", &[]);
    let walked = walk(&bench);
    assert!(walked.iter().any(|it| it.starts_with("code")), "{walked:?}");
}

#[test]
fn a_status_edited_well_is_followed_and_badly_refused() {
    let bench = project();
    let (engine, name) = planned(&bench, CREW);
    let path = of_session("status.json");
    let right = bench.read(&path);
    let drive = |engine: &Engine| engine.take_up(&name, &Cancel::default()).expect("a driver").drive();
    for (bad, told) in [
        (
            right.replace("\"current_state\": \"REVIEW_STRATEGY\"", "\"current_state\": \"ELSEWHERE\""),
            "`ELSEWHERE` is no phase",
        ),
        (right.replace("\"answer\": \"approved\"", "\"answer\": \"rejected\""), "nothing follows from it"),
        (right.replacen('{', "", 1), "status.json"),
    ] {
        assert_ne!(bad, right, "{told}");
        bench.write(&path, &bad);
        let error = drive(&engine).expect_err(told).to_string();
        assert!(error.contains(told) && error.contains("status.json"), "{error}");
        assert_eq!(bench.read(&path), bad, "it is left as it is");
    }
    // Keys of others stay, and a state that is one is followed.
    let edited = right.replace(
        "\"current_state\": \"REVIEW_STRATEGY\"",
        "\"current_state\": \"APPROVE_DESIGN\",\n  \"mine\": [1]",
    );
    bench.write(&path, &edited);
    let standing = drive(&engine).expect("it drives");
    assert_eq!(asked(&standing), "UD-APPROVE-DESIGN");
    assert!(bench.read(&path).contains("\"mine\": [1]"), "{}", bench.read(&path));
    assert_eq!(decision(&bench, "UD-REVIEW-STRATEGY")["status"], "skipped");
}

#[test]
fn risks_are_decided_one_by_one_and_each_is_on_record() {
    let bench = project();
    let crew = CREW.replace(
        "qa|security) say",
        r#"security)
    if [ -e .agents-work/decided ]; then say '{"verdict": "OK", "summary": "fine", "findings": []}'; else
      say '{"verdict": "NEEDS_DECISION", "summary": "two", "findings": [{"severity": "medium", "text": "a token in a log", "subject": "log"}, {"severity": "medium", "text": "no limit", "subject": "limit"}]}'; fi ;;
  qa) say"#,
    );
    let (engine, name) = planned(&bench, &crew);
    let standing = answer(&engine, &name, "single-final", "", &[]);
    assert_eq!(asked(&standing), "risk", "{:?}", walk(&bench));
    let open = |bench: &Bench| {
        let all = status(bench)["user_decisions"].as_array().cloned().unwrap_or_default();
        all.into_iter().filter(|it| it["status"] == "pending").collect::<Vec<_>>()
    };
    assert_eq!(status(&bench)["current_state"], "ASK_USER");
    assert_eq!(open(&bench).len(), 1, "one at a time: {:?}", open(&bench));
    assert_eq!(open(&bench)[0]["state_context"], "IMPLEMENT_LOOP");
    let decide = |text: &str, word: &str| {
        let answered = Answered { answer: word.into(), ..Answered::default() };
        bench.answers.to_findings.lock().expect("answers").insert(text.to_owned(), answered);
    };
    decide("a token in a log", "fix-now");
    let standing = engine.take_up(&name, &Cancel::default()).expect("a driver").drive().expect("it drives");
    assert_eq!(asked(&standing), "risk", "the other one is asked about");
    assert_eq!(decision(&bench, "UD-1")["answer"], "fix-now");
    assert_eq!(decision(&bench, "UD-2")["status"], "pending");
    decide("no limit", "accept-risk");
    bench.write(".agents-work/decided", "");
    let standing = engine.take_up(&name, &Cancel::default()).expect("a driver").drive().expect("it drives");
    assert_eq!(asked(&standing), "manual", "{:?}", walk(&bench));
    assert_eq!(decision(&bench, "UD-2")["answer"], "accept-risk");
    let prompt = std::fs::read_to_string(bench.around().join("prompt.fix-securitymeta")).expect("a prompt");
    assert!(prompt.contains("a token in a log") && !prompt.contains("no limit"), "{prompt}");
}
