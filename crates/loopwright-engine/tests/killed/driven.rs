//! Whoever drives: begins the run or goes on with it, says what people say, and counts the moments at which something
//! outside changes. At the one it is told, it kills itself.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use indexmap::IndexMap;
use loopwright_core::machine::{Event, Evidence};
use loopwright_engine::process::Cancel;
use loopwright_engine::{Answered, Asked, Asking, Message, Moments, People, Standing, this_process};

use crate::bench::Bench;
use crate::plays::Play;
use crate::watched::{Change, Watched, When};

pub(crate) const PLAY: &str = "LOOPWRIGHT_TEST_PLAY";
pub(crate) const REPOSITORY: &str = "LOOPWRIGHT_TEST_REPOSITORY";
/// The number of the moment at which it is killed.
pub(crate) const AT: &str = "LOOPWRIGHT_TEST_AT";
/// Whose work it is killed during; see [`crate::plays::SIGN`].
pub(crate) const DURING: &str = "LOOPWRIGHT_TEST_DURING";

/// Set when the moments are to be listed.
pub(crate) const LISTS: &str = "LOOPWRIGHT_TEST_LISTS";

/// So often a person is asked in a play at most: one that asks for ever is a fault of the play.
const MOST_SAID: usize = 50;

/// Commands of git's that change nothing.
const LOOKS: &[&str] = &[
    "cat-file",
    "diff-tree",
    "check-ref-format",
    "diff",
    "for-each-ref",
    "hash-object",
    "log",
    "ls-files",
    "ls-tree",
    "merge-base",
    "merge-tree",
    "rev-list",
    "rev-parse",
    "show-ref",
    "status",
    "symbolic-ref",
    "var",
    "config",
];

/// Always the same person, who says the same whenever they are asked.
struct Somebody(&'static [(&'static str, &'static str)]);

impl People for Somebody {
    fn ask(&self, asked: &Asked) -> Option<Answered> {
        let (_, answer) = self.0.iter().find(|(question, _)| *question == &*asked.name)?;
        Some(Answered { answer: (*answer).into(), ..Answered::default() })
    }
}

/// Drives the run of a play to its end.
pub(crate) fn drive(play: &Play) {
    let bench = Bench::at(std::env::var_os(REPOSITORY).map(PathBuf::from).expect("a repository"));
    // For agents that kill whoever drives.
    std::fs::write(bench.around().join("driver"), std::process::id().to_string()).expect("a file");
    let at: Option<usize> = std::env::var(AT).ok().and_then(|it| it.parse().ok());
    let list = Arc::new(Mutex::new(Vec::new()));
    let lists = std::env::var_os(LISTS).is_some();
    let (around, written) = (bench.around().to_owned(), Arc::new(AtomicUsize::new(0)));
    let (listed, recorded) = (Arc::clone(&list), Arc::clone(&written));
    let count = AtomicUsize::new(0);
    let moment = Arc::new(move |what: &str| {
        let words: Vec<&str> = what.split(' ').collect();
        if matches!(words[..], [_, "git", command] if LOOKS.contains(&command)) {
            return;
        }
        let number = count.fetch_add(1, Ordering::SeqCst) + 1;
        if lists {
            let seen = (recorded.load(Ordering::SeqCst), outside(&around));
            listed.lock().expect("moments").push((number, what.to_owned(), seen));
        }
        if Some(number) == at {
            let own = rustix::process::getpid();
            rustix::process::kill_process(own, rustix::process::Signal::KILL).expect("a signal");
        }
    });
    let mut engine = bench.engine(play.agents);
    engine.holder = this_process();
    engine.people = Arc::new(Somebody(play.answers));
    let heard = Arc::clone(&moment);
    engine.home.git = engine.home.git.clone().told(Moments::told_to(move |it| heard(it)));
    engine.journal = Watched::around(Arc::clone(&engine.journal), move |when, change| {
        let what = match change {
            Change::Create(_) => "create",
            Change::Append(_) => "append",
            Change::Put(_) => "put",
            Change::Lease => return Ok(()),
        };
        if when == When::After {
            written.fetch_add(1, Ordering::SeqCst);
        }
        moment(&format!("{} {what}", if when == When::Before { "before" } else { "after" }));
        Ok(())
    });
    let runs = engine.journal.runs().expect("runs");
    // One that was only made room for has nothing that could be gone on with.
    let begun = runs.iter().find(|it| it.run.parent.is_none() && it.last > 0);
    let (name, mut standing) = if let Some(line) = begun {
        let name = line.run.name.clone();
        let standing = engine.drive(&name, &Cancel::default()).expect("it goes on");
        (name, standing)
    } else {
        let begun = engine.begin(&(play.folder)(), &(play.begin)(), &Cancel::default()).expect("it begins");
        (begun.name().to_owned(), begun.drive().expect("it runs"))
    };
    for said in 1.. {
        let Standing::Waits { asking, .. } = standing else { break };
        assert!(said <= MOST_SAID, "it waits again and again: {asking:?}");
        let Asking::Verbs { verbs, .. } = *asking else { panic!("{asking:?}") };
        let said = play.verbs.iter().find(|it| verbs.iter().any(|verb| **verb == ***it)).expect("a verb");
        let message = Message::Say { verb: (*said).into(), inputs: IndexMap::default() };
        let message = serde_json::to_string(&message).expect("a message");
        engine.journal.post(&name, 0, &message).expect("it is left");
        standing = engine.drive(&name, &Cancel::default()).expect("it goes on");
    }
    for stored in engine.journal.events(&name, 0).expect("events") {
        if let Event::Settled { effect, evidence: Evidence::Out(outcome) } = stored.event {
            println!("{effect} {}: {}", outcome.signal, outcome.summary);
        }
    }
    if lists {
        let text = told_apart(&list.lock().expect("moments"));
        std::fs::write(bench.around().join("moments"), text).expect("a file");
    }
}

/// What is there: all files but the journal, whose lease is renewed all the time, and objects of git's, which mean nothing
/// until something names them.
fn outside(around: &Path) -> u64 {
    let mut hasher = DefaultHasher::new();
    let mut waiting = vec![around.to_owned()];
    while let Some(folder) = waiting.pop() {
        let Ok(entries) = std::fs::read_dir(&folder) else { continue };
        let mut entries: Vec<PathBuf> = entries.flatten().map(|it| it.path()).collect();
        entries.sort();
        for entry in entries {
            let journal = entry.file_name().is_some_and(|it| it.to_string_lossy().starts_with("journal.db"));
            if journal || entry.ends_with(".git/objects") {
                continue;
            }
            entry.hash(&mut hasher);
            if entry.is_symlink() {
                std::fs::read_link(&entry).ok().hash(&mut hasher);
            } else if entry.is_dir() {
                waiting.push(entry);
            } else {
                std::fs::read(&entry).ok().hash(&mut hasher);
            }
        }
    }
    hasher.finish()
}

/// The moments, a line each: of those that follow each other with nothing changed between them the last.
fn told_apart(list: &[(usize, String, (usize, u64))]) -> String {
    let mut apart: Vec<&(usize, String, (usize, u64))> = Vec::new();
    for moment in list {
        apart.pop_if(|it| it.2 == moment.2);
        apart.push(moment);
    }
    let lines: Vec<String> = apart.iter().map(|(number, what, _)| format!("{number} {what}")).collect();
    lines.join("\n")
}

/// The moments of a run whose moments were listed, and what each is.
pub(crate) fn moments(bench: &Bench) -> Vec<(usize, String)> {
    let list = std::fs::read_to_string(bench.around().join("moments")).expect("moments");
    let moment = |line: &str| {
        let (number, what) = line.split_once(' ').expect("a moment");
        (number.parse().expect("a number"), what.to_owned())
    };
    list.lines().map(moment).collect()
}
