//! `codex exec --json`.
//!
//! A turn ends with `turn.completed` or `turn.failed`. What is called an error before it may be a warning, or a try that
//! is made again: it only counts if nothing else says why the stream stopped.

use serde_json::Value;

use super::cause::Fault;
use super::close::{Heard, outcome};
use super::kept::{Answer, Denials, count, text};
use super::{End, Said, Stream, Usage};

/// What the system says of a command that a sandbox kept from doing something.
const KEPT_FROM: &[&str] = &["read-only file system", "operation not permitted", "permission denied"];

/// What `codex` says of a call that nobody allowed.
const NOT_ALLOWED: &[&str] =
    &["requires approval", "approval", "denied", "rejected", "declined", "not allowed"];

/// A reader of what `codex` says.
#[derive(Debug, Default)]
pub struct Codex {
    before: Usage,
    heard: Heard,
    answer: Answer,
    session: Option<String>,
    usage: Usage,
    denials: Denials,
}

/// A reader of what `codex` says. It counts for the whole session, so what that had used `before` is taken off.
pub fn codex(before: Usage) -> Codex {
    Codex { before, ..Codex::default() }
}

impl Codex {
    fn event(&mut self, event: &Value) {
        match text(event, "/type") {
            "thread.started" => {
                self.session = event.get("thread_id").and_then(Value::as_str).map(str::to_owned);
            }
            "turn.started" => {
                self.heard = Heard { begun: true, ..Heard::default() };
            }
            "item.completed" => {
                if let Some(item) = event.get("item") {
                    self.item(item);
                }
            }
            "turn.completed" => {
                self.heard.ended = true;
                self.heard.failed = None;
                let since =
                    |pointer: &str, before: Option<u64>| count(event, pointer).map(|it| since(it, before));
                self.usage = Usage {
                    input: since("/usage/input_tokens", self.before.input),
                    cached: since("/usage/cached_input_tokens", self.before.cached),
                    output: since("/usage/output_tokens", self.before.output),
                    money: None,
                };
            }
            "turn.failed" => {
                self.heard.ended = true;
                self.heard.failed = Some(Fault::said(text(event, "/error/message")).failed());
            }
            "error" => self.heard.trouble = Some(Fault::said(text(event, "/message")).failed()),
            _ => {}
        }
    }

    fn item(&mut self, item: &Value) {
        let (id, status) = (text(item, "/id"), text(item, "/status"));
        let is_in = |list: &[&str], said: &str| {
            let said = said.to_lowercase();
            list.iter().any(|it| said.contains(it))
        };
        match text(item, "/type") {
            "agent_message" => self.answer.set(text(item, "/text")),
            "command_execution" => {
                let said = text(item, "/aggregated_output");
                let line = said.lines().find(|it| is_in(KEPT_FROM, it));
                if status == "declined" || (status == "failed" && line.is_some()) {
                    self.denials.add(id, text(item, "/command"), line.unwrap_or_default());
                }
            }
            "mcp_tool_call" => {
                let said = text(item, "/error/message");
                if status == "declined" || is_in(NOT_ALLOWED, said) {
                    let tool = format!("{}.{}", text(item, "/server"), text(item, "/tool"));
                    self.denials.add(id, &tool, said);
                }
            }
            "file_change" if status == "declined" => {
                self.denials.add(id, "change of files", text(item, "/changes/0/path"));
            }
            _ => {}
        }
    }
}

/// What came since. A count that is below what was before has begun anew.
pub(crate) fn since(now: u64, before: Option<u64>) -> u64 {
    now.checked_sub(before.unwrap_or(0)).unwrap_or(now)
}

impl Stream for Codex {
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
            usage: self.usage,
            denied: self.denials.take(),
        }
    }
}
