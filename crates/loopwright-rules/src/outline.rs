//! Where a file of Rust has test code, and which files it declares as modules.
//!
//! An attribute stands beside the item it is on, not in it, so the walk carries what came before an item along until the
//! item comes.

use std::ops::Range;

use tree_sitter::Node;

use crate::attribute::Attribute;
use crate::rust::{Source, is_comment};
use crate::tree::walk;

/// What counts as test code inside a file.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Counts {
    /// What is compiled for tests only.
    Conditions,
    /// That, and functions that are tests.
    TestsToo,
}

/// A stretch of test code, with its attributes and the comment right above it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Stretch {
    pub(crate) range: Range<usize>,
    /// The modules it is in and the conditions they are under.
    pub(crate) place: String,
}

/// `mod x;`
#[derive(Clone, Debug)]
pub(crate) struct Declared {
    /// The modules it is in, in this file.
    pub(crate) inside: Vec<String>,
    pub(crate) name: String,
    /// What `#[path]` says.
    pub(crate) file: Option<String>,
    pub(crate) is_test: bool,
    /// The modules it is in and the conditions it is under.
    pub(crate) place: String,
}

/// The test code of a file.
#[derive(Clone, Debug, Default)]
pub(crate) struct Outline {
    pub(crate) tests: Vec<Stretch>,
    pub(crate) declared: Vec<Declared>,
}

/// A node that the walk is in.
struct Inside<'t> {
    kind: &'t str,
    range: Range<usize>,
    /// Of a module.
    name: Option<String>,
    /// What it adds to the place of what is in it.
    place: String,
    is_test: bool,
    ahead: Ahead,
}

/// What came before the next item.
#[derive(Default)]
struct Ahead {
    attributes_from: Option<usize>,
    comments_from: Option<usize>,
    last_row: Option<usize>,
    is_test: bool,
    conditions: String,
    file: Option<String>,
}

/// Reads the outline of a file.
pub(crate) fn outline(source: &Source<'_>, counts: Counts) -> Outline {
    let mut outline = Outline::default();
    let mut inside: Vec<Inside<'_>> = Vec::new();
    let signs = signs(source.text);
    walk(source.tree.root_node(), |node, depth| {
        inside.truncate(depth);
        let has_sign = signs
            .get(signs.partition_point(|it| *it < node.start_byte()))
            .is_some_and(|it| *it < node.end_byte());
        visit(source, counts, node, &mut inside, &mut outline) && has_sign
    });
    outline.tests = joined(outline.tests);
    outline
}

/// Where there could be an attribute or a module. Most bodies have neither and need not be walked through.
fn signs(text: &[u8]) -> Vec<usize> {
    let is_sign = |at: &usize| text.get(*at) == Some(&b'#') || text.get(*at..*at + 3) == Some(b"mod");
    (0..text.len()).filter(is_sign).collect()
}

fn visit<'t>(
    source: &Source<'_>,
    counts: Counts,
    node: Node<'t>,
    inside: &mut Vec<Inside<'t>>,
    outline: &mut Outline,
) -> bool {
    let Some(parent) = inside.last_mut() else {
        let root = Inside {
            kind: node.kind(),
            range: 0..source.text.len(),
            name: None,
            place: String::new(),
            is_test: false,
            ahead: Ahead::default(),
        };
        inside.push(root);
        return true;
    };
    if is_comment(node) {
        parent.ahead.comment(node, source);
        return false;
    }
    match node.kind() {
        "attribute_item" => {
            parent.ahead.attribute(node, source, counts);
            return false;
        }
        "inner_attribute_item" => {
            inner_attribute(node, source, inside, outline);
            return false;
        }
        _ => {}
    }
    let ahead = std::mem::take(&mut parent.ahead);
    parent.ahead.last_row = Some(last_row(node));
    let start = ahead.start(node);
    if ahead.is_test && !inside.iter().any(|it| it.is_test) {
        // The attributes of an arm are in the arm.
        let arm = inside.last().filter(|it| it.kind == "match_arm").map(|it| it.range.clone());
        let range = arm.unwrap_or_else(|| start..with_separator(source.text, node.end_byte()));
        outline.tests.push(Stretch { range, place: place_of(inside) });
    }
    let mut entered = Inside {
        kind: node.kind(),
        range: start..with_separator(source.text, node.end_byte()),
        name: None,
        place: String::new(),
        is_test: ahead.is_test,
        ahead: Ahead::default(),
    };
    if node.kind() == "mod_item" {
        let name = node.child_by_field_name("name").map(|it| source.str_at(it.byte_range()).to_owned());
        let name = name.unwrap_or_default();
        if node.child_by_field_name("body").is_none() {
            outline.declared.push(Declared {
                inside: inside.iter().filter_map(|it| it.name.clone()).collect(),
                name: name.clone(),
                file: ahead.file,
                is_test: ahead.is_test || inside.iter().any(|it| it.is_test),
                place: format!("{}{}", place_of(inside), ahead.conditions),
            });
        }
        entered.name = Some(name);
    }
    entered.place = match (node.kind(), &entered.name) {
        ("mod_item", Some(name)) => format!("{} mod {name}", ahead.conditions),
        // Their names are not the test's business; that it went into one is.
        ("function_item" | "impl_item" | "trait_item" | "macro_definition", _) => {
            format!("{} {}", ahead.conditions, node.kind())
        }
        _ => ahead.conditions,
    };
    inside.push(entered);
    !matches!(node.kind(), "token_tree" | "string_literal" | "raw_string_literal")
}

/// `#![...]` is about what it is in: the file, or the item whose braces it is in.
fn inner_attribute(node: Node<'_>, source: &Source<'_>, inside: &mut [Inside<'_>], outline: &mut Outline) {
    let attribute = Attribute::read(&source.words(node));
    let depth = inside.len();
    let about = match inside.last() {
        Some(it) if depth == 1 || !matches!(it.kind, "declaration_list" | "block") => depth - 1,
        Some(_) => depth - 2,
        None => return,
    };
    if attribute.needs_test() && !inside.iter().any(|it| it.is_test) {
        let range = inside.get(about).map(|it| it.range.clone()).unwrap_or_default();
        let place = place_of(inside.get(..about).unwrap_or_default());
        outline.tests.push(Stretch { range, place });
        if let Some(about) = inside.get_mut(about) {
            about.is_test = true;
        }
    } else if attribute.is_condition()
        && let Some(about) = inside.get_mut(about)
    {
        about.place.push(' ');
        about.place.push_str(source.str_at(node.byte_range()));
    }
}

impl Ahead {
    /// A comment belongs to the item below it if nothing is between them, not even an empty line.
    fn comment(&mut self, node: Node<'_>, source: &Source<'_>) {
        let row = node.start_position().row;
        if self.attributes_from.is_none() {
            let is_of_outside =
                [b"//!", b"/*!"].iter().any(|it| source.at(node.byte_range()).starts_with(*it));
            let is_next = self.last_row.is_none_or(|it| row == it + 1);
            let is_own_line = self.last_row.is_none_or(|it| row > it);
            if is_of_outside || !is_own_line {
                self.comments_from = None;
            } else if self.comments_from.is_none() || !is_next {
                self.comments_from = Some(node.start_byte());
            }
        }
        self.last_row = Some(last_row(node));
    }

    fn attribute(&mut self, node: Node<'_>, source: &Source<'_>, counts: Counts) {
        if self.attributes_from.is_none() {
            self.attributes_from = Some(self.start(node));
        }
        let words = source.words(node);
        let attribute = Attribute::read(&words);
        self.is_test |= attribute.needs_test() || (counts == Counts::TestsToo && attribute.makes_test());
        if attribute.is_condition() {
            self.conditions.push(' ');
            self.conditions.push_str(&words.join(""));
        }
        if let Some(file) = attribute.file() {
            self.file = Some(file.to_owned());
        }
        self.last_row = Some(last_row(node));
    }

    /// Where an item begins, with what is ahead of it.
    fn start(&self, node: Node<'_>) -> usize {
        let is_next = self.last_row.is_some_and(|it| node.start_position().row <= it + 1);
        let comments = self.comments_from.filter(|_| is_next);
        self.attributes_from.or(comments).unwrap_or(node.start_byte())
    }
}

fn place_of(inside: &[Inside<'_>]) -> String {
    inside.iter().map(|it| it.place.as_str()).collect()
}

/// The last row a node has something in. Some comments end with their line break.
fn last_row(node: Node<'_>) -> usize {
    let end = node.end_position();
    if end.column == 0 && end.row > node.start_position().row { end.row - 1 } else { end.row }
}

/// The end of an item with the comma or semicolon that follows it.
fn with_separator(text: &[u8], end: usize) -> usize {
    let rest = text.get(end..).unwrap_or_default();
    match rest.iter().position(|it| !it.is_ascii_whitespace()) {
        Some(at) if matches!(rest.get(at), Some(b',' | b';')) => end + at + 1,
        _ => end,
    }
}

/// The same stretches in order, without those that are in another.
fn joined(mut tests: Vec<Stretch>) -> Vec<Stretch> {
    tests.sort_by_key(|it| (it.range.start, std::cmp::Reverse(it.range.end)));
    let mut upto = 0;
    tests.retain(|it| {
        let is_outside = it.range.end > upto;
        upto = upto.max(it.range.end);
        is_outside
    });
    tests
}
