//! Two judges at work at once, held against the slower one alone in the same minute.
//!
//! `cargo bench -p loopwright-engine --bench judges`. Whole runs: a repository, a journal, processes. The figure is a ratio.
#![expect(clippy::expect_used, clippy::print_stdout, reason = "this is a benchmark")]

use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::time::{Duration, Instant};

use loopwright_core::definition::Outcome;
use loopwright_core::language::Folder;
use loopwright_engine::agents::{Agent, CommandAgent};
use loopwright_engine::journal::Sqlite;
use loopwright_engine::process::{Cancel, Supervisor};
use loopwright_engine::{Begin, Driver, Engine, Home, Nobody, Project, Standing, Unwatched};

const BESIDE: &str = include_str!("judges.yaml");
/// How long the two take, in seconds.
const SLOWER: &str = "3";
const QUICKER: &str = "2.9";
const TIMES: u32 = 3;

fn main() {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a folder");
    let one_by_one = BESIDE.replace(", ahead: 2", "");
    let alone = one_by_one
        .replace("settle: [review, audit]", "settle: [review]")
        .replace("needs: [review, audit]", "needs: [review]")
        .lines()
        .filter(|it| !it.starts_with("  audit:") && !it.starts_with("  quicker:"))
        .collect::<Vec<_>>()
        .join("\n");
    let mut number = 0;
    let mut took = |text: &str| {
        number += 1;
        timed(&folder.path().join(number.to_string()), text)
    };
    // By turns: a machine that is busy for a while is so for all.
    let all: Vec<[Duration; 3]> =
        (0..TIMES).map(|_| [took(&alone), took(BESIDE), took(&one_by_one)]).collect();
    let least = |at: usize| all.iter().map(|it| it[at].as_secs_f64()).fold(f64::INFINITY, f64::min);
    let (alone, beside, one_by_one) = (least(0), least(1), least(2));
    println!(
        "two judges of {SLOWER} s and {QUICKER} s: the slower alone {alone:.2} s, both at once {beside:.2} s ({:+.1} %), one by one {one_by_one:.2} s ({:+.1} %)",
        100.0 * (beside / alone - 1.0),
        100.0 * (one_by_one / alone - 1.0)
    );
}

/// How long a whole run takes.
fn timed(root: &Path, text: &str) -> Duration {
    std::fs::create_dir(root).expect("a folder");
    for arguments in [
        &["init", "--quiet"][..],
        &["config", "user.name", "bench"],
        &["config", "user.email", "bench@example.invalid"],
        &["commit", "--quiet", "--allow-empty", "--message", "all"],
    ] {
        assert!(Command::new("git").args(arguments).current_dir(root).status().expect("git").success());
    }
    let home = Home::around(root).expect("a home");
    let journal = Arc::new(Sqlite::open(&home.journal).expect("a journal"));
    let agent = |script: String| Arc::new(CommandAgent { command: vec![script] }) as Arc<dyn Agent>;
    let judge = |long: &str| {
        agent(format!("cat > /dev/null; sleep {long}; printf '```json\\n{{\"verdict\": \"OK\"}}\\n```\\n'"))
    };
    let crew = [
        ("coder".into(), agent("mkdir -p src; cat > src/a".into())),
        ("slower".into(), judge(SLOWER)),
        ("quicker".into(), judge(QUICKER)),
    ];
    let engine = Engine::new(
        journal,
        home,
        Project::default(),
        crew.into_iter().collect(),
        Supervisor { program: env!("CARGO_BIN_EXE_loopwright-supervise").into(), arguments: Vec::new() },
        Arc::new(Nobody),
        Arc::new(Unwatched),
        Arc::new(|| 1_790_000_000_000),
        "bench".into(),
    );
    let files = [("workflow.yaml".to_owned(), text.as_bytes().to_vec())].into_iter().collect();
    let folder = Folder { name: "beside".into(), files };
    let begin = Begin { subject: "it".into(), ..Begin::default() };
    let begun = Instant::now();
    let standing =
        engine.begin(&folder, &begin, &Cancel::default()).and_then(Driver::drive).expect("it runs");
    let took = begun.elapsed();
    assert!(matches!(standing, Standing::Over { ending: Some(Outcome::Success), .. }), "{standing:?}");
    took
}
