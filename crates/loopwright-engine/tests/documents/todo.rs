//! Issues of a `TODO` folder and task specifications: what workflows see of them, and in which file what is wrong stands.

use loopwright_core::fact::Type;
use loopwright_core::library;
use loopwright_engine::documents::{About, Numbering, Page};
use serde_json::{Value, json};

use crate::team::reader;

const ISSUE: &str = "---\nid: GAL-2\ntitle: Print it\nstatus: todo\nlabels: [bug, ui]\ndepends-on: [GAL-1]\n---\n\n## Acceptance criteria\n\n- [x] AC-1: printed\n- [ ] AC-2: in color\n\n## Comments\n\n- So.\n";
const TASK: &str = "---\ntitle: Read it\nfiles: [src/read.rs]\nnew-symbols: true\n---\n\n## Description\n\nReads.\n\n## Acceptance criteria\n\n- [ ] Read\n";

fn page(path: &str, text: &str) -> Page {
    Page { path: path.to_owned(), text: text.to_owned(), is_new: true }
}

fn value(name: &str, pages: &[Page]) -> Result<Value, Vec<String>> {
    let read = reader(name).value(pages, &Type::Any, &About::default());
    read.map_err(|it| it.iter().map(|it| format!("{}: {it}", it.file.clone().unwrap_or_default())).collect())
}

#[test]
fn what_is_read_is_what_the_library_promises() {
    let done = page("TODO/GAL-1.md", "---\ntitle: One\nstatus: Done\nparent: GAL-9\n---\n");
    let paper = page("TODO/NOTES.md", "# Notes\n");
    let all = [page("TODO/GAL-10.md", ISSUE), page("TODO/GAL-2.md", ISSUE), done, paper.clone()];
    let tasks = [
        page("run/task-10.md", TASK),
        page(
            "run/task-2.md",
            &TASK.replace("files: [src/read.rs]", "files: [b, src/read.rs]\ndepends-on: 1"),
        ),
        page("run/task-1.md", TASK),
    ];
    for (name, pages) in [
        ("todo-issue", &all[1..2]),
        ("todo-issue", &all[..]),
        ("todo-issue", &all[3..]),
        ("task-spec", &tasks[..]),
    ] {
        let found = value(name, pages).expect("it can be read");
        let gives = library::readers()[name].gives.clone().expect("it says what it gives");
        assert!(gives.accepts(&found), "{name}: {found}");
    }
    let one = value("todo-issue", &all[1..2]).expect("an issue");
    assert_eq!(
        (&one["id"], &one["status"], &one["label"], &one["parent"]),
        (&json!("GAL-2"), &json!("Todo"), &json!("bug"), &Value::Null)
    );
    assert_eq!(one["labels"], json!(["bug", "ui"]));
    assert_eq!(one["criteria"][1], json!({"id": "AC-2", "text": "AC-2: in color", "checked": false}));
    assert_eq!((&one["checked"], &one["comments"]), (&json!(["AC-1"]), &json!(["So."])));
    let many = value("todo-issue", &all).expect("issues");
    let ids: Vec<&Value> = many["items"].as_array().into_iter().flatten().map(|it| &it["id"]).collect();
    assert_eq!(ids, [&json!("GAL-1"), &json!("GAL-2"), &json!("GAL-2")]);
    let tasks = value("task-spec", &tasks).expect("tasks");
    assert_eq!(
        (&tasks["first"]["id"], &tasks["rest"][0]["id"], &tasks["rest"][1]["id"]),
        (&json!("task-1"), &json!("task-2"), &json!("task-10"))
    );
    assert_eq!(
        (&tasks["files"], &tasks["rest"][0]["depends_on"]),
        (&json!(["src/read.rs", "b"]), &json!(["task-1"]))
    );
}

#[test]
fn what_cannot_be_read_is_said_of_its_file() {
    let good = page("TODO/GAL-1.md", "# One\n");
    let odd = page("TODO/GAL-3.md", "---\ntitle: Three\nstatus: later\n---\n");
    let torn = page("TODO/GAL-4.md", "<<<<<<< a\n# x\n=======\n# y\n>>>>>>> b\n");
    let wanted = [
        "TODO/GAL-3.md: line 3, column 1: `later` is no status; one of Todo, In Progress, Done",
        "TODO/GAL-4.md: line 1, column 1: a merge left this undecided: choose between the two sides",
    ];
    assert_eq!(value("todo-issue", &[good, odd, torn]), Err(wanted.map(str::to_owned).to_vec()));
    let tasks = [page("task-1.md", TASK), page("task-2.md", "---\nnew-symbols: perhaps\n---\n")];
    let wanted = ["task-2.md: line 2, column 1: `new-symbols` is `true` or `false`, and not `perhaps`"];
    assert_eq!(value("task-spec", &tasks), Err(wanted.map(str::to_owned).to_vec()));
}

#[test]
fn whoever_writes_a_task_is_told_what_it_lacks() {
    let task = reader("task-spec");
    assert_eq!(task.lacks(&page("task-1.md", TASK), &About::default()), None);
    let lacks =
        task.lacks(&page("task-1.md", "---\ntitle: t\n---\n"), &About::default()).expect("much is missing");
    assert!(lacks.contains("lists no `files`") && lacks.contains("no section `Description`"), "{lacks}");
    let pages =
        [page("task-1.md", TASK), page("task-2.md", &TASK.replace("new-", "depends-on: [task-3]\nnew-"))];
    let together = task.lack_together(&pages).expect("one is missing");
    assert_eq!(together, "task-2.md, line 1: `task-2` depends on `task-3`, and there is no such task");
    assert_eq!(task.lack_together(&pages[..1]), None);
    assert_eq!(reader("todo-issue").lack_together(&pages), None);
}

#[test]
fn one_field_is_changed_and_read_back() {
    let issue = reader("todo-issue");
    let about = About::default();
    let done = issue.set(ISSUE, "status", &json!("Done"), &about).expect("a status");
    assert_eq!(done, ISSUE.replace("status: todo", "status: Done"));
    assert_eq!(issue.set(ISSUE, "status", &json!("Todo"), &about).expect("it is"), ISSUE);
    let ticked = issue.set(ISSUE, "checked", &json!(["AC-2"]), &about).expect("a criterion");
    assert_eq!(issue.get(&ticked, "checked").expect("read"), Some(json!(["AC-1", "AC-2"])));
    let said = json!("Run x stopped.\n\nIt was late. ");
    let talked = issue.append(ISSUE, "comments", &said).expect("a comment");
    let entry = issue.entry("comments", &said);
    assert_eq!(issue.get(&talked, "comments").expect("read"), Some(json!(["So.", entry])));
    assert_eq!(issue.line(ISSUE, "status"), Some(4));
    let refused = issue.set(ISSUE, "checked", &json!(["AC-7"]), &about).expect_err("there is none");
    assert!(refused.to_string().contains("no criterion of"), "{refused}");
    let refused =
        reader("task-spec").set(TASK, "title", &json!("x"), &about).expect_err("nothing can be set");
    assert_eq!(refused.to_string(), "line 1, `title`: nothing can be set in this");
    assert_eq!(
        (issue.numbering(), reader("task-spec").numbering(), reader("yaml").numbering()),
        (Numbering::Shared, Numbering::OfRun, Numbering::ByKey)
    );
}
