//! The rule `ticks-only`: in a checklist, boxes are ticked and nothing else.

use crate::listed::Patterns;
use crate::{Change, Report};

/// Of a checklist only the boxes may change. Other files are not its business.
pub(crate) fn ticks_only(changes: &[Change<'_>], checklists: &Patterns, report: &mut Report) {
    for change in changes.iter().filter(|it| checklists.covers(it.path)) {
        let (Some(before), Some(after)) = (change.before, change.after) else {
            let why = format!("{}, but of a checklist only the boxes may change here", change.verb());
            report.add(change.path, None, why);
            continue;
        };
        if let Some(line) = other_than_ticks(before, after) {
            report.add(
                change.path,
                Some(line),
                "more than a box was changed here; only `[ ]` and `[x]` may be",
            );
        }
    }
}

/// The first line that differs in more than its box.
fn other_than_ticks(before: &[u8], after: &[u8]) -> Option<usize> {
    let (mut old, mut new) = (Lines::of(before), Lines::of(after));
    for line in 1.. {
        match (old.next(), new.next()) {
            (None, None) => return None,
            (old, new) if old == new => {}
            _ => return Some(line),
        }
    }
    None
}

/// Lines with their endings, where a box of a list is an empty one, ticked or not. What looks like a box in a block of
/// code is none.
struct Lines<'t> {
    rest: &'t [u8],
    fence: Option<(u8, usize)>,
}

impl<'t> Lines<'t> {
    fn of(rest: &'t [u8]) -> Self {
        Self { rest, fence: None }
    }
}

impl Iterator for Lines<'_> {
    type Item = Vec<u8>;

    fn next(&mut self) -> Option<Vec<u8>> {
        if self.rest.is_empty() {
            return None;
        }
        let end = self.rest.iter().position(|it| *it == b'\n').map_or(self.rest.len(), |it| it + 1);
        let (line, rest) = self.rest.split_at(end);
        self.rest = rest;
        let mut line = line.to_vec();
        let text = line.trim_ascii();
        let mark = text.first().copied().unwrap_or_default();
        let length = text.iter().take_while(|it| **it == mark).count();
        let is_fence = matches!(mark, b'`' | b'~') && length >= 3;
        match self.fence {
            Some((opened, least)) => {
                if is_fence && mark == opened && length >= least {
                    self.fence = None;
                }
            }
            None if is_fence => self.fence = Some((mark, length)),
            None => {
                if let Some(at) = tick(&line)
                    && let Some(byte) = line.get_mut(at)
                {
                    *byte = b' ';
                }
            }
        }
        Some(line)
    }
}

/// Where the tick of a list item is, ticked or not.
fn tick(line: &[u8]) -> Option<usize> {
    let is_space = |it: &u8| matches!(it, b' ' | b'\t');
    let mut at = line.iter().position(|it| !is_space(it) && *it != b'>')?;
    let digits = line.get(at..)?.iter().take_while(|it| it.is_ascii_digit()).count();
    at += digits;
    match (digits, line.get(at)?) {
        (0, b'-' | b'*' | b'+') | (1.., b'.' | b')') => at += 1,
        _ => return None,
    }
    let spaces = line.get(at..)?.iter().take_while(|it| is_space(it)).count();
    at += spaces;
    match line.get(at..)? {
        [b'[', b' ' | b'x' | b'X', b']', rest @ ..]
            if spaces > 0 && rest.first().is_none_or(u8::is_ascii_whitespace) =>
        {
            Some(at + 1)
        }
        _ => None,
    }
}
