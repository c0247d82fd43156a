//! Whole runs of `issue`: a real crate, its real tests, and agents that are shell scripts.

use crate::bench::Bench;
use crate::issue_files::{CRATE, ISSUE, bench, commits, take_up, walk};

/// Sees where a run ends, and gives what every step came to.
fn ends(bench: &Bench, end: &str) -> String {
    let (standing, told) = take_up(bench);
    assert_eq!(&*standing.run().at.state, end, "{told}");
    told
}

#[test]
fn one_task_of_three_is_done_and_the_others_are_filed() {
    let bench = bench(CRATE, &[]);
    ends(&bench, "part-done");
    assert_eq!(
        walk(&bench),
        [
            "plan.1 done",
            "review-plan.1 ACCEPTABLE",
            "split.1 done",
            "review-split.1 ACCEPTABLE",
            "stub.1 done",
            "stub-check.1 pass",
            "write-tests.1 TESTS_READY",
            "panic-coverage.1 pass",
            "implement.1 COMPLETE",
            "green.1 pass",
            "final-review.1 ACCEPTABLE",
            "assess.1 done",
        ]
    );
    assert_eq!(
        commits(&bench),
        [
            "feat: scaffold GAL-7 with todo!() stubs",
            "feat: Averages (GAL-7)",
            "chore(todo): progress on GAL-7"
        ]
    );
    assert_eq!(bench.git(&["status", "--porcelain"]), "");
    let issue = bench.read("TODO/GAL-7.md");
    assert!(issue.contains("status: In Progress"), "{issue}");
    assert!(issue.contains("- [x] The mean of prices") && issue.contains("- [ ] The median"), "{issue}");
    let median = bench.read("TODO/GAL-8.md");
    for piece in
        ["title: Median", "parent: GAL-7", "split-from-run", "Median, exactly.", "on the branch `gal-7`"]
    {
        assert!(median.contains(piece), "{piece}: {median}");
    }
    let report = bench.read("TODO/GAL-9.md");
    assert!(report.contains("depends-on: [GAL-8]") && report.contains("title: Report"), "{report}");
    assert!(
        issue.contains("- [ ] [GAL-8](GAL-8.md): Median\n  - [ ] ↳ [GAL-9](GAL-9.md): Report"),
        "{issue}"
    );
    assert!(bench.read("TODO/README.md").contains("[GAL-7](GAL-7.md): Averages (In Progress)"));
    assert!(bench.read(".workflow/run-GAL-7/summary.md").contains("GAL-7: Averages"));
}

/// Writes a single task that brings nothing tests would have to name.
const ONE_TASK: &str = "task 1 Mean \"$FILES\" '' false";
const ALL_MET: &str = r#"say '{"verdict": "done", "summary": "all hold", "met": ["1", "2"], "bugs": []}'"#;

#[test]
fn python_and_javascript_are_tested_first_as_well() {
    let python: (&[(&str, &str)], &str) = (
        &[
            ("pyproject.toml", "[project]\nname = \"money\"\nversion = \"0.1.0\"\n"),
            (".gitignore", "__pycache__/\n"),
            (".loopwright/config.yaml", ""),
            ("money.py", "def total(prices):\n    return sum(prices)\n"),
            ("tests/__init__.py", ""),
        ],
        "FILES='money.py, tests/test_mean.py'; TEST=tests/test_mean.py; SOURCE=money.py
test_code() { printf 'import unittest\\nimport money\\n\\n\\nclass Means(unittest.TestCase):\\n    def test_mean(self):\\n        self.assertEqual(money.mean([2, 4]), 3)\\n'; }
code() { printf '\\n\\ndef mean(prices):\\n    return total(prices) / len(prices)\\n'; }",
    );
    let javascript: (&[(&str, &str)], &str) = (
        &[
            ("package.json", "{\"name\": \"money\", \"type\": \"module\", \"scripts\": {\"test\": \"node --test\"}}\n"),
            ("src/money.js", "export const total = (prices) => prices.reduce((a, b) => a + b, 0);\n"),
        ],
        "FILES='src/money.js, test/mean.test.js'; TEST=test/mean.test.js; SOURCE=src/money.js
test_code() { printf 'import { test } from \"node:test\";\\nimport assert from \"node:assert\";\\nimport { mean } from \"../src/money.js\";\\ntest(\"means\", () => assert.equal(mean([2, 4]), 3));\\n'; }
code() { printf 'export const mean = (prices) => total(prices) / prices.length;\\n'; }",
    );
    for (files, language) in [python, javascript] {
        let files: Vec<(&str, &str)> =
            files.iter().chain(CRATE.iter().filter(|it| it.0.starts_with("TODO/"))).copied().collect();
        let turn = |text: &str| format!("{language}\n{text}");
        let tests = turn(
            "mkdir -p \"$(dirname $TEST)\"; test_code > $TEST; say '{\"verdict\": \"TESTS_READY\", \"escalate\": \"no\", \"summary\": \"one\"}'",
        );
        let code = turn("code >> $SOURCE; say '{\"verdict\": \"COMPLETE\", \"summary\": \"done\"}'");
        let turns =
            [("split", &*turn(ONE_TASK)), ("write-tests", &tests), ("implement", &code), ("assess", ALL_MET)];
        let bench = bench(&files, &turns);
        let told = ends(&bench, "done");
        assert!(told.contains("red.1 pass: the new test fails, as it should: `"), "{told}");
        assert_eq!(commits(&bench), ["feat: Averages (GAL-7)", "chore(todo): close GAL-7"]);
        assert!(bench.read("TODO/GAL-7.md").contains("status: Done"));
        assert!(bench.read("TODO/README.md").contains("- [x] [GAL-7]"), "{}", bench.read("TODO/README.md"));
        assert_eq!(bench.git(&["status", "--porcelain"]), "");
    }
}

/// What somebody does who may not, and what is done about it.
struct Overstep {
    what: &'static str,
    turn: (&'static str, &'static str),
    /// What is said of it.
    says: &'static str,
    /// How often they are called.
    calls: usize,
    /// A file that is as it was before, or not there.
    kept: (&'static str, &'static str),
}

const OVERSTEPS: &[Overstep] = &[
    Overstep {
        what: "a tester who writes the code",
        turn: (
            "write-tests.1",
            r#"case "$LOOPWRIGHT_ATTEMPT" in 1) sed -i 's/    todo!()/    3/' src/lib.rs ;; esac
printf '#[test]\nfn means() {\n    assert_eq!(money::mean(&[2, 4]), 3);\n}\n' > tests/mean.rs
say '{"verdict": "TESTS_READY", "escalate": "no", "summary": "means"}'"#,
        ),
        says: "write-tests.1 out-of-bounds: ",
        calls: 2,
        kept: ("", ""),
    },
    Overstep {
        what: "a tester who writes the code in a test module's file",
        turn: (
            "write-tests.1",
            r#"case "$LOOPWRIGHT_ATTEMPT" in 1) sed -i 's/    todo!()/    3/' src/lib.rs; printf '\n#[cfg(test)]\nmod tests {\n    #[test]\n    fn means() {\n        assert_eq!(super::mean(&[2]), 2);\n    }\n}\n' >> src/lib.rs ;; *)
printf '#[test]\nfn means() {\n    assert_eq!(money::mean(&[2, 4]), 3);\n}\n' > tests/mean.rs ;; esac
say '{"verdict": "TESTS_READY", "escalate": "no", "summary": "means"}'"#,
        ),
        says: "what changed here is not test code, and only tests may change",
        calls: 2,
        kept: ("", ""),
    },
    Overstep {
        what: "a maker who makes the test fit",
        turn: (
            "implement.1",
            r#"case "$LOOPWRIGHT_ATTEMPT" in 1) printf '#[test]\nfn means() {}\n' > tests/mean.rs ;; *)
sed -i -e 's/_prices/prices/' -e 's/    todo!()/    total(prices) \/ 2/' src/lib.rs ;; esac
say '{"verdict": "COMPLETE", "summary": "done"}'"#,
        ),
        says: "tests/mean.rs: the file was changed, but it is test code, which may not be edited here",
        calls: 2,
        kept: ("tests/mean.rs", "#[test]\nfn means() {\n    assert_eq!(money::mean(&[2, 4]), 3);\n}\n"),
    },
    Overstep {
        what: "a maker who works beyond the task",
        turn: (
            "implement.1",
            r#"case "$LOOPWRIGHT_ATTEMPT" in 1) echo 'pub fn more() {}' > src/more.rs ;; *)
sed -i -e 's/_prices/prices/' -e 's/    todo!()/    total(prices) \/ 2/' src/lib.rs ;; esac
say '{"verdict": "COMPLETE", "summary": "done"}'"#,
        ),
        says: "src/more.rs: the file was added, but the task does not list it",
        calls: 2,
        kept: ("src/more.rs", ""),
    },
    Overstep {
        what: "a maker of stubs who writes more than stubs",
        turn: (
            "stub.1",
            r#"case "$LOOPWRIGHT_ATTEMPT" in 1) body='prices.len() as u32' ;; *) body='todo!()' ;; esac
printf '\npub fn mean(_prices: &[u32]) -> u32 {\n    %s\n}\n' "$body" >> src/lib.rs"#,
        ),
        says: "the body of `mean` is new and must be exactly `todo!()`",
        calls: 2,
        kept: ("", ""),
    },
    Overstep {
        what: "a reviewer who mends what it finds",
        turn: (
            "final-review.1",
            r#"case "$LOOPWRIGHT_ATTEMPT" in 1) echo '// reviewed' >> src/lib.rs; echo x > notes.md ;; esac
say '{"verdict": "ACCEPTABLE", "summary": "good", "findings": []}'"#,
        ),
        says: "final-review.1 out-of-bounds: ",
        calls: 2,
        kept: ("notes.md", ""),
    },
    Overstep {
        what: "a planner who writes code",
        turn: (
            "plan.1",
            r#"mkdir -p "$of"; printf '# Averages\n\nAdd `mean`.\n' > "$of/plan.md"
case "$LOOPWRIGHT_ATTEMPT" in 1) echo 'pub fn more() {}' >> src/lib.rs ;; esac"#,
        ),
        says: "plan.1 out-of-bounds: ",
        calls: 2,
        kept: ("", ""),
    },
    Overstep {
        what: "a maker who commits",
        turn: (
            "implement.1",
            r#"sed -i -e 's/_prices/prices/' -e 's/    todo!()/    total(prices) \/ 2/' src/lib.rs
case "$LOOPWRIGHT_ATTEMPT" in 1) git commit --quiet --all --message mine ;; esac
say '{"verdict": "COMPLETE", "summary": "done"}'"#,
        ),
        says: "was committed, which is for the workflow to do",
        calls: 1,
        kept: ("", ""),
    },
];

#[test]
fn nobody_does_the_work_of_another() {
    for case in OVERSTEPS {
        let bench = bench(CRATE, &[case.turn]);
        let told = ends(&bench, "part-done");
        assert!(told.contains(case.says), "{}: {told}", case.what);
        let asked = told.lines().filter(|it| it.starts_with(&format!("{} ", case.turn.0))).count();
        assert_eq!(asked, case.calls, "{}: {told}", case.what);
        let (path, text) = case.kept;
        if !path.is_empty() {
            let now = std::fs::read_to_string(bench.path().join(path)).unwrap_or_default();
            assert_eq!(now, text, "{}", case.what);
        }
        let expected = [
            "feat: scaffold GAL-7 with todo!() stubs",
            "feat: Averages (GAL-7)",
            "chore(todo): progress on GAL-7",
        ];
        assert_eq!(commits(&bench), expected, "{}", case.what);
    }
}

#[test]
fn tests_that_prove_nothing_are_sent_back_with_the_reason() {
    let passes = r#"printf '#[test]\nfn is_a_function() {\n    let _: fn(&[u32]) -> u32 = money::mean;\n}\n' > tests/mean.rs
say '{"verdict": "TESTS_READY", "escalate": "no", "summary": "one"}'"#;
    let bench = bench(CRATE, &[("write-tests.1", passes)]);
    let told = ends(&bench, "part-done");
    assert!(
        told.contains("panic-coverage.1 fail: the new test is not as it should be: `is_a_function`"),
        "{told}"
    );
    assert!(told.contains("panic-coverage.2 pass"), "{told}");
    let prompt = std::fs::read_to_string(bench.around().join("prompt.write-tests.2")).expect("a prompt");
    assert!(
        prompt.contains("`is_a_function` (tests/mean.rs:2) passes already, so it does not reach a stub"),
        "{prompt}"
    );
}

#[test]
fn what_the_review_finds_is_mended_from_a_paper_and_reviewed_again() {
    let finds = r#"cp "$of"/task-*.md ..
say '{"verdict": "NEEDS_WORK", "summary": "one fault", "findings": [{"severity": "fault", "topic": "code", "file": "src/lib.rs", "text": "No prices at all: it has to be zero."}]}'"#;
    let fixes = r#"cp "$of"/task-fix-*.md ..
sed -i 's/    total(prices)/    if prices.is_empty() { return 0; }\n    total(prices)/' src/lib.rs
say '{"verdict": "COMPLETE", "summary": "mended"}'"#;
    let bench = bench(CRATE, &[("final-review.1", finds), ("implement.2", fixes)]);
    let told = ends(&bench, "part-done");
    assert!(
        told.contains("final-review.1 NEEDS_WORK") && told.contains("final-review.2 ACCEPTABLE"),
        "{told}"
    );
    let paper = std::fs::read_to_string(bench.around().join("task-fix-1.md")).expect("a paper");
    assert!(
        paper.contains("No prices at all: it has to be zero.") && paper.contains("\"src/lib.rs\""),
        "{paper}"
    );
    let prompt = std::fs::read_to_string(bench.around().join("prompt.implement.2")).expect("a prompt");
    assert!(prompt.contains("No prices at all") && prompt.contains("task-fix-1"), "{prompt}");
    assert!(bench.read("src/lib.rs").contains("is_empty"));
}

#[test]
fn what_comes_up_is_filed_and_nothing_twice() {
    let finds = r#"say '{"verdict": "NEEDS_WORK", "summary": "one fault", "findings": [{"severity": "fault", "topic": "code", "file": "src/lib.rs", "text": "Sums can overflow."}]}'"#;
    let assess = r#"say '{"verdict": "done", "summary": "", "met": ["1"], "bugs": [{"id": "b1", "title": "Tests are slow", "text": "All of them sleep."}]}'"#;
    let bench = bench(
        CRATE,
        &[
            ("split", "task 1 Mean 'src/lib.rs, tests/mean.rs' '' true"),
            ("final-review", finds),
            ("assess", assess),
        ],
    );
    let told = ends(&bench, "part-done");
    // The same finding after its repair ends the loop; it is filed, and the summary says so.
    assert!(told.contains("final-review.2 NEEDS_WORK") && !told.contains("final-review.3"), "{told}");
    let filed = |id: &str| bench.read(&format!("TODO/{id}.md"));
    assert!(filed("GAL-8").contains("title: Tests are slow") && filed("GAL-8").contains("labels: [bug]"));
    assert!(filed("GAL-9").contains("Sums can overflow.") && filed("GAL-9").contains("labels: [followup]"));
    assert!(!bench.path().join("TODO/GAL-10.md").exists(), "an open follow-up carries what is left");
    assert!(bench.read(".workflow/run-GAL-7/summary.md").contains("Sums can overflow."));
}

#[test]
fn what_cannot_be_done_is_handed_back_with_the_reason() {
    let too_big = r#"say '{"verdict": "INCOMPLETE", "summary": "two things in one"}'"#;
    let split = r#"say '{"verdict": "SPLIT_NEEDED", "summary": "mean and median are two tasks"}'"#;
    let bench = bench(CRATE, &[("implement", too_big), ("diagnose", split)]);
    ends(&bench, "failed");
    let issue = bench.read("TODO/GAL-7.md");
    assert!(issue.contains("status: Todo") && issue.contains("## Comments"), "{issue}");
    assert!(issue.contains("stopped at diagnose (SPLIT_NEEDED). mean and median are two tasks"), "{issue}");
    assert_eq!(commits(&bench), ["feat: scaffold GAL-7 with todo!() stubs"]);
}

#[test]
fn a_run_is_refused_where_it_could_do_harm() {
    let cases: &[(&str, &[&str], &str)] = &[
        ("on the base branch", &["checkout", "--quiet", "main"], "wrong-place"),
        ("on no branch", &["checkout", "--quiet", "--detach"], "wrong-place"),
        ("with changes nobody committed", &["mv", "tests/total.rs", "tests/sum.rs"], "dirty"),
        ("without the issue", &["rm", "--quiet", "TODO/GAL-7.md"], "no-issue"),
    ];
    for (what, git, end) in cases {
        let bench = bench(CRATE, &[]);
        bench.git(git);
        if *end == "no-issue" {
            bench.git(&["commit", "--quiet", "--message", "gone"]);
        }
        let before = (bench.git(&["rev-parse", "HEAD"]), bench.git(&["status", "--porcelain"]));
        let (standing, _) = take_up(&bench);
        assert_eq!(&*standing.run().at.state, *end, "{what}");
        let after = (bench.git(&["rev-parse", "HEAD"]), bench.git(&["status", "--porcelain"]));
        assert_eq!(before, after, "{what}: nothing is touched");
        assert!(!bench.path().join(".workflow").exists(), "{what}");
    }
    for (what, status, depends, end) in [
        ("done already", "Done", "", "already-done"),
        ("that waits", "Todo", "depends-on: [GAL-3]\n", "waiting"),
    ] {
        let issue = ISSUE.replace("status: Todo\n", &format!("status: {status}\n{depends}"));
        let mut files = CRATE.to_vec();
        files.retain(|it| it.0 != "TODO/GAL-7.md");
        files.push(("TODO/GAL-7.md", &issue));
        let bench = bench(&files, &[]);
        ends(&bench, end);
        assert_eq!(bench.read("TODO/GAL-7.md"), issue, "one {what}");
    }
}
