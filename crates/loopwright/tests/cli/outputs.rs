//! What is printed when things go as they should, and when workflows are not as they should be.

use std::fs;

use serde_json::Value;

use crate::{Outcome, data, run, run_in, scratch};

/// A command line with its snapshot's name.
const SHOWN: &[(&str, &str)] = &[
    ("help", "--help"),
    ("check_proved", "check small"),
    ("check_proved_verbose", "check --verbose small"),
    ("check_not_proved", "check unproved"),
    ("check_not_loaded", "check broken"),
    ("check_several", "check small unproved"),
    ("matrix", "matrix small"),
    ("matrix_markdown", "matrix --format markdown small"),
    ("graph_mermaid", "graph --no-failures small"),
    ("graph_dot", "graph --no-failures --format dot small"),
    ("rehearse", "rehearse small"),
    ("rehearse_scenario", "rehearse small --scenario small/scenarios/mended-once.yaml"),
    ("rehearse_unexpected", "rehearse failing --scenario failing/scenarios/not-so.yaml"),
    ("rehearse_faults", "rehearse small --faults"),
    ("rehearse_random", "rehearse small --random --runs 5 --seed 3"),
    ("rehearse_exhaustive", "rehearse small --exhaustive"),
    ("test", "test small failing"),
    ("test_not_loaded", "test misspelt"),
];

#[test]
fn commands_print_what_they_printed() -> Outcome {
    for (name, line) in SHOWN {
        let ran = run(line)?;
        let code = ran.code.unwrap_or_default();
        let text =
            format!("$ loopwright {line}\n{}--- stderr\n{}--- exit code {code}\n", ran.stdout, ran.stderr);
        insta::with_settings!({omit_expression => true}, { insta::assert_snapshot!(*name, text) });
    }
    Ok(())
}

/// Exit codes: 0 as it should be, 1 not, 2 something does not load.
#[test]
fn the_exit_code_says_how_it_went() -> Outcome {
    for (line, code) in [
        ("check small", 0),
        ("check unproved", 1),
        ("check broken", 2),
        ("check small unproved", 1),
        ("check unproved broken small", 2),
        ("check --json unproved", 1),
        ("check --json broken", 2),
        ("matrix unproved", 0),
        ("matrix broken", 2),
        ("graph unproved", 0),
        ("graph broken", 2),
        ("rehearse small", 0),
        ("rehearse small --scenario small/scenarios/at-once.yaml", 0),
        ("rehearse failing --scenario failing/scenarios/not-so.yaml", 1),
        ("rehearse misspelt --scenario misspelt/scenarios/a.yaml", 2),
        ("rehearse broken", 2),
        ("test small", 0),
        ("test --complete small", 1),
        ("test failing", 1),
        ("test small misspelt", 2),
        ("test broken", 2),
        ("workflows", 0),
        ("readers", 0),
        ("schema", 0),
        ("--version", 0),
        ("", 2),
        ("chek small", 2),
        ("check --jsn small", 2),
        ("matrix", 2),
        ("rehearse small --random --exhaustive", 2),
        ("graph --format png small", 2),
    ] {
        let ran = run(line)?;
        assert_eq!(ran.code, Some(code), "`loopwright {line}`\n{}{}", ran.stdout, ran.stderr);
    }
    Ok(())
}

/// What is not data goes to stderr, so that data can be piped on.
#[test]
fn data_goes_to_stdout_and_the_rest_to_stderr() -> Outcome {
    for line in ["check broken", "matrix broken", "check nothing", "chek"] {
        let ran = run(line)?;
        assert!(ran.stdout.is_empty() && !ran.stderr.is_empty(), "{line}: {}", ran.stdout);
    }
    for line in [
        "check small",
        "check unproved",
        "matrix small",
        "graph small",
        "rehearse small",
        "test small",
        "schema",
        "readers",
    ] {
        let ran = run(line)?;
        assert!(!ran.stdout.is_empty() && ran.stderr.is_empty(), "{line}: {}", ran.stderr);
    }
    Ok(())
}

/// Every line of stdout, or all of it, as JSON.
fn json(line: &str) -> Result<Vec<Value>, Box<dyn std::error::Error>> {
    let ran = run(line)?;
    assert!(ran.stderr.is_empty(), "{line}: {}", ran.stderr);
    if let Ok(whole) = serde_json::from_str(&ran.stdout) {
        return Ok(vec![whole]);
    }
    let lines = ran
        .stdout
        .lines()
        .map(|it| serde_json::from_str(it).map_err(|error| format!("{line}: {error}: {it}")));
    Ok(lines.collect::<Result<_, _>>()?)
}

#[test]
fn json_parses() -> Outcome {
    for line in [
        "check --json small unproved broken",
        "matrix --json small",
        "matrix --format json small",
        "rehearse --json small",
        "rehearse --json --faults small",
        "rehearse --json --random --runs 3 small",
        "rehearse --json --exhaustive small",
        "rehearse --json failing --scenario failing/scenarios/not-so.yaml",
        "test --json small failing",
        "workflows --json",
        "readers --json",
        "schema",
    ] {
        assert!(!json(line)?.is_empty(), "{line}");
    }
    Ok(())
}

#[test]
fn the_report_says_where_problems_are() -> Outcome {
    let report = json("check --json small unproved broken")?.remove(0);
    let verdicts: Vec<_> = (0..3).map(|it| report["reports"][it]["verdict"].clone()).collect();
    assert_eq!(verdicts, ["proved", "not-proved", "does-not-load"]);
    let problem = &report["reports"][2]["problems"][1];
    assert_eq!(problem["code"], "unknown-key");
    assert_eq!(
        (&problem["file"], &problem["line"], &problem["column"]),
        (&"workflow.yaml".into(), &5.into(), &10.into())
    );
    assert_eq!(problem["help"], "did you mean `end`?");
    let text = fs::read_to_string(data().join("broken/workflow.yaml"))?;
    let bytes =
        |at: usize| problem["bytes"][at].as_u64().and_then(|it| usize::try_from(it).ok()).unwrap_or_default();
    assert_eq!(&text[bytes(0)..bytes(1)], "ned");
    let shown = &report["reports"][1]["problems"][0]["path"];
    assert!(shown.as_str().is_some_and(|it| it.contains("- tests: fail")), "{shown}");
    Ok(())
}

/// The runs that `check --paths` writes down are runs that `rehearse` plays.
#[test]
fn written_paths_can_be_played() -> Outcome {
    let folder = scratch("paths")?;
    let paths = folder.display().to_string();
    assert_eq!(run_in(&data(), &["check", "unproved", "--paths", &paths])?.code, Some(1));
    let written = fs::read_dir(&folder)?.collect::<Result<Vec<_>, _>>()?;
    assert_eq!(written.len(), 1, "{written:?}");
    for file in written {
        let file = file.path().display().to_string();
        let ran = run_in(&data(), &["rehearse", "unproved", "--scenario", &file])?;
        assert_eq!(ran.code, Some(0), "{}", ran.stdout);
    }
    Ok(())
}

#[test]
fn a_drawing_can_be_written_to_a_file() -> Outcome {
    let file = scratch("drawing")?.join("small.svg").display().to_string();
    let ran = run_in(&data(), &["graph", "small", "--format", "svg", "--output", &file])?;
    assert!(ran.code == Some(0) && ran.stdout.is_empty(), "{}", ran.stderr);
    let svg = fs::read_to_string(&file)?;
    assert!(svg.starts_with("<svg") && svg.trim_end().ends_with("</svg>"));
    assert_eq!(run("graph small --format svg")?.stdout, svg);
    // The name of the file says what it is.
    let named = scratch("drawing-by-name")?.join("small.svg").display().to_string();
    let ran = run_in(&data(), &["graph", "small", "--output", &named])?;
    assert!(ran.code == Some(0) && fs::read_to_string(&named)? == svg, "{}", ran.stderr);
    let ran = run_in(&data(), &["graph", "small", "--format", "dot", "--output", &named])?;
    assert!(ran.code == Some(2) && ran.stderr.contains("write `--format svg`"), "{}", ran.stderr);
    Ok(())
}

#[test]
fn a_folder_without_scenarios_is_said_to_have_none() -> Outcome {
    let folder = scratch("no-scenarios")?;
    fs::create_dir_all(folder.join("bare"))?;
    let text = "workflow: bare\nsubject: thing\nstates: {done: {end: success}}\n";
    fs::write(folder.join("bare/workflow.yaml"), text)?;
    let ran = run_in(&folder, &["test", "bare"])?;
    assert!(ran.code == Some(0) && ran.stdout.contains("there are no scenarios"), "{}", ran.stdout);
    // An empty one is no scenario either, and does not load.
    fs::create_dir_all(folder.join("bare/scenarios"))?;
    fs::write(folder.join("bare/scenarios/a.yaml"), "")?;
    let ran = run_in(&folder, &["test", "bare"])?;
    assert!(ran.code == Some(2) && ran.stderr.contains("`scenario: "), "{}", ran.stderr);
    Ok(())
}

/// Workflows of the repository are found from anywhere inside, and are what is meant when nothing is named.
#[test]
fn the_repositorys_own_workflows_come_first() -> Outcome {
    let folder = scratch("own")?;
    let (own, inside) = (folder.join(".loopwright/workflows/mine"), folder.join("src/deep"));
    fs::create_dir_all(&own)?;
    fs::create_dir_all(&inside)?;
    fs::write(own.join("workflow.yaml"), "workflow: mine\nsubject: s\nstates: {d: {end: success}}\n")?;
    let listed = run_in(&inside, &["workflows"])?.stdout;
    assert!(listed.lines().next().is_some_and(|it| it.starts_with("mine ")), "{listed}");
    let ran = run_in(&inside, &["check"])?;
    assert!(ran.stdout.starts_with("mine: proved") && ran.stdout.contains("vibe: proved"), "{}", ran.stdout);
    let ran = run_in(&inside, &["check", "mien"])?;
    assert!(ran.stderr.contains("did you mean `mine`?"), "{}", ran.stderr);
    Ok(())
}

/// One that is wrong does not keep the others from being looked at.
#[test]
fn what_is_wrong_with_one_is_said_and_the_others_go_on() -> Outcome {
    let ran = run("check nothing small")?;
    assert!(ran.code == Some(2) && ran.stdout.contains("small: proved"), "{}{}", ran.stdout, ran.stderr);
    let ran = run("test broken misspelt small")?;
    assert!(ran.code == Some(2) && ran.stdout.contains("small: 2 passed"), "{}{}", ran.stdout, ran.stderr);
    assert!(ran.stdout.contains("misspelt: 0 passed, 0 failed, 2 did not load"), "{}", ran.stdout);
    assert!(
        ran.stdout.starts_with("misspelt: "),
        "what broken scenarios do not take is not said: {}",
        ran.stdout
    );
    Ok(())
}

/// A file alone is a workflow too, and goes by its path.
#[test]
fn a_file_is_named_by_its_path() -> Outcome {
    let ran = run("check unproved/workflow.yaml broken/workflow.yaml")?;
    assert!(ran.stdout.contains("unproved: not proved"), "{}", ran.stdout);
    let folder = scratch("single")?;
    fs::copy(data().join("broken/workflow.yaml"), folder.join("other.yaml"))?;
    let ran = run_in(&folder, &["check", "other.yaml"])?;
    assert!(ran.stderr.contains("[other.yaml:5:10]"), "{}", ran.stderr);
    assert!(ran.stderr.contains("other.yaml: does not load (2 problems)"), "{}", ran.stderr);
    Ok(())
}

/// A repository's own workflow goes by its name, from anywhere inside.
#[test]
fn a_workflow_of_the_repository_goes_by_its_name() -> Outcome {
    let folder = scratch("repository")?;
    let (own, deep) = (folder.join(".loopwright/workflows/mine"), folder.join("src/deep"));
    fs::create_dir_all(&own)?;
    fs::create_dir_all(&deep)?;
    fs::write(own.join("workflow.yaml"), "workflow: mine\nsubject: s\nstates: {done: {end: success}}\n")?;
    for here in [&folder, &deep] {
        let ran = run_in(here, &["check", "mine"])?;
        assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    }
    Ok(())
}

#[test]
fn the_lists_list_what_there_is() -> Outcome {
    let workflows = json("workflows --json")?.remove(0);
    let names: Vec<_> =
        workflows.as_array().into_iter().flatten().filter_map(|it| it["name"].as_str()).collect();
    let mut folders = Vec::new();
    for entry in fs::read_dir(data().join("../../../../workflows"))? {
        let entry = entry?;
        if entry.path().is_dir() {
            folders.push(entry.file_name().to_string_lossy().into_owned());
        }
    }
    folders.sort();
    assert_eq!(names, folders);
    let listed = run("workflows")?.stdout;
    for (line, name) in listed.lines().zip(&names) {
        assert!(line.strip_prefix(name).is_some_and(|it| it.trim().len() > 10), "{line}");
    }
    let readers = json("readers --json")?.remove(0);
    let printed = run("readers")?.stdout;
    for reader in readers.as_array().into_iter().flatten() {
        let name = reader["name"].as_str().unwrap_or_default();
        assert!(printed.lines().any(|it| it.split_whitespace().next() == Some(name)), "{name}");
    }
    let schema = fs::read_to_string(data().join("../../../../schemas/workflow.schema.json"))?;
    assert_eq!(run("schema")?.stdout, schema);
    Ok(())
}

/// What follows from something else comes after it, wherever it stands in the file.
#[test]
fn causes_come_before_what_follows_from_them() -> Outcome {
    let folder = scratch("causes")?;
    let text = "workflow: causes
subject: s
documents:
  notes: {file: NOTES.md}
  code: {files: [\"**\"]}
roles: {coder: {agent: claude, prompt: \"Do it.\", may-write: [code]}}
defaults: {failures: failed}
states:
  work: {agent: coder, then: tests}
  nowhere: {agent: coder, then: tests}
  tests: {check: project.test, judges: code, on: {pass: tidy, fail: failed}}
  tidy: {agent: coder, then: done}
  done: {needs: [tests], end: success}
  failed: {end: failure}
";
    fs::write(folder.join("causes.yaml"), text)?;
    let ran = run_in(&folder, &["check", "--json", "causes.yaml"])?;
    let report: Value = serde_json::from_str(&ran.stdout)?;
    let problems = report["reports"][0]["problems"].as_array().cloned().unwrap_or_default();
    let said: Vec<(&str, u64)> = problems
        .iter()
        .map(|it| (it["code"].as_str().unwrap_or_default(), it["line"].as_u64().unwrap_or_default()))
        .collect();
    let at = |code: &str| said.iter().position(|it| it.0 == code).ok_or(format!("no `{code}` in {said:?}"));
    let cause = at("unsettled")?;
    for code in ["unused", "unreachable"] {
        let follows = at(code)?;
        assert!(cause < follows, "{said:?}");
        assert!(said[cause].1 > said[follows].1, "the file alone would order them so: {said:?}");
    }
    Ok(())
}

/// A cell says all that taking it does.
#[test]
fn the_matrix_says_what_an_arm_does() -> Outcome {
    let folder = scratch("matrix")?;
    let text = "workflow: matrix
subject: s
vars: {mode: {in: [slow, fast], start: slow}}
budgets: {tries: 2}
documents: {code: {files: [\"**\"]}}
lists: [left-open]
roles: {coder: {agent: claude, prompt: \"Do it.\", may-write: [code]}}
questions: {go: {asks: \"Go on?\", answers: [again, accept]}}
defaults: {failures: ask}
states:
  work: {agent: coder, then: tests}
  tests: {check: project.test, judges: code, on: {pass: done, fail: {to: work, spend: tries, else: ask}}}
  ask:
    ask: go
    on:
      again: {to: work, refill: tries, set: {mode: fast}}
      accept: {to: done, forced: tests, record: left-open}
      deferred: failed
  done: {needs: [tests], end: success}
  failed: {end: failure}
";
    fs::write(folder.join("matrix.yaml"), text)?;
    for format in ["terminal", "markdown"] {
        let ran = run_in(&folder, &["matrix", "matrix.yaml", "--format", format])?;
        for said in ["work -tries / ask", "work +tries mode:=fast", "done !tests >left-open", "appen"] {
            assert!(ran.stdout.contains(said), "{format}: `{said}` is not in\n{}", ran.stdout);
        }
    }
    let ran = run_in(&folder, &["graph", "matrix.yaml", "--format", "dot"])?;
    for said in ["fail, spend tries", "fail, tries used up"] {
        assert!(ran.stdout.contains(said), "`{said}` is not in\n{}", ran.stdout);
    }
    Ok(())
}

/// Formats of one kind of project are of no use to anybody else.
#[test]
fn readers_are_general_unless_asked_for_all() -> Outcome {
    let names = |line: &str| -> Result<Vec<String>, Box<dyn std::error::Error>> {
        let all = json(line)?.remove(0);
        let all = all.as_array().cloned().unwrap_or_default();
        Ok(all.iter().filter_map(|it| it["name"].as_str().map(str::to_owned)).collect())
    };
    let (general, all) = (names("readers --json")?, names("readers --json --all")?);
    let expected = ["text", "lines", "json", "json-lines", "yaml", "toml", "markdown", "checklist"];
    assert_eq!(general, expected);
    assert!(all.len() > general.len() && all.starts_with(&general), "{all:?}");
    let text = run("readers")?.stdout;
    let left_out =
        format!("and {} formats of the built-in workflows (`--all` lists them)\n", all.len() - general.len());
    assert!(text.ends_with(&left_out), "{text}");
    assert!(!run("readers --all")?.stdout.contains("`--all`"));
    Ok(())
}
