//! The rule `todo-bodies-only`: the shape of new code without the code.
//!
//! Types, signatures, `use` and `mod` may change; they do nothing by themselves. Whatever can do something is compared
//! with what was there: bodies of functions, values of constants, macros.

use std::collections::HashMap;

use tree_sitter::Node;

use crate::rust::Source;
use crate::test_code::sources;
use crate::tree::walk;
use crate::{Change, Report, name_of};

/// Only declarations may be added, and new bodies are `todo!()`.
pub(crate) fn todo_bodies_only(changes: &[Change<'_>], report: &mut Report) {
    for change in changes {
        if !change.is_rust() {
            // A new package or dependency has to be declared before there is anything to put into it.
            if !matches!(name_of(change.path), "Cargo.toml" | "Cargo.lock") {
                let why = format!("{}, but only declarations in Rust may be added here", change.verb());
                report.add(change.path, None, why);
            }
        } else if change.after.is_none() {
            report.add(change.path, None, "the file was deleted, but declarations may only be added here");
        } else if let Some((before, after)) = sources(change, report) {
            compare(change.path, (&before, &after), report);
        }
    }
}

/// What kind of code it is.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Kind {
    Function,
    Value,
    Macro,
}

/// Something that can do something.
struct Code<'t> {
    /// What it is called, with what it is in.
    key: (Kind, String),
    name: &'t str,
    line: usize,
    text: &'t str,
    /// Whether it may be new.
    is_empty: bool,
}

fn compare(path: &str, (before, after): (&Source<'_>, &Source<'_>), report: &mut Report) {
    let mut known: HashMap<(Kind, String), Vec<Code<'_>>> = HashMap::new();
    for code in codes(before) {
        known.entry(code.key.clone()).or_default().push(code);
    }
    // What stayed as it was is found first: of two things of one name, the other one changed.
    let mut others = Vec::new();
    for code in codes(after) {
        let same = known.get_mut(&code.key).and_then(|it| {
            let at = it.iter().position(|it| it.text == code.text)?;
            Some(it.swap_remove(at))
        });
        if same.is_none() {
            others.push(code);
        }
    }
    for code in others {
        let name = code.name;
        let was = known.get_mut(&code.key).and_then(Vec::pop);
        let why = match (code.key.0, was) {
            (Kind::Function, Some(_)) => format!("the body of `{name}` was there before and may not change"),
            (Kind::Function, None) if !code.is_empty => {
                format!("the body of `{name}` is new and must be exactly `todo!()`")
            }
            (Kind::Value, _) if !code.is_empty => {
                format!("the value of `{name}` must be a literal or `todo!()`")
            }
            (Kind::Macro, _) => format!("the macro `{name}` is new or changed, and could hold any code"),
            _ => continue,
        };
        report.add(path, Some(code.line), why);
    }
    let mut gone: Vec<&Code<'_>> = known.values().flatten().collect();
    gone.sort_by_key(|it| it.line);
    for code in gone {
        report.add(path, None, format!("`{}` is gone, but declarations may only be added here", code.name));
    }
}

fn codes<'t>(source: &Source<'t>) -> Vec<Code<'t>> {
    let mut codes = Vec::new();
    let mut inside: Vec<String> = Vec::new();
    walk(source.tree.root_node(), |node, depth| {
        inside.truncate(depth);
        let field = |name| node.child_by_field_name(name);
        let text = |node: Option<Node<'_>>| node.map_or("", |it| source.str_at(it.byte_range()));
        let mut add = |kind, name: &'t str, code: &'t str, is_empty| {
            let key = (kind, format!("{} {name}", inside.concat()));
            codes.push(Code { key, name, line: node.start_position().row + 1, text: code, is_empty });
        };
        let mut own = String::new();
        match node.kind() {
            "function_item" => {
                let is_empty = field("body").is_some_and(|it| is_todo(&source.words(it), true));
                add(Kind::Function, text(field("name")), text(field("body")), is_empty);
                return false;
            }
            "const_item" | "static_item" => {
                let value = field("value");
                let is_empty = value.is_none_or(|it| is_literal(it) || is_todo(&source.words(it), false));
                add(Kind::Value, text(field("name")), text(value), is_empty);
                return false;
            }
            "macro_definition" => {
                add(Kind::Macro, text(field("name")), text(Some(node)), false);
                return false;
            }
            "macro_invocation" => {
                add(Kind::Macro, text(field("macro")), text(Some(node)), false);
                return false;
            }
            "attribute_item" | "inner_attribute_item" => return false,
            "mod_item" | "trait_item" => own = format!("{} {}/", node.kind(), text(field("name"))),
            // Generics may come and go; the methods are still the same methods.
            "impl_item" => {
                own = format!("impl {} for {}/", text(bare(field("trait"))), text(bare(field("type"))));
            }
            _ => {}
        }
        inside.push(own);
        true
    });
    codes
}

/// A type without what it is made of.
fn bare(node: Option<Node<'_>>) -> Option<Node<'_>> {
    node.map(|it| if it.kind() == "generic_type" { it.child_by_field_name("type").unwrap_or(it) } else { it })
}

fn is_literal(node: Node<'_>) -> bool {
    let is_plain = |node: Node<'_>| node.kind().ends_with("_literal");
    let is_minus = node.kind() == "unary_expression" && node.child(0).is_some_and(|it| it.kind() == "-");
    is_plain(node) || node.kind() == "unit_expression" || (is_minus && node.child(1).is_some_and(is_plain))
}

/// Whether the tokens are `todo!()`, perhaps with a text, perhaps in braces.
fn is_todo(words: &[&str], in_braces: bool) -> bool {
    let words = match words {
        ["{", inside @ .., ";", "}"] | ["{", inside @ .., "}"] if in_braces => inside,
        _ if in_braces => return false,
        _ => words,
    };
    match words {
        ["todo", "!", "(", ")"] => true,
        ["todo", "!", "(", text, ")"] => text.starts_with(['"', 'r']) && text.ends_with(['"', '#']),
        _ => false,
    }
}
