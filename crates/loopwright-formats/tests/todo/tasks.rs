//! Task specifications.

use loopwright_formats::todo::{Task, unknown};

use super::told;

const TASK: &str = "\
---
title: Read it
files: [src/read.rs, tests/read.rs]
depends-on: [task-1]
new-symbols: true
---

## Description

Reads it.

### How

Line by line.

## Acceptance criteria

- [ ] It is read
- [ ] All of it

## Code context

`src/lib.rs` has a reader.

## Contracts

Gives `Read`.

## Plan

1. Read

## Test design

One test.
";

#[test]
fn all_of_a_task_is_read() {
    let task = Task::read("task-2", TASK);
    assert_eq!((told(&task.problems), told(&task.lacking)), (Vec::new(), Vec::new()));
    let wanted = Task {
        id: "task-2".into(),
        title: "Read it".into(),
        finding: String::new(),
        files: vec!["src/read.rs".into(), "tests/read.rs".into()],
        depends_on: vec!["task-1".into()],
        new_symbols: true,
        description: "Reads it.\n\n### How\n\nLine by line.".into(),
        context: "`src/lib.rs` has a reader.".into(),
        contracts: "Gives `Read`.".into(),
        plan: "1. Read".into(),
        test_design: "One test.".into(),
        criteria: vec!["It is read".into(), "All of it".into()],
        ..Task::default()
    };
    assert_eq!(task, wanted);
    assert_eq!(Task::read("task-2", &TASK.replace('\n', "\r\n")), wanted);
}

#[test]
fn agents_write_tasks_in_many_ways() {
    let text = "---\nid: task-3\nfiles:\n  - `src/a.rs` (new)\n  - ./src/b c.rs\n  - src/c.rs - the printer\n  - tests/: all of it\ndepends_on: 1, task-2.md\nnew_symbols: No\n---\n# Print it\n\nIt prints.\n\n## AC\n\n* [ ] Printed\n";
    let task = Task::read("task-3", text);
    assert_eq!((told(&task.problems), told(&task.lacking)), (Vec::new(), Vec::new()));
    assert_eq!(task.files, ["src/a.rs", "src/b c.rs", "src/c.rs", "tests/"]);
    assert_eq!(task.depends_on, ["task-1", "task-2"]);
    assert_eq!(
        (task.title.as_str(), task.description.as_str(), task.new_symbols),
        ("Print it", "It prints.", false)
    );
    assert_eq!(Task::read("task-4", "---\ndepends-on: none\n---\n").depends_on, Vec::<String>::new());
}

#[test]
fn what_a_task_lacks_is_said() {
    let task = Task::read("task-1", "Words.\n");
    let wanted = [
        "line 1: it does not say whether it adds what tests will name: `new-symbols: true` or `false`",
        "line 1: it has no `title`",
        "line 1: it lists no `files` that it may change",
        "line 1: it has no box below `Acceptance criteria`",
    ];
    assert_eq!((told(&task.problems), told(&task.lacking)), (Vec::new(), wanted.map(str::to_owned).to_vec()));
    let odd = "---\nid: task-9\nfiles: {a: b}\nnew-symbols: perhaps\ndepends-on: task-1\n---\n";
    let wanted = [
        "line 2: this calls itself `task-9`, and its file is `task-1.md`",
        "line 3: `files` is a list, and this is a map",
        "line 4: `new-symbols` is `true` or `false`, and not `perhaps`",
        "line 5: `task-1` depends on itself",
    ];
    assert_eq!(told(&Task::read("task-1", odd).problems), wanted);
}

#[test]
fn tasks_know_of_each_other() {
    let mut tasks = ["task-10", "task-2", "task-fix-1", "notes"].map(|it| Task::read(it, TASK)).to_vec();
    tasks.sort_by(|one, other| one.place().cmp(&other.place()));
    let ids: Vec<&str> = tasks.iter().map(|it| it.id.as_str()).collect();
    assert_eq!(ids, ["task-fix-1", "task-2", "task-10", "notes"]);
    assert_eq!(told(&unknown(&tasks)).len(), 4);
    assert_eq!(
        unknown(&tasks)[1].to_string(),
        "task-2.md, line 1: `task-2` depends on `task-1`, and there is no such task"
    );
}
