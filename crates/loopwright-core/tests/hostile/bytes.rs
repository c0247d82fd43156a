//! Bytes that are no text, texts that are too long, and names from everywhere.

use std::collections::BTreeSet;

use loopwright_core::language::Folder;

use crate::{END, GOOD, around, examine, examine_bytes, examine_folder, refused};

#[test]
fn nothing_at_all() {
    for text in ["", " ", "\n\n\n", "# only\n# comments\n", "---\n", "---\n...\n", "~", "null\n"] {
        refused(text, "empty");
    }
}

#[test]
fn no_folder() {
    let said = examine_folder(&Folder::default());
    assert_eq!(said.codes(), BTreeSet::from(["no-file"]));
}

#[test]
fn something_else_at_the_top() {
    for text in ["[]", "- a\n- b\n", "just text\n", "42", "true", "\"\"", "{}", "[[]]", "''"] {
        let said = examine(text);
        assert!(said.report.is_none() && !said.problems.is_empty(), "{text}: {:?}", said.codes());
    }
}

#[test]
fn bytes_that_are_no_text() {
    for bytes in
        [&b"\xff\xfe\x00w"[..], b"workflow: \xc3\x28\n", b"\x80", b"workflow: w\nsubject: \xed\xa0\x80\n"]
    {
        let said = examine_bytes(bytes);
        assert_eq!(said.codes(), BTreeSet::from(["not-text"]));
    }
    let wide: Vec<u8> = GOOD.encode_utf16().flat_map(u16::to_le_bytes).collect();
    assert!(examine_bytes(&wide).report.is_none(), "UTF-16 is not read");
}

#[test]
fn a_byte_order_mark_and_other_ends_of_lines() {
    assert!(examine(&format!("\u{feff}{GOOD}")).is_proved(), "a byte order mark");
    assert!(examine(&GOOD.replace('\n', "\r\n")).is_proved(), "CRLF");
    assert!(examine(GOOD.trim_end()).is_proved(), "no newline at the end");
    assert!(examine(&format!("{GOOD}\n\n\n")).is_proved(), "newlines at the end");
}

/// A mark at the beginning does not shift where problems are shown.
#[test]
fn a_byte_order_mark_does_not_shift_places() {
    let text = format!("\u{feff}{}", GOOD.replace("then: tests", "then: test"));
    let said = examine(&text);
    let problem = said.problems.iter().find(|it| it.code == "unknown-name").expect("a state that is not");
    assert_eq!(text.get(problem.place.bytes.clone()), Some("test"));
}

#[test]
fn tabs_and_zeros() {
    let said = refused(&GOOD.replace("  work:", "\twork:"), "syntax");
    let help = said.problems.iter().find_map(|it| it.help.clone()).unwrap_or_default();
    assert!(help.contains("tabs"), "{help}");
    for text in ["\0", "workflow: \0\n", "workflow: w\0\nsubject: s\n", &GOOD.replace("Do it", "Do\0it")] {
        examine(text);
    }
    for odd in ['\u{85}', '\u{2028}', '\u{7}', '\u{1b}', '\u{202e}', '\u{fffe}', '\u{10ffff}'] {
        examine(&GOOD.replace("Do it", &format!("Do{odd}it")));
        examine(&GOOD.replace("work:", &format!("wo{odd}rk:")));
        examine(&format!("{odd}{GOOD}"));
    }
}

#[test]
fn ten_megabytes() {
    refused(&"# a line that says nothing\n".repeat(400_000), "too-large");
    refused(&format!("{GOOD}about: \"{}\"\n", "x".repeat(10 << 20)), "too-large");
}

/// Just under what is read.
#[test]
fn a_megabyte_of_scalar() {
    let said = examine(&format!("{GOOD}about: \"{}\"\n", "x".repeat(1_000_000)));
    assert!(said.is_proved(), "{:?}", said.codes());
    refused(
        &format!("workflow: {}\nsubject: s\nstates: {{d: {{end: success}}}}\n", "x".repeat(1_000_000)),
        "bad-name",
    );
    refused(&around("", &format!("  {}: {{end: success}}\n", "x".repeat(900))), "bad-name");
    let long = format!("  w: {{choose: [{{to: \"{}\"}}]}}\n{END}", "x".repeat(500_000));
    let said = refused(&around("", &long), "bad-name");
    assert!(said.problems.iter().all(|it| it.message.len() < 1_000), "a message repeats half a megabyte");
}

#[test]
fn names_from_everywhere() {
    let said = examine(&GOOD.replace("work", "wörk-状態_٣").replace("wörk-状態_٣flow", "workflow"));
    assert!(said.is_proved(), "letters and digits of any script are letters and digits: {:?}", said.problems);
    for name in [
        "a b",
        "a.b",
        "a/b",
        "a|b",
        "{{x}}",
        "🚀",
        "again",
        "back",
        "true",
        "*",
        "a\u{200b}b",
        "\u{202e}gnorw",
    ] {
        let said = examine(&GOOD.replace("tests", &format!("\"{name}\"")));
        assert!(!said.is_proved(), "`{name}` is taken for a name");
    }
    for word in ["verb x", "failures", "settled", "none", "stale", "*", "transient"] {
        let text = around(
            &format!(
                "roles: {{r: {{agent: a, prompt: x, verdicts: [\"{word}\", b]}}}}\ndefaults: {{failures: e}}"
            ),
            &format!("  w: {{agent: r, on: {{\"{word}\": d, b: e}}}}\n{END}"),
        );
        assert!(!examine(&text).is_proved(), "`{word}` is taken for a verdict");
    }
}
