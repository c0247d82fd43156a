//! Clearing away what ended runs left behind.
//!
//! What goes is what nobody can go on with: runs that ended long ago, with the runs of their items. What an open run could
//! need stays, and so does whatever cannot be told. The journal is changed one run at a time, each as a whole; what lies
//! beside it and belongs to no run is found again the next time, so that it may be interrupted anywhere.

mod beside;

use std::collections::{BTreeMap, HashSet};

use serde::Serialize;

use crate::driver::place::is_begun_somewhere;
use crate::engine::Engine;
use crate::error::EngineError;
use crate::journal::{Journal as _, JournalError, Millis, RunLine, Sqlite};

/// What was removed, or would be, and what was not.
#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct Cleared {
    /// Whether nothing was done.
    pub dry_run: bool,
    /// Runs that are gone.
    pub removed: Vec<Removed>,
    /// What stays, and why.
    pub kept: Vec<Kept>,
    /// Prompts, transcripts, patches and definitions that nothing named any more.
    pub blobs: u64,
    /// Files beside the journal, and names in git that kept trees, of runs that are gone.
    pub files: u64,
    /// How many bytes all of it was.
    pub bytes: u64,
    /// By how many bytes the journal's file is smaller.
    pub shrunk: u64,
}

/// A run that is gone.
#[derive(Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct Removed {
    /// What it was called.
    pub run: String,
    /// Its workflow.
    pub workflow: String,
    /// What it was about.
    pub subject: String,
    /// How many runs of items went with it.
    pub items: usize,
    /// How many bytes it was, in the journal.
    pub bytes: u64,
    /// Worktrees that went with it.
    pub worktrees: Vec<String>,
}

/// Something that stays.
#[derive(Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct Kept {
    /// The run, or the worktree.
    pub what: String,
    /// Why.
    pub why: String,
}

/// A run with the runs of its items, and of theirs.
struct Family {
    first: RunLine,
    items: Vec<RunLine>,
}

impl Family {
    fn all(&self) -> impl Iterator<Item = &RunLine> {
        std::iter::once(&self.first).chain(&self.items)
    }

    fn updated(&self) -> Millis {
        self.all().map(|it| it.updated).max().unwrap_or_default()
    }
}

/// Clears away what ended more than so long ago; or only says what that would be.
pub fn clear_away(
    engine: &Engine,
    journal: &Sqlite,
    older_than: Millis,
    dry_run: bool,
) -> Result<Cleared, EngineError> {
    let now = (engine.clock)();
    // Looked for before the runs are: what is there now belongs to a run that is known then.
    let beside = beside::find(&engine.home)?;
    let (driven, sizes) = (journal.driven(now)?, journal.sizes()?);
    let mut cleared = Cleared { dry_run, ..Cleared::default() };
    let mut gone = HashSet::new();
    let (families, mut left) = families(journal.runs()?);
    for name in &left {
        cleared
            .kept
            .push(Kept { what: name.clone(), why: "the run it is an item of is not there".to_owned() });
    }
    let mut going = Vec::new();
    for family in families {
        match why_not(engine, &family, &driven, now, older_than) {
            Some(why) => {
                left.extend(family.all().map(|it| it.run.name.clone()));
                cleared.kept.push(Kept { what: family.first.run.name.clone(), why });
            }
            None => going.push(family),
        }
    }
    for family in going {
        let name = &family.first.run.name;
        let mut worktrees = beside::Worktrees::of(engine, &family, &left)?;
        worktrees.remove(dry_run)?;
        cleared.kept.append(&mut worktrees.kept);
        if !dry_run {
            let runs: Vec<(String, u64)> = family.all().map(|it| (it.run.name.clone(), it.last)).collect();
            match journal.forget(&runs, now) {
                Ok(()) => {}
                Err(error @ (JournalError::Held { .. } | JournalError::Behind { .. })) => {
                    cleared.kept.push(Kept {
                        what: name.clone(),
                        why: format!("it was taken up meanwhile: {error}"),
                    });
                    continue;
                }
                Err(error) => return Err(error.into()),
            }
        }
        let bytes = family.all().filter_map(|it| sizes.get(&it.run.name)).sum();
        cleared.bytes += bytes;
        gone.extend(family.all().map(|it| it.run.name.clone()));
        cleared.removed.push(Removed {
            run: name.clone(),
            workflow: family.first.run.workflow.clone(),
            subject: family.first.run.subject.clone(),
            items: family.items.len(),
            bytes,
            worktrees: worktrees.removed,
        });
    }
    let blobs = if dry_run { journal.unnamed(&gone)? } else { journal.sweep()? };
    // Whoever began meanwhile is among those that are there now.
    let there = journal.runs()?.into_iter().map(|it| it.run.name).filter(|it| !gone.contains(it)).collect();
    let files = beside.remove_all_but(&there, dry_run)?;
    cleared.blobs = blobs.count;
    cleared.files = files.count;
    cleared.bytes += blobs.bytes + files.bytes;
    if !dry_run && (!cleared.removed.is_empty() || blobs.count > 0) {
        // Room inside of the file is used again; that it cannot be made smaller now is no failure.
        cleared.shrunk = journal.shrink().unwrap_or_default();
    }
    Ok(cleared)
}

/// Runs that began by themselves, each with those of its items; and the names of those whose parent is not there.
fn families(runs: Vec<RunLine>) -> (Vec<Family>, Vec<String>) {
    let mut of: BTreeMap<String, Vec<RunLine>> = BTreeMap::new();
    let mut first = Vec::new();
    for line in runs {
        match &line.run.parent {
            Some(parent) => of.entry(parent.clone()).or_default().push(line),
            None => first.push(line),
        }
    }
    let families = first
        .into_iter()
        .map(|first| {
            let mut items = of.remove(&first.run.name).unwrap_or_default();
            let mut at = 0;
            while let Some(next) = items.get(at).map(|it| it.run.name.clone()) {
                items.extend(of.remove(&next).unwrap_or_default());
                at += 1;
            }
            Family { first, items }
        })
        .collect();
    (families, of.into_values().flatten().map(|it| it.run.name).collect())
}

/// Why a run stays.
fn why_not(
    engine: &Engine,
    family: &Family,
    driven: &BTreeMap<String, String>,
    now: Millis,
    older_than: Millis,
) -> Option<String> {
    const DAY: Millis = 24 * 60 * 60 * 1_000;
    if let Some(holder) = family.all().find_map(|it| driven.get(&it.run.name)) {
        return Some(format!("{holder} drives it"));
    }
    let age = now.saturating_sub(family.updated());
    let line = &family.first;
    // One that never began has learnt nothing, and nobody can go on with it.
    if line.last == 0 {
        return is_begun_somewhere(&engine.home.git).then(|| "it may be about to begin".to_owned());
    }
    match engine.read(&line.run.name) {
        Ok((_, run)) if !run.is_over() => {
            return Some(format!("it is open: {} ({})", line.stands.state, line.stands.status));
        }
        Ok(_) => {}
        Err(error) => return Some(format!("whether it is over cannot be told: {error}")),
    }
    let ago = |it: Millis| if it < DAY { "today".to_owned() } else { format!("{} days ago", it / DAY) };
    (age < older_than).then(|| format!("it ended {}", ago(age)))
}
