//! Finding the items of a loop.

use loopwright_core::definition::{Each, Kind};
use loopwright_core::machine::Evidence;
use serde_json::Value;

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
    Ok(Evidence::Items { ids, ordered, digest, changed: Vec::new() })
}

/// The ids in the order they run, and whether there is one.
fn in_order(each: &Each, entries: &[(String, Value)]) -> (Vec<String>, bool) {
    let mut waiting: Vec<&(String, Value)> = entries.iter().collect();
    if !each.by_dependency {
        return (waiting.into_iter().map(|(id, _)| id.clone()).collect(), true);
    }
    let needs = |entry: &Value| -> Vec<String> {
        let listed = entry.get("depends").and_then(Value::as_array).into_iter().flatten();
        listed.filter_map(Value::as_str).map(str::to_owned).collect()
    };
    let mut ids: Vec<String> = Vec::new();
    // In the order of the list, as far as that can be.
    while let Some(at) = waiting.iter().position(|(_, it)| needs(it).iter().all(|need| ids.contains(need))) {
        ids.push(waiting.remove(at).0.clone());
    }
    if waiting.is_empty() { (ids, true) } else { (Vec::new(), false) }
}
