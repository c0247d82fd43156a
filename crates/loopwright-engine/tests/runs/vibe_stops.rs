//! Why a run of `vibe` stops, in words that say what is to be done.

use loopwright_core::language::Folder;
use loopwright_engine::{Asking, Begin, Standing};

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
