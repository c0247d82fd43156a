//! What was proved, played: small workflows with a run in which the machine once did something else.
#![expect(clippy::expect_used, reason = "a test")]

use std::fmt::Write as _;

use loopwright_core::check::check;
use loopwright_core::definition::Workflow;
use loopwright_core::language::{Folder, WORKFLOW_FILE, load};
use loopwright_core::rehearse::{Coverage, parse_scenario, perform};

/// A workflow that is proved.
fn proved(text: &str) -> Workflow {
    let files = [(WORKFLOW_FILE.to_owned(), text.as_bytes().to_vec())].into();
    let loaded = load(&Folder { name: "small".into(), files });
    assert_eq!(loaded.problems, []);
    let workflow = loaded.workflow.expect("it loads");
    assert_eq!(check(&workflow).problems, []);
    workflow
}

/// Plays a run; it goes as it says.
fn plays(workflow: &Workflow, scenario: &str) {
    let (read, problems) = parse_scenario(workflow, "run.yaml", scenario);
    assert_eq!(problems, []);
    let verdict = perform(workflow, &read.expect("a scenario"), &mut Coverage::of(workflow));
    assert_eq!(verdict.expect("it plays").complaints, Vec::<String>::new(), "{scenario}");
}

const LOOP: &str = r#"workflow: small
subject: thing
documents:
  list: {file: list.yaml, as: yaml, shape: {items: [{id: text}]}}
  code: {files: ["src/**"]}
roles:
  worker: {agent: claude, prompt: "Do it.", may-write: [code]}
  judge: {agent: codex, prompt: "Judge it.", verdicts: [GOOD, BAD]}
budgets: {rounds: 2}
defaults: {failures: failed}
states:
  parts:
    each: {item: part, in: docs.list.items, run: part}
    judges: code
    on: {ok: look, empty: failed, bad: {to: parts, spend: rounds, else: failed}}
  look: {choose: [{when: {gate.parts: forced}, to: careful}, {to: commit}]}
  commit: {needs: [parts], do: [{commit: "x", what: code}], then: done}
  careful: {end: stopped}
  done: {end: success}
  failed: {end: failure}
children:
  part:
    defaults: {failures: bad}
    states:
      work: {agent: worker, then: review}
      review: {review: judge, judges: code, on: {GOOD: ok, BAD: {to: ok, forced: review}}}
      ok: {end: success, needs: [review]}
      bad: {end: failure}
"#;

/// An item in which a gate was passed over does not pass cleanly because the loop was entered again.
#[test]
fn what_was_passed_over_in_an_item_stays_so_when_the_loop_is_tried_again() {
    let workflow = proved(LOOP);
    let again = |first: &str| {
        format!(
            "scenario: tried again
items: {{docs.list.items: [A, B]}}
steps:
  - part.work: {{is: done, wrote: []}}
  - part.review: {first}
  - part.work: {{is: crashed, wrote: []}}
  - part.work: {{is: done, wrote: []}}
  - part.review: GOOD
"
        )
    };
    plays(&workflow, &format!("{}expect: {{end: careful, forced: [parts]}}", again("BAD")));
    plays(&workflow, &format!("{}expect: {{end: done, forced: []}}", again("GOOD")));
}

/// A budget with a unit and a table has as much as the row in use.
#[test]
fn a_budget_with_a_unit_may_have_a_table() {
    let workflow = proved(
        include_str!("data/honest/metered-by-a-table.yaml").replace("metered-by-a-table", "small").as_str(),
    );
    for mode in ["quick", "full"] {
        plays(
            &workflow,
            &format!("scenario: played\nstart: {{vars: {{mode: {mode}}}}}\nexpect: {{end: done, calls: 1}}"),
        );
    }
}

/// However many states do no work, they are passed.
#[test]
fn a_long_chain_of_choices_is_no_circle() {
    let mut text = "workflow: small\nsubject: thing\nstates:\n".to_owned();
    for at in 0..2_500 {
        writeln!(text, "  s{at}: {{choose: [{{to: s{}}}]}}", at + 1).expect("a text");
    }
    text.push_str("  s2500: {end: success}\n");
    plays(&proved(&text), "scenario: played\nexpect: {end: s2500}");
}

/// An arm that spends what there is none of says so.
#[test]
fn a_budget_of_nothing_is_named() {
    let text = "workflow: small
subject: thing
budgets: {tries: 0}
roles: {coder: {agent: claude, prompt: work}}
defaults: {failures: failed}
states:
  work: {agent: coder, then: tests}
  tests: {check: project.test, on: {pass: done, fail: {to: work, spend: tries, else: failed}}}
  done: {end: success}
  failed: {end: failure}
";
    let files = [(WORKFLOW_FILE.to_owned(), text.as_bytes().to_vec())].into();
    let workflow = load(&Folder { name: "small".into(), files }).workflow.expect("it loads");
    let said: Vec<_> = check(&workflow).problems.into_iter().map(|it| (it.code, it.help)).collect();
    let help = "`tries` has nothing to spend; raise its limit, or remove the arm".to_owned();
    assert_eq!(said, [("never-taken", Some(help))]);
}

const COUNTDOWN: &str = "workflow: small
subject: thing
budgets:
  outer: 100
  inner: {limit: 100, per: [outer-loop]}
defaults: {failures: failed}
states:
  tests: {check: project.test, on: {pass: outer-loop, fail: failed}}
  outer-loop: {choose: [{to: inner-loop, spend: outer}, {to: done}]}
  inner-loop: {choose: [{to: inner-step, spend: inner}, {to: outer-loop}]}
  inner-step: {choose: [{to: inner-loop}]}
  done: {end: success}
  failed: {end: failure}
";

/// Passing very many states at once is no circle as long as something is different each time.
#[test]
fn two_loops_of_choices_inside_each_other_end() {
    let workflow = proved(COUNTDOWN);
    plays(&workflow, "scenario: it ends\nsteps: [{tests: pass}]\nexpect: {end: done}\n");
}
