//! Whoever drives is killed, alone or with all that stands with it: nothing goes on, and the run does.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use std::{fs, io};

use crate::runs::{CODER, WAITS, git, name, project, say, start, waited_for};
use crate::{Outcome, Ran, loopwright};

#[test]
fn a_driver_that_is_killed_leaves_nothing_running_and_a_run_that_goes_on() -> Outcome {
    let folder = project("run-killed", WAITS)?;
    let mut driver = start(&folder, &["run", "greet", "world"])?;
    waited_for(&folder.join(".git/waits"));
    let name = name(&folder)?;
    let second = say(&folder, &format!("resume {name}"))?;
    assert_eq!(second.code, Some(6), "two drive it: {}", second.stderr);
    driver.kill()?;
    driver.wait()?;
    let pid = fs::read_to_string(folder.join(".git/waits"))?;
    // What may be the agent's is undone; what a person wrote long after is theirs.
    for (file, when) in [("stray", "now"), ("mended", "+1 hour"), (".loopwright/config.yaml", "+1 hour")] {
        let text = fs::read_to_string(folder.join(file)).unwrap_or_default() + "# by hand\n";
        fs::write(folder.join(file), text)?;
        let touched = Command::new("touch").args(["-d", when, file]).current_dir(&folder).status()?;
        assert!(touched.success());
    }
    let resumed = say(&folder, &format!("resume {name} --answer Q1=yes"))?;
    assert_eq!(resumed.code, Some(3), "{}", resumed.stderr);
    assert!(resumed.stderr.contains("write.1 -> lost"), "{}", resumed.stderr);
    assert!(resumed.stderr.contains("was undone: `stray`; changed since, "), "{}", resumed.stderr);
    let stands = "by whoever was at work or by a person: `.loopwright/config.yaml`, `mended`\n";
    assert!(resumed.stderr.contains(stands), "{}", resumed.stderr);
    assert!(!folder.join("stray").exists() && folder.join("mended").exists());
    assert!(fs::read_to_string(folder.join(".loopwright/config.yaml"))?.contains("# by hand"));
    assert!(resumed.stderr.contains("try 2"), "{}", resumed.stderr);
    assert!(!Path::new(&format!("/proc/{}", pid.trim())).exists(), "the agent goes on");
    Ok(())
}

/// Makes room for a run, as whoever was killed at just this moment has.
fn made_room_for(folder: &Path, name: &str) -> Outcome {
    use loopwright_engine::journal::{Journal as _, NewRun, Sqlite};
    fs::create_dir_all(folder.join(".git/loopwright"))?;
    let journal = Sqlite::open(&folder.join(".git/loopwright/journal.db"))?;
    let (name, workflow, subject) = (name.to_owned(), "greet".to_owned(), "world".to_owned());
    let definition = "of which nothing is there".to_owned();
    Ok(journal.create(&NewRun { name, workflow, subject, definition, ..NewRun::default() })?)
}

#[test]
fn a_run_that_never_began_is_in_nobodys_way() -> Outcome {
    let folder = project("run-never-began", CODER)?;
    assert!(say(&folder, "list")?.stdout.contains("no runs yet"));
    made_room_for(&folder, "early")?;
    let listed = say(&folder, "list")?.stdout;
    assert!(listed.contains("early  greet     world           never began"), "{listed}");
    assert!(say(&folder, "status")?.stdout.contains("no run is open"));
    for words in ["stop early", "resume early", "status early", "show early", "why early"] {
        let said = say(&folder, words)?;
        assert_eq!(said.code, Some(2), "{words}: {}", said.stderr);
        assert!(said.stderr.contains("nothing was done, and nothing has to be"), "{words}: {}", said.stderr);
    }
    let verb = say(&folder, "greet go world")?;
    assert!(verb.stderr.contains("no run of `greet` about `world` that waits"), "{}", verb.stderr);
    assert_eq!(say(&folder, "run greet world --answer Q1=yes")?.code, Some(3));
    let verb = say(&folder, "greet go world")?;
    assert_eq!(verb.code, Some(0), "it is the other that is meant: {}{}", verb.stdout, verb.stderr);
    // Somebody who is about to begin one has made room for it, too.
    let place = folder.join(".git/loopwright-at-work");
    let me = loopwright_engine::this_process();
    fs::write(&place, format!("a run that is about to begin, {me}"))?;
    let cleared = say(&folder, "gc")?.stdout;
    assert!(cleared.contains("it may be about to begin") && cleared.contains("removed 0 runs"), "{cleared}");
    fs::write(&place, format!("another, {me}"))?;
    let cleared = say(&folder, "gc")?.stdout;
    assert!(cleared.contains("removed 1 run"), "{cleared}");
    assert!(!say(&folder, "list")?.stdout.contains("early"));
    Ok(())
}

/// Processes whose working folder is this one.
fn within(folder: &Path) -> io::Result<Vec<String>> {
    let folder = folder.canonicalize()?;
    let entries = fs::read_dir("/proc")?.filter_map(Result::ok);
    let inside = entries.filter(|it| fs::read_link(it.path().join("cwd")).is_ok_and(|cwd| cwd == folder));
    Ok(inside.map(|it| it.file_name().to_string_lossy().into_owned()).collect())
}

/// Ends processes as somebody does who does not ask.
fn kill(whom: &[&str]) -> io::Result<()> {
    let ended = Command::new("kill").arg("-KILL").arg("--").args(whom).status()?;
    assert!(ended.success(), "{whom:?}");
    Ok(())
}

fn until_nothing_runs(folder: &Path) -> io::Result<()> {
    let begun = Instant::now();
    while !within(folder)?.is_empty() {
        assert!(begun.elapsed() < Duration::from_mins(2), "still there: {:?}", within(folder)?);
        std::thread::yield_now();
    }
    Ok(())
}

#[test]
fn nothing_is_left_when_a_whole_group_is_killed() -> Outcome {
    use std::os::unix::process::CommandExt as _;
    let folder = project("run-group-killed", WAITS)?;
    let mut driver = loopwright(&folder)
        .args(["run", "greet", "world"])
        .process_group(0)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()?;
    waited_for(&folder.join(".git/waits"));
    kill(&[&format!("-{}", driver.id())])?;
    driver.wait()?;
    until_nothing_runs(&folder)?;
    let name = name(&folder)?;
    let resumed = say(&folder, &format!("resume {name} --answer Q1=yes"))?;
    assert_eq!(resumed.code, Some(3), "{}", resumed.stderr);
    assert!(resumed.stderr.contains("write.1 -> lost"), "{}", resumed.stderr);
    let log = say(&folder, &format!("log {name} --json"))?.stdout;
    let lost = log.lines().find(|it| it.contains("\"lost\"")).unwrap_or_default();
    assert!(lost.contains("\"unpriced\":true"), "what it cost nobody said: {lost}");
    Ok(())
}

/// The process that guards the commands of a driver.
fn guard_of(driver: u32) -> Result<String, Box<dyn std::error::Error>> {
    let guard = fs::read_dir("/proc")?.filter_map(Result::ok).find(|it| {
        let stat = fs::read_to_string(it.path().join("stat")).unwrap_or_default();
        let parent = stat.rsplit_once(')').and_then(|(_, it)| it.split_whitespace().nth(1));
        parent == Some(driver.to_string().as_str())
    });
    Ok(guard.ok_or("nobody guards it")?.file_name().to_string_lossy().into_owned())
}

/// Also the one is killed that should have ended what was begun: whoever takes the run up ends it first.
#[test]
fn what_nobody_could_end_is_ended_before_anything_is_begun_again() -> Outcome {
    let folder = project("run-all-killed", WAITS)?;
    let mut driver = start(&folder, &["run", "greet", "world"])?;
    waited_for(&folder.join(".git/waits"));
    let guard = guard_of(driver.id())?;
    // The guard first, and whoever drives before it hears of that.
    assert!(Command::new("kill").args(["-STOP", &driver.id().to_string()]).status()?.success());
    kill(&[&guard])?;
    kill(&[&driver.id().to_string()])?;
    driver.wait()?;
    let agent = fs::read_to_string(folder.join(".git/waits"))?;
    assert!(Path::new(&format!("/proc/{}", agent.trim())).exists(), "there is nothing to end");
    let name = name(&folder)?;
    let resumed = say(&folder, &format!("resume {name} --answer Q1=yes"))?;
    assert_eq!(resumed.code, Some(3), "{}", resumed.stderr);
    assert!(resumed.stderr.contains("processes were left of it, and were ended"), "{}", resumed.stderr);
    let stat = fs::read_to_string(format!("/proc/{}/stat", agent.trim())).unwrap_or_default();
    assert!(stat.is_empty() || stat.contains(") Z "), "the agent goes on: {stat}");
    Ok(())
}

/// The guard alone is killed: whoever drives ends what it could not.
#[test]
fn nothing_is_left_when_its_guard_is_killed() -> Outcome {
    let folder = project("run-guard-killed", WAITS)?;
    let driver = start(&folder, &["run", "greet", "world"])?;
    waited_for(&folder.join(".git/waits"));
    kill(&[&guard_of(driver.id())?])?;
    let ended: Ran = driver.wait_with_output()?.into();
    assert_eq!(ended.code, Some(1), "{}{}", ended.stdout, ended.stderr);
    assert!(ended.stderr.contains("write.1 -> crashed"), "{}", ended.stderr);
    let agent = fs::read_to_string(folder.join(".git/waits"))?;
    let stat = fs::read_to_string(format!("/proc/{}/stat", agent.trim())).unwrap_or_default();
    assert!(stat.is_empty() || stat.contains(") Z "), "the agent goes on: {stat}");
    Ok(())
}

/// As `timeout` does: to the process, and to its group.
#[test]
fn a_signal_that_comes_twice_at_once_is_one() -> Outcome {
    let folder = project("run-interrupted-twice", WAITS)?;
    let driver = start(&folder, &["run", "greet", "world"])?;
    waited_for(&folder.join(".git/waits"));
    let whom = driver.id().to_string();
    assert!(
        Command::new("sh").args(["-c", &format!("kill -TERM {whom}; kill -TERM {whom}")]).status()?.success()
    );
    let left: Ran = driver.wait_with_output()?.into();
    assert_eq!(left.code, Some(4), "{}{}", left.stdout, left.stderr);
    let log = say(&folder, &format!("log {}", name(&folder)?))?.stdout;
    assert!(log.contains("write.1 was put off: the run was left"), "{log}");
    Ok(())
}

/// Whoever ends a run, or has committed since its driver was killed, has worked there: nothing of theirs is undone.
#[test]
fn what_somebody_did_since_a_driver_was_killed_is_theirs() -> Outcome {
    for (way, commits) in [("resume", true), ("stop", false)] {
        let folder = project(&format!("run-killed-theirs-{way}"), WAITS)?;
        let mut driver = start(&folder, &["run", "greet", "world"])?;
        waited_for(&folder.join(".git/waits"));
        let name = name(&folder)?;
        driver.kill()?;
        driver.wait()?;
        fs::write(folder.join("mine"), "mine\n")?;
        if commits {
            git(&folder, &["add", "mine"])?;
            git(&folder, &["commit", "--quiet", "--message", "mine"])?;
        }
        fs::write(folder.join("notes"), "notes\n")?;
        let ran = say(&folder, &format!("{way} {name}"))?;
        assert!(!ran.stderr.contains("was undone"), "{way}: {}", ran.stderr);
        assert!(folder.join("mine").exists() && folder.join("notes").exists(), "{way}: {}", ran.stderr);
    }
    Ok(())
}
