//! How long `check` takes on the built-in workflows and on a large generated one, how long tools take in a large project, how
//! much memory, and how long the binary takes to start. `cargo bench` prints a table; the last column is in starts of the
//! binary, measured in the same run, so that a slow or busy machine shows in both. Words after `--` choose rows.
#![expect(clippy::print_stdout, clippy::expect_used, reason = "a benchmark")]

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

const RUNS: u32 = 15;
const STATES: usize = 200;
const SIGNALS: usize = 6;
const BUDGETS: usize = 8;
const CHECKPOINTS: usize = 200;
const CHANGES: usize = 1_000;
const ISSUES: usize = 5_000;

fn main() {
    let asked: Vec<String> = std::env::args().skip(1).filter(|it| !it.starts_with('-')).collect();
    let start = measured(&["--version"]);
    println!("{:<28}{:>10}{:>10}{:>12}{:>10}", "", "ms", "cpu ms", "peak MB", "starts");
    row("start of the binary", &start, None, &start);
    let show = |name: &str, arguments: &[&str]| {
        if asked.is_empty() || asked.iter().any(|it| name.contains(it.as_str())) {
            row(name, &measured(arguments), peak(arguments), &start);
        }
    };
    for name in ["vibe", "change", "team", "issue", "feature"] {
        show(&format!("check {name}"), &["check", name]);
    }
    let folder = generated();
    let path = folder.to_str().expect("a path in UTF-8");
    show(&format!("check {STATES} x {SIGNALS} x {BUDGETS}"), &["check", path]);
    let project = planned();
    let root = project.to_str().expect("a path in UTF-8");
    show(&format!("vibe next of {CHECKPOINTS}"), &["vibe", "next", "--repo-root", root]);
    let project = with_changes();
    let root = project.to_str().expect("a path in UTF-8");
    for tool in ["list", "validate"] {
        show(&format!("change {tool} of {CHANGES}"), &["change", tool, "--repo-root", root]);
    }
    let project = with_issues();
    let root = project.to_str().expect("a path in UTF-8");
    for tool in ["ready", "list", "check"] {
        show(&format!("todo {tool} of {ISSUES}"), &["todo", tool, "--repo-root", root]);
    }
}

/// A repository with many issues, as they come to be: some done, parts of others, needing others, with criteria and comments.
fn with_issues() -> PathBuf {
    let project = Path::new(env!("CARGO_TARGET_TMPDIR")).join("issues");
    let folder = project.join("TODO");
    std::fs::create_dir_all(&folder).expect("a folder");
    let mut list = String::from("# Issues\n");
    for at in 1..=ISSUES {
        let (status, mark) = if at % 3 == 0 { ("Done", "x") } else { ("Todo", " ") };
        let mut text =
            format!("---\nid: GAL-{at}\ntitle: Print part {at} of it\nstatus: {status}\nlabels: [feature]\n");
        // Every fifth is the whole of the four behind it, of which each needs the one before.
        let (whole, step) = ((at - 1) / 5 * 5 + 1, (at - 1) % 5);
        if step > 0 {
            let _ = writeln!(text, "parent: GAL-{whole}");
        }
        if step > 1 && at % 3 != 0 {
            let _ = writeln!(text, "depends-on: [GAL-{}]", at - 1);
        }
        text.push_str("---\n\nA few words on what it is about, and on why.\n\n## Acceptance criteria\n\n");
        for criterion in 1..=4 {
            let _ = writeln!(text, "- [{mark}] It does what number {criterion} says");
        }
        if step == 0 {
            text.push_str("\n## Sub-issues\n\n");
            for part in at + 1..=at + 4 {
                let mark = if part % 3 == 0 { "x" } else { " " };
                let _ = writeln!(text, "- [{mark}] [GAL-{part}](GAL-{part}.md): Print part {part} of it");
            }
            if at % 100 == 1 {
                let _ = writeln!(list, "\n## Part {}\n", at / 100 + 1);
            }
            let _ = writeln!(list, "- [{mark}] [GAL-{at}](GAL-{at}.md): Print part {at} of it");
        }
        text.push_str("\n## Comments\n\n- Somebody said something about it.\n");
        std::fs::write(folder.join(format!("GAL-{at}.md")), text).expect("a file");
    }
    std::fs::write(folder.join("README.md"), list).expect("a file");
    let git = |arguments: &[&str]| {
        let mut git = Command::new("git");
        git.args(["-c", "user.name=a", "-c", "user.email=a@example.invalid"]).args(arguments);
        git.current_dir(&project).stdout(Stdio::null()).stderr(Stdio::null()).status().expect("git runs");
    };
    for arguments in [&["init"][..], &["add", "--all"], &["commit", "--message", "issues"]] {
        git(arguments);
    }
    project
}

/// A project with many changes, each with all its parts: two specs, twelve tasks, two reviews.
fn with_changes() -> PathBuf {
    let project = Path::new(env!("CARGO_TARGET_TMPDIR")).join("changes");
    for at in 0..CHANGES {
        let id = format!("change-{at:04}");
        let folder = project.join("agentd/changes").join(&id);
        std::fs::create_dir_all(folder.join("specs")).expect("a folder");
        let write = |file: &str, text: &str| std::fs::write(folder.join(file), text).expect("a file");
        let state = format!("change_id: {id}\nschema_version: \"2.0\"\nphase: challenged\niteration: 2\n");
        write("STATE.yaml", &state);
        let head = |kind: &str| format!("---\nid: {id}\nchange_id: {id}\ntype: {kind}\nversion: 1\n");
        let mut proposal = head("proposal");
        proposal.push_str("summary: Greet people and say goodbye\naffected_specs:\n");
        for spec in ["greeting", "farewell"] {
            let _ = writeln!(proposal, "  - id: {spec}\n    path: specs/{spec}.md\n    depends: []");
            let mut text = format!(
                "---\nid: {spec}\ntype: spec\ntitle: {spec}\nversion: 1\n---\n<spec>\n# {spec}\n\n## Overview\nAbout a {spec}.\n\n## Requirements\n"
            );
            for number in 1..=6 {
                let _ = writeln!(text, "\n### R{number} - Part {number}\nThere must be part {number}.");
            }
            text.push_str("\n## Acceptance Criteria\n");
            for number in 1..=6 {
                let _ = writeln!(
                    text,
                    "\n### Scenario: Part {number}\n- **WHEN** somebody comes\n- **THEN** part {number} is there"
                );
            }
            write(&format!("specs/{spec}.md"), &(text + "</spec>\n"));
        }
        let _ = write!(proposal, "---\n<proposal>\n# Change: {id}\n");
        for part in ["Summary", "Why", "What Changes", "Impact"] {
            let _ = writeln!(proposal, "\n## {part}\n- a few words on that\n- and a few more");
        }
        proposal.push_str("</proposal>\n");
        for (iteration, verdict) in [(1, "NEEDS_REVISION"), (2, "APPROVED")] {
            let status = verdict.to_ascii_lowercase();
            let _ = writeln!(
                proposal,
                "<review iteration=\"{iteration}\" reviewer=\"codex\" status=\"{status}\">\n## Summary\nRead.\n\n## Issues\n- one\n\n## Verdict\n{verdict}\n</review>"
            );
        }
        write("proposal.md", &proposal);
        let mut tasks = head("tasks");
        tasks.push_str("---\n<tasks>\n# Implementation Tasks\n");
        for (layer, (title, spec)) in
            [("Data Layer", "greeting"), ("Logic Layer", "farewell")].into_iter().enumerate()
        {
            let layer = layer + 1;
            let _ = writeln!(tasks, "\n## {layer}. {title}");
            for number in 1..=6 {
                let _ = writeln!(
                    tasks,
                    "\n### Task {layer}.{number}: Write part {number}\n```yaml\nid: \"{layer}.{number}\"\naction: CREATE\nstatus: pending\nfile: src/{spec}{number}\nspec_ref: {spec}:R{number}\ndepends_on: []\n```\nIt is there."
                );
            }
        }
        write("tasks.md", &(tasks + "</tasks>\n"));
    }
    project
}

/// A project with a long plan, whose last checkpoint but one is done.
fn planned() -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("planned/.vibe");
    std::fs::create_dir_all(&folder).expect("a folder");
    let mut plan = String::from("# PLAN\n");
    for at in 0..CHECKPOINTS {
        let (stage, minor) = (at / 10, at % 10);
        if minor == 0 {
            let _ = write!(plan, "\n## Stage {stage}\n");
        }
        let _ = write!(plan, "\n### {stage}.{minor} — step\n\n");
        for part in ["Objective", "Deliverables", "Acceptance", "Demo commands", "Evidence"] {
            let _ = writeln!(plan, "* **{part}:**\n  * `true`");
        }
    }
    let (stage, minor) = ((CHECKPOINTS - 2) / 10, (CHECKPOINTS - 2) % 10);
    let state = format!(
        "# STATE\n\n- Stage: {stage}\n- Checkpoint: {stage}.{minor}\n- Status: DONE\n\n## Active issues\n\n- None.\n"
    );
    let _ = std::fs::remove_file(folder.join("LOOP_RESULT.json"));
    std::fs::write(folder.join("STATE.md"), state).expect("a file");
    std::fs::write(folder.join("PLAN.md"), plan).expect("a file");
    folder.parent().expect("the project").to_owned()
}

/// What several runs of one command took.
struct Took {
    /// The fastest of them: what is left when nobody disturbs it.
    fastest: Duration,
    /// The time of processors that one used, over all of them, where the system tells.
    processor: Option<Duration>,
}

fn row(name: &str, took: &Took, peak: Option<u64>, start: &Took) {
    let peak = peak.map_or_else(|| "-".to_owned(), |it| (it / 1024).to_string());
    let processor =
        took.processor.map_or_else(|| "-".to_owned(), |it| format!("{:.1}", it.as_secs_f64() * 1000.0));
    let ratio = took.fastest.as_secs_f64() / start.fastest.as_secs_f64();
    println!("{name:<28}{:>10.1}{processor:>10}{peak:>12}{ratio:>10.0}", took.fastest.as_secs_f64() * 1000.0);
}

fn command(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_loopwright"));
    command.args(arguments).stdout(Stdio::null()).stderr(Stdio::null());
    command
}

fn measured(arguments: &[&str]) -> Took {
    let once = || {
        let begin = Instant::now();
        command(arguments).status().expect("the binary runs");
        begin.elapsed()
    };
    let before = of_children();
    let fastest = (0..RUNS).map(|_| once()).min().unwrap_or_default();
    let used = of_children().zip(before).map(|(after, before)| after.saturating_sub(before));
    Took { fastest, processor: used.map(|it| it / RUNS) }
}

/// The time of processors that the children of this process used so far, for themselves and in the system. Who else is at
/// work on the machine shows less in it than in a clock.
fn of_children() -> Option<Duration> {
    const TICK: Duration = Duration::from_millis(10);
    let stat = std::fs::read_to_string("/proc/self/stat").ok()?;
    let after_name = stat.rsplit_once(')')?.1;
    let of_children = after_name.split_whitespace().skip(13).take(2);
    let ticks: u32 = of_children.map(|it| it.parse::<u32>().ok()).sum::<Option<_>>()?;
    Some(TICK * ticks)
}

/// The most memory a run held, in kilobytes, where the system tells.
fn peak(arguments: &[&str]) -> Option<u64> {
    let mut child = command(arguments).spawn().ok()?;
    let status = format!("/proc/{}/status", child.id());
    let mut most = None;
    while child.try_wait().ok()?.is_none() {
        let text = std::fs::read_to_string(&status).unwrap_or_default();
        let held =
            text.lines().find_map(|it| it.strip_prefix("VmHWM:")?.split_whitespace().next()?.parse().ok());
        most = most.max(held);
    }
    most
}

/// A workflow of many states, each with several signals, that spend many budgets.
fn generated() -> PathBuf {
    let mut text = String::from("workflow: large\nabout: Generated.\nsubject: thing\nbudgets:\n");
    for budget in 0..BUDGETS {
        let _ = writeln!(text, "  b{budget}: {{limit: {}, shared: true}}", 2 + budget % 3);
    }
    let verdicts: Vec<String> = (0..SIGNALS).map(|it| format!("V{it}")).collect();
    let _ =
        write!(text, "roles:\n  worker: {{agent: a, prompt: work, verdicts: [{}]}}\n", verdicts.join(", "));
    text.push_str("defaults: {failures: failed}\nstates:\n");
    let mut seed = 1_u64;
    let mut draw = |most: usize| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from((seed >> 33) % most as u64).unwrap_or(0)
    };
    for state in 0..STATES {
        let _ = writeln!(text, "  s{state}:\n    agent: worker\n    on:");
        let onward = if state + 1 < STATES { format!("s{}", state + 1) } else { "done".to_owned() };
        for (at, verdict) in verdicts.iter().enumerate() {
            match at {
                1 if state + 9 < STATES => _ = writeln!(text, "      {verdict}: s{}", state + 1 + draw(8)),
                0 | 1 => _ = writeln!(text, "      {verdict}: {onward}"),
                _ => {
                    let (back, budget) = (draw(state + 1), draw(BUDGETS));
                    let _ =
                        writeln!(text, "      {verdict}: {{to: s{back}, spend: b{budget}, else: {onward}}}");
                }
            }
        }
    }
    text.push_str("  done: {end: success}\n  failed: {end: failure}\n");
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("large");
    std::fs::create_dir_all(&folder).expect("a folder");
    std::fs::write(folder.join("workflow.yaml"), text).expect("a file");
    folder
}
