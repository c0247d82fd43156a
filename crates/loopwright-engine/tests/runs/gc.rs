//! What may be cleared away, and above all what may not.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use indexmap::IndexMap;
use loopwright_core::definition::Outcome as Ending;
use loopwright_engine::gc::{Cleared, clear_away};
use loopwright_engine::journal::Sqlite;
use loopwright_engine::process::Cancel;
use loopwright_engine::{Answered, Begin, Engine, Home, Message, Standing};

use crate::bench::{Bench, run, workflow};

const DAY: u64 = 24 * 60 * 60 * 1_000;

const RESTS: &str = r#"
workflow: rests
subject: thing
documents:
  code: {files: ["src/**"]}
roles:
  coder: {agent: coder, prompt: "Write {{subject}}.", may-write: [code]}
verbs:
  go: {}
defaults:
  failures: failed
states:
  write: {agent: coder, then: rest}
  rest: {rest: "Say go.", on: {verb go: done}}
  done: {end: success}
  failed: {end: failure}
"#;

const AWAY: &str = r#"
workflow: away
subject: thing
documents:
  code: {files: ["src/**"]}
roles:
  coder: {agent: coder, prompt: "Write {{subject}}.", may-write: [code]}
verbs:
  go: {}
defaults:
  failures: failed
states:
  go: {do: [{branch: "work/{{subject}}", worktree: true}], then: write}
  write: {agent: coder, then: commit}
  commit: {do: [{commit: "{{subject}}", what: [code]}], then: rest}
  rest: {rest: "Say go.", on: {verb go: done}}
  done: {end: success}
  failed: {end: failure}
"#;

const CODER: &str = r#"cat > /dev/null; mkdir -p src; echo "$LOOPWRIGHT_RUN" > src/a; echo "what was said in $LOOPWRIGHT_RUN""#;

fn begun(engine: &mut Engine, text: &str, subject: &str) -> String {
    // Two that begin in one moment are called the same otherwise.
    subject.clone_into(&mut engine.holder);
    let begin = Begin { subject: subject.into(), ..Begin::default() };
    let (name, standing) = run(engine, &workflow(text), &begin).expect("it runs");
    assert!(matches!(standing, Standing::Waits { .. }), "{standing:?}");
    name
}

fn end(engine: &Engine, name: &str) {
    let go = Message::Say { verb: "go".into(), inputs: IndexMap::default() };
    engine.journal.post(name, 0, &serde_json::to_string(&go).expect("a message")).expect("it is left");
    let standing = engine.drive(name, &Cancel::default()).expect("it goes on");
    let Standing::Over { ending, .. } = &standing else { panic!("{standing:?}") };
    assert_eq!(*ending, Some(Ending::Success));
}

fn journal(engine: &Engine) -> Sqlite {
    Sqlite::open(&engine.home.journal).expect("the journal")
}

fn clear(engine: &Engine, dry_run: bool) -> Cleared {
    clear_away(engine, &journal(engine), 30 * DAY, dry_run).expect("it is cleared away")
}

fn removed(cleared: &Cleared) -> Vec<&str> {
    cleared.removed.iter().map(|it| it.run.as_str()).collect()
}

fn why<'a>(cleared: &'a Cleared, what: &str) -> &'a str {
    let found = cleared.kept.iter().find(|it| it.what == what);
    found.map_or_else(|| panic!("nothing is said of {what}: {cleared:#?}"), |it| it.why.as_str())
}

/// Everything that is beside the journal, by name.
fn beside(bench: &Bench) -> HashSet<String> {
    let folder = std::fs::read_dir(bench.path().join(".git/loopwright")).expect("a folder");
    let files = folder.map(|it| it.expect("a file").file_name().to_string_lossy().into_owned());
    let references = bench.git(&["for-each-ref", "--format=%(refname)", "refs/loopwright"]);
    files.filter(|it| it.starts_with("index")).chain(references.lines().map(str::to_owned)).collect()
}

fn of<'a>(all: &'a HashSet<String>, run: &str) -> Vec<&'a String> {
    all.iter().filter(|it| it.contains(run)).collect()
}

fn blobs(engine: &Engine) -> i64 {
    let connection = rusqlite::Connection::open(&engine.home.journal).expect("the file");
    connection.query_row("SELECT count(*) FROM blobs", [], |it| it.get(0)).expect("a number")
}

#[test]
fn what_ended_long_ago_goes_and_nothing_else_does() {
    let bench = Bench::with(&[("test.sh", "true\n")]);
    let mut engine = bench.engine(&[("coder", CODER)]);
    let (old, open, held) = (
        begun(&mut engine, RESTS, "old"),
        begun(&mut engine, RESTS, "open"),
        begun(&mut engine, RESTS, "held"),
    );
    end(&engine, &old);
    end(&engine, &held);
    let mut engine = engine.after(40 * DAY);
    let young = begun(&mut engine, RESTS, "young");
    end(&engine, &young);
    let now = (engine.clock)();
    let lease = engine.journal.lease(&held, "somebody", now, now + DAY).expect("a lease");
    let (log, status) =
        (bench.git(&["log", "--all", "--format=%H %D"]), bench.git(&["status", "--porcelain"]));
    let before = beside(&bench);
    let kept_blobs = blobs(&engine);
    let every = |names: &[&String]| -> Vec<_> {
        names
            .iter()
            .map(|it| (engine.journal.events(it, 0).expect("events"), engine.journal.run(it).expect("a run")))
            .collect()
    };
    let stays = every(&[&open, &held, &young]);

    let would = clear(&engine, true);
    assert_eq!(removed(&would), [old.as_str()]);
    assert_eq!(
        (engine.journal.runs().expect("runs").len(), blobs(&engine)),
        (4, kept_blobs),
        "nothing is done"
    );
    assert_eq!(beside(&bench), before, "nothing is done");

    let did = clear(&engine, false);
    assert_eq!(removed(&did), [old.as_str()]);
    assert_eq!(
        (did.bytes, did.blobs, did.files),
        (would.bytes, would.blobs, would.files),
        "it does what it said"
    );
    assert!(did.bytes > 0 && did.blobs > 0 && did.files == 2, "{did:#?}");
    assert!(why(&did, &open).contains("it is open: rest (waits for go"), "{}", why(&did, &open));
    assert_eq!(why(&did, &held), "somebody drives it");
    assert_eq!(why(&did, &young), "it ended today");
    engine.journal.events(&old, 0).expect_err("it is gone");
    assert_eq!(every(&[&open, &held, &young]), stays);
    let after = beside(&bench);
    assert_eq!(of(&after, &old), Vec::<&String>::new());
    for run in [&open, &held, &young] {
        assert_eq!(of(&after, run).len(), 2, "{run}: {after:?}");
    }
    assert_eq!(blobs(&engine), kept_blobs - i64::try_from(did.blobs).expect("a number"));
    assert_eq!(
        bench.git(&["log", "--all", "--format=%H %D"]),
        log.replace(&format!("refs/loopwright/{old}"), "-")
    );
    assert_eq!(bench.git(&["status", "--porcelain"]), status);
    assert_eq!(journal(&engine).damage().expect("a look"), Vec::<String>::new());

    // Done again, there is nothing to do; and what is open goes on.
    let again = clear(&engine, false);
    assert_eq!((removed(&again).len(), again.blobs, again.files, again.bytes), (0, 0, 0, 0));
    engine.journal.release(&lease).expect("a lease");
    end(&engine, &open);
    assert_eq!(removed(&clear(&engine, false)), [held.as_str()]);
}

#[test]
fn what_was_cut_short_is_finished_the_next_time() {
    let bench = Bench::with(&[("test.sh", "true\n")]);
    let mut engine = bench.engine(&[("coder", CODER)]);
    let (old, open) = (begun(&mut engine, RESTS, "old"), begun(&mut engine, RESTS, "open"));
    end(&engine, &old);
    let engine = engine.after(40 * DAY);
    let last = engine.journal.run(&old).expect("a run").last;
    // Somebody who knows less of it, or at another moment, removes nothing.
    journal(&engine).forget(&[(old.clone(), last - 1)], (engine.clock)()).expect_err("it is longer");
    assert_eq!(engine.journal.events(&old, 0).expect("events").len() as u64, last);
    // Gone from the journal, and whoever did it was gone before the rest was.
    journal(&engine).forget(&[(old.clone(), last)], (engine.clock)()).expect("it may go");
    let cleared = clear(&engine, false);
    assert!(cleared.removed.is_empty() && cleared.blobs > 0 && cleared.files == 2, "{cleared:#?}");
    assert_eq!(of(&beside(&bench), &old), Vec::<&String>::new());
    end(&engine, &open);
}

#[test]
fn what_cannot_be_told_stays() {
    let bench = Bench::with(&[("test.sh", "true\n")]);
    let mut engine = bench.engine(&[("coder", CODER)]);
    let old = begun(&mut engine, RESTS, "old");
    end(&engine, &old);
    let connection = rusqlite::Connection::open(&engine.home.journal).expect("the file");
    connection.execute("UPDATE batches SET sum = sum + 1 WHERE last = 2", []).expect("damage");
    drop(connection);
    let engine = engine.after(40 * DAY);
    let kept = blobs(&engine);
    let cleared = clear(&engine, false);
    assert!(cleared.removed.is_empty(), "{cleared:#?}");
    assert!(why(&cleared, &old).contains("cannot be told"), "{cleared:#?}");
    assert_eq!((blobs(&engine), of(&beside(&bench), &old).len()), (kept, 2));
}

#[test]
fn items_go_with_their_run_and_not_before() {
    let bench = Bench::with(&[("tasks.yaml", crate::items::TASKS)]);
    let yes = || Answered { answer: "yes".into(), ..Answered::default() };
    bench.answers.left.lock().expect("answers").push(yes());
    let engine = bench.engine(&[("writer", crate::items::WRITER)]);
    let begin = Begin { subject: "house".into(), ..Begin::default() };
    let (name, standing) = run(&engine, &workflow(crate::items::LOOP), &begin).expect("it runs");
    assert!(matches!(standing, Standing::Waits { .. }), "{standing:?}");
    // One item ended long ago, another waits: the run they are of is open.
    let engine = engine.after(40 * DAY);
    let before = engine.journal.runs().expect("runs");
    assert!(before.len() > 2 && before.iter().any(|it| it.stands.status == "success"), "{before:#?}");
    assert_eq!(removed(&clear(&engine, false)), Vec::<&str>::new());
    assert_eq!(engine.journal.runs().expect("runs"), before);
    // One of them by itself does not go either.
    let (mine, last) = (&before[before.len() - 1].run.name, before[before.len() - 1].last);
    assert_eq!(*mine, name);
    journal(&engine).forget(&[(name.clone(), last)], (engine.clock)()).expect_err("it has items");
    bench.answers.left.lock().expect("answers").extend([yes(), yes()]);
    let standing = engine.drive(&name, &Cancel::default()).expect("it goes on");
    assert!(matches!(standing, Standing::Over { .. }), "{standing:?}");
    let engine = engine.after(40 * DAY);
    let cleared = clear(&engine, false);
    assert_eq!((removed(&cleared), cleared.removed[0].items), (vec![name.as_str()], 3));
    assert_eq!(engine.journal.runs().expect("runs"), []);
    assert_eq!((blobs(&engine), beside(&bench).len()), (0, 0));
}

fn place(bench: &Bench, branch: &str) -> PathBuf {
    bench.around().join(format!("repo-{branch}"))
}

#[test]
fn a_worktree_goes_only_if_nothing_is_lost_with_it() {
    let bench = Bench::with(&[("test.sh", "true\n"), (".gitignore", "ignored\n")]);
    let mut engine = bench.engine(&[("coder", CODER)]);
    let subjects = ["clean", "untracked", "edited", "ignored", "open"];
    let runs = subjects.map(|it| begun(&mut engine, AWAY, it));
    for run in &runs[..4] {
        end(&engine, run);
    }
    let at = |subject: &str| place(&bench, &format!("work-{subject}"));
    std::fs::write(at("untracked").join("notes"), "mine").expect("a file");
    std::fs::write(at("edited").join("test.sh"), "false").expect("a file");
    std::fs::write(at("ignored").join("ignored"), "a secret").expect("a file");
    // Somebody's own worktree, in which somebody had a run.
    let own = bench.around().join("own");
    bench.git(&["worktree", "add", "--quiet", "-b", "own", &own.to_string_lossy()]);
    let mut there = bench.engine(&[("coder", CODER)]);
    there.home = Home::around(&own).expect("a home");
    let theirs = begun(&mut there, RESTS, "theirs");
    end(&there, &theirs);
    bench.git(&["-C", &own.to_string_lossy(), "clean", "--quiet", "--force", "-d"]);
    let engine = engine.after(40 * DAY);
    let branches = bench.git(&["branch", "--format=%(refname) %(objectname)"]);
    let would = clear(&engine, true);
    assert!(at("clean").is_dir(), "nothing is done");
    let did = clear(&engine, false);
    for cleared in [&would, &did] {
        assert_eq!(removed(cleared).len(), 5, "{cleared:#?}");
        let worktrees: Vec<_> = cleared.removed.iter().flat_map(|it| &it.worktrees).map(Path::new).collect();
        assert_eq!(worktrees, [at("clean")]);
        for (subject, word) in
            [("untracked", "not committed"), ("edited", "not committed"), ("ignored", "git ignores")]
        {
            let told = why(cleared, &at(subject).to_string_lossy());
            assert!(told.contains(word) && told.contains("git worktree remove"), "{told}");
        }
    }
    assert!(!at("clean").exists());
    assert_eq!(std::fs::read_to_string(at("untracked").join("notes")).expect("a file"), "mine");
    assert_eq!(std::fs::read_to_string(at("edited").join("test.sh")).expect("a file"), "false");
    assert_eq!(std::fs::read_to_string(at("ignored").join("ignored")).expect("a file"), "a secret");
    assert!(own.is_dir() && at("open").is_dir());
    assert_eq!(bench.git(&["branch", "--format=%(refname) %(objectname)"]), branches, "no branch is touched");
    end(&engine, &runs[4]);
}
