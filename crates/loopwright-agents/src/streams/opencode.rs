//! `opencode run --format json`.
//!
//! There is no last event. A turn is over when a step finished with `stop`; one that finished with `tool-calls` should
//! have been followed by another, and `unknown` is a stream of the model that was cut.

use serde_json::Value;

use super::cause::Fault;
use super::close::{Heard, outcome};
use super::kept::{Answer, Denials, count, millionths, text, words};
use super::{End, Failed, Said, Stream, Usage};

/// What `opencode` says of a call it does not allow.
const NOT_ALLOWED: &[&str] =
    &["rejected permission", "rule which prevents", "permission denied", "not allowed"];

/// A reader of what `opencode` says.
#[derive(Debug, Default)]
pub struct Opencode {
    heard: Heard,
    answer: Answer,
    session: Option<String>,
    usage: Usage,
    dollars: Option<f64>,
    denials: Denials,
    /// Something was denied in the step that runs.
    step_denied: bool,
}

/// A reader of what `opencode` says.
pub fn opencode() -> Opencode {
    Opencode::default()
}

impl Opencode {
    fn event(&mut self, event: &Value) {
        if let Some(session) = event.get("sessionID").and_then(Value::as_str) {
            self.session = Some(session.to_owned());
        }
        match text(event, "/type") {
            "step_start" => {
                self.heard = Heard { begun: true, failed: self.heard.failed.take(), ..Heard::default() };
                self.step_denied = false;
                self.answer.clear();
            }
            "text" => {
                if !self.answer.as_str().is_empty() {
                    self.answer.add("\n");
                }
                self.answer.add(text(event, "/part/text"));
            }
            "tool_use" => self.tool_use(event),
            "step_finish" => self.step_finish(event),
            "error" => self.error(event.get("error").unwrap_or(event)),
            _ => {}
        }
    }

    fn tool_use(&mut self, event: &Value) {
        let said = text(event, "/part/state/error");
        let lower = said.to_lowercase();
        if text(event, "/part/state/status") == "error" && NOT_ALLOWED.iter().any(|it| lower.contains(it)) {
            self.step_denied = true;
            self.denials.add(text(event, "/part/callID"), text(event, "/part/tool"), said);
        }
    }

    fn step_finish(&mut self, event: &Value) {
        self.add_usage(event);
        match text(event, "/part/reason") {
            "stop" | "end-turn" => self.heard.ended = true,
            "content-filter" => self.fails(Failed::Refused("the answer was filtered".to_owned())),
            "length" => {
                let why = "the answer is cut off: it is longer than the model may write";
                self.fails(Failed::Crashed(why.to_owned()));
            }
            "tool-calls" => {
                // What is denied may end the turn, and nothing is said of it. If it goes on after all, a step follows.
                let denied = self.denials.last().filter(|_| self.step_denied);
                self.heard.trouble = denied.map(|it| Failed::Denied(it.clone()));
            }
            reason => {
                let why = format!("the model's stream ended with `{}`", words(reason));
                self.heard.trouble = Some(Failed::Crashed(why));
            }
        }
    }

    fn add_usage(&mut self, event: &Value) {
        let tokens = |name: &str| count(event, &format!("/part/tokens/{name}"));
        let add = |sum: &mut Option<u64>, more: Option<u64>| {
            if let Some(more) = more {
                *sum = Some(sum.unwrap_or(0).saturating_add(more));
            }
        };
        let cached = tokens("cache/read");
        let input = tokens("input").map(|it| {
            it.saturating_add(cached.unwrap_or(0)).saturating_add(tokens("cache/write").unwrap_or(0))
        });
        // Whether thoughts are part of what is written depends on the version: the sum tells.
        let output = match (tokens("total"), input) {
            (Some(total), Some(input)) if total >= input => Some(total - input),
            _ => tokens("output").map(|it| it.saturating_add(tokens("reasoning").unwrap_or(0))),
        };
        add(&mut self.usage.input, input);
        add(&mut self.usage.cached, cached);
        add(&mut self.usage.output, output);
        if let Some(cost) = event.pointer("/part/cost").and_then(Value::as_f64) {
            self.dollars = Some(self.dollars.unwrap_or(0.0) + cost);
        }
    }

    fn error(&mut self, error: &Value) {
        let besides = ["responseHeaders", "responseBody"];
        let besides =
            besides.map(|it| error.pointer(&format!("/data/{it}")).map(Value::to_string).unwrap_or_default());
        let fault = Fault {
            status: count(error, "/data/statusCode"),
            kind: text(error, "/name"),
            words: text(error, "/data/message"),
            besides: &besides.join("\n"),
        };
        let failed = match text(error, "/name") {
            "ProviderAuthError" => Failed::Denied(words(text(error, "/data/message"))),
            _ => fault.failed(),
        };
        self.fails(failed);
    }

    /// The first failure is the cause of those that follow.
    fn fails(&mut self, failed: Failed) {
        self.heard.begun = true;
        self.heard.failed.get_or_insert(failed);
    }
}

impl Stream for Opencode {
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
            usage: Usage { money: self.dollars.and_then(millionths), ..self.usage },
            denied: self.denials.take(),
        }
    }
}
