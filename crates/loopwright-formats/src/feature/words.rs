//! The words of a record, in every spelling they were given.

use jiff::Timestamp;
use jiff::civil::{Date, DateTime};
use jiff::tz::TimeZone;
use serde_json::Value;

/// The phases, in their order.
pub const PHASES: [&str; 8] =
    ["brainstorm", "specify", "design", "create-plan", "create-tasks", "implement", "verify", "finish"];

/// Whether a feature is over, and how.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Status {
    /// It is being built, or was never said to be over.
    #[default]
    Active,
    /// It was built.
    Completed,
    /// It was given up.
    Abandoned,
}

impl Status {
    /// The word for it.
    pub fn word(self) -> &'static str {
        match self {
            Self::Active => "active",
            Self::Completed => "completed",
            Self::Abandoned => "abandoned",
        }
    }

    /// What a word means; nothing, if nobody can tell.
    pub(super) fn meant(text: &str) -> Option<Self> {
        let word = word(text);
        if phase(&word).is_some() || doing(&word).is_some() {
            return Some(Self::Active);
        }
        match word.as_str() {
            "active" | "planned" | "in-progress" | "ongoing" | "open" | "started" | "wip" | "draft"
            | "pending" | "blocked" | "paused" | "on-hold" | "backlog" | "ready" | "new" => {
                Some(Self::Active)
            }
            "completed" | "complete" | "done" | "finished" | "merged" | "closed" | "released" | "shipped"
            | "archived" => Some(Self::Completed),
            "abandoned" | "cancelled" | "canceled" | "dropped" | "discarded" | "rejected" | "superseded" => {
                Some(Self::Abandoned)
            }
            _ => None,
        }
    }
}

/// A word as it is compared: `In Progress`, `in_progress` and `inProgress` are `in-progress`.
pub(super) fn word(text: &str) -> String {
    let mut word = String::new();
    let mut before = ' ';
    for letter in text.trim().chars() {
        if letter.is_uppercase() && (before.is_lowercase() || before.is_ascii_digit()) {
            word.push('-');
        }
        match letter {
            '_' | ' ' | '-' if word.ends_with('-') => {}
            '_' | ' ' | '-' => word.push('-'),
            letter => word.extend(letter.to_lowercase()),
        }
        before = letter;
    }
    word
}

/// The phase a word names.
pub(super) fn phase(text: &str) -> Option<&'static str> {
    let word = word(text);
    let known = PHASES.iter().find(|it| **it == word).copied();
    known.or(match word.as_str() {
        "idea" | "ideation" => Some("brainstorm"),
        "spec" | "specification" => Some("specify"),
        "plan" => Some("create-plan"),
        "tasks" | "task" | "create-task" => Some("create-tasks"),
        "implementation" | "code" | "build" => Some("implement"),
        "verification" => Some("verify"),
        _ => None,
    })
}

/// The phase that somebody is at who does this.
pub(super) fn doing(word: &str) -> Option<&'static str> {
    Some(match word {
        "brainstorming" => "brainstorm",
        "specifying" => "specify",
        "designing" => "design",
        "planning" | "creating-plan" => "create-plan",
        "tasking" | "creating-tasks" => "create-tasks",
        "implementing" | "coding" | "building" => "implement",
        "verifying" => "verify",
        "finishing" => "finish",
        _ => return None,
    })
}

/// A value as one text.
pub(super) fn line(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.trim().to_owned(),
        Value::Array(items) => {
            items.iter().map(line).filter(|it| !it.is_empty()).collect::<Vec<_>>().join(", ")
        }
        Value::Object(fields) => {
            fields.iter().map(|(name, it)| format!("{name}: {}", line(it))).collect::<Vec<_>>().join(", ")
        }
        other => other.to_string(),
    }
}

/// A remark of a reviewer: a text, or its parts.
pub(super) fn note(value: &Value) -> String {
    let part = |names: &[&str]| {
        names.iter().map(|it| line(&value[*it])).find(|it| !it.is_empty()).unwrap_or_default()
    };
    let said = if value.is_object() {
        part(&["description", "text", "issue", "message", "note"])
    } else {
        String::new()
    };
    if said.is_empty() {
        return line(value);
    }
    let (severity, place) = (part(&["severity"]), part(&["location", "place", "file"]));
    let severity = if severity.is_empty() { severity } else { format!("[{severity}] ") };
    let place = if place.is_empty() { place } else { format!(" (at: {place})") };
    format!("{severity}{said}{place}")
}

/// Remarks in a list, or one by itself. Those that say nothing are none.
pub(super) fn notes(value: &Value) -> Vec<String> {
    let all: Vec<String> = match value {
        Value::Array(items) => items.iter().map(note).collect(),
        // A list that was handed on as text.
        Value::String(text) if text.trim_start().starts_with('[') => match serde_json::from_str(text) {
            Ok(Value::Array(items)) => items.iter().map(note).collect(),
            _ => vec![text.trim().to_owned()],
        },
        one => vec![note(one)],
    };
    all.into_iter().filter(|it| !it.is_empty()).collect()
}

/// When a text says, in seconds since 1970. A time without a zone is taken for UTC; nothing, if it is no time.
pub(super) fn moment(text: &str) -> Option<i64> {
    let text = text.trim();
    let utc = |it: DateTime| it.to_zoned(TimeZone::UTC).ok().map(|it| it.timestamp().as_second());
    if let Ok(at) = text.parse::<Timestamp>() {
        return Some(at.as_second());
    }
    if let Ok(at) = text.parse::<DateTime>() {
        return utc(at);
    }
    text.parse::<Date>().ok().and_then(|it| utc(it.at(0, 0, 0, 0)))
}
