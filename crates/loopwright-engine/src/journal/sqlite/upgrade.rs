//! Events of earlier versions, read as if they were written today.
//!
//! Old journals replay for ever. An event is kept as it was written, and is brought to the present version when it is
//! read: the bytes on the disk and their sums never change.

use loopwright_core::machine::{Event, VERSION};
use serde_json::Value;

/// One entry for each version there was before this one: entry `n - 1` makes of an event of version `n` one of version
/// `n + 1`. A version in which only fields with defaults were added needs nothing done: its entry is `unchanged`.
const STEPS: &[fn(Value) -> Value] =
    &[unchanged, unchanged, unchanged, unchanged, unchanged, unchanged, unchanged];

fn unchanged(event: Value) -> Value {
    event
}

// A new version of events comes with what makes it of the one before.
const _: () = assert!(STEPS.len() + 1 == VERSION as usize, "there is no step for a version of events");

/// The events of a text with an event a line, which was written in a version; why not.
pub(super) fn events(version: u32, text: &str) -> Result<Vec<Event>, String> {
    upgraded(version, text, STEPS)
}

fn upgraded(version: u32, text: &str, steps: &[fn(Value) -> Value]) -> Result<Vec<Event>, String> {
    let known = steps.len() + 1;
    let version = usize::try_from(version).unwrap_or(usize::MAX);
    if version > known {
        return Err(format!(
            "a later Loopwright wrote it (version {version} of events, this one knows {known}); use that one, or a newer one"
        ));
    }
    let Some(steps) = version.checked_sub(1).and_then(|it| steps.get(it..)) else {
        return Err(format!("there is no version {version} of events"));
    };
    let wrong = |it: serde_json::Error| format!("it cannot be read: {it}");
    let lines = text.lines();
    if steps.is_empty() {
        return lines.map(|it| serde_json::from_str(it).map_err(wrong)).collect();
    }
    lines
        .map(|line| {
            let value = serde_json::from_str(line).map_err(wrong)?;
            let value = steps.iter().fold(value, |value, step| step(value));
            serde_json::from_value(value).map_err(wrong)
        })
        .collect()
}

#[cfg(test)]
#[expect(clippy::expect_used, reason = "these are tests")]
mod tests {
    use super::*;

    const OLD: &str = r#"{"event":"stopped","why":"enough"}"#;

    /// As if `reason` had been called `why` once, and `note` before that.
    const RENAMED: &[fn(Value) -> Value] =
        &[|it| renamed(it, "note", "why"), |it| renamed(it, "why", "reason")];

    fn renamed(mut event: Value, from: &str, to: &str) -> Value {
        if let Some(fields) = event.as_object_mut()
            && let Some(value) = fields.shift_remove(from)
        {
            fields.insert(to.to_owned(), value);
        }
        event
    }

    #[test]
    fn an_event_goes_through_every_step_after_its_version() {
        let enough = vec![Event::Stopped { reason: "enough".into() }];
        assert_eq!(upgraded(1, &OLD.replace("why", "note"), RENAMED), Ok(enough.clone()));
        assert_eq!(upgraded(2, OLD, RENAMED), Ok(enough.clone()));
        assert_eq!(upgraded(3, &OLD.replace("why", "reason"), RENAMED), Ok(enough));
        upgraded(3, OLD, RENAMED).expect_err("it was never written like that");
    }

    #[test]
    fn a_version_nobody_knows_is_refused() {
        let later = upgraded(4, OLD, RENAMED).expect_err("a later one");
        assert_eq!(
            later,
            "a later Loopwright wrote it (version 4 of events, this one knows 3); use that one, or a newer one"
        );
        assert_eq!(upgraded(0, OLD, RENAMED), Err("there is no version 0 of events".into()));
    }
}
