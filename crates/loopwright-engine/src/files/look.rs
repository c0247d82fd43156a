//! What was seen of all files at one moment.

use std::collections::BTreeMap;

use crate::git::{Git, GitError};
use crate::scene::Heard;

/// All files at one moment.
#[derive(Clone, Debug, Default)]
pub struct Look {
    /// The name of everything together.
    pub tree: String,
    /// What each file is, by path: its kind and the name of its bytes.
    files: BTreeMap<String, String>,
    /// Repositories within this one that have no commit, which git does not look into. Of earlier looks nobody knows.
    unborn: Option<Vec<String>>,
    /// What commands said that were asked then.
    heard: Heard,
}

/// A file that is not what it was.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Change {
    /// It was not there.
    Added(String),
    /// It is another.
    Changed(String),
    /// It is gone.
    Removed(String),
}

impl Change {
    /// Which file.
    pub fn path(&self) -> &str {
        match self {
            Self::Added(path) | Self::Changed(path) | Self::Removed(path) => path,
        }
    }
}

impl Look {
    /// Reads what git lists of an index: mode, name and stage of each file, then its path.
    pub(super) fn read(tree: &str, listed: &[u8]) -> Self {
        Self::parse(tree, listed, (0, 1))
    }

    /// Reads what git lists of a tree: mode, kind and name.
    pub(super) fn read_tree(tree: &str, listed: &[u8]) -> Self {
        Self::parse(tree, listed, (0, 2))
    }

    fn parse(tree: &str, listed: &[u8], (mode, name): (usize, usize)) -> Self {
        let entries = listed.split(|it| *it == 0).filter(|it| !it.is_empty());
        let files = entries.filter_map(|it| {
            let text = String::from_utf8_lossy(it);
            let (what, path) = text.split_once('\t')?;
            let words: Vec<&str> = what.split(' ').collect();
            Some((path.to_owned(), format!("{} {}", words.get(mode)?, words.get(name)?)))
        });
        Self { tree: tree.to_owned(), files: files.collect(), unborn: None, heard: Heard::default() }
    }

    /// Whether a file is there.
    pub fn holds(&self, path: &str) -> bool {
        self.files.contains_key(path)
    }

    /// All paths.
    pub fn paths(&self) -> impl Iterator<Item = &str> {
        self.files.keys().map(String::as_str)
    }

    /// What a file is: the same bytes have the same name.
    pub fn file(&self, path: &str) -> Option<&str> {
        self.files.get(path).map(String::as_str)
    }

    /// Whether something is a repository of its own.
    pub fn is_repository(&self, path: &str) -> bool {
        self.file(path).is_some_and(|it| it.starts_with("160000 ")) || self.is_unborn(path)
    }

    fn is_unborn(&self, path: &str) -> bool {
        self.unborn.iter().flatten().any(|it| it == path)
    }

    pub(crate) fn heard(&self) -> &Heard {
        &self.heard
    }

    /// The same look, with repositories that have no commit.
    pub(super) fn with_unborn(mut self, unborn: Vec<String>) -> Self {
        self.unborn = Some(unborn);
        self
    }

    /// What is not as it was in an earlier look.
    pub fn since(&self, before: &Self) -> Vec<Change> {
        let begun =
            self.unborn.iter().flatten().filter(|it| before.unborn.is_some() && !before.is_unborn(it));
        let begun: Vec<Change> = begun.cloned().map(Change::Added).collect();
        if self.tree == before.tree {
            return begun;
        }
        let gone = before.files.keys().filter(|it| !self.files.contains_key(*it));
        let mut changes: Vec<Change> = gone.cloned().map(Change::Removed).chain(begun).collect();
        changes.extend(self.files.iter().filter_map(|(path, now)| match before.files.get(path) {
            None => Some(Change::Added(path.clone())),
            Some(then) => (then != now).then(|| Change::Changed(path.clone())),
        }));
        changes.sort_by(|a, b| a.path().cmp(b.path()));
        changes
    }
}

/// A file of a tree.
pub(super) struct Blob {
    pub(super) bytes: Vec<u8>,
    pub(super) executable: Option<bool>,
}

/// What a file was in a tree. `None`: it was not there.
pub(super) fn blob_in(git: &Git, tree: &str, path: &str) -> Result<Option<Blob>, GitError> {
    let listed = git.text(&["ls-tree", "--full-tree", tree, "--", path])?;
    let mut words = listed.split_whitespace();
    let (Some(mode), Some("blob"), Some(name)) = (words.next(), words.next(), words.next()) else {
        return Ok(None);
    };
    let bytes = git.bytes(&["cat-file", "blob", name])?;
    Ok(Some(Blob { bytes, executable: Some(mode == "100755") }))
}
