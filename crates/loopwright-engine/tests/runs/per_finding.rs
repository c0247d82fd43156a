//! Questions that are asked once per finding.

use std::sync::Arc;

use loopwright_core::machine::{Closed, Run};
use loopwright_engine::process::Cancel;
use loopwright_engine::{Answered, Asking, Engine, Message, Standing};

use crate::actions::{DEAD, dying, start};
use crate::bench::{Bench, workflow};

/// A judge with remarks, a person who is asked about each, and a worker who is told of what is left.
const REMARKS: &str = r#"
workflow: remarks
subject: thing
budgets: {retries: {limit: 3, per: visit}}
lists: [known]
documents: {code: {files: ["src/**"]}, log: {file: log.md}}
roles:
  other: {agent: other, prompt: "Look.", verdicts: [OK, BAD], findings: {severity: [minor]}}
  judge: {agent: judge, prompt: "Judge.", verdicts: [OK, NOTES], findings: {severity: [minor, major]}}
  coder: {agent: coder, prompt: "{% for it in findings.open %}{{it.text}};{% endfor %}", given: [maybe findings.open], may-write: [code]}
questions:
  notes: {asks: "Mend {{finding.text}} in {{finding.file}}?", per: finding, answers: {leave: {}, later: {}, fix: {note: optional}}}
defaults: {lost: {to: again, spend: retries, else: failed}, failures: failed}
states:
  first: {review: other, on: {OK: review, BAD: failed}}
  review: {review: judge, on: {OK: done, NOTES: ask}}
  ask: {ask: notes, on: {leave | later: {to: note, record: known}, fix: {to: fix, record: known}, deferred: failed}}
  fix: {agent: coder, then: note}
  note:
    do: [{write: log, from: "{% for it in lists.known %}{{it.signal}} {{it.summary}} {{it.file}};{% endfor %} {{last.ask.note}}"}]
    then: done
  done: {end: success}
  failed: {end: failure}
"#;

/// Remarks of somebody else, who nobody is asked about, are open as well.
const OTHER: &str = r#"cat > /dev/null; printf '```json\n{"verdict": "OK", "findings": [{"severity": "minor", "text": "elsewhere"}]}\n```\n'"#;
const JUDGE: &str = r#"cat > /dev/null; printf '```json\n{"verdict": "NOTES", "findings": [
  {"severity": "minor", "file": "src/a", "text": "one"}, {"severity": "major", "file": "src/b", "text": "two"},
  {"severity": "minor", "file": "src/c", "text": "three"}]}\n```\n'"#;
const AGENTS: [(&str, &str); 3] = [("other", OTHER), ("judge", JUDGE), ("coder", "cat > ../coder")];

fn bench() -> Bench {
    Bench::with(&[("src/a", "a\n")])
}

fn answer(bench: &Bench, text: &str, word: &str) {
    let note = if word == "fix" { format!("mend {text}") } else { String::new() };
    let answered = Answered { answer: word.into(), note, ..Answered::default() };
    bench.answers.to_findings.lock().expect("answers").insert(text.to_owned(), answered);
}

fn asked(bench: &Bench) -> Vec<String> {
    bench.answers.asked.lock().expect("questions").clone()
}

/// How the findings ended: text, answer and whether it is closed.
fn findings(run: &Run) -> Vec<String> {
    let of = run.ledger.findings.values();
    of.map(|it| {
        let closed = match it.closed {
            None => "open",
            Some(Closed::Answered) => "answered",
            Some(_) => "closed otherwise",
        };
        format!("{} {} {closed}", it.text, it.answer.as_deref().unwrap_or("-"))
    })
    .collect()
}

/// What is answered to one, two and three; where that leads; how the findings are then; what is in the log; what the worker
/// was told.
type Case = ([&'static str; 3], [&'static str; 3], &'static str, &'static str);

const CASES: &[Case] = &[
    (
        ["leave", "leave", "leave"],
        ["one leave answered", "two leave answered", "three leave answered"],
        "leave one src/a;leave two src/b;leave three src/c; ",
        "",
    ),
    // The worst leads: what it was said of stays open, the others are settled.
    (
        ["leave", "fix", "later"],
        ["one leave answered", "two fix open", "three later answered"],
        "leave one src/a;fix two src/b;later three src/c; mend two",
        "elsewhere;two;",
    ),
    (
        ["fix", "leave", "fix"],
        ["one fix open", "two leave answered", "three fix open"],
        "fix one src/a;leave two src/b;fix three src/c; mend one\nmend three",
        "elsewhere;one;three;",
    ),
    (
        ["later", "leave", "leave"],
        ["one later open", "two leave answered", "three leave answered"],
        "later one src/a;leave two src/b;leave three src/c; ",
        "",
    ),
];

fn check_end(bench: &Bench, run: &Run, (answers, ends, log, told): &Case) {
    assert_eq!(&*run.at.state, "done", "{answers:?}: {:?}", run.cause);
    assert_eq!(findings(run)[0], "elsewhere - open", "{answers:?}");
    assert_eq!(findings(run)[1..], *ends, "{answers:?}");
    assert_eq!(bench.read("log.md").trim_end_matches('\n'), *log, "{answers:?}");
    let prompt = std::fs::read_to_string(bench.around().join("coder")).unwrap_or_default();
    assert_eq!(prompt.split('\n').next(), Some(*told), "{answers:?}");
}

#[test]
fn each_answer_settles_its_own_finding_and_the_worst_leads() {
    for case in CASES {
        let bench = bench();
        for (text, word) in ["one", "two", "three"].iter().zip(case.0) {
            answer(&bench, text, word);
        }
        let engine = bench.engine(&AGENTS);
        let driver = start(&engine, &workflow(REMARKS));
        let name = driver.name().to_owned();
        let standing = driver.drive().expect("it runs");
        check_end(&bench, standing.run(), case);
        assert_eq!(
            asked(&bench),
            ["Mend one in src/a?", "Mend two in src/b?", "Mend three in src/c?"],
            "one after the other"
        );
        assert_eq!(engine.read(&name).expect("a run").1.ledger, standing.run().ledger);
    }
}

#[test]
fn whoever_dies_between_two_answers_is_asked_only_for_the_rest() {
    let case = &CASES[1];
    let mut between = 0;
    for written in [false, true] {
        for at in 2.. {
            let bench = bench();
            for (text, word) in ["one", "two", "three"].iter().zip(case.0) {
                answer(&bench, text, word);
            }
            let mut engine = bench.engine(&AGENTS);
            let inner = Arc::clone(&engine.journal);
            engine.journal = dying(inner, at, written);
            let driver = start(&engine, &workflow(REMARKS));
            let name = driver.name().to_owned();
            match driver.drive() {
                Ok(_) => break,
                Err(error) => assert!(error.to_string().contains(DEAD), "{error}"),
            }
            let later = bench.engine(&AGENTS).after(60_000);
            let (_, known) = later.read(&name).expect("a run");
            let answered = match &known.at.stage {
                loopwright_core::machine::Stage::Working { ended, .. } => ended.len(),
                _ => 0,
            };
            between += usize::from(answered > 0);
            let before = asked(&bench).len();
            let standing = later.drive(&name, &Cancel::default()).expect("it goes on");
            check_end(&bench, standing.run(), case);
            if *known.at.state == *"ask" {
                assert_eq!(asked(&bench).len() - before, 3 - answered, "died at {at}, written: {written}");
            }
        }
    }
    assert!(between > 1, "nobody died between two answers");
}

fn waits(standing: &Standing) -> String {
    let Standing::Waits { asking, .. } = standing else { panic!("{standing:?}") };
    let Asking::Question(asked) = &**asking else { panic!("{asking:?}") };
    asked.finding.as_ref().expect("a finding").text.clone()
}

fn leave(engine: &Engine, name: &str, finding: Option<&str>, word: &str) -> Standing {
    let finding = finding.map(str::to_owned);
    let message = Message::Answer(Answered { answer: word.into(), finding, ..Answered::default() });
    engine.journal.post(name, 0, &serde_json::to_string(&message).expect("a message")).expect("it is left");
    engine.drive(name, &Cancel::default()).expect("it goes on")
}

#[test]
fn an_answer_that_is_left_names_its_finding() {
    let bench = bench();
    let engine = bench.engine(&AGENTS);
    let driver = start(&engine, &workflow(REMARKS));
    let name = driver.name().to_owned();
    assert_eq!(waits(&driver.drive().expect("it runs")), "one");
    let (definition, run) = engine.read(&name).expect("a run");
    let open = engine.asked(&name, (&definition, &run)).expect("questions");
    let open: Vec<_> = open.into_iter().filter_map(|it| it.finding).collect();
    let texts: Vec<&str> = open.iter().map(|it| it.text.as_str()).collect();
    assert_eq!(texts, ["one", "two", "three"]);
    assert_eq!(waits(&leave(&engine, &name, None, "leave")), "one", "nobody knows which is meant");
    assert_eq!(waits(&leave(&engine, &name, Some("F-none"), "leave")), "one");
    assert_eq!(waits(&leave(&engine, &name, Some(&open[0].id), "nonsense")), "one");
    assert_eq!(waits(&leave(&engine, &name, Some(&open[1].id), "fix")), "one");
    assert_eq!(waits(&leave(&engine, &name, Some(&open[1].id), "leave")), "one", "that was answered");
    assert_eq!(waits(&leave(&engine, &name, Some(&open[0].id), "leave")), "three");
    // With one left, that one is meant.
    let standing = leave(&engine, &name, None, "leave");
    assert_eq!(findings(standing.run())[1..], ["one leave answered", "two fix open", "three leave answered"]);
    let said = bench.lines().join("\n");
    for expected in [
        "say which finding is meant, one of F-",
        "about the finding `F-none` any more",
        "`nonsense` is no answer",
    ] {
        assert!(said.contains(expected), "{expected}: {said}");
    }
}

#[test]
fn with_nobody_there_what_is_declared_answers_what_is_left() {
    let text = REMARKS.replace("fix: {note: optional}}}", "fix: {note: optional}}, unattended: leave}");
    let bench = bench();
    answer(&bench, "two", "fix");
    let engine = bench.engine(&AGENTS);
    let standing = start(&engine, &workflow(&text)).drive().expect("it runs");
    assert_eq!(findings(standing.run())[1..], ["one leave answered", "two fix open", "three leave answered"]);
}

/// A question that no review leads to is about all that is open; with nothing open it is asked as any other.
#[test]
fn a_question_that_no_review_leads_to_is_about_everything() {
    let text = REMARKS
        .replace("NOTES: ask}", "NOTES: go}")
        .replace("  ask: {ask", "  go: {choose: [{to: ask}]}\n  ask: {ask");
    let bench = bench();
    for it in ["elsewhere", "one", "two", "three"] {
        answer(&bench, it, "leave");
    }
    let engine = bench.engine(&AGENTS);
    start(&engine, &workflow(&text)).drive().expect("it runs");
    assert_eq!(asked(&bench).len(), 4, "{:?}", asked(&bench));
    let none = text.replace(
        "  first: {review",
        "  begin: {choose: [{when: {mode: plain}, to: ask}, {to: first}]}\n  first: {review",
    );
    let none = none.replace(
        "subject: thing\n",
        "subject: thing\nvars: {mode: {in: [plain, full], start: plain, input: true}}\n",
    );
    let bench = self::bench();
    bench
        .answers
        .left
        .lock()
        .expect("answers")
        .push(Answered { answer: "leave".into(), ..Answered::default() });
    let engine = bench.engine(&AGENTS);
    let standing = start(&engine, &workflow(&none)).drive().expect("it runs");
    assert_eq!(&*standing.run().at.state, "done");
    assert_eq!(asked(&bench), ["Mend  in ?"]);
}
