//! `change` when something is there already, changes, or is gone: what is there is kept, what changed is done again.

use crate::bench::Bench;
use crate::change::{OF, TASKS, change, engine, project, rests, say, taken, taken_over, walk, with};
use crate::change_files::{APPROVES, BUILDER, JUDGE, PLANNER};

/// What was done since so many steps.
fn since(bench: &Bench, before: usize) -> Vec<String> {
    walk(bench).into_iter().skip(before).collect()
}

/// Approves every plan, and finds a fault with code that only somebody can mend.
const OBJECTS: &str = r#"
if [ "$LOOPWRIGHT_STATE" = review ]; then
  printf '```json\n{"verdict": "MAJOR_ISSUES", "findings": [{"severity": "high", "text": "not what was meant"}], "test_results": {"status": "PASS"}, "security_status": "CLEAN"}\n```\n'
else
  printf '```json\n{"verdict": "APPROVED", "summary": "good", "findings": []}\n```\n'
fi"#;

#[test]
fn a_layer_whose_tasks_change_is_built_again_and_no_other() {
    let bench = taken("phase: challenged\n", "");
    let engine = with(&bench, PLANNER, BUILDER, OBJECTS);
    let name = taken_over(&engine).expect("it is taken over");
    assert!(rests(&say(&engine, &name, "impl")).contains("The implementation is open"));
    assert!(bench.read(&format!("{OF}/STATE.yaml")).contains("phase: implementing"));
    let tasks = format!("{OF}/tasks.md");

    // A box that somebody ticks is no other task.
    bench.write(&tasks, &TASKS.replace("- [ ] 1.1", "- [x] 1.1"));
    let before = walk(&bench).len();
    say(&engine, &name, "impl");
    let built: Vec<String> =
        since(&bench, before).into_iter().filter(|it| it.starts_with("implement")).collect();
    assert_eq!(built, [""; 0], "{:?}", since(&bench, before));

    let more = "- [ ] 1.2 Write it down\n  - File: `src/written` (CREATE)\n\n## 2. Testing";
    bench.write(&tasks, &TASKS.replace("\n## 2. Testing", more));
    let before = walk(&bench).len();
    say(&engine, &name, "impl");
    let built: Vec<String> =
        since(&bench, before).into_iter().filter(|it| it.starts_with("implement")).collect();
    assert_eq!(built, ["implement.5/data done"], "{:?}", since(&bench, before));
    assert!(crate::change::prompt(&bench, "implementdata").contains("- 1.2 Write it down"));
}

#[test]
fn parts_of_a_plan_that_are_there_are_kept() {
    let bench = taken("phase: proposed\n", "");
    std::fs::remove_file(bench.path().join(format!("{OF}/specs/farewell.md"))).expect("it is gone");
    let kept = ["specs/greeting.md", "tasks.md"].map(|it| format!("{OF}/{it}"));
    let before = kept.clone().map(|it| bench.read(&it));
    let engine = engine(&bench);
    let name = taken_over(&engine).expect("it is taken over");
    say(&engine, &name, "plan");
    let walked = walk(&bench);
    assert_eq!(walked[..2], ["specs.1/farewell done", "challenge.1 NEEDS_REVISION"], "{walked:?}");
    assert_eq!(kept.map(|it| bench.read(&it)), before, "what somebody wrote is as it was");
}

#[test]
fn a_spec_that_is_gone_is_written_again() {
    let bench = project();
    let rejects = r#"printf '```json\n{"verdict": "REJECTED", "summary": "no", "findings": [{"severity": "high", "text": "not wanted"}]}\n```\n'"#;
    let objecting = with(&bench, PLANNER, BUILDER, rejects);
    let (name, _) = crate::bench::run(&objecting, &change(), &crate::change::begin("plan")).expect("a run");
    let state = format!("{OF}/STATE.yaml");
    bench.write(&state, &bench.read(&state).replace("phase: rejected", "phase: proposed"));
    std::fs::remove_file(bench.path().join(format!("{OF}/specs/farewell.md"))).expect("it is gone");
    let tasks = bench.read(&format!("{OF}/tasks.md"));
    let before = walk(&bench).len();
    let engine = engine(&bench);
    say(&engine, &name, "plan");
    assert_eq!(since(&bench, before)[0], "specs.2/farewell done", "{:?}", since(&bench, before));
    assert_eq!(since(&bench, before)[1], "challenge.2 NEEDS_REVISION", "{:?}", since(&bench, before));
    assert_eq!(bench.read(&format!("{OF}/tasks.md")), tasks);
}

#[test]
fn a_spec_that_a_revision_breaks_goes_back_before_anybody_judges_it() {
    let bench = project();
    let planner = format!(
        "{PLANNER}\nif [ $LOOPWRIGHT_STATE = repropose ]; then echo 'no headings' > \"$of/specs/greeting.md\"; fi"
    );
    let engine = with(&bench, &planner, BUILDER, JUDGE);
    crate::bench::run(&engine, &change(), &crate::change::begin("plan")).expect("a run");
    let walked = walk(&bench);
    let at = walked.iter().position(|it| it == "repropose.1 done").expect("it is revised");
    assert_eq!(walked[at + 1..at + 3], ["specs.2/greeting done", "challenge.2 APPROVED"], "{walked:?}");
    assert!(bench.read(&format!("{OF}/specs/greeting.md")).contains("### R1 - It is there"));
}

#[test]
fn what_was_put_right_is_judged_again_and_then_archived() {
    let bench = taken("phase: complete\n", "");
    bench.write("src/greeting", "hello\n");
    bench.write("src/farewell", "goodbye\n");
    let spec = format!("{OF}/specs/greeting.md");
    let right = bench.read(&spec);
    bench.write(&spec, &right.replace("- **WHEN** somebody comes\n", ""));
    bench.git(&["add", "--all"]);
    bench.git(&["commit", "--quiet", "--message", "there"]);
    let engine = with(&bench, PLANNER, BUILDER, APPROVES);
    let name = taken_over(&engine).expect("it is taken over");
    let told = rests(&say(&engine, &name, "archive"));
    assert!(told.contains("cannot be merged as they stand"), "{told}");
    bench.write(&spec, &right);
    let standing = say(&engine, &name, "archive");
    let walked = walk(&bench);
    assert!(matches!(standing, loopwright_engine::Standing::Over { .. }), "{standing:?}");
    assert!(!walked.iter().any(|it| it.starts_with("implement")), "nothing is built again: {walked:?}");
    assert!(walked.contains(&"challenge.1 APPROVED".to_owned()), "{walked:?}");
}
