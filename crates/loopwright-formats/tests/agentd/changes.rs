//! A change as a whole.

use std::collections::BTreeMap;
use std::time::Instant;

use loopwright_formats::agentd::Severity::{self, High, Low, Medium};
use loopwright_formats::agentd::change::{Files, Overview, validate};
use serde_json::json;

const STATE: &str = "change_id: add-login\nphase: planned\niteration: 2\nlast_action: challenge (codex)\n";
const PROPOSAL: &str = "\
---
id: add-login
affected_specs:
  - id: login
    path: specs/login.md
    depends: []
  - id: logout
    path: specs/logout.md
    depends: [login]
---

<proposal>

# Change: add-login

## Summary
Let people sign in.

## Why
Passwords are lost.

## What Changes
- A page is added.

</proposal>
";
const TASKS: &str = "\
---
id: add-login
change_id: add-login
---

# Tasks

## 1. Data Layer

- [x] 1.1 Store the keys
  - File: `src/keys.rs` (CREATE)
  - Spec: `specs/login.md#r1`
  - Depends: none

## 2. Testing

- [ ] 2.1 Try the door
  - File: `tests/door.rs` (CREATE)
  - Verify: `specs/logout.md#acceptance-criteria`
  - Depends: 1.1
";

fn spec(name: &str, requirement: &str) -> String {
    format!(
        "# {name}\n\n## Overview\nText.\n\n## Requirements\n\n### {requirement} - Hold the door\n\nIt must hold.\n\n## Acceptance Criteria\n\n\
         ### Scenario: it holds\n- **WHEN** somebody pushes\n- **THEN** it holds\n"
    )
}

fn whole() -> Files {
    let texts = [
        ("STATE.yaml", STATE.to_owned()),
        ("proposal.md", PROPOSAL.to_owned()),
        ("tasks.md", TASKS.to_owned()),
        ("specs/login.md", spec("Login", "R1")),
        ("specs/logout.md", spec("Logout", "R2")),
        ("specs/_template.md", "## {{name}}\n".to_owned()),
    ];
    let texts = texts.into_iter().map(|(path, text)| (path.to_owned(), text)).collect();
    Files { change_id: "add-login".to_owned(), texts, ..Files::default() }
}

/// The change with one text replaced.
fn with(path: &str, from: &str, to: &str) -> Files {
    let mut files = whole();
    let text = files.texts.get_mut(path).unwrap();
    assert!(text.contains(from), "{from}");
    *text = text.replacen(from, to, 1);
    files
}

#[test]
fn a_change_without_a_fault_is_valid() {
    for strict in [false, true] {
        let report = validate(&whole(), strict);
        assert_eq!(report.problems, []);
        assert!(report.valid);
    }
}

#[test]
fn every_fault_is_found_once_with_its_place() {
    let cases: Vec<(Files, Severity, &str, Option<usize>, &str)> = vec![
        (with("STATE.yaml", "planned", "changes_requested"), High, "STATE.yaml", Some(2), "no phase"),
        (with("STATE.yaml", "add-login", "other"), Medium, "STATE.yaml", None, "folder"),
        (with("proposal.md", PROPOSAL, ""), High, "proposal.md", None, "empty"),
        (with("proposal.md", "id: logout", "id: other"), Medium, "proposal.md", Some(7), "`other`"),
        (with("proposal.md", "[login]", "[page]"), High, "proposal.md", Some(7), "`page`"),
        (with("proposal.md", "depends: []", "depends: [logout]"), High, "proposal.md", Some(4), "circle"),
        (with("proposal.md", "## Why", "## Who"), Medium, "proposal.md", None, "Why"),
        (with("proposal.md", "id: add-login", "id: other"), Medium, "proposal.md", None, "folder"),
        (
            with("proposal.md", "</proposal>", "</proposal>\n<review iteration=\"1\" status=\"approved\">"),
            Medium,
            "proposal.md",
            Some(26),
            "closed",
        ),
        (with("tasks.md", "change_id: add-login", "change_id: other"), Medium, "tasks.md", Some(3), "folder"),
        (with("tasks.md", "specs/login.md#r1", "specs/login.md#r9"), High, "tasks.md", Some(12), "`r9`"),
        (with("tasks.md", "Depends: 1.1", "Depends: 1.9"), High, "tasks.md", Some(17), "`1.9`"),
        (with("tasks.md", "Depends: none", "Depends: 1.1"), High, "tasks.md", Some(10), "circle"),
        (
            with("tasks.md", "Depends: none", "Depends: 2.1\n  - Depends: none"),
            High,
            "tasks.md",
            Some(10),
            "circle",
        ),
        (with("tasks.md", "2.1 Try", "Try"), High, "tasks.md", Some(17), "no id"),
        (with("specs/login.md", "## Overview", "## Something"), High, "specs/login.md", None, "Overview"),
        (with("specs/login.md", "### Scenario", "### Story"), High, "specs/login.md", Some(14), "scenario"),
        (with("specs/login.md", "**THEN** ", ""), High, "specs/login.md", Some(14), "THEN"),
        (
            with("specs/login.md", "Text.", "See [it](./lost.md)."),
            Medium,
            "specs/login.md",
            Some(4),
            "lost.md",
        ),
    ];
    for (files, severity, file, line, word) in cases {
        let report = validate(&files, false);
        let found = report.problems.iter().filter(|it| {
            it.severity == severity && it.file == file && it.line == line && it.message.contains(word)
        });
        assert_eq!(found.count(), 1, "{severity:?} {file} {line:?} {word}: {:#?}", report.problems);
        assert_eq!(report.valid, report.high == 0);
        assert!(!validate(&files, true).valid);
    }
}

#[test]
fn files_that_are_missing_are_named() {
    for (path, severity) in [("STATE.yaml", Low), ("proposal.md", High), ("tasks.md", High)] {
        let mut files = whole();
        files.texts.remove(path);
        let report = validate(&files, false);
        assert!(
            report.problems.iter().any(|it| it.file == path && it.severity == severity),
            "{:?}",
            report.problems
        );
    }
    let mut files = whole();
    files.texts.insert("specs/spare.md".to_owned(), spec("Spare", "R3"));
    let report = validate(&files, false);
    let low: Vec<&str> = report.problems.iter().map(|it| it.file.as_str()).collect();
    assert_eq!((low, report.low, report.valid), (vec!["specs/spare.md", "specs/spare.md"], 2, true));
}

#[test]
fn a_place_in_a_spec_may_be_named_in_every_way() {
    let known = [
        "login:R1",
        "login:r1",
        "login",
        "login.md",
        "specs/login.md",
        "specs/login.md#r1",
        "specs/login.md#R1",
        "specs/login.md:R1",
        "login#R1",
        "./specs/login.md#r1-hold-the-door",
        "specs/login.md#r1---hold-the-door",
        "specs/login.md#Acceptance Criteria",
        "specs/login.md#acceptance-criteria",
        "specs/login.md#scenario-it-holds",
        "specs/login.md#it-holds",
        "specs/login.md#overview",
        "agentd/changes/add-login/specs/login.md#R1",
        "agentd/specs/main.md#r1",
        "proposal.md#summary",
        "login:R1, R1",
        "R1",
    ];
    let unknown = [
        "login:R2",
        "specs/login.md#r11",
        "specs/lost.md#r1",
        "lost:R1",
        "specs/login.md#no-such-thing",
        "login:R1, R9",
        "R9",
    ];
    for (names, count) in [(&known[..], 0), (&unknown[..], 1)] {
        for name in names {
            let report = validate(&with("tasks.md", "specs/login.md#r1", name), false);
            assert_eq!(report.high, count, "{name}: {:?}", report.problems);
        }
    }
}

#[test]
fn an_overview_says_how_far_a_change_is() {
    let mut files = whole();
    let block = "<review iteration=\"1\" reviewer=\"codex\" status=\"approved\">\nFine.\n</review>\n";
    files.texts.get_mut("proposal.md").unwrap().push_str(block);
    let review = "# Code Review (Iteration 3)\n\n## Issues\n\n### HIGH\n\n1. **A door**\n\n## Verdict\n\nNEEDS_CHANGES\n";
    files.texts.insert("REVIEW.md".to_owned(), review.to_owned());
    let skeleton = "# A\n\n## Verdict\n- [ ] APPROVED\n- [ ] NEEDS_FIX\n";
    files.texts.insert("ARCHIVE_REVIEW.md".to_owned(), skeleton.to_owned());
    let overview = json!(Overview::read(&files));
    assert_eq!(overview["state"]["phase"], "challenged");
    assert_eq!(overview["state"]["phase_written"], "planned");
    assert_eq!(overview["specs"], json!(["login", "logout"]));
    assert_eq!((&overview["tasks"], &overview["done"]), (&json!(2), &json!(1)));
    assert_eq!(overview["layers"][1]["tasks"][0]["depends"], json!(["1.1"]));
    let verdicts: Vec<_> = overview["verdicts"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| {
            json!([
                it["file"],
                it["line"],
                it["iteration"],
                it["reviewer"],
                it["verdict"],
                it["written"],
                it["issues"]
            ])
        })
        .collect();
    let wanted = [
        json!(["proposal.md", 26, 1, "codex", "APPROVED", "approved", null]),
        json!(["REVIEW.md", 11, 3, null, "NEEDS_FIX", "NEEDS_CHANGES", [1, 0, 0]]),
        json!(["ARCHIVE_REVIEW.md", 4, null, null, null, null, [0, 0, 0]]),
    ];
    assert_eq!(verdicts, wanted);
    assert_eq!(overview["verdicts"][2]["why_not"], "no box is ticked");
}

/// Texts that make a careless reader look at all of them again and again.
fn hard(length: usize) -> Vec<String> {
    let pieces = [
        "```x\n<review a=\"1\">\n",
        "```\n~~~\n",
        "<!--\n",
        "<review a=\"1\">\n",
        "</review>\n",
        "<review a=\"1\">\n</review>\n```x\n",
        "- [ ] 1.1 a\n",
        "- [ ] 1.1 a\n  - Depends: 1.1-1.2\n",
        "### 1.1 a\n",
        "## 1. a\n",
        "### R1 - a\n",
        "### Issue: a\n",
        "1. **a\n",
        "[x] APPROVED | ",
        "**Verdict**: ",
        "`",
        "- Affected specs: `a`, ",
        "affected_specs:\n",
        "---\n",
        "| 1.1 |\n",
        "[ ",
        "(",
        "  ",
        "- [ ] x\n",
        "#",
        "**Task 1.9: a**\n",
        "**1. Data Layer**\n",
        "- 1.9 a\n\n\n",
        "### Feature 1.9: a\n",
        "## 3. Logic Layer\n- a\n",
        "> - [ ] 1.9 a\n",
        "a\n----\n",
        "###Task 1.9: a\n",
        "```\n```yaml\n",
        "- a\n  - File: `b.rs`\n",
        "{\"id\": \"1.9\"},\n",
        "## Verdict\nAPPROVED\n",
        "APPROVED\n",
        "> < > ",
        "(**",
    ];
    pieces.iter().map(|it| format!("### HIGH\n## 1. Data\n{}", it.repeat(length / it.len()))).collect()
}

#[test]
fn no_text_is_looked_at_again_and_again() {
    for text in hard(200_000) {
        let names = ["STATE.yaml", "proposal.md", "tasks.md", "specs/a.md", "REVIEW.md"];
        let texts: BTreeMap<String, String> =
            names.iter().map(|it| ((*it).to_owned(), text.clone())).collect();
        let files = Files { change_id: "a".to_owned(), texts, ..Files::default() };
        let begin = Instant::now();
        let _ = (validate(&files, false), Overview::read(&files));
        let taken = begin.elapsed();
        assert!(
            taken.as_secs() < 4,
            "{taken:?} for {:?}…",
            text.chars().skip(20).take(40).collect::<String>()
        );
    }
}
