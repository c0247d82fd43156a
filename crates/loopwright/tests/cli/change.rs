//! The verbs of `change` as people and scripts meet them: where they fit, where they do not, and in a clone.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::runs::git;
use crate::{Outcome, Ran, run_in, scratch};

/// Somebody who is not to be called, and leaves a word if it happens all the same.
const NOBODY: &str = "cat > .git/prompt; echo \"$LOOPWRIGHT_STATE\" >> .git/called; exit 1";

pub(crate) const PLANNER: &str = r#"cat > /dev/null; of="agentd/changes/$LOOPWRIGHT_SUBJECT"
case "$LOOPWRIGHT_STATE" in
  merge-specs) cp "$of"/specs/*.md agentd/specs/ ;;
  changelog) printf '# Changelog\n\n## 2026-09-21: Greetings (%s)\n' "$LOOPWRIGHT_SUBJECT" > agentd/specs/CHANGELOG.md ;;
esac"#;
pub(crate) const BUILDER: &str =
    "cat > /dev/null; mkdir -p src; echo hello > src/greeting; echo hello > src/tried";
pub(crate) const JUDGE: &str = r#"cat > /dev/null; more=
if [ "$LOOPWRIGHT_STATE" = review ]; then more=', "test_results": {"status": "PASS"}, "security_status": "CLEAN"'; fi
printf '```json\n{"verdict": "APPROVED", "summary": "good", "findings": []%s}\n```\n' "$more""#;

const SPEC: &str = "---
id: greeting
type: spec
title: Greeting
version: 1
---
<spec>
# Greeting

## Overview
About it.

## Requirements

### R1 - It is there
There must be a greeting.

## Acceptance Criteria

### Scenario: Somebody comes
- **WHEN** somebody comes
- **THEN** there is a greeting
</spec>
";

/// A repository with these agents, and no change yet.
pub(crate) fn project(name: &str, [gemini, codex, claude]: [&str; 3]) -> io::Result<PathBuf> {
    let folder = scratch(name)?;
    fs::create_dir_all(folder.join(".loopwright"))?;
    fs::create_dir_all(folder.join("agentd/specs"))?;
    fs::write(folder.join("agentd/specs/greeting.md"), "# Greeting\n\nNobody is greeted.\n")?;
    let agents = [("gemini", gemini), ("codex", codex), ("claude", claude)];
    let lines = agents.map(|(name, it)| format!("  {name}: {{command: {}}}\n", Value::from(it))).concat();
    fs::write(folder.join(".loopwright/config.yaml"), format!("agents:\n{lines}"))?;
    git(&folder, &["init", "--quiet", "--initial-branch=main"])?;
    named(&folder)?;
    Ok(folder)
}

fn named(folder: &Path) -> io::Result<()> {
    git(folder, &["config", "user.name", "somebody"])?;
    git(folder, &["config", "user.email", "somebody@example.invalid"])?;
    Ok(())
}

pub(crate) fn committed(folder: &Path) -> io::Result<()> {
    git(folder, &["add", "--all"])?;
    git(folder, &["commit", "--quiet", "--message", "changes"])?;
    Ok(())
}

fn cloned(folder: &Path, name: &str) -> io::Result<PathBuf> {
    let clone = scratch(name)?;
    git(&clone, &["clone", "--quiet", &folder.to_string_lossy(), "."])?;
    named(&clone)?;
    Ok(clone)
}

/// Writes a change with all its parts to a folder.
fn write(folder: &Path, id: &str, phase: &str) -> io::Result<()> {
    fs::create_dir_all(folder.join("specs"))?;
    fs::write(
        folder.join("STATE.yaml"),
        format!("change_id: {id}\nphase: {phase}\niteration: 2\nlast_action: x\n"),
    )?;
    let head = |kind: &str| format!("---\nid: {id}\nchange_id: {id}\ntype: {kind}\nversion: 1\n");
    let proposal = format!(
        "{}summary: Greet people\naffected_specs:\n  - {{id: greeting, path: specs/greeting.md, depends: []}}\n---\n<proposal>\n# Change: {id}\n\n## Summary\nIt greets people.\n\n## Why\nNobody does.\n\n## What Changes\n- a greeting\n\n## Impact\n- **Scope**: minor\n</proposal>\n<review iteration=\"2\" reviewer=\"codex\" status=\"approved\">\n## Verdict\nAPPROVED\n</review>\n",
        head("proposal")
    );
    fs::write(folder.join("proposal.md"), proposal)?;
    fs::write(folder.join("specs/greeting.md"), SPEC)?;
    let task = |number: &str, title: &str, status: &str, after: &str| {
        format!(
            "### Task {number}: {title}\n```yaml\nid: \"{number}\"\naction: CREATE\nstatus: {status}\nfile: src/{}\nspec_ref: greeting:R1\ndepends_on: [{after}]\n```\nIt is there.\n",
            if number == "1.1" { "greeting" } else { "tried" }
        )
    };
    let tasks = format!(
        "{}---\n<tasks>\n# Implementation Tasks\n\n## 1. Data Layer\n\n{}\n## 2. Testing Layer\n\n{}</tasks>\n",
        head("tasks"),
        task("1.1", "Write the greeting", "done", ""),
        task("2.10", "Try it", "pending", "\"1.1\"")
    );
    fs::write(folder.join("tasks.md"), tasks)
}

pub(crate) fn open(folder: &Path, id: &str, phase: &str) -> io::Result<()> {
    write(&folder.join("agentd/changes").join(id), id, phase)
}

pub(crate) fn edit(path: &Path, from: &str, to: &str) -> io::Result<()> {
    let text = fs::read_to_string(path)?;
    assert!(text.contains(from), "{text}");
    fs::write(path, text.replace(from, to))
}

pub(crate) fn say(folder: &Path, words: &str) -> io::Result<Ran> {
    run_in(folder, &words.split(' ').collect::<Vec<_>>())
}

/// What was printed, and how it ended.
pub(crate) fn told(folder: &Path, words: &str) -> io::Result<String> {
    let ran = say(folder, words)?;
    let code = ran.code.unwrap_or_default();
    Ok(format!("{}{}({code})", ran.stdout, ran.stderr))
}

pub(crate) fn json_of(ran: &Ran) -> Result<Value, String> {
    serde_json::from_str(&ran.stdout).map_err(|it| format!("{it}: {}{}", ran.stdout, ran.stderr))
}

/// A sound change, one that is not, one that says nothing of itself, and two that are archived.
pub(crate) fn several(name: &str) -> io::Result<PathBuf> {
    let folder = project(name, [NOBODY; 3])?;
    open(&folder, "greet", "planned")?;
    open(&folder, "wave", "done")?;
    edit(&folder.join("agentd/changes/wave/tasks.md"), "greeting:R1", "greeting:R7")?;
    fs::create_dir_all(folder.join("agentd/changes/empty"))?;
    write(&folder.join("agentd/archive/20260102-nod"), "nod", "archived")?;
    write(&folder.join("agentd/archive/20260103-bow/bow"), "bow", "archived")?;
    committed(&folder)?;
    Ok(folder)
}

#[test]
fn a_verb_in_the_wrong_phase_says_why_and_what_to_do() -> Outcome {
    const PHASES: [&str; 5] = ["proposed", "rejected", "challenged", "implementing", "complete"];
    let folder = project("change-refused", [NOBODY; 3])?;
    for phase in PHASES {
        open(&folder, phase, phase)?;
    }
    open(&folder, "odd", "done")?;
    committed(&folder)?;
    let refused = [
        ("impl", &["proposed", "rejected", "complete"][..]),
        ("archive", &["proposed", "rejected", "challenged", "implementing"]),
        ("challenge", &["challenged", "implementing", "complete"]),
        ("plan", &["implementing", "complete"]),
    ];
    let mut all = String::new();
    for (verb, ids) in refused {
        for id in ids {
            let said = told(&folder, &format!("change {verb} {id}"))?;
            // Whoever hears of a change first takes it over, and says so.
            let said = said.lines().filter(|it| !it.contains(", taken over at `"));
            all += &said.collect::<Vec<_>>().join(" ");
            all.push('\n');
        }
    }
    insta::assert_snapshot!(all, @"
    error: ChangeNotReady: proposed is proposed, and only a plan that passed its challenge is implemented. `loopwright change plan proposed` goes on planning. (1)
    error: ChangeNotReady: rejected is rejected, and only a plan that passed its challenge is implemented. The last review in proposal.md says why; mend the plan, then `loopwright change challenge rejected`. (1)
    error: ChangeNotReady: complete is complete, and only a plan that passed its challenge is implemented. It is implemented: `loopwright change archive complete` folds it into the main specs. (1)
    error: ChangeNotComplete: proposed is proposed, and only what was reviewed is archived. `loopwright change show proposed` says what its plan lacks. (1)
    error: ChangeNotComplete: rejected is rejected, and only what was reviewed is archived. `loopwright change show rejected` says what its plan lacks. (1)
    error: ChangeNotComplete: challenged is challenged, and only what was reviewed is archived. `loopwright change impl challenged` builds it. (1)
    error: ChangeNotComplete: implementing is implementing, and only what was reviewed is archived. `loopwright change impl implementing` builds it. (1)
    error: there is nothing to challenge: challenged is challenged. `loopwright change impl challenged` builds it; a plan that was edited is challenged first. (1)
    error: there is nothing to challenge: implementing is implementing. `loopwright change impl implementing` builds it; a plan that was edited is challenged first. (1)
    error: there is nothing to challenge: complete is complete. `loopwright change archive complete` folds it into the main specs; a plan that was edited is challenged first. (1)
    implementing is implementing, beyond planning. `loopwright change impl implementing` goes on building it. (0)
    complete is complete, beyond planning. `loopwright change archive complete` folds it into the main specs. (0)
    ");
    assert_eq!(git(&folder, &["status", "--porcelain"])?, "", "no file was touched");
    // Where nothing is left to plan it is told, and the run waits as before.
    for (id, expected) in [
        ("challenged", "Planning is complete; `impl` implements it."),
        ("rejected", "The plan was rejected."),
    ] {
        let said = told(&folder, &format!("change plan {id}"))?;
        assert!(said.contains(expected) && said.ends_with("(3)"), "{said}");
    }
    let odd = told(&folder, "change impl odd")?;
    let place = "agentd/changes/odd/STATE.yaml, line 2: `phase` says where it stands, and `done` is no phase";
    assert!(odd.contains(place) && odd.ends_with("(2)"), "{odd}");
    assert!(!folder.join(".git/called").exists(), "somebody was called");
    Ok(())
}

#[test]
fn verbs_find_what_is_archived() -> Outcome {
    let folder = several("change-archived")?;
    let mut all = String::new();
    for verb in ["plan", "challenge", "impl", "archive"] {
        for id in ["nod", "bow"] {
            all += &told(&folder, &format!("change {verb} {id}"))?.replace('\n', " ");
            all.push('\n');
        }
    }
    insta::assert_snapshot!(all, @"
    nod is archived, in agentd/archive/20260102-nod; a new change needs an id of its own (0)
    bow is archived, in agentd/archive/20260103-bow/bow; a new change needs an id of its own (0)
    error: ChangeNotReady: nod is archived, in agentd/archive/20260102-nod (1)
    error: ChangeNotReady: bow is archived, in agentd/archive/20260103-bow/bow (1)
    error: ChangeNotReady: nod is archived, in agentd/archive/20260102-nod (1)
    error: ChangeNotReady: bow is archived, in agentd/archive/20260103-bow/bow (1)
    error: ChangeNotComplete: nod is archived, in agentd/archive/20260102-nod (1)
    error: ChangeNotComplete: bow is archived, in agentd/archive/20260103-bow/bow (1)
    ");
    assert!(!folder.join(".git/called").exists(), "somebody was called");
    assert_eq!(say(&folder, "list --json")?.stdout, "", "nothing was begun");
    Ok(())
}

#[test]
fn what_is_wanted_may_stand_after_the_id() -> Outcome {
    let folder = project("change-described", [NOBODY; 3])?;
    committed(&folder)?;
    let many = run_in(&folder, &["change", "plan", "greet", "Greet people.", "by name"])?;
    assert_eq!(
        (many.code, many.stderr.as_str()),
        (
            Some(2),
            "error: nobody knows what `by name` is for: `plan` takes description\nhint: put quotes around what belongs together\n"
        )
    );
    let none = run_in(&folder, &["change", "impl", "greet", "quickly"])?;
    assert!(none.stderr.contains("`impl` takes nothing") && none.code == Some(2), "{}", none.stderr);
    assert!(!folder.join(".git/called").exists(), "somebody was called");
    for (words, expected) in [
        (&["plan", "one", "Greet people."][..], "> Greet people."),
        (&["plan", "two", "--input", "description=Greet them."], "> Greet them."),
        (&["plan", "three"], "No description beyond that name."),
    ] {
        // Nobody writes anything, so that the plan stays open, and it is said why.
        let ran = run_in(&folder, &[&["change"], words].concat())?;
        assert_eq!(ran.code, Some(3), "{words:?}: {}", ran.stderr);
        assert!(ran.stdout.contains("The plan is open. propose: crashed"), "{words:?}: {}", ran.stdout);
        let prompt = fs::read_to_string(folder.join(".git/prompt"))?;
        assert!(prompt.contains(expected), "{words:?}: {prompt}");
        let state = fs::read_to_string(folder.join(format!("agentd/changes/{}/STATE.yaml", words[1])))?;
        assert!(state.contains("\nphase: proposed\n"), "{state}");
    }
    Ok(())
}

#[test]
fn a_clone_goes_on_from_the_files() -> Outcome {
    let folder = project("change-origin", [PLANNER, JUDGE, BUILDER])?;
    open(&folder, "greet", "planned")?;
    committed(&folder)?;
    let clone = cloned(&folder, "change-clone")?;
    let built = say(&clone, "change impl greet")?;
    assert_eq!(built.code, Some(3), "{}{}", built.stdout, built.stderr);
    assert!(built.stderr.contains("change greet, taken over at `challenged`"), "{}", built.stderr);
    assert!(built.stdout.contains("`archive` folds it into the main specs."), "{}", built.stdout);
    assert!(built.stdout.contains("go on with `loopwright change archive greet`"), "{}", built.stdout);
    assert!(built.stdout.contains("passed over: challenge"), "whose word it was is said: {}", built.stdout);
    committed(&clone)?;

    let other = cloned(&clone, "change-other-clone")?;
    let shown = json_of(&say(&other, "change show greet --json")?)?;
    assert_eq!((&shown["phase"], &shown["verdicts"][1]["file"]), (&json!("complete"), &json!("REVIEW.md")));
    let archived = say(&other, "change archive greet --json")?;
    assert_eq!(archived.code, Some(0), "{}{}", archived.stdout, archived.stderr);
    let last: Value = serde_json::from_str(archived.stdout.lines().last().unwrap_or_default())?;
    assert_eq!(
        (&last["view"]["state"], &last["says"]),
        (&json!("archived"), &json!("greet is archived.")),
        "where it stands is said to programs too: {last}"
    );
    assert_eq!(fs::read_to_string(other.join("agentd/specs/greeting.md"))?, SPEC);
    let listed = json_of(&say(&other, "change list --all --json")?)?;
    assert_eq!(
        (&listed["changes"][0]["phase"], &listed["changes"][1]),
        (&json!("archived"), &Value::Null),
        "{listed}"
    );
    let again = told(&other, "change archive greet")?;
    assert!(again.starts_with("error: ChangeNotComplete: greet is archived, in agentd/archive/"), "{again}");
    Ok(())
}

#[test]
fn a_broken_configuration_is_said_with_its_place() -> Outcome {
    let folder = project("change-config", [NOBODY; 3])?;
    open(&folder, "greet", "proposed")?;
    committed(&folder)?;
    for (text, expected) in [
        ("[workflow\n", "agentd/config.toml: line 1, column 1: it is not TOML"),
        (
            "[workflow]\nplanning_iterations = \"many\"\n",
            "line 2, column 1: `planning_iterations` is no whole",
        ),
        ("[workflow]\nplanning_iterations = 12\n", "`planning_iterations` is `12` in agentd/config.toml"),
    ] {
        fs::write(folder.join("agentd/config.toml"), text)?;
        for words in ["change plan wave", "change plan greet"] {
            let said = told(&folder, words)?;
            assert!(said.contains(expected) && said.ends_with("(2)"), "{words}: {said}");
        }
        // Who only looks needs no configuration.
        assert_eq!(say(&folder, "change list")?.code, Some(0));
        assert_eq!(say(&folder, "change validate greet")?.code, Some(0));
    }
    assert_eq!(say(&folder, "list --json")?.stdout, "", "nothing was begun");
    assert!(!folder.join("agentd/changes/wave").exists() && !folder.join(".git/called").exists());
    Ok(())
}
