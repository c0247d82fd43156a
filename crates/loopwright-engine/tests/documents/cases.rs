//! Cases as data: a file a reader. `<CR>` and `<BOM>` are what they say; `<END>` ends a text without a line end.

use std::fs;
use std::path::PathBuf;

use loopwright_core::library;
use loopwright_engine::documents::Format;
use serde_json::Value;

struct Case {
    title: String,
    parts: Vec<(String, String)>,
}

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/data/documents")
}

fn cases(format: Format) -> Vec<Case> {
    let file = folder().join(format!("{}.txt", format.name()));
    let text = fs::read_to_string(&file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    let mut cases: Vec<Case> = Vec::new();
    for line in text.lines() {
        if let Some(title) = line.strip_prefix("=== ") {
            cases.push(Case { title: format!("{}: {title}", format.name()), parts: Vec::new() });
        } else if let Some(part) = line.strip_prefix("--- ") {
            let case = cases.last_mut().expect("a title first");
            case.parts.push((part.to_owned(), String::new()));
        } else if let Some((_, body)) = cases.last_mut().and_then(|it| it.parts.last_mut()) {
            body.push_str(line);
            body.push('\n');
        }
    }
    // The empty line before the next case is not part of this one.
    let last = cases.len().saturating_sub(1);
    for case in cases.iter_mut().take(last) {
        let (_, body) = case.parts.last_mut().expect("a part");
        let shorter = body.strip_suffix('\n').map(str::to_owned);
        *body = shorter.unwrap_or_default();
    }
    cases
}

fn plain(body: &str) -> String {
    let text = body.replace("<CR>", "\r").replace("<BOM>", "\u{feff}");
    text.strip_suffix("<END>\n").map(str::to_owned).unwrap_or(text)
}

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{text}: {error}"))
}

/// What a case expects, and what came of it.
fn play(format: Format, case: &Case) -> Option<(String, String)> {
    let mut before = String::new();
    let mut changed = Err("nothing was done".to_owned());
    let mut again = None;
    for (part, body) in &case.parts {
        let (word, rest) = part.split_once(' ').unwrap_or((part, ""));
        let (expected, found) = match word {
            "before" => {
                before = plain(body);
                continue;
            }
            "set" | "append" => {
                let (field, value) = rest.split_once(" = ").expect("field = value");
                let value = json(value);
                changed = if word == "set" {
                    again = Some((field.to_owned(), value.clone()));
                    format.set(&before, field, &value).map_err(|it| it.to_string())
                } else {
                    format.append(&before, field, &value).map_err(|it| it.to_string())
                };
                continue;
            }
            "after" => (Ok(plain(body)), changed.clone()),
            "refused" => (Err(body.trim_end().to_owned()), changed.clone()),
            "read" => {
                let found = format.read(&before).map(|it| it.value());
                let found = found.unwrap_or_else(|faults| panic!("{}: {faults:?}", case.title));
                (Ok(json(body).to_string()), Ok(found.to_string()))
            }
            "faults" => {
                let faults = format.read(&before).err().unwrap_or_default();
                assert!(!faults.is_empty(), "{}: nothing is wrong", case.title);
                let lines: Vec<String> = faults.iter().map(ToString::to_string).collect();
                (Ok(body.trim_end().to_owned()), Ok(lines.join("\n")))
            }
            other => panic!("{}: `{other}`", case.title),
        };
        if expected != found {
            return Some((format!("{expected:?}"), format!("{found:?}")));
        }
        // Set once more, nothing changes.
        if let (Ok(changed), Some((field, value))) = (&found, again.take()) {
            assert_eq!(format.set(changed, &field, &value).as_ref(), Ok(changed), "{} again", case.title);
        }
    }
    None
}

#[test]
fn documents_are_read_and_changed_as_the_cases_say() {
    let mut wrong = Vec::new();
    for format in Format::ALL {
        let cases = cases(format);
        assert!(!cases.is_empty(), "{} has no cases", format.name());
        for case in &cases {
            if let Some((expected, found)) = play(format, case) {
                wrong.push(format!("{}\n  expected {expected}\n  found    {found}", case.title));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

#[test]
fn the_readers_are_those_of_the_library() {
    let general: Vec<&str> =
        library::readers().iter().filter(|(_, it)| !it.special).map(|(name, _)| name.as_str()).collect();
    assert_eq!(Format::ALL.map(Format::name).to_vec(), general);
    for format in Format::ALL {
        assert_eq!(Format::named(format.name()), Some(format));
        // What a reader gives is what its signature says, for every case that can be read.
        let Some(gives) = library::readers().get(format.name()).and_then(|it| it.gives.clone()) else {
            continue;
        };
        for case in cases(format) {
            let (_, body) = case.parts.first().expect("a text");
            if let Ok(document) = format.read(&plain(body)) {
                assert!(gives.accepts(&document.value()), "{}: {}", case.title, document.value());
            }
        }
    }
    assert_eq!(Format::named("vibe-state"), None);
}
