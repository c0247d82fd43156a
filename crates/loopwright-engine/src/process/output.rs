//! What a command said: its beginning and its end, however much it was.

/// As much as is kept of either half.
const HALF: usize = 512 << 10;

/// What was said, without the middle of what is too long.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Output {
    first: Vec<u8>,
    last: std::collections::VecDeque<u8>,
    left_out: u64,
}

impl Output {
    /// More was said.
    pub fn push(&mut self, bytes: &[u8]) {
        let room = HALF.saturating_sub(self.first.len()).min(bytes.len());
        let (first, rest) = bytes.split_at(room);
        self.first.extend_from_slice(first);
        self.last.extend(rest);
        let over = self.last.len().saturating_sub(HALF);
        self.last.drain(..over);
        self.left_out += over as u64;
    }

    /// Whether everything was kept.
    pub fn is_whole(&self) -> bool {
        self.left_out == 0
    }

    /// The text. Where something was left out, a line says so; what is no text is replaced.
    pub fn text(&self) -> String {
        let mut bytes = self.first.clone();
        if self.left_out > 0 {
            bytes.extend_from_slice(format!("\n… {} bytes left out …\n", self.left_out).as_bytes());
        }
        bytes.extend(self.last.iter());
        String::from_utf8_lossy(&bytes).into_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_output_is_kept_whole() {
        let mut output = Output::default();
        output.push(b"one ");
        output.push(b"two");
        assert_eq!(output.text(), "one two");
        assert!(output.is_whole());
    }

    #[test]
    fn of_long_output_the_beginning_and_the_end_are_kept() {
        let mut output = Output::default();
        output.push(b"begin");
        for _ in 0..40 {
            output.push(&vec![b'x'; 100_000]);
        }
        output.push(b"end");
        let text = output.text();
        assert!(text.starts_with("beginx"), "{}", &text[..20]);
        assert!(text.ends_with("xend"));
        assert!(!output.is_whole());
        assert!(text.contains("bytes left out"));
        assert!(text.len() < 2 * HALF + 100);
    }
}
