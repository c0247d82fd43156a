//! Judges beside each other: real processes that are at work at the same time, in every order in which they come back.

use std::path::PathBuf;
use std::process::Command;
use std::sync::{Arc, Mutex};

use indexmap::IndexMap;
use loopwright_core::definition::Outcome as Ending;
use loopwright_core::machine::{Event, RunView};
use loopwright_engine::process::Cancel;
use loopwright_engine::{Begin, Engine, Message, Standing, Watch};

use crate::bench::{Bench, run, workflow};
use crate::watched::{Watched, When};

/// Four judges, of whom the one who tests writes.
const WORKFLOW: &str = r#"
workflow: beside
subject: thing
budgets: {reviews: 2, audits: 2, retries: {limit: 2, per: visit}}
documents:
  code: {files: ["src/**"]}
  tests: {files: ["tests/**"]}
roles:
  coder:
    agent: coder
    prompt: "Write.{% for it in findings.open %} {{it.gate}}: {{it.text}}.{% endfor %}"
    given: [maybe findings.open]
    may-write: [code]
  judge:
    agent: judge
    prompt: "Judge {{changed_files | join(' ')}}."
    given: [changed-files]
    verdicts: [OK, BLOCKED]
    findings: {severity: [minor, major], at-least: {major: BLOCKED}}
    timeout: 60s
  tester: {agent: judge, prompt: "Test.", may-write: [tests], verdicts: [OK, BLOCKED]}
defaults: {crashed: {to: again, spend: retries, else: failed}, failures: failed}
states:
  write: {agent: coder, then: owed}
  owed: {settle: [review, trial, audit, style], ahead: 3, then: done}
  review: {review: judge, judges: [code, tests], on: {OK: owed, BLOCKED: {to: mend-review, spend: reviews, else: failed}}}
  mend-review: {agent: coder, then: review}
  trial: {review: tester, judges: code, on: {OK: owed, BLOCKED: failed}}
  audit: {review: judge, judges: code, on: {OK: owed, BLOCKED: {to: mend-audit, spend: audits, else: failed}}}
  mend-audit: {agent: coder, then: audit}
  style: {review: judge, judges: code, on: {OK: owed, BLOCKED: failed}}
  done: {needs: [review, trial, audit, style], end: success}
  failed: {end: failure}
"#;

/// Two judges, and nothing besides.
const TWO: &str = r#"
workflow: two
subject: thing
budgets: {retries: {limit: 2, per: visit}}
documents: {code: {files: ["src/**"]}}
roles:
  coder: {agent: coder, prompt: "Write.", may-write: [code]}
  judge: {agent: judge, prompt: "Judge.", verdicts: [OK, BLOCKED], timeout: 60s}
defaults: {crashed: {to: again, spend: retries, else: failed}, failures: failed}
states:
  write: {agent: coder, then: owed}
  owed: {settle: [review, audit], ahead: 2, then: done}
  review: {review: judge, judges: code, on: {OK: owed, BLOCKED: failed}}
  audit: {review: judge, judges: code, on: {OK: owed, BLOCKED: failed}}
  done: {needs: [review, audit], end: success}
  failed: {end: failure}
"#;

const CODER: (&str, &str) = (
    "coder",
    r#"cat > "../prompt.$LOOPWRIGHT_STATE"; mkdir -p src
    case "$LOOPWRIGHT_STATE" in write) echo 1 > src/a ;; *) echo 2 > src/a ;; esac"#,
);

/// Says that it is at work, waits for its turn to come back if there is one, and judges the first version badly.
const JUDGES: &str = r#"cat > /dev/null
say() { printf '```json\n%s\n```\n' "$1"; }
echo "$LOOPWRIGHT_STATE of $(cat src/a)" >> ../called
if [ -p "../go.$LOOPWRIGHT_STATE" ]; then read -r _ < "../go.$LOOPWRIGHT_STATE"; fi
case "$LOOPWRIGHT_STATE $(cat src/a)" in
  'review 1'|'audit 1') say "{\"verdict\": \"BLOCKED\", \"findings\": [{\"severity\": \"major\", \"text\": \"$LOOPWRIGHT_STATE objects\"}]}" ;;
  trial*) mkdir -p tests; echo a > tests/a; say '{"verdict": "OK"}' ;;
  *) say '{"verdict": "OK"}' ;;
esac"#;

/// Lets judges come back one after the other: the next one when the one before was heard.
pub(crate) struct InOrder {
    pub(crate) told: Arc<dyn Watch>,
    pub(crate) around: PathBuf,
    pub(crate) left: Mutex<Vec<&'static str>>,
}

impl InOrder {
    /// Each but the first waits at a pipe of its own.
    pub(crate) fn of(bench: &Bench, order: &[&'static str]) -> Arc<Self> {
        for judge in &order[1..] {
            let made = Command::new("mkfifo").arg(bench.around().join(format!("go.{judge}"))).status();
            assert!(made.expect("mkfifo").success());
        }
        let left = Mutex::new(order[1..].to_vec());
        let told = Arc::clone(&bench.heard) as Arc<dyn Watch>;
        Arc::new(Self { told, around: bench.around().to_owned(), left })
    }
}

impl Watch for InOrder {
    fn happened(&self, run: &str, event: &Event, view: &RunView) {
        self.told.happened(run, event, view);
        let mut left = self.left.lock().expect("who is left");
        if matches!(event, Event::Heard { .. }) && !left.is_empty() {
            let pipe = self.around.join(format!("go.{}", left.remove(0)));
            std::fs::write(&pipe, "go\n").expect("somebody waits");
            std::fs::remove_file(&pipe).expect("a pipe");
        }
    }

    fn said(&self, run: &str, text: &str) {
        self.told.said(run, text);
    }
}

fn begin() -> Begin {
    Begin { subject: "house".into(), ..Begin::default() }
}

fn lines(bench: &Bench) -> Vec<String> {
    bench.lines().into_iter().filter(|it| !it.starts_with("said: ")).collect()
}

fn said(bench: &Bench) -> Vec<String> {
    bench.lines().into_iter().filter_map(|it| it.strip_prefix("said: ").map(str::to_owned)).collect()
}

fn beside(bench: &Bench, path: &str) -> String {
    std::fs::read_to_string(bench.around().join(path)).unwrap_or_default()
}

/// Who was called about what, in a fixed order.
fn called(bench: &Bench) -> Vec<String> {
    let mut called: Vec<String> = beside(bench, "called").lines().map(str::to_owned).collect();
    called.sort();
    called
}

/// What was heard ahead, in order, and how it came out.
fn heard(engine: &Engine, name: &str) -> Vec<String> {
    let events = engine.journal.events(name, 0).expect("events");
    let told = |event: Event| match event {
        Event::Heard { effect, outcome, .. } => Some(format!("{effect} {}", outcome.signal)),
        Event::PutOff { effect, .. } => Some(format!("{effect} put off")),
        _ => None,
    };
    events.into_iter().filter_map(|it| told(it.event)).collect()
}

fn succeeded(standing: &Standing) -> bool {
    matches!(standing, Standing::Over { ending: Some(Ending::Success), .. })
}

const WALK: [&str; 8] = [
    "write.1 done",
    "review.1 BLOCKED",
    "mend-review.1 done",
    "review.2 OK",
    "trial.1 OK",
    "review.3 OK",
    "audit.1 OK",
    "style.1 OK",
];

#[test]
fn every_order_in_which_judges_come_back_leads_to_the_same_walk() {
    let orders = [
        ["review", "audit", "style"],
        ["review", "style", "audit"],
        ["audit", "review", "style"],
        ["audit", "style", "review"],
        ["style", "review", "audit"],
        ["style", "audit", "review"],
    ];
    for order in orders {
        let bench = Bench::with(&[("README.md", "a\n")]);
        let mut engine = bench.engine(&[CODER, ("judge", JUDGES)]);
        engine.watch = InOrder::of(&bench, &order);
        let (name, standing) = run(&engine, &workflow(WORKFLOW), &begin()).expect("a run");
        assert!(succeeded(&standing), "{order:?}: {standing:?} {:?}", bench.lines());
        assert_eq!(lines(&bench), WALK, "{order:?}");
        let first: Vec<String> = heard(&engine, &name).into_iter().take(3).collect();
        let expected = order.map(|it| match it {
            "review" => "review.1 BLOCKED".to_owned(),
            "audit" => "review.1/ahead-audit BLOCKED".to_owned(),
            _ => "review.1/ahead-style OK".to_owned(),
        });
        assert_eq!(first, expected);
        // Who tests was never called about what was sent back, and nobody twice about the same but for who judges tests.
        let calls = ["audit of 1", "audit of 2", "review of 1", "review of 2", "review of 2"];
        assert_eq!(called(&bench)[..5], calls, "{order:?}");
        assert_eq!(called(&bench)[5..], ["style of 1", "style of 2", "trial of 2"], "{order:?}");
        // What both found is repaired at once, and only what had its turn is paid for.
        let prompt = beside(&bench, "prompt.mend-review");
        assert!(prompt.contains("review: review objects. audit: audit objects."), "{prompt}");
        assert_eq!(standing.run().spent.get("reviews"), Some(&1));
        assert_eq!(standing.run().spent.get("audits"), None);
        assert_eq!(standing.run().calls["judge"], 7, "all calls are counted");
    }
}

#[test]
fn one_by_one_it_goes_the_same_way() {
    let bench = Bench::with(&[("README.md", "a\n")]);
    let engine = bench.engine(&[CODER, ("judge", JUDGES)]);
    let folder = workflow(&WORKFLOW.replace(", ahead: 3", ""));
    let (name, standing) = run(&engine, &folder, &begin()).expect("a run");
    assert!(succeeded(&standing), "{standing:?}");
    assert_eq!(lines(&bench), WALK);
    assert_eq!(heard(&engine, &name), [""; 0]);
    let prompt = beside(&bench, "prompt.mend-review");
    assert!(prompt.contains("review objects") && !prompt.contains("audit objects"), "{prompt}");
}

#[test]
fn judges_are_at_work_at_the_same_time() {
    let bench = Bench::with(&[("README.md", "a\n")]);
    for judge in ["review", "audit"] {
        let made = Command::new("mkfifo").arg(bench.around().join(format!("to.{judge}"))).status();
        assert!(made.expect("mkfifo").success());
    }
    // Each tells the other, and waits to be told: neither comes back without the other at work.
    let meets = r#"cat > /dev/null
        case "$LOOPWRIGHT_STATE" in review) other=audit ;; *) other=review ;; esac
        echo here > "../to.$other" &
        read -r _ < "../to.$LOOPWRIGHT_STATE"; wait
        printf '```json\n{"verdict": "OK"}\n```\n'"#;
    let engine = bench.engine(&[CODER, ("judge", meets)]);
    let (name, standing) = run(&engine, &workflow(TWO), &begin()).expect("a run");
    assert!(succeeded(&standing), "{standing:?} {:?}", bench.lines());
    assert_eq!(lines(&bench), ["write.1 done", "review.1 OK", "audit.1 OK"]);
    let mut heard = heard(&engine, &name);
    heard.sort();
    assert_eq!(heard, ["review.1 OK", "review.1/ahead-audit OK"]);
    // Each has the environment of its own turn.
    let events = engine.journal.events(&name, 0).expect("events");
    let begun = events.iter().filter_map(|it| match &it.event {
        Event::Issued { effect, values, .. } => Some((effect.to_string(), values["role"].clone())),
        _ => None,
    });
    let begun: Vec<_> = begun.collect();
    assert_eq!(begun.len(), 3, "{begun:?}");
    assert_eq!(begun[2], ("review.1/ahead-audit".to_owned(), "judge".into()));
}

/// A judge who does something else once than to judge.
fn two(bench: &Bench, audit: &str) -> Engine {
    let script = format!(
        r#"cat > /dev/null; echo "$LOOPWRIGHT_STATE of $(cat src/a)" >> ../called
        if [ -p "../go.$LOOPWRIGHT_STATE" ]; then read -r _ < "../go.$LOOPWRIGHT_STATE"; fi
        if [ "$LOOPWRIGHT_STATE" = audit ]; then {audit}; fi
        printf '```json\n{{"verdict": "OK"}}\n```\n'"#
    );
    bench.engine(&[CODER, ("judge", &script)])
}

#[test]
fn what_judges_change_is_undone_and_each_is_then_called_alone() {
    for (audit, ending, calls) in [
        ("test -e ../wrote || { echo mine > src/a; echo mine > b; touch ../wrote; }", Ending::Success, 2),
        ("echo mine > src/a", Ending::Failure, 2),
    ] {
        let bench = Bench::with(&[("README.md", "a\n")]);
        let mut engine = two(&bench, audit);
        engine.watch = InOrder::of(&bench, &["audit", "review"]);
        let (name, standing) = run(&engine, &workflow(TWO), &begin()).expect("a run");
        assert!(matches!(standing, Standing::Over { ending: Some(it), .. } if it == ending), "{standing:?}");
        assert_eq!(bench.read("src/a"), "1\n");
        assert!(!bench.path().join("b").exists());
        assert_eq!(
            heard(&engine, &name),
            ["review.1/ahead-audit out-of-bounds", "review.1 put off"],
            "nobody can tell who it was"
        );
        let of = |judge: &str| called(&bench).iter().filter(|it| it.starts_with(judge)).count();
        assert_eq!((of("review"), of("audit")), (calls, calls));
        let how = if ending == Ending::Success { "OK" } else { "out-of-bounds" };
        let audit = format!("audit.1 {how}");
        assert_eq!(lines(&bench), ["write.1 done", "review.1 OK", audit.as_str()], "alone it shows");
        let events = engine.journal.events(&name, 0).expect("events");
        let why = events.into_iter().find_map(|it| match it.event {
            Event::Heard { outcome, .. } => Some((outcome.summary, outcome.kept.contains_key("undone"))),
            _ => None,
        });
        let (why, is_kept) = why.expect("why");
        assert!(why.contains("`review`, `audit` were at work beside each other"), "{why}");
        assert!(is_kept && why.contains("`src/a`"), "{why}");
    }
}

#[test]
fn a_call_that_breaks_or_has_no_more_to_give_counts_at_its_turn() {
    // It crashes once: the try is spent when its turn has come.
    let bench = Bench::with(&[("README.md", "a\n")]);
    let engine = two(&bench, "test -e ../once || { touch ../once; exit 3; }");
    let (name, standing) = run(&engine, &workflow(TWO), &begin()).expect("a run");
    assert!(succeeded(&standing), "{standing:?}");
    assert_eq!(lines(&bench), ["write.1 done", "review.1 OK", "audit.1 crashed", "audit.1 OK"]);
    assert!(heard(&engine, &name).contains(&"review.1/ahead-audit crashed".to_owned()));
    assert_eq!(standing.run().spent["retries"], 1);
    // It has no more for now: nobody waits for it, and it is called at its turn.
    let bench = Bench::with(&[("README.md", "a\n")]);
    let engine = two(&bench, "test -e ../once || { touch ../once; exit 75; }");
    let (name, standing) = run(&engine, &workflow(TWO), &begin()).expect("a run");
    assert!(succeeded(&standing), "{standing:?}");
    assert_eq!(lines(&bench), ["write.1 done", "review.1 OK", "audit.1 OK"]);
    assert!(heard(&engine, &name).contains(&"review.1/ahead-audit put off".to_owned()));
}

#[test]
fn whoever_was_heard_before_the_run_was_left_is_not_called_again() {
    for first in ["audit", "review"] {
        let other = if first == "audit" { "review" } else { "audit" };
        let bench = Bench::with(&[("README.md", "a\n")]);
        let made = Command::new("mkfifo").arg(bench.around().join(format!("go.{other}"))).status();
        assert!(made.expect("mkfifo").success());
        let mut engine = two(&bench, ":");
        let cancel = Cancel::default();
        let is_heard = |it: &Event| matches!(it, Event::Heard { .. });
        engine.journal = Watched::leaving(&engine.journal, &cancel, When::After, is_heard);
        let driver = engine.begin(&workflow(TWO), &begin(), &cancel).expect("it begins");
        let name = driver.name().to_owned();
        let standing = driver.drive().expect("it can be left");
        assert!(matches!(standing, Standing::CalledOff { .. }), "{first}: {standing:?}");
        std::fs::remove_file(bench.around().join(format!("go.{other}"))).expect("a pipe");
        let engine = two(&bench, ":");
        let standing = engine.drive(&name, &Cancel::default()).expect("it goes on");
        assert!(succeeded(&standing), "{first}: {standing:?}");
        let of = |judge: &str| called(&bench).iter().filter(|it| it.starts_with(judge)).count();
        assert_eq!((of(first), of(other)), (1, 2), "{first}");
        assert_eq!(lines(&bench), ["write.1 done", "review.1 OK", "audit.1 OK"]);
    }
}

#[test]
fn what_was_heard_about_something_else_is_asked_again() {
    let between = TWO
        .replace("OK: owed, BLOCKED: failed}}\n  audit: {review: judge, judges: code", "OK: rest, BLOCKED: failed}}\n  rest: {rest: \"Say go.\", on: {verb go: owed}}\n  audit: {review: judge, judges: [code, notes]")
        .replace("{code: {files: [\"src/**\"]}}", "{code: {files: [\"src/**\"]}, notes: {file: notes.md}}\nverbs: {go: {}}");
    for (edited, calls) in [
        (None, &["audit of 1", "review of 1"][..]),
        // Only one of them judges it.
        (Some("notes.md"), &["audit of 1", "audit of 1", "review of 1"]),
        // What was reviewed is stale as well, and both are asked about it, at once.
        (Some("src/a"), &["audit of 1", "audit of edited", "review of 1", "review of edited"]),
        (Some("else.md"), &["audit of 1", "review of 1"]),
    ] {
        let bench = Bench::with(&[("notes.md", "a\n")]);
        let engine = two(&bench, ":");
        let (name, standing) = run(&engine, &workflow(&between), &begin()).expect("a run");
        assert!(matches!(standing, Standing::Waits { .. }), "{standing:?} {:?}", bench.lines());
        if let Some(path) = edited {
            bench.write(path, "edited\n");
        }
        let go = |engine: &Engine| {
            let said = Message::Say { verb: "go".into(), inputs: IndexMap::new() };
            engine
                .journal
                .post(&name, 0, &serde_json::to_string(&said).expect("a letter"))
                .expect("it is left");
            engine.drive(&name, &Cancel::default()).expect("it goes on")
        };
        let mut standing = go(&engine);
        if edited == Some("src/a") {
            assert!(matches!(standing, Standing::Waits { .. }), "it is reviewed again: {standing:?}");
            standing = go(&engine);
        }
        assert!(succeeded(&standing), "{edited:?}: {standing:?}");
        assert_eq!(called(&bench), calls, "{edited:?}");
        let told = said(&bench).iter().any(|it| it.contains("what `audit` said ahead of its turn"));
        assert_eq!(told, edited == Some("notes.md"), "{:?}", said(&bench));
    }
}
