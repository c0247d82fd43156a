//! Changes to a `.meta.json`: one field at a time, in the words the file has for it.

use serde_json::{Map, Value, json};

use super::phases::{COMPLETED, ITERATIONS, NOTES, STARTED, VERIFIED, first};
use super::words::{note, phase};
use super::{Change, Meta};

/// Where skipped phases are recorded.
const SKIPPED: &str = "skippedPhases";

/// What has to change so that a field holds a value. `stage` is the phase that `phase` stands for; `order` are the phases
/// that count here.
pub fn changes(
    file: &Value,
    field: &str,
    value: &Value,
    (stage, order): (&str, &[String]),
) -> Result<Vec<Change>, String> {
    let meta = Meta::read(file);
    let set = |field: &str, value: Value| {
        if file_has(file, field, &value) { vec![] } else { vec![Change::set(field, value)] }
    };
    let text = value.as_str().map(str::trim);
    let maybe = || if text == Some("") { Value::Null } else { value.clone() };
    Ok(match field {
        "id" | "worktree" | "created" | "completed" => set(field, maybe()),
        "name" => {
            let has_slug = file["name"].is_null() && !file["slug"].is_null();
            set(if has_slug { "slug" } else { "name" }, value.clone())
        }
        // A word of others that means the same stays.
        "mode" if text == Some(&meta.mode) => Vec::new(),
        "status" if text == Some(meta.status.word()) && !file["status"].is_null() => Vec::new(),
        "mode" | "status" => set(field, value.clone()),
        "currentPhase" => {
            // What is in no order is done, and where it goes on stays as it was.
            if text.is_some_and(|it| !order.is_empty() && !order.iter().any(|known| known == it)) {
                return Ok(Vec::new());
            }
            let later = !file["lastCompletedPhase"].is_null() || file.get("lastCompletedPhase").is_some();
            let both = later && !file["currentPhase"].is_null();
            let mut all = if later { set("lastCompletedPhase", maybe()) } else { set(field, maybe()) };
            all.extend(both.then(|| set(field, maybe())).into_iter().flatten());
            all
        }
        "phase" => of_phase(file, &meta, stage, "", value)?,
        "skipped" => return Err("phases that were skipped are only added to".to_owned()),
        _ => match field.split_once('.') {
            Some(("phase", inner)) => of_phase(file, &meta, stage, inner, value)?,
            Some(("phases", rest)) => match rest.rsplit_once('.') {
                Some((name, inner)) => of_phase(file, &meta, phase(name).unwrap_or(name), inner, value)?,
                None => return Err(format!("nothing can be set in `{field}`")),
            },
            _ => return Err(format!("nothing can be set in `{field}`")),
        },
    })
}

/// Phases that are recorded as skipped. What is there already is not added again.
pub fn append(file: &Value, field: &str, value: &Value) -> Result<Vec<Change>, String> {
    if field != "skipped" {
        return Err(format!("nothing can be added to `{field}`"));
    }
    let there = match &file[SKIPPED] {
        Value::Null => Vec::new(),
        Value::Array(there) => there.clone(),
        _ => return Err(format!("`{SKIPPED}` is no list")),
    };
    let entries = match value {
        Value::Array(entries) => entries.clone(),
        one => vec![one.clone()],
    };
    let mut changes = Vec::new();
    for entry in entries.into_iter().filter(|it| !it.is_null()) {
        let entry = if entry.is_object() { entry } else { json!({"phase": entry}) };
        if !there.contains(&entry) {
            changes.push(Change::add(SKIPPED, entry));
        }
    }
    Ok(changes)
}

/// Whether a field of the file holds a value. What is nothing need not be there.
fn file_has(file: &Value, field: &str, value: &Value) -> bool {
    field.split('.').try_fold(file, |at, part| at.get(part)).unwrap_or(&Value::Null) == value
}

fn of_phase(
    file: &Value,
    meta: &Meta,
    name: &str,
    field: &str,
    value: &Value,
) -> Result<Vec<Change>, String> {
    if name.is_empty() {
        return Err("it is not said of which phase".to_owned());
    }
    let record = meta.phases.get(name);
    let place = record.map_or_else(|| format!("phases.{name}"), |it| it.place.clone());
    let there = at(file, &place);
    if field.is_empty() {
        return Ok(forget(&place, there, value)?.into_iter().collect());
    }
    let names: &[&'static str] = match field {
        "started" => &STARTED,
        "completed" => &COMPLETED,
        "verified" => &VERIFIED,
        "iterations" => &ITERATIONS,
        "reviewerNotes" => &NOTES,
        _ => return Err(format!("nothing can be set in `{field}` of a phase")),
    };
    let value = match (field, value) {
        ("started" | "completed", Value::String(text)) if text.is_empty() => Value::Null,
        ("reviewerNotes", Value::Array(all)) => all.iter().map(note).filter(|it| !it.is_empty()).collect(),
        ("reviewerNotes", Value::Null) => json!([]),
        (_, value) => value.clone(),
    };
    // A list has no place for what is not in it yet.
    if record.is_none() && file["phases"].is_array() {
        let entry = json!({"name": name, names[0]: value});
        return Ok(if value.is_null() { Vec::new() } else { vec![Change::add("phases", entry)] });
    }
    // What was said in a word only is written down before anything is added to it.
    let mut changes = Vec::new();
    if !there.is_null() && !there.is_object() {
        let mut known = Map::new();
        let times = record.map(|it| [("started", &it.started), ("completed", &it.completed)]);
        for (name, time) in times.into_iter().flatten() {
            known.extend(time.clone().map(|it| (name.to_owned(), it.into())));
        }
        changes.push(Change::set(place.clone(), Value::Object(known)));
    }
    let called = first(there, names).map_or(names[0], |(name, _)| name);
    let said = if there.is_object() { there.get(called).unwrap_or(&Value::Null) } else { &Value::Null };
    if *said != value {
        changes.push(Change::set(format!("{place}.{called}"), value));
    }
    Ok(changes)
}

/// What a path leads to, also through lists.
fn at<'v>(file: &'v Value, place: &str) -> &'v Value {
    let step = |at: &'v Value, part: &str| match at {
        Value::Array(all) => part.parse::<usize>().ok().and_then(|it| all.get(it)),
        other => other.get(part),
    };
    place.split('.').try_fold(file, step).unwrap_or(&Value::Null)
}

/// A phase that begins anew: what is recorded of it is gone, what others keep there stays.
fn forget(place: &str, there: &Value, value: &Value) -> Result<Option<Change>, String> {
    let is_nothing = match value {
        Value::Null => true,
        Value::String(text) => text.is_empty(),
        Value::Object(fields) => fields.is_empty(),
        _ => false,
    };
    if !is_nothing {
        return Err("a phase can only be forgotten as a whole; its fields are set one by one".to_owned());
    }
    let Some(fields) = there.as_object() else {
        return Ok((!there.is_null()).then(|| Change::set(place, json!({}))));
    };
    let known = [&STARTED[..], &COMPLETED, &ITERATIONS, &NOTES, &VERIFIED, &["status"]].concat();
    let mut kept: Map<String, Value> = fields
        .iter()
        .filter(|(name, _)| !known.contains(&name.as_str()))
        .map(|(name, it)| (name.clone(), it.clone()))
        .collect();
    // What reviews within it counted was counted then.
    if !kept.is_empty() {
        kept.insert(ITERATIONS[0].to_owned(), json!(0));
        kept.insert(NOTES[0].to_owned(), json!([]));
    }
    let kept = Value::Object(kept);
    Ok((kept != *there).then(|| Change::set(place, kept)))
}
