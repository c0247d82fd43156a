//! Issues of one repository in several worktrees, branches and clones.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::json;

use crate::runs::{git, say};
use crate::todo::{committed, done, ids, json_of, named, read, repository, todo, told, write};
use crate::{Outcome, loopwright, scratch};

/// A repository with issues that are committed.
fn begun(name: &str) -> std::io::Result<PathBuf> {
    let folder = repository(name)?;
    done(&folder, "new First --prefix GAL")?;
    done(&folder, "new Second")?;
    committed(&folder, "issues")?;
    Ok(folder)
}

fn worktree(folder: &Path, branch: &str) -> std::io::Result<PathBuf> {
    let place = scratch(&format!("{}-{branch}", folder.file_name().unwrap_or_default().to_string_lossy()))?;
    git(folder, &["worktree", "add", "--quiet", "-b", branch, &place.to_string_lossy()])?;
    Ok(place)
}

fn cloned(folder: &Path, name: &str) -> std::io::Result<PathBuf> {
    let clone = scratch(name)?;
    git(&clone, &["clone", "--quiet", &folder.to_string_lossy(), "."])?;
    named(&clone)?;
    Ok(clone)
}

/// Merges or rebases, and comes to a conflict.
fn meets(folder: &Path, arguments: &[&str]) -> std::io::Result<()> {
    let said = Command::new("git").args(arguments).current_dir(folder).output()?;
    assert!(!said.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&said.stdout));
    Ok(())
}

#[test]
fn no_number_is_taken_twice_in_a_repository() -> Outcome {
    let folder = begun("todo-numbers")?;
    let other = worktree(&folder, "work")?;
    // What is on a branch that is checked out nowhere counts, and so does what nobody committed.
    git(&folder, &["checkout", "--quiet", "-b", "aside"])?;
    done(&folder, "new Aside")?;
    committed(&folder, "aside")?;
    git(&folder, &["checkout", "--quiet", "main"])?;
    assert!(!folder.join("TODO/GAL-3.md").exists());
    write(&other, "GAL-10.md", "# By hand\n")?;
    assert!(done(&folder, "new Next")?.starts_with("GAL-11 "));
    assert!(done(&other, "new Next")?.starts_with("GAL-12 "));
    // Many at once, in both.
    let start = |at: usize| {
        let folder = if at.is_multiple_of(2) { &folder } else { &other };
        loopwright(folder).args(["todo", "new", &format!("Issue {at}")]).stdout(Stdio::piped()).spawn()
    };
    let all: Vec<_> = (0..12).map(start).collect::<Result<_, _>>()?;
    let mut taken = BTreeSet::new();
    for child in all {
        let ran = child.wait_with_output()?;
        assert!(ran.status.success());
        let said = String::from_utf8_lossy(&ran.stdout).into_owned();
        assert!(taken.insert(said.split(' ').next().unwrap_or_default().to_owned()), "{said} is taken twice");
    }
    assert_eq!(taken.len(), 12);
    for place in [&folder, &other] {
        let said = told(place, "check")?;
        // None of them lost what another one wrote into the list.
        assert!(
            !said.contains("is not listed") || *place == other && said.contains("`GAL-10` is not listed"),
            "{said}"
        );
    }
    Ok(())
}

#[test]
fn what_somebody_is_at_elsewhere_is_not_ready() -> Outcome {
    let folder = begun("todo-elsewhere")?;
    for title in ["Third", "Fourth", "Fifth"] {
        done(&folder, &format!("new {title}"))?;
    }
    committed(&folder, "more")?;
    let other = worktree(&folder, "work")?;
    done(&other, "start GAL-1")?;
    git(&folder, &["checkout", "--quiet", "-b", "aside"])?;
    done(&folder, "done GAL-2")?;
    done(&folder, "comment GAL-3 'Only said.'")?;
    committed(&folder, "aside")?;
    git(&folder, &["checkout", "--quiet", "main"])?;
    // A run that waits is open, and about its issue.
    fs::create_dir_all(folder.join(".loopwright/workflows/ask"))?;
    fs::write(
        folder.join(".loopwright/workflows/ask/workflow.yaml"),
        "workflow: ask\nabout: Wait.\nsubject: issue\nverbs: {go: {}}\nstates:\n  sure: {rest: \"{{subject}} waits.\", on: {verb go: done}}\n  done: {end: success}\n",
    )?;
    let begun = say(&folder, "run ask GAL-4")?;
    assert_eq!(begun.code, Some(3), "{}{}", begun.stdout, begun.stderr);
    assert_eq!(ids(&json_of(&folder, "ready")?["ready"]), ["GAL-3", "GAL-5"]);
    let why = json_of(&folder, "ready --why")?;
    let others = why["others"].as_array().ok_or("no list")?;
    let standing: Vec<&str> = others.iter().filter_map(|it| it["standing"].as_str()).collect();
    assert_eq!((ids(&why["others"]), standing), (vec!["GAL-1", "GAL-2", "GAL-4"], vec!["elsewhere"; 3]));
    let said: Vec<&str> = others.iter().filter_map(|it| it["for"].as_str()).collect();
    assert!(
        said[0].starts_with("is in progress in ") && said[0].ends_with(" (branch `work`)"),
        "{}",
        said[0]
    );
    assert_eq!(said[1], "is done on branch `aside`, which is not merged here");
    assert!(said[2].starts_with("run ") && said[2].contains(" of `ask` is about it, at sure"), "{}", said[2]);
    for id in ["GAL-1", "GAL-2", "GAL-4"] {
        let refused = told(&folder, &format!("start {id}"))?;
        assert!(refused.starts_with(&format!("error: {id} ")) && refused.ends_with("(1)"), "{refused}");
    }
    assert!(told(&folder, "renumber GAL-1")?.starts_with("error: GAL-1 is in progress in "));
    // Once the branch is merged and the run is over, nobody is at them any more.
    git(&folder, &["merge", "--quiet", "--no-edit", "aside"])?;
    assert_eq!(say(&folder, "ask go GAL-4")?.code, Some(0));
    assert_eq!(ids(&json_of(&folder, "ready")?["ready"]), ["GAL-3", "GAL-4", "GAL-5"]);
    Ok(())
}

#[test]
fn of_several_that_begin_one_issue_at_once_one_has_it() -> Outcome {
    let folder = begun("todo-race")?;
    let places = [folder.clone(), worktree(&folder, "a")?, worktree(&folder, "b")?];
    for id in ["GAL-1", "GAL-2"] {
        let start = |place: &PathBuf| {
            loopwright(place).args(["todo", "start", id]).stdout(Stdio::null()).stderr(Stdio::null()).spawn()
        };
        let all: Vec<_> = places.iter().chain(&places).map(start).collect::<Result<_, _>>()?;
        let codes =
            all.into_iter().map(|mut it| Ok(it.wait()?.code())).collect::<std::io::Result<Vec<_>>>()?;
        assert_eq!(codes.iter().filter(|it| **it == Some(0)).count(), 1, "{id}: {codes:?}");
        assert_eq!(codes.iter().filter(|it| **it == Some(1)).count(), 5, "{id}: {codes:?}");
    }
    Ok(())
}

/// Two clones that filed under the same numbers: in the second one `GAL-3` has a part, and somebody needs it.
fn two_clones(name: &str) -> Result<(PathBuf, PathBuf), Box<dyn std::error::Error>> {
    let first = begun(&format!("{name}-first"))?;
    let second = cloned(&first, &format!("{name}-second"))?;
    done(&first, "new 'Print it' --category Work --text 'On paper.'")?;
    done(&first, "new 'Sign it' --depends-on GAL-3")?;
    committed(&first, "print")?;
    done(&second, "new 'Send it' --category Work --text 'By GAL-3, by mail.'")?;
    done(&second, "new 'Find the address' --parent GAL-3 --prefix MAIL")?;
    done(&second, "new 'Close it' --depends-on GAL-3 --prefix MAIL")?;
    committed(&second, "send")?;
    git(&second, &["fetch", "--quiet"])?;
    Ok((first, second))
}

#[test]
fn numbers_that_two_clones_took_are_parted_after_the_merge() -> Outcome {
    let (_, second) = two_clones("todo-clones")?;
    meets(&second, &["merge", "origin/main"])?;
    let found = told(&second, "check")?;
    assert!(
        found.contains("TODO/GAL-3.md:3: two issues of one number met here: \"Send it\" and \"Print it\"\n"),
        "{found}"
    );
    assert!(told(&second, "start GAL-3")?.starts_with("error: TODO/GAL-3.md:3: a merge left this undecided"));
    insta::assert_snapshot!(told(&second, "check --repair")?, @r#"
    mended  TODO/GAL-3.md: "Print it" is GAL-5 now; GAL-3 was taken twice
    mended  TODO/README.md: what both sides of the merge list is listed
    7 issues, nothing wrong
    note: look at it; `git add TODO` and `git commit` end the merge
    (0)
    "#);
    // Ours keeps its number, with all that leads to it; theirs has another, and what they filed leads there.
    assert!(read(&second, "GAL-3.md")?.contains("title: Send it\n"));
    assert!(read(&second, "GAL-3.md")?.contains("By GAL-3, by mail.\n"));
    let theirs = read(&second, "GAL-5.md")?;
    assert!(
        theirs.starts_with("---\nid: GAL-5\ntitle: Print it\n") && theirs.contains("On paper.\n"),
        "{theirs}"
    );
    assert!(read(&second, "GAL-4.md")?.contains("depends-on: [GAL-5]\n"));
    assert!(read(&second, "MAIL-1.md")?.contains("parent: GAL-3\n"));
    assert!(read(&second, "MAIL-2.md")?.contains("depends-on: [GAL-3]\n"));
    insta::assert_snapshot!(read(&second, "README.md")?, @"
    # Issues

    One file an issue. This list is kept in step with them; its categories are yours.

    ## Issues

    - [ ] [GAL-1](GAL-1.md): First
    - [ ] [GAL-2](GAL-2.md): Second
    - [ ] [MAIL-2](MAIL-2.md): Close it
    - [ ] [GAL-4](GAL-4.md): Sign it

    ## Work

    - [ ] [GAL-3](GAL-3.md): Send it
    - [ ] [GAL-5](GAL-5.md): Print it
    ");
    committed(&second, "merged")?;
    assert_eq!(told(&second, "check")?, "7 issues, nothing wrong\n(0)");
    assert_eq!(ids(&json_of(&second, "ready")?["ready"]), ["GAL-1", "GAL-2", "GAL-5", "MAIL-1"]);
    Ok(())
}

#[test]
fn what_will_meet_is_told_before_the_merge() -> Outcome {
    let (_, second) = two_clones("todo-coming")?;
    let said = told(&second, "check")?;
    assert_eq!(
        said,
        "TODO/GAL-3.md:2: `GAL-3` is another issue on branch `origin/main`: \"Print it\"; `loopwright todo renumber GAL-3` gives this one a number of its own\n1 problem\n(1)"
    );
    assert_eq!(done(&second, "renumber GAL-3")?, "GAL-3 -> GAL-5  TODO/GAL-5.md\n");
    committed(&second, "renumbered")?;
    assert_eq!(told(&second, "check")?, "5 issues, nothing wrong\n(0)");
    meets(&second, &["merge", "origin/main"])?;
    assert!(
        told(&second, "check --repair")?
            .contains("TODO/README.md: what both sides of the merge list is listed\n")
    );
    assert_eq!(todo(&second, "check")?.code, Some(0));
    assert!(read(&second, "GAL-3.md")?.contains("title: Print it\n"));
    assert!(read(&second, "MAIL-1.md")?.contains("parent: GAL-5\n"));
    Ok(())
}

#[test]
fn numbers_that_two_clones_took_are_parted_in_a_rebase_too() -> Outcome {
    let (_, second) = two_clones("todo-rebase")?;
    meets(&second, &["rebase", "origin/main"])?;
    let said = told(&second, "check --repair")?;
    assert!(
        said.contains("mended  TODO/GAL-3.md: \"Send it\" is GAL-5 now; GAL-3 was taken twice\n"),
        "{said}"
    );
    assert!(
        said.ends_with(
            "7 issues, nothing wrong\nnote: look at it; `git add TODO` and `git commit` end the merge\n(0)"
        ),
        "{said}"
    );
    assert!(read(&second, "GAL-3.md")?.contains("title: Print it\n"));
    assert!(read(&second, "GAL-5.md")?.contains("By GAL-5, by mail.\n"));
    assert!(read(&second, "MAIL-1.md")?.contains("parent: GAL-5\n"));
    assert!(read(&second, "GAL-4.md")?.contains("depends-on: [GAL-3]\n"));
    Ok(())
}

#[test]
fn one_issue_that_two_changed_is_for_a_person_to_decide() -> Outcome {
    let first = begun("todo-changed")?;
    let second = cloned(&first, "todo-changed-second")?;
    for (folder, title) in [(&first, "First of all"), (&second, "First and last")] {
        let text = read(folder, "GAL-1.md")?;
        write(folder, "GAL-1.md", &text.replace("title: First", &format!("title: {title}")))?;
        committed(folder, "titled")?;
    }
    git(&second, &["fetch", "--quiet"])?;
    meets(&second, &["merge", "origin/main"])?;
    let torn = read(&second, "GAL-1.md")?;
    let said = told(&second, "check --repair")?;
    assert_eq!(said, "TODO/GAL-1.md:3: a merge left this undecided\n1 problem\n(1)");
    assert_eq!(read(&second, "GAL-1.md")?, torn);
    assert!(!second.join("TODO/GAL-3.md").exists());
    // Also where somebody committed it so: one text in two states is one issue.
    committed(&second, "merged")?;
    let both = torn.replace("\n---\n", "\n---\n\nThe same text.\n");
    write(&second, "GAL-1.md", &both)?;
    assert_eq!(json_of(&second, "check")?["findings"][0]["mends"], json!(false));
    assert_eq!(ids(&json_of(&second, "ready")?["ready"]), ["GAL-2"]);
    Ok(())
}
