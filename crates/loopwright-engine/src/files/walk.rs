//! Files as the disk has them, those that git ignores as well.

use std::fs;
use std::io;
use std::path::Path;

use super::{Files, FilesError};

impl Files {
    /// All files below a folder, or the file itself, in order. What is git's own is left out; links are not followed.
    pub fn below(&self, path: &str) -> Result<Vec<String>, FilesError> {
        let mut found = Vec::new();
        let mut waiting = vec![path.to_owned()];
        while let Some(path) = waiting.pop() {
            let place = self.root().join(&path);
            let wrong = |error| FilesError::Disk { path: place.clone(), error };
            match fs::symlink_metadata(&place) {
                Ok(what) if what.is_dir() => {
                    for entry in fs::read_dir(&place).map_err(wrong)? {
                        let name = entry.map_err(wrong)?.file_name();
                        let name = name.to_str().ok_or_else(|| {
                            wrong(io::Error::new(io::ErrorKind::InvalidData, "a name in it is not UTF-8"))
                        })?;
                        if name != ".git" {
                            waiting.push(format!("{path}/{name}"));
                        }
                    }
                }
                Ok(_) => found.push(path),
                Err(error) if is_absent(&error) => {}
                Err(error) => return Err(wrong(error)),
            }
        }
        found.sort();
        Ok(found)
    }

    /// Whether something is at a path: a file, a folder or a link.
    pub fn is_there(&self, path: &str) -> bool {
        fs::symlink_metadata(self.root().join(path)).is_ok()
    }

    /// Whether two files are the same: their bytes, or where they lead.
    pub fn are_same(&self, one: &str, other: &str) -> Result<bool, FilesError> {
        let link = |path: &str| fs::read_link(self.root().join(path)).ok();
        match (link(one), link(other)) {
            (None, None) => Ok(self.read(one)? == self.read(other)?),
            (one, other) => Ok(one == other),
        }
    }

    /// Copies a file, or a link as a link.
    pub fn copy(&self, from: &str, to: &str) -> Result<(), FilesError> {
        use std::os::unix::fs::PermissionsExt as _;
        let (source, target) = (self.root().join(from), self.root().join(to));
        let wrong = |error| FilesError::Disk { path: source.clone(), error };
        let what = fs::symlink_metadata(&source).map_err(wrong)?;
        if what.is_symlink() {
            let leads = fs::read_link(&source).map_err(wrong)?;
            let linked = self.changing(to, || link(&leads, &target));
            return linked.map_err(|error| FilesError::Disk { path: target, error });
        }
        let bytes = fs::read(&source).map_err(wrong)?;
        self.put(to, &bytes, Some(what.permissions().mode() & 0o111 != 0))
    }
}

/// Makes a link, in the place of whatever file is there.
fn link(leads: &Path, target: &Path) -> io::Result<()> {
    if fs::read_link(target).is_ok_and(|it| it == leads) {
        return Ok(());
    }
    if let Some(folder) = target.parent() {
        fs::create_dir_all(folder)?;
    }
    match fs::remove_file(target) {
        Err(error) if !is_absent(&error) => return Err(error),
        _ => {}
    }
    std::os::unix::fs::symlink(leads, target)
}

fn is_absent(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}
