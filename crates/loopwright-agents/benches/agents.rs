//! What a call of an agent costs beyond the agent's own time, and what a stream without end does to memory.
//!
//! The agent is a program that plays Claude Code: it says what was recorded, or says more than anybody can keep.
#![expect(clippy::expect_used, clippy::print_stdout, reason = "it is a benchmark")]
#![expect(clippy::cast_precision_loss, reason = "these are figures for people")]

use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::{Command, ExitCode};
use std::sync::Arc;
use std::time::{Duration, Instant};

use loopwright_core::language::Folder;
use loopwright_engine::journal::Sqlite;
use loopwright_engine::process::{Cancel, Supervisor};
use loopwright_engine::{AgentConfig, Begin, Config, Driver, Engine, Home, Nobody, Project, Unwatched};

const WORKFLOW: &str = "workflow: one
subject: thing
documents: {code: {files: [\"src/**\"]}}
roles: {coder: {agent: claude, prompt: \"Write.\", may-write: [code]}}
states:
  write: {agent: coder, then: done, on: {failures: failed}}
  done: {end: success}
  failed: {end: failure}
";

/// What it says at its end: an answer that can be taken.
const LAST: &str = r#"{"type":"result","subtype":"success","is_error":false,"result":"```json\n{\"verdict\": \"done\", \"summary\": \"x\"}\n```","session_id":"1","usage":{"input_tokens":1,"output_tokens":1},"total_cost_usd":0.001,"terminal_reason":"completed","stop_reason":"end_turn"}"#;

/// How much is said by one that does not stop.
const MUCH: u64 = 1 << 30;

fn main() -> ExitCode {
    let mut words = std::env::args().skip(1);
    match words.next().as_deref() {
        Some("supervise") => return loopwright_engine::process::supervise(),
        Some("speak") => return speaks(words.next().and_then(|it| it.parse().ok()).unwrap_or(0)),
        _ => {}
    }
    let folder = tempfile::tempdir().expect("a folder");
    overhead(folder.path());
    memory(folder.path());
    ExitCode::SUCCESS
}

/// Plays an agent that says so much before it ends.
fn speaks(much: u64) -> ExitCode {
    let mut out = std::io::BufWriter::with_capacity(1 << 16, std::io::stdout().lock());
    let text = "x".repeat(4_000);
    let line = format!(
        "{{\"type\":\"assistant\",\"message\":{{\"content\":[{{\"type\":\"text\",\"text\":\"{text}\"}}]}},\"session_id\":\"1\"}}\n"
    );
    let mut left = much;
    while left > 0 {
        if out.write_all(line.as_bytes()).is_err() {
            return ExitCode::FAILURE;
        }
        left = left.saturating_sub(line.len() as u64);
    }
    let ended = writeln!(out, "{LAST}").and_then(|()| out.flush());
    if ended.is_ok() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// A project whose agent says so much, and how long a run with one call takes.
fn run(folder: &Path, name: &str, much: u64) -> Duration {
    let root = folder.join(name);
    for part in 0..20 {
        let place = root.join(format!("part-{part}"));
        std::fs::create_dir_all(&place).expect("a folder");
        for file in 0..50 {
            std::fs::write(place.join(format!("{file}.txt")), format!("{part} {file}\n")).expect("a file");
        }
    }
    for arguments in [
        &["init", "--quiet"][..],
        &["config", "user.name", "bench"],
        &["config", "user.email", "bench@example.invalid"],
        &["add", "--all"],
        &["commit", "--quiet", "--message", "all"],
    ] {
        assert!(Command::new("git").args(arguments).current_dir(&root).status().expect("git").success());
    }
    let program = program(folder, much);
    let claude = AgentConfig { program: Some(program), ..AgentConfig::default() };
    let config =
        Config { agents: [("claude".to_owned(), claude)].into_iter().collect(), ..Config::default() };
    let home = Home::around(&root).expect("a home");
    let journal = Arc::new(Sqlite::open(&home.journal).expect("a journal"));
    let this = std::env::current_exe().expect("this program");
    let engine = Engine::new(
        journal,
        home,
        Project::default(),
        loopwright_agents::crew(&config),
        Supervisor { program: this, arguments: vec!["supervise".into()] },
        Arc::new(Nobody),
        Arc::new(Unwatched),
        Arc::new(now),
        "bench".into(),
    );
    let files = [("workflow.yaml".to_owned(), WORKFLOW.as_bytes().to_vec())].into_iter().collect();
    let begin = Begin { subject: "a thing".into(), ..Begin::default() };
    let driver: Driver<'_> =
        engine.begin(&Folder { name: "one".into(), files }, &begin, &Cancel::default()).expect("it begins");
    let run = driver.name().to_owned();
    let standing = driver.drive().expect("it runs");
    assert_eq!(&*standing.run().at.state, "done", "{:?}", engine.journal.events(&run, 0));
    let events = engine.journal.events(&run, 0).expect("events");
    let at: Vec<u64> = events.iter().map(|it| it.at).collect();
    Duration::from_millis(at.last().zip(at.get(1)).map_or(0, |(last, first)| last - first))
}

/// A program that plays the agent.
fn program(folder: &Path, much: u64) -> String {
    let path = folder.join(format!("claude-{much}"));
    let this = std::env::current_exe().expect("this program");
    std::fs::write(&path, format!("#!/bin/sh\nexec {} speak {much}\n", this.display())).expect("a file");
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).expect("a program");
    path.to_string_lossy().into_owned()
}

fn now() -> u64 {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}

/// What a call costs beyond the agent's own time, in a repository of a thousand files.
fn overhead(folder: &Path) {
    let own = (0..5).map(|_| alone(folder, 0)).min().expect("a time");
    let with = (0..5).map(|at| run(folder, &format!("overhead-{at}"), 0)).min().expect("a time");
    println!(
        "one call, 1000 files:       {:.0} ms; the agent alone {:.0} ms; beyond that {:.0} ms",
        ms(with),
        ms(own),
        ms(with.saturating_sub(own))
    );
}

fn alone(folder: &Path, much: u64) -> Duration {
    let program = program(folder, much);
    let begun = Instant::now();
    let said = Command::new(program).stdout(std::process::Stdio::null()).status().expect("the agent");
    assert!(said.success());
    begun.elapsed()
}

/// What a stream of a gigabyte does to memory.
fn memory(folder: &Path) {
    let before = peak();
    let took = run(folder, "memory", MUCH);
    println!(
        "a stream of 1 GiB:          {:.1} s; memory at most {:.0} MB, {:.0} MB before",
        took.as_secs_f64(),
        peak() as f64 / 1e6,
        before as f64 / 1e6
    );
}

/// The most memory this process ever had.
fn peak() -> u64 {
    let text = std::fs::read_to_string("/proc/self/status").expect("what the kernel says");
    let line = text.lines().find_map(|it| it.strip_prefix("VmHWM:")).expect("a line");
    1_024 * line.trim().trim_end_matches(" kB").parse::<u64>().expect("a number")
}

fn ms(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1_000.0
}
