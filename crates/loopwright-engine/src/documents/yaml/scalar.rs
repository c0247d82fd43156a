//! What an unquoted word means in YAML 1.2, and how to write a text so that it is read as that text.

use serde_json::Value;

use super::super::json::number;

/// The value of an unquoted scalar, by the core schema. What JSON has no number for stays a text.
pub(super) fn resolve(written: &str) -> Value {
    match written {
        "" | "~" | "null" | "Null" | "NULL" => Value::Null,
        "true" | "True" | "TRUE" => Value::Bool(true),
        "false" | "False" | "FALSE" => Value::Bool(false),
        _ => {
            let based = |prefix: &str, base| {
                let digits = written.strip_prefix(prefix).filter(|it| !it.starts_with(['+', '-']))?;
                i64::from_str_radix(digits, base).ok()
            };
            if let Some(whole) = based("0x", 16).or_else(|| based("0o", 8)) {
                return Value::from(whole);
            }
            let unsigned = written.strip_prefix(['-', '+']).unwrap_or(written);
            if is_number(unsigned) {
                return number(written.strip_prefix('+').unwrap_or(written));
            }
            Value::from(written)
        }
    }
}

/// Digits, perhaps with a fraction, perhaps with an exponent.
fn is_number(unsigned: &str) -> bool {
    let digits = |it: &str| it.bytes().all(|it| it.is_ascii_digit());
    let (mantissa, exponent) = unsigned.split_once(['e', 'E']).unwrap_or((unsigned, "0"));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let exponent = exponent.strip_prefix(['-', '+']).unwrap_or(exponent);
    digits(whole)
        && digits(fraction)
        && !(whole.is_empty() && fraction.is_empty())
        && !exponent.is_empty()
        && digits(exponent)
}

/// Whether a text can stand without quotes and still is that text, to readers of YAML 1.1 too.
pub(super) fn is_plain(text: &str, flow: bool) -> bool {
    const INDICATORS: &[char] = &[
        '-', '?', ':', ',', '[', ']', '{', '}', '#', '&', '*', '!', '|', '>', '\'', '"', '%', '@', '`', '=',
        '<', '~', ' ',
    ];
    const OLD_WORDS: &[&str] = &["y", "n", "yes", "no", "on", "off", ".inf", "-.inf", "+.inf", ".nan"];
    let in_flow = |it: char| matches!(it, ',' | '[' | ']' | '{' | '}' | ':');
    resolve(text).is_string()
        && !OLD_WORDS.contains(&text.to_ascii_lowercase().as_str())
        && !text.starts_with(INDICATORS)
        && !text.starts_with("...")
        && !text.ends_with([' ', ':'])
        && !text.contains(": ")
        && !text.contains(" #")
        && !text.chars().any(|it| escape(it).is_some() || (flow && in_flow(it)))
}

/// How a character is written in `"`, when it cannot stand for itself on a line.
fn escape(letter: char) -> Option<String> {
    match letter {
        '\n' => Some("\\n".to_owned()),
        '\t' => Some("\\t".to_owned()),
        '\r' => Some("\\r".to_owned()),
        it if it.is_control()
            || matches!(it, '\u{2028}' | '\u{2029}' | '\u{feff}' | '\u{fffe}' | '\u{ffff}') =>
        {
            Some(format!("\\u{:04X}", u32::from(it)))
        }
        _ => None,
    }
}

/// Whether a character cannot stand for itself in a text over several lines.
pub(super) fn needs_escape(letter: char) -> bool {
    letter != '\n' && escape(letter).is_some()
}

pub(super) fn double_quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for letter in text.chars() {
        if let Some(escaped) = escape(letter) {
            quoted.push_str(&escaped);
        } else {
            if matches!(letter, '"' | '\\') {
                quoted.push('\\');
            }
            quoted.push(letter);
        }
    }
    quoted.push('"');
    quoted
}

/// In `'`, if that can be.
pub(super) fn single_quoted(text: &str) -> Option<String> {
    let fits = !text.chars().any(|it| escape(it).is_some());
    fits.then(|| format!("'{}'", text.replace('\'', "''")))
}
