//! `renumber`: another id for an issue, and for all that leads to it.

use std::process::ExitCode;

use loopwright_engine::{unmerged, worktrees};
use loopwright_formats::todo::{Meant, README, conflict_line, is_id, listed_as, parts_of, referred, renamed};
use serde_json::json;

use super::elsewhere::elsewhere;
use super::issues::{Issues, Much, write};
use super::new::number;
use super::place::{Change, Place, of_git};
use super::{Answer, notes};
use crate::error::{self, CommandError};

/// Give an issue another id, here and wherever another issue or the list leads to it
///
/// What texts say besides stays; where the old id is left in one, it is said.
#[derive(clap::Args, Debug)]
pub(super) struct RenumberArgs {
    /// The issue
    old: String,
    /// Its id from now on; a free one, if it is left out
    new: Option<String>,
    /// Also where somebody is at it elsewhere
    #[arg(long)]
    force: bool,
}

pub(super) fn cmd_renumber(
    place: &Place,
    arguments: &RenumberArgs,
    answer: Answer,
) -> Result<ExitCode, CommandError> {
    let held = place.hold()?;
    let issues = Issues::read(place, Much::Heads)?;
    let issue = issues.meant(place, &arguments.old)?;
    let (file, text) = issues.text_of(place, issue)?;
    let old = issue.id.as_str();
    if let Some(how) = elsewhere(place, &issues, &[old])?.get(old).filter(|_| !arguments.force) {
        let refused = CommandError::with_code(format!("{old} {how}"), error::NOT_PROVED);
        return Err(refused.hinted("it keeps its number there; `--force` gives it another here all the same"));
    }
    let new = if let Some(new) = arguments.new.as_deref() {
        wanted(place, &issues, old, new)?
    } else {
        let prefix = parts_of(old).map_or("TODO", |it| it.0);
        number(place, &held, prefix, &|id| issues.tracker.get(id).is_some())?
    };
    let mut changes = vec![
        Change { file: format!("{new}.md"), before: None, after: Some(renamed(text, old, &new)) },
        Change { file: file.to_owned(), before: Some(text.to_owned()), after: None },
    ];
    let mut left = Vec::new();
    for (other, before) in issues.files.files.iter().filter(|it| it.0 != file && it.1.contains(old)) {
        if let Some(line) = conflict_line(before) {
            left.push(format!(
                "{}:{line}: a merge left this undecided; nothing was changed in it",
                place.shown(other)
            ));
            continue;
        }
        let after = referred(before, old, &new, Meant { fields: true, entries: &|_| true });
        left.extend(
            named_still(&after, old).map(|it| format!("{}:{it}: this still names {old}", place.shown(other))),
        );
        changes.extend(Change::of(other, before, after));
    }
    if let Some(before) = issues.files.readme.as_deref() {
        match conflict_line(before) {
            Some(line) => {
                left.push(format!(
                    "{}:{line}: a merge left this undecided; nothing was changed in it",
                    place.shown(README)
                ));
            }
            None => changes.extend(Change::of(README, before, listed_as(before, old, &new, &|_| true))),
        }
    }
    let changed = write(place, &held, &changes)?;
    answer.give(
        || json!({"id": new, "was": old, "file": place.shown(&format!("{new}.md")), "changed": changed, "left": left}),
        || format!("{old} -> {new}  {}\n", place.shown(&format!("{new}.md"))),
    );
    if !answer.json {
        notes(&left);
    }
    Ok(ExitCode::SUCCESS)
}

/// An id that somebody wants, if nobody has it.
fn wanted(place: &Place, issues: &Issues, old: &str, new: &str) -> Result<String, CommandError> {
    let new = new.trim().strip_suffix(".md").unwrap_or(new.trim());
    if !is_id(new) {
        return Err(CommandError::user(format!("`{new}` is no id"))
            .hinted("large letters and digits, a dash and a number, such as `GAL-39`"));
    }
    let taken = |how: String| {
        let refused = CommandError::with_code(format!("`{new}` is taken: {how}"), error::NOT_PROVED);
        Err(refused.hinted(format!("`loopwright todo renumber {old}` takes one that is free")))
    };
    let file = format!("{new}.md");
    if let Some(own) = issues.tracker.file_of(new) {
        return taken(format!("by {}", place.shown(own)));
    }
    if place.home.is_repository {
        for worktree in worktrees(&place.home.git).map_err(of_git)? {
            let there = worktree.path.join(&place.within).join(&file);
            if there.exists() {
                return taken(format!("by {}", there.display()));
            }
        }
        let branches = unmerged(&place.home.git, &place.within).map_err(of_git)?;
        if let Some(branch) = branches.get(&file).and_then(|it| it.first()) {
            return taken(format!("on branch `{branch}`, which is not merged here"));
        }
    }
    Ok(new.to_owned())
}

/// Lines in which an id is left.
fn named_still(text: &str, id: &str) -> impl Iterator<Item = usize> {
    let is_letter = |it: char| it.is_alphanumeric() || it == '-' || it == '_';
    text.lines().enumerate().filter_map(move |(at, line)| {
        let mut places = line.match_indices(id);
        let is_whole = |(from, _): (usize, &str)| {
            let before = line.get(..from).and_then(|it| it.chars().next_back());
            let behind = line.get(from + id.len()..).and_then(|it| it.chars().next());
            !before.is_some_and(is_letter) && !behind.is_some_and(is_letter)
        };
        places.any(is_whole).then_some(at + 1)
    })
}
