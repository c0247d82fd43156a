//! Runs as people meet them: begun, left, come back to, answered, ended. Agents are shell scripts in a real repository.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use std::{fs, io};

use crate::{Outcome, Ran, loopwright, run_in, scratch};

pub(crate) const WORKFLOW: &str = r#"
workflow: greet
about: Write a greeting, have it judged, ask, and commit it.
subject: thing
budgets:
  fixes: 1
  retries: {limit: 2, per: visit}
documents:
  code: {files: ["greeting"]}
roles:
  coder: {agent: coder, prompt: "Greet {{subject}}.", may-write: [code]}
  judge: {agent: judge, prompt: "Is it good?", given: [diff], verdicts: [GOOD, BAD], findings: {severity: [bad]}}
questions:
  ship: {id: Q1, asks: "Ship it?", answers: {yes: {}, no: {note: required}}}
verbs:
  go: {about: "Commit it"}
  polish: {else: {error: "not while it is {{phase}}"}}
phases:
  writing: {at: write, show: [write, review, fix]}
  waiting: {at: rest, show: others, settles: [review]}
defaults:
  lost: {to: again, spend: retries, else: failed}
  failures: failed
states:
  write: {agent: coder, then: review}
  review:
    review: judge
    judges: code
    on: {GOOD: ask, BAD: {to: fix, spend: fixes, else: failed}}
  fix: {agent: coder, then: review}
  ask: {ask: ship, needs: [review], on: {yes: rest, no | deferred: failed}}
  rest: {rest: "It is ready.", on: {verb go: commit, verb polish: fix}}
  commit: {needs: [review], do: [{commit: "greet {{subject}}", what: [code]}], then: done}
  done: {end: success}
  failed: {end: failure}
"#;

pub(crate) const CODER: &str = "cat > /dev/null; echo hello > greeting";
const JUDGE: &str = r#"cat > /dev/null; printf '```json\n{"verdict": "GOOD"}\n```\n'"#;

/// A repository with the workflow and two agents.
pub(crate) fn project(name: &str, coder: &str) -> io::Result<PathBuf> {
    let folder = scratch(name)?;
    fs::create_dir_all(folder.join(".loopwright/workflows/greet"))?;
    fs::write(folder.join(".loopwright/workflows/greet/workflow.yaml"), WORKFLOW)?;
    let config = format!(
        "agents:\n  coder: {{command: {}}}\n  judge: {{command: {}}}\n",
        serde_json::Value::from(coder),
        serde_json::Value::from(JUDGE)
    );
    fs::write(folder.join(".loopwright/config.yaml"), config)?;
    for arguments in [
        &["init", "--quiet", "--initial-branch=main"][..],
        &["config", "user.name", "somebody"],
        &["config", "user.email", "somebody@example.invalid"],
        &["add", "--all"],
        &["commit", "--quiet", "--message", "start"],
    ] {
        git(&folder, arguments)?;
    }
    Ok(folder)
}

pub(crate) fn git(folder: &Path, arguments: &[&str]) -> io::Result<String> {
    let said = Command::new("git").args(arguments).current_dir(folder).output()?;
    assert!(said.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&said.stderr));
    Ok(String::from_utf8_lossy(&said.stdout).trim().to_owned())
}

pub(crate) fn say(folder: &Path, words: &str) -> io::Result<Ran> {
    run_in(folder, &words.split(' ').collect::<Vec<_>>())
}

/// The name of the only run.
pub(crate) fn name(folder: &Path) -> io::Result<String> {
    let listed = say(folder, "list --json")?;
    let line: serde_json::Value = serde_json::from_str(listed.stdout.lines().next().unwrap_or_default())?;
    Ok(line["run"].as_str().unwrap_or_default().to_owned())
}

pub(crate) fn waited_for(path: &Path) {
    let begun = Instant::now();
    while !path.exists() {
        assert!(begun.elapsed() < Duration::from_mins(2), "{} never came", path.display());
        std::thread::yield_now();
    }
}

pub(crate) fn start(folder: &Path, words: &[&str]) -> io::Result<Child> {
    loopwright(folder).args(words).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()
}

#[test]
fn a_run_is_left_answered_and_taken_further() -> Outcome {
    let folder = project("run-answered", CODER)?;
    let begun = say(&folder, "run greet world")?;
    assert_eq!(begun.code, Some(3), "{}{}", begun.stdout, begun.stderr);
    let name = name(&folder)?;
    assert!(
        begun.stdout.contains(&format!("answer with `loopwright answer {name} yes` or")),
        "{}",
        begun.stdout
    );
    let listed = say(&folder, "list")?;
    assert!(listed.stdout.contains("asks ship"), "{}", listed.stdout);

    let wrong = say(&folder, &format!("answer {} maybe", &name[..3]))?;
    assert_eq!(wrong.code, Some(2));
    assert!(wrong.stderr.contains("`maybe` is no answer: it is one of yes, no"), "{}", wrong.stderr);
    let silent = say(&folder, &format!("answer {name} no"))?;
    assert_eq!(silent.code, Some(2));
    assert!(silent.stderr.contains("needs a note"), "{}", silent.stderr);

    let answered = say(&folder, &format!("answer {name} yes"))?;
    assert_eq!(answered.code, Some(3), "{}", answered.stderr);
    assert!(answered.stdout.contains("go on with `loopwright greet go world`"), "{}", answered.stdout);
    let refused = say(&folder, "greet unknown")?;
    assert!(refused.stderr.contains("`greet` knows no verb `unknown`"), "{}", refused.stderr);
    let done = say(&folder, "greet go world")?;
    assert_eq!(done.code, Some(0), "{}{}", done.stdout, done.stderr);
    assert_eq!(git(&folder, &["log", "-1", "--format=%s"])?, "greet world");
    assert_eq!(git(&folder, &["status", "--porcelain"])?, "");
    let shown = say(&folder, &format!("show {name}"))?;
    assert!(shown.stdout.contains("success"), "{}", shown.stdout);
    let log = say(&folder, &format!("log {name}"))?;
    assert!(log.stdout.contains("somebody said `go`"), "{}", log.stdout);
    Ok(())
}

#[test]
fn an_edit_after_it_was_judged_is_judged_again() -> Outcome {
    let folder = project("run-edited", CODER)?;
    assert_eq!(say(&folder, "run greet world --answer Q1=yes")?.code, Some(3));
    fs::write(folder.join("greeting"), "edited by hand\n")?;
    let said = say(&folder, "greet go")?;
    assert_eq!(said.code, Some(3), "it asks again: {}", said.stderr);
    assert!(said.stderr.contains("review.2 -> GOOD"), "it was committed without a look: {}", said.stderr);
    let noticed = "what `review` passed has changed since, so it does not count any more";
    assert!(said.stderr.contains(noticed), "{}", said.stderr);
    let why = say(&folder, &format!("why {}", name(&folder)?))?.stdout;
    let found = "`commit` found that what `review` passed has changed since, so it went to `review`";
    assert!(why.contains(found), "{why}");
    assert_eq!(git(&folder, &["log", "-1", "--format=%s"])?, "start");
    Ok(())
}

/// Waits when it is first called, until somebody ends it.
pub(crate) const WAITS: &str = "cat > /dev/null; if [ ! -e .git/waits ]; then echo $$ > .git/waits; exec sleep 1000; fi; echo hello > greeting";

#[test]
fn a_run_that_is_interrupted_says_how_to_go_on() -> Outcome {
    for signal in ["INT", "TERM", "HUP"] {
        let folder = project(&format!("run-interrupted-{signal}"), WAITS)?;
        let driver = start(&folder, &["run", "greet", "world"])?;
        waited_for(&folder.join(".git/waits"));
        let ended = Command::new("kill").args([&format!("-{signal}"), &driver.id().to_string()]).status()?;
        assert!(ended.success());
        let left: Ran = driver.wait_with_output()?.into();
        let name = name(&folder)?;
        assert_eq!(left.code, Some(4), "{}{}", left.stdout, left.stderr);
        assert!(
            left.stdout.contains(&format!("`loopwright resume {name}` takes it up again")),
            "{}",
            left.stdout
        );
        let resumed = say(&folder, &format!("resume {name} --answer Q1=yes"))?;
        assert_eq!(resumed.code, Some(3), "{}", resumed.stderr);
        assert!(!resumed.stderr.contains("lost") && !resumed.stderr.contains("try 2"), "{}", resumed.stderr);
        let log = say(&folder, &format!("log {name}"))?.stdout;
        assert!(log.contains("write.1 was put off: the run was left"), "{log}");
    }
    Ok(())
}

#[test]
fn somebody_else_can_end_a_run_that_is_driven() -> Outcome {
    let folder = project("run-stopped", WAITS)?;
    let driver = start(&folder, &["run", "greet", "world"])?;
    waited_for(&folder.join(".git/waits"));
    let name = name(&folder)?;
    let stopped = say(&folder, &format!("stop {name} --reason enough"))?;
    assert_eq!(stopped.code, Some(0), "{}", stopped.stderr);
    let ended: Ran = driver.wait_with_output()?.into();
    assert_eq!(ended.code, Some(1), "{}{}", ended.stdout, ended.stderr);
    let again = say(&folder, &format!("stop {name}"))?;
    assert!(again.stderr.contains("is over already"), "{}", again.stderr);
    Ok(())
}

#[test]
fn what_is_missing_is_said_before_anything_is_done() -> Outcome {
    let folder = project("run-missing", CODER)?;
    let cases = [
        ("run greet", 2, "a run of `greet` is about a thing: say which"),
        ("run greet world --input mood=good", 2, "there is no input `mood`"),
        ("run greet world --answer Q1", 2, "says no answer"),
        ("run nothing world", 2, "there is no workflow `nothing`"),
        ("show nothing", 2, "there is no run `nothing`"),
        ("run feature world", 2, "`world` is no feature-id"),
        ("greet", 2, "`greet` is a workflow: say what to do with it"),
        ("gret go", 2, "did you mean `greet`?"),
        ("greet go", 2, "there is no run of `greet` that waits for `go`"),
    ];
    for (words, code, expected) in cases {
        let ran = say(&folder, words)?;
        assert_eq!(ran.code, Some(code), "{words}: {}", ran.stderr);
        assert!(ran.stderr.contains(expected), "{words}: {}", ran.stderr);
    }
    assert!(say(&folder, "list")?.stdout.starts_with("no runs yet"));
    // A script whose variable is empty means no run, however few there are.
    for words in [&["stop", ""][..], &["answer", "", "yes"], &["resume", " "], &["show", ""]] {
        let ran = run_in(&folder, words)?;
        assert_eq!(ran.code, Some(2), "{words:?}");
        assert!(ran.stderr.contains("a run has no empty name"), "{words:?}: {}", ran.stderr);
    }
    fs::write(folder.join(".loopwright/config.yaml"), "agents:\n  coder: {command: cat}\n")?;
    let ran = say(&folder, "run greet world")?;
    assert_eq!(ran.code, Some(2));
    assert!(
        ran.stderr.contains("nobody can be the `judge` of `greet`: there is no agent `judge`"),
        "{}",
        ran.stderr
    );
    fs::write(folder.join(".loopwright/config.yaml"), "agents:\n  coder: {comand: x}\n")?;
    // Who only looks is told, and sees what there is.
    assert_eq!(say(&folder, "list")?.code, Some(0));
    let ran = say(&folder, "run greet world")?;
    assert_eq!(ran.code, Some(2));
    assert!(
        ran.stderr.contains(".loopwright/config.yaml") && ran.stderr.contains("comand"),
        "{}",
        ran.stderr
    );
    Ok(())
}

#[test]
fn the_demo_mends_a_real_fault_and_commits_it() -> Outcome {
    let folder = scratch("demo")?;
    let ran = run_in(&folder, &["demo", "--folder", "scratch"])?;
    assert_eq!(ran.code, Some(0), "{}{}", ran.stdout, ran.stderr);
    let scratch = folder.join("scratch");
    assert_eq!(git(&scratch, &["log", "--format=%s"])?.lines().count(), 2);
    assert_eq!(git(&scratch, &["status", "--porcelain"])?, "");
    let tests = Command::new("sh").arg("test.sh").current_dir(&scratch).status()?;
    assert!(tests.success(), "its tests fail");
    for expected in
        ["challenge.1  NEEDS_REVISION", "checks.1     fail", "review.1     NEEDS_FIX", "Done: one commit"]
    {
        assert!(ran.stdout.contains(expected), "{expected}: {}", ran.stdout);
    }
    let again = run_in(&folder, &["demo", "--folder", "scratch"])?;
    assert_eq!(again.code, Some(2));
    assert!(again.stderr.contains("is not empty"), "{}", again.stderr);
    Ok(())
}

#[test]
fn a_project_is_set_up_and_looked_at() -> Outcome {
    let folder = scratch("set-up")?;
    git(&folder, &["init", "--quiet"])?;
    fs::write(folder.join("Cargo.toml"), "")?;
    let begun = say(&folder, "init")?;
    assert_eq!(begun.code, Some(0), "{}", begun.stderr);
    let config = fs::read_to_string(folder.join(".loopwright/config.yaml"))?;
    assert!(config.contains("# test: \"cargo test\""), "{config}");
    assert_eq!(say(&folder, "init")?.code, Some(2), "it would be overwritten");
    let missing = say(&folder, "doctor")?;
    assert_eq!(missing.code, Some(1), "{}", missing.stdout);
    assert!(missing.stdout.contains("MISS  agents"), "{}", missing.stdout);
    fs::write(
        folder.join(".loopwright/config.yaml"),
        "agents:\n  a: {command: cat}\n  b: {command: [no-such-agent, -x]}\nproject:\n",
    )?;
    let looked = say(&folder, "doctor")?;
    assert!(looked.stdout.contains("ok    agent a"), "{}", looked.stdout);
    assert!(
        looked.stdout.contains("MISS  agent b          `no-such-agent` is not there"),
        "{}",
        looked.stdout
    );
    fs::write(folder.join(".loopwright/config.yaml"), "agents:\n  a: {command: cat}\n")?;
    assert_eq!(say(&folder, "doctor --json")?.code, Some(0));
    Ok(())
}

#[test]
fn why_tells_the_way_and_what_would_move_it() -> Outcome {
    let folder = project("run-why", CODER)?;
    assert_eq!(say(&folder, "run greet world")?.code, Some(3));
    let steps = say(&folder, &format!("why {} --json", name(&folder)?))?.stdout;
    let steps: Vec<serde_json::Value> = steps.lines().map(serde_json::from_str).collect::<Result<_, _>>()?;
    assert!(steps.iter().any(|it| it["signal"] == "GOOD" && it["to"] == "ask"), "{steps:?}");
    let why = say(&folder, &format!("why {}", name(&folder)?))?;
    for expected in [
        "`review` came out as GOOD, so it went to `ask`",
        "It asks `ship` at `ask`",
        "yes would lead to `rest`",
        "deferred would lead to `failed`",
    ] {
        assert!(why.stdout.contains(expected), "{expected}: {}", why.stdout);
    }
    Ok(())
}
