//! What git knows.

use loopwright_core::paths::{FileSet, OWN};
use serde_json::{Value, json};

use super::{Scene, Unseen};
use crate::files::{Change, FilesError};

impl Scene<'_> {
    pub(super) fn git(&self) -> Result<Value, Unseen> {
        let git = self.files.git();
        let branch = git.branch().map_err(FilesError::from)?;
        let head = git.head().map_err(FilesError::from)?;
        let committed = match &head {
            Some(head) => git.text(&["rev-parse", &format!("{head}^{{tree}}")]).map_err(FilesError::from)?,
            None => String::new(),
        };
        // What was found when the run began holds, whatever was checked out since, under the name it has now.
        let known = self.run.site.as_ref().and_then(|it| it.trunk.as_deref());
        let base = match known.map(|it| git.now_called(it)).transpose().map_err(FilesError::from)?.flatten() {
            Some(known) => Some(known),
            None => git.trunk().map_err(FilesError::from)?,
        };
        Ok(json!({
            "bare": false,
            "detached": branch.is_none() && head.is_some(),
            "branch": branch.unwrap_or_default(),
            "base": base.unwrap_or_default(),
            "dirty": committed != self.look.tree,
            "changed_files": self.changed_paths()?,
        }))
    }

    /// Everything a commit would hold that the run made, as text: what was not committed when it began is part of that,
    /// so nothing is committed that a reviewer was not shown. An item's begins with the item.
    pub(super) fn diff(&self) -> Result<String, Unseen> {
        let Some(site) = &self.run.site else { return Ok(String::new()) };
        if self.run.of.is_some() || self.files.git().is_own() {
            return self.since(&site.start);
        }
        self.since_commit(site.base.as_deref())
    }

    /// Everything since the last commit, as text: what the next one would hold.
    pub(super) fn uncommitted(&self) -> Result<String, Unseen> {
        let git = self.files.git();
        if git.is_own() {
            return self.diff();
        }
        self.since_commit(git.head().map_err(FilesError::from)?.as_deref())
    }

    fn since_commit(&self, commit: Option<&str>) -> Result<String, Unseen> {
        if let Some(commit) = commit {
            return self.since(commit);
        }
        let nothing = self.files.git().text(&["hash-object", "-t", "tree", "/dev/null"]);
        self.since(&nothing.map_err(FilesError::from)?)
    }

    fn since(&self, from: &str) -> Result<String, Unseen> {
        let named = self.workflow.documents.values().filter_map(|it| it.set.as_ref()).any(FileSet::names_own);
        let without = format!(":(exclude){OWN}");
        let paths: &[&str] = if named { &[] } else { &[&without] };
        Ok(self.files.patch(from, &self.look.tree, paths)?)
    }

    /// Files that are not what they were when the run began; in an item, the one it is an item of.
    pub(super) fn changed_paths(&self) -> Result<Vec<String>, Unseen> {
        let Some(site) = &self.run.site else { return Ok(Vec::new()) };
        let start = self.files.look_back(site.whole.as_ref().unwrap_or(&site.start))?;
        Ok(self.look.since(&start).iter().map(Change::path).map(str::to_owned).collect())
    }
}
