//! What an agent may reach of the files of a machine.

use std::path::{Path, PathBuf};

use loopwright_engine::agents::Call;
use loopwright_engine::process::Fence;

use crate::own::Surroundings;

/// What is in somebody's home that no agent needs to read.
const HIDDEN: &[&str] = &[
    ".ssh",
    ".gnupg",
    ".aws",
    ".azure",
    ".kube",
    ".docker/config.json",
    ".netrc",
    ".git-credentials",
    ".npmrc",
    ".pypirc",
    ".pgpass",
    ".password-store",
    ".cargo/credentials",
    ".cargo/credentials.toml",
    ".config/gcloud",
    ".config/gh",
    ".config/hub",
    ".config/google-chrome",
    ".config/chromium",
    ".mozilla",
    ".bash_history",
    ".zsh_history",
    ".claude/.credentials.json",
    ".codex/auth.json",
    ".gemini/oauth_creds.json",
    ".copilot/config.json",
    ".local/share/opencode/auth.json",
    ".local/share/keyrings",
];

/// Caches of tools that agents run: without them, every build begins by fetching, or fails.
const CACHES: &[&str] = &[
    ".cargo/registry",
    ".cargo/git",
    ".cargo/.package-cache",
    ".cargo/.package-cache-mutate",
    ".cargo/.global-cache",
    ".cache/go-build",
    "go/pkg",
    ".npm/_cacache",
    ".cache/pip",
    ".cache/uv",
    ".gradle",
    ".m2/repository",
];

impl Surroundings {
    /// The fence around a call.
    pub(crate) fn fence(&self, call: &Call) -> Fence {
        let in_home =
            |paths: &[&str]| -> Vec<PathBuf> { paths.iter().map(|it| self.home.join(it)).collect() };
        let mut write = vec![call.own.clone()];
        if call.may.write {
            write.push(call.folder.clone());
        }
        write.extend(in_home(CACHES).into_iter().filter(|it| it.exists()));
        write.extend(self.fence.write.iter().map(|it| self.meant(it)));
        let mut hide = in_home(HIDDEN);
        hide.extend(self.fence.hide.iter().map(|it| self.meant(it)));
        // What is worked on is never hidden, wherever it is.
        hide.retain(|it| !call.folder.starts_with(it));
        Fence { write, hide }
    }

    /// A path as somebody wrote it.
    pub(crate) fn meant(&self, path: &str) -> PathBuf {
        match path.strip_prefix("~/") {
            Some(rest) => self.home.join(rest),
            None => Path::new(path).to_owned(),
        }
    }
}
