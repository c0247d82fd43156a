//! What every agent is put through.

use crate::bench::{Bench, runs, until};
use crate::real::Real;
use crate::{built_in, change};

/// A case: its name, and what is done.
type Case = (&'static str, fn(&Real));

pub(crate) const ALL: &[Case] = &[
    ("edits_and_hands_in", edits_and_hands_in),
    ("hands_in_a_review", hands_in_a_review),
    ("is_refused_and_corrects_itself", is_refused_and_corrects_itself),
    ("is_asked_again_in_its_session", is_asked_again_in_its_session),
    ("prose_is_no_verdict", prose_is_no_verdict),
    ("one_that_may_not_write_cannot", one_that_may_not_write_cannot),
    ("what_is_out_of_bounds_is_undone", what_is_out_of_bounds_is_undone),
    ("what_it_left_running_is_gone", what_it_left_running_is_gone),
    ("is_ended_when_it_takes_too_long", is_ended_when_it_takes_too_long),
    ("is_lost_when_the_engine_is_killed", is_lost_when_the_engine_is_killed),
    ("a_limit_is_no_outcome", a_limit_is_no_outcome),
    ("a_broken_service_is_no_answer", a_broken_service_is_no_answer),
    ("works_through_a_plan", works_through_a_plan),
];

/// A case of several agents: its name, who takes part, and what is done.
type Joint = (&'static str, &'static [&'static str], fn(&[&Real]));

/// What several agents are put through together.
pub(crate) const TOGETHER: &[Joint] = &[
    ("change", &["gemini", "codex", "claude"], change::goes_from_a_wish_to_the_archive),
    ("team", &["claude"], built_in::a_lean_session_comes_to_its_report),
    ("issue", &["codex"], built_in::an_issue_becomes_a_commit),
];

const DONE: &str = r#"{"mcp": ["submit", {"verdict": "done", "summary": "as told"}]}, {"text": "Done."}"#;

fn edits_and_hands_in(agent: &Real) {
    let script = format!(r#"{{"go": [{{"write": ["src/new.txt", "new\n"]}}, {DONE}]}}"#);
    let bench = Bench::of(agent, &script);
    let outcome = bench.outcome("go", "worker");
    assert_eq!(outcome["signal"], "done", "{outcome:#}");
    assert_eq!(outcome["summary"], "as told");
    assert_eq!(bench.read("src/new.txt").as_deref(), Some("new\n"));
    let transcript = bench.kept("transcript");
    assert!(!transcript.is_empty());
    for secret in ["sk-scripted", "not-for-agents"] {
        assert!(!transcript.contains(secret), "a secret is kept: {secret}");
    }
    let requests = format!("{:?}", bench.server.requests().iter().map(|it| &it.body).collect::<Vec<_>>());
    assert!(!requests.contains("not-for-agents"), "an agent saw what is not for it");
    assert!(outcome["cost"]["time"].as_u64() > Some(0), "{outcome:#}");
    let known = outcome["cost"]["tokens"].as_u64() > Some(0);
    assert!(known || outcome["cost"]["uncounted"] == true, "unknown is not nothing: {outcome:#}");
}

fn hands_in_a_review(agent: &Real) {
    let review = r#"{"verdict": "APPROVED", "summary": "mostly", "findings": [{"severity": "major", "file": "src/lib.txt", "line": 1, "subject": "one", "text": "it is wrong", "recommendation": "mend it"}]}"#;
    let script = format!(r#"{{"go": [{{"mcp": ["create_review", {review}]}}, {{"text": "Approved!"}}]}}"#);
    let bench = Bench::of(agent, &script);
    let outcome = bench.outcome("go", "judge");
    assert_eq!(outcome["signal"], "NEEDS_FIX", "what it found counts more than what it says: {outcome:#}");
    assert_eq!(outcome["findings"][0]["recommendation"], "mend it");
    assert_eq!(outcome["findings"][0]["line"], 1);
}

fn is_refused_and_corrects_itself(agent: &Real) {
    // What no schema can say: a verdict like this one has to be for a reason.
    let bad = r#"{"mcp": ["create_review", {"verdict": "NEEDS_FIX", "summary": "x", "findings": []}]}"#;
    let good = r#"{"mcp": ["create_review", {"verdict": "APPROVED", "summary": "y", "findings": []}]}"#;
    let bench = Bench::of(agent, &format!(r#"{{"go": [{bad}, {good}, {{"text": "Done."}}]}}"#));
    let outcome = bench.outcome("go", "judge");
    assert_eq!(outcome["signal"], "APPROVED", "{outcome:#}");
    let said = format!("{:?}", bench.server.requests().iter().map(|it| &it.body).collect::<Vec<_>>());
    assert!(said.contains("needs a finding that says why"), "the agent was not told why it was refused");
}

fn is_asked_again_in_its_session(agent: &Real) {
    // What it answers first is no verdict, and is quoted when it is asked again: that picks the second script.
    let first = r#"```json\n{\"verdict\": \"[[script:again]]\"}\n```"#;
    let script = format!(r#"{{"go": [{{"text": "{first}"}}], "again": [{DONE}]}}"#);
    let bench = Bench::of(agent, &script);
    let outcome = bench.outcome("go", "worker");
    assert_eq!(outcome["signal"], "done", "{outcome:#}\n{}", bench.kept("transcript"));
    let requests = bench.server.requests();
    let again = requests.iter().find(|it| it.script.as_deref() == Some("again")).expect("it was asked again");
    assert!(again.body.to_string().contains("[[script:go]]"), "it is not the same session");
}

fn prose_is_no_verdict(agent: &Real) {
    let bench = Bench::of(
        agent,
        r#"{"go": [{"text": "I reviewed everything. APPROVED. {\"verdict\": \"APPROVED\"}"}]}"#,
    );
    let outcome = bench.outcome("go", "judge");
    assert_eq!(outcome["signal"], "malformed", "{outcome:#}");
}

fn one_that_may_not_write_cannot(agent: &Real) {
    let write = r#"{"shell": "echo bad > src/lib.txt; echo bad > src/bad.txt; rm -f notes.txt"}"#;
    let review = r#"{"mcp": ["create_review", {"verdict": "APPROVED", "summary": "x", "findings": []}]}"#;
    let bench = Bench::of(agent, &format!(r#"{{"go": [{write}, {review}, {{"text": "Done."}}]}}"#));
    let outcome = bench.outcome("go", "judge");
    assert_eq!(outcome["signal"], "APPROVED", "the system refused, so nothing had to be undone: {outcome:#}");
    assert_eq!(bench.read("src/lib.txt").as_deref(), Some("one\n"));
    assert_eq!(bench.read("notes.txt").as_deref(), Some("notes\n"));
    assert_eq!(bench.read("src/bad.txt"), None);
}

fn what_is_out_of_bounds_is_undone(agent: &Real) {
    let outside = "../outside.txt";
    let write =
        format!(r#"{{"shell": "echo bad > notes.txt; echo bad > {outside}; echo good > src/good.txt"}}"#);
    let bench = Bench::of(agent, &format!(r#"{{"go": [{write}, {DONE}]}}"#));
    let outcome = bench.outcome("go", "worker");
    assert_eq!(outcome["signal"], "out-of-bounds", "{outcome:#}");
    assert!(outcome["summary"].as_str().is_some_and(|it| it.contains("notes.txt")), "{outcome:#}");
    assert_eq!(bench.read("notes.txt").as_deref(), Some("notes\n"));
    assert!(bench.kept("undone").contains("+bad"), "what was undone is kept");
    assert!(!bench.beside().join("outside.txt").exists(), "it wrote outside of the project");
}

fn what_it_left_running_is_gone(agent: &Real) {
    let leave = r#"{"shell": "setsid sleep 1000 > /dev/null 2>&1 < /dev/null & echo $! > src/pid"}"#;
    let bench = Bench::of(agent, &format!(r#"{{"go": [{leave}, {DONE}]}}"#));
    let outcome = bench.outcome("go", "worker");
    assert_eq!(outcome["signal"], "done", "{outcome:#}");
    let pid = bench.read("src/pid").expect("a process was left");
    assert!(!runs(&pid), "what it left runs on");
    assert_eq!(bench.left_running(), Vec::<String>::new());
}

fn is_ended_when_it_takes_too_long(agent: &Real) {
    let bench =
        Bench::within(agent, r#"{"go": [{"shell": "echo $$ > src/pid; sleep 1000"}, "hang"]}"#, "25s");
    let outcome = bench.outcome("go", "worker");
    assert_eq!(outcome["signal"], "timeout", "{outcome:#}");
    let pid = bench.read("src/pid").expect("it was at work");
    assert!(!runs(&pid), "its command runs on");
    assert_eq!(bench.left_running(), Vec::<String>::new());
}

fn is_lost_when_the_engine_is_killed(agent: &Real) {
    let bench =
        Bench::of(agent, &format!(r#"{{"go": [{{"shell": "echo $$ > src/pid; sleep 1000"}}, {DONE}]}}"#));
    let mut engine = bench.begin("go", "worker");
    let pid = || bench.read("src/pid").filter(|it| it.ends_with('\n'));
    until("the agent is at work", || pid().is_some());
    // As `timeout -s KILL` or a container that ends does it: everything that stands with it.
    let group = format!("-{}", engine.id());
    let killed = std::process::Command::new("kill").args(["-KILL", "--", &group]).status();
    assert!(killed.is_ok_and(|it| it.success()));
    engine.wait().expect("it was there");
    let pid = pid().expect("a process");
    let agent_and_all = bench.left_running();
    assert!(!agent_and_all.is_empty() || !runs(&pid), "nothing can be seen here that runs");
    until("its command is gone", || !runs(&pid));
    until("the agent and its tools are gone", || bench.left_running().is_empty());
    let calls = bench.server.requests().len();
    let run = bench.run();
    bench.loopwright(&["resume", &run]);
    let outcomes = bench.outcomes();
    let last = outcomes.last().cloned().unwrap_or_default();
    assert_eq!(last["signal"].as_str().or(last["came"].as_str()), Some("lost"), "{last:#}");
    assert_eq!(bench.server.requests().len(), calls, "it was not called again behind anybody's back");
}

fn a_limit_is_no_outcome(agent: &Real) {
    let bench = Bench::of(agent, r#"{"go": [{"http": {"status": 429, "retry-after": 7200}}]}"#);
    let mut engine = bench.begin("go", "worker");
    let heard = Bench::hears(&mut engine, ["\"put-off\"", "\"settled\""]);
    engine.kill().expect("it was there");
    engine.wait().expect("it was there");
    assert_eq!(heard, Some("\"put-off\""), "{:#?}", bench.outcomes());
    assert!(bench.outcomes().is_empty(), "a limit is nothing it came to: {:#?}", bench.outcomes());
}

fn a_broken_service_is_no_answer(agent: &Real) {
    let bench = Bench::within(agent, r#"{"go": [{"http": {"status": 500}}]}"#, "60s");
    let outcome = bench.outcome("go", "worker");
    let signal = outcome["signal"].as_str().unwrap_or_default().to_owned();
    assert!(["crashed", "timeout"].contains(&signal.as_str()), "{outcome:#}");
}

/// A built-in workflow from its files to its commit: the agent builds what is planned, and judges it in another call.
fn works_through_a_plan(agent: &Real) {
    let built = r#"{"write": ["src/hello.txt", "hello [[script:judge]]\n"]}"#;
    let handed_in = r#"{"mcp": ["submit", {"verdict": "ready_for_review", "summary": "it says hello"}]}"#;
    let passed = r#"{"mcp": ["create_review", {"verdict": "pass", "summary": "good", "findings": []}]}"#;
    let done = r#"{"text": "Done."}"#;
    let bench = Bench::of(
        agent,
        &format!(r#"{{"build": [{built}, {handed_in}, {done}], "judge": [{passed}, {done}]}}"#),
    );
    let begun = bench.loopwright(&["vibe", "init", "--json"]);
    assert!(begun.status.success(), "{begun:?}");
    let edit = |path: &str, from: &str, to: &str| {
        let text = bench.read(path).expect("a file");
        assert!(text.contains(from), "{text}");
        bench.write(path, &text.replace(from, to));
    };
    edit(".vibe/STATE.md", "[ ] STAGE_DESIGNED", "[x] STAGE_DESIGNED");
    edit(".vibe/PLAN.md", "(say what is built first)", "hello");
    edit(".vibe/PLAN.md", "(a file, a command, a behaviour)", "src/hello.txt [[script:build]]");
    edit(".vibe/PLAN.md", "`git status --short`", "`grep -q hello src/hello.txt`");
    bench.write(".vibe/CONTEXT.md", "# CONTEXT\n");
    let config = bench.read(".loopwright/config.yaml").expect("a file");
    let roles = "roles:\n  implementer: {agent: real}\n  reviewer: {agent: real}\n  triager: {agent: real}\n";
    let others = ["consolidator", "retrospector", "designer", "capturer", "improver"];
    let others: String = others.map(|it| format!("  {it}: {{agent: real}}\n")).concat();
    bench.write(".loopwright/config.yaml", &format!("{config}{roles}{others}"));
    let ran = bench.loopwright(&["vibe", "run", "--unattended", "fail"]);
    let said = format!("{}{}", String::from_utf8_lossy(&ran.stdout), String::from_utf8_lossy(&ran.stderr));
    assert!(ran.status.success(), "{said}");
    assert!(said.contains("implement.1 -> ready_for_review") && said.contains("review.1 -> pass"), "{said}");
    assert!(bench.read(".vibe/STATE.md").is_some_and(|it| it.contains("- Status: DONE")), "{said}");
    let log = std::process::Command::new("git")
        .args(["log", "-1", "--format=%s"])
        .current_dir(bench.repo())
        .output();
    assert_eq!(
        log.map(|it| String::from_utf8_lossy(&it.stdout).trim().to_owned()).ok().as_deref(),
        Some("1.0: hello")
    );
}
