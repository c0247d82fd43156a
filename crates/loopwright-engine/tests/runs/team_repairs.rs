//! `team` when something goes wrong: corrections that are cut short, repairs, and what a person accepts in the end.

use std::sync::Arc;

use indexmap::IndexMap;
use loopwright_core::definition::Outcome as Ending;
use loopwright_core::machine::Event;
use loopwright_engine::journal::JournalError;
use loopwright_engine::process::Cancel;
use loopwright_engine::{Answered, Asking, Engine, Message, Standing};
use serde_json::{Value, json};

use crate::bench::{Bench, run};
use crate::team::{answer, asked, begin, decision, engine, of_session, planned, project, status, team, walk};
use crate::team_files::CREW;
use crate::watched::{Change, Watched, When};

/// How the session looked while somebody was at work.
fn aside(bench: &Bench, of: &str, file: &str) -> String {
    let path = bench.around().join(format!("aside.{of}")).join(file);
    std::fs::read_to_string(&path).unwrap_or_else(|it| panic!("{}: {it}", path.display()))
}

fn status_aside(bench: &Bench, of: &str) -> Value {
    serde_json::from_str(&aside(bench, of, "status.json")).expect("a status")
}

fn correction(status: &Value) -> &Value {
    &status["gate_tracking"]["APPROVE_DESIGN"]["correction_status"]
}

fn history(bench: &Bench) -> usize {
    bench.read(&of_session("approve-design-history.jsonl")).lines().count()
}

/// How often a state was at work.
fn times(bench: &Bench, state: &str) -> usize {
    walk(bench).iter().filter(|it| it.starts_with(&format!("{state}."))).count()
}

/// The run that waits: the session, or one of its tasks.
fn waiting(standing: &Standing) -> String {
    match standing {
        Standing::Waits { asking, .. } => match &**asking {
            Asking::Question(asked) => asked.run.clone(),
            Asking::Verbs { run, .. } => run.clone(),
        },
        other => panic!("{other:?}"),
    }
}

/// Leaves a letter for a run.
fn post(engine: &Engine, run: &str, message: &Message) {
    engine.journal.post(run, 0, &serde_json::to_string(message).expect("a letter")).expect("it is left");
}

fn drive(engine: &Engine, run: &str) -> Standing {
    engine.take_up(run, &Cancel::default()).expect("a driver").drive().expect("it drives")
}

/// A session whose design is to be asked about, and a wish for another architecture that waits to be read.
fn wished(bench: &Bench, crew: &str) -> (Engine, String) {
    let engine = engine(bench, crew);
    let (name, _) = run(&engine, &team(), &begin("full")).expect("a run");
    let fields = [("about".into(), "architecture".into())].into_iter().collect();
    let wish =
        Answered { answer: "changes-requested".into(), note: "two files".into(), fields, finding: None };
    post(&engine, &name, &Message::Answer(wish));
    (engine, name)
}

#[test]
fn a_correction_that_was_asked_for_and_not_sent_is_sent_once() {
    for (left_at, shown) in [("approve-design.1", "queued"), ("log-request.1/action-1", "dispatched")] {
        let bench = project();
        let (mut engine, name) = wished(&bench, CREW);
        let kept = Arc::clone(&engine.journal);
        let cancel = Cancel::default();
        let leaves = cancel.clone();
        engine.journal = Watched::around(Arc::clone(&kept), move |when, change| {
            let settled =
                |it: &Event| matches!(it, Event::Settled { effect, .. } if effect.to_string() == left_at);
            if let (When::After, Change::Append(batch)) = (when, change)
                && batch.events.iter().any(settled)
            {
                leaves.call_off();
            }
            Ok(())
        });
        let standing = engine.take_up(&name, &cancel).expect("a driver").drive().expect("it drives");
        assert!(matches!(standing, Standing::CalledOff { .. }), "{standing:?}");
        assert_eq!(times(&bench, "correct-architecture"), 0, "{left_at}: nobody was called");
        let now = status(&bench);
        assert_eq!(
            (&now["current_state"], correction(&now)),
            (&"APPROVE_DESIGN".into(), &shown.into()),
            "{left_at}"
        );
        let told = decision(&bench, "UD-APPROVE-DESIGN");
        assert_eq!(
            (&told["status"], &told["answer"]),
            (&"answered".into(), &"changes-requested: two files".into())
        );

        engine.journal = kept;
        let standing = drive(&engine, &name);
        assert_eq!(asked(&standing), "UD-APPROVE-DESIGN");
        assert_eq!((times(&bench, "correct-architecture"), history(&bench)), (1, 1), "{left_at}");
        let then = status_aside(&bench, "correct-architecture");
        assert_eq!(correction(&then), "dispatched", "{then}");
        assert_eq!(then["gate_tracking"]["APPROVE_DESIGN"]["last_correction_dispatch"]["agent"], "Architect");
        assert_eq!(then["current_state"], "APPROVE_DESIGN");
        assert_eq!(correction(&status(&bench)), "completed");
        let pending = decision(&bench, "UD-APPROVE-DESIGN");
        assert_eq!((&pending["status"], &pending["answer"]), (&"pending".into(), &Value::Null), "{pending}");
    }
}

#[test]
fn a_correction_that_was_cut_short_is_shown_and_not_sent_again() {
    let bench = project();
    let crew = CREW.replace(
        "architect|correct-architecture)",
        "architect|correct-architecture)\n    echo x >> \"../calls.$LOOPWRIGHT_STATE\"",
    );
    let (mut engine, name) = wished(&bench, &crew);
    // Whoever drives is gone when the architect comes back.
    engine.journal = Watched::around(Arc::clone(&engine.journal), move |when, change| {
        let settled = |it: &Event| matches!(it, Event::Settled { effect, .. } if effect.to_string().starts_with("correct-architecture."));
        match change {
            Change::Append(batch) if when == When::Before && batch.events.iter().any(settled) => {
                Err(JournalError::LeaseLost { run: "it".into(), holder: "nobody".into() })
            }
            _ => Ok(()),
        }
    });
    engine.take_up(&name, &Cancel::default()).expect("a driver").drive().expect_err("it is gone");
    assert_eq!(correction(&status(&bench)), "dispatched");

    let engine = self::engine(&bench, &crew).after(600_000);
    let standing = drive(&engine, &name);
    assert_eq!(asked(&standing), "UD-APPROVE-DESIGN", "{:?}", walk(&bench));
    assert!(walk(&bench).contains(&"correct-architecture.1 lost".to_owned()), "{:?}", walk(&bench));
    let calls = std::fs::read_to_string(bench.around().join("calls.correct-architecture")).expect("calls");
    assert_eq!((calls.as_str(), history(&bench)), ("x\n", 1));
    assert_eq!(correction(&status(&bench)), "completed");
    assert_eq!(asked(&answer(&engine, &name, "approved", "", &[])), "UD-REVIEW-STRATEGY");
    assert_eq!(
        (decision(&bench, "UD-APPROVE-DESIGN")["answer"].clone(), history(&bench)),
        ("approved".into(), 1)
    );
}

/// A third task for the plan of the crew.
const THIRD: &str = "  - {id: T-003, status: not-started, type: chore, title: Tidy, depends_on: [T-002], goal: tidiness, acceptance_checks: [\"manual: look\"], risk_flags: [none], done_when: [it is tidy]}\nEND\n";

#[test]
fn in_the_end_all_is_judged_at_once_and_again_if_it_changes() {
    let bench = project();
    let crew = CREW
        .replace("END\n    say '{\"verdict\": \"OK\", \"summary\": \"two tasks\"}'", &format!("{THIRD}    say '{{\"verdict\": \"OK\"}}'"))
        .replace("  T-002) echo '# Greetings' > README.md ;;", "  T-002) echo '# Greetings' > README.md; say '{\"verdict\": \"OK\", \"touches\": \"auth-input-network\"}'; exit ;;")
        .replace("integrate|release)", "integrate) touch broken; say '{\"verdict\": \"OK\"}' ;;\n  release)")
        .replace("fix-review|fix-tests|fix-security|fix-build)", "fix-review|fix-tests|fix-security|fix-build)\n    rm -f broken; echo x >> src/log");
    let (engine, name) = planned(&bench, &crew);
    let standing = answer(&engine, &name, "single-final", "", &[]);
    assert_eq!(asked(&standing), "manual", "{:?}", walk(&bench));
    let before = aside(&bench, "codeT-003", "tasks.yaml");
    assert!(
        before.matches("status: implemented").count() == 2 && before.contains("status: in-progress"),
        "{before}"
    );
    let tasks = bench.read(&of_session("tasks.yaml"));
    assert_eq!(tasks.matches("status: completed").count(), 3, "{tasks}");
    assert_eq!(status(&bench)["retry_counts"], json!({"meta": {"FIX_REVIEW": 1, "FIX_BUILD": 1}}));
    assert_eq!(status_aside(&bench, "fix-reviewmeta")["current_state"], "FIX_REVIEW");
    assert_eq!(status_aside(&bench, "fix-build")["current_state"], "FIX_BUILD");
    let walked = walk(&bench);
    let from = walked.iter().position(|it| it.starts_with("review-strategy")).expect("a choice") + 1;
    let expected = "
        begin.1 done, code.1 OK, coded.1 done, implement.1/T-001 implemented,
        begin.1 done, code.1 OK, coded.1 done, implement.1/T-002 implemented,
        begin.1 done, code.1 OK, coded.1 done, implement.1/T-003 implemented,
        review.1 BLOCKED, fix-review.1 OK, review.2 OK, qa.1 OK, security.1 OK, promote-all.1 done, final-pass.1/meta completed,
        integrate.1 OK, build.1 fail, fix-build.1 OK, build.2 pass,
        review.1 OK, qa.1 OK, security.1 OK, promote-all.1 done, final-pass.2/meta completed,
        accept.1 pass";
    let expected: Vec<&str> = expected.split(',').map(str::trim).collect();
    assert_eq!(walked[from..], expected);
    let prompt = std::fs::read_to_string(bench.around().join("prompt.reviewmeta")).expect("a prompt");
    assert!(prompt.contains("src/greeting") && prompt.contains("README.md"), "all that changed: {prompt}");
}

#[test]
fn a_coder_who_asks_in_a_repair_is_answered_there() {
    let bench = project();
    let crew = CREW
        .replace("T-001) echo helo", "T-001) echo hello")
        .replace("T-002) echo '# Greetings' > README.md", "T-002) echo '# Greetings' > README.md; echo helo > src/greeting")
        .replace("fix-review|fix-tests|fix-security|fix-build)", "fix-review|fix-tests|fix-security|fix-build)\n    if ! grep -q 'with one l' \"../prompt.fix-reviewT-002\"; then say '{\"verdict\": \"ASK\", \"question\": \"One l or two?\"}'; exit; fi");
    let (engine, name) = planned(&bench, &crew);
    let standing = answer(&engine, &name, "per-batch", "", &[]);
    assert_eq!(asked(&standing), "ad-hoc", "{:?}", walk(&bench));
    let now = status(&bench);
    assert_eq!(now["current_state"], "ASK_USER");
    let open = decision(&bench, "UD-1");
    assert_eq!(
        (&open["status"], &open["state_context"], &open["question"]),
        (&"pending".into(), &"FIX_REVIEW".into(), &"One l or two?".into())
    );
    // Put off, the task rests; taken up again, the same is asked.
    let said = |answer: &str, note: &str| {
        Message::Answer(Answered { answer: answer.into(), note: note.to_owned(), ..Answered::default() })
    };
    post(&engine, &waiting(&standing), &said("deferred", "tomorrow"));
    let standing = drive(&engine, &name);
    assert!(asked(&standing).contains("Task T-002 is blocked"), "{}", asked(&standing));
    assert_eq!(status(&bench)["current_state"], "BLOCKED");
    assert_eq!(decision(&bench, "UD-1")["status"], "cancelled");
    post(&engine, &waiting(&standing), &Message::Say { verb: "resume".into(), inputs: IndexMap::new() });
    let standing = drive(&engine, &name);
    assert_eq!(asked(&standing), "ad-hoc", "{:?}", walk(&bench));
    assert_eq!(decision(&bench, "UD-2")["state_context"], "FIX_REVIEW");
    // The answer lies there while nobody drives; somebody else takes the session up.
    post(&engine, &waiting(&standing), &said("answered", "never with one l"));
    let engine = self::engine(&bench, &crew);
    let standing = drive(&engine, &name);
    assert_eq!(asked(&standing), "manual", "{:?}", walk(&bench));
    assert_eq!(decision(&bench, "UD-2")["answer"], "never with one l");
    assert_eq!(status(&bench)["retry_counts"], json!({"T-002": {"FIX_REVIEW": 1}}));
    assert_eq!(walk(&bench).iter().filter(|it| *it == "implement.1/T-001 completed").count(), 1);
    assert_eq!(status_aside(&bench, "fix-reviewT-002")["current_state"], "FIX_REVIEW");
}

#[test]
fn a_lean_session_that_grows_starts_over_in_full() {
    let bench = project();
    let crew = CREW.replace(
        "fix-review|fix-tests|fix-security|fix-build)",
        r#"fix-review)
    echo x >> ../fixes
    case "$(wc -l < ../fixes | tr -d ' ')" in
      1) echo helo > src/greeting; echo more > src/more; say '{"verdict": "OK", "touches": "nothing"}' ;;
      2) say '{"verdict": "TOO_COMPLEX", "summary": "greetings are hard"}' ;;
      *) echo hello > src/greeting; say '{"verdict": "OK", "touches": "nothing"}' ;;
    esac ;;
  fix-build)"#,
    );
    let engine = engine(&bench, &crew);
    let (name, standing) = run(&engine, &team(), &begin("lean")).expect("a run");
    assert_eq!(asked(&standing), "UD-APPROVE-DESIGN", "{:?}", walk(&bench));
    for (of, shown, mode) in [
        ("intake-lean", "INTAKE_LEAN", "lean"),
        ("codeT-001", "IMPLEMENT_LOOP", "lean"),
        ("fix-reviewT-001", "FIX_REVIEW", "lean"),
        ("intake", "INTAKE", "full"),
    ] {
        let then = status_aside(&bench, of);
        assert_eq!((&then["current_state"], &then["mode"]), (&shown.into(), &mode.into()), "{of}");
    }
    assert!(!bench.around().join("aside.intake/tasks.yaml").exists(), "the plan of one task is gone");
    assert!(!bench.path().join(of_session("tasks.yaml")).exists());
    assert_eq!(asked(&answer(&engine, &name, "approved", "", &[])), "UD-REVIEW-STRATEGY");
    let standing = answer(&engine, &name, "single-final", "", &[]);
    assert_eq!(asked(&standing), "manual", "{:?}", walk(&bench));
    let coded = walk(&bench).iter().filter(|it| it.starts_with("code.")).count();
    assert_eq!(coded, 3, "lean's task, and the two of the plan: {:?}", walk(&bench));
    let prompt = std::fs::read_to_string(bench.around().join("prompt.reviewmeta")).expect("a prompt");
    assert!(prompt.contains("src/more"), "what lean left is looked at: {prompt}");
}

#[test]
fn a_build_that_stays_red_and_is_accepted_is_never_called_green() {
    let bench = project();
    let crew = CREW
        .replace("integrate|release)", "integrate) touch broken; say '{\"verdict\": \"OK\"}' ;;\n  release)");
    let (engine, name) = planned(&bench, &crew);
    let standing = answer(&engine, &name, "single-final", "", &[]);
    assert_eq!(asked(&standing), "stuck", "{:?}", walk(&bench));
    let now = status(&bench);
    assert_eq!((&now["current_state"], &now["last_ci_result"]), (&"ASK_USER".into(), &"red".into()));
    assert_eq!(now["retry_counts"]["meta"]["FIX_BUILD"], 3);
    assert_eq!((times(&bench, "build"), times(&bench, "fix-build")), (4, 3));
    let standing = answer(&engine, &name, "accept", "it is known", &[]);
    assert_eq!(asked(&standing), "manual", "{:?}", walk(&bench));
    let standing = answer(&engine, &name, "waived", "nobody is there to look", &[]);
    assert!(matches!(standing, Standing::Over { ending: Some(Ending::Success), .. }), "{standing:?}");
    let now = status(&bench);
    assert_eq!((&now["current_state"], &now["last_ci_result"]), (&"DONE".into(), &"red".into()));
    assert_eq!(now["known_issues"].as_array().map(Vec::len), Some(2), "{}", now["known_issues"]);
    assert_eq!(decision(&bench, "UD-1")["answer"], "accept: it is known");
    // The reviewer hears of what changed late; nobody puts it together, or asks, a second time.
    assert_eq!(
        (times(&bench, "review"), times(&bench, "integrate"), times(&bench, "build-stuck")),
        (3, 1, 1)
    );
    let (_, run) = engine.read(&name).expect("a run");
    let forced = format!("{:?}", run.gates);
    assert!(forced.contains("forced: true"), "{forced}");
    let told = std::fs::read_to_string(bench.around().join("prompt.docs")).expect("a prompt");
    assert!(told.contains("it is known") && told.contains("nobody is there to look"), "{told}");
}

#[test]
fn an_edit_that_cannot_be_followed_ends_nobody() {
    let bench = project();
    let crew = CREW.replace(
        "qa|security) say",
        r#"security) say '{"verdict": "NEEDS_DECISION", "summary": "one", "findings": [{"severity": "medium", "text": "a token in a log"}]}' ;;
  qa) say"#,
    );
    let (engine, name) = planned(&bench, &crew);
    let standing = answer(&engine, &name, "single-final", "", &[]);
    assert_eq!(asked(&standing), "risk", "{:?}", walk(&bench));
    let path = of_session("status.json");
    let right = bench.read(&path);
    bench.write(&path, &right.replace("\"current_state\": \"ASK_USER\"", "\"current_state\": \"ELSEWHERE\""));
    for _ in 0..2 {
        let driver = engine.take_up(&name, &Cancel::default()).expect("a driver");
        let error = driver.drive().expect_err("it is no phase").to_string();
        assert!(error.contains("`ELSEWHERE` is no phase"), "{error}");
    }
    bench.write(&path, &right);
    assert_eq!(asked(&drive(&engine, &name)), "risk", "the task still asks");
    assert_eq!(decision(&bench, "UD-1")["status"], "pending");
    let events = engine.journal.events(&name, 0).expect("events");
    assert!(!events.iter().any(|it| matches!(it.event, Event::Dropped { .. })), "nobody was ended");

    // One that can be followed ends it, and what was asked is on record once.
    bench.write(
        &path,
        &right.replace("\"current_state\": \"ASK_USER\"", "\"current_state\": \"REVIEW_STRATEGY\""),
    );
    assert_eq!(asked(&drive(&engine, &name)), "UD-REVIEW-STRATEGY");
    assert_eq!(decision(&bench, "UD-1")["status"], "skipped");
}
