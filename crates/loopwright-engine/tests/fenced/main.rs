//! A fence around a command holds, whatever the command does.
//!
//! It needs a system that has Landlock. Where there is none, each of these says so and is counted as skipped, not as
//! passed: that is why this is no ordinary list of tests.
#![expect(clippy::expect_used, clippy::print_stdout, reason = "these are tests")]

use std::fs;
use std::panic::catch_unwind;
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use loopwright_engine::process::{Cancel, Command, Ended, Fence, Ran, Supervisor};

/// A case: its name, and what is done in a folder.
type Case = (&'static str, fn(&Path));

const CASES: [Case; 6] = [
    ("it_writes_where_it_may_and_nowhere_else", writes),
    ("what_is_hidden_is_not_read", hides),
    ("what_it_starts_is_behind_the_same_fence", starts),
    ("it_cannot_end_what_is_outside", signals),
    ("devices_and_pipes_work_as_ever", devices),
    ("files_are_moved_within_the_fence", moves),
];

fn main() -> ExitCode {
    let asked: Vec<String> = std::env::args().skip(1).filter(|it| !it.starts_with('-')).collect();
    let chosen = |name: &str| asked.is_empty() || asked.iter().any(|it| name.contains(it.as_str()));
    let cases = CASES.iter().filter(|(name, _)| chosen(name));
    if std::env::args().any(|it| it == "--list") {
        for (name, _) in cases {
            println!("{name}: test");
        }
        return ExitCode::SUCCESS;
    }
    let holds = Fence::holds();
    let (mut passed, mut failed, mut skipped) = (0, 0, 0);
    for (name, case) in cases {
        let outcome = if !holds {
            skipped += 1;
            "ignored, this system has no Landlock"
        } else if catch_unwind(|| case(tempfile::tempdir().expect("a folder").path())).is_ok() {
            passed += 1;
            "ok"
        } else {
            failed += 1;
            "FAILED"
        };
        println!("test {name} ... {outcome}");
    }
    let word = if failed == 0 { "ok" } else { "FAILED" };
    println!(
        "\ntest result: {word}. {passed} passed; {failed} failed; {skipped} ignored; 0 measured; 0 filtered out\n"
    );
    if failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Runs a shell command in a folder with `open`, which it may write, and `closed`, which it may not.
fn fenced(folder: &Path, text: &str) -> Ran {
    for name in ["open", "closed", "hidden"] {
        fs::create_dir_all(folder.join(name)).expect("a folder");
        fs::write(folder.join(name).join("file"), name).expect("a file");
    }
    let fence = Fence { write: vec![folder.join("open")], hide: vec![folder.join("hidden")] };
    let command =
        Command { fence: Some(fence), ..Command::shell(text, folder.to_owned(), Duration::from_mins(2)) };
    let supervisor =
        Supervisor { program: env!("CARGO_BIN_EXE_loopwright-supervise").into(), arguments: Vec::new() };
    command.run(&supervisor, &Cancel::default(), &mut |_| {}).expect("a supervisor")
}

fn read(folder: &Path, path: &str) -> String {
    fs::read_to_string(folder.join(path)).unwrap_or_default()
}

fn writes(folder: &Path) {
    let ran = fenced(
        folder,
        "echo a > open/new; echo b >> open/file; echo c > closed/new; echo d >> closed/file; rm closed/file; mkdir closed/folder; truncate -s 0 closed/file; true",
    );
    assert_eq!(ran.ended, Ended::Exit(0));
    assert_eq!(read(folder, "open/new"), "a\n");
    assert_eq!(read(folder, "open/file"), "openb\n");
    assert_eq!(read(folder, "closed/file"), "closed");
    assert!(!folder.join("closed/new").exists() && !folder.join("closed/folder").exists());
    assert!(ran.errors.text().contains("denied"), "{}", ran.errors.text());
}

fn hides(folder: &Path) {
    let ran = fenced(
        folder,
        "ls hidden; cat hidden/file; cat closed/file; ln -s ../hidden/file open/way; cat open/way",
    );
    assert_eq!(ran.output.text(), "file\nclosed", "{}", ran.errors.text());
}

fn starts(folder: &Path) {
    let ran = fenced(folder, "setsid sh -c 'sh -c \"echo x > closed/new; cat hidden/file\"'; wait");
    assert!(!folder.join("closed/new").exists());
    assert_eq!(ran.output.text(), "");
}

fn signals(folder: &Path) {
    let mut outside = std::process::Command::new("sleep").arg("1000").spawn().expect("a process");
    fenced(folder, &format!("kill -9 {}", outside.id()));
    let ended = outside.try_wait().expect("a process");
    outside.kill().expect("it is there");
    outside.wait().expect("it is there");
    assert!(ended.is_none(), "it ended a process that is none of its own");
}

fn devices(folder: &Path) {
    let ran = fenced(folder, "echo x > /dev/null && head -c 4 /dev/zero | wc -c && echo y | cat");
    assert_eq!(ran.ended, Ended::Exit(0), "{}", ran.errors.text());
    assert_eq!(ran.output.text(), "4\ny\n");
}

fn moves(folder: &Path) {
    let ran =
        fenced(folder, "mkdir open/deep && mv open/file open/deep/file && mv open/deep/file closed/taken");
    assert_ne!(ran.ended, Ended::Exit(0));
    assert_eq!(read(folder, "open/deep/file"), "open");
    assert!(!folder.join("closed/taken").exists());
}
