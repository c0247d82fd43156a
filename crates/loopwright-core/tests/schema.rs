//! The published JSON Schema is the one the code has, and it agrees with the loader.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use loopwright_core::language::{Folder, json_schema, load};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

#[test]
fn the_published_schema_is_current() {
    let file = root().join("schemas/workflow.schema.json");
    let current = format!("{}\n", serde_json::to_string_pretty(&json_schema()).expect("a schema is JSON"));
    if std::env::var_os("UPDATE_SCHEMA").is_some() {
        fs::write(&file, &current).expect("the schema can be written");
    }
    let published = fs::read_to_string(&file).unwrap_or_default();
    assert!(published == current, "schemas/workflow.schema.json is not current: run `cargo xtask schema`");
}

/// YAML as JSON, read the way an editor's plugin does: plain scalars become numbers and truth values.
fn as_json(text: &str) -> serde_json::Value {
    use saphyr_parser::{Event, Parser, ScalarStyle};
    enum Open {
        List(Vec<serde_json::Value>),
        Map(serde_json::Map<String, serde_json::Value>, Option<String>),
    }
    let mut open: Vec<Open> = Vec::new();
    let mut parser = Parser::new_from_str(text);
    while let Some(Ok((event, _))) = parser.next_event() {
        let value = match event {
            Event::Scalar(text, style, ..) => match (&*text, style) {
                ("" | "~" | "null", ScalarStyle::Plain) => serde_json::Value::Null,
                ("true", ScalarStyle::Plain) => true.into(),
                ("false", ScalarStyle::Plain) => false.into(),
                (number, ScalarStyle::Plain) if number.parse::<i64>().is_ok() => {
                    number.parse::<i64>().unwrap_or(0).into()
                }
                (text, _) => text.into(),
            },
            Event::SequenceStart(..) => {
                open.push(Open::List(Vec::new()));
                continue;
            }
            Event::MappingStart(..) => {
                open.push(Open::Map(serde_json::Map::new(), None));
                continue;
            }
            Event::SequenceEnd | Event::MappingEnd => match open.pop() {
                Some(Open::List(items)) => items.into(),
                Some(Open::Map(entries, _)) => entries.into(),
                None => serde_json::Value::Null,
            },
            _ => continue,
        };
        match open.last_mut() {
            None => return value,
            Some(Open::List(items)) => items.push(value),
            Some(Open::Map(entries, key)) => match key.take() {
                None => *key = Some(value.as_str().map_or_else(|| value.to_string(), str::to_owned)),
                Some(key) => {
                    entries.insert(key, value);
                }
            },
        }
    }
    serde_json::Value::Null
}

#[test]
fn the_schema_accepts_every_built_in_and_refuses_what_the_loader_refuses() {
    let schema = jsonschema::validator_for(&json_schema()).expect("the schema is a schema");
    let workflows = fs::read_dir(root().join("workflows")).expect("there are workflows");
    let mut seen = 0;
    for folder in workflows.filter_map(Result::ok).filter(|it| it.path().is_dir()) {
        let text = fs::read_to_string(folder.path().join("workflow.yaml")).expect("a workflow has a file");
        let errors: Vec<String> =
            schema.iter_errors(&as_json(&text)).map(|it| format!("{}: {it}", it.instance_path())).collect();
        assert!(errors.is_empty(), "{}: {errors:#?}", folder.path().display());
        seen += 1;
        // One change each that makes the shape wrong must be refused by both.
        for (from, to) in [
            ("subject:", "subjct:"),
            ("states:", "staets:"),
            ("agent: ", "agnet: "),
            ("roles:", "roles: 3\nx:"),
        ] {
            let broken = text.replacen(from, to, 1);
            if broken == text {
                continue;
            }
            assert!(!schema.is_valid(&as_json(&broken)), "the schema accepts `{to}`");
            let files = BTreeMap::from([("workflow.yaml".to_owned(), broken.into_bytes())]);
            let loaded = load(&Folder { name: String::new(), files });
            assert!(!loaded.problems.is_empty(), "the loader accepts `{to}`");
        }
    }
    assert!(seen >= 5, "all built-ins are looked at");
}
