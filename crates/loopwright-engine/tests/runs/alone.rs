//! Two runs in one folder would take each other's changes for their own: the second has to wait.

use loopwright_engine::process::Cancel;
use loopwright_engine::{Begin, EngineError, Message};

use crate::actions::start;
use crate::bench::{Bench, workflow};

#[test]
fn one_run_is_at_work_in_a_folder() {
    let bench = Bench::with(&[("a", "a\n")]);
    let git = bench.path().join(".git");
    for pipe in ["begun", "go"] {
        let made = std::process::Command::new("mkfifo").arg(git.join(pipe)).status();
        assert!(made.expect("mkfifo").success());
    }
    // An agent that is surely at work until it is let go.
    let agent = "cat > /dev/null; git=$(git rev-parse --git-dir); echo x > $git/begun; read -r _ < $git/go; echo b > a";
    let text = workflow(ALONE);
    let engine = bench.engine(&[("coder", agent)]);
    let waiting = start(&engine, &workflow(WAITS));
    let waits = waiting.name().to_owned();
    waiting.drive().expect("it waits");
    std::thread::scope(|scope| {
        let first = scope.spawn(|| start(&engine, &text).drive().expect("it runs"));
        let mut begun = String::new();
        let mut pipe = std::fs::File::open(git.join("begun")).expect("a pipe");
        std::io::Read::read_to_string(&mut pipe, &mut begun).expect("it began");
        let begin = Begin { subject: "other".into(), ..Begin::default() };
        let refused = engine.begin(&text, &begin, &Cancel::default()).err().expect("it is refused");
        assert!(matches!(&refused, EngineError::Busy { .. }), "{refused}");
        assert!(refused.to_string().contains("git worktree add"), "{refused}");
        assert_eq!(engine.journal.runs().expect("runs").len(), 2, "nothing was begun");
        // One that waits cannot go on here meanwhile, and can be ended.
        let refused = engine.drive(&waits, &Cancel::default()).expect_err("it is refused");
        assert!(matches!(&refused, EngineError::Busy { .. }), "{refused}");
        let stop = Message::Stop { reason: "enough".into() };
        engine.journal.post(&waits, 0, &serde_json::to_string(&stop).expect("a message")).expect("posted");
        assert!(engine.drive(&waits, &Cancel::default()).expect("it ends").run().is_over());
        assert!(engine.read(&waits).expect("a run").1.is_over());
        std::fs::write(git.join("go"), "go\n").expect("it goes on");
        assert_eq!(&*first.join().expect("it ran").run().at.state, "done");
    });
    // Of two that are begun, and not driven yet, the second is refused before it is on record.
    let held = start(&engine, &text);
    let runs = engine.journal.runs().expect("runs").len();
    let begin = Begin { subject: "other".into(), ..Begin::default() };
    assert!(matches!(engine.begin(&text, &begin, &Cancel::default()), Err(EngineError::Busy { .. })));
    assert_eq!(engine.journal.runs().expect("runs").len(), runs, "nothing was begun");
    drop(held);
    // And then there is room again.
    drop(
        engine
            .begin(&text, &Begin { subject: "other".into(), ..Begin::default() }, &Cancel::default())
            .expect("room"),
    );
}

const WAITS: &str = r#"
workflow: waits
subject: thing
verbs: {go: {}}
states:
  rest: {rest: "It waits.", on: {verb go: done}}
  done: {end: success}
"#;

const ALONE: &str = r#"
workflow: alone
subject: thing
documents: {code: {file: a}}
roles: {coder: {agent: coder, prompt: "Write.", may-write: [code]}}
defaults: {failures: failed}
states:
  write: {agent: coder, then: done}
  done: {end: success}
  failed: {end: failure}
"#;
