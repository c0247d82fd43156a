//! Languages inside the language: facts, globs, templates, regular expressions.

use crate::{END, GOOD, around, examine};

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
