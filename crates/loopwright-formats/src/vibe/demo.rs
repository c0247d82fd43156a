//! The commands that show a checkpoint at work. They are run, so what counts as one is narrower than what checks accept.

use super::plan::{checkpoint_heading, checkpoint_place};
use super::{ids, text};

/// The commands below `Demo commands` of a checkpoint, whose id is taken as written before it is taken in normal form.
/// Fences mean nothing here, and only another checkpoint ends one.
pub(crate) fn commands(plan: &str, checkpoint: &str) -> Vec<String> {
    let as_written = |line: &str| {
        checkpoint_place(text::trim_start(line)).is_some_and(|(_, behind)| {
            !checkpoint.is_empty() && text::strip_word(behind, checkpoint).is_some()
        })
    };
    let normal = ids::checkpoint(text::trim(checkpoint));
    let by_id = |line: &str| {
        normal.is_some() && checkpoint_heading(text::trim_start(line)).map(|(id, ..)| id) == normal
    };
    let Some(heading) = text::lines(plan).position(as_written).or_else(|| text::lines(plan).position(by_id))
    else {
        return Vec::new();
    };
    let mut commands = Vec::new();
    let mut listing = false;
    for line in text::lines(plan).skip(heading + 1) {
        if checkpoint_heading(text::trim_start(line)).is_some() {
            break;
        }
        let line = text::trim(line);
        let bold = line.strip_prefix("* **").or_else(|| line.strip_prefix("- **"));
        if bold.is_some_and(|it| it.starts_with("Demo commands:**")) {
            listing = true;
        } else if listing {
            if bold.is_some() || line == "---" {
                break;
            }
            commands.extend(command(line).map(str::to_owned));
        }
    }
    commands
}

/// What is between the first and the last backtick of an item that has nothing else.
fn command(line: &str) -> Option<&str> {
    text::bullet(line)?.strip_prefix('`')?.strip_suffix('`').filter(|it| !it.is_empty())
}
