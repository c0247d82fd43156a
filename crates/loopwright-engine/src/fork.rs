//! Forking: a new run that begins where another one was. It has the same definition, the same past, and files of its
//! own in a worktree of its own. The other run is only read.

use std::path::{Path, PathBuf};

use loopwright_core::machine::{EffectId, Event, Evidence, Run, Site, Want, due};
use loopwright_core::name::Name;

use crate::driver::{LEASE, stands};
use crate::effects::TRAILER;
use crate::engine::{Definition, Engine, made_up};
use crate::error::EngineError;
use crate::files::Files;
use crate::git::{Git, GitError};
use crate::journal::{Batch, JournalError, NewRun, Stored};

/// A run that was forked.
#[derive(Clone, Debug)]
pub struct Forked {
    /// What it is called.
    pub name: String,
    /// Where it works.
    pub folder: PathBuf,
    /// The branch that is checked out there.
    pub branch: String,
    /// The event of the other run after which it begins.
    pub at: u64,
    /// Where it stands.
    pub state: Name,
}

/// Everything that happened, each with the run as it was afterwards.
type History = [(Stored, Run)];

impl Engine {
    /// Forks a run after one of its events; without one, after the last.
    pub fn fork(&self, name: &str, at: Option<u64>) -> Result<Forked, EngineError> {
        let line = self.journal.run(name)?;
        let wrong = |why: String| Err(EngineError::Wrong(why));
        if let Some(parent) = &line.run.parent {
            return wrong(format!("`{name}` is the run of an item; fork the run around it, `{parent}`"));
        }
        if !self.home.is_repository {
            return wrong(
                "a fork works in a worktree of its own, and this project is in no git repository".into(),
            );
        }
        let (definition, last) = self.read(name)?;
        let history = self.history(name, &definition)?;
        let at = at.unwrap_or(history.len() as u64);
        if let Err(why) = begins(&definition, &history, at) {
            return wrong(format!("{why}; {}", instead(&definition, &history)));
        }
        let place = usize::try_from(at).unwrap_or(usize::MAX).min(history.len());
        let now = place == history.len() && !last.is_over();
        let tree = match tree_after(&history, place) {
            // What it waits with are its files as they are now, with whatever people did to them.
            _ if now => self.seen((&definition, &last), |_, look| Ok(look.tree.clone()))?,
            Some(tree) => tree.to_owned(),
            None => {
                let why = format!("what the files were after event {at} is not on record");
                return wrong(format!("{why}; {}", instead(&definition, &history)));
            }
        };
        let then = &history[place - 1].1;
        let Some(site) = then.site.clone() else {
            return wrong(format!("the run `{name}` works nowhere after event {at}"));
        };
        let git = &self.home.git;
        if git.text(&["cat-file", "-e", &format!("{tree}^{{tree}}")]).is_err() {
            return wrong(format!(
                "the files as they were after event {at} are not there any more (git cleared them away)"
            ));
        }
        let Some(commit) = head_at(git, name, &history[..place])?.or_else(|| site.base.clone()) else {
            return wrong("a fork needs a commit to begin at, and there was none yet".into());
        };
        let new = self.unused()?;
        let branch = format!("fork/{new}");
        let folder = beside(git, &new)?;
        let forked = Forked { name: new.clone(), folder, branch, at, state: then.at.state.clone() };
        let made = lay_out(git, &forked, (&commit, &tree)).and_then(|worktree| {
            let site = Site { folder: worktree.root().to_string_lossy().into_owned(), ..site };
            Files::of(worktree, &new)?.keep(&new, &site.start)?;
            let events = history[..place].iter().map(|(it, _)| it.event.clone());
            let events = events.chain([Event::Placed(site)]).collect();
            let run = NewRun { name: new.clone(), at: (self.clock)(), ..line.run };
            self.write_fork(&run, events, (&definition, then))
        });
        match made {
            Ok(()) => Ok(forked),
            Err(error) => {
                // Half of a fork is none.
                let path = forked.folder.to_string_lossy();
                let _ = git.text(&["worktree", "remove", "--force", &path]);
                let _ = git.text(&["branch", "--quiet", "-D", &forked.branch]);
                Err(error)
            }
        }
    }

    /// Writes a forked run down.
    fn write_fork(
        &self,
        run: &NewRun,
        events: Vec<Event>,
        (definition, then): (&Definition, &Run),
    ) -> Result<(), EngineError> {
        self.journal.create(run)?;
        let lease = self.journal.lease(&run.name, &self.holder, run.at, run.at.saturating_add(LEASE))?;
        self.journal.append(&Batch {
            lease: lease.clone(),
            after: 0,
            at: run.at,
            events,
            snapshot: None,
            taken: Vec::new(),
            blobs: Vec::new(),
            stands: Some(stands(&definition.workflow, then)),
        })?;
        Ok(self.journal.release(&lease)?)
    }

    /// A name that no run has.
    fn unused(&self) -> Result<String, EngineError> {
        let at = (self.clock)();
        let mut tries = 0;
        loop {
            let name = made_up(at, tries, &self.holder);
            match self.journal.run(&name) {
                Err(JournalError::NoRun(_)) => return Ok(name),
                Err(error) => return Err(error.into()),
                Ok(_) => tries += 1,
            }
        }
    }
}

/// After which events a run can be forked, in words.
fn instead(definition: &Definition, history: &History) -> String {
    let over = history.last().is_some_and(|(_, run)| run.is_over());
    let can = |at: usize| {
        let known = tree_after(history, at).is_some() || at == history.len() && !over;
        known && begins(definition, history, at as u64).is_ok()
    };
    let mut ranges: Vec<(usize, usize)> = Vec::new();
    for at in (1..=history.len()).filter(|it| can(*it)) {
        match ranges.last_mut() {
            Some((_, to)) if *to + 1 == at => *to = at,
            _ => ranges.push((at, at)),
        }
    }
    let told = |(from, to): &(usize, usize)| match to - from {
        0 => from.to_string(),
        _ => format!("{from} to {to}"),
    };
    let told: Vec<String> = ranges.iter().map(told).collect();
    match told.as_slice() {
        [] => "it cannot be forked after any other event either".to_owned(),
        _ => format!("it can be forked after event {}", told.join(", ")),
    }
}

/// Whether a run can go on by itself from where it was after an event; why not.
fn begins(definition: &Definition, history: &History, at: u64) -> Result<(), String> {
    let place = usize::try_from(at).ok().and_then(|it| it.checked_sub(1));
    let Some((_, run)) = place.and_then(|it| history.get(it)) else {
        return Err(format!("there is no event {at}: the last is {}", history.len()));
    };
    if run.is_over() {
        return Err(format!("the run is over after event {at}, and nothing would go on from there"));
    }
    if run.site.is_none() {
        return Err(format!("the run works nowhere yet after event {at}"));
    }
    let due = due(&definition.workflow, run);
    // A question that is open is still open in a fork.
    let asked = |id: &EffectId| due.iter().any(|it| it.id == *id && matches!(it.want, Want::Ask { .. }));
    match run.at.begun.values().find(|it| it.open && !asked(&it.effect)) {
        Some(begun) => {
            Err(format!("event {at} is in the middle of `{}`, which had not come back", begun.effect))
        }
        None => Ok(()),
    }
}

/// What all files were after so many events, if that is on record.
fn tree_after(history: &History, place: usize) -> Option<&str> {
    match &history.get(place.checked_sub(1)?)?.0.event {
        Event::Placed(site) => return Some(&site.start),
        Event::Issued { values, .. } => return values["tree"].as_str(),
        _ => {}
    }
    for (stored, _) in &history[place..] {
        match &stored.event {
            // What was begun next found them so.
            Event::Issued { values, .. } => return values["tree"].as_str(),
            // Something else came back before anybody looked: an item, which may have written.
            Event::Settled { evidence: Evidence::Out(_), .. } | Event::PutOff { .. } | Event::Placed(_) => {
                return None;
            }
            _ => {}
        }
    }
    None
}

/// The last commit a run had made by then.
fn head_at(git: &Git, name: &str, history: &History) -> Result<Option<String>, GitError> {
    let mark = format!("{TRAILER}: {name} ");
    let format = format!("--format=%H%x09%(trailers:key={TRAILER},valueonly,separator=%x2C)");
    let listed = git.text(&["log", "--all", &format, "--fixed-strings", "--grep", &mark])?;
    let made: Vec<(&str, &str)> = listed.lines().filter_map(|it| it.split_once('\t')).collect();
    let settled = history.iter().rev().filter_map(|(stored, _)| match &stored.event {
        Event::Settled { effect, evidence: Evidence::Out(_) } => Some(format!("{name} {effect}")),
        _ => None,
    });
    let mut commits = settled
        .filter_map(|mark| made.iter().find(|(_, it)| *it == mark).map(|(commit, _)| (*commit).to_owned()));
    Ok(commits.next())
}

/// Where a fork works: beside the repository.
fn beside(git: &Git, name: &str) -> Result<PathBuf, GitError> {
    let listed = git.text(&["worktree", "list", "--porcelain"])?;
    let main = listed.lines().next().and_then(|it| it.strip_prefix("worktree "));
    let main = main.map_or(git.root(), Path::new);
    let called = main.file_name().map(|it| it.to_string_lossy().into_owned()).unwrap_or_default();
    Ok(main.parent().unwrap_or(Path::new("/")).join(format!("{called}-fork-{name}")))
}

/// Makes a worktree that begins at a commit and holds the files of a tree.
fn lay_out(git: &Git, forked: &Forked, (commit, tree): (&str, &str)) -> Result<Git, EngineError> {
    let path = forked.folder.to_string_lossy();
    git.text(&["worktree", "add", "--quiet", "--no-track", "-b", &forked.branch, &path, commit])?;
    let gone = || EngineError::Wrong(format!("{path} is no worktree"));
    let worktree = git.at(&forked.folder)?.ok_or_else(gone)?;
    worktree.text(&["read-tree", "--reset", "-u", tree])?;
    // What is not committed is not staged either.
    worktree.text(&["reset", "--quiet"])?;
    Ok(worktree)
}
