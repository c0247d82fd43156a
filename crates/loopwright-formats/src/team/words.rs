//! Words, lines and checks, in every spelling that agents give them.

use std::collections::HashSet;

use serde_json::Value;

use super::Problem;

/// How something is verified.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Check {
    /// By a command that has to succeed.
    Command(String),
    /// By a person.
    Manual(String),
}

impl Check {
    /// Reads one: `cmd: x`, `manual: x`, a command as it is, or what YAML makes of the first two without quotes.
    pub(super) fn read(value: &Value) -> Result<Self, &'static str> {
        const NEITHER: &str = "this is no check: write `\"cmd: ...\"` or `\"manual: ...\"`";
        let check = match value {
            Value::String(text) => Self::of(text.trim()),
            Value::Object(fields) => {
                let mut commands = fields.iter().filter(|(key, _)| is_command(key));
                let mut manual = fields.iter().filter(|(key, _)| key.eq_ignore_ascii_case("manual"));
                match (commands.next(), manual.next(), commands.next()) {
                    (Some((_, Value::String(text))), None, None) => Self::Command(unticked(text)),
                    (Some((_, Value::Null)), None, None) => Self::Command(String::new()),
                    // What stands beside it belongs to what a person has to look at.
                    (None, Some((_, text)), None) => {
                        let others = fields.iter().filter(|(key, _)| !key.eq_ignore_ascii_case("manual"));
                        let others = others.map(|(key, it)| format!("{key}: {}", line(it)));
                        let all: Vec<String> = [line(text)].into_iter().chain(others).collect();
                        Self::Manual(all.join(", "))
                    }
                    _ => return Err(NEITHER),
                }
            }
            _ => return Err(NEITHER),
        };
        if check.text().is_empty() { Err("this check says nothing") } else { Ok(check) }
    }

    fn of(text: &str) -> Self {
        if let Some((_, command)) = text.split_once(':').filter(|(it, _)| is_command(it)) {
            return Self::Command(unticked(command));
        }
        match text.get(..6).filter(|it| it.eq_ignore_ascii_case("manual")).and_then(|_| text.get(6..)) {
            Some(rest) if rest.starts_with(':') => Self::Manual(rest[1..].trim().to_owned()),
            // No program is called so; it is somebody who forgot the colon.
            Some(rest) if rest.starts_with(char::is_whitespace) => Self::Manual(text.to_owned()),
            _ => Self::Command(unticked(text)),
        }
    }

    /// What is run, or looked at.
    pub fn text(&self) -> &str {
        match self {
            Self::Command(text) | Self::Manual(text) => text,
        }
    }

    /// The command, if it is one.
    pub fn command(&self) -> Option<&str> {
        match self {
            Self::Command(text) => Some(text),
            Self::Manual(_) => None,
        }
    }

    /// What a person has to look at, if it is that.
    pub fn manual(&self) -> Option<&str> {
        match self {
            Self::Manual(text) => Some(text),
            Self::Command(_) => None,
        }
    }
}

fn is_command(key: &str) -> bool {
    ["cmd", "command"].iter().any(|it| key.trim().eq_ignore_ascii_case(it))
}

/// A command without the ticks that people put around code: a shell would run what it prints.
fn unticked(text: &str) -> String {
    let text = text.trim();
    let inner = text.strip_prefix('`').and_then(|it| it.strip_suffix('`')).filter(|it| !it.contains('`'));
    inner.unwrap_or(text).trim().to_owned()
}

/// Checks in a list, or one by itself. What is none is a problem.
pub(super) fn checks(value: &Value, field: &str, problems: &mut Vec<Problem>) -> Vec<Check> {
    let mut found = Vec::new();
    for (place, item) in items(value, field) {
        match Check::read(item) {
            Ok(check) => found.push(check),
            Err(why) => problems.push(Problem::new(place, why)),
        }
    }
    found
}

/// The entries of a list, or the one thing that stands in its place, each with its path.
pub(super) fn items<'v>(value: &'v Value, field: &str) -> Vec<(String, &'v Value)> {
    match value {
        Value::Null => Vec::new(),
        Value::Array(items) => {
            items.iter().enumerate().map(|(at, it)| (format!("{field}.{at}"), it)).collect()
        }
        one => vec![(field.to_owned(), one)],
    }
}

/// A value as one text. `- AC-001: passes` without quotes is a map, and `1` a number; both were meant as text.
pub(super) fn line(value: &Value) -> String {
    let text = match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        Value::Array(items) => {
            items.iter().map(line).filter(|it| !it.is_empty()).collect::<Vec<_>>().join(", ")
        }
        Value::Object(fields) => {
            fields.iter().map(|(key, it)| format!("{key}: {}", line(it))).collect::<Vec<_>>().join(", ")
        }
        other => other.to_string(),
    };
    text.trim().to_owned()
}

/// A list of texts, or the one that stands in its place. Entries that say nothing are none.
pub(super) fn lines(value: &Value) -> Vec<String> {
    items(value, "").into_iter().map(|(_, it)| line(it)).filter(|it| !it.is_empty()).collect()
}

/// A list of names: also `a, b` in one text.
pub(super) fn names(value: &Value) -> Vec<String> {
    let all = lines(value);
    let parts = all.iter().flat_map(|it| it.split(',')).map(|it| it.trim().to_owned());
    parts.filter(|it| !it.is_empty()).collect()
}

/// A word as it is compared: `In Progress` and `in_progress` are `in-progress`.
pub(super) fn word(text: &str) -> String {
    text.trim().to_lowercase().replace(['_', ' '], "-")
}

/// The first of these fields that says something, with its name.
pub(super) fn first<'v>(of: &'v Value, names: &[&'static str]) -> Option<(&'static str, &'v Value)> {
    names.iter().find_map(|name| of.get(name).filter(|it| !it.is_null()).map(|it| (*name, it)))
}

/// Texts in order, each once.
pub(super) fn each_once<'t>(texts: impl Iterator<Item = &'t str>) -> Vec<String> {
    let mut seen = HashSet::new();
    texts.filter(|it| seen.insert(*it)).map(str::to_owned).collect()
}
