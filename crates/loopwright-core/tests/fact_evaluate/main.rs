//! Evaluation against the checker, against the `cel` crate's own evaluator, and against hostile input.
#![expect(clippy::expect_used, reason = "a test")]

mod random;

use std::collections::HashMap;

use cel::{Context, Program};
use indexmap::IndexMap;
use loopwright_core::fact::{Expression, Reason, Type};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::random::Random;

fn evaluate(source: &str, names: &Value) -> Result<Value, Reason> {
    Expression::parse(source).expect("parses").evaluate(names).map_err(|error| error.reason)
}

#[test]
fn expressions_have_values() {
    let names = json!({
        "a": 7, "b": 2, "x": 1.5, "t": "héllo", "none": null, "list": [3, 1, 2], "empty": [],
        "docs": {"state": {"status": "DONE", "flag": null}, "spec": {"exists": true}},
        "findings": [{"severity": "high", "file": null}, {"severity": "low", "file": {"path": "a"}}],
    });
    let cases = [
        ("a / b + a % b", Ok(json!(4))),
        ("-a - 1", Ok(json!(-8))),
        ("x * 2.0", Ok(json!(3.0))),
        ("a == 7.0 && a < 7.5", Ok(json!(true))),
        ("t.size() + size(list) + docs.size()", Ok(json!(10))),
        ("t.startsWith('h') && t.endsWith('lo') && t.contains('él')", Ok(json!(true))),
        ("int('12') + int(x) + int(a)", Ok(json!(20))),
        ("double('0.5') + double(a)", Ok(json!(7.5))),
        ("string(a) + string(true) + string('z')", Ok(json!("7truez"))),
        ("int('q')", Err(Reason::Unreadable)),
        ("list.map(i, i * 2)", Ok(json!([6, 2, 4]))),
        ("list.map(i, i > 1, i * 2)", Ok(json!([6, 4]))),
        ("list.filter(i, i > 1)[1]", Ok(json!(2))),
        ("list.exists_one(i, i == 3) && list.exists(i, i == 1) && list.all(i, i > 0)", Ok(json!(true))),
        ("docs.map(key, key)", Ok(json!(["state", "spec"]))),
        ("list + [4] == [3, 1, 2, 4.0]", Ok(json!(true))),
        ("{'a': [a], 'b': null}", Ok(json!({"a": [7], "b": null}))),
        ("{'a': [1, 2, 3]}.a[1]", Ok(json!(2))),
        ("'state' in docs && !('x' in docs) && 3 in list", Ok(json!(true))),
        ("['refactor', 'test', 'docs'][a % 3]", Ok(json!("test"))),
        // null and absence
        (
            "has(docs.state.status) && !has(docs.state.flag) && !has(docs.state.other) && !has(none.x)",
            Ok(json!(true)),
        ),
        ("none == null && docs.state.flag == null && docs.spec != null", Ok(json!(true))),
        ("none.x", Err(Reason::Missing)),
        ("docs.state.other", Err(Reason::Missing)),
        ("list[3]", Err(Reason::Missing)),
        ("list[-1]", Err(Reason::Missing)),
        ("nothing", Err(Reason::UnknownName)),
        // failures that do not decide
        ("none.x == 1 && false", Ok(json!(false))),
        ("none.x == 1 || true", Ok(json!(true))),
        ("none.x == 1 || false", Err(Reason::Missing)),
        ("findings.exists(f, f.file.path == 'a')", Ok(json!(true))),
        ("findings.all(f, f.file.path == 'b')", Ok(json!(false))),
        ("findings.exists(f, f.file.path == 'b')", Err(Reason::Missing)),
        // what cannot be worked out
        ("a / 0", Err(Reason::Arithmetic)),
        ("a % 0", Err(Reason::Arithmetic)),
        ("x / 0.0", Err(Reason::Arithmetic)),
        ("9223372036854775807 + a", Err(Reason::Arithmetic)),
        ("-(-9223372036854775807 - 1)", Err(Reason::Arithmetic)),
        ("a + t", Err(Reason::WrongKind)),
        ("a ? 1 : 2", Err(Reason::WrongKind)),
        ("t.size(1)", Err(Reason::WrongKind)),
        ("foo(1)", Err(Reason::WrongKind)),
        ("a.b", Err(Reason::WrongKind)),
    ];
    for (source, expected) in cases {
        assert_eq!(evaluate(source, &names), expected, "{source}");
    }
    assert_eq!(evaluate("a", &json!("no object")), Err(Reason::UnknownName));
}

#[test]
fn long_work_is_cut_off() {
    let list: Vec<u32> = (0..3000).collect();
    let names = json!({"l": list, "t": "x".repeat(1_000_000)});
    for source in [
        "l.all(a, l.all(b, l.all(c, l.all(d, true))))",
        "l.map(a, l.map(b, l)).size() > 0",
        "l.exists(a, l.exists(b, false)) || l.exists(a, l.exists(b, false))",
        "l.all(a, (t + t + t) != '')",
        "l.all(a, a in (l + l + l))",
        "l.exists(a, t.contains('yx'))",
    ] {
        assert_eq!(evaluate(source, &names), Err(Reason::TooMuch), "{source}");
    }
    assert_eq!(evaluate("l.all(a, l.exists(b, b == 10))", &names), Ok(json!(true)));
}

const DAMAGED: u64 = 3_000;

struct Case {
    source: String,
    types: IndexMap<String, Type>,
    values: Value,
}

fn case(seed: u64) -> Case {
    let mut random = Random(seed | 1);
    for _ in 0..20 {
        random.below(2);
    }
    let mut types: IndexMap<String, Type> =
        ["x", "y", "z"].into_iter().map(|name| (name.to_owned(), random.a_type(3))).collect();
    types.insert(
        "w".to_owned(),
        Type::record([("s", Type::Int.maybe()), ("t", Type::record([("u", Type::Text)]).maybe())]),
    );
    let values = random.a_value(&Type::Record(types.clone()));
    let wanted = match random.below(4) {
        0 => random.a_type(2),
        1 => Type::Bool,
        _ => Type::one_of(["a", "b", "c"]),
    };
    let source = random.an_expression(&wanted, &types, 4);
    Case { source, types, values }
}

/// Returns whether the case was accepted by the checker, so that the test can tell it did not test nothing.
fn agrees(seed: u64) -> Option<bool> {
    let Case { source, types, values } = case(seed);
    let expression = Expression::parse(&source).ok()?;
    let checked = expression.check(&types);
    for fault in &checked.faults {
        assert!(source.get(fault.range.clone()).is_some(), "{source}: {fault:?}");
    }
    if !checked.faults.is_empty() {
        return Some(false);
    }
    match expression.evaluate(&values) {
        Ok(value) => {
            assert!(checked.result.accepts(&value), "{source}\n{values}\n{value} is not {}", checked.result);
            if let Some(leaves) = checked.leaves {
                assert!(
                    value.as_str().is_some_and(|it| leaves.contains(it)),
                    "{source}: {value} not in {leaves:?}"
                );
            }
        }
        Err(error) => {
            assert!(
                !matches!(error.reason, Reason::WrongKind | Reason::UnknownName),
                "{source}\n{values}\n{error:?}"
            );
            assert!(!error.message.contains("null"), "{source}\n{types:?}\n{values}\n{error:?}");
        }
    }
    Some(true)
}

fn to_cel(value: &Value) -> cel::Value {
    match value {
        Value::Null => cel::Value::Null,
        Value::Bool(it) => cel::Value::Bool(*it),
        Value::Number(number) => {
            number.as_i64().map_or_else(|| cel::Value::Float(number.as_f64().unwrap_or(0.0)), cel::Value::Int)
        }
        Value::String(text) => text.as_str().into(),
        Value::Array(items) => items.iter().map(to_cel).collect::<Vec<_>>().into(),
        Value::Object(fields) => {
            fields.iter().map(|(name, field)| (name.clone(), to_cel(field))).collect::<HashMap<_, _>>().into()
        }
    }
}

/// Where both give a value it is the same one. Where only one of them fails, it is for a known difference.
fn same_as_cel(seed: u64) -> Option<bool> {
    let Case { source, types, values } = case(seed);
    let expression = Expression::parse(&source).ok()?;
    let ours = expression.evaluate(&values);
    let program = Program::compile(&source).expect("ours parsed");
    let run = || {
        let mut context = Context::default();
        for name in types.keys() {
            context.add_variable_from_value(name.as_str(), to_cel(&values[name]));
        }
        program.execute(&context)
    };
    let theirs = run();
    match (&ours, &theirs) {
        (Ok(ours), Ok(theirs)) => {
            // A null makes `has` differ, on purpose.
            if source.contains("has(") {
                return None;
            }
            // Going over a map has no order there, so it is asked again before it counts as another value.
            let same = to_cel(ours) == *theirs || (0..64).any(|_| run() == Ok(to_cel(ours)));
            assert!(same, "{source}\n{values}\n{ours} {theirs:?}");
        }
        (Err(_), Err(_)) => {}
        (Ok(ours), Err(theirs)) => {
            // Null where `has` is asked, and a whole number beside a real one.
            let theirs = theirs.to_string();
            let known = source.contains("has(") || theirs.contains("double") || theirs.contains("Float");
            assert!(
                known || !expression.check(&types).faults.is_empty(),
                "{source}\n{values}\n{ours} {theirs}"
            );
        }
        (Err(ours), Ok(theirs)) => {
            let known = ours.reason == Reason::Arithmetic || source.contains("has(");
            assert!(
                known || !expression.check(&types).faults.is_empty(),
                "{source}\n{values}\n{ours:?} {theirs:?}"
            );
        }
    }
    Some(theirs.is_ok())
}

#[test]
fn what_the_checker_accepts_evaluates_as_it_said() {
    let outcomes: Vec<bool> =
        (0..4_000).filter_map(|seed: u64| agrees(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15))).collect();
    let accepted = outcomes.iter().filter(|it| **it).count();
    assert!(accepted * 10 > outcomes.len() * 3, "only {accepted} of {} were accepted", outcomes.len());
}

#[test]
fn values_are_those_of_the_cel_crate() {
    let outcomes: Vec<bool> =
        (0..4_000).filter_map(|seed: u64| same_as_cel(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15))).collect();
    let valued = outcomes.iter().filter(|it| **it).count();
    assert!(valued * 10 > outcomes.len() * 3, "only {valued} of {} had a value", outcomes.len());
}

proptest! {
    #[test]
    fn the_checker_and_the_evaluator_agree(seed: u64) {
        agrees(seed);
    }

    #[test]
    fn no_text_makes_it_panic(source in "[a-c.,:?()\\[\\]{}!&|=<>+*/% '\"\\\\0-9\\-éu\n]{0,60}") {
        if let Ok(expression) = Expression::parse(&source) {
            let checked = expression.check(&IndexMap::from([("a".to_owned(), Type::Any)]));
            for fault in checked.faults {
                prop_assert!(source.get(fault.range).is_some());
            }
            let _ = expression.evaluate(&json!({"a": 1, "b": [1], "c": {"a": "x"}}));
        }
    }

    #[test]
    fn no_string_of_tokens_makes_it_panic(tokens in prop::collection::vec(prop::sample::select(vec![
        "a", "b", ".", "(", ")", "[", "]", "{", "}", ",", ":", "?", "&&", "||", "!", "-", "==", "in", "'x'", "1", "1.5",
        "1u", "null", "true", "has(", ".exists(a,", ".map(b,", "size(", "b'x'", "r'\\", "// c\n", "`", "\"\"\"", "\\", "é",
    ]), 0..40)) {
        let source = tokens.join("");
        match Expression::parse(&source) {
            Ok(expression) => {
                expression.check(&IndexMap::new());
                let _ = expression.evaluate(&json!({"a": 1}));
            }
            Err(fault) => prop_assert!(source.get(fault.range).is_some()),
        }
    }
}

#[test]
fn no_damage_to_an_expression_makes_it_panic() {
    let scraps = [
        ".", "'", "\"", "(", ")", "[", "]", ",", ":", "?", "!", "-", "=", "in", "1", "1u", "x.", "null", "`",
        "\\", "é", "//", "{", "}", "0x", "1e", ".5", "@", "'''", "b'", "r\"", " ", "\n", "&", "|", "%",
        "has", "if", "\u{0}", "[?", ".?",
    ];
    for seed in 0..DAMAGED {
        let Case { mut source, types, values } = case(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let mut random = Random(seed | 1);
        for _ in 0..=random.below(3) {
            let at = source.floor_char_boundary(random.below(source.len() + 1));
            if random.below(2) == 0 {
                source.insert_str(at, scraps[random.below(scraps.len())]);
            } else if at < source.len() {
                source.remove(at);
            }
        }
        match Expression::parse(&source) {
            Ok(expression) => {
                for fault in expression.check(&types).faults {
                    assert!(source.get(fault.range).is_some(), "{source}");
                }
                let _ = expression.evaluate(&values);
            }
            Err(fault) => assert!(source.get(fault.range).is_some(), "{source}"),
        }
    }
}

#[test]
fn the_deepest_expressions_fit_a_small_stack() {
    let worst = [
        ("(", ")"),
        ("f(", ")"),
        ("[", "]"),
        ("{'a':", "}"),
        ("a.map(a,", ")"),
        ("!(", ")"),
        ("a[", "]"),
        ("a ? a : ", ""),
        ("", "+a"),
        ("", ".a"),
        ("a ? (", ") : a"),
    ];
    let run = move || {
        for (open, close) in worst {
            let mut read = 0;
            for depth in 1..2048 {
                let source = format!("{}a{}", open.repeat(depth), close.repeat(depth));
                let Ok(expression) = Expression::parse(&source) else { break };
                read = depth;
                if depth % 16 == 0 || depth > 12 {
                    expression.check(&IndexMap::new());
                    let _ = expression.evaluate(&json!({"a": [1]}));
                }
            }
            assert!(read >= 12, "only {read} of {open}{close}");
        }
    };
    std::thread::Builder::new().stack_size(1024 * 1024).spawn(run).expect("starts").join().expect("fits");
}
