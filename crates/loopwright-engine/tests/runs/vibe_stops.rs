//! Why a run of `vibe` stops, in words that say what is to be done.

use loopwright_core::language::Folder;
use loopwright_engine::{Asking, Begin, Engine, Standing};

use crate::bench::{Bench, in_folder, run};
use crate::vibe_files::{JUDGE, PLAN, STATE, WORKER};

/// The workflow with a line of it changed.
fn with(from: &str, to: &str) -> Folder {
    let mut folder = in_folder("../../workflows", "vibe");
    let text = String::from_utf8(folder.files["workflow.yaml"].clone()).expect("text");
    assert!(text.contains(from), "{from}");
    folder.files.insert("workflow.yaml".to_owned(), text.replace(from, to).into_bytes());
    folder
}

/// What a run says when it stops.
fn said(state: &str, folder: &Folder, worker: &str) -> String {
    let bench =
        Bench::with(&[(".vibe/STATE.md", state), (".vibe/PLAN.md", PLAN), (".vibe/CONTEXT.md", "# C\n")]);
    let engine = bench.engine(&[("claude", worker), ("codex", JUDGE)]);
    let (_, standing) = run(&engine, folder, &Begin::default()).expect("a run");
    let Standing::Waits { asking, .. } = &standing else { panic!("{standing:?}") };
    let Asking::Verbs { text, .. } = &**asking else { panic!("{asking:?}") };
    text.clone()
}

#[test]
fn a_run_that_went_through_all_its_turns_says_that_nothing_is_wrong() {
    let worker = format!("cat > /dev/null; {WORKER}");
    let text = said(STATE, &with("turns:    200", "turns:    12"), &worker);
    let wanted =
        "all turns of a run are used up at 2.0, and nothing is wrong: when it goes on, it has as many again";
    assert!(text.contains(wanted), "{text}");
}

#[test]
fn issues_that_no_triage_settles_are_named() {
    let issues = "- [ ] ISSUE-1: flaky\n  - Impact: MAJOR\n  - Owner: agent\n  - Status: OPEN\n- [ ] ISSUE-2: slow\n  - Impact: MINOR\n  - Owner: agent\n  - Status: OPEN\n";
    let state = STATE.replace("- None.\n", issues);
    let worker = r#"cat > /dev/null; printf '```json\n{"verdict": "partial"}\n```\n'"#;
    let text = said(&state, &in_folder("../../workflows", "vibe"), worker);
    assert!(text.contains("no progress at 1.0: no triages left; still there: ISSUE-1; ISSUE-2."), "{text}");
}

#[test]
fn files_that_are_elsewhere_by_a_link_are_not_worked_with() {
    for (what, does, link, path) in [
        ("a folder outside", "mv .vibe ../papers; ln -s ../papers .vibe", ".vibe", ".vibe/STATE.md"),
        ("a folder within", "mv .vibe papers; ln -s papers .vibe", ".vibe", ".vibe/STATE.md"),
        ("a file", "mv .vibe/PLAN.md plan; ln -s ../plan .vibe/PLAN.md", ".vibe/PLAN.md", ".vibe/PLAN.md"),
        ("nothing", "ln -s nowhere .vibe/HISTORY.md", ".vibe/HISTORY.md", ".vibe/HISTORY.md"),
    ] {
        let bench =
            Bench::with(&[(".vibe/STATE.md", STATE), (".vibe/PLAN.md", PLAN), (".vibe/CONTEXT.md", "# C\n")]);
        let done = std::process::Command::new("sh").args(["-c", does]).current_dir(bench.path()).status();
        assert!(done.expect("a shell").success(), "{what}");
        let engine = bench.engine(&[("claude", WORKER), ("codex", JUDGE)]);
        let began = run(&engine, &in_folder("../../workflows", "vibe"), &Begin::default());
        let why = began.expect_err(what).to_string();
        let wanted = format!(
            "`{link}` is a link, so git would not see what an agent makes of `{path}`; put there what it leads to"
        );
        assert_eq!(why, wanted, "{what}");
        assert!(engine.journal.runs().expect("runs").is_empty(), "nothing was begun");
    }
}

/// An engine that makes so many rounds, with an agent that keeps what it was asked in `../prompt.STATE`.
fn keeps(bench: &Bench, rounds: u32, worker: &str, judge: &str) -> Engine {
    let worker = format!(
        "cat > ../prompt.$LOOPWRIGHT_STATE; say() {{ printf '```json\\n{{\"verdict\": \"%s\", \"summary\": \"%s\"}}\\n```\\n' \"$1\" \"$2\"; }}; {worker}"
    );
    let mut engine = bench.engine(&[("claude", &worker), ("codex", judge)]);
    engine.most_rounds = Some(rounds);
    engine
}

#[test]
fn a_triager_hears_why_whoever_built_is_blocked() {
    let bench =
        Bench::with(&[(".vibe/STATE.md", STATE), (".vibe/PLAN.md", PLAN), (".vibe/CONTEXT.md", "# C\n")]);
    let worker = "case $LOOPWRIGHT_STATE in implement) say blocked 'no key for the shop';; *) say resolved done;; esac";
    let engine = keeps(&bench, 2, worker, JUDGE);
    run(&engine, &in_folder("../../workflows", "vibe"), &Begin::default()).expect("a run");
    let asked = std::fs::read_to_string(bench.around().join("prompt.triage")).expect("a prompt");
    assert!(
        asked.contains("none is written down") && asked.contains("They said: no key for the shop"),
        "{asked}"
    );
    // Blocked before the run began: nobody said anything.
    let state = STATE.replace("NOT_STARTED", "BLOCKED");
    let bench =
        Bench::with(&[(".vibe/STATE.md", &state), (".vibe/PLAN.md", PLAN), (".vibe/CONTEXT.md", "# C\n")]);
    let engine = keeps(&bench, 1, worker, JUDGE);
    run(&engine, &in_folder("../../workflows", "vibe"), &Begin::default()).expect("a run");
    let asked = std::fs::read_to_string(bench.around().join("prompt.triage")).expect("a prompt");
    assert!(asked.contains("whoever was building it could not go on.\n"), "{asked}");
    assert!(bench.read(".vibe/STATE.md").contains("Status: IN_PROGRESS"), "it goes on");
}

#[test]
fn what_a_review_repeats_is_named_without_what_is_minor() {
    let state = STATE.replace("NOT_STARTED", "IN_REVIEW");
    let plan = PLAN.replace("`grep -q hello hello.txt`", "`true`");
    let bench =
        Bench::with(&[(".vibe/STATE.md", &state), (".vibe/PLAN.md", &plan), (".vibe/CONTEXT.md", "# C\n")]);
    let judge = r#"cat > /dev/null; printf '```json\n{"verdict": "fail", "findings": [{"severity": "MINOR", "text": "an odd name"}, {"severity": "MAJOR", "text": "it is wrong"}]}\n```\n'"#;
    let engine = keeps(&bench, 9, "echo $LOOPWRIGHT_VISIT > hello.txt; say ready_for_review built", judge);
    run(&engine, &in_folder("../../workflows", "vibe"), &Begin::default()).expect("a run");
    let record = bench.read(".vibe/LOOP_RESULT.json");
    assert!(
        record.contains("\"the review of 1.0 repeats a remark after a rework; open: it is wrong\""),
        "{record}"
    );
}
