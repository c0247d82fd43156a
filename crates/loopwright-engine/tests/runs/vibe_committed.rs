//! What a review of `vibe` is shown, whoever committed meanwhile: everything that nobody has judged yet.

use loopwright_engine::process::Cancel;
use loopwright_engine::{Begin, Engine, Standing};

use crate::bench::{Bench, in_folder, run};
use crate::vibe_files::{PLAN, STATE};

/// Writes a file of its own for every checkpoint.
const WORKER: &str = r#"cat > /dev/null
at=$(sed -n 's/^- Checkpoint: //p' .vibe/STATE.md)
for file in hello bye thanks; do echo "$file of $at" > $file.txt; done
printf '```json\n{"verdict": "ready_for_review"}\n```\n'"#;
/// Keeps what it is asked, and has no objection.
const JUDGE: &str = r#"cat > ../prompt.$LOOPWRIGHT_VISIT; printf '```json\n{"verdict": "pass"}\n```\n'"#;

/// What a person does when a checkpoint is built and not judged, where the run goes on, and what its review is to show.
struct Case {
    what: &'static str,
    /// How often the run went round before.
    rounds: usize,
    does: &'static str,
    shows: &'static [&'static str],
    hides: &'static [&'static str],
}

const OWN: &[&str] = &["+hello of 1.0", "+bye of 1.0", "+- Status: IN_REVIEW"];
const SECOND: &[&str] = &["-hello of 1.0", "+hello of 1.1"];

const CASES: &[Case] = &[
    Case { what: "nothing", rounds: 1, does: "true", shows: OWN, hides: &[] },
    Case { what: "commits it", rounds: 1, does: "git add -A; git commit -qm wip", shows: OWN, hides: &[] },
    Case {
        what: "commits it in two parts, and edits more",
        rounds: 1,
        does: "git add hello.txt; git commit -qm a; git add -A; git commit -qm b; echo more > more.txt",
        shows: &["+hello of 1.0", "+bye of 1.0", "+more"],
        hides: &[],
    },
    Case {
        what: "commits the second, when the first is committed",
        rounds: 4,
        does: "git add -A; git commit -qm wip",
        shows: SECOND,
        hides: &["+hello of 1.0"],
    },
    Case {
        what: "puts it into the commit of the first",
        rounds: 4,
        does: "git add -A; GIT_COMMITTER_DATE=2035-01-01T00:00:00Z git commit -q --amend --no-edit",
        shows: &["+hello of 1.1"],
        hides: &[],
    },
    Case {
        what: "says anew what the first is called",
        rounds: 4,
        does: "git add -A; GIT_COMMITTER_DATE=2035-01-01T00:00:00Z git commit -q --amend -m mine",
        shows: &["+hello of 1.1"],
        hides: &[],
    },
    Case {
        what: "begins the history anew",
        rounds: 1,
        does: "git checkout -q --orphan other; git add -A; git commit -qm all; echo more > more.txt",
        shows: &["+more"],
        hides: &["+hello of 1.0"],
    },
];

/// A run that was left after so many rounds.
fn left_after(bench: &Bench, rounds: usize) -> (Engine, String) {
    let mut engine = bench.engine(&[("claude", WORKER), ("codex", JUDGE)]);
    engine.most_rounds = Some(1);
    let vibe = in_folder("../../workflows", "vibe");
    let (name, mut standing) = run(&engine, &vibe, &Begin::default()).expect("a run");
    for _ in 1..rounds {
        standing = engine.drive(&name, &Cancel::default()).expect("it goes on");
    }
    assert!(matches!(standing, Standing::Rounded { .. }), "{standing:?}");
    assert!(bench.read(".vibe/STATE.md").contains("Status: IN_REVIEW"), "{}", bench.read(".vibe/STATE.md"));
    (engine, name)
}

#[test]
fn a_review_is_shown_everything_since_the_run_last_committed() {
    for case in CASES {
        let bench =
            Bench::with(&[(".vibe/STATE.md", STATE), (".vibe/PLAN.md", PLAN), (".vibe/CONTEXT.md", "# C\n")]);
        let (engine, name) = left_after(&bench, case.rounds);
        let done =
            std::process::Command::new("sh").args(["-c", case.does]).current_dir(bench.path()).status();
        assert!(done.expect("a shell").success(), "{}", case.what);
        let standing = engine.drive(&name, &Cancel::default()).expect("it goes on");
        assert!(matches!(standing, Standing::Rounded { .. }), "{}: {standing:?}", case.what);
        let visit = if case.rounds == 1 { "prompt.1" } else { "prompt.2" };
        let prompt = std::fs::read_to_string(bench.around().join(visit)).expect("a prompt");
        let changes = prompt.split("## The changes").nth(1).expect("the changes");
        for line in case.shows {
            assert!(changes.contains(line), "{}: {line}: {changes}", case.what);
        }
        for line in case.hides {
            assert!(!changes.contains(line), "{}: {line}: {changes}", case.what);
        }
    }
}

#[test]
fn a_fork_does_not_judge_again_what_was_judged() {
    let bench =
        Bench::with(&[(".vibe/STATE.md", STATE), (".vibe/PLAN.md", PLAN), (".vibe/CONTEXT.md", "# C\n")]);
    let (engine, name) = left_after(&bench, 4);
    let forked = engine.fork(&name, None).expect("a fork");
    engine.drive(&forked.name, &Cancel::default()).expect("it goes on");
    let prompt = std::fs::read_to_string(forked.folder.join("../prompt.2")).expect("a prompt");
    assert!(prompt.contains("+hello of 1.1") && !prompt.contains("+hello of 1.0"), "{prompt}");
}

#[test]
fn an_edit_in_the_moment_in_which_git_wrote_its_index_is_seen() {
    let bench = Bench::with(&[
        (".vibe/STATE.md", &STATE.replace("NOT_STARTED", "IN_REVIEW")),
        (".vibe/PLAN.md", PLAN),
        (".vibe/CONTEXT.md", "# C\n"),
        ("hello.txt", "hello\n"),
    ]);
    // To git it is the same file, but for when its index was written.
    bench.git(&["config", "core.trustctime", "false"]);
    bench.git(&["config", "core.checkStat", "minimal"]);
    let edit = "touch -d 2020-01-01 hello.txt; git update-index --refresh; echo hellO > hello.txt
        touch -d 2020-01-01 hello.txt .git/index";
    let done = std::process::Command::new("sh").args(["-c", edit]).current_dir(bench.path()).status();
    assert!(done.expect("a shell").success());
    let mut engine = bench.engine(&[("claude", WORKER), ("codex", JUDGE)]);
    engine.most_rounds = Some(1);
    let plan = bench.read(".vibe/PLAN.md").replace("grep -q hello", "grep -q hell");
    bench.write(".vibe/PLAN.md", &plan);
    run(&engine, &in_folder("../../workflows", "vibe"), &Begin::default()).expect("a run");
    let prompt = std::fs::read_to_string(bench.around().join("prompt.1")).expect("a prompt");
    assert!(prompt.contains("+hellO"), "{prompt}");
}
