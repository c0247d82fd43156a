//! Lines out of what comes in pieces.

/// The longest line that is looked at. What is longer is let pass.
const MOST: usize = 16 << 20;

/// Puts lines together.
#[derive(Default)]
pub(crate) struct Lines {
    open: Vec<u8>,
    too_long: bool,
}

impl Lines {
    /// More came: every line that is whole now is passed on.
    pub(crate) fn push(&mut self, bytes: &[u8], line: &mut dyn FnMut(&str)) {
        for piece in bytes.split_inclusive(|it| *it == b'\n') {
            let (text, whole) = match piece.strip_suffix(b"\n") {
                Some(text) => (text, true),
                None => (piece, false),
            };
            self.too_long |= self.open.len().saturating_add(text.len()) > MOST;
            if !self.too_long {
                self.open.extend_from_slice(text);
            }
            if whole {
                self.end(line);
            }
        }
    }

    /// Nothing more comes: what is open is a line.
    pub(crate) fn end(&mut self, line: &mut dyn FnMut(&str)) {
        if !self.too_long && !self.open.is_empty() {
            line(&String::from_utf8_lossy(&self.open));
        }
        // A line that was long once need not keep its room.
        self.open = Vec::new();
        self.too_long = false;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_come_whole_however_they_came() {
        let mut found = Vec::new();
        let mut lines = Lines::default();
        let mut line = |it: &str| found.push(it.to_owned());
        for piece in ["on", "e\ntwo\n\nth", "ree"] {
            lines.push(piece.as_bytes(), &mut line);
        }
        lines.end(&mut line);
        assert_eq!(found, ["one", "two", "three"]);
    }

    #[test]
    fn a_line_that_never_ends_is_not_kept() {
        let (mut lines, mut count) = (Lines::default(), 0);
        let mut line = |it: &str| {
            assert_eq!(it, "short");
            count += 1;
        };
        let piece = vec![b'x'; 1 << 20];
        for _ in 0..40 {
            lines.push(&piece, &mut line);
            assert!(lines.open.len() <= MOST);
        }
        lines.push(b"\nshort\n", &mut line);
        assert_eq!(count, 1);
    }
}
