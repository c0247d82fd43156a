//! What a role is told about its bounds. They hold anyway; one who knows them does not lose work to them.

use std::fmt::Write as _;

use loopwright_core::definition::{Call, Role};
use loopwright_core::name::Name;

use super::{bounds, rules};
use crate::error::EngineError;
use crate::scene::Scene;

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
        (
            "git",
            "Do not commit, switch branches or change history: that is put back, and the engine commits.",
        ),
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
