//! A change to one field, whatever the format: find the place, make the splices, hold the result against what was
//! meant.

use serde_json::Value;

use super::fault::Fault;
use super::guard::guarded;
use super::json::Layout;
use super::path::{Located, Step, locate, put, wrapped};
use super::splice::{Splice, apply};
use super::tree::{Held, Node, kind};
use super::yaml::Texts;
use super::{Format, json, lines, markdown_edit, toml, yaml};

/// What is to be done with the value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Act {
    Set,
    Append,
}

pub(super) fn set(format: Format, text: &str, field: &str, value: &Value) -> Result<String, Fault> {
    change(format, text, field, value, Act::Set)
}

pub(super) fn append(format: Format, text: &str, field: &str, value: &Value) -> Result<String, Fault> {
    change(format, text, field, value, Act::Append)
}

fn change(format: Format, text: &str, field: &str, value: &Value, act: Act) -> Result<String, Fault> {
    let root = format.tree(text).map_err(|faults| {
        let first = faults.into_iter().next();
        first.unwrap_or_else(|| Fault::at(text, 0, "this cannot be read"))
    })?;
    let changed = match format {
        Format::Text | Format::Lines => Err(format!("nothing can be set in `{}`", format.name())),
        Format::Json | Format::JsonLines | Format::Yaml | Format::Toml => {
            in_tree(format, text, &root, field, value, act)
        }
        Format::Markdown => in_markdown(text, &root, field, value, act),
        Format::Checklist => in_checklist(text, &root, field, value, act),
    };
    changed.map_err(|why| {
        let place = locate(&root, field).ok().and_then(|it| it.last().map(|it| it.bytes.start));
        Fault::at(text, place.unwrap_or(root.bytes.start), why).of(field)
    })
}

/// Formats that are one tree of fields.
fn in_tree(
    format: Format,
    text: &str,
    root: &Node,
    field: &str,
    value: &Value,
    act: Act,
) -> Result<String, String> {
    let located = locate(root, field)?;
    let Some(expected) = expected(root, &located, value, act)? else { return Ok(text.to_owned()) };
    if format == Format::JsonLines && located.way.len() < 3 {
        let changed = rows(text, &located, value, act)?;
        return guarded(changed, |it| format.tree(it), &expected);
    }
    in_either_way(|texts| {
        let splices = splices(format, text, root, &located, value, act, texts)?;
        guarded(apply(text, &splices), |it| format.tree(it), &expected)
    })
}

/// Texts over several lines as people write them in YAML or, where that would take in what stands below, on one line.
fn in_either_way(change: impl Fn(Texts) -> Result<String, String>) -> Result<String, String> {
    change(Texts::OverLines).or_else(|why| change(Texts::OnALine).map_err(|_| why))
}

/// What the root is once the change is made; nothing if it is that already.
fn expected(root: &Node, located: &Located<'_>, value: &Value, act: Act) -> Result<Option<Value>, String> {
    let old = located.last().filter(|_| located.missing.is_empty()).map(Node::value);
    let new = match (act, &old) {
        (Act::Set, Some(old)) if old == value => return Ok(None),
        (Act::Set, _) => value.clone(),
        (Act::Append, None | Some(Value::Null)) => Value::Array(vec![value.clone()]),
        (Act::Append, Some(Value::Array(items))) => {
            items.iter().chain([value]).cloned().collect::<Vec<_>>().into()
        }
        (Act::Append, Some(other)) => {
            return Err(format!("only a list can be added to, and this is {}", kind(other)));
        }
    };
    let mut whole = root.value();
    put(&mut whole, &located.steps, new);
    Ok(Some(whole))
}

/// The splices of a change. A list that is not there is set, with its one entry.
fn splices(
    format: Format,
    text: &str,
    root: &Node,
    located: &Located<'_>,
    value: &Value,
    act: Act,
    texts: Texts,
) -> Result<Vec<Splice>, String> {
    let last = located.last().ok_or("there is nothing here")?;
    if act == Act::Append && located.missing.is_empty() && matches!(last.held, Held::List(_)) {
        return match format {
            Format::Json => Ok(json::push(text, &Layout::of(text, root), last, value)),
            Format::JsonLines => Ok(json::push(text, &row_layout(text, located), last, value)),
            Format::Toml => toml::push(text, last, &located.steps, value),
            _ => yaml::push(text, root, &located.way, value, texts),
        };
    }
    let value = match act {
        Act::Set => value.clone(),
        Act::Append => Value::Array(vec![value.clone()]),
    };
    let there = located.steps.get(..located.steps.len() - located.missing.len()).unwrap_or_default();
    if let (Held::Map(_), Some((key, inner))) = (&last.held, located.missing.split_first()) {
        let value = wrapped(inner, &value);
        return match format {
            Format::Json => Ok(json::insert(text, &Layout::of(text, root), last, key, &value)),
            Format::JsonLines => Ok(json::insert(text, &row_layout(text, located), last, key, &value)),
            Format::Toml => toml::insert(text, root, last, there, key, &value),
            _ => yaml::insert(text, root, &located.way, key, &value, texts),
        };
    }
    if let (Format::Yaml, 1, Some((key, inner))) = (format, located.way.len(), located.missing.split_first())
    {
        let start = if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
        return Ok(vec![yaml::first_key(text, start..text.len(), key, &wrapped(inner, &value), texts)]);
    }
    let value = wrapped(&located.missing, &value);
    match format {
        Format::Json => Ok(json::replace(text, &Layout::of(text, root), last, &value)),
        Format::JsonLines => Ok(json::replace(text, &row_layout(text, located), last, &value)),
        Format::Toml => toml::replace(text, last, &value),
        _ => yaml::replace(text, root, &located.way, &value, texts),
    }
}

/// The layout of the row that is changed; rows are on a line each.
fn row_layout(text: &str, located: &Located<'_>) -> Layout {
    let row = located.way.get(2).or(located.way.first());
    Layout::on_a_line(text, row.map(|(_, node)| *node))
}

/// The rows of `json-lines` as a whole.
fn rows(text: &str, located: &Located<'_>, value: &Value, act: Act) -> Result<String, String> {
    match (located.steps.as_slice(), located.last(), act, value) {
        ([Step::Key(name)], Some(list), Act::Set, Value::Array(values)) if name == "rows" => {
            Ok(lines::set_rows(text, list, values))
        }
        ([Step::Key(name)], _, Act::Append, _) if name == "rows" => {
            Ok(apply(text, &[lines::push_line(text, value)]))
        }
        ([Step::Key(name)], _, Act::Set, other) if name == "rows" => {
            Err(format!("rows are a list, and this is {}", kind(other)))
        }
        _ => Err("only `rows` and what is in them can be set in `json-lines`".to_owned()),
    }
}

fn in_markdown(text: &str, root: &Node, field: &str, value: &Value, act: Act) -> Result<String, String> {
    if let Some(title) = field.strip_prefix("sections.") {
        return match act {
            Act::Set => markdown_edit::set_section(text, title, value),
            Act::Append => markdown_edit::append_to_section(text, title, value),
        };
    }
    let Some(key) = field.strip_prefix("front.") else {
        return Err("only `front.KEY` and `sections.TITLE` can be set in `markdown`".to_owned());
    };
    let front = root.get("front").ok_or("there is no front matter")?;
    let located = locate(front, key)?;
    let Some(front_then) = expected(front, &located, value, act)? else { return Ok(text.to_owned()) };
    let first = located.missing.first().map_or("", String::as_str);
    let one = match act {
        Act::Set => value.clone(),
        Act::Append => Value::Array(vec![value.clone()]),
    };
    let value_of_first = wrapped(located.missing.get(1..).unwrap_or_default(), &one);
    in_either_way(|texts| {
        let splices = markdown_edit::set_front(text, front, first, &value_of_first, texts, || {
            splices(Format::Yaml, text, front, &located, value, act, texts)
        })?;
        let changed = apply(text, &splices);
        let mut then = root.value();
        put(&mut then, &[Step::Key("front".to_owned())], front_then.clone());
        // The text is another one, of course; all that is read from it has to be the same.
        put(&mut then, &[Step::Key("text".to_owned())], lines::whole(&changed).value());
        guarded(changed, |it| Format::Markdown.tree(it), &then)
    })
}

fn in_checklist(text: &str, root: &Node, field: &str, value: &Value, act: Act) -> Result<String, String> {
    let located = locate(root, field)?;
    if !matches!(located.steps.first(), Some(Step::Key(name)) if name == "items")
        || !located.missing.is_empty()
    {
        return Err("only `items` and what is in them can be set in `checklist`".to_owned());
    }
    let items = root.get("items").map(Node::value).unwrap_or_default();
    if act == Act::Append {
        return match located.steps.len() {
            1 => markdown_edit::append_item(text, &items, value),
            _ => Err("only `items` can be added to in `checklist`".to_owned()),
        };
    }
    let Some(whole) = expected(root, &located, value, act)? else { return Ok(text.to_owned()) };
    markdown_edit::set_items(text, whole.get("items").unwrap_or(&Value::Null))
}
