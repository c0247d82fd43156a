//! The rule `same-syntax-tree`: comments, formatting and prose may change, and nothing that is run.
//!
//! Rust is compared token by token without comments, doc comments among them. Of other languages nothing is known, so
//! only what no language reads may change: space at the end of lines, empty lines, line endings. Indentation may not, as
//! it means something in some of them.

use crate::rust::Source;
use crate::test_code::sources;
use crate::{Change, Report, line_of, name_of};

const WHY: &str = "the code is not what it was, and only comments and formatting may change here";

/// The code stays the same.
pub(crate) fn same_syntax_tree(changes: &[Change<'_>], report: &mut Report) {
    for change in changes {
        if change.is_rust() {
            if let Some((before, after)) = sources(change, report)
                && let Some(offset) = different_token(&before, &after)
            {
                report.add(change.path, change.after.map(|it| line_of(it, offset)), WHY);
            }
        } else if is_prose(change.path) {
            if change.after.is_none() {
                report.add(change.path, None, "the file was deleted; its text may change, but not vanish");
            }
        } else {
            match (change.before, change.after) {
                (Some(before), Some(after)) if !before.contains(&0) && !after.contains(&0) => {
                    if let Some(line) = different_line(before, after) {
                        let why = "this is more than space at the end of lines, and only formatting may change here";
                        report.add(change.path, Some(line), why);
                    }
                }
                _ => report.add(change.path, None, format!("{}; {WHY}", change.verb())),
            }
        }
    }
}

/// Text for people. Some tools keep their input in files that look like it.
fn is_prose(path: &str) -> bool {
    let name = name_of(path).to_lowercase();
    match name.rsplit_once('.') {
        Some((_, "md" | "markdown" | "rst" | "adoc")) => true,
        Some((stem, "txt")) => {
            !["cmakelists", "requirements", "constraints"].iter().any(|it| stem.starts_with(it))
        }
        _ => false,
    }
}

/// Where the code of the second differs first.
fn different_token(before: &Source<'_>, after: &Source<'_>) -> Option<usize> {
    let old = before.tokens(before.tree.root_node());
    let new = after.tokens(after.tree.root_node());
    let is_same = |(old, new): (&std::ops::Range<usize>, &std::ops::Range<usize>)| {
        lines_of(before.at(old.clone())).eq(lines_of(after.at(new.clone())))
    };
    let same = old.iter().zip(&new).take_while(|it| is_same(*it)).count();
    if same == old.len() && same == new.len() {
        return None;
    }
    Some(new.get(same).map_or(after.text.len(), |it| it.start))
}

/// A token without the difference of line endings, which the compiler does not see either.
fn lines_of(token: &[u8]) -> impl Iterator<Item = &[u8]> {
    token.split(|it| *it == b'\n').map(|it| it.strip_suffix(b"\r").unwrap_or(it))
}

/// The first line of the second that is neither empty nor in the first, in this order.
fn different_line(before: &[u8], after: &[u8]) -> Option<usize> {
    let lines = |text: &'_ [u8]| {
        let lines = text.split(|it| *it == b'\n').map(|it| it.trim_ascii_end().to_vec()).enumerate();
        lines.filter(|(_, it)| !it.is_empty()).collect::<Vec<_>>()
    };
    let (old, new) = (lines(before), lines(after));
    let same = old.iter().zip(&new).take_while(|((_, old), (_, new))| old == new).count();
    match new.get(same) {
        Some((line, _)) => Some(line + 1),
        None if same < old.len() => Some(new.last().map_or(1, |(line, _)| line + 1)),
        None => None,
    }
}
