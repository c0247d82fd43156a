//! Git, through its own binary.

use std::ffi::OsStr;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use loopwright_core::paths::OWN;

use crate::moments::Moments;

/// What somebody's environment may say about another repository than the one that is meant.
pub(crate) const ELSEWHERE: &[&str] = &[
    "GIT_DIR",
    "GIT_WORK_TREE",
    "GIT_INDEX_FILE",
    "GIT_OBJECT_DIRECTORY",
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_COMMON_DIR",
    "GIT_NAMESPACE",
    "GIT_PREFIX",
];

/// Why git did not do something.
#[derive(Debug, thiserror::Error)]
pub enum GitError {
    /// It is not there.
    #[error("git cannot be started: {0}; install git and try again")]
    Missing(std::io::Error),
    /// It said no.
    #[error("`git {command}` failed in {}: {said}", folder.display())]
    Failed {
        /// What it was asked.
        command: String,
        /// Where.
        folder: PathBuf,
        /// What it said.
        said: String,
    },
}

/// A repository and the files that are checked out of it.
#[derive(Clone, Debug)]
pub struct Git {
    /// Where its own files are, for this worktree.
    folder: PathBuf,
    /// Where those are that all worktrees share.
    common: PathBuf,
    /// The root of the files.
    root: PathBuf,
    /// Who is told when something changes.
    pub(crate) moments: Moments,
}

impl Git {
    /// The repository a folder is in, if it is in one.
    pub fn around(folder: &Path) -> Result<Option<Self>, GitError> {
        let mut command = plain(folder);
        command.args([
            "rev-parse",
            "--path-format=absolute",
            "--git-dir",
            "--git-common-dir",
            "--show-toplevel",
        ]);
        let said = command.output().map_err(GitError::Missing)?;
        let text = String::from_utf8_lossy(&said.stdout);
        let mut lines = text.lines().map(PathBuf::from);
        match (lines.next(), lines.next(), lines.next()) {
            (Some(folder), Some(common), Some(root)) if said.status.success() => {
                Ok(Some(Self { folder, common, root, moments: Moments::default() }))
            }
            // It is there, and git does not trust whoever it belongs to: it must not be taken for none.
            _ if String::from_utf8_lossy(&said.stderr).contains("dubious ownership") => {
                let said = String::from_utf8_lossy(&said.stderr).trim().to_owned();
                Err(GitError::Failed { command: "rev-parse".to_owned(), folder: folder.to_owned(), said })
            }
            _ => Ok(None),
        }
    }

    /// The repository another folder is in, for whoever has this one.
    pub(crate) fn at(&self, folder: &Path) -> Result<Option<Self>, GitError> {
        let found = Self::around(folder)?;
        Ok(found.map(|it| Self { moments: self.moments.clone(), ..it }))
    }

    /// The same repository, and somebody who is told when something changes.
    #[must_use]
    pub fn told(self, moments: Moments) -> Self {
        Self { moments, ..self }
    }

    /// A repository by where its files are, whether it is there or not.
    pub(crate) fn named(root: &Path, folder: &Path) -> Self {
        let moments = Moments::default();
        Self { folder: folder.to_owned(), common: folder.to_owned(), root: root.to_owned(), moments }
    }

    /// A repository of our own around a folder that is in none, so that what changes there can be seen and undone.
    pub fn own(root: &Path, folder: &Path) -> Result<Self, GitError> {
        let git = Self::named(root, folder);
        if !folder.join("HEAD").exists() {
            let mut command = plain(root);
            command.arg("init").arg("--quiet").arg("--bare").arg(folder);
            run(command, root, "init", None)?;
            git.text(&["config", "core.bare", "false"])?;
        }
        Ok(git)
    }

    /// Whether it is one of our own: nothing is committed in it.
    pub fn is_own(&self) -> bool {
        self.folder.starts_with(self.root.join(OWN))
    }

    /// The root of the files.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Where the repository keeps its own files for this worktree.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Where it keeps what all worktrees share.
    pub fn common(&self) -> &Path {
        &self.common
    }

    /// Runs a command of git's and gives what it said.
    pub fn bytes<S: AsRef<OsStr>>(&self, arguments: &[S]) -> Result<Vec<u8>, GitError> {
        self.with(arguments, &[], None)
    }

    /// The same, as text without the last line's end.
    pub fn text<S: AsRef<OsStr>>(&self, arguments: &[S]) -> Result<String, GitError> {
        let bytes = self.bytes(arguments)?;
        Ok(String::from_utf8_lossy(&bytes).trim_end_matches(['\n', '\r']).to_owned())
    }

    /// The same, with an index of one's own and something to read.
    pub fn with<S: AsRef<OsStr>>(
        &self,
        arguments: &[S],
        environment: &[(&str, &OsStr)],
        input: Option<&[u8]>,
    ) -> Result<Vec<u8>, GitError> {
        let mut command = plain(&self.root);
        command.env("GIT_DIR", &self.folder).env("GIT_WORK_TREE", &self.root);
        command.envs(environment.iter().copied()).args(arguments);
        let what = arguments.first().map(|it| it.as_ref().to_string_lossy().into_owned()).unwrap_or_default();
        self.moments.around(|| format!("git {what}"), || run(command, &self.root, &what, input))
    }

    /// The first of these paths that git does not look at.
    pub fn ignored<S: AsRef<OsStr>>(&self, paths: &[S]) -> Option<String> {
        let words = ["check-ignore", "--"].map(OsStr::new).into_iter().chain(paths.iter().map(AsRef::as_ref));
        // It fails where there is none.
        let ignored = self.text(&words.collect::<Vec<_>>()).unwrap_or_default();
        ignored.lines().next().map(str::to_owned)
    }

    /// The commit that is checked out, if there is one.
    pub fn head(&self) -> Result<Option<String>, GitError> {
        match self.text(&["rev-parse", "--verify", "--quiet", "HEAD^{commit}"]) {
            Ok(commit) => Ok(Some(commit)),
            Err(GitError::Failed { .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// The branch that work goes back to: the remote's default one, `main` or `master`, the only one there is, or whatever
    /// the main worktree has checked out. `None`: nobody can tell.
    pub fn trunk(&self) -> Result<Option<String>, GitError> {
        let lines = |text: String| text.lines().map(str::to_owned).collect::<Vec<_>>();
        let branches = lines(self.text(&["for-each-ref", "--format=%(refname:lstrip=2)", "refs/heads"])?);
        let remotes = lines(self.text(&["remote"])?);
        let remote =
            remotes.iter().find(|it| *it == "origin").or(remotes.first().filter(|_| remotes.len() == 1));
        if let Some(remote) = remote {
            let head = format!("refs/remotes/{remote}/HEAD");
            let branch = self.text(&["symbolic-ref", "--quiet", &head]);
            let branch =
                branch.ok().and_then(|it| Some(it.strip_prefix(head.strip_suffix("HEAD")?)?.to_owned()));
            if let Some(branch) = branch.filter(|it| branches.contains(it)) {
                return Ok(Some(branch));
            }
        }
        if let Some(usual) = ["main", "master"].into_iter().find(|it| branches.iter().any(|has| has == it)) {
            return Ok(Some(usual.to_owned()));
        }
        if let [only] = branches.as_slice() {
            return Ok(Some(only.clone()));
        }
        let worktrees = self.text(&["worktree", "list", "--porcelain"])?;
        let first = worktrees.split("\n\n").next().unwrap_or_default();
        let named = first.lines().find_map(|it| it.strip_prefix("branch refs/heads/")).map(str::to_owned);
        Ok(named)
    }

    /// What a branch is called now. `None`: it is not there any more.
    pub fn now_called(&self, name: &str) -> Result<Option<String>, GitError> {
        let text = self.text(&["for-each-ref", "--format=%(refname:lstrip=2)", "refs/heads"])?;
        if text.lines().any(|it| it == name) {
            return Ok(Some(name.to_owned()));
        }
        for branch in text.lines() {
            let told = format!("Branch: renamed refs/heads/{name} to refs/heads/{branch}");
            let past =
                self.text(&["log", "--walk-reflogs", "--format=%gs", &format!("refs/heads/{branch}"), "--"]);
            if past.is_ok_and(|it| it.lines().any(|it| it == told)) {
                return Ok(Some(branch.to_owned()));
            }
        }
        Ok(None)
    }

    /// The branch that is checked out; `None` where a commit is.
    pub fn branch(&self) -> Result<Option<String>, GitError> {
        // In full: shortened, it is another where a tag has the same name.
        match self.text(&["symbolic-ref", "--quiet", "HEAD"]) {
            Ok(branch) => Ok(Some(branch.strip_prefix("refs/heads/").unwrap_or(&branch).to_owned())),
            Err(GitError::Failed { .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }
}

/// A git that looks at nothing but where it is told to, asks nobody, and speaks plainly.
fn plain(folder: &Path) -> Command {
    let mut command = Command::new("git");
    for name in ELSEWHERE {
        command.env_remove(name);
    }
    command.env("GIT_TERMINAL_PROMPT", "0").env("GIT_OPTIONAL_LOCKS", "0").env("LC_ALL", "C");
    command.current_dir(folder).stdin(Stdio::null());
    command.args([
        "-c",
        "core.quotepath=off",
        "-c",
        "core.fsmonitor=false",
        "-c",
        "advice.addEmbeddedRepo=false",
    ]);
    command
}

fn run(mut command: Command, folder: &Path, what: &str, input: Option<&[u8]>) -> Result<Vec<u8>, GitError> {
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    if input.is_some() {
        command.stdin(Stdio::piped());
    }
    let mut child = command.spawn().map_err(GitError::Missing)?;
    let writer = child.stdin.take().zip(input).map(|(mut stdin, input)| {
        let input = input.to_vec();
        // It may say much before it has read all.
        std::thread::spawn(move || drop(stdin.write_all(&input)))
    });
    let said = child.wait_with_output().map_err(GitError::Missing)?;
    drop(writer);
    if said.status.success() {
        return Ok(said.stdout);
    }
    let told = if said.stderr.is_empty() { &said.stdout } else { &said.stderr };
    Err(GitError::Failed {
        command: what.to_owned(),
        folder: folder.to_owned(),
        said: String::from_utf8_lossy(told).trim().to_owned(),
    })
}
