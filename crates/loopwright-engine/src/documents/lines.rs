//! Formats of lines: `text`, `lines` and `json-lines`.

use serde_json::Value;

use super::fault::Fault;
use super::json;
use super::splice::{Splice, newline};
use super::tree::{Entry, Held, Node, Style};

/// Faults beyond these say nothing new.
const MOST_FAULTS: usize = 20;

/// A map of what a reader gives.
pub(super) fn fields<const N: usize>(length: usize, fields: [(&str, Node); N]) -> Node {
    let entry = |(key, node): (&str, Node)| Entry {
        key: key.to_owned(),
        key_bytes: node.bytes.start..node.bytes.start,
        node,
    };
    Node { bytes: 0..length, style: Style::Block, held: Held::Map(fields.into_iter().map(entry).collect()) }
}

/// The whole text, without a byte order mark.
pub(super) fn whole(text: &str) -> Node {
    let plain = text.strip_prefix('\u{feff}').unwrap_or(text);
    Node::leaf(text.len() - plain.len()..text.len(), Style::Plain, Value::from(plain))
}

/// Lines that are not empty, with where they begin; without line ends and a byte order mark.
fn rows(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut next = 0;
    let lines = text.split_inclusive('\n').map(move |line| {
        let start = next;
        next += line.len();
        let bare = line.trim_end_matches(['\n', '\r']);
        let plain = if start == 0 { bare.strip_prefix('\u{feff}').unwrap_or(bare) } else { bare };
        (start + bare.len() - plain.len(), plain)
    });
    lines.filter(|(_, line)| !line.trim().is_empty())
}

fn list(text: &str, items: Vec<Node>) -> Node {
    fields(
        text.len(),
        [("rows", Node { bytes: 0..text.len(), style: Style::Block, held: Held::List(items) })],
    )
}

/// Reads `lines`.
pub(super) fn parse_lines(text: &str) -> Node {
    let row =
        |(start, line): (usize, &str)| Node::leaf(start..start + line.len(), Style::Plain, Value::from(line));
    list(text, rows(text).map(row).collect())
}

/// Reads `json-lines`: every line by itself, so that one broken line does not hide the others' faults.
pub(super) fn parse_json_lines(text: &str) -> Result<Node, Vec<Fault>> {
    let (mut items, mut faults) = (Vec::new(), Vec::new());
    for (start, line) in rows(text) {
        match json::parse(text, line, start) {
            Ok(node) => items.push(node),
            Err(found) => faults.extend(found),
        }
        if faults.len() >= MOST_FAULTS {
            break;
        }
    }
    if faults.is_empty() { Ok(list(text, items)) } else { Err(faults) }
}

/// One more line.
pub(super) fn push_line(text: &str, value: &Value) -> Splice {
    let newline = newline(text);
    let with = if text.is_empty() || text.ends_with(['\n', '\u{feff}']) {
        format!("{value}{newline}")
    } else {
        format!("{newline}{value}")
    };
    Splice::insert(text.len(), with)
}

/// All rows: those that stay the same are not touched, the last ones go if there are fewer now.
pub(super) fn set_rows(text: &str, list: &Node, values: &[Value]) -> String {
    let mut splices = Vec::new();
    for (place, item) in list.items().iter().enumerate() {
        match values.get(place) {
            Some(value) if item.value() == *value => {}
            Some(value) => splices.push(Splice::replace(item.bytes.clone(), value.to_string())),
            None => {
                let rest = &text[item.bytes.end..];
                let line = rest.find('\n').map_or(text.len(), |it| item.bytes.end + it + 1);
                splices.push(Splice::replace(item.bytes.start..line, ""));
            }
        }
    }
    let mut changed = super::splice::apply(text, &splices);
    for value in values.iter().skip(list.items().len()) {
        changed = super::splice::apply(&changed, &[push_line(&changed, value)]);
    }
    changed
}
