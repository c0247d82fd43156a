//! The keywords that are kept to, and what may stand behind each.

use serde_json::Value;

/// What stands behind a keyword.
#[derive(Clone, Copy)]
pub(super) enum Word {
    /// Something for people.
    Note,
    /// Something for people that only means something at the top.
    Root,
    /// A schema; `same`: for the same value.
    Schema { same: bool },
    /// A list of schemas.
    Schemas { same: bool },
    /// Schemas by name; `patterns`: the names are regular expressions.
    Named { patterns: bool },
    /// Another schema of the file.
    Reference,
    /// A regular expression.
    Pattern,
    /// A value that can be told to fit by itself, and what it is.
    Plain(fn(&Value) -> bool, &'static str),
}

/// What a keyword takes. `None`: it is not kept to.
pub(super) fn word(name: &str) -> Option<Word> {
    Some(match name {
        "title" | "description" | "$comment" | "default" | "examples" | "deprecated" | "readOnly"
        | "writeOnly" | "format" => Word::Note,
        "$id" => Word::Root,
        "$schema" => Word::Plain(is_known_draft, "a draft that is known: 2020-12, 2019-09 or draft-07"),
        "$ref" => Word::Reference,
        "$defs" | "definitions" | "properties" => Word::Named { patterns: false },
        "patternProperties" => Word::Named { patterns: true },
        "additionalProperties" | "propertyNames" | "items" => Word::Schema { same: false },
        "not" | "if" | "then" | "else" => Word::Schema { same: true },
        "allOf" | "anyOf" | "oneOf" => Word::Schemas { same: true },
        "prefixItems" => Word::Schemas { same: false },
        "pattern" => Word::Pattern,
        "type" => Word::Plain(is_type, "a type or a list of types"),
        "enum" => Word::Plain(|it| it.as_array().is_some_and(|it| !it.is_empty()), "a list of values"),
        "const" => Word::Plain(|_| true, "a value"),
        "required" => Word::Plain(is_texts, "a list of names"),
        "dependentRequired" => Word::Plain(
            |it| it.as_object().is_some_and(|it| it.values().all(is_texts)),
            "a map of lists of names",
        ),
        "uniqueItems" => Word::Plain(Value::is_boolean, "`true` or `false`"),
        "minimum" | "maximum" | "exclusiveMinimum" | "exclusiveMaximum" => {
            Word::Plain(Value::is_number, "a number")
        }
        "multipleOf" => Word::Plain(|it| it.as_u64().is_some_and(|it| it > 0), "a whole number above zero"),
        "minLength" | "maxLength" | "minItems" | "maxItems" | "minProperties" | "maxProperties" => {
            Word::Plain(Value::is_u64, "a whole number")
        }
        _ => return None,
    })
}

/// The words for types.
pub(super) const TYPES: [&str; 7] = ["null", "boolean", "integer", "number", "string", "array", "object"];

fn is_type(value: &Value) -> bool {
    let known = |it: &Value| it.as_str().is_some_and(|it| TYPES.contains(&it));
    value.as_array().map_or_else(|| known(value), |it| !it.is_empty() && it.iter().all(known))
}

fn is_texts(value: &Value) -> bool {
    value.as_array().is_some_and(|it| it.iter().all(Value::is_string))
}

/// Drafts that agree about every keyword that is kept to.
fn is_known_draft(value: &Value) -> bool {
    let known = [
        "https://json-schema.org/draft/2020-12/schema",
        "https://json-schema.org/draft/2019-09/schema",
        "http://json-schema.org/draft-07/schema",
    ];
    value.as_str().is_some_and(|it| known.contains(&it.trim_end_matches('#')))
}
