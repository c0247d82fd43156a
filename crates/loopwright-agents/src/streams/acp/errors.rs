//! Errors: those the protocol has a place for, and those that are said as if they were answers.

use serde_json::Value;

use crate::streams::Failed;
use crate::streams::cause::Fault;
use crate::streams::kept::{count, text};

/// An error that is said as an answer is not longer than this, in bytes.
const LONGEST: usize = 2000;

/// What an error of JSON-RPC comes to.
pub(crate) fn failure(error: &Value) -> Failed {
    let code = error.get("code").and_then(Value::as_i64).unwrap_or_default();
    if code == -32800 {
        return Failed::Cancelled;
    }
    let kind = ["/data/errorKind", "/data/errorName", "/data/codexErrorInfo", "/data/type"];
    let kind = kind.iter().map(|it| text(error, it)).find(|it| !it.is_empty()).unwrap_or(match code {
        -32000 => "auth required",
        -32002 => "resource not found",
        -32700 | -32602..=-32600 => "invalid request",
        _ => "",
    });
    let is_status = |it: &u64| (400..600).contains(it);
    let status = ["/data/statusCode", "/data/status", "/data/httpStatus"];
    let status = || status.iter().filter_map(|it| count(error, it)).find(is_status);
    let status = u64::try_from(code).ok().filter(is_status).or_else(status);
    Fault { status, kind, words: &told(error), besides: "" }.failed()
}

/// What an agent that does not know us says before it was asked anything, and how it might.
pub(super) fn stranger(error: &Value, ways: &[String]) -> Option<Failed> {
    if error.get("code").and_then(Value::as_i64) != Some(-32000) {
        return None;
    }
    let ways = if ways.is_empty() { String::new() } else { format!(" (it knows: {})", ways.join(", ")) };
    Some(Failed::Denied(format!("the agent wants a login: {}{ways}", told(error))))
}

/// What an error says, with what comes along where it says nothing itself.
fn told(error: &Value) -> String {
    let said = text(error, "/message");
    let details = ["/data/message", "/data/details", "/data"];
    let details = details.iter().map(|it| text(error, it)).find(|it| !it.is_empty()).unwrap_or_default();
    match () {
        () if details.is_empty() || said.contains(details) => said.to_owned(),
        () if said.is_empty() => details.to_owned(),
        () => format!("{said}: {details}"),
    }
}

/// How surely a text is an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sign {
    /// Nothing else begins like this.
    Sure,
    /// It begins as errors do, and a status of HTTP follows.
    Numbered,
    /// It begins as errors do.
    Bare,
}

/// How errors begin that are said as if they were answers.
const BEGINNINGS: &[&str] = &["error:", "api error:", "internal error:", "unexpected status "];

/// How nothing else begins.
const SURE: &[&str] = &[
    "error: failed to get response from the ai model",
    "error: authentication failed with provider",
    "stream disconnected before completion",
    "exceeded retry limit",
    "you've hit your usage limit",
];

/// Whether a text is short enough to be an error.
pub(super) fn is_short(text: &str) -> bool {
    text.len() <= LONGEST
}

/// Whether a text begins as errors do.
pub(super) fn sign(text: &str) -> Option<Sign> {
    if !is_short(text) {
        return None;
    }
    let after = |beginning: &&str| {
        let (head, rest) = text.split_at_checked(beginning.len())?;
        head.eq_ignore_ascii_case(beginning).then_some(rest)
    };
    if SURE.iter().any(|it| after(it).is_some()) {
        return Some(Sign::Sure);
    }
    let rest = BEGINNINGS.iter().find_map(after)?;
    let number = rest.split_whitespace().next().and_then(|it| it.parse::<u64>().ok());
    let is_numbered = number.is_some_and(|it| (400..600).contains(&it));
    Some(if is_numbered { Sign::Numbered } else { Sign::Bare })
}

/// A text without the notices before it, which are the agent's and not the model's.
pub(super) fn without_notices(text: &str) -> &str {
    let mut text = text.trim();
    while let Some((first, rest)) = text.split_once("\n\n") {
        if !["Warning: ", "Config warning: ", "Info: "].iter().any(|it| first.starts_with(it)) {
            break;
        }
        text = rest.trim_start();
    }
    text
}
