//! What a run leaves, and whether each thing was done once.

use std::collections::BTreeMap;
use std::path::Path;

use loopwright_core::definition::Outcome as Ending;
use loopwright_core::machine::{EffectId, Event, Evidence, Part};
use loopwright_engine::journal::{Journal as _, Sqlite};
use loopwright_engine::{Engine, Home};

use crate::bench::Bench;

/// What is there when a run is over.
#[derive(Debug, PartialEq)]
pub(crate) struct Left {
    endings: Vec<String>,
    files: BTreeMap<String, String>,
    /// Branches with their trees and the subjects of their commits.
    branches: String,
    worktrees: usize,
    status: String,
}

impl Left {
    pub(crate) fn behind(bench: &Bench) -> Self {
        let engine = bench.engine(&[]);
        let runs = engine.journal.runs().expect("runs");
        // One that was made room for and never began is nobody's.
        let main = runs.iter().filter(|it| it.last > 0 && it.run.parent.is_none());
        let names: Vec<String> = main.map(|it| it.run.name.clone()).collect();
        let ending = |name: &String| format!("{:?}", ending(&engine, name));
        let same = |text: String| names.iter().fold(text, |text, it| text.replace(it.as_str(), "RUN"));
        let files = files(bench).into_iter().map(|(path, text)| (path, same(text))).collect();
        let heads = bench.git(&["for-each-ref", "--format=%(refname:short)", "refs/heads"]);
        let line = |head: &str| format!("{head}: {}\n", bench.git(&["log", "--format=%T %s", head, "--"]));
        Left {
            endings: names.iter().map(ending).collect(),
            files,
            branches: same(heads.lines().map(line).collect()),
            worktrees: bench.git(&["worktree", "list"]).lines().count(),
            status: bench.git(&["status", "--porcelain", "--branch"]),
        }
    }

    pub(crate) fn is_good(&self) -> bool {
        self.endings == [format!("{:?}", Some(Ending::Success))]
    }
}

fn ending(engine: &Engine, name: &str) -> Option<Ending> {
    let (definition, run) = engine.read(name).expect("a run");
    loopwright_core::machine::RunView::of(&definition.workflow, &run).outcome
}

/// All files in the repository and beside it, but git's own and those of the test.
fn files(bench: &Bench) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    let mut waiting = vec![bench.around().to_owned()];
    while let Some(folder) = waiting.pop() {
        for entry in std::fs::read_dir(folder).expect("a folder").map(|it| it.expect("a file").path()) {
            let path = entry.strip_prefix(bench.around()).expect("below").to_string_lossy().into_owned();
            let ours = ["driver", "moments", "called"].contains(&path.as_str());
            if entry.file_name().is_some_and(|it| it == ".git") || ours {
                continue;
            }
            if entry.is_dir() && !entry.is_symlink() {
                waiting.push(entry);
            } else {
                found.insert(path, std::fs::read_to_string(&entry).unwrap_or_default());
            }
        }
    }
    found
}

fn is_ahead(effect: &EffectId) -> bool {
    matches!(effect.part, Part::Ahead(_))
}

/// How often each agent and check was at work, as they say themselves.
pub(crate) fn called(bench: &Bench) -> BTreeMap<String, usize> {
    let mut counts = BTreeMap::new();
    for line in std::fs::read_to_string(bench.around().join("called")).unwrap_or_default().lines() {
        *counts.entry(line.to_owned()).or_insert(0) += 1;
    }
    counts
}

/// Nothing that came back came back again, and whatever was at work more often than undisturbed was lost in between.
pub(crate) fn done_once(bench: &Bench, undisturbed: &BTreeMap<String, usize>) -> Result<(), String> {
    let home = Home::around(Path::new(bench.path())).expect("a home");
    let journal = Sqlite::open(&home.journal).expect("a journal");
    let mut lost = 0;
    for line in journal.runs().expect("runs") {
        let mut settled: BTreeMap<String, usize> = BTreeMap::new();
        for stored in journal.events(&line.run.name, 0).expect("events") {
            match stored.event {
                Event::Settled { evidence: Evidence::Out(outcome), .. } if *outcome.signal == *"lost" => {
                    lost += 1;
                }
                Event::Settled { effect, evidence: Evidence::Out(_) } => {
                    *settled.entry(effect.to_string()).or_insert(0) += 1;
                }
                // Whoever is called ahead of their turn is not lost in words: nobody waits for them.
                Event::Issued { effect, .. } if is_ahead(&effect) => lost += 1,
                Event::Heard { effect, .. } if is_ahead(&effect) => lost -= 1,
                _ => {}
            }
        }
        if let Some((effect, count)) = settled.iter().find(|(_, it)| **it > 1) {
            return Err(format!("{effect} of {} came back {count} times", line.run.name));
        }
    }
    let more = |(who, times): (&String, &usize)| times.saturating_sub(*undisturbed.get(who).unwrap_or(&1));
    let again: usize = called(bench).iter().map(more).sum();
    if again > lost { Err(format!("{again} were at work again, and {lost} were lost")) } else { Ok(()) }
}
