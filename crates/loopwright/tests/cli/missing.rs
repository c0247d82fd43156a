//! What a run needs and is not there: said before anybody has worked, or without losing what was done.

use std::fs;

use crate::runs::{CODER, git, name, project, say};
use crate::{Outcome, Ran, loopwright};

const CONFIG: &str = ".loopwright/config.yaml";

#[test]
fn what_a_run_would_miss_halfway_is_said_before_it_begins() -> Outcome {
    let folder = project("missing-first", CODER)?;
    let config = fs::read_to_string(folder.join(CONFIG))?;
    let agents = "agents:\n  claude: {command: cat}\n  codex: {command: cat}\n  judge: {command: cat}\n";
    for (written, words, expected) in [
        (
            format!("{agents}  coder: {{command: no-such-program --headless}}\n"),
            "run greet world",
            "nobody can be the `coder` of `greet`: `coder`: `no-such-program` is not there",
        ),
        (
            format!("{agents}  coder: {{command: [no-such-program, --headless]}}\n"),
            "run greet world",
            "`no-such-program` is not there",
        ),
        (
            format!("{agents}  coder: {{command: cat}}\nroles:\n  greet.jugde: {{agent: judge}}\n"),
            "run greet world",
            "who `jugde` of `greet` is, and it has no such role: did you mean `judge`?",
        ),
        (
            agents.to_owned(),
            "run task world",
            "`checks` runs the project's own `checks`, and there is no command",
        ),
    ] {
        fs::write(folder.join(CONFIG), written)?;
        let ran = say(&folder, words)?;
        assert_eq!(ran.code, Some(2), "{}", ran.stderr);
        assert!(ran.stderr.contains(expected), "{}", ran.stderr);
    }
    fs::write(folder.join(CONFIG), config)?;
    // As on a machine that is new.
    git(&folder, &["config", "user.useConfigOnly", "true"])?;
    git(&folder, &["config", "--unset", "user.email"])?;
    for (words, code) in [(&["run", "greet", "world"][..], 2), (&["doctor"], 1)] {
        let nobody = loopwright(&folder).args(words).env("GIT_CONFIG_GLOBAL", "/dev/null").output()?;
        let nobody = Ran::from(nobody);
        assert_eq!(nobody.code, Some(code), "{}{}", nobody.stdout, nobody.stderr);
        let said = format!("{}{}", nobody.stdout, nobody.stderr).replace("\n                       ", " ");
        assert!(said.contains("git does not know who commits here"), "{said}");
    }
    assert!(say(&folder, "list")?.stdout.starts_with("no runs yet"));
    Ok(())
}

#[test]
fn an_agent_that_is_gone_halfway_costs_the_run_nothing() -> Outcome {
    let folder = project("missing-halfway", CODER)?;
    assert_eq!(say(&folder, "run greet world --answer ship=yes")?.code, Some(3));
    let run = name(&folder)?;
    fs::rename(folder.join(CONFIG), folder.join("aside"))?;
    let gone = say(&folder, "greet polish")?;
    assert_eq!(gone.code, Some(2), "{}", gone.stderr);
    assert!(
        gone.stderr.contains("nobody can be the `coder` any more: there is no agent `coder`"),
        "{}",
        gone.stderr
    );
    // One that cannot be read stops nobody who only looks, or ends a run.
    fs::write(folder.join(CONFIG), "agents: [\n")?;
    for (words, code) in [
        (format!("status {run}"), 0),
        (format!("why {run}"), 0),
        (format!("log {run}"), 0),
        (format!("resume {run}"), 2),
    ] {
        let ran = say(&folder, &words)?;
        assert_eq!(ran.code, Some(code), "{words}: {}", ran.stderr);
        assert!(ran.stderr.contains(CONFIG), "{words}: {}", ran.stderr);
    }
    fs::rename(folder.join("aside"), folder.join(CONFIG))?;
    let resumed = say(&folder, &format!("resume {run} --answer ship=yes"))?;
    assert_eq!(resumed.code, Some(3), "{}", resumed.stderr);
    assert!(!resumed.stderr.contains("lost"), "{}", resumed.stderr);
    Ok(())
}

#[test]
fn a_worktree_has_the_configuration_of_the_main_one() -> Outcome {
    let folder = project("missing-worktree", CODER)?;
    git(&folder, &["rm", "--quiet", "--cached", CONFIG])?;
    git(&folder, &["commit", "--quiet", "--message", "its own"])?;
    let beside = crate::scratch("missing-worktree-beside")?;
    fs::remove_dir(&beside)?;
    git(&folder, &["worktree", "prune"])?;
    git(&folder, &["worktree", "add", "--quiet", "-b", "beside", &beside.to_string_lossy()])?;
    assert!(!beside.join(CONFIG).exists());
    let ran = say(&beside, "run greet world --answer ship=yes")?;
    assert_eq!(ran.code, Some(3), "{}", ran.stderr);
    Ok(())
}

#[test]
fn a_repository_that_git_does_not_trust_is_not_taken_for_none() -> Outcome {
    let folder = project("missing-trust", CODER)?;
    let asked = loopwright(&folder)
        .args(["run", "greet", "world"])
        .env("GIT_TEST_ASSUME_DIFFERENT_OWNER", "1")
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .output()?;
    let asked = Ran::from(asked);
    assert_eq!(asked.code, Some(5), "{}{}", asked.stdout, asked.stderr);
    assert!(asked.stderr.contains("safe.directory"), "{}", asked.stderr);
    assert!(!folder.join(".loopwright/journal.db").exists());
    Ok(())
}

#[test]
fn a_workflow_that_commits_is_not_begun_where_it_cannot() -> Outcome {
    let folder = project("missing-repository", CODER)?;
    fs::remove_dir_all(folder.join(".git"))?;
    let outside = std::env::temp_dir().join(format!("loopwright-no-repository-{}", std::process::id()));
    fs::rename(&folder, &outside)?;
    let ran = say(&outside, "run greet world");
    fs::remove_dir_all(&outside)?;
    let ran = ran?;
    assert_eq!(ran.code, Some(2), "{}", ran.stderr);
    assert!(
        ran.stderr.contains("commits what it did, and this project is in no git repository"),
        "{}",
        ran.stderr
    );
    Ok(())
}
