//! `branch`, `switch`, `merge`, `push` and `drop`, in a real repository.

use crate::actions::{CASE, Case, die_everywhere, play};
use crate::bench::{Bench, workflow};

/// A branch `other` with a commit of its own.
fn other(bench: &Bench) {
    bench.git(&["switch", "--quiet", "--create", "other"]);
    bench.write("a", "of other\n");
    bench.write("new", "new\n");
    bench.git(&["add", "--all"]);
    bench.git(&["commit", "--quiet", "--message", "other"]);
    bench.git(&["switch", "--quiet", "main"]);
}

/// The same, and a commit on `main` that does not fit.
fn parted(bench: &Bench) {
    other(bench);
    bench.write("a", "of main\n");
    bench.git(&["commit", "--quiet", "--all", "--message", "main"]);
}

fn remote(bench: &Bench) {
    bench.git(&["init", "--quiet", "--bare", "../remote.git"]);
    bench.git(&["remote", "add", "origin", "../remote.git"]);
}

const A: &[(&str, &str)] = &[("a", "a\n")];

#[test]
fn branches_are_made_and_gone_to() {
    play(&[
        Case {
            what: "made if missing; what is not committed comes along",
            actions: &[
                "{branch: \"feature/{{subject}}\"}",
                "{branch: \"feature/{{subject}}\"}",
                "run: \"git rev-parse --abbrev-ref HEAD > at\"",
            ],
            before: A,
            given: |bench| bench.write("b", "b\n"),
            after: &[("at", "feature/greet\n"), ("b", "b\n")],
            signals: &["done"; 3],
            ..CASE
        },
        Case {
            what: "from somewhere else",
            actions: &["{branch: mine, from: other}"],
            before: A,
            given: other,
            after: &[("a", "of other\n"), ("new", "new\n")],
            ..CASE
        },
        Case {
            what: "one that is there is gone to as it is",
            actions: &["{branch: other, from: main}", "{switch: main}", "{switch: other}"],
            before: A,
            given: other,
            after: &[("a", "of other\n"), ("new", "new\n")],
            signals: &["done"; 3],
            ..CASE
        },
        Case {
            what: "from nowhere",
            actions: &["{branch: mine, from: nowhere}"],
            before: A,
            signals: &["failed"],
            why: "there is no `nowhere`",
            ..CASE
        },
        Case {
            what: "no name of a branch",
            actions: &["{branch: \"a..b\"}"],
            before: A,
            signals: &["failed"],
            why: "cannot be the name of a branch",
            ..CASE
        },
        Case {
            what: "nothing that is not committed is overwritten",
            actions: &["{switch: other}"],
            before: A,
            given: |bench| {
                other(bench);
                bench.write("a", "mine\n");
            },
            after: &[("a", "mine\n"), ("new", "")],
            signals: &["failed"],
            why: "would be overwritten",
            ..CASE
        },
        Case {
            what: "there is none to go to",
            actions: &["{switch: other}"],
            before: A,
            signals: &["failed"],
            why: "there is no branch `other`",
            ..CASE
        },
        Case {
            what: "it is checked out elsewhere",
            actions: &["{switch: other}"],
            before: A,
            given: |bench| {
                other(bench);
                bench.git(&["worktree", "add", "--quiet", "../elsewhere", "other"]);
            },
            signals: &["failed"],
            why: "elsewhere",
            ..CASE
        },
    ]);
}

#[test]
fn a_run_goes_to_a_worktree_and_comes_back() {
    play(&[
        Case {
            what: "beside the repository",
            actions: &[
                "{branch: feature/x, from: main, worktree: true}",
                "run: \"echo b > b\"",
                "{branch: feature/x, worktree: true}",
            ],
            before: A,
            given: |bench| bench.write("mine", "not committed\n"),
            after: &[
                ("../repo-feature-x/b", "b\n"),
                ("../repo-feature-x/a", "a\n"),
                ("b", ""),
                ("mine", "not committed\n"),
            ],
            signals: &["done"; 3],
            ..CASE
        },
        Case {
            what: "there, committed, merged and dropped again",
            top: "documents: {b: {file: b}}",
            actions: &[
                "{branch: x, worktree: true}",
                "{write: b, from: \"b\\n\"}",
                "{commit: \"add b\", what: b}",
                "{merge: x, into: main}",
                "{drop: x}",
                "run: \"echo here > here\"",
            ],
            before: A,
            after: &[("b", "b\n"), ("here", "here\n"), ("../repo-x/b", "")],
            signals: &["done"; 6],
            ..CASE
        },
        Case {
            what: "something is in its place",
            actions: &["{branch: x, worktree: true}"],
            before: A,
            given: |bench| bench.write("../repo-x/mine", "mine\n"),
            after: &[("../repo-x/mine", "mine\n"), ("../repo-x/a", "")],
            signals: &["failed"],
            why: "already exists",
            ..CASE
        },
        Case {
            what: "the branch is checked out elsewhere",
            actions: &["{branch: other, worktree: true}"],
            before: A,
            given: |bench| {
                other(bench);
                bench.git(&["worktree", "add", "--quiet", "../elsewhere", "other"]);
            },
            signals: &["failed"],
            why: "is checked out in AROUND/elsewhere",
            ..CASE
        },
    ]);
}

#[test]
fn branches_are_merged() {
    play(&[
        Case {
            what: "forward, and again",
            actions: &["{merge: other}", "{merge: other, into: main}"],
            before: A,
            given: other,
            after: &[("a", "of other\n"), ("new", "new\n")],
            signals: &["done", "done"],
            why: "already",
            ..CASE
        },
        Case {
            what: "two that parted",
            actions: &["{merge: other}"],
            before: A,
            given: |bench| {
                other(bench);
                bench.write("c", "c\n");
                bench.git(&["add", "c"]);
                bench.git(&["commit", "--quiet", "--message", "c"]);
            },
            after: &[("a", "of other\n"), ("new", "new\n"), ("c", "c\n")],
            ..CASE
        },
        Case {
            what: "into one that nobody has checked out",
            actions: &["{merge: other, into: base}"],
            before: A,
            given: |bench| {
                other(bench);
                bench.git(&["branch", "base"]);
            },
            after: &[("a", "a\n"), ("new", "")],
            ..CASE
        },
        Case {
            what: "a conflict leaves nothing behind",
            actions: &["{merge: other}"],
            before: &[("x", "x\n"), ("a", "a\n")],
            given: parted,
            after: &[("a", "of main\n"), ("new", "")],
            signals: &["failed"],
            why: "conflict in `a`",
            ..CASE
        },
        Case {
            what: "what is not committed is in the way",
            actions: &["{merge: other}"],
            before: A,
            given: |bench| {
                other(bench);
                bench.write("new", "mine\n");
            },
            after: &[("a", "a\n"), ("new", "mine\n")],
            signals: &["failed"],
            why: "would be overwritten",
            ..CASE
        },
        Case {
            what: "there is none",
            actions: &["{merge: other}"],
            before: A,
            signals: &["failed"],
            why: "there is no branch `other`",
            ..CASE
        },
        Case {
            what: "there is none to merge into",
            actions: &["{merge: main, into: other}"],
            before: A,
            signals: &["failed"],
            why: "to merge into",
            ..CASE
        },
    ]);
}

#[test]
fn branches_are_pushed() {
    play(&[
        Case {
            what: "twice, to where there is one",
            actions: &[
                "{push: main}",
                "{push: main}",
                "run: \"git --git-dir=../remote.git rev-parse --abbrev-ref main > at\"",
            ],
            before: A,
            given: remote,
            after: &[("at", "main\n")],
            signals: &["done"; 3],
            ..CASE
        },
        Case {
            what: "nowhere to push to",
            actions: &["{push: main}"],
            before: A,
            signals: &["failed"],
            why: "git remote add origin",
            ..CASE
        },
        Case {
            what: "nobody knows which of two",
            actions: &["{push: main}"],
            before: A,
            given: |bench| {
                bench.git(&["remote", "add", "one", "../one.git"]);
                bench.git(&["remote", "add", "two", "../two.git"]);
            },
            signals: &["failed"],
            why: "could be pushed to one or two",
            ..CASE
        },
        Case {
            what: "a remote that is gone",
            actions: &["{push: main}"],
            before: A,
            given: |bench| drop(bench.git(&["remote", "add", "origin", "../gone.git"])),
            signals: &["failed"],
            why: "could not be pushed to `origin`",
            ..CASE
        },
        Case {
            what: "others pushed before",
            actions: &["{push: main}"],
            before: A,
            given: |bench| {
                remote(bench);
                other(bench);
                bench.git(&["push", "--quiet", "origin", "other:main"]);
                bench.write("c", "c\n");
                bench.git(&["add", "c"]);
                bench.git(&["commit", "--quiet", "--message", "c"]);
            },
            signals: &["failed"],
            why: "rejected",
            ..CASE
        },
        Case {
            what: "no branch",
            actions: &["{push: other}"],
            before: A,
            given: remote,
            signals: &["failed"],
            why: "there is no branch `other`",
            ..CASE
        },
    ]);
}

#[test]
fn branches_are_dropped() {
    play(&[
        Case {
            what: "merged, with its worktree, and again",
            actions: &["{merge: other}", "{drop: other, if: merged}", "{drop: other}"],
            before: A,
            given: |bench| {
                other(bench);
                bench.git(&["worktree", "add", "--quiet", "../elsewhere", "other"]);
            },
            after: &[("new", "new\n"), ("../elsewhere/new", "")],
            signals: &["done"; 3],
            ..CASE
        },
        Case {
            what: "not merged",
            actions: &["{drop: other}"],
            before: A,
            given: |bench| {
                other(bench);
                bench.git(&["worktree", "add", "--quiet", "../elsewhere", "other"]);
            },
            after: &[("../elsewhere/new", "new\n")],
            signals: &["failed"],
            why: "in no other branch",
            ..CASE
        },
        Case {
            what: "pushed is not merged",
            actions: &["{drop: other}"],
            before: A,
            given: |bench| {
                remote(bench);
                other(bench);
                bench.git(&["push", "--quiet", "origin", "other"]);
            },
            signals: &["failed"],
            why: "in no other branch",
            ..CASE
        },
        Case {
            what: "always",
            actions: &["{drop: other, if: always}"],
            before: A,
            given: |bench| {
                other(bench);
                bench.git(&["worktree", "add", "--quiet", "../elsewhere", "other"]);
                bench.write("../elsewhere/mine", "mine\n");
            },
            after: &[("../elsewhere/new", ""), ("../elsewhere/mine", "")],
            ..CASE
        },
        Case {
            what: "merged, but there is something in its worktree",
            actions: &["{drop: other}"],
            before: A,
            given: |bench| {
                bench.git(&["worktree", "add", "--quiet", "-b", "other", "../elsewhere"]);
                bench.write("../elsewhere/mine", "mine\n");
            },
            after: &[("../elsewhere/mine", "mine\n")],
            signals: &["failed"],
            why: "contains modified or untracked files",
            ..CASE
        },
        Case {
            what: "the one that is checked out",
            actions: &["{drop: main, if: always}"],
            before: A,
            given: other,
            signals: &["failed"],
            why: "is checked out in AROUND/repo",
            ..CASE
        },
    ]);
}

#[test]
fn a_run_that_left_a_worktree_that_is_gone_goes_on() {
    // The last action is performed, and whoever performed it dies before that is on record.
    let text = "workflow: leave\nsubject: thing\nbudgets: {retries: {limit: 3, per: visit}}\ndefaults:\n  lost: {to: again, spend: retries, else: failed}\n  failures: failed\nstates:\n  go: {do: [{branch: x, worktree: true}], then: leave}\n  leave: {do: [{drop: x, if: always}], then: done}\n  done: {end: success}\n  failed: {end: failure}\n";
    let (bench, left) = die_everywhere("leaving", &workflow(text), &|| Bench::with(A), &[]);
    assert_eq!(left.signals, ["done", "done"]);
    assert!(!bench.around().join("repo-x").exists());
}
