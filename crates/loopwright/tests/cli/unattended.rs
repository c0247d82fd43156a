//! Runs with nobody there: what becomes of questions.

use std::fs;

use crate::Outcome;
use crate::runs::{CODER, WORKFLOW, name, project, say};

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
    let ran = say(&folder, "run greet world --unattended maybe")?;
    assert_eq!(ran.code, Some(2));
    assert!(ran.stderr.contains("[possible values: fail, default]"), "{}", ran.stderr);
    assert!(say(&folder, "list")?.stdout.starts_with("no runs yet"));
    Ok(())
}
