//! Schemas of what agents hand in: what is understood, what fits, what is said of the rest, and what does not load.

use std::fmt::Write as _;

use loopwright_core::language::{Folder, load};
use loopwright_core::schema::Schema;
use serde_json::Value;

/// A schema; values that fit; values that do not, with what is said of each.
type Case = (&'static str, &'static [&'static str], &'static [(&'static str, &'static str)]);

const CASES: &[Case] = &[
    ("true", &["1", "null"], &[]),
    ("false", &[], &[("1", "it may not be there")]),
    (
        r#"{"type": "integer", "minimum": 0, "exclusiveMaximum": 10, "multipleOf": 2}"#,
        &["0", "8", "2.0"],
        &[
            ("-2", "it is -2: it is 0 or more"),
            ("10", "it is 10: it is 10 and less, not that itself"),
            ("3", "it is 3, and should be a multiple of 2"),
            ("2.5", "it is `2.5`, and should be a whole number"),
            ("\"2\"", "it is `2`, and should be a whole number"),
        ],
    ),
    (
        r#"{"minimum": 9007199254740993, "exclusiveMinimum": 1.5, "maximum": 1e20}"#,
        &["9007199254740993", "\"not a number\"", "18446744073709551615"],
        &[("9007199254740992", "it is 9007199254740992: it is 9007199254740993 or more")],
    ),
    (
        r#"{"type": ["string", "null"], "minLength": 1, "maxLength": 3, "pattern": "^[a-zäö]*$"}"#,
        &["\"abc\"", "\"äöä\"", "null"],
        &[
            ("\"\"", "it is empty"),
            ("\"abcd\"", "it has 4 letters, and may have 3"),
            ("\"A\"", "it is `A`, which does not match `^[a-zäö]*$`"),
            ("[]", "it is a list, and should be a text or null"),
        ],
    ),
    (
        r#"{"enum": ["PASS", 1, {"a": [1]}]}"#,
        &["\"PASS\"", "1.0", r#"{"a": [1.0]}"#],
        &[
            ("\"pass\"", "it is `pass`: it is one of `PASS`, `1`, an object"),
            (r#"{"a": [1], "b": 2}"#, "it is an object: it is one of"),
        ],
    ),
    (r#"{"const": null}"#, &["null"], &[("false", "it is `false`, and should be `null`")]),
    (
        r#"{"type": "array", "prefixItems": [{"type": "string"}], "items": {"type": "boolean"}, "minItems": 1, "maxItems": 3, "uniqueItems": true}"#,
        &[r#"["a"]"#, r#"["a", true, false]"#],
        &[
            ("[]", "it has 0 entries, and should have 1 or more"),
            ("[1]", "`0` is `1`, and should be a text"),
            (r#"["a", "b"]"#, "`1` is `b`, and should be `true` or `false`"),
            (r#"["a", true, true]"#, "it has `true` twice"),
            (r#"["a", true, false, true]"#, "it has 4 entries, and may have 3"),
        ],
    ),
    (
        r#"{"type": "object", "required": ["bugs"], "additionalProperties": false, "maxProperties": 2, "properties": {"bugs": {"items": {"required": ["id"], "properties": {"id": {"pattern": "^[a-z]+$"}}}}, "x": {}, "y": {}}}"#,
        &[r#"{"bugs": []}"#, r#"{"bugs": [{"id": "a"}], "x": 1}"#],
        &[
            ("{}", "it lacks `bugs`"),
            (
                r#"{"bugs": [{"id": "a"}, {"id": "B"}]}"#,
                "`bugs.1.id` is `B`, which does not match `^[a-z]+$`",
            ),
            (r#"{"bugs": [{}]}"#, "`bugs.0` lacks `id`"),
            (r#"{"bugs": [], "bug": 1}"#, "`bug` may not be there: there may be `bugs`, `x`, `y`"),
            (r#"{"bugs": [], "x": 1, "y": 2}"#, "it has 3 fields, and may have 2"),
        ],
    ),
    (
        r#"{"patternProperties": {"^n_": {"type": "number"}}, "additionalProperties": {"type": "string"}, "propertyNames": {"maxLength": 4}, "dependentRequired": {"n_a": ["b"]}, "minProperties": 1}"#,
        &[r#"{"n_a": 1, "b": "x"}"#],
        &[
            (r#"{"n_b": "x"}"#, "`n_b` is `x`, and should be a number"),
            (r#"{"b": 1}"#, "`b` is `1`, and should be a text"),
            (r#"{"n_a": 1}"#, "it has `n_a`, and lacks `b`, which comes with it"),
            (r#"{"toolong": "x"}"#, "`toolong` has a name that may not be"),
            ("{}", "it has 0 fields, and should have 1 or more"),
        ],
    ),
    (
        r#"{"anyOf": [{"type": "string"}, {"required": ["a"]}], "not": {"const": "no"}}"#,
        &["\"yes\"", r#"{"a": 1}"#],
        &[
            ("\"no\"", "it is `no`, which it may not be"),
            // What is no object is not asked for its fields.
            (
                r#"{"b": 1}"#,
                "it fits none of its 2 ways (it is an object, and should be a text; or it lacks `a`)",
            ),
        ],
    ),
    (
        r#"{"oneOf": [{"multipleOf": 2}, {"multipleOf": 3}], "allOf": [{"maximum": 20}]}"#,
        &["2", "3"],
        &[
            ("6", "it fits 2 of its 2 ways, and should fit one"),
            ("5", "it fits none of its 2 ways"),
            ("22", "it is 22: it is 20 or less"),
        ],
    ),
    (
        r#"{"if": {"properties": {"kind": {"const": "bug"}}}, "then": {"required": ["steps"]}, "else": {"required": ["why"]}}"#,
        &[r#"{"kind": "bug", "steps": 1}"#, r#"{"kind": "wish", "why": 1}"#],
        &[(r#"{"kind": "bug"}"#, "it lacks `steps`"), (r#"{"kind": "wish"}"#, "it lacks `why`")],
    ),
    // Trees refer to themselves, one level further down each time.
    (
        r##"{"$defs": {"a/b": {"properties": {"next": {"$ref": "#/$defs/a~1b"}, "n": {"type": "integer"}}}}, "$ref": "#/$defs/a~1b"}"##,
        &[r#"{"n": 1, "next": {"n": 2, "next": {}}}"#],
        &[(r#"{"next": {"next": {"n": "x"}}}"#, "`next.next.n` is `x`, and should be a whole number")],
    ),
];

#[test]
fn what_does_not_fit_is_said_with_its_place() {
    for (schema, good, bad) in CASES {
        let read = Schema::read(schema).unwrap_or_else(|it| panic!("{schema}: {it:?}"));
        let faults = |value: &str| -> Vec<String> {
            let value: Value = serde_json::from_str(value).expect("JSON");
            read.faults(&value).iter().map(ToString::to_string).collect()
        };
        for value in *good {
            assert_eq!(faults(value), Vec::<String>::new(), "{schema}: {value}");
        }
        for (value, expected) in *bad {
            let found = faults(value);
            assert!(found.iter().any(|it| it.starts_with(expected)), "{schema}: {value}: {found:?}");
        }
    }
}

/// Schemas that would not be kept to, and what is said of them.
const REFUSED: &[(&str, &str)] = &[
    ("{", "it is not JSON"),
    ("[]", "it is no schema"),
    (r#"{"properties": {"a": 1}}"#, "`properties.a` is no schema"),
    (r#"{"properties": []}"#, "`properties` is no map of schemas"),
    (r#"{"anyOf": []}"#, "`anyOf` is no list of schemas"),
    (r#"{"items": [{}]}"#, "`items` is no schema"),
    (r#"{"type": "text"}"#, "`type` is not a type or a list of types"),
    (r#"{"minLength": -1}"#, "`minLength` is not a whole number"),
    (r#"{"required": "a"}"#, "`required` is not a list of names"),
    (r#"{"pattern": "("}"#, "`pattern` is no regular expression"),
    (r#"{"patternProperties": {"(": {}}}"#, "`patternProperties.(` is no regular expression"),
    (r#"{"unevaluatedProperties": false}"#, "`unevaluatedProperties` is a keyword that is not kept to"),
    (r#"{"properties": {"a": {"requird": []}}}"#, "`properties.a.requird` is a keyword"),
    (r#"{"properties": {"a": {"$id": "x"}}}"#, "`properties.a.$id` may stand at the top only"),
    (r#"{"$schema": "http://json-schema.org/draft-03/schema#"}"#, "`$schema` is not a draft that is known"),
    (
        r#"{"properties": {"a": {"$ref": "https://example.invalid/a.json"}}}"#,
        "`properties.a.$ref` refers elsewhere",
    ),
    (r#"{"items": {"$ref": "other.json#/x"}}"#, "`items.$ref` refers elsewhere (`other.json#/x`)"),
    (r##"{"$ref": "#/$defs/none"}"##, "`$ref` refers to `#/$defs/none`, and there is no schema there"),
    // What stands in `enum` is no schema, whatever it looks like.
    (r##"{"enum": [{"type": 7}], "items": {"$ref": "#/enum/0"}}"##, "refers to `#/enum/0`"),
    (r##"{"$ref": "#"}"##, "it refers to itself without end"),
    (
        r##"{"$defs": {"a": {"allOf": [{"$ref": "#/$defs/b"}]}, "b": {"not": {"$ref": "#/$defs/a"}}}}"##,
        "it refers to itself without end",
    ),
];

#[test]
fn what_would_not_be_kept_to_is_refused() {
    for (schema, expected) in REFUSED {
        let faults = Schema::read(schema).expect_err(schema);
        let faults: Vec<String> = faults.iter().map(ToString::to_string).collect();
        assert!(faults.iter().any(|it| it.contains(expected)), "{schema}: {faults:?}");
    }
}

#[test]
fn a_short_schema_that_means_too_much_is_given_up() {
    let mut definitions = String::new();
    for level in 0..40 {
        let next = level + 1;
        let both = format!(r##"{{"$ref": "#/$defs/{next}"}}"##);
        let _ = write!(definitions, r#""{level}": {{"allOf": [{both}, {both}]}}, "#);
    }
    let schema = format!(r##"{{"$ref": "#/$defs/0", "$defs": {{{definitions} "40": {{}}}}}}"##);
    let faults = Schema::read(&schema).expect("it is understood").faults(&Value::Null);
    assert_eq!(faults.len(), 1);
    assert!(faults[0].to_string().contains("too much"), "{faults:?}");
}

#[test]
fn a_workflow_with_such_a_schema_does_not_load() {
    let text = "workflow: returning\nsubject: thing\nroles: {judge: {agent: a, prompt: p, returns: schemas/x.json}}\n\
        defaults: {failures: failed}\n\
        states:\n  judge: {agent: judge, then: done}\n  done: {end: success}\n  failed: {end: failure}\n";
    for (schema, expected) in [
        (r#"{"type": "object", "properties": {"a": {}}}"#, None),
        ("true", None),
        (r#"{"$ref": "other.json"}"#, Some("`$ref` refers elsewhere (`other.json`)")),
        (r#"{"contains": {}}"#, Some("`contains` is a keyword that is not kept to")),
        (r#"{"required": ["summary"]}"#, Some("names `summary`, which every outcome has of its own")),
        (r#"{"type": "array"}"#, Some("something that is no object")),
    ] {
        let file = |name: &str, text: &str| (name.to_owned(), text.as_bytes().to_vec());
        let files = [file("workflow.yaml", text), file("schemas/x.json", schema)].into();
        let problems = load(&Folder { name: "returning".to_owned(), files }).problems;
        let told: Vec<String> = problems.iter().map(|it| format!("{}: {}", it.code, it.message)).collect();
        match expected {
            None => assert_eq!(told, Vec::<String>::new(), "{schema}"),
            Some(expected) => {
                let one =
                    told.len() == 1 && told[0].starts_with("bad-schema: ") && told[0].contains(expected);
                assert!(one, "{schema}: {told:?}");
            }
        }
    }
}
