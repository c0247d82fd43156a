//! `git.base`: the branch that work goes back to.

use loopwright_engine::Standing;

use crate::actions::start;
use crate::bench::{Bench, workflow};

/// Says what it is, makes a branch of its own, waits, and says it again.
const BASE: &str = r#"
workflow: base
subject: thing
verbs: {go: {}}
facts:
  place: {in: [detached, on-base, other], is: "git.detached ? 'detached' : git.branch == git.base ? 'on-base' : 'other'"}
defaults: {failures: failed}
states:
  first: {do: [{say: "at first {{git.base}}, {{place}}"}], then: rest}
  rest: {rest: "{{git.base}} {{place}}", on: {verb go: later}}
  later: {do: [{say: "later {{git.base}}, {{place}}"}], then: done}
  done: {end: success}
  failed: {end: failure}
"#;

/// What is done before the run and while it rests; what is said before and after.
type Case = (&'static str, &'static [&'static str], &'static [&'static str], &'static str, &'static str);

const CASES: &[Case] = &[
    ("on main", &[], &[], "main, on-base", "main, on-base"),
    ("on a branch of its own", &["switch -q -c fix/a"], &[], "main, other", "main, other"),
    ("it goes to another branch", &[], &["switch -q -c fix/a"], "main, on-base", "main, other"),
    ("a commit is checked out", &["switch -q --detach"], &[], "main, detached", "main, detached"),
    (
        "it is called master",
        &["branch -q -m master", "switch -q -c x"],
        &[],
        "master, other",
        "master, other",
    ),
    (
        "the only branch, whatever it is called",
        &["branch -q -m work"],
        &["switch -q -c x"],
        "work, on-base",
        "work, other",
    ),
    // Two, neither of them a usual name: what the main worktree has.
    (
        "what is checked out",
        &["branch -q -m work", "branch -q spike"],
        &["switch -q spike"],
        "work, on-base",
        "work, other",
    ),
    (
        "renamed since",
        &[],
        &["switch -q -c fix/a", "branch -q -m main trunk"],
        "main, on-base",
        "trunk, other",
    ),
    ("renamed since, and still there", &[], &["branch -q -m main trunk"], "main, on-base", "trunk, on-base"),
    ("gone since", &["switch -q -c fix/a"], &["branch -q -D main"], "main, other", "fix/a, on-base"),
    (
        "the default branch of its remote",
        &[
            "branch -q develop",
            "remote add origin .",
            "fetch -q origin",
            "symbolic-ref refs/remotes/origin/HEAD refs/remotes/origin/develop",
        ],
        &[],
        "develop, other",
        "develop, other",
    ),
    // A branch that nobody has here is none to go back to.
    (
        "a default branch that is only the remote's",
        &[
            "branch -q develop",
            "remote add origin .",
            "fetch -q origin",
            "symbolic-ref refs/remotes/origin/HEAD refs/remotes/origin/develop",
            "branch -q -D develop",
        ],
        &[],
        "main, on-base",
        "main, on-base",
    ),
    ("no commit yet", &["update-ref -d HEAD"], &[], "main, on-base", "main, on-base"),
];

#[test]
fn the_branch_that_work_goes_back_to_is_known_throughout() {
    for (what, before, meanwhile, at_first, later) in CASES {
        let bench = Bench::with(&[("a", "a\n")]);
        let git =
            |all: &[&str]| all.iter().for_each(|it| drop(bench.git(&it.split(' ').collect::<Vec<_>>())));
        git(before);
        let engine = bench.engine(&[]);
        let driver = start(&engine, &workflow(BASE));
        let name = driver.name().to_owned();
        let standing = driver.drive().unwrap_or_else(|it| panic!("{what}: {it}"));
        assert!(matches!(standing, Standing::Waits { .. }), "{what}: {standing:?}");
        git(meanwhile);
        let message =
            loopwright_engine::Message::Say { verb: "go".into(), inputs: indexmap::IndexMap::default() };
        let body = serde_json::to_string(&message).expect("a message");
        engine.journal.post(&name, 0, &body).expect("it is left");
        let standing =
            engine.drive(&name, &loopwright_engine::process::Cancel::default()).expect("it goes on");
        assert_eq!(&*standing.run().at.state, "done", "{what}");
        let said: Vec<String> = bench.lines().into_iter().filter(|it| it.starts_with("said: ")).collect();
        assert_eq!(said, [format!("said: at first {at_first}"), format!("said: later {later}")], "{what}");
    }
}

/// What a run that has a branch and a worktree of its own merges into.
#[test]
fn work_on_a_branch_of_its_own_goes_back_to_it() {
    let text = r#"
workflow: back
subject: thing
documents: {log: {file: log.md}}
defaults: {failures: failed}
states:
  branch: {do: [{branch: "work/{{subject}}", from: "{{git.base}}", worktree: true}], then: write}
  write: {do: [{write: log, from: "from {{git.base}} on {{git.branch}}"}, {commit: "log", what: log}], then: merge}
  merge: {do: [{merge: "{{git.branch}}", into: "{{git.base}}"}], then: done}
  done: {end: success}
  failed: {end: failure}
"#;
    let bench = Bench::with(&[("a", "a\n")]);
    bench.git(&["branch", "-q", "-m", "line"]);
    let engine = bench.engine(&[]);
    let standing = start(&engine, &workflow(text)).drive().expect("it runs");
    assert_eq!(&*standing.run().at.state, "done", "{:?}", standing.run().cause);
    assert_eq!(bench.git(&["show", "line:log.md"]), "from line on work/greet");
}
