//! Texts that are too large, too deep, or no text at all.

use loopwright_engine::documents::{Format, MOST_BYTES, text_of};
use serde_json::json;

fn message(format: Format, text: &str) -> String {
    format.read(text).err().and_then(|it| it.into_iter().next()).map(|it| it.to_string()).unwrap_or_default()
}

#[test]
fn what_is_too_deep_is_refused() {
    let deep = 100_000;
    for (format, text) in [
        (Format::Json, "[".repeat(deep)),
        (Format::Json, "{\"a\":".repeat(deep)),
        (Format::Json, format!("{}{}", "[".repeat(120), "]".repeat(120))),
        (Format::JsonLines, "[".repeat(deep)),
        (Format::Yaml, "[".repeat(deep)),
        (Format::Yaml, "- ".repeat(deep)),
        (Format::Yaml, (0..200).map(|it| " ".repeat(it) + "a:\n").collect()),
        (Format::Toml, format!("a = {}", "[".repeat(deep))),
        (Format::Toml, format!("{}b = 1", "a.".repeat(deep))),
        (Format::Markdown, format!("---\n{}\n---\n", "{a: ".repeat(deep))),
    ] {
        let said = message(format, &text);
        assert!(said.starts_with("line "), "{}: {said:?}", format.name());
        assert!(format.set(&text, "a", &json!(1)).is_err(), "{}", format.name());
    }
}

#[test]
fn a_value_that_is_too_deep_is_not_written() {
    let deep = (0..150).fold(json!(1), |inner, _| json!([inner]));
    for (format, text) in [(Format::Json, "{\"a\": 1}"), (Format::Yaml, "a: 1"), (Format::Toml, "a = 1")] {
        assert!(format.set(text, "a", &deep).is_err(), "{}", format.name());
    }
}

#[test]
fn a_bomb_does_not_go_off() {
    let line = |letter: char| {
        let before = char::from_u32(u32::from(letter) - 1).unwrap_or('a');
        format!("{letter}: &{letter} [{}]", vec![format!("*{before}"); 9].join(", "))
    };
    let lines: Vec<String> = ["a: &a [x, x, x]".to_owned()].into_iter().chain(('b'..'k').map(line)).collect();
    let bomb = lines.join("\n");
    let said = message(Format::Yaml, &bomb);
    assert!(said.contains("aliases"), "{said}");
}

#[test]
fn large_texts_are_read_and_larger_ones_are_not() {
    let rows = 10 << 14;
    let line = "0123456789012345678901234567890123456789012345678901";
    for (format, text) in [
        (Format::Json, format!("{{\"rows\": [{}\"\"]}}", format!("\"{line}\",\n").repeat(rows))),
        (Format::Yaml, format!("rows:\n{}", format!("  - {line}x\n").repeat(rows))),
        (Format::Toml, format!("rows = [{}]", format!("\"{line}\",\n").repeat(rows))),
        (Format::Checklist, format!("- [ ] {line}\n").repeat(rows)),
        (Format::JsonLines, format!("\"{line}\"\n").repeat(rows)),
    ] {
        assert!(text.len() > 8 << 20, "{} {}", format.name(), text.len());
        let field = if format == Format::Checklist { "items" } else { "rows" };
        let changed = format.append(&text, field, &json!("more"));
        assert!(changed.is_ok_and(|it| it.len() > text.len()), "{}", format.name());
    }
    let large = "#".repeat(MOST_BYTES + 1);
    for format in Format::ALL {
        assert!(message(format, &large).contains("larger than 16 MiB"), "{}", format.name());
    }
}

#[test]
fn bytes_that_are_no_text_are_told_where() {
    assert_eq!(text_of("é\n".as_bytes()), Ok("é\n"));
    let fault = text_of(b"one\ntw\xff").expect_err("this is no text");
    assert_eq!(fault.to_string(), "line 2, column 3: this is not text: it is not UTF-8");
    assert_eq!(fault.help.as_deref(), Some("save the file as UTF-8"));
}
