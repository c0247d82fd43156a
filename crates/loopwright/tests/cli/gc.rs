//! `loopwright gc` as people and scripts meet it.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::{Outcome, Ran, run_in, scratch};

const WORKFLOW: &str = r#"
workflow: wait
about: Waits until somebody says so.
subject: thing
verbs:
  go: {about: "End it"}
states:
  rest: {rest: "It waits.", on: {verb go: done}}
  done: {end: success}
"#;

fn say(folder: &Path, words: &str) -> std::io::Result<Ran> {
    run_in(folder, &words.split(' ').collect::<Vec<_>>())
}

#[test]
fn what_goes_and_what_stays_is_said_before_anything_is_done() -> Outcome {
    let folder = scratch("gc")?;
    fs::create_dir_all(folder.join(".loopwright/workflows/wait"))?;
    fs::write(folder.join(".loopwright/workflows/wait/workflow.yaml"), WORKFLOW)?;
    assert!(Command::new("git").args(["init", "--quiet"]).current_dir(&folder).status()?.success());
    for subject in ["first", "second"] {
        let begun = say(&folder, &format!("run wait {subject}"))?;
        assert_eq!(begun.code, Some(3), "{}{}", begun.stdout, begun.stderr);
    }
    let ended = say(&folder, "wait go first")?;
    assert_eq!(ended.code, Some(0), "{}{}", ended.stdout, ended.stderr);

    // What drivers in the background said lies beside the journal.
    let runs = folder.join(".git/loopwright/runs");
    let names = say(&folder, "list --json")?.stdout;
    for line in names.lines() {
        let name: serde_json::Value = serde_json::from_str(line)?;
        fs::create_dir_all(runs.join(name["run"].as_str().unwrap_or_default()))?;
    }
    assert_eq!(fs::read_dir(&runs)?.count(), 2);

    // It ended a moment ago.
    let young = say(&folder, "gc")?;
    assert_eq!(young.code, Some(0), "{}", young.stderr);
    assert!(young.stdout.contains(": it ended today"), "{}", young.stdout);
    assert!(young.stdout.contains("removed 0 runs"), "{}", young.stdout);

    let would = say(&folder, "gc --older-than 0 --dry-run")?;
    assert!(would.stdout.contains("wait first: "), "{}", would.stdout);
    assert!(would.stdout.contains(": it is open: rest (waits for go"), "{}", would.stdout);
    assert!(would.stdout.contains("would remove 1 run, "), "{}", would.stdout);
    assert_eq!(say(&folder, "list --json")?.stdout.lines().count(), 2, "nothing is done");

    let did = say(&folder, "gc --older-than 0 --json")?;
    let did: serde_json::Value = serde_json::from_str(&did.stdout)?;
    assert_eq!(did["dry-run"], false);
    assert_eq!(did["removed"][0]["subject"], "first");
    assert!(did["bytes"].as_u64() > Some(0), "{did}");
    assert_eq!(fs::read_dir(&runs)?.count(), 1, "of the run that is open");
    let left = say(&folder, "list")?.stdout;
    assert!(left.contains("second") && !left.contains("first"), "{left}");
    assert_eq!(say(&folder, "wait go second")?.code, Some(0), "what was open goes on");
    let wrong = say(&folder, "gc --older-than soon")?;
    assert_eq!(wrong.code, Some(2), "{}", wrong.stderr);
    Ok(())
}
