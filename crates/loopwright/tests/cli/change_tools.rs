//! The tools for an `agentd` folder as people and scripts meet them: what there is, and what is wrong with it.

use std::fs;

use serde_json::{Value, json};

use crate::change::{json_of, say, several, told};
use crate::{Outcome, run_in, scratch};

#[test]
fn what_there_is_is_listed() -> Outcome {
    let folder = several("change-listed")?;
    insta::assert_snapshot!(told(&folder, "change list --all")?, @"
    empty  ?
    greet  challenged    2 tasks, 1 done  Greet people
    wave   ?             2 tasks, 1 done  Greet people
           STATE.yaml, line 2: `done` is no phase; one of proposed, challenged, rejected, implementing, complete, archived
    nod    archived      on 20260102
    bow    archived      on 20260103
    (0)
    ");
    let listed = json_of(&say(&folder, "change list --json")?)?;
    let ids: Vec<&Value> = listed["changes"].as_array().into_iter().flatten().map(|it| &it["id"]).collect();
    assert_eq!(ids, ["empty", "greet", "wave"], "what is archived is only told who asks for it");
    let greet = &listed["changes"][1];
    assert_eq!(
        (&greet["phase"], &greet["iteration"], &greet["tasks"], &greet["done"], &greet["problem"]),
        (&json!("challenged"), &json!(2), &json!(2), &json!(1), &Value::Null)
    );
    let all = json_of(&say(&folder, "change list --all --json")?)?;
    assert_eq!(all["changes"][4], json!({"id": "bow", "phase": "archived", "archived": "20260103"}));
    let nothing = scratch("change-nothing")?;
    insta::assert_snapshot!(told(&nothing, "change list")?, @r#"
    no changes; `loopwright change plan ID "what should change"` begins one
    (0)
    "#);
    assert_eq!(json_of(&say(&nothing, "change list --json")?)?, json!({"changes": []}));
    Ok(())
}

#[test]
fn how_far_a_change_is_is_shown() -> Outcome {
    let folder = several("change-shown")?;
    insta::assert_snapshot!(told(&folder, "change show greet")?, @"
    greet: challenged, iteration 2  (agentd/changes/greet)
    Greet people

    specs  greeting

    verdicts
      proposal.md, line 27 (iteration 2): APPROVED

    tasks  2, 1 done
      Data Layer
        [x] 1.1 Write the greeting  CREATE src/greeting  for greeting:R1
      Testing Layer
        [ ] 2.10 Try it  CREATE src/tried  for greeting:R1  after 1.1
    (0)
    ");
    let greet = json_of(&say(&folder, "change show greet --json")?)?;
    assert_eq!((&greet["phase"], &greet["phase_written"]), (&json!("challenged"), &json!("planned")));
    assert_eq!(greet["verdicts"][0]["line"], 27);
    assert_eq!(greet["layers"][1]["tasks"][0]["depends"], json!(["1.1"]));
    // What cannot be read is said with its line, and stops nobody who only looks.
    let wave = told(&folder, "change show wave")?;
    assert!(wave.contains("\nSTATE.yaml, line 2: `done` is no phase") && wave.ends_with("(0)"), "{wave}");
    for (id, place) in [("nod", "agentd/archive/20260102-nod"), ("bow", "agentd/archive/20260103-bow/bow")] {
        let shown = told(&folder, &format!("change show {id}"))?;
        assert!(shown.starts_with(&format!("{id}: archived, iteration 2  ({place})\n")), "{shown}");
        let shown = json_of(&say(&folder, &format!("change show {id} --json"))?)?;
        assert_eq!((&shown["folder"], &shown["tasks"]), (&json!(place), &json!(2)));
        assert_eq!(say(&folder, &format!("change validate {id}"))?.code, Some(0));
    }
    Ok(())
}

#[test]
fn what_is_wrong_is_found() -> Outcome {
    let folder = several("change-wrong")?;
    insta::assert_snapshot!(told(&folder, "change validate")?, @"
    empty: not valid (2 high, 1 low)
      low     STATE.yaml: `STATE.yaml` is missing
      high    proposal.md: `proposal.md` is missing
      high    tasks.md: `tasks.md` is missing
    greet: valid
    wave: not valid (3 high)
      high    STATE.yaml, line 2: `done` is no phase; one of proposed, challenged, rejected, implementing, complete, archived
      high    tasks.md, line 18: task `1.1` refers to `greeting:R7`: `specs/greeting.md` has no `R7`
      high    tasks.md, line 31: task `2.10` refers to `greeting:R7`: `specs/greeting.md` has no `R7`
    (1)
    ");
    let report = say(&folder, "change validate wave --json")?;
    assert_eq!(report.code, Some(1));
    let report = json_of(&report)?;
    assert_eq!((&report["valid"], &report["changes"][0]["high"]), (&json!(false), &json!(3)));
    assert_eq!(report["changes"][0]["problems"][0]["line"], 2);
    // What is of low severity counts where somebody is strict.
    fs::remove_file(folder.join("agentd/changes/greet/STATE.yaml"))?;
    assert_eq!(say(&folder, "change validate greet")?.code, Some(0));
    let strict = told(&folder, "change validate greet --strict")?;
    assert!(strict.starts_with("greet: not valid (1 low)\n") && strict.ends_with("(1)"), "{strict}");
    Ok(())
}

#[test]
fn what_is_not_there_is_said_with_what_is_near() -> Outcome {
    let folder = several("change-missing")?;
    for tool in ["show", "validate"] {
        let said = told(&folder, &format!("change {tool} gret"))?;
        insta::allow_duplicates! {
            insta::assert_snapshot!(said, @"
            error: there is no change `gret`
            hint: did you mean `greet`?
            hint: `loopwright change list --all` says which there are
            (2)
            ");
        }
        // No path is an id, wherever it leads.
        for id in ["", ".", "..", "../changes/greet", "greet/specs"] {
            let ran = run_in(&folder, &["change", tool, id])?;
            assert_eq!(ran.code, Some(2), "{tool} {id}: {}", ran.stdout);
        }
    }
    assert_eq!(say(&folder, "change show")?.code, Some(2));
    insta::assert_snapshot!(told(&folder, "change impl gret")?, @"
    error: there is no run of `change` about `gret` that waits for `impl`
    hint: `loopwright change plan gret` begins one
    (2)
    ");
    let odd = told(&folder, "change plan Greet_People")?;
    assert!(odd.contains("it has to match `[a-z0-9-]+`") && odd.ends_with("(2)"), "{odd}");
    Ok(())
}

#[test]
fn the_project_and_the_format_can_be_said_anywhere() -> Outcome {
    let folder = several("change-anywhere")?;
    let root = folder.to_string_lossy().into_owned();
    let below = folder.join("some/where");
    fs::create_dir_all(&below)?;
    let elsewhere = scratch("change-elsewhere")?;
    for tool in ["show greet", "list", "validate greet"] {
        let expected = say(&folder, &format!("change {tool} --json"))?.stdout;
        assert!(expected.starts_with('{'), "{expected}");
        for (stands, words) in [
            (&elsewhere, format!("change --repo-root {root} --format json {tool}")),
            (&elsewhere, format!("change {tool} --repo-root {root} --format json")),
            (&elsewhere, format!("change --format=json {tool} --repo-root={root}")),
            (&elsewhere, format!("--repo-root {root} --format=json change {tool}")),
            (&below, format!("change {tool} --format json")),
        ] {
            assert_eq!(say(stands, &words)?.stdout, expected, "{words}");
        }
        let text = say(&below, &format!("change {tool} --format text"))?.stdout;
        assert_eq!(text, say(&folder, &format!("change {tool}"))?.stdout);
    }
    assert_eq!(say(&folder, "change list --format xml")?.code, Some(2));
    assert_eq!(say(&folder, "change list --repo-root nowhere")?.code, Some(2));
    Ok(())
}

#[test]
fn what_cannot_be_read_is_a_problem_of_its_change_alone() -> Outcome {
    let folder = several("change-unreadable")?;
    let greet = folder.join("agentd/changes/greet");
    let tasks = fs::read(greet.join("tasks.md"))?;
    let mut odd = b"<!-- caf\xc3\xa9 -->\r\n<!-- gr\xfc\xdfe -->\n".to_vec();
    odd.extend(tasks);
    fs::write(greet.join("tasks.md"), odd)?;
    fs::remove_dir_all(folder.join("agentd/changes/wave"))?;
    fs::create_dir_all(folder.join("agentd/changes/wave/proposal.md"))?;
    fs::write(folder.join("agentd/changes/wave/specs"), "no folder")?;
    insta::assert_snapshot!(told(&folder, "change validate")?, @"
    empty: not valid (2 high, 1 low)
      low     STATE.yaml: `STATE.yaml` is missing
      high    proposal.md: `proposal.md` is missing
      high    tasks.md: `tasks.md` is missing
    greet: not valid (1 high)
      high    tasks.md, line 2: this is not text: it is not UTF-8, column 8
    wave: not valid (3 high, 1 low)
      low     STATE.yaml: `STATE.yaml` is missing
      high    proposal.md: this cannot be read: it is a folder
      high    specs: this cannot be read: it is no folder
      high    tasks.md: `tasks.md` is missing
    (1)
    ");
    insta::assert_snapshot!(told(&folder, "change list")?, @"
    empty  ?
    greet  challenged    2 tasks, 1 done  Greet people
           tasks.md, line 2: this is not text: it is not UTF-8, column 8
    wave   ?
           proposal.md: this cannot be read: it is a folder
    (0)
    ");
    for tool in ["show", "validate"] {
        let said = told(&folder, &format!("change {tool} greet"))?;
        assert!(said.contains("tasks.md, line 2: this is not text: it is not UTF-8, column 8"), "{said}");
    }
    let shown = json_of(&say(&folder, "change show wave --json")?)?;
    assert_eq!(shown["problems"][0]["file"], "proposal.md");
    assert_eq!(say(&folder, "change show wave")?.code, Some(0));
    Ok(())
}

#[test]
fn every_file_of_a_task_is_shown() -> Outcome {
    let folder = several("change-several-files")?;
    let tasks = folder.join("agentd/changes/greet/tasks.md");
    let text = fs::read_to_string(&tasks)?;
    let more = "## Moves\n\n- [ ] 3.2 Move it\n  - File: `src/old` (DELETE)\n  - File: `src/new` (CREATE)\n";
    fs::write(&tasks, format!("{text}\n{more}"))?;
    let shown = told(&folder, "change show greet")?;
    assert!(shown.contains("[ ] 3.2 Move it  DELETE src/old, CREATE src/new\n"), "{shown}");
    let shown = json_of(&say(&folder, "change show greet --json")?)?;
    let files = json!([{"path": "src/old", "action": "DELETE"}, {"path": "src/new", "action": "CREATE"}]);
    assert_eq!(shown["layers"][2]["tasks"][0]["files"], files);
    Ok(())
}
