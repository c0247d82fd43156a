//! No input makes a rule panic, overflow or run away, and what the rules say of one change fits together.
#![expect(clippy::unwrap_used, reason = "these are tests")]

use loopwright_rules::{Broken, Change, Given, RULES, broken};
use proptest::prelude::*;

/// Paths that lead every rule into its reading.
const PATHS: &[&str] = &[
    "src/a.rs",
    "src/a_tests.rs",
    "tests/a.rs",
    "Cargo.toml",
    "Cargo.lock",
    ".vibe/STATE.md",
    "a.md",
    "a.py",
    "",
    "/",
    "a//.rs",
];

fn everything(paths: &[&str], before: Option<&[u8]>, after: Option<&[u8]>) -> Vec<Broken> {
    let all = ["**".to_owned(), "[".to_owned(), "!**/x".to_owned(), String::new()];
    let text = before.unwrap_or_default().to_vec();
    let reads = move |_: &str| Some(text.clone());
    let given = Given { listed: &all, gate: &all, ticks: &all, states: &all, reads: Some(&reads) };
    let changes: Vec<Change<'_>> = paths.iter().map(|path| Change { path, before, after }).collect();
    RULES.iter().flat_map(|(rule, _)| broken(rule, &changes, &given).unwrap()).collect()
}

fn of(rule: &str, before: &str, after: &str) -> Vec<Broken> {
    let change = Change { path: "src/a.rs", before: Some(before.as_bytes()), after: Some(after.as_bytes()) };
    broken(rule, &[change], &Given::default()).unwrap()
}

/// Pieces that mean something to one rule or another, in no order.
fn pieces() -> impl Strategy<Value = Vec<u8>> {
    let known: &[&str] = &[
        "#[cfg(test)]",
        "#[cfg(not(test))]",
        "#![cfg(test)]",
        "#[test]",
        "mod a",
        "mod a;",
        "fn f()",
        "{",
        "}",
        "(",
        ")",
        "todo!()",
        "const A: u8 = 1;",
        "match x {",
        "=>",
        ",",
        ";",
        "\"",
        "r#\"",
        "\"#",
        "'",
        "//",
        "///",
        "//!",
        "/*",
        "*/",
        "\n",
        "\r\n",
        "\r",
        " ",
        "\u{feff}",
        "\u{2028}",
        "[dev-dependencies]",
        "[",
        "]",
        "\"\"\"",
        "'''",
        "x = 1",
        "## Active issues\n",
        "- [ ] ISSUE-1: a\n",
        "  - Owner: human\n",
        "```\n",
        "- [x] b\n",
        "impl A for B",
        "$",
        "macro_rules! m",
        "\0",
    ];
    let piece = prop_oneof![
        8 => prop::sample::select(known).prop_map(|it| it.as_bytes().to_vec()),
        1 => prop::collection::vec(any::<u8>(), 0..6),
    ];
    prop::collection::vec(piece, 0..40).prop_map(|it| it.concat())
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(400) })]

    #[test]
    fn no_text_makes_a_rule_panic(before in prop::option::of(pieces()), after in prop::option::of(pieces())) {
        for found in everything(PATHS, before.as_deref(), after.as_deref()) {
            let lines = after.as_deref().unwrap_or_default().split(|it| *it == b'\n').count();
            prop_assert!(found.line.is_none_or(|it| it >= 1 && it <= lines), "{found}");
        }
    }

    #[test]
    fn what_did_not_change_breaks_nothing(text in prop::option::of(pieces())) {
        prop_assert!(everything(PATHS, text.as_deref(), text.as_deref()).is_empty());
    }

    /// Code and tests are told apart the same way by those who may write only the one and only the other.
    #[test]
    fn each_byte_is_either_code_or_test(code in 0..9_u8, code_after in 0..9_u8, test in 0..9_u8, test_after in 0..9_u8) {
        let file = |code: u8, test: u8| format!(
            "//! Words.\nfn a() -> u8 {{ {code} }}\n\n#[cfg(test)]\nmod tests {{\n    #[test]\n    fn t() {{ f({test}); }}\n}}\n\nfn b() {{}}\n"
        );
        let (before, after) = (file(code, test), file(code_after, test_after));
        prop_assert_eq!(of("tests-only", &before, &after).is_empty(), code == code_after);
        prop_assert_eq!(of("inside-cfg-test", &before, &after).is_empty(), code == code_after);
        prop_assert_eq!(of("no-test-edits", &before, &after).is_empty(), test == test_after);
        prop_assert_eq!(of("same-syntax-tree", &before, &after).is_empty(), before == after);
        prop_assert_eq!(of("todo-bodies-only", &before, &after).is_empty(), before == after);
    }

    /// Between any two tokens there may be comments and space. A token that is left out is missed.
    #[test]
    fn only_tokens_are_code(gaps in prop::collection::vec(0..5_usize, 32), left_out in 0..32_usize) {
        let tokens = [
            "#", "[", "derive", "(", "Debug", ")", "]", "pub", "struct", "A", "<", "T", ">", "{", "a", ":", "T", "}", "fn",
            "f", "(", ")", "{", "let", "x", "=", "m", "!", "(", ")", ";", "}",
        ];
        let spaces = [" ", "\n\n\t", " /* a */ ", " // b\n", "\r\n"];
        let spaced: String = tokens.iter().zip(&gaps).flat_map(|(token, gap)| [*token, spaces[*gap]]).collect();
        prop_assert_eq!(of("same-syntax-tree", &tokens.join(" "), &spaced), []);
        let fewer: String =
            tokens.iter().enumerate().filter(|(at, _)| *at != left_out).flat_map(|(_, it)| [*it, " "]).collect();
        prop_assert!(!of("same-syntax-tree", &tokens.join(" "), &fewer).is_empty(), "{fewer}");
    }
}

#[test]
fn depth_costs_no_stack() {
    let many = 10_000;
    let nested = |open: &str, close: &str| format!("{}{}", open.repeat(many), close.repeat(many));
    let texts = [
        nested("mod a { ", "}"),
        nested("#[cfg(test)] mod a { ", "}"),
        format!("fn a() {{ {} }}", nested("(", ")")),
        format!("fn a() {{ {} }}", nested("{", "}")),
        format!("#[cfg({}test{})]\nfn a() {{}}", "all(".repeat(many), ")".repeat(many)),
        nested("/*", "*/"),
        nested("fn a() {", "}"),
        format!("a = {}", nested("[", "]")),
        "(".repeat(many),
        "#[".repeat(many),
        "- [ ] a\n".repeat(many),
        "\"".repeat(many),
        "'".repeat(many),
        "r#\"".repeat(many),
        "{".repeat(many),
        "#[cfg(test)]".repeat(many),
        "#[test] fn a() {}\n".repeat(many),
        "a,".repeat(many),
    ];
    for text in texts {
        everything(&["src/a.rs", "Cargo.toml", "STATE.md"], None, Some(text.as_bytes()));
    }
}

#[test]
fn what_cannot_be_read_is_not_let_through() {
    let large = format!("{}\n#[cfg(test)]\nmod tests {{}}\n", "// a\n".repeat(1_000_000));
    let cases: [(&[u8], &str); 2] = [
        (large.as_bytes(), "too large"),
        (b"fn a() {}\n#[cfg(test)]\nmod tests { /* \xff */ }\n", "not UTF-8"),
    ];
    for (text, why) in cases {
        for rule in ["tests-only", "no-test-edits", "inside-cfg-test", "todo-bodies-only", "same-syntax-tree"]
        {
            let before: &[u8] = b"fn a() {}\n";
            for (before, after) in [(before, text), (text, before)] {
                let change = Change { path: "src/a.rs", before: Some(before), after: Some(after) };
                let found = broken(rule, &[change], &Given::default()).unwrap();
                assert_eq!(found.len(), 1, "{rule}");
                assert!(found.iter().all(|it| it.why.contains(why)), "{rule}: {found:?}");
            }
        }
        // A test file is one whatever is in it.
        let change = Change { path: "tests/a.rs", before: None, after: Some(text) };
        assert_eq!(broken("tests-only", &[change], &Given::default()), Ok(Vec::new()));
    }
}
