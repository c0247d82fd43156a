//! `.vibe/LOOP_RESULT.json`: what the last loop came to, and which state it has seen.

use std::fmt::Write as _;

use serde_json::{Map, Value, json};
use sha2::{Digest as _, Sha256};

use super::state::State;
use super::text;

pub use super::result::{LOOPS, check, payload};

/// The version of the protocol.
pub const PROTOCOL: u64 = 1;

/// The hash of a state's text: of the text after it was decoded, so that line ends do not matter.
pub fn state_sha256(decoded: &str) -> String {
    let digest = Sha256::digest(text::unify(decoded).as_bytes());
    digest.iter().fold(String::with_capacity(64), |mut hex, byte| {
        // Writing to a string does not fail.
        let _ = write!(hex, "{byte:02x}");
        hex
    })
}

/// Whether the last record knows the state as it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Acknowledged {
    /// There is no record yet.
    Missing,
    /// It does.
    Current,
    /// The record cannot be read, and why.
    Unreadable(String),
    /// The record does not say which state it has seen.
    NoHash,
    /// The state was changed since.
    Differs,
}

/// Holds the last record against the state.
pub fn acknowledgement(record: Option<&[u8]>, state_text: &str) -> Acknowledged {
    let Some(record) = record else { return Acknowledged::Missing };
    match serde_json::from_str::<Value>(&text::decode(record)) {
        Err(error) => Acknowledged::Unreadable(format!("it is not JSON: {error}")),
        Ok(Value::Object(record)) => match record.get("state_sha256") {
            Some(Value::String(hash)) if !text::trim(hash).is_empty() => {
                if *hash == state_sha256(state_text) { Acknowledged::Current } else { Acknowledged::Differs }
            }
            _ => Acknowledged::NoHash,
        },
        Ok(_) => Acknowledged::Unreadable("it is not a JSON object".to_owned()),
    }
}

/// The record of a project that has none yet.
pub fn bootstrap(state: &State, recorded_at: &str) -> Value {
    of_state(state, "bootstrap", "initialized", "implement", recorded_at)
}

/// The record of a stop, and why it stopped.
pub fn stop(state: &State, reason: &str, recorded_at: &str) -> Value {
    let mut record = of_state(state, "stop", "stop", "stop", recorded_at);
    if let Value::Object(fields) = &mut record {
        fields.insert("reason".to_owned(), reason.into());
    }
    record
}

/// The record of a loop that [`check`] accepted, with its time.
pub fn accepted(checked: Value, recorded_at: &str) -> Value {
    let mut record = checked;
    if let Value::Object(fields) = &mut record {
        fields.insert("recorded_at".to_owned(), recorded_at.into());
    }
    record
}

fn of_state(state: &State, name: &str, result: &str, hint: &str, recorded_at: &str) -> Value {
    json!({
        "protocol_version": PROTOCOL,
        "loop": name,
        "result": result,
        "stage": state.stage,
        "checkpoint": state.checkpoint,
        "status": state.status,
        "next_role_hint": hint,
        "recorded_at": recorded_at,
        "state_sha256": state.sha256,
    })
}

/// A value as the original writes it: two blanks a level, keys sorted, nothing beyond ASCII, a line feed at the end.
pub fn render(value: &Value) -> String {
    let mut out = String::new();
    write_value(&mut out, value, 0);
    out.push('\n');
    out
}

fn write_value(out: &mut String, value: &Value, level: usize) {
    match value {
        Value::Null => out.push_str("null"),
        Value::Bool(it) => out.push_str(if *it { "true" } else { "false" }),
        Value::Number(it) => match it.as_f64().filter(|_| it.is_f64()) {
            Some(number) => write_float(out, number),
            None => out.push_str(&it.to_string()),
        },
        Value::String(it) => write_string(out, it),
        Value::Array(items) => write_items(out, ['[', ']'], items, level, |out, item| {
            write_value(out, item, level + 1);
        }),
        Value::Object(fields) => {
            let mut sorted: Vec<_> = fields.iter().collect();
            sorted.sort_unstable_by_key(|(key, _)| key.as_str());
            write_items(out, ['{', '}'], &sorted, level, |out, (key, value)| {
                write_string(out, key);
                out.push_str(": ");
                write_value(out, value, level + 1);
            });
        }
    }
}

fn write_items<T>(
    out: &mut String,
    brackets: [char; 2],
    items: &[T],
    level: usize,
    mut write: impl FnMut(&mut String, &T),
) {
    out.push(brackets[0]);
    for (at, item) in items.iter().enumerate() {
        out.push_str(if at == 0 { "\n" } else { ",\n" });
        out.push_str(&"  ".repeat(level + 1));
        write(out, item);
    }
    if !items.is_empty() {
        out.push('\n');
        out.push_str(&"  ".repeat(level));
    }
    out.push(brackets[1]);
}

fn write_string(out: &mut String, text: &str) {
    out.push('"');
    for character in text.chars() {
        match character {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\u{8}' => out.push_str("\\b"),
            '\u{c}' => out.push_str("\\f"),
            ' '..='~' => out.push(character),
            _ => {
                for unit in character.encode_utf16(&mut [0; 2]) {
                    let _ = write!(out, "\\u{unit:04x}");
                }
            }
        }
    }
    out.push('"');
}

/// A number with a fraction: the shortest digits that give it back, with an exponent where the original has one.
fn write_float(out: &mut String, number: f64) {
    let scientific = format!("{number:e}");
    let (digits, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or_default();
    if (-4..16).contains(&exponent) {
        let plain = number.to_string();
        out.push_str(&plain);
        if !plain.contains('.') {
            out.push_str(".0");
        }
    } else {
        let sign = if exponent < 0 { '-' } else { '+' };
        let _ = write!(out, "{digits}e{sign}{:02}", exponent.abs());
    }
}

/// The fields of an object, or none of anything else.
pub(crate) fn fields(value: Option<&Value>) -> Option<&Map<String, Value>> {
    value.and_then(Value::as_object)
}
