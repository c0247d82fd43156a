//! Rules on what a role changes: what breaks one is undone, and it is said which and where.

use loopwright_engine::Begin;

use crate::bench::{Bench, run, workflow};

fn ruled(rule: &str) -> String {
    format!(
        r#"
workflow: ruled
subject: thing
documents:
  code: {{files: ["src/**", "tests/**"]}}
  script: {{file: test.sh}}
roles:
  coder: {{agent: coder, prompt: "Write.", may-write: [code, script], rules: [{rule}]}}
states:
  write: {{agent: coder, then: checks, on: {{out-of-bounds: outside, failures: failed}}}}
  checks: {{check: {{run: "true", uses: [script]}}, on: {{pass: done, fail: failed, failures: failed}}}}
  done: {{end: success}}
  outside: {{end: refused}}
  failed: {{end: failure}}
"#
    )
}

/// The rule, what the worker does, where that leads, what a file is then, and what is said.
type Case = (&'static str, &'static str, &'static str, (&'static str, &'static str), &'static str);

const CODE: &str = "pub fn one() -> u8 {\n    1\n}\n";

const CASES: &[Case] = &[
    ("tests-only", "printf '#[test]\\nfn t() {}\\n' > tests/a.rs", "done", ("src/lib.rs", CODE), ""),
    (
        "tests-only",
        "echo '// more' >> src/lib.rs; printf '#[test]\\nfn t() {}\\n' > tests/a.rs",
        "outside",
        ("src/lib.rs", CODE),
        "src/lib.rs:",
    ),
    (
        "no-test-edits",
        "rm tests/old.rs",
        "outside",
        ("tests/old.rs", "#[test]\nfn old() {}\n"),
        "rule `no-test-edits`",
    ),
    ("read-only", "echo x > src/new", "outside", ("src/lib.rs", CODE), "src/new"),
    ("gate-files", "echo x > src/new", "done", ("src/new", "x\n"), ""),
    ("gate-files", "echo 'exit 0' > test.sh", "outside", ("test.sh", "true"), "test.sh"),
];

#[test]
fn what_breaks_a_rule_is_undone_and_said() {
    for (rule, does, leads, (path, text), says) in CASES {
        let files = [("src/lib.rs", CODE), ("tests/old.rs", "#[test]\nfn old() {}\n"), ("test.sh", "true")];
        let bench = Bench::with(&files);
        let script = format!("cat > /dev/null; {does}");
        let engine = bench.engine(&[("coder", &script)]);
        let begin = Begin { subject: "thing".into(), ..Begin::default() };
        let (name, standing) = run(&engine, &workflow(&ruled(rule)), &begin).expect("it runs");
        assert_eq!(&*standing.run().at.state, *leads, "{rule}: {does}: {:?}", bench.lines());
        assert_eq!(bench.read(path), *text, "{rule}: {does}");
        let said = format!("{:?}", engine.journal.events(&name, 0).expect("events"));
        assert!(said.contains(says), "{rule}: {does}: {said}");
    }
}
