//! `claude -p --output-format stream-json --verbose`, and `--output-format json`, which is its last line alone.
//!
//! The last event is `result`, and `is_error` in it decides: a failure of the service is a `subtype` of `success`. The
//! tokens in it are those of this call. The money is too, up to some version; later it is that of the whole session, and
//! what came since the last result is told by model, so that is asked first.

use serde_json::Value;

use super::cause::Fault;
use super::close::{Heard, outcome};
use super::kept::{Answer, Calls, Denials, count, millionths, text};
use super::{End, Failed, Said, Stream, Usage};

/// A reader of what `claude` says.
#[derive(Debug, Default)]
pub struct Claude {
    heard: Heard,
    answer: Answer,
    structured: Option<Value>,
    session: Option<String>,
    usage: Usage,
    denials: Denials,
    calls: Calls,
    /// The kind of the last failure of the service, in its own name.
    kind: String,
    /// Until when a limit holds that was reached, in milliseconds since 1970.
    limited_until: Option<u64>,
}

/// A reader of what `claude` says.
pub fn claude() -> Claude {
    Claude::default()
}

impl Claude {
    fn event(&mut self, event: &Value) {
        if let Some(session) = event.get("session_id").and_then(Value::as_str) {
            self.session = Some(session.to_owned());
        }
        match text(event, "/type") {
            "system" => self.system(event),
            "assistant" => self.assistant(event),
            "rate_limit_event" => {
                let info = event.get("rate_limit_info").unwrap_or(event);
                self.limited_until = match (text(info, "/status"), count(info, "/resetsAt")) {
                    ("rejected", Some(seconds)) => seconds.checked_mul(1000),
                    _ => None,
                };
            }
            "result" => self.result(event),
            _ => {}
        }
    }

    fn system(&mut self, event: &Value) {
        match text(event, "/subtype") {
            "init" => self.heard.begun = true,
            "permission_denied" => {
                self.denials.add(
                    text(event, "/tool_use_id"),
                    text(event, "/tool_name"),
                    text(event, "/message"),
                );
            }
            _ => {}
        }
    }

    fn assistant(&mut self, event: &Value) {
        self.heard.begun = true;
        let kind = text(event, "/error");
        if !kind.is_empty() {
            kind.clone_into(&mut self.kind);
        }
        let parts =
            event.pointer("/message/content").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
        for part in parts.iter().filter(|it| text(it, "/type") == "tool_use") {
            self.calls.add(text(part, "/id"), text(part, "/name"));
        }
        // What a helper of the agent says is no answer, nor what the program says in the model's place.
        let is_own = event.get("parent_tool_use_id").is_none_or(Value::is_null);
        let is_models = text(event, "/message/model") != "<synthetic>";
        if is_own && is_models {
            for part in parts.iter().filter(|it| text(it, "/type") == "text") {
                self.answer.set(text(part, "/text"));
            }
        }
    }

    fn result(&mut self, event: &Value) {
        self.heard.begun = true;
        self.heard.ended = true;
        self.usage = usage(event);
        self.structured = event.get("structured_output").filter(|it| !it.is_null()).cloned();
        let denials =
            event.get("permission_denials").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
        for denial in denials {
            let tool = Some(text(denial, "/tool_name")).filter(|it| !it.is_empty());
            let call = text(denial, "/tool_use_id");
            let wanted = denial.get("tool_input").map(ToString::to_string).unwrap_or_default();
            self.denials.add(call, tool.unwrap_or(self.calls.tool(call)), &wanted);
        }
        self.heard.failed = self.failed(event);
        if self.heard.failed.is_none() {
            self.answer.set(text(event, "/result"));
        }
    }

    fn failed(&self, event: &Value) -> Option<Failed> {
        let errors = event.get("errors").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
        // What it tells its makers says nothing to others.
        let errors = errors.iter().filter_map(Value::as_str).filter(|it| !it.starts_with("[ede_diagnostic]"));
        let errors = errors.take(5).collect::<Vec<_>>().join("; ");
        let said = [&errors, text(event, "/result"), text(event, "/terminal_reason")];
        let said = said.into_iter().find(|it| !it.is_empty()).unwrap_or_default();
        let subtype = text(event, "/subtype");
        let or = |words: &str| super::kept::words(if said.is_empty() { words } else { said });
        match (text(event, "/stop_reason"), subtype) {
            ("refusal", _) => return Some(Failed::Refused(or("the model refuses"))),
            ("model_context_window_exceeded", _) => {
                return Some(Failed::Refused("longer than the model can read".to_owned()));
            }
            (_, "error_max_budget_usd") => return Some(Failed::OverBudget(or(subtype))),
            (_, "error_max_turns" | "error_max_structured_output_retries") => {
                return Some(Failed::Crashed(or(subtype)));
            }
            ("max_tokens", "success") => {
                return Some(Failed::Crashed(
                    "the answer is cut off: it is longer than the model may write".to_owned(),
                ));
            }
            _ => {}
        }
        let is_error = event.get("is_error").and_then(Value::as_bool).unwrap_or_default();
        if !is_error && !subtype.starts_with("error") {
            return None;
        }
        let status = count(event, "/api_error_status");
        let failed = Fault { status, kind: &self.kind, words: said, besides: "" }.failed();
        Some(match failed {
            Failed::Limited { why, until, lasts } => {
                Failed::Limited { why, until: self.limited_until.or(until), lasts }
            }
            other => other,
        })
    }
}

/// What this call used. Some versions leave the sum empty where they have it by model.
fn usage(event: &Value) -> Usage {
    let sum = |prefix: &Value, names: [&str; 4]| {
        let [input, created, read, output] = names.map(|it| prefix.get(it).and_then(Value::as_u64));
        let whole = input.map(|it| it.saturating_add(created.unwrap_or(0)).saturating_add(read.unwrap_or(0)));
        (whole, read, output)
    };
    let names = ["input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens", "output_tokens"];
    let mut said = event.get("usage").map_or((None, None, None), |it| sum(it, names));

    let since = event.get("model_usage_since_last_result");
    let models = since.or_else(|| event.get("modelUsage")).and_then(Value::as_object);
    if let (Some(models), None | Some(0), None | Some(0)) = (models, said.0, said.2) {
        let names = ["inputTokens", "cacheCreationInputTokens", "cacheReadInputTokens", "outputTokens"];
        let add =
            |one: Option<u64>, other: Option<u64>| Some(one.unwrap_or(0).saturating_add(other?)).or(one);
        for (input, cached, output) in models.values().map(|it| sum(it, names)) {
            said = (add(said.0, input), add(said.1, cached), add(said.2, output));
        }
    }
    let since = since
        .and_then(Value::as_object)
        .map(|it| it.values().filter_map(|it| it.get("costUSD")?.as_f64()).sum());
    let money = since.or_else(|| event.get("total_cost_usd").and_then(Value::as_f64)).and_then(millionths);
    Usage { input: said.0, cached: said.1, output: said.2, money }
}

impl Stream for Claude {
    fn line(&mut self, line: &str) {
        if let Ok(event) = serde_json::from_str::<Value>(line) {
            self.event(&event);
        }
    }

    fn over(self: Box<Self>, end: End, errors: &str) -> Said {
        Said {
            failed: outcome(end, self.heard, errors),
            text: self.answer.take(),
            structured: self.structured,
            session: self.session,
            usage: self.usage,
            denied: self.denials.take(),
        }
    }
}
