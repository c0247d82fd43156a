//! Files nobody would write on purpose, and some that somebody would: `load` and `check` never panic, never run away,
//! and always say something.
//!
//! Nothing here looks at a clock. What is large is as large as the reader lets through, so a test that does not come
//! back is a finding too.
#![expect(clippy::disallowed_methods, reason = "a test reads its corpus")]
#![expect(clippy::expect_used, reason = "a test")]

mod bytes;
mod circles;
mod edits;
#[path = "../shared/folders.rs"]
mod folders;
mod inside;
mod retries;
mod sizes;
mod yaml;

use std::collections::BTreeSet;

use loopwright_core::check::{Report, check_within};
use loopwright_core::language::{Folder, WORKFLOW_FILE, load};
use loopwright_core::problem::{Problem, Stage};
use loopwright_core::proof::Limits;

/// Enough to prove the examples; little enough that no edit of a large workflow takes long.
fn limits() -> Limits {
    Limits {
        small_keys: 1 << 14,
        dense_keys: 1 << 16,
        dense_configurations: 20_000,
        hashed_configurations: 20_000,
        quest: 5_000,
        opened: 2_000,
        beam: 4,
        kept: 5_000,
        values: 200_000,
        relaxations: 200_000,
    }
}

/// What was said of a file.
struct Said {
    problems: Vec<Problem>,
    report: Option<Report>,
}

impl Said {
    fn codes(&self) -> BTreeSet<&'static str> {
        self.problems.iter().map(|it| it.code).collect()
    }

    fn is_proved(&self) -> bool {
        self.problems.is_empty() && self.report.is_some()
    }
}

/// Loads a folder and, if it loads, checks it, as the command does. Either it is refused with a reason, or there is a
/// report; and every problem lies inside a file.
fn examine_folder(folder: &Folder) -> Said {
    let loaded = load(folder);
    let broken = loaded.problems.iter().any(|it| it.stage == Stage::Load);
    let report = loaded.workflow.as_ref().filter(|_| !broken).map(|it| check_within(it, &limits()));
    let mut problems = loaded.problems;
    problems.extend(report.iter().flat_map(|it| it.problems.iter().cloned()));
    assert!(!problems.is_empty() || report.is_some(), "neither a problem nor a report");
    for problem in &problems {
        assert!(!problem.message.is_empty(), "`{}` says nothing", problem.code);
        let place = &problem.place;
        assert!(place.bytes.start <= place.bytes.end, "{problem}: {place:?}");
        // A file that has not been read has no place but its beginning.
        let length = folder.files.get(&place.file).map_or(0, Vec::len);
        assert!(place.bytes.end <= length, "{problem}: {place:?} lies outside a file of {length} bytes");
    }
    Said { problems, report }
}

fn examine_bytes(bytes: &[u8]) -> Said {
    examine_folder(&Folder {
        name: String::new(),
        files: [(WORKFLOW_FILE.to_owned(), bytes.to_vec())].into(),
    })
}

fn examine(text: &str) -> Said {
    examine_bytes(text.as_bytes())
}

/// It is refused, with this code among the reasons.
#[track_caller]
fn refused(text: &str, code: &str) -> Said {
    let said = examine(text);
    assert!(said.codes().contains(code), "expected `{code}`, found {:?}", said.codes());
    said
}

const GOOD: &str = r#"workflow: good
subject: thing
budgets: {fixes: 2}
documents:
  code: {files: ["**"]}
roles:
  coder: {agent: claude, prompt: "Do it.", may-write: [code]}
defaults: {failures: failed}
states:
  work: {agent: coder, then: tests}
  tests: {check: project.test, judges: code, on: {pass: done, fail: {to: work, spend: fixes, else: failed}}}
  done: {needs: [tests], end: success}
  failed: {end: failure}
"#;

/// A file around a piece that is to be tried.
fn around(top: &str, states: &str) -> String {
    format!("workflow: w\nsubject: s\n{top}\nstates:\n{states}\n")
}

const END: &str = "  d: {end: success}\n  e: {end: failure}\n";

#[test]
fn the_good_file_is_proved() {
    let said = examine(GOOD);
    assert!(said.is_proved(), "{:?}", said.problems);
}
