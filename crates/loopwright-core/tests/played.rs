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

/// What a run that does not go as it says is complained of.
fn complaints(workflow: &Workflow, scenario: &str) -> Vec<String> {
    let (read, problems) = parse_scenario(workflow, "run.yaml", scenario);
    assert_eq!(problems, []);
    let verdict = perform(workflow, &read.expect("a scenario"), &mut Coverage::of(workflow));
    verdict.expect("it plays").complaints
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

const TOPICS: &str = r#"workflow: small
subject: thing
documents: {code: {files: ["src/**"]}}
roles:
  worker: {agent: claude, prompt: "Do it.", may-write: [code]}
  judge:
    agent: codex
    prompt: "Judge it. {{findings.open | tojson}}"
    given: [maybe findings.open]
    verdicts: [GOOD, BAD]
    findings: {severity: [minor, major], topic: [plan, text], at-least: {major: BAD}}
facts: {size: {in: [small, large], is: "git.changed_files.size() > 9 ? 'large' : 'small'"}}
budgets: {rounds: 3}
defaults: {failures: failed}
states:
  work: {agent: worker, then: tests}
  tests: {check: project.test, judges: code, on: {pass: review, fail: {to: review, forced: tests}}}
  review:
    review: judge
    judges: code
    on:
      GOOD: done
      BAD:
        - {when: {same-again: yes}, to: failed}
        - {when: {topic: plan}, to: work, spend: rounds, else: failed}
        - {when: {size: small}, to: work, spend: rounds, else: failed}
        - {to: done, forced: review}
  done: {end: success, needs: [tests, review]}
  failed: {end: failure}
"#;

/// A step whose words about findings do not come true shows something else than it says.
#[test]
fn what_a_step_says_of_findings_comes_true_or_is_complained_of() {
    let small = proved(TOPICS);
    let run =
        |steps: &str| complaints(&small, &format!("scenario: it\nfacts: {{size: small}}\nsteps: [{steps}]"));
    assert_eq!(
        run("review: {is: BAD, topic: text}, review: {is: BAD, same-again: yes, topic: text}"),
        [""; 0]
    );
    assert_eq!(
        run("review: {is: BAD, topic: text}, review: {is: BAD, same-again: no, topic: plan}"),
        [""; 0]
    );
    assert_eq!(run("review: {is: GOOD, same-again: no}"), [""; 0]);
    for (steps, said) in [
        (
            "review: {is: BAD, same-again: yes}",
            "`review`: the step says same-again, and nothing was handed to a repair before",
        ),
        (
            "review: {is: GOOD, same-again: yes}",
            "`review`: the step says same-again, and `GOOD` comes without findings",
        ),
        (
            "review: {is: timeout, topic: plan}",
            "`review`: the step says the topic `plan`, and `timeout` comes without a finding that has one",
        ),
        (
            "review: {is: BAD, topic: plan}, review: {is: BAD, same-again: yes, topic: text}",
            "`review`: the step says the topic `text`, and a finding about `plan`, which comes before it, is open again",
        ),
    ] {
        assert_eq!(run(steps), [said], "{steps}");
    }
}

#[test]
fn gates_passed_over_are_named_as_everything_else_is() {
    let small = proved(TOPICS);
    let passed_over = "facts: {size: large}\nsteps: [tests: fail, review: {is: BAD, topic: text}]\n";
    let run = |expect: &str| {
        complaints(&small, &format!("scenario: it\n{passed_over}expect: {{forced: {expect}}}"))
    };
    assert_eq!(run("[review]"), ["expected forced `review`, came `tests`, `review`"]);
    assert_eq!(run("[]"), ["expected forced nothing, came `tests`, `review`"]);
    let clean = complaints(&small, "scenario: it\nexpect: {forced: [review]}");
    assert_eq!(clean, ["expected forced `review`, came nothing"]);
}

/// Each key of a step is held against what there is, and a slip in it is no fact.
#[test]
fn a_slip_in_a_key_of_a_step_is_seen() {
    let small = proved(TOPICS);
    for (step, said, help) in [
        (
            "review: {is: BAD, same_again: yes}",
            "there is no key of a step and no fact `same_again`",
            "same-again",
        ),
        (
            "review: {is: BAD, sameagain: yes}",
            "there is no key of a step and no fact `sameagain`",
            "same-again",
        ),
        ("work: {wrot: [code]}", "there is no key of a step and no fact `wrot`", "wrote"),
        ("review: {is: BAD, sise: small}", "there is no fact `sise`", "size"),
        ("review: {is: BAD, topic: plam}", "there is no value of `topic`: `plam`", "plan"),
        ("review: {is: BAD, same-again: yess}", "there is no value of `same-again`: `yess`", "yes"),
    ] {
        let (_, problems) = parse_scenario(&small, "run.yaml", &format!("scenario: it\nsteps: [{step}]"));
        let found: Vec<_> = problems.iter().map(|it| (it.message.as_str(), it.help.as_deref())).collect();
        assert_eq!(found, [(said, Some(format!("did you mean `{help}`?").as_str()))], "{step}");
    }
    let (_, problems) = parse_scenario(&small, "run.yaml", "scenario: it\nsteps: [tests: {same-again: yes}]");
    let found: Vec<_> = problems.iter().map(|it| it.message.as_str()).collect();
    assert_eq!(found, ["`tests` reports no findings that `same-again` could be about"]);
}
