//! What an agent has of its own in a call: a home with nothing in it but its credentials, a place for what it throws away,
//! and an environment in which only what it needs is said.

use std::fs;
use std::io;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use loopwright_engine::FenceConfig;
use loopwright_engine::agents::Call;

use crate::secrets::Secrets;

/// What every agent is told of the environment it was started from. A name that ends with `*` stands for all that begin
/// so.
const PASSED: &[&str] = &[
    "PATH",
    "LANG",
    "LANGUAGE",
    "LC_*",
    "TZ",
    "TERM",
    "COLORTERM",
    "USER",
    "LOGNAME",
    "SHELL",
    // The way out, and who is trusted on it.
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "NO_PROXY",
    "ALL_PROXY",
    "http_proxy",
    "https_proxy",
    "no_proxy",
    "all_proxy",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "NODE_EXTRA_CA_CERTS",
    "REQUESTS_CA_BUNDLE",
    "CURL_CA_BUNDLE",
    // Where tools are.
    "CARGO_HOME",
    "RUSTUP_HOME",
    "RUSTUP_TOOLCHAIN",
    "GOPATH",
    "GOROOT",
    "GOCACHE",
    "GOMODCACHE",
    "JAVA_HOME",
    "NVM_DIR",
    "NVM_BIN",
    "VOLTA_HOME",
    "PNPM_HOME",
    "PYENV_ROOT",
    "VIRTUAL_ENV",
    "CONDA_PREFIX",
    "NIX_PATH",
    "LD_LIBRARY_PATH",
    "PKG_CONFIG_PATH",
];

/// Tools that look for themselves in the home of whoever runs them, and how they are told where they are.
const TOOLS: &[(&str, &str)] = &[
    ("CARGO_HOME", ".cargo"),
    ("RUSTUP_HOME", ".rustup"),
    ("GOPATH", "go"),
    ("GOCACHE", ".cache/go-build"),
    ("PYENV_ROOT", ".pyenv"),
    ("NVM_DIR", ".nvm"),
    ("GIT_CONFIG_GLOBAL", ".gitconfig"),
];

/// The machine and whose it is.
#[derive(Clone, Debug)]
pub struct Surroundings {
    /// The home of whoever runs this.
    pub home: PathBuf,
    /// What this process was started with.
    pub environment: Vec<(String, String)>,
    /// What is configured about what agents may reach.
    pub fence: FenceConfig,
    /// Whether fences hold on this machine. Only asked when somebody is called.
    pub holds: fn() -> bool,
}

/// What an agent has of its own in a call.
pub(crate) struct Own {
    pub(crate) home: PathBuf,
    pub(crate) temporary: PathBuf,
    pub(crate) secrets: Secrets,
    copies: Vec<Copied>,
}

/// A file of credentials, where it is from, and what it said.
struct Copied {
    from: PathBuf,
    to: PathBuf,
    said: Vec<u8>,
}

impl Surroundings {
    /// This machine, as it is found.
    pub fn here(fence: &FenceConfig) -> Self {
        let text = |it: std::ffi::OsString| it.into_string().ok();
        Self {
            home: std::env::home_dir().unwrap_or_default(),
            environment: std::env::vars_os()
                .filter_map(|(name, it)| Some((text(name)?, text(it)?)))
                .collect(),
            fence: fence.clone(),
            holds: loopwright_engine::process::Fence::holds,
        }
    }

    /// What this process was started with under a name.
    pub fn variable(&self, name: &str) -> Option<&str> {
        self.environment.iter().find(|(it, _)| it == name).map(|(_, value)| value.as_str())
    }

    /// A value in which `$NAME` stands for what this process was started with.
    pub(crate) fn filled(&self, value: &str) -> String {
        match value.strip_prefix('$') {
            Some(name) => self.variable(name).unwrap_or_default().to_owned(),
            None => value.to_owned(),
        }
    }

    /// What an agent is told of the environment: what all are, and what is its own.
    pub(crate) fn passed(&self, own: &[&str]) -> Vec<(String, String)> {
        let fits = |pattern: &&str, name: &str| match pattern.strip_suffix('*') {
            Some(begin) => name.starts_with(begin),
            None => name == *pattern,
        };
        let all = self.environment.iter();
        let said = all.filter(|(name, _)| PASSED.iter().chain(own).any(|it| fits(it, name)));
        let mut said: Vec<(String, String)> = said.cloned().collect();
        for (name, place) in TOOLS {
            let place = self.home.join(place);
            if place.exists() && !said.iter().any(|(it, _)| it == name) {
                said.push(((*name).to_owned(), place.display().to_string()));
            }
        }
        said
    }

    /// What an agent has of its own in a call: files are copied to their places in its home.
    pub(crate) fn own(&self, call: &Call, files: &[(PathBuf, PathBuf)]) -> io::Result<Own> {
        let mut own = Own {
            home: call.own.join("home"),
            temporary: call.own.join("tmp"),
            secrets: Secrets::default(),
            copies: Vec::new(),
        };
        fs::create_dir_all(&own.home)?;
        fs::create_dir_all(&own.temporary)?;
        for (from, to) in files {
            let (from, to) = (self.home.join(from), own.home.join(to));
            let said = match fs::read(&from) {
                Ok(said) => said,
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                Err(error) => return Err(error),
            };
            own.secrets.credentials(&said);
            // One that went on from an earlier call may have been renewed there.
            if !to.exists() {
                write(&to, &said)?;
            }
            own.copies.push(Copied { from, to, said });
        }
        Ok(own)
    }
}

impl Own {
    /// Credentials that were renewed during the call go back to where they are from: others are no longer good. Only what
    /// is plainly the same file with other values does, and only if nobody else changed it meanwhile.
    pub(crate) fn give_back(&mut self) {
        for it in &self.copies {
            let renewed = fs::read(&it.to).unwrap_or_default();
            self.secrets.credentials(&renewed);
            let unchanged = fs::read(&it.from).is_ok_and(|now| now == it.said);
            if renewed != it.said && unchanged && is_alike(&it.said, &renewed) {
                let beside = it.from.with_extension("loopwright");
                // One that cannot be written is as good as not renewed.
                let _ = write(&beside, &renewed).and_then(|()| fs::rename(&beside, &it.from));
            }
        }
    }
}

/// Whether two files of credentials say the same things, with other values.
fn is_alike(before: &[u8], after: &[u8]) -> bool {
    let names = |it: &[u8]| -> Option<Vec<String>> {
        let value: serde_json::Value = serde_json::from_slice(it).ok()?;
        Some(value.as_object()?.keys().cloned().collect())
    };
    matches!((names(before), names(after)), (Some(before), Some(after)) if before.iter().all(|it| after.contains(it)))
}

/// Writes a file nobody else may read.
pub(crate) fn write(path: &Path, said: &[u8]) -> io::Result<()> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    let mut file = fs::OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(path)?;
    io::Write::write_all(&mut file, said)
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "these are tests")]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_renewed_goes_back() {
        let cases = [
            (r#"{"token": "old"}"#, r#"{"token": "new"}"#, None, r#"{"token": "new"}"#),
            (r#"{"token": "old"}"#, "nothing of the kind", None, r#"{"token": "old"}"#),
            (r#"{"token": "old"}"#, r#"{"other": 1}"#, None, r#"{"token": "old"}"#),
            (
                r#"{"token": "old"}"#,
                r#"{"token": "new"}"#,
                Some(r#"{"token": "theirs"}"#),
                r#"{"token": "theirs"}"#,
            ),
        ];
        for (before, renewed, meanwhile, expected) in cases {
            let folder = tempfile::tempdir().unwrap();
            let [from, to] = ["from", "to"].map(|it| folder.path().join(it));
            write(&from, meanwhile.unwrap_or(before).as_bytes()).unwrap();
            write(&to, renewed.as_bytes()).unwrap();
            let copies = vec![Copied { from: from.clone(), to, said: before.as_bytes().to_vec() }];
            let place = folder.path().to_owned();
            let mut own = Own { home: place.clone(), temporary: place, secrets: Secrets::default(), copies };
            own.give_back();
            assert_eq!(fs::read_to_string(&from).unwrap(), expected, "{renewed}");
        }
    }
}
