//! Errors as the interfaces word them, and how each of them says when to come back.

use std::collections::BTreeMap;

use axum::http::{HeaderName, HeaderValue, Response, StatusCode, header};
use axum::response::IntoResponse;
use serde_json::{Map, Value, json};

use crate::api::Api;
use crate::script::Http;

/// The answer to a request that is to fail so.
pub(crate) fn response(api: Api, http: &Http) -> Response<axum::body::Body> {
    let body = if http.raw { raw(&http.body) } else { error(api, http).to_string() };
    let mut response = body.into_response();
    *response.status_mut() = StatusCode::from_u16(http.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    let limits = limits(api, http);
    for (name, value) in limits.iter().chain(&http.headers) {
        // A script that was read has sound headers. One made in Rust may not; what cannot be sent is left out.
        if let (Ok(name), Ok(value)) = (HeaderName::try_from(name), HeaderValue::try_from(value)) {
            headers.insert(name, value);
        }
    }
    response
}

fn raw(body: &Value) -> String {
    match body {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

fn error(api: Api, http: &Http) -> Value {
    let message = match &http.body {
        Value::String(text) => text.clone(),
        _ => format!("scripted status {}", http.status),
    };
    let mut error = match api {
        Api::Anthropic => json!({"type": anthropic_type(http.status), "message": message}),
        Api::Responses | Api::Chat => {
            let (kind, code) = openai_type(http.status);
            json!({"message": message, "type": kind, "param": null, "code": code})
        }
        Api::Gemini => json!({"code": http.status, "message": message, "status": gemini_status(http.status)}),
    };
    let more = details(api, http).into_iter().chain(http.body.as_object().cloned().unwrap_or_default());
    if let Some(fields) = error.as_object_mut() {
        fields.extend(more);
    }
    match api {
        Api::Anthropic => json!({"type": "error", "error": error}),
        _ => json!({"error": error}),
    }
}

fn anthropic_type(status: u16) -> &'static str {
    match status {
        400 => "invalid_request_error",
        401 => "authentication_error",
        402 => "billing_error",
        403 => "permission_error",
        404 => "not_found_error",
        413 => "request_too_large",
        429 => "rate_limit_error",
        504 => "timeout_error",
        529 => "overloaded_error",
        _ => "api_error",
    }
}

fn openai_type(status: u16) -> (&'static str, Option<&'static str>) {
    match status {
        401 => ("invalid_request_error", Some("invalid_api_key")),
        429 => ("requests", Some("rate_limit_exceeded")),
        500.. => ("server_error", None),
        _ => ("invalid_request_error", None),
    }
}

fn gemini_status(status: u16) -> &'static str {
    match status {
        400 => "INVALID_ARGUMENT",
        401 => "UNAUTHENTICATED",
        403 => "PERMISSION_DENIED",
        404 => "NOT_FOUND",
        429 => "RESOURCE_EXHAUSTED",
        503 => "UNAVAILABLE",
        504 => "DEADLINE_EXCEEDED",
        _ => "INTERNAL",
    }
}

/// What the body says about when to come back. Anthropic says it in headers alone.
fn details(api: Api, http: &Http) -> Map<String, Value> {
    let mut more = Map::new();
    match api {
        Api::Anthropic | Api::Chat => {}
        // The limit of a plan, which Codex tells apart from one of a moment.
        Api::Responses => {
            if let Some(moment) = http.resets_at {
                more.insert("type".to_owned(), json!("usage_limit_reached"));
                more.insert("resets_at".to_owned(), json!(moment));
            }
        }
        Api::Gemini => {
            let mut details = Vec::new();
            if let Some(seconds) = http.retry_after {
                let kind = "type.googleapis.com/google.rpc.RetryInfo";
                details.push(json!({"@type": kind, "retryDelay": format!("{seconds}s")}));
            }
            if let Some(moment) = http.resets_at {
                details.push(json!({
                    "@type": "type.googleapis.com/google.rpc.ErrorInfo",
                    "reason": "QUOTA_EXHAUSTED",
                    "domain": "cloudcode-pa.googleapis.com",
                    "metadata": {"quotaResetTimeStamp": timestamp(moment)},
                }));
            }
            if !details.is_empty() {
                more.insert("details".to_owned(), Value::Array(details));
            }
        }
    }
    more
}

/// What the headers say about when to come back.
fn limits(api: Api, http: &Http) -> BTreeMap<String, String> {
    let mut limits = BTreeMap::new();
    let mut say = |name: &str, value: String| {
        limits.insert(name.to_owned(), value);
    };
    if let Some(seconds) = http.retry_after {
        if api != Api::Gemini {
            say("retry-after", seconds.to_string());
        }
        if matches!(api, Api::Responses | Api::Chat) {
            say("x-ratelimit-remaining-requests", "0".to_owned());
            say("x-ratelimit-reset-requests", format!("{seconds}s"));
        }
    }
    if let Some(moment) = http.resets_at {
        match api {
            Api::Anthropic => {
                for what in ["requests", "tokens"] {
                    say(&format!("anthropic-ratelimit-{what}-remaining"), "0".to_owned());
                    say(&format!("anthropic-ratelimit-{what}-reset"), timestamp(moment));
                }
                say("anthropic-ratelimit-unified-status", "rejected".to_owned());
                say("anthropic-ratelimit-unified-representative-claim", "five_hour".to_owned());
                say("anthropic-ratelimit-unified-reset", moment.to_string());
            }
            Api::Responses => {
                say("x-codex-primary-used-percent", "100".to_owned());
                say("x-codex-primary-window-minutes", "300".to_owned());
                say("x-codex-primary-reset-at", moment.to_string());
            }
            Api::Chat | Api::Gemini => {}
        }
    }
    limits
}

fn timestamp(seconds: u32) -> String {
    jiff::Timestamp::from_second(i64::from(seconds)).map(|it| it.to_string()).unwrap_or_default()
}
