//! Commands within bounds: what they say is kept, and nothing of them is left.
#![expect(clippy::expect_used, clippy::panic, reason = "these are tests")]

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use loopwright_engine::process::{Cancel, Command, Ended, Ran, Supervisor};

fn supervisor() -> Supervisor {
    Supervisor { program: env!("CARGO_BIN_EXE_loopwright-supervise").into(), arguments: Vec::new() }
}

const LONG: Duration = Duration::from_mins(2);

fn shell(text: &str, folder: &Path) -> Command {
    Command::shell(text, folder.to_owned(), LONG)
}

fn run(command: &Command) -> Ran {
    command.run(&supervisor(), &Cancel::default(), &mut |_| {}).expect("a supervisor")
}

fn folder() -> tempfile::TempDir {
    tempfile::tempdir().expect("a folder")
}

/// Whether a process is there, and not only its remains.
fn runs(pid: &str) -> bool {
    let stat = fs::read_to_string(format!("/proc/{}/stat", pid.trim())).unwrap_or_default();
    stat.rsplit_once(')').is_some_and(|(_, rest)| !rest.trim_start().starts_with('Z'))
}

/// Waits for a file that a command writes, whole lines only.
fn written(path: &Path) -> String {
    let begun = Instant::now();
    loop {
        match fs::read_to_string(path) {
            Ok(text) if text.ends_with('\n') => return text,
            _ if begun.elapsed() > LONG => panic!("{} was not written", path.display()),
            _ => std::thread::yield_now(),
        }
    }
}

#[test]
fn what_it_says_and_how_it_ends_is_kept() {
    let here = folder();
    let ran = run(&Command {
        input: b"hello".to_vec(),
        environment: vec![("WORD".into(), "there".into())],
        ..shell("cat; echo \" $WORD\"; echo wrong >&2; pwd >&2; exit 3", here.path())
    });
    assert_eq!(ran.ended, Ended::Exit(3));
    assert_eq!(ran.output.text(), "hello there\n");
    let place = here.path().canonicalize().expect("a place");
    assert_eq!(ran.errors.text(), format!("wrong\n{}\n", place.display()));
}

#[test]
fn a_program_that_is_not_there_says_so() {
    let here = folder();
    let ran = run(&Command { program: "no-such-program".into(), ..shell("", here.path()) });
    assert_eq!(ran.ended, Ended::Exit(127));
    assert!(ran.errors.text().contains("`no-such-program` cannot be started"), "{}", ran.errors.text());
}

#[test]
fn one_that_a_signal_ends_is_told_from_one_that_ends() {
    let here = folder();
    assert_eq!(run(&shell("kill -9 $$", here.path())).ended, Ended::Exit(137));
}

#[test]
fn a_command_need_not_read_what_it_is_given() {
    let here = folder();
    let ran = run(&Command { input: vec![b'x'; 4 << 20], ..shell("true", here.path()) });
    assert_eq!(ran.ended, Ended::Exit(0));
}

#[test]
fn one_that_is_gone_before_it_has_read_what_it_is_given_broke_its_pipe() {
    let here = folder();
    let input = vec![b'x'; 1 << 20];
    let failed = run(&Command { input: input.clone(), ..shell("exec 0<&-; exit 3", here.path()) });
    assert_eq!(failed.ended, Ended::Exit(3));
    let told = "broken pipe: it was gone before it had read the 1048576 bytes it was given\n";
    assert_eq!(failed.errors.text(), told);
    let fine = run(&Command { input: input.clone(), ..shell("exec 0<&-", here.path()) });
    assert_eq!((fine.ended, fine.errors.text().as_str()), (Ended::Exit(0), ""), "it did not need it");
    let read = run(&Command { input, ..shell("cat > /dev/null; exit 3", here.path()) });
    assert_eq!((read.ended, read.errors.text().as_str()), (Ended::Exit(3), ""));
}

#[test]
fn what_it_inherits_can_be_taken_away() {
    let here = folder();
    let ran = run(&Command { unset: vec!["PATH".into()], ..shell("/usr/bin/env", here.path()) });
    assert!(!ran.output.text().lines().any(|it| it.starts_with("PATH=")), "{}", ran.output.text());
}

/// A tree that tries to get away: a grandchild, one in a session of its own, one whose parent is gone.
const TREE: &str = "
    (sleep 1000 & echo $! > child; wait) &
    setsid sh -c 'echo $$ > session; exec sleep 1000' &
    (setsid sh -c 'sh -c \"echo \\$\\$ > orphan; exec sleep 1000\" &' &) 
    while ! [ -s child ] || ! [ -s session ] || ! [ -s orphan ]; do :; done
    echo ready
";

fn pids(here: &Path) -> Vec<String> {
    ["child", "session", "orphan"].map(|it| written(&here.join(it))).into_iter().collect()
}

#[test]
fn what_a_command_leaves_running_is_ended() {
    let here = folder();
    let ran = run(&shell(TREE, here.path()));
    assert_eq!(ran.ended, Ended::Exit(0));
    assert_eq!(pids(here.path()).into_iter().filter(|it| runs(it)).count(), 0);
}

#[test]
fn one_that_takes_too_long_is_told_from_one_that_says_nothing() {
    let here = folder();
    let short = Duration::from_secs(1);
    // It writes down its own process, so that its end can be seen.
    let waits = shell("echo $$ > child; exec sleep 1000", here.path());
    let long = Command { wall: short, idle: Some(LONG), ..waits.clone() };
    assert_eq!(run(&long).ended, Ended::Timeout);
    let silent = Command { idle: Some(short), ..waits };
    assert_eq!(run(&silent).ended, Ended::Stalled);
    assert!(!runs(&written(&here.path().join("child"))));
}

#[test]
fn it_can_be_called_off() {
    let here = folder();
    let cancel = Cancel::default();
    let command = shell(&format!("{TREE} sleep 1000"), here.path());
    let ran = std::thread::scope(|scope| {
        let running = scope.spawn(|| command.run(&supervisor(), &cancel, &mut |_| {}).expect("a supervisor"));
        pids(here.path());
        cancel.call_off();
        running.join().expect("it ran")
    });
    assert_eq!(ran.ended, Ended::Cancelled);
    assert_eq!(pids(here.path()).into_iter().filter(|it| runs(it)).count(), 0);
    assert_eq!(
        command.run(&supervisor(), &cancel, &mut |_| {}).expect("a supervisor").ended,
        Ended::Cancelled
    );
}

/// One that is met while it begins others is ended with all of them.
#[test]
fn one_that_keeps_beginning_others_can_be_called_off() {
    let here = folder();
    let several = "i=0; while [ $i -lt 300 ]; do sleep 1000 & echo $! >> begun; i=$((i + 1)); done; wait";
    let command = shell(several, here.path());
    for _ in 0..10 {
        let cancel = Cancel::default();
        let ran = std::thread::scope(|scope| {
            let running =
                scope.spawn(|| command.run(&supervisor(), &cancel, &mut |_| {}).expect("a supervisor"));
            written(&here.path().join("begun"));
            cancel.call_off();
            running.join().expect("it ran")
        });
        assert_eq!(ran.ended, Ended::Cancelled);
        assert_eq!(written(&here.path().join("begun")).lines().filter(|it| runs(it)).count(), 0);
        fs::remove_file(here.path().join("begun")).expect("it is there");
    }
}

/// One that runs away: each begins the next and is gone, so whoever looks for it reads of processes that are no more.
const RUNAWAY: &str = "
    echo 'echo $$ >> hops; sh ./hop & exit' > hop
    for i in 1 2 3 4; do setsid sh ./hop & done
    wait
    sleep 1000
";

/// Processes whose working folder is this one.
fn within(folder: &Path) -> usize {
    let folder = folder.canonicalize().expect("a place");
    let entries = fs::read_dir("/proc").expect("processes").filter_map(Result::ok);
    entries.filter(|it| fs::read_link(it.path().join("cwd")).is_ok_and(|cwd| cwd == folder)).count()
}

#[test]
fn one_that_runs_away_is_caught() {
    let here = folder();
    let command = shell(RUNAWAY, here.path());
    for _ in 0..20 {
        let cancel = Cancel::default();
        let ran = std::thread::scope(|scope| {
            let running =
                scope.spawn(|| command.run(&supervisor(), &cancel, &mut |_| {}).expect("a supervisor"));
            while written(&here.path().join("hops")).lines().count() < 8 {}
            cancel.call_off();
            running.join().expect("it ran")
        });
        assert_eq!(ran.ended, Ended::Cancelled);
        assert_eq!(within(here.path()), 0, "after the call something of it still runs");
        fs::remove_file(here.path().join("hops")).expect("it is there");
    }
}

/// Whoever drives is killed: nothing goes on.
#[test]
fn nothing_goes_on_when_whoever_started_it_is_gone() {
    let here = folder();
    let mut supervisor = std::process::Command::new(env!("CARGO_BIN_EXE_loopwright-supervise"))
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::null())
        .spawn()
        .expect("a supervisor");
    let order = serde_json::json!({
        "program": "sh", "arguments": ["-c", format!("{TREE} sleep 1000")], "folder": here.path(),
        "environment": [], "unset": [], "input": 0,
    });
    let mut control = supervisor.stdin.take().expect("its input");
    std::io::Write::write_all(&mut control, format!("{order}\n").as_bytes()).expect("it reads");
    let pids = pids(here.path());
    assert_eq!(pids.iter().filter(|it| runs(it)).count(), 3);
    drop(control);
    supervisor.wait().expect("it ends");
    assert_eq!(pids.iter().filter(|it| runs(it)).count(), 0);
}
