//! Runs with nobody there: what becomes of questions.

use std::fs;

use crate::runs::{CODER, WORKFLOW, name, project, say};
use crate::{Outcome, loopwright};

#[test]
fn a_policy_answers_only_what_the_workflow_declares() -> Outcome {
    let cases = [
        // Declared, policy, code, what became of it.
        ("", "", 3, "asks ship"),
        ("", " --unattended fail", 3, "asks ship"),
        ("", " --unattended default", 3, "asks ship"),
        (" unattended: yes,", "", 3, "waits for go or polish"),
        (" unattended: yes,", " --unattended fail", 3, "asks ship"),
        (" unattended: yes,", " --unattended default", 3, "waits for go or polish"),
        (" unattended: deferred,", " --unattended default", 1, "failure"),
        (" unattended: deferred,", " --unattended fail --answer Q1=yes", 3, "waits for go or polish"),
        ("", " --unattended fail --answer ship=yes", 3, "waits for go or polish"),
    ];
    for (at, (declared, policy, code, expected)) in cases.into_iter().enumerate() {
        let folder = project(&format!("unattended-{at}"), CODER)?;
        let text = WORKFLOW.replace("asks: \"Ship it?\",", &format!("asks: \"Ship it?\",{declared}"));
        fs::write(folder.join(".loopwright/workflows/greet/workflow.yaml"), text)?;
        let ran = say(&folder, &format!("run greet world{policy}"))?;
        assert_eq!(ran.code, Some(code), "{declared}{policy}: {}{}", ran.stdout, ran.stderr);
        let why = "because `ask` came out as deferred: answered by policy";
        assert_eq!(ran.stdout.contains(why), code == 1, "{declared}{policy}: {}", ran.stdout);
        let listed = say(&folder, "list")?.stdout;
        assert!(listed.contains(expected), "{declared}{policy}: {listed}");
        let log = say(&folder, &format!("log {}", name(&folder)?))?.stdout;
        let by_policy = log.contains("answered by policy");
        let somebody = policy.contains("--answer") || expected == "asks ship";
        assert_eq!(by_policy, !somebody, "{declared}{policy}: {log}");
        if expected == "asks ship" {
            // It is still there to be answered.
            let answered = say(&folder, &format!("answer {} yes", name(&folder)?))?;
            assert!(answered.stdout.contains("go on with"), "{}{}", answered.stdout, answered.stderr);
        }
    }
    Ok(())
}

#[test]
fn an_answer_to_no_question_is_a_mistake() -> Outcome {
    let folder = project("unattended-typo", CODER)?;
    let ran = say(&folder, "run greet world --answer shp=yes")?;
    assert_eq!(ran.code, Some(2));
    assert_eq!(ran.stderr, "error: `greet` asks no question `shp`\nhint: did you mean `ship`?\n");
    let ran = say(&folder, "run greet world --answer ship=perhaps")?;
    assert_eq!(ran.code, Some(2));
    assert_eq!(ran.stderr, "error: `perhaps` is no answer to `ship`\nhint: it is one of yes, no, deferred\n");
    let ran = say(&folder, "run greet world --answer ship=no")?;
    assert_eq!(ran.code, Some(2));
    assert!(ran.stderr.contains("`no` needs a note"), "{}", ran.stderr);
    let ran = say(&folder, "run greet world --unattended maybe")?;
    assert_eq!(ran.code, Some(2));
    assert!(ran.stderr.contains("[possible values: fail, default]"), "{}", ran.stderr);
    assert!(say(&folder, "list")?.stdout.starts_with("no runs yet"));
    Ok(())
}

#[test]
fn whoever_answers_elsewhere_than_at_a_terminal_sees_what_it_is_about() -> Outcome {
    let folder = project("unattended-shows", CODER)?;
    let text = WORKFLOW.replace("asks: \"Ship it?\",", "asks: \"Ship it?\", shows: [diff],");
    fs::write(folder.join(".loopwright/workflows/greet/workflow.yaml"), text)?;
    let asked = say(&folder, "run greet world")?;
    let run = name(&folder)?;
    let about = format!("it is about diff (`loopwright show {run}` prints it)");
    assert!(asked.stdout.contains(&about), "{}", asked.stdout);
    let status = say(&folder, "status")?.stdout;
    assert!(status.contains(&format!("is about     diff (`loopwright show {run}` prints it)")), "{status}");
    let shown = say(&folder, &format!("show {run}"))?.stdout;
    assert!(shown.contains("--- diff\n") && shown.contains("\n+hello\n"), "{shown}");
    let shown: serde_json::Value =
        serde_json::from_str(&say(&folder, &format!("show {run} --json"))?.stdout)?;
    assert!(shown["shows"]["diff"].as_str().is_some_and(|it| it.contains("+hello")), "{shown}");
    Ok(())
}

#[test]
fn a_note_is_on_record_and_a_subject_of_several_lines_is_one_line_of_a_list() -> Outcome {
    let folder = project("unattended-note", CODER)?;
    assert_eq!(crate::run_in(&folder, &["run", "greet", "the\nworld"])?.code, Some(3));
    let run = name(&folder)?;
    let listed = say(&folder, "list")?.stdout;
    assert!(listed.lines().count() == 2 && listed.contains("the world"), "{listed}");
    let answered = crate::run_in(&folder, &["answer", &run, "no", "--note", "too short"])?;
    assert_eq!(answered.code, Some(1), "{}", answered.stderr);
    let log = say(&folder, &format!("log {run}"))?.stdout;
    assert!(log.contains("ask.1 came out as no, noting: too short"), "{log}");
    Ok(())
}

#[test]
fn a_question_can_be_put_off() -> Outcome {
    let folder = project("unattended-deferred", CODER)?;
    let asked = say(&folder, "run greet world")?;
    let run = name(&folder)?;
    assert!(asked.stdout.contains(&format!("or `loopwright answer {run} deferred`")), "{}", asked.stdout);
    let more = say(&folder, &format!("answer {run} yes --field size=large"))?;
    assert_eq!(more.code, Some(2));
    assert!(more.stderr.contains("`yes` comes with no `size`"), "{}", more.stderr);
    let put_off = say(&folder, &format!("answer {run} deferred"))?;
    assert_eq!(put_off.code, Some(1), "{}", put_off.stderr);
    assert!(put_off.stdout.contains("because `ask` came out as deferred"), "{}", put_off.stdout);
    Ok(())
}

#[test]
fn what_is_said_does_not_go_into_the_project() -> Outcome {
    let folder = project("unattended-redirected", CODER)?;
    let said = |to: &str| -> std::io::Result<std::process::ExitStatus> {
        let mut command = loopwright(&folder);
        command.args(["run", "greet", "world", "--json"]).stdout(fs::File::create(folder.join(to))?);
        command.stderr(std::process::Stdio::null()).status()
    };
    assert_eq!(said("run.log")?.code(), Some(2));
    assert!(say(&folder, "list")?.stdout.contains("no runs"), "nothing was begun");
    let refused = fs::read_to_string(folder.join("run.log"))?;
    assert_eq!(refused, "", "{refused}");
    fs::remove_file(folder.join("run.log"))?;
    fs::write(folder.join(".gitignore"), "*.log\n")?;
    assert_eq!(said("run.log")?.code(), Some(3), "what git ignores is nobody's work");
    assert!(!fs::read_to_string(folder.join("run.log"))?.is_empty());
    Ok(())
}
