//! Reading workflows from the disk, as the binary does.

use std::fs;
use std::path::{Path, PathBuf};

use loopwright_core::language::Folder;

/// The root of the repository.
pub(crate) fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Puts the files below a folder into one.
pub(crate) fn files_below(folder: &Path, prefix: &str, into: &mut Folder) {
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        let name = format!("{prefix}{}", path.file_name().expect("a name").to_string_lossy());
        if path.is_dir() {
            files_below(&path, &format!("{name}/"), into);
        } else {
            into.files.insert(name, fs::read(&path).expect("a file"));
        }
    }
}
