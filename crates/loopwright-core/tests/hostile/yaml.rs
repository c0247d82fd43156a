//! What YAML can do and this language cannot.

use std::fmt::Write as _;

use crate::{GOOD, examine, refused};

#[test]
fn nested_without_end() {
    for text in [
        "[".repeat(10_000),
        "{".repeat(10_000),
        "{a: ".repeat(10_000),
        "- ".repeat(10_000),
        "? ".repeat(10_000),
        format!("a: {}{}", "[".repeat(10_000), "]".repeat(10_000)),
        (0..1_000).fold(String::new(), |text, depth| text + &" ".repeat(depth) + "a:\n"),
    ] {
        let said = examine(&text);
        assert!(said.report.is_none(), "{}", &text[..20]);
    }
    refused(&format!("a: {}{}", "[".repeat(60), "]".repeat(60)), "too-deep");
    // The parser reads on to see whether this is a key, and has a limit of its own.
    for (open, close) in [("[", "]"), ("{", "}"), ("[{", "}]")] {
        for start in ["", "a: "] {
            let said = refused(&format!("{start}{}{}", open.repeat(300), close.repeat(300)), "too-deep");
            assert_eq!(said.codes().len(), 1, "{:?}", said.problems);
        }
    }
}

#[test]
fn a_bomb_of_aliases() {
    let mut bomb = "a: &a [x, x, x, x, x, x, x, x, x]\n".to_owned();
    for (from, to) in ('a'..'j').zip('b'..='j') {
        let many = vec![format!("*{from}"); 9].join(", ");
        writeln!(bomb, "{to}: &{to} [{many}]").expect("a string takes everything");
    }
    let said = refused(&bomb, "alias");
    assert!(said.codes().contains("anchor"));
    refused(&GOOD.replace("{end: failure}", "&it {end: failure}"), "anchor");
    refused("a: &a *a\n", "syntax");
    refused(&format!("{GOOD}about: *nothing\n"), "syntax");
}

#[test]
fn tags_documents_and_keys() {
    refused(&GOOD.replace("{end: failure}", "!!map {end: failure}"), "tag");
    refused(&GOOD.replace("subject: thing", "subject: !thing thing"), "tag");
    refused(&format!("{GOOD}---\n{GOOD}"), "several-documents");
    refused(&format!("---\na: b\n---\n{GOOD}"), "several-documents");
    refused(&format!("{GOOD}subject: other\n"), "duplicate-key");
    refused(&format!("{GOOD}<<: {{a: b}}\n"), "unknown-key");
    refused(&format!("{GOOD}? [a, b]\n: c\n"), "bad-key");
    refused(&format!("%YAML 9.9\n---\n{GOOD}%TAG ! x\n"), "syntax");
    refused(&format!("{GOOD}about: \"open\n"), "syntax");
    refused(&format!("{GOOD}about: 'open\n"), "syntax");
    refused(&format!("{GOOD}about: [open\n"), "syntax");
    refused(&format!("{GOOD}about: {{{{subject}}}}\n"), "bad-key");
}

/// An empty key is not a way to hide something.
#[test]
fn keys_without_a_name() {
    for key in ["\"\"", "~", "null", "''"] {
        let said = examine(&GOOD.replace(
            "  failed: {end: failure}",
            &format!("  failed: {{end: failure}}\n  {key}: {{end: success}}"),
        ));
        assert!(!said.is_proved(), "a state called {key} is passed over in silence");
    }
}

#[test]
fn very_many_keys() {
    let many =
        |prefix: &str| (0..30_000).fold(String::new(), |text, at| text + prefix + &at.to_string() + ":\n");
    let said = examine(&format!("workflow: w\nsubject: s\n{}states: {{d: {{end: success}}}}\n", many("")));
    assert!(said.codes().contains("unknown-key"), "{:?}", said.codes());
    let said =
        examine(&format!("workflow: w\nsubject: s\nstates: {{d: {{end: success}}}}\ninputs:\n{}", many(" ")));
    assert!(!said.problems.is_empty());
}
