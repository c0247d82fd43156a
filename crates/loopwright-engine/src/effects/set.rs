//! Setting fields: all of them, or none.

use loopwright_core::definition::Action;
use serde_json::Value;

use super::fields::{Changes, find};
use super::{Done, Refusable};
use crate::error::EngineError;
use crate::scene::Scene;

/// Sets the fields of an action. A field that is what it should be stays untouched, so another try changes nothing.
pub(super) fn perform(scene: &Scene<'_>, action: &Action, values: &Value) -> Result<Done, EngineError> {
    let mut changes = Changes::default();
    for (target, settled) in values["set"].as_object().into_iter().flatten() {
        // A value may be a map itself: only what the author wrote tells which is meant.
        let conditional = action.parameters["set"][target.as_str()].is_object();
        let (value, only) = match settled {
            Value::Object(given) if conditional => {
                (given.get("to").unwrap_or(&Value::Null), given.get("if").and_then(Value::as_str))
            }
            plain => (plain, None),
        };
        if let Err(why) = change(scene, &mut changes, target, value, only)? {
            return Ok(Done::plain("failed", why));
        }
    }
    changes.write(scene)?;
    Ok(Done::plain("done", ""))
}

fn change(
    scene: &Scene<'_>,
    changes: &mut Changes,
    target: &str,
    value: &Value,
    only: Option<&str>,
) -> Refusable<()> {
    let field = match find(scene, target)? {
        Ok(field) => field,
        Err(why) => return Ok(Err(why)),
    };
    if let Some(only) = only {
        let present = match changes.there(scene, &field)? {
            Ok(Some(text)) => field.value(&text).map(|it| it.is_some()),
            Ok(None) => Ok(false),
            Err(why) => Err(why),
        };
        match present {
            Ok(present) if present != (only == "present") => return Ok(Ok(())),
            Ok(_) => {}
            Err(why) => return Ok(Err(why)),
        }
    }
    let changed = changes.text(scene, &field)?.and_then(|text| field.set(&text, value));
    Ok(changed.map(|text| changes.put(&field, text)))
}
