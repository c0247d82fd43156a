//! Pushing a branch.

use loopwright_core::signal::CANCELLED;
use serde_json::Value;

use super::act::RUN;
use super::worktrees::{tip, unfit};
use super::{Done, as_text};
use crate::engine::Engine;
use crate::error::EngineError;
use crate::git::{ELSEWHERE, Git, GitError};
use crate::process::{Cancel, Command, Ended};
use crate::scene::Scene;

/// Pushes a branch to where it belongs. What is there already is not pushed again.
pub(super) fn perform(
    engine: &Engine,
    scene: &Scene<'_>,
    values: &Value,
    cancel: &Cancel,
) -> Result<Done, EngineError> {
    let git = scene.files.git();
    let name = as_text(&values["push"]);
    if let Some(why) = unfit(engine, git, &name)? {
        return Ok(Done::plain("failed", why));
    }
    if tip(git, &name)?.is_none() {
        return Ok(Done::plain("failed", format!("there is no branch `{name}` to push")));
    }
    let remote = match remote_of(git, &name)? {
        Ok(remote) => remote,
        Err(why) => return Ok(Done::plain("failed", why)),
    };
    // It may take long, and ask nobody.
    let command = Command {
        program: "git".into(),
        arguments: [
            "push",
            "--quiet",
            "--set-upstream",
            &remote,
            &format!("refs/heads/{name}:refs/heads/{name}"),
        ]
        .map(str::to_owned)
        .into(),
        environment: [
            ("GIT_TERMINAL_PROMPT", "0"),
            ("GIT_SSH_COMMAND", "ssh -o BatchMode=yes"),
            ("LC_ALL", "C"),
        ]
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .into(),
        unset: ELSEWHERE.iter().map(|it| (*it).to_owned()).collect(),
        only: false,
        fence: None,
        ..Command::shell("", git.root().to_owned(), RUN)
    };
    let ran = match command.run(&engine.supervisor, cancel, &mut |_| {}) {
        Ok(ran) => ran,
        Err(error) => return Ok(Done::plain("failed", format!("git cannot be started: {error}"))),
    };
    let said = format!("{}{}", ran.output.text(), ran.errors.text());
    Ok(match ran.ended {
        Ended::Exit(0) => Done::plain("done", format!("`{name}` is at `{remote}`")),
        Ended::Exit(_) => Done::plain(
            "failed",
            format!(
                "`{name}` could not be pushed to `{remote}`: {}; if others pushed before, fetch and merge that first",
                said.trim()
            ),
        ),
        Ended::Cancelled => Done::plain(CANCELLED, "the push was called off"),
        Ended::Timeout | Ended::Stalled => {
            Done::plain("failed", format!("pushing to `{remote}` took longer than {} s", RUN.as_secs()))
        }
    })
}

/// Where a branch is pushed: what it says itself, `origin`, or the only one there is.
fn remote_of(git: &Git, branch: &str) -> Result<Result<String, String>, GitError> {
    let own = match git.text(&["config", "--get", &format!("branch.{branch}.remote")]) {
        Ok(own) => Some(own),
        Err(GitError::Failed { .. }) => None,
        Err(error) => return Err(error),
    };
    let listed = git.text(&["remote"])?;
    let remotes: Vec<&str> = listed.lines().collect();
    let known = |it: &&str| remotes.contains(it);
    let chosen = own.as_deref().filter(known).or_else(|| Some("origin").filter(known));
    Ok(match (chosen, remotes.as_slice()) {
        (Some(remote), _) => Ok(remote.to_owned()),
        (None, [remote]) => Ok((*remote).to_owned()),
        (None, []) => {
            Err(format!("there is no remote to push `{branch}` to; add one (`git remote add origin URL`)"))
        }
        (None, several) => Err(format!(
            "`{branch}` could be pushed to {}; say where (`git config branch.{branch}.remote NAME`)",
            several.join(" or ")
        )),
    })
}
