//! Whether two texts are the same outside of given stretches, whatever space is around those.

use std::ops::Range;

/// A text and the stretches of it that do not count, in order.
pub(crate) struct Kept<'t> {
    text: &'t [u8],
    pieces: Vec<Range<usize>>,
    piece: usize,
    at: usize,
}

impl<'t> Kept<'t> {
    pub(crate) fn new(text: &'t [u8], without: impl IntoIterator<Item = Range<usize>>) -> Self {
        let mut pieces = Vec::new();
        let mut from = 0;
        for stretch in without.into_iter().chain(std::iter::once(text.len()..text.len())) {
            let piece = trimmed(text, from..stretch.start.max(from));
            if !piece.is_empty() {
                pieces.push(piece);
            }
            from = from.max(stretch.end);
        }
        let at = pieces.first().map_or(text.len(), |it| it.start);
        Self { text, pieces, piece: 0, at }
    }

    fn byte(&self) -> Option<u8> {
        self.pieces.get(self.piece).and_then(|_| self.text.get(self.at)).copied()
    }

    /// One byte on. Says whether something that does not count is between the two.
    fn step(&mut self) -> bool {
        self.at += 1;
        if self.pieces.get(self.piece).is_none_or(|it| self.at < it.end) {
            return false;
        }
        self.piece += 1;
        if let Some(next) = self.pieces.get(self.piece) {
            self.at = next.start;
        }
        true
    }

    fn skip_space(&mut self) {
        while self.byte().is_some_and(|it| it.is_ascii_whitespace()) {
            self.step();
        }
    }
}

/// Where the second text differs first from the first one, as an offset into it. Where something was taken out or put
/// in, the space around it may be whatever it is.
pub(crate) fn first_difference(mut before: Kept<'_>, mut after: Kept<'_>) -> Option<usize> {
    loop {
        match (before.byte(), after.byte()) {
            (None, None) => return None,
            (old, new) if old != new => return Some(after.at),
            _ => {}
        }
        let (old, new) = (before.step(), after.step());
        if old || new {
            before.skip_space();
            after.skip_space();
        }
    }
}

fn trimmed(text: &[u8], range: Range<usize>) -> Range<usize> {
    let piece = text.get(range.clone()).unwrap_or_default();
    let ahead = piece.len() - piece.trim_ascii_start().len();
    let start = range.start + ahead;
    start..start + piece.trim_ascii().len()
}
