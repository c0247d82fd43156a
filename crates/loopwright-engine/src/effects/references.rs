//! Branches, tags and stashes: what work hangs on. One that is gone after a call is brought back as long as git still has
//! it; one that was moved or made is said, and left: it may have been a person.

use serde_json::{Map, Value};

use crate::error::EngineError;
use crate::git::{Git, GitError};

/// With more than that, they are not listed for each call.
const MOST: usize = 500;
/// As many as are named.
const NAMED: usize = 5;

/// What there is now, for later: where each points to. Nothing, where there are too many.
pub(super) fn now(git: &Git) -> Result<Value, EngineError> {
    let format = "--format=%(refname) %(objectname)";
    let listed =
        git.text(&["for-each-ref", format, "refs/heads", "refs/tags", "refs/stash", "refs/notes"])?;
    let all: Map<String, Value> = listed
        .lines()
        .filter_map(|it| it.split_once(' '))
        .map(|(name, to)| (name.to_owned(), to.into()))
        .collect();
    Ok(if all.len() > MOST { Value::Null } else { all.into() })
}

/// Brings back what is gone. What had become of any of them, in words; `branch` is looked after elsewhere.
pub(super) fn put_back(git: &Git, then: &Value, branch: Option<&str>) -> Result<Vec<String>, EngineError> {
    let now = now(git)?;
    let (Some(then), Some(now)) = (then.as_object(), now.as_object()) else { return Ok(Vec::new()) };
    if then == now {
        return Ok(Vec::new());
    }
    let own = branch.map(|it| format!("refs/heads/{it}"));
    let short = |name: &str| name.trim_start_matches("refs/heads/").trim_start_matches("refs/").to_owned();
    let (mut back, mut lost, mut moved) = (Vec::new(), Vec::new(), Vec::new());
    for (name, to) in then.iter().filter(|(it, _)| Some(*it) != own.as_ref()) {
        let to = to.as_str().unwrap_or_default();
        match now.get(name).and_then(Value::as_str) {
            None => match git.text(&["update-ref", name, to]) {
                Ok(_) => back.push(format!("`{}`", short(name))),
                Err(GitError::Failed { .. }) => lost.push(format!("`{}` (it was {to})", short(name))),
                Err(error) => return Err(error.into()),
            },
            Some(now) if now != to => moved.push(format!("`{}` (it was {to})", short(name))),
            Some(_) => {}
        }
    }
    let made = now.keys().filter(|it| !then.contains_key(*it) && Some(*it) != own.as_ref());
    let made: Vec<String> = made.map(|it| format!("`{}`", short(it))).collect();
    let told = |what: &str, names: &[String]| {
        let more = names.len().saturating_sub(NAMED);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        let names: Vec<&str> = names.iter().take(NAMED).map(String::as_str).collect();
        (!names.is_empty()).then(|| format!("{what}: {}{more}", names.join(", ")))
    };
    let all = [
        told("removed, and brought back", &back),
        told("removed, and git has it no more", &lost),
        told("moved, and left so", &moved),
        told("made, and left there", &made),
    ];
    Ok(all.into_iter().flatten().collect())
}
