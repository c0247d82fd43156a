//! How features come to their end, and what keeps them from it.

use loopwright_core::definition::Outcome as Ending;
use loopwright_core::name::Name;
use loopwright_engine::{Begin, Engine, Standing};
use serde_json::{Value, json};

use crate::bench::{Bench, run};
use crate::change::{rests, say};
use crate::feature::{
    answers, begin, calls, engine, feature, has, meta, over, project, prompt, said, text, tree,
};
use crate::feature_files::{APPROVES, AUTHOR};

const BRANCH: &str = "feature/001-greet-people";

/// A hotfix whose code is there.
fn built(bench: &Bench, reviewer: &str) -> (Engine, String) {
    let engine = engine(bench, AUTHOR, reviewer);
    let (name, _) = run(&engine, &feature(), &begin("hotfix")).expect("a run");
    say(&engine, &name, "implement");
    (engine, name)
}

#[test]
fn a_hotfix_works_in_the_same_tree_and_merges_from_there() {
    let bench = project();
    let (engine, name) = built(&bench, APPROVES);
    assert_eq!(bench.git(&["branch", "--show-current"]), BRANCH, "a branch, and no worktree");
    assert!(meta(&bench)["worktree"].is_null());
    assert!(prompt(&bench, "final-review.1").contains("Greet people!"), "held against what was wanted");
    // Not with anything uncommitted, however it got there.
    bench.write("notes", "mine\n");
    answers(&bench, &["merge"]);
    assert_eq!(rests(&say(&engine, &name, "finish")), "finish is next.");
    assert!(said(&bench).contains("There are uncommitted changes."), "{}", said(&bench));
    std::fs::remove_file(bench.path().join("notes")).expect("it goes");
    assert_eq!(over(&say(&engine, &name, "finish")), Ending::Success);
    assert_eq!(
        (bench.git(&["branch", "--show-current"]), bench.git(&["branch", "--list", BRANCH])),
        ("main".into(), String::new())
    );
    assert_eq!(meta(&bench)["status"], "completed");
    assert!(!has(&bench, ".review-history.md"));
}

#[test]
fn keeping_changes_nothing_and_discarding_leaves_the_base_alone() {
    let bench = project();
    let (engine, name) = built(&bench, APPROVES);
    let (before, base) = (text(&bench, ".meta.json"), bench.git(&["rev-parse", "main"]));
    answers(&bench, &["keep"]);
    say(&engine, &name, "finish");
    assert_eq!(text(&bench, ".meta.json"), before);
    assert!(has(&bench, ".review-history.md"));
    // Asked twice, and no is no.
    answers(&bench, &["discard", "stop"]);
    say(&engine, &name, "finish");
    assert_eq!(text(&bench, ".meta.json"), before);
    answers(&bench, &["discard", "discard"]);
    assert_eq!(over(&say(&engine, &name, "finish")), Ending::Stopped);
    assert_eq!(bench.git(&["rev-parse", "main"]), base);
    assert_eq!(bench.git(&["branch", "--list", BRANCH]), "");
    assert_eq!(bench.git(&["status", "--porcelain"]), "", "nothing is left of it");
    // It was closed before it went.
    let closed = bench.git(&["rev-list", "--all", "--reflog", "--grep=abandoned"]);
    let record: Value = serde_json::from_str(
        &bench.git(&["show", &format!("{closed}:docs/features/001-greet-people/.meta.json")]),
    )
    .expect("JSON");
    assert_eq!(record["status"], "abandoned");
    assert!(record["completed"].is_string(), "{record}");
}

#[test]
fn a_branch_for_a_pull_request_stays_and_its_worktree_goes() {
    let bench = project();
    std::fs::create_dir(bench.around().join("remote")).expect("a folder");
    bench.git(&["init", "--quiet", "--bare", "../remote"]);
    let engine = engine(&bench, AUTHOR, APPROVES);
    let (name, _) = run(&engine, &feature(), &begin("full")).expect("a run");
    for verb in ["design", "create-plan", "create-tasks", "implement"] {
        say(&engine, &name, verb);
    }
    // Full mode wants the code verified as it stands; a skip is asked about before.
    answers(&bench, &["continue", "pr"]);
    say(&engine, &name, "finish");
    assert!(said(&bench).contains("In full mode the code has to pass verify"), "{}", said(&bench));
    say(&engine, &name, "verify");
    // Nowhere to push to: the record is opened again, with its history.
    answers(&bench, &["pr"]);
    let standing = say(&engine, &name, "finish");
    assert!(rests(&standing).starts_with("finish is next"), "{}", rests(&standing));
    assert!(said(&bench).contains("Not finished: "), "{}", said(&bench));
    assert!(meta(&bench)["completed"].is_null() && has(&bench, ".review-history.md"));
    bench.git(&["remote", "add", "origin", "../remote"]);
    answers(&bench, &["pr"]);
    assert_eq!(over(&say(&engine, &name, "finish")), Ending::Success);
    assert!(!bench.around().join("repo-feature-001-greet-people").exists());
    assert!(bench.git(&["branch", "--list", BRANCH]).contains(BRANCH), "the branch stays");
    let pushed = bench.git(&["ls-remote", "origin", BRANCH]);
    assert!(pushed.starts_with(&bench.git(&["rev-parse", BRANCH])), "{pushed}");
    let record: Value = serde_json::from_str(
        &bench.git(&["show", &format!("{BRANCH}:docs/features/001-greet-people/.meta.json")]),
    )
    .expect("JSON");
    assert_eq!(
        (&record["status"], record["completed"].is_string()),
        (&json!("completed"), true),
        "what was pushed says so"
    );
    assert_eq!(bench.git(&["status", "--porcelain"]), "");
}

#[test]
fn a_conflict_merges_nothing_and_the_feature_stays_open() {
    let bench = project();
    let (engine, name) = built(&bench, APPROVES);
    // Somebody else wrote the same file on the base.
    bench.git(&["worktree", "add", "--quiet", "../other", "main"]);
    let other = Bench::at(bench.around().join("other"));
    other.write("src/greeting", "hey\n");
    other.git(&["add", "--all"]);
    other.git(&["commit", "--quiet", "--message", "hey"]);
    let base = bench.git(&["rev-parse", "main"]);
    answers(&bench, &["merge"]);
    say(&engine, &name, "finish");
    assert!(said(&bench).contains("conflict in `src/greeting`"), "{}", said(&bench));
    assert_eq!(bench.git(&["rev-parse", "main"]), base);
    assert_eq!(meta(&bench)["status"], "active");
    assert!(meta(&bench)["completed"].is_null() && has(&bench, ".review-history.md"));
    assert_eq!(bench.git(&["status", "--porcelain"]), "");
}

/// The first final review misses something; everything else is fine.
const MISSES: &str = r#"
case "$LOOPWRIGHT_STATE.$LOOPWRIGHT_VISIT" in
  final-review.1) printf '```json\n{"verdict": "approved", "summary": "R2 is not there.", "findings": [{"severity": "warning", "topic": "missing", "text": "R2 is missing"}], "evidence": []}\n```\n' ;;
  *) printf '```json\n{"verdict": "approved", "summary": "It will do.", "evidence": []}\n```\n' ;;
esac
"#;

#[test]
fn what_the_final_reviewer_misses_is_addressed_or_goes_on_record() {
    for (answer, builds, notes) in [("address", 2, json!([])), ("proceed", 1, json!(["R2 is missing"]))] {
        let bench = project();
        let engine = engine(&bench, AUTHOR, MISSES);
        let (name, _) = run(&engine, &feature(), &begin("hotfix")).expect("a run");
        answers(&bench, &[answer]);
        let standing = say(&engine, &name, "implement");
        assert_eq!(
            rests(&standing),
            "finish is next.",
            "what is missing is a blocker, however it was called"
        );
        assert_eq!(calls(&bench, "implement"), builds, "{answer}");
        let phase = meta(&bench)["phases"]["implement"].clone();
        assert_eq!(phase.get("reviewerNotes").cloned().unwrap_or(json!([])), notes, "{answer}: {phase}");
        assert_eq!(phase["iterations"], builds, "{answer}: {phase}");
        let forced: &[Name] = if answer == "proceed" { &["final-review".into()] } else { &[] };
        assert_eq!(standing.run().forced, forced);
        assert!(text(&bench, ".review-history.md").contains("**Decision:** Not what was specified"));
        if answer == "address" {
            assert!(prompt(&bench, "implement.2").contains("R2 is missing"));
        }
    }
}

/// Says what it must not: a blocker about more than was asked for, then a verdict without a blocker, then no evidence.
const STRAYS: &str = r#"
case "$LOOPWRIGHT_STATE.$LOOPWRIGHT_ATTEMPT" in
  chain-review.1) printf '```json\n{"verdict": "not-approved", "summary": "x", "findings": [{"severity": "blocker", "topic": "out-of-scope", "text": "greet in colour"}]}\n```\n' ;;
  chain-review.2) printf '```json\n{"verdict": "not-approved", "summary": "x", "findings": [{"severity": "warning", "topic": "sufficiency", "text": "dull"}]}\n```\n' ;;
  chain-review.3) printf '```json\n{"verdict": "approved", "summary": "x", "findings": [{"severity": "note", "topic": "out-of-scope", "text": "greet in colour"}]}\n```\n' ;;
  final-review.1) printf '```json\n{"verdict": "approved", "summary": "x"}\n```\n' ;;
  *) printf '```json\n{"verdict": "approved", "summary": "x", "evidence": []}\n```\n' ;;
esac
"#;

#[test]
fn a_reviewer_that_asks_for_more_is_told_so_and_its_remark_goes_on_record() {
    let bench = project();
    let (_engine, _name) = built(&bench, STRAYS);
    let history = text(&bench, ".review-history.md");
    assert!(history.contains("- [note] out of scope: greet in colour"), "{history}");
    assert_eq!(meta(&bench)["phases"]["implement"]["iterations"], 1, "what was not taken is no round");
    let told = prompt(&bench, "chain-review.1");
    assert!(
        told.contains("without one") || told.contains("`blocker`"),
        "whoever is asked again is told why: {told}"
    );
}

#[test]
fn a_phase_that_broke_off_is_begun_afresh_and_code_is_never_deleted() {
    let bench = project();
    // The design is written, and then its author breaks off, with all its tries.
    let breaks =
        format!("{AUTHOR}\nif [ $LOOPWRIGHT_STATE = design ] && [ $LOOPWRIGHT_VISIT = 1 ]; then exit 3; fi");
    let engine = engine(&bench, &breaks, APPROVES);
    let (name, _) = run(&engine, &feature(), &begin("standard")).expect("a run");
    let standing = say(&engine, &name, "design");
    assert!(rests(&standing).starts_with("design is next (design: "), "{}", rests(&standing));
    let begun = meta(&bench)["phases"]["design"].clone();
    assert!(begun["started"].is_string() && begun["completed"].is_null(), "{begun}");
    // Looked at, it is asked again; nobody there, the draft is gone on with. Here it is begun afresh.
    answers(&bench, &["review", "fresh"]);
    let standing = say(&engine, &name, "design");
    assert_eq!(rests(&standing), "create-plan is next.");
    assert!(
        bench.answers.shown.lock().expect("what was shown").iter().any(|it| it.contains("## Components")),
        "the draft is shown"
    );
    assert!(!prompt(&bench, "design.2").contains("a (1)"), "the draft is gone");
    assert_eq!(meta(&bench)["phases"]["design"]["iterations"], 1);
}

/// A verifier that fails three times.
const FAILS: &str = r#"
case "$LOOPWRIGHT_STATE.$LOOPWRIGHT_VISIT" in
  verify.[123]) printf '```json\n{"verdict": "not-approved", "summary": "No.", "findings": [{"severity": "blocker", "text": "it crashes"}]}\n```\n' ;;
  *) printf '```json\n{"verdict": "approved", "summary": "It will do.", "evidence": []}\n```\n' ;;
esac
"#;

#[test]
fn the_third_failed_verification_asks_and_a_retry_that_passes_counts() {
    let bench = project();
    let engine = engine(&bench, AUTHOR, FAILS);
    let (name, _) = run(&engine, &feature(), &begin("standard")).expect("a run");
    answers(&bench, &["continue"]);
    say(&engine, &name, "implement");
    say(&engine, &name, "verify");
    say(&engine, &name, "verify");
    assert_eq!(calls(&bench, "verify"), 2);
    assert!(meta(&bench)["phases"]["verify"]["completed"].is_null());
    answers(&bench, &["retry"]);
    assert_eq!(rests(&say(&engine, &name, "verify")), "finish is next.");
    assert_eq!(calls(&bench, "verify"), 4);
    assert_eq!(meta(&bench)["phases"]["implement"]["verified"], true);
}

#[test]
fn numbers_never_collide_and_one_verb_can_do_it_all() {
    let bench = project();
    bench.write(
        "docs/features/007-old/.meta.json",
        "{\"id\": \"007\", \"name\": \"old\", \"status\": \"completed\"}\n",
    );
    bench.git(&["add", "--all"]);
    bench.git(&["commit", "--quiet", "--message", "old"]);
    let engine = engine(&bench, AUTHOR, APPROVES);
    let first = run(&engine, &feature(), &begin("quick")).expect("a run").0;
    let second = run(&engine, &feature(), &Begin { verb: Some("brainstorm".into()), ..begin("quick") })
        .expect("a run");
    let subject = |name: &str| engine.read(name).expect("a run").1.subject;
    assert_eq!((subject(&first), subject(&second.0)), ("008-greet-people".into(), "009-greet-people".into()));
    // On to the next question, which is how it should end.
    let standing: Standing = say(&engine, &first, "run");
    assert_eq!(rests(&standing), "? How should 008-greet-people end?");
    assert_eq!((calls(&bench, "create-tasks"), calls(&bench, "implement")), (1, 1));
    // What is due for the other one, and no more.
    say(&engine, &second.0, "next");
    assert_eq!(calls(&bench, "specify"), 2);
    assert!(!tree(&bench).join("docs/features/001-greet-people").exists());
}
