//! How long items apart take that are at work side by side, held against the longest way through them.
//!
//! `cargo bench -p loopwright-engine --bench beside`. Twenty items, five of which come after one another, four at work at a
//! time. Each agent sleeps and writes a file; what one takes more than that is a ratio to the way itself.
#![expect(clippy::expect_used, clippy::print_stdout, reason = "this is a benchmark")]

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use loopwright_core::language::Folder;
use loopwright_core::name::Name;
use loopwright_engine::agents::{Agent, CommandAgent};
use loopwright_engine::journal::Sqlite;
use loopwright_engine::process::{Cancel, Supervisor};
use loopwright_engine::{Begin, Config, Engine, Home, Nobody, Project, Standing, Unwatched};

const ITEMS: usize = 20;
const JOBS: u32 = 4;
/// How long each agent sleeps, in seconds, unless `BESIDE_SLEEPS` says so.
const SLEEPS: u32 = 10;

fn git(root: &Path, arguments: &[&str]) -> String {
    let said = Command::new("git").args(arguments).current_dir(root).output().expect("git");
    assert!(said.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&said.stderr));
    String::from_utf8_lossy(&said.stdout).trim().to_owned()
}

/// Every fourth item comes after the one four before it.
fn list() -> String {
    let mut text = "items:\n".to_owned();
    for item in 0..ITEMS {
        let after = if item > 0 && item % JOBS as usize == 0 {
            format!("item-{:02}", item - JOBS as usize)
        } else {
            String::new()
        };
        writeln!(text, "  - {{id: item-{item:02}, depends: [{after}]}}").expect("a text");
    }
    text
}

fn main() {
    let sleeps = std::env::var("BESIDE_SLEEPS").ok().and_then(|it| it.parse().ok()).unwrap_or(SLEEPS);
    let around = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a folder");
    let root = around.path().join("repo");
    std::fs::create_dir(&root).expect("a folder");
    std::fs::write(root.join("list.yaml"), list()).expect("a file");
    git(&root, &["init", "--quiet", "--initial-branch=main"]);
    git(&root, &["config", "user.name", "somebody"]);
    git(&root, &["config", "user.email", "somebody@example.invalid"]);
    git(&root, &["add", "--all"]);
    git(&root, &["commit", "--quiet", "--message", "start"]);
    let home = Home::around(&root).expect("a home");
    let journal = Arc::new(Sqlite::open(&home.journal).expect("a journal"));
    let writer =
        format!("cat > /dev/null; mkdir -p src; sleep {sleeps}; echo written > \"src/$LOOPWRIGHT_ITEM\"");
    let agent = Arc::new(CommandAgent { command: vec![writer] }) as Arc<dyn Agent>;
    let now = || SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |it| it.as_millis());
    let mut engine = Engine::new(
        journal,
        home,
        Project::default().with(&Config::default()),
        [(Name::from("writer"), agent)].into_iter().collect(),
        Supervisor { program: env!("CARGO_BIN_EXE_loopwright-supervise").into(), arguments: Vec::new() },
        Arc::new(Nobody),
        Arc::new(Unwatched),
        Arc::new(move || u64::try_from(now()).unwrap_or(u64::MAX)),
        "the bench".into(),
    );
    engine.jobs = Some(JOBS);
    let text = include_str!("beside.yaml").as_bytes().to_vec();
    let folder =
        Folder { name: "beside".into(), files: BTreeMap::from([("workflow.yaml".to_owned(), text)]) };
    let begin = Begin { subject: "all".into(), ..Begin::default() };
    let driver = engine.begin(&folder, &begin, &Cancel::default()).expect("it begins");
    let begun = Instant::now();
    let standing = driver.drive().expect("it runs");
    let took = begun.elapsed().as_secs_f64();
    assert!(matches!(standing, Standing::Over { .. }), "{standing:?}");
    assert_eq!(&*standing.run().at.state, "done");
    let there = std::fs::read_dir(root.join("src")).expect("a folder").count();
    assert_eq!((there, git(&root, &["status", "--porcelain"])), (ITEMS, String::new()));
    let rounds = u32::try_from(ITEMS).unwrap_or(u32::MAX).div_ceil(JOBS);
    let way = f64::from(rounds * sleeps);
    println!(
        "{ITEMS} items, {JOBS} at a time, {sleeps} s each, {rounds} after one another: {took:.1} s, {:.2} of the longest way ({way:.0} s)",
        took / way
    );
}
