//! What somebody configured for a project: its agents and commands.

use std::path::Path;

use indexmap::IndexMap;
use serde::Deserialize;

use crate::documents::{Format, text_of};
use crate::error::EngineError;
use crate::home::Home;

/// Where a project's configuration is, from its root.
pub const CONFIG: &str = ".loopwright/config.yaml";

/// A project's configuration.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "kebab-case", default, deny_unknown_fields)]
pub struct Config {
    /// Agents, by the name roles use.
    pub agents: IndexMap<String, AgentConfig>,
    /// The project's own commands: `build`, `test`, `lint`, `format`, `checks`, and `language`.
    pub project: IndexMap<String, String>,
    /// Worktrees that runs make for themselves.
    pub worktrees: Worktrees,
}

/// Where runs make worktrees of their own, and with what.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case", default, deny_unknown_fields)]
pub struct Worktrees {
    /// The folder they are made in, from the root of the repository; beside the repository, if nothing is said.
    pub folder: Option<String>,
    /// What a new branch begins at, where the workflow does not say; what is checked out, if nothing is said.
    pub base: Option<String>,
    /// Files that git ignores and that go along, such as `.env`: patterns.
    pub copy: Vec<String>,
}

/// One agent.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct AgentConfig {
    /// The program and its arguments, or a shell command.
    pub command: OneOrMany,
}

/// A text, or several.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
pub enum OneOrMany {
    /// One.
    One(String),
    /// Several.
    Many(Vec<String>),
}

impl OneOrMany {
    /// All of them.
    pub fn all(&self) -> Vec<String> {
        match self {
            Self::One(text) => vec![text.clone()],
            Self::Many(texts) => texts.clone(),
        }
    }
}

impl Config {
    /// Reads the configuration of a project. A worktree that has none of its own has that of the main one.
    pub fn of(home: &Home) -> Result<Self, EngineError> {
        let main = home.git.common().parent().filter(|it| home.git.common() == it.join(".git"));
        match main {
            Some(main) if !home.root().join(CONFIG).exists() => Self::at(main),
            _ => Self::at(home.root()),
        }
    }

    /// Reads the configuration in a folder. Where there is none, it is empty.
    fn at(root: &Path) -> Result<Self, EngineError> {
        let path = root.join(CONFIG);
        let bytes = match std::fs::read(&path) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Self::default()),
            Err(error) => return Err(EngineError::Wrong(format!("{CONFIG} cannot be read: {error}"))),
        };
        let wrong = |what: String| EngineError::Wrong(format!("{CONFIG}: {what}"));
        let text = text_of(&bytes).map_err(|it| wrong(it.to_string()))?;
        if text.trim().is_empty() {
            return Ok(Self::default());
        }
        let format = Format::named("yaml").ok_or_else(|| wrong("there is no reader for it".into()))?;
        let document = format.read(text).map_err(|faults| {
            let lines: Vec<String> = faults.iter().map(ToString::to_string).collect();
            wrong(lines.join("\n"))
        })?;
        let mut value = document.value();
        // A part with nothing in it yet says nothing.
        if let serde_json::Value::Object(parts) = &mut value {
            parts.retain(|_, it| !it.is_null());
        }
        let config: Self = serde_json::from_value(value).map_err(|it| wrong(it.to_string()))?;
        let leads_out = |it: &&String| it.starts_with('/') || it.split('/').any(|part| part == "..");
        if let Some(path) = config.worktrees.copy.iter().find(leads_out) {
            return Err(wrong(format!(
                "`worktrees.copy` names files of the repository, and `{path}` leads out of it"
            )));
        }
        let known = ["language", "build", "test", "lint", "format", "checks"];
        match config.project.keys().find(|it| !known.contains(&it.as_str())) {
            None => Ok(config),
            Some(name) => {
                let near = loopwright_core::problem::did_you_mean(name, known).unwrap_or_default();
                Err(wrong(format!("there is no `project.{name}`: {near}")))
            }
        }
    }
}
