//! A fresh clone has no journal: what documents say of a run is all there is, and it is taken over from them.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::{Outcome, Ran, run_in, scratch};

const WORKFLOW: &str = r#"
workflow: chapter
about: A chapter, written and printed.
subject: {name: title, matches: "[a-z]+"}
folder: "chapters/{{subject}}"
verbs:
  print: {about: "Print it"}
  long: {about: "Make it long"}
vars: {size: {in: [short, long], start: short}}
documents:
  state:
    file: ./STATE.yaml
    as: yaml
    owner: engine
    shows: {phase: "{{phase}}", size: "{{size}}"}
    shape: {phase: text, size: text}
phases:
  draft: {at: draft, show: [draft]}
  printing: {at: printing, show: [printing]}
  printed: {at: done, show: others}
defaults: {failures: failed}
states:
  draft: {rest: "Write {{subject}}.", on: {verb print: printing, verb long: {to: draft, set: {size: long}}}}
  printing: {do: [{say: "printing {{subject}}, {{size}}"}], then: done}
  done: {end: success, says: "Printed."}
  failed: {end: failure}
"#;

fn say(folder: &Path, words: &str) -> std::io::Result<Ran> {
    run_in(folder, &words.split(' ').collect::<Vec<_>>())
}

fn git(folder: &Path, arguments: &[&str]) -> Outcome {
    let name = ["-c", "user.name=somebody", "-c", "user.email=somebody@example.invalid"];
    assert!(Command::new("git").args(name).args(arguments).current_dir(folder).status()?.success());
    Ok(())
}

/// A clone of a repository in which a run was left at its draft.
fn cloned(name: &str) -> std::io::Result<std::path::PathBuf> {
    let folder = scratch(name)?;
    let origin = folder.join("origin");
    fs::create_dir_all(origin.join(".loopwright/workflows/chapter"))?;
    fs::write(origin.join(".loopwright/workflows/chapter/workflow.yaml"), WORKFLOW)?;
    let done = |it: Outcome| it.map_err(|it| std::io::Error::other(it.to_string()));
    done(git(&origin, &["init", "--quiet"]))?;
    let begun = say(&origin, "run chapter one")?;
    assert_eq!(begun.code, Some(3), "{}{}", begun.stdout, begun.stderr);
    assert_eq!(say(&origin, "chapter long one")?.code, Some(3));
    assert_eq!(fs::read_to_string(origin.join("chapters/one/STATE.yaml"))?, "phase: draft\nsize: long\n");
    done(git(&origin, &["add", "--all"]))?;
    done(git(&origin, &["commit", "--quiet", "--message", "draft"]))?;
    done(git(&folder, &["clone", "--quiet", "origin", "clone"]))?;
    Ok(folder.join("clone"))
}

#[test]
fn what_documents_say_is_taken_over() -> Outcome {
    let clone = cloned("taken-over")?;
    // Beginning anew would throw away what they say.
    let anew = say(&clone, "run chapter one")?;
    assert_eq!(anew.code, Some(2), "{}", anew.stderr);
    assert!(anew.stderr.contains("the documents of `one` say that it stands at `draft`"), "{}", anew.stderr);
    assert!(anew.stderr.contains("loopwright chapter resume 'one'"), "{}", anew.stderr);
    assert_eq!(say(&clone, "list --json")?.stdout, "", "nothing was begun");

    let taken = say(&clone, "chapter resume one")?;
    assert_eq!(taken.code, Some(3), "{}{}", taken.stdout, taken.stderr);
    assert!(
        taken.stderr.contains("chapter one, taken over at `draft`, as its documents say"),
        "{}",
        taken.stderr
    );
    assert_eq!(fs::read_to_string(clone.join("chapters/one/STATE.yaml"))?, "phase: draft\nsize: long\n");

    let printed = say(&clone, "chapter print one")?;
    assert_eq!(printed.code, Some(0), "{}{}", printed.stdout, printed.stderr);
    assert!(
        format!("{}{}", printed.stdout, printed.stderr).contains("printing one, long"),
        "{}",
        printed.stderr
    );
    assert_eq!(fs::read_to_string(clone.join("chapters/one/STATE.yaml"))?, "phase: printed\nsize: long\n");

    // What nothing is said of begins as ever.
    assert_eq!(say(&clone, "run chapter two")?.code, Some(3));
    Ok(())
}

#[test]
fn a_verb_takes_over_and_is_said() -> Outcome {
    let clone = cloned("taken-over-by-a-verb")?;
    let printed = say(&clone, "chapter print one")?;
    assert_eq!(printed.code, Some(0), "{}{}", printed.stdout, printed.stderr);
    assert!(printed.stderr.contains("taken over at `draft`"), "{}", printed.stderr);
    Ok(())
}

#[test]
fn what_cannot_be_taken_over_is_said_with_its_line() -> Outcome {
    let clone = cloned("not-taken-over")?;
    let state = clone.join("chapters/one/STATE.yaml");
    fs::write(&state, "# by hand\nphase: lost\nsize: long\n")?;
    let refused = say(&clone, "chapter print one")?;
    assert_eq!(refused.code, Some(2), "{}", refused.stderr);
    let says = "chapters/one/STATE.yaml, line 2: `phase` says where it stands, and `lost` is no phase: it is one of `draft`, `printing`, `printed`";
    assert!(refused.stderr.replace('\n', " ").contains(says), "{}", refused.stderr);
    assert_eq!(fs::read_to_string(&state)?, "# by hand\nphase: lost\nsize: long\n");
    assert_eq!(say(&clone, "list --json")?.stdout, "", "nothing was begun");
    Ok(())
}
