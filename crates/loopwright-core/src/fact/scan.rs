//! A look at the source before the CEL parser sees it. The parser and everything after it are recursive, and each
//! level of brackets costs it several kilobytes of stack; here the depth is bounded, without recursion, so no text
//! can exhaust the stack. Brackets and quotes left open are reported here too, as their own place is known.

use std::collections::BTreeMap;
use std::ops::Range;

use super::Fault;

/// The longest expression that is read. A fact is a line or two; what is longer wants to be several facts.
const LONGEST: usize = 4096;

/// The stack an expression may need, in the weights below, where a token of a chain weighs one: less than a megabyte
/// in an unoptimised build, and still some twenty brackets, fifty conditionals or a hundred operators in a row.
const DEEPEST: usize = 200;
const BRACKET: usize = 8;
const CONDITIONAL: usize = 4;

/// Where each bracket is closed, by the place it is opened.
#[derive(Debug, Default)]
pub(super) struct Brackets(BTreeMap<usize, usize>);

impl Brackets {
    /// The end of a bracket, past its closing sign.
    pub(super) fn end_of(&self, open: usize) -> Option<usize> {
        self.0.get(&open).map(|close| close + 1)
    }
}

/// What is inside one pair of brackets. A chain `a + b + c` is a tree as deep as it is long, so tokens count; `&&`,
/// `||`, commas and the arms of a conditional start a chain anew.
#[derive(Default)]
struct Level {
    open: usize,
    sign: u8,
    chain: usize,
    within: usize,
    deepest: usize,
    conditionals: usize,
}

impl Level {
    fn link(&mut self) {
        self.chain += 1;
    }

    fn part(&mut self) {
        self.deepest = self.deepest.max(self.chain + self.within);
        (self.chain, self.within) = (0, 0);
    }

    fn cost(mut self) -> usize {
        self.part();
        self.deepest + self.conditionals * CONDITIONAL
    }
}

/// Bounds the length and depth of an expression and pairs its brackets.
pub(super) fn scan(source: &str) -> Result<Brackets, Fault> {
    let everything = 0..source.len();
    if source.len() > LONGEST {
        let message = format!("the expression is {} bytes long, at most {LONGEST} are read", source.len());
        return Err(Fault::new(everything, message).helped("split it into several facts"));
    }
    if source.trim().is_empty() {
        return Err(Fault::new(everything, "the expression is empty"));
    }
    let bytes = source.as_bytes();
    let mut brackets = Brackets::default();
    let mut outer: Vec<Level> = Vec::new();
    let mut level = Level::default();
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        let start = at;
        at += 1;
        match byte {
            b' ' | b'\t' | b'\r' | b'\n' | 0x0c => {}
            b'/' if bytes.get(at) == Some(&b'/') => at = line_end(bytes, at),
            b'\'' | b'"' => {
                at = text_end(bytes, start, Escapes::Read)?;
                level.link();
            }
            b'(' | b'[' | b'{' => {
                outer.push(std::mem::replace(
                    &mut level,
                    Level { open: start, sign: byte, ..Level::default() },
                ));
            }
            b')' | b']' | b'}' => {
                let Some(parent) = outer.pop().filter(|_| closes(level.sign, byte)) else {
                    return Err(Fault::new(start..at, format!("`{}` closes nothing", char::from(byte))));
                };
                brackets.0.insert(level.open, start);
                let inner = std::mem::replace(&mut level, parent).cost() + BRACKET;
                level.within = level.within.max(inner);
                // `a[b][c]` is as deep as `a + b + c`, in half the tokens.
                level.chain += 2;
            }
            b'&' | b'|' | b',' | b':' => level.part(),
            b'?' => {
                level.part();
                level.conditionals += 1;
            }
            _ if is_word(byte) => {
                while bytes.get(at).copied().is_some_and(is_word) {
                    at += 1;
                }
                if let (Some(b'\'' | b'"'), Some(escapes)) = (bytes.get(at), prefix(&bytes[start..at])) {
                    at = text_end(bytes, at, escapes)?;
                }
                level.link();
            }
            _ => level.link(),
        }
    }
    if !outer.is_empty() {
        let open = level.open..level.open + 1;
        return Err(Fault::new(open, format!("`{}` is never closed", char::from(level.sign))));
    }
    if level.cost() > DEEPEST {
        return Err(Fault::new(everything, "the expression is nested too deeply")
            .helped("split it into several facts"));
    }
    Ok(brackets)
}

fn closes(open: u8, close: u8) -> bool {
    matches!((open, close), (b'(', b')') | (b'[', b']') | (b'{', b'}'))
}

/// Part of a word or number; bytes of letters beyond ASCII count as such, the parser refuses them with a message.
fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 0x80
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Escapes {
    Read,
    Raw,
}

/// What the letters right before a quote say about the text in it.
fn prefix(word: &[u8]) -> Option<Escapes> {
    match word {
        b"r" | b"R" | b"br" | b"bR" | b"Br" | b"BR" | b"rb" | b"rB" | b"Rb" | b"RB" => Some(Escapes::Raw),
        b"b" | b"B" => Some(Escapes::Read),
        _ => None,
    }
}

fn line_end(bytes: &[u8], from: usize) -> usize {
    bytes[from..].iter().position(|byte| *byte == b'\n').map_or(bytes.len(), |length| from + length)
}

/// The end of the text whose quote is at `open`.
fn text_end(bytes: &[u8], open: usize, escapes: Escapes) -> Result<usize, Fault> {
    let quote = bytes[open];
    let tripled = [quote; 3];
    let long = bytes[open..].starts_with(&tripled);
    let closing = if long { &tripled[..] } else { &tripled[..1] };
    let mut at = open + closing.len();
    while at < bytes.len() {
        if bytes[at..].starts_with(closing) {
            return Ok(at + closing.len());
        }
        match bytes[at] {
            b'\\' if escapes == Escapes::Read => at += 2,
            b'\n' | b'\r' if !long => break,
            _ => at += 1,
        }
    }
    let range: Range<usize> = open..open + closing.len();
    Err(Fault::new(range, "this text is never closed").helped(format!("end it with `{}`", char::from(quote))))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(source: &str) -> String {
        scan(source)
            .map_or_else(|fault| format!("{:?} {}", fault.range, fault.message), |_| "fine".to_owned())
    }

    #[test]
    fn brackets_and_quotes_are_paired() {
        for (source, expected) in [
            ("f(a[1], {'x': ')'})", "fine"),
            (r#"r'\' + '\'' + """a"b""" + b"x" "#, "fine"),
            ("a // ( ' \n + b", "fine"),
            ("(a", "0..1 `(` is never closed"),
            ("f(a]", "3..4 `]` closes nothing"),
            ("a)", "1..2 `)` closes nothing"),
            ("x == 'abc", "5..6 this text is never closed"),
            ("x == '''ab'", "5..8 this text is never closed"),
            ("'ab\n'", "0..1 this text is never closed"),
            (" \n", "0..2 the expression is empty"),
        ] {
            assert_eq!(message(source), expected, "{source}");
        }
    }

    #[test]
    fn depth_is_bounded_however_it_is_made() {
        let chain = |part: &str, count: usize| format!("a{}", part.repeat(count));
        let nest =
            |open: &str, close: &str, count: usize| format!("{}a{}", open.repeat(count), close.repeat(count));
        for source in [
            chain("+a", 1000),
            chain(".a", 1000),
            chain("[a]", 1000),
            chain(" in a", 800),
            nest("(", ")", 60),
            nest("f(", ")", 60),
            nest("(", "+a+a+a+a)", 15),
            chain("?a:a", 1000),
        ] {
            assert!(message(&source).ends_with("nested too deeply"), "{}", &source[..40]);
        }
        for source in
            [chain("&&a.b", 700), chain(" ? a.b.c : x == y", 40), nest("(", ")", 18), chain("+a", 90)]
        {
            assert_eq!(message(&source), "fine", "{}", &source[..40]);
        }
        assert!(message(&"a".repeat(5000)).contains("5000 bytes long"));
    }
}
