//! opencode, over the Agent Client Protocol: there it asks before it acts, and says what went wrong.

use std::io;
use std::path::PathBuf;

use loopwright_engine::agents::Says;
use serde_json::json;

use super::{Asked, Dialect, Order, Speech, variable, words};
use crate::own::Surroundings;

pub(super) struct Opencode;

impl Dialect for Opencode {
    fn name(&self) -> &'static str {
        "opencode"
    }

    fn get(&self) -> String {
        "npm install -g opencode-ai".to_owned()
    }

    fn log_in(&self) -> String {
        "run `opencode auth login`, or set the key of a provider".to_owned()
    }

    fn tried(&self) -> Option<(&'static str, &'static str)> {
        Some(("1.18.33", "1.18.33"))
    }

    fn credentials(&self, _: &Surroundings) -> Vec<(PathBuf, PathBuf)> {
        let files = [
            ".local/share/opencode/auth.json",
            ".config/opencode/opencode.json",
            ".config/opencode/opencode.jsonc",
        ];
        files.map(PathBuf::from).map(|it| (it.clone(), it)).to_vec()
    }

    fn variables(&self, _: &Surroundings) -> Vec<&'static str> {
        vec![
            "OPENCODE_CONFIG",
            "ANTHROPIC_API_KEY",
            "OPENAI_API_KEY",
            "GEMINI_API_KEY",
            "OPENROUTER_API_KEY",
            "GROQ_API_KEY",
        ]
    }

    fn keys(&self) -> &'static [&'static str] {
        &["ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GEMINI_API_KEY", "OPENROUTER_API_KEY", "GROQ_API_KEY"]
    }

    fn order(&self, asked: &Asked<'_>) -> io::Result<Order> {
        let may = asked.call.may;
        let word = |may: bool| if may { "allow" } else { "deny" };
        let permission = json!({
            "edit": word(may.write),
            "bash": word(may.shell && (may.write || asked.is_fenced)),
            "webfetch": word(may.network),
        });
        let environment = vec![
            variable("OPENCODE_DISABLE_AUTOUPDATE", "1"),
            variable("OPENCODE_DISABLE_MODELS_FETCH", "1"),
            variable("OPENCODE_DISABLE_LSP_DOWNLOAD", "1"),
            variable("OPENCODE_DISABLE_DEFAULT_PLUGINS", "1"),
            variable("OPENCODE_PERMISSION", &permission.to_string()),
        ];
        Ok(Order { arguments: words(&["acp"]), environment, input: Vec::new() })
    }

    fn says(&self) -> Says {
        Says { tokens: false, money: true }
    }

    fn speech(&self, asked: &Asked<'_>) -> Speech {
        Speech::Acp(asked.turn(None))
    }
}
