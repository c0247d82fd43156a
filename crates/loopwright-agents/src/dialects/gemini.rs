//! Gemini CLI.

use std::io;
use std::path::PathBuf;

use loopwright_engine::agents::Says;
use serde_json::{Value, json};

use super::{Asked, Dialect, Order, SERVER, Speech, variable, words};
use crate::own::Surroundings;
use crate::streams::gemini;

pub(super) struct Gemini;

impl Dialect for Gemini {
    fn name(&self) -> &'static str {
        "gemini"
    }

    fn get(&self) -> String {
        "npm install -g @google/gemini-cli".to_owned()
    }

    fn log_in(&self) -> String {
        "run `gemini` once and log in, or set GEMINI_API_KEY".to_owned()
    }

    fn tried(&self) -> Option<(&'static str, &'static str)> {
        Some(("0.61.0", "0.61.0"))
    }

    fn credentials(&self, _: &Surroundings) -> Vec<(PathBuf, PathBuf)> {
        let files = ["oauth_creds.json", "google_accounts.json", "installation_id"];
        files.map(|it| PathBuf::from(".gemini").join(it)).map(|it| (it.clone(), it)).to_vec()
    }

    fn variables(&self, _: &Surroundings) -> Vec<&'static str> {
        vec!["GEMINI_*", "GOOGLE_*", "CODE_ASSIST_ENDPOINT"]
    }

    fn keys(&self) -> &'static [&'static str] {
        &["GEMINI_API_KEY", "GOOGLE_API_KEY", "GOOGLE_APPLICATION_CREDENTIALS"]
    }

    fn order(&self, asked: &Asked<'_>) -> io::Result<Order> {
        let (call, may) = (asked.call, asked.call.may);
        asked.keep(".gemini/settings.json", &settings(asked).to_string())?;
        let mode = match (may.write, may.shell && (may.write || asked.is_fenced)) {
            (_, true) => "yolo",
            (true, false) => "auto_edit",
            (false, false) => "default",
        };
        let mut arguments = words(&["-o", "stream-json", "--skip-trust", "--approval-mode", mode]);
        let mut add = |all: &[&str]| arguments.extend(words(all));
        if let Some(model) = asked.model() {
            add(&["-m", model]);
        }
        if let Some(session) = &call.session {
            add(&["-r", &session.id]);
        }
        let environment = vec![
            variable("GEMINI_TELEMETRY_ENABLED", "false"),
            // One process instead of two, of which the first does not hear that it is to end.
            variable("GEMINI_CLI_NO_RELAUNCH", "true"),
        ];
        Ok(Order { arguments, environment, input: call.prompt.clone().into_bytes() })
    }

    fn says(&self) -> Says {
        Says { tokens: true, money: false }
    }

    fn speech(&self, _: &Asked<'_>) -> Speech {
        Speech::Stream(Box::new(gemini::gemini()))
    }
}

/// What its settings say. There is no other way to tell it of tools.
fn settings(asked: &Asked<'_>) -> Value {
    let may = asked.call.may;
    let theirs = std::fs::read(asked.surroundings.home.join(".gemini/settings.json")).unwrap_or_default();
    let theirs: Value = serde_json::from_slice(&theirs).unwrap_or_default();
    let login = theirs.pointer("/security/auth/selectedType").and_then(Value::as_str);
    let is_set = |name: &str| {
        asked.surroundings.variable(name).is_some() || asked.settings.environment.contains_key(name)
    };
    let login = match login {
        Some(login) => login,
        None if is_set("GEMINI_API_KEY") => "gemini-api-key",
        None if is_set("GOOGLE_GENAI_USE_VERTEXAI") => "vertex-ai",
        None => "oauth-personal",
    };
    let mut excluded: Vec<&str> = Vec::new();
    if !may.shell {
        excluded.push("run_shell_command");
    }
    if !may.write {
        excluded.extend(["write_file", "replace"]);
    }
    if !may.network {
        excluded.extend(["web_fetch", "google_web_search"]);
    }
    let mut settings = json!({
        "security": {"auth": {"selectedType": login}},
        "general": {"enableAutoUpdate": false, "enableAutoUpdateNotification": false, "maxAttempts": 3},
        "privacy": {"usageStatisticsEnabled": false},
        "telemetry": {"enabled": false},
        "tools": {"exclude": excluded},
        "context": {"fileName": ["AGENTS.md", "GEMINI.md"]},
    });
    if let Some(mut server) = asked.server() {
        // Without this the tools are not even offered.
        server["trust"] = true.into();
        settings["mcpServers"] = json!({SERVER: server});
    }
    settings
}
