//! Joining: an item that works apart takes in what others brought back meanwhile, before it is brought back itself.
//!
//! The branch of the run is not changed by it. What comes of both is on the item's own branch, where it can be looked at and
//! checked; when the item ends well the run goes on to it, and nothing has to be merged any more.

use serde_json::Value;

use super::merge::{Together, is_within, merged};
use super::worktrees::tip;
use super::{Done, as_text};
use crate::error::EngineError;
use crate::scene::Scene;

/// What helps where git does not take it in.
const HELP: &str = "nothing was changed: commit what is there first";

pub(super) fn perform(scene: &Scene<'_>, values: &Value) -> Result<Done, EngineError> {
    let git = scene.files.git();
    let Some(into) = scene.run.site.as_ref().and_then(|it| it.joins.clone()) else {
        return Ok(Done::plain("done", "it works where the run does, so there is nothing to join"));
    };
    let failed = |why: String| Ok(Done::plain("failed", why));
    let (Some(own), Some(branch)) = (git.head()?, git.branch()?) else {
        return failed("no branch is checked out that could join another".to_owned());
    };
    let Some(theirs) = tip(git, &into)? else {
        return failed(format!("there is no branch `{into}` any more"));
    };
    if is_within(git, &theirs, &own)? {
        return Ok(Done::plain("done", format!("`{branch}` has all of `{into}`")));
    }
    let target = if is_within(git, &own, &theirs)? {
        theirs
    } else {
        match merged(git, (&branch, &own), (&into, &theirs), &as_text(&values["join"]))? {
            Ok(commit) => commit,
            Err(Together::Conflict(why)) => return Ok(Done::plain("conflict", why)),
            Err(Together::Refused(why)) => return failed(why),
            Err(Together::Already | Together::Now) => return failed(HELP.to_owned()),
        }
    };
    match git.text(&["merge", "--quiet", "--ff-only", &target]) {
        Ok(_) => Ok(Done::plain("done", format!("`{branch}` has all of `{into}`"))),
        Err(error) => super::worktrees::refused(error, HELP),
    }
}
