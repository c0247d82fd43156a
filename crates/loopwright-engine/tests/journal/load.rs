//! Many processes at one journal: whatever was acknowledged is there, once and in order, also of those that were killed.

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{SystemTime, UNIX_EPOCH};

use loopwright_core::machine::Event;
use loopwright_engine::journal::{Journal, JournalError, Sqlite};

use crate::{batch, begun, new_run};

const PROCESSES: u64 = 8;
const RUNS: u64 = 3;
const STEPS: u64 = 25;
/// These end without a word in the middle of it.
const KILLED: u64 = 2;

const FILE: &str = "LOOPWRIGHT_TEST_JOURNAL";
const NUMBER: &str = "LOOPWRIGHT_TEST_NUMBER";

/// The test, and what each of its processes does: they are the same program, told apart by what they are given.
#[test]
fn eight_processes_share_a_journal_and_fight_over_a_run() {
    if let (Some(file), Ok(number)) = (std::env::var_os(FILE), std::env::var(NUMBER)) {
        take_part(Path::new(&file), number.parse().expect("a number"));
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("journal.db");
    let program = std::env::current_exe().expect("this program");
    // Nobody has made the journal yet: they all begin it at once.
    let processes: Vec<_> = (0..PROCESSES)
        .map(|number| {
            let mut command = Command::new(&program);
            command.args([
                "--exact",
                "load::eight_processes_share_a_journal_and_fight_over_a_run",
                "--nocapture",
            ]);
            command.env(FILE, &file).env(NUMBER, number.to_string());
            command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("a process")
        })
        .collect();
    let mut told = Vec::new();
    for (mut process, number) in processes.into_iter().zip(0..) {
        let said = BufReader::new(process.stdout.take().expect("an output"));
        let lines = said
            .lines()
            .map(|it| it.expect("a line"))
            .filter_map(|it| it.strip_prefix("told ").map(str::to_owned));
        told.extend(lines);
        let mut wrong = String::new();
        process.stderr.take().expect("an output").read_to_string(&mut wrong).expect("words");
        let ended = process.wait().expect("an end");
        assert_eq!(ended.success(), number >= KILLED, "process {number}: {wrong}");
    }
    let journal = Sqlite::open(&file).expect("the journal");
    assert_eq!(journal.damage().expect("a look"), Vec::<String>::new());
    all_is_there(&journal, &told);
}

/// What a process was told was written is in the journal, and nothing is there that nobody wrote, or twice.
fn all_is_there(journal: &Sqlite, told: &[String]) {
    let mut last_told: BTreeMap<&str, u64> = BTreeMap::new();
    for line in told {
        let (what, number) = line.rsplit_once(' ').expect("a number");
        let number: u64 = number.parse().expect("a number");
        let before = last_told.insert(what, number).unwrap_or(0);
        assert_eq!(before + 1, number, "{line}");
    }
    for process in 0..PROCESSES {
        for run in 0..RUNS {
            let name = format!("run-{process}-{run}");
            let events = journal.events(&name, 0).expect("events");
            let wanted: Vec<_> = (1..=events.len() as u64).map(|step| said(&name, step)).collect();
            assert_eq!(events.iter().map(|it| it.event.clone()).collect::<Vec<_>>(), wanted);
            let acknowledged = last_told.get(name.as_str()).copied().unwrap_or(0);
            // One more may be there of a process that was gone before it could tell.
            let more = events.len() as u64 - acknowledged;
            assert!(more <= u64::from(process < KILLED), "{name}: {more} more than was told");
            assert!(process < KILLED || acknowledged == STEPS, "{name} has {acknowledged}");
        }
    }
    let shared = journal.events("shared", 0).expect("events");
    let mut counts: BTreeMap<String, u64> = BTreeMap::new();
    for stored in shared {
        let Event::Stopped { reason } = stored.event else { panic!("{stored:?}") };
        let (who, number) = reason.rsplit_once(' ').expect("a number");
        let count = counts.entry(who.to_owned()).or_default();
        *count += 1;
        assert_eq!(number, count.to_string(), "{who} is there twice, or not in order");
    }
    for process in 0..PROCESSES {
        let who = format!("shared by {process}");
        let (written, acknowledged) =
            (counts.get(&who).copied().unwrap_or(0), last_told.get(who.as_str()).copied().unwrap_or(0));
        assert!(
            written - acknowledged <= u64::from(process < KILLED),
            "{who}: {written}, told {acknowledged}"
        );
    }
    assert!(counts.len() > 1, "nobody fought: {counts:?}");
}

fn said(what: &str, number: u64) -> Event {
    Event::Stopped { reason: format!("{what} {number}") }
}

/// Only what is on the disk is told.
fn tell(what: &str, number: u64) {
    let mut out = std::io::stdout().lock();
    writeln!(out, "\ntold {what} {number}").and_then(|()| out.flush()).expect("somebody listens");
}

fn take_part(file: &Path, number: u64) {
    let journal = Sqlite::open(file).expect("the journal, whoever else opens it");
    match journal.create(&new_run("shared")) {
        Ok(()) | Err(JournalError::Taken(_)) => {}
        Err(error) => panic!("{error}"),
    }
    let leases: Vec<_> = (0..RUNS).map(|run| begun(&journal, &format!("run-{number}-{run}"))).collect();
    let mut won = 0;
    for step in 0..STEPS {
        for lease in &leases {
            let event = said(&lease.run, step + 1);
            assert_eq!(journal.append(&batch(lease, step, &[event])).expect("an event"), step + 1);
            tell(&lease.run, step + 1);
        }
        won += u64::from(fight(&journal, number, won + 1));
        if number < KILLED && step == STEPS / 2 + number {
            std::process::abort();
        }
    }
}

/// Tries to have the shared run for a moment and to write something to it. Others may have taken it over meanwhile.
fn fight(journal: &Sqlite, number: u64, next: u64) -> bool {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).expect("a time").as_millis();
    let now = u64::try_from(now).expect("a time");
    let lease = match journal.lease("shared", &format!("process {number}"), now, now + 5) {
        Ok(lease) => lease,
        Err(JournalError::Held { .. }) => return false,
        Err(error) => panic!("{error}"),
    };
    let last = journal.run("shared").expect("the run").last;
    let who = format!("shared by {number}");
    let written = match journal.append(&batch(&lease, last, &[said(&who, next)])) {
        Ok(_) => {
            tell(&who, next);
            true
        }
        Err(JournalError::LeaseLost { .. } | JournalError::Behind { .. }) => false,
        Err(error) => panic!("{error}"),
    };
    // Some keep it until its time is over.
    if !next.is_multiple_of(3) {
        match journal.release(&lease) {
            Ok(()) | Err(JournalError::LeaseLost { .. }) => {}
            Err(error) => panic!("{error}"),
        }
    }
    written
}
