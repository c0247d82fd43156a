//! What was said so far, told alike for all interfaces, and what in it picks the step.

use serde_json::Value;

use crate::script::{Scripts, Step};
use crate::tools::Tool;

/// One thing that was said.
#[derive(Debug)]
pub(crate) enum Turn {
    /// By whoever prompts.
    User(String),
    /// By a tool that was called.
    Result,
    /// By the model: it picks nothing.
    Model,
}

/// What a request asks, whatever interface it came through.
#[derive(Debug, Default)]
pub(crate) struct Asked {
    pub(crate) turns: Vec<Turn>,
    pub(crate) tools: Vec<Tool>,
    pub(crate) streams: bool,
    /// What its answer has to look like, if the request is for data and offers no tools.
    pub(crate) shape: Option<Value>,
}

/// Which script is played, and how many results of tools it has seen.
#[derive(Debug, PartialEq)]
pub(crate) struct Place<'a> {
    pub(crate) script: &'a str,
    pub(crate) results: usize,
}

/// The last marker of the last prompt that has one. Prompts without a marker go on with the script before them: agents
/// slip in reminders of their own.
pub(crate) fn place(turns: &[Turn]) -> Option<Place<'_>> {
    let (at, script) = turns.iter().enumerate().rev().find_map(|(at, turn)| match turn {
        Turn::User(text) => marked(text).map(|name| (at, name)),
        Turn::Result | Turn::Model => None,
    })?;
    let results = turns.iter().skip(at).filter(|it| matches!(it, Turn::Result)).count();
    Some(Place { script, results })
}

/// The name in the last `[[script:NAME]]` of a text.
fn marked(text: &str) -> Option<&str> {
    text.rsplit("[[script:").filter_map(|it| it.split_once("]]")).map(|(name, _)| name).find(|name| {
        !name.is_empty() && name.chars().all(|it| it.is_alphanumeric() || matches!(it, '_' | '-' | '.'))
    })
}

/// The step that is next in a script, and its number, if there is one left.
///
/// `passed` says of a step that misbehaves only so often whether it has done so by now.
pub(crate) fn next<'a>(
    scripts: &'a Scripts,
    place: &Place<'_>,
    passed: impl Fn(usize, u32) -> bool,
) -> Result<(usize, &'a Step), String> {
    let Some(steps) = scripts.get(place.script) else {
        return Err(format!("no such script: {}", place.script));
    };
    let mut left = place.results;
    for (number, step) in steps.iter().enumerate() {
        let wanted = step.results();
        let over = step.times.is_some_and(|times| left > 0 || passed(number, times));
        if over {
            continue;
        }
        if left < wanted || wanted == 0 {
            return Ok((number, step));
        }
        left -= wanted;
    }
    Err(format!("the script {} has no step after {} results of tools", place.script, place.results))
}
