//! `change` at its end: what was built is folded into the main specs, all of it or nothing.

use loopwright_core::definition::Outcome as Ending;
use loopwright_engine::Standing;

use crate::change::{OF, engine, rests, say, taken, taken_over, walk, with};
use crate::change_files::{BUILDER, JUDGE, PLANNER};

#[test]
fn a_merge_that_is_refused_leaves_the_main_specs_as_they_were() {
    let bench = taken("phase: complete\n", "");
    let before = bench.git(&["rev-parse", "HEAD:agentd/specs"]);
    let planner =
        format!("{PLANNER}\nif [ $LOOPWRIGHT_STATE = merge-specs ]; then echo odd > agentd/specs/odd.md; fi");
    let judge = r#"printf '```json\n{"verdict": "NEEDS_FIX", "summary": "no", "findings": [{"severity": "high", "text": "odd.md is odd"}]}\n```\n'"#;
    let engine = with(&bench, &planner, BUILDER, judge);
    let name = taken_over(&engine).expect("it is taken over");
    let told = rests(&say(&engine, &name, "archive"));
    assert!(told.contains("Not archived, main specs are as before. archive-review: NEEDS_FIX, no"), "{told}");
    let fixed = walk(&bench).iter().filter(|it| it.starts_with("archive-fix")).count();
    assert_eq!(fixed, 1, "{:?}", walk(&bench));
    bench.git(&["add", "agentd/specs"]);
    assert_eq!(
        bench.git(&["write-tree", "--prefix=agentd/specs/"]),
        before,
        "to the byte, and nothing is new"
    );
    assert!(bench.read(&format!("{OF}/STATE.yaml")).contains("phase: complete"));
    assert!(bench.read(&format!("{OF}/ARCHIVE_REVIEW.md")).contains("## Verdict\n\nNEEDS_FIX\n"));
}

#[test]
fn specs_that_cannot_be_merged_are_not() {
    let bench = taken("phase: complete\n", "");
    let spec = format!("{OF}/specs/farewell.md");
    bench.write(&spec, &bench.read(&spec).replace("## Acceptance Criteria", "## Something"));
    let engine = engine(&bench);
    let name = taken_over(&engine).expect("it is taken over");
    let told = rests(&say(&engine, &name, "archive"));
    assert!(told.starts_with("The specs cannot be merged as they stand: specs/farewell.md"), "{told}");
    assert_eq!(walk(&bench), [""; 0], "nobody was called");
    assert!(bench.read(&format!("{OF}/STATE.yaml")).contains("phase: complete"));
}

#[test]
fn a_merge_begins_with_the_main_specs_as_they_were_whatever_was_cut_short() {
    for (way, whole) in [("the merge", true), ("the copy", false)] {
        let bench = taken("phase: complete\n", "");
        let before = bench.read("agentd/specs/greeting.md");
        bench.write(".agentd-backup/greet/CHANGELOG.md", &bench.read("agentd/specs/CHANGELOG.md"));
        // A copy that is whole is there to go back to, for half of the merge is there; half a copy is not.
        if whole {
            bench.write(".agentd-backup/greet/greeting.md", &before);
            bench.write(".agentd-backup/greet.complete", "now");
            bench.write("agentd/specs/greeting.md", "half of it\n");
        }
        let seen = format!(
            "if [ $LOOPWRIGHT_STATE = merge-specs ]; then cp agentd/specs/greeting.md ../seen; fi\n{PLANNER}"
        );
        let engine = with(&bench, &seen, BUILDER, JUDGE);
        let name = taken_over(&engine).expect("it is taken over");
        let standing = say(&engine, &name, "archive");
        assert!(
            matches!(standing, Standing::Over { ending: Some(Ending::Success), .. }),
            "{way}: {standing:?}"
        );
        assert_eq!(
            std::fs::read_to_string(bench.around().join("seen")).expect("what was seen"),
            before,
            "{way}"
        );
        assert!(!bench.path().join(".agentd-backup").exists(), "{way}");
    }
}

#[test]
fn an_archive_of_that_name_is_not_mixed_with_this_one() {
    let bench = taken("phase: complete\n", "");
    let before = bench.read("agentd/specs/greeting.md");
    bench.write("agentd/archive/20260921-greet/proposal.md", "an earlier one\n");
    let engine = engine(&bench);
    let name = taken_over(&engine).expect("it is taken over");
    rests(&say(&engine, &name, "archive"));
    let why = "`agentd/archive/20260921-greet` is there already, so nothing was moved";
    assert!(bench.lines().iter().any(|it| it.contains(why)), "{:#?}", bench.lines());
    assert_eq!(bench.read("agentd/archive/20260921-greet/proposal.md"), "an earlier one\n");
    assert_eq!(bench.read("agentd/specs/greeting.md"), before);
    assert!(bench.read(&format!("{OF}/STATE.yaml")).contains("phase: complete"));
    std::fs::remove_dir_all(bench.path().join("agentd/archive/20260921-greet")).expect("it goes");
    let standing = say(&engine, &name, "archive");
    assert!(matches!(standing, Standing::Over { ending: Some(Ending::Success), .. }), "{standing:?}");
}
