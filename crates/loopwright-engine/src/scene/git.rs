//! What git knows.

use loopwright_core::paths::{FileSet, OWN};
use serde_json::{Value, json};

use super::{Scene, Unseen};
use crate::effects::{TRAILER, worktrees};
use crate::files::{Change, FilesError};
use crate::git::{Git, GitError};

/// How long a commit may take, in seconds: its author's time is from before, the committer's from after.
const AT_ONCE: u64 = 60;

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
            "worktree": self.worktree()?,
            "dirty": committed != self.look.tree,
            "changed_files": self.changed_paths()?,
        }))
    }

    /// Where the worktree at hand is, from the main one. Empty: it is that.
    fn worktree(&self) -> Result<String, Unseen> {
        let git = self.files.git();
        if git.is_own() {
            return Ok(String::new());
        }
        let trees = worktrees::all(git).map_err(FilesError::from)?;
        let main = trees.first().map_or(self.files.root(), |it| it.path.as_path());
        Ok(if worktrees::is_same(main, self.files.root()) {
            String::new()
        } else {
            worktrees::way(main, self.files.root())
        })
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

    /// Everything since the last commit that the run made, as text, whoever committed since: what nobody has judged yet.
    /// Since it began, if it made none.
    pub(super) fn uncommitted(&self) -> Result<String, Unseen> {
        let git = self.files.git();
        if git.is_own() {
            return self.diff();
        }
        let Some(head) = git.head().map_err(FilesError::from)? else { return self.since_commit(None) };
        let base = self.run.site.as_ref().and_then(|it| it.base.as_deref());
        let made = self.last_made(base, &head).map_err(FilesError::from)?;
        match made.as_deref().or(base) {
            // Others are in its place: which of them hold what was judged, nobody can tell.
            Some(from) if !is_before(git, from, &head) => self.since_commit(Some(&head)),
            from => self.since_commit(from),
        }
    }

    /// The last commit up to one that the run made, or an item of it. In a fork it may be of the run it was forked from.
    fn last_made(&self, base: Option<&str>, head: &str) -> Result<Option<String>, GitError> {
        let git = self.files.git();
        let base = base.filter(|it| is_before(git, it, head));
        let range = base.map_or_else(|| head.to_owned(), |it| format!("{it}..{head}"));
        let format =
            format!("--format=%H%x09%P%x09%at%x09%ct%x09%(trailers:key={TRAILER},valueonly,separator=%x2C)");
        let listed = git.text(&["log", &format, "--fixed-strings", "--grep", TRAILER, &range, "--"])?;
        let made: Vec<[&str; 5]> = listed.lines().filter_map(parts).collect();
        let own = made.iter().find(|[.., mark]| self.is_own(mark));
        let known = || made.iter().find(|[.., mark]| self.is_known(mark));
        Ok(own.or_else(known).and_then(|[commit, parents, written, committed, _]| {
            // One that was made again since, as by `git commit --amend`, may hold more than the run put there.
            let again = seconds(committed).saturating_sub(seconds(written)) > AT_ONCE;
            let from = if again { parents.split(' ').next() } else { Some(*commit) };
            from.filter(|it| !it.is_empty()).map(str::to_owned)
        }))
    }

    /// Whether the run, or an item of it, left a mark.
    fn is_own(&self, mark: &str) -> bool {
        mark.split_once(' ').is_some_and(|(run, _)| root(run) == root(self.name))
    }

    /// Whether the run has been where a mark was left.
    fn is_known(&self, mark: &str) -> bool {
        let effect = mark.split_once(' ').map(|(_, effect)| effect.split('/').next().unwrap_or(effect));
        let (state, visit) = effect.and_then(|it| it.rsplit_once('.')).unwrap_or_default();
        self.run.visits.get(state).is_some_and(|it| visit.parse().is_ok_and(|visit: u32| visit <= *it))
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

/// Whether one commit is an ancestor of another. One that is not there any more is none.
fn is_before(git: &Git, one: &str, other: &str) -> bool {
    git.text(&["merge-base", "--is-ancestor", one, other]).is_ok()
}

/// What a run is called that an item may belong to.
fn root(run: &str) -> &str {
    run.split('/').next().unwrap_or(run)
}

/// A line of five parts.
fn parts(line: &str) -> Option<[&str; 5]> {
    line.split('\t').collect::<Vec<_>>().try_into().ok()
}

fn seconds(text: &str) -> u64 {
    text.parse().unwrap_or(0)
}
