//! How long `check` takes on the built-in workflows and on a large generated one, how much memory, and how long the
//! binary takes to start. `cargo bench` prints a table; the last column is in starts of the binary, measured in the same
//! run, so that a slow or busy machine shows in both.
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

fn main() {
    let start = fastest(&["--version"]);
    println!("{:<28}{:>10}{:>12}{:>10}", "", "ms", "peak MB", "starts");
    row("start of the binary", start, None, start);
    for name in ["vibe", "change", "team", "issue", "feature"] {
        row(&format!("check {name}"), fastest(&["check", name]), peak(&["check", name]), start);
    }
    let folder = generated();
    let path = folder.to_str().expect("a path in UTF-8");
    let shape = format!("check {STATES} x {SIGNALS} x {BUDGETS}");
    row(&shape, fastest(&["check", path]), peak(&["check", path]), start);
    let project = planned();
    let root = project.to_str().expect("a path in UTF-8");
    let next = ["vibe", "next", "--repo-root", root];
    row(&format!("vibe next of {CHECKPOINTS}"), fastest(&next), peak(&next), start);
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

fn row(name: &str, took: Duration, peak: Option<u64>, start: Duration) {
    let peak = peak.map_or_else(|| "-".to_owned(), |it| (it / 1024).to_string());
    let ratio = took.as_secs_f64() / start.as_secs_f64();
    println!("{name:<28}{:>10.1}{peak:>12}{ratio:>10.0}", took.as_secs_f64() * 1000.0);
}

fn command(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_loopwright"));
    command.args(arguments).stdout(Stdio::null()).stderr(Stdio::null());
    command
}

/// The fastest of several runs: what is left when nobody disturbs it.
fn fastest(arguments: &[&str]) -> Duration {
    let once = || {
        let begin = Instant::now();
        command(arguments).status().expect("the binary runs");
        begin.elapsed()
    };
    (0..RUNS).map(|_| once()).min().unwrap_or_default()
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
