//! TOML with places. `toml_edit` reads it, says where everything stands and spells values; the edit itself is made by
//! span, because writing a whole document anew would change its line ends.

use serde_json::{Number, Value};
use toml_edit::{Array, Document, InlineTable, Item, Key, Table, TableLike, Value as Written};

use super::fault::Fault;
use super::path::Step;
use super::splice::{Splice, add_in_brackets, line_end, line_start, newline};
use super::tree::{Entry, Held, Node, Style};

/// Reads a TOML text.
pub(super) fn parse(text: &str) -> Result<Node, Vec<Fault>> {
    let document = Document::parse(text).map_err(|error| {
        let at = error.span().map_or(0, |it| it.start);
        let fault =
            Fault::at(text, at, format!("this is not valid TOML: {}", error.message().replace('\n', ", ")));
        let help = if error.message().contains("duplicate") {
            "keep one of them"
        } else {
            "check quotes, brackets and commas here; a line is `key = value` or `[table]`"
        };
        vec![fault.helped(help)]
    })?;
    Ok(Node { bytes: 0..0, style: Style::Block, held: entries(document.as_table(), text) })
}

fn entries(table: &dyn TableLike, text: &str) -> Held {
    let entry = |(name, _): (&str, &Item)| {
        let (key, item) = table.get_key_value(name)?;
        let key_bytes = key.span().unwrap_or(0..0);
        Some(Entry { key: name.to_owned(), node: node(item, key_bytes.clone(), text)?, key_bytes })
    };
    Held::Map(table.iter().filter_map(entry).collect())
}

fn node(item: &Item, key: std::ops::Range<usize>, text: &str) -> Option<Node> {
    match item {
        Item::None => None,
        Item::Value(value) => Some(written(value, key, text)),
        Item::Table(it) => Some(table(it, key, text)),
        Item::ArrayOfTables(tables) => {
            let bytes = tables.span().unwrap_or_else(|| key.clone());
            let items = tables.iter().map(|it| table(it, key.clone(), text)).collect();
            Some(Node { bytes, style: Style::Block, held: Held::List(items) })
        }
    }
}

fn table(table: &Table, key: std::ops::Range<usize>, text: &str) -> Node {
    let style = if table.is_dotted() || table.is_implicit() { Style::Implied } else { Style::Block };
    Node { bytes: table.span().unwrap_or(key), style, held: entries(table, text) }
}

fn written(value: &Written, key: std::ops::Range<usize>, text: &str) -> Node {
    let bytes = value.span().unwrap_or(key);
    let style = match text.get(bytes.clone()).unwrap_or_default() {
        it if it.starts_with("\"\"\"") || it.starts_with("'''") => Style::Long,
        it if it.starts_with('"') => Style::Double,
        it if it.starts_with('\'') => Style::Single,
        _ => Style::Plain,
    };
    match value {
        Written::String(it) => Node::leaf(bytes, style, Value::from(it.value().as_str())),
        Written::Integer(it) => Node::leaf(bytes, style, Value::from(*it.value())),
        Written::Float(it) => {
            let number = Number::from_f64(*it.value());
            // JSON has no word for these; as a text they are at least not lost.
            let value = number.map_or_else(|| Value::from(it.value().to_string()), Value::Number);
            Node::leaf(bytes, style, value)
        }
        Written::Boolean(it) => Node::leaf(bytes, style, Value::Bool(*it.value())),
        Written::Datetime(it) => Node::leaf(bytes, style, Value::from(it.value().to_string())),
        Written::Array(array) => {
            let items = array.iter().map(|it| written(it, bytes.clone(), text)).collect();
            Node { bytes, style: Style::Flow, held: Held::List(items) }
        }
        Written::InlineTable(it) => {
            let style = if it.is_dotted() { Style::Implied } else { Style::Flow };
            Node { bytes, style, held: entries(it, text) }
        }
    }
}

/// Another value in the place of one.
pub(super) fn replace(text: &str, old: &Node, value: &Value) -> Result<Vec<Splice>, String> {
    if matches!(old.style, Style::Block | Style::Implied) {
        return Err("this is a table with lines of its own; set its fields one by one".to_owned());
    }
    let with = respell(text, old, value)?;
    Ok(vec![Splice::replace(old.bytes.clone(), with)])
}

/// The value, written in the way the one before it was where that is possible.
fn respell(text: &str, old: &Node, value: &Value) -> Result<String, String> {
    if let Value::String(new) = value {
        let plain = text.get(old.bytes.clone()).unwrap_or_default();
        let was_time = plain.parse::<toml_edit::Datetime>().is_ok();
        if was_time && new.parse::<toml_edit::Datetime>().is_ok_and(|it| it.to_string() == *new) {
            return Ok(new.clone());
        }
        let one_line = !new.chars().any(char::is_control);
        match old.style {
            Style::Single if one_line && !new.contains('\'') => return Ok(format!("'{new}'")),
            Style::Double if one_line => {
                return Ok(format!("\"{}\"", new.replace('\\', "\\\\").replace('"', "\\\"")));
            }
            _ => {}
        }
    }
    spell(value)
}

fn spell(value: &Value) -> Result<String, String> {
    Ok(spelled(value)?.to_string().trim().to_owned())
}

fn spelled(value: &Value) -> Result<Written, String> {
    match value {
        Value::Null => {
            Err("TOML has no empty value; remove the key by hand, or set another value".to_owned())
        }
        Value::Bool(it) => Ok(Written::from(*it)),
        Value::String(it) if it.contains(['\n', '\r']) => {
            // On one line, so that the line ends of the file stay what they are. JSON's escapes are TOML's, but one.
            let quoted = Value::from(it.as_str()).to_string().replace('\u{7f}', "\\u007F");
            quoted.parse::<Written>().map_err(|error| error.message().to_owned())
        }
        Value::String(it) => Ok(Written::from(it.as_str())),
        Value::Number(it) => match (it.as_i64(), it.as_u64(), it.as_f64()) {
            (Some(whole), _, _) => Ok(Written::from(whole)),
            (None, None, Some(number)) => Ok(Written::from(number)),
            _ => Err(format!("{it} is too large for TOML")),
        },
        Value::Array(items) => {
            let items: Result<Array, String> = items.iter().map(spelled).collect();
            items.map(Written::Array)
        }
        Value::Object(fields) => {
            let mut table = InlineTable::new();
            for (key, value) in fields {
                table.insert(key, spelled(value)?);
            }
            Ok(Written::InlineTable(table))
        }
    }
}

fn key(name: &str) -> String {
    Key::new(name).to_string()
}

/// One more key at the end of a table. `steps` lead to the table.
pub(super) fn insert(
    text: &str,
    root: &Node,
    map: &Node,
    steps: &[Step],
    name: &str,
    value: &Value,
) -> Result<Vec<Splice>, String> {
    if map.style == Style::Flow {
        if map.entries().is_empty() {
            return replace(text, map, &super::path::wrapped(&[name.to_owned()], value));
        }
        let piece = format!("{} = {}", key(name), spell(value)?);
        return Ok(add_in_brackets(text, map.bytes.start, &map.children(), &piece));
    }
    let path = header_path(steps);
    if let (Value::Object(fields), Some(path), Style::Block) = (value, &path, map.style) {
        let mut header = path.clone();
        header.push(key(name));
        return Ok(vec![section(text, &format!("[{}]", header.join(".")), fields)?]);
    }
    let line = format!("{} = {}", key(name), spell(value)?);
    let newline = newline(text);
    if let Some((last, end)) = own_end(map) {
        let prefix = &text[line_start(text, last)..last];
        return Ok(vec![Splice::insert(line_end(text, end), format!("{newline}{prefix}{line}"))]);
    }
    if steps.is_empty() {
        return Ok(vec![first_line(text, root, &line)]);
    }
    match (map.style, path) {
        (Style::Block, _) => {
            Ok(vec![Splice::insert(line_end(text, map.bytes.end), format!("{newline}{line}"))])
        }
        (_, Some(path)) => {
            let mut fields = serde_json::Map::new();
            fields.insert(name.to_owned(), value.clone());
            Ok(vec![section(text, &format!("[{}]", path.join(".")), &fields)?])
        }
        (_, None) => Err("this table has no lines of its own to add to".to_owned()),
    }
}

/// One more entry at the end of a list. `steps` lead to the list.
pub(super) fn push(text: &str, list: &Node, steps: &[Step], value: &Value) -> Result<Vec<Splice>, String> {
    match (list.style, header_path(steps), value) {
        (Style::Block, Some(path), Value::Object(fields)) => {
            Ok(vec![section(text, &format!("[[{}]]", path.join(".")), fields)?])
        }
        (Style::Block, _, _) => Err("only a map can be added to a list of tables".to_owned()),
        _ if list.items().is_empty() => replace(text, list, &Value::Array(vec![value.clone()])),
        _ => {
            let piece = spell(value)?;
            Ok(add_in_brackets(text, list.bytes.start, &list.children(), &piece))
        }
    }
}

/// The keys of a header; within an entry of a list of tables a header would belong to the last of them.
fn header_path(steps: &[Step]) -> Option<Vec<String>> {
    let name = |it: &Step| match it {
        Step::Key(name) => Some(key(name)),
        Step::Index(_) => None,
    };
    steps.iter().map(name).collect()
}

/// The last key of a table's own lines, and where its value ends.
fn own_end(map: &Node) -> Option<(usize, usize)> {
    let own = |entry: &Entry| match entry.node.style {
        Style::Block => None,
        Style::Implied => own_end(&entry.node).map(|(_, end)| (entry.key_bytes.start, end)),
        _ => Some((entry.key_bytes.start, entry.node.bytes.end)),
    };
    map.entries().iter().filter_map(own).max_by_key(|(_, end)| *end)
}

/// The first key of the root, which has to stand before all tables.
fn first_line(text: &str, root: &Node, line: &str) -> Splice {
    let newline = newline(text);
    let Some(header) = first_header(root) else {
        let apart = if text.is_empty() || text.ends_with(['\n', '\u{feff}']) { "" } else { newline };
        return Splice::insert(text.len(), format!("{apart}{line}{newline}"));
    };
    let mut at = line_start(text, header);
    // The comment right above a table is the table's.
    while at > 0 && text[..at].ends_with('\n') {
        let above = line_start(text, at - 1);
        if !text[above..at].trim_start().starts_with('#') {
            break;
        }
        at = above;
    }
    Splice::insert(at, format!("{line}{newline}{newline}"))
}

fn first_header(node: &Node) -> Option<usize> {
    let below = |it: &Node| match it.style {
        Style::Block => Some(it.bytes.start),
        Style::Implied => first_header(it),
        _ => None,
    };
    node.entries().iter().filter_map(|it| below(&it.node)).min()
}

/// A table of its own at the end of the text.
fn section(text: &str, header: &str, fields: &serde_json::Map<String, Value>) -> Result<Splice, String> {
    let newline = newline(text);
    let mut lines = vec![header.to_owned()];
    for (name, value) in fields {
        lines.push(format!("{} = {}", key(name), spell(value)?));
    }
    let body = lines.join(newline);
    let blank = text.trim_start_matches('\u{feff}').trim().is_empty();
    let with = match text.ends_with('\n') {
        _ if blank => format!("{body}{newline}"),
        true => format!("{newline}{body}{newline}"),
        false => format!("{newline}{newline}{body}"),
    };
    Ok(Splice::insert(text.len(), with))
}
