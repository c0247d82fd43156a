//! Tests in Rust: functions with an attribute that makes them tests, also inside of macros such as `proptest!`.

use tree_sitter::Node;

use super::{Language, Test};
use crate::attribute::Attribute;
use crate::line_of;
use crate::rust::{Source, is_comment};
use crate::tree::walk;

/// What is known of attributes above a function.
#[derive(Default)]
struct Above {
    from: Option<usize>,
    is_test: bool,
    is_off: bool,
}

pub(super) fn tests(path: &str, text: &str) -> Option<Vec<Test>> {
    // Without the word there is none.
    if !["test", "quickcheck"].iter().any(|it| text.contains(it)) {
        return Some(Vec::new());
    }
    let source = Source::read(text.as_bytes()).ok()?;
    let mut tests = Vec::new();
    let mut modules: Vec<(usize, String)> = Vec::new();
    let mut above = Above::default();
    walk(source.tree.root_node(), |node, depth| {
        modules.retain(|(at, _)| *at < depth);
        if is_comment(node) {
            return false;
        }
        let inside = || modules.iter().map(|(_, it)| it.clone()).collect::<Vec<_>>();
        match node.kind() {
            "attribute_item" => {
                let words = source.words(node);
                above.from.get_or_insert(node.start_byte());
                above.is_test |= Attribute::read(&words).makes_test();
                above.is_off |= words.get(2).is_some_and(|it| *it == "ignore");
                return false;
            }
            "mod_item" => {
                if let Some(name) = node.child_by_field_name("name") {
                    modules.push((depth, source.str_at(name.byte_range()).to_owned()));
                }
            }
            "function_item" if above.is_test => {
                if let Some(name) = node.child_by_field_name("name") {
                    let from = above.from.unwrap_or(node.start_byte());
                    let whole = (name.start_position().row + 1, source.str_at(from..node.end_byte()));
                    let name = source.str_at(name.byte_range());
                    let test = Test::new(path, Language::Rust, inside(), name, whole);
                    tests.push(Test { is_off: above.is_off, ..test });
                }
            }
            "macro_invocation" => tests.extend(within(path, &source, node, &inside())),
            _ => {}
        }
        above = Above::default();
        node.kind() != "macro_invocation"
    });
    Some(tests)
}

/// Tests inside of a macro, where there are words and no functions: each reaches from its attributes to the next one's.
fn within(path: &str, source: &Source<'_>, node: Node<'_>, inside: &[String]) -> Vec<Test> {
    let tokens = source.tokens(node);
    let words: Vec<&str> = tokens.iter().map(|it| source.str_at(it.clone())).collect();
    let is_test = |at: &usize| {
        words.get(*at) == Some(&"#")
            && words.get(at + 1) == Some(&"[")
            && Attribute::read(words.get(*at..at + 4).unwrap_or_default()).makes_test()
    };
    let begins: Vec<usize> = (0..words.len()).filter(is_test).collect();
    let mut tests = Vec::new();
    for (index, begin) in begins.iter().enumerate() {
        let end = begins.get(index + 1).copied().unwrap_or(words.len());
        let own = words.get(*begin..end).unwrap_or_default();
        let Some(at) = own.iter().position(|it| *it == "fn") else { continue };
        let (Some(name), Some(from), Some(to)) = (own.get(at + 1), tokens.get(*begin), tokens.get(end - 1))
        else {
            continue;
        };
        let line = line_of(source.text, from.start);
        let text = source.str_at(from.start..to.end);
        let test = Test::new(path, Language::Rust, inside.to_vec(), name, (line, text));
        tests.push(Test { is_off: own.windows(2).any(|it| it == ["[", "ignore"]), ..test });
    }
    tests
}
