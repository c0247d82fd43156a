//! What somebody configured: agents, who is wanted for which role, and a project's commands. For everything they do, and
//! for one repository: what the repository says goes first.

mod sources;

use std::path::{Path, PathBuf};

use indexmap::IndexMap;
use loopwright_core::name::Name;
use loopwright_core::problem::did_you_mean;
use serde::Deserialize;

pub use self::sources::{Source, Sources};
use crate::agents::Wish;
use crate::error::EngineError;
use crate::home::Home;

/// Where a project's configuration is, from its root.
pub const CONFIG: &str = ".loopwright/config.yaml";

/// The kinds of agents there are.
const KINDS: &[&str] = &["claude", "codex", "gemini", "opencode", "copilot", "acp", "command"];

/// What is configured.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "kebab-case", default, deny_unknown_fields)]
pub struct Config {
    /// Agents, by the name roles use.
    pub agents: IndexMap<String, AgentConfig>,
    /// Who is wanted for a role: by `WORKFLOW.ROLE`, or by `ROLE` for all workflows.
    pub roles: IndexMap<String, RoleConfig>,
    /// The project's own commands: `build`, `test`, `lint`, `format`, `audit`, `checks`, and `language`.
    pub project: IndexMap<String, String>,
    /// Worktrees that runs make for themselves.
    pub worktrees: Worktrees,
    /// What agents may reach besides.
    pub fence: FenceConfig,
    /// Where each value is from.
    #[serde(skip)]
    pub sources: Sources,
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

/// What agents may reach besides what they need. A path that begins with `~/` is in one's own home.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case", default, deny_unknown_fields)]
pub struct FenceConfig {
    /// Files and folders they may write: caches of tools they run.
    pub write: Vec<String>,
    /// Files and folders they may not read.
    pub hide: Vec<String>,
}

/// One agent.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case", default, deny_unknown_fields)]
pub struct AgentConfig {
    /// Which command line it is: `claude`, `codex`, `gemini`, `copilot`, `opencode`, `acp`, `command`. Its name says so,
    /// if nothing else does.
    pub kind: Option<String>,
    /// Any program that reads a prompt and answers: the program and its arguments, or a shell command.
    pub command: Option<OneOrMany>,
    /// A program that speaks the Agent Client Protocol: the program and its arguments.
    pub acp: Option<OneOrMany>,
    /// Where the program of a known command line is, if its name alone does not find it.
    pub program: Option<String>,
    /// The model.
    pub model: Option<String>,
    /// How hard it is to think, in the agent's own words.
    pub effort: Option<String>,
    /// The mode it works in, in its own words, if it speaks the Agent Client Protocol.
    pub mode: Option<String>,
    /// Arguments besides.
    pub arguments: Vec<String>,
    /// What its environment has besides. `$NAME` stands for what this process has.
    pub environment: IndexMap<String, String>,
    /// Files of one's home it is given a copy of, besides its credentials.
    pub files: Vec<String>,
    /// Whether it runs behind a fence. A known command line does, a command of one's own does not, if nothing is said.
    pub fence: Option<bool>,
}

/// Who is wanted for a role.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case", default, deny_unknown_fields)]
pub struct RoleConfig {
    /// The agents, the one that is wanted first.
    pub agent: Option<OneOrMany>,
    /// The model.
    pub model: Option<String>,
    /// How hard it is to think.
    pub effort: Option<String>,
    /// Arguments besides.
    pub arguments: Vec<String>,
}

/// A text, or several.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
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
    /// Reads what is configured for a project. A worktree that has nothing of its own has that of the main one.
    pub fn of(home: &Home) -> Result<Self, EngineError> {
        let main = home.git.common().parent().filter(|it| home.git.common() == it.join(".git"));
        let root = match main {
            Some(main) if !home.root().join(CONFIG).exists() => main,
            _ => home.root(),
        };
        let (value, sources) =
            sources::read(&[(Source::User, user_file()), (Source::Repository, Some(root.join(CONFIG)))])?;
        let mut config: Self =
            serde_json::from_value(value).map_err(|it| wrong(&sources.file(), &it.to_string()))?;
        config.sources = sources;
        config.fits()?;
        Ok(config)
    }

    /// Whether everything in it can be meant.
    fn fits(&self) -> Result<(), EngineError> {
        let file = self.sources.file();
        let leads_out = |it: &&String| it.starts_with('/') || it.split('/').any(|part| part == "..");
        if let Some(path) = self.worktrees.copy.iter().find(leads_out) {
            let what =
                format!("`worktrees.copy` names files of the repository, and `{path}` leads out of it");
            return Err(wrong(&file, &what));
        }
        let mut reach = self.fence.write.iter().chain(&self.fence.hide);
        if let Some(path) = reach.find(|it| !it.starts_with('/') && !it.starts_with("~/")) {
            let what =
                format!("`fence` names places on this machine: `{path}` has to begin with `/` or `~/`");
            return Err(wrong(&file, &what));
        }
        let known = ["language", "build", "test", "lint", "format", "audit", "checks"];
        if let Some(name) = self.project.keys().find(|it| !known.contains(&it.as_str())) {
            let near = did_you_mean(name, known).unwrap_or_default();
            return Err(wrong(&file, &format!("there is no `project.{name}`: {near}")));
        }
        for (name, agent) in &self.agents {
            let what = match agent.kind.as_deref() {
                _ if agent.command.is_some() && agent.acp.is_some() => {
                    "has `command` and `acp`: it is one or the other"
                }
                Some("command") if agent.command.is_none() => {
                    "is a `command`, and there is none: `command: \"...\"`"
                }
                Some("acp") if agent.acp.is_none() => {
                    "speaks `acp`, and no program is named: `acp: [PROGRAM, ...]`"
                }
                Some(kind) if !KINDS.contains(&kind) => {
                    &format!("has the kind `{kind}`, and it is one of {}", KINDS.join(", "))
                }
                None if agent.command.is_none() && agent.acp.is_none() && !KINDS.contains(&name.as_str()) => {
                    &format!(
                        "is nobody who is known: say its `kind` ({}), its `command`, or `acp`",
                        KINDS.join(", ")
                    )
                }
                _ => continue,
            };
            return Err(wrong(&file, &format!("the agent `{name}` {what}")));
        }
        Ok(())
    }

    /// What is wanted for roles.
    pub fn wishes(&self) -> IndexMap<String, Wish> {
        let wish = |it: &RoleConfig| Wish {
            agents: it.agent.iter().flat_map(OneOrMany::all).map(Name::from).collect(),
            model: it.model.clone(),
            effort: it.effort.clone(),
            arguments: it.arguments.clone(),
        };
        self.roles.iter().map(|(name, it)| (name.clone(), wish(it))).collect()
    }
}

/// Where somebody says what holds for everything they do.
pub fn user_file() -> Option<PathBuf> {
    let folder = std::env::var_os("XDG_CONFIG_HOME").filter(|it| !it.is_empty()).map(PathBuf::from);
    let folder = folder.or_else(|| std::env::home_dir().map(|it| it.join(".config")))?;
    Some(folder.join("loopwright/config.yaml"))
}

fn wrong(file: &Path, what: &str) -> EngineError {
    let file = if file.ends_with(CONFIG) { CONFIG.to_owned() } else { file.display().to_string() };
    EngineError::Wrong(format!("{file}: {what}"))
}
