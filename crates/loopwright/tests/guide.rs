//! What the papers show is what there is: every example of the guide is checked, every block that names a file equals
//! it, every command in the guide and in the README prints what is printed there, the reference lists every problem
//! code, and every test that the paper of a workflow names is there.
//!
//! `UPDATE_GUIDE=1 cargo test -p loopwright --test guide` writes the present output into the papers. Read the
//! difference before you keep it.

use std::collections::BTreeSet;
use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs, io};

type Outcome = Result<(), Box<dyn Error>>;

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn examples() -> PathBuf {
    repository().join("docs/guide/examples")
}

fn sorted(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut paths: Vec<PathBuf> =
        fs::read_dir(folder)?.map(|it| it.map(|it| it.path())).collect::<io::Result<_>>()?;
    paths.sort();
    Ok(paths)
}

fn name(path: &Path) -> String {
    path.file_name().map(|it| it.to_string_lossy().into_owned()).unwrap_or_default()
}

/// The papers that show commands, each with the folder its commands are run in.
fn papers() -> io::Result<Vec<(PathBuf, PathBuf)>> {
    let guide = sorted(&repository().join("docs/guide"))?;
    let guide =
        guide.into_iter().filter(|it| it.extension().is_some_and(|it| it == "md")).map(|it| (it, examples()));
    let root = repository();
    Ok(guide
        .chain([(root.join("README.md"), root.clone()), (root.join("docs/reference/language.md"), root)])
        .collect())
}

struct Ran {
    code: Option<i32>,
    stdout: String,
    stderr: String,
}

fn loopwright(folder: &Path, arguments: &[&str]) -> io::Result<Ran> {
    let output =
        Command::new(env!("CARGO_BIN_EXE_loopwright")).args(arguments).current_dir(folder).output()?;
    Ok(Ran {
        code: output.status.code(),
        stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
        stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
    })
}

/// A fenced block of a paper: its language, where its lines begin and end, and the lines.
struct Block<'p> {
    language: &'p str,
    lines: Vec<&'p str>,
    first: usize,
}

fn blocks(text: &str) -> Vec<Block<'_>> {
    let mut found = Vec::new();
    let mut open: Option<Block<'_>> = None;
    for (number, line) in text.lines().enumerate() {
        match (&mut open, line.strip_prefix("```")) {
            (None, Some(language)) => open = Some(Block { language, lines: Vec::new(), first: number + 1 }),
            (Some(_), Some(_)) => found.extend(open.take()),
            (Some(block), None) => block.lines.push(line),
            (None, None) => {}
        }
    }
    found
}

/// `# examples/mend/workflow.yaml`, or with `, part` behind it: the file a block shows, and whether all of it.
fn mark(line: &str) -> Option<(&str, bool)> {
    let line =
        line.strip_prefix("{# ").and_then(|it| it.strip_suffix(" #}")).or_else(|| line.strip_prefix("# "))?;
    line.strip_prefix("examples/").map(|it| it.strip_suffix(", part").map_or((it, true), |it| (it, false)))
}

#[test]
fn every_example_is_proved_or_broken_as_it_says() -> Outcome {
    for folder in sorted(&examples())? {
        let ran = loopwright(&examples(), &["check", "--json", &name(&folder)])?;
        let report: serde_json::Value = serde_json::from_str(&ran.stdout)?;
        let problems = report["reports"][0]["problems"].as_array().cloned().unwrap_or_default();
        let codes: BTreeSet<String> =
            problems.iter().filter_map(|it| it["code"].as_str()).map(str::to_owned).collect();
        let expected: BTreeSet<String> = if name(&folder).starts_with("broken-") {
            fs::read_to_string(folder.join("expect.txt"))?.lines().map(str::to_owned).collect()
        } else {
            BTreeSet::new()
        };
        assert_eq!(codes, expected, "problems of {}:\n{}", name(&folder), ran.stdout);
        assert_eq!(ran.code == Some(0), expected.is_empty(), "exit code of {}", name(&folder));
    }
    Ok(())
}

#[test]
fn every_scenario_of_the_examples_passes() -> Outcome {
    let whole = |it: &&PathBuf| it.join("scenarios").is_dir() && !name(it).starts_with("broken-");
    for folder in sorted(&examples())?.iter().filter(whole) {
        let ran = loopwright(&examples(), &["test", "--complete", &name(folder)])?;
        assert_eq!(ran.code, Some(0), "{}{}", ran.stdout, ran.stderr);
    }
    Ok(())
}

/// A path that `check` prints is one the machine takes.
#[test]
fn every_counter_example_plays_as_it_says() -> Outcome {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("guide-paths");
    if folder.exists() {
        fs::remove_dir_all(&folder)?;
    }
    for example in sorted(&examples())?.iter().filter(|it| name(it).starts_with("broken-")) {
        let paths = folder.join(name(example));
        loopwright(&examples(), &["check", "--paths", &paths.to_string_lossy(), &name(example)])?;
        for path in sorted(&paths)? {
            let ran = loopwright(
                &examples(),
                &["rehearse", &name(example), "--scenario", &path.to_string_lossy()],
            )?;
            assert_eq!(ran.code, Some(0), "{} of {}:\n{}", name(&path), name(example), ran.stdout);
        }
    }
    Ok(())
}

#[test]
fn every_block_that_names_a_file_equals_it() -> Outcome {
    let mut marked = 0;
    for (paper, _) in papers()? {
        let text = fs::read_to_string(&paper)?;
        for block in blocks(&text) {
            let at = format!("{}:{}", name(&paper), block.first + 1);
            let Some((file, whole)) = block.lines.first().and_then(|it| mark(it)) else {
                let in_guide = paper.starts_with(repository().join("docs/guide"));
                assert!(block.language != "yaml" || !in_guide, "{at}: a yaml block that names no file");
                continue;
            };
            marked += 1;
            let content =
                fs::read_to_string(examples().join(file)).map_err(|it| format!("{at}: {file}: {it}"))?;
            let lines: Vec<&str> = content.lines().collect();
            let shown = &block.lines[1..];
            let same =
                if whole { shown == lines } else { lines.windows(shown.len().max(1)).any(|it| it == shown) };
            assert!(same, "{at}: the block is not what is in {file}:\n{}", shown.join("\n"));
        }
    }
    assert!(marked > 20, "only {marked} blocks name a file");
    Ok(())
}

/// What a command prints, problems first, as a terminal shows it.
fn printed(folder: &Path, command: &str) -> io::Result<Vec<String>> {
    let arguments: Vec<&str> = command.split_whitespace().skip(1).collect();
    let ran = loopwright(folder, &arguments)?;
    Ok(format!("{}{}", ran.stderr, ran.stdout).lines().map(|it| it.trim_end().to_owned()).collect())
}

/// Whether lines are as shown; a line `...` stands for any number of lines.
fn fits(shown: &[&str], printed: &[String]) -> bool {
    match shown.split_first() {
        None => printed.is_empty(),
        Some((&"...", rest)) => (0..=printed.len()).any(|skipped| fits(rest, &printed[skipped..])),
        Some((first, rest)) => {
            printed.first().is_some_and(|it| it == first.trim_end()) && fits(rest, &printed[1..])
        }
    }
}

#[test]
fn every_command_prints_what_is_shown() -> Outcome {
    let update = env::var_os("UPDATE_GUIDE").is_some();
    let (mut commands, mut wrong) = (0, Vec::new());
    for (paper, folder) in papers()? {
        let text = fs::read_to_string(&paper)?;
        let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
        // From the last block to the first, so that replacing lines moves nothing that is still to come.
        for block in blocks(&text).iter().filter(|it| it.language == "console").rev() {
            let starts: Vec<usize> =
                (0..block.lines.len()).filter(|it| block.lines[*it].starts_with("$ loopwright ")).collect();
            for (index, start) in starts.iter().enumerate().rev() {
                let end = starts.get(index + 1).copied().unwrap_or(block.lines.len());
                let (command, shown) = (&block.lines[*start][2..], &block.lines[start + 1..end]);
                let printed = printed(&folder, command)?;
                commands += 1;
                if fits(shown, &printed) {
                    continue;
                }
                if update && !shown.contains(&"...") {
                    lines.splice(block.first + start + 1..block.first + end, printed);
                } else {
                    let at = format!("{}:{}", name(&paper), block.first + start + 1);
                    wrong.push(format!("{at}: `{command}` prints\n{}", printed.join("\n")));
                }
            }
        }
        if update {
            fs::write(&paper, lines.join("\n") + "\n")?;
        }
    }
    assert!(
        wrong.is_empty(),
        "{}\n\nUPDATE_GUIDE=1 writes it down, except where `...` stands.",
        wrong.join("\n\n")
    );
    assert!(commands > 20, "only {commands} commands were run");
    Ok(())
}

/// The codes problems are reported with: the first text after a reporting call.
fn codes(source: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for call in ["Problem::load(", "Problem::proof(", ".wrong(", ".report("] {
        for (at, _) in source.match_indices(call) {
            let argument = source[at + call.len()..].trim_start();
            let word = argument.strip_prefix('"').and_then(|it| it.split('"').next()).unwrap_or_default();
            if !word.is_empty() && word.chars().all(|it| it.is_ascii_lowercase() || it == '-') {
                found.insert(word.to_owned());
            }
        }
    }
    found
}

#[test]
fn the_reference_lists_every_problem_code() -> Outcome {
    let mut known = BTreeSet::new();
    let source = repository().join("crates/loopwright-core/src");
    for part in ["language", "check", "rehearse"] {
        for file in sorted(&source.join(part))?.iter().filter(|it| it.is_file()) {
            known.extend(codes(&fs::read_to_string(file)?));
        }
    }
    let reference = fs::read_to_string(repository().join("docs/reference/language.md"))?;
    let section = reference.split("## 12.").nth(1).unwrap_or_default();
    let rows = section.lines().filter_map(|it| it.strip_prefix("| `"));
    let listed: BTreeSet<String> = rows.filter_map(|it| it.split('`').next()).map(str::to_owned).collect();
    assert_eq!(listed, known, "section 12 of the reference, and the codes in the source");
    Ok(())
}

/// The papers of workflows, each with the name of its workflow.
fn papers_of_workflows() -> io::Result<Vec<(String, String)>> {
    let papers = sorted(&repository().join("docs/workflows"))?;
    let papers = papers.iter().filter(|it| it.extension().is_some_and(|it| it == "md"));
    papers.map(|it| Ok((name(it).trim_end_matches(".md").to_owned(), fs::read_to_string(it)?))).collect()
}

/// What tables name that should be there: files of the repository, or one thing in them (`FILE::NAME`).
fn named_in_tables(text: &str) -> Vec<&str> {
    let rows = text.lines().filter(|it| it.starts_with('|'));
    let marked = rows.flat_map(|it| it.split('`').skip(1).step_by(2));
    marked.filter(|it| it.starts_with("crates/") || it.starts_with("workflows/")).collect()
}

/// Whether there is such a file, and in it the test or the case of this name.
fn is_there(named: &str) -> bool {
    let (file, inside) = named.split_once("::").unwrap_or((named, ""));
    let Ok(text) = fs::read_to_string(repository().join(file)) else { return false };
    match file.rsplit('.').next() {
        _ if inside.is_empty() => true,
        Some("rs") => text.contains(&format!("fn {inside}(")),
        Some("jsonl") => text.contains(&format!("{{\"id\": \"{inside}\",")),
        _ => false,
    }
}

#[test]
fn what_a_paper_of_a_workflow_names_is_there() -> Outcome {
    let papers = papers_of_workflows()?;
    for (workflow, text) in &papers {
        let named = named_in_tables(text);
        let gone: Vec<&&str> = named.iter().filter(|it| !is_there(it)).collect();
        assert!(gone.is_empty(), "docs/workflows/{workflow}.md names what is not there: {gone:#?}");
        assert!(named.len() > 20, "docs/workflows/{workflow}.md names only {} tests", named.len());
    }
    assert!(!papers.is_empty(), "there is no paper of a workflow");
    Ok(())
}

#[test]
fn a_test_that_is_not_there_is_missed() {
    let row = "words `crates/not/in/a/table.rs::x`\n| V-01 | `not a file` | `crates/loopwright/tests/guide.rs::gone`, `workflows/x.yaml` |\n";
    let named = named_in_tables(row);
    assert_eq!(named, ["crates/loopwright/tests/guide.rs::gone", "workflows/x.yaml"]);
    assert!(named.into_iter().all(|it| !is_there(it)));
    assert!(is_there("crates/loopwright/tests/guide.rs::is_there"));
    let corpus = "crates/loopwright-formats/tests/corpus/made-up.jsonl";
    assert!(is_there(&format!("{corpus}::flags-044")) && !is_there(&format!("{corpus}::flags-04")));
    assert!(!is_there("workflows/vibe/workflow.yaml::turn"), "what is named in such a file nobody looks for");
}

#[test]
fn every_rule_of_a_source_has_a_row_and_a_test() -> Outcome {
    for (workflow, letter, last) in
        [("vibe", 'V', 45), ("change", 'C', 47), ("team", 'T', 83), ("issue", 'I', 90), ("feature", 'F', 46)]
    {
        let text = fs::read_to_string(repository().join(format!("docs/workflows/{workflow}.md")))?;
        for rule in (1..=last).map(|it| format!("{letter}-{it:02}")) {
            let rows: Vec<&str> = text.lines().filter(|it| it.starts_with(&format!("| {rule} |"))).collect();
            assert_eq!(rows.len(), 1, "rows for {rule}");
            let shown_by = rows.concat();
            let shown_by = shown_by.trim_end_matches('|').rsplit('|').next().unwrap_or_default();
            assert!(!named_in_tables(&format!("|{shown_by}")).is_empty(), "{rule} names no test");
        }
    }
    Ok(())
}

#[test]
fn every_scenario_of_a_workflow_with_a_paper_passes() -> Outcome {
    for (workflow, _) in papers_of_workflows()? {
        let ran = loopwright(&repository(), &["test", "--complete", &workflow])?;
        assert_eq!(ran.code, Some(0), "{}{}", ran.stdout, ran.stderr);
    }
    Ok(())
}

#[test]
fn the_review_of_vibe_has_three_passes() -> Outcome {
    let prompt = fs::read_to_string(repository().join("workflows/vibe/prompts/review.md"))?;
    let passes = prompt.lines().filter(|it| ["A. ", "B. ", "C. "].iter().any(|pass| it.starts_with(pass)));
    let passes: Vec<&str> = passes.collect();
    assert_eq!(passes.len(), 3, "{passes:?}");
    for word in ["Clarity", "dead code", "simpler"] {
        assert!(passes[2].contains(word), "{word}: {}", passes[2]);
    }
    let severities = prompt.lines().filter_map(|it| it.strip_prefix("- `")?.split_once("`: "));
    let is_severity = |it: &&str| it.bytes().all(|it| it.is_ascii_uppercase());
    let severities: Vec<&str> = severities.map(|it| it.0).filter(is_severity).collect();
    assert_eq!(severities, ["MINOR", "MODERATE", "MAJOR"]);
    Ok(())
}

/// Answers of `vibe next` that its paper promises: the status, what else STATE.md says, the demo command; then the role,
/// the prompt, and words of the reason.
const ANSWERS: &[(&str, &str, &str, [&str; 3])] = &[
    (
        "NOT_STARTED",
        "",
        "true",
        ["implement", "prompt.checkpoint_implementation", "the checkpoint is to be built"],
    ),
    (
        "NOT_STARTED",
        "## Workflow state\n- [x] RUN_CONTEXT_CAPTURE\n",
        "true",
        ["context_capture", "prompt.context_capture", ""],
    ),
    (
        "NOT_STARTED",
        "## Workflow state\n- [x] RUN_PROCESS_IMPROVEMENTS\n",
        "true",
        ["improvements", "prompt.process_improvements", ""],
    ),
    (
        "NOT_STARTED",
        "## Workflow state\n- [ ] MAINTENANCE_CYCLE_DONE\n",
        "true",
        ["implement", "prompt.refactor_scan", ""],
    ),
    (
        "IN_PROGRESS",
        "## Active issues\n- [ ] ISSUE-1: a\n  - Impact: MINOR\n- [ ] ISSUE-2: b\n  - Impact: QUESTION\n",
        "true",
        ["implement", "prompt.checkpoint_implementation", ""],
    ),
    (
        "NOT_STARTED",
        "## Active issues\n- [x] ISSUE-1: a\n  - Impact: MAJOR\n  - Status: RESOLVED\n",
        "true",
        ["implement", "prompt.checkpoint_implementation", ""],
    ),
    (
        "IN_REVIEW",
        "",
        "no-such-program-at-all",
        ["issues_triage", "prompt.issues_triage", "`no-such-program-at-all` could not be run"],
    ),
];

#[test]
fn vibe_answers_as_its_paper_says() -> Outcome {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("guide-vibe");
    let next = |(status, rest, demo): (&str, &str, &str), context: bool| -> Result<_, Box<dyn Error>> {
        if folder.exists() {
            fs::remove_dir_all(&folder)?;
        }
        let vibe = folder.join(".vibe");
        fs::create_dir_all(&vibe)?;
        let state = format!("- Stage: 21A\n- Checkpoint: 21A.0\n- Status: {status}\n{rest}");
        fs::write(vibe.join("STATE.md"), state)?;
        let plan = format!("## Stage 21A\n### 21A.0\n* **Demo commands:**\n  * `{demo}`\n");
        fs::write(vibe.join("PLAN.md"), plan)?;
        if context {
            fs::write(vibe.join("CONTEXT.md"), "# CONTEXT\n")?;
        }
        let ran = loopwright(&folder, &["vibe", "next", "--json"])?;
        let said: serde_json::Value = serde_json::from_str(&ran.stdout)?;
        let field = |name: &str| said[name].as_str().unwrap_or_default().to_owned();
        Ok((field("recommended_role"), field("recommended_prompt_id"), field("reason")))
    };
    for (status, rest, demo, [role, prompt, reason]) in ANSWERS {
        let said = next((status, rest, demo), true)?;
        assert_eq!((said.0.as_str(), said.1.as_str()), (*role, *prompt), "{status} {rest}");
        assert!(said.2.contains(reason), "{}", said.2);
    }
    assert_eq!(next(("NOT_STARTED", "", "true"), false)?.0, "context_capture", "there is no CONTEXT.md");
    for status in ["NOT_STARTED", "IN_PROGRESS", "BLOCKED", "DONE", "IN_REVIEW"] {
        next((status, "", "touch it-ran"), true)?;
        assert_eq!(folder.join("it-ran").exists(), status == "IN_REVIEW", "{status}");
    }
    Ok(())
}
