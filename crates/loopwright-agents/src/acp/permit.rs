//! What an agent may do when it asks, by the kind of what it wants to do.

use std::collections::VecDeque;

use serde_json::{Value, json};

use super::{Permissions, Turn, shortened};

/// So many tool calls are remembered, in case they are asked for.
const CALLS: usize = 64;

/// Who is asked.
pub(super) struct Gate {
    may: Permissions,
    /// The name of our own tools.
    ours: Option<String>,
    calls: VecDeque<(String, Value)>,
}

impl Gate {
    pub fn new(turn: &Turn) -> Self {
        let ours = turn.mcp.as_ref().map(|server| server.name.clone());
        Self { may: turn.permissions, ours, calls: VecDeque::new() }
    }

    /// News of a session. Calls of helpers the agent has are remembered too, as these ask as well.
    pub fn update(&mut self, params: &Value) {
        let update = &params["update"];
        let Some(id) = update["toolCallId"].as_str().filter(|_| update["sessionUpdate"] == "tool_call")
        else {
            return;
        };
        if self.calls.len() >= CALLS {
            self.calls.pop_front();
        }
        self.calls.push_back((shortened(id), remembered(update)));
    }

    /// The agent asks whether it may. The option that answers it.
    pub fn asked(&self, request: &Value) -> Option<String> {
        let id = shortened(request["toolCall"]["toolCallId"].as_str().unwrap_or_default());
        let begun = self.calls.iter().rev().find(|call| call.0 == id);
        let begun = begun.map_or(&Value::Null, |call| &call.1);
        let wanted = Wanted { asked: request, begun, ours: self.ours.as_deref() };
        let option = wanted.permitted(self.may).then(|| wanted.option(true)).flatten();
        option.or_else(|| wanted.option(false))
    }
}

/// What may be needed of a tool call when it is asked for. What it is given and what it shows can be long.
fn remembered(call: &Value) -> Value {
    let text = |value: &Value| value.as_str().map(shortened);
    let shown = call["content"].as_array().into_iter().flatten();
    let changes =
        shown.filter(|content| content["type"] == "diff").take(1).map(|_| json!({ "type": "diff" }));
    json!({
        "kind": text(&call["kind"]),
        "content": changes.collect::<Vec<_>>(),
        "rawInput": { "server": text(&call["rawInput"]["server"]) },
        "_meta": { "is_mcp_tool_call": call["_meta"]["is_mcp_tool_call"] == true },
    })
}

/// What is known of a tool call: what was said when it began, and what is said when it is asked for. The latter counts.
struct Wanted<'a> {
    asked: &'a Value,
    begun: &'a Value,
    /// The name of our own tools.
    ours: Option<&'a str>,
}

impl Wanted<'_> {
    fn field(&self, name: &str) -> &Value {
        let asked = &self.asked["toolCall"][name];
        if asked.is_null() { &self.begun[name] } else { asked }
    }

    fn kind(&self) -> &str {
        self.field("kind").as_str().unwrap_or("other")
    }

    /// Whether it may.
    fn permitted(&self, may: Permissions) -> bool {
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

    /// The option that says so. None, if there is none that does.
    fn option(&self, permitted: bool) -> Option<String> {
        let kinds = if permitted { ["allow_once", "allow_always"] } else { ["reject_once", "reject_always"] };
        let options = self.asked["options"].as_array()?;
        kinds.iter().find_map(|kind| {
            let option = options.iter().find(|option| option["kind"] == *kind)?;
            option["optionId"].as_str().map(str::to_owned)
        })
    }
}
