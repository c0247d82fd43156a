//! The project a run works on: which language it is in, and which commands build, test and check it.

use std::fs;
use std::path::Path;

use indexmap::IndexMap;
use serde_json::{Value, json};

use crate::config::{Config, Worktrees};

/// What is known about a project.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Project {
    /// Its language: `rust`, `javascript`, `python`, `go`, or nothing.
    pub language: String,
    /// Its commands: `build`, `test`, `lint`, `format`.
    pub commands: IndexMap<String, String>,
    /// Worktrees that runs make for themselves.
    pub worktrees: Worktrees,
}

/// What a file at the root says about a project: its language and usual commands.
type Usual = (&'static str, &'static str, &'static [(&'static str, &'static str)]);

const USUAL: &[Usual] = &[
    (
        "Cargo.toml",
        "rust",
        &[
            ("build", "cargo build --all-targets"),
            ("test", "cargo test"),
            ("lint", "cargo clippy --all-targets -- -D warnings"),
            ("format", "cargo fmt --check"),
        ],
    ),
    ("go.mod", "go", &[("build", "go build ./..."), ("test", "go test ./..."), ("lint", "go vet ./...")]),
    ("package.json", "javascript", &[("test", "npm test --silent")]),
    ("pyproject.toml", "python", &[("test", "python3 -m pytest -q")]),
    ("setup.py", "python", &[("test", "python3 -m pytest -q")]),
    ("Makefile", "", &[("test", "make test")]),
];

/// Commands that `checks` stands for, in this order. Formatting is not among them: it says nothing about whether
/// something works.
const CHECKS: &[&str] = &["build", "lint", "test"];

impl Project {
    /// What the files at the root of a project say. Where a flake has a shell for developers, that is where commands are
    /// run, unless this is one already, or there is no `nix`.
    pub fn at(root: &Path) -> Self {
        let is_inside = std::env::var_os("IN_NIX_SHELL").is_some();
        Self::found(root, !is_inside && is_program("nix"))
    }

    fn found(root: &Path, with_nix: bool) -> Self {
        let Some((_, language, commands)) = USUAL.iter().find(|(file, ..)| root.join(file).is_file()) else {
            return Self::default();
        };
        let flake = fs::read_to_string(root.join("flake.nix")).unwrap_or_default();
        let wrap = if with_nix && flake.contains("devShell") { "nix develop -c " } else { "" };
        let commands = commands.iter().map(|(name, it)| ((*name).to_owned(), format!("{wrap}{it}")));
        Self { language: (*language).to_owned(), commands: commands.collect(), ..Self::default() }
    }

    /// The same with what somebody configured. An empty command is none.
    #[must_use]
    pub fn with(mut self, config: &Config) -> Self {
        self.worktrees = config.worktrees.clone();
        for (name, command) in &config.project {
            match name.as_str() {
                "language" => self.language.clone_from(command),
                _ => drop(self.commands.insert(name.clone(), command.clone())),
            }
        }
        self.commands.retain(|_, it| !it.trim().is_empty());
        self
    }

    /// The commands a name stands for.
    pub fn commands_of(&self, name: &str) -> Vec<String> {
        match self.commands.get(name) {
            Some(command) => vec![command.clone()],
            None if name == "checks" => {
                CHECKS.iter().filter_map(|it| self.commands.get(*it)).cloned().collect()
            }
            None => Vec::new(),
        }
    }

    /// What facts and texts see.
    pub(crate) fn value(&self) -> Value {
        let mut value = json!({"language": self.language});
        for name in loopwright_core::library::PROJECT_COMMANDS {
            value[*name] = json!(self.commands_of(name).join(" && "));
        }
        value
    }
}

/// Whether a program of this name is found.
fn is_program(name: &str) -> bool {
    let paths = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&paths).any(|it| it.join(name).is_file())
}

#[cfg(test)]
#[expect(clippy::expect_used, reason = "these are tests")]
mod tests {
    use super::*;

    #[test]
    fn commands_run_in_the_shell_of_a_flake() {
        let cases = [
            (Some("{ outputs = _: { devShells.x.default = 1; }; }"), true, "nix develop -c cargo test"),
            (Some("{ outputs = _: { devShells.x.default = 1; }; }"), false, "cargo test"),
            (Some("{ outputs = _: { packages = 1; }; }"), true, "cargo test"),
            (None, true, "cargo test"),
        ];
        for (flake, with_nix, expected) in cases {
            let folder = tempfile::tempdir().expect("a folder");
            fs::write(folder.path().join("Cargo.toml"), "").expect("a file");
            if let Some(text) = flake {
                fs::write(folder.path().join("flake.nix"), text).expect("a file");
            }
            let project = Project::found(folder.path(), with_nix);
            assert_eq!(project.commands_of("test"), [expected], "{flake:?}");
            assert_eq!(project.language, "rust");
            assert!(loopwright_rules::thorough(expected).ends_with("cargo test --no-fail-fast"));
        }
    }
}
