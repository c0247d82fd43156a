//! Judges at work beside each other: each is called as it would be at its turn, and none of them may change anything.

use std::sync::Arc;

use loopwright_core::machine::{Effect, Outcome, Want};
use loopwright_core::name::Name;
use loopwright_core::signal;

use super::bounds::{Bounds, Undone, keep_within};
use super::call::{self, Said, missing, with_advice};
use super::settings::Settings;
use super::{Done, heads, listed};
use crate::engine::Engine;
use crate::error::EngineError;
use crate::files::Look;
use crate::process::Cancel;
use crate::scene::Scene;

/// A digest of what a judge judges and is told. Lists of changed files are no part of it, since of files what is judged
/// counts; nor is what it is called by, or what time it is.
pub(crate) fn key(scene: &Scene<'_>, effect: &Effect) -> Result<String, EngineError> {
    let (Want::Call { role, advice, .. }, Some(gate)) =
        (&effect.want, scene.state().and_then(|it| it.gate.as_ref()))
    else {
        return Err(EngineError::Wrong(format!("`{}` judges nothing", effect.id)));
    };
    let told = Scene { is_for_key: true, ..*scene };
    let call = scene.state().and_then(|it| it.call());
    let mut hasher = blake3::Hasher::new();
    hasher.update(scene.judged(&gate.name)?.as_bytes());
    for (name, call) in [(role, call)].into_iter().chain(advice.iter().map(|it| (it, None))) {
        let prompt = call::prompt(&told, (name, call::role_of(&told, name)?, call), false)?;
        hasher.update(&(prompt.len() as u64).to_le_bytes()).update(prompt.as_bytes());
    }
    Ok(hasher.finalize().to_hex().to_string())
}

/// What a judge said, and nothing was made of it yet.
pub(crate) struct Unread(Said);

/// Calls one judge of several.
pub(crate) fn call(
    engine: &Engine,
    scene: &Scene<'_>,
    effect: &Effect,
    cancel: &Cancel,
) -> Result<Unread, EngineError> {
    let Want::Call { role, advice, .. } = &effect.want else {
        return Err(EngineError::Wrong(format!("`{}` calls nobody", effect.id)));
    };
    let judge = Some(&effect.id.state);
    Ok(Unread(call::said(engine, scene, (effect, judge), (role, advice), cancel)?))
}

/// Looks whether any file has changed while judges were at work, and undoes it: none of them may change one.
pub(crate) fn kept_as_it_was(scene: &Scene<'_>) -> Result<(Arc<Look>, Option<Undone>), EngineError> {
    let (look, _, undone) = keep_within(scene, scene.look, &Bounds::Only(Vec::new()))?;
    Ok((look, undone))
}

/// What came of a call, the files being as they were before.
pub(crate) fn came_of(scene: &Scene<'_>, look: Arc<Look>, unread: Unread) -> Result<Done, EngineError> {
    let Said { mut outcome, kept, advice, limited } = unread.0;
    let after = Scene { look: &look, ..*scene };
    let call = scene.state().and_then(|it| it.call());
    if limited.is_none()
        && !signal::is_failure(&outcome.signal)
        && let Some(why) = missing(&after, call, &[])?
    {
        outcome = Outcome { summary: why, cost: outcome.cost, ..Outcome::of("malformed") };
    }
    with_advice(&mut outcome, advice);
    if let Some(gate) = scene.state().and_then(|it| it.gate.as_ref()) {
        outcome.judged = Some(after.judged(&gate.name)?);
    }
    Ok(Done { kept, look: Some(look), limited, ..Done::of(outcome) })
}

/// What an outcome is while others were at work and files changed: nobody can tell whose doing that was.
pub(crate) fn nobody_knows(outcome: &Outcome, paths: &[String], who: &[Name]) -> Outcome {
    let who: Vec<String> = who.iter().map(|it| format!("`{it}`")).collect();
    let summary = format!(
        "while {} were at work beside each other, files changed that none of them may write, and that was undone: {}; each is called alone",
        who.join(", "),
        listed(paths)
    );
    Outcome { summary, cost: outcome.cost, ..Outcome::of("out-of-bounds") }
}

/// Puts back what is checked out, once all of them are gone. `Some`: what had become of it.
pub(crate) fn put_back(
    scene: &Scene<'_>,
    head: &serde_json::Value,
    settings: &Settings,
) -> Result<Option<String>, EngineError> {
    heads::put_back(scene, head, settings)
}
