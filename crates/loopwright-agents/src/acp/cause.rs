//! Why there is no answer, as far as an agent lets it be known: by the number of an error, by what comes with it, by its
//! words. And whether words that look like an answer are an error that nobody marked as one.

use agent_client_protocol::{Error, ErrorCode};
use serde_json::Value;

use crate::streams::Failed;

/// An error is not told at greater length than this.
const LONGEST: usize = 2000;

#[derive(Clone, Copy)]
enum Cause {
    Limited,
    Denied,
    Refused,
    Crashed,
}

impl Cause {
    fn failed(self, why: &str) -> Failed {
        let why: String = why.trim().chars().take(LONGEST).collect();
        match self {
            Self::Limited => Failed::Limited { why, until: None, lasts: None },
            Self::Denied => Failed::Denied(why),
            Self::Refused => Failed::Refused(why),
            Self::Crashed => Failed::Crashed(why),
        }
    }
}

/// An error the agent answered with, from the surest sign to the least.
pub(super) fn of_error(code: i64, words: &str, data: Option<&Value>) -> Failed {
    if code == i64::from(ErrorCode::REQUEST_CANCELLED.value()) {
        return Failed::Cancelled;
    }
    let login = (code == i64::from(ErrorCode::AUTH_REQUIRED.value())).then_some(Cause::Denied);
    let field = |names: &[&str]| names.iter().find_map(|name| data?.get(name));
    let status =
        || field(&["statusCode", "status", "httpStatus"]).and_then(Value::as_i64).and_then(by_status);
    let kind = || field(&["errorKind", "errorName", "type"]).and_then(Value::as_str).and_then(by_words);
    login
        .or_else(|| by_status(code))
        .or_else(status)
        .or_else(kind)
        .or_else(|| status_in(words))
        .or_else(|| by_words(words))
        .or_else(|| by_code(code))
        .unwrap_or(Cause::Crashed)
        .failed(words)
}

/// What is known of words that end a turn as if all were well.
pub(super) struct Ending<'a> {
    /// The answer.
    pub text: &'a str,
    /// The last piece of it that was said at once.
    pub piece: &'a str,
    /// Whether anything was done in the turn. What begins like an error after that may be a report of one.
    pub acted: bool,
    /// Whether the agent says what the model used. An error uses nothing.
    pub counted: bool,
}

/// An answer that is none: some agents end the turn as if all were well, and say in words that it is not.
pub(super) fn of_text(ending: &Ending<'_>) -> Option<Failed> {
    let whole = without_notices(ending.text);
    if let Some((text, sure)) = error_in(whole)
        && (sure || !ending.acted)
    {
        return Some(of_words(text));
    }
    // What an agent says before, while it tries again, is not set off from the error it gives up with. A model may end with
    // such words as well, so they do not do alone.
    let (text, sure) = error_in(ending.piece.trim())?;
    (sure || !ending.counted && !ending.acted).then(|| of_words(text))
}

/// What an agent says last, when it is known that it failed.
pub(super) fn of_last_words(text: &str, status: Option<i64>) -> Failed {
    let text = without_notices(text);
    let text = if text.is_empty() { "the agent failed, and does not say why" } else { text };
    status.and_then(by_status).map_or_else(|| of_words(text), |cause| cause.failed(text))
}

fn of_words(text: &str) -> Failed {
    status_in(text).or_else(|| by_words(text)).unwrap_or(Cause::Crashed).failed(text)
}

/// A text that begins as errors do, and whether nothing else begins like this.
fn error_in(text: &str) -> Option<(&str, bool)> {
    if text.len() > LONGEST {
        return None;
    }
    let after = |beginning: &str| {
        let (head, rest) = text.split_at_checked(beginning.len())?;
        head.eq_ignore_ascii_case(beginning).then_some(rest)
    };
    if SURE.iter().any(|beginning| after(beginning).is_some()) {
        return Some((text, true));
    }
    let rest = BEGINNINGS.iter().find_map(|beginning| after(beginning))?;
    let number = rest.split_whitespace().next().and_then(|word| word.parse().ok());
    Some((text, number.and_then(by_status).is_some()))
}

/// How errors begin that are said as if they were answers. With a number after it, there is no doubt.
const BEGINNINGS: &[&str] = &["error:", "api error:", "internal error:", "unexpected status "];

/// How nothing else begins.
const SURE: &[&str] = &[
    "error: failed to get response from the ai model",
    "error: authentication failed with provider",
    "stream disconnected before completion",
    "exceeded retry limit",
    "you've hit your usage limit",
];

/// A text without the notices before it, which are the agent's and not the model's.
fn without_notices(text: &str) -> &str {
    let mut text = text.trim();
    while let Some((first, rest)) = text.split_once("\n\n") {
        if !["Warning: ", "Config warning: ", "Info: "].iter().any(|notice| first.starts_with(notice)) {
            break;
        }
        text = rest.trim_start();
    }
    text
}

/// What an error says, with what comes along where it says nothing itself.
pub(super) fn words(error: &Error) -> String {
    let data = error.data.as_ref();
    let more = data.and_then(|data| {
        let said = data.as_str().or_else(|| data["details"].as_str()).or_else(|| data["message"].as_str())?;
        Some(said.trim()).filter(|said| !said.is_empty() && !error.message.contains(*said))
    });
    match more {
        Some(more) if error.message.is_empty() => more.to_owned(),
        Some(more) => format!("{}: {more}", error.message),
        None => error.message.clone(),
    }
}

/// The numbers of HTTP, which most agents hand on.
fn by_status(status: i64) -> Option<Cause> {
    match status {
        402 | 429 => Some(Cause::Limited),
        401 | 403 | 407 => Some(Cause::Denied),
        // Too slow, at the wrong moment, too early: may well not happen again.
        408 | 409 | 425 | 500..=599 => Some(Cause::Crashed),
        400..=499 => Some(Cause::Refused),
        _ => None,
    }
}

/// The first number in a text that is one of HTTP's.
fn status_in(text: &str) -> Option<Cause> {
    let words = text.split(|letter: char| !letter.is_ascii_alphanumeric() && letter != '.' && letter != ':');
    words.filter_map(|word| word.trim_end_matches(['.', ':']).parse().ok()).find_map(by_status)
}

/// The numbers of the protocol itself. What is not acceptable now is not acceptable later.
fn by_code(code: i64) -> Option<Cause> {
    let refused = [
        ErrorCode::PARSE_ERROR,
        ErrorCode::INVALID_REQUEST,
        ErrorCode::METHOD_NOT_FOUND,
        ErrorCode::INVALID_PARAMS,
        ErrorCode::RESOURCE_NOT_FOUND,
    ];
    refused.iter().any(|known| i64::from(known.value()) == code).then_some(Cause::Refused)
}

fn by_words(text: &str) -> Option<Cause> {
    let text = text.to_lowercase().replace(['_', '-'], " ");
    let table: [(&[&str], Cause); 4] = [
        (&["server error", "overloaded", "service unavailable", "timed out", "disconnected"], Cause::Crashed),
        (
            &[
                "rate limit",
                "usage limit",
                "quota",
                "too many requests",
                "resource exhausted",
                "credit balance",
                "billing",
            ],
            Cause::Limited,
        ),
        (
            &[
                "unauthorized",
                "unauthenticated",
                "authentication",
                "forbidden",
                "api key",
                "not logged in",
                "log in",
            ],
            Cause::Denied,
        ),
        (&["bad request", "invalid request", "invalid argument", "prompt is too long"], Cause::Refused),
    ];
    table.iter().find(|(words, _)| words.iter().any(|word| text.contains(word))).map(|(_, cause)| *cause)
}
