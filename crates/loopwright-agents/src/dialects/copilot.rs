//! Copilot CLI.

use std::io;
use std::path::{Path, PathBuf};

use loopwright_engine::agents::Says;
use serde_json::{Value, json};

use super::{Asked, Dialect, Order, SERVER, Speech, variable, words};
use crate::own::Surroundings;
use crate::streams::{Usage, copilot};

pub(super) struct Copilot;

/// Where it says what it used: its stream does not.
const USED: &str = "usage.json";

impl Dialect for Copilot {
    fn name(&self) -> &'static str {
        "copilot"
    }

    fn get(&self) -> String {
        "npm install -g @github/copilot".to_owned()
    }

    fn log_in(&self) -> String {
        "run `copilot` once and log in, or set GH_TOKEN".to_owned()
    }

    fn tried(&self) -> Option<(&'static str, &'static str)> {
        Some(("1.0.102", "1.0.102"))
    }

    fn credentials(&self, surroundings: &Surroundings) -> Vec<(PathBuf, PathBuf)> {
        let folder = surroundings.variable("COPILOT_HOME").unwrap_or(".copilot");
        vec![(PathBuf::from(folder).join("config.json"), ".copilot/config.json".into())]
    }

    fn variables(&self, _: &Surroundings) -> Vec<&'static str> {
        vec!["COPILOT_*", "GH_TOKEN", "GITHUB_TOKEN", "GH_HOST"]
    }

    fn keys(&self) -> &'static [&'static str] {
        &["COPILOT_GITHUB_TOKEN", "GH_TOKEN", "GITHUB_TOKEN", "COPILOT_PROVIDER_API_KEY"]
    }

    fn order(&self, asked: &Asked<'_>) -> io::Result<Order> {
        let (call, may) = (asked.call, asked.call.may);
        let mut arguments = words(&["--output-format", "json", "--no-color"]);
        let mut add = |all: &[&str]| arguments.extend(words(all));
        add(&["--allow-all-tools", "--allow-all-paths"]);
        let shell = may.shell && (may.write || asked.is_fenced);
        for (may, tool) in [(may.write, "write"), (shell, "shell"), (may.network, "url")] {
            if !may {
                add(&["--deny-tool", tool]);
            }
        }
        if !shell {
            add(&["--excluded-tools", "bash"]);
        }
        if let Some(effort) = asked.effort() {
            add(&["--reasoning-effort", effort]);
        }
        add(&["--log-level", "none", "--usage-output-file", &asked.home.join(USED).to_string_lossy()]);
        if let Some(model) = asked.model() {
            add(&["--model", model]);
        }
        if let Some(mut server) = asked.server() {
            server["type"] = "local".into();
            server["tools"] = json!(["*"]);
            let servers = json!({"mcpServers": {SERVER: server}});
            add(&["--additional-mcp-config", &servers.to_string()]);
        }
        if let Some(session) = &call.session {
            add(&[&format!("--resume={}", session.id)]);
        }
        let home = asked.home.join(".copilot");
        std::fs::create_dir_all(&home)?;
        let environment =
            vec![variable("COPILOT_HOME", &home.to_string_lossy()), variable("COPILOT_AUTO_UPDATE", "false")];
        Ok(Order { arguments, environment, input: call.prompt.clone().into_bytes() })
    }

    fn used(&self, home: &Path) -> Option<Usage> {
        let said: Value = serde_json::from_slice(&std::fs::read(home.join(USED)).ok()?).ok()?;
        let models = said.get("modelMetrics")?.as_object()?;
        let sum = |name: &str| {
            let counts =
                models.values().map(|it| it.pointer(&format!("/usage/{name}")).and_then(Value::as_u64));
            counts.into_iter().try_fold(0_u64, |sum, it| Some(sum.saturating_add(it?)))
        };
        let (input, output) = (sum("inputTokens"), sum("outputTokens"));
        Some(Usage { input, output, cached: sum("cacheReadTokens"), money: None })
    }

    fn says(&self) -> Says {
        Says { tokens: true, money: false }
    }

    fn speech(&self, _: &Asked<'_>) -> Speech {
        Speech::Stream(Box::new(copilot::copilot()))
    }
}
