//! YAML as an editor reads it before it holds it against a schema: 1.2, core scalars.

use saphyr_parser::{Event, Parser, ScalarStyle};
use serde_json::{Map, Value};

enum Open {
    List(Vec<Value>),
    Map(Map<String, Value>, Option<String>),
}

/// Reads one document.
pub fn read(text: &str) -> Value {
    let mut open: Vec<Open> = Vec::new();
    for event in Parser::new_from_str(text) {
        let finished = match event.expect("valid YAML").0 {
            Event::Scalar(text, style, ..) => scalar(&text, style),
            Event::SequenceStart(..) => {
                open.push(Open::List(Vec::new()));
                continue;
            }
            Event::MappingStart(..) => {
                open.push(Open::Map(Map::new(), None));
                continue;
            }
            Event::SequenceEnd | Event::MappingEnd => match open.pop().expect("something open") {
                Open::List(items) => items.into(),
                Open::Map(entries, _) => entries.into(),
            },
            _ => continue,
        };
        match open.last_mut() {
            None => return finished,
            Some(Open::List(items)) => items.push(finished),
            Some(Open::Map(entries, key)) => match key.take() {
                Some(key) => {
                    entries.insert(key, finished);
                }
                None => *key = Some(finished.as_str().map_or_else(|| finished.to_string(), str::to_owned)),
            },
        }
    }
    Value::Null
}

fn scalar(text: &str, style: ScalarStyle) -> Value {
    if style != ScalarStyle::Plain {
        return text.into();
    }
    match text {
        "" | "~" | "null" => Value::Null,
        "true" => true.into(),
        "false" => false.into(),
        _ => text.parse::<i64>().map_or_else(|_| text.into(), Value::from),
    }
}
