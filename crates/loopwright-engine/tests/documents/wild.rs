//! What is promised of every text: nothing outside of a changed value changes, and a change is read back.

use loopwright_engine::documents::Format;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Map, Value};

/// A text in three parts, so that what a change may touch is known without asking the code under test.
#[derive(Clone, Debug)]
struct Text {
    before: String,
    value: String,
    /// Stays, but lines of a new value may come between it and what is before.
    beside: String,
    after: String,
    field: String,
}

impl Text {
    fn whole(&self) -> String {
        format!("{}{}{}{}", self.before, self.value, self.beside, self.after)
    }

    fn with_line_ends(self, crlf: bool, bom: bool, ended: bool) -> Self {
        let lines = |it: String| if crlf { it.replace('\n', "\r\n") } else { it };
        let mut text = Self {
            before: lines(format!("{}{}", if bom { "\u{feff}" } else { "" }, self.before)),
            value: lines(self.value),
            beside: lines(self.beside),
            after: lines(self.after),
            field: self.field,
        };
        let whole = text.after.trim_end().len();
        if !ended {
            text.after.truncate(whole);
        }
        text
    }
}

fn leaf() -> impl Strategy<Value = Value> {
    let texts = [
        "",
        " ",
        "a",
        "two words",
        "no",
        "null",
        "1.10",
        "0x1f",
        "- a",
        "a: b",
        "a #b",
        "#",
        "it's",
        "\"",
        "\\",
        "\\n",
        "a\nb",
        "a\n\n b\n",
        "\na",
        "a\n\n",
        "a\r\nb",
        "tab\t",
        "é ü",
        "\u{85}",
        "\u{feff}x",
        "{{x}}",
        "[",
        "*a",
        "&a",
        "!a",
        "---",
        "...",
        "%",
        "@",
        "`",
        "|",
        ">",
        "?",
        "? a",
        "~",
        "<<",
        "=",
        "2026-01-02",
        "a,b",
        "x]",
        "}",
        "\u{7f}",
        "trailing ",
        "a:",
        "'''",
        "\"\"\"",
        "\u{1}",
    ];
    prop_oneof![
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_filter("JSON has no other", |it| it.is_finite()).prop_map(Value::from),
        select(texts.to_vec()).prop_map(Value::from),
        "\\PC{0,12}".prop_map(Value::from),
    ]
}

fn key() -> impl Strategy<Value = String> {
    prop_oneof![
        "[a-z]{1,6}",
        select(vec!["two words", "no", "1", "a: b", "#x", "é", "\"q\""]).prop_map(str::to_owned)
    ]
}

fn value(null: bool) -> impl Strategy<Value = Value> {
    let leaf = if null { prop_oneof![9 => leaf(), 1 => Just(Value::Null)].boxed() } else { leaf().boxed() };
    leaf.prop_recursive(3, 12, 4, |inner| {
        let fields = vec((key(), inner.clone()), 0..4);
        prop_oneof![
            vec(inner, 0..4).prop_map(Value::from),
            fields.prop_map(|it| Value::Object(it.into_iter().collect::<Map<_, _>>())),
        ]
    })
}

/// Other entries, as people write them.
fn others(written: &'static [&'static str]) -> impl Strategy<Value = String> {
    vec(select(written), 0..4).prop_map(|lines| {
        let numbered = |(number, line): (usize, &&str)| line.replace('N', &number.to_string());
        lines.iter().enumerate().map(numbered).collect()
    })
}

fn indented(text: &str, by: usize) -> String {
    let line =
        |it: &str| if it.trim().is_empty() { it.to_owned() } else { format!("{}{it}", " ".repeat(by)) };
    text.split_inclusive('\n').map(line).collect()
}

const YAML: &[&str] = &[
    "aN: 1\n",
    "bN:   \"x # y\"   # comment\n",
    "# a comment\n",
    "\n",
    "cN:\n",
    "dN: [1, {a: b}, ]  # c\n",
    "eN:\n    f: 'it''s'\n    # inside\n    g: [\n     1 ]\n",
    "hN:\n- a\n# between\n-   b: 1\n    c: 2\n",
    "iN: |\n   one\n\n   two # no comment\n",
    "jN: >-\n  folded\n  text\n\n",
    "kN : ~\n",
    "? lN\n: m\n",
    "\"q N\": plain\n  goes on # c\n",
    "   \n",
    "nN: |+\n  kept\n\n\n",
];
const YAML_VALUES: &[&str] = &[
    "",
    " 1",
    "   two words",
    " \"a\\\"b\"",
    " 'it''s'",
    " [1, \"a\"]",
    " {a: 1}",
    " []",
    " ~",
    " plain\n   goes on",
    " |\n   one\n   two",
    " >-\n   one\n\n   two",
    "\n   - 1\n   - a: 2\n     b: 3",
    "\n   a: 1\n\n   b:\n     - 2",
    "\n   \"on its own line\"",
    " |",
];

fn yaml() -> impl Strategy<Value = Text> {
    let parts = (others(YAML), select(YAML_VALUES), others(YAML), 0..3_usize, any::<bool>());
    parts.prop_map(|(before, value, after, depth, comment)| {
        let on_a_line = !value.contains('\n') && value != " |";
        let end = if comment && on_a_line { "  # kept" } else { "" };
        let by = depth * 2;
        let outer = if depth > 0 { "outer: # o\n" } else { "" };
        let before = format!("{outer}{}{}target:", indented(&before.replace('N', "x"), by), " ".repeat(by));
        let indent_value = value.replace('\n', &format!("\n{}", " ".repeat(by)));
        let after = indented(&after.replace(['0', '1', '2', '3'], "9"), by);
        let after = format!("\n{}", renamed(&after));
        let field = if depth > 0 { "outer.target" } else { "target" };
        Text { before, value: indent_value, beside: end.to_owned(), after, field: field.to_owned() }
    })
}

/// Keys before and after the target have to differ.
fn renamed(text: &str) -> String {
    let mut seen = 0;
    let line = |it: &str| {
        let bare = it.trim_start();
        let top = bare.starts_with(|it: char| it.is_ascii_lowercase()) && bare.contains(':');
        if !top && !bare.starts_with("? ") && !bare.starts_with("\"q") {
            return it.to_owned();
        }
        seen += 1;
        let at = it.len() - bare.len();
        match bare.strip_prefix("? ") {
            Some(key) => format!("{}? z{seen}{key}", &it[..at]),
            None if bare.starts_with('"') => format!("{}\"z{seen}{}", &it[..at], &bare[1..]),
            None => format!("{}z{seen}{bare}", &it[..at]),
        }
    };
    text.split_inclusive('\n').map(line).collect()
}

fn json() -> impl Strategy<Value = Text> {
    let entry = || {
        let written = vec![
            "1.0",
            "[ 1,2 ]",
            "{\"a\" :null}",
            "\"\\u0041\"",
            "{}",
            "[\n  1,\n  2\n]",
            "-0",
            "99999999999999999999",
        ];
        (select(written), select(vec![" ", "", "\n\t", "\n  "]), select(vec![":", " : ", ": "]))
    };
    let others = || vec(entry(), 0..4);
    (others(), entry(), others()).prop_map(|(first, (value, space, colon), last)| {
        let piece = |name: &str, number: usize, (value, space, colon): &(&str, &str, &str)| {
            format!("{space}\"{name}{number}\"{colon}{value}")
        };
        let before: String = first.iter().enumerate().map(|(at, it)| piece("a", at, it) + ",").collect();
        let after: String =
            last.iter().enumerate().map(|(at, it)| String::from(" ,") + &piece("b", at, it)).collect();
        Text {
            before: format!(" {{{before}{space}\"target\"{colon}"),
            value: value.to_owned(),
            beside: String::new(),
            after: format!("{after}\n }} \n"),
            field: "target".to_owned(),
        }
    })
}

const TOML: &[&str] = &[
    "aN = 1_000 # c\n",
    "# comment\n",
    "\n",
    "bN.c   =  'x'\n",
    "dN = [\n  1, # one\n  2 ]\n",
    "\"e N\" = { f = 1.50, g.h = \"#\" }  \n",
    "iN = 1979-05-27 07:32:00\n",
    "jN = \"\"\"\nlong\n\"\"\"\n",
];

fn toml() -> impl Strategy<Value = Text> {
    let values = vec![
        "1",
        "\"a\\\"\"",
        "'b'",
        "[ 1,\n 2 ]",
        "{ a = 1 }",
        "[]",
        "{}",
        "true",
        "1979-05-27",
        "\"\"\"\nx\"\"\"",
        "1.0",
    ];
    let parts = (others(TOML), select(values), others(TOML), any::<bool>(), any::<bool>());
    parts.prop_map(|(before, value, after, table, comment)| {
        let header = if table { "x = 1\n[outer] # o\n" } else { "" };
        let after = after.replace("\"e", "\"z").replace("= 1_000", "=1");
        let after: String = after
            .split_inclusive('\n')
            .map(|it| {
                if it.starts_with(|it: char| it.is_ascii_lowercase()) && it.contains('=') {
                    format!("z{it}")
                } else {
                    it.to_owned()
                }
            })
            .collect();
        Text {
            before: format!("{header}{before}  target = "),
            value: value.to_owned(),
            beside: if comment { " # kept".to_owned() } else { String::new() },
            after: format!("\n{after}[[last]]\ny = 2\n"),
            field: if table { "outer.target" } else { "target" }.to_owned(),
        }
    })
}

fn front() -> impl Strategy<Value = Text> {
    (yaml(), select(vec!["", "\n# A\n\nkey: value  \n", "text\n---\n# B"])).prop_map(|(it, rest)| Text {
        before: format!("---\n{}", it.before),
        after: format!("{}---\n{rest}", it.after),
        field: format!("front.{}", it.field),
        ..it
    })
}

fn holds(format: Format, text: &Text, value: &Value) -> Result<(), TestCaseError> {
    let whole = text.whole();
    let read = format.read(&whole);
    prop_assert!(read.is_ok(), "{whole:?} {:?}", read.err());
    let old = read.map(|it| it.value()).unwrap_or_default();
    let changed = format.set(&whole, &text.field, value);
    let changed = changed.map_err(|it| TestCaseError::fail(format!("{whole:?}: {it}")))?;
    let new = format.read(&changed).map(|it| it.value()).unwrap_or_default();
    let pointer = format!("/{}", text.field.replace('.', "/"));
    prop_assert_eq!(new.pointer(&pointer), Some(value), "{:?}", &changed);
    if old.pointer(&pointer) == Some(value) {
        prop_assert_eq!(&changed, &whole);
    }
    let rest = format!("{}{}", text.beside, text.after);
    let kept = changed.strip_prefix(&text.before).and_then(|it| it.strip_suffix(&text.after));
    let Some(middle) = kept else {
        return Err(TestCaseError::fail(format!("{whole:?}\nbecame {changed:?}\nwhich lacks {rest:?}")));
    };
    prop_assert!(middle.contains(&text.beside), "{:?} lacks {:?}", changed, text.beside);
    prop_assert_eq!(format.set(&changed, &text.field, value), Ok(changed.clone()));
    let all = changed.matches('\n').count();
    if whole.contains("\r\n") {
        prop_assert_eq!(changed.matches("\r\n").count(), all, "{:?}", changed);
    }
    Ok(())
}

/// A new key, or a new entry, is put in at one place, and all that was there is there.
fn grows(format: Format, text: &Text, value: &Value) -> Result<(), TestCaseError> {
    let whole = text.whole();
    let fresh = text.field.replace("target", "fresh");
    let one =
        format.set(&whole, &fresh, value).map_err(|it| TestCaseError::fail(format!("{whole:?}: {it}")))?;
    only_added(&whole, &one)?;
    // A list that is made, and then has one more entry.
    let list = text.field.replace("target", "list");
    let one =
        format.append(&whole, &list, value).map_err(|it| TestCaseError::fail(format!("{whole:?}: {it}")))?;
    only_added(&whole, &one)?;
    let two =
        format.append(&one, &list, value).map_err(|it| TestCaseError::fail(format!("{one:?}: {it}")))?;
    only_added(&one, &two)?;
    let read = format.read(&two).map(|it| it.value()).unwrap_or_default();
    let both = Value::from(vec![value.clone(), value.clone()]);
    prop_assert_eq!(read.pointer(&format!("/{}", list.replace('.', "/"))), Some(&both));
    Ok(())
}

fn only_added(before: &str, after: &str) -> Result<(), TestCaseError> {
    let same = before.bytes().zip(after.bytes()).take_while(|(one, two)| one == two).count();
    let kept = after.as_bytes().ends_with(before.as_bytes().get(same..).unwrap_or_default());
    prop_assert!(kept && after.len() > before.len(), "{before:?}\nbecame {after:?}");
    Ok(())
}

fn ends() -> impl Strategy<Value = (bool, bool, bool)> {
    (any::<bool>(), any::<bool>(), any::<bool>())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn yaml_around_a_value_stays(text in yaml(), value in value(true), (crlf, bom, ended) in ends()) {
        holds(Format::Yaml, &text.with_line_ends(crlf, bom, ended), &value)?;
    }

    #[test]
    fn json_around_a_value_stays(text in json(), value in value(true), (crlf, bom, ended) in ends()) {
        holds(Format::Json, &text.with_line_ends(crlf, bom, ended), &value)?;
    }

    #[test]
    fn toml_around_a_value_stays(text in toml(), value in value(false), (crlf, bom, ended) in ends()) {
        holds(Format::Toml, &text.with_line_ends(crlf, bom, ended), &value)?;
    }

    #[test]
    fn front_matter_around_a_value_stays(text in front(), value in value(true), (crlf, bom, ended) in ends()) {
        holds(Format::Markdown, &text.with_line_ends(crlf, bom, ended), &value)?;
    }

    #[test]
    fn yaml_only_grows(text in yaml(), value in value(true), (crlf, bom, ended) in ends()) {
        grows(Format::Yaml, &text.with_line_ends(crlf, bom, ended), &value)?;
    }

    #[test]
    fn json_only_grows(text in json(), value in value(true), (crlf, bom, ended) in ends()) {
        grows(Format::Json, &text.with_line_ends(crlf, bom, ended), &value)?;
    }

    #[test]
    fn toml_only_grows(text in toml(), value in value(false), (crlf, bom, ended) in ends()) {
        grows(Format::Toml, &text.with_line_ends(crlf, bom, ended), &value)?;
    }

    #[test]
    fn front_matter_only_grows(text in front(), value in value(true), (crlf, bom, ended) in ends()) {
        grows(Format::Markdown, &text.with_line_ends(crlf, bom, ended), &value)?;
    }
}
