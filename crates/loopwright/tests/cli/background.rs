//! Runs that nobody sits in front of.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use crate::runs::{CODER, WAITS, name, project, say, waited_for};
use crate::{Outcome, run_in};

#[test]
fn what_a_run_in_the_background_is_called_is_said_for_programs_too() -> Outcome {
    let folder = project("background-json", CODER)?;
    fs::write(folder.join("mine"), "not committed\n")?;
    let begun = say(&folder, "run greet world --detach --json")?;
    assert_eq!(begun.code, Some(0), "{}", begun.stderr);
    let told: serde_json::Value = serde_json::from_str(&begun.stdout)?;
    let run = name(&folder)?;
    assert_eq!(told["run"], run.as_str());
    assert!(
        told["log"].as_str().is_some_and(|it| it.ends_with(&format!("runs/{run}/background.log"))),
        "{told}"
    );
    say(&folder, &format!("stop {run}"))?;
    Ok(())
}

#[test]
fn a_run_in_the_background_is_begun_when_the_command_returns_and_can_be_ended() -> Outcome {
    let folder = project("background", WAITS)?;
    let begun = say(&folder, "run greet world --detach")?;
    assert_eq!(begun.code, Some(0), "{}", begun.stderr);
    let run = name(&folder)?;
    assert!(begun.stdout.starts_with(&format!("{run}: runs in the background\n")), "{}", begun.stdout);
    // It is leased already: nobody else may drive it.
    assert_eq!(say(&folder, &format!("resume {run}"))?.code, Some(6));
    waited_for(&folder.join(".git/waits"));
    let status = say(&folder, "status")?.stdout;
    assert!(status.contains("driven by    process"), "{status}");
    let pid = fs::read_to_string(folder.join(".git/waits"))?;
    let driver = status.split("process ").nth(1).and_then(|it| it.split(' ').next()).unwrap_or_default();
    let stat = fs::read_to_string(format!("/proc/{driver}/stat"))?;
    let session = stat.rsplit_once(')').and_then(|it| it.1.split_whitespace().nth(3)).unwrap_or_default();
    assert_eq!(session, driver, "it is in a session of its own");
    let stopped = say(&folder, &format!("stop {run} --reason enough"))?;
    assert_eq!(stopped.stdout, format!("{run}: ended\n"), "{}", stopped.stderr);
    assert!(!Path::new(&format!("/proc/{}", pid.trim())).exists(), "the agent goes on");
    let log = folder.join(".git/loopwright/runs").join(&run).join("background.log");
    assert!(begun.stdout.contains(&log.display().to_string()), "{}", begun.stdout);
    let kept = fs::read_to_string(&log)?;
    assert!(kept.contains("write.1 (coder)"), "{kept}");
    Ok(())
}

#[test]
fn one_that_was_left_is_taken_up_in_the_background() -> Outcome {
    let folder = project("background-resumed", CODER)?;
    assert_eq!(say(&folder, "run greet world")?.code, Some(3));
    let run = name(&folder)?;
    let resumed = say(&folder, &format!("resume {run} --detach --answer Q1=yes --json"))?;
    assert_eq!(resumed.code, Some(0), "{}", resumed.stderr);
    let told: serde_json::Value = serde_json::from_str(&resumed.stdout)?;
    assert_eq!(told["run"], run.as_str());
    let log = told["log"].as_str().unwrap_or_default();
    // Its last line says where it stands.
    let begun = Instant::now();
    loop {
        assert!(begun.elapsed() < Duration::from_mins(2), "it never stood still");
        let kept = fs::read_to_string(log)?;
        if kept.contains("\"standing\"") {
            assert!(kept.contains("\"standing\":\"waits\""), "{kept}");
            break;
        }
        std::thread::yield_now();
    }
    assert_eq!(say(&folder, "greet go world")?.code, Some(0));
    let over = say(&folder, &format!("resume {run} --detach"))?;
    assert_eq!(over.code, Some(2));
    assert!(over.stderr.contains("is over"), "{}", over.stderr);
    Ok(())
}

#[test]
fn what_keeps_a_run_from_beginning_is_told_to_whoever_asked() -> Outcome {
    let folder = project("background-refused", CODER)?;
    for words in
        ["run nothing world --detach", "run greet --detach", "run team world --detach", "resume x --detach"]
    {
        let before = say(&folder, &words.replace(" --detach", ""))?;
        let ran = run_in(&folder, &words.split(' ').collect::<Vec<_>>())?;
        assert_eq!(
            (ran.code, ran.stderr, ran.stdout),
            (before.code, before.stderr, before.stdout),
            "{words}"
        );
    }
    fs::write(
        folder.join(".loopwright/workflows/greet/workflow.yaml"),
        "workflow: greet\nabout: x\nsubject: thing\nstates:\n  a: {choose: [a]}\n  b: {end: success}\n",
    )?;
    assert_eq!(say(&folder, "run greet world --detach")?.code, Some(1), "it is not proved");
    assert!(say(&folder, "list")?.stdout.starts_with("no runs yet"));
    Ok(())
}

#[test]
fn a_verb_is_said_in_the_background() -> Outcome {
    let folder = project("background-verb", CODER)?;
    assert_eq!(say(&folder, "run greet world --answer ship=yes")?.code, Some(3));
    let run = name(&folder)?;
    let said = say(&folder, "greet go world --detach")?;
    assert!(
        said.stdout.starts_with(&format!("{run}: runs in the background")),
        "{}{}",
        said.stdout,
        said.stderr
    );
    let begun = Instant::now();
    while !say(&folder, "list")?.stdout.contains("success") {
        assert!(begun.elapsed() < Duration::from_mins(2), "it never came to its end");
    }
    let refused = say(&folder, "greet go world --detach")?;
    assert_eq!(refused.code, Some(2));
    assert!(
        refused.stderr.contains("there is no run of `greet` about `world` that waits for `go`"),
        "{}",
        refused.stderr
    );
    let help = say(&folder, "greet --help")?;
    assert_eq!(help.code, Some(0));
    assert!(help.stdout.contains("Usage: loopwright greet [OPTIONS] [VERB] [SUBJECT]"), "{}", help.stdout);
    assert!(help.stdout.contains("Verbs:\n  go      Commit it\n  polish"), "{}", help.stdout);
    Ok(())
}
