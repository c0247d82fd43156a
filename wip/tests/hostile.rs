//! Files nobody would write on purpose, and some that somebody would: `load` and `check` never panic, never run away,
//! and always say something.
//!
//! Nothing here looks at a clock. What is large is as large as the reader lets through, so a test that does not come
//! back is a finding too.
#![expect(
    clippy::disallowed_methods,
    reason = "a test reads its corpus, and plays what may crash in a process of its own"
)]
#![expect(clippy::expect_used, clippy::panic, reason = "a test")]

use std::cell::Cell;
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

use loopwright_core::check::{Report, check_within};
use loopwright_core::language::{Folder, WORKFLOW_FILE, load};
use loopwright_core::problem::{Problem, Stage};
use loopwright_core::proof::Limits;
use loopwright_core::rehearse::{Coverage, perform};
use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};

/// Enough to prove the examples; little enough that no edit of a large workflow takes long.
fn limits() -> Limits {
    Limits {
        small_keys: 1 << 14,
        dense_keys: 1 << 16,
        dense_configurations: 20_000,
        hashed_configurations: 20_000,
        quest: 5_000,
        opened: 2_000,
        beam: 4,
        kept: 5_000,
        price_rows: 500,
        values: 200_000,
        relaxations: 200_000,
    }
}

/// What was said of a file.
struct Said {
    problems: Vec<Problem>,
    report: Option<Report>,
}

impl Said {
    fn codes(&self) -> BTreeSet<&'static str> {
        self.problems.iter().map(|it| it.code).collect()
    }

    fn is_proved(&self) -> bool {
        self.problems.is_empty() && self.report.is_some()
    }
}

/// Loads a folder and, if it loads, checks it, as the command does. Either it is refused with a reason, or there is a
/// report; and every problem lies inside a file.
fn examine_folder(folder: &Folder) -> Said {
    let loaded = load(folder);
    let broken = loaded.problems.iter().any(|it| it.stage == Stage::Load);
    let report = loaded.workflow.as_ref().filter(|_| !broken).map(|it| check_within(it, limits()));
    let mut problems = loaded.problems;
    problems.extend(report.iter().flat_map(|it| it.problems.iter().cloned()));
    assert!(!problems.is_empty() || report.is_some(), "neither a problem nor a report");
    for problem in &problems {
        assert!(!problem.message.is_empty(), "`{}` says nothing", problem.code);
        let place = &problem.place;
        assert!(place.bytes.start <= place.bytes.end, "{problem}: {place:?}");
        // A file that has not been read has no place but its beginning.
        let length = folder.files.get(&place.file).map_or(0, Vec::len);
        assert!(place.bytes.end <= length, "{problem}: {place:?} lies outside a file of {length} bytes");
    }
    Said { problems, report }
}

fn examine_bytes(bytes: &[u8]) -> Said {
    examine_folder(&Folder {
        name: String::new(),
        files: [(WORKFLOW_FILE.to_owned(), bytes.to_vec())].into(),
    })
}

fn examine(text: &str) -> Said {
    examine_bytes(text.as_bytes())
}

/// It is refused, with this code among the reasons.
#[track_caller]
fn refused(text: &str, code: &str) -> Said {
    let said = examine(text);
    assert!(said.codes().contains(code), "expected `{code}`, found {:?}", said.codes());
    said
}

const GOOD: &str = r#"workflow: good
subject: thing
budgets: {fixes: 2}
documents:
  code: {files: ["**"]}
roles:
  coder: {agent: claude, prompt: "Do it.", may-write: [code]}
defaults: {failures: failed}
states:
  work: {agent: coder, then: tests}
  tests: {check: project.test, judges: code, on: {pass: done, fail: {to: work, spend: fixes, else: failed}}}
  done: {needs: [tests], end: success}
  failed: {end: failure}
"#;

/// A file around a piece that is to be tried.
fn around(top: &str, states: &str) -> String {
    format!("workflow: w\nsubject: s\n{top}\nstates:\n{states}\n")
}

const END: &str = "  d: {end: success}\n  e: {end: failure}\n";

#[test]
fn the_good_file_is_proved() {
    let said = examine(GOOD);
    assert!(said.is_proved(), "{:?}", said.problems);
}

// Bytes ------------------------------------------------------------------------------------------------------------

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

// YAML -------------------------------------------------------------------------------------------------------------

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
    refused("a: &a *a\n", if examine("a: &a *a\n").codes().contains("syntax") { "syntax" } else { "alias" });
    refused(
        &format!("{GOOD}about: *nothing\n"),
        if examine("a: *nothing\n").codes().contains("syntax") { "syntax" } else { "alias" },
    );
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
        |prefix: &str| (0..100_000).fold(String::new(), |text, at| text + prefix + &at.to_string() + ":\n");
    let said = examine(&format!("workflow: w\nsubject: s\n{}states: {{d: {{end: success}}}}\n", many("")));
    assert!(said.codes().contains("unknown-key"), "{:?}", said.codes());
    let said =
        examine(&format!("workflow: w\nsubject: s\nstates: {{d: {{end: success}}}}\ninputs:\n{}", many(" ")));
    assert!(!said.problems.is_empty());
}

// Names ------------------------------------------------------------------------------------------------------------

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

// Sizes ------------------------------------------------------------------------------------------------------------

#[test]
fn five_thousand_states() {
    let chain = (0..5_000)
        .fold(String::new(), |text, at| text + &format!("  s{at}: {{choose: [{{to: s{}}}]}}\n", at + 1));
    assert!(examine(&around("", &format!("{chain}  s5000: {{end: success}}\n"))).is_proved());
    let apart = (0..5_000).fold(String::new(), |text, at| text + &format!("  s{at}: {{end: success}}\n"));
    let said = refused(&around("", &apart), "unreachable");
    assert_eq!(said.problems.len(), 4_999);
}

/// More places to be than can be listed: said so, instead of tried.
#[test]
fn more_positions_than_can_be_listed() {
    let names = |prefix: &str, most: usize| (0..most).map(|at| format!("{prefix}{at}")).collect::<Vec<_>>();
    let roots = around(
        &format!(
            "vars: {{{}}}",
            names("v", 20)
                .iter()
                .map(|it| format!("{it}: {{in: [a, b, c], start: a, input: true}}"))
                .collect::<Vec<_>>()
                .join(", ")
        ),
        &format!(
            "  c: {{choose: [{}, {{to: e}}]}}\n{END}",
            names("v", 20)
                .iter()
                .map(|it| format!("{{when: {{{it}: b}}, to: d}}"))
                .collect::<Vec<_>>()
                .join(", ")
        ),
    );
    refused(&roots, "too-large");
    let facts = around(
        &format!(
            "facts: {{{}}}",
            names("f", 14)
                .iter()
                .map(|it| format!("{it}: {{in: [a, b], is: \"git.dirty ? 'a' : 'b'\"}}"))
                .collect::<Vec<_>>()
                .join(", ")
        ),
        &format!(
            "  c: {{choose: [{}, {{to: e}}]}}\n{END}",
            names("f", 14)
                .iter()
                .map(|it| format!("{{when: {{{it}: b}}, to: d}}"))
                .collect::<Vec<_>>()
                .join(", ")
        ),
    );
    refused(&facts, "too-wide");
}

#[test]
fn limits_at_the_edge() {
    let limit = |limit: &str| GOOD.replace("fixes: 2", &format!("fixes: {limit}"));
    for number in ["18446744073709551615", "4294967296", "0"] {
        examine(&limit(number));
    }
    for number in ["18446744073709551616", "-1", "1.5", "0x10", "1e3", "١", "\"\"", "~", "[]", "1_000"] {
        assert!(!examine(&limit(number)).is_proved(), "{number} is taken for a number of times");
    }
    for times in ["0", "1", "4294967295", "4294967296"] {
        examine(&format!("{GOOD}properties:\n  - at-most: {{visits: work, times: {times}}}\n"));
    }
}

fn capped(caps: &str) -> String {
    let priced = "may-write: [code], costs: 2 usd, tokens: 300k";
    GOOD.replace("budgets:", &format!("caps: {caps}\nbudgets:")).replace("may-write: [code]", priced)
}

#[test]
fn caps_at_the_edge() {
    for text in [
        "{usd: 0}",
        "{usd: 18446744073709551615 usd}",
        "{tokens: 18446744073709551615}",
        "{tokens: 99999999999999999999M}",
        "{time: 99999999999999999999h}",
        "{time: 0s}",
        "{calls: 4294967295}",
        "{calls: 4294967296}",
    ] {
        examine(&capped(text));
    }
}

#[test]
fn more_money_than_there_is() {
    examine(&capped("{usd: 18446744073709551615}"));
}

#[test]
fn prices_and_times_at_the_edge() {
    for price in ["18446744073709551615 usd", "1e400 usd", "-5 usd", "NaN usd", "inf usd", "0.00000000001 usd"] {
        examine(&capped("{usd: 60}").replace("2 usd", price));
    }
    for price in ["-5 usd", "NaN usd", "inf usd"] {
        assert!(!examine(&capped("{usd: 60}").replace("2 usd", price)).is_proved(), "{price} is taken for a price");
    }
    for time in ["99999999999999999999h", "500000000000d", "-1s", "NaNs", "infh", "1e308d", "0s", "s", "1 s", ""] {
        examine(&GOOD.replace("may-write: [code]", &format!("may-write: [code], timeout: \"{time}\"")));
    }
}

/// What a thing is counted in is part of the number.
#[test]
fn a_unit_of_something_else() {
    let wrong = [
        ("{usd: 2h}", "2 usd"),
        ("{usd: 200k}", "2 usd"),
        ("{tokens: 5 usd}", "2 usd"),
        ("{tokens: 2h}", "2 usd"),
        ("{usd: 60}", "2h"),
        ("{usd: 60}", "300k"),
        ("{usd: 60}", "2"),
    ];
    let taken: Vec<_> =
        wrong.iter().filter(|(caps, price)| examine(&capped(caps).replace("2 usd", price)).is_proved()).collect();
    assert!(taken.is_empty(), "taken for money or tokens (caps, costs): {taken:?}");
}

/// The machine plays a scenario of so many steps and no more, so a longer path shows nothing to anyone.
#[test]
fn a_path_past_very_many_retries_is_short_or_absent() {
    let text = GOOD
        .replace("fixes: 2", "fixes: 2, retries: {limit: 60000, per: visit}")
        .replace(
            "defaults: {failures: failed}",
            "defaults: {transient: {to: again, spend: retries, else: failed}, failures: failed}",
        )
        .replace("failed: {end: failure}", "failed: {rest: Stuck.}");
    let loaded = load(&Folder {
        name: String::new(),
        files: [(WORKFLOW_FILE.to_owned(), text.clone().into_bytes())].into(),
    });
    let workflow = loaded.workflow.expect("it loads");
    let said = refused(&text, "trapped");
    for problem in &said.problems {
        let Some(path) = &problem.path else { continue };
        assert!(
            path.steps.len() <= 20_000,
            "`{}` comes with a path of {} steps",
            problem.code,
            path.steps.len()
        );
        let verdict = perform(&workflow, path, &mut Coverage::of(&workflow)).expect("a run");
        assert!(verdict.complaints.is_empty(), "{:?}", verdict.complaints);
    }
}

// Languages inside the language ------------------------------------------------------------------------------------

#[test]
fn facts_that_go_deep() {
    for text in [
        format!("{}'a'{}", "(".repeat(2_048), ")".repeat(2_048)),
        "(".repeat(4_096),
        format!("{}true ? 'a' : 'b'", "!".repeat(4_096)),
        format!("{}1 > 0 ? 'a' : 'b'", "-".repeat(4_096)),
        format!("{}'b'", "true ? 'a' : ".repeat(400)),
        format!("{}{}.size() > 0 ? 'a' : 'b'", "[".repeat(2_048), "]".repeat(2_048)),
        format!("{}1 > 2 ? 'a' : 'b'", "1 + ".repeat(2_048)),
        format!("docs{} ? 'a' : 'b'", ".a".repeat(2_048)),
        format!("git.dirty{} ? 'a' : 'b'", " && git.dirty".repeat(400)),
        format!("{}git.dirty{} ? 'a' : 'b'", "[1].exists(x, ".repeat(200), ")".repeat(200)),
        "'a".to_owned(),
        "\\u0000".to_owned(),
        "9999999999999999999999 > 1 ? 'a' : 'b'".to_owned(),
        "1 / 0 > 1 ? 'a' : 'b'".to_owned(),
        "-9223372036854775808 / -1 > 0 ? 'a' : 'b'".to_owned(),
        String::new(),
    ] {
        let said = examine(&around(
            &format!("facts: {{f: {{in: [a, b], is: \"{text}\"}}}}"),
            &format!("  c: {{choose: [{{when: {{f: a}}, to: d}}, {{to: e}}]}}\n{END}"),
        ));
        assert!(
            said.problems.iter().all(|it| it.message.len() < 1_000),
            "a message repeats the whole expression"
        );
    }
}

#[test]
fn globs_that_go_on() {
    for (one, other) in [
        ("*".repeat(1_000), "*".repeat(1_000)),
        ("**/".repeat(300) + "x", "**/".repeat(300) + "y"),
        ("**/a/".repeat(100) + "x", "**/*a*b*c*d*e*f*g*h/".repeat(40) + "y"),
        ("*a".repeat(60), "*b".repeat(60)),
        ("*a*b*c*d".to_owned(), "*d*c*b*a".to_owned()),
        ("**/*a*/**/*b*/**/*c*/**".to_owned(), "**/*c*/**/*b*/**/*a*/**".to_owned()),
        ("?".repeat(900), "*?".repeat(400)),
        ("{a,b}".repeat(200), "{c,{d,e}}".repeat(100)),
        ("[a-z]".repeat(200) + "[", "[!".to_owned()),
        ("!".to_owned(), "!!".to_owned()),
        ("../..".to_owned(), "./.".to_owned()),
        (String::new(), "/".to_owned()),
        ("a\\\\".to_owned(), "\\u0000".to_owned()),
        ("{{item.id}}".repeat(50), "{{ {{ }}".to_owned()),
    ] {
        examine(&around(
            &format!(
                "documents: {{x: {{files: [\"{one}\"]}}, y: {{files: [\"{other}\", \"!{one}\"]}}}}\nroles: {{r: {{agent: a, prompt: p, may-write: [x, y]}}}}\ndefaults: {{failures: e}}"
            ),
            &format!(
                "  w: {{agent: r, then: t}}\n  t: {{check: {{run: x}}, judges: [x, y], on: {{pass: d, fail: e}}}}\n{END}"
            ),
        ));
    }
}

#[test]
fn templates_that_are_none() {
    for prompt in [
        "{{ {{ }}".to_owned(),
        "{{ }}".to_owned(),
        "}} {{".to_owned(),
        "{% for x in subject %}".to_owned(),
        "{% include 'x' %}{% extends 'y' %}{% import 'z' as z %}".to_owned(),
        "{{ range(999999999) | list | join }}".to_owned(),
        "{{ 9 ** 9 ** 9 ** 9 }}".to_owned(),
        "{% macro a() %}{{ a() }}{% endmacro %}{{ a() }}".to_owned(),
        format!("{{{{ {}subject{} }}}}", "(".repeat(4_096), ")".repeat(4_096)),
        format!("{{{{ {}subject }}}}", "not ".repeat(4_096)),
        format!("{{{{ {}1 }}}}", "-".repeat(4_096)),
        format!("{{{{ subject{} }}}}", " | upper".repeat(4_096)),
        format!("{{{{ {}{} }}}}", "[".repeat(4_096), "]".repeat(4_096)),
        format!("{}{}", "{% if subject %}".repeat(2_048), "{% endif %}".repeat(2_048)),
        format!("{{{{ subject{} }}}}", ".x".repeat(4_096)),
    ] {
        examine(&around(
            &format!("roles: {{r: {{agent: a, prompt: \"{prompt}\"}}}}\ndefaults: {{failures: e}}"),
            &format!("  w: {{agent: r, then: d}}\n{END}"),
        ));
        examine(&around(
            "",
            &format!("  w: {{do: [{{say: \"{prompt}\"}}], on: {{done | failures: d}}}}\n{END}"),
        ));
    }
}

#[test]
fn patterns_that_grow() {
    for pattern in [
        "(a{1,1000}){1,1000}".to_owned(),
        "(".repeat(5_000),
        format!("{}{}", "(".repeat(2_000), ")".repeat(2_000)),
        "[".to_owned(),
        "a**".to_owned(),
        "\\\\".to_owned(),
    ] {
        examine(
            &GOOD.replace("subject: thing", &format!("subject: {{name: thing, matches: \"{pattern}\"}}")),
        );
    }
}

// Things that lead to themselves -----------------------------------------------------------------------------------

#[test]
fn groups_of_themselves() {
    let role = "roles: {r: {agent: a, prompt: p, may-write: [x, y, z]}}\ndefaults: {failures: e}";
    let states = format!(
        "  w: {{agent: r, then: t}}\n  t: {{check: {{run: c}}, judges: [x, y], on: {{pass: d, fail: e}}}}\n{END}"
    );
    refused(
        &around(
            &format!("documents: {{x: {{group: [x]}}, y: {{group: [z]}}, z: {{group: [y]}}}}\n{role}"),
            &states,
        ),
        "nested-group",
    );
    examine(&around(
        &format!("documents: {{x: {{group: []}}, y: {{group: [y, y, y]}}, z: {{group: [nothing]}}}}\n{role}"),
        &states,
    ));
}

#[test]
fn tables_by_nothing() {
    for table in [
        "{by: nothing, a: r}",
        "{by: ~}",
        "{by: []}",
        "{by: {by: m}}",
        "{by: m}",
        "{by: m, x: r}",
        "{by: m, a: {by: m, a: r}}",
        "{by: by, by: r}",
    ] {
        let said = examine(&around(
            &format!(
                "vars: {{m: {{in: [a, b], start: a, input: true}}}}\nroles: {{r: {{agent: a, prompt: p}}}}\ndefaults: {{failures: e}}"
            ),
            &format!("  w: {{agent: {table}, then: d}}\n{END}"),
        ));
        assert!(!said.is_proved(), "{table} names a role");
        for key in ["prompt", "given", "may-write", "produces", "needs"] {
            examine(&around(
                "vars: {m: {in: [a, b], start: a, input: true}}\nroles: {r: {agent: a, prompt: p}}\ndefaults: {failures: e}",
                &format!("  w: {{agent: r, {key}: {table}, then: d}}\n{END}"),
            ));
        }
    }
    examine(&around(
        "vars: {m: {in: [], start: x}}\nroles: {r: {agent: a, prompt: {by: m}}}\ndefaults: {failures: e}",
        &format!("  w: {{agent: {{by: m}}, then: d}}\n{END}"),
    ));
}

const CHILD_OF_ITSELF: &str = "  w: {each: {item: i, in: docs.l.items, run: c}, on: {d: d, e | failures: e}}\n  d: {end: success}\n  e: {end: failure}\nchildren:
  c:
    states:
      w: {each: {item: i, in: docs.l.items, run: c}, on: {d: d, e | failures: e}}
      d: {end: success}
      e: {end: failure}
";
/// Set in the process that may crash.
const INSIDE: &str = "LOOPWRIGHT_HOSTILE_INSIDE";

/// A stack that overflows takes the whole process along, so this one is played in a process of its own.
#[test]
fn a_child_that_runs_itself() {
    if env::var(INSIDE).is_ok() {
        refused(
            &around("documents: {l: {file: l.yaml, as: yaml, shape: {items: [any]}}}", CHILD_OF_ITSELF),
            "nested-children",
        );
        return;
    }
    let this = env::current_exe().expect("a test has a file");
    let ran = Command::new(this)
        .args(["--exact", "a_child_that_runs_itself"])
        .env(INSIDE, "1")
        .output()
        .expect("it starts");
    assert!(
        ran.status.success(),
        "{}\n{}",
        String::from_utf8_lossy(&ran.stdout),
        String::from_utf8_lossy(&ran.stderr)
    );
}

#[test]
fn states_that_lead_only_to_themselves() {
    refused(&around("", "  a: {choose: [{to: a}]}\n"), "endless");
    refused(&around("", "  a: {choose: [{to: b}]}\n  b: {choose: [{to: a}]}\n"), "endless");
    refused(&around("verbs: {go: {}}", "  a: {rest: x, on: {verb go: a}}\n"), "trapped");
    refused(&around("", "  a: {choose: []}\n"), "unrouted");
    refused(&around("start: nowhere", &format!("  a: {{choose: [{{to: d}}]}}\n{END}")), "unknown-name");
    let said = examine(&around("start: {}", &format!("  a: {{choose: [{{to: d}}]}}\n{END}")));
    assert!(!said.is_proved(), "a run that cannot begin");
}

// Edits ------------------------------------------------------------------------------------------------------------

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn files_below(folder: &Path, prefix: &str, into: &mut Folder) {
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        let name = format!("{prefix}{}", path.file_name().expect("a name").to_string_lossy());
        if path.is_dir() {
            files_below(&path, &format!("{name}/"), into);
        } else {
            into.files.insert(name, fs::read(&path).expect("a file"));
        }
    }
}

fn built_ins() -> Vec<Folder> {
    let mut paths: Vec<PathBuf> = fs::read_dir(repository().join("workflows"))
        .expect("workflows")
        .map(|it| it.expect("an entry").path())
        .collect();
    paths.sort();
    paths
        .iter()
        .filter(|it| it.is_dir())
        .map(|path| {
            let mut folder = Folder {
                name: path.file_name().expect("a name").to_string_lossy().into_owned(),
                ..Folder::default()
            };
            files_below(path, "", &mut folder);
            folder
        })
        .collect()
}

/// One thing done to a text.
#[derive(Clone, Debug)]
enum Edit {
    DeleteBytes { at: usize, most: usize },
    RepeatBytes { at: usize, most: usize },
    Put { at: usize, what: Vec<u8> },
    Overwrite { at: usize, what: Vec<u8> },
    DeleteLine { line: usize },
    RepeatLine { line: usize },
    SwapLines { one: usize, other: usize },
    SwapWords { one: usize, other: usize },
    Cut { at: usize },
}

fn pieces() -> impl Strategy<Value = Vec<u8>> {
    let words: Vec<&'static [u8]> = vec![
        b"{",
        b"}",
        b"[",
        b"]",
        b":",
        b": ",
        b"-",
        b"- ",
        b"\n",
        b"\n  ",
        b" ",
        b"\t",
        b"\"",
        b"'",
        b"#",
        b"|",
        b">",
        b"&a ",
        b"*a",
        b"!x ",
        b"? ",
        b"{{",
        b"}}",
        b"{%",
        b"%}",
        b"~",
        b"null",
        b"true",
        b"0",
        b"-1",
        b"99999999999999999999",
        b"again",
        b"back",
        b"failures: again",
        b"maybe ",
        b"others",
        b"by",
        b"{by: mode}",
        b"visit",
        b"\xff",
        b"\0",
        b"\xf0\x9f\x9a\x80",
        b"docs.",
        b"last.",
        b"when: {}",
        b"else: stuck",
    ];
    prop_oneof![
        prop::sample::select(words).prop_map(<[u8]>::to_vec),
        prop::collection::vec(any::<u8>(), 1..6)
    ]
}

fn edit() -> impl Strategy<Value = Edit> {
    let at = any::<usize>;
    prop_oneof![
        1 => (at(), 1..40_usize).prop_map(|(at, most)| Edit::DeleteBytes { at, most }),
        1 => (at(), 1..40_usize).prop_map(|(at, most)| Edit::RepeatBytes { at, most }),
        1 => (at(), pieces()).prop_map(|(at, what)| Edit::Put { at, what }),
        1 => (at(), pieces()).prop_map(|(at, what)| Edit::Overwrite { at, what }),
        3 => at().prop_map(|line| Edit::DeleteLine { line }),
        1 => at().prop_map(|line| Edit::RepeatLine { line }),
        3 => (at(), at()).prop_map(|(one, other)| Edit::SwapLines { one, other }),
        5 => (at(), at()).prop_map(|(one, other)| Edit::SwapWords { one, other }),
        1 => at().prop_map(|at| Edit::Cut { at }),
    ]
}

/// Where the words of a text stand.
fn words(text: &[u8]) -> Vec<std::ops::Range<usize>> {
    let mut found = Vec::new();
    let mut start = None;
    for (at, byte) in text.iter().enumerate() {
        let inside = byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
        match (inside, start) {
            (true, None) => start = Some(at),
            (false, Some(from)) => {
                found.push(from..at);
                start = None;
            }
            _ => {}
        }
    }
    found
}

fn apply(text: &mut Vec<u8>, edit: &Edit) {
    if text.is_empty() {
        return;
    }
    let place = |at: usize| at % text.len();
    let end = |at: usize, most: usize| (at + most).min(text.len());
    match edit {
        Edit::DeleteBytes { at, most } => {
            let at = place(*at);
            let _ = text.drain(at..end(at, *most));
        }
        Edit::RepeatBytes { at, most } => {
            let at = place(*at);
            let piece = text[at..end(at, *most)].to_vec();
            let _ = text.splice(at..at, piece);
        }
        Edit::Put { at, what } => {
            let at = place(*at);
            let _ = text.splice(at..at, what.iter().copied());
        }
        Edit::Overwrite { at, what } => {
            let at = place(*at);
            let to = end(at, what.len());
            let _ = text.splice(at..to, what.iter().copied());
        }
        Edit::Cut { at } => {
            let at = place(*at);
            text.truncate(at);
        }
        Edit::SwapWords { one, other } => {
            let all = words(text);
            if all.is_empty() {
                return;
            }
            let from = text[all[*other % all.len()].clone()].to_vec();
            let _ = text.splice(all[*one % all.len()].clone(), from);
        }
        Edit::DeleteLine { line } | Edit::RepeatLine { line } | Edit::SwapLines { one: line, .. } => {
            let mut lines: Vec<Vec<u8>> =
                text.split_inclusive(|it| *it == b'\n').map(<[u8]>::to_vec).collect();
            let at = *line % lines.len();
            match edit {
                Edit::DeleteLine { .. } => {
                    lines.remove(at);
                }
                Edit::RepeatLine { .. } => lines.insert(at, lines[at].clone()),
                Edit::SwapLines { other, .. } => {
                    let other = *other % lines.len();
                    lines.swap(at, other);
                }
                _ => {}
            }
            *text = lines.concat();
        }
    }
}

/// The same edits in every run, so that what fails here fails everywhere.
fn runner(cases: u32) -> TestRunner {
    let config = Config { cases, failure_persistence: None, max_shrink_iters: 200, ..Config::default() };
    TestRunner::new_with_rng(config, TestRng::deterministic_rng(RngAlgorithm::ChaCha))
}

/// The built-ins with one to four edits: never a panic, always something said, always the same.
#[test]
fn edited_built_ins_are_checked_or_refused() {
    let folders = built_ins();
    assert!(folders.len() >= 5, "only {} built-ins", folders.len());
    let strategy = (0..folders.len(), prop::collection::vec(edit(), 1..=4));
    let checked = Cell::new(0_u32);
    let ran = runner(300).run(&strategy, |(which, edits)| {
        let mut folder = folders[which].clone();
        let text = folder.files.get_mut(WORKFLOW_FILE).expect("a workflow");
        edits.iter().for_each(|it| apply(text, it));
        let said = examine_folder(&folder);
        checked.set(checked.get() + u32::from(said.report.is_some()));
        prop_assert_eq!(load(&folder).problems, load(&folder).problems);
        Ok(())
    });
    ran.unwrap_or_else(|error| panic!("{error}"));
    let checked = checked.get();
    println!("{checked} of 300 edited built-ins were checked");
    assert!(checked >= 10, "only {checked} of 300 came as far as the proof");
}

/// Small workflows with edits, checked as well.
#[test]
fn edited_workflows_are_checked_or_refused() {
    let mut texts = vec![GOOD.as_bytes().to_vec()];
    for class in fs::read_dir(repository().join("tests/faults"))
        .expect("the corpus")
        .map(|it| it.expect("an entry").path())
        .filter(|it| it.is_dir())
    {
        let mut cases: Vec<PathBuf> =
            fs::read_dir(&class).expect("a class").map(|it| it.expect("an entry").path()).collect();
        cases.sort();
        texts.extend(cases.iter().take(3).map(|it| fs::read(it.join("repaired.yaml")).expect("a case")));
    }
    texts.sort();
    let strategy = (0..texts.len(), prop::collection::vec(edit(), 1..=2));
    let checked = Cell::new(0_u32);
    let ran = runner(600).run(&strategy, |(which, edits)| {
        let mut text = texts[which].clone();
        edits.iter().for_each(|it| apply(&mut text, it));
        let said = examine_bytes(&text);
        checked.set(checked.get() + u32::from(said.report.is_some()));
        Ok(())
    });
    ran.unwrap_or_else(|error| panic!("{error}"));
    let checked = checked.get();
    println!("{checked} of 600 edited workflows were checked");
    assert!(checked >= 50, "only {checked} of 600 came as far as the proof");
}
