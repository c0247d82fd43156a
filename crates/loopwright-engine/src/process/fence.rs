//! A fence around a command: what it may write and what it may not even read, kept to by the system (Landlock). It
//! holds for the command and for all it starts, and nothing inside can take it down.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use landlock::{
    ABI, Access as _, AccessFs, BitFlags, Ruleset, RulesetAttr as _, RulesetCreatedAttr as _, RulesetStatus,
    Scope, path_beneath_rules,
};
use serde::{Deserialize, Serialize};

/// What is asked of the system. An older one gives as much of it as it knows.
const ASKED: ABI = ABI::V6;

/// What a command may reach of the files there are.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fence {
    /// Where it may write: files, and folders with all below them. Devices it may always write.
    pub write: Vec<PathBuf>,
    /// What it may not read: files, and folders with all below them. Their names can still be listed.
    pub hide: Vec<PathBuf>,
}

impl Fence {
    /// Whether fences hold on this machine.
    pub fn holds() -> bool {
        static HOLDS: OnceLock<bool> = OnceLock::new();
        *HOLDS.get_or_init(|| {
            // Only a thread that is fenced knows, and it stays so: it is one for this alone.
            let tried = std::thread::spawn(|| Self::default().close());
            tried.join().is_ok_and(|it| it.is_ok_and(|holds| holds))
        })
    }

    /// Fences this thread in, and all that it starts from now on. Whether it holds.
    pub(super) fn close(&self) -> io::Result<bool> {
        // Terminals and devices are asked things as ever: a shell without that does not start.
        let write = AccessFs::from_write(ASKED) & !BitFlags::from(AccessFs::IoctlDev);
        let read = AccessFs::from_read(ASKED);
        let names = BitFlags::from(AccessFs::ReadDir);
        let readable = around(&self.hide);
        let fence = Ruleset::default()
            .handle_access(write | read)
            .and_then(|it| it.scope(Scope::from_all(ASKED)))
            .and_then(Ruleset::create)
            .and_then(|it| it.add_rules(path_beneath_rules(["/"], names)))
            .and_then(|it| it.add_rules(path_beneath_rules(readable, read)))
            .and_then(|it| it.add_rules(path_beneath_rules(["/dev"], write | read)))
            .and_then(|it| it.add_rules(path_beneath_rules(&self.write, write | read)))
            .and_then(landlock::RulesetCreated::restrict_self)
            .map_err(io::Error::other)?;
        Ok(fence.ruleset != RulesetStatus::NotEnforced)
    }
}

/// The files and folders that together are everything but what is hidden. Rules only ever add, so that what is hidden
/// has to be gone round.
fn around(hide: &[PathBuf]) -> Vec<PathBuf> {
    let hide: BTreeSet<PathBuf> = hide.iter().filter_map(|it| fs::canonicalize(it).ok()).collect();
    let (mut found, mut open) = (Vec::new(), vec![PathBuf::from("/")]);
    while let Some(path) = open.pop() {
        if hide.contains(&path) {
            continue;
        }
        let leads_there = hide.iter().any(|it| it.starts_with(&path));
        if leads_there { open.extend(within(&path)) } else { found.push(path) }
    }
    found
}

/// What is in a folder. Links are left out: what they lead to is met where it really is, or is hidden.
fn within(folder: &Path) -> impl Iterator<Item = PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().filter_map(Result::ok);
    entries.filter(|it| it.file_type().is_ok_and(|it| !it.is_symlink())).map(|it| it.path())
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "these are tests")]
mod tests {
    use super::*;

    #[test]
    fn what_is_hidden_is_gone_round() {
        let scratch = tempfile::tempdir().unwrap();
        let root = fs::canonicalize(scratch.path()).unwrap();
        for file in ["a/secret/key", "a/open", "b/c/key", "b/c/open"] {
            fs::create_dir_all(root.join(file).parent().unwrap()).unwrap();
            fs::write(root.join(file), "").unwrap();
        }
        std::os::unix::fs::symlink(root.join("a/secret"), root.join("way-in")).unwrap();
        let hide = [root.join("a/secret"), root.join("b/c/key"), root.join("not-there")];
        let found = around(&hide);
        let below: BTreeSet<_> = found.iter().filter_map(|it| it.strip_prefix(&root).ok()).collect();
        assert_eq!(below, BTreeSet::from([Path::new("a/open"), Path::new("b/c/open")]));
        assert!(!found.iter().any(|it| root.starts_with(it)), "a folder above it is open as a whole");
        assert_eq!(around(&[]), [PathBuf::from("/")]);
    }
}
