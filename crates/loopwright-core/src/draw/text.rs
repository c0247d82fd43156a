//! How wide text will be, where it breaks, and how it is made safe for XML.
//!
//! No font is at hand when a picture is drawn, so the widths of Helvetica are written down here. Arial and
//! Liberation Sans share them, and a reader without any of the three gets a font near enough for the padding.

use super::geometry::Size;

/// Widths of U+0020 to U+007E in thousandths of the font size, from Helvetica's published metrics.
const WIDTHS: [u16; 95] = [
    278, 278, 355, 556, 556, 889, 667, 191, 333, 333, 389, 584, 278, 333, 278, 278, 556, 556, 556, 556, 556,
    556, 556, 556, 556, 556, 278, 278, 584, 584, 584, 556, 1015, 667, 667, 722, 722, 667, 611, 778, 722, 278,
    500, 667, 556, 833, 722, 778, 667, 778, 722, 667, 611, 722, 667, 944, 667, 667, 611, 278, 278, 278, 469,
    556, 333, 556, 556, 500, 556, 556, 278, 556, 556, 222, 222, 500, 222, 833, 556, 556, 556, 556, 333, 500,
    278, 556, 500, 722, 500, 500, 500, 334, 260, 334, 584,
];

/// Bold letters are wider by about this much, averaged over lower-case words.
const BOLD: f64 = 1.08;

/// The distance between two lines of text, as a part of the font size.
pub(super) const LEADING: f64 = 1.25;

/// How a text will be set.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Font {
    pub(super) size: f64,
    pub(super) weight: Weight,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Weight {
    Regular,
    Bold,
}

impl Font {
    pub(super) const fn regular(size: f64) -> Self {
        Self { size, weight: Weight::Regular }
    }

    pub(super) const fn bold(size: f64) -> Self {
        Self { size, weight: Weight::Bold }
    }

    pub(super) fn width(self, text: &str) -> f64 {
        let factor = if self.weight == Weight::Bold { BOLD } else { 1.0 };
        text.chars().map(em).sum::<f64>() * self.size * factor
    }

    pub(super) fn line(self) -> f64 {
        self.size * LEADING
    }

    /// The room a block of lines takes.
    pub(super) fn block(self, lines: &[String]) -> Size {
        let width = lines.iter().map(|it| self.width(it)).fold(0.0, f64::max);
        Size { width, height: super::geometry::real(lines.len()) * self.line() }
    }

    /// Breaks text into lines no wider than `limit`, and no more of them than `most`: what is left over
    /// becomes an ellipsis, for the whole text is in the tooltip anyway.
    pub(super) fn wrap(self, text: &str, limit: f64, most: usize) -> Vec<String> {
        let mut lines: Vec<String> = Vec::new();
        for paragraph in text.lines() {
            let mut line = String::new();
            for piece in self.pieces(paragraph, limit) {
                if !line.is_empty() && self.width(line.trim_end()) + self.width(piece.trim_end()) > limit {
                    lines.push(std::mem::take(&mut line));
                }
                if self.width(piece.trim_end()) <= limit {
                    line.push_str(piece);
                    continue;
                }
                for letter in piece.chars() {
                    if !line.is_empty() && self.width(&line) + em(letter) * self.size > limit {
                        lines.push(std::mem::take(&mut line));
                    }
                    line.push(letter);
                }
            }
            lines.push(line);
        }
        let mut lines: Vec<String> =
            lines.iter().map(|it| it.trim().to_owned()).filter(|it| !it.is_empty()).collect();
        if lines.len() > most {
            lines.truncate(most);
            if let Some(last) = lines.last_mut() {
                last.push('…');
            }
        }
        lines
    }

    /// The parts of a line between which it may break: words, and parts of those that are too long for a line.
    fn pieces(self, text: &str, limit: f64) -> Vec<&str> {
        let mut parts = Vec::new();
        for word in pieces(text, ends_word) {
            if self.width(word.trim_end()) > limit {
                parts.extend(pieces(word, ends_part));
            } else {
                parts.push(word);
            }
        }
        parts
    }
}

/// The width of a letter in ems. Outside ASCII a guess by script is enough.
fn em(letter: char) -> f64 {
    let code = u32::from(letter);
    let known = code.checked_sub(0x20).and_then(|it| usize::try_from(it).ok()).and_then(|it| WIDTHS.get(it));
    if let Some(&width) = known {
        return f64::from(width) / 1000.0;
    }
    match code {
        0..0x20 | 0x7f..0xa0 | 0x300..0x370 | 0x200b..0x2010 | 0xfe00..0xfe10 => 0.0,
        0x2014
        | 0x2026
        | 0x2190..0x2200
        | 0x1100..0x1160
        | 0x2e80..0xa4d0
        | 0xac00..0xd7a4
        | 0xf900..0xfb00
        | 0xfe30..0xfe70
        | 0xff00..0xff61
        | 0xffe0..0xffe7 => 1.0,
        0x1f000.. => 1.3,
        _ => 0.62,
    }
}

/// Where a line breaks.
fn ends_word(letter: char) -> bool {
    letter.is_whitespace() || matches!(letter, '/' | '|' | ',')
}

/// Where a word breaks that is too long for a line. A name that is not is easier to read in one piece.
fn ends_part(letter: char) -> bool {
    ends_word(letter) || matches!(letter, '-' | '_' | '.')
}

/// The parts of a text between which it may break, each with the spaces that follow it.
fn pieces(text: &str, ends: fn(char) -> bool) -> Vec<&str> {
    let mut parts = Vec::new();
    let mut begin = 0;
    let mut letters = text.char_indices().peekable();
    while let Some((at, letter)) = letters.next() {
        let Some(&(next, following)) = letters.peek() else { break };
        let joined = following.is_whitespace() || at == begin && !letter.is_whitespace();
        if ends(letter) && !joined {
            parts.push(&text[begin..next]);
            begin = next;
        }
    }
    if begin < text.len() {
        parts.push(&text[begin..]);
    }
    parts
}

/// Text as XML content or attribute value. What XML cannot hold at all becomes a replacement character.
pub(super) fn xml(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            '\'' => safe.push_str("&#39;"),
            '\t' | '\n' | '\r' => safe.push(' '),
            '\u{0}'..='\u{1f}' | '\u{7f}'..='\u{9f}' | '\u{fffe}' | '\u{ffff}' => safe.push('\u{fffd}'),
            other => safe.push(other),
        }
    }
    safe
}
