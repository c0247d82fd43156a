//! Runs that somebody leaves, or ends, while an agent or a check is at work, and agents that have no more for now.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use loopwright_core::definition::Outcome as Ending;
use loopwright_core::machine::{Event, Evidence, RunView};
use loopwright_engine::process::Cancel;
use loopwright_engine::{Begin, Engine, Message, Standing, Watch};

use crate::bench::{Bench, workflow};
use crate::watched::{Change, Watched, When};

/// Everything that fails ends it: nothing may be tried again.
const STRICT: &str = r#"
workflow: strict
subject: thing
documents: {code: {file: a}}
roles: {coder: {agent: coder, prompt: "Write.", may-write: [code]}}
defaults: {failures: failed}
states:
  write: {agent: coder, changes: [code], then: tests}
  tests: {check: {run: "sh test.sh"}, on: {pass: done, fail: failed}}
  done: {end: success}
  failed: {end: failure}
"#;

/// Writes what it may and what it may not, says that it is at work, and does not come back.
const STAYS: &str = "cat > /dev/null; echo half > a; echo half > b; echo > ../at-work; exec sleep 1000";
const QUICK: &str = "cat > /dev/null; echo whole > a";

/// A repository, and something that is said when work has begun.
fn bench(test: &str) -> Bench {
    let bench = Bench::with(&[("a", "a\n"), ("b", "b\n"), ("test.sh", test)]);
    let made = std::process::Command::new("mkfifo").arg(bench.around().join("at-work")).status();
    assert!(made.expect("mkfifo").success());
    bench
}

/// Drives a run, and does something once it is at work.
fn driven(bench: &Bench, engine: &Engine, meanwhile: impl FnOnce(&str, &Cancel)) -> (String, Standing) {
    let cancel = Cancel::default();
    let begin = Begin { subject: "it".into(), ..Begin::default() };
    let driver = engine.begin(&workflow(STRICT), &begin, &cancel).expect("it begins");
    let name = driver.name().to_owned();
    let standing = std::thread::scope(|scope| {
        let drives = scope.spawn(move || driver.drive());
        std::fs::read(bench.around().join("at-work")).expect("it is at work");
        meanwhile(&name, &cancel);
        drives.join().expect("a driver").expect("it can be driven")
    });
    (name, standing)
}

/// Effects and what became of them, in order.
fn history(engine: &Engine, name: &str) -> Vec<String> {
    let told = |event: Event| match event {
        Event::Issued { effect, attempt, .. } => Some(format!("{effect} try {attempt}")),
        Event::PutOff { effect, .. } => Some(format!("{effect} put off")),
        Event::Settled { effect, evidence: Evidence::Out(out) } => Some(format!("{effect} {}", out.signal)),
        Event::Stopped { .. } => Some("stopped".to_owned()),
        _ => None,
    };
    engine.journal.events(name, 0).expect("events").into_iter().filter_map(|it| told(it.event)).collect()
}

#[test]
fn leaving_is_nothing_that_an_agent_came_to() {
    let bench = bench("exit 0\n");
    let engine = bench.engine(&[("coder", STAYS)]);
    let (name, standing) = driven(&bench, &engine, |_, cancel| cancel.call_off());
    assert!(matches!(standing, Standing::CalledOff { .. }), "{standing:?}");
    // What it may not write is undone, and kept; what it may is there for whoever goes on.
    assert_eq!((&*bench.read("a"), &*bench.read("b")), ("half\n", "b\n"));
    let events = engine.journal.events(&name, 0).expect("events");
    let kept = events.iter().find_map(|it| match &it.event {
        Event::PutOff { kept, .. } => kept.get("undone").cloned(),
        _ => None,
    });
    let patch = engine.journal.blob(&kept.expect("a patch")).expect("the journal").expect("a patch");
    assert!(String::from_utf8_lossy(&patch).contains("+half"));
    let engine = bench.engine(&[("coder", QUICK)]);
    let standing = engine.drive(&name, &Cancel::default()).expect("it goes on");
    assert!(matches!(standing, Standing::Over { ending: Some(Ending::Success), .. }), "{standing:?}");
    assert_eq!(
        history(&engine, &name),
        [
            "write.1 try 1",
            "write.1 put off",
            "write.1 try 1",
            "write.1 done",
            "tests.1 try 1",
            "tests.1 pass"
        ]
    );
    let (definition, _) = engine.read(&name).expect("a run");
    assert!(engine.account(&name, &definition).expect("an account").cost.time > 0);
}

#[test]
fn leaving_is_nothing_that_a_check_came_to() {
    let bench = bench("test -e ../go && exit 0; echo mine > b; echo > ../at-work; exec sleep 1000\n");
    let engine = bench.engine(&[("coder", QUICK)]);
    let (name, standing) = driven(&bench, &engine, |_, cancel| cancel.call_off());
    assert!(matches!(standing, Standing::CalledOff { .. }), "{standing:?}");
    bench.write("../go", "");
    let standing = engine.drive(&name, &Cancel::default()).expect("it goes on");
    assert!(matches!(standing, Standing::Over { ending: Some(Ending::Success), .. }), "{standing:?}");
    assert_eq!(
        history(&engine, &name)[2..],
        ["tests.1 try 1", "tests.1 put off", "tests.1 try 1", "tests.1 pass"]
    );
}

#[test]
fn ending_a_run_is_not_recorded_as_a_failure_of_whoever_was_at_work() {
    let bench = bench("exit 0\n");
    let engine = bench.engine(&[("coder", STAYS)]);
    let (name, standing) = driven(&bench, &engine, |name, _| {
        let stop = serde_json::to_string(&Message::Stop { reason: "enough".into() }).expect("a message");
        engine.journal.post(name, 0, &stop).expect("it is left");
    });
    assert!(matches!(standing, Standing::Over { ending: None, .. }), "{standing:?}");
    assert_eq!(history(&engine, &name), ["write.1 try 1", "write.1 put off", "stopped"]);
    assert_eq!(engine.journal.run(&name).expect("a run").stands.status, "ended by a person");
}

/// Counts its calls, and has nothing to give at the first.
fn limited(said: &str) -> String {
    format!(
        "cat > /dev/null; echo x >> ../calls; test -e ../full || {{ touch ../full; echo '{said}' >&2; exit 75; }}; echo whole > a"
    )
}

/// Somebody who leaves a run that tells them it waits.
struct Leaves(Cancel);

impl Watch for Leaves {
    fn happened(&self, _run: &str, _event: &Event, _view: &RunView) {}

    fn said(&self, _run: &str, text: &str) {
        if text.starts_with("nothing is begun before 2026-09-21T") {
            self.0.call_off();
        }
    }
}

const DAY: u64 = 24 * 60 * 60 * 1_000;

#[test]
fn a_run_waits_for_an_agent_that_has_no_more_for_now_and_spends_nothing() {
    let bench = bench("exit 0\n");
    let mut engine = bench.engine(&[("coder", &limited("try again in 3600"))]);
    let cancel = Cancel::default();
    // Somebody leaves it while it waits.
    engine.watch = Arc::new(Leaves(cancel.clone()));
    let begin = Begin { subject: "it".into(), ..Begin::default() };
    let driver = engine.begin(&workflow(STRICT), &begin, &cancel).expect("it begins");
    let name = driver.name().to_owned();
    let standing = driver.drive().expect("it can be driven");
    assert!(matches!(standing, Standing::CalledOff { .. }), "{standing:?}");
    let status = engine.journal.run(&name).expect("a run").stands.status;
    assert!(status.starts_with("waits until 2026-09-21T"), "{status}");
    // It waits on, whoever drives it.
    let cancel = Cancel::default();
    engine.watch = Arc::new(Leaves(cancel.clone()));
    let standing = engine.drive(&name, &cancel).expect("it can be driven");
    assert!(matches!(standing, Standing::CalledOff { .. }), "{standing:?}");
    assert_eq!(bench.read("../calls"), "x\n");
    let later = bench.engine(&[("coder", &limited(""))]).after(DAY);
    let standing = later.drive(&name, &Cancel::default()).expect("it goes on");
    assert!(matches!(standing, Standing::Over { ending: Some(Ending::Success), .. }), "{standing:?}");
    assert_eq!(
        history(&later, &name)[..4],
        ["write.1 try 1", "write.1 put off", "write.1 try 1", "write.1 done"]
    );
    assert_eq!(bench.read("../calls"), "x\nx\n");
}

/// Somebody who edits a file while a run waits, until the time has come.
struct Edits(std::path::PathBuf, Arc<AtomicU64>);

impl Watch for Edits {
    fn happened(&self, _run: &str, _event: &Event, _view: &RunView) {}

    fn said(&self, _run: &str, text: &str) {
        if text.starts_with("nothing is begun before") {
            std::fs::write(&self.0, "by a person\n").expect("a file");
            self.1.fetch_add(DAY, Ordering::Relaxed);
        }
    }
}

#[test]
fn what_a_person_edits_while_a_run_waits_is_theirs() {
    let bench = bench("exit 0\n");
    let mut engine = bench.engine(&[("coder", &limited("3600"))]);
    let now = Arc::new(AtomicU64::new((engine.clock)()));
    let clock = Arc::clone(&now);
    engine.clock = Arc::new(move || clock.load(Ordering::Relaxed));
    engine.watch = Arc::new(Edits(bench.path().join("b"), now));
    let begin = Begin { subject: "it".into(), ..Begin::default() };
    let driver = engine.begin(&workflow(STRICT), &begin, &Cancel::default()).expect("it begins");
    let standing = driver.drive().expect("it can be driven");
    assert!(matches!(standing, Standing::Over { ending: Some(Ending::Success), .. }), "{standing:?}");
    assert_eq!(bench.read("b"), "by a person\n");
}

#[test]
fn an_agent_says_in_seconds_or_as_a_moment_how_long_it_has_no_more() {
    for (said, least, most) in [
        ("limit reached, resets at 2001-01-01T00:00:00Z", 30_000, 30_000),
        ("0", 30_000, 30_000),
        ("back in 7200", 7_200_000, 7_300_000),
        ("9999-01-01T00:00:00+02:00", 1_000 * DAY, u64::MAX),
        ("99999999999999999999", 900_000, 1_000_000),
        ("18446744073709551615", 1_000 * DAY, u64::MAX),
        ("no more today", 900_000, 1_000_000),
    ] {
        let bench = bench("exit 0\n");
        let mut engine = bench.engine(&[("coder", &limited(said))]);
        let cancel = Cancel::default();
        let put_off = |it: &Event| matches!(it, Event::PutOff { .. });
        engine.journal = Watched::leaving(&engine.journal, &cancel, When::Before, put_off);
        let begun = (engine.clock)();
        let begin = Begin { subject: "it".into(), ..Begin::default() };
        let driver = engine.begin(&workflow(STRICT), &begin, &cancel).expect("it begins");
        let standing = driver.drive().expect("it can be driven");
        let events = engine.journal.runs().expect("runs");
        let events = engine.journal.events(&events[0].run.name, 0).expect("events");
        let until = events.iter().find_map(|it| match &it.event {
            Event::PutOff { until, .. } => *until,
            _ => None,
        });
        let wait = until.expect("a moment").saturating_sub(begun);
        assert!((least..=most.saturating_add(1_000)).contains(&wait), "{said}: {wait}, {standing:?}");
    }
}

/// Somebody who is gone without a word when they are told that a run waits.
struct Gone;

impl Watch for Gone {
    fn happened(&self, _run: &str, _event: &Event, _view: &RunView) {}

    fn said(&self, _run: &str, text: &str) {
        assert!(!text.starts_with("nothing is begun before"), "killed");
    }
}

#[test]
fn what_was_changed_since_somebody_is_gone_without_a_word_is_said() {
    for (agent, said, on_record) in [
        (QUICK, None, Some("changed since, by whoever was at work or by a person: `a`")),
        (&*limited("3600"), Some("said: changed since the run was left: `a`"), None),
    ] {
        let bench = bench("exit 0\n");
        let mut engine = bench.engine(&[("coder", agent)]);
        engine.watch = Arc::new(Gone);
        if agent == QUICK {
            engine.journal = Watched::around(Arc::clone(&engine.journal), |when, change| {
                let Change::Append(batch) = change else { return Ok(()) };
                let begun = batch.events.iter().any(|it| matches!(it, Event::Issued { .. }));
                assert!(!begun || when == When::Before, "killed");
                Ok(())
            });
        }
        let begin = Begin { subject: "it".into(), ..Begin::default() };
        let driver = engine.begin(&workflow(STRICT), &begin, &Cancel::default()).expect("it begins");
        let name = driver.name().to_owned();
        let killed = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| driver.drive()));
        assert!(killed.is_err(), "{agent}");
        bench.write("a", "by a person\n");
        let later = bench.engine(&[("coder", QUICK)]).after(DAY);
        later.drive(&name, &Cancel::default()).expect("it can be driven");
        // It is told once, and not of what is done from then on.
        let lines = bench.lines();
        let told: Vec<&str> =
            lines.iter().map(String::as_str).filter(|it| it.starts_with("said: changed since")).collect();
        assert_eq!(told, said.into_iter().collect::<Vec<_>>());
        let lost =
            later.journal.events(&name, 0).expect("events").into_iter().find_map(|it| match it.event {
                Event::Settled { evidence: Evidence::Out(out), .. } if *out.signal == *"lost" => {
                    Some(out.summary)
                }
                _ => None,
            });
        assert_eq!(lost.is_some(), on_record.is_some(), "{lost:?}");
        assert!(lost.zip(on_record).is_none_or(|(lost, wanted)| lost.ends_with(wanted)), "{agent}");
    }
}
