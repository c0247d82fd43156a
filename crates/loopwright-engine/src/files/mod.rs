//! The files a run works on: what is there, what changed, and how to undo it.
//!
//! Everything is seen through an index of our own beside the repository's, so that nobody's staging is disturbed and
//! what did not change is not read again. What was seen is kept as a tree in the repository and can be brought back.

mod look;
mod walk;

use std::ffi::OsStr;
use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

pub use self::look::{Change, Look};
use crate::git::{Git, GitError};

/// The files of one worktree.
#[derive(Debug)]
pub struct Files {
    git: Git,
    /// Ours; one look at a time.
    index: Mutex<PathBuf>,
    /// A folder that is looked into also where git ignores it.
    own: Mutex<Option<Own>>,
}

/// The folder of a run's own.
#[derive(Clone, Debug)]
pub(crate) struct Own {
    pub(crate) folder: String,
    /// Documents in it that are one file.
    pub(crate) documents: Vec<String>,
}

/// So many repositories without a commit are passed over at most.
const MOST_UNBORN: usize = 64;

/// The repository without a commit that git complains of.
fn unborn(said: &str) -> Option<&str> {
    let line = said.lines().find_map(|it| it.strip_suffix("' does not have a commit checked out"))?;
    line.split_once('\'').map(|(_, path)| path.trim_end_matches('/'))
}

/// Why files could not be seen or changed.
#[derive(Debug, thiserror::Error)]
pub enum FilesError {
    /// By git.
    #[error(transparent)]
    Git(#[from] GitError),
    /// By the disk.
    #[error("{}: {error}", path.display())]
    Disk {
        /// Which file.
        path: PathBuf,
        /// Why.
        error: io::Error,
    },
}

impl Files {
    /// The files of a worktree, seen under a name: looks of one name share what they know.
    pub fn of(git: Git, name: &str) -> Result<Self, FilesError> {
        let folder = git.folder().join("loopwright");
        fs::create_dir_all(&folder).map_err(|error| FilesError::Disk { path: folder.clone(), error })?;
        let index = folder.join(index(name));
        if !index.exists() {
            // What the repository knows about its files already need not be found out again.
            let theirs = git.folder().join("index");
            if theirs.exists() {
                copy_index(&theirs, &index)
                    .map_err(|error| FilesError::Disk { path: index.clone(), error })?;
            }
        }
        Ok(Self { git, index: Mutex::new(index), own: Mutex::default() })
    }

    /// The repository.
    pub fn git(&self) -> &Git {
        &self.git
    }

    /// The root of the files.
    pub fn root(&self) -> &Path {
        self.git.root()
    }

    /// Looks into the folder of a run's own as well, whatever git is told to ignore: what lies there is what it works on.
    pub(crate) fn see_also(&self, own: Option<Own>) {
        *self.own.lock().unwrap_or_else(PoisonError::into_inner) = own;
    }

    /// The folder of the run's own, if git would not look at all that belongs there.
    fn overlooked(&self) -> Option<String> {
        let own = self.own.lock().unwrap_or_else(PoisonError::into_inner).clone()?;
        if !self.root().join(&own.folder).is_dir() {
            return None;
        }
        // A pattern may be about folders alone, or about what lies in one.
        let asked = [own.folder.clone(), format!("{}/", own.folder)].into_iter().chain(own.documents);
        self.git.ignored(&asked.collect::<Vec<_>>()).map(|_| own.folder)
    }

    /// Looks at all files that are not ignored.
    pub fn look(&self) -> Result<Look, FilesError> {
        let index = self.index.lock().unwrap_or_else(PoisonError::into_inner);
        // Somebody who was killed may have left it locked; nobody else uses it.
        let _ = fs::remove_file(index.with_extension("lock"));
        let git = |arguments: &[&str]| {
            self.git.with(arguments, &[("GIT_INDEX_FILE", index.as_os_str())], None).map_err(FilesError::from)
        };
        let mut without: Vec<String> = Vec::new();
        let own = self.overlooked().map(|it| format!(":(literal){it}"));
        let forced = own.iter().map(|it| vec!["add", "--all", "--force", "--", it]);
        let mut adds: Vec<Vec<&str>> = forced.chain([vec!["add", "--all", "--", "."]]).collect();
        while let Some(add) = adds.last() {
            let paths = without.iter().map(String::as_str);
            match git(&add.iter().copied().chain(paths).collect::<Vec<_>>()) {
                // A repository within this one that has no commit yet is nothing git can name.
                Err(FilesError::Git(GitError::Failed { said, .. })) if without.len() < MOST_UNBORN => {
                    let Some(path) = unborn(&said) else {
                        let (command, folder) = ("add".to_owned(), self.root().to_owned());
                        return Err(GitError::Failed { command, folder, said }.into());
                    };
                    without.push(format!(":(exclude){path}"));
                }
                Err(error) => return Err(error),
                Ok(_) => drop(adds.pop()),
            }
        }
        let tree = git(&["write-tree"])?;
        let listed = git(&["ls-files", "--stage", "-z"])?;
        let unborn = without.iter().map(|it| it.trim_start_matches(":(exclude)").to_owned()).collect();
        Ok(Look::read(String::from_utf8_lossy(&tree).trim(), &listed).with_unborn(unborn))
    }

    /// Looks again as if nothing had been seen since an earlier look: what is ignored now, and was not in between, is not
    /// kept in mind.
    pub fn look_since(&self, tree: &str) -> Result<Look, FilesError> {
        {
            let index = self.index.lock().unwrap_or_else(PoisonError::into_inner);
            self.git.with(&["read-tree", tree], &[("GIT_INDEX_FILE", index.as_os_str())], None)?;
        }
        self.look()
    }

    /// What was seen in an earlier look, by its name.
    pub fn look_back(&self, tree: &str) -> Result<Look, FilesError> {
        let listed = self.git.bytes(&["ls-tree", "-r", "-z", "--full-tree", tree])?;
        Ok(Look::read_tree(tree, &listed))
    }

    /// Keeps a tree from being cleared away, under the name of whoever needs it.
    pub fn keep(&self, name: &str, tree: &str) -> Result<(), FilesError> {
        self.git.text(&["update-ref", &reference(name), tree])?;
        Ok(())
    }

    /// Brings paths back to what they were in a tree: those that were not there are removed.
    pub fn restore(&self, look: &Look, tree: &str, paths: &[&str]) -> Result<(), FilesError> {
        for path in paths {
            match look::blob_in(&self.git, tree, path)? {
                Some(file) => self.put(path, &file.bytes, file.executable)?,
                // A repository of its own is no file, and there is no patch that it could be had back from.
                None if self.root().join(path).is_dir() => self.set_aside(path)?,
                None if look.holds(path) || self.root().join(path).exists() => self.remove(path)?,
                None => {}
            }
        }
        Ok(())
    }

    /// A file as it was in a tree.
    pub(crate) fn read_in(&self, tree: &str, path: &str) -> Result<Option<Vec<u8>>, FilesError> {
        Ok(look::blob_in(&self.git, tree, path)?.map(|it| it.bytes))
    }

    /// Files of a folder that are only read by name. It need not be in a repository, and nothing is made.
    pub(crate) fn by_name(root: &Path) -> Self {
        let nowhere = root.join(loopwright_core::paths::OWN).join("nowhere");
        Self { git: Git::named(root, &nowhere), index: Mutex::new(nowhere), own: Mutex::default() }
    }

    /// Where folders are put that may not be where they were found.
    pub fn aside(&self) -> PathBuf {
        self.git.common().join("loopwright/aside")
    }

    /// Puts a folder where it is in nobody's way.
    fn set_aside(&self, path: &str) -> Result<(), FilesError> {
        let place = self.root().join(path);
        let disk = |error| FilesError::Disk { path: place.clone(), error };
        let name = path.replace('/', "_");
        let free =
            (0_u16..u16::MAX).map(|it| self.aside().join(format!("{name}-{it}"))).find(|it| !it.exists());
        fs::create_dir_all(self.aside()).map_err(disk)?;
        let moved = free.map_or(Ok(()), |to| self.changing(path, || fs::rename(&place, to)));
        moved.map_err(disk)
    }

    /// Has nothing of these paths staged.
    pub fn unstage(&self, paths: &[&str]) -> Result<(), FilesError> {
        if self.git.is_own() || self.git.head()?.is_none() {
            return Ok(());
        }
        let listed = paths.join("\0") + "\0";
        let reset = ["reset", "--quiet", "--pathspec-from-file=-", "--pathspec-file-nul"];
        self.git.with(&reset, &[], Some(listed.as_bytes()))?;
        Ok(())
    }

    /// What changed between two looks, as text: everything, or some paths.
    pub fn patch(&self, from: &str, to: &str, paths: &[&str]) -> Result<String, FilesError> {
        self.patch_by(&[], from, to, paths)
    }

    fn patch_by(
        &self,
        settings: &[&str],
        from: &str,
        to: &str,
        paths: &[&str],
    ) -> Result<String, FilesError> {
        let shown = ["--no-color", "--no-ext-diff", "--no-textconv", "--find-renames", "--binary"];
        let mut arguments = settings.to_vec();
        arguments.push("diff");
        arguments.extend(shown);
        arguments.extend([from, to, "--"]);
        arguments.extend(paths);
        // What a file says about how it is shown is not heard: whoever judges sees what it is.
        let nothing = self.git.text(&["hash-object", "-t", "tree", "/dev/null"])?;
        let bytes = self.git.with(&arguments, &[("GIT_ATTR_SOURCE", OsStr::new(&nothing))], None)?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }

    /// The same for whoever wants it back: as it was to the last byte. What is no text is written as git writes what is
    /// none.
    pub fn kept_patch(&self, from: &str, to: &str, paths: &[&str]) -> Result<String, FilesError> {
        let text = self.patch(from, to, paths)?;
        if !text.contains('\u{fffd}') {
            return Ok(text);
        }
        let disk = |error| FilesError::Disk { path: std::env::temp_dir(), error };
        let mut rules = tempfile::NamedTempFile::new().map_err(disk)?;
        std::io::Write::write_all(&mut rules, b"* -diff\n").map_err(disk)?;
        let setting = format!("core.attributesFile={}", rules.path().display());
        self.patch_by(&["-c", &setting], from, to, paths)
    }

    /// What a file holds. `None`: it is not there.
    pub fn read(&self, path: &str) -> Result<Option<Vec<u8>>, FilesError> {
        let place = self.root().join(path);
        match fs::read(&place) {
            Ok(bytes) => Ok(Some(bytes)),
            // Nor is a folder in its place a file.
            Err(error)
                if matches!(
                    error.kind(),
                    io::ErrorKind::NotFound | io::ErrorKind::NotADirectory | io::ErrorKind::IsADirectory
                ) =>
            {
                Ok(None)
            }
            Err(error) => Err(FilesError::Disk { path: place, error }),
        }
    }

    /// Writes a file as a whole: somebody who reads it sees what it was or what it is, whatever happens.
    pub fn write(&self, path: &str, bytes: &[u8]) -> Result<(), FilesError> {
        self.put(path, bytes, None)
    }

    fn put(&self, path: &str, bytes: &[u8], executable: Option<bool>) -> Result<(), FilesError> {
        let place = self.root().join(path);
        let replaced = self.changing(path, || replace(&place, bytes, executable));
        replaced.map_err(|error| FilesError::Disk { path: place, error })
    }

    /// Changes a file, and tells when.
    fn changing<T>(&self, path: &str, change: impl FnOnce() -> T) -> T {
        self.git.moments.around(|| format!("writing {path}"), change)
    }

    /// Moves a folder to where nothing is, with all that is in it and at one moment. `false`: that cannot be done in one.
    pub(crate) fn rename(&self, from: &str, to: &str) -> Result<bool, FilesError> {
        let [place, target] = [from, to].map(|it| self.root().join(it));
        let Some(around) = target.parent() else { return Ok(false) };
        if !place.is_dir() || place.is_symlink() || target.symlink_metadata().is_ok() {
            return Ok(false);
        }
        let disk = |error| FilesError::Disk { path: target.clone(), error };
        fs::create_dir_all(around).map_err(disk)?;
        // Another disk, a link: then it goes file by file.
        if self.changing(to, || fs::rename(&place, &target)).is_err() {
            return Ok(false);
        }
        for folder in place.parent().into_iter().chain([around]) {
            fs::File::open(folder).and_then(|it| it.sync_all()).map_err(disk)?;
        }
        Ok(true)
    }

    /// Removes a file, and the folders that are empty without it.
    pub fn remove(&self, path: &str) -> Result<(), FilesError> {
        let place = self.root().join(path);
        match self.changing(path, || fs::remove_file(&place)) {
            Ok(()) => {}
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(FilesError::Disk { path: place, error }),
        }
        let mut above = place.parent();
        while let Some(folder) = above.filter(|it| *it != self.root() && it.starts_with(self.root())) {
            // One that holds something stays.
            if fs::remove_dir(folder).is_err() {
                break;
            }
            above = folder.parent();
        }
        Ok(())
    }
}

/// Below this git keeps what runs need.
pub(crate) const REFERENCES: &str = "refs/loopwright/";

/// What keeps the trees of a run from being cleared away.
pub(crate) fn reference(name: &str) -> String {
    // A name of git's cannot hold just anything, and none lies within another.
    let plain: String = name.chars().map(|it| if it.is_ascii_alphanumeric() { it } else { '-' }).collect();
    let own = crate::journal::digest(name.as_bytes());
    format!("{REFERENCES}{plain}-{}", &own[..8])
}

/// Copies an index as old as it is: a file written after it with as many bytes would count as known otherwise.
fn copy_index(from: &Path, to: &Path) -> io::Result<()> {
    fs::copy(from, to)?;
    let written = fs::metadata(from)?.modified()?;
    fs::File::options().write(true).open(to)?.set_modified(written)
}

/// Where what is known of files is kept, by the name it is known under.
pub(crate) fn index(name: &str) -> String {
    // Of an item, the name has parts.
    format!("index-{}", name.replace('/', "-"))
}

/// Replaces a file: the new one is whole on the disk before it takes the place of the old one.
fn replace(place: &Path, bytes: &[u8], executable: Option<bool>) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = place.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(folder)?;
    let before = fs::metadata(place).ok().map(|it| it.permissions());
    let name = place.file_name().unwrap_or(OsStr::new("file")).to_string_lossy();
    let beside = folder.join(format!(".{name}.loopwright-{}", std::process::id()));
    let written = (|| {
        let mut file = fs::File::create(&beside)?;
        file.write_all(bytes)?;
        match (executable, before) {
            (Some(true), _) => file.set_permissions(fs::Permissions::from_mode(0o755))?,
            (None, Some(permissions)) => file.set_permissions(permissions)?,
            _ => {}
        }
        file.sync_all()?;
        fs::rename(&beside, place)?;
        fs::File::open(folder)?.sync_all()
    })();
    if written.is_err() {
        let _ = fs::remove_file(&beside);
    }
    written
}
