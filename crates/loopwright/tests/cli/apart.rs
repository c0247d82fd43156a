//! Items apart, as somebody at a command line meets them: how many are at work, where each stands, and what is left.

use std::fs;

use crate::Outcome;
use crate::runs::{git, name, project, say, waited_for};

const PARTS: &str = r#"
workflow: parts
about: Every part of a list, each in a worktree of its own.
subject: thing
documents:
  list: {file: list.yaml, as: yaml, shape: {items: [{id: text}]}}
  code: {files: ["src/**"]}
roles:
  worker: {agent: worker, prompt: "{{item.id}}", may-write: [code]}
defaults: {failures: failed}
states:
  all:
    each: {item: part, in: docs.list.items, at-once: {most: 3, usually: 1}, apart: true, run: one}
    on: {done: done, bad | empty: failed}
  done: {end: success}
  failed: {end: failure}
children:
  one:
    defaults: {failures: bad}
    states:
      work: {agent: worker, then: keep}
      keep: {do: [{commit: "{{item.id}}", what: [code]}], then: join}
      join: {do: [{join: "Join {{item.id}}"}], then: done}
      done: {end: success}
      bad: {end: failure}
"#;

/// Says that it is at work, and works until it is told to go on.
const WORKER: &str = "cat > /dev/null; git=$(git rev-parse --path-format=absolute --git-common-dir)
echo > $git/$LOOPWRIGHT_ITEM-begun; until [ -e $git/go ]; do sleep 0.02; done
mkdir -p src; echo done > src/$LOOPWRIGHT_ITEM";

#[test]
fn as_many_are_at_work_as_somebody_says_and_each_is_shown() -> Outcome {
    let folder = project("apart", "true")?;
    fs::create_dir_all(folder.join(".loopwright/workflows/parts"))?;
    fs::write(folder.join(".loopwright/workflows/parts/workflow.yaml"), PARTS)?;
    fs::write(folder.join("list.yaml"), "items: [{id: a}, {id: b}, {id: c}]\n")?;
    let config = format!("agents: {{worker: {{command: {}}}}}\n", serde_json::Value::from(WORKER));
    fs::write(folder.join(".loopwright/config.yaml"), config)?;
    let none = say(&folder, "run parts house --jobs 0")?;
    assert_eq!(none.code, Some(2), "{}", none.stderr);
    assert!(none.stderr.contains("--jobs"), "{}", none.stderr);
    let ran = std::thread::scope(|scope| {
        let driven = scope.spawn(|| say(&folder, "run parts house --jobs 2"));
        waited_for(&folder.join(".git/a-begun"));
        waited_for(&folder.join(".git/b-begun"));
        let status = name(&folder).and_then(|it| say(&folder, &format!("status {it}")));
        let third = folder.join(".git/c-begun").exists();
        // Whatever was seen, whoever is at work is to come to an end.
        let told = fs::write(folder.join(".git/go"), "");
        (driven.join(), status, third, told)
    });
    let (driven, status, third, told) = ran;
    told?;
    let driven = driven.map_err(|_| "it fell over")??;
    assert_eq!(driven.code, Some(0), "{}{}", driven.stdout, driven.stderr);
    let status = status?.stdout;
    assert!(status.contains("a: one.work (worker)") && status.contains("b: one.work (worker)"), "{status}");
    assert!(!third, "a third one was begun");
    let log = say(&folder, &format!("log {}", name(&folder)?))?.stdout;
    assert!(log.contains("somebody said that at most 2 items may be at work side by side"), "{log}");
    assert_eq!(git(&folder, &["worktree", "list"])?.lines().count(), 1);
    assert_eq!(git(&folder, &["log", "--first-parent", "--format=%s"])?, "Join c\nJoin b\na\nstart");
    Ok(())
}
