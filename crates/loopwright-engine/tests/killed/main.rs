//! Whoever drives is killed (SIGKILL) at every moment that leaves something else outside: before and after every append
//! to the journal, every write of a file, every command of git's that changes anything, and before and after each agent
//! and check did its work. Of moments between which nothing changes one is taken. Whoever comes next brings the run to the same end, with the same files, branches and commits; nothing that
//! came back is done again, and what is done again was lost.
//!
//! This process is the parent; whoever drives is a child of the same program. Each moment is a test; a play is chosen by
//! its name.
#![expect(clippy::expect_used, clippy::panic, clippy::print_stdout, reason = "these are tests")]

#[path = "../runs/bench.rs"]
#[expect(dead_code, reason = "not everything of it is needed here")]
mod bench;
#[path = "../runs/change_files.rs"]
#[expect(dead_code, reason = "not everything of it is needed here")]
mod change_files;
mod driven;
mod left;
mod plays;
#[path = "../runs/team_files.rs"]
#[expect(dead_code, reason = "not everything of it is needed here")]
mod team_files;
#[path = "../runs/vibe_files.rs"]
#[expect(dead_code, reason = "not everything of it is needed here")]
mod vibe_files;
#[path = "../runs/watched.rs"]
#[expect(dead_code, reason = "not everything of it is needed here")]
mod watched;

use std::collections::BTreeMap;
use std::os::unix::process::ExitStatusExt as _;
use std::process::{Command, ExitCode, Output};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use bench::Bench;
use driven::{AT, DURING, LISTS, PLAY, REPOSITORY};
use left::Left;
use plays::{PLAYS, Play};

/// When whoever drives is killed.
#[derive(Clone, Debug)]
enum Kill {
    /// At the moment with this number.
    At(usize),
    /// Before or after this did its work: a state and its visit, or in a loop its item.
    During(String),
}

/// How a run is driven.
#[derive(Clone, Copy)]
enum Drives<'a> {
    /// Undisturbed, and the moments are listed.
    Listing,
    Killed(&'a Kill),
    On,
}

fn main() -> ExitCode {
    if let Ok(play) = std::env::var(PLAY) {
        driven::drive(PLAYS.iter().find(|it| it.name == play).expect("a play"));
        return ExitCode::SUCCESS;
    }
    let asked: Vec<String> = std::env::args().skip(1).filter(|it| !it.starts_with('-')).collect();
    let chosen = |name: &str| asked.is_empty() || asked.iter().any(|it| name.contains(it.as_str()));
    let plays: Vec<&Play> = PLAYS.iter().filter(|it| chosen(it.name)).collect();
    if std::env::args().any(|it| it == "--list") {
        for play in plays {
            println!("{}: test", play.name);
        }
        return ExitCode::SUCCESS;
    }
    let (mut passed, mut failed) = (0, 0);
    for play in plays {
        let (fine, wrong) = everywhere(play);
        passed += fine;
        failed += wrong;
    }
    let word = if failed == 0 { "ok" } else { "FAILED" };
    println!(
        "\ntest result: {word}. {passed} passed; {failed} failed; 0 ignored; 0 measured; 0 filtered out\n"
    );
    if failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Plays once undisturbed, then once for every moment: how many came to the same, and how many did not.
fn everywhere(play: &Play) -> (usize, usize) {
    let undisturbed = play.bench();
    let said = child(play, &undisturbed, Drives::Listing);
    assert!(said.status.success(), "{}: {}", play.name, told(&said));
    let expected = Left::behind(&undisturbed);
    assert!(expected.is_good(), "{}: {}{expected:#?}", play.name, told(&said));
    let moments = driven::moments(&undisturbed);
    let mut kills: Vec<(String, Kill)> =
        moments.into_iter().map(|(number, what)| (what, Kill::At(number))).collect();
    let called = left::called(&undisturbed);
    for when in ["before", "after"] {
        kills.extend(
            called
                .keys()
                .map(|it| (format!("{when} the work of {it}"), Kill::During(format!("{when} {it}")))),
        );
    }
    println!("{}: {} moments", play.name, kills.len());
    let next = AtomicUsize::new(0);
    let outcomes = Mutex::new(vec![None; kills.len()]);
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(2, usize::from) {
            scope.spawn(|| {
                loop {
                    let at = next.fetch_add(1, Ordering::Relaxed);
                    let Some((_, kill)) = kills.get(at) else { break };
                    let outcome = killed(play, kill, (&expected, &called));
                    outcomes.lock().expect("outcomes")[at] = Some(outcome);
                }
            });
        }
    });
    let (mut passed, mut failed) = (0, 0);
    for ((what, _), outcome) in kills.iter().zip(outcomes.into_inner().expect("outcomes")) {
        match outcome {
            Some(Ok(())) => passed += 1,
            wrong => {
                failed += 1;
                println!(
                    "test {} killed {what} ... FAILED\n{}",
                    play.name,
                    wrong.and_then(Result::err).unwrap_or_default()
                );
                continue;
            }
        }
        println!("test {} killed {what} ... ok", play.name);
    }
    (passed, failed)
}

/// Has whoever drives killed, and somebody else go on.
fn killed(
    play: &Play,
    kill: &Kill,
    (expected, called): (&Left, &BTreeMap<String, usize>),
) -> Result<(), String> {
    let bench = play.bench();
    let first = child(play, &bench, Drives::Killed(kill));
    if first.status.signal() != Some(9) {
        return Err(format!("it was not killed: {}", told(&first)));
    }
    let second = child(play, &bench, Drives::On);
    if !second.status.success() {
        return Err(format!("nobody could go on: {}", told(&second)));
    }
    let found = Left::behind(&bench);
    if found != *expected {
        let said = told(&second);
        return Err(format!("{said}it left something else: {found:#?}\ninstead of {expected:#?}"));
    }
    left::done_once(&bench, called)
}

/// Drives the run in a process of its own.
fn child(play: &Play, bench: &Bench, how: Drives<'_>) -> Output {
    let mut command = Command::new(std::env::current_exe().expect("this program"));
    command.env(PLAY, play.name).env(REPOSITORY, bench.path());
    match how {
        Drives::Listing => command.env(LISTS, "1"),
        Drives::Killed(Kill::At(at)) => command.env(AT, at.to_string()),
        Drives::Killed(Kill::During(what)) => command.env(DURING, what),
        Drives::On => &mut command,
    };
    command.output().expect("a process")
}

fn told(said: &Output) -> String {
    let (out, err) = (String::from_utf8_lossy(&said.stdout), String::from_utf8_lossy(&said.stderr));
    format!("{}: {out}{err}", said.status)
}
