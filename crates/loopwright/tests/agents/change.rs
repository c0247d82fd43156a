//! `change` from a wish to the archive: three agents, each in the role that the workflow gives it.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use loopwright_testkit::{Answer, Api, Request, Scripts, Step};
use serde_json::json;

use crate::bench::Bench;
use crate::real::Real;

const OF: &str = "agentd/changes/greet";

const PROPOSAL: &str = "---
id: greet
type: proposal
version: 1
summary: Greet people and say goodbye
affected_specs:
  - {id: farewell, path: specs/farewell.md, depends: [greeting]}
  - {id: greeting, path: specs/greeting.md, depends: []}
---
<proposal>
# Change: greet

## Summary
It greets people and says goodbye.

## Why
Nobody is greeted today.

## What Changes
- a greeting
- a farewell

## Impact
- **Scope**: minor
</proposal>
";

const TASKS: &str = "---
id: greet
change_id: greet
type: tasks
version: 1
---
<tasks>
# Implementation Tasks

## 1. Data Layer

### Task 1.1: Write the greeting
```yaml
id: \"1.1\"
action: CREATE
file: src/greeting.txt
spec_ref: greeting:R1
depends_on: []
```
It says hello.

## 2. Logic Layer

### Task 2.10: Write the farewell
```yaml
id: \"2.10\"
action: CREATE
file: src/farewell.txt
spec_ref: farewell:R1
depends_on: [\"1.1\"]
```
It says goodbye.
</tasks>
";

const CHANGELOG: &str = "# Changelog

## 2026-09-21: Greetings (greet)
People are greeted.
- Related specs: greeting.md, farewell.md
";

fn spec(id: &str) -> String {
    format!(
        "---\nid: {id}\ntype: spec\ntitle: {id}\nversion: 1\n---\n<spec>\n# {id}\n\n## Overview\nAbout a {id}.\n\n## Requirements\n\n### R1 - It is there\nThere must be a {id}.\n\n## Acceptance Criteria\n\n### Scenario: Somebody comes\n- **WHEN** somebody comes\n- **THEN** there is a {id}\n</spec>\n"
    )
}

/// What everybody does where. A script has the name of the state, with the item if it has some.
fn scripts() -> Scripts {
    let submit = || Step::mcp("submit", json!({"verdict": "done", "summary": "as told"}));
    let done = || Step::text("Done.");
    let writes = |files: &[(&str, &str)]| {
        let written = files.iter().map(|(path, text)| Step::write(path, text));
        written.chain([submit(), done()]).collect::<Vec<_>>()
    };
    let approves = json!({"verdict": "APPROVED", "summary": "nothing is missing", "findings": []});
    let judges =
        || [Step::mcp("create_review", approves.clone()), Step::text("I would rather say REJECTED.")];
    let mut whole = approves.clone();
    whole["test_results"] = json!({"status": "PASS", "total": 2, "passed": 2, "failed": 0, "skipped": 0});
    whole["security_status"] = json!("CLEAN");
    let of = |file: &str| format!("{OF}/{file}");
    let of_spec = |id: &str| writes(&[(&of(&format!("specs/{id}.md")), &spec(id))]);
    let builds = |path: &str, text: &str, note: &str| {
        let note = Step::shell(&format!("echo '- {note}' >> {}", of("IMPLEMENTATION.md")));
        [Step::write(path, text), note, submit(), done()]
    };
    Scripts::new()
        .with("propose", writes(&[(&of("proposal.md"), PROPOSAL)]))
        .with("specs-greeting", of_spec("greeting"))
        .with("specs-farewell", of_spec("farewell"))
        .with("tasks", writes(&[(&of("tasks.md"), TASKS)]))
        .with("challenge", judges())
        .with("implement-data", builds("src/greeting.txt", "hello\n", "1.1 is built"))
        .with("implement-logic", builds("src/farewell.txt", "goodbye\n", "2.10 is built"))
        // Without what a review of code has to have it is refused, and handed in again.
        .with("review", [judges()[0].clone(), Step::mcp("create_review", whole), done()])
        .with(
            "merge-specs",
            writes(&[
                ("agentd/specs/greeting.md", &spec("greeting")),
                ("agentd/specs/farewell.md", &spec("farewell")),
            ]),
        )
        .with("changelog", writes(&[("agentd/specs/CHANGELOG.md", CHANGELOG)]))
        .with("archive-review", judges())
}

/// The workflow as it is built in, where each prompt also says which script the model plays.
fn workflow(bench: &Bench) {
    const PROMPTS: &[(&str, &str)] = &[
        ("propose", "propose"),
        ("spec", "specs-{{ spec.id }}"),
        ("tasks", "tasks"),
        ("challenge", "challenge"),
        ("implement", "implement-{{ layer.id }}"),
        ("review", "review"),
        ("merge", "merge-specs"),
        ("changelog", "changelog"),
        ("archive-review", "archive-review"),
    ];
    let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../workflows/change");
    let to = bench.repo().join(".loopwright/workflows/change");
    for folder in ["", "prompts", "schemas"] {
        fs::create_dir_all(to.join(folder)).expect("a folder");
        for entry in fs::read_dir(from.join(folder)).expect("a folder") {
            let path = entry.expect("an entry").path();
            if path.is_file() {
                fs::copy(&path, to.join(folder).join(path.file_name().expect("a name"))).expect("a copy");
            }
        }
    }
    for (prompt, script) in PROMPTS {
        let path = format!(".loopwright/workflows/change/prompts/{prompt}.md");
        let text = bench.read(&path).expect("a prompt");
        bench.write(&path, &format!("{text}\n[[script:{script}]]\n"));
    }
}

/// Which interface an answer of a script was asked through, with the calls that were made.
fn played(requests: &[Request], script: &str) -> Vec<(Option<Api>, Vec<String>)> {
    let of_it = requests.iter().filter(|it| it.script.as_deref() == Some(script));
    let calls = of_it.filter_map(|it| match &it.answer {
        Answer::Calls(calls) => Some((it.api, calls.iter().map(|it| it.tool.clone()).collect())),
        _ => None,
    });
    calls.collect()
}

pub(crate) fn goes_from_a_wish_to_the_archive(agents: &[&Real]) {
    let config = "[claude]\ndefault = \"good\"\n[[claude.models]]\nid = \"good\"\nmodel = \"claude-sonnet-4-5\"\n[codex]\nreasoning = \"high\"\n";
    let files = [
        ("agentd/config.toml", config),
        ("agentd/specs/greeting.md", "# greeting\n\nNobody is greeted.\n"),
        ("agentd/specs/CHANGELOG.md", "# Changelog\n"),
        ("test.sh", "test -s src/greeting.txt && test -s src/farewell.txt\n"),
    ];
    let named: Vec<(&str, &Real)> = agents.iter().map(|it| (it.name, *it)).collect();
    let bench = Bench::of_several(&named, scripts(), |bench| {
        for (path, text) in files {
            bench.write(path, text);
        }
        workflow(bench);
        let config = bench.read(".loopwright/config.yaml").expect("a file");
        bench.write(".loopwright/config.yaml", &format!("{config}project: {{test: sh test.sh}}\n"));
    });
    let say = |words: &[&str], code: i32, expected: &[&str]| {
        let ran: Output = bench.loopwright(&[&["change"], words].concat());
        let said =
            format!("{}{}", String::from_utf8_lossy(&ran.stdout), String::from_utf8_lossy(&ran.stderr));
        assert_eq!(ran.status.code(), Some(code), "{words:?}: {said}\n{:#?}", bench.outcomes());
        for word in expected {
            assert!(said.contains(word), "{words:?}: {word}: {said}");
        }
    };
    let read = |path: &str| bench.read(path).unwrap_or_else(|| panic!("{path} is not there"));

    // Nobody is there to ask, so the question is put off.
    let expected = ["challenge.1 -> APPROVED", "Planning is complete; `impl` implements it."];
    say(&["plan", "greet", "Greet people."], 3, &expected);
    assert!(read(&format!("{OF}/STATE.yaml")).contains("\nphase: challenged\n"));
    let proposal = read(&format!("{OF}/proposal.md"));
    assert!(proposal.starts_with(PROPOSAL.trim_end()), "what its author wrote stays: {proposal}");
    assert_eq!(proposal.matches("<review ").count(), 1, "{proposal}");
    let block = proposal.split_once("<review iteration=\"1\" reviewer=\"challenger\"").map(|it| it.1);
    assert!(block.is_some_and(|it| it.contains("status=\"approved\"")), "{proposal}");

    say(&["impl", "greet"], 3, &["review.1 -> APPROVED", "Implemented and reviewed"]);
    assert!(read(&format!("{OF}/STATE.yaml")).contains("\nphase: complete\n"));
    let review = read(&format!("{OF}/REVIEW.md"));
    for part in [
        "# Code Review (Iteration 1)\n",
        "- Total: 2, Passed: 2, Failed: 0, Skipped: 0",
        "**Status**: CLEAN",
        "## Verdict\n\nAPPROVED\n",
    ] {
        assert!(review.contains(part), "{part}: {review}");
    }
    assert_eq!(read("src/greeting.txt") + &read("src/farewell.txt"), "hello\ngoodbye\n");

    say(&["archive", "greet"], 0, &["archive-review.1 -> APPROVED", "greet is archived."]);
    assert!(!bench.repo().join(OF).exists(), "it moved");
    assert!(!bench.repo().join(".agentd-backup/greet").exists(), "nothing is left of the copy");
    let archive: Vec<_> = fs::read_dir(bench.repo().join("agentd/archive")).expect("an archive").collect();
    let [Ok(archived)] = archive.as_slice() else { panic!("one change is archived: {archive:?}") };
    let name = archived.file_name().into_string().expect("a name");
    let date = name.strip_suffix("-greet").expect("its id");
    assert!(date.len() == 8 && date.bytes().all(|it| it.is_ascii_digit()), "{date}");
    let kept = |file: &str| read(&format!("agentd/archive/{name}/{file}"));
    assert!(kept("STATE.yaml").contains("\nphase: archived\n"), "{}", kept("STATE.yaml"));
    assert_eq!(kept("proposal.md"), proposal);
    assert!(kept("ARCHIVE_REVIEW.md").contains("## Verdict\n\nAPPROVED\n"));
    assert_eq!(kept("IMPLEMENTATION.md"), "- 1.1 is built\n- 2.10 is built\n");
    assert_eq!(read("agentd/specs/greeting.md"), spec("greeting"));
    assert_eq!(read("agentd/specs/farewell.md"), spec("farewell"));
    assert_eq!(read("agentd/specs/CHANGELOG.md"), CHANGELOG);
    assert_eq!(changed(&bench), ["src/lib.txt"; 0], "nobody touched anything else");

    let requests = bench.server.requests();
    // Each in its role, and each review through the tool for it: once, unless it was refused.
    let proposes = ["propose", "specs-greeting", "specs-farewell", "tasks", "merge-specs", "changelog"];
    let everybody = [
        (Api::Gemini, &proposes[..], "submit", 1),
        (Api::Anthropic, &["implement-data", "implement-logic"], "submit", 1),
        (Api::Responses, &["challenge", "archive-review"], "create_review", 1),
        (Api::Responses, &["review"], "create_review", 2),
    ];
    for (api, scripts, tool, times) in everybody {
        for script in scripts {
            let played = played(&requests, script);
            assert!(played.iter().all(|it| it.0 == Some(api)), "{script}: {played:?}");
            let by_tool = played.iter().flat_map(|it| &it.1).filter(|it| it.ends_with(tool)).count();
            assert_eq!(by_tool, times, "{script}: {played:?}");
        }
    }
    let first = |script: &str| {
        let found = requests.iter().find(|it| it.script.as_deref() == Some(script));
        found.unwrap_or_else(|| panic!("nothing was asked for {script}")).body.clone()
    };
    assert!(first("propose").to_string().contains("> Greet people."), "nobody told what is wanted");
    assert_eq!(first("implement-data")["model"], "claude-sonnet-4-5", "the model is that of config.toml");
    assert_eq!(first("challenge")["reasoning"]["effort"], "high", "and so is how hard one thinks");
    assert_eq!(bench.left_running(), Vec::<String>::new());
}

/// What is not as it was committed, apart from what a change is about.
fn changed(bench: &Bench) -> Vec<String> {
    let git = Command::new("git").args(["status", "--porcelain", "-uall"]).current_dir(bench.repo()).output();
    let said = String::from_utf8_lossy(&git.expect("git").stdout).into_owned();
    let paths = said.lines().filter_map(|it| it.get(3..)).map(str::to_owned);
    let about = ["agentd/specs/", "agentd/archive/", "src/greeting.txt", "src/farewell.txt"];
    paths.filter(|path| !about.iter().any(|it| path.starts_with(it))).collect()
}
