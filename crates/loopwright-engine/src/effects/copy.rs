//! Copying files.

use serde_json::Value;

use super::places::{pairs, source, target};
use super::{Done, as_text};
use crate::error::EngineError;
use crate::scene::Scene;

/// Copies files. Exactly: what the source has not is removed, and of nothing there is an empty copy.
pub(super) fn perform(scene: &Scene<'_>, values: &Value) -> Result<Done, EngineError> {
    let (what, to) = (as_text(&values["copy"]), as_text(&values["to"]));
    let exact = values["exact"].as_bool().unwrap_or(false);
    let failed = |why: String| Ok(Done::plain("failed", why));
    let (source, target) = match (source(scene, &what)?, target(scene, &to)?) {
        (Ok(source), Ok(target)) => (source, target),
        (Err(why), _) | (_, Err(why)) => return failed(why),
    };
    if source.files.is_empty() && !exact {
        return failed(format!("there is nothing at `{what}` to copy"));
    }
    let pairs = match pairs(&source, &target) {
        Ok(pairs) => pairs,
        Err(why) => return failed(why),
    };
    if exact {
        for path in target.files(scene)? {
            if !pairs.iter().any(|(_, it)| *it == path) {
                scene.files.remove(&path)?;
            }
        }
    }
    for (from, to) in &pairs {
        scene.files.copy(from, to)?;
    }
    Ok(Done::plain("done", ""))
}
