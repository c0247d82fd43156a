//! What an effect may change, and what becomes of the rest.

use loopwright_core::machine::{Event, Evidence};
use loopwright_engine::{Begin, Standing};

use crate::bench::{Bench, run, workflow};

/// A worker, a check and a judge, and an end for everything that can become of them.
fn bounded() -> String {
    r#"
workflow: bounded
subject: thing
documents:
  code: {files: ["src/**"]}
roles:
  coder: {agent: coder, prompt: "Write.", may-write: [code]}
  judge: {agent: judge, prompt: "Judge.", verdicts: [GOOD, BAD], findings: {severity: [bad]}}
states:
  write: {agent: coder, produces: [code], changes: [code], on: {done: checks, malformed: malformed, out-of-bounds: outside, failures: failed}}
  checks: {check: {run: "sh test.sh"}, judges: code, on: {pass: review, fail: failed, out-of-bounds: outside, failures: failed}}
  review: {review: judge, judges: code, on: {GOOD: done, BAD: failed, malformed: malformed, out-of-bounds: outside, failures: failed}}
  done: {end: success, needs: [checks, review]}
  malformed: {end: stopped}
  outside: {end: refused}
  failed: {end: failure}
"#
    .to_owned()
}

const WRITES: &str = "cat > /dev/null; echo new > src/a";
const AGREES: &str = r#"cat > /dev/null; printf '```json\n{"verdict": "GOOD"}\n```\n'"#;

/// What the worker, the check and the judge do; where that leads; what the files are then; what is said.
type Case = (
    &'static str,
    [&'static str; 3],
    &'static str,
    &'static [(&'static str, Option<&'static str>)],
    &'static str,
);

const CASES: &[Case] = &[
    ("all within", [WRITES, "true", AGREES], "done", &[("src/a", Some("new\n"))], ""),
    (
        "the worker writes elsewhere",
        ["cat > /dev/null; echo new > src/a; echo mine > test.sh; echo x > other", "true", AGREES],
        "outside",
        &[("src/a", Some("new\n")), ("test.sh", Some("true")), ("other", None)],
        "while `coder` was at work, files changed that it may not write, and that was undone: `other`, `test.sh`",
    ),
    (
        "the worker removes a file that is not its own",
        ["cat > /dev/null; echo new > src/a; rm NOTES.md", "true", AGREES],
        "outside",
        &[("NOTES.md", Some("notes\n"))],
        "`NOTES.md`",
    ),
    (
        "the worker changes nothing",
        ["cat > /dev/null", "true", AGREES],
        "malformed",
        &[],
        "the document `code` should have changed",
    ),
    (
        "the worker leaves nothing",
        ["cat > /dev/null; rm -r src", "true", AGREES],
        "malformed",
        &[],
        "the document `code` should be there now",
    ),
    (
        "the judge writes what it judges",
        [
            WRITES,
            "true",
            "cat > /dev/null; echo better > src/a; printf '```json\\n{\"verdict\": \"GOOD\"}\\n```\\n'",
        ],
        "outside",
        &[("src/a", Some("new\n"))],
        "while `judge` was at work, files changed that it may not write",
    ),
    (
        "the judge says nothing that counts",
        [WRITES, "true", "cat > /dev/null; echo 'It is GOOD.'"],
        "malformed",
        &[],
        "no block of JSON",
    ),
    (
        "the check changes a file",
        [WRITES, "echo formatted > src/a", AGREES],
        "outside",
        &[("src/a", Some("new\n"))],
        "files changed while the check ran, and that was undone: `src/a`",
    ),
    (
        "the check leaves a file behind",
        [WRITES, "echo built > src/built; echo ignored > out.log", AGREES],
        "done",
        &[("src/built", None), ("out.log", Some("ignored\n"))],
        "the check left files behind that git does not ignore, and they were removed: `src/built`",
    ),
    ("the check fails", [WRITES, "exit 1", AGREES], "failed", &[], "`sh test.sh` failed with exit code 1"),
    (
        "the worker falls over",
        ["echo broken >&2; exit 3", "true", AGREES],
        "failed",
        &[],
        "exit code 3: broken",
    ),
];

#[test]
fn what_is_out_of_bounds_is_undone_and_said() {
    for (name, [coder, check, judge], end, files, said) in CASES {
        let bench = Bench::with(&[
            ("src/a", "old\n"),
            ("test.sh", check),
            ("NOTES.md", "notes\n"),
            (".gitignore", "*.log\n"),
        ]);
        let engine = bench.engine(&[("coder", coder), ("judge", judge)]);
        let begin = Begin { subject: "it".into(), ..Begin::default() };
        let (run_name, standing) = run(&engine, &workflow(&bounded()), &begin).expect("it runs");
        let Standing::Over { run, .. } = standing else { panic!("{name}: {standing:?}") };
        assert_eq!(&*run.at.state, *end, "{name}: {:#?}", bench.lines());
        for (path, expected) in *files {
            let found = std::fs::read_to_string(bench.path().join(path)).ok();
            assert_eq!(found.as_deref(), *expected, "{name}: {path}");
        }
        let events = engine.journal.events(&run_name, 0).expect("events");
        let told = format!("{events:?}{:?}", bench.lines());
        assert!(told.contains(said), "{name}: {told}");
        if *end == "outside" {
            let kept = events.iter().find_map(|it| match &it.event {
                loopwright_core::machine::Event::Settled {
                    evidence: loopwright_core::machine::Evidence::Out(outcome),
                    ..
                } => outcome.kept.get("undone").cloned(),
                _ => None,
            });
            let patch = engine.journal.blob(&kept.expect("a patch")).expect("a journal").expect("it is kept");
            assert!(String::from_utf8_lossy(&patch).starts_with("diff --git"), "{name}");
        }
    }
}

/// What a workflow says and what would not be kept to: no run is begun as if nothing had been said.
#[test]
fn what_is_not_kept_to_yet_is_not_begun() {
    let cases = [
        ("subject: thing\n", "subject: thing\nbudgets:\n  purse: 5 usd\n", "the budget `purse` counts"),
        ("subject: thing\n", "subject: thing\nbudgets:\n  words: 5000 tokens\n", "the budget `words` counts"),
    ];
    for (from, to, expected) in cases {
        let bench = Bench::with(&[("src/a", "old\n")]);
        let engine = bench.engine(&[("coder", WRITES), ("judge", AGREES)]);
        let text = bounded().replace(from, to);
        let begin = Begin { subject: "it".into(), ..Begin::default() };
        let told = run(&engine, &workflow(&text), &begin).expect_err(to).to_string();
        assert!(told.contains(expected), "{to}: {told}");
        assert_eq!(engine.journal.runs().expect("runs"), [], "{to}: it was begun");
    }
}

/// Agents and checks that come back only if somebody lets them.
const LATE: &str = r#"
workflow: late
subject: thing
budgets: {time: {limit: 700ms, keep: 200ms}, retries: {limit: 2, per: visit}}
documents: {code: {files: ["src/**"]}}
roles: {coder: {agent: coder, prompt: "Write.", may-write: [code]}}
defaults: {failures: failed}
states:
  write: {agent: coder, on: {done: done, timeout: {to: again, spend: retries, else: failed}, over-budget: late}}
  done: {end: success}
  late: {end: stopped}
  failed: {end: failure}
"#;

#[test]
fn a_call_is_cut_off_where_its_time_is_used_up() {
    let bench = Bench::with(&[("a", "a\n")]);
    let pipe = bench.path().join(".git/never");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().expect("mkfifo").success());
    let engine = bench.engine(&[("coder", "read -r _ < .git/never")]);
    let standing = crate::actions::start(&engine, &workflow(LATE)).drive().expect("it runs");
    let run = standing.run();
    assert_eq!(&*run.at.state, "late", "{:?}", bench.lines());
    // What is kept for afterwards is still there, give or take the moment it took to end the call.
    assert!(run.left["time"] <= 200, "{:?}", run.left);
    assert_eq!(bench.lines().iter().filter(|it| it.ends_with(" timeout")).count(), 1, "{:?}", bench.lines());
}

const ADVISED: &str = r#"
workflow: advised
subject: thing
documents: {code: {files: ["src/**"]}}
roles:
  judge: {agent: judge, prompt: "Judge.", verdicts: [GOOD, BAD]}
  safety: {agent: safety, prompt: "Look.", verdicts: [FINE, NOT]}
defaults: {failures: failed}
states:
  review: {review: judge, advice: [safety], judges: code, on: {GOOD: done, BAD: failed}}
  done: {end: success, needs: [review]}
  failed: {end: failure}
"#;

/// What an adviser writes is undone, and the judge is not blamed for it.
#[test]
fn an_adviser_that_writes_is_not_the_judge() {
    let bench = Bench::with(&[("src/a", "a\n")]);
    let safety = r#"cat > /dev/null; echo b > src/a; printf '```json\n{"verdict": "FINE"}\n```\n'"#;
    let engine = bench.engine(&[("judge", AGREES), ("safety", safety)]);
    let (name, standing) =
        run(&engine, &workflow(ADVISED), &Begin { subject: "x".into(), ..Begin::default() })
            .expect("it runs");
    assert_eq!(&*standing.run().at.state, "done", "{:#?}", bench.lines());
    assert_eq!(bench.read("src/a"), "a\n");
    let events: Vec<_> =
        engine.journal.events(&name, 0).expect("events").into_iter().map(|it| it.event).collect();
    let said = serde_json::to_string(&events).expect("events");
    assert!(
        said.contains("while `safety` was at work, files changed that it may not write")
            && said.contains("undone-safety"),
        "{said}"
    );
}

/// What was ignored all along is nobody's doing, whoever changes the rules.
#[test]
fn ignored_files_outlive_the_rules_that_ignore_them() {
    for damage in ["rm .gitignore", ": > .gitignore", "echo '!.env' >> .gitignore"] {
        let bench = Bench::with(&[(".gitignore", ".env\nsecret/\n"), ("src/a", "a\n")]);
        bench.write(".env", "KEY=1\n");
        bench.write("secret/key", "k\n");
        let judge =
            format!("cat > /dev/null; {damage}; printf '```json\\n{{\"verdict\": \"GOOD\"}}\\n```\\n'");
        let engine = bench.engine(&[("judge", &judge), ("safety", AGREES)]);
        let text = ADVISED
            .replace("advice: [safety], ", "")
            .replace("  safety: {agent: safety, prompt: \"Look.\", verdicts: [FINE, NOT]}\n", "");
        let begin = Begin { subject: "x".into(), ..Begin::default() };
        run(&engine, &workflow(&text), &begin).expect("it runs");
        assert_eq!(bench.lines(), ["review.1 out-of-bounds"], "{damage}");
        assert_eq!(bench.read(".env") + &bench.read("secret/key"), "KEY=1\nk\n", "{damage}");
        assert_eq!(bench.read(".gitignore"), ".env\nsecret/\n", "{damage}");
    }
}

/// What is undone can be had back to the last byte, whichever letters it is written in.
#[test]
fn what_is_undone_comes_back_as_it_was() {
    let bench = Bench::with(&[("src/a", "a\n")]);
    std::fs::write(bench.path().join("latin"), b"caf\xe9\n").expect("a file");
    bench.git(&["add", "-A"]);
    bench.git(&["commit", "-qm", "latin"]);
    let worker = r"cat > /dev/null; echo new > src/a; printf 'gr\303\237\n\374\n' > new; printf '\351t\351\n' >> latin";
    let engine = bench.engine(&[("coder", worker), ("judge", AGREES)]);
    let begin = Begin { subject: "x".into(), ..Begin::default() };
    let (name, _) = run(&engine, &workflow(&bounded()), &begin).expect("it runs");
    assert!(!bench.path().join("new").exists(), "it was undone");
    let events = engine.journal.events(&name, 0).expect("events");
    let kept = events.iter().find_map(|it| match &it.event {
        Event::Settled { evidence: Evidence::Out(out), .. } => out.kept.get("undone").cloned(),
        _ => None,
    });
    let patch = engine.journal.blob(&kept.expect("a patch")).expect("the journal").expect("a patch");
    std::fs::write(bench.around().join("patch"), patch).expect("a file");
    bench.git(&["apply", "../patch"]);
    let read = |it: &str| std::fs::read(bench.path().join(it)).expect("a file");
    assert_eq!(
        (read("new"), read("latin")),
        (b"gr\xc3\x9f\n\xfc\n".to_vec(), b"caf\xe9\n\xe9t\xe9\n".to_vec())
    );
}
