//! The checks of this repository, in one place: `cargo xtask ci` is what CI runs.

mod agents;

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Command, ExitCode, Stdio};

const HELP: &str = "cargo xtask COMMAND

  ci        every check, as CI runs it
  fmt       check formatting
  lint      clippy, warnings denied
  test      all tests and doc tests, with a count at the end
  doc       rustdoc, warnings denied
  schema    write schemas/workflow.schema.json anew
  e2e       the tests with real agents, with all of them
  agents    install the agents that tests run for real, below target/agents:
            claude, codex and gemini, or those named, or `--all`
";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (command, rest) = match arguments.split_first() {
        Some((command, rest)) => (command.as_str(), rest),
        None => ("", arguments.as_slice()),
    };
    let passed = match command {
        "ci" => fmt() && lint() && installed(&[]) && test() && doc(),
        "fmt" => fmt(),
        "lint" => lint(),
        "test" => test(),
        "doc" => doc(),
        "schema" => schema(),
        "e2e" => installed(&["--all".to_owned()]) && e2e(),
        "agents" => match agents::run(rest) {
            Ok(passed) => passed,
            Err(problem) => {
                say(&format!("error: {problem}"));
                return ExitCode::from(2);
            }
        },
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

/// Installs what tests with real agents need. What cannot be installed is said here, and the tests that need it are said
/// and counted as skipped.
fn installed(names: &[String]) -> bool {
    say("== agents");
    with_programs();
    match agents::run(names) {
        Ok(true) => {}
        Ok(false) => say("what failed to install is skipped below"),
        Err(problem) => say(&format!("error: {problem}")),
    }
    true
}

/// What tests run that a machine may not have: the program that brings up a network with nobody in it, and the languages
/// of projects beside Rust. The program, and the package it is in.
const PROGRAMS: &[(&str, &str)] = &[("ip", "iproute2"), ("python3", "python3"), ("node", "nodejs")];

/// Installs the programs that tests run, where that is possible.
fn with_programs() {
    let there = |program: &str| {
        let paths = std::env::var_os("PATH").unwrap_or_default();
        std::env::split_paths(&paths).any(|it| it.join(program).exists())
    };
    let missing = PROGRAMS.iter().filter(|(program, _)| !there(program)).map(|(_, package)| *package);
    let missing: Vec<&str> = missing.collect();
    if !missing.is_empty() && there("apt-get") {
        let mut install = Command::new("apt-get");
        install.args(["install", "--yes", "--quiet", "--no-install-recommends"]).args(missing);
        // Only root can; whoever cannot is told by the tests what is missing.
        let _ = install.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status();
    }
}

/// Runs the tests with real agents, with all that can be installed.
fn e2e() -> bool {
    let mut command = cargo(&["test", "--package", "loopwright", "--test", "agents"]);
    command.env("LOOPWRIGHT_TEST_AGENTS", "all");
    step("real agents", command)
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
