//! What is kept of what an agent says: its last words, what it used, what it was not allowed. Never more than that.

use std::collections::VecDeque;

use serde_json::{Value, json};

use super::answer::Answer;
use super::permit::Wanted;
use super::{Permissions, Turn, cause, shortened, usage};
use crate::streams::{Failed, Said, Usage};

/// So many tool calls are remembered, in case they are asked for.
const CALLS: usize = 64;

/// So much of what was not allowed is kept.
const DENIED: usize = 64;

pub(super) struct Listener {
    may: Permissions,
    ours: Option<String>,
    said: Said,
    /// Whether the agent was asked yet. What it says before is not the answer.
    asked: bool,
    /// Whether the agent tells the session from its beginning.
    again: bool,
    answer: Answer,
    /// Whether the agent says that it failed.
    broken: bool,
    /// The number of the last error it named.
    number: Option<i64>,
    calls: VecDeque<(String, Value)>,
    /// What the session had cost before.
    paid: u64,
}

impl Listener {
    pub fn new(turn: &Turn) -> Self {
        Self {
            may: turn.permissions,
            ours: turn.mcp.as_ref().map(|server| server.name.clone()),
            said: Said { session: turn.session.clone(), ..Said::default() },
            asked: false,
            again: false,
            answer: Answer::default(),
            broken: false,
            number: None,
            calls: VecDeque::new(),
            paid: 0,
        }
    }

    /// The agent is to tell the session from its beginning.
    pub fn again(&mut self) {
        self.again = true;
    }

    pub fn session(&mut self, session: &str) {
        self.said.session = Some(session.to_owned());
    }

    /// The agent is asked now. What it said so far was said before.
    pub fn begin(&mut self) {
        self.asked = true;
        self.paid = self.said.usage.money.take().unwrap_or(0);
        self.answer = Answer::default();
        (self.broken, self.number) = (false, None);
    }

    /// News of a session. Other sessions are those of helpers the agent has, whose words are not its own.
    pub fn update(&mut self, params: &Value) {
        if self.said.session.is_some() && params["sessionId"].as_str() != self.said.session.as_deref() {
            return;
        }
        let update = &params["update"];
        match update["sessionUpdate"].as_str() {
            Some("agent_message_chunk") if self.asked => self.answer.chunk(update),
            Some("tool_call") => self.call(update),
            Some("tool_call_update") => self.answer.acted(update),
            // Some tell the session from its beginning only after they were asked. The commands come last.
            Some("user_message_chunk" | "available_commands_update") if self.again => {
                self.answer = Answer::default();
            }
            Some("session_info_update") => self.info(&update["_meta"]["codex"]),
            Some("usage_update") => {
                if let Some(money) = usage::money(update) {
                    self.said.usage.money = Some(money);
                }
            }
            _ => {}
        }
    }

    /// Codex ends a turn that failed like any other, and says only here that it did.
    fn info(&mut self, codex: &Value) {
        match codex["threadStatus"]["type"].as_str() {
            Some("systemError") => self.broken = true,
            Some(_) => self.broken = false,
            None => {
                let info = codex["error"]["codexErrorInfo"].as_object();
                let number =
                    info.and_then(|info| info.values().find_map(|why| why["httpStatusCode"].as_i64()));
                self.number = number.or(self.number);
            }
        }
    }

    fn call(&mut self, update: &Value) {
        self.answer.act();
        let Some(id) = update["toolCallId"].as_str() else { return };
        if self.calls.len() >= CALLS {
            self.calls.pop_front();
        }
        self.calls.push_back((shortened(id), remembered(update)));
    }

    /// The agent asks whether it may. The option that answers it.
    pub fn asked(&mut self, request: &Value) -> Option<String> {
        self.answer.act();
        let id = shortened(request["toolCall"]["toolCallId"].as_str().unwrap_or_default());
        let begun = self.calls.iter().rev().find(|call| call.0 == id);
        let begun = begun.map_or(&Value::Null, |call| &call.1);
        let wanted = Wanted { asked: request, begun, ours: self.ours.as_deref() };
        let option = wanted.permitted(self.may).then(|| wanted.option(true)).flatten();
        if option.is_some() {
            return option;
        }
        if self.said.denied.len() < DENIED {
            self.said.denied.push(wanted.words());
        }
        wanted.option(false)
    }

    /// The answer is complete.
    pub fn end(&mut self, result: &Value) {
        let money = self.said.usage.money;
        self.said.usage = Usage { money, ..usage::tokens(result) };
        let used = &self.said.usage;
        let ending = self.answer.ending(used.input.is_some() || used.output.is_some());
        self.said.failed = match result["stopReason"].as_str() {
            Some("end_turn") if self.broken => Some(cause::of_last_words(ending.text, self.number)),
            Some("end_turn") => cause::of_text(&ending),
            Some("refusal") => Some(Failed::Refused(worded("the model refuses", self.answer.text()))),
            Some("cancelled") => Some(Failed::Cancelled),
            Some("max_tokens") => {
                Some(Failed::Crashed("the answer is longer than the model can give".to_owned()))
            }
            Some("max_turn_requests") => Some(Failed::Crashed("it took more steps than it may".to_owned())),
            reason => Some(Failed::Crashed(format!("the turn ended, and why is not known: {reason:?}"))),
        };
    }

    pub fn fail(&mut self, failed: Failed) {
        self.said.failed = Some(failed);
    }

    /// What it comes to.
    pub fn take(&mut self) -> Said {
        let mut said = std::mem::take(&mut self.said);
        self.answer.text().clone_into(&mut said.text);
        // What the session had cost before is not what this turn cost. Some begin to count anew.
        let money = said.usage.money.filter(|_| self.asked);
        said.usage.money = money.map(|money| money.checked_sub(self.paid).unwrap_or(money));
        said
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
        "title": text(&call["title"]),
        "content": changes.collect::<Vec<_>>(),
        "rawInput": { "server": text(&call["rawInput"]["server"]) },
        "_meta": { "is_mcp_tool_call": call["_meta"]["is_mcp_tool_call"] == true },
    })
}

fn worded(what: &str, text: &str) -> String {
    let text: String = text.chars().take(500).collect();
    if text.is_empty() { what.to_owned() } else { format!("{what}: {text}") }
}
