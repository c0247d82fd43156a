//! Appending: a line, an entry, once for each effect.
//!
//! How often the same stands there already is settled before anything is added. Whoever tries again sees from that
//! whether the first try got so far, also when somebody has added something else since.

use serde_json::{Value, json};

use super::fields::{Changes, Field, find};
use super::{Done, as_text};
use crate::documents::{Format, Reader};
use crate::error::EngineError;
use crate::scene::Scene;

/// Counts what is there before.
pub(super) fn prepare(scene: &Scene<'_>, values: &mut Value) -> Result<(), EngineError> {
    let mut times = 0;
    // What is wrong with the document is said when it is performed.
    if let Ok(field) = find(scene, &as_text(&values["to"]))?
        && let Ok(Some(text)) = Changes::default().there(scene, &field)?
    {
        times = count(&field, &text, &field.entry(&values["append"])).unwrap_or(0);
    }
    values["times"] = json!(times);
    Ok(())
}

pub(super) fn perform(scene: &Scene<'_>, values: &Value) -> Result<Done, EngineError> {
    let field = match find(scene, &as_text(&values["to"]))? {
        Ok(field) => field,
        Err(why) => return Ok(Done::plain("failed", why)),
    };
    let mut changes = Changes::default();
    let before = values["times"].as_u64().unwrap_or(0);
    let value = field.entry(&values["append"]);
    let changed = changes.text(scene, &field)?.and_then(|text| {
        if count(&field, &text, &value)? > before { Ok(None) } else { field.append(&text, &value).map(Some) }
    });
    match changed {
        Ok(Some(text)) => changes.put(&field, text),
        Ok(None) => return Ok(Done::plain("done", "it is there already")),
        Err(why) => return Ok(Done::plain("failed", why)),
    }
    changes.write(scene)?;
    Ok(Done::plain("done", ""))
}

/// How often an entry is in a list, or lines are in a section.
fn count(field: &Field<'_>, text: &str, value: &Value) -> Result<u64, String> {
    let is = |it: &&Value| {
        *it == value
            || field.reader == Reader::General(Format::Checklist)
                && value.is_string()
                && it.get("text") == Some(value)
    };
    Ok(match field.value(text)? {
        Some(Value::Array(entries)) => entries.iter().filter(is).count() as u64,
        Some(Value::String(body)) => {
            let all: Vec<&str> = body.lines().map(str::trim_end).collect();
            let added = as_text(value);
            let added: Vec<&str> = added.trim_end().lines().map(str::trim_end).collect();
            all.windows(added.len().max(1)).filter(|it| *it == added).count() as u64
        }
        _ => 0,
    })
}
