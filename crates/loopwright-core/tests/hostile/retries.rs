//! A budget so large that a path past all of it would be longer than anybody plays.

use loopwright_core::check::check;
use loopwright_core::language::{Folder, WORKFLOW_FILE, load};
use loopwright_core::rehearse::{Coverage, perform};

/// From `failed` nothing leads on, and one of the ways there passes by every retry.
const TEXT: &str = r#"workflow: good
subject: thing
budgets: {fixes: 2, retries: {limit: 60000, per: visit}}
documents:
  code: {files: ["**"]}
roles:
  coder: {agent: claude, prompt: "Do it.", may-write: [code]}
defaults: {transient: {to: again, spend: retries, else: failed}, failures: failed}
states:
  work: {agent: coder, then: tests}
  tests: {check: project.test, judges: code, on: {pass: done, fail: {to: work, spend: fixes, else: failed}}}
  done: {needs: [tests], end: success}
  failed: {rest: Stuck.}
"#;

/// More steps than this `check` promises not to print.
const LONGEST_PATH: usize = 10_000;

#[test]
fn a_path_past_very_many_retries_is_short_or_absent() {
    let files = [(WORKFLOW_FILE.to_owned(), TEXT.as_bytes().to_vec())].into();
    let workflow = load(&Folder { name: "good".into(), files }).workflow.expect("it loads");
    let report = check(&workflow);
    assert!(report.problems.iter().any(|it| it.code == "trapped"), "{:?}", report.problems);
    for problem in &report.problems {
        let Some(path) = &problem.path else { continue };
        assert!(
            path.steps.len() <= LONGEST_PATH,
            "`{}` has a path of {} steps",
            problem.code,
            path.steps.len()
        );
        let verdict = perform(&workflow, path, &mut Coverage::of(&workflow)).expect("a run");
        assert!(verdict.complaints.is_empty(), "{:?}", verdict.complaints);
    }
}
