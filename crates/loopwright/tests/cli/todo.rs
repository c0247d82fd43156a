//! Issues in a `TODO` folder as people and scripts meet them.

use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::runs::git;
use crate::{Outcome, Ran, loopwright, run_in, scratch};

/// A command line of `loopwright todo`; what stands between quotes is one word.
pub(crate) fn todo(folder: &Path, line: &str) -> io::Result<Ran> {
    let mut words = vec!["todo".to_owned()];
    for (at, piece) in line.split('\'').enumerate() {
        if at % 2 == 1 {
            words.push(piece.to_owned());
        } else {
            words.extend(piece.split_whitespace().map(str::to_owned));
        }
    }
    run_in(folder, &words)
}

/// What was printed, and how it ended.
pub(crate) fn told(folder: &Path, line: &str) -> io::Result<String> {
    let ran = todo(folder, line)?;
    let root = folder.to_string_lossy().into_owned();
    let said = format!("{}{}", ran.stdout, ran.stderr).replace(&root, "ROOT");
    Ok(format!("{said}({})", ran.code.unwrap_or_default()))
}

/// What has to work.
pub(crate) fn done(folder: &Path, line: &str) -> io::Result<String> {
    let ran = todo(folder, line)?;
    assert_eq!(ran.code, Some(0), "{line}: {}{}", ran.stdout, ran.stderr);
    Ok(ran.stdout)
}

pub(crate) fn json_of(folder: &Path, line: &str) -> Result<Value, Box<dyn std::error::Error>> {
    let ran = todo(folder, &format!("{line} --json"))?;
    Ok(serde_json::from_str(&ran.stdout).map_err(|it| format!("{it}: {}{}", ran.stdout, ran.stderr))?)
}

/// The ids of a list.
pub(crate) fn ids(value: &Value) -> Vec<&str> {
    value.as_array().into_iter().flatten().filter_map(|it| it["id"].as_str()).collect()
}

pub(crate) fn repository(name: &str) -> io::Result<PathBuf> {
    let folder = scratch(name)?;
    git(&folder, &["init", "--quiet", "--initial-branch=main"])?;
    named(&folder)?;
    Ok(folder)
}

pub(crate) fn named(folder: &Path) -> io::Result<()> {
    git(folder, &["config", "user.name", "somebody"])?;
    git(folder, &["config", "user.email", "somebody@example.invalid"])?;
    Ok(())
}

pub(crate) fn committed(folder: &Path, what: &str) -> io::Result<()> {
    git(folder, &["add", "--all"])?;
    git(folder, &["commit", "--quiet", "--message", what])?;
    Ok(())
}

pub(crate) fn read(folder: &Path, file: &str) -> io::Result<String> {
    fs::read_to_string(folder.join("TODO").join(file))
}

pub(crate) fn write(folder: &Path, file: &str, text: &str) -> io::Result<()> {
    fs::create_dir_all(folder.join("TODO"))?;
    fs::write(folder.join("TODO").join(file), text)
}

/// All files, to see that none of them changed.
fn all(folder: &Path) -> io::Result<Vec<(String, Vec<u8>)>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder.join("TODO"))? {
        let path = entry?.path();
        if path.is_file() {
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            found.push((name, fs::read(path)?));
        }
    }
    found.sort();
    Ok(found)
}

#[test]
fn an_issue_goes_from_filed_to_done() -> Outcome {
    let folder = repository("todo-story")?;
    assert_eq!(told(&folder, "ready")?, "no issues; `loopwright todo new \"What should be\"` files one\n(0)");
    done(
        &folder,
        "new 'Greet people' --prefix GAL --label feature --category Features --criterion 'It greets' --criterion 'In color' --text 'Say hello.'",
    )?;
    done(&folder, "new 'Parse names' --parent GAL-1")?;
    done(&folder, "new 'Print names' --parent GAL-1 --depends-on GAL-2")?;
    assert_eq!(
        done(&folder, "new 'It crashes' --label bug,urgent --category Bugs")?,
        "GAL-4  TODO/GAL-4.md\n"
    );
    assert_eq!(
        read(&folder, "GAL-1.md")?,
        "---\nid: GAL-1\ntitle: Greet people\nstatus: Todo\nlabels: [feature]\n---\n\nSay hello.\n\n## Acceptance criteria\n\n- [ ] It greets\n- [ ] In color\n\n## Sub-issues\n\n- [ ] [GAL-2](GAL-2.md): Parse names\n  - [ ] ↳ [GAL-3](GAL-3.md): Print names\n"
    );
    assert_eq!(
        read(&folder, "GAL-3.md")?,
        "---\nid: GAL-3\ntitle: Print names\nstatus: Todo\nparent: GAL-1\ndepends-on: [GAL-2]\n---\n"
    );
    insta::assert_snapshot!(told(&folder, "list")?, @"
    Features
      GAL-1  Todo         Greet people  [feature]
      GAL-2  Todo         Parse names
      GAL-3  Todo         Print names

    Bugs
      GAL-4  Todo         It crashes  [bug, urgent]
    (0)
    ");
    insta::assert_snapshot!(told(&folder, "tree")?, @"
    [ ] GAL-1  Greet people  [feature]
      [ ] GAL-2  Parse names
        ↳ [ ] GAL-3  Print names
    [ ] GAL-4  It crashes  [bug, urgent]
    (0)
    ");
    insta::assert_snapshot!(told(&folder, "ready --why")?, @"
    GAL-2  Parse names
    GAL-4  It crashes  [bug, urgent]

    not now
      GAL-1  is done after its parts: GAL-2, GAL-3
      GAL-3  waits for GAL-2
    (0)
    ");
    insta::assert_snapshot!(told(&folder, "start GAL-2")?, @"
    GAL-2: Todo -> In Progress
    (0)
    ");
    assert!(read(&folder, "GAL-1.md")?.contains("- [ ] [GAL-2](GAL-2.md): Parse names (In Progress)\n"));
    insta::assert_snapshot!(told(&folder, "done GAL-2")?, @"
    GAL-2: In Progress -> Done
    note: nothing else keeps GAL-3 back
    (0)
    ");
    insta::assert_snapshot!(told(&folder, "done GAL-3")?, @"
    GAL-3: Todo -> Done
    note: nothing else keeps GAL-1 back
    (0)
    ");
    insta::assert_snapshot!(told(&folder, "done GAL-1 --tick")?, @"
    GAL-1: Todo -> Done, 2 criteria ticked
    (0)
    ");
    insta::assert_snapshot!(read(&folder, "README.md")?, @"
    # Issues

    One file an issue. This list is kept in step with them; its categories are yours.

    ## Features

    - [x] [GAL-1](GAL-1.md): Greet people

    ## Bugs

    - [ ] [GAL-4](GAL-4.md): It crashes
    ");
    assert_eq!(told(&folder, "check")?, "4 issues, nothing wrong\n(0)");
    assert_eq!(ids(&json_of(&folder, "ready")?["ready"]), ["GAL-4"]);
    insta::assert_snapshot!(told(&folder, "show GAL-1")?, @"
    GAL-1  Greet people
      status     Done
      category   Features
      labels     feature
      parts      GAL-2 (Done), GAL-3 (Done)
      criteria   2 of 2 met
      file       TODO/GAL-1.md

    Say hello.

    ## Acceptance criteria

    - [x] It greets
    - [x] In color

    ## Sub-issues

    - [x] [GAL-2](GAL-2.md): Parse names
      - [x] ↳ [GAL-3](GAL-3.md): Print names
    (0)
    ");
    insta::assert_snapshot!(told(&folder, "list --all --label FEATURE")?, @"
    Features
      GAL-1  Done         Greet people  [feature]
    (0)
    ");
    Ok(())
}

#[test]
fn a_list_has_what_is_asked_for() -> Outcome {
    let folder = repository("todo-list")?;
    for line in [
        "new Whole --prefix GAL --category Features",
        "new Part --parent GAL-1",
        "new Other --parent GAL-1",
        "new 'It crashes' --label bug --category Bugs",
        "done GAL-2",
        "done GAL-3",
        "done GAL-1",
    ] {
        done(&folder, line)?;
    }
    assert_eq!(ids(&json_of(&folder, "list --status done --parent GAL-1")?["issues"]), ["GAL-2", "GAL-3"]);
    assert_eq!(ids(&json_of(&folder, "list --category bugs")?["issues"]), ["GAL-4"]);
    assert_eq!(told(&folder, "list --label nothing")?, "no issue is like that\n(0)");
    done(&folder, "done GAL-4")?;
    assert_eq!(told(&folder, "list")?, "nothing is open (`--all` lists what is done)\n(0)");
    assert_eq!(told(&folder, "ready")?, "nothing is left to do\n(0)");
    Ok(())
}

#[test]
fn what_is_open_keeps_an_issue_from_being_done() -> Outcome {
    let folder = repository("todo-open")?;
    for line in [
        "new Whole --criterion 'It works'",
        "new Part --parent TODO-1",
        "new Later --depends-on TODO-1",
        "new Two --criterion a --criterion b",
    ] {
        done(&folder, line)?;
    }
    let before = all(&folder)?;
    insta::assert_snapshot!(told(&folder, "done TODO-1")?, @"
    error: TODO-1 is not done: 1 criterion is not ticked (TODO/TODO-1.md:9); parts of it are not done: TODO-2
    hint: tick what is met in the file, or all of them with `--tick`
    hint: `--force` says so all the same
    (1)
    ");
    insta::assert_snapshot!(told(&folder, "done TODO-3")?, @"
    error: TODO-3 is not done: it depends on what is not done: TODO-1
    hint: `--force` says so all the same
    (1)
    ");
    insta::assert_snapshot!(told(&folder, "done TODO-4")?, @"
    error: TODO-4 is not done: 2 criteria are not ticked (TODO/TODO-4.md:9)
    hint: tick what is met in the file, or all of them with `--tick`
    hint: `--force` says so all the same
    (1)
    ");
    assert_eq!(all(&folder)?, before, "what is refused changes nothing");
    done(&folder, "done TODO-4 --tick")?;
    assert!(read(&folder, "TODO-4.md")?.contains("- [x] a\n- [x] b\n"));
    assert_eq!(told(&folder, "done TODO-4")?, "TODO-4: Done already\n(0)");
    done(&folder, "done TODO-1 --force")?;
    assert!(read(&folder, "TODO-1.md")?.contains("- [ ] It works\n"), "nothing is ticked that nobody said");
    let said = told(&folder, "check")?;
    assert!(
        said.contains("TODO/TODO-1.md:4: `TODO-1` is Done, and 1 criterion of it not ticked\n"),
        "{said}"
    );
    assert!(said.ends_with("(1)"), "{said}");
    Ok(())
}

#[test]
fn only_what_can_be_done_now_is_begun() -> Outcome {
    let folder = repository("todo-begun")?;
    for line in ["new First", "new Second --depends-on TODO-1", "new Whole", "new Part --parent TODO-3"] {
        done(&folder, line)?;
    }
    insta::assert_snapshot!(told(&folder, "start TODO-2")?, @"
    error: TODO-2 waits for TODO-1
    hint: `loopwright todo ready` says what can be done now; `--force` begins it all the same
    (1)
    ");
    insta::assert_snapshot!(told(&folder, "start TODO-3")?, @"
    error: TODO-3 is done after its parts: TODO-4
    hint: `loopwright todo ready` says what can be done now; `--force` begins it all the same
    (1)
    ");
    done(&folder, "start TODO-1")?;
    insta::assert_snapshot!(told(&folder, "start TODO-1")?, @"
    error: TODO-1 is in progress
    hint: `loopwright todo ready` says what can be done now; `--force` begins it all the same
    (1)
    ");
    assert_eq!(told(&folder, "start TODO-1 --force")?, "TODO-1: In Progress already\n(0)");
    assert_eq!(told(&folder, "start TODO-1 --undo")?, "TODO-1: In Progress -> Todo\n(0)");
    assert_eq!(told(&folder, "start TODO-1 --undo")?, "TODO-1: Todo already\n(0)");
    done(&folder, "done TODO-1")?;
    assert!(told(&folder, "start TODO-1 --undo")?.starts_with("error: TODO-1 is done\n"));
    assert!(told(&folder, "start TODO-1")?.starts_with("error: TODO-1 is done\n"));
    assert_eq!(told(&folder, "start TODO-1 --force")?, "TODO-1: Done -> In Progress\n(0)");
    assert_eq!(told(&folder, "check")?, "4 issues, nothing wrong\n(0)");
    Ok(())
}

#[test]
fn what_cannot_be_filed_is_refused_and_nothing_is_written() -> Outcome {
    let folder = repository("todo-refused")?;
    done(&folder, "new Whole --prefix GAL")?;
    done(&folder, "new Part --parent GAL-1")?;
    let before = all(&folder)?;
    for (line, why) in [
        ("new ' '", "error: an issue has a title"),
        ("new x --parent GAL-7", "error: there is no issue `GAL-7` in TODO"),
        ("new x --parent gal-1", "hint: did you mean `GAL-1`?"),
        ("new x --depends-on GAL-1,GAL-9", "error: there is no issue `GAL-9` in TODO"),
        (
            "new x --parent GAL-2 --depends-on GAL-1",
            "error: it would depend on `GAL-1`, which it is part of: that is done last",
        ),
        ("new x --prefix gal", "error: `gal` cannot begin an id"),
        ("new x --prefix 7", "error: `7` cannot begin an id"),
        ("new x --category ' '", "error: a category is one line that says something"),
        ("new", "required arguments were not provided"),
        ("show GAL-8", "error: there is no issue `GAL-8` in TODO"),
        ("start nothing", "hint: `loopwright todo list --all` says which there are"),
        ("comment GAL-1 ' '", "error: TODO/GAL-1.md: a comment says something"),
        ("list --status later", "invalid value 'later'"),
        ("tree GAL-9", "error: there is no issue `GAL-9` in TODO"),
    ] {
        let ran = todo(&folder, line)?;
        assert_eq!(ran.code, Some(2), "{line}: {}", ran.stderr);
        assert!(ran.stderr.contains(why), "{line}: {}", ran.stderr);
    }
    assert_eq!(all(&folder)?, before);
    Ok(())
}

#[test]
fn what_a_verb_does_not_say_stays_as_it_was() -> Outcome {
    let folder = repository("todo-crlf")?;
    let one = "\u{feff}---\r\nid: GAL-1\r\n# mine\r\ntitle: 'One: first'\r\nstatus: todo # for now\r\nmine: x\r\n---\r\n\r\nText.  \r\n\r\n## Sub-issues\r\n\r\n* GAL-2 – two\r\n";
    let two = "# GAL-2: Two\r\n\r\n**Status:** open\r\n**Parent:** [GAL-1](GAL-1.md)\r\n\r\n- [ ] works";
    let list = "# All\r\n\r\n## Work\r\n\r\n| id | state |\r\n|-|-|\r\n| GAL-1 | Todo |\r\n";
    for (file, text) in [("GAL-1.md", one), ("GAL-2.md", two), ("README.md", list)] {
        write(&folder, file, text)?;
    }
    done(&folder, "start GAL-2")?;
    assert_eq!(read(&folder, "GAL-2.md")?, two.replace("open", "In Progress"));
    done(&folder, "done GAL-2 --tick")?;
    assert_eq!(read(&folder, "GAL-2.md")?, two.replace("open", "Done").replace("[ ]", "[x]"));
    assert_eq!(read(&folder, "GAL-1.md")?, one, "its list shows nothing that has to change");
    done(&folder, "start GAL-1")?;
    assert_eq!(read(&folder, "GAL-1.md")?, one.replace("todo # for now", "In Progress # for now"));
    assert_eq!(read(&folder, "README.md")?, list.replace("Todo", "In Progress"));
    done(&folder, "comment GAL-1 'Well.'")?;
    assert!(read(&folder, "GAL-1.md")?.ends_with("* GAL-2 – two\r\n\r\n## Comments\r\n\r\n- Well.\r\n"));
    done(&folder, "new Three --parent GAL-1 --category Work")?;
    let three = read(&folder, "GAL-3.md")?;
    assert!(three.contains("title: Three\r\n") && !three.replace("\r\n", "").contains('\n'), "{three:?}");
    assert!(read(&folder, "GAL-1.md")?.contains("* GAL-2 – two\r\n* [GAL-3](GAL-3.md): Three\r\n"));
    assert!(read(&folder, "README.md")?.ends_with("\r\n- [ ] [GAL-3](GAL-3.md): Three\r\n"));
    Ok(())
}

#[test]
fn one_that_is_broken_stands_beside_those_that_are_not() -> Outcome {
    let folder = repository("todo-broken")?;
    for line in ["new Good --prefix GAL", "new Other", "new Waits --depends-on GAL-2", "new Text"] {
        done(&folder, line)?;
    }
    write(&folder, "GAL-2.md", "---\nid: GAL-2\ntitle: Other\nstatus: later\n---\n")?;
    fs::write(folder.join("TODO/GAL-4.md"), b"---\nid: GAL-4\ntitle: \xff\n---\n")?;
    fs::create_dir(folder.join("TODO/GAL-5.md"))?;
    write(
        &folder,
        "GAL-6.md",
        "---\nid: GAL-6\n<<<<<<< a\ntitle: x\n=======\ntitle: y\n>>>>>>> b\n---\n\nSame.\n",
    )?;
    insta::assert_snapshot!(told(&folder, "ready --why")?, @"
    GAL-1  Good

    not now
      GAL-2  cannot be understood: line 4: `later` is no status; one of Todo, In Progress, Done
      GAL-3  waits for GAL-2
      GAL-4  cannot be understood: line 3: this is no text in UTF-8
      GAL-5  cannot be understood: line 1: this is a folder, and no file
      GAL-6  cannot be understood: line 3: a merge left this undecided
    (0)
    ");
    insta::assert_snapshot!(told(&folder, "check")?, @"
    TODO/GAL-2.md:4: `later` is no status; one of Todo, In Progress, Done
    TODO/GAL-4.md:3: this is no text in UTF-8
    TODO/GAL-5.md:1: this is a folder, and no file
    TODO/GAL-6.md:3: a merge left this undecided
    4 problems
    (1)
    ");
    let before = all(&folder)?;
    for id in ["GAL-2", "GAL-4", "GAL-5", "GAL-6"] {
        for verb in ["start", "done"] {
            let said = told(&folder, &format!("{verb} {id} --force"))?;
            let place = format!("error: TODO/{id}.md:");
            assert!(said.starts_with(&place) && said.ends_with("(1)"), "{verb} {id}: {said}");
        }
        assert_eq!(todo(&folder, &format!("show {id}"))?.code, Some(0));
    }
    assert_eq!(all(&folder)?, before);
    let listed = json_of(&folder, "list --all")?;
    assert_eq!(ids(&listed["issues"]), ["GAL-1", "GAL-2", "GAL-3", "GAL-4", "GAL-5", "GAL-6"]);
    assert_eq!(
        listed["issues"][1]["problems"],
        json!(["line 4: `later` is no status; one of Todo, In Progress, Done"])
    );
    // What nobody can read is not taken for free.
    assert!(done(&folder, "new Next")?.starts_with("GAL-7 "));
    done(&folder, "done GAL-1")?;
    Ok(())
}

#[test]
fn a_folder_nobody_may_write_to_stays_as_it_is() -> Outcome {
    let folder = repository("todo-read-only")?;
    done(&folder, "new One")?;
    let before = all(&folder)?;
    let program = env!("CARGO_BIN_EXE_loopwright");
    let script = format!(
        "mount --bind TODO TODO && mount -o remount,bind,ro TODO && shift && {program} todo \"$@\"; echo \"($?)\" >&2"
    );
    for words in
        [&["new", "Two"][..], &["start", "TODO-1"], &["comment", "TODO-1", "x"], &["renumber", "TODO-1"]]
    {
        let ran: Ran = Command::new("unshare")
            .args(["--map-root-user", "--mount", "sh", "-c", &script, "sh", "-"])
            .args(words)
            .current_dir(&folder)
            .output()?
            .into();
        if ran.stderr.contains("unshare: ") {
            writeln!(io::stderr(), "skipped, no namespaces here: {}", ran.stderr)?;
            return Ok(());
        }
        assert!(
            ran.stderr.contains("Read-only file system") && ran.stderr.ends_with("(5)\n"),
            "{words:?}: {}",
            ran.stderr
        );
    }
    assert_eq!(all(&folder)?, before);
    Ok(())
}

#[test]
fn while_a_run_is_at_work_here_only_its_agents_change_issues() -> Outcome {
    let folder = repository("todo-at-work")?;
    done(&folder, "new One")?;
    // Whoever is at work says so; this test is.
    let me = loopwright_engine::this_process();
    fs::write(folder.join(".git/loopwright-at-work"), format!("some-run, {me}"))?;
    let before = all(&folder)?;
    for line in
        ["new Two", "start TODO-1", "done TODO-1", "comment TODO-1 x", "check --repair", "renumber TODO-1"]
    {
        let said = told(&folder, line)?;
        assert!(
            said.starts_with("error: the run some-run is at work here") && said.ends_with("(6)"),
            "{line}: {said}"
        );
    }
    assert_eq!(all(&folder)?, before);
    for line in ["list", "ready", "tree", "check", "show TODO-1"] {
        assert_eq!(todo(&folder, line)?.code, Some(0), "{line}");
    }
    let words = ["todo", "comment", "TODO-1", "x"];
    let its_agent = loopwright(&folder).args(words).env("LOOPWRIGHT_RUN", "some-run").output()?;
    assert_eq!(its_agent.status.code(), Some(0), "an agent of its own may");
    Ok(())
}

#[test]
fn texts_come_from_the_standard_input_as_well() -> Outcome {
    let folder = repository("todo-stdin")?;
    let fed = |words: &[&str], text: &[u8]| -> Result<Ran, Box<dyn std::error::Error>> {
        let mut child = loopwright(&folder)
            .arg("todo")
            .args(words)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()?;
        child.stdin.take().ok_or("no stdin")?.write_all(text)?;
        Ok(child.wait_with_output()?.into())
    };
    assert_eq!(fed(&["new", "One", "--text", "-"], b"From\nsomewhere.\n")?.code, Some(0));
    assert!(read(&folder, "TODO-1.md")?.ends_with("---\n\nFrom\nsomewhere.\n"));
    assert_eq!(fed(&["comment", "TODO-1"], b"Said\nso.\n")?.stdout, "TODO-1: 1 comment\n");
    assert_eq!(fed(&["comment", "TODO-1", "-"], b"# And so\n")?.stdout, "TODO-1: 2 comments\n");
    assert_eq!(fed(&["comment", "TODO-1", "-v is new"], b"")?.stdout, "TODO-1: 3 comments\n");
    assert_eq!(json_of(&folder, "show TODO-1")?["comments"], json!(["Said\nso.", "\\# And so", "-v is new"]));
    assert_eq!(fed(&["comment", "TODO-1"], b" \n")?.code, Some(2));
    assert_eq!(fed(&["new", "Two", "--text", "-"], b"\xff")?.code, Some(2));
    Ok(())
}

#[test]
fn what_is_out_of_step_is_found_with_its_line_and_put_right() -> Outcome {
    let folder = repository("todo-step")?;
    for line in [
        "new Whole --prefix GAL --category Work",
        "new Part --parent GAL-1",
        "new Alone",
        "new Needs --depends-on GAL-3",
    ] {
        done(&folder, line)?;
    }
    // As people edit: statuses by hand, lists not at all.
    let edit = |file: &str, from: &str, to: &str| -> io::Result<()> {
        let text = read(&folder, file)?;
        assert!(text.contains(from), "{file}: {text}");
        write(&folder, file, &text.replace(from, to))
    };
    edit("GAL-2.md", "status: Todo", "status: Done")?;
    edit("GAL-3.md", "status: Todo", "status: In Progress")?;
    edit("GAL-4.md", "depends-on: [GAL-3]", "depends-on: [GAL-3, GAL-77]")?;
    edit("README.md", "- [ ] [GAL-4](GAL-4.md): Needs\n", "- [ ] GAL-1\n- [ ] GAL-88: gone\n")?;
    write(&folder, "GAL-9.md", "---\nid: GAL-3\ntitle: Copied\n---\n")?;
    write(&folder, "GAL-5.md", "---\ntitle: Filed by hand\nparent: GAL-1\n---\n")?;
    write(&folder, "notes.md", "Nothing.\n")?;
    insta::assert_snapshot!(told(&folder, "check")?, @"
    TODO/GAL-1.md:1: `GAL-1` does not list `GAL-5`, which is part of it
    TODO/GAL-1.md:9: `GAL-2` is shown as Todo, and is Done
    TODO/GAL-4.md:5: `GAL-4` depends on `GAL-77`, which is not there
    TODO/GAL-9.md:2: `GAL-3` is taken twice: also in GAL-3.md
    TODO/README.md:1: `GAL-4` is not listed
    TODO/README.md:11: `GAL-3` is shown as Todo, and is In Progress
    TODO/README.md:12: `GAL-1` is listed twice
    TODO/README.md:13: `GAL-88` is listed, and is not there
    TODO/notes.md:1: this is no issue: neither its name nor an `id` in it is one such as `GAL-39`
    9 problems; `loopwright todo check --repair` puts 6 of them right
    (1)
    ");
    let before = all(&folder)?;
    assert_eq!(json_of(&folder, "check")?["ok"], json!(false));
    assert_eq!(all(&folder)?, before, "whoever only looks changes nothing");
    insta::assert_snapshot!(told(&folder, "check --repair")?, @r#"
    mended  TODO/GAL-9.md: "Copied" is GAL-9 now; GAL-3 was taken twice
    mended  TODO/GAL-1.md: brought in step with the issues
    mended  TODO/README.md: brought in step with the issues
    TODO/GAL-4.md:5: `GAL-4` depends on `GAL-77`, which is not there
    TODO/README.md:12: `GAL-88` is listed, and is not there
    TODO/notes.md:1: this is no issue: neither its name nor an `id` in it is one such as `GAL-39`
    3 problems
    (1)
    "#);
    insta::assert_snapshot!(read(&folder, "README.md")?, @"
    # Issues

    One file an issue. This list is kept in step with them; its categories are yours.

    ## Work

    - [ ] [GAL-1](GAL-1.md): Whole

    ## Issues

    - [ ] [GAL-3](GAL-3.md): Alone (In Progress)
    - [ ] GAL-88: gone
    - [ ] [GAL-4](GAL-4.md): Needs
    - [ ] [GAL-9](GAL-9.md): Copied
    ");
    assert!(
        read(&folder, "GAL-1.md")?
            .ends_with("- [x] [GAL-2](GAL-2.md): Part\n- [ ] [GAL-5](GAL-5.md): Filed by hand\n")
    );
    assert!(read(&folder, "GAL-9.md")?.starts_with("---\nid: GAL-9\ntitle: Copied\n"));
    assert_eq!(read(&folder, "notes.md")?, "Nothing.\n");
    // A second time there is nothing left to do.
    let mended = all(&folder)?;
    assert_eq!(json_of(&folder, "check --repair")?["mended"], json!([]));
    assert_eq!(all(&folder)?, mended);
    Ok(())
}

#[test]
fn an_issue_is_called_otherwise_wherever_others_lead_to_it() -> Outcome {
    let folder = repository("todo-renumber")?;
    for line in [
        "new Whole --prefix GAL",
        "new Part --parent GAL-1",
        "new Needs --depends-on GAL-1,GAL-2 --text 'As GAL-1 says.'",
    ] {
        done(&folder, line)?;
    }
    insta::assert_snapshot!(told(&folder, "renumber GAL-1 GAL-40")?, @"
    GAL-1 -> GAL-40  TODO/GAL-40.md
    note: TODO/GAL-3.md:8: this still names GAL-1
    (0)
    ");
    assert!(!folder.join("TODO/GAL-1.md").exists());
    assert!(read(&folder, "GAL-40.md")?.starts_with("---\nid: GAL-40\ntitle: Whole\n"));
    assert!(read(&folder, "GAL-2.md")?.contains("parent: GAL-40\n"));
    assert!(read(&folder, "GAL-3.md")?.contains("depends-on: [GAL-40, GAL-2]\n"));
    assert!(read(&folder, "README.md")?.contains("- [ ] [GAL-40](GAL-40.md): Whole\n"));
    assert_eq!(told(&folder, "check")?, "3 issues, nothing wrong\n(0)");
    let before = all(&folder)?;
    insta::assert_snapshot!(told(&folder, "renumber GAL-3 GAL-2")?, @"
    error: `GAL-2` is taken: by TODO/GAL-2.md
    hint: `loopwright todo renumber GAL-3` takes one that is free
    (1)
    ");
    assert!(told(&folder, "renumber GAL-3 gal3")?.ends_with("(2)"));
    assert!(told(&folder, "renumber GAL-9")?.ends_with("(2)"));
    assert_eq!(all(&folder)?, before);
    assert_eq!(done(&folder, "renumber GAL-3")?, "GAL-3 -> GAL-41  TODO/GAL-41.md\n");
    Ok(())
}

#[test]
fn the_folder_that_is_meant_is_found_from_anywhere() -> Outcome {
    let folder = repository("todo-where")?;
    let below = folder.join("some/where");
    fs::create_dir_all(&below)?;
    done(&below, "new One")?;
    assert!(folder.join("TODO/TODO-1.md").exists());
    assert_eq!(ids(&json_of(&below, "list")?["issues"]), ["TODO-1"]);
    // A part of the repository may have issues of its own, where the root has none.
    let other = repository("todo-where-part")?;
    let part = other.join("part/deep");
    fs::create_dir_all(other.join("part/TODO"))?;
    fs::write(other.join("part/TODO/README.md"), "# Of this part\n")?;
    fs::create_dir_all(&part)?;
    assert!(done(&part, "new Own --prefix P")?.contains("part/TODO/P-1.md"));
    assert_eq!(ids(&json_of(&part, "ready")?["ready"]), ["P-1"]);
    // Without a repository the nearest folder above decides, and nothing else is made.
    let plain = Path::new(&std::env::temp_dir()).join(format!("loopwright-todo-{}", std::process::id()));
    let deep = plain.join("deep");
    fs::create_dir_all(&deep)?;
    done(&plain, "new One")?;
    done(&deep, "new Two")?;
    let root = plain.to_string_lossy().into_owned();
    for line in [format!("--repo-root {root} list"), format!("list --repo-root {root}")] {
        assert_eq!(ids(&json_of(&folder, &line)?["issues"]), ["TODO-1", "TODO-2"]);
    }
    let ran = run_in(&folder, &["--repo-root", &root, "todo", "ready", "--format", "json"])?;
    assert!(ran.stdout.contains("\"TODO-2\""), "{}{}", ran.stdout, ran.stderr);
    let mut left: Vec<String> = fs::read_dir(&plain)?
        .map(|it| Ok(it?.file_name().to_string_lossy().into_owned()))
        .collect::<io::Result<_>>()?;
    left.sort();
    assert_eq!(left, ["TODO", "deep"]);
    fs::remove_dir_all(&plain)?;
    let said = told(&folder, "--repo-root nowhere list")?;
    assert_eq!(said, "error: `nowhere` is no folder to work in\n(2)");
    Ok(())
}

#[test]
fn a_tree_shows_what_comes_before_what() -> Outcome {
    let folder = repository("todo-tree")?;
    for line in [
        "new Whole --prefix GAL",
        "new Last --parent GAL-1",
        "new First --parent GAL-1",
        "new Deep --parent GAL-3",
        "new Alone",
    ] {
        done(&folder, line)?;
    }
    let text = read(&folder, "GAL-2.md")?;
    write(&folder, "GAL-2.md", &text.replace("parent: GAL-1", "parent: GAL-1\ndepends-on: [GAL-3]"))?;
    done(&folder, "done GAL-5")?;
    done(&folder, "start GAL-4")?;
    insta::assert_snapshot!(told(&folder, "tree")?, @"
    [ ] GAL-1  Whole
      [ ] GAL-3  First
        [ ] GAL-4  Deep (In Progress)
        ↳ [ ] GAL-2  Last

    and 1 done (`--all`)
    (0)
    ");
    insta::assert_snapshot!(told(&folder, "tree --all GAL-3")?, @"
    [ ] GAL-3  First
      [ ] GAL-4  Deep (In Progress)
    (0)
    ");
    let tree = json_of(&folder, "tree --all")?;
    assert_eq!(ids(&tree["tree"]), ["GAL-1", "GAL-3", "GAL-4", "GAL-2", "GAL-5"]);
    assert_eq!((&tree["tree"][3]["depth"], &tree["tree"][3]["after"]), (&json!(2), &json!(true)));
    Ok(())
}
