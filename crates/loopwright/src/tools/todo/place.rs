//! The `TODO` folder that is meant: read whole, and changed in several files at once or not at all.

use std::fs::{self, File};
use std::io::{ErrorKind, Write as _};
use std::path::{Path, PathBuf};

use loopwright_engine::files::FilesError;
use loopwright_engine::git::GitError;
use loopwright_engine::journal::{Journal, Memory, Sqlite};
use loopwright_engine::{EngineError, Home, at_work_in};
use loopwright_formats::todo::{Folder, Problem, README, is_id};
use tempfile::NamedTempFile;

use crate::error::{self, CommandError};
use crate::session;

/// What the folder of issues is called.
pub(super) const TODO: &str = "TODO";

/// A folder of issues, and the project it belongs to.
pub(super) struct Place {
    /// The project.
    pub(super) home: Home,
    /// The folder of issues.
    pub(super) folder: PathBuf,
    /// The same from the root of the project on.
    pub(super) within: String,
}

/// A file as it was read, and as it is to be. One that was not there is made, and one that is to be nothing goes.
#[derive(Clone, Debug)]
pub(super) struct Change {
    pub(super) file: String,
    pub(super) before: Option<String>,
    pub(super) after: Option<String>,
}

impl Change {
    /// Another text in a file, if it is another.
    pub(super) fn of(file: &str, before: &str, after: String) -> Option<Self> {
        let is_other = before != after;
        is_other.then(|| Self { file: file.to_owned(), before: Some(before.to_owned()), after: Some(after) })
    }
}

/// Whoever holds it changes issues, and nobody else does: in no worktree of the repository.
pub(super) struct Held(#[expect(dead_code, reason = "it is let go of when it is closed")] File);

impl Place {
    /// The folder of the project that was said, or of the one somebody stands in: at the root of its repository, or in the
    /// nearest folder above that has one.
    pub(super) fn meant(said: Option<&Path>) -> Result<Self, CommandError> {
        let from = match said {
            Some(said) if said.is_dir() => fs::canonicalize(said)
                .map_err(|it| CommandError::user(format!("{}: {it}", said.display())))?,
            Some(said) => {
                return Err(CommandError::user(format!("`{}` is no folder to work in", said.display())));
            }
            None => session::here()?,
        };
        let home = Home::find(&from).map_err(|it| session::told(it.into()))?;
        let has = |it: &&Path| has_issues(&it.join(TODO));
        let root = home.root().to_owned();
        let near = from.ancestors().take_while(|it| !home.is_repository || it.starts_with(&root)).find(has);
        let base = match (home.is_repository, near) {
            (true, Some(_)) if root.join(TODO).is_dir() => root.clone(),
            (_, Some(near)) => near.to_owned(),
            (true, None) => root.clone(),
            (false, None) => from,
        };
        // Without a repository nothing says where a project begins but this.
        let home = if home.is_repository || base == root {
            home
        } else {
            Home::find(&base).map_err(|it| session::told(it.into()))?
        };
        let root = home.root();
        let folder = base.join(TODO);
        let within = folder.strip_prefix(root).unwrap_or(Path::new(TODO)).to_string_lossy().into_owned();
        Ok(Self { home, folder, within })
    }

    /// A file as people are told of it.
    pub(super) fn shown(&self, file: &str) -> String {
        format!("{}/{file}", self.within)
    }

    /// Everything in the folder. One that is not there is empty.
    pub(super) fn read(&self) -> Result<Folder, CommandError> {
        let mut found = Folder::default();
        let entries = match fs::read_dir(&self.folder) {
            Ok(entries) => entries,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(found),
            Err(error) if error.kind() == ErrorKind::NotADirectory => {
                let what = self.folder.display();
                return Err(CommandError::user(format!("{what} is a file, and no folder of issues")));
            }
            Err(error) => return Err(self.broken(&self.folder, &error)),
        };
        let mut names = Vec::new();
        for entry in entries {
            let name = entry.map_err(|it| self.broken(&self.folder, &it))?.file_name();
            let name = name.to_string_lossy().into_owned();
            if name.strip_suffix(".md").is_some() && !name.starts_with('.') {
                names.push(name);
            }
        }
        names.sort_unstable();
        for name in names {
            match read(&self.folder.join(&name)) {
                Ok(None) => {}
                Ok(Some(text)) if name == README => found.readme = Some(text),
                Ok(Some(text)) => found.files.push((name, text)),
                Err((line, message)) => found.unread.push(Problem { file: name, line, message }),
            }
        }
        Ok(found)
    }

    /// Keeps everybody else from changing issues until what it gives is dropped.
    pub(super) fn hold(&self) -> Result<Held, CommandError> {
        let by_it = std::env::var("LOOPWRIGHT_RUN").ok();
        // What the agents of a run write is theirs, by whatever means.
        if let Some(run) = at_work_in(self.home.root()).filter(|it| Some(it) != by_it.as_ref()) {
            return Err(CommandError::with_code(
                format!("the run {run} is at work here, and would take this for what an agent wrote"),
                error::HELD,
            )
            .hinted("say it in another worktree, or once the run waits or is done"));
        }
        let shared = if self.home.is_repository { self.home.git.common() } else { &self.folder };
        if !self.home.is_repository {
            fs::create_dir_all(shared).map_err(|it| self.broken(shared, &it))?;
        }
        let file = File::open(shared).map_err(|it| self.broken(shared, &it))?;
        file.lock().map_err(|it| self.broken(shared, &it))?;
        Ok(Held(file))
    }

    /// Changes files. All that is new is on the disk before the first of them is replaced, so that a folder nobody may write
    /// to, or a disk that is full, leaves every one as it was.
    pub(super) fn write(&self, _held: &Held, changes: &[Change]) -> Result<(), CommandError> {
        if changes.is_empty() {
            return Ok(());
        }
        fs::create_dir_all(&self.folder).map_err(|it| self.broken(&self.folder, &it))?;
        let mut ready: Vec<(NamedTempFile, PathBuf, bool)> = Vec::new();
        for change in changes {
            let named = self.folder.join(&change.file);
            // What is a link stays one.
            let place = fs::canonicalize(&named).unwrap_or(named);
            let there = read(&place).map_err(|(_, why)| self.unfit(&change.file, &why))?;
            if there != change.before {
                let why =
                    if change.before.is_none() { "it is there already" } else { "it was changed meanwhile" };
                return Err(self.unfit(&change.file, why).hinted("nothing was written; try again"));
            }
            if let Some(text) = &change.after {
                let written = written(&place, text).map_err(|it| self.broken(&place, &it))?;
                ready.push((written, place, change.before.is_none()));
            }
        }
        for (file, place, is_new) in ready {
            let put = if is_new { file.persist_noclobber(&place) } else { file.persist(&place) };
            put.map_err(|it| self.broken(&place, &it.error))?;
        }
        for gone in changes.iter().filter(|it| it.after.is_none()) {
            let place = self.folder.join(&gone.file);
            fs::remove_file(&place).map_err(|it| self.broken(&place, &it))?;
        }
        Ok(())
    }

    /// The journal, if there is one to look into.
    pub(super) fn journal(&self) -> Result<Option<Sqlite>, CommandError> {
        if !self.home.journal.exists() {
            return Ok(None);
        }
        Sqlite::open(&self.home.journal).map(Some).map_err(|it| session::told(it.into()))
    }

    /// The journal that gives numbers away. Outside of a repository there may be none, and the files decide.
    pub(super) fn numbering(&self) -> Result<Box<dyn Journal>, CommandError> {
        if self.home.is_repository {
            Home::around(self.home.root()).map_err(|it| session::told(it.into()))?;
            let journal = Sqlite::open(&self.home.journal).map_err(|it| session::told(it.into()))?;
            return Ok(Box::new(journal));
        }
        Ok(self.journal()?.map_or_else(|| Box::new(Memory::default()) as Box<dyn Journal>, |it| Box::new(it)))
    }

    fn unfit(&self, file: &str, why: &str) -> CommandError {
        CommandError::with_code(format!("{}: {why}", self.shown(file)), error::BROKEN)
    }

    #[expect(clippy::unused_self, reason = "it reads as what it is about")]
    fn broken(&self, place: &Path, why: &std::io::Error) -> CommandError {
        CommandError::with_code(format!("{}: {why}", place.display()), error::BROKEN)
    }
}

/// An error of git's, as a person is told it.
pub(super) fn of_git(error: GitError) -> CommandError {
    session::told(EngineError::from(FilesError::from(error)))
}

/// Whether a folder is one of issues, and only called so as little as any other.
fn has_issues(folder: &Path) -> bool {
    let entries = fs::read_dir(folder).into_iter().flatten().filter_map(Result::ok);
    let mut names = entries.map(|it| it.file_name().to_string_lossy().into_owned());
    names.any(|it| it == README || it.strip_suffix(".md").is_some_and(is_id))
}

/// The text of a file; nothing where there is none. Or the line up to which it can be read, and why no further.
fn read(place: &Path) -> Result<Option<String>, (usize, String)> {
    match fs::read(place) {
        Ok(bytes) => match String::from_utf8(bytes) {
            Ok(text) => Ok(Some(text)),
            Err(error) => {
                let before = error.as_bytes().iter().take(error.utf8_error().valid_up_to());
                let line = before.filter(|it| **it == b'\n').count() + 1;
                Err((line, "this is no text in UTF-8".to_owned()))
            }
        },
        Err(error) if error.kind() == ErrorKind::NotFound && !place.is_symlink() => Ok(None),
        Err(error) if error.kind() == ErrorKind::IsADirectory => {
            Err((1, "this is a folder, and no file".to_owned()))
        }
        Err(error) => Err((1, format!("this cannot be read: {error}"))),
    }
}

/// A file beside another one, with what that is to say.
fn written(place: &Path, text: &str) -> std::io::Result<NamedTempFile> {
    let folder = place.parent().unwrap_or(Path::new("."));
    let mut file = tempfile::Builder::new().prefix(".loopwright.").tempfile_in(folder)?;
    file.write_all(text.as_bytes())?;
    let permissions = match place.metadata() {
        Ok(known) => known.permissions(),
        Err(_) => std::os::unix::fs::PermissionsExt::from_mode(0o644),
    };
    file.as_file().set_permissions(permissions)?;
    file.as_file().sync_all()?;
    Ok(file)
}
