//! The tools for a `.vibe` folder, as people and scripts meet them who had another tool before.

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, UNIX_EPOCH};

use serde_json::{Value, json};

use crate::{Outcome, Ran, loopwright, run_in, scratch};

/// Cases that are answered otherwise than by the original, and which deviation of `docs/workflows/vibe.md` says why.
const OTHERWISE: &[(&str, &str)] = &[
    ("flags-044", "an empty box is no tick"),
    ("issue-008", "settled issues do not count"),
    ("issue-073", "settled issues do not count"),
    ("state-026", "an empty field takes nothing from the next line"),
    ("mix-019", "people's blockers stop whatever the status"),
];

/// When the files of a case were written, if nothing is said.
const WRITTEN: f64 = 1_760_000_000.0;

/// The cases of one file.
fn cases(name: &str) -> io::Result<Vec<Value>> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../loopwright-formats/tests/corpus").join(name);
    fs::read_to_string(path)?.lines().map(|it| serde_json::from_str(it).map_err(io::Error::from)).collect()
}

/// A folder with the files of a case, written when it says.
fn written(case: &Value) -> io::Result<PathBuf> {
    let folder = repository(&format!("vibe-{}", case["id"].as_str().unwrap_or_default()))?;
    for (path, text) in case["files"].as_object().into_iter().flatten() {
        let place = folder.join(path);
        fs::create_dir_all(place.parent().unwrap_or(&folder))?;
        let mut file = File::create(&place)?;
        file.write_all(text.as_str().unwrap_or_default().as_bytes())?;
        let at = case["mtimes"][path].as_f64().unwrap_or(WRITTEN);
        file.set_modified(UNIX_EPOCH + Duration::from_secs_f64(at))?;
    }
    Ok(folder)
}

/// A repository of a test's own: below the one that these tests are in, a project would be taken for part of it.
pub(crate) fn repository(name: &str) -> io::Result<PathBuf> {
    let folder = scratch(name)?;
    assert!(Command::new("git").args(["init", "-q"]).current_dir(&folder).status()?.success());
    Ok(folder)
}

pub(crate) fn json_of(ran: &Ran) -> Result<Value, String> {
    serde_json::from_str(&ran.stdout).map_err(|it| format!("{it}: {}{}", ran.stdout, ran.stderr))
}

/// How an answer differs from the original's.
fn differs(case: &Value, ours: &Value) -> Option<String> {
    let theirs = &case["next"];
    // The source says where the work log stands in the order; what the original does with it is another order.
    let by_source = case["seed_order_role"].as_str();
    let wanted = by_source.map_or_else(
        || (theirs["role"].clone(), theirs["prompt_id"].clone()),
        |role| (json!(role), json!(format!("prompt.{role}"))),
    );
    let found = (ours["recommended_role"].clone(), ours["recommended_prompt_id"].clone());
    if found != wanted {
        return Some(format!("{found:?} instead of {wanted:?}"));
    }
    let mut fields = vec![("stage", "stage"), ("checkpoint", "checkpoint"), ("status", "status")];
    if by_source.is_none() {
        fields.push(("recommended_prompt_title", "prompt_title"));
    }
    let other = fields.into_iter().find(|(our, their)| ours[*our] != theirs[*their]);
    if let Some((our, their)) = other {
        return Some(format!("{our} {} instead of {}", ours[our], theirs[their]));
    }
    let asks = theirs["requires_loop_result"] == json!(true);
    (ours["requires_loop_result"] != json!(asks))
        .then(|| "it is not said whether a result is wanted".to_owned())
}

#[test]
fn what_is_next_is_what_it_was_before() -> Outcome {
    let passing = scratch("vibe-passing")?;
    symlink("/bin/true", passing.join("sh"))?;
    let (mut wrong, mut same) = (Vec::new(), 0);
    for file in ["made-up.jsonl", "history.jsonl"] {
        for case in cases(file)? {
            let id = case["id"].as_str().unwrap_or_default().to_owned();
            let folder = written(&case)?;
            let mut command = loopwright(&folder);
            command.args(["vibe", "next", "--json"]);
            if file == "history.jsonl" {
                // Nobody knows what the commands of a history would do here; its answers are those of commands that pass.
                command.env("PATH", &passing);
            }
            let ran: Ran = command.output()?.into();
            if case["next"].get("role").is_none() {
                assert_eq!(ran.code, Some(2), "{id}: {}", ran.stderr);
                assert!(ran.stderr.contains("loopwright vibe init"), "{id}: {}", ran.stderr);
                continue;
            }
            assert_eq!(ran.code, Some(0), "{id}: {}", ran.stderr);
            let explained = OTHERWISE.iter().any(|(it, _)| *it == id);
            match (differs(&case, &json_of(&ran)?), explained) {
                (None, false) => same += 1,
                (Some(why), false) => wrong.push(format!("{id}: {why}")),
                (None, true) => wrong.push(format!("{id} needs no explanation")),
                (Some(_), true) => {}
            }
            fs::remove_dir_all(&folder)?;
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(same > 160, "only {same} were compared");
    Ok(())
}

#[test]
fn mistakes_are_found_with_the_same_exit_code() -> Outcome {
    for case in cases("made-up.jsonl")?.iter().step_by(7) {
        let folder = written(case)?;
        for (answer, options) in [("validate", &["--json"][..]), ("validate_strict", &["--strict", "--json"])]
        {
            let ran = run_in(&folder, &[&["vibe", "validate"], options].concat())?;
            assert_eq!(json!(ran.code), case[answer]["rc"], "{} {answer}: {}", case["id"], ran.stdout);
            let ours = json_of(&ran)?;
            assert_eq!(ours["ok"], case[answer]["ok"], "{} {answer}", case["id"]);
            let count = |of: &Value| of["errors"].as_array().map_or(0, Vec::len);
            assert_eq!(count(&ours), count(&case[answer]), "{} {answer}: {ours}", case["id"]);
        }
        fs::remove_dir_all(&folder)?;
    }
    Ok(())
}

/// A `.vibe` folder that was just begun.
pub(crate) fn begun(name: &str) -> io::Result<PathBuf> {
    let folder = repository(name)?;
    let ran = run_in(&folder, &["vibe", "init"])?;
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    Ok(folder)
}

pub(crate) fn state(folder: &Path, from: &str, to: &str) -> io::Result<()> {
    let path = folder.join(".vibe/STATE.md");
    let text = fs::read_to_string(&path)?;
    assert!(text.contains(from), "{text}");
    fs::write(path, text.replace(from, to))
}

#[test]
fn what_is_begun_can_be_worked_with() -> Outcome {
    let folder = begun("vibe-begun")?;
    let ran = run_in(&folder, &["vibe", "validate", "--strict", "--strict-complexity", "--format", "json"])?;
    let report = json_of(&ran)?;
    assert_eq!((ran.code, &report["ok"]), (Some(0), &json!(true)), "{report}");
    let again = run_in(&folder, &["vibe", "init"])?;
    assert_eq!(again.code, Some(2));
    assert!(again.stderr.contains("are there already"), "{}", again.stderr);
    let next = json_of(&run_in(&folder, &["vibe", "next", "--json"])?)?;
    assert_eq!(next["recommended_role"], "design", "{next}");
    // The command that the plan begins with works where nothing was committed yet.
    fs::remove_file(folder.join(".vibe/LOOP_RESULT.json"))?;
    state(&folder, "Status: NOT_STARTED", "Status: IN_REVIEW")?;
    let next = json_of(&run_in(&folder, &["vibe", "next", "--json"])?)?;
    assert_eq!(next["recommended_role"], "review", "{next}");
    Ok(())
}

#[test]
fn the_project_and_the_format_can_be_said_anywhere() -> Outcome {
    let folder = begun("vibe-anywhere")?;
    let root = folder.to_string_lossy().into_owned();
    let elsewhere = scratch("vibe-elsewhere")?;
    let expected = run_in(&folder, &["vibe", "next", "--json"])?.stdout;
    for words in [
        vec!["vibe", "--repo-root", &root, "--format", "json", "next"],
        vec!["vibe", "next", "--repo-root", &root, "--format", "json"],
        vec!["vibe", "--format=json", "next", &format!("--repo-root={root}")],
        vec!["--repo-root", &root, "--format=json", "vibe", "next"],
    ] {
        assert_eq!(run_in(&elsewhere, &words)?.stdout, expected, "{words:?}");
    }
    let text = run_in(&folder, &["vibe", "next", "--format", "text"])?.stdout;
    assert!(text.starts_with("recommended_role: design\n"), "{text}");
    let nowhere = run_in(&elsewhere, &["vibe", "next", "--repo-root", "not-there"])?;
    assert_eq!(nowhere.code, Some(2));
    assert!(nowhere.stderr.contains("`not-there` is no folder"), "{}", nowhere.stderr);
    assert_eq!(run_in(&elsewhere, &["vibe", "next", "--format", "xml"])?.code, Some(2));
    Ok(())
}

#[test]
fn a_stop_is_written_down_and_an_edit_after_it_asks_for_a_record() -> Outcome {
    let folder = begun("vibe-stop")?;
    state(
        &folder,
        "- None.",
        "- [ ] ISSUE-1: money\n  - Impact: BLOCKER\n  - Owner: human\n  - Status: OPEN",
    )?;
    let next = json_of(&run_in(&folder, &["vibe", "next", "--json"])?)?;
    assert_eq!((&next["recommended_role"], &next["requires_loop_result"]), (&json!("stop"), &json!(false)));
    assert!(next["reason"].as_str().is_some_and(|it| it.contains("ISSUE-1")), "{next}");
    let path = folder.join(".vibe/LOOP_RESULT.json");
    let record: Value = serde_json::from_str(&fs::read_to_string(&path)?)?;
    assert_eq!(
        (&record["loop"], &record["result"], &record["reason"]),
        (&json!("stop"), &json!("stop"), &next["reason"])
    );
    state(&folder, "Owner: human", "Owner: agent")?;
    let next = json_of(&run_in(&folder, &["vibe", "next", "--json"])?)?;
    assert_eq!(
        (&next["recommended_role"], &next["requires_loop_result"]),
        (&json!("stop"), &json!(true)),
        "{next}"
    );
    let after: Value = serde_json::from_str(&fs::read_to_string(&path)?)?;
    assert_eq!(after, record, "it stays as it is");
    let status = json_of(&run_in(&folder, &["vibe", "status", "--json"])?)?;
    assert_eq!(
        status["recommended_next_role"], "issues_triage",
        "where the work stands is not what was recorded"
    );
    assert_eq!(status["blockers"], json!(["ISSUE-1: money"]));
    Ok(())
}

#[test]
fn a_result_is_recorded_or_refused() -> Outcome {
    for case in cases("loop-results.jsonl")? {
        let folder = written(&case)?;
        let words: Vec<&str> =
            case["args"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
        let ran = run_in(&folder, &[&["vibe"], words.as_slice(), &["--json"]].concat())?;
        assert_eq!(json!(ran.code), case["rc"], "{}: {}{}", case["id"], ran.stdout, ran.stderr);
        if ran.code == Some(0) {
            let next = json_of(&run_in(&folder, &["vibe", "next", "--json"])?)?;
            assert_eq!(next["requires_loop_result"], json!(false), "{}", case["id"]);
        } else {
            assert!(!folder.join(".vibe/LOOP_RESULT.json").exists(), "{}: nothing is written", case["id"]);
        }
    }
    let folder = begun("vibe-stdin")?;
    let mut child = loopwright(&folder)
        .args(["vibe", "loop-result", "--stdin"])
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()?;
    child.stdin.take().ok_or("no stdin")?.write_all(b"LOOP_RESULT: not json")?;
    let ran: Ran = child.wait_with_output()?.into();
    assert_eq!(ran.code, Some(2));
    assert!(ran.stderr.contains("this is no loop result"), "{}", ran.stderr);
    assert_eq!(run_in(&folder, &["vibe", "loop-result"])?.code, Some(2), "one of three has to be said");
    Ok(())
}

#[test]
fn a_checkpoint_is_added_at_the_end_of_its_stage() -> Outcome {
    let folder = begun("vibe-added")?;
    let plan = folder.join(".vibe/PLAN.md");
    let before = fs::read_to_string(&plan)?;
    let words = "vibe add-checkpoint --template fix --title Sums --fault adding --demo true";
    let ran = run_in(&folder, &words.split(' ').collect::<Vec<_>>())?;
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let after = fs::read_to_string(&plan)?;
    assert!(after.starts_with(before.trim_end()) && after.contains("### 1.1 — Sums\n"), "{after}");
    assert!(after.contains("  adding does not happen any more\n"), "{after}");
    let missing = run_in(&folder, &["vibe", "add-checkpoint", "--template", "fix", "--title", "Sums"])?;
    assert_eq!(missing.code, Some(2));
    assert!(missing.stderr.contains("fault"), "{}", missing.stderr);
    let unknown = run_in(&folder, &["vibe", "add-checkpoint", "--template", "../fix"])?;
    assert_eq!(unknown.code, Some(2));
    assert_eq!(fs::read_to_string(&plan)?, after, "what fails changes nothing");
    state(&folder, "Checkpoint: 1.0", "Checkpoint: 1.1")?;
    let ran = run_in(&folder, &["vibe", "validate", "--strict", "--json"])?;
    assert_eq!(ran.code, Some(0), "{}", ran.stdout);
    // Options may stand between the keys, and what a key says may look like one.
    let root = folder.to_string_lossy().into_owned();
    let words =
        ["vibe", "add-checkpoint", "--title=Docs", "--template", "fix", "--demo", "--json", "--stage"];
    let words = [&words[..], &["1", "--fault", "none", "--format", "json", "--repo-root", &root]].concat();
    let ran = run_in(&scratch("vibe-added-elsewhere")?, &words)?;
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    assert_eq!(json_of(&ran)?["checkpoint"], "1.2");
    assert!(fs::read_to_string(&plan)?.contains("  * `--json`\n"), "{}", fs::read_to_string(&plan)?);
    Ok(())
}

/// A worker for every role, and a judge.
pub(crate) const AGENT: &str = r#"cat > /dev/null
case "$LOOPWRIGHT_ROLE" in
  designer) verdict=updated; echo "- decided" >> .vibe/CONTEXT.md; echo "- decided" >> .vibe/STATE.md ;;
  capturer) verdict=updated; echo '# CONTEXT' > .vibe/CONTEXT.md ;;
  implementer) verdict=ready_for_review; echo hello > hello ;;
  reviewer) verdict=pass ;;
esac
printf '```json\n{"verdict": "%s"}\n```\n' "$verdict""#;

#[test]
fn it_runs_so_many_loops_and_goes_on_later() -> Outcome {
    let folder = begun("vibe-run")?;
    fs::write(folder.join(".vibe/CONTEXT.md"), "# CONTEXT\n")?;
    fs::create_dir_all(folder.join(".loopwright"))?;
    let command = Value::from(AGENT);
    let config = format!("agents:\n  claude: {{command: {command}}}\n  codex: {{command: {command}}}\n");
    fs::write(folder.join(".loopwright/config.yaml"), config)?;
    for words in
        ["init -q", "config user.name a", "config user.email a@example.invalid", "add -A", "commit -qm start"]
    {
        assert!(Command::new("git").args(words.split(' ')).current_dir(&folder).status()?.success());
    }
    let ran = run_in(&folder, &["vibe", "run", "--max-loops", "1"])?;
    assert_eq!(ran.code, Some(0), "{}{}", ran.stdout, ran.stderr);
    assert!(ran.stderr.contains("design.1") && !ran.stderr.contains("implement.1"), "{}", ran.stderr);
    assert!(ran.stdout.contains("left at"), "{}", ran.stdout);
    let next = json_of(&run_in(&folder, &["vibe", "next", "--json"])?)?;
    assert_eq!(
        (&next["recommended_role"], &next["requires_loop_result"]),
        (&json!("implement"), &json!(false)),
        "{next}"
    );
    let ran = run_in(&folder, &["vibe", "run", "--unattended", "fail"])?;
    assert_eq!(ran.code, Some(0), "{}{}", ran.stdout, ran.stderr);
    assert!(ran.stdout.contains("success"), "{}", ran.stdout);
    let log = Command::new("git").args(["log", "--format=%s"]).current_dir(&folder).output()?;
    assert!(
        String::from_utf8_lossy(&log.stdout).starts_with("1.0: "),
        "{}",
        String::from_utf8_lossy(&log.stdout)
    );
    Ok(())
}

/// The first call claims that the checkpoint is done, and is killed with whoever drives.
const CLAIMS: &str = r#"cat > /dev/null
if [ ! -e .git/waits ]; then
  sed 's/Status: NOT_STARTED/Status: DONE/' .vibe/STATE.md > .vibe/new && mv .vibe/new .vibe/STATE.md
  echo $$ > .git/waits; exec sleep 1000
fi
grep 'Status:' .vibe/STATE.md > .git/seen; echo hello > hello
printf '```json\n{"verdict": "ready_for_review"}\n```\n'"#;

/// Notes what it does; the first call is killed with whoever drives.
const NOTES: &str = r#"cat > /dev/null
echo '- noted' >> .vibe/STATE.md
if [ ! -e .git/waits ]; then echo $$ > .git/waits; exec sleep 1000; fi
echo hello > hello; printf '```json\n{"verdict": "ready_for_review"}\n```\n'"#;

#[test]
fn what_a_killed_call_wrote_into_the_state_is_nobody_elses_to_record() -> Outcome {
    let folder = killed_at_work("vibe-killed-notes", NOTES)?;
    fs::write(folder.join("by-hand"), "x\n")?;
    let ran = run_in(&folder, &["vibe", "run", "--max-loops", "1"])?;
    assert_eq!(ran.code, Some(0), "{}{}", ran.stdout, ran.stderr);
    assert!(ran.stderr.contains("implement.1 -> lost"), "{}", ran.stderr);
    let changed = "changed since, by whoever was at work or by a person, and so part of what will be judged and committed: `.vibe/STATE.md`, `by-hand`";
    assert!(ran.stderr.contains(changed), "{}", ran.stderr);
    assert!(ran.stderr.contains("implement.2 -> ready_for_review"), "{}", ran.stderr);
    let noted = fs::read_to_string(folder.join(".vibe/STATE.md"))?;
    assert_eq!(noted.matches("- noted").count(), 2, "{noted}");
    // What a person writes while the run lies still is theirs.
    state(&folder, "- noted", "- noted by hand")?;
    let ran = run_in(&folder, &["vibe", "run", "--max-loops", "1"])?;
    assert_eq!(ran.code, Some(3), "{}{}", ran.stdout, ran.stderr);
    assert!(
        ran.stdout.contains("STATE.md is not what the last loop result was recorded for"),
        "{}",
        ran.stdout
    );
    Ok(())
}

/// A folder in which a call was killed with whoever drove it.
fn killed_at_work(name: &str, agent: &str) -> Result<PathBuf, Box<dyn std::error::Error>> {
    let folder = begun(name)?;
    state(&folder, "[ ] STAGE_DESIGNED", "[x] STAGE_DESIGNED")?;
    fs::write(folder.join(".vibe/CONTEXT.md"), "# CONTEXT\n")?;
    fs::create_dir_all(folder.join(".loopwright"))?;
    let agent = Value::from(agent);
    let config = format!("agents:\n  claude: {{command: {agent}}}\n  codex: {{command: cat}}\n");
    // The record of it is there before.
    run_in(&folder, &["vibe", "next"])?;
    fs::write(folder.join(".loopwright/config.yaml"), config)?;
    for words in
        ["init -q", "config user.name a", "config user.email a@example.invalid", "add -A", "commit -qm start"]
    {
        assert!(Command::new("git").args(words.split(' ')).current_dir(&folder).status()?.success());
    }
    let mut driver = crate::runs::start(&folder, &["vibe", "run"])?;
    crate::runs::waited_for(&folder.join(".git/waits"));
    driver.kill()?;
    driver.wait()?;
    Ok(folder)
}

#[test]
fn what_a_killed_call_wrote_into_a_field_of_the_engines_is_put_back() -> Outcome {
    let folder = killed_at_work("vibe-killed", CLAIMS)?;
    let ran = run_in(&folder, &["vibe", "run", "--max-loops", "1"])?;
    assert!(ran.stderr.contains("implement.1 -> lost"), "{}", ran.stderr);
    assert_eq!(fs::read_to_string(folder.join(".git/seen"))?, "- Status: NOT_STARTED\n");
    Ok(())
}

#[test]
fn a_run_that_stops_for_a_person_says_so_with_its_exit_code() -> Outcome {
    let folder = begun("vibe-stops")?;
    state(
        &folder,
        "- None.",
        "- [ ] ISSUE-1: money\n  - Impact: BLOCKER\n  - Owner: human\n  - Status: OPEN",
    )?;
    fs::remove_dir_all(folder.join(".git"))?;
    let around = folder.parent().ok_or("a folder around it")?;
    let outside: Ran =
        loopwright(&folder).args(["vibe", "run"]).env("GIT_CEILING_DIRECTORIES", around).output()?.into();
    assert_eq!(outside.code, Some(2), "{}", outside.stderr);
    fs::create_dir_all(folder.join(".loopwright"))?;
    fs::write(
        folder.join(".loopwright/config.yaml"),
        "agents: {claude: {command: cat}, codex: {command: cat}}\n",
    )?;
    for words in
        ["init -q", "config user.name a", "config user.email a@example.invalid", "add -A", "commit -qm start"]
    {
        assert!(Command::new("git").args(words.split(' ')).current_dir(&folder).status()?.success());
    }
    let ran = run_in(&folder, &["vibe", "run"])?;
    assert_eq!(ran.code, Some(3), "{}{}", ran.stdout, ran.stderr);
    assert!(ran.stdout.contains("Stopped: blocked by people: ISSUE-1."), "{}", ran.stdout);
    Ok(())
}

#[test]
fn the_project_around_a_folder_is_meant() -> Outcome {
    let folder = begun("vibe-around")?;
    assert!(Command::new("git").args(["init", "-q"]).current_dir(&folder).status()?.success());
    let below = folder.join("some/where");
    fs::create_dir_all(&below)?;
    assert_eq!(run_in(&below, &["vibe", "next"])?.stdout, run_in(&folder, &["vibe", "next"])?.stdout);
    fs::remove_file(folder.join(".vibe/PLAN.md"))?;
    assert_eq!(run_in(&below, &["vibe", "init"])?.code, Some(0), "what is missing is begun");
    assert!(folder.join(".vibe/PLAN.md").exists() && !below.join(".vibe").exists());
    Ok(())
}

#[test]
fn what_is_no_text_is_read_as_far_as_it_goes() -> Outcome {
    let folder = begun("vibe-bytes")?;
    state(&folder, "[ ] STAGE_DESIGNED", "[x] STAGE_DESIGNED")?;
    for file in ["HISTORY.md", "CONTEXT.md"] {
        fs::write(folder.join(".vibe").join(file), b"# caf\xe9\n")?;
    }
    let next = json_of(&run_in(&folder, &["vibe", "next", "--json"])?)?;
    assert_eq!(next["recommended_role"], "implement", "{next}");
    Ok(())
}

#[test]
fn a_question_beside_something_minor_keeps_a_plan_open_and_nothing_else_back() -> Outcome {
    let folder = begun("vibe-beside-minor")?;
    let issue = |id: &str, impact: &str| {
        format!("- [ ] {id}: x\n  - Impact: {impact}\n  - Owner: agent\n  - Status: OPEN\n")
    };
    let issues = issue("ISSUE-1", "QUESTION") + &issue("ISSUE-2", "MINOR");
    state(&folder, "- None.\n", &issues)?;
    let next = json_of(&run_in(&folder, &["vibe", "next", "--json"])?)?;
    assert_eq!(next["recommended_role"], "design", "{next}");
    fs::remove_file(folder.join(".vibe/LOOP_RESULT.json"))?;
    state(&folder, "Status: NOT_STARTED", "Status: DONE")?;
    let next = json_of(&run_in(&folder, &["vibe", "next", "--json"])?)?;
    assert_eq!(next["recommended_role"], "stop", "{next}");
    assert!(
        next["reason"].as_str().is_some_and(|it| it.ends_with("issues are still open: ISSUE-1; ISSUE-2")),
        "{next}"
    );
    Ok(())
}

#[test]
fn a_checkpoint_in_fenced_code_is_none_also_where_the_fence_is_not_closed() -> Outcome {
    let folder = begun("vibe-fenced")?;
    state(&folder, "Status: NOT_STARTED", "Status: IN_REVIEW")?;
    state(&folder, "Checkpoint: 1.0", "Checkpoint: 1.1")?;
    let plan = "# PLAN\n\n## Stage 1\n\n### 1.0\n\n```sh\nan example\nCLOSED\n### 1.1\n\n* **Demo commands:**\n  * `false`\n";
    for (closed, role, because) in [
        ("```\n", "issues_triage", "a demo command does not work"),
        ("", "review", "PLAN.md does not have it"),
    ] {
        fs::write(folder.join(".vibe/PLAN.md"), plan.replace("CLOSED\n", closed))?;
        let said = json_of(&run_in(&folder, &["vibe", "next", "--json"])?)?;
        assert_eq!(said["recommended_role"], role, "{said}");
        assert!(said["reason"].as_str().is_some_and(|it| it.contains(because)), "{said}");
    }
    Ok(())
}

#[test]
fn the_tools_are_listed_with_the_workflow() -> Outcome {
    let folder = scratch("vibe-help")?;
    let ran = run_in(&folder, &["vibe", "--help"])?;
    for word in ["next", "status", "validate", "loop-result", "run", "init", "add-checkpoint"] {
        assert!(ran.stdout.contains(&format!("\n  {word} ")), "{word}: {}", ran.stdout);
    }
    let unknown = run_in(&folder, &["vibe", "nxt"])?;
    assert_eq!(unknown.code, Some(2));
    assert!(unknown.stderr.contains("loopwright vibe --help"), "{}", unknown.stderr);
    Ok(())
}

#[test]
fn every_worktree_has_its_own_run() -> Outcome {
    let folder = begun("vibe-worktrees")?;
    let git = |at: &Path, words: &[&str]| -> io::Result<()> {
        let done = Command::new("git")
            .args(["-c", "user.name=a", "-c", "user.email=a@b"])
            .args(words)
            .current_dir(at)
            .output()?;
        assert!(done.status.success(), "{words:?}: {}", String::from_utf8_lossy(&done.stderr));
        Ok(())
    };
    git(&folder, &["init", "-q"])?;
    git(&folder, &["config", "user.name", "a"])?;
    git(&folder, &["config", "user.email", "a@b"])?;
    fs::create_dir_all(folder.join(".loopwright"))?;
    let stays = r#"cat > /dev/null; printf '```json\n{"verdict": "blocked"}\n```\n'"#;
    let config = format!("agents:\n  claude: {{command: {0}}}\n  codex: {{command: {0}}}\n", json!(stays));
    fs::write(folder.join(".loopwright/config.yaml"), config)?;
    git(&folder, &["add", "-A"])?;
    git(&folder, &["commit", "-qm", "start"])?;
    let other = scratch("vibe-worktrees-other")?;
    fs::remove_dir_all(&other)?;
    git(&folder, &["worktree", "add", "-q", &other.to_string_lossy(), "-b", "other"])?;
    assert_eq!(run_in(&other, &["vibe", "run"])?.code, Some(3));
    let theirs = fs::read_to_string(other.join(".vibe/LOOP_RESULT.json"))?;
    assert_eq!(run_in(&folder, &["vibe", "run"])?.code, Some(3));
    assert!(folder.join(".vibe/LOOP_RESULT.json").exists(), "it worked here");
    assert_eq!(fs::read_to_string(other.join(".vibe/LOOP_RESULT.json"))?, theirs, "and not there");
    let listed = run_in(&folder, &["list", "--json"])?.stdout;
    assert_eq!(listed.matches("\"workflow\"").count(), 2, "{listed}");
    Ok(())
}

#[test]
fn looking_while_a_run_is_at_work_changes_nothing() -> Outcome {
    let folder = begun("vibe-beside")?;
    assert!(Command::new("git").args(["init", "-q"]).current_dir(&folder).status()?.success());
    // Whoever is at work says so; this test is.
    let me = loopwright_engine::this_process();
    fs::write(folder.join(".git/loopwright-at-work"), format!("some-run, {me}"))?;
    let plan = fs::read_to_string(folder.join(".vibe/PLAN.md"))?;
    let state = fs::read_to_string(folder.join(".vibe/STATE.md"))?;
    fs::write(folder.join(".vibe/STATE.md"), state.replace("NOT_STARTED", "IN_REVIEW"))?;
    fs::write(folder.join(".vibe/PLAN.md"), plan.replace("git status --short", "touch it-ran"))?;
    let said = json_of(&run_in(&folder, &["vibe", "next", "--json"])?)?;
    assert_eq!(said["recommended_role"], "review");
    assert!(
        said["reason"].as_str().is_some_and(|it| it.contains("while the run some-run is at work")),
        "{said}"
    );
    assert!(!folder.join("it-ran").exists() && !folder.join(".vibe/LOOP_RESULT.json").exists());
    let words = "vibe add-checkpoint --template fix --title Sums --fault adding --demo true";
    let words: Vec<&str> = words.split(' ').collect();
    let plan = fs::read_to_string(folder.join(".vibe/PLAN.md"))?;
    let added = run_in(&folder, &words)?;
    assert_eq!(added.code, Some(6), "{}", added.stderr);
    assert!(added.stderr.contains("the run some-run is at work here"), "{}", added.stderr);
    assert_eq!(fs::read_to_string(folder.join(".vibe/PLAN.md"))?, plan);
    let its_agent = loopwright(&folder).args(&words).env("LOOPWRIGHT_RUN", "some-run").output()?;
    assert_eq!(its_agent.status.code(), Some(0), "an agent of its own may");
    fs::write(folder.join(".git/loopwright-at-work"), "")?;
    run_in(&folder, &["vibe", "next", "--json"])?;
    assert!(folder.join("it-ran").exists() && folder.join(".vibe/LOOP_RESULT.json").exists());
    Ok(())
}
