//! The record of a feature: what is taken from every dialect, what is said of it, what is written.
//!
//! `corpus/feature.jsonl` has records and histories of others, whose words were replaced by ones that mean nothing, and several
//! hundred made up after them. What each says was taken from it by something else than the reader that is held to it here.
#![expect(clippy::unwrap_used, reason = "these are tests")]

mod changes;
mod corpus;
mod histories;
mod oddities;
mod properties;

use loopwright_formats::feature::{Change, Problem};
use serde_json::{Value, json};

/// A case of the corpus.
struct Case {
    id: String,
    all: Value,
}

impl Case {
    fn text(&self) -> &str {
        self.all["text"].as_str().unwrap()
    }

    /// The file as it is read; nothing, if it is none.
    fn file(&self) -> Option<Value> {
        serde_json::from_str(self.text().trim_start_matches('\u{feff}')).ok()
    }
}

/// The cases of a kind.
fn cases(kind: &str) -> Vec<Case> {
    let text = include_str!("../corpus/feature.jsonl");
    let all = text.lines().map(|it| serde_json::from_str::<Value>(it).unwrap());
    all.filter(|it| it["kind"] == kind)
        .map(|all| Case { id: all["id"].as_str().unwrap().to_owned(), all })
        .collect()
}

/// Problems as `field: message`.
fn told(problems: &[Problem]) -> Vec<String> {
    problems.iter().map(|it| format!("{}: {}", it.field, it.message)).collect()
}

/// A file with changes made to it.
fn changed(file: &Value, changes: &[Change]) -> Value {
    let mut file = if file.is_null() { json!({}) } else { file.clone() };
    for change in changes {
        let place = change.field.split('.').fold(&mut file, |at, part| match part.parse::<usize>() {
            Ok(number) if at.is_array() => &mut at[number],
            _ => &mut at[part],
        });
        match place {
            Value::Array(list) if change.adds => list.push(change.value.clone()),
            place if change.adds => *place = json!([change.value]),
            place => *place = change.value.clone(),
        }
    }
    file
}
