//! Claude Code.

use std::io;
use std::path::PathBuf;

use loopwright_engine::agents::Says;
use serde_json::json;

use super::{Asked, Dialect, Order, SERVER, Speech, variable, words};
use crate::own::Surroundings;
use crate::streams::claude;

pub(super) struct Claude;

impl Dialect for Claude {
    fn name(&self) -> &'static str {
        "claude"
    }

    fn get(&self) -> String {
        "npm install -g @anthropic-ai/claude-code".to_owned()
    }

    fn log_in(&self) -> String {
        "run `claude` once and log in, or set ANTHROPIC_API_KEY".to_owned()
    }

    fn tried(&self) -> Option<(&'static str, &'static str)> {
        Some(("2.1.197", "2.1.325"))
    }

    fn credentials(&self, surroundings: &Surroundings) -> Vec<(PathBuf, PathBuf)> {
        let folder = surroundings.variable("CLAUDE_CONFIG_DIR").unwrap_or(".claude");
        vec![(PathBuf::from(folder).join(".credentials.json"), ".claude/.credentials.json".into())]
    }

    fn variables(&self, surroundings: &Surroundings) -> Vec<&'static str> {
        let mut all = vec![
            "ANTHROPIC_*",
            "CLAUDE_CODE_OAUTH_TOKEN",
            "CLAUDE_CODE_USE_*",
            "CLAUDE_CODE_SKIP_*",
            "CLAUDE_CODE_MAX_*",
            "API_TIMEOUT_MS",
        ];
        // Keys of a cloud are for it only where it works through that cloud.
        if surroundings.variable("CLAUDE_CODE_USE_BEDROCK").is_some() {
            all.push("AWS_*");
        }
        if surroundings.variable("CLAUDE_CODE_USE_VERTEX").is_some() {
            all.extend(["GOOGLE_*", "CLOUD_ML_REGION", "VERTEX_*"]);
        }
        all
    }

    fn keys(&self) -> &'static [&'static str] {
        &[
            "ANTHROPIC_API_KEY",
            "ANTHROPIC_AUTH_TOKEN",
            "CLAUDE_CODE_OAUTH_TOKEN",
            "CLAUDE_CODE_USE_BEDROCK",
            "CLAUDE_CODE_USE_VERTEX",
        ]
    }

    fn order(&self, asked: &Asked<'_>) -> io::Result<Order> {
        let call = asked.call;
        let mut arguments = words(&["-p", "--output-format", "stream-json", "--verbose"]);
        let mut add = |all: &[&str]| arguments.extend(words(all));
        // Nobody is there to be asked: what is not named is refused.
        add(&["--permission-mode", "dontAsk"]);
        let (tools, allowed, denied) = tools(asked);
        add(&["--tools", &tools.join(",")]);
        add(&["--allowedTools", &allowed.join(",")]);
        if !denied.is_empty() {
            add(&["--disallowedTools", &denied.join(",")]);
        }
        // Hooks, permissions and settings are not the repository's to bring. What it says about itself is read all the same.
        add(&["--setting-sources", "", "--add-dir", &call.folder.to_string_lossy()]);
        if !call.folder.join("CLAUDE.md").exists() && call.folder.join("AGENTS.md").exists() {
            add(&["--append-system-prompt-file", &call.folder.join("AGENTS.md").to_string_lossy()]);
        }
        if let Some(model) = asked.model() {
            add(&["--model", model]);
        }
        if let Some(effort) = asked.effort() {
            add(&["--effort", effort]);
        }
        if let Some(most) = call.costs {
            add(&["--max-budget-usd", &format!("{}.{:03}", most / 1_000, most % 1_000)]);
        }
        if let Some(mut server) = asked.server() {
            server["type"] = "stdio".into();
            let servers = json!({"mcpServers": {SERVER: server}});
            add(&["--mcp-config", &asked.keep("mcp.json", &servers.to_string())?, "--strict-mcp-config"]);
        }
        if let Some(schema) = &call.schema {
            add(&["--json-schema", &schema.to_string()]);
        }
        if let Some(session) = &call.session {
            add(&["--resume", &session.id]);
        }
        let environment = vec![
            variable("CLAUDE_CODE_ADDITIONAL_DIRECTORIES_CLAUDE_MD", "1"),
            variable("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1"),
            variable("DISABLE_AUTOUPDATER", "1"),
            // Tools it has to look for first are tools it does not use.
            variable("ENABLE_TOOL_SEARCH", "false"),
        ];
        Ok(Order { arguments, environment, input: call.prompt.clone().into_bytes() })
    }

    fn says(&self) -> Says {
        Says { tokens: true, money: true }
    }

    fn speech(&self, _: &Asked<'_>) -> Speech {
        Speech::Stream(Box::new(claude::claude()))
    }
}

/// The tools it has, those it may use without being asked about it, and uses of them it may not make.
fn tools(asked: &Asked<'_>) -> (Vec<&'static str>, Vec<String>, Vec<&'static str>) {
    let may = asked.call.may;
    let mut tools = vec!["Read", "Grep", "Glob", "TodoWrite", "Agent"];
    if may.write {
        tools.extend(["Edit", "Write", "NotebookEdit"]);
    }
    if may.network {
        tools.extend(["WebFetch", "WebSearch"]);
    }
    // A shell writes wherever the system lets it.
    let shell = may.shell && (may.write || asked.is_fenced);
    if shell {
        tools.push("Bash");
    }
    let denied = if shell && !may.git {
        vec!["Bash(git commit:*)", "Bash(git push:*)", "Bash(git reset:*)", "Bash(git checkout:*)"]
    } else {
        Vec::new()
    };
    let mut allowed = words(&tools);
    allowed.push(format!("mcp__{SERVER}"));
    (tools, allowed, denied)
}
