//! Numbers of files and folders, such as `GAL-43.md`, that nobody takes in any worktree or branch of a repository.
//!
//! The journal is shared by all worktrees, and gives no number twice. What came from elsewhere is looked for in the files of
//! all worktrees, and in what was committed to branches that are not merged here.

use std::collections::BTreeMap;
use std::path::Path;

use crate::effects::worktrees;
use crate::error::EngineError;
use crate::files::FilesError;
use crate::git::{Git, GitError};
use crate::journal::Journal;

/// Where numbers come from.
pub struct Numbers<'a> {
    /// The repository.
    pub git: &'a Git,
    /// What all its worktrees share.
    pub journal: &'a dyn Journal,
}

impl Numbers<'_> {
    /// The number of a new file `FOLDER/PREFIX<number>...`, for somebody. Asked again, they are given the same, as long as
    /// nobody else put a file of that number there.
    pub fn take(&self, folder: &str, prefix: &str, holder: &str) -> Result<u64, EngineError> {
        let least = self.taken(folder, prefix)?.map_or(1, |it| it.saturating_add(1));
        let series = format!("{folder}/{prefix}");
        Ok(self.journal.number(&series, holder, least)?)
    }

    /// The largest number there is, in any worktree or branch.
    fn taken(&self, folder: &str, prefix: &str) -> Result<Option<u64>, EngineError> {
        let mut all = names(&self.git.root().join(folder));
        if !self.git.is_own() {
            for worktree in worktrees::all(self.git).map_err(FilesError::from)? {
                all.extend(names(&worktree.path.join(folder)));
            }
            let touched = touched(self.git, folder).map_err(FilesError::from)?;
            // A folder has the number of its name.
            let name = |path: String| path.split('/').next().unwrap_or_default().to_owned();
            all.extend(touched.into_iter().map(|(path, _)| name(path)));
        }
        Ok(all.iter().filter_map(|it| number(it, prefix)).max())
    }
}

/// The number of a file: what stands between the prefix and whatever is no digit.
fn number(name: &str, prefix: &str) -> Option<u64> {
    let rest = name.strip_prefix(prefix)?;
    let digits = rest.len() - rest.trim_start_matches(|it: char| it.is_ascii_digit()).len();
    rest.get(..digits)?.parse().ok()
}

fn names(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().filter_map(Result::ok);
    entries.map(|it| it.file_name().to_string_lossy().into_owned()).collect()
}

/// The files of a folder that commits not merged here touched, by name, each with the branches that they are on.
pub fn unmerged(git: &Git, folder: &str) -> Result<BTreeMap<String, Vec<String>>, GitError> {
    let mut found: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (name, branch) in touched(git, folder)? {
        let branches = found.entry(name).or_default();
        if !branches.contains(&branch) {
            branches.push(branch);
        }
    }
    found.retain(|name, _| !name.contains('/'));
    Ok(found)
}

/// The files below a folder that commits not merged here touched, each with a branch that it is on.
fn touched(git: &Git, folder: &str) -> Result<Vec<(String, String)>, GitError> {
    let mut found = Vec::new();
    let mut arguments = vec![
        "log",
        "--branches",
        "--exclude=*/HEAD",
        "--remotes",
        "--source",
        "--name-only",
        "--format=%x01%S",
        "-z",
    ];
    if git.head()?.is_some() {
        arguments.extend(["--not", "HEAD"]);
    }
    let below = format!("{}/", folder.trim_end_matches('/'));
    let path = format!(":(top,literal){below}");
    arguments.extend(["--", &path]);
    let said = git.bytes(&arguments)?;
    let mut branch = String::new();
    for piece in String::from_utf8_lossy(&said).split('\0') {
        let piece = piece.trim_matches('\n');
        if let Some(source) = piece.strip_prefix('\u{1}') {
            let short =
                source.trim().strip_prefix("refs/heads/").or(source.trim().strip_prefix("refs/remotes/"));
            short.unwrap_or(source.trim()).clone_into(&mut branch);
        } else if let Some(name) = piece.strip_prefix(&below).filter(|it| !it.is_empty()) {
            found.push((name.to_owned(), branch.clone()));
        }
    }
    Ok(found)
}
