//! One issue: read however it is written, changed in one place.

use loopwright_formats::todo::{Draft, Issue, Status, get, set};
use serde_json::{Value, json};

use super::told;

const PLAIN: &str = "\
---
id: GAL-39
title: Print it
status: In Progress
labels: [bug, ui]
parent: GAL-12
depends-on: [GAL-1, GAL-2]
---

It is not printed.

## Acceptance criteria

- [x] It is printed
- [ ] In color,
      also on paper

## Sub-issues

- [x] [GAL-40](GAL-40.md): Read it
  - [ ] ↳ [GAL-41](GAL-41.md): Draw it (In Progress)

## Comments

- First.
- Second,
  in two lines.
";

#[test]
fn all_of_an_issue_is_read() {
    let issue = Issue::read("GAL-39", PLAIN);
    assert_eq!(told(&issue.problems), Vec::<String>::new());
    assert_eq!(told(&issue.doubts), Vec::<String>::new());
    assert_eq!(
        (issue.id.as_str(), issue.title.as_str(), issue.status, issue.parent.as_deref()),
        ("GAL-39", "Print it", Status::InProgress, Some("GAL-12"))
    );
    assert_eq!(
        (issue.labels, issue.depends_on),
        (vec!["bug".into(), "ui".into()], vec!["GAL-1".into(), "GAL-2".into()])
    );
    let criteria: Vec<_> =
        issue.criteria.iter().map(|it| (it.id.as_str(), it.text.as_str(), it.checked, it.line)).collect();
    assert_eq!(criteria, [("1", "It is printed", true, 14), ("2", "In color, also on paper", false, 15)]);
    let parts: Vec<_> = issue.sub_issues.iter().map(|it| (it.id.as_str(), it.shown)).collect();
    assert_eq!(parts, [("GAL-40", Some(Status::Done)), ("GAL-41", Some(Status::InProgress))]);
    assert_eq!(issue.comments, ["First.", "Second,\nin two lines."]);
}

/// How a status can be written, and what it means.
#[test]
fn people_write_the_top_in_many_ways() {
    let same = [
        "---\nid: GAL-3\ntitle: Fix: it\nstatus: todo\ndepends_on: GAL-1, GAL-2\nparent: '[GAL-9](GAL-9.md)'\nlabel: bug\n---\n",
        "---\ntitle: \"Fix: it\"\nStatus: Open\ndepends-on:\n  - GAL-1\n  # not yet\n  - \"GAL-2\" # soon\nparent: GAL-9.md\nlabels:\n- bug\n---\n",
        "\u{feff}---\r\nTitle: 'Fix: it'\r\nblocked-by: [ 'GAL-1', GAL-2 ]\r\nparent: GAL-9\r\ntags: bug\r\npriority: 3\r\n---\r\n\r\nBody.\r\n",
        "# GAL-3: Fix: it\n\n**Status:** To do\n- Depends on: [GAL-1](GAL-1.md), [GAL-2](./GAL-2.md)\nParent: `GAL-9`\n*Labels*: bug\n\n## Description\n\nStatus: Done\n",
        "# Fix: it\nid: GAL-3\nstate: backlog\nblocked by: GAL-1 and GAL-2.\nparent: GAL-9\nlabel: bug",
        "---\ntitle: >-\n  Fix:\n  it\nparent: GAL-9\nrequires: [GAL-1,\n  GAL-2]\nlabels: [bug]\nstatus:\n---\n",
        "---\ntitle: |\n  Fix: it\nparent: GAL-9\ndepends-on: [[GAL-1]], GAL-2\nlabels: [bug]\nstatus: ~\n---\n",
    ];
    for text in same {
        let issue = Issue::read("GAL-3", text);
        assert_eq!(told(&issue.problems), Vec::<String>::new(), "{text}");
        let seen = (issue.id.as_str(), issue.title.as_str(), issue.status, issue.parent.as_deref());
        assert_eq!(seen, ("GAL-3", "Fix: it", Status::Todo, Some("GAL-9")), "{text}");
        assert_eq!(
            (issue.depends_on, issue.labels),
            (vec!["GAL-1".into(), "GAL-2".into()], vec!["bug".into()]),
            "{text}"
        );
        let head = Issue::head("GAL-3", text);
        assert_eq!(
            (head.title, head.status, head.problems),
            (issue.title, issue.status, issue.problems),
            "{text}"
        );
    }
    for (word, status) in [
        ("in-progress", Status::InProgress),
        ("IN PROGRESS", Status::InProgress),
        ("Doing", Status::InProgress),
        ("done", Status::Done),
        ("Closed", Status::Done),
        ("'Done' # at last", Status::Done),
        ("\"Todo\"", Status::Todo),
    ] {
        let issue = Issue::read("A-1", &format!("---\ntitle: a\nstatus: {word}\n---\n"));
        assert_eq!((issue.status, issue.problems), (status, Vec::new()), "{word}");
    }
}

#[test]
fn what_cannot_be_understood_is_said_with_its_line() {
    for (text, wanted) in [
        (
            "---\ntitle: a\nstatus: Dnoe\n---\n",
            &["line 3: `Dnoe` is no status; one of Todo, In Progress, Done"][..],
        ),
        ("---\ntitle: a\nstatus: Todo\nstatus: Done\n---\n", &["line 4: `status` is there twice: leave one"]),
        ("---\ntitle: a\nState: Todo\nstatus: Done\n---\n", &["line 4: `status` is there twice: leave one"]),
        (
            "---\ntitle: a\ndepends-on: [the parser, GAL-1]\n---\n",
            &["line 3: `the` in `depends-on` is no id such as `GAL-39`"],
        ),
        (
            "---\ntitle: a\ndepends-on: {GAL-1: x}\n---\n",
            &["line 3: `depends-on` is a list, and this is a map"],
        ),
        (
            "---\ntitle: a\nparent: [GAL-1, GAL-2]\n---\n",
            &["line 3: an issue is part of one other issue at most"],
        ),
        (
            "---\ntitle: [a]\n---\n",
            &[
                "line 1: the issue has no title: write `title: ...` at its top",
                "line 2: `title` is one value, and this is a list",
            ],
        ),
        (
            "---\ntitle: a\n",
            &["line 1: the front matter is never closed: put `---` on a line of its own behind it"],
        ),
        ("---\n- a\n---\n# b\n", &["line 2: the front matter is a list, and no map of `key: value`"]),
        (
            "---\ntitle: a\nthis is\n lost: too\n---\n",
            &[
                "line 1: the issue has no title: write `title: ...` at its top",
                "line 2: the front matter cannot be read: it is not YAML: simple key expect ':'",
            ],
        ),
        (
            "---\n{title: a, status: Done}\n---\n",
            &[
                "line 2: `title` is not where it is looked for: write `title: ...` on a line of its own",
                "line 2: `status` is not where it is looked for: write `status: ...` on a line of its own",
                "line 1: the issue has no title: write `title: ...` at its top",
            ],
        ),
        ("", &["line 1: the issue has no title: write `title: ...` at its top"]),
    ] {
        let issue = Issue::read("GAL-3", text);
        let mut wanted: Vec<String> = wanted.iter().map(|it| (*it).to_owned()).collect();
        let mut said = told(&issue.problems);
        wanted.sort();
        said.sort();
        assert_eq!(said, wanted, "{text}");
    }
    let odd = "---\ntitle: a\n---\n## Sub-issues\n\n- [ ] write the papers\n- GAL-4\n";
    let issue = Issue::read("GAL-3", odd);
    assert_eq!(told(&issue.doubts), ["line 6: this entry of the sub-issues names no issue"]);
    assert_eq!(issue.sub_issues.len(), 1);
}

#[test]
fn criteria_are_named_by_themselves_or_by_their_place() {
    let ids = |text: &str| -> Vec<String> {
        Issue::read("A-1", text).criteria.into_iter().map(|it| it.id).collect()
    };
    let boxes =
        |lines: &[&str]| format!("# t\n\n## Acceptance Criteria\n\n- [ ] {}\n", lines.join("\n- [ ] "));
    assert_eq!(ids(&boxes(&["AC-1: a", "**AC2** b", "AC3 — c", "d"])), ["AC-1", "AC2", "AC3", "4"]);
    assert_eq!(ids(&boxes(&["AC-1: a", "AC-1: b"])), ["1", "2"]);
    // Boxes anywhere, where nothing says which are criteria.
    assert_eq!(
        ids("# t\n\n- [ ] a\n\n## Work\n\n* [x] b\n1. [ ] c\n☐ no item\n- ☑ d\n"),
        ["1", "2", "3", "4"]
    );
    assert_eq!(
        ids(
            "# t\n\n- [ ] a\n\n## AC\n\n- [ ] b\n### More\n- [ ] c\n## Sub-issues\n- [ ] GAL-2\n## Comments\n- [ ] d\n"
        ),
        ["1", "2"]
    );
    assert_eq!(ids("# t\n\n```\n- [ ] code\n```\n<!--\n- [ ] hidden\n-->\n- [ ] a\n"), ["1"]);
    assert_eq!(ids("# t\n\n- [1] a\n- [x](y) b\n"), Vec::<String>::new());
}

/// One change: the text, the field, the value, and what stands instead of what.
type Change<'a> = (&'a str, &'a str, Value, &'a str, &'a str);

#[test]
fn a_change_touches_nothing_else() {
    let label = "# A-1: t\r\n\r\n**Status:** Todo  \r\nParent: A-9\r\n\r\ntext";
    let changes: &[Change<'_>] = &[
        (PLAIN, "status", json!("Done"), "status: In Progress", "status: Done"),
        (PLAIN, "status", json!("in progress"), "", ""),
        (PLAIN, "checked", json!(["2"]), "- [ ] In color", "- [x] In color"),
        (PLAIN, "checked", json!(["1"]), "", ""),
        (PLAIN, "checked", json!([]), "", ""),
        (PLAIN, "checked", json!(["AC-2"]), "- [ ] In color", "- [x] In color"),
        (PLAIN, "checked", json!(["in color, also on paper"]), "- [ ] In color", "- [x] In color"),
        (PLAIN, "title", json!("Print: it"), "title: Print it", "title: \"Print: it\""),
        (PLAIN, "parent", json!("GAL-13"), "parent: GAL-12", "parent: GAL-13"),
        (PLAIN, "parent", Value::Null, "parent: GAL-12", "parent: "),
        (PLAIN, "labels", json!(["a b"]), "[bug, ui]", "[a b]"),
        (PLAIN, "depends_on", json!(["GAL-1"]), "[GAL-1, GAL-2]", "[GAL-1]"),
        (PLAIN, "depends_on", json!([]), "[GAL-1, GAL-2]", "[]"),
        ("---\nstatus: 'Todo'   # for now\ntitle: t\n---", "status", json!("Done"), "'Todo'", "'Done'"),
        ("---\ntitle: t\nstatus:\nx: y\n---\n", "status", json!("Done"), "status:", "status: Done"),
        ("---\ntitle: t # no\nx: y\n---\n", "status", json!("Done"), "# no\n", "# no\nstatus: Done\n"),
        (
            "---\r\ntitle: t\r\nparent: A-2\r\n---\r\n",
            "status",
            json!("Done"),
            "title: t\r\n",
            "title: t\r\nstatus: Done\r\n",
        ),
        ("---\nparent: A-2\n---\n# t\n", "status", json!("Done"), "---\nparent", "---\nstatus: Done\nparent"),
        ("# t\n", "status", json!("Done"), "# t\n", "---\nstatus: Done\n---\n\n# t\n"),
        ("\u{feff}# t", "status", json!("Done"), "# t", "---\nstatus: Done\n---\n\n# t"),
        (label, "status", json!("Done"), "** Todo", "** Done"),
        (label, "depends_on", json!(["A-2"]), "A-9\r\n", "A-9\r\nDepends on: A-2\r\n"),
        ("# t\n\n`Status`: `Todo`", "status", json!("In Progress"), "`Todo`", "`In Progress`"),
        ("# t\nParent: A-9", "status", json!("Done"), "Parent: A-9", "Parent: A-9\nStatus: Done"),
        (
            "---\ntitle: t\ndepends-on:\n  - A-2 # soon\n  - A-3\n# end\nx: 1\n---\n",
            "depends_on",
            json!(["A-2"]),
            "\n  - A-2 # soon\n  - A-3",
            " [A-2]",
        ),
        (
            "---\ntitle: t\nlabels: []\n---\n- [] a\n- ☐ b\n",
            "checked",
            json!(["1", "2"]),
            "- [] a\n- ☐ b\n",
            "- [x] a\n- ☑ b\n",
        ),
    ];
    for (text, field, value, from, to) in changes {
        let changed = set("A-1", text, field, value).unwrap_or_else(|why| panic!("{field} of {text}: {why}"));
        let wanted = if from.is_empty() { (*text).to_owned() } else { text.replacen(from, to, 1) };
        assert_eq!(changed, wanted, "{field} = {value}");
        let again = set("A-1", &changed, field, value);
        assert_eq!(again.as_deref(), Ok(changed.as_str()), "{field} again");
    }
}

#[test]
fn what_cannot_be_changed_is_refused_with_a_reason() {
    for (field, value, why) in [
        ("status", json!("later"), "line 4: `later` is no status; one of Todo, In Progress, Done"),
        ("checked", json!(["7"]), "line 1: `7` is no criterion of `GAL-39`; there are 1, 2"),
        ("parent", json!("somebody"), "line 6: `somebody` is no id such as `GAL-39`"),
        ("depends_on", json!(["task-1"]), "line 7: `task-1` is no id such as `GAL-39`"),
        ("comments", json!(["other"]), "line 1: what was said stays: comments can only be added to"),
        ("title", json!(" "), "line 1: an issue has a title"),
        ("priority", json!("1"), "line 1: nobody can set `priority` of an issue"),
    ] {
        let refused = set("GAL-39", PLAIN, field, &value).map_err(|it| it.to_string());
        assert_eq!(refused, Err(why.to_owned()));
    }
}

#[test]
fn a_new_issue_says_what_it_was_given() {
    let draft = Draft {
        id: "GAL-43".into(),
        title: "Say: yes".into(),
        labels: vec!["bug".into()],
        parent: Some("GAL-39".into()),
        depends_on: vec!["GAL-40".into()],
        text: "Somebody asked.\n".into(),
        criteria: vec!["It says\nyes".into(), "Twice".into()],
        ..Draft::default()
    };
    let text = draft.render().unwrap();
    let wanted = "---\nid: GAL-43\ntitle: \"Say: yes\"\nstatus: Todo\nlabels: [bug]\nparent: GAL-39\ndepends-on: [GAL-40]\n---\n\nSomebody asked.\n\n## Acceptance criteria\n\n- [ ] It says yes\n- [ ] Twice\n";
    assert_eq!(text, wanted);
    let issue = Issue::read("GAL-43", &text);
    assert_eq!(
        (get(&issue, "title"), get(&issue, "label"), get(&issue, "checked")),
        (Some(json!("Say: yes")), Some(json!("bug")), Some(json!([])))
    );
    let least = Draft { id: "A-1".into(), title: "true".into(), ..Draft::default() };
    assert_eq!(least.render().as_deref(), Ok("---\nid: A-1\ntitle: \"true\"\nstatus: Todo\n---\n"));
}
