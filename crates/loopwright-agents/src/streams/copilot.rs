//! `copilot --output-format json`.
//!
//! The last event is `result`; what failed is said before it, in `session.error`. What was used is not said in this mode.

use serde_json::Value;

use super::cause::Fault;
use super::close::{Heard, outcome};
use super::kept::{Answer, Calls, Denials, count, text, words};
use super::{End, Failed, Said, Stream, Usage};

/// A reader of what `copilot` says.
#[derive(Debug, Default)]
pub struct Copilot {
    heard: Heard,
    answer: Answer,
    session: Option<String>,
    denials: Denials,
    calls: Calls,
}

/// A reader of what `copilot` says.
pub fn copilot() -> Copilot {
    Copilot::default()
}

impl Copilot {
    fn event(&mut self, event: &Value) {
        match text(event, "/type") {
            "session.start" => self.knows(text(event, "/data/sessionId")),
            "assistant.turn_start" => self.heard.begun = true,
            "assistant.message" => {
                let content = text(event, "/data/content");
                // What a helper of the agent says is no answer; a message may also be calls alone.
                if text(event, "/data/parentToolCallId").is_empty() && !content.is_empty() {
                    self.answer.set(content);
                }
            }
            "tool.execution_start" => {
                self.calls.add(text(event, "/data/toolCallId"), text(event, "/data/toolName"));
            }
            "tool.execution_complete"
                if ["denied", "rejected"].contains(&text(event, "/data/error/code")) =>
            {
                let call = text(event, "/data/toolCallId");
                self.denials.add(call, self.calls.tool(call), text(event, "/data/error/message"));
            }
            "session.error" => {
                let fault = Fault {
                    status: count(event, "/data/statusCode"),
                    kind: text(event, "/data/errorType"),
                    words: text(event, "/data/message"),
                    besides: "",
                };
                self.fails(fault.failed());
            }
            "abort" => {
                self.fails(Failed::Crashed(format!("interrupted: {}", words(text(event, "/data/reason")))));
            }
            "result" => {
                self.heard.ended = true;
                self.knows(text(event, "/sessionId"));
                let code = event.get("exitCode").and_then(Value::as_i64).unwrap_or_default();
                if code != 0 {
                    self.fails(Failed::Crashed(format!("exit code {code}")));
                }
            }
            _ => {}
        }
    }

    fn knows(&mut self, session: &str) {
        if !session.is_empty() {
            self.session = Some(session.to_owned());
        }
    }

    /// The first failure is the cause of those that follow.
    fn fails(&mut self, failed: Failed) {
        self.heard.failed.get_or_insert(failed);
    }
}

impl Stream for Copilot {
    fn line(&mut self, line: &str) {
        if let Ok(event) = serde_json::from_str::<Value>(line) {
            self.event(&event);
        }
    }

    fn over(self: Box<Self>, end: End, errors: &str) -> Said {
        Said {
            failed: outcome(end, self.heard, errors),
            text: self.answer.take(),
            structured: None,
            session: self.session,
            usage: Usage::default(),
            denied: self.denials.take(),
        }
    }
}
