//! Tests in JavaScript and TypeScript: calls of `test` and `it` with a name, as all the common runners have them.

use tree_sitter::Node;

use super::{Language, Test};
use crate::tree::{parse, walk};

const TESTS: &[&str] = &["test", "it", "specify"];
const GROUPS: &[&str] = &["describe", "suite", "context"];
const OFF: &[&str] = &["skip", "todo", "failing", "fails", "skipIf", "runIf"];
/// What the object is called that `node:test` hands to a test, which has tests of its own.
const CONTEXTS: &[&str] = &["t", "ctx", "context"];

pub(super) fn tests(path: &str, text: &str) -> Option<Vec<Test>> {
    if !TESTS.iter().any(|it| text.contains(it)) {
        return Some(Vec::new());
    }
    let tree = parse(text.as_bytes(), &tree_sitter_javascript::LANGUAGE.into())?;
    let mut tests = Vec::new();
    let mut groups: Vec<(usize, String, bool)> = Vec::new();
    walk(tree.root_node(), |node, depth| {
        groups.retain(|(at, ..)| *at < depth);
        if node.kind() != "call_expression" {
            return true;
        }
        let words = node.child_by_field_name("function").map(|it| called(it, text)).unwrap_or_default();
        let Some(name) = node.child_by_field_name("arguments").and_then(|it| title(it, text)) else {
            return true;
        };
        let is_off =
            words.iter().any(|it| OFF.contains(it)) || words.first().is_some_and(|it| it.starts_with('x'));
        let first =
            words.first().map(|it| it.strip_prefix(['x', 'f']).filter(|it| is_word(it)).unwrap_or(it));
        let is_own = |all: &[&str]| match words.as_slice() {
            [context, own, ..] if CONTEXTS.contains(context) => all.contains(own),
            _ => first.is_some_and(|it| all.contains(&it)),
        };
        if is_own(TESTS) {
            let inside = groups.iter().map(|(_, name, _)| name.clone()).collect();
            let whole = text.get(node.byte_range()).unwrap_or_default();
            let test =
                Test::new(path, Language::JavaScript, inside, &name, (node.start_position().row + 1, whole));
            tests.push(Test { is_off: is_off || groups.iter().any(|(.., it)| *it), ..test });
            groups.push((depth, name, is_off));
        } else if is_own(GROUPS) {
            groups.push((depth, name, is_off));
        }
        true
    });
    Some(tests)
}

fn is_word(text: &str) -> bool {
    TESTS.contains(&text) || GROUPS.contains(&text)
}

/// The words of what is called: `test.each([..])` is `test`, `each`.
fn called<'t>(function: Node<'_>, text: &'t str) -> Vec<&'t str> {
    let mut words = Vec::new();
    let mut at = Some(function);
    while let Some(node) = at {
        let property = node.child_by_field_name("property");
        match node.kind() {
            "member_expression" => {
                words.extend(property.and_then(|it| text.get(it.byte_range())));
                at = node.child_by_field_name("object");
            }
            "call_expression" => at = node.child_by_field_name("function"),
            "identifier" => {
                words.extend(text.get(node.byte_range()));
                break;
            }
            _ => return Vec::new(),
        }
    }
    words.reverse();
    words
}

/// The first argument, if it is a text, without its quotes.
fn title(arguments: Node<'_>, text: &str) -> Option<String> {
    let first = arguments.named_child(0)?;
    let is_text = matches!(first.kind(), "string" | "template_string");
    let whole = text.get(first.byte_range()).filter(|_| is_text)?;
    let inner = whole.get(1..whole.len().checked_sub(1)?)?;
    Some(unescaped(inner))
}

fn unescaped(text: &str) -> String {
    let mut plain = String::new();
    let mut letters = text.chars();
    while let Some(letter) = letters.next() {
        match letter {
            '\\' => match letters.next() {
                Some('n') => plain.push('\n'),
                Some('t') => plain.push('\t'),
                Some(it) => plain.push(it),
                None => {}
            },
            it => plain.push(it),
        }
    }
    plain
}
