//! `loopwright discard` as people and scripts meet it, and `loopwright WORKFLOW run`.

use std::fs;
use std::path::{Path, PathBuf};

use crate::runs::git;
use crate::{Outcome, Ran, run_in, scratch};

const WORKFLOW: &str = r#"
workflow: wait
about: Waits until somebody says so.
subject: thing
verbs:
  go: {about: "End it"}
states:
  rest: {rest: "It waits.", on: {verb go: done}}
  done: {end: success}
"#;

fn say(folder: &Path, words: &str) -> std::io::Result<Ran> {
    run_in(folder, &words.split(' ').collect::<Vec<_>>())
}

/// A repository, and a worktree of it with a commit, a change and a new file of its own.
fn worktree(name: &str) -> std::io::Result<(PathBuf, PathBuf)> {
    let main = scratch(name)?.join("main");
    fs::create_dir_all(main.join(".loopwright/workflows/wait"))?;
    fs::write(main.join(".loopwright/workflows/wait/workflow.yaml"), WORKFLOW)?;
    fs::write(main.join("a"), "a\n")?;
    git(&main, &["init", "--quiet", "--initial-branch=main"])?;
    git(&main, &["config", "user.name", "somebody"])?;
    git(&main, &["config", "user.email", "somebody@example.invalid"])?;
    git(&main, &["add", "--all"])?;
    git(&main, &["commit", "--quiet", "--message", "start"])?;
    let own = main.with_file_name("own");
    git(&main, &["worktree", "add", "--quiet", "-b", "gal-7", "../own"])?;
    fs::write(own.join("b"), "b\n")?;
    git(&own, &["add", "--all"])?;
    git(&own, &["commit", "--quiet", "--message", "half of it"])?;
    fs::write(own.join("a"), "changed\n")?;
    fs::write(own.join("c"), "c\n")?;
    Ok((main, own))
}

#[test]
fn what_a_run_made_goes_when_somebody_says_so_twice() -> Outcome {
    let (main, own) = worktree("discard")?;
    assert_eq!(say(&own, "wait run first")?.code, Some(3), "a workflow is begun by its own name");

    // While it is open nothing goes.
    let open = say(&main, "wait discard first --yes")?;
    assert_eq!(open.code, Some(2));
    assert!(open.stderr.contains("is not over; `loopwright stop "), "{}", open.stderr);
    assert_eq!(say(&own, "wait go first")?.code, Some(0));

    // Neither while another one works there.
    assert_eq!(say(&own, "wait run second")?.code, Some(3));
    let beside = say(&main, "wait discard first --yes")?;
    assert_eq!(beside.code, Some(2));
    assert!(beside.stderr.contains("works there too, and is not over"), "{}", beside.stderr);
    assert_eq!(say(&own, "wait go second")?.code, Some(0));

    let would = say(&main, "wait discard first")?;
    assert_eq!(would.code, Some(0), "{}", would.stderr);
    for piece in ["would go", "1 commit that is in no other branch", "half of it", "2 files", "--yes"] {
        assert!(would.stdout.contains(piece), "{piece}: {}", would.stdout);
    }
    assert!(own.join("c").exists(), "nothing is done");

    let did: serde_json::Value =
        serde_json::from_str(&say(&main, "wait discard first --yes --json")?.stdout)?;
    assert_eq!((&did["branch"], &did["discarded"]), (&"gal-7".into(), &true.into()));
    assert_eq!(did["files"], serde_json::json!(["a", "c"]));
    assert!(!own.exists());
    assert_eq!(git(&main, &["branch", "--list", "gal-7"])?.trim(), "");
    let list = say(&main, "list")?.stdout;
    assert!(list.contains("first"), "the journal keeps it: {list}");

    let again = say(&main, "wait discard first")?;
    assert_eq!(again.code, Some(2));
    assert!(again.stderr.contains("is not there any more"), "{}", again.stderr);
    Ok(())
}

#[test]
fn what_others_need_is_not_thrown_away() -> Outcome {
    let (main, own) = worktree("discard-main")?;
    assert_eq!(say(&main, "wait run here")?.code, Some(3));
    assert_eq!(say(&main, "wait go here")?.code, Some(0));
    let refused = say(&main, "wait discard here --yes")?;
    assert_eq!(refused.code, Some(2));
    assert!(refused.stderr.contains("the main worktree, which is not thrown away"), "{}", refused.stderr);
    assert!(main.join("a").exists());

    git(&own, &["checkout", "--quiet", "--detach"])?;
    assert_eq!(say(&own, "wait run there")?.code, Some(3));
    assert_eq!(say(&own, "wait go there")?.code, Some(0));
    let refused = say(&main, "wait discard there --yes")?;
    assert_eq!(refused.code, Some(2));
    assert!(refused.stderr.contains("no branch is checked out"), "{}", refused.stderr);
    assert!(own.join("c").exists());

    for words in ["wait discard", "wait discard nothing --yes"] {
        assert_eq!(say(&main, words)?.code, Some(2), "{words}");
    }
    Ok(())
}
