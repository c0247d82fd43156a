//! Issues in a `TODO` folder.
#![expect(clippy::unwrap_used, clippy::panic, reason = "test helpers")]

mod comments;
mod issues;
mod lists;
mod properties;
mod tasks;
mod tracker;

use loopwright_formats::todo::Problem;

/// Problems as a person reads them.
fn told(problems: &[Problem]) -> Vec<String> {
    problems.iter().map(ToString::to_string).collect()
}
