//! What an agent may do when it asks, by the kind of what it wants to do.

use serde_json::Value;

use super::Permissions;

/// What is known of a tool call: what was said when it began, and what is said when it is asked for. The latter counts.
pub(super) struct Wanted<'a> {
    pub asked: &'a Value,
    pub begun: &'a Value,
    /// The name of our own tools.
    pub ours: Option<&'a str>,
}

impl Wanted<'_> {
    fn field(&self, name: &str) -> &Value {
        let asked = &self.asked["toolCall"][name];
        if asked.is_null() { &self.begun[name] } else { asked }
    }

    pub fn kind(&self) -> &str {
        self.field("kind").as_str().unwrap_or("other")
    }

    /// Whether it may.
    pub fn permitted(&self, may: Permissions) -> bool {
        if self.is_ours() {
            return true;
        }
        match self.kind() {
            // Another mode is a way to write without asking.
            "edit" | "delete" | "move" | "switch_mode" => may.write,
            "execute" => may.shell,
            "fetch" => may.network,
            // Some show what they change without saying that they change something.
            "other" | "read" | "search" | "think" => may.write || !self.changes(),
            // Who knows what that is.
            _ => may.write && may.shell && may.network,
        }
    }

    fn changes(&self) -> bool {
        self.field("content").as_array().into_iter().flatten().any(|content| content["type"] == "diff")
    }

    /// Codex calls every tool of a server a command, and marks it. The mark is its own and never the model's, which is
    /// why a name alone does not do.
    fn is_ours(&self) -> bool {
        let marked = self.asked["_meta"]["is_mcp_tool_approval"] == true
            || self.begun["_meta"]["is_mcp_tool_call"] == true;
        marked && self.ours.is_some_and(|ours| self.field("rawInput")["server"] == ours)
    }

    /// What it wants, in words.
    pub fn words(&self) -> String {
        let title = self.field("title").as_str().unwrap_or_default();
        let title = title.lines().next().unwrap_or_default();
        let short: String = title.chars().take(200).collect();
        if short.is_empty() { self.kind().to_owned() } else { format!("{}: {short}", self.kind()) }
    }

    /// The option that says so. None, if there is none that does.
    pub fn option(&self, permitted: bool) -> Option<String> {
        let kinds = if permitted { ["allow_once", "allow_always"] } else { ["reject_once", "reject_always"] };
        let options = self.asked["options"].as_array()?;
        kinds.iter().find_map(|kind| {
            let option = options.iter().find(|option| option["kind"] == *kind)?;
            option["optionId"].as_str().map(str::to_owned)
        })
    }
}
