//! The review blocks of a proposal: where they are, and what is left of a text without them.
//!
//! agentd takes every `<review …>` that some `</review>` follows. Here a block begins a line, says something about itself, and
//! is not within code or a comment; a mark that nobody closes hides nothing.

use std::collections::BTreeMap;

use super::super::markdown::{self, Fence};

/// A review block and where it stands.
#[derive(Clone, Debug)]
pub(super) struct Span {
    /// Where the tag begins, and where the text behind its end does.
    pub start: usize,
    pub end: usize,
    /// What is to be taken out with it: its indent, and the end of its line.
    pub cut: (usize, usize),
    /// Where its own text begins and ends.
    pub inner: (usize, usize),
    /// The line of its tag, counted from 1.
    pub line: usize,
    pub attributes: BTreeMap<String, String>,
}

/// What was found in a text.
#[derive(Debug, Default)]
pub(super) struct Blocks {
    pub spans: Vec<Span>,
    /// Lines of tags that are never closed.
    pub unclosed: Vec<usize>,
    /// Lines that begin like a tag and are none.
    pub odd: Vec<usize>,
    /// Whether code or a comment begins and does not end, so that what is put behind it might end it.
    pub is_loose: bool,
}

/// A line, or what is left of one behind the end of a block.
struct Piece<'a> {
    text: &'a str,
    start: usize,
    /// Where the next piece begins.
    next: usize,
    line: usize,
    /// Whether it ends with the end of a block.
    closes: bool,
    /// Whether it begins with a tag.
    opens: bool,
}

const END: &str = "</review>";

/// Cuts a text into lines, and behind each end of a block.
fn pieces(text: &str) -> Vec<Piece<'_>> {
    let mut pieces = Vec::new();
    for (at, line) in super::super::page::lines(text).iter().enumerate() {
        let mut from = 0;
        loop {
            let rest = line.text.get(from..).unwrap_or_default();
            let end = end_of_block(rest).map(|it| from + it);
            let closes = end.is_some();
            let is_last = end.is_none_or(|it| line.text.get(it..).is_none_or(|it| it.trim().is_empty()));
            let to = if is_last { line.text.len() } else { end.unwrap_or(line.text.len()) };
            let own = line.text.get(from..end.unwrap_or(to)).unwrap_or_default();
            let next = if is_last { line.next } else { line.start + to };
            let opens = own.contains("<review") && markdown::review_tag(own).is_some();
            pieces.push(Piece { text: own, start: line.start + from, next, line: at + 1, closes, opens });
            if is_last {
                break;
            }
            from = to;
        }
    }
    pieces
}

/// Where the text behind the first end of a block begins, unless it is code.
fn end_of_block(text: &str) -> Option<usize> {
    let mut from = 0;
    let mut is_code = false;
    loop {
        let at = text.get(from..)?.find(END)? + from;
        is_code ^= text.get(from..at)?.bytes().filter(|it| *it == b'`').count() % 2 == 1;
        from = at + END.len();
        // A mark that nothing closes on its line makes no code.
        if !is_code || !text.get(from..)?.contains('`') {
            return Some(from);
        }
    }
}

/// What hides the pieces behind it: code or a comment.
enum Hides {
    Fence { kind: usize, length: usize },
    Comment,
}

fn hides(text: &str) -> Option<Hides> {
    if let Some(fence) = Fence::opened_by(text) {
        return Some(Hides::Fence { kind: fence.kind(), length: fence.length });
    }
    let inside = markdown::opens_comment(text)?;
    (!text.get(inside..)?.contains("-->")).then_some(Hides::Comment)
}

/// Answers what comes next after a piece, each in a step or a few.
struct Ahead {
    /// For both kinds of fence: the pieces that could close one with their lengths, and for each the next longer one.
    closers: [Vec<(usize, usize, usize)>; 2],
    comment_ends: Vec<usize>,
    /// Pieces that open or close a block, and which of both they do first.
    events: Vec<(usize, bool)>,
}

impl Ahead {
    fn new(pieces: &[Piece<'_>]) -> Self {
        let mut ahead =
            Self { closers: [Vec::new(), Vec::new()], comment_ends: Vec::new(), events: Vec::new() };
        for (at, piece) in pieces.iter().enumerate() {
            if let Some((kind, length)) = markdown::fence_end(piece.text) {
                ahead.closers[kind].push((at, length, usize::MAX));
            }
            if piece.text.contains("-->") {
                ahead.comment_ends.push(at);
            }
            if piece.opens || piece.closes {
                ahead.events.push((at, piece.opens));
            }
        }
        for closers in &mut ahead.closers {
            let mut longer: Vec<usize> = Vec::new();
            for at in (0..closers.len()).rev() {
                while longer.last().is_some_and(|it| closers[*it].1 <= closers[at].1) {
                    longer.pop();
                }
                closers[at].2 = longer.last().copied().unwrap_or(usize::MAX);
                longer.push(at);
            }
        }
        ahead
    }

    /// The piece that ends what begins at another.
    fn end(&self, from: usize, hides: &Hides) -> Option<usize> {
        match hides {
            Hides::Comment => {
                let at = self.comment_ends.partition_point(|it| *it <= from);
                self.comment_ends.get(at).copied()
            }
            Hides::Fence { kind, length } => {
                let closers = &self.closers[*kind];
                let mut at = closers.partition_point(|it| it.0 <= from);
                while let Some((piece, found, longer)) = closers.get(at) {
                    if found >= length {
                        return Some(*piece);
                    }
                    at = *longer;
                }
                None
            }
        }
    }

    /// Whether the end of a block comes before the start of another, after a piece and up to a second one.
    fn closes_first(&self, from: usize, to: usize) -> bool {
        let at = self.events.partition_point(|it| it.0 <= from);
        self.events.get(at).is_some_and(|(at, opens)| *at <= to && !opens)
    }
}

/// Finds the review blocks of a text, if it may have any.
pub(super) fn find(text: &str) -> Blocks {
    if text.contains("<review") { find_all(text) } else { Blocks::default() }
}

/// Finds the review blocks of a text, and whether it has a loose end.
pub(super) fn find_all(text: &str) -> Blocks {
    let mut blocks = Blocks::default();
    let pieces = pieces(text);
    let ahead = Ahead::new(&pieces);
    let mut at = 0;
    // The pieces with the tags of the blocks that are open, the outer ones first.
    let mut open: Vec<usize> = Vec::new();
    while let Some(piece) = pieces.get(at) {
        if piece.opens {
            open.push(at);
        } else if piece.text.trim_start_matches(' ').starts_with("<review") && open.is_empty() {
            let is_marker = piece.text.trim_start_matches(' ').starts_with("<review>");
            if !is_marker && markdown::indent(piece.text) < 4 {
                blocks.odd.push(piece.line);
            }
        }
        if piece.closes && !open.is_empty() {
            let span = open.pop().and_then(|it| pieces.get(it)).and_then(|it| span(text, it, piece));
            // Blocks within a block are its text.
            if let Some(span) = span {
                while blocks.spans.last().is_some_and(|it| it.start > span.start) {
                    blocks.spans.pop();
                }
                blocks.spans.push(span);
            }
        } else if let Some(hides) = hides(piece.text) {
            match ahead.end(at, &hides) {
                // Within a block, code that the block ends in is none.
                Some(end) if !open.is_empty() && ahead.closes_first(at, end) => {}
                Some(end) => at = end,
                None => blocks.is_loose = true,
            }
        }
        at += 1;
    }
    blocks.unclosed.extend(open.iter().filter_map(|it| pieces.get(*it)).map(|it| it.line));
    blocks
}

fn span(text: &str, first: &Piece<'_>, last: &Piece<'_>) -> Option<Span> {
    let (attributes, inside) = markdown::review_tag(first.text)?;
    let indent = first.text.len() - first.text.trim_start_matches(' ').len();
    let end = last.start + last.text.len();
    let line_start = first.start;
    let is_line =
        line_start == 0 || text.get(..line_start).is_some_and(|it| it.ends_with(['\n', '\r', '\u{feff}']));
    // The end of the line goes with it only if nothing else is left of the line.
    let cut_end = if is_line || text.get(end..last.next).is_none_or(str::is_empty) {
        last.next
    } else {
        last.next - line_end_length(text.get(end..last.next).unwrap_or_default())
    };
    Some(Span {
        start: first.start + indent,
        end,
        cut: (line_start, cut_end.max(end)),
        inner: (first.start + inside, end - END.len()),
        line: first.line,
        attributes,
    })
}

fn line_end_length(text: &str) -> usize {
    text.len() - text.trim_end_matches(['\n', '\r']).len()
}

/// A text without its review blocks, all else as it is.
pub(super) fn cut(text: &str, blocks: &Blocks) -> String {
    let mut kept = String::with_capacity(text.len());
    let mut from = 0;
    for it in &blocks.spans {
        kept.push_str(text.get(from..it.cut.0).unwrap_or_default());
        from = it.cut.1;
    }
    kept.push_str(text.get(from..).unwrap_or_default());
    kept
}
