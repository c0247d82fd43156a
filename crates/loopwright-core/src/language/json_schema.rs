//! The JSON Schema that editors complete `workflow.yaml` from, printed from the same shapes `check` uses.

use serde_json::{Map, Value, json};

use super::grammar;
use super::shape::{Record, Shape, Tagged};

/// The JSON Schema of `workflow.yaml`.
pub fn json_schema() -> Value {
    let mut schema = of(&grammar::workflow());
    if let Value::Object(object) = &mut schema {
        let definitions: Map<String, Value> =
            grammar::definitions().iter().map(|(name, shape)| ((*name).to_owned(), of(shape))).collect();
        object.insert("$defs".into(), Value::Object(definitions));
        object.insert("$schema".into(), json!("https://json-schema.org/draft/2020-12/schema"));
        object.insert("title".into(), json!("Loopwright workflow"));
    }
    schema
}

fn of(shape: &Shape) -> Value {
    match shape {
        Shape::Text => json!({"type": ["string", "number", "boolean"]}),
        Shape::Name => json!({"type": ["string", "number"]}),
        Shape::Number => json!({"type": "integer", "minimum": 0}),
        Shape::Truth => json!({"type": "boolean"}),
        Shape::Time => json!({"type": "string", "pattern": "^[0-9.]+ ?(ms|s|m|min|h|d)$"}),
        Shape::Amount => json!({"type": ["integer", "string"]}),
        Shape::Money => json!({"type": "string", "pattern": "^[0-9.]+ ?(usd|USD)$"}),
        Shape::Dollars => {
            json!({"anyOf": [{"type": "integer", "minimum": 0}, {"type": "string", "pattern": "^[0-9.]+ ?(usd|USD)$"}]})
        }
        Shape::Tokens => json!({"anyOf": [
            {"type": "integer", "minimum": 0},
            {"type": "string", "pattern": "^[0-9.]+ ?(tokens|k|M|k tokens|M tokens)$"},
        ]}),
        Shape::OneOf(words) => json!({"enum": words}),
        Shape::ListOf(inner) => {
            let inner = of(inner);
            json!({"anyOf": [{"type": "array", "items": inner.clone()}, inner, {"type": "null"}]})
        }
        Shape::MapOf(_, inner) => json!({"type": ["object", "null"], "additionalProperties": of(inner)}),
        Shape::Record(record) => of_record(record),
        Shape::Tagged(tagged) => of_tagged(tagged),
        Shape::Either(shapes) => json!({"anyOf": shapes.iter().map(of).collect::<Vec<_>>()}),
        Shape::Table(inner) => {
            let inner = of(inner);
            json!({"anyOf": [
                inner.clone(),
                {"type": "object", "properties": {"by": {"type": "string"}}, "required": ["by"], "additionalProperties": inner},
            ]})
        }
        Shape::Ref(name) => json!({"$ref": format!("#/$defs/{name}")}),
        Shape::Anything => json!(true),
    }
}

fn of_record(record: &Record) -> Value {
    let mut properties = Map::new();
    for field in &record.fields {
        let mut property = of(&field.shape);
        if let Value::Object(object) = &mut property {
            object.insert("description".into(), json!(field.about));
        }
        properties.insert(field.key.to_owned(), property);
    }
    let required: Vec<&str> = record.fields.iter().filter(|it| it.required).map(|it| it.key).collect();
    let kind = if required.is_empty() { json!(["object", "null"]) } else { json!("object") };
    json!({"type": kind, "properties": properties, "required": required, "additionalProperties": false})
}

fn of_tagged(tagged: &Tagged) -> Value {
    json!({"anyOf": tagged.variants.iter().map(of_record).collect::<Vec<_>>()})
}
