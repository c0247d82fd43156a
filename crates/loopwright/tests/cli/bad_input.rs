//! Files and folders that are no workflows: a clear word, the exit code 2, and never a crash.

use std::fs;
use std::path::Path;

use crate::{Outcome, data, run, run_in, scratch};

/// Every command that takes a workflow says the same of one that is not there.
#[test]
fn what_is_not_there_is_said_to_be_missing() -> Outcome {
    for command in ["check", "matrix", "graph", "rehearse", "test"] {
        for (name, said) in [
            ("nothing", "error: there is no workflow `nothing`\nhint: there is `change`"),
            ("chang", "error: there is no workflow `chang`\nhint: did you mean `change`?"),
            ("smal", "error: there is no workflow `smal`\nhint: did you mean `small`?"),
            ("./smal", "error: there is no `./smal`\nhint: did you mean `./small`?"),
            ("./nothing", "error: there is no `./nothing`\nhint: give a workflow's folder, or its name"),
            ("nothing.yaml", "error: there is no `nothing.yaml`"),
            (".", "error: `.` has no `workflow.yaml`\nhint: there are workflows in it: `broken`, `failing`"),
            ("small/prompts", "error: `small/prompts` has no `workflow.yaml`\nhint: a workflow is a folder"),
        ] {
            let ran = run(&format!("{command} {name}"))?;
            assert!(ran.code == Some(2) && ran.stderr.starts_with(said), "{command} {name}: {}", ran.stderr);
        }
    }
    Ok(())
}

/// A folder's own workflow is meant where none is named; where there is none, one has to be.
#[test]
fn the_workflow_somebody_stands_in_need_not_be_named() -> Outcome {
    for command in ["check", "matrix", "graph", "rehearse", "test"] {
        let named = run_in(&data().join("small"), &[command, "."])?;
        let ran = run_in(&data().join("small"), &[command])?;
        assert_eq!((ran.code, &ran.stdout), (named.code, &named.stdout), "{command}");
        assert!(!ran.stdout.is_empty() && ran.stderr.is_empty(), "{command}: {}", ran.stderr);
    }
    for command in ["matrix", "graph", "rehearse"] {
        let ran = run_in(&data(), &[command])?;
        let said = "error: no workflow is named, and there is no `workflow.yaml` here\nhint: ";
        assert!(ran.code == Some(2) && ran.stderr.starts_with(said), "{command}: {}", ran.stderr);
    }
    Ok(())
}

/// What is in the file, the code of the one problem, and what is said.
const FILES: &[(&str, &[u8], &str, &str)] = &[
    ("empty", b"", "empty", "the file is empty"),
    ("blank", b"\n\n# nothing\n", "empty", "the file is empty"),
    ("prose", b"Dear reader,\nthis is a letter.\n", "bad-type", "expected a workflow"),
    ("list", b"- a\n- b\n", "bad-type", "expected a workflow, found a list"),
    ("binary", b"\x7fELF\x02\x01\x01\x00\xff\xfe", "not-text", "is not UTF-8 text"),
    ("utf16", b"\xff\xfew\x00o\x00r\x00k\x00", "not-text", "is not UTF-8 text"),
    ("tab", b"workflow: tab\nstates:\n\tdone: {end: success}\n", "syntax", "indent with spaces"),
    ("open", b"workflow: \"open\n", "syntax", "this is not valid YAML"),
    ("alias", b"workflow: &a x\nsubject: *a\nstates: {d: {end: success}}\n", "alias", "write it out"),
    (
        "twice",
        b"workflow: twice\nworkflow: twice\nsubject: s\nstates: {d: {end: success}}\n",
        "duplicate-key",
        "keep one",
    ),
];

#[test]
fn files_that_are_no_workflows_are_refused() -> Outcome {
    let folder = scratch("files")?;
    for (name, content, code, said) in FILES {
        fs::create_dir_all(folder.join(name))?;
        fs::write(folder.join(name).join("workflow.yaml"), content)?;
        fs::write(folder.join(format!("{name}.yaml")), content)?;
        for path in [(*name).to_owned(), format!("{name}/workflow.yaml"), format!("{name}.yaml")] {
            let ran = run_in(&folder, &["check", &path])?;
            assert_eq!(ran.code, Some(2), "{path}");
            assert!(ran.stderr.lines().any(|it| it == *code), "{path}: {}", ran.stderr);
            assert!(ran.stderr.contains(said), "{path}: {}", ran.stderr);
            assert!(ran.stderr.contains(&path), "{path} is not named: {}", ran.stderr);
            let report = run_in(&folder, &["check", "--json", &path])?;
            let report: serde_json::Value = serde_json::from_str(&report.stdout)?;
            let codes: Vec<_> = report["reports"][0]["problems"].as_array().into_iter().flatten().collect();
            assert!(codes.iter().any(|it| it["code"] == *code), "{path}: {report}");
        }
    }
    Ok(())
}

#[test]
fn what_is_too_large_is_not_read() -> Outcome {
    let folder = scratch("large")?;
    let ten = vec![b'#'; 10 << 20];
    fs::write(folder.join("ten.yaml"), &ten)?;
    let ran = run_in(&folder, &["check", "ten.yaml"])?;
    assert!(ran.code == Some(2) && ran.stderr.contains("too-large"), "{}", ran.stderr);
    assert!(ran.stderr.len() < 2_000, "what is too large is not printed either: {} bytes", ran.stderr.len());
    let many = folder.join("many");
    fs::create_dir_all(&many)?;
    fs::write(many.join("workflow.yaml"), "workflow: many\nsubject: s\nstates: {d: {end: success}}\n")?;
    for at in 0..2_000 {
        fs::write(many.join(at.to_string()), "")?;
    }
    let ran = run_in(&folder, &["check", "many"])?;
    assert!(
        ran.code == Some(2) && ran.stderr.contains("too large to be a workflow's folder"),
        "{}",
        ran.stderr
    );
    Ok(())
}

/// Very many problems are counted, not all printed.
#[test]
fn very_many_problems_are_not_all_printed() -> Outcome {
    let folder = scratch("problems")?;
    let keys = (0..5_000).fold(String::new(), |text, it| text + "key-" + &it.to_string() + ": 1\n");
    fs::write(
        folder.join("many.yaml"),
        format!("workflow: many\nsubject: s\n{keys}states: {{d: {{end: success}}}}\n"),
    )?;
    let ran = run_in(&folder, &["check", "many.yaml"])?;
    assert!(ran.stderr.len() < 50_000, "{} bytes", ran.stderr.len());
    assert!(ran.stderr.contains("and 4900 more problems"), "{}", &ran.stderr[ran.stderr.len() - 200..]);
    assert!(ran.stderr.contains("does not load (5000 problems)"));
    Ok(())
}

#[test]
fn a_folder_where_a_file_should_be() -> Outcome {
    let folder = scratch("folders")?;
    fs::create_dir_all(folder.join("odd/workflow.yaml"))?;
    let ran = run_in(&folder, &["check", "odd"])?;
    assert!(ran.code == Some(2) && ran.stderr.contains("`odd` has no `workflow.yaml`"), "{}", ran.stderr);
    let ran = run_in(&data(), &["rehearse", "small", "--scenario", "small"])?;
    assert!(ran.code == Some(2) && ran.stderr.contains("it is a folder"), "{}", ran.stderr);
    let ran = run_in(&data(), &["graph", "small", "--output", "small"])?;
    assert!(ran.code == Some(2) && ran.stderr.contains("`small` cannot be written"), "{}", ran.stderr);
    let file = folder.join("file").display().to_string();
    fs::write(&file, "")?;
    let ran = run_in(&data(), &["check", "unproved", "--paths", &file])?;
    assert!(ran.code == Some(2) && ran.stderr.contains("cannot be written"), "{}", ran.stderr);
    Ok(())
}

#[test]
fn scenarios_that_are_none() -> Outcome {
    let folder = scratch("scenarios")?;
    for (name, content, said) in [
        ("empty", &b""[..], "the file is empty"),
        ("binary", b"\xff\xfe", "not UTF-8 text"),
        ("list", b"- a\n", "a scenario is a map"),
        ("unknown", b"steps:\n  - nowhere: done\n", "there is no state `nowhere`"),
    ] {
        let file = folder.join(format!("{name}.yaml"));
        fs::write(&file, content)?;
        let ran = run_in(&data(), &["rehearse", "small", "--scenario", &file.display().to_string()])?;
        assert!(ran.code == Some(2) && ran.stderr.contains(said), "{name}: {}", ran.stderr);
        let own = folder.join(name);
        fs::create_dir_all(own.join("scenarios"))?;
        let text = fs::read_to_string(data().join("failing/workflow.yaml"))?;
        fs::write(
            own.join("workflow.yaml"),
            text.replace("workflow: failing", &format!("workflow: {name}")),
        )?;
        fs::copy(&file, own.join("scenarios/one.yaml"))?;
        let ran = run_in(&folder, &["test", name])?;
        assert!(ran.code == Some(2) && ran.stderr.contains(said), "{name}: {}", ran.stderr);
    }
    Ok(())
}

/// Every name in a scenario is one there is; a misspelt one would pass for no reason.
#[test]
fn names_in_scenarios_are_looked_up() -> Outcome {
    let file = scratch("names-in-scenarios")?.join("nonsense.yaml");
    let text = "scenario: nonsense
start: {vars: {mod: x}, verb: nix, phase: never}
items: {nowhere: [a]}
steps:
  - edit: [codde]
  - work: {is: done, wrote: [codde], changed: [cod]}
expect: {end: dun, rest: nix, reaches: nope, forced: [no], unsettled: no, spent: {fixess: 0}}
";
    fs::write(&file, text)?;
    let ran = run_in(&data(), &["rehearse", "small", "--scenario", &file.display().to_string()])?;
    assert_eq!(ran.code, Some(2), "{}", ran.stderr);
    assert_eq!(ran.stderr.matches("bad-scenario").count(), 13, "{}", ran.stderr);
    Ok(())
}

/// A very long line is cut around the place that is meant, which keeps its column.
#[test]
fn long_lines_are_cut() -> Outcome {
    let folder = scratch("long")?;
    let before = "é".repeat(3_000);
    let line = format!("states: {{a: {{end: success, says: \"{before}\", bogus: 1, about: \"{before}\"}}}}");
    fs::write(folder.join("long.yaml"), format!("workflow: x\nsubject: s\n{line}\n"))?;
    let ran = run_in(&folder, &["check", "long.yaml"])?;
    let column = line.chars().take_while(|it| *it != 'b').count() + 1;
    assert!(ran.stderr.contains(&format!("[long.yaml:3:{column}]")), "{column}: {}", ran.stderr);
    assert!(ran.stderr.contains("\", bogus: 1, about: \"é") && ran.stderr.len() < 4_000, "{}", ran.stderr);
    Ok(())
}

/// Names of files that people do not choose, and programs do.
#[test]
fn files_with_odd_names() -> Outcome {
    let folder = scratch("names")?;
    let text = fs::read_to_string(data().join("unproved/workflow.yaml"))?;
    for name in ["a file.yaml", "ümläut.yaml", "🚀.yaml", "%s.yaml", "a'b\"c.yaml", "no-ending"] {
        fs::write(folder.join(name), &text)?;
        let ran = run_in(&folder, &["check", name])?;
        assert_eq!(ran.code, Some(1), "{name}: {}", ran.stderr);
        assert!(ran.stdout.contains(name), "{name}: {}", ran.stdout);
    }
    fs::write(folder.join("-x.yaml"), &text)?;
    assert_eq!(run_in(&folder, &["check", "./-x.yaml"])?.code, Some(1));
    assert_eq!(run_in(&folder, &["check", "--", "-x.yaml"])?.code, Some(1));
    assert_eq!(run_in(&folder, &["check", ""])?.code, Some(2));
    Ok(())
}

#[cfg(unix)]
#[test]
fn names_that_are_no_text_and_links_that_lead_nowhere() -> Outcome {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt as _;
    use std::os::unix::fs::symlink;
    let folder = scratch("links")?;
    let text = fs::read(data().join("small/workflow.yaml"))?;
    let odd = folder.join("odd");
    fs::create_dir_all(odd.join("prompts"))?;
    fs::write(odd.join("workflow.yaml"), "workflow: odd\nsubject: s\nstates: {d: {end: success}}\n")?;
    fs::write(odd.join("prompts").join(OsStr::from_bytes(b"\xff\n.md")), "x")?;
    symlink("nowhere", odd.join("prompts/dangling.md"))?;
    symlink("round", odd.join("prompts/round"))?;
    assert_eq!(run_in(&folder, &["check", "odd"])?.code, Some(0));
    fs::write(folder.join(OsStr::from_bytes(b"\xff.yaml")), text)?;
    let ran = run_in(&folder, &[OsStr::new("check"), OsStr::from_bytes(b"\xff.yaml")])?;
    assert_eq!(ran.code, Some(2), "{}", ran.stderr);
    symlink("nowhere", folder.join("dangling"))?;
    symlink("round", folder.join("round"))?;
    for name in ["./dangling", "./round", "/dev/null"] {
        if Path::new(name).is_absolute() && !Path::new(name).exists() {
            continue;
        }
        let ran = run_in(&folder, &["check", name])?;
        assert!(ran.code == Some(2) && ran.stderr.starts_with("error: "), "{name}: {}", ran.stderr);
    }
    Ok(())
}
