//! `set`, `append` and `create`.

use crate::actions::{CASE, Case, die_everywhere, play};
use crate::bench::{Bench, workflow};

const STATE: &str = "# kept by hand\nstatus: open # so far\nround: 1\n";

#[test]
fn fields_are_set() {
    play(&[
        Case {
            what: "fields, and all else stays",
            top: "documents: {state: {file: STATE.yaml, as: yaml, shape: {status: text, round: int}}, meta: {file: meta.json, as: json}}",
            actions: &[
                "set: {state.status: \"{{subject}} done\", state.round: \"2\", meta.a.b: \"{{['x', 'y'] | list}}\"}",
            ],
            before: &[("STATE.yaml", STATE), ("meta.json", "{\"keep\": true}\n")],
            after: &[
                ("STATE.yaml", "# kept by hand\nstatus: greet done # so far\nround: 2\n"),
                ("meta.json", "{\"keep\": true, \"a\": {\"b\": [\"x\", \"y\"]}}\n"),
            ],
            ..CASE
        },
        Case {
            what: "only if it is there, or is not",
            top: "documents: {state: {file: STATE.yaml, as: yaml}}",
            actions: &[
                "set: {state.status: {to: a, if: absent}, state.other: {to: b, if: present}}",
                "set: {state.round: {to: c, if: present}, state.more: {to: d, if: absent}}",
            ],
            before: &[("STATE.yaml", STATE)],
            after: &[("STATE.yaml", "# kept by hand\nstatus: open # so far\nround: c\nmore: d\n")],
            signals: &["done", "done"],
            ..CASE
        },
        Case {
            what: "a document of the engine's is made",
            top: "documents: {state: {file: a/STATE.yaml, as: yaml, owner: engine}, log: {file: log.json, as: json, owner: engine}}",
            actions: &["set: {state.status: new, log.status: new}"],
            after: &[("a/STATE.yaml", "status: new\n"), ("log.json", "{\n  \"status\": \"new\"\n}\n")],
            before: &[("other", "x")],
            ..CASE
        },
        Case {
            what: "somebody else's is not, and then nothing is set",
            top: "documents: {state: {file: STATE.yaml, as: yaml}, gone: {file: gone.yaml, as: yaml}}",
            actions: &["set: {state.status: new, gone.status: new}"],
            before: &[("STATE.yaml", STATE)],
            signals: &["failed"],
            why: "not there",
            ..CASE
        },
        Case {
            what: "a path that somebody's words lead out of the repository",
            top: "documents: {state: {file: s.yaml, as: yaml, shape: {at: text}}, other: {file: \"x/{{docs.state.at}}.yaml\", as: yaml, owner: engine}}",
            actions: &["set: {other.a: b}"],
            before: &[("s.yaml", "at: ../../out\n")],
            after: &[("../out.yaml", "")],
            signals: &["failed"],
            why: "no path within the repository",
            ..CASE
        },
        Case {
            what: "what cannot be read is not touched",
            top: "documents: {state: {file: STATE.yaml, as: yaml}}",
            actions: &["set: {state.status: new}"],
            before: &[("STATE.yaml", "a: [1\nb: }\n")],
            signals: &["failed"],
            why: "STATE.yaml: line",
            ..CASE
        },
    ]);
}

#[test]
fn lines_are_appended_once() {
    play(&[
        Case {
            what: "the same line by two actions stands there twice, whoever dies",
            top: "documents: {log: {file: LOG.md, as: markdown}, all: {file: all.jsonl, as: json-lines, owner: engine}, state: {file: s.yaml, as: yaml}}",
            actions: &[
                "{append: \"- {{subject}}\", to: log.sections.History}",
                "{append: \"- {{subject}}\", to: log.sections.History}",
                "{append: '{\"a\": 1}', to: all.rows}",
                "{append: one, to: state.list}",
                "{append: one, to: state.list}",
            ],
            before: &[
                ("LOG.md", "# Log\n\n## History\n\n- first\n\n## More\n\ntext\n"),
                ("s.yaml", "a: b\n"),
            ],
            after: &[
                ("LOG.md", "# Log\n\n## History\n\n- first\n- greet\n- greet\n\n## More\n\ntext\n"),
                ("all.jsonl", "{\"a\":1}\n"),
                ("s.yaml", "a: b\nlist:\n  - one\n  - one\n"),
            ],
            signals: &["done"; 5],
            ..CASE
        },
        Case {
            what: "only to a list",
            top: "documents: {state: {file: STATE.yaml, as: yaml}}",
            actions: &["{append: one, to: state.status}"],
            before: &[("STATE.yaml", STATE)],
            signals: &["failed"],
            why: "only a list can be added to",
            ..CASE
        },
        Case {
            what: "not to what is not there",
            top: "documents: {state: {file: STATE.yaml, as: yaml}}",
            actions: &["{append: one, to: state.status}"],
            before: &[("other", "x")],
            signals: &["failed"],
            why: "not the engine's to make",
            ..CASE
        },
    ]);
}

const LIST: &str = "items:\n  - {id: a, title: First}\n  - {id: b, title: Second}\n";
const TOP: &str = "documents: {list: {file: list.yaml, as: yaml, shape: {items: [{id: text, title: text}]}}, notes: {files: [\"notes/*.md\", \"!notes/README.md\"], as: markdown, owner: engine}}";

#[test]
fn documents_are_created() {
    play(&[
        Case {
            what: "one per entry, and those that are there stay",
            top: TOP,
            actions: &[
                "{create: notes, for: docs.list.items, key: \"{{subject}}-{{item.id}}\", set: {front.title: \"{{item.title}}\"}}",
                "{create: notes, for: docs.list.items, key: \"{{subject}}-{{item.id}}\", set: {front.title: again}}",
            ],
            before: &[("list.yaml", LIST), ("notes/greet-b.md", "mine\n")],
            after: &[("notes/greet-a.md", "---\ntitle: First\n---\n"), ("notes/greet-b.md", "mine\n")],
            signals: &["done", "done"],
            ..CASE
        },
        Case {
            what: "a path that names the item",
            top: "documents: {list: {file: list.yaml, as: yaml, shape: {items: [{id: text, title: text}]}}, note: {file: \"n/{{item.id}}.json\", as: json, owner: engine}}",
            actions: &[
                "{create: note, for: docs.list.items, key: \"{{item.id}}\", set: {title: \"{{item.title}}\"}}",
            ],
            before: &[("list.yaml", LIST)],
            after: &[
                ("n/a.json", "{\n  \"title\": \"First\"\n}\n"),
                ("n/b.json", "{\n  \"title\": \"Second\"\n}\n"),
            ],
            ..CASE
        },
        Case {
            what: "nobody knows where",
            top: "documents: {list: {file: list.yaml, as: yaml, shape: {items: [{id: text, title: text}]}}, notes: {files: [\"notes/**\"], as: markdown, owner: engine}}",
            actions: &["{create: notes, for: docs.list.items, key: \"{{item.id}}\"}"],
            before: &[("list.yaml", LIST)],
            signals: &["failed"],
            why: "where a new `notes` belongs",
            ..CASE
        },
        Case {
            what: "two keys, one document",
            top: "documents: {list: {file: list.yaml, as: yaml, shape: {items: [{id: text, title: text}]}}, note: {file: n.json, as: json, owner: engine}}",
            actions: &["{create: note, for: docs.list.items, key: \"{{item.id}}\"}"],
            before: &[("list.yaml", LIST)],
            after: &[("n.json", "")],
            signals: &["failed"],
            why: "of two keys",
            ..CASE
        },
    ]);
}

/// Creates, has the list changed, and creates again.
const AGAIN: &str = r#"
workflow: again
subject: thing
budgets: {retries: {limit: 3, per: visit}, rounds: 2}
documents:
  list: {file: list.yaml, as: yaml, shape: {items: [{id: text}]}}
  notes: {files: ["notes/*.md"], as: markdown, owner: engine}
defaults:
  lost: {to: again, spend: retries, else: failed}
  failures: failed
states:
  make:
    do: [{create: notes, for: docs.list.items, key: "{{item.id}}", set: {front.id: "{{item.id}}"}, prune: true}]
    then: change
  change:
    do: [{run: "sh change.sh", writes: [list, notes]}]
    then: {to: make, spend: rounds, else: done}
  done: {end: success}
  failed: {end: failure}
"#;

#[test]
fn what_a_run_created_is_taken_back_and_nothing_else() {
    // First `b` goes and `c` is changed and goes, while a person removes `a`; then `b` comes back.
    let change = "grep -q 'id: c' list.yaml && { printf 'items:\\n  - id: a\\n' > list.yaml; echo more >> notes/c.md; rm -f notes/a.md; exit; }\nprintf 'items:\\n  - id: a\\n  - id: b\\n' > list.yaml\n";
    let before = [
        ("list.yaml", "items:\n  - id: a\n  - id: b\n  - id: c\n"),
        ("notes/other.md", "not ours\n"),
        ("change.sh", change),
    ];
    let bench = Bench::with(&before);
    let engine = bench.engine(&[]);
    let driver = crate::actions::start(&engine, &workflow(AGAIN));
    let name = driver.name().to_owned();
    let standing = driver.drive().expect("it runs");
    let left = crate::actions::left(&bench, &engine, &name, &standing);
    let notes: Vec<&str> =
        left.files.keys().map(String::as_str).filter(|it| it.starts_with("notes/")).collect();
    assert_eq!(notes, ["notes/b.md", "notes/c.md", "notes/other.md"], "{left:#?}");
    assert_eq!(left.files["notes/c.md"], "---\nid: c\n---\nmore\n");
}

/// Marks every item in the list it comes from.
const ITEMS: &str = r#"
workflow: items
subject: thing
budgets: {retries: {limit: 3, per: visit}}
documents:
  tasks: {file: tasks.yaml, as: yaml, shape: {items: [{id: text, status: text}]}}
  words: {file: words.yaml, as: yaml, shape: {items: [text]}}
defaults:
  lost: {to: again, spend: retries, else: failed}
  failures: failed
states:
  all:
    each: {item: task, in: docs.LIST.items, run: task}
    on: {ended | empty: done, broken: failed}
  done: {end: success}
  failed: {end: failure}
children:
  task:
    budgets: {retries: {limit: 3, per: visit}}
    defaults:
      lost: {to: again, spend: retries, else: broken}
      failures: broken
    states:
      mark: {do: [{set: {item.status: "{{item.id}} is done"}}], then: ended}
      ended: {end: success}
      broken: {end: failure}
"#;

#[test]
fn fields_of_items_are_set_where_they_come_from() {
    let tasks = "items:\n  - id: a\n    status: open # yet\n  - {id: b, status: open}\n";
    let before = [("tasks.yaml", tasks), ("words.yaml", "items: [x]\n")];
    let run = |list: &str| {
        let bench = Bench::with(&before);
        let engine = bench.engine(&[]);
        let other = if list == "tasks" { "words" } else { "tasks" };
        let unused = ITEMS.lines().filter(|it| !it.starts_with(&format!("  {other}:")));
        let text = unused.collect::<Vec<_>>().join("\n").replace("LIST", list);
        let standing = crate::actions::start(&engine, &workflow(&text)).drive().expect("it runs");
        (bench.read("tasks.yaml"), bench.read("words.yaml"), standing.run().at.state.to_string())
    };
    let expected = "items:\n  - id: a\n    status: a is done # yet\n  - {id: b, status: b is done}\n";
    assert_eq!(run("tasks"), (expected.to_owned(), "items: [x]\n".to_owned(), "done".to_owned()));
    let text = ITEMS.lines().filter(|it| !it.starts_with("  words:")).collect::<Vec<_>>().join("\n");
    let folder = workflow(&text.replace("LIST", "tasks"));
    let (_, left) = die_everywhere("items", &folder, &|| Bench::with(&before), &[]);
    assert_eq!(left.files["tasks.yaml"], expected);
    // A word has no fields.
    assert_eq!(run("words"), (tasks.to_owned(), "items: [x]\n".to_owned(), "failed".to_owned()));
}

#[test]
fn wherever_a_driver_dies_the_same_is_created() {
    let before: [(&str, &str); 2] = [
        ("list.yaml", "items:\n  - id: a\n  - id: b\n"),
        ("change.sh", "printf 'items:\\n  - id: b\\n' > list.yaml\n"),
    ];
    let (_, left) = die_everywhere("creating again", &workflow(AGAIN), &|| Bench::with(&before), &[]);
    assert!(!left.files.contains_key("notes/a.md") && left.files.contains_key("notes/b.md"), "{left:#?}");
}
