//! The corpus of faults in `tests/faults`: every fault is found, every path that shows one plays on the real machine,
//! and every repair is proved. `tests/faults/README.md` says what the classes are.
#![expect(clippy::disallowed_methods, reason = "a test reads its corpus")]
#![expect(clippy::expect_used, clippy::panic, reason = "a test")]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use loopwright_core::check::{Report, check};
use loopwright_core::definition::Workflow;
use loopwright_core::language::{Folder, WORKFLOW_FILE, load};
use loopwright_core::problem::Problem;
use loopwright_core::rehearse::{Coverage, Scenario, parse_scenario, perform};

/// The fewest cases that are a corpus.
const FEWEST: usize = 40;
/// The classes there are.
const CLASSES: usize = 18;

/// What `case.yaml` says.
struct Case {
    /// `CLASS/CASE`.
    name: String,
    folder: PathBuf,
    class: String,
    /// Codes that must be among those reported.
    expect: Vec<String>,
    /// Whether each of them has to come with a run that shows it.
    path: bool,
}

fn corpus() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/faults")
}

fn folders(of: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(of).unwrap_or_else(|error| panic!("{}: {error}", of.display()));
    let mut found: Vec<PathBuf> =
        entries.map(|it| it.expect("an entry").path()).filter(|it| it.is_dir()).collect();
    found.sort();
    found
}

fn last_part(path: &Path) -> String {
    path.file_name().expect("a name").to_string_lossy().into_owned()
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Four lines of `key: value`, in this order.
fn case(class: &Path, folder: PathBuf) -> Case {
    let text = read(&folder.join("case.yaml"));
    let mut lines = text.lines();
    let mut value = |key: &str| {
        let line = lines.next().unwrap_or_else(|| panic!("{}: no `{key}`", folder.display()));
        let value = line.strip_prefix(&format!("{key}: "));
        value.unwrap_or_else(|| panic!("{}: expected `{key}`, found `{line}`", folder.display())).to_owned()
    };
    let declared = value("class");
    assert!(value("fault").ends_with('.'), "{}: the fault is a sentence", folder.display());
    let expect = value("expect");
    let expect = expect.strip_prefix('[').and_then(|it| it.strip_suffix(']')).expect("a list of codes");
    let path = match value("path").as_str() {
        "true" => true,
        "false" => false,
        other => panic!("{}: `path` is true or false, not `{other}`", folder.display()),
    };
    Case {
        name: format!("{}/{}", last_part(class), last_part(&folder)),
        class: declared,
        expect: expect.split(',').map(|it| it.trim().to_owned()).collect(),
        path,
        folder,
    }
}

fn cases() -> Vec<Case> {
    let classes = folders(&corpus());
    let found: Vec<Case> = classes
        .iter()
        .flat_map(|class| folders(class).into_iter().map(|it| case(class, it)).collect::<Vec<_>>())
        .collect();
    for case in &found {
        assert!(
            case.name.starts_with(&format!("{}/", case.class)),
            "{} says it is of class {}",
            case.name,
            case.class
        );
    }
    found
}

/// A file as the folder of a workflow without other files.
fn folder(text: &str) -> Folder {
    let name = text.lines().find_map(|it| it.strip_prefix("workflow: ")).unwrap_or_default();
    Folder { name: name.to_owned(), files: [(WORKFLOW_FILE.to_owned(), text.as_bytes().to_vec())].into() }
}

/// Everything said about a file: by the loader, and by the proof if it loads.
fn examine(text: &str) -> (Option<Workflow>, Vec<Problem>, Option<Report>) {
    let loaded = load(&folder(text));
    let loads = !loaded.problems.iter().any(|it| it.stage == loopwright_core::problem::Stage::Load);
    let report = loaded.workflow.as_ref().filter(|_| loads).map(check);
    let mut problems = loaded.problems;
    problems.extend(report.iter().flat_map(|it| it.problems.iter().cloned()));
    (loaded.workflow, problems, report)
}

/// Plays a path as it is, and as the file a person would be handed.
fn replay(workflow: &Workflow, path: &Scenario) -> Result<(), String> {
    let plays =
        |scenario: &Scenario, how: &str| match perform(workflow, scenario, &mut Coverage::of(workflow)) {
            Ok(verdict) if verdict.complaints.is_empty() => Ok(()),
            Ok(verdict) => Err(format!("its path does not play{how}: {}", verdict.complaints.join("; "))),
            Err(error) => Err(format!("its path does not play{how}: {error}")),
        };
    plays(path, "")?;
    let yaml = path.to_yaml();
    match parse_scenario(workflow, "path.yaml", &yaml) {
        (Some(read), problems) if problems.is_empty() => plays(&read, " once written and read again"),
        (_, problems) => {
            let said: Vec<String> = problems.iter().map(ToString::to_string).collect();
            Err(format!("its path cannot be read again: {}\n{yaml}", said.join("; ")))
        }
    }
}

/// What is wrong with how a case went.
fn judge(case: &Case) -> Vec<String> {
    let mut wrong = Vec::new();
    let (workflow, problems, _) = examine(&read(&case.folder.join("faulty.yaml")));
    let codes: BTreeSet<&str> = problems.iter().map(|it| it.code).collect();
    for code in &case.expect {
        let found: Vec<&Problem> = problems.iter().filter(|it| it.code == code).collect();
        if found.is_empty() {
            wrong.push(format!("missed: expected `{code}`, found {codes:?}"));
        } else if case.path && found.iter().all(|it| it.path.is_none()) {
            wrong.push(format!("`{code}` comes without a path"));
        }
    }
    for problem in &problems {
        if let (Some(workflow), Some(path)) = (&workflow, &problem.path)
            && let Err(complaint) = replay(workflow, path)
        {
            wrong.push(format!("`{}` ({problem}): {complaint}", problem.code));
        }
    }
    let (_, problems, report) = examine(&read(&case.folder.join("repaired.yaml")));
    if report.is_none() {
        wrong.push("the repair does not load".to_owned());
    }
    wrong.extend(problems.iter().map(|it| format!("the repair is not proved: {}: {it}", it.code)));
    wrong
}

#[test]
fn every_fault_is_found_and_every_repair_proved() {
    let cases = cases();
    let classes: BTreeSet<&String> = cases.iter().map(|it| &it.class).collect();
    let mut wrong: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for case in &cases {
        let found = judge(case);
        if !found.is_empty() {
            wrong.insert(&case.name, found);
        }
    }
    println!(
        "{} cases in {} classes, {} as they should be",
        cases.len(),
        classes.len(),
        cases.len() - wrong.len()
    );
    assert_eq!(classes.len(), CLASSES, "{classes:?}");
    assert!(cases.len() >= FEWEST, "only {} cases", cases.len());
    let listed: Vec<String> =
        wrong.iter().map(|(name, it)| format!("{name}\n    {}", it.join("\n    "))).collect();
    assert!(
        wrong.is_empty(),
        "{} of {} cases went wrong:\n\n{}\n",
        wrong.len(),
        cases.len(),
        listed.join("\n")
    );
}

/// A repair is a repair of its fault: the two differ, and by little.
#[test]
fn faults_and_repairs_differ_by_a_few_lines() {
    let mut wrong = Vec::new();
    for case in cases() {
        let faulty = read(&case.folder.join("faulty.yaml"));
        let repaired = read(&case.folder.join("repaired.yaml"));
        let lines = faulty.lines().count();
        let kept: BTreeSet<&str> = repaired.lines().collect();
        let gone = faulty.lines().filter(|it| !kept.contains(it)).count();
        let before: BTreeSet<&str> = faulty.lines().collect();
        let new = repaired.lines().filter(|it| !before.contains(it)).count();
        if faulty == repaired || gone > 8 || new > 4 {
            wrong.push(format!("{}: {gone} lines gone, {new} new", case.name));
        }
        if !(20..=50).contains(&lines) {
            wrong.push(format!("{}: {lines} lines", case.name));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
