//! Creating documents: one per entry of a list, once per key.
//!
//! What a run created stands in its journal: there it is seen which keys had their document, and which documents are
//! this run's to take back.

use std::collections::{BTreeMap, BTreeSet};

use loopwright_core::definition::{Action, Files as Which};
use loopwright_core::machine::{Effect, Event, Evidence};
use loopwright_core::name::Name;
use serde_json::{Value, json};

use super::{Done, Refusable, as_text};
use crate::documents::{About, Reader};
use crate::engine::Engine;
use crate::error::EngineError;
use crate::scene::{Scene, meant};

/// Settles which documents there will be, and what they hold.
pub(super) fn prepare(
    engine: &Engine,
    scene: &Scene<'_>,
    effect: &Effect,
    action: &Action,
) -> Result<Value, EngineError> {
    let parameter = |name: &str| action.parameters[name].as_str().unwrap_or_default();
    let document: Name = parameter("create").into();
    let past = Past::of(engine, scene, effect, &document)?;
    let (mut entries, mut keys, mut paths) = (Vec::new(), BTreeSet::new(), BTreeSet::new());
    for (id, entry) in scene.entries_of(parameter("for"))? {
        let item = match entry {
            Value::Object(mut fields) => {
                fields.entry("id").or_insert_with(|| json!(id));
                Value::Object(fields)
            }
            _ => json!({"id": id}),
        };
        let besides = json!({"item": item});
        let key = scene.text_with(parameter("key"), &besides)?;
        if !keys.insert(key.clone()) {
            continue;
        }
        let made = match path(scene, &document, &key, &besides)? {
            Ok(path) => text(scene, action, (&document, &path), &besides)?.map(|text| (path, text)),
            Err(why) => Err(why),
        };
        let (path, text) = match made {
            Ok(made) => made,
            Err(why) => return Ok(json!({"create": document, "wrong": why})),
        };
        if !paths.insert(path.clone()) {
            let why = format!(
                "`{path}` would be the document of two keys; name the item in the path of `{document}`"
            );
            return Ok(json!({"create": document, "wrong": why}));
        }
        let new = !past.made.contains(&key) && !scene.files.is_there(&path);
        entries.push(json!({"key": key, "path": path, "text": text, "new": new}));
    }
    let prune = action.parameters["prune"].as_bool().unwrap_or(false);
    let gone = past.ours.into_iter().filter(|(key, _)| prune && !keys.contains(key));
    let pruned: Vec<Value> =
        gone.map(|(key, (path, text))| json!({"key": key, "path": path, "text": text})).collect();
    Ok(json!({"create": document, "entries": entries, "pruned": pruned}))
}

pub(super) fn perform(scene: &Scene<'_>, values: &Value) -> Result<Done, EngineError> {
    if let Some(why) = values["wrong"].as_str() {
        return Ok(Done::plain("failed", why));
    }
    for entry in values["entries"].as_array().into_iter().flatten() {
        let path = as_text(&entry["path"]);
        // What is there is somebody's, or a first try made it.
        if entry["new"] == json!(true) && !scene.files.is_there(&path) {
            scene.files.write(&path, as_text(&entry["text"]).as_bytes())?;
        }
    }
    let mut stay = Vec::new();
    for entry in values["pruned"].as_array().into_iter().flatten() {
        let path = as_text(&entry["path"]);
        match scene.files.read(&path)? {
            Some(bytes) if bytes == as_text(&entry["text"]).as_bytes() => scene.files.remove(&path)?,
            Some(_) => stay.push(path),
            None => {}
        }
    }
    if stay.is_empty() {
        return Ok(Done::plain("done", ""));
    }
    let stay = super::bounds::listed(&stay);
    Ok(Done::plain("done", format!("{stay} has no entry any more and was changed since, so it stays")))
}

/// Where the document of a key is.
fn path(scene: &Scene<'_>, document: &Name, key: &str, besides: &Value) -> Refusable<String> {
    let plain: String =
        key.chars().map(|it| if it.is_alphanumeric() || "-_.".contains(it) { it } else { '-' }).collect();
    let plain = plain.trim_matches(['.', '-']);
    if plain.is_empty() {
        return Ok(Err(format!("the key `{key}` of a new `{document}` is empty")));
    }
    let Some(declared) = scene.workflow.documents.get(&**document) else {
        return Ok(Err(format!("there is no document `{document}`")));
    };
    let patterns = scene.patterns_with(declared, besides)?;
    let path = if matches!(declared.files, Which::One(_)) {
        patterns.into_iter().next()
    } else {
        // The star stands for what tells the files apart.
        let fits = |it: &&String| it.matches('*').count() == 1 && !it.contains(['!', '?', '[', '{']);
        let found = patterns.iter().find(fits).map(|it| it.replacen('*', plain, 1));
        let sets = scene.set(document)?;
        found.filter(|path| sets.iter().any(|it| it.matches(path)))
    };
    match path {
        Some(path) => super::places::proper(scene, &path),
        None => Ok(Err(format!(
            "nobody can tell where a new `{document}` belongs: give it a path with the item or a single `*` in it"
        ))),
    }
}

/// What a new document holds.
fn text(
    scene: &Scene<'_>,
    action: &Action,
    (document, path): (&Name, &str),
    besides: &Value,
) -> Refusable<String> {
    let declared = scene.workflow.documents.get(&**document);
    let named = declared.and_then(|it| it.reader.as_deref());
    let reader = named.and_then(Reader::named);
    let with = declared.map(|it| scene.with(it)).transpose()?.unwrap_or_default();
    let about = About { with, modified: None };
    let mut text = match action.parameters["template"].as_str() {
        Some(file) => scene.text_with(meant(scene.folder, file), besides)?,
        None => reader.map_or("", Reader::blank).to_owned(),
    };
    for (field, value) in action.parameters["set"].as_object().into_iter().flatten() {
        let Some(reader) = reader else {
            let named = named.unwrap_or("text");
            return Err(EngineError::Wrong(format!(
                "files as `{named}` cannot be changed yet (`{document}`)"
            )));
        };
        let value = match value {
            Value::String(text) => scene.value_with(text, besides)?,
            other => other.clone(),
        };
        text = match reader.set(&text, field, &value, &about) {
            Ok(text) => text,
            Err(fault) => return Ok(Err(format!("{path}: {fault}"))),
        };
    }
    Ok(Ok(text))
}

/// What the run created before.
#[derive(Default)]
struct Past {
    /// Keys that have had their document.
    made: BTreeSet<String>,
    /// Documents this action made: by key, where, and what they held.
    ours: BTreeMap<String, (String, String)>,
}

impl Past {
    fn of(engine: &Engine, scene: &Scene<'_>, effect: &Effect, document: &Name) -> Result<Self, EngineError> {
        let mut past = Self::default();
        let mut begun: BTreeMap<String, Value> = BTreeMap::new();
        for stored in engine.journal.events(scene.name, 0)? {
            match stored.event {
                Event::Issued { effect: it, values, .. } if values["create"] == json!(document) => {
                    if (&it.state, &it.part) == (&effect.id.state, &effect.id.part) {
                        for entry in entries(&values, "entries").filter(|it| it["new"] == json!(true)) {
                            let made = (as_text(&entry["path"]), as_text(&entry["text"]));
                            past.ours.insert(as_text(&entry["key"]), made);
                        }
                    }
                    begun.insert(it.to_string(), values);
                }
                Event::Settled { effect: it, evidence: Evidence::Out(outcome) }
                    if *outcome.signal == *"done" =>
                {
                    let Some(values) = begun.remove(&it.to_string()) else { continue };
                    past.made.extend(entries(&values, "entries").map(|it| as_text(&it["key"])));
                    for key in entries(&values, "pruned").map(|it| as_text(&it["key"])) {
                        past.made.remove(&key);
                        past.ours.remove(&key);
                    }
                }
                _ => {}
            }
        }
        Ok(past)
    }
}

fn entries<'v>(values: &'v Value, name: &str) -> impl Iterator<Item = &'v Value> {
    values[name].as_array().into_iter().flatten()
}
