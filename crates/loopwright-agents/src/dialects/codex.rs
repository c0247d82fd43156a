//! Codex.

use std::io;
use std::path::PathBuf;

use loopwright_engine::agents::Says;
use serde_json::Value;

use super::{Asked, Dialect, Order, SERVER, Speech, variable, words};
use crate::cli::before;
use crate::own::Surroundings;
use crate::streams::codex;

pub(super) struct Codex;

impl Dialect for Codex {
    fn name(&self) -> &'static str {
        "codex"
    }

    fn get(&self) -> String {
        "npm install -g @openai/codex".to_owned()
    }

    fn log_in(&self) -> String {
        "run `codex login`, or set OPENAI_API_KEY".to_owned()
    }

    fn tried(&self) -> Option<(&'static str, &'static str)> {
        Some(("0.166.0", "0.166.0"))
    }

    fn credentials(&self, surroundings: &Surroundings) -> Vec<(PathBuf, PathBuf)> {
        let folder = surroundings.variable("CODEX_HOME").unwrap_or(".codex");
        vec![(PathBuf::from(folder).join("auth.json"), ".codex/auth.json".into())]
    }

    fn variables(&self, _: &Surroundings) -> Vec<&'static str> {
        vec!["OPENAI_*", "CODEX_API_KEY", "AZURE_OPENAI_*"]
    }

    fn keys(&self) -> &'static [&'static str] {
        &["OPENAI_API_KEY", "CODEX_API_KEY"]
    }

    fn order(&self, asked: &Asked<'_>) -> io::Result<Order> {
        let (call, may) = (asked.call, asked.call.may);
        let mut arguments = words(&["exec"]);
        let mut add = |all: &[&str]| arguments.extend(words(all));
        // Two fences do not fit into each other: behind ours, its own cannot be put up, and nothing would run.
        let sandbox = match (asked.is_fenced, may.write) {
            (true, _) => "danger-full-access",
            (false, true) => "workspace-write",
            (false, false) => "read-only",
        };
        add(&["--json", "--skip-git-repo-check", "-s", sandbox]);
        add(&["-C", &call.folder.to_string_lossy()]);
        let mut set = |name: &str, value: &Value| add(&["-c", &format!("{name}={}", toml(value))]);
        set("check_for_update_on_startup", &false.into());
        set("analytics.enabled", &false.into());
        if let Some(effort) = asked.effort() {
            set("model_reasoning_effort", &effort.into());
        }
        if !may.network {
            set("web_search", &"disabled".into());
        }
        if let Some(server) = asked.server() {
            let of = |name: &str| format!("mcp_servers.{SERVER}.{name}");
            for name in ["command", "args", "env"] {
                set(&of(name), &server[name]);
            }
            // Without this its calls fail, and nothing says so.
            set(&of("default_tools_approval_mode"), &"approve".into());
            // One that does not start would go unnoticed.
            set(&of("required"), &true.into());
        }
        for feature in ["plugins", "apps", "unbounded_connection_retries"] {
            add(&["--disable", feature]);
        }
        if !may.shell {
            add(&["--disable", "shell_tool"]);
        }
        // Behind our fence it trusts the folder by itself, and would start whatever servers the repository names. What
        // somebody gave it on purpose is read.
        if !asked.home.join(".codex/config.toml").exists() {
            add(&["--ignore-user-config"]);
        }
        if let Some(model) = asked.model() {
            add(&["-m", model]);
        }
        if let Some(schema) = &call.schema {
            add(&["--output-schema", &asked.keep("schema.json", &schema.to_string())?]);
        }
        arguments.extend(asked.settings.arguments.iter().chain(&call.arguments).cloned());
        if let Some(session) = &call.session {
            arguments.extend(words(&["resume", &session.id]));
        }
        arguments.push("-".to_owned());
        let home = asked.home.join(".codex");
        std::fs::create_dir_all(&home)?;
        let environment = vec![variable("CODEX_HOME", &home.to_string_lossy())];
        Ok(Order { arguments, environment, input: input(asked)? })
    }

    fn takes_more_at_the_end(&self) -> bool {
        false
    }

    fn says(&self) -> Says {
        Says { tokens: true, money: false }
    }

    fn speech(&self, asked: &Asked<'_>) -> Speech {
        Speech::Stream(Box::new(codex::codex(before(asked.call.session.as_ref()))))
    }
}

/// The most characters it reads.
const MOST: usize = 1 << 20;

/// What it reads: what it is told, or where that is, if it is more than it reads.
fn input(asked: &Asked<'_>) -> io::Result<Vec<u8>> {
    let prompt = &asked.call.prompt;
    if prompt.chars().count() <= MOST {
        return Ok(prompt.clone().into_bytes());
    }
    let file = asked.keep("prompt.md", prompt)?;
    Ok(format!("What you are to do is in the file {file}. Read all of it first, then do it.").into_bytes())
}

/// A value as TOML has it.
fn toml(value: &Value) -> String {
    match value {
        Value::Object(all) => {
            let all: Vec<String> = all.iter().map(|(name, it)| format!("{name}={}", toml(it))).collect();
            format!("{{{}}}", all.join(","))
        }
        Value::Array(all) => format!("[{}]", all.iter().map(toml).collect::<Vec<_>>().join(",")),
        // A text is written as JSON has it, all of which TOML reads.
        other => other.to_string(),
    }
}
