//! Source code as a tree: reading it, and walking it.

use std::cell::Cell;
use std::ops::ControlFlow;

use tree_sitter::{Language, Node, ParseOptions, Parser, Tree};

/// Files larger than this are not read.
pub(crate) const LARGEST: usize = 4 * 1024 * 1024;

/// How much of a text the parser gets at a time.
const PIECE: usize = 16 * 1024;

/// Visits nodes from the outside in, without using the stack. The visitor says whether to go into a node.
pub(crate) fn walk<'t>(root: Node<'t>, mut enter: impl FnMut(Node<'t>, usize) -> bool) {
    let mut cursor = root.walk();
    let mut depth = 0;
    loop {
        if enter(cursor.node(), depth) && cursor.goto_first_child() {
            depth += 1;
            continue;
        }
        while depth == 0 || !cursor.goto_next_sibling() {
            if depth == 0 || !cursor.goto_parent() {
                return;
            }
            depth -= 1;
        }
    }
}

/// Reads a text. `None`: it cannot be read in reasonable time.
pub(crate) fn parse(text: &[u8], language: &Language) -> Option<Tree> {
    let mut parser = Parser::new();
    parser.set_language(language).ok()?;
    // Text that is far from the language can make the parser try for very long, or read to the end again and again. A clock would
    // tell something else on every machine, so what counts is how often it asks for a piece of text or calls back.
    let left = Cell::new(1_000 + text.len() / 50);
    let reads_left = Cell::new(1_000 + 64 * (text.len() / PIECE));
    let spend = |left: &Cell<usize>| match left.get().checked_sub(1) {
        Some(less) => {
            left.set(less);
            true
        }
        None => false,
    };
    let mut read = |at: usize, _| {
        let end = text.len().min(at.saturating_add(PIECE));
        if spend(&reads_left) { text.get(at..end).unwrap_or_default() } else { &[] }
    };
    let mut go_on = |_: &_| {
        let may = reads_left.get() > 0 && spend(&left);
        if may { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    };
    let options = ParseOptions::new().progress_callback(&mut go_on);
    let tree = parser.parse_with_options(&mut read, None, Some(options));
    // Without the rest of its text it is the tree of another file.
    tree.filter(|_| reads_left.get() > 0)
}
