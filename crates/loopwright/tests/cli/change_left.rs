//! Verbs of `change` said to one that was left in the middle, and to one whose phase somebody edited.

use std::fs;

use crate::Outcome;
use crate::change::{BUILDER, JUDGE, PLANNER, committed, edit, open, project, say};
use crate::runs::{start, waited_for};

/// Waits for ever when it is called first, and judges after that.
fn slow(judge: &str) -> String {
    format!(
        "if mkdir .git/once 2> /dev/null; then echo $$ > .git/waits; while :; do sleep 60; done; fi\n{judge}"
    )
}

#[test]
fn the_verb_that_was_cut_short_goes_on_with_it_and_no_other_does() -> Outcome {
    let folder = project("change-left", [PLANNER, &slow(JUDGE), BUILDER])?;
    open(&folder, "greet", "proposed")?;
    committed(&folder)?;
    let mut driver = start(&folder, &["change", "plan", "greet"])?;
    waited_for(&folder.join(".git/waits"));
    let other = say(&folder, "change plan greet")?;
    assert_eq!(other.code, Some(6), "somebody is at it: {}{}", other.stdout, other.stderr);
    driver.kill()?;
    driver.wait()?;
    let wrong = say(&folder, "change impl greet")?;
    assert_eq!(wrong.code, Some(1), "{}{}", wrong.stdout, wrong.stderr);
    assert!(wrong.stderr.contains("ChangeNotReady: greet is proposed"), "{}", wrong.stderr);
    let gone_on = say(&folder, "change plan greet")?;
    assert_eq!(gone_on.code, Some(3), "{}{}", gone_on.stdout, gone_on.stderr);
    assert!(gone_on.stderr.contains("challenge.1 -> lost"), "{}", gone_on.stderr);
    assert!(gone_on.stdout.contains("Planning is complete"), "{}", gone_on.stdout);
    Ok(())
}

#[test]
fn a_phase_that_somebody_edits_decides_what_a_verb_does() -> Outcome {
    let folder = project("change-edited", [PLANNER, JUDGE, BUILDER])?;
    open(&folder, "greet", "challenged")?;
    committed(&folder)?;
    assert_eq!(say(&folder, "change impl greet")?.code, Some(3));
    let state = folder.join("agentd/changes/greet/STATE.yaml");
    edit(&state, "phase: complete", "phase: rejected")?;
    let refused = say(&folder, "change archive greet")?;
    assert_eq!(refused.code, Some(1), "{}{}", refused.stdout, refused.stderr);
    assert!(refused.stderr.contains("ChangeNotComplete: greet is rejected"), "{}", refused.stderr);
    edit(&state, "phase: rejected", "phase: implementing")?;
    let built = say(&folder, "change impl greet")?;
    assert!(built.stderr.contains("somebody put it to `implementing`"), "{}", built.stderr);
    assert!(built.stderr.contains("review.2 -> APPROVED"), "it was built again: {}", built.stderr);
    edit(&state, "phase: complete", "phase: proposed")?;
    let planned = say(&folder, "change plan greet")?;
    assert!(planned.stdout.contains("Planning is complete"), "{}{}", planned.stdout, planned.stderr);
    edit(&state, "phase: challenged", "phase: soon")?;
    let none = say(&folder, "change impl greet")?;
    assert_eq!(none.code, Some(2), "{}{}", none.stdout, none.stderr);
    assert!(
        none.stderr.contains("STATE.yaml, line 2") && none.stderr.contains("`soon` is no phase"),
        "{}",
        none.stderr
    );
    assert!(fs::read_to_string(&state)?.contains("phase: soon"), "the file stays as it is");
    Ok(())
}
