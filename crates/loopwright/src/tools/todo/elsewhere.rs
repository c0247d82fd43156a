//! Who else is at an issue: a run, another worktree, a branch that is not merged here.

use std::collections::{HashMap, HashSet};

use loopwright_engine::journal::Journal as _;
use loopwright_engine::{is_open, unmerged, worktrees};
use loopwright_formats::todo::{Issue, Status};

use super::issues::Issues;
use super::place::{Place, of_git};
use crate::error::CommandError;
use crate::session;

/// Of each of these issues that somebody is at, or done with, elsewhere: who and where, in words.
pub(super) fn elsewhere(
    place: &Place,
    issues: &Issues,
    ids: &[&str],
) -> Result<HashMap<String, String>, CommandError> {
    let mut found = HashMap::new();
    if ids.is_empty() {
        return Ok(found);
    }
    runs(place, ids, &mut found)?;
    if !place.home.is_repository {
        return Ok(found);
    }
    let file_of = |id: &str| issues.tracker.file_of(id).map_or_else(|| format!("{id}.md"), str::to_owned);
    let git = &place.home.git;
    for worktree in worktrees(git).map_err(of_git)? {
        let is_here = std::fs::canonicalize(&worktree.path).ok() == std::fs::canonicalize(git.root()).ok();
        let folder = worktree.path.join(&place.within);
        if is_here || !folder.is_dir() {
            continue;
        }
        for id in ids.iter().filter(|it| !found.contains_key(**it)).copied().collect::<Vec<_>>() {
            let Ok(text) = std::fs::read_to_string(folder.join(file_of(id))) else { continue };
            let branch = worktree.branch.as_ref().map(|it| format!(" (branch `{it}`)")).unwrap_or_default();
            let where_ = format!("in {}{branch}", worktree.path.display());
            found.extend(taken(id, &text, &where_));
        }
    }
    let touched = unmerged(git, &place.within).map_err(of_git)?;
    let wanted: Vec<(String, &str, String)> = ids
        .iter()
        .filter(|it| !found.contains_key(**it))
        .filter_map(|id| Some((*id, touched.get_key_value(&file_of(id))?)))
        .flat_map(|(id, (file, branches))| {
            branches.iter().map(move |it| (format!("{it}:{}/{file}", place.within), id, it.clone()))
        })
        .collect();
    let names: Vec<&str> = wanted.iter().map(|it| it.0.as_str()).collect();
    for (text, (_, id, branch)) in texts(place, &names)?.into_iter().zip(&wanted) {
        if let Some(text) = text.filter(|_| !found.contains_key(*id)) {
            found.extend(taken(id, &text, &format!("on branch `{branch}`, which is not merged here")));
        }
    }
    Ok(found)
}

/// What open runs are about.
fn runs(place: &Place, ids: &[&str], found: &mut HashMap<String, String>) -> Result<(), CommandError> {
    let Some(journal) = place.journal()? else { return Ok(()) };
    let own: HashSet<&str> = ids.iter().copied().collect();
    for line in journal.runs().map_err(|it| session::told(it.into()))? {
        if line.run.parent.is_none() && is_open(&line) && own.contains(line.run.subject.as_str()) {
            let at = format!(
                "run {} of `{}` is about it, at {}",
                line.run.name, line.run.workflow, line.stands.state
            );
            found.entry(line.run.subject).or_insert(at);
        }
    }
    Ok(())
}

fn taken(id: &str, text: &str, where_: &str) -> Option<(String, String)> {
    let said = match Issue::head(id, text).status {
        Status::Todo => return None,
        Status::InProgress => format!("is in progress {where_}"),
        Status::Done => format!("is done {where_}"),
    };
    Some((id.to_owned(), said))
}

/// What git has under names such as `BRANCH:PATH`, each by itself; nothing under one that it does not know.
pub(super) fn texts(place: &Place, names: &[&str]) -> Result<Vec<Option<String>>, CommandError> {
    if names.is_empty() {
        return Ok(Vec::new());
    }
    // A name of several lines would be several.
    let asked: String =
        names.iter().map(|it| if it.contains('\n') { "\n".to_owned() } else { format!("{it}\n") }).collect();
    let said = place.home.git.with(&["cat-file", "--batch"], &[], Some(asked.as_bytes())).map_err(of_git)?;
    let mut rest = said.as_slice();
    let mut found = Vec::with_capacity(names.len());
    for _ in names {
        let end = rest.iter().position(|it| *it == b'\n').unwrap_or(rest.len());
        let (head, behind) = rest.split_at(end);
        rest = behind.get(1..).unwrap_or_default();
        let head = String::from_utf8_lossy(head).into_owned();
        let mut words = head.rsplit(' ');
        let (length, kind) = (words.next().unwrap_or_default(), words.next());
        let Some(length) = length.parse::<usize>().ok().filter(|_| kind.is_some()) else {
            found.push(None);
            continue;
        };
        let body = rest.get(..length).unwrap_or_default();
        found.push((kind == Some("blob")).then(|| String::from_utf8_lossy(body).into_owned()));
        rest = rest.get(length + 1..).unwrap_or_default();
    }
    Ok(found)
}
