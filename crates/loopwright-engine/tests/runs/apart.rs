//! Items apart: each in a worktree of its own, at work at the same time, and brought back one after the other.

use loopwright_core::language::Folder;
use loopwright_engine::gc::clear_away;
use loopwright_engine::journal::Sqlite;
use loopwright_engine::process::Cancel;
use loopwright_engine::{Begin, Engine, Message, Standing};

use crate::bench::{Bench, run, workflow};

pub(crate) const PARTS: &str = r#"
workflow: parts
subject: thing
budgets: {anew: 1}
documents:
  list: {file: list.yaml, as: yaml, shape: {items: [{id: text, depends: [text]}]}}
  code: {files: ["src/**"]}
roles:
  writer: {agent: writer, prompt: "Write {{item.id}}.", may-write: [code], timeout: 2m, idle: 2m}
defaults:
  failures: failed
states:
  all:
    each: {item: part, in: docs.list.items, order: depends, at-once: 2, apart: true, run: part}
    on:
      done: done
      given-up | unordered | empty: failed
      conflict: {to: all, spend: anew, else: failed}
  done: {end: success}
  failed: {end: failure}
children:
  part:
    defaults: {failures: given-up}
    states:
      write: {agent: writer, then: commit}
      commit: {do: [{commit: "{{item.id}}", what: [code]}], then: join}
      join: {do: [{join: "Join {{item.id}}"}], then: whole}
      whole: {check: {run: "sh whole.sh"}, on: {pass: done, fail: given-up}}
      done: {end: success}
      given-up: {end: failure}
"#;

/// Items that do not join by themselves.
fn at_the_end() -> Folder {
    workflow(&PARTS.replace(
        "then: join}\n      join: {do: [{join: \"Join {{item.id}}\"}], then: whole}",
        "then: whole}",
    ))
}

fn list(items: &[(&str, &str)]) -> String {
    let items = items.iter().map(|(id, depends)| format!("  - {{id: {id}, depends: [{depends}]}}\n"));
    format!("items:\n{}", items.collect::<String>())
}

/// A repository with a list, and pipes that items meet at: whoever reads one waits for whoever writes to it.
fn bench(items: &[(&str, &str)], pipes: &[&str]) -> Bench {
    let bench = Bench::with(&[("list.yaml", &list(items)), ("whole.sh", "test ! -e src/broken\n")]);
    for pipe in pipes {
        let made = std::process::Command::new("mkfifo").arg(bench.path().join(".git").join(pipe)).status();
        assert!(made.expect("mkfifo").success());
    }
    bench
}

/// Does for each item what is said of it, and writes a file of its own.
fn writer(items: &str) -> String {
    format!(
        "git=$(git rev-parse --path-format=absolute --git-common-dir); cat > /dev/null; mkdir -p src\n\
         case $LOOPWRIGHT_ITEM in\n{items}\nesac\necho \"$LOOPWRIGHT_ITEM\" >> \"$git/called\"\n\
         echo written > \"src/$LOOPWRIGHT_ITEM\""
    )
}

fn begin() -> Begin {
    Begin { subject: "house".into(), ..Begin::default() }
}

/// What the run's branch came to, newest first.
fn history(bench: &Bench) -> Vec<String> {
    bench.git(&["log", "--first-parent", "--format=%s", "main"]).lines().map(str::to_owned).collect()
}

fn called(bench: &Bench) -> Vec<String> {
    let mut called: Vec<String> = bench.read(".git/called").lines().map(str::to_owned).collect();
    called.sort();
    called
}

fn nothing_is_left(bench: &Bench) {
    assert_eq!(bench.git(&["worktree", "list"]).lines().count(), 1, "{}", bench.git(&["worktree", "list"]));
    assert_eq!(bench.git(&["branch", "--format=%(refname:short)"]), "main");
    assert_eq!(bench.git(&["status", "--porcelain"]), "");
    let beside = std::fs::read_dir(bench.around()).expect("a folder").count();
    assert_eq!(beside, 1, "a folder is left beside the repository");
}

fn ends_at(bench: &Bench, standing: &Standing, state: &str) {
    assert_eq!(&*standing.run().at.state, state, "{:#?}", bench.lines());
}

#[test]
fn they_work_at_the_same_time_and_come_back_in_the_order_of_the_list() {
    let bench = bench(&[("a", ""), ("b", ""), ("c", "")], &["c-begun"]);
    // Two may be at work. The first is not over before the third began, which is once the second waits for its turn.
    let engine =
        bench.engine(&[("writer", &writer("a) read -r _ < $git/c-begun ;;\nc) echo > $git/c-begun ;;"))]);
    let (_, standing) = run(&engine, &workflow(PARTS), &begin()).expect("it runs");
    ends_at(&bench, &standing, "done");
    assert_eq!(history(&bench), ["Join c", "Join b", "a", "start"]);
    for item in ["a", "b", "c"] {
        assert_eq!(bench.read(&format!("src/{item}")), "written\n");
    }
    nothing_is_left(&bench);
}

#[test]
fn one_that_depends_on_others_begins_with_what_they_brought_back() {
    let bench = bench(&[("a", ""), ("b", "a"), ("c", "b")], &[]);
    let engine =
        bench.engine(&[("writer", &writer("b) test -e src/a || exit 9 ;;\nc) test -e src/b || exit 9 ;;"))]);
    let (_, standing) = run(&engine, &workflow(PARTS), &begin()).expect("it runs");
    ends_at(&bench, &standing, "done");
    assert_eq!(history(&bench), ["c", "b", "a", "start"], "nothing had to be merged");
    nothing_is_left(&bench);
}

#[test]
fn one_that_fails_bars_what_comes_after_it_and_leaves_the_others() {
    let bench = bench(&[("a", ""), ("b", "a"), ("c", ""), ("d", "")], &["c-begun"]);
    let items = "a) read -r _ < $git/c-begun; exit 7 ;;\nc) echo > $git/c-begun ;;\nd) touch src/broken ;;";
    let engine = bench.engine(&[("writer", &writer(items))]);
    let (name, standing) = run(&engine, &workflow(PARTS), &begin()).expect("it runs");
    ends_at(&bench, &standing, "failed");
    assert_eq!(called(&bench), ["c", "d"], "what comes after it was not begun");
    assert_eq!(history(&bench), ["c", "start"], "what was red was not brought back");
    // What nobody would miss is gone, and the rest is kept and named.
    let kept = format!("loopwright/{name}/all.1/d");
    assert_eq!(bench.git(&["branch", "--format=%(refname:short)"]), format!("{kept}\nmain"));
    let said =
        |it: &String| it.starts_with("said: what `d` did is kept in ") && it.ends_with(&format!("`{kept}`"));
    assert!(bench.lines().iter().any(said), "{:#?}", bench.lines());
}

const SAME: &str = "a) echo a > src/same; read -r _ < $git/b-begun ;;\nb) test -e src/same || echo > $git/b-begun; cat src/same > src/known; echo b >> src/same ;;";

#[test]
fn a_conflict_is_undone_whole_and_is_for_the_workflow_to_route() {
    let bench = bench(&[("a", ""), ("b", ""), ("c", "")], &["b-begun"]);
    let engine = bench.engine(&[("writer", &writer(SAME))]);
    let (_, standing) = run(&engine, &workflow(PARTS), &begin()).expect("it runs");
    ends_at(&bench, &standing, "failed");
    assert_eq!(history(&bench), ["Join c", "a", "start"], "the others are there");
    assert_eq!(bench.read("src/same"), "a\n");
    assert_eq!(bench.git(&["status", "--porcelain"]), "");
    assert!(bench.lines().contains(&"join.1/action-0 conflict".to_owned()), "{:#?}", bench.lines());
    assert!(bench.lines().iter().any(|it| it.starts_with("said: what `b` did is kept in ")));
}

#[test]
fn what_does_not_join_by_itself_is_merged_as_it_ends_and_done_anew_where_it_cannot_be() {
    let bench = bench(&[("a", ""), ("b", "")], &["b-begun"]);
    let engine = bench.engine(&[("writer", &writer(SAME))]);
    let (_, standing) = run(&engine, &at_the_end(), &begin()).expect("it runs");
    ends_at(&bench, &standing, "done");
    assert!(bench.lines().contains(&"all.1/b conflict".to_owned()), "{:#?}", bench.lines());
    assert_eq!(called(&bench), ["a", "b", "b"]);
    assert_eq!(bench.read("src/same"), "a\nb\n", "the second time it saw what the first had done");
    nothing_is_left(&bench);
}

/// A run that was left while its first item and its second were at work.
fn left(bench: &Bench, engine: &Engine) -> String {
    let cancel = Cancel::default();
    let driver = engine.begin(&workflow(PARTS), &begin(), &cancel).expect("it begins");
    let name = driver.name().to_owned();
    let standing = std::thread::scope(|scope| {
        let driven = scope.spawn(|| driver.drive().expect("it is left"));
        for begun in ["a-begun", "b-begun"] {
            std::fs::read(bench.path().join(".git").join(begun)).expect("somebody at work");
        }
        cancel.call_off();
        driven.join().expect("a driver")
    });
    assert!(matches!(standing, Standing::CalledOff { .. }), "{standing:?}");
    name
}

const WAITING: &str = "a) test -e $git/go || { echo > $git/a-begun; read -r _ < $git/never; } ;;\n\
                       b) test -e $git/go || { echo half > src/half; echo > $git/b-begun; read -r _ < $git/never; } ;;";

#[test]
fn left_while_two_are_at_work_they_go_on_where_they_were() {
    let bench = bench(&[("a", ""), ("b", ""), ("c", "")], &["a-begun", "b-begun", "never"]);
    let engine = bench.engine(&[("writer", &writer(WAITING))]);
    let name = left(&bench, &engine);
    assert_eq!(bench.git(&["worktree", "list"]).lines().count(), 3);
    bench.write(".git/go", "");
    let standing = engine.drive(&name, &Cancel::default()).expect("it goes on");
    ends_at(&bench, &standing, "done");
    assert_eq!(called(&bench), ["a", "b", "c"]);
    assert_eq!(history(&bench), ["Join c", "Join b", "a", "start"]);
    assert_eq!(bench.read("src/half"), "half\n", "in the worktree in which it was begun");
    nothing_is_left(&bench);
}

#[test]
fn stopped_what_an_item_did_is_kept_and_what_did_nothing_is_gone() {
    let bench = bench(&[("a", ""), ("b", "")], &["a-begun", "b-begun", "never"]);
    let engine = bench.engine(&[("writer", &writer(WAITING))]);
    let name = left(&bench, &engine);
    let stop = serde_json::to_string(&Message::Stop { reason: "enough".into() }).expect("a letter");
    engine.journal.post(&name, 0, &stop).expect("it is left");
    let standing = engine.drive(&name, &Cancel::default()).expect("it ends");
    assert!(matches!(standing, Standing::Over { ending: None, .. }), "{standing:?}");
    let branches = bench.git(&["branch", "--format=%(refname:short)"]);
    assert_eq!(branches, format!("loopwright/{name}/all.1/b\nmain"));
    assert_eq!(history(&bench), ["start"]);
    let journal = Sqlite::open(&engine.home.journal).expect("a journal");
    let cleared = clear_away(&engine, &journal, 0, false).expect("it is cleared away");
    // What is nowhere else is not for anybody to clear away.
    assert!(cleared.removed[0].worktrees.is_empty(), "{cleared:?}");
    assert!(cleared.kept.iter().any(|it| it.why.contains("src/")), "{cleared:?}");
}

#[test]
fn so_many_are_at_work_as_somebody_says() {
    let one_by_one = PARTS.replace("at-once: 2", "at-once: {most: 3, usually: 1}");
    let bench_of = |pipes: &[&str]| bench(&[("a", ""), ("b", ""), ("c", "")], pipes);
    let bench = bench_of(&[]);
    let engine = bench.engine(&[("writer", &writer("*) ;;"))]);
    let (name, standing) = run(&engine, &workflow(&one_by_one), &begin()).expect("it runs");
    ends_at(&bench, &standing, "done");
    assert_eq!(history(&bench), ["c", "b", "a", "start"], "each began with what the one before it did");
    assert_eq!(engine.read(&name).expect("a run").1.jobs, None);
    let bench = bench_of(&["b-begun", "c-begun", "c-too"]);
    let together = "a) read -r _ < $git/b-begun; read -r _ < $git/c-begun ;;\nb) echo > $git/b-begun; read -r _ < $git/c-too ;;\n\
                    c) echo > $git/c-begun; echo > $git/c-too ;;";
    let mut engine = bench.engine(&[("writer", &writer(together))]);
    engine.jobs = Some(8);
    let (name, standing) = run(&engine, &workflow(&one_by_one), &begin()).expect("it runs");
    ends_at(&bench, &standing, "done");
    assert_eq!(engine.read(&name).expect("a run").1.jobs, Some(8), "it is on record");
    assert_eq!(history(&bench), ["Join c", "Join b", "a", "start"]);
}
