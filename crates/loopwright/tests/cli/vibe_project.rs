//! Which project the tools and runs of `vibe` mean, and which of its runs.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::vibe::{AGENT, begun, json_of, repository, state};
use crate::{Outcome, run_in};

/// What keeps every agent from being called.
const BLOCKER: &str = "- [ ] ISSUE-1: money\n  - Impact: BLOCKER\n  - Owner: human\n  - Status: OPEN";

/// Commits everything, with agents that do their work.
fn committed(folder: &Path) -> Outcome {
    let command = Value::from(AGENT);
    let config = format!("agents:\n  claude: {{command: {command}}}\n  codex: {{command: {command}}}\n");
    fs::create_dir_all(folder.join(".loopwright"))?;
    fs::write(folder.join(".loopwright/config.yaml"), config)?;
    for words in ["config user.name a", "config user.email a@example.invalid", "add -A", "commit -qm start"] {
        assert!(Command::new("git").args(words.split(' ')).current_dir(folder).status()?.success());
    }
    Ok(())
}

/// A folder below a project.
fn below(folder: &Path) -> std::io::Result<PathBuf> {
    let below = folder.join("pkg");
    fs::create_dir_all(&below)?;
    Ok(below)
}

#[test]
fn what_is_begun_below_a_repository_is_where_it_is_worked_on() -> Outcome {
    let folder = repository("vibe-init-below")?;
    let below = below(&folder)?;
    let ran = run_in(&below, &["vibe", "init"])?;
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    assert!(folder.join(".vibe/STATE.md").exists() && !below.join(".vibe").exists());
    let root = fs::canonicalize(&folder)?;
    assert!(ran.stdout.contains(&format!("repo_root: {}\n", root.display())), "{}", ran.stdout);
    state(&folder, "- None.", BLOCKER)?;
    committed(&folder)?;
    let ran = run_in(&below, &["vibe", "run"])?;
    assert!(ran.stdout.contains("Stopped: blocked by people: ISSUE-1."), "{}{}", ran.stdout, ran.stderr);
    Ok(())
}

#[test]
fn below_a_project_with_another_in_it_the_tools_and_the_run_mean_the_same() -> Outcome {
    let folder = begun("vibe-two-projects")?;
    let below = below(&folder)?;
    let said = run_in(&below, &["vibe", "--repo-root", ".", "init"])?;
    assert_eq!(said.code, Some(0), "{}", said.stderr);
    assert!(!said.stdout.contains("repo_root"), "{}", said.stdout);
    state(&folder, "- None.", BLOCKER)?;
    committed(&folder)?;
    let next = json_of(&run_in(&below, &["vibe", "next", "--json"])?)?;
    assert_eq!(next["recommended_role"], "stop", "{next}");
    let said = json_of(&run_in(&below, &["vibe", "next", "--json", "--repo-root", "."])?)?;
    assert_eq!(said["recommended_role"], "design", "{said}");
    let status = json_of(&run_in(&below, &["vibe", "status", "--json"])?)?;
    assert_eq!(status["blockers"], serde_json::json!(["ISSUE-1: money"]));
    let ran = run_in(&below, &["vibe", "run"])?;
    assert!(ran.stdout.contains("Stopped: blocked by people: ISSUE-1."), "{}{}", ran.stdout, ran.stderr);
    // One that the root has none of is still there for whoever looks.
    fs::remove_dir_all(folder.join(".vibe"))?;
    let next = json_of(&run_in(&below, &["vibe", "next", "--json"])?)?;
    assert_eq!(next["recommended_role"], "design", "{next}");
    Ok(())
}

#[test]
fn a_folder_in_the_place_of_a_file_is_called_that() -> Outcome {
    let folder = begun("vibe-folder-for-state")?;
    committed(&folder)?;
    fs::remove_file(folder.join(".vibe/STATE.md"))?;
    fs::create_dir(folder.join(".vibe/STATE.md"))?;
    for tool in ["next", "status", "run"] {
        let ran = run_in(&folder, &["vibe", tool])?;
        assert_eq!(ran.code, Some(2), "{tool}: {}", ran.stderr);
        assert!(ran.stderr.contains("is a folder, and no file"), "{tool}: {}", ran.stderr);
    }
    Ok(())
}

#[test]
fn a_second_run_about_the_whole_project_is_not_begun_beside_the_first() -> Outcome {
    let folder = begun("vibe-second")?;
    committed(&folder)?;
    let ran = run_in(&folder, &["vibe", "run", "--max-loops", "1"])?;
    assert_eq!(ran.code, Some(0), "{}{}", ran.stdout, ran.stderr);
    let name = ran.stdout.split(':').next().unwrap_or_default().to_owned();
    let second = run_in(&folder, &["run", "vibe", "--max-loops", "1"])?;
    assert_eq!(second.code, Some(2), "{}{}", second.stdout, second.stderr);
    assert!(second.stderr.contains(&format!("a run of `vibe` is open here: `{name}`")), "{}", second.stderr);
    let resume = format!("loopwright resume {name}");
    assert!(second.stderr.contains(&resume), "{}", second.stderr);
    let listed = run_in(&folder, &["list", "--json"])?.stdout;
    assert_eq!(listed.matches("\"workflow\"").count(), 1, "{listed}");
    let words: Vec<&str> = resume.split(' ').skip(1).collect();
    assert_eq!(run_in(&folder, &words)?.code, Some(0), "what it says can be done");
    // Once that is over, there is room for another.
    let again = run_in(&folder, &["run", "vibe"])?;
    assert_eq!(again.code, Some(0), "{}{}", again.stdout, again.stderr);
    Ok(())
}

const RESTS: &str = r#"
workflow: rests
subject: thing
verbs: {go: {about: "Goes on."}}
states:
  waits: {rest: "It waits.", on: {verb go: done}}
  done: {end: success}
"#;

#[test]
fn of_several_runs_it_is_said_what_goes_on_with_one() -> Outcome {
    let folder = repository("several-open")?;
    let place = folder.join(".loopwright/workflows/rests");
    fs::create_dir_all(&place)?;
    fs::write(place.join("workflow.yaml"), RESTS)?;
    committed(&folder)?;
    for subject in ["one", "other"] {
        let ran = run_in(&folder, &["run", "rests", subject])?;
        assert_eq!(ran.code, Some(3), "{}{}", ran.stdout, ran.stderr);
    }
    let ran = run_in(&folder, &["rests", "go"])?;
    assert_eq!(ran.code, Some(2), "{}{}", ran.stdout, ran.stderr);
    assert!(ran.stderr.contains("several runs of `rests` are open"), "{}", ran.stderr);
    let said = ran.stderr.split("`loopwright resume ").nth(1).and_then(|it| it.split('`').next());
    let name = said.ok_or("it says how to go on")?;
    assert_eq!(run_in(&folder, &["resume", name])?.code, Some(3));
    assert_eq!(run_in(&folder, &["rests", "go", name])?.code, Some(0), "as it says, after a verb");
    Ok(())
}
