//! Creating documents: one per entry of a list, once per key.
//!
//! What a run created stands in its journal: there it is seen which keys had their document, and which documents are
//! this run's to take back. A document that is called by a number keeps it as long as its key is the same; which numbers
//! are free is a question for all worktrees.

use std::collections::{BTreeMap, BTreeSet};

use loopwright_core::definition::{Action, Files as Which};
use loopwright_core::machine::{Effect, Event, Evidence};
use loopwright_core::name::Name;
use serde_json::{Value, json};

use super::fields::in_words;
use super::{Done, Refusable, as_text};
use crate::documents::{About, Numbering, Reader};
use crate::engine::Engine;
use crate::error::EngineError;
use crate::numbers::Numbers;
use crate::scene::{Scene, meant};

/// An entry that gets a document.
struct Entry {
    id: String,
    key: String,
    /// The item, as texts know it.
    besides: Value,
    path: String,
    /// Whether it had one that is gone, and is given another: what a run keeps for itself may be cleared away.
    again: bool,
}

impl Entry {
    /// What its document is called.
    fn name(&self) -> &str {
        let name = self.path.rsplit('/').next().unwrap_or(&self.path);
        name.rsplit_once('.').map_or(name, |(it, _)| it)
    }
}

/// What is created, and how its files are read.
struct What<'a> {
    document: Name,
    action: &'a Action,
    reader: Option<Reader>,
    about: About,
}

/// Settles which documents there will be, and what they hold.
pub(super) fn prepare(
    engine: &Engine,
    scene: &Scene<'_>,
    effect: &Effect,
    action: &Action,
) -> Result<Value, EngineError> {
    let parameter = |name: &str| action.parameters[name].as_str().unwrap_or_default();
    let document: Name = parameter("create").into();
    let declared = scene.workflow.documents.get(&*document);
    let reader = declared.and_then(|it| it.reader.as_deref()).and_then(Reader::named);
    let with = declared.map(|it| scene.with(it)).transpose()?.unwrap_or_default();
    let what = What { document, action, reader, about: About { with, modified: None } };
    let past = Past::of(engine, scene, effect, &what.document)?;
    let listed = match listed(engine, scene, &what, &past)? {
        Ok(listed) => listed,
        Err(why) => return Ok(json!({"create": what.document, "wrong": why})),
    };
    let prune = action.parameters["prune"].as_bool().unwrap_or(false);
    let (mut entries, mut unknown) = (Vec::new(), BTreeSet::new());
    for entry in &listed {
        let text = match text(scene, &what, (entry, &listed), &mut unknown)? {
            Ok(text) => text,
            Err(why) => return Ok(json!({"create": what.document, "wrong": why})),
        };
        let is_first = entry.again || !past.made.contains(&entry.key);
        let new = is_first && !scene.files.is_there(&entry.path);
        // What this run made and nobody changed since says what its entry says.
        let ours =
            past.ours.get(&entry.key).filter(|(path, was)| prune && *path == entry.path && *was != text);
        let was = ours.filter(|_| !new).map(|(_, was)| was);
        entries.push(json!({"key": entry.key, "path": entry.path, "text": text, "new": new, "was": was}));
    }
    let keys: BTreeSet<&str> = listed.iter().map(|it| it.key.as_str()).collect();
    let gone = past.ours.into_iter().filter(|(key, _)| prune && !keys.contains(key.as_str()));
    let pruned: Vec<Value> =
        gone.map(|(key, (path, text))| json!({"key": key, "path": path, "text": text})).collect();
    Ok(json!({"create": what.document, "entries": entries, "pruned": pruned, "unknown": unknown}))
}

pub(super) fn perform(scene: &Scene<'_>, values: &Value) -> Result<Done, EngineError> {
    if let Some(why) = values["wrong"].as_str() {
        return Ok(Done::plain("failed", why));
    }
    let name: Name = as_text(&values["create"]).into();
    let declared = scene.workflow.documents.get(&*name);
    let reader = declared.and_then(|it| it.reader.as_deref()).and_then(Reader::named);
    let mut told = Vec::new();
    let mut stay = Vec::new();
    for entry in values["entries"].as_array().into_iter().flatten() {
        let (path, text) = (as_text(&entry["path"]), as_text(&entry["text"]));
        let there = scene.files.read(&path)?;
        let is = |text: &str| there.as_deref() == Some(text.as_bytes());
        match entry["was"].as_str() {
            Some(was) if is(was) => {
                scene.files.write(&path, text.as_bytes())?;
                // It may be called otherwise, or part of something else.
                beside(scene, reader, &path, (Some(was), None))?;
                beside(scene, reader, &path, (None, Some(&text)))?;
            }
            Some(_) if is(&text) => beside(scene, reader, &path, (None, Some(&text)))?,
            Some(_) => stay.push(path),
            // What is there is somebody's, or a first try made it.
            None if entry["new"] == json!(true) => {
                if there.is_none() {
                    scene.files.write(&path, text.as_bytes())?;
                }
                if there.is_none() || is(&text) {
                    beside(scene, reader, &path, (None, Some(&text)))?;
                }
            }
            None => {}
        }
    }
    if !stay.is_empty() {
        let stay = super::bounds::listed(&stay);
        told.push(format!("{stay} was changed since, so it does not follow its entry"));
    }
    let mut stay = Vec::new();
    for entry in values["pruned"].as_array().into_iter().flatten() {
        let (path, text) = (as_text(&entry["path"]), as_text(&entry["text"]));
        match scene.files.read(&path)? {
            Some(bytes) if bytes == text.as_bytes() => scene.files.remove(&path)?,
            Some(_) => {
                stay.push(path);
                continue;
            }
            None => {}
        }
        beside(scene, reader, &path, (Some(&text), None))?;
    }
    if !stay.is_empty() {
        let stay = super::bounds::listed(&stay);
        told.push(format!("{stay} has no entry any more and was changed since, so it stays"));
    }
    let unknown: Vec<String> = values["unknown"].as_array().into_iter().flatten().map(as_text).collect();
    if !unknown.is_empty() {
        told.push(format!("nothing waits for {}, of which there is no `{name}`", unknown.join(", ")));
    }
    Ok(Done::plain("done", told.join("; ")))
}

/// Brings up to date what speaks of a document.
fn beside(
    scene: &Scene<'_>,
    reader: Option<Reader>,
    path: &str,
    change: (Option<&str>, Option<&str>),
) -> Result<(), EngineError> {
    let Some(reader) = reader else { return Ok(()) };
    for (path, text) in reader.beside(path, change, |path| in_words(scene, path))? {
        scene.files.write(&path, text.as_bytes())?;
    }
    Ok(())
}

/// The entries, each with where its document is.
fn listed(engine: &Engine, scene: &Scene<'_>, what: &What<'_>, past: &Past) -> Refusable<Vec<Entry>> {
    let parameter = |name: &str| what.action.parameters[name].as_str().unwrap_or_default();
    let (mut listed, mut keys, mut paths) = (Vec::new(), BTreeSet::new(), BTreeSet::new());
    // What is given away here and now counts as taken.
    let mut last = 0;
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
        let numbering = what.reader.map_or(Numbering::ByKey, Reader::numbering);
        let known = past.paths.get(&key).filter(|path| match numbering {
            Numbering::ByKey => false,
            Numbering::OfRun => scene.files.is_there(path),
            Numbering::Shared => true,
        });
        let again = known.is_none() && numbering == Numbering::OfRun;
        let name = match (known, numbering) {
            (Some(_), _) | (_, Numbering::ByKey) => Ok(key.clone()),
            (None, Numbering::OfRun) => {
                last = of_run(scene, what, past)?.max(last) + 1;
                Ok(last.to_string())
            }
            (None, Numbering::Shared) => shared(engine, scene, what, (&key, &besides))?,
        };
        let path = match (known, name) {
            (Some(path), _) => super::places::proper(scene, path)?,
            (None, Ok(name)) => path(scene, &what.document, &name, &besides)?,
            (None, Err(why)) => Err(why),
        };
        let path = match path {
            Ok(path) => path,
            Err(why) => return Ok(Err(why)),
        };
        if !paths.insert(path.clone()) {
            return Ok(Err(format!(
                "`{path}` would be the document of two keys; name the item in the path of `{}`",
                what.document
            )));
        }
        listed.push(Entry { id, key, besides, path, again });
    }
    Ok(Ok(listed))
}

/// The last number of a document that this run gave away, or that a file has.
fn of_run(scene: &Scene<'_>, what: &What<'_>, past: &Past) -> Result<u64, EngineError> {
    let files = scene.files_of(&what.document)?;
    let all = files.iter().chain(past.paths.values()).chain(&past.gone);
    let number = |path: &String| {
        let name = path.rsplit('/').next().unwrap_or(path);
        let stem = name.rsplit_once('.').map_or(name, |(it, _)| it);
        let digits = stem.len() - stem.trim_end_matches(|it: char| it.is_ascii_digit()).len();
        stem.get(stem.len() - digits..).and_then(|it| it.parse::<u64>().ok())
    };
    Ok(all.filter_map(number).max().unwrap_or(0))
}

/// What a new document is called that shares its numbers with all worktrees: by the issue it is part of, by what the run is
/// about, or as most of those that are there.
fn shared(
    engine: &Engine,
    scene: &Scene<'_>,
    what: &What<'_>,
    (key, besides): (&str, &Value),
) -> Refusable<String> {
    const USUAL: &str = "ISSUE-";
    let reader = what.reader;
    let is_name = |name: &str| reader.is_some_and(|it| it.is_name(name));
    let prefix = |name: &str| name.trim_end_matches(|it: char| it.is_ascii_digit()).to_owned();
    let named = match &what.action.parameters["set"]["parent"] {
        Value::String(parent) => as_text(&scene.value_with(parent, besides)?),
        _ => String::new(),
    };
    let by_name = [named.as_str(), &scene.run.subject].into_iter().find(|it| is_name(it)).map(prefix);
    let stems = |path: &String| {
        let name = path.rsplit('/').next().unwrap_or(path);
        name.rsplit_once('.').map_or(name, |(it, _)| it).to_owned()
    };
    let mut times: BTreeMap<String, usize> = BTreeMap::new();
    if by_name.is_none() {
        for name in scene.files_of(&what.document)?.iter().map(stems).filter(|it| is_name(it)) {
            *times.entry(prefix(&name)).or_default() += 1;
        }
    }
    let most = times.into_iter().max_by_key(|(_, times)| *times).map(|(it, _)| it);
    let prefix = by_name.or(most).unwrap_or_else(|| USUAL.to_owned());
    // Where they lie is known before any has a name.
    let folder = match path(scene, &what.document, "0", besides)? {
        Ok(path) => path.rsplit_once('/').map(|(it, _)| it.to_owned()).unwrap_or_default(),
        Err(why) => return Ok(Err(why)),
    };
    let numbers = Numbers { git: scene.files.git(), journal: &*engine.journal };
    let holder = format!("{} {} {key}", scene.name, what.document);
    Ok(Ok(format!("{prefix}{}", numbers.take(&folder, &prefix, &holder)?)))
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
    what: &What<'_>,
    (entry, listed): (&Entry, &[Entry]),
    unknown: &mut BTreeSet<String>,
) -> Refusable<String> {
    let wrong = |fault: crate::documents::Fault| format!("{}: {fault}", entry.path);
    let action = what.action;
    let mut text = match action.parameters["template"].as_str() {
        Some(file) => scene.text_with(meant(scene.folder, file), &entry.besides)?,
        None => what.reader.map_or("", Reader::blank).to_owned(),
    };
    if let Some(reader) = what.reader {
        text = match reader.called(&text, entry.name()) {
            Ok(text) => text,
            Err(fault) => return Ok(Err(wrong(fault))),
        };
    }
    for (field, value) in action.parameters["set"].as_object().into_iter().flatten() {
        let Some(reader) = what.reader else {
            let document = scene.workflow.documents.get(&*what.document);
            let named = document.and_then(|it| it.reader.as_deref()).unwrap_or("text");
            return Err(EngineError::Wrong(format!(
                "files as `{named}` cannot be changed yet (`{}`)",
                what.document
            )));
        };
        let mut value = match value {
            Value::String(text) => scene.value_with(text, &entry.besides)?,
            other => other.clone(),
        };
        if reader.refers(field) {
            value = referred(reader, value, listed, unknown);
        }
        text = match reader.set(&text, field, &value, &what.about) {
            Ok(text) => text,
            Err(fault) => return Ok(Err(wrong(fault))),
        };
    }
    Ok(Ok(text))
}

/// A value that names entries, with their documents instead. What is neither is left out, and told.
fn referred(reader: Reader, value: Value, listed: &[Entry], unknown: &mut BTreeSet<String>) -> Value {
    let one = |value: Value, unknown: &mut BTreeSet<String>| {
        let Value::String(name) = &value else { return Some(value) };
        let found = listed.iter().find(|it| it.id == *name);
        match found {
            Some(entry) => Some(json!(entry.name())),
            None if name.is_empty() || reader.is_name(name) => Some(value),
            None => {
                unknown.insert(format!("`{name}`"));
                None
            }
        }
    };
    match value {
        Value::Array(all) => all.into_iter().filter_map(|it| one(it, unknown)).collect(),
        value => one(value, unknown).unwrap_or(Value::Null),
    }
}

/// What the run created before.
#[derive(Default)]
struct Past {
    /// Keys that have had their document.
    made: BTreeSet<String>,
    /// Where they are, by key.
    paths: BTreeMap<String, String>,
    /// Where documents were that were taken back.
    gone: Vec<String>,
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
                        let own = |it: &&Value| it["new"] == json!(true) || it["was"].is_string();
                        for entry in entries(&values, "entries").filter(own) {
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
                    for entry in entries(&values, "entries") {
                        past.made.insert(as_text(&entry["key"]));
                        past.paths.insert(as_text(&entry["key"]), as_text(&entry["path"]));
                    }
                    for key in entries(&values, "pruned").map(|it| as_text(&it["key"])) {
                        past.made.remove(&key);
                        past.gone.extend(past.paths.remove(&key));
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
