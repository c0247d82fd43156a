//! Showing: fields of documents that are kept equal to values of the run.

use loopwright_core::definition::Kind;
use loopwright_core::name::Name;
use serde_json::{Map, Value};

use super::fields::{Changes, of_document};
use crate::error::EngineError;
use crate::scene::{Scene, uses};

/// What the documents should show now: by document and field. Nothing, where nobody shows anything.
pub(crate) fn due(scene: &Scene<'_>) -> Result<Option<Value>, EngineError> {
    // Items side by side would take the words out of each other's mouths.
    let around = scene.run.of.as_ref().and_then(|it| scene.workflow.main.states.get(&**it));
    if matches!(around.map(|it| &it.kind), Some(Kind::Each(each)) if each.at_once > 1 || each.apart) {
        return Ok(None);
    }
    let mut all = Map::new();
    for (name, document) in &scene.workflow.documents {
        let mut fields = Map::new();
        // What shows the phase is begun by the first state that shows one.
        if scene.run.phase.is_none() && document.shows.values().any(|it| uses(it, "phase")) {
            continue;
        }
        for (field, text) in &document.shows {
            fields.insert(field.clone(), scene.value(text)?);
        }
        if !fields.is_empty() {
            all.insert(name.to_string(), fields.into());
        }
    }
    Ok(Some(Value::Object(all)).filter(|it| it.as_object().is_some_and(|it| !it.is_empty())))
}

/// Actions after which other files may be checked out.
const GOES: [&str; 4] = ["branch", "switch", "merge", "drop"];

/// A field that shows something else than it was given.
pub(crate) struct Edit {
    pub(crate) document: Name,
    pub(crate) field: String,
    /// What stands there; nothing, if it is gone.
    pub(crate) value: Value,
    /// What was shown.
    pub(crate) before: Value,
    /// Where it stands, for people.
    pub(crate) place: String,
}

/// What differs from what documents showed.
pub(crate) fn edited(scene: &Scene<'_>, shown: &Value) -> Result<Vec<Edit>, EngineError> {
    let mut found = Vec::new();
    let mut files = Changes::default();
    for (name, fields) in shown.as_object().into_iter().flatten() {
        let document: Name = name.as_str().into();
        for (field, before) in fields.as_object().into_iter().flatten() {
            // What has no place any more shows nothing.
            let Ok(at) = of_document(scene, &document, field)? else { continue };
            let unreadable = |why: String| {
                EngineError::Wrong(format!(
                    "{why}. It shows where the run stands, and the run waits until it can be read again; the file was left as it is"
                ))
            };
            let text = files.there(scene, &at)?.map_err(unreadable)?;
            let (value, is_edited) = match &text {
                Some(text) => {
                    let value = at.value(text).map_err(unreadable)?.unwrap_or(Value::Null);
                    (value, !at.shows(text, before).map_err(unreadable)?)
                }
                None => (Value::Null, !before.is_null()),
            };
            if is_edited {
                let place = at.place(text.as_deref().unwrap_or_default());
                let (document, field, before) = (document.clone(), field.clone(), before.clone());
                found.push(Edit { document, field, value, before, place });
            }
        }
    }
    Ok(found)
}

/// Writes what documents should show, where they do not yet: whether any was written, and which could not show it and why.
pub(crate) fn show(scene: &Scene<'_>, due: &Value) -> Result<(bool, Vec<(String, String)>), EngineError> {
    let (mut written, mut wrong) = (false, Vec::new());
    for (name, fields) in due.as_object().into_iter().flatten() {
        match one(scene, name, fields) {
            Ok(Ok(any)) => written |= any,
            Ok(Err(why)) | Err(EngineError::Wrong(why)) => {
                let why = format!("`{name}` does not show where the run stands: {why}");
                wrong.push((name.clone(), why));
            }
            Err(error) => return Err(error),
        }
    }
    Ok((written, wrong))
}

/// One document: all of its fields, or none.
fn one(scene: &Scene<'_>, name: &str, fields: &Value) -> super::Refusable<bool> {
    let mut changes = Changes::default();
    // What is over, or goes to another branch, begins no document: it may be where the run was.
    let is_over = scene.state().is_some_and(|it| match &it.kind {
        Kind::End { .. } => true,
        Kind::Do { actions, .. } => actions.iter().any(|it| GOES.contains(&&*it.verb)),
        _ => false,
    });
    let owned = scene.workflow.documents.get(name).is_some_and(|it| it.engine_owned);
    for (field, value) in fields.as_object().into_iter().flatten() {
        let field = match of_document(scene, &name.into(), field)? {
            Ok(field) => field,
            Err(why) => return Ok(Err(why)),
        };
        let there = match changes.there(scene, &field)? {
            Ok(there) => there,
            Err(why) => return Ok(Err(why)),
        };
        // Somebody else's is theirs to make; and nothing is shown as nothing.
        let absent = match &there {
            Some(text) => field.value(text).map(|it| it.is_none()),
            None if !owned || is_over => return Ok(Ok(false)),
            None => Ok(true),
        };
        let changed = match absent {
            Ok(true) if value.is_null() => continue,
            Ok(_) => changes.text(scene, &field)?.and_then(|text| field.set(&text, value)),
            Err(why) => Err(why),
        };
        match changed {
            Ok(text) => changes.put(&field, text),
            Err(why) => return Ok(Err(why)),
        }
    }
    changes.write(scene).map(Ok)
}
