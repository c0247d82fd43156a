//! The named checks: whether the tests that a change brings fail as they should before there is anything to pass them.

use std::fmt::Write as _;

use crate::brought::{Brought, Language, Test, brought};
use crate::runner::{Said, Unloaded};
use crate::{Change, quoted};

/// All checks, each with one sentence.
pub const CHECKS: &[(&str, &str)] = &[
    (
        "new-tests-fail",
        "Every test that was added or changed since the last commit is run and fails, and not because it cannot be read.",
    ),
    (
        "every-test-hits-todo",
        "Every test that was added or changed since the last commit is run and ends, in Rust, in a `todo!()` of a stub.",
    ),
];

/// What `todo!()` says when it is reached.
const STUB: &str = "not yet implemented";

/// What a file complains of that needs something which is still to be written.
const MISSING: &[&str] = &[
    "ModuleNotFoundError",
    "No module named",
    "ImportError: cannot import name",
    "has no attribute",
    "Cannot find module",
    "ERR_MODULE_NOT_FOUND",
    "does not provide an export named",
    "Failed to resolve import",
    "undefined: ",
];

/// So many tests are named in a summary; the rest is counted.
const MOST_NAMED: usize = 8;

/// What a check came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verdict {
    /// Whether it holds.
    pub passed: bool,
    /// What was found, in words for an agent and for people.
    pub summary: String,
}

/// There is no check of this name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownCheck(pub String);

impl std::fmt::Display for UnknownCheck {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "there is no check `{}`", self.0)
    }
}

impl std::error::Error for UnknownCheck {}

/// What is wrong with one test.
struct Fault<'t> {
    test: &'t Test,
    why: String,
}

/// Judges a run of the tests of a project: `changes` since the last commit, what the commands said, and whether they
/// ended well.
pub fn judge(
    check: &str,
    changes: &[Change<'_>],
    (log, ended_well): (&str, bool),
) -> Result<Verdict, UnknownCheck> {
    let Some(&(check, _)) = CHECKS.iter().find(|(name, _)| *name == check) else {
        return Err(UnknownCheck(check.to_owned()));
    };
    let needs_stub = check == "every-test-hits-todo";
    let brought = brought(changes);
    if let Some((path, why)) = brought.unread.first() {
        return Ok(no(format!("the tests of {} cannot be told apart: {why}", quoted(path))));
    }
    if brought.tests.is_empty() {
        return Ok(as_a_whole(&brought, ended_well, needs_stub));
    }
    let mut said: Vec<(Language, Said)> = Vec::new();
    let mut faults: Vec<Fault<'_>> = Vec::new();
    for test in &brought.tests {
        let known = said.iter().position(|(it, _)| *it == test.language);
        let known = known.unwrap_or_else(|| {
            said.push((test.language, Said::read(test.language, log)));
            said.len() - 1
        });
        let Some((_, said)) = said.get(known) else { continue };
        let is_alone = brought.tests.iter().filter(|it| it.name == test.name).count() == 1;
        if let Some(why) = fault(test, said, is_alone, needs_stub) {
            faults.push(Fault { test, why });
        }
    }
    let all = brought.tests.len();
    if faults.is_empty() {
        let how = if needs_stub { "ends in a stub" } else { "fails" };
        let summary = match all {
            1 => format!("the new test {how}, as it should: {}", names(&brought)),
            _ => format!("each of the {all} new tests {how}, as it should: {}", names(&brought)),
        };
        return Ok(Verdict { passed: true, summary });
    }
    Ok(no(told(&faults, all)))
}

fn no(summary: String) -> Verdict {
    Verdict { passed: false, summary }
}

/// Where no test is told from another, all that can be said is whether the commands failed.
fn as_a_whole(brought: &Brought, ended_well: bool, needs_stub: bool) -> Verdict {
    match brought.untold.first() {
        Some(path) if !ended_well && !needs_stub => {
            let summary = format!(
                "the tests fail, as they should; which of them do is not known, since those of {} are not told apart",
                quoted(path)
            );
            Verdict { passed: true, summary }
        }
        Some(path) if needs_stub => no(format!("{} has no tests in Rust", quoted(path))),
        Some(_) => no("all tests pass already, so the new ones prove nothing".to_owned()),
        None => no("no test was added or changed since the last commit".to_owned()),
    }
}

fn fault(test: &Test, said: &Said, is_alone: bool, needs_stub: bool) -> Option<String> {
    let is_rust = test.language == Language::Rust;
    if let Some(failed) = said.failure_of(test, is_alone) {
        if !(needs_stub && is_rust) || failed.text.contains(STUB) {
            return None;
        }
        let first =
            failed.text.lines().map(str::trim).find(|it| !it.is_empty() && !it.starts_with("thread "));
        let first = first.map(|it| format!(": {}", shortened(it))).unwrap_or_default();
        return Some(format!("fails, but not in a `todo!()`{first}"));
    }
    if let Some(Unloaded { text, .. }) = said.unloaded(&test.path) {
        if !is_rust && MISSING.iter().any(|it| text.contains(it)) {
            return None;
        }
        let what = if is_rust { "does not compile" } else { "cannot be loaded" };
        return Some(format!(
            "{what}, which says nothing about what it tests: {}",
            shortened(&complaint(text))
        ));
    }
    Some(if said.has_passed(test) {
        let hint = if needs_stub { ", so it does not reach a stub" } else { "" };
        format!("passes already{hint}")
    } else if test.is_off {
        "is switched off".to_owned()
    } else {
        "was not seen to fail: it passes, or it is not run".to_owned()
    })
}

/// The line of a text that says what is wrong, without the marks that some runners put before it.
fn complaint(text: &str) -> String {
    let lines: Vec<&str> =
        text.lines().map(|it| it.trim_start_matches("E  ").trim_start_matches(['#', ' ']).trim()).collect();
    let found = lines.iter().find(|it| it.contains("Error") || it.starts_with("error"));
    found.or_else(|| lines.iter().find(|it| !it.is_empty())).unwrap_or(&"nobody says why").to_string()
}

fn shortened(text: &str) -> String {
    const MOST: usize = 160;
    let line: String = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let cut: String = line.chars().take(MOST).collect();
    if cut.len() < line.len() { format!("{cut}…") } else { cut }
}

fn names(brought: &Brought) -> String {
    let named: Vec<String> = brought.tests.iter().take(MOST_NAMED).map(|it| quoted(&it.name)).collect();
    let more = brought.tests.len().saturating_sub(named.len());
    let rest = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!("{}{rest}", named.join(", "))
}

fn told(faults: &[Fault<'_>], all: usize) -> String {
    let mut text = match (faults.len(), all) {
        (1, 1) => "the new test is not as it should be".to_owned(),
        (bad, all) if bad == all => format!("none of the {all} new tests is as it should be"),
        (1, all) => format!("1 of {all} new tests is not as it should be"),
        (bad, all) => format!("{bad} of {all} new tests are not as they should be"),
    };
    // What is wrong with many at once is said once.
    let same = faults.iter().all(|it| Some(&it.why) == faults.first().map(|it| &it.why));
    if same && faults.len() > 1 {
        let named: Vec<String> = faults.iter().take(MOST_NAMED).map(|it| place(it.test)).collect();
        let why = faults.first().map_or("", |it| it.why.as_str());
        let _ = write!(text, ": each {why} ({}", named.join(", "));
        let _ = match faults.len() - named.len() {
            0 => write!(text, ")"),
            more => write!(text, " and {more} more)"),
        };
        return text;
    }
    for (index, fault) in faults.iter().take(MOST_NAMED).enumerate() {
        let sign = if index == 0 { ':' } else { ';' };
        let _ = write!(text, "{sign} {} {}", place(fault.test), fault.why);
    }
    let more = faults.len().saturating_sub(MOST_NAMED);
    if more > 0 {
        let _ = write!(text, "; and {more} more");
    }
    text
}

fn place(test: &Test) -> String {
    format!("{} ({}:{})", quoted(&test.name), test.path, test.line)
}

/// Makes of the command that runs a project's tests one that goes on after the first failure, where it is known how.
pub fn thorough(command: &str) -> String {
    let command = command.trim();
    let begins = ["cargo test", "cargo t", "cargo nextest run"].into_iter().find(|it| {
        let at = command.find(it).filter(|at| command[..*at].is_empty() || command[..*at].ends_with(' '));
        at.is_some_and(|at| !command[at + it.len()..].starts_with(|it: char| !it.is_whitespace()))
    });
    match begins {
        Some(it) if !command.contains("--no-fail-fast") => {
            command.replacen(it, &format!("{it} --no-fail-fast"), 1)
        }
        _ => command.to_owned(),
    }
}

/// What makes runners say all that is needed, for those that are begun deep inside of other commands.
pub const ENVIRONMENT: &[(&str, &str)] = &[
    ("PYTEST_ADDOPTS", "-rfE --maxfail=0 --continue-on-collection-errors"),
    ("CARGO_TERM_COLOR", "never"),
    ("NO_COLOR", "1"),
    ("RUST_BACKTRACE", "0"),
];
