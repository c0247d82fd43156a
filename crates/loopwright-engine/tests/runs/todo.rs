//! Issues in a `TODO` folder: kept in step with what lists them, and filed under numbers that nobody else takes.

use loopwright_engine::journal::{Journal, Sqlite};
use loopwright_engine::{Home, Numbers};

use crate::actions::{CASE, Case, die_everywhere, left, play, start};
use crate::bench::{Bench, workflow};

const ISSUE: &str = "documents: {issue: {file: TODO/GAL-2.md, as: todo-issue, owner: engine}}";
const PARENT: &str = "---\nid: GAL-1\ntitle: All of it\n---\n\n## Sub-issues\n\n- [ ] [GAL-2](GAL-2.md): Print it\n- [ ] GAL-3\n";
const PART: &str = "---\r\nid: GAL-2\r\ntitle: Print it # soon\r\nstatus: Todo\r\nparent: GAL-1\r\nmine: [x]\r\n---\r\n\r\n- [ ] a\r\n- [ ] b";
const README: &str =
    "# Board\n\n| id | status |\n|-|-|\n| GAL-1 | Todo |\n| [GAL-2](GAL-2.md) | Todo |\n\nEnd.";

#[test]
fn what_lists_an_issue_shows_how_far_it_is() {
    play(&[
        Case {
            what: "a status, in the issue, in its parent and in the list",
            top: ISSUE,
            actions: &["set: {issue.status: In Progress, issue.checked: \"{{['2'] | list}}\"}"],
            before: &[("TODO/GAL-1.md", PARENT), ("TODO/GAL-2.md", PART), ("TODO/README.md", README)],
            after: &[
                (
                    "TODO/GAL-1.md",
                    "---\nid: GAL-1\ntitle: All of it\n---\n\n## Sub-issues\n\n- [ ] [GAL-2](GAL-2.md): Print it (In Progress)\n- [ ] GAL-3\n",
                ),
                (
                    "TODO/GAL-2.md",
                    "---\r\nid: GAL-2\r\ntitle: Print it # soon\r\nstatus: In Progress\r\nparent: GAL-1\r\nmine: [x]\r\n---\r\n\r\n- [ ] a\r\n- [x] b",
                ),
                (
                    "TODO/README.md",
                    "# Board\n\n| id | status |\n|-|-|\n| GAL-1 | Todo |\n| [GAL-2](GAL-2.md) | In Progress |\n\nEnd.",
                ),
            ],
            ..CASE
        },
        Case {
            what: "one that nothing lists",
            top: ISSUE,
            actions: &["set: {issue.status: Done}"],
            before: &[("TODO/GAL-2.md", PART)],
            after: &[("TODO/README.md", ""), ("TODO/GAL-1.md", "")],
            ..CASE
        },
        Case {
            what: "a comment, once for each time it is said",
            top: ISSUE,
            actions: &[
                "{append: \"It stopped.\\n\\n# Why\\n\", to: issue.comments}",
                "{append: \"It stopped.\\n\\n# Why\\n\", to: issue.comments}",
                "{append: It went on., to: issue.comments}",
            ],
            before: &[("TODO/GAL-2.md", "# Two\n")],
            after: &[(
                "TODO/GAL-2.md",
                "# Two\n\n## Comments\n\n- It stopped.\n  \\# Why\n- It stopped.\n  \\# Why\n- It went on.\n",
            )],
            signals: &["done", "done", "done"],
            ..CASE
        },
        Case {
            what: "what cannot be read is not touched",
            top: ISSUE,
            actions: &["set: {issue.checked: \"{{['7'] | list}}\"}"],
            before: &[("TODO/GAL-2.md", PART)],
            after: &[("TODO/GAL-2.md", PART)],
            signals: &["failed"],
            why: "TODO/GAL-2.md: line 1, `checked`: `7` is no criterion of `GAL-2`; there are 1, 2",
            ..CASE
        },
    ]);
}

const TOP: &str = "documents: {tasks: {files: [\"run/task-*.md\"], as: task-spec}, issues: {files: [\"TODO/*.md\", \"!TODO/README.md\"], as: todo-issue, owner: engine}}";
const FILE: &str = "{create: issues, for: docs.tasks.rest, key: \"{{run}}-{{item.id}}\", set: {title: \"{{item.title}}\", parent: GAL-7, status: Todo, label: split-from-run, depends_on: \"{{item.depends_on}}\"}}";

const FIRST: &str = "---\ntitle: First\nfiles: [a.rs]\nnew-symbols: false\n---\n\nOne.\n";
const SECOND: &str =
    "---\ntitle: Second\nfiles: [a.rs]\ndepends-on: [task-1]\nnew-symbols: false\n---\n\nTwo.\n";
const THIRD: &str = "---\ntitle: \"Third: last\"\nfiles: [a.rs]\ndepends-on: [task-1, task-2, GAL-3]\nnew-symbols: false\n---\n\nThree.\n";
const SEVEN: &str = "---\nid: GAL-7\ntitle: Seven\nstatus: In Progress\n---\n\n## Comments\n\n- a\n";

#[test]
fn tasks_are_filed_as_issues() {
    play(&[
        Case {
            what: "under the next numbers, listed where they belong, with what they need",
            top: TOP,
            actions: &[FILE],
            before: &[
                ("run/task-1.md", FIRST),
                ("run/task-2.md", SECOND),
                ("run/task-3.md", THIRD),
                ("TODO/GAL-7.md", SEVEN),
                ("TODO/README.md", "- GAL-7\n"),
            ],
            after: &[
                (
                    "TODO/GAL-8.md",
                    "---\nid: GAL-8\ntitle: Second\nstatus: Todo\nlabels: [split-from-run]\nparent: GAL-7\n---\n",
                ),
                (
                    "TODO/GAL-9.md",
                    "---\nid: GAL-9\ntitle: \"Third: last\"\nstatus: Todo\nlabels: [split-from-run]\nparent: GAL-7\ndepends-on: [GAL-8, GAL-3]\n---\n",
                ),
                (
                    "TODO/GAL-7.md",
                    "---\nid: GAL-7\ntitle: Seven\nstatus: In Progress\n---\n\n## Sub-issues\n\n- [ ] [GAL-8](GAL-8.md): Second\n  - [ ] ↳ [GAL-9](GAL-9.md): Third: last\n\n## Comments\n\n- a\n",
                ),
                ("TODO/README.md", "- GAL-7\n"),
            ],
            why: "nothing waits for `task-1`, of which there is no `issues`",
            ..CASE
        },
        Case {
            what: "as most are called, where nothing says what they are part of",
            top: TOP,
            actions: &[
                "{create: issues, for: docs.tasks.rest, key: \"{{item.id}}\", set: {title: \"{{item.title}}\"}}",
            ],
            before: &[
                ("run/task-1.md", FIRST),
                ("run/task-2.md", SECOND),
                ("TODO/A-1.md", "# x\n"),
                ("TODO/B-4.md", "# x\n"),
                ("TODO/B-3.md", "# x\n"),
                ("TODO/README.md", "# TODO\n"),
            ],
            after: &[
                ("TODO/B-5.md", "---\nid: B-5\ntitle: Second\n---\n"),
                ("TODO/README.md", "# TODO\n\n## Issues\n\n- [ ] [B-5](B-5.md): Second\n"),
            ],
            ..CASE
        },
        Case {
            what: "where there are none yet",
            top: TOP,
            actions: &[
                "{create: issues, for: docs.tasks.rest, key: \"{{item.id}}\", set: {title: \"{{item.title}}\"}}",
            ],
            before: &[("run/task-1.md", FIRST), ("run/task-2.md", SECOND)],
            after: &[("TODO/ISSUE-1.md", "---\nid: ISSUE-1\ntitle: Second\n---\n"), ("TODO/README.md", "")],
            ..CASE
        },
        Case {
            what: "nothing, where one could not be read",
            top: TOP,
            actions: &["{create: issues, for: docs.tasks.rest, key: \"{{item.id}}\", set: {title: \"\"}}"],
            before: &[("run/task-1.md", FIRST), ("run/task-2.md", SECOND)],
            after: &[("TODO/ISSUE-1.md", "")],
            signals: &["failed"],
            why: "TODO/ISSUE-1.md: line 1, `title`: an issue has a title",
            ..CASE
        },
    ]);
}

/// Files what a list says, has the list changed, and files again.
const AGAIN: &str = r#"
workflow: again
subject: thing
budgets: {retries: {limit: 3, per: visit}, rounds: 2}
documents:
  list: {file: list.yaml, as: yaml, shape: {items: [{id: text, title: text, needs: [text]}]}}
  issues: {files: ["TODO/*.md", "!TODO/README.md"], as: todo-issue, owner: engine}
  fixes: {files: ["run/task-fix-*.md"], as: task-spec, owner: engine}
defaults:
  lost: {to: again, spend: retries, else: failed}
  failures: failed
states:
  make:
    do:
      - create: issues
        for: docs.list.items
        key: "{{item.id}}"
        set: {title: "{{item.title}}", parent: GAL-1, depends_on: "{{item.needs}}"}
        template: templates/issue.md
        prune: true
      - {create: fixes, for: docs.list.items, key: "{{item.id}}", template: templates/fix.md}
    then: change
  change:
    do: [{run: "sh change.sh", writes: [list, issues, fixes]}]
    then: {to: make, spend: rounds, else: done}
  done: {end: success}
  failed: {end: failure}
"#;

const LIST: &str = "items:\n  - {id: a, title: A, needs: []}\n  - {id: b, title: B, needs: [a]}\n  - {id: c, title: C, needs: []}\n  - {id: d, title: D, needs: [c]}\n";
/// `a` is called otherwise, `b` goes, `c` was taken up by somebody, `d` waits for another, `e` comes; then nothing changes.
const LATER: &str = "items:\n  - {id: a, title: A again, needs: []}\n  - {id: c, title: C again, needs: []}\n  - {id: d, title: D, needs: [a]}\n  - {id: e, title: E, needs: []}\n";

fn again() -> Bench {
    let change = format!(
        "grep -q again list.yaml && exit\ngrep -q Done TODO/GAL-4.md || sed -i 's/^title: C$/&\\nstatus: Done/' TODO/GAL-4.md\nrm -f run/task-fix-3.md\ncat > list.yaml <<'END'\n{LATER}END\n"
    );
    Bench::with(&[
        ("list.yaml", LIST),
        ("change.sh", &change),
        ("TODO/GAL-1.md", "# All\n"),
        ("TODO/README.md", "- GAL-1\n"),
    ])
}

fn folder() -> loopwright_core::language::Folder {
    let mut folder = workflow(AGAIN);
    folder.files.insert("templates/fix.md".into(), b"{{item.title}}".to_vec());
    folder.files.insert("templates/issue.md".into(), b"## What\n\nIt is {{item.title}}.\n".to_vec());
    folder
}

#[test]
fn what_was_filed_follows_its_task_as_long_as_nobody_touched_it() {
    let bench = again();
    let engine = bench.engine(&[]);
    let driver = start(&engine, &folder());
    let name = driver.name().to_owned();
    let standing = driver.drive().expect("it runs");
    let left = left(&bench, &engine, &name, &standing);
    let issue = |id: &str, rest: &str, title: &str| {
        format!("---\nid: {id}\n{rest}\n---\n\n## What\n\nIt is {title}.\n")
    };
    let wanted = [
        ("TODO/GAL-1.md", "# All\n\n## Sub-issues\n\n- [ ] [GAL-4](GAL-4.md): C\n- [ ] [GAL-2](GAL-2.md): A again\n  - [ ] ↳ [GAL-5](GAL-5.md): D\n- [ ] [GAL-6](GAL-6.md): E\n".to_owned()),
        ("TODO/GAL-2.md", issue("GAL-2", "title: A again\nparent: GAL-1", "A again")),
        ("TODO/GAL-4.md", issue("GAL-4", "title: C\nstatus: Done\nparent: GAL-1", "C")),
        ("TODO/GAL-5.md", issue("GAL-5", "title: D\nparent: GAL-1\ndepends-on: [GAL-2]", "D")),
        ("TODO/GAL-6.md", issue("GAL-6", "title: E\nparent: GAL-1", "E")),
        ("TODO/README.md", "- GAL-1\n".to_owned()),
    ];
    let issues: Vec<(&str, String)> = left
        .files
        .iter()
        .filter(|(it, _)| it.starts_with("TODO/"))
        .map(|(path, text)| (path.as_str(), text.clone()))
        .collect();
    assert_eq!(issues, wanted, "{left:#?}");
    // What the run keeps for itself is numbered on, and never called as something that is gone.
    let fixes: Vec<(&str, &str)> = left
        .files
        .iter()
        .filter(|(it, _)| it.starts_with("run/"))
        .map(|(path, text)| (path.as_str(), text.as_str()))
        .collect();
    let wanted = [
        ("run/task-fix-1.md", "A"),
        ("run/task-fix-2.md", "B"),
        ("run/task-fix-4.md", "D"),
        ("run/task-fix-5.md", "C again"),
        ("run/task-fix-6.md", "E"),
    ];
    assert_eq!(fixes, wanted);
}

#[test]
fn wherever_a_driver_dies_the_same_is_filed() {
    let (_, left) = die_everywhere("filing again", &folder(), &again, &[]);
    assert!(
        left.files.contains_key("TODO/GAL-6.md") && !left.files.contains_key("TODO/GAL-3.md"),
        "{left:#?}"
    );
}

#[test]
fn no_two_worktrees_take_one_number() {
    let bench = Bench::with(&[("TODO/GAL-1.md", "# x\n"), ("TODO/OLD-90.md", "# x\n")]);
    let beside = |branch: &str| {
        let place = bench.around().join(branch);
        bench.git(&["worktree", "add", "--quiet", "-b", branch, &place.to_string_lossy()]);
        Bench::at(place)
    };
    let (one, other, third) = (beside("one"), beside("other"), beside("third"));
    // One that is committed on a branch nobody has checked out, one that lies in a worktree, uncommitted.
    third.write("TODO/GAL-5.md", "# x\n");
    third.git(&["add", "--all"]);
    third.git(&["commit", "--quiet", "--message", "five"]);
    third.git(&["switch", "--quiet", "--detach", "main"]);
    other.write("TODO/GAL-3.md", "# x\n");
    let journal = Sqlite::open(&Home::around(bench.path()).expect("a home").journal).expect("a journal");
    let take = |bench: &Bench, prefix: &str, holder: &str| {
        let home = Home::around(bench.path()).expect("a home");
        let numbers = Numbers { git: &home.git, journal: &journal as &dyn Journal };
        numbers.take("TODO", prefix, holder).expect("a number")
    };
    assert_eq!(take(&one, "GAL-", "a"), 6);
    assert_eq!(take(&other, "GAL-", "b"), 7);
    assert_eq!(take(&bench, "GAL-", "c"), 8);
    // Somebody who asks again gets theirs, until somebody else put a file there.
    assert_eq!(take(&bench, "GAL-", "a"), 6);
    one.write("TODO/GAL-6.md", "# x\n");
    assert_eq!(take(&one, "GAL-", "a"), 9);
    assert_eq!(take(&one, "OLD-", "a"), 91);
    assert_eq!(take(&one, "NEW-", "a"), 1);
}
