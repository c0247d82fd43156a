//! What git is told in a repository: hooks, and settings that have it run programs. They run as whoever commits, outside of
//! any fence, so that nobody who works behind one may leave any behind.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::{self, Read as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use crate::config::CONFIG;
use crate::error::EngineError;
use crate::files::FilesError;
use crate::git::{Git, GitError};

/// Settings that name programs, or where things come from and go to.
const TELLING: &str = r"^(core\.(hookspath|excludesfile|fsmonitor|sshcommand|editor|pager|attributesfile|gitproxy)|filter\.|diff\..*\.(command|textconv)|merge\..*\.driver|alias\.|credential\.|include\.|includeif\.|gpg\.|commit\.gpgsign|url\.|remote\..*\.(url|pushurl|uploadpack|receivepack|proxy)|sequence\.editor|interactive\.|http\.)";

/// As much of a file as is kept to be put back.
const MOST: u64 = 1 << 20;

/// What git is told: what its settings say that matters, and what is in the files. Tokens are among it, so it is kept in
/// memory while somebody works, and written nowhere.
#[derive(Default, PartialEq)]
pub(crate) struct Settings {
    telling: String,
    files: BTreeMap<String, File>,
}

/// A file, so that it can be put back.
#[derive(PartialEq)]
struct File {
    mode: u32,
    digest: blake3::Hash,
    /// Nothing, where it is too big for that.
    bytes: Option<Vec<u8>>,
}

/// What git is told now, for later.
pub(super) fn now(git: &Git) -> Result<Settings, EngineError> {
    let telling = match git.text(&["config", "--local", "--get-regexp", TELLING]) {
        Ok(said) => said,
        // There are none.
        Err(GitError::Failed { .. }) => String::new(),
        Err(error) => return Err(error.into()),
    };
    let files = files_of(git).into_iter().map(|path| (called(git, &path), kept(&path))).collect();
    Ok(Settings { telling, files })
}

fn kept(path: &Path) -> File {
    let mode = path.metadata().map_or(0, |it| it.permissions().mode() & 0o777);
    let mut bytes = Vec::new();
    let mut hasher = blake3::Hasher::new();
    if let Ok(mut file) = fs::File::open(path) {
        // One that cannot be read to its end is told from another by as much as can.
        let _ = (&mut file).take(MOST).read_to_end(&mut bytes);
        hasher.update(&bytes);
        let _ = hasher.update_reader(&mut file);
    }
    let all = hasher.count() <= MOST && path.metadata().is_ok_and(|it| it.len() == hasher.count());
    File { mode, digest: hasher.finalize(), bytes: all.then_some(bytes) }
}

/// The files that tell git what to do, and the one that says who does the work here: that git may ignore.
fn files_of(git: &Git) -> Vec<PathBuf> {
    let hooks = fs::read_dir(git.common().join("hooks")).into_iter().flatten().flatten().map(|it| it.path());
    // Samples are never run.
    let hooks = hooks.filter(|it| it.extension().is_none_or(|it| it != "sample"));
    let own = ["config", "info/attributes", "info/exclude"].map(|it| git.common().join(it));
    let all = own.into_iter().chain(hooks).chain([git.root().join(CONFIG)]);
    all.filter(|it| it.is_file()).collect()
}

/// What a file is called: from the root, or within what git keeps.
fn called(git: &Git, path: &Path) -> String {
    match path.strip_prefix(git.common()) {
        Ok(within) => format!(".git/{}", within.display()),
        Err(_) => CONFIG.to_owned(),
    }
}

/// Where a file is that is called so.
fn place(git: &Git, name: &str) -> PathBuf {
    match name.strip_prefix(".git/") {
        Some(within) => git.common().join(within),
        None => git.root().join(name),
    }
}

/// Puts back what git was told. What had become of it, in words.
pub(super) fn put_back(git: &Git, then: &Settings) -> Result<Vec<String>, EngineError> {
    let now = now(git)?;
    let mut became = Vec::new();
    let names: BTreeSet<&String> = then.files.keys().chain(now.files.keys()).collect();
    for name in names {
        let (before, after) = (then.files.get(name), now.files.get(name));
        // Settings change for many reasons: only those matter that have programs run.
        if before == after || name == ".git/config" && then.telling == now.telling {
            continue;
        }
        // Where git sees it, it is held against the bounds like any file.
        if name == CONFIG && git.ignored(&[CONFIG]).is_none() {
            continue;
        }
        let path = place(git, name);
        let disk = |error| FilesError::Disk { path: path.clone(), error };
        let was = kept_aside(git, &path).map_err(disk)?;
        if let Some(File { bytes: Some(bytes), mode, .. }) = before {
            fs::write(&path, bytes).map_err(disk)?;
            fs::set_permissions(&path, fs::Permissions::from_mode(*mode)).map_err(disk)?;
        } else if path.exists() {
            // It was not there, or was more than could be kept: then it is better not there.
            fs::remove_file(&path).map_err(disk)?;
        }
        let was = was.map(|it| format!("; what it had become is in {}", it.display())).unwrap_or_default();
        became.push(format!("`{name}` was changed, and put back{was}"));
    }
    Ok(became)
}

/// Copies a file to where it is in nobody's way: it may have been a person who changed it.
fn kept_aside(git: &Git, path: &Path) -> io::Result<Option<PathBuf>> {
    if !path.is_file() {
        return Ok(None);
    }
    let folder = git.common().join("loopwright/aside");
    fs::create_dir_all(&folder)?;
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let free = (0_u16..u16::MAX).map(|it| folder.join(format!("{name}-{it}"))).find(|it| !it.exists());
    if let Some(to) = &free {
        fs::copy(path, to)?;
        // A hook that lies there is nothing to run.
        fs::set_permissions(to, fs::Permissions::from_mode(0o600))?;
    }
    Ok(free)
}
