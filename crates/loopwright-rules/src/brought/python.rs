//! Tests in Python: functions that begin with `test`, in modules and classes, as pytest and unittest look for them.

use super::{Language, Test};
use crate::tree::{parse, walk};

pub(super) fn tests(path: &str, text: &str) -> Option<Vec<Test>> {
    if !text.contains("def test") {
        return Some(Vec::new());
    }
    let tree = parse(text.as_bytes(), &tree_sitter_python::LANGUAGE.into())?;
    let at = |range: std::ops::Range<usize>| text.get(range).unwrap_or_default();
    let mut tests = Vec::new();
    let mut classes: Vec<(usize, String, bool)> = Vec::new();
    let mut decorated: Option<(usize, usize)> = None;
    walk(tree.root_node(), |node, depth| {
        classes.retain(|(at, ..)| *at < depth);
        let decorators = decorated.filter(|(deep, _)| *deep + 1 == depth).map(|(_, from)| from);
        let name = node.child_by_field_name("name").map(|it| at(it.byte_range()));
        let is_off = |from: Option<usize>| {
            let before = from.map_or("", |from| at(from..node.start_byte()));
            ["skip", "xfail", "expectedFailure"].iter().any(|it| before.contains(it))
        };
        match (node.kind(), name) {
            ("decorated_definition", _) => decorated = Some((depth, node.start_byte())),
            ("class_definition", Some(name)) => classes.push((depth, name.to_owned(), is_off(decorators))),
            ("function_definition", Some(name)) => {
                if name.starts_with("test") {
                    let inside = classes.iter().map(|(_, name, _)| name.clone()).collect();
                    let from = decorators.unwrap_or(node.start_byte());
                    let whole = (node.start_position().row + 1, at(from..node.end_byte()));
                    let test = Test::new(path, Language::Python, inside, name, whole);
                    let is_off = is_off(decorators) || classes.iter().any(|(.., it)| *it);
                    tests.push(Test { is_off, ..test });
                }
                // What is defined within a function nobody looks for.
                return false;
            }
            _ => {}
        }
        true
    });
    Some(tests)
}
