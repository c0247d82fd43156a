//! As much YAML as workflows and templates are written in: one document, no aliases.

use saphyr_parser::{Event, Parser, ScalarStyle};
use serde_json::{Map, Value};

const MOST_BYTES: usize = 1 << 20;
const MOST_DEPTH: usize = 48;

/// A list or map that is not finished.
enum Open {
    List(Vec<Value>),
    Map(Map<String, Value>, Option<String>),
}

/// Reads a document. Plain words for nothing, truth and whole numbers become such, everything else is text.
pub(crate) fn read(text: &str) -> Result<Value, String> {
    if text.len() > MOST_BYTES {
        return Err(format!("it is larger than {} KiB", MOST_BYTES / 1024));
    }
    let mut parser = Parser::new_from_str(text.strip_prefix('\u{feff}').unwrap_or(text));
    let mut open: Vec<Open> = Vec::new();
    let mut root = None;
    let mut documents = 0;
    while let Some(event) = parser.next_event() {
        let (event, _) = event
            .map_err(|error| format!("it is not YAML: {} in line {}", error.info(), error.marker().line()))?;
        let done = match event {
            Event::DocumentStart(_) => {
                documents += 1;
                if documents > 1 {
                    return Err("it has several documents".to_owned());
                }
                None
            }
            Event::Alias(_) => return Err("it has aliases, which are not followed".to_owned()),
            Event::Scalar(text, style, ..) => Some(scalar(&text, style)),
            Event::SequenceStart(..) => {
                open.push(Open::List(Vec::new()));
                None
            }
            Event::MappingStart(..) => {
                open.push(Open::Map(Map::new(), None));
                None
            }
            Event::SequenceEnd | Event::MappingEnd => open.pop().map(|it| match it {
                Open::List(items) => Value::Array(items),
                Open::Map(fields, _) => Value::Object(fields),
            }),
            _ => None,
        };
        if open.len() > MOST_DEPTH {
            return Err("it is nested too deeply".to_owned());
        }
        if let Some(value) = done {
            match open.last_mut() {
                None => root = Some(value),
                Some(Open::List(items)) => items.push(value),
                Some(Open::Map(fields, key)) => match key.take() {
                    Some(key) => {
                        fields.insert(key, value);
                    }
                    None => *key = Some(value.as_str().map_or_else(|| value.to_string(), str::to_owned)),
                },
            }
        }
    }
    Ok(root.unwrap_or_default())
}

fn scalar(text: &str, style: ScalarStyle) -> Value {
    match text {
        _ if style != ScalarStyle::Plain => text.into(),
        "" | "~" | "null" | "Null" | "NULL" => Value::Null,
        "true" | "True" | "TRUE" => true.into(),
        "false" | "False" | "FALSE" => false.into(),
        _ => text.parse::<i64>().map_or_else(|_| text.into(), Value::from),
    }
}
