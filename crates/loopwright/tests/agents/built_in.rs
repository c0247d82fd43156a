//! Built-in workflows from their first call to their end, with one agent in every role.

use std::fs;
use std::path::Path;

use loopwright_testkit::{Scripts, Step};
use serde_json::{Value, json};

use crate::bench::Bench;
use crate::real::Real;

/// A workflow as it is built in, where each prompt also says which script the model plays: that of its state.
fn workflow(bench: &Bench, name: &str) {
    let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../workflows").join(name);
    for folder in ["", "prompts", "schemas", "templates"] {
        for entry in fs::read_dir(from.join(folder)).expect("a folder") {
            let path = entry.expect("an entry").path();
            let Ok(text) = fs::read_to_string(&path) else { continue };
            let file = path.file_name().expect("a name").to_string_lossy().into_owned();
            let mark = if folder == "prompts" { "\n[[script:{{ state }}]]\n" } else { "" };
            let to = Path::new(".loopwright/workflows").join(name).join(folder).join(file);
            bench.write(&to.to_string_lossy(), &format!("{text}{mark}"));
        }
    }
}

/// A project in which one agent is everybody.
fn alone(agent: &Real, name: &str, scripts: Scripts, files: &[(&str, &str)], test: &str) -> Bench {
    let everybody = [("claude", agent), ("codex", agent), ("gemini", agent)];
    Bench::of_several(&everybody, scripts, |bench| {
        for (path, text) in files {
            bench.write(path, text);
        }
        workflow(bench, name);
        let config = bench.read(".loopwright/config.yaml").expect("a file");
        bench.write(".loopwright/config.yaml", &format!("{config}project: {{test: {test}}}\n"));
    })
}

/// Does something, then hands in what came of it.
fn works(steps: impl IntoIterator<Item = Step>, verdict: &Value) -> Vec<Step> {
    let handed_in = [Step::mcp("submit", verdict.clone()), Step::text("Done.")];
    steps.into_iter().chain(handed_in).collect()
}

fn judges(verdict: &str) -> Vec<Step> {
    let review = json!({"verdict": verdict, "summary": "nothing is missing", "findings": []});
    vec![Step::mcp("create_review", review), Step::text("Done.")]
}

/// Runs a command of the binary: what it says.
fn say(bench: &Bench, words: &[&str]) -> String {
    let ran = bench.loopwright(words);
    let said = format!("{}{}", String::from_utf8_lossy(&ran.stdout), String::from_utf8_lossy(&ran.stderr));
    assert!(ran.status.success(), "{words:?}: {said}\n{:#?}", bench.outcomes());
    said
}

const SPEC: &str = "cd .agents-work/*greet-people
printf '# Greetings\\n\\n## Goals\\n\\nGreet people.\\n\\n## Acceptance Criteria\\n\\n- AC-001\\n\\n## Definition of Done\\n\\nIt greets.\\n' > spec.md
printf '{\"acceptance_criteria\": [{\"id\": \"AC-001\", \"description\": \"it greets\", \"verify\": [\"test -s src/greeting.txt\"]}]}\\n' > acceptance.json
printf 'project: {name: greetings}\\ntasks:\\n  - {id: T-001, status: not-started, type: feat, title: Greet, depends_on: [], goal: greet people, acceptance_checks: [\"cmd: test -s src/greeting.txt\"], risk_flags: [none], done_when: [it greets]}\\n' > tasks.yaml";

pub(crate) fn a_lean_session_comes_to_its_report(agents: &[&Real]) {
    let ok = |more: Value| {
        let mut verdict = json!({"verdict": "OK", "summary": "as told"});
        verdict.as_object_mut().expect("an object").extend(more.as_object().cloned().unwrap_or_default());
        verdict
    };
    let scripts = Scripts::new()
        .with("intake-lean", works([Step::shell(SPEC)], &ok(json!({"research": "no", "ui": "no"}))))
        .with("code", works([Step::write("src/greeting.txt", "hello\n")], &ok(json!({"touches": "nothing"}))))
        .with("review", judges("OK"))
        .with("qa", judges("OK"))
        .with("security", judges("OK"));
    let files = [("test.sh", "test -s src/greeting.txt\n"), (".gitignore", ".agents-work/\n")];
    let bench = alone(agents[0], "team", scripts, &files, "sh test.sh");
    let said = say(&bench, &["team", "start", "Greet people", "--lean", "--unattended", "fail"]);
    assert!(said.contains("review.1 -> OK") && said.contains("success, at `done`"), "{said}");
    let sessions: Vec<_> = fs::read_dir(bench.repo().join(".agents-work")).expect("sessions").collect();
    let [Ok(session)] = sessions.as_slice() else { panic!("one session: {sessions:?}") };
    let read = |file: &str| fs::read_to_string(session.path().join(file)).expect("a file of the session");
    let status: Value = serde_json::from_str(&read("status.json")).expect("a status");
    assert_eq!((&status["current_state"], &status["mode"]), (&"DONE".into(), &"lean".into()));
    let report = read("report.md");
    assert!(report.contains("T-001 Greet (completed)") && report.contains("came out `pass`"), "{report}");
    assert_eq!(bench.read("src/greeting.txt").as_deref(), Some("hello\n"));
    assert_eq!(bench.left_running(), Vec::<String>::new());
}

const ISSUE: &str = "---\nid: GAL-7\ntitle: Averages\nstatus: Todo\n---\n\n## Acceptance criteria\n\n- [ ] The mean can be had.\n";

const TASK: &str = "---\ntitle: Mean\nfiles: [src/money.py, tests/test_mean.py]\ndepends-on: []\nnew-symbols: false\n---\n\n## Description\n\nThe mean.\n\n## Acceptance criteria\n\n- [ ] It is right.\n\n## Code context\n\n`src/money.py`.\n\n## Contracts\n\nA function.\n\n## Plan\n\nAdd it.\n";

const TEST: &str = "import unittest\nfrom src import money\n\n\nclass Means(unittest.TestCase):\n    def test_mean(self):\n        self.assertEqual(money.mean([2, 4]), 3)\n";

pub(crate) fn an_issue_becomes_a_commit(agents: &[&Real]) {
    let of = |file: &str| format!(".workflow/run-GAL-7/{file}");
    let done = json!({"verdict": "done", "summary": "as told"});
    let code = Step::shell(
        "printf '\\n\\ndef mean(prices):\\n    return total(prices) / len(prices)\\n' >> src/money.py",
    );
    let scripts = Scripts::new()
        .with("plan", works([Step::write(&of("plan.md"), "# Averages\n\nAdd `mean`.\n")], &done))
        .with("split", works([Step::write(&of("task-1.md"), TASK)], &done))
        .with(
            "write-tests",
            works(
                [Step::write("tests/test_mean.py", TEST)],
                &json!({"verdict": "TESTS_READY", "escalate": "no", "summary": "test_mean: criterion 1"}),
            ),
        )
        .with("implement", works([code], &json!({"verdict": "COMPLETE", "summary": "the mean is there"})))
        .with("review-plan", judges("ACCEPTABLE"))
        .with("final-review", judges("ACCEPTABLE"))
        .with(
            "assess",
            works([], &json!({"verdict": "done", "summary": "it holds", "met": ["1"], "bugs": []})),
        );
    let files = [
        ("src/__init__.py", ""),
        ("src/money.py", "def total(prices):\n    return sum(prices)\n"),
        ("tests/__init__.py", ""),
        (".gitignore", "__pycache__/\n"),
        ("TODO/GAL-7.md", ISSUE),
    ];
    let test = "python3 -m unittest discover --start-directory . --top-level-directory .";
    let bench = alone(agents[0], "issue", scripts, &files, test);
    let git = |words: &[&str]| {
        let ran =
            std::process::Command::new("git").args(words).current_dir(bench.repo()).output().expect("git");
        String::from_utf8_lossy(&ran.stdout).trim().to_owned()
    };
    git(&["checkout", "--quiet", "-b", "gal-7"]);
    let said = say(&bench, &["issue", "run", "GAL-7", "--unattended", "fail"]);
    assert!(said.contains("red.1 -> pass: the new test fails, as it should: `test_mean`"), "{said}");
    assert_eq!(
        git(&["log", "--reverse", "--format=%s", "main..HEAD"]),
        "feat: Averages (GAL-7)\nchore(todo): close GAL-7"
    );
    assert!(
        bench.read("TODO/GAL-7.md").is_some_and(|it| it.contains("status: Done") && it.contains("- [x]"))
    );
    assert_eq!(bench.left_running(), Vec::<String>::new());
}
