//! `team` as people and scripts meet it: how a session is begun, looked at, answered and read.

use std::path::{Path, PathBuf};
use std::{fs, io};

use serde_json::Value;

use crate::runs::git;
use crate::team_files::CREW;
use crate::{Outcome, Ran, run_in, scratch};

/// A repository in which a crew of shell scripts works. Git ignores its sessions, as it usually does.
fn project(name: &str) -> io::Result<PathBuf> {
    let folder = scratch(name)?;
    fs::create_dir_all(folder.join(".loopwright"))?;
    let crew = Value::from(format!("cat > /dev/null; {CREW}"));
    let lines = ["claude", "codex", "gemini"].map(|it| format!("  {it}: {{command: {crew}}}\n")).concat();
    fs::write(
        folder.join(".loopwright/config.yaml"),
        format!("agents:\n{lines}project: {{test: \"true\"}}\n"),
    )?;
    fs::write(folder.join(".gitignore"), ".agents-work/\n")?;
    git(&folder, &["init", "--quiet", "--initial-branch=main"])?;
    git(&folder, &["config", "user.name", "somebody"])?;
    git(&folder, &["config", "user.email", "somebody@example.invalid"])?;
    git(&folder, &["add", "--all"])?;
    git(&folder, &["commit", "--quiet", "--message", "start"])?;
    Ok(folder)
}

fn team(folder: &Path, words: &[&str]) -> io::Result<Ran> {
    run_in(folder, &[&["team"], words].concat())
}

/// The sessions there are, in order.
fn sessions(folder: &Path) -> io::Result<Vec<String>> {
    let mut found: Vec<String> = fs::read_dir(folder.join(".agents-work"))?
        .map(|it| Ok(it?.file_name().to_string_lossy().into_owned()))
        .collect::<io::Result<_>>()?;
    found.sort();
    Ok(found)
}

#[test]
fn a_session_is_named_after_its_goal_and_found_without_its_name() -> Outcome {
    let folder = project("team-full")?;
    let begun = team(&folder, &["start", "Greet people, in a friendly way", "--type", "cli"])?;
    assert_eq!(begun.code, Some(3), "{}", begun.stderr);
    let session = sessions(&folder)?.remove(0);
    let (date, slug) = session.split_once('_').ok_or("a date and a name")?;
    assert_eq!((date.len(), slug), (10, "greet-people-in"));
    assert!(begun.stderr.contains(&format!(": team {session}\n")), "{}", begun.stderr);

    let status = team(&folder, &["status"])?;
    assert!(
        status.stdout.contains(&session) && status.stdout.contains("approve-design"),
        "{}",
        status.stdout
    );
    assert_eq!(team(&folder, &["answer", "approved"])?.code, Some(3));
    assert_eq!(team(&folder, &["answer", &session, "single-final"])?.code, Some(3));
    let early = team(&folder, &["report"])?;
    assert_eq!((early.code, early.stdout.as_str()), (Some(2), ""), "{}", early.stderr);
    assert!(early.stderr.contains("report.md is not there (yet)"), "{}", early.stderr);
    let over = team(&folder, &["answer", "met"])?;
    assert_eq!(over.code, Some(0), "{}{}", over.stdout, over.stderr);
    let report = team(&folder, &["report"])?;
    assert!(report.code == Some(0) && report.stdout.starts_with("# Report\n"), "{}", report.stdout);
    assert!(team(&folder, &["spec", &session])?.stdout.starts_with("# Greetings\n"));
    assert!(team(&folder, &["why"])?.stdout.contains("done"), "the last one is meant where none is open");
    Ok(())
}

#[test]
fn what_is_chosen_at_the_beginning_is_an_option() -> Outcome {
    let folder = project("team-lean")?;
    for (words, told) in [
        (vec!["start"], "the input `goal` is missing"),
        (vec!["start", "Greet", "--lean", "--full"], "`mode` cannot be both `full` and `lean`"),
        (vec!["start", "Greet", "--type", "toaster"], "possible values: mixed, web, api, cli, lib"),
        (vec!["start", "Greet", "people"], "nobody knows what `people` is for"),
        (vec!["start", "Greet", "--goal", "Part"], "`goal` is said twice"),
        (vec!["begin", "Greet"], "`team` knows no verb `begin`"),
        (vec!["report"], "there was no run of `team` here yet"),
        (vec!["answer", "approved"], "there was no run of `team` here yet"),
    ] {
        let ran = team(&folder, &words)?;
        assert_eq!(ran.code, Some(2), "{words:?}: {}{}", ran.stdout, ran.stderr);
        assert!(ran.stderr.contains(told), "{words:?}: {}", ran.stderr);
    }
    assert!(!folder.join(".agents-work").exists(), "nothing was begun");
    for _ in 0..2 {
        let ran = team(&folder, &["start", "Greet", "--lean"])?;
        assert_eq!(ran.code, Some(0), "{}{}", ran.stdout, ran.stderr);
    }
    let names = sessions(&folder)?;
    assert!(names[0].ends_with("_greet") && names[1].ends_with("_greet-2"), "{names:?}");
    // Options may stand anywhere, and the project may be another.
    let root = folder.to_string_lossy();
    for words in
        [vec!["--json", "status"], vec!["status", "--json", "--repo-root", &root], vec!["status", "--json"]]
    {
        let ran = team(&folder, &words)?;
        let told: Value = serde_json::from_str(&ran.stdout)?;
        assert_eq!((ran.code, &told["view"]["outcome"]), (Some(0), &"success".into()), "{words:?}: {told}");
    }
    assert_eq!(team(&folder, &[&format!("--repo-root={root}"), "report"])?.code, Some(0));
    let help = team(&folder, &["--help"])?.stdout;
    for word in ["--lean", "--type <VALUE>", "start  Begin a session", "report"] {
        assert!(help.contains(word), "{word}: {help}");
    }
    Ok(())
}
