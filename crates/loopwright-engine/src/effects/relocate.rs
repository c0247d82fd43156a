//! Moving files, and the run's own folder.

use loopwright_core::machine::Site;
use serde_json::{Value, json};

use super::bounds::listed;
use super::places::{Source, Target, pairs, proper, source, target};
use super::{Done, Refusable, as_text};
use crate::error::EngineError;
use crate::scene::Scene;

/// The word for the run's own folder.
const FOLDER: &str = "folder";

/// Whether the run's own folder is meant, and no document of that name.
fn is_folder(scene: &Scene<'_>, what: &str) -> bool {
    what == FOLDER && !scene.workflow.documents.contains_key(FOLDER)
}

/// Settles what moves, and whether there is anything: another try may find it moved.
pub(super) fn prepare(scene: &Scene<'_>, values: &mut Value) -> Result<(), EngineError> {
    let what = as_text(&values["move"]);
    if is_folder(scene, &what) {
        values["folder"] = json!(scene.own_folder()?);
    }
    let (mut there, mut taken) = (false, false);
    if let Ok((source, target)) = ends(scene, values)? {
        there = !source.files.is_empty();
        // What lies there before the first try is another folder of that name, and would be mixed with this one.
        taken = values["folder"].is_string() && there && !scene.files.below(&target.base)?.is_empty();
    }
    values["there"] = json!(there);
    values["taken"] = json!(taken);
    Ok(())
}

/// What is to be moved, and where.
fn ends(scene: &Scene<'_>, values: &Value) -> Refusable<(Source, Target)> {
    let what = as_text(&values["move"]);
    let source = match values["folder"].as_str() {
        // A folder of the run's is a path, whatever it is called.
        Some(folder) => match proper(scene, folder)? {
            Ok(folder) => source(scene, &folder)?,
            Err(why) => Err(why),
        },
        None if is_folder(scene, &what) => Err("the workflow has no `folder` that could be moved".to_owned()),
        None => source(scene, &what)?,
    };
    let target = target(scene, &as_text(&values["to"]))?;
    Ok(source.and_then(|source| target.map(|target| (source, target))))
}

pub(super) fn perform(scene: &Scene<'_>, values: &Value) -> Result<Done, EngineError> {
    let failed = |why: String| Ok(Done::plain("failed", why));
    let (source, target) = match ends(scene, values)? {
        Ok(ends) => ends,
        Err(why) => return failed(why),
    };
    if values["folder"].is_string() && scene.run.item.is_some() {
        return failed("an item cannot move the folder of its run; do it outside of the loop".to_owned());
    }
    if source.files.is_empty() && values["there"] != json!(true) {
        return failed(format!("there is nothing at `{}` to move", source.base));
    }
    let own = values["folder"].is_string();
    if values["taken"] == json!(true) {
        let base = &target.base;
        return failed(format!("`{base}` is there already, so nothing was moved; move or delete it first"));
    }
    let pairs = match pairs(&source, &target) {
        Ok(pairs) => pairs,
        Err(why) => return failed(why),
    };
    let mut taken = Vec::new();
    for (from, to) in &pairs {
        if scene.files.is_there(to) && !scene.files.are_same(from, to)? {
            taken.push(to.clone());
        }
    }
    if !taken.is_empty() {
        let taken = listed(&taken);
        return failed(format!(
            "{taken} would be overwritten, so nothing was moved; move or delete it first"
        ));
    }
    // A folder in two places would be no folder for whoever comes after a crash.
    let is_whole = own && scene.files.rename(&source.base, &target.base)?;
    for (from, to) in pairs.iter().filter(|_| !is_whole) {
        scene.files.copy(from, to)?;
        scene.files.remove(from)?;
    }
    let placed =
        own.then(|| Site { own: Some(target.base.clone()), ..scene.run.site.clone().unwrap_or_default() });
    Ok(Done { placed, ..Done::plain("done", "") })
}
