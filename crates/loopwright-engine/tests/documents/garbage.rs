//! Texts nobody would write: no change to them panics, and what is changed reads as it was meant to.

use loopwright_engine::documents::Format;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Value, json};

const PIECES: &[&str] = &[
    "a",
    "b: ",
    "c:",
    "- ",
    "-",
    "\n",
    "\n",
    "\n  ",
    "\n    ",
    " ",
    "\t",
    "\r\n",
    "\r",
    "|",
    ">",
    "|-\n",
    "'",
    "\"",
    "''",
    "[",
    "]",
    "{",
    "}",
    ",",
    ":",
    ": ",
    "#",
    " # c",
    "# H\n",
    "## I\n",
    "---\n",
    "...\n",
    "```\n",
    "~~~\n",
    "- [ ] x\n",
    "* [x] y",
    "1. [X] ",
    "[t]\n",
    "[[u]]\n",
    "a = 1\n",
    "b.c = \"x\"\n",
    "{\"a\": 1}",
    "[1, 2]",
    "\"a\": ",
    "null",
    "1.0",
    "-0",
    "é",
    "\u{feff}",
    "\u{2028}",
    "\u{85}",
    "? ",
    "&x ",
    "*x",
    "!t ",
    "%",
    "\\",
    "\"\"\"",
    "'''",
    "0x1",
    "a: 1\n",
    "b:\n  - 1\n  - c: 2\n",
    "d: [1, {e: f}]\n",
    "\n\n",
];

fn text() -> impl Strategy<Value = String> {
    vec(select(PIECES), 0..14).prop_map(|it| it.concat())
}

fn value() -> impl Strategy<Value = Value> {
    let values = [
        json!(1),
        json!("x"),
        json!("a: b"),
        json!("one\ntwo\n"),
        json!("## H"),
        json!("```"),
        json!(null),
        json!([]),
        json!({}),
        json!(["x", {"y": [1]}]),
        json!({"k": {"l": "m"}, "n": ["o"]}),
        json!({"text": "new", "checked": true}),
        json!(true),
    ];
    select(values.to_vec())
}

/// Every field of a value, and some that are not there.
fn fields(value: &Value, below: &str, found: &mut Vec<String>) {
    let named = |name: &str| if below.is_empty() { name.to_owned() } else { format!("{below}.{name}") };
    match value {
        Value::Object(entries) => {
            for (name, inner) in entries {
                found.push(named(name));
                fields(inner, &named(name), found);
            }
            found.push(named("fresh"));
        }
        Value::Array(items) => {
            for (place, inner) in items.iter().enumerate() {
                found.push(named(&place.to_string()));
                fields(inner, &named(&place.to_string()), found);
            }
        }
        _ => found.push(named("fresh")),
    }
}

fn has_dots(value: &Value) -> bool {
    match value {
        Value::Object(entries) => {
            entries.iter().any(|(name, inner)| name.contains(['.', '[']) || has_dots(inner))
        }
        Value::Array(items) => items.iter().any(has_dots),
        _ => false,
    }
}

/// What a path of a value without dots in its keys leads to.
fn at<'v>(value: &'v Value, field: &str) -> Option<&'v Value> {
    field.split('.').try_fold(value, |value, step| match value {
        Value::Array(items) => items.get(step.parse::<usize>().ok()?),
        other => other.get(step),
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_change_is_made_as_meant_or_refused(text in text(), value in value(), format in select(Format::ALL.to_vec())) {
        let mut names = vec!["fresh".to_owned(), "front.status".to_owned(), "sections.New".to_owned(), String::new()];
        let old = format.read(&text).map(|it| it.value());
        if let Ok(old) = &old {
            fields(old, "", &mut names);
        }
        for field in &names {
            let changed = format.set(&text, field, &value);
            if let (Ok(changed), false) = (&changed, field.starts_with("sections.")) {
                let new = format.read(changed).map(|it| it.value());
                prop_assert!(new.is_ok(), "{text:?} {field} became {changed:?}");
                prop_assert_eq!(format.set(changed, field, &value), Ok(changed.clone()), "{:?} {}", text, field);
                if old.as_ref().is_ok_and(|it| at(it, field) == Some(&value)) {
                    prop_assert_eq!(changed, &text);
                }
                if old.as_ref().is_ok_and(|it| !has_dots(it)) {
                    let new = new.unwrap_or_default();
                    prop_assert_eq!(at(&new, field), Some(&value), "{:?} {} became {:?}", text, field, changed);
                }
            }
            if let Ok(changed) = format.append(&text, field, &value) {
                prop_assert!(format.read(&changed).is_ok(), "{text:?} {field} became {changed:?}");
                prop_assert!(changed != text, "{text:?} {field} became {changed:?}");
            }
        }
    }

    #[test]
    fn a_section_is_replaced_and_nothing_beside_it(text in text(), body in text()) {
        let read = |it: &str| Format::Markdown.read(it).map(|it| it.value());
        let Ok(old) = read(&text) else { return Ok(()) };
        let titles = old["sections"].as_object().cloned().unwrap_or_default();
        for title in titles.keys().filter(|it| !it.is_empty()) {
            let field = format!("sections.{title}");
            let Ok(changed) = Format::Markdown.set(&text, &field, &json!(body)) else { continue };
            let new = read(&changed).expect("what was written can be read");
            let lines: Vec<&str> = body.trim().lines().map(|it| it.trim_end_matches('\r')).collect();
            let meant = lines.join("\n");
            prop_assert_eq!(new["sections"][title].as_str(), Some(meant.as_str()), "{:?} became {:?}", text, changed);
            prop_assert_eq!(&new["front"], &old["front"]);
            prop_assert_eq!(Format::Markdown.set(&changed, &field, &json!(body)), Ok(changed.clone()));
            // Sections that do not hold this one, and are not held by it, are as they were.
            for (other, was) in &titles {
                let was = was.as_str().unwrap_or_default();
                let apart = !was.contains(title.as_str()) && !titles[title].as_str().unwrap_or_default().contains(other);
                if other != title && apart && !body.contains(other.as_str()) {
                    prop_assert_eq!(new["sections"][other].as_str(), Some(was), "{:?} became {:?}", text, changed);
                }
            }
        }
    }

    #[test]
    fn a_box_is_ticked_by_one_letter(text in text(), checked in any::<bool>()) {
        let old = Format::Checklist.read(&text).map(|it| it.value()).expect("anything is a checklist");
        for place in 0..old["items"].as_array().map_or(0, Vec::len) {
            let field = format!("items.{place}.checked");
            let changed = Format::Checklist.set(&text, &field, &json!(checked)).expect("a box can be ticked");
            let differ = text.bytes().zip(changed.bytes()).filter(|(one, two)| one != two).count();
            prop_assert_eq!(changed.len(), text.len());
            prop_assert_eq!(differ, usize::from(old["items"][place]["checked"] != json!(checked)));
        }
        let grown = Format::Checklist.append(&text, "items", &json!("one more"));
        if let Ok(grown) = grown {
            let new = Format::Checklist.read(&grown).map(|it| it.value()).expect("anything is a checklist");
            let items = new["items"].as_array().cloned().unwrap_or_default();
            prop_assert_eq!(items.last(), Some(&json!({"text": "one more", "checked": false})));
            prop_assert_eq!(grown.len() > text.len(), true);
        }
    }
}
