//! The library any workflow may name: readers of file formats, rules on a diff, named checks.
//!
//! What is here are signatures: what a reader gives and which of its fields can be set. The engine holds the
//! code that reads and writes; both sides are held to these by name.

use indexmap::IndexMap;

use crate::fact::Type;
use crate::language::{Node, parse};

/// Rules a role's changes can be held to.
pub const RULES: &[&str] = &[
    "read-only",
    "inside-cfg-test",
    "gate-files",
    "tests-only",
    "no-test-edits",
    "files-listed-in-task",
    "todo-bodies-only",
    "same-syntax-tree",
    "ticks-only",
    "human-issues-untouched",
];

/// Checks that are more than a command.
pub const CHECKS: &[&str] = &["every-test-hits-todo", "new-tests-fail"];

/// Systems whose files there are tools for.
pub const TOOLS: &[&str] = &["agentd", "feature", "vibe"];

/// Commands a project declares.
pub const PROJECT_COMMANDS: &[&str] = &["build", "test", "lint", "format", "audit", "checks"];

/// A reader of a file format.
#[derive(Clone, Debug)]
pub struct Reader {
    /// One sentence for people.
    pub about: String,
    /// What it gives. General readers give what the document's `shape` says.
    pub gives: Option<Type>,
    /// Fields that `set` and `append` may write; `*` stands for any name.
    pub sets: Vec<String>,
    /// Parameters it takes.
    pub with: Vec<String>,
    /// Whether it is the format of one kind of project, and not a general one.
    pub special: bool,
}

/// All readers, by name.
pub fn readers() -> &'static IndexMap<String, Reader> {
    static READERS: std::sync::OnceLock<IndexMap<String, Reader>> = std::sync::OnceLock::new();
    READERS.get_or_init(|| {
        let mut problems = Vec::new();
        let root = parse("readers.yaml", include_str!("library/readers.yaml"), &mut problems);
        let words = |node: Option<&Node>| {
            node.map(Node::items)
                .unwrap_or_default()
                .into_iter()
                .filter_map(Node::text)
                .map(str::to_owned)
                .collect()
        };
        root.iter()
            .flat_map(Node::entries)
            .map(|entry| {
                let reader = Reader {
                    about: entry.node.get("about").and_then(Node::text).unwrap_or_default().to_owned(),
                    gives: entry.node.get("gives").map(crate::language::type_of),
                    sets: words(entry.node.get("sets")),
                    with: words(entry.node.get("with")),
                    special: entry.node.get("special").and_then(Node::boolean).unwrap_or(false),
                };
                (entry.key.clone(), reader)
            })
            .collect()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_library_parses() {
        let mut problems = Vec::new();
        parse("readers.yaml", include_str!("library/readers.yaml"), &mut problems);
        assert!(problems.is_empty(), "{problems:?}");
        assert!(readers().contains_key("markdown"));
        assert!(readers().values().all(|it| !it.about.is_empty()));
    }
}
