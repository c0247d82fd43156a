//! What the named checks make of what runners really print: `checks/RUNNER.txt`.
//!
//! A case begins with `=== CHECK: what it shows`. Then come `--- before PATH` and `--- after PATH` with what a file holds,
//! `--- log` with what the command printed, `--- ended well` if it did, and `--- verdict`. `UPDATE_CASES=1` writes the last
//! part anew: read it.
#![expect(clippy::unwrap_used, clippy::panic, reason = "these are tests")]

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::PathBuf;

use loopwright_rules::{CHECKS, Change, ENVIRONMENT, UnknownCheck, Verdict, judge, thorough};
use proptest::prelude::*;

#[derive(Default)]
struct Case {
    check: String,
    name: String,
    /// All of it but the verdict.
    text: String,
    before: BTreeMap<String, String>,
    after: BTreeMap<String, String>,
    log: String,
    ended_well: bool,
    verdict: String,
}

fn cases(text: &str) -> Vec<Case> {
    let mut cases: Vec<Case> = Vec::new();
    let mut part = (String::new(), String::new());
    for line in text.split_inclusive('\n') {
        if let Some(head) = line.strip_prefix("=== ") {
            let (check, name) = head.trim().split_once(": ").unwrap();
            cases.push(Case { check: check.into(), name: name.into(), text: line.into(), ..Case::default() });
            continue;
        }
        let Some(case) = cases.last_mut() else { continue };
        if let Some(head) = line.strip_prefix("--- ").filter(|it| !it.contains(": ")) {
            let (kind, name) = head.trim().split_once(' ').unwrap_or((head.trim(), ""));
            part = (kind.to_owned(), name.to_owned());
            case.ended_well |= kind == "ended";
            if kind == "verdict" {
                continue;
            }
        } else {
            match part.0.as_str() {
                "before" => case.before.entry(part.1.clone()).or_default().push_str(line),
                "after" => case.after.entry(part.1.clone()).or_default().push_str(line),
                "log" => case.log.push_str(line),
                "verdict" => {
                    case.verdict.push_str(line);
                    continue;
                }
                _ => panic!("{}: `{line}` belongs to nothing", case.name),
            }
        }
        case.text.push_str(line);
    }
    cases
}

fn verdict(case: &Case) -> Verdict {
    let paths: std::collections::BTreeSet<&String> = case.before.keys().chain(case.after.keys()).collect();
    let changes: Vec<Change<'_>> = paths
        .into_iter()
        .map(|path| Change {
            path,
            before: case.before.get(path).map(String::as_bytes),
            after: case.after.get(path).map(String::as_bytes),
        })
        .collect();
    judge(&case.check, &changes, (&case.log, case.ended_well)).unwrap()
}

#[test]
fn every_runner_is_understood() {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/checks");
    let (mut count, mut wrong) = (0, Vec::new());
    let mut seen = BTreeMap::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let mut anew = String::new();
        for case in cases(&std::fs::read_to_string(&path).unwrap()) {
            let verdict = verdict(&case);
            let told = format!("{}: {}\n", if verdict.passed { "pass" } else { "fail" }, verdict.summary);
            *seen.entry((case.check.clone(), verdict.passed)).or_insert(0) += 1;
            if told.trim() != case.verdict.trim() {
                wrong.push(format!("{}\n  {told}", case.name));
            }
            write!(anew, "{}--- verdict\n{told}\n", case.text).unwrap();
            count += 1;
        }
        if std::env::var_os("UPDATE_CASES").is_some() {
            std::fs::write(&path, anew.trim_end().to_owned() + "\n").unwrap();
        }
    }
    assert!(wrong.is_empty() || std::env::var_os("UPDATE_CASES").is_some(), "{}", wrong.join("\n"));
    assert_eq!(seen.len(), 2 * CHECKS.len(), "each check holds and blocks: {seen:?}");
    assert!(count > 15, "{count}");
}

#[test]
fn a_check_nobody_knows_is_said() {
    assert_eq!(judge("guess", &[], ("", true)), Err(UnknownCheck("guess".into())));
}

#[test]
fn commands_go_on_after_the_first_failure() {
    let cases = [
        ("cargo test", "cargo test --no-fail-fast"),
        ("cargo test --workspace", "cargo test --no-fail-fast --workspace"),
        ("nix develop -c cargo test -q", "nix develop -c cargo test --no-fail-fast -q"),
        ("cargo nextest run", "cargo nextest run --no-fail-fast"),
        ("cargo test --no-fail-fast", "cargo test --no-fail-fast"),
        ("cargo testall", "cargo testall"),
        ("mycargo test", "mycargo test"),
        ("make test", "make test"),
    ];
    for (command, expected) in cases {
        assert_eq!(thorough(command), expected);
    }
    assert!(ENVIRONMENT.iter().any(|(name, _)| *name == "PYTEST_ADDOPTS"));
}

const PATHS: &[&str] = &["src/a.rs", "tests/b.rs", "tests/test_c.py", "d.test.js", "e_test.go", "f_spec.rb"];

proptest! {
    /// No file and no output makes it panic, and what nobody saw fail is never said to fail.
    #[test]
    fn no_input_is_too_odd(
        path in prop::sample::select(PATHS),
        before in prop::option::of("(#\\[test\\]|fn a|def test_x|class A|:|\\n|  |test\\(|'a'|\\)|\\{|\\}|func TestA|é| ){0,30}"),
        after in "(#\\[test\\]|fn a|\\(|def test_x|class A|:|\\n|  |test\\(|'a'|\\)|\\{|\\}|func TestA|it\\.each|`|é| ){0,40}",
        log in "(test |a|\\.\\.\\. |FAILED|ok|---- |stdout ----|failures:|\\n|FAIL: |\\(|\\)|not ok 1 - |✖|● |\\[|::|--- FAIL: |thread '|'| ){0,60}",
        ended_well in any::<bool>(),
    ) {
        let change = Change { path, before: before.as_deref().map(str::as_bytes), after: Some(after.as_bytes()) };
        for (check, _) in CHECKS {
            let verdict = judge(check, &[change], (&log, ended_well)).unwrap();
            prop_assert!(!verdict.summary.is_empty());
            prop_assert!(!judge(check, &[change], ("", true)).unwrap().passed, "{after}");
        }
    }
}
