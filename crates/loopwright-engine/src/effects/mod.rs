//! Effects: everything a run wants done, done.

mod act;
pub(crate) mod apart;
mod append;
mod ask;
pub(crate) mod beside;
mod bounds;
mod branch;
mod call;
mod calling;
mod check;
mod commit;
mod copy;
mod create;
mod discard;
mod engine_fields;
mod fields;
mod heads;
mod join;
mod list;
mod merge;
mod new_tests;
mod places;
mod push;
mod references;
mod relocate;
mod rules;
mod set;
mod settings;
mod shows;
mod told;
pub(crate) mod worktrees;

use std::sync::Arc;
use std::time::Duration;

use loopwright_core::machine::{Effect, Outcome, Site, Want};
use serde_json::Value;

pub(crate) use self::ask::asked;
pub(crate) use self::bounds::{listed, undo_out_of_bounds};
pub(crate) use self::calling::tidy;
pub(crate) use self::check::{commands_of, judge};
pub(crate) use self::commit::TRAILER;
pub(crate) use self::heads::unfinished;
pub(crate) use self::list::items;
pub(crate) use self::settings::Settings;
pub(crate) use self::shows::{Edit, due as shows_due, edited, show};
pub(crate) use self::worktrees::NO_REPOSITORY;
use crate::engine::Engine;
use crate::error::EngineError;
use crate::files::Look;
use crate::process::{Cancel, MARK};
use crate::scene::Scene;

/// Something that may be refused for a reason that people are told; the run goes on with `failed`.
type Refusable<T> = Result<Result<T, String>, EngineError>;

/// What an effect will use, settled before it is begun.
pub(crate) struct Prepared {
    pub(crate) values: Value,
    /// Texts that are kept, by name.
    pub(crate) kept: Vec<(String, String)>,
    /// What git is told, for whoever works.
    pub(crate) settings: Settings,
}

impl Prepared {
    fn of(values: Value) -> Self {
        Self { values, kept: Vec::new(), settings: Settings::default() }
    }
}

/// What came of an effect.
pub(crate) struct Done {
    pub(crate) outcome: Outcome,
    /// Texts that are kept about it, by name.
    pub(crate) kept: Vec<(String, String)>,
    /// All files afterwards, if they were looked at.
    pub(crate) look: Option<Arc<Look>>,
    /// What people are told.
    pub(crate) said: Vec<String>,
    /// Where the run works from now on, if that is elsewhere.
    pub(crate) placed: Option<Site>,
    /// It came to nothing and is to be tried again after so long.
    pub(crate) limited: Option<Duration>,
}

impl Done {
    fn of(outcome: Outcome) -> Self {
        Self { outcome, kept: Vec::new(), look: None, said: Vec::new(), placed: None, limited: None }
    }

    /// Something of which nothing more is known than how it came out.
    fn plain(signal: &str, summary: impl Into<String>) -> Self {
        Self::of(Outcome { summary: summary.into(), ..Outcome::of(signal) })
    }
}

/// Adds something to what is told and kept of an outcome.
pub(crate) fn told_besides(outcome: &mut Outcome, what: &str) {
    let before = std::mem::take(&mut outcome.summary);
    outcome.summary = if before.is_empty() { what.to_owned() } else { format!("{before}; {what}") };
}

/// The item a call is made for.
pub(crate) fn item_of(effect: &Effect) -> Option<String> {
    match &effect.want {
        Want::Call { item, .. } => item.clone(),
        _ => None,
    }
}

/// What a command is told about the run it is part of.
fn about(scene: &Scene<'_>, effect: &Effect) -> Vec<(String, String)> {
    let item = item_of(effect).or_else(|| scene.run.item.clone());
    let about = [
        ("RUN", scene.name.to_owned()),
        ("STATE", scene.run.at.state.to_string()),
        ("VISIT", effect.id.visit.to_string()),
        ("ATTEMPT", effect.attempt.to_string()),
        ("SUBJECT", scene.run.subject.clone()),
        ("ITEM", item.unwrap_or_default()),
    ];
    let about = about.into_iter().map(|(name, value)| (format!("LOOPWRIGHT_{name}"), value));
    about.chain([(MARK.to_owned(), mark(scene))]).collect()
}

/// A name for a run that no run elsewhere has.
pub(crate) fn mark(scene: &Scene<'_>) -> String {
    let place = scene.files.git().common().to_string_lossy().into_owned();
    format!("{}.{}", &blake3::hash(place.as_bytes()).to_hex()[..16], scene.name)
}

/// Settles what an effect will use. Another try of the same visit uses what the first did.
pub(crate) fn prepare(
    engine: &Engine,
    scene: &Scene<'_>,
    effect: &Effect,
    known: Option<&Value>,
) -> Result<Prepared, EngineError> {
    match &effect.want {
        Want::Call { role, advice, .. } => call::prepare(engine, scene, role, advice),
        Want::Check => check::prepare(scene),
        Want::Act { index } => match known {
            Some(values) => Ok(Prepared::of(values.clone())),
            None => act::prepare(engine, scene, effect, *index),
        },
        _ => Ok(Prepared::of(Value::Null)),
    }
}

/// Whether what an effect does depends on what is on record.
pub(crate) fn looks_back(scene: &Scene<'_>, effect: &Effect) -> bool {
    matches!(effect.want, Want::Act { index } if act::looks_back(scene, index))
}

/// Does it.
pub(crate) fn perform(
    engine: &Engine,
    scene: &Scene<'_>,
    effect: &Effect,
    (values, settings): (&Value, &Settings),
    cancel: &Cancel,
) -> Result<Done, EngineError> {
    match &effect.want {
        Want::Call { role, advice, .. } => {
            call::perform(engine, scene, effect, (role, advice), (values, settings), cancel)
        }
        Want::Check => check::perform(engine, scene, effect, (values, settings), cancel),
        Want::Act { index } => act::perform(engine, scene, effect, (*index, values), cancel),
        _ => Ok(Done::plain("lost", "it is nothing that can be done")),
    }
}

/// A value as people read it.
pub(crate) fn as_text(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        Value::Object(fields) => match fields.get("text") {
            Some(Value::String(text)) => text.clone(),
            _ => serde_json::to_string_pretty(value).unwrap_or_default(),
        },
        other => serde_json::to_string_pretty(other).unwrap_or_default(),
    }
}
