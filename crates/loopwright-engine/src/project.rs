//! The project a run works on: which language it is in, and which commands build, test and check it.

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
    /// What the files at the root of a project say.
    pub fn at(root: &Path) -> Self {
        let Some((_, language, commands)) = USUAL.iter().find(|(file, ..)| root.join(file).is_file()) else {
            return Self::default();
        };
        let commands = commands.iter().map(|(name, it)| ((*name).to_owned(), (*it).to_owned()));
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
