//! What git is told in a repository: hooks, and settings that have it run programs. They run as whoever commits, outside of
//! any fence, so that nobody who works behind one may leave any behind.

use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value, json};

use crate::config::CONFIG;
use crate::error::EngineError;
use crate::files::FilesError;
use crate::git::{Git, GitError};

/// Settings that name programs, or where things come from and go to.
const TELLING: &str = r"^(core\.(hookspath|excludesfile|fsmonitor|sshcommand|editor|pager|attributesfile|gitproxy)|filter\.|diff\..*\.(command|textconv)|merge\..*\.driver|alias\.|credential\.|include\.|includeif\.|gpg\.|commit\.gpgsign|url\.|remote\..*\.(url|pushurl|uploadpack|receivepack|proxy)|sequence\.editor|interactive\.|http\.)";

/// As much of a file as is kept to be put back.
const MOST: u64 = 64 << 10;

/// What git is told now, for later: what its settings say that matters, and what is in the files.
pub(super) fn now(git: &Git) -> Result<Value, EngineError> {
    let telling = match git.text(&["config", "--local", "--get-regexp", TELLING]) {
        Ok(said) => said,
        // There are none.
        Err(GitError::Failed { .. }) => String::new(),
        Err(error) => return Err(error.into()),
    };
    let mut files = Map::new();
    for path in files_of(git) {
        files.insert(called(git, &path), kept(&path));
    }
    Ok(json!({"telling": telling, "files": files}))
}

/// A file, so that it can be put back: as text, or what it can be told from another by.
fn kept(path: &Path) -> Value {
    let mode = path.metadata().map_or(0, |it| it.permissions().mode() & 0o777);
    let small = path.metadata().is_ok_and(|it| it.len() <= MOST);
    let bytes = fs::read(path).unwrap_or_default();
    match String::from_utf8(bytes) {
        Ok(text) if small => json!({"mode": mode, "text": text}),
        other => {
            let bytes = other.map_or_else(std::string::FromUtf8Error::into_bytes, String::into_bytes);
            json!({"mode": mode, "digest": blake3::hash(&bytes).to_hex().to_string()})
        }
    }
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
pub(super) fn put_back(git: &Git, then: &Value) -> Result<Vec<String>, EngineError> {
    let now = now(git)?;
    if then.is_null() || *then == now {
        return Ok(Vec::new());
    }
    let files = |it: &Value| it["files"].as_object().cloned().unwrap_or_default();
    let (then_files, now_files) = (files(then), files(&now));
    let mut became = Vec::new();
    for name in then_files.keys().chain(now_files.keys().filter(|it| !then_files.contains_key(*it))) {
        let (before, after) = (then_files.get(name), now_files.get(name));
        // Settings change for many reasons: only those matter that have programs run.
        if before == after || name == ".git/config" && then["telling"] == now["telling"] {
            continue;
        }
        // Where git sees it, it is held against the bounds like any file.
        if name == CONFIG && git.ignored(&[CONFIG]).is_none() {
            continue;
        }
        let path = place(git, name);
        let disk = |error| FilesError::Disk { path: path.clone(), error };
        let was = kept_aside(git, &path).map_err(disk)?;
        match before {
            None => fs::remove_file(&path).map_err(disk)?,
            Some(before) => match before["text"].as_str() {
                Some(text) => {
                    fs::write(&path, text).map_err(disk)?;
                    let mode = before["mode"].as_u64().and_then(|it| u32::try_from(it).ok()).unwrap_or(0o644);
                    fs::set_permissions(&path, fs::Permissions::from_mode(mode)).map_err(disk)?;
                }
                // It was more than could be kept: then it is better not there.
                None => fs::remove_file(&path).map_err(disk)?,
            },
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
