//! The checks of this repository, in one place: `cargo xtask ci` is what CI runs.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Command, ExitCode, Stdio};

const HELP: &str = "cargo xtask COMMAND

  ci        every check, as CI runs it
  fmt       check formatting
  lint      clippy, warnings denied
  test      all tests and doc tests, with a count at the end
  doc       rustdoc, warnings denied
  schema    write schemas/workflow.schema.json anew
";

fn main() -> ExitCode {
    let command = std::env::args().nth(1).unwrap_or_default();
    let passed = match command.as_str() {
        "ci" => fmt() && lint() && test() && doc(),
        "fmt" => fmt(),
        "lint" => lint(),
        "test" => test(),
        "doc" => doc(),
        "schema" => schema(),
        _ => {
            say(HELP);
            return ExitCode::from(2);
        }
    };
    if passed { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn say(text: &str) {
    let mut out = std::io::stdout().lock();
    let _ = writeln!(out, "{text}");
}

fn cargo(arguments: &[&str]) -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.args(arguments);
    command
}

fn step(name: &str, mut command: Command) -> bool {
    say(&format!("== {name}"));
    let passed = command.status().is_ok_and(|it| it.success());
    if !passed {
        say(&format!("== {name} FAILED"));
    }
    passed
}

fn fmt() -> bool {
    step("format", cargo(&["fmt", "--all", "--check"]))
}

fn lint() -> bool {
    step("clippy", cargo(&["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"]))
}

fn doc() -> bool {
    let mut command = cargo(&["doc", "--workspace", "--no-deps"]);
    command.env("RUSTDOCFLAGS", "-D warnings");
    step("rustdoc", command)
}

fn schema() -> bool {
    let mut command = cargo(&["test", "--package", "loopwright-core", "--test", "schema"]);
    command.env("UPDATE_SCHEMA", "1");
    step("schema", command)
}

/// Runs all tests and adds their counts up, so that nobody has to.
fn test() -> bool {
    say("== tests");
    let mut command = cargo(&["test", "--workspace", "--no-fail-fast"]);
    let Ok(mut child) = command.stdout(Stdio::piped()).spawn() else {
        say("== tests FAILED: cargo did not start");
        return false;
    };
    let (mut passed, mut failed, mut ignored) = (0, 0, 0);
    if let Some(output) = child.stdout.take() {
        for line in BufReader::new(output).lines().map_while(Result::ok) {
            if let Some(counts) = line.strip_prefix("test result: ") {
                passed += count(counts, "passed");
                failed += count(counts, "failed");
                ignored += count(counts, "ignored");
            }
            say(&line);
        }
    }
    let succeeded = child.wait().is_ok_and(|it| it.success());
    say("== all tests");
    say(&format!("{passed} passed, {failed} failed, {ignored} skipped"));
    succeeded && passed > 0
}

/// The number before a word: `12 passed; 0 failed`.
fn count(text: &str, word: &str) -> u64 {
    let mut before = "";
    for piece in text.split([' ', ';']).filter(|it| !it.is_empty()) {
        if piece == word {
            return before.parse().unwrap_or(0);
        }
        before = piece;
    }
    0
}
