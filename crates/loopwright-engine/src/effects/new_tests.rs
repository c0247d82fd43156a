//! The checks of the library: whether the tests that are new fail as they should. Which tests are new is told from the files,
//! and how each came out from what the project's own command said.

use loopwright_rules::Change;

use super::check::Judged;
use crate::error::EngineError;
use crate::files::{FilesError, Look};
use crate::scene::Scene;

/// The commands that run the project's tests, made to go on after the first failure.
pub(super) fn commands_of(scene: &Scene<'_>) -> Vec<String> {
    scene.project.commands_of("test").iter().map(|it| loopwright_rules::thorough(it)).collect()
}

/// What is said where there are none.
pub(super) fn no_command() -> String {
    "the project has no command for `test`; say in `.loopwright/config.yaml` which: `project: {test: \"...\"}`"
        .to_owned()
}

/// What makes runners say all that is needed, besides what somebody said already.
pub(super) fn environment() -> Vec<(String, String)> {
    let besides = |name: &str, value: &str| match std::env::var(name) {
        Ok(own) if name.ends_with("OPTS") && !own.trim().is_empty() => format!("{own} {value}"),
        _ => value.to_owned(),
    };
    loopwright_rules::ENVIRONMENT
        .iter()
        .map(|(name, value)| ((*name).to_owned(), besides(name, value)))
        .collect()
}

/// Makes of how the commands ended how the check came out.
pub(super) fn judge(scene: &Scene<'_>, check: &str, ran: Judged) -> Result<Judged, EngineError> {
    let from = last_commit(scene)?;
    let before = from.as_deref().map(|it| scene.files.look_back(it)).transpose()?;
    let mut held = Vec::new();
    for change in scene.look.since(&before.unwrap_or_else(Look::default)) {
        let path = change.path().to_owned();
        let then = from.as_deref().map(|it| scene.files.read_in(it, &path)).transpose()?.flatten();
        let now = scene.files.read_in(&scene.look.tree, &path)?;
        held.push((path, then, now));
    }
    let changes: Vec<Change<'_>> = held
        .iter()
        .map(|(path, before, after)| Change { path, before: before.as_deref(), after: after.as_deref() })
        .collect();
    let verdict = loopwright_rules::judge(check, &changes, (&ran.log, ran.passed));
    let verdict = verdict.map_err(|it| EngineError::Wrong(it.to_string()))?;
    Ok(Judged { passed: verdict.passed, summary: verdict.summary, ..ran })
}

/// What new tests are new against: the last commit, or where nothing is committed, what the run found.
fn last_commit(scene: &Scene<'_>) -> Result<Option<String>, EngineError> {
    if scene.files.git().is_own() {
        return Ok(scene.run.site.as_ref().map(|it| it.start.clone()));
    }
    Ok(scene.files.git().head().map_err(FilesError::from)?)
}
