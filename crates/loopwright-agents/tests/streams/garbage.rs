//! Whatever is said, readers take it: they never panic, and what they keep stays small.

use loopwright_agents::streams::{End, Usage, named};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{Index, select};
use serde_json::Value;

use super::Capture;
use super::expected::{Row, table};

const DIALECTS: [&str; 6] = ["claude", "codex", "gemini", "opencode", "copilot", "acp"];

/// Words that are close to what is looked for.
const PIECES: &[&str] = &[
    "try again in ",
    "resets ",
    "resets at ",
    "retry-after: ",
    "limit reached|",
    "1760000000",
    "99999999999999999999",
    "3h",
    "20m",
    ".5",
    ".",
    "3pm",
    "Nov ",
    "31",
    "é",
    "·",
    "\u{1b}[",
    "error: ",
    "429",
    "(",
    ")",
    " ",
    "(utc)",
    "12:",
    "{",
    "\"",
];

/// A value that may stand where another one is expected.
fn anything() -> impl Strategy<Value = Value> {
    let words = vec(select(PIECES), 0..8).prop_map(|it| Value::from(it.concat()));
    prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        any::<String>().prop_map(Value::from),
        words,
        Just(serde_json::json!([])),
        Just(serde_json::json!({"text": "x", "type": "text"})),
        Just(serde_json::json!([[null]])),
    ]
}

/// Puts a value somewhere into another one.
fn put(into: &mut Value, way: &[Index], value: Value) {
    let Some((step, way)) = way.split_first() else {
        *into = value;
        return;
    };
    match into {
        Value::Object(fields) if !fields.is_empty() => {
            let key = fields.keys().nth(step.index(fields.len())).unwrap().clone();
            put(&mut fields[&key], way, value);
        }
        Value::Array(items) if !items.is_empty() => {
            let place = step.index(items.len());
            put(&mut items[place], way, value);
        }
        other => *other = value,
    }
}

#[derive(Clone, Debug)]
enum Change {
    Drop,
    Twice,
    Cut(Index),
    Put(Vec<Index>, Value),
    Text(String),
}

fn change() -> impl Strategy<Value = Change> {
    prop_oneof![
        Just(Change::Drop),
        Just(Change::Twice),
        any::<Index>().prop_map(Change::Cut),
        (vec(any::<Index>(), 1..6), anything()).prop_map(|(way, value)| Change::Put(way, value)),
        any::<String>().prop_map(Change::Text),
    ]
}

fn changed(stream: &Capture, changes: &[(Index, Change)]) -> Capture {
    let mut lines: Vec<String> = stream.lines.lines().map(str::to_owned).collect();
    for (place, change) in changes {
        if lines.is_empty() {
            break;
        }
        let place = place.index(lines.len());
        match change {
            Change::Drop => drop(lines.remove(place)),
            Change::Twice => lines.insert(place, lines[place].clone()),
            Change::Cut(at) => {
                let kept: String = lines[place].chars().take(at.index(lines[place].len().max(1))).collect();
                lines[place] = kept;
            }
            Change::Put(way, value) => {
                if let Ok(mut line) = serde_json::from_str(&lines[place]) {
                    put(&mut line, way, value.clone());
                    lines[place] = line.to_string();
                }
            }
            Change::Text(text) => lines[place] = text.replace(['\n', '\r'], " "),
        }
    }
    Capture { lines: lines.join("\n"), errors: stream.errors.clone() }
}

fn row() -> impl Strategy<Value = Row> {
    select(table())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 600, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn arbitrary_lines_come_to_something(
        lines in vec(any::<String>(), 0..20),
        errors in any::<String>(),
        code in any::<i32>(),
    ) {
        for dialect in DIALECTS {
            let mut reader = named(dialect).unwrap();
            for line in &lines {
                reader.line(line);
            }
            let said = reader.over(End::Exit(code), &errors);
            // Nobody says anything here that is an end.
            prop_assert!(said.failed.is_some());
            prop_assert_eq!(said.usage, Usage::default());
        }
    }

    #[test]
    fn words_close_to_a_limit_come_to_something(pieces in vec(select(PIECES), 0..20), now in any::<u64>(), ahead in any::<i32>()) {
        let words = pieces.concat();
        let event = serde_json::json!({"type": "turn.failed", "error": {"message": words}});
        let mut reader = named("codex").unwrap();
        reader.line(&event.to_string());
        let failed = reader.over(End::Exit(1), &words).failed.unwrap();
        let clock = loopwright_agents::streams::Clock { now, ahead };
        drop(failed.timed(clock));
    }

    #[test]
    fn changed_streams_come_to_something(
        row in row(),
        changes in vec((any::<Index>(), change()), 1..6),
        dialect in proptest::option::of(select(&DIALECTS[..])),
        code in prop_oneof![Just(0), Just(1), any::<i32>()],
    ) {
        let stream = changed(&Capture::named(&row.capture), &changes);
        let dialect = dialect.unwrap_or(&row.dialect);
        let said = stream.said(dialect, Usage { input: Some(1), money: Some(1), ..Usage::default() }, End::Exit(code));
        prop_assert!(said.denied.len() <= 20);
        prop_assert!(said.denied.iter().all(|it| it.len() < 1000));
        if dialect != "acp" && code != 0 {
            prop_assert!(said.failed.is_some());
        }
    }
}
