//! Commands that only look: they make nothing, and name things shortly.

use std::fs;
use std::path::Path;

use crate::runs::{CODER, git, name, project, say};
use crate::{Outcome, scratch};

/// All paths below a folder.
fn below(folder: &Path) -> std::io::Result<Vec<String>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            found.extend(below(&path)?);
        }
        found.push(path.display().to_string());
    }
    found.sort();
    Ok(found)
}

#[test]
fn looking_makes_nothing() -> Outcome {
    // Elsewhere the repository of these tests would be found.
    let outside = std::env::temp_dir().join(format!("loopwright-nowhere-{}", std::process::id()));
    fs::create_dir_all(&outside)?;
    let inside = scratch("looking")?;
    git(&inside, &["init", "--quiet"])?;
    for folder in [&outside, &inside] {
        let before = below(folder)?;
        for words in [
            "status",
            "list",
            "list --json",
            "show x",
            "log x",
            "why x",
            "answer x yes",
            "resume x",
            "stop x",
            "doctor",
        ] {
            let ran = say(folder, words)?;
            let code = match words.split(' ').next() {
                Some("list" | "status") => 0,
                Some("doctor") => 1,
                _ => 2,
            };
            assert_eq!(ran.code, Some(code), "{words}: {}{}", ran.stdout, ran.stderr);
            assert_eq!(below(folder)?, before, "{words} made something");
            let tells = !words.contains("json") && !words.contains("doctor");
            let told = format!("{}{}", ran.stdout, ran.stderr).contains("is in no git repository");
            assert!(!tells || told == (folder == &outside), "{words}: {}{}", ran.stdout, ran.stderr);
        }
    }
    assert!(say(&outside, "doctor")?.stdout.contains("no git repository: runs cannot commit"));
    fs::remove_dir_all(outside)?;
    Ok(())
}

#[test]
fn what_is_kept_is_named_shortly() -> Outcome {
    let folder = project("reading-kept", CODER)?;
    assert_eq!(say(&folder, "run greet world")?.code, Some(3));
    let run = name(&folder)?;
    let log = say(&folder, &format!("log {run}"))?.stdout;
    let prompt = log.split("(prompt ").nth(1).and_then(|it| it.split(')').next()).unwrap_or_default();
    assert_eq!(prompt.len(), 8, "{log}");
    for option in ["--kept", "--blob"] {
        let kept = say(&folder, &format!("log {run} {option} {prompt}"))?;
        assert!(kept.stdout.starts_with("Greet world."), "{}{}", kept.stdout, kept.stderr);
    }
    let json = say(&folder, &format!("log {run} --json"))?.stdout;
    let whole = json.split("\"prompt\":\"").nth(1).and_then(|it| it.split('"').next()).unwrap_or_default();
    assert_eq!(whole.len(), 64, "programs are told the whole name: {json}");
    assert!(say(&folder, &format!("log {run} --kept {whole}"))?.stdout.starts_with("Greet world."));
    let many = say(&folder, &format!("log {run} --kept="))?;
    assert_eq!(many.code, Some(2), "{}", many.stdout);
    assert!(many.stderr.contains("`` may be any of"), "{}", many.stderr);
    let none = say(&folder, &format!("log {run} --kept zz"))?;
    assert!(none.stderr.contains("nothing of this run is kept under `zz`"), "{}", none.stderr);
    Ok(())
}

#[test]
fn a_beginning_that_several_runs_have_says_which() -> Outcome {
    let folder = project("reading-several", CODER)?;
    let mut names: Vec<String> = Vec::new();
    // There are fewer letters than runs, at some point.
    let (one, other) = loop {
        assert_eq!(say(&folder, &format!("run greet {}", names.len()))?.code, Some(3));
        let newest = name(&folder)?;
        if let Some(alike) = names.iter().find(|it| it[..1] == newest[..1]) {
            break (alike.clone(), newest);
        }
        names.push(newest);
    };
    let ran = say(&folder, &format!("show {}", &one[..1]))?;
    assert_eq!(ran.code, Some(2));
    assert!(ran.stderr.contains(&format!("`{one}`")), "{}", ran.stderr);
    assert!(ran.stderr.contains(&format!("`{other}`")), "{}", ran.stderr);
    Ok(())
}
