//! Criteria.

use loopwright_formats::team::acceptance::Acceptance;
use serde_json::{Value, json};

use super::{differ, told};

fn one(rest: &Value) -> Value {
    let mut criterion = json!({"id": "AC-001", "description": "it works"});
    for (key, value) in rest.as_object().unwrap() {
        criterion[key] = value.clone();
    }
    json!({"acceptance_criteria": [criterion]})
}

#[test]
fn a_criterion_is_verified_as_it_says_in_every_spelling() {
    let cases: Vec<(&str, Value, &[&str], &[&str])> = vec![
        ("a list", json!({"verify": ["npm test", "manual: look"]}), &["npm test"], &["AC-001: look"]),
        ("one text", json!({"verify": "npm test"}), &["npm test"], &[]),
        (
            "a prefix",
            json!({"verify": ["cmd: npm test", "CMD:npm run lint"]}),
            &["npm test", "npm run lint"],
            &[],
        ),
        (
            "maps",
            json!({"verify": [{"cmd": "npm test"}, {"manual": "look"}]}),
            &["npm test"],
            &["AC-001: look"],
        ),
        ("one map", json!({"verify": {"command": "npm test"}}), &["npm test"], &[]),
        (
            "a map of more",
            json!({"verify": [{"manual": "look", "at": "the page"}]}),
            &[],
            &["AC-001: look, at: the page"],
        ),
        ("code in ticks", json!({"verify": ["cmd: `npm test`", "`ls`"]}), &["npm test", "ls"], &[]),
        ("ticks inside", json!({"verify": ["`a` && `b`"]}), &["`a` && `b`"], &[]),
        ("a colon inside", json!({"verify": ["cmd: curl http://x/y"]}), &["curl http://x/y"], &[]),
        (
            "no colon",
            json!({"verify": ["Manual check of the page"]}),
            &[],
            &["AC-001: Manual check of the page"],
        ),
        ("a program of that name", json!({"verify": ["manually-run x"]}), &["manually-run x"], &[]),
        ("twice the same", json!({"verify": ["npm test", "cmd: npm test"]}), &["npm test"], &[]),
        // The first generation.
        ("commands", json!({"commands": ["npm test"], "expected_result": "all pass"}), &["npm test"], &[]),
        ("one command", json!({"commands": "npm test"}), &["npm test"], &[]),
        ("a kind", json!({"verification": "automated", "commands": ["npm test"]}), &["npm test"], &[]),
        (
            "a sentence",
            json!({"verification": "Open the page", "commands": ["npm test"]}),
            &["npm test"],
            &["AC-001: Open the page"],
        ),
        (
            "a sentence with a colon",
            json!({"verification": "Krok: otworzyć stronę", "expected_result": "widać listę"}),
            &[],
            &["AC-001: Krok: otworzyć stronę (expected: widać listę)"],
        ),
        ("sentences", json!({"verification": ["Open it", "cmd: ls"]}), &["ls"], &["AC-001: Open it"]),
        ("by hand", json!({"verification": "manual", "expected_result": "a list"}), &[], &["AC-001: a list"]),
        (
            "commands for a person",
            json!({"verification": "manual", "commands": ["open x.html"], "expected_result": "a list"}),
            &[],
            &["AC-001: open x.html (expected: a list)"],
        ),
        (
            "all in one map",
            json!({"verification": {"kind": "cmd", "commands": [{"cmd": "npm test"}], "expected_result": "all pass"}}),
            &["npm test"],
            &[],
        ),
        (
            "maps in a list hide nothing",
            json!({"verification": [{"commands": ["npm run a", "npm run b"]}]}),
            &[],
            &["AC-001: npm run a, npm run b"],
        ),
        ("both generations", json!({"verify": ["a"], "commands": ["b"]}), &["a", "b"], &[]),
        // Nobody said how: a person has to look.
        ("nothing", json!({}), &[], &["AC-001: it works"]),
        ("an empty list", json!({"verify": []}), &[], &["AC-001: it works"]),
        ("only a kind", json!({"verification": "automated"}), &[], &["AC-001: it works"]),
    ];
    let mut wrong = Vec::new();
    for (title, rest, commands, manual) in cases {
        let found = Acceptance::read(&one(&rest));
        differ(&mut wrong, title, &told(&found.problems), &Vec::new());
        differ(&mut wrong, title, &found.commands(), &commands.iter().map(|it| (*it).to_owned()).collect());
        differ(&mut wrong, title, &found.manual(), &manual.iter().map(|it| (*it).to_owned()).collect());
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn criteria_stand_where_either_generation_puts_them() {
    let criterion = json!({"id": 7, "title": "it works", "verify": ["ls", "manual: look"]});
    for file in
        [json!({"acceptance_criteria": [criterion]}), json!({"criteria": [criterion]}), json!([criterion])]
    {
        let found = Acceptance::read(&file);
        assert_eq!((told(&found.problems), told(&found.lacking)), (Vec::new(), Vec::new()), "{file}");
        let [it] = found.criteria.as_slice() else { unreachable!("{file}") };
        assert_eq!((it.id.as_str(), it.description.as_str()), ("7", "it works"));
        assert_eq!(it.verified_by(), ["ls", "manual: look"]);
    }
}

#[test]
fn what_cannot_be_understood_is_refused_at_its_place() {
    let cases: Vec<(Value, &[&str])> = vec![
        (json!({}), &[": there is no list `acceptance_criteria`"]),
        (json!(null), &[": there is no list `acceptance_criteria`"]),
        (json!("AC"), &[": there is no list `acceptance_criteria`"]),
        (json!({"criteria": "AC"}), &["criteria: this is no list of criteria"]),
        (json!({"criteria": {"AC-001": {}}}), &["criteria: this is no list of criteria"]),
        (
            json!({"acceptance_criteria": [{"id": "a", "description": "b", "verify": "c"}], "criteria": []}),
            &["criteria: there is a list `acceptance_criteria` too: leave one of them"],
        ),
        (json!([7]), &["0: this is no criterion with `id`, `description` and `verify`"]),
        (
            json!({"criteria": ["x"]}),
            &["criteria.0: this is no criterion with `id`, `description` and `verify`"],
        ),
        (json!({"criteria": [{}]}), &["criteria.0: this criterion says nothing"]),
        (
            one(
                &json!({"verify": [1, {"see": "x"}, "", "cmd:", {"cmd": null}, {"cmd": ["a"]}, {"cmd": "a", "manual": "b"}]}),
            ),
            &[
                "acceptance_criteria.0.verify.0: this is no check: write `\"cmd: ...\"` or `\"manual: ...\"`",
                "acceptance_criteria.0.verify.1: this is no check: write `\"cmd: ...\"` or `\"manual: ...\"`",
                "acceptance_criteria.0.verify.2: this check says nothing",
                "acceptance_criteria.0.verify.3: this check says nothing",
                "acceptance_criteria.0.verify.4: this check says nothing",
                "acceptance_criteria.0.verify.5: this is no check: write `\"cmd: ...\"` or `\"manual: ...\"`",
                "acceptance_criteria.0.verify.6: this is no check: write `\"cmd: ...\"` or `\"manual: ...\"`",
            ],
        ),
        (
            one(&json!({"commands": [true], "verification": [3]})),
            &[
                "acceptance_criteria.0.commands.0: this is no check: write `\"cmd: ...\"` or `\"manual: ...\"`",
                "acceptance_criteria.0.verification.0: this is no check: write `\"cmd: ...\"` or `\"manual: ...\"`",
            ],
        ),
    ];
    let mut wrong = Vec::new();
    for (file, wanted) in cases {
        let found = told(&Acceptance::read(&file).problems);
        differ(&mut wrong, &file.to_string(), &found, &wanted.iter().map(|it| (*it).to_owned()).collect());
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_file_counts_once_every_criterion_is_whole() {
    let whole = |id: &str| json!({"id": id, "description": "it works", "verify": ["ls"]});
    let without = |name: &str| {
        let mut criterion = whole("a");
        criterion.as_object_mut().unwrap().shift_remove(name);
        json!([whole("b"), criterion])
    };
    let cases: Vec<(Value, &[&str])> = vec![
        (json!([whole("a"), whole("b")]), &[]),
        (json!([]), &[": there is no criterion"]),
        (json!({"criteria": []}), &["criteria: there is no criterion"]),
        (json!([whole("a"), whole("b"), whole("a")]), &["2.id: `a` is there twice"]),
        (without("id"), &["1.id: this criterion has no `id`"]),
        (without("description"), &["1.description: `a` has no `description`"]),
        (without("verify"), &["1.verify: nothing says how `a` is verified (`verify`)"]),
    ];
    let mut wrong = Vec::new();
    for (file, wanted) in cases {
        let found = told(&Acceptance::read(&file).lacking);
        differ(&mut wrong, &file.to_string(), &found, &wanted.iter().map(|it| (*it).to_owned()).collect());
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
