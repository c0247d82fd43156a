//! New runs that begin where others were.

use std::fs;
use std::path::{Path, PathBuf};

use crate::Outcome;
use crate::runs::{WORKFLOW, git, name, project, say};

/// Writes something else at every visit of every run.
const CODER: &str = "cat > /dev/null; echo by $LOOPWRIGHT_RUN >> greeting";

/// A project whose forks of earlier tests are gone.
fn fresh(name: &str) -> Result<PathBuf, Box<dyn std::error::Error>> {
    let folder = project(name, CODER)?;
    for entry in fs::read_dir(folder.parent().unwrap_or(Path::new(".")))? {
        let path = entry?.path();
        let beside =
            path.file_name().is_some_and(|it| it.to_string_lossy().starts_with(&format!("{name}-fork-")));
        if beside {
            fs::remove_dir_all(path)?;
        }
    }
    Ok(folder)
}

fn forked(folder: &Path, words: &str) -> Result<serde_json::Value, Box<dyn std::error::Error>> {
    let ran = say(folder, words)?;
    assert_eq!(ran.code, Some(0), "{words}: {}", ran.stderr);
    Ok(serde_json::from_str(&ran.stdout)?)
}

fn text<'v>(value: &'v serde_json::Value, key: &str) -> &'v str {
    value[key].as_str().unwrap_or_default()
}

#[test]
fn a_fork_goes_its_own_way_and_leaves_the_other_alone() -> Outcome {
    let folder = fresh("fork")?;
    assert_eq!(say(&folder, "run greet world")?.code, Some(3));
    let old = name(&folder)?;
    let before =
        (say(&folder, &format!("log {old} --json"))?.stdout, fs::read_to_string(folder.join("greeting"))?);

    // After the last event: it asks, with the files as they are.
    fs::write(folder.join("beside"), "by hand\n")?;
    let asks = forked(&folder, &format!("fork {old} --json"))?;
    let (new, place) = (text(&asks, "run"), PathBuf::from(text(&asks, "folder")));
    assert_eq!(text(&asks, "state"), "ask");
    assert_eq!(fs::read_to_string(place.join("greeting"))?, format!("by {old}\n"));
    assert_eq!(fs::read_to_string(place.join("beside"))?, "by hand\n");
    assert_eq!(git(&place, &["status", "--porcelain"])?, "?? beside\n?? greeting");
    let answered = say(&folder, &format!("answer {new} yes"))?;
    assert!(answered.stdout.contains(&format!("`loopwright greet go {new}`")), "{}", answered.stdout);
    let done = say(&folder, &format!("greet go {new}"))?;
    assert_eq!(done.code, Some(0), "{}{}", done.stdout, done.stderr);
    assert_eq!(git(&place, &["log", "-1", "--format=%s", &format!("fork/{new}")])?, "greet world");
    assert_eq!(git(&folder, &["log", "-1", "--format=%s"])?, "start");

    // After its beginning: nothing was written yet, and it is written anew.
    let begins = forked(&folder, &format!("fork {old} --at 2 --json"))?;
    let (new, place) = (text(&begins, "run"), PathBuf::from(text(&begins, "folder")));
    assert!(!place.join("greeting").exists());
    let resumed = say(&folder, &format!("resume {new}"))?;
    assert_eq!(resumed.code, Some(3), "{}{}", resumed.stdout, resumed.stderr);
    assert_eq!(fs::read_to_string(place.join("greeting"))?, format!("by {new}\n"));

    let after =
        (say(&folder, &format!("log {old} --json"))?.stdout, fs::read_to_string(folder.join("greeting"))?);
    assert_eq!(before, after, "the other run was changed");
    let left = say(&folder, &format!("answer {old} yes"))?;
    assert!(left.stdout.contains("go on with"), "{}{}", left.stdout, left.stderr);
    Ok(())
}

#[test]
fn a_fork_begins_only_where_it_is_known_how_things_stood() -> Outcome {
    let folder = fresh("fork-refused")?;
    assert_eq!(say(&folder, "run greet world --answer ship=yes")?.code, Some(3));
    let old = name(&folder)?;
    let log = say(&folder, &format!("log {old}"))?.stdout;
    let number = |what: &str| {
        let line = log.lines().find(|it| it.contains(what)).unwrap_or_default();
        line.split_whitespace().next().unwrap_or_default().to_owned()
    };
    let begun = number("write.1 begun");
    let refused = say(&folder, &format!("fork {old} --at {begun}"))?;
    assert_eq!(refused.code, Some(2), "{}", refused.stdout);
    let middle = format!("event {begun} is in the middle of `write.1`, which had not come back");
    assert!(refused.stderr.contains(&middle), "{}", refused.stderr);
    // Each that it names can be.
    let named = refused.stderr.split("after event ").nth(1).unwrap_or_default().trim().to_owned();
    assert!(named.starts_with("2, "), "{named}");
    let mut forks = 0;
    for range in named.split(", ") {
        let (from, to) = range.split_once(" to ").unwrap_or((range, range));
        for at in from.parse::<u64>()?..=to.parse::<u64>()? {
            let fork = forked(&folder, &format!("fork {old} --at {at} --json"))?;
            let written = Path::new(text(&fork, "folder")).join("greeting").exists();
            assert_eq!(written, at > begun.parse::<u64>()?, "after event {at}");
            forks += 1;
        }
    }
    assert!(forks > 4, "{named}");
    for (at, expected) in
        [("0", "there is no event 0"), ("1", "works nowhere yet"), ("999", "there is no event 999")]
    {
        let refused = say(&folder, &format!("fork {old} --at {at}"))?;
        assert_eq!(refused.code, Some(2));
        assert!(refused.stderr.contains(expected), "{}", refused.stderr);
    }
    // One that is over has nothing to go on with, but had.
    assert_eq!(say(&folder, &format!("greet go {old}"))?.code, Some(0));
    let over = say(&folder, &format!("fork {old}"))?;
    assert!(over.stderr.contains("the run is over after event"), "{}", over.stderr);
    let judged = number("review.1 came out as GOOD");
    let fork = forked(&folder, &format!("fork {old} --at {judged} --json"))?;
    assert_eq!(git(Path::new(text(&fork, "folder")), &["log", "-1", "--format=%s"])?, "start");
    let listed = git(&folder, &["worktree", "list"])?.lines().count();
    assert_eq!(listed, forks + 2, "what was refused left something behind");
    Ok(())
}

#[test]
fn a_fork_stands_on_the_commits_its_run_had_made_by_then() -> Outcome {
    let folder = fresh("fork-commits")?;
    let after = "then: after}\n  after: {ask: ship, on: {yes: done, no | deferred: failed}}";
    let text_of = WORKFLOW.replace("then: done}", after);
    fs::write(folder.join(".loopwright/workflows/greet/workflow.yaml"), text_of)?;
    git(&folder, &["commit", "--quiet", "--all", "--message", "asks afterwards"])?;
    assert_eq!(say(&folder, "run greet world --answer ship=yes")?.code, Some(3));
    let ran = say(&folder, "greet go world")?;
    assert!(ran.stdout.contains("asks at `after`"), "{}{}", ran.stdout, ran.stderr);
    fs::write(folder.join("later"), "")?;
    git(&folder, &["add", "later"])?;
    git(&folder, &["commit", "--quiet", "--message", "by somebody else, later"])?;
    let fork = forked(&folder, &format!("fork {} --json", name(&folder)?))?;
    let place = PathBuf::from(text(&fork, "folder"));
    assert_eq!(git(&place, &["log", "-1", "--format=%s"])?, "greet world");
    assert_eq!(git(&place, &["status", "--porcelain"])?, "?? later");
    let done = say(&folder, &format!("answer {} yes", text(&fork, "run")))?;
    assert_eq!(done.code, Some(0), "{}{}", done.stdout, done.stderr);
    Ok(())
}

#[test]
fn one_whose_files_are_gone_can_still_be_ended() -> Outcome {
    let folder = fresh("fork-gone")?;
    assert_eq!(say(&folder, "run greet world")?.code, Some(3));
    let fork = forked(&folder, &format!("fork {} --at 2 --json", name(&folder)?))?;
    fs::remove_dir_all(text(&fork, "folder"))?;
    let resumed = say(&folder, &format!("resume {}", text(&fork, "run")))?;
    assert_eq!(resumed.code, Some(2));
    let stop = format!("stop {}", text(&fork, "run"));
    assert!(resumed.stderr.contains(&format!("`loopwright {stop}`")), "{}", resumed.stderr);
    assert_eq!(say(&folder, &stop)?.stdout, format!("{}: ended\n", text(&fork, "run")));
    assert!(say(&folder, "list")?.stdout.contains("ended by a person"));
    Ok(())
}
