//! What a role is told about its bounds. They hold anyway; one who knows them does not lose work to them.

use std::fmt::Write as _;

use loopwright_core::definition::{Call, Role};
use loopwright_core::name::Name;

use super::{bounds, rules};
use crate::error::EngineError;
use crate::scene::Scene;

/// What was wrong with the try before this one, for whoever could do the same again.
pub(super) fn before(scene: &Scene<'_>) -> String {
    let at = &scene.run.at;
    let tried = scene.run.last.get(&*at.state).filter(|it| at.attempt > 1 && it.visit == at.visit);
    match tried.filter(|it| ["malformed", "out-of-bounds", "denied"].contains(&&*it.signal)) {
        Some(it) => format!(
            "\n---\n\n## The try before this one\n\nIt did not count: {}.\n\nWhat it wrote is still there, but for what was undone. Do not begin anew; put that right.\n",
            it.summary.trim_end_matches('.')
        ),
        None => String::new(),
    }
}

/// The bounds of a role in a call, in words.
pub(super) fn bounds(
    scene: &Scene<'_>,
    (name, role, call): (&Name, &Role, Option<&Call>),
) -> Result<String, EngineError> {
    let mut text = String::from("\n---\n\n## What you may do\n\n");
    let documents = bounds::writable(scene, name, call);
    if documents.is_empty() {
        text.push_str("You may change no file: only look. What you change is undone.\n");
    } else {
        text.push_str("You may change these files and no others (what you change elsewhere is undone):\n\n");
        for document in &documents {
            let _ = writeln!(text, "- {document}: {}", scene.patterns_of(document)?.join(", "));
        }
    }
    let denied = [
        ("git", "Do not commit, switch branches or change history: that is put back."),
        ("network", "Do not use the network."),
        ("shell", "Do not run commands."),
    ];
    for (_, words) in denied.iter().filter(|(what, _)| role.deny.iter().any(|it| **it == **what)) {
        let _ = writeln!(text, "{words}");
    }
    for rule in rules::of(role, call) {
        let _ = writeln!(text, "A rule holds for what you change, `{rule}`: {}", rules::told(rule));
    }
    Ok(text)
}
