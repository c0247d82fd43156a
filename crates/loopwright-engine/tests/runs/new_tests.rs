//! The checks of the library, with the test runners of three languages.

use indexmap::IndexMap;
use loopwright_core::machine::{Event, Evidence};
use loopwright_engine::{Begin, Config, Project};

use crate::bench::{Bench, run, workflow};
use crate::issue_files::{CRATE, UNITTEST};

const RED: &str = r#"
workflow: red
subject: thing
documents: {code: {files: ["**"]}}
roles: {tester: {agent: tester, prompt: "Write tests.", may-write: [code]}}
defaults: {failures: failed}
states:
  write: {agent: tester, then: prove}
  prove: {check: {named: CHECK}, on: {pass: red, fail: green}}
  red: {end: success}
  green: {end: stopped}
  failed: {end: failure}
"#;

/// A crate with a stub.
const STUBBED: &[(&str, &str)] = &[
    CRATE[0],
    CRATE[1],
    CRATE[2],
    (
        "src/lib.rs",
        "pub fn total(prices: &[u32]) -> u32 {\n    prices.iter().sum()\n}\n\npub fn mean(_prices: &[u32]) -> u32 {\n    todo!()\n}\n",
    ),
    CRATE[4],
];

const PACKAGE: &[(&str, &str)] = &[
    (
        "package.json",
        "{\"name\": \"money\", \"type\": \"module\", \"scripts\": {\"test\": \"node --test\"}}\n",
    ),
    ("src/money.js", "export const total = (prices) => prices.reduce((a, b) => a + b, 0);\n"),
];

const PYTHON: &[(&str, &str)] = &[
    ("pyproject.toml", "[project]\nname = \"money\"\nversion = \"0.1.0\"\n"),
    (".gitignore", "__pycache__/\n"),
    ("money.py", "def total(prices):\n    return sum(prices)\n"),
    ("tests/__init__.py", ""),
];

struct Case {
    what: &'static str,
    check: &'static str,
    files: &'static [(&'static str, &'static str)],
    /// The command that runs the tests, where it is not the usual one.
    command: &'static str,
    /// What the tester writes, and where.
    writes: (&'static str, &'static str),
    end: &'static str,
    says: &'static str,
}

/// Plays a case: where the run ends, and what the check said.
fn play(case: &Case) {
    let bench = Bench::with(case.files);
    let (path, text) = case.writes;
    bench.write(".git/new", text);
    let writes = format!("mkdir -p \"$(dirname '{path}')\"; cp .git/new '{path}'");
    let mut engine = bench.engine(&[("tester", if path.is_empty() { "true" } else { &writes })]);
    engine.project = Project::at(bench.path());
    if !case.command.is_empty() {
        let project = IndexMap::from([("test".to_owned(), case.command.to_owned())]);
        engine.project = engine.project.with(&Config { project, ..Config::default() });
    }
    let begin = Begin { subject: "it".into(), ..Begin::default() };
    let folder = workflow(&RED.replace("CHECK", case.check));
    let (name, standing) = run(&engine, &folder, &begin).unwrap_or_else(|it| panic!("{}: {it}", case.what));
    let events = engine.journal.events(&name, 0).expect("events");
    let said = events.iter().find_map(|it| match &it.event {
        Event::Settled { effect, evidence: Evidence::Out(outcome) } if &*effect.state == "prove" => {
            Some(format!("{}\n{}", outcome.summary, outcome.output))
        }
        _ => None,
    });
    let said = said.unwrap_or_default();
    assert!(said.contains(case.says), "{}: {said}", case.what);
    assert_eq!(&*standing.run().at.state, case.end, "{}: {said}", case.what);
}

#[test]
fn tests_in_rust_end_in_a_stub_before_there_is_more() {
    let good = "#[test]\nfn means() {\n    assert_eq!(money::mean(&[2, 4]), 3);\n}\n";
    let case =
        |what, check, writes, end, says| Case { what, check, files: STUBBED, command: "", writes, end, says };
    for case in [
        case("one that ends in a stub", "every-test-hits-todo", ("tests/new.rs", good), "red", "`means`"),
        case(
            "one that only looks at a type",
            "every-test-hits-todo",
            (
                "tests/new.rs",
                "#[test]\nfn is_a_function() {\n    let _: fn(&[u32]) -> u32 = money::mean;\n}\n",
            ),
            "green",
            "`is_a_function` (tests/new.rs:2) passes already, so it does not reach a stub",
        ),
        case(
            "one of several that fails elsewhere, behind another file that fails",
            "every-test-hits-todo",
            (
                "tests/new.rs",
                "#[test]\nfn means() {\n    money::mean(&[1]);\n}\n\n#[test]\nfn totals() {\n    assert_eq!(money::total(&[1]), 2);\n}\n",
            ),
            "green",
            "1 of 2 new tests is not as it should be: `totals` (tests/new.rs:7) fails, but not in a `todo!()`",
        ),
        case("one that fails", "new-tests-fail", ("tests/new.rs", good), "red", "`means`"),
        case(
            "one that does not compile",
            "new-tests-fail",
            ("tests/new.rs", "#[test]\nfn medians() {\n    assert_eq!(money::median(&[2]), 2);\n}\n"),
            "green",
            "does not compile, which says nothing about what it tests: error[E0425]",
        ),
        case("none at all", "new-tests-fail", ("", ""), "green", "no test was added or changed"),
    ] {
        play(&case);
    }
}

#[test]
fn tests_in_javascript_fail_before_there_is_anything_to_pass_them() {
    let head = "import { test } from \"node:test\";\nimport assert from \"node:assert\";\n";
    let passes = format!(
        "{head}import {{ total }} from \"../src/money.js\";\ntest(\"totals\", () => assert.equal(total([1]), 1));\n"
    );
    let missing = format!(
        "{head}import {{ mean }} from \"../src/money.js\";\ntest(\"means\", () => assert.equal(mean([1]), 1));\n"
    );
    let case = |what, text: String, end, says| Case {
        what,
        check: "new-tests-fail",
        files: PACKAGE,
        command: "",
        writes: ("test/new.test.js", text.leak()),
        end,
        says,
    };
    play(&case("one that passes already", passes, "green", "`totals` (test/new.test.js:4) passes already"));
    play(&case("one that needs what is not there yet", missing, "red", "`means`"));
    play(&case(
        "one that is no JavaScript",
        "test(\"x\", ( => {});\n".to_owned(),
        "green",
        "cannot be loaded",
    ));
}

#[test]
fn tests_in_python_fail_before_there_is_anything_to_pass_them() {
    let passes = "import unittest\nimport money\n\n\nclass Sums(unittest.TestCase):\n    def test_total(self):\n        self.assertEqual(money.total([1]), 1)\n\n    def test_mean(self):\n        self.assertEqual(money.mean([1]), 1)\n";
    let case = |what, command, text, end, says| Case {
        what,
        check: "new-tests-fail",
        files: PYTHON,
        command,
        writes: ("tests/test_new.py", text),
        end,
        says,
    };
    for case in [
        case(
            "one passes already",
            UNITTEST,
            passes,
            "green",
            "1 of 2 new tests is not as it should be: `test_total`",
        ),
        case(
            "a module that is not there yet",
            UNITTEST,
            "import unittest\nfrom rates import rate\n\n\nclass Rates(unittest.TestCase):\n    def test_rate(self):\n        self.assertEqual(rate(), 1)\n",
            "red",
            "`test_rate`",
        ),
        case("a command that cannot be run", "no-such-runner", passes, "green", "could not be run"),
        case("a command that says nothing", "true", passes, "green", "was not seen to fail"),
    ] {
        play(&case);
    }
}

#[test]
fn no_run_is_begun_without_a_command_for_tests() {
    let bench = Bench::with(&[("a", "a\n")]);
    let mut engine = bench.engine(&[("tester", "true")]);
    engine.project = Project::default();
    let begin = Begin { subject: "it".into(), ..Begin::default() };
    let folder = workflow(&RED.replace("CHECK", "new-tests-fail"));
    let told = run(&engine, &folder, &begin).expect_err("no command").to_string();
    assert!(
        told.contains("`prove` runs the project's own `test`, and there is no command for that"),
        "{told}"
    );
    assert_eq!(engine.journal.runs().expect("runs"), []);
}
