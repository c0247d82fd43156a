//! Where changes are, and what their files say.

use std::path::{Path, PathBuf};
use std::{fs, io};

use loopwright_engine::Home;
use loopwright_formats::agentd::change::Files;
use loopwright_formats::agentd::{Problem, Severity};

use crate::error::CommandError;
use crate::session;

/// The changes of a project.
pub(super) struct Changes {
    root: PathBuf,
}

/// Files of a change that say how far it is.
const BRIEF: [&str; 3] = ["STATE.yaml", "proposal.md", "tasks.md"];
/// Its reviews. The rest is nobody's business here.
const REVIEWS: [&str; 3] = ["CHALLENGE.md", "REVIEW.md", "ARCHIVE_REVIEW.md"];

impl Changes {
    /// Those of the project somebody stands in, or of the one around that folder.
    pub(super) fn here() -> Result<Self, CommandError> {
        let here = session::here()?;
        let has_files = |it: &Path| it.join("agentd").is_dir();
        if has_files(&here) {
            return Ok(Self { root: here });
        }
        let around = Home::find(&here).ok().map(|it| it.root().to_owned());
        Ok(Self { root: around.filter(|it| has_files(it)).unwrap_or(here) })
    }

    fn folder(&self, id: &str) -> PathBuf {
        self.root.join("agentd/changes").join(id)
    }

    /// Whether there is such a change that is not archived.
    pub(super) fn is_open(&self, id: &str) -> bool {
        self.folder(id).is_dir()
    }

    /// Whether such a change says how far it is.
    pub(super) fn has_state(&self, id: &str) -> bool {
        self.folder(id).join("STATE.yaml").exists()
    }

    /// The ids of all changes that are not archived, in order.
    pub(super) fn open(&self) -> Vec<String> {
        folders(&self.root.join("agentd/changes"))
    }

    /// The folder of the last change of that id that was archived: in one of the two layouts there are.
    pub(super) fn archived(&self, id: &str) -> Option<PathBuf> {
        self.all_archived().into_iter().rev().find(|it| it.1 == id).map(|it| it.2)
    }

    /// Every archived change: when, its id, its folder, in order.
    pub(super) fn all_archived(&self) -> Vec<(String, String, PathBuf)> {
        let archive = self.root.join("agentd/archive");
        let dated = |name: &str| {
            let (date, id) = name.split_once('-')?;
            (date.len() == 8 && date.bytes().all(|it| it.is_ascii_digit()))
                .then(|| (date.to_owned(), id.to_owned()))
        };
        let found = folders(&archive).into_iter().filter_map(|name| {
            let (date, id) = dated(&name)?;
            let folder = archive.join(&name);
            let nested = folder.join(&id);
            Some((date, id, if nested.is_dir() { nested } else { folder }))
        });
        found.collect()
    }

    /// A path as people see it.
    pub(super) fn within(&self, path: &Path) -> String {
        path.strip_prefix(&self.root).unwrap_or(path).to_string_lossy().into_owned()
    }

    /// The files of a change, archived or not, and where they are.
    pub(super) fn find(&self, id: &str) -> Result<(Files, PathBuf), CommandError> {
        let folder = Some(self.folder(id)).filter(|it| it.is_dir()).or_else(|| self.archived(id));
        let Some(folder) = folder.filter(|_| is_name(id)) else {
            let near = loopwright_core::problem::did_you_mean(id, self.open().iter().map(String::as_str));
            return Err(CommandError::user(format!("there is no change `{id}`"))
                .maybe_hinted(near)
                .hinted("`loopwright change list --all` says which there are"));
        };
        Ok((read(&folder, id), folder))
    }

    /// The files of a change that is not archived.
    pub(super) fn files(&self, id: &str) -> Files {
        read(&self.folder(id), id)
    }

    /// As many of them as say how far it is.
    pub(super) fn brief(&self, id: &str) -> Files {
        let mut files = Files { change_id: id.to_owned(), ..Files::default() };
        take(&self.folder(id), BRIEF.map(str::to_owned), &mut files);
        files
    }
}

/// Whether a folder may be called so.
fn is_name(id: &str) -> bool {
    !id.is_empty() && !id.starts_with('.') && !id.contains(['/', '\\'])
}

/// The texts in the folder of a change.
fn read(folder: &Path, id: &str) -> Files {
    let mut files = Files { change_id: id.to_owned(), ..Files::default() };
    take(folder, BRIEF.into_iter().chain(REVIEWS).map(str::to_owned), &mut files);
    let specs = specs(&folder.join("specs"), &mut files);
    take(folder, specs.into_iter().map(|it| format!("specs/{it}")), &mut files);
    files
}

/// Reads files that may be there. What is no UTF-8 is read as far as it is, and what cannot be read is a problem of this
/// change alone.
fn take(folder: &Path, names: impl IntoIterator<Item = String>, files: &mut Files) {
    for name in names {
        match fs::read(folder.join(&name)) {
            Ok(bytes) => {
                let text = match String::from_utf8(bytes) {
                    Ok(text) => text,
                    Err(odd) => {
                        let at = odd.utf8_error().valid_up_to();
                        files.unreadable.push(no_text(&name, odd.as_bytes().get(..at).unwrap_or_default()));
                        String::from_utf8_lossy(odd.as_bytes()).into_owned()
                    }
                };
                files.texts.insert(name, text);
            }
            Err(error) if is_absent(&error) => {}
            Err(error) => files.unreadable.push(unreadable(&name, &error)),
        }
    }
}

/// Nothing is there. A folder that is none has nothing in it, and is said itself.
fn is_absent(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

fn problem(file: &str, line: Option<usize>, message: String) -> Problem {
    Problem { severity: Severity::High, file: file.to_owned(), line, message }
}

/// What is wrong with a file that is text only up to here.
fn no_text(name: &str, before: &[u8]) -> Problem {
    let before = String::from_utf8_lossy(before).replace("\r\n", "\n").replace('\r', "\n");
    let (line, own) = before
        .rsplit_once('\n')
        .map_or((1, before.as_str()), |(above, own)| (above.matches('\n').count() + 2, own));
    let column = own.trim_start_matches('\u{feff}').chars().count() + 1;
    problem(name, Some(line), format!("this is not text: it is not UTF-8, column {column}"))
}

fn unreadable(name: &str, error: &io::Error) -> Problem {
    let why = match error.kind() {
        io::ErrorKind::IsADirectory => "it is a folder".to_owned(),
        io::ErrorKind::NotADirectory => "it is no folder".to_owned(),
        _ => error.to_string(),
    };
    problem(name, None, format!("this cannot be read: {why}"))
}

fn specs(folder: &Path, files: &mut Files) -> Vec<String> {
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) => {
            if error.kind() != io::ErrorKind::NotFound {
                files.unreadable.push(unreadable("specs", &error));
            }
            return Vec::new();
        }
    };
    let names = entries.filter_map(Result::ok).map(|it| it.file_name().to_string_lossy().into_owned());
    let mut names: Vec<String> = names.filter(|it| it.strip_suffix(".md").is_some()).collect();
    names.sort();
    names
}

/// The names of the folders in one, in order. Hidden ones are nobody's business.
fn folders(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).into_iter().flatten().filter_map(Result::ok);
    let found = entries.filter(|it| it.file_type().is_ok_and(|it| it.is_dir()));
    let names = found.map(|it| it.file_name().to_string_lossy().into_owned());
    let mut names: Vec<String> = names.filter(|it| !it.starts_with('.')).collect();
    names.sort();
    names
}
