//! Rust as a tree: reading it, and its tokens without comments and space.

use std::ops::Range;

use tree_sitter::{Node, Tree};

use crate::tree::{LARGEST, parse, walk};

/// A file of Rust with its tree.
pub(crate) struct Source<'t> {
    pub(crate) text: &'t [u8],
    pub(crate) tree: Tree,
}

/// Why a file could not be read as Rust.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Unreadable(pub(crate) &'static str);

/// A place that is no Rust.
#[derive(Clone, Debug)]
pub(crate) struct Fault {
    pub(crate) line: usize,
    text: Vec<u8>,
}

impl<'t> Source<'t> {
    pub(crate) fn read(text: &'t [u8]) -> Result<Self, Unreadable> {
        if text.len() > LARGEST {
            return Err(Unreadable("it is too large to be read (over 4 MiB)"));
        }
        if std::str::from_utf8(text).is_err() {
            return Err(Unreadable("it is not UTF-8 text"));
        }
        let parsed = parse(text, &tree_sitter_rust::LANGUAGE.into())
            .ok_or(Unreadable("it could not be read as Rust in reasonable time"))?;
        Ok(Self { text, tree: parsed })
    }

    /// What stands in a range.
    pub(crate) fn at(&self, range: Range<usize>) -> &'t [u8] {
        self.text.get(range).unwrap_or_default()
    }

    /// What stands in a range; it is text, or the file would not have been read.
    pub(crate) fn str_at(&self, range: Range<usize>) -> &'t str {
        std::str::from_utf8(self.at(range)).unwrap_or_default()
    }

    /// Places that are no Rust, or none that we know.
    pub(crate) fn faults(&self) -> Vec<Fault> {
        let mut faults = Vec::new();
        walk(self.tree.root_node(), |node, _| {
            if node.is_error() || node.is_missing() {
                let text = self.at(node.byte_range()).to_vec();
                faults.push(Fault { line: node.start_position().row + 1, text });
                return false;
            }
            node.has_error()
        });
        faults
    }

    /// The tokens of a node, without comments and without commas that only formatting adds and takes away. Every other
    /// byte that is not space is in one of them, also where the grammar has no node for it.
    pub(crate) fn tokens(&self, node: Node<'_>) -> Vec<Range<usize>> {
        let mut tokens = Vec::new();
        let mut upto = node.start_byte();
        let mut parents: Vec<&str> = Vec::new();
        let mut comma = None;
        walk(node, |node, depth| {
            parents.truncate(depth);
            // Asked for once: the name of a kind is looked up each time.
            let kind = node.kind();
            let is_comment = matches!(kind, "line_comment" | "block_comment");
            let is_whole = matches!(kind, "string_literal" | "raw_string_literal" | "char_literal");
            if !is_comment && !is_whole && node.child_count() > 0 {
                parents.push(kind);
                return true;
            }
            self.between(upto..node.start_byte(), &mut tokens);
            upto = upto.max(node.end_byte());
            if is_comment || node.byte_range().is_empty() {
                return false;
            }
            // In a tuple or a macro a last comma means something.
            let parent = parents.last().copied().unwrap_or_default();
            if comma == Some((tokens.len(), depth))
                && matches!(kind, ")" | "]" | "}" | ">" | "|")
                && !parent.starts_with("tuple")
                && !parent.starts_with("token")
            {
                tokens.pop();
            }
            if kind == "," && parent == "match_arm" {
                return false;
            }
            tokens.push(node.byte_range());
            comma = (kind == ",").then_some((tokens.len(), depth));
            false
        });
        self.between(upto..node.end_byte(), &mut tokens);
        tokens
    }

    /// What is not space between two nodes.
    fn between(&self, range: Range<usize>, tokens: &mut Vec<Range<usize>>) {
        let start = if range.start == 0 && self.text.starts_with(MARK) { MARK.len() } else { range.start };
        let mut from = None;
        for (index, byte) in self.at(start..range.end).iter().chain(b" ").enumerate() {
            match (from, byte.is_ascii_whitespace()) {
                (None, false) => from = Some(start + index),
                (Some(begun), true) => {
                    tokens.push(begun..start + index);
                    from = None;
                }
                _ => {}
            }
        }
    }

    /// The tokens of an attribute, as text.
    pub(crate) fn words(&self, node: Node<'_>) -> Vec<&'t str> {
        self.tokens(node).into_iter().map(|it| self.str_at(it)).collect()
    }
}

/// The mark that some editors put at the beginning of a file.
const MARK: &[u8] = b"\xef\xbb\xbf";

/// The first fault of a file that was not there before: what the tree says then is not worth much.
pub(crate) fn new_fault(before: &Source<'_>, after: &Source<'_>) -> Option<Fault> {
    let faults = after.faults();
    let known = before.faults();
    let is_same = faults.iter().map(|it| &it.text).eq(known.iter().map(|it| &it.text));
    if is_same {
        return None;
    }
    faults
        .into_iter()
        .find(|it| known.iter().all(|known| known.text != it.text))
        .or_else(|| after.faults().pop())
}

pub(crate) fn is_comment(node: Node<'_>) -> bool {
    matches!(node.kind(), "line_comment" | "block_comment")
}
