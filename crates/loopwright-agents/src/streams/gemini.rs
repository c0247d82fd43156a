//! `gemini -o stream-json`.
//!
//! The last event is `result`, and its `status` decides: a cut stream ends with exit code 0, and a failure of the
//! service with its status cut down to a byte.

use serde_json::Value;

use super::cause::Fault;
use super::close::{Heard, outcome};
use super::kept::{Answer, Calls, Denials, count, text, words};
use super::{End, Said, Stream, Usage};

/// What `gemini` says of a call it does not allow.
const NOT_ALLOWED: &[&str] = &["denied", "not allowed", "policy", "not permitted", "rejected", "declined"];

/// A reader of what `gemini` says.
#[derive(Debug, Default)]
pub struct Gemini {
    heard: Heard,
    answer: Answer,
    /// A message goes on as long as nothing else is done.
    goes_on: bool,
    session: Option<String>,
    usage: Usage,
    denials: Denials,
    calls: Calls,
    /// The last trouble it spoke of: `result` may fail without saying why.
    trouble: String,
    /// What was said to have failed, once `result` has come.
    failure: Option<String>,
}

/// A reader of what `gemini` says.
pub fn gemini() -> Gemini {
    Gemini::default()
}

impl Gemini {
    fn event(&mut self, event: &Value) {
        match text(event, "/type") {
            "init" => {
                self.heard.begun = true;
                self.session = event.get("session_id").and_then(Value::as_str).map(str::to_owned);
            }
            "message" if text(event, "/role") == "assistant" => {
                let is_more = event.get("delta").and_then(Value::as_bool).unwrap_or_default();
                if !(is_more && self.goes_on) {
                    self.answer.clear();
                }
                self.goes_on = true;
                self.answer.add(text(event, "/content"));
            }
            "message" => self.goes_on = false,
            "tool_use" => {
                self.goes_on = false;
                self.calls.add(text(event, "/tool_id"), text(event, "/tool_name"));
            }
            "tool_result" => self.tool_result(event),
            "error" if text(event, "/severity") != "warning" => {
                let said = text(event, "/message");
                self.trouble = words(said);
                self.heard.trouble = Some(Fault::said(said).failed());
            }
            "result" => self.result(event),
            _ => {}
        }
    }

    fn tool_result(&mut self, event: &Value) {
        self.goes_on = false;
        let said =
            Some(text(event, "/error/message")).filter(|it| !it.is_empty()).unwrap_or(text(event, "/output"));
        let kind = text(event, "/error/type");
        let lower = format!("{kind} {said}").to_lowercase();
        if text(event, "/status") == "error" && NOT_ALLOWED.iter().any(|it| lower.contains(it)) {
            let call = text(event, "/tool_id");
            self.denials.add(call, self.calls.tool(call), said);
        }
    }

    fn result(&mut self, event: &Value) {
        self.heard.ended = true;
        self.usage = Usage {
            input: count(event, "/stats/input_tokens"),
            cached: count(event, "/stats/cached"),
            output: count(event, "/stats/output_tokens"),
            money: None,
        };
        self.failure = (text(event, "/status") != "success").then(|| {
            let said = text(event, "/error/message");
            if said.is_empty() { self.trouble.clone() } else { said.to_owned() }
        });
    }
}

impl Stream for Gemini {
    fn line(&mut self, line: &str) {
        if let Ok(event) = serde_json::from_str::<Value>(line) {
            self.event(&event);
        }
    }

    fn over(mut self: Box<Self>, end: End, errors: &str) -> Said {
        if let Some(failure) = &self.failure {
            // A byte of the status, where there was one. Codes below are the program's own.
            let status = match end {
                End::Exit(code @ 144..256) => u64::try_from(code + 256).ok(),
                _ => None,
            };
            self.heard.failed = Some(Fault { status, ..Fault::said(failure) }.failed());
        }
        Said {
            failed: outcome(end, self.heard, errors),
            text: self.answer.take(),
            structured: None,
            session: self.session,
            usage: self.usage,
            denied: self.denials.take(),
        }
    }
}
