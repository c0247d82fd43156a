//! Finding the items of a loop.

use loopwright_core::definition::{Each, EachRun, Kind};
use loopwright_core::machine::{Evidence, Listed};
use loopwright_core::name::Name;
use serde_json::Value;

use crate::documents::Reader;
use crate::error::EngineError;
use crate::scene::Scene;

/// The items of the loop a run stands in.
pub(crate) fn items(scene: &Scene<'_>) -> Result<Evidence, EngineError> {
    let Some((state, Kind::Each(each))) = scene.state().map(|it| (it, &it.kind)) else {
        return Err(EngineError::Wrong(format!("`{}` is no loop", scene.run.at.state)));
    };
    let entries = scene.entries(each)?;
    let mut seen = std::collections::BTreeSet::new();
    if let Some((id, _)) = entries.iter().find(|(id, _)| !seen.insert(id.as_str())) {
        return Err(EngineError::Wrong(format!("two items of `{}` are called `{id}`", each.list)));
    }
    let digest = state.gate.as_ref().map(|it| scene.judged(&it.name)).transpose()?;
    let (ids, ordered) = in_order(each, &entries);
    let done = |id: &String| scene.run.items.get(&*state.name).is_some_and(|it| it.contains_key(id));
    let (mut there, mut changed) = (Vec::new(), Vec::new());
    for (id, _) in &entries {
        match brought(scene, each, id)? {
            Some(true) if each.if_missing => there.push(id.clone()),
            // What an earlier visit brought is gone.
            Some(false) if done(id) => changed.push(id.clone()),
            _ => {}
        }
    }
    let says = entries.iter().map(|(id, entry)| Ok((id.clone(), says(scene, each, entry)?)));
    let says = says.collect::<Result<_, EngineError>>()?;
    let after = if each.by_dependency && ordered {
        entries.iter().map(|(id, entry)| (id.clone(), needs(entry))).collect()
    } else {
        indexmap::IndexMap::new()
    };
    Ok(Evidence::Items(Box::new(Listed { ids, ordered, digest, changed, says, there, after })))
}

/// Whether all is there that an item's call brings, and valid. Nothing, where it brings nothing that could be looked at.
fn brought(scene: &Scene<'_>, each: &Each, id: &str) -> Result<Option<bool>, EngineError> {
    let EachRun::Call(call) = &each.run else { return Ok(None) };
    let Some(wanted) = scene.run.pick(&call.produces).filter(|it| !it.is_empty()) else { return Ok(None) };
    let scene = Scene { item: Some(id), ..*scene };
    for document in wanted {
        for leaf in scene.workflow.leaves(document) {
            if scene.incomplete(&leaf, &[])?.is_some() {
                return Ok(Some(false));
            }
        }
    }
    Ok(Some(true))
}

/// A digest of what an entry says. What the engine keeps in it says nothing about the item.
fn says(scene: &Scene<'_>, each: &Each, entry: &Value) -> Result<String, EngineError> {
    let mut entry = entry.clone();
    if let Some((name, list)) = each.list.strip_prefix("docs.").and_then(|it| it.split_once('.')) {
        let name = Name::from(name);
        let known =
            scene.workflow.documents.iter().find(|(it, _)| it.in_expression() == name.in_expression());
        if let Some((name, document)) = known {
            let reader = document.reader.as_deref().and_then(Reader::named);
            entry = reader.map_or_else(|| entry.clone(), |it| it.means(&entry));
            for field in scene.set_in_entries(name, list) {
                if let Value::Object(fields) = &mut entry {
                    fields.remove(&field);
                }
            }
        }
    }
    let text = serde_json::to_vec(&entry).map_err(|it| EngineError::Wrong(it.to_string()))?;
    Ok(blake3::hash(&text).to_hex().to_string())
}

/// What an entry has to come after.
fn needs(entry: &Value) -> Vec<String> {
    let listed = entry.get("depends").and_then(Value::as_array).into_iter().flatten();
    listed.filter_map(Value::as_str).map(str::to_owned).collect()
}

/// The ids in the order they run, and whether there is one.
fn in_order(each: &Each, entries: &[(String, Value)]) -> (Vec<String>, bool) {
    let mut waiting: Vec<&(String, Value)> = entries.iter().collect();
    if !each.by_dependency {
        return (waiting.into_iter().map(|(id, _)| id.clone()).collect(), true);
    }
    let mut ids: Vec<String> = Vec::new();
    // In the order of the list, as far as that can be.
    while let Some(at) = waiting.iter().position(|(_, it)| needs(it).iter().all(|need| ids.contains(need))) {
        ids.push(waiting.remove(at).0.clone());
    }
    if waiting.is_empty() { (ids, true) } else { (Vec::new(), false) }
}
