//! Whole runs of `feature`: a real repository, worktrees, agents that are shell scripts.

use indexmap::IndexMap;
use loopwright_core::definition::Outcome as Ending;
use loopwright_core::language::Folder;
use loopwright_core::name::Name;

use loopwright_engine::{Answered, Begin, Engine, Standing};
use serde_json::{Value, json};

use crate::bench::{Bench, in_folder, run};
use crate::change::{rests, say, walk};
use crate::feature_files::{APPROVES, AUTHOR, NEVER};

const NAME: &str = "001-greet-people";

pub(crate) fn feature() -> Folder {
    in_folder("../../workflows", "feature")
}

pub(crate) fn project() -> Bench {
    Bench::with(&[("test.sh", "true\n"), ("src/old", "old\n")])
}

/// Everybody keeps what they were told.
pub(crate) fn engine(bench: &Bench, author: &str, reviewer: &str) -> Engine {
    let around = bench.around().display().to_string();
    let told =
        |script: &str| format!("cat > \"{around}/prompt.$LOOPWRIGHT_STATE.$LOOPWRIGHT_VISIT\"; {script}");
    bench.engine(&[("claude", &told(author)), ("codex", &told(reviewer))])
}

pub(crate) fn begin(mode: &str) -> Begin {
    Begin {
        inputs: IndexMap::from([(Name::from("description"), "Greet people!".to_owned())]),
        vars: IndexMap::from([(Name::from("mode"), Name::from(mode))]),
        verb: Some("start".into()),
        ..Begin::default()
    }
}

pub(crate) fn answers(bench: &Bench, words: &[&str]) {
    let answer = |it: &&str| Answered { answer: Name::from(*it), ..Answered::default() };
    *bench.answers.left.lock().expect("answers") = words.iter().map(answer).collect();
}

/// Where the feature's files are.
pub(crate) fn tree(bench: &Bench) -> std::path::PathBuf {
    let own = bench.around().join(format!("repo-feature-{NAME}"));
    if own.is_dir() { own } else { bench.path().to_owned() }
}

pub(crate) fn text(bench: &Bench, file: &str) -> String {
    let path = tree(bench).join("docs/features").join(NAME).join(file);
    std::fs::read_to_string(&path).unwrap_or_else(|it| panic!("{}: {it}", path.display()))
}

pub(crate) fn has(bench: &Bench, file: &str) -> bool {
    tree(bench).join("docs/features").join(NAME).join(file).exists()
}

pub(crate) fn meta(bench: &Bench) -> Value {
    serde_json::from_str(&text(bench, ".meta.json")).expect("JSON")
}

pub(crate) fn prompt(bench: &Bench, of: &str) -> String {
    std::fs::read_to_string(bench.around().join(format!("prompt.{of}")))
        .unwrap_or_else(|it| panic!("{of}: {it}"))
}

pub(crate) fn over(standing: &Standing) -> Ending {
    match standing {
        Standing::Over { ending: Some(ending), .. } => *ending,
        other => panic!("{other:?}"),
    }
}

pub(crate) fn said(bench: &Bench) -> String {
    bench.lines().into_iter().filter(|it| it.starts_with("said: ")).collect::<Vec<_>>().join("\n")
}

pub(crate) fn calls(bench: &Bench, state: &str) -> usize {
    walk(bench).iter().filter(|it| it.starts_with(&format!("{state}."))).count()
}

#[test]
fn a_standard_feature_goes_through_all_phases_and_is_merged() {
    let bench = project();
    let engine = engine(&bench, AUTHOR, APPROVES);
    let (name, standing) = run(&engine, &feature(), &begin("standard")).expect("a run");
    assert_eq!(rests(&standing), "design is next.", "it goes on to the spec by itself, and asks nothing");
    assert!(tree(&bench).ends_with(format!("repo-feature-{NAME}")), "a worktree of its own");
    assert!(!bench.path().join("docs/features").exists(), "and nothing of it elsewhere");
    let record = meta(&bench);
    for (field, value) in
        [("id", "001"), ("name", "greet-people"), ("mode", "standard"), ("status", "active")]
    {
        assert_eq!(record[field], value, "{record}");
    }
    assert_eq!(record["worktree"], format!("../repo-feature-{NAME}"));
    assert!(record["created"].as_str().is_some_and(|it| it.starts_with("2026-")), "{record}");
    assert_eq!(record["currentPhase"], "specify");
    assert_eq!(record["phases"]["specify"]["iterations"], 1);
    assert!(record["phases"]["specify"].get("reviewerNotes").is_none_or(|it| *it == json!([])), "{record}");

    for (verb, next) in
        [("design", "create-plan"), ("create-plan", "create-tasks"), ("create-tasks", "implement")]
    {
        assert_eq!(rests(&say(&engine, &name, verb)), format!("{next} is next."));
    }
    // What came before, and what is judged.
    assert!(
        prompt(&bench, "chain-review.2").contains("R1: it greets")
            && prompt(&bench, "chain-review.2").contains("## Components")
    );
    assert!(
        prompt(&bench, "chain-review.3").contains("## Components")
            && prompt(&bench, "chain-review.3").contains("## Steps")
    );
    assert_eq!(rests(&say(&engine, &name, "implement")), "verify is next.");
    assert!(prompt(&bench, "final-review.1").contains("R1: it greets"));
    let history = text(&bench, ".review-history.md");
    assert!(
        history.starts_with("# Review History\n\n## Phase: specify\n\n### Iteration 1 - 2026-"),
        "{history}"
    );
    assert!(
        history.contains("**Decision:** Approved against the specification")
            && history.contains("R1: src/greeting:1"),
        "{history}"
    );
    assert!(text(&bench, "tasks.md").contains("[x]"), "boxes are ticked");
    assert_eq!(rests(&say(&engine, &name, "verify")), "finish is next.");
    let record = meta(&bench);
    assert_eq!(
        (&record["phases"]["implement"]["verified"], &record["currentPhase"]),
        (&json!(true), &json!("verify"))
    );

    answers(&bench, &["merge"]);
    assert_eq!(over(&say(&engine, &name, "finish")), Ending::Success);
    assert!(!bench.around().join(format!("repo-feature-{NAME}")).exists(), "its worktree is gone");
    assert_eq!(bench.git(&["branch", "--list", "feature/*"]), "", "and its branch");
    let record = meta(&bench);
    assert_eq!(record["status"], "completed", "what arrives says so: {record}");
    assert!(record["completed"].is_string(), "{record}");
    assert!(!has(&bench, ".review-history.md") && has(&bench, "spec.md"));
    assert_eq!(bench.read("src/greeting"), "hello 1\n");
    assert_eq!(bench.git(&["status", "--porcelain"]), "");
}

#[test]
fn as_many_reviews_as_the_mode_allows_then_it_is_completed_with_notes() {
    // A mode, the phase that never passes, and its reviews.
    for (mode, verb, stage, most) in [
        ("hotfix", "implement", "implement", 1),
        ("quick", "start", "specify", 2),
        ("standard", "start", "specify", 3),
        ("full", "start", "specify", 5),
    ] {
        let bench = project();
        let engine = engine(&bench, AUTHOR, NEVER);
        let (name, mut standing) = run(&engine, &feature(), &begin(mode)).expect("a run");
        if verb != "start" {
            assert_eq!(calls(&bench, "chain-review"), 0, "a hotfix begins with nothing");
            standing = say(&engine, &name, verb);
        }
        assert!(rests(&standing).ends_with("is next."), "{mode}: {}", rests(&standing));
        assert_eq!(calls(&bench, "chain-review"), most, "{mode}: a hard ceiling");
        assert_eq!(calls(&bench, stage), most, "{mode}: revised in between");
        let phase = meta(&bench)["phases"][stage].clone();
        assert_eq!(phase["iterations"], most, "{mode}: {phase}");
        assert_eq!(
            phase["reviewerNotes"],
            json!([format!("fault {most}")]),
            "{mode}: the last ones, without what is out of scope"
        );
        assert!(phase["completed"].is_string());
        assert!(
            said(&bench).contains(&format!(
                "{stage} is complete (rounds: {most}). Reviewer concerns that are left: fault {most}"
            )),
            "{}",
            said(&bench)
        );
        assert_eq!(standing.run().forced, [Name::from("chain-review")], "{mode}: on record");
        let history = text(&bench, ".review-history.md");
        assert_eq!(
            history.matches("### Iteration ").count() - usize::from(mode == "hotfix"),
            most,
            "{mode}: {history}"
        );
        assert!(
            history.contains(&format!("### Iteration {most} - "))
                && history.contains("- [note] out of scope: greet in colour"),
            "{history}"
        );
        assert_eq!(history.matches("**Changes Made:**").count(), most - 1, "{mode}: {history}");
        if most > 1 {
            assert!(history.contains(&format!("**Changes Made:**\nI wrote {stage}, try 2.\n")), "{history}");
            assert!(prompt(&bench, &format!("{stage}.2")).contains("fault 1"));
        }
        if mode == "standard" {
            say(&engine, &name, "design");
            assert!(
                !prompt(&bench, "design.1").contains("fault"),
                "one phase's concerns are not the next one's"
            );
            assert_eq!(meta(&bench)["phases"]["design"]["iterations"], 3, "and it counts from one");
        }
    }
}

#[test]
fn what_is_not_there_is_a_blocker_that_nobody_is_asked_about() {
    let bench = project();
    let empty = AUTHOR.replace("specify) printf", "specify) test $LOOPWRIGHT_VISIT != 4 || printf");
    let engine = engine(&bench, &empty, APPROVES);
    let (name, standing) = run(&engine, &feature(), &begin("standard")).expect("a run");
    assert!(
        rests(&standing).starts_with("specify is next"),
        "nothing is completed that is not there: {}",
        rests(&standing)
    );
    assert!(!bench.around().join("prompt.chain-review.1").exists(), "no reviewer was called");
    let history = text(&bench, ".review-history.md");
    assert_eq!(
        history.matches("- [blocker] spec.md is not there, or one of its sections is empty").count(),
        3,
        "{history}"
    );
    assert!(meta(&bench)["phases"]["specify"]["completed"].is_null());
    assert!(prompt(&bench, "specify.2").contains("spec.md is not there"), "its author is told");
    // A draft, begun and not completed: asked about, and gone on with.
    answers(&bench, &["continue"]);
    let standing = say(&engine, &name, "specify");
    assert_eq!(rests(&standing), "design is next.");
    assert_eq!(meta(&bench)["phases"]["specify"]["iterations"], 4, "rounds go on");

    // What comes before is missing: skipped, recorded, and a blocker as well.
    answers(&bench, &["continue"]);
    let standing = say(&engine, &name, "create-plan");
    assert_eq!(rests(&standing), "create-tasks is next.");
    assert!(
        bench
            .answers
            .asked
            .lock()
            .expect("questions")
            .iter()
            .any(|it| it == "create-plan now would skip design. Go on?")
    );
    let record = meta(&bench);
    let skipped = &record["skippedPhases"][0];
    assert_eq!(
        (&skipped["phase"], &skipped["fromPhase"], &skipped["toPhase"]),
        (&json!("design"), &json!("specify"), &json!("create-plan"))
    );
    assert!(skipped["skippedAt"].is_string());
    assert_eq!(
        record["phases"]["create-plan"]["reviewerNotes"],
        json!(["There is no design.md that this plan could be held against."])
    );
}

#[test]
fn guards_refuse_and_change_nothing() {
    let bench = project();
    let engine = engine(&bench, AUTHOR, APPROVES);
    let brainstorm = Begin { verb: Some("brainstorm".into()), ..begin("standard") };
    let (name, standing) = run(&engine, &feature(), &brainstorm).expect("a run");
    assert_eq!(rests(&standing), "specify is next.");
    assert_eq!(meta(&bench)["phases"]["brainstorm"]["iterations"], 1, "no review, and counted all the same");
    let before = text(&bench, ".meta.json");
    for (verb, told) in
        [("implement", "implement needs spec.md"), ("create-tasks", "create-tasks needs plan.md")]
    {
        say(&engine, &name, verb);
        assert!(said(&bench).contains(told), "{verb}: {}", said(&bench));
        assert_eq!(text(&bench, ".meta.json"), before, "{verb}");
    }
    // A stub is none: its sections are empty.
    std::fs::write(
        tree(&bench).join(format!("docs/features/{NAME}/spec.md")),
        "## Requirements\n\n## Acceptance criteria\n\n## Scope\n",
    )
    .expect("a file");
    say(&engine, &name, "implement");
    assert_eq!(calls(&bench, "implement"), 0, "nobody is called");
    assert_eq!(text(&bench, ".meta.json"), before);
    // Skipping, and going back, are asked about; no is the answer where nobody says anything.
    std::fs::remove_file(tree(&bench).join(format!("docs/features/{NAME}/spec.md"))).expect("it goes");
    answers(&bench, &["stop"]);
    say(&engine, &name, "design");
    assert_eq!((calls(&bench, "design"), text(&bench, ".meta.json")), (0, before.clone()));
    answers(&bench, &["stop"]);
    say(&engine, &name, "brainstorm");
    assert_eq!((calls(&bench, "brainstorm"), text(&bench, ".meta.json")), (1, before));
    answers(&bench, &["go-back"]);
    say(&engine, &name, "brainstorm");
    assert_eq!(calls(&bench, "brainstorm"), 2);
    let asked = bench.answers.asked.lock().expect("questions").join("\n");
    assert!(asked.contains("Go back to it?"), "{asked}");
}
