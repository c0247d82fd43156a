//! `copy` and `move`.

use crate::actions::{CASE, Case, play};

#[test]
fn files_are_copied() {
    play(&[
        Case {
            what: "a folder, what else lies there stays",
            actions: &["{copy: specs, to: \"backup/{{subject}}\"}"],
            before: &[("specs/a.md", "a"), ("specs/deep/b.md", "b"), ("backup/greet/old.md", "old")],
            after: &[
                ("backup/greet/a.md", "a"),
                ("backup/greet/deep/b.md", "b"),
                ("backup/greet/old.md", "old"),
                ("specs/a.md", "a"),
            ],
            ..CASE
        },
        Case {
            what: "exactly, also what git ignores",
            actions: &["{copy: specs, to: backup, exact: true}"],
            before: &[(".gitignore", "backup\nx.md\n"), ("specs/a.md", "a")],
            given: |bench| {
                bench.write("backup/old.md", "old");
                bench.write("backup/deep/a.md", "old");
                bench.write("specs/x.md", "ignored");
            },
            after: &[
                ("backup/a.md", "a"),
                ("backup/x.md", "ignored"),
                ("backup/old.md", ""),
                ("backup/deep/a.md", ""),
            ],
            ..CASE
        },
        Case {
            what: "of nothing there is an exact copy",
            actions: &["{copy: specs, to: backup, exact: true}"],
            before: &[("backup/old.md", "old")],
            after: &[("backup/old.md", "")],
            ..CASE
        },
        Case {
            what: "documents",
            top: "documents: {draft: {file: draft.md}, final: {file: out/final.md}, specs: {files: [\"specs/*.md\"]}, kept: {files: [\"kept/**\"]}}",
            actions: &["{copy: draft, to: final}", "{copy: specs, to: kept}", "{copy: draft, to: kept}"],
            before: &[("draft.md", "d"), ("out/final.md", "old"), ("specs/a.md", "a"), ("specs/b.txt", "b")],
            after: &[("out/final.md", "d"), ("kept/a.md", "a"), ("kept/b.txt", ""), ("kept/draft.md", "d")],
            signals: &["done"; 3],
            ..CASE
        },
        Case {
            what: "nothing to copy",
            actions: &["{copy: specs, to: backup}"],
            before: &[("backup/old.md", "old")],
            signals: &["failed"],
            why: "nothing at `specs`",
            ..CASE
        },
        Case {
            what: "out of the repository",
            actions: &["{copy: \"{{subject}}/../../a\", to: b}"],
            before: &[("a", "a")],
            signals: &["failed"],
            why: "no path within the repository",
            ..CASE
        },
        Case {
            what: "by a link out of the repository",
            actions: &["{copy: a, to: away/b}"],
            before: &[("a", "a")],
            given: |bench| {
                std::os::unix::fs::symlink(bench.around(), bench.path().join("away")).expect("a link");
            },
            signals: &["failed"],
            why: "by a link",
            ..CASE
        },
        Case {
            what: "into itself",
            actions: &["{copy: a, to: a/b}"],
            before: &[("a/x", "x")],
            signals: &["failed"],
            why: "within each other",
            ..CASE
        },
        Case {
            what: "a file is in the way",
            actions: &["{copy: a, to: b/c}"],
            before: &[("a/x", "x"), ("b", "b")],
            signals: &["failed"],
            ..CASE
        },
    ]);
}

#[test]
fn files_are_moved() {
    play(&[
        Case {
            what: "a path",
            actions: &["{move: a, to: \"done/{{subject}}\"}"],
            before: &[("a/x", "x"), ("a/b/y", "y"), ("done/other", "o")],
            after: &[
                ("done/greet/x", "x"),
                ("done/greet/b/y", "y"),
                ("a/x", ""),
                ("a/b/y", ""),
                ("done/other", "o"),
            ],
            ..CASE
        },
        Case {
            what: "a document",
            top: "documents: {draft: {file: draft.md}, final: {file: out/final.md}}",
            actions: &["{move: draft, to: final}"],
            before: &[("draft.md", "d")],
            after: &[("out/final.md", "d"), ("draft.md", "")],
            ..CASE
        },
        Case {
            what: "the folder, and what is in it goes along",
            top: "folder: \"changes/{{subject}}\"\ndocuments: {state: {file: ./STATE.yaml, as: yaml, owner: engine}}",
            actions: &[
                "{move: folder, to: \"archive/{{today}}-{{subject}}\"}",
                "set: {state.at: \"{{folder}}\"}",
            ],
            before: &[("changes/greet/STATE.yaml", "a: b\n"), ("changes/other/x", "x")],
            after: &[
                ("archive/2026-09-21-greet/STATE.yaml", "a: b\nat: archive/2026-09-21-greet\n"),
                ("changes/greet/STATE.yaml", ""),
                ("changes/other/x", "x"),
            ],
            signals: &["done", "done"],
            ..CASE
        },
        Case {
            what: "nothing is overwritten",
            actions: &["{move: a, to: b}"],
            before: &[("a/x", "x"), ("a/y", "y"), ("b/y", "other")],
            after: &[("b/x", "")],
            signals: &["failed"],
            why: "`b/y` would be overwritten",
            ..CASE
        },
        Case {
            what: "nothing to move",
            actions: &["{move: a, to: b}"],
            before: &[("b/y", "other")],
            signals: &["failed"],
            why: "nothing at `a`",
            ..CASE
        },
        Case {
            what: "no folder",
            actions: &["{move: folder, to: b}"],
            before: &[("a", "a")],
            signals: &["failed"],
            why: "no `folder`",
            ..CASE
        },
    ]);
}
