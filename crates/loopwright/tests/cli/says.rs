//! What a workflow tells people in its own words: at its end, and when a verb does not fit.

use std::fs;

use crate::Outcome;
use crate::runs::{CODER, WORKFLOW, name, project, say};

/// Comes to an end that says something, at once.
const SAYING: &str = r#"
workflow: saying
about: Say how it came out.
subject: thing
vars: {how: {in: [well, badly, refused], start: well, input: true}}
states:
  start:
    choose: [{when: {how: well}, to: done}, {when: {how: badly}, to: failed}, turned-away]
  done: {end: success, says: "{{subject}} is done, at {{state}}."}
  failed: {end: failure, says: "{{subject}} failed.\nLook at it."}
  turned-away: {end: refused, says: "{{subject}} is not welcome; {{changed_files | length}} files changed."}
"#;

#[test]
fn what_an_end_says_is_told() -> Outcome {
    let folder = project("run-says", CODER)?;
    fs::create_dir_all(folder.join(".loopwright/workflows/saying"))?;
    fs::write(folder.join(".loopwright/workflows/saying/workflow.yaml"), SAYING)?;
    let checked = say(&folder, "check saying")?;
    assert_eq!(checked.code, Some(0), "{}{}", checked.stdout, checked.stderr);
    let cases = [
        ("well", 0, ": success, at `done`\n  world is done, at done.\n"),
        ("badly", 1, ": failure, at `failed`\n  world failed.\n  Look at it.\n"),
        ("refused", 1, ": refused, at `turned-away`\n  world is not welcome; 0 files changed.\n"),
    ];
    for (how, code, expected) in cases {
        let ran = say(&folder, &format!("run saying world --set how={how}"))?;
        assert_eq!(ran.code, Some(code), "{}{}", ran.stdout, ran.stderr);
        assert!(ran.stdout.ends_with(expected), "{}", ran.stdout);
    }
    let begun = say(&folder, "list")?.stdout;
    for (set, why) in [
        ("how=perhaps", "`how` is one of well, badly, refused, and not `perhaps`"),
        ("who=me", "there is no variable `who`"),
    ] {
        let ran = say(&folder, &format!("run saying world --set {set}"))?;
        assert_eq!(ran.code, Some(2), "{}", ran.stderr);
        assert!(ran.stderr.contains(why), "{}", ran.stderr);
    }
    assert_eq!(say(&folder, "list")?.stdout, begun, "nothing was begun");
    let shown = say(&folder, &format!("show {}", name(&folder)?))?;
    assert!(shown.stdout.contains("  says         world is not welcome; 0 files"), "{}", shown.stdout);
    let json = say(&folder, "run saying world --json")?;
    assert!(json.stdout.contains(r#""says":"world is done, at done.""#), "{}", json.stdout);
    Ok(())
}

#[test]
fn a_verb_that_does_not_fit_is_refused_in_the_words_of_its_workflow() -> Outcome {
    let folder = project("run-else", CODER)?;
    let text =
        WORKFLOW.replace("not while it is {{phase}}", "not while {{subject}} is {{phase}} at {{state}}");
    fs::write(folder.join(".loopwright/workflows/greet/workflow.yaml"), text)?;
    assert_eq!(say(&folder, "run greet world")?.code, Some(3));
    let refused = say(&folder, "greet polish world")?;
    assert_eq!(refused.code, Some(1), "{}", refused.stderr);
    assert_eq!(refused.stderr, "error: not while world is waiting at ask\n");
    Ok(())
}

/// Rests twice, and goes on when somebody says so.
const RESTS: &str = r#"
workflow: rests
about: Rest, and rest again.
subject: thing
states:
  first: {rest: "Once.", on: {verb resume: second}}
  second: {rest: "Twice.", on: {verb resume: done}}
  done: {end: success}
"#;

#[test]
fn resume_is_heard_where_a_run_rests() -> Outcome {
    let folder = project("run-rests", CODER)?;
    fs::create_dir_all(folder.join(".loopwright/workflows/rests"))?;
    fs::write(folder.join(".loopwright/workflows/rests/workflow.yaml"), RESTS)?;
    let begun = say(&folder, "run rests world")?;
    assert_eq!(begun.code, Some(3), "{}{}", begun.stdout, begun.stderr);
    let name = name(&folder)?;
    assert!(begun.stdout.contains(&format!("go on with `loopwright resume {name}`")), "{}", begun.stdout);
    let resumed = say(&folder, &format!("resume {name}"))?;
    assert_eq!(resumed.code, Some(3), "{}{}", resumed.stdout, resumed.stderr);
    assert!(resumed.stdout.contains("waits at `second`"), "{}", resumed.stdout);
    let resumed = say(&folder, "rests resume world")?;
    assert_eq!(resumed.code, Some(0), "{}{}", resumed.stdout, resumed.stderr);
    Ok(())
}
