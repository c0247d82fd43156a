//! Where runs are, on one screen.

use std::path::Path;
use std::{fs, io};

use crate::Outcome;
use crate::runs::{CODER, WAITS, git, name, project, say, start, waited_for};

/// What depends on the moment or the machine, said plainly.
fn plainly(text: &str, run: &str) -> String {
    let line = |it: &str| {
        let it = it.replace(run, "RUN");
        match (it.split_once(", for "), it.split_once("driven by    process ")) {
            (Some((before, _)), _) => format!("{before}, for a while"),
            (_, Some(_)) => "  driven by    somebody".to_owned(),
            _ if it.ends_with("s ago") => it.rsplit_once(", ").map_or(it.clone(), |it| it.0.to_owned()),
            _ => it,
        }
    };
    text.lines().map(|it| line(it) + "\n").collect()
}

fn status(folder: &Path, words: &str, run: &str) -> io::Result<String> {
    let ran = say(folder, words)?;
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    Ok(plainly(&ran.stdout, run))
}

#[test]
fn one_screen_says_where_a_run_is_and_what_moves_it() -> Outcome {
    let folder = project("status", CODER)?;
    assert_eq!(say(&folder, "run greet world")?.code, Some(3));
    let run = name(&folder)?;
    insta::assert_snapshot!(status(&folder, "status", &run)?);
    assert_eq!(say(&folder, &format!("answer {run} yes"))?.code, Some(3));
    insta::assert_snapshot!(status(&folder, &format!("status {}", &run[..3]), &run)?);
    let json: serde_json::Value = serde_json::from_str(&say(&folder, "status --json")?.stdout)?;
    assert_eq!(json["waits"], "a verb");
    assert_eq!(json["commands"][0], "loopwright greet go world");
    assert_eq!(json["view"]["left"]["fixes"], 1);
    // What it says to type does it.
    assert_eq!(say(&folder, "greet go world")?.code, Some(0));
    insta::assert_snapshot!(status(&folder, &format!("status {run}"), &run)?);
    insta::assert_snapshot!(status(&folder, "status", &run)?);
    Ok(())
}

#[test]
fn one_that_is_driven_is_told_from_one_that_was_left() -> Outcome {
    let folder = project("status-driven", WAITS)?;
    let mut driver = start(&folder, &["run", "greet", "world"])?;
    waited_for(&folder.join(".git/waits"));
    let run = name(&folder)?;
    insta::assert_snapshot!(status(&folder, "status", &run)?);
    // Asking who drives takes the lease from nobody.
    assert_eq!(say(&folder, &format!("resume {run}"))?.code, Some(6));
    assert!(say(&folder, "list")?.stdout.ends_with("write  at work\n"));
    driver.kill()?;
    driver.wait()?;
    assert!(say(&folder, "list")?.stdout.ends_with("write  left\n"));
    insta::assert_snapshot!(status(&folder, "status", &run)?);
    assert_eq!(say(&folder, &format!("stop {run}"))?.code, Some(0));
    Ok(())
}

#[test]
fn runs_of_other_worktrees_are_counted() -> Outcome {
    let folder = project("status-worktrees", CODER)?;
    let other = folder.with_file_name("status-worktrees-other");
    if other.exists() {
        fs::remove_dir_all(&other)?;
    }
    git(&folder, &["worktree", "add", "--quiet", "--detach", &other.to_string_lossy()])?;
    assert_eq!(say(&folder, "run greet world")?.code, Some(3));
    let there = say(&other, "status")?.stdout;
    assert!(there.contains("no run is open in this worktree"), "{there}");
    assert!(there.contains("1 open run in other worktrees"), "{there}");
    Ok(())
}
