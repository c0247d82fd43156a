//! The files of a team's session: what is taken from every spelling, what is refused and where, what is written.
#![expect(clippy::unwrap_used, reason = "these are tests")]

mod acceptance;
mod decisions;
mod properties;
mod standing;
mod tasks;

use loopwright_formats::team::{Change, Problem, status};
use serde_json::{Value, json};

/// Problems as `field: message`.
fn told(problems: &[Problem]) -> Vec<String> {
    problems.iter().map(|it| format!("{}: {}", it.field, it.message)).collect()
}

/// Says where the found is not the wanted.
fn differ<T: PartialEq + std::fmt::Debug>(wrong: &mut Vec<String>, title: &str, found: &T, wanted: &T) {
    if found != wanted {
        wrong.push(format!("{title}\n  expected {wanted:?}\n  found    {found:?}"));
    }
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
            place => {
                assert!(!change.adds, "nothing can be added at `{}`", change.field);
                *place = change.value.clone();
            }
        }
    }
    file
}

/// A file in which a field shows a value. Shown again, nothing changes.
fn shown(file: &Value, field: &str, value: &Value) -> Value {
    let changes = status::changes(file, field, value, Some("2026-11-19T05:00:00Z")).unwrap();
    let after = changed(file, &changes);
    assert_eq!(status::changes(&after, field, value, Some("2030-01-01T00:00:00Z")), Ok(vec![]), "{after}");
    after
}
