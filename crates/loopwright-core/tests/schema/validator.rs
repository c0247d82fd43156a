//! As much of JSON Schema as our schema uses. A keyword that is not known here is a panic, not a pass.

use serde_json::{Map, Value};

/// Whether a value fits a schema.
pub fn accepts(root: &Value, schema: &Value, value: &Value) -> bool {
    let keywords = match schema {
        Value::Bool(all) => return *all,
        Value::Object(keywords) => keywords,
        other => panic!("not a schema: {other}"),
    };
    keywords.iter().all(|(keyword, argument)| match keyword.as_str() {
        "$schema" | "$defs" | "title" | "description" => true,
        "$ref" => accepts(root, target(root, text(argument)), value),
        "type" => list(argument).iter().any(|it| is_of(value, text(it))),
        "enum" => list(argument).contains(&value),
        "anyOf" => list(argument).iter().any(|it| accepts(root, it, value)),
        "minimum" => value.as_f64().is_none_or(|it| it >= number(argument)),
        "maximum" => value.as_f64().is_none_or(|it| it <= number(argument)),
        "pattern" => {
            let pattern = regex_lite::Regex::new(text(argument)).expect("a regular expression");
            value.as_str().is_none_or(|it| pattern.is_match(it))
        }
        "items" => value.as_array().is_none_or(|items| items.iter().all(|it| accepts(root, argument, it))),
        "minItems" => value.as_array().is_none_or(|it| it.len() as u64 >= argument.as_u64().unwrap_or(0)),
        "required" => {
            value.as_object().is_none_or(|it| list(argument).iter().all(|key| it.contains_key(text(key))))
        }
        "properties" => value.as_object().is_none_or(|it| {
            map(argument).iter().all(|(key, schema)| it.get(key).is_none_or(|it| accepts(root, schema, it)))
        }),
        "additionalProperties" => {
            let named = keywords.get("properties").map(map);
            let further = |key: &String| named.is_none_or(|it| !it.contains_key(key));
            value.as_object().is_none_or(|it| {
                it.iter().filter(|(key, _)| further(key)).all(|(_, it)| accepts(root, argument, it))
            })
        }
        other => panic!("the validator does not know `{other}`"),
    })
}

/// What `#/$defs/NAME` stands for.
fn target<'s>(root: &'s Value, reference: &str) -> &'s Value {
    let pointer = reference.strip_prefix('#').expect("a reference inside the schema");
    root.pointer(pointer).unwrap_or_else(|| panic!("nothing at `{reference}`"))
}

fn is_of(value: &Value, kind: &str) -> bool {
    match kind {
        "null" => value.is_null(),
        "boolean" => value.is_boolean(),
        "integer" => value.as_f64().is_some_and(|it| it.fract() == 0.0),
        "number" => value.is_number(),
        "string" => value.is_string(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        other => panic!("the validator does not know the type `{other}`"),
    }
}

/// The entries of a list, or the one thing that stands for a list.
fn list(value: &Value) -> Vec<&Value> {
    value.as_array().map_or_else(|| vec![value], |it| it.iter().collect())
}

fn map(value: &Value) -> &Map<String, Value> {
    value.as_object().expect("a map")
}

fn text(value: &Value) -> &str {
    value.as_str().expect("a text")
}

fn number(value: &Value) -> f64 {
    value.as_f64().expect("a number")
}
