//! What an agent asked to be allowed, and what the client said to it.

use std::collections::VecDeque;

use serde_json::Value;

use super::REQUESTS;
use super::turn::Turn;
use crate::streams::kept::{name, text};

/// Something the agent asked to be allowed.
#[derive(Debug)]
struct Asked {
    id: Value,
    call: String,
    /// What it wants, in words.
    wanted: String,
    /// The answers that say no.
    refusals: Vec<String>,
}

/// What was asked and not answered yet.
#[derive(Debug, Default)]
pub(super) struct Permissions(VecDeque<Asked>);

impl Permissions {
    pub(super) fn asked(&mut self, id: &Value, message: &Value, turn: &mut Turn) {
        turn.used_tools = true;
        turn.begins_message();
        let options =
            message.pointer("/params/options").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
        let refusals = options.iter().filter(|it| text(it, "/kind").starts_with("reject"));
        let refusals = refusals.map(|it| name(text(it, "/optionId")).to_owned()).take(REQUESTS).collect();
        let call = text(message, "/params/toolCall/toolCallId");
        // What is said when it is asked for counts more than what was said when it began.
        let said = |place: &str| Some(text(message, place)).filter(|it| !it.is_empty());
        let title = said("/params/toolCall/title").unwrap_or(turn.calls.tool(call));
        let kind = said("/params/toolCall/kind").unwrap_or(turn.kinds.tool(call));
        if self.0.len() >= REQUESTS {
            self.0.pop_front();
        }
        let Some(id) = kept(id) else { return };
        self.0.push_back(Asked { id, call: name(call).to_owned(), wanted: wanted(kind, title), refusals });
    }

    pub(super) fn answered(&mut self, id: &Value, answer: &Value, turn: &mut Turn) {
        let id = kept(id);
        let place = self.0.iter().position(|it| Some(&it.id) == id.as_ref());
        let Some(asked) = place.and_then(|it| self.0.remove(it)) else { return };
        let chosen = name(text(answer, "/result/outcome/optionId"));
        // Where no answer says no, to choose none does.
        let is_refused = answer.get("error").is_some()
            || text(answer, "/result/outcome/outcome") == "cancelled"
            || asked.refusals.iter().any(|it| it == chosen);
        if is_refused {
            turn.denials.add(&asked.call, &asked.wanted, "");
        }
    }
}

/// An id is a number or a word. What is longer is kept for nobody.
fn kept(id: &Value) -> Option<Value> {
    id.as_str().map_or_else(|| id.as_i64().map(Value::from), |it| Some(Value::from(name(it))))
}

/// What is wanted: its kind, and what it is called.
fn wanted(kind: &str, title: &str) -> String {
    let kind = if kind.is_empty() { "other" } else { name(kind) };
    let title: String = title.lines().next().unwrap_or_default().chars().take(200).collect();
    if title.is_empty() { kind.to_owned() } else { format!("{kind}: {title}") }
}
