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

/// A number before its unit.
const NUMBER: &str = r"([0-9]+\.?[0-9]*|\.[0-9]+) *";
/// Letters and digits of any script, `-` and `_`: no white space and no other punctuation of ASCII.
const NAME: &str = r"^[^\s!-,./:-@\[-^`{-~]{1,80}$";

/// A text of a number and one of these units, or a whole number if that will do without.
fn amount(units: &str, plain: bool) -> Value {
    let pattern =
        if plain { format!("^([0-9]+|{NUMBER}({units}))$") } else { format!("^{NUMBER}({units})$") };
    let text = json!({"type": "string", "pattern": pattern});
    if plain { json!({"anyOf": [{"type": "integer", "minimum": 0}, text]}) } else { text }
}

fn of(shape: &Shape) -> Value {
    const TIME: &str = "ms|s|m|min|h|d";
    const MONEY: &str = "usd|USD";
    const TOKENS: &str = "tokens|k|k tokens|M|M tokens";
    match shape {
        Shape::Text => json!({"type": ["string", "number", "boolean"]}),
        Shape::Name => json!({"type": ["string", "number"], "pattern": NAME}),
        Shape::Number => json!({"type": "integer", "minimum": 0, "maximum": u32::MAX}),
        Shape::Truth => json!({"type": "boolean"}),
        Shape::Time => amount(TIME, false),
        Shape::Amount => amount(&format!("{TIME}|{MONEY}|{TOKENS}"), true),
        Shape::Money => amount(MONEY, false),
        Shape::Dollars => amount(MONEY, true),
        Shape::Tokens => amount(TOKENS, true),
        Shape::OneOf(words) => json!({"enum": words}),
        Shape::ListOf(inner) => {
            let inner = of(inner);
            json!({"anyOf": [{"type": "array", "items": inner.clone()}, inner, {"type": "null"}]})
        }
        Shape::SomeOf(inner) => {
            let inner = of(inner);
            json!({"anyOf": [{"type": "array", "items": inner.clone(), "minItems": 1}, inner]})
        }
        Shape::MapOf(_, inner) => json!({"type": ["object", "null"], "additionalProperties": of(inner)}),
        Shape::Record(record) => of_record(record),
        Shape::Tagged(tagged) => of_tagged(tagged),
        Shape::Either(shapes) => json!({"anyOf": shapes.iter().flat_map(alternatives).collect::<Vec<_>>()}),
        Shape::Table(inner) => {
            let inner = of(inner);
            json!({"anyOf": [
                inner.clone(),
                {"type": "object", "properties": {"by": of(&Shape::Name)}, "required": ["by"], "additionalProperties": inner},
            ]})
        }
        Shape::Ref(name) => json!({"$ref": format!("#/$defs/{name}")}),
        Shape::Anything => json!(true),
    }
}

/// A shape as one of several. These are told apart by their form, so a list needs its brackets and nothing is nothing;
/// only a word may still stand for a list of one.
fn alternatives(shape: &Shape) -> Vec<Value> {
    match shape {
        Shape::ListOf(inner) => {
            let word = matches!(**inner, Shape::Text | Shape::Name | Shape::OneOf(_));
            let inner = of(inner);
            let list = json!({"type": "array", "items": inner.clone()});
            if word { vec![list, inner] } else { vec![list] }
        }
        Shape::MapOf(_, inner) => vec![json!({"type": "object", "additionalProperties": of(inner)})],
        _ => vec![of(shape)],
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
