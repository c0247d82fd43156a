//! A disk that is full, and one that may not be written: on small file systems of their own.
//!
//! Mounting takes a namespace of one's own (`unshare`), which not every machine gives everybody. Where it does not, each of
//! these says so in words and is counted as skipped, not as passed: that is why this is no ordinary list of tests.
#![expect(clippy::expect_used, clippy::panic, clippy::print_stdout, reason = "these are tests")]

#[path = "../runs/bench.rs"]
#[expect(dead_code, reason = "not everything of it is needed here")]
mod bench;
mod cases;

use std::process::{Command, ExitCode};

/// Set in the process that has a namespace of its own, to what it is to do there.
const CASE: &str = "LOOPWRIGHT_TEST_CASE";

const CASES: [(&str, fn()); 5] = [
    ("a_full_disk_loses_nothing_and_the_journal_goes_on_after", cases::full_journal),
    ("one_that_is_too_large_for_the_disk_does_not_take_others_along", cases::too_large),
    ("a_run_goes_on_after_room_was_made", cases::full_run),
    ("a_journal_cannot_be_begun_on_a_full_disk", cases::full_beginning),
    ("a_journal_that_may_not_be_written_says_so", cases::read_only),
];

fn main() -> ExitCode {
    if let Ok(case) = std::env::var(CASE) {
        CASES.iter().find(|(name, _)| *name == case).expect("a case").1();
        return ExitCode::SUCCESS;
    }
    // As other tests are chosen: by a part of their names.
    let asked: Vec<String> = std::env::args().skip(1).filter(|it| !it.starts_with('-')).collect();
    let chosen = |name: &str| asked.is_empty() || asked.iter().any(|it| name.contains(it.as_str()));
    let cases: Vec<&str> = CASES.iter().map(|(name, _)| *name).filter(|it| chosen(it)).collect();
    if std::env::args().any(|it| it == "--list") {
        for case in cases {
            println!("{case}: test");
        }
        return ExitCode::SUCCESS;
    }
    let why_not = why_not();
    let (mut passed, mut failed, mut skipped) = (0, 0, 0);
    for case in cases {
        let outcome = match &why_not {
            Some(why) => {
                skipped += 1;
                format!("ignored, nothing can be mounted here: {why}")
            }
            None if passes(case) => {
                passed += 1;
                "ok".to_owned()
            }
            None => {
                failed += 1;
                "FAILED".to_owned()
            }
        };
        println!("test {case} ... {outcome}");
    }
    let word = if failed == 0 { "ok" } else { "FAILED" };
    println!(
        "\ntest result: {word}. {passed} passed; {failed} failed; {skipped} ignored; 0 measured; 0 filtered out\n"
    );
    if failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Why nothing can be mounted here.
fn why_not() -> Option<String> {
    let tried = Command::new("unshare").args(["-m", "mount", "-t", "tmpfs", "tmpfs", "/mnt"]).output();
    match tried {
        Ok(it) if it.status.success() => None,
        Ok(it) => Some(String::from_utf8_lossy(&it.stderr).trim().to_owned()),
        Err(error) => Some(format!("unshare: {error}")),
    }
}

fn passes(case: &str) -> bool {
    let program = std::env::current_exe().expect("this program");
    let said = Command::new("unshare").arg("-m").arg(program).env(CASE, case).output().expect("a process");
    if !said.status.success() {
        println!("{}{}", String::from_utf8_lossy(&said.stdout), String::from_utf8_lossy(&said.stderr));
    }
    said.status.success()
}
