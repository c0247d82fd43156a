//! Values as YAML, in the style of the file they go into.

use serde_json::Value;

use super::super::splice::{column, newline};
use super::super::tree::{Node, Style};
use super::scalar::{double_quoted, is_plain, needs_escape, single_quoted};

/// How texts of several lines are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) enum Texts {
    /// Behind `|`, as people would.
    OverLines,
    /// In quotes on one line, where the lines below might be read as part of them.
    OnALine,
}

/// How a YAML text is laid out.
#[derive(Clone, Debug)]
pub(super) struct Layout {
    pub newline: &'static str,
    /// By how much a map stands further in than its key.
    pub step: usize,
    /// By how much a list stands further in than its key.
    pub list: usize,
    pub texts: Texts,
}

impl Layout {
    pub(super) fn of(text: &str, root: &Node, texts: Texts) -> Self {
        let (mut step, mut list) = (None, None);
        measure(text, root, &mut step, &mut list);
        let step = step.unwrap_or(2);
        Self { newline: newline(text), step, list: list.unwrap_or(step), texts }
    }
}

/// The first map and the first list below a key show how far in they stand.
fn measure(text: &str, node: &Node, step: &mut Option<usize>, list: &mut Option<usize>) {
    for entry in node.entries() {
        if entry.node.style == Style::Block {
            let further =
                column(text, entry.node.bytes.start).checked_sub(column(text, entry.key_bytes.start));
            let found = if entry.node.items().is_empty() { &mut *step } else { &mut *list };
            *found = found.or(further);
        }
        if step.is_some() && list.is_some() {
            return;
        }
        measure(text, &entry.node, step, list);
    }
    for item in node.items() {
        if step.is_some() && list.is_some() {
            return;
        }
        measure(text, item, step, list);
    }
}

/// A text, number or word on a line, quoted as the one before it was.
pub(super) fn leaf(value: &Value, style: Style, flow: bool) -> String {
    let Value::String(text) = value else { return value.to_string() };
    match style {
        Style::Double => double_quoted(text),
        Style::Single => single_quoted(text).unwrap_or_else(|| double_quoted(text)),
        _ if is_plain(text, flow) => text.clone(),
        _ => double_quoted(text),
    }
}

pub(super) fn key(text: &str, flow: bool) -> String {
    leaf(&Value::from(text), Style::Plain, flow)
}

/// A value in brackets.
pub(super) fn flow(value: &Value, style: Style) -> String {
    match value {
        Value::Array(items) => {
            let items: Vec<String> = items.iter().map(|it| flow(it, Style::Plain)).collect();
            format!("[{}]", items.join(", "))
        }
        Value::Object(fields) => {
            let fields: Vec<String> = fields
                .iter()
                .map(|(name, it)| format!("{}: {}", key(name, true), flow(it, Style::Plain)))
                .collect();
            format!("{{{}}}", fields.join(", "))
        }
        value => leaf(value, style, true),
    }
}

/// Whether a value goes over lines.
pub(super) fn is_block(value: &Value) -> bool {
    match value {
        Value::Array(items) => !items.is_empty(),
        Value::Object(fields) => !fields.is_empty(),
        _ => false,
    }
}

/// What stands behind `key:` or `-` at this column: the rest of that line, and the lines below it.
pub(super) fn behind(value: &Value, at: usize, style: Style, layout: &Layout) -> (String, String) {
    let inner = match value {
        Value::Object(_) if is_block(value) => at + layout.step,
        Value::Array(_) if is_block(value) => at + layout.list,
        Value::String(text) => {
            let quoted = matches!(style, Style::Single | Style::Double);
            return match long(text, at + layout.step, layout).filter(|_| !quoted) {
                Some((head, lines)) => (format!(" {head}"), lines),
                None => (format!(" {}", leaf(value, style, false)), String::new()),
            };
        }
        value => return (format!(" {}", flow(value, style)), String::new()),
    };
    (String::new(), format!("{}{}{}", layout.newline, " ".repeat(inner), block(value, inner, layout)))
}

/// A list or map over lines that begins at this column; the first line is not indented.
pub(super) fn block(value: &Value, at: usize, layout: &Layout) -> String {
    let between = format!("{}{}", layout.newline, " ".repeat(at));
    let pieces: Vec<String> = match value {
        Value::Array(items) => items.iter().map(|it| format!("-{}", item(it, at, layout))).collect(),
        Value::Object(fields) => {
            let piece = |(name, value): (&String, &Value)| {
                let (head, lines) = behind(value, at, Style::Plain, layout);
                format!("{}:{head}{lines}", key(name, false))
            };
            fields.iter().map(piece).collect()
        }
        other => vec![leaf(other, Style::Plain, false)],
    };
    pieces.join(&between)
}

/// What stands behind a `-` at this column: what goes over lines begins right there.
pub(super) fn item(value: &Value, at: usize, layout: &Layout) -> String {
    if is_block(value) {
        return format!(" {}", block(value, at + 2, layout));
    }
    let (head, lines) = behind(value, at, Style::Plain, layout);
    format!("{head}{lines}")
}

/// A text over several lines behind `|`, when every line of it can stand as it is.
fn long(text: &str, at: usize, layout: &Layout) -> Option<(&'static str, String)> {
    let (body, head) = match text.strip_suffix('\n') {
        Some(body) => (body, "|"),
        None => (text, "|-"),
    };
    let fits = layout.texts == Texts::OverLines
        && text.trim_end_matches('\n').contains('\n')
        && !body.ends_with('\n')
        && !body.starts_with([' ', '\n'])
        && !body.chars().any(needs_escape);
    let line = |it: &str| match it {
        "" => layout.newline.to_owned(),
        it => format!("{}{}{it}", layout.newline, " ".repeat(at)),
    };
    fits.then(|| (head, body.split('\n').map(line).collect()))
}
