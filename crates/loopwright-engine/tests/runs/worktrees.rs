//! Worktrees that runs make for themselves: where, from what, and with which files that git ignores.

use loopwright_core::definition::Outcome as Ending;
use loopwright_engine::{CONFIG, Config, Home, Standing, Worktrees};

use crate::actions::start;
use crate::bench::{Bench, workflow};

const AWAY: &str = r#"
workflow: away
subject: thing
defaults: {failures: failed}
states:
  away: {do: [{branch: "x/{{subject}}", worktree: true}, {run: "cp .env seen; cat base >> seen; test ! -e target"}], then: done}
  done: {end: success}
  failed: {end: failure}
"#;

#[test]
fn a_worktree_lies_where_it_is_configured_with_what_goes_along() {
    let bench = Bench::with(&[(".gitignore", ".env\ntarget/\nsecrets/\n"), ("base", "main\n")]);
    bench.git(&["switch", "--quiet", "--create", "release"]);
    bench.write("base", "release\n");
    bench.git(&["commit", "--quiet", "--all", "--message", "release"]);
    bench.git(&["switch", "--quiet", "main"]);
    bench.write(".env", "KEY=1\n");
    bench.write("secrets/deep/key", "k\n");
    bench.write("target/large", "x\n");
    let mut engine = bench.engine(&[]);
    engine.project.worktrees = Worktrees {
        folder: Some("../trees".into()),
        base: Some("release".into()),
        copy: vec![".env".into(), "secrets/**".into(), "absent".into()],
    };
    let standing = start(&engine, &workflow(AWAY)).drive().expect("it runs");
    let Standing::Over { ending, .. } = &standing else { panic!("{standing:?}") };
    assert_eq!(*ending, Some(Ending::Success), "{:#?}", bench.lines());
    assert_eq!(bench.read("../trees/repo-x-greet/seen"), "KEY=1\nrelease\n");
    assert_eq!(bench.read("../trees/repo-x-greet/secrets/deep/key"), "k\n");
}

#[test]
fn what_is_configured_wrongly_is_said() {
    let said = |text: &str| {
        let bench = Bench::with(&[(CONFIG, text)]);
        Config::of(&Home::around(bench.path()).expect("a home"))
            .map(|it| it.worktrees)
            .map_err(|it| it.to_string())
    };
    let fine = said("worktrees: {folder: ../trees, copy: [.env]}\n").expect("it is read");
    assert_eq!(fine, Worktrees { folder: Some("../trees".into()), base: None, copy: vec![".env".into()] });
    for (text, why) in [
        ("worktrees: {copy: [../other/.env]}\n", "`../other/.env` leads out of it"),
        ("worktrees: {copy: [/etc/passwd]}\n", "`/etc/passwd` leads out of it"),
        ("worktrees: {where: ../trees}\n", "unknown field `where`"),
    ] {
        let error = said(text).expect_err(text);
        assert!(error.contains(why), "{error}");
    }
}
