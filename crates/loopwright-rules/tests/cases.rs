//! Every rule on changes written down as data: `cases/RULE.txt`.
//!
//! A case begins with `=== what it shows`. Then come, in any order, `--- before PATH`, `--- after PATH` and
//! `--- beside PATH` (a file that did not change) with what they hold, `--- given NAME` with a list, and at its end
//! `--- broken` with what is reported, nothing if the rule is kept. `UPDATE_CASES=1` writes the last part anew: read it.
#![expect(clippy::unwrap_used, clippy::panic, reason = "these are tests")]

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::PathBuf;

use loopwright_rules::{Change, Given, RULES, UnknownRule, broken};

#[derive(Default)]
struct Case {
    name: String,
    /// All of it but what is reported.
    text: String,
    before: BTreeMap<String, String>,
    after: BTreeMap<String, String>,
    beside: BTreeMap<String, String>,
    given: BTreeMap<String, Vec<String>>,
    broken: String,
}

fn cases(text: &str) -> Vec<Case> {
    let mut cases: Vec<Case> = Vec::new();
    let mut part = (String::new(), String::new());
    for line in text.split_inclusive('\n') {
        if let Some(name) = line.strip_prefix("=== ") {
            cases.push(Case { name: name.trim().to_owned(), text: line.to_owned(), ..Case::default() });
            part = (String::new(), String::new());
            continue;
        }
        let Some(case) = cases.last_mut() else { continue };
        if let Some(head) = line.strip_prefix("--- ") {
            let (kind, name) = head.trim().split_once(' ').unwrap_or((head.trim(), ""));
            part = (kind.to_owned(), name.to_owned());
            match kind {
                "before" => drop(case.before.insert(name.to_owned(), String::new())),
                "after" => drop(case.after.insert(name.to_owned(), String::new())),
                "beside" => drop(case.beside.insert(name.to_owned(), String::new())),
                "given" => drop(case.given.insert(name.to_owned(), Vec::new())),
                "broken" => continue,
                _ => panic!("{}: what is `{line}`?", case.name),
            }
            case.text.push_str(line);
            continue;
        }
        match part.0.as_str() {
            "before" => case.before.get_mut(&part.1).unwrap().push_str(line),
            "after" => case.after.get_mut(&part.1).unwrap().push_str(line),
            "beside" => case.beside.get_mut(&part.1).unwrap().push_str(line),
            "given" => case.given.get_mut(&part.1).unwrap().push(line.trim_end().to_owned()),
            "broken" => {
                case.broken.push_str(line);
                continue;
            }
            _ => panic!("{}: `{line}` belongs to nothing", case.name),
        }
        case.text.push_str(line);
    }
    cases
}

/// What cannot be seen in a text is written as `\r`, `\f` (a byte order mark) or `\s` (a space at an end).
fn bytes(text: &str) -> Vec<u8> {
    text.replace("\\r\n", "\r\n").replace("\\f", "\u{feff}").replace("\\s\n", " \n").into_bytes()
}

fn report(rule: &str, case: &Case) -> String {
    let side = |texts: &BTreeMap<String, String>| {
        texts.iter().map(|(path, text)| (path.clone(), bytes(text))).collect::<BTreeMap<_, _>>()
    };
    let (before, after, beside) = (side(&case.before), side(&case.after), side(&case.beside));
    let mut paths: Vec<&String> = before.keys().chain(after.keys()).collect();
    paths.sort();
    paths.dedup();
    let changes: Vec<Change<'_>> = paths
        .iter()
        .map(|path| Change {
            path,
            before: before.get(*path).map(Vec::as_slice),
            after: after.get(*path).map(Vec::as_slice),
        })
        .collect();
    let given = |name: &str| case.given.get(name).map(Vec::as_slice).unwrap_or_default();
    assert!(case.given.keys().all(|it| ["listed", "gate", "ticks", "states"].contains(&it.as_str())));
    let reads = |path: &str| beside.get(path).cloned();
    let given = Given {
        listed: given("listed"),
        gate: given("gate"),
        ticks: given("ticks"),
        states: given("states"),
        reads: Some(&reads),
    };
    let mut report = String::new();
    for found in broken(rule, &changes, &given).unwrap() {
        assert_eq!(found.rule, rule);
        writeln!(report, "{found}").unwrap();
    }
    report
}

#[test]
fn every_rule_says_what_its_cases_say() {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/cases");
    let mut wrong = String::new();
    for (rule, about) in RULES {
        assert!(about.ends_with('.'), "{rule}: {about}");
        let file = folder.join(format!("{rule}.txt"));
        let cases = cases(&std::fs::read_to_string(&file).unwrap_or_else(|it| panic!("{rule}: {it}")));
        let mut new = String::new();
        for case in &cases {
            let report = report(rule, case);
            if report.trim() != case.broken.trim() {
                write!(wrong, "{rule}: {}\nexpected:\n{}reported:\n{report}\n", case.name, case.broken)
                    .unwrap();
            }
            write!(new, "{}--- broken\n{report}\n", case.text).unwrap();
        }
        let kept = cases.iter().filter(|it| it.broken.trim().is_empty()).count();
        assert!(kept >= 1 || *rule == "read-only", "{rule}: no case keeps it");
        if std::env::var_os("UPDATE_CASES").is_some() {
            std::fs::write(&file, format!("{}\n", new.trim_end())).unwrap();
        } else {
            assert!(cases.len() - kept >= 2, "{rule}: hardly a case breaks it");
        }
    }
    let files = std::fs::read_dir(&folder).unwrap().count();
    assert_eq!(files, RULES.len(), "a file of cases is of no rule");
    assert!(wrong.is_empty() || std::env::var_os("UPDATE_CASES").is_some(), "{wrong}");
}

#[test]
fn a_rule_that_is_none_is_an_error() {
    let unknown = broken("test-only", &[], &Given::default());
    assert_eq!(unknown, Err(UnknownRule("test-only".to_owned())));
    assert_eq!(UnknownRule("x".to_owned()).to_string(), "there is no rule `x`");
}
