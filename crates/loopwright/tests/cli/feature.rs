//! `feature` as people and scripts meet it: how a feature is begun, looked at, led on and finished.

use std::path::{Path, PathBuf};
use std::{fs, io};

use serde_json::{Value, json};

use crate::feature_files::{APPROVES, AUTHOR};
use crate::runs::git;
use crate::{Outcome, Ran, run_in, scratch};

/// A repository in a folder of its own, in which shell scripts work.
fn project(name: &str) -> io::Result<PathBuf> {
    let folder = scratch(name)?.join("repo");
    fs::create_dir_all(folder.join(".loopwright"))?;
    let agent = |name: &str, script: &str| {
        format!("  {name}: {{command: {}}}\n", Value::from(format!("cat > /dev/null; {script}")))
    };
    let agents = [agent("claude", AUTHOR), agent("codex", APPROVES)].concat();
    fs::write(folder.join(".loopwright/config.yaml"), format!("agents:\n{agents}"))?;
    git(&folder, &["init", "--quiet", "--initial-branch=main"])?;
    git(&folder, &["config", "user.name", "somebody"])?;
    git(&folder, &["config", "user.email", "somebody@example.invalid"])?;
    git(&folder, &["add", "--all"])?;
    git(&folder, &["commit", "--quiet", "--message", "start"])?;
    Ok(folder)
}

fn feature(folder: &Path, words: &[&str]) -> io::Result<Ran> {
    run_in(folder, &[&["feature"], words].concat())
}

fn json_of(ran: &Ran) -> Result<Value, serde_json::Error> {
    serde_json::from_str(&ran.stdout)
}

#[test]
fn a_feature_is_begun_from_a_wish_led_on_and_finished() -> Outcome {
    let folder = project("feature-whole")?;
    let none = feature(&folder, &["list"])?;
    assert_eq!((none.code, none.stdout.starts_with("no features; ")), (Some(0), true), "{}", none.stdout);
    let begun = feature(&folder, &["start", "Greet people, in a friendly way", "--quick"])?;
    assert_eq!(begun.code, Some(3), "{}{}", begun.stdout, begun.stderr);
    assert!(begun.stderr.contains(": feature 001-greet-people-in-a\n"), "{}", begun.stderr);
    assert!(begun.stdout.contains("create-tasks is next."), "{}", begun.stdout);
    let own = folder.join("../repo-feature-001-greet-people-in-a");
    assert!(own.join("docs/features/001-greet-people-in-a/spec.md").is_file());

    // Who stands elsewhere is told so, once, and the work goes on where it is.
    let elsewhere = feature(&folder, &["next"])?;
    assert_eq!(elsewhere.code, Some(3), "{}{}", elsewhere.stdout, elsewhere.stderr);
    assert_eq!(
        elsewhere.stderr.matches("warning: 001-greet-people-in-a is in its own worktree").count(),
        1,
        "{}",
        elsewhere.stderr
    );
    assert!(own.join("docs/features/001-greet-people-in-a/tasks.md").is_file());
    let here = feature(&own, &["run"])?;
    assert!(!here.stderr.contains("warning:"), "{}", here.stderr);
    assert!(own.join("src/greeting").is_file(), "{}{}", here.stdout, here.stderr);

    let list = json_of(&feature(&folder, &["list", "--json"])?)?;
    let line = &list["features"][0];
    assert_eq!(
        (&line["feature"], &line["status"], &line["next"], &line["mode"]),
        (&json!("001-greet-people-in-a"), &json!("active"), &json!("finish"), &json!("quick"))
    );
    let show = json_of(&feature(&folder, &["show", "1", "--json"])?)?;
    assert_eq!((&show["stands_elsewhere"], &show["currentPhase"]), (&json!(true), &json!("implement")));
    assert_eq!(show["rounds"].as_array().map(Vec::len), Some(4), "{show}");
    let told = feature(&own, &["show"])?;
    assert!(
        told.stdout
            .starts_with("001-greet-people-in-a: active, quick  (docs/features/001-greet-people-in-a)\n"),
        "{}",
        told.stdout
    );
    assert!(
        told.stdout.contains("finish is next") && told.stdout.contains("  implement 1: Approved, 0 issues"),
        "{}",
        told.stdout
    );
    assert!(feature(&own, &["spec"])?.stdout.contains("## Requirements"));

    // It asks how it should end, and hears nothing else until somebody says.
    assert_eq!(here.code, Some(3), "{}{}", here.stdout, here.stderr);
    let unheard = feature(&own, &["finish"])?;
    assert_eq!(unheard.code, Some(1));
    assert!(
        unheard.stderr.contains("waits for something else: `loopwright feature status`"),
        "{}",
        unheard.stderr
    );
    assert_eq!(feature(&own, &["answer", "keep"])?.code, Some(3));

    // Anything uncommitted keeps it from its end; then it is merged.
    fs::write(own.join("notes"), "mine\n")?;
    let dirty = feature(&own, &["finish"])?;
    assert!(
        dirty.stderr.contains("There are uncommitted changes.")
            || dirty.stdout.contains("There are uncommitted changes."),
        "{}{}",
        dirty.stdout,
        dirty.stderr
    );
    fs::remove_file(own.join("notes"))?;
    assert_eq!(feature(&own, &["finish"])?.code, Some(3));
    let asked = feature(&own, &["answer", "merge"])?;
    assert_eq!(asked.code, Some(0), "{}{}", asked.stdout, asked.stderr);
    assert!(!own.exists() && folder.join("src/greeting").is_file());

    // What is over stays as it is.
    let record = fs::read(folder.join("docs/features/001-greet-people-in-a/.meta.json"))?;
    for verb in ["implement", "finish", "next", "start"] {
        let over = feature(&folder, &[verb, "001-greet-people-in-a"])?;
        assert_eq!(over.code, Some(1), "{verb}: {}{}", over.stdout, over.stderr);
        assert!(over.stderr.contains("completed"), "{verb}: {}", over.stderr);
    }
    assert_eq!(fs::read(folder.join("docs/features/001-greet-people-in-a/.meta.json"))?, record);
    Ok(())
}

#[test]
fn what_is_said_wrong_is_said_so() -> Outcome {
    let folder = project("feature-wrong")?;
    // Words, the exit code, and what is told.
    let cases: [(&[&str], i32, &str); 6] = [
        (&["show"], 2, "there is not exactly one active feature"),
        (&["show", "7"], 2, "there is no feature `7`"),
        (&["design", "007-old"], 2, "there is no run of `feature` about `007-old` that waits for `design`"),
        (&["start", "x", "--mode", "huge"], 2, "huge"),
        (&["desing"], 2, "did you mean `design`?"),
        (&["start", "a", "b"], 2, "nobody knows what `b` is for"),
    ];
    for (words, code, told) in cases {
        let ran = feature(&folder, words)?;
        assert_eq!(ran.code, Some(code), "{words:?}: {}{}", ran.stdout, ran.stderr);
        assert!(ran.stderr.contains(told), "{words:?}: {}", ran.stderr);
    }
    Ok(())
}

#[test]
fn records_of_others_are_read_however_they_are_written() -> Outcome {
    let folder = project("feature-others")?;
    for (name, text) in [
        (
            "003-old",
            "{\"id\": \"003\", \"slug\": \"old\", \"mode\": \"Standard\", \"status\": \"complete\", \"lastCompletedPhase\": \"finish\"}",
        ),
        (
            "005-odd",
            "{\"id\": \"005\", \"name\": \"odd\", \"phases\": {\"specify\": {\"startedAt\": \"2026-01-30T00:00:00Z\", \"completedAt\": \"2026-01-30T00:00:00Z\"}}, \"currentPhase\": \"specify\"}",
        ),
        ("006-broken", "{\"id\": \"006\",}}"),
    ] {
        fs::create_dir_all(folder.join("docs/features").join(name))?;
        fs::write(folder.join("docs/features").join(name).join(".meta.json"), text)?;
    }
    let list = feature(&folder, &["list"])?;
    assert_eq!(list.code, Some(0));
    let lines: Vec<&str> = list.stdout.lines().collect();
    assert!(lines[0].starts_with("003-old") && lines[0].contains("completed"), "{}", list.stdout);
    assert!(lines[1].starts_with("005-odd") && lines[1].ends_with("design is next"), "{}", list.stdout);
    assert!(lines[2].starts_with("006-broken") && lines[2].contains("it is no JSON"), "{}", list.stdout);
    assert!(feature(&folder, &["show", "5"])?.stdout.contains("`startedAt` is written `started`"));
    let broken = feature(&folder, &["show", "6"])?;
    assert!(broken.code == Some(1) && broken.stderr.contains("006-broken/.meta.json"), "{}", broken.stderr);
    Ok(())
}
