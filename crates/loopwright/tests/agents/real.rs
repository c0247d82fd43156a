//! The agents that are tried, and what each is told so that it talks to a model that plays by a script.

use std::path::{Path, PathBuf};

/// An agent that can be installed.
pub(crate) struct Real {
    pub(crate) name: &'static str,
    /// Whether it is tried without being asked for.
    pub(crate) usual: bool,
    program: &'static str,
    /// Its entry in a configuration. `PROGRAM` and `<URL>` are filled in.
    config: &'static str,
    /// Cases that it cannot be put through, and why.
    cannot: &'static [(&'static str, &'static str)],
}

const KEY: &str = "sk-scripted-0123456789abcdef";

pub(crate) const ALL: &[Real] = &[
    Real {
        name: "claude",
        usual: true,
        program: "claude",
        config: "{kind: claude, program: 'PROGRAM', environment: {ANTHROPIC_BASE_URL: '<URL>', ANTHROPIC_API_KEY: KEY, CLAUDE_CODE_MAX_RETRIES: '1'}}",
        cannot: &[],
    },
    Real {
        name: "codex",
        usual: true,
        program: "codex",
        config: "{kind: codex, program: 'PROGRAM', model: scripted-1, environment: {SCRIPTED_KEY: KEY}, arguments: ['-c', 'model_provider=\"scripted\"', '-c', 'model_providers.scripted={name=\"scripted\", base_url=\"<URL>/v1\", wire_api=\"responses\", env_key=\"SCRIPTED_KEY\", request_max_retries=0, stream_max_retries=0}']}",
        cannot: &[],
    },
    Real {
        name: "gemini",
        usual: true,
        program: "gemini",
        config: "{kind: gemini, program: 'PROGRAM', model: gemini-2.5-flash, environment: {GEMINI_API_KEY: KEY, GOOGLE_GEMINI_BASE_URL: '<URL>'}}",
        cannot: &[],
    },
    Real {
        name: "copilot",
        usual: false,
        program: "copilot",
        config: "{kind: copilot, program: 'PROGRAM', environment: {COPILOT_OFFLINE: 'true', COPILOT_PROVIDER_BASE_URL: '<URL>/v1', COPILOT_PROVIDER_API_KEY: KEY, COPILOT_MODEL: scripted-1, COPILOT_PROVIDER_MAX_PROMPT_TOKENS: '100000', COPILOT_PROVIDER_MAX_OUTPUT_TOKENS: '8000'}}",
        cannot: &[],
    },
    Real {
        name: "opencode",
        usual: false,
        program: "opencode",
        config: "{kind: opencode, program: 'PROGRAM', environment: {OPENCODE_CONFIG: 'OPENCODE'}}",
        cannot: &[("a_limit_is_no_outcome", "opencode does not say that it was a limit")],
    },
    Real {
        name: "acp-codex",
        usual: false,
        program: "codex-acp",
        config: "{acp: ['PROGRAM'], mode: agent-full-access, files: ['~/.codex/config.toml'], environment: {SCRIPTED_KEY: KEY}}",
        cannot: &[("a_limit_is_no_outcome", "codex-acp does not say that it was a limit")],
    },
    Real {
        name: "acp-gemini",
        usual: false,
        program: "gemini",
        config: "{acp: ['PROGRAM', '--acp', '--skip-trust', '-m', 'gemini-2.5-flash'], environment: {GEMINI_API_KEY: KEY, GOOGLE_GEMINI_BASE_URL: '<URL>', GEMINI_CLI_NO_RELAUNCH: 'true'}, files: ['~/.gemini/settings.json']}",
        cannot: &[(
            "is_asked_again_in_its_session",
            "gemini does not find a session again within the minute it was begun",
        )],
    },
];

impl Real {
    fn installed(&self) -> PathBuf {
        let package = self.name.strip_prefix("acp-").filter(|it| *it == "gemini").unwrap_or(self.name);
        let target = Path::new(env!("CARGO_TARGET_TMPDIR")).parent().expect("a target folder");
        target.join("agents").join(package).join("node_modules/.bin").join(self.program)
    }

    /// Why it cannot be tried.
    pub(crate) fn missing(&self) -> Option<String> {
        let there = self.installed().exists();
        (!there).then(|| format!("{} is not installed (`cargo xtask agents {}`)", self.name, self.name))
    }

    /// Why it cannot be put through a case.
    pub(crate) fn cannot(&self, case: &str) -> Option<String> {
        self.cannot.iter().find(|(it, _)| *it == case).map(|(_, why)| (*why).to_owned())
    }

    /// Its entry in a configuration, for a model at an address. What it reads elsewhere is written to a folder.
    pub(crate) fn config(&self, url: &str, folder: &Path) -> String {
        let write = |path: &str, text: String| {
            let path = folder.join(path);
            std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
            std::fs::write(&path, text).expect("a file");
            path.to_string_lossy().into_owned()
        };
        let opencode = format!(
            r#"{{"provider": {{"scripted": {{"npm": "@ai-sdk/openai-compatible", "options": {{"baseURL": "{url}/v1", "apiKey": "{KEY}"}}, "models": {{"scripted-1": {{"name": "scripted-1", "limit": {{"context": 100000, "output": 8000}}, "cost": {{"input": 1, "output": 2}}}}}}}}}}, "model": "scripted/scripted-1", "small_model": "scripted/scripted-1"}}"#
        );
        let codex = format!(
            "model = \"scripted-1\"\nmodel_provider = \"scripted\"\ncheck_for_update_on_startup = false\n[analytics]\nenabled = false\n[model_providers.scripted]\nname = \"scripted\"\nbase_url = \"{url}/v1\"\nwire_api = \"responses\"\nenv_key = \"SCRIPTED_KEY\"\nrequest_max_retries = 1\nstream_max_retries = 1\n"
        );
        let gemini = r#"{"security": {"auth": {"selectedType": "gemini-api-key"}}, "general": {"enableAutoUpdate": false, "maxAttempts": 2}, "privacy": {"usageStatisticsEnabled": false}}"#;
        // In the home of whoever runs this.
        write("home/.codex/config.toml", codex);
        write("home/.gemini/settings.json", gemini.to_owned());
        self.config
            .replace("PROGRAM", &self.installed().to_string_lossy())
            .replace("'OPENCODE'", &format!("'{}'", write("opencode.json", opencode)))
            .replace("<URL>", url)
            .replace("_KEY: KEY", &format!("_KEY: {KEY}"))
    }
}
