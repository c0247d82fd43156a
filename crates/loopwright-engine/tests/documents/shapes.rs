//! Which field does not fit, and in which line it stands.

use loopwright_core::fact::Type;
use loopwright_engine::documents::{Format, misfits};
use proptest::prelude::*;
use serde_json::{Value, json};

fn shape() -> Type {
    let item = Type::record([("id", Type::Text), ("done", Type::Bool.maybe())]);
    Type::record([
        ("stage", Type::Int),
        ("status", Type::one_of(["open", "done"])),
        ("version", Type::Text),
        ("items", Type::list(item)),
    ])
}

fn told(format: Format, text: &str, shape: &Type) -> Vec<String> {
    let faults = format.read(text).expect("it can be read").shaped(shape).err().unwrap_or_default();
    faults.iter().map(ToString::to_string).collect()
}

#[test]
fn every_field_that_does_not_fit_is_told_with_its_line() {
    let text = "# top\nstatus: later\nmore: 1\nstage: two\nitems:\n  - id: a\n  - done: 1\nversion: 1.10\n";
    let expected = vec![
        "line 4, `stage`: a whole number is needed, this is a text",
        "line 2, `status`: one of open, done is needed, this is `later`",
        "line 8, `version`: a text is needed, this is a number",
        "line 7, `items.1.id`: it is missing, and a text is needed",
        "line 7, `items.1.done`: true or false is needed, this is a whole number",
    ];
    assert_eq!(told(Format::Yaml, text, &shape()), expected);
    let faults = Format::Yaml.read(text).expect("YAML").shaped(&shape()).expect_err("it does not fit");
    let helped: Vec<&str> = faults.iter().filter_map(|it| it.help.as_deref()).collect();
    assert_eq!(helped, ["put it in quotes"]);

    let text = "{\n \"stage\": 1.5,\n \"status\": null,\n \"version\": \"1\",\n \"items\": {}\n}";
    let expected = vec![
        "line 2, `stage`: a whole number is needed, this is a number",
        "line 3, `status`: one of open, done is needed, this is empty",
        "line 5, `items`: a list is needed, this is a map",
    ];
    assert_eq!(told(Format::Json, text, &shape()), expected);

    let text =
        "stage = 1\nstatus = \"open\"\nversion = \"1\"\n\n[[items]]\nid = \"a\"\n\n[[items]]\nid = 2\n";
    assert_eq!(
        told(Format::Toml, text, &shape()),
        ["line 9, `items.1.id`: a text is needed, this is a whole number"]
    );
    assert_eq!(told(Format::Json, "[1]", &shape()), ["line 1, column 1: a map is needed, this is a list"]);
}

#[test]
fn a_shape_leaves_out_what_it_does_not_name() {
    let text = "stage: 1\nmore: {a: b}\nstatus: open\nversion: \"2\"\nitems: [{id: x, also: y}]\n";
    let value = Format::Yaml.read(text).expect("YAML").shaped(&shape()).expect("it fits");
    let expected =
        json!({"stage": 1, "status": "open", "version": "2", "items": [{"id": "x", "done": null}]});
    assert_eq!(value, expected);
    assert!(shape().accepts(&value));
}

#[test]
fn fields_know_their_lines() {
    let text = "---\na: 1\n---\n# A\n\ntext\n";
    let document = Format::Markdown.read(text).expect("Markdown");
    for (field, line) in
        [("front.a", Some(2)), ("sections.A", Some(6)), ("headings.0", Some(4)), ("front.b", None)]
    {
        assert_eq!(document.line(field), line, "{field}");
    }
    let lacking: Vec<String> = document.lacking(["A", "Goals"]).iter().map(ToString::to_string).collect();
    assert_eq!(lacking, ["line 7, `headings`: there is no heading `Goals`"]);
}

fn any_value() -> impl Strategy<Value = Value> {
    let leaf = proptest::sample::select(vec![
        json!(null),
        json!(true),
        json!(1),
        json!(1.5),
        json!("a"),
        json!("b"),
    ]);
    leaf.prop_recursive(3, 10, 3, |inner| {
        let name = proptest::sample::select(vec!["a".to_owned(), "b".to_owned(), "c".to_owned()]);
        let fields = proptest::collection::vec((name, inner.clone()), 0..3);
        prop_oneof![
            proptest::collection::vec(inner, 0..3).prop_map(Value::from),
            fields.prop_map(|it| Value::Object(it.into_iter().collect())),
        ]
    })
}

fn any_type() -> impl Strategy<Value = Type> {
    let leaf = proptest::sample::select(vec![
        Type::Any,
        Type::Null,
        Type::Bool,
        Type::Int,
        Type::Float,
        Type::Text,
        Type::one_of(["a"]),
    ]);
    leaf.prop_recursive(3, 10, 3, |inner| {
        prop_oneof![
            inner.clone().prop_map(Type::list),
            inner.clone().prop_map(Type::map),
            inner.clone().prop_map(Type::maybe),
            (inner.clone(), inner).prop_map(|(one, two)| Type::record([("a", one), ("b", two)])),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn there_are_misfits_exactly_when_a_type_does_not_accept(wanted in any_type(), found in any_value()) {
        prop_assert_eq!(misfits(&wanted, &found).is_empty(), wanted.accepts(&found));
    }
}
