//! What is wrong with a file, for the person or agent who wrote it.

use std::fmt;

/// Something wrong in a text, or a change that cannot be made to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The file, where a document has several.
    pub file: Option<String>,
    /// The line, from 1.
    pub line: usize,
    /// The character of the line, from 1, if known.
    pub column: Option<usize>,
    /// The field it is about, as a dotted path, if it is about one.
    pub field: Option<String>,
    /// What is wrong, as a plain sentence.
    pub message: String,
    /// What to do about it.
    pub help: Option<String>,
}

impl Fault {
    /// A fault at a byte of a text.
    pub(super) fn at(text: &str, byte: usize, message: impl Into<String>) -> Self {
        let (line, column) = place(text, byte);
        Self { file: None, line, column: Some(column), field: None, message: message.into(), help: None }
    }

    pub(super) fn of(mut self, field: &str) -> Self {
        self.field = Some(field.to_owned());
        self
    }

    /// The same in one of several files.
    pub(super) fn in_file(mut self, path: &str) -> Self {
        self.file = Some(path.to_owned());
        self
    }

    pub(super) fn helped(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}", self.line)?;
        match (&self.field, self.column) {
            (Some(field), _) => write!(f, ", `{field}`: {}", self.message),
            (None, Some(column)) => write!(f, ", column {column}: {}", self.message),
            (None, None) => write!(f, ": {}", self.message),
        }
    }
}

impl std::error::Error for Fault {}

/// Line and column of a byte, both from 1. A byte order mark is no character of the first line.
fn place(text: &str, byte: usize) -> (usize, usize) {
    let mut byte = byte.min(text.len());
    while !text.is_char_boundary(byte) {
        byte -= 1;
    }
    let before = &text[..byte];
    let line = before.bytes().filter(|it| *it == b'\n').count() + 1;
    let start = before.rfind('\n').map_or(0, |it| it + 1);
    let column = before[start..].trim_start_matches('\u{feff}').chars().count() + 1;
    (line, column)
}
