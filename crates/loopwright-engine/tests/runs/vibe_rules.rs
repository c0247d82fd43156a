//! Rules of `vibe`, each by a turn that would go otherwise without it. What is due is in STATE.md, and one turn is made.

use loopwright_engine::Begin;

use crate::bench::{Bench, in_folder, run};
use crate::vibe_files::{JUDGE, PLAN, STATE};

/// Before what a worker does.
const SAYS: &str = r#"cat > /dev/null; say() { printf '```json\n{"verdict": "%s"}\n```\n' "$1"; }
"#;
const LESSONS: &str = "# C\n\n## Stage Retrospective Notes\n\n- read the plan\n";
/// An issue that a person owns, and nothing waits for.
const THEIRS: &str = "- [ ] ISSUE-7: pay for it\n  - Impact: MINOR\n  - Owner: human\n  - Status: OPEN\n";
/// What ticks it.
const TICKS: &str =
    "sed -i -e 's/- \\[ \\] ISSUE-7/- [x] ISSUE-7/' -e 's/Status: OPEN/Status: RESOLVED/' .vibe/STATE.md;";
const ELEVEN: &str = "- 1\n- 2\n- 3\n- 4\n- 5\n- 6\n- 7\n- 8\n- 9\n- 10\n- 11\n";
const ASKED: (&str, &str) = ("- [ ] RUN_CONTEXT_CAPTURE", "- [x] RUN_PROCESS_IMPROVEMENTS");
const CAPTURE: (&str, &str) = ("[ ] RUN_CONTEXT_CAPTURE", "[x] RUN_CONTEXT_CAPTURE");
const DESIGN: (&str, &str) = ("[x] STAGE_DESIGNED", "[ ] STAGE_DESIGNED");
const LOOK_BACK: (&str, &str) = ("[x] RETROSPECTIVE_DONE", "[ ] RETROSPECTIVE_DONE");
const IN_REVIEW: (&str, &str) = ("NOT_STARTED", "IN_REVIEW");
const BLOCKED: (&str, &str) = ("NOT_STARTED", "BLOCKED");

/// One turn.
#[derive(Clone, Copy)]
struct Case {
    what: &'static str,
    /// What is otherwise in STATE.md.
    state: &'static [(&'static str, &'static str)],
    /// What is in CONTEXT.md, if it is there.
    context: Option<&'static str>,
    /// What an agent does that works, and one that judges.
    worker: &'static str,
    judge: &'static str,
    /// A hook of git's that is asked before a commit.
    hook: bool,
    /// What was done, how it came out, and the reason that `LOOP_RESULT.json` has then.
    walk: &'static str,
    reason: &'static str,
    /// What is in STATE.md afterwards, and what is not.
    has: &'static [&'static str],
    lacks: &'static [&'static str],
}

const PLAIN: Case = Case {
    what: "",
    state: &[],
    context: Some("# C\n"),
    worker: "",
    judge: JUDGE,
    hook: false,
    walk: "",
    reason: "",
    has: &[],
    lacks: &[],
};

const CASES: &[Case] = &[
    Case {
        what: "a consolidator ticks what a person owns",
        state: &[("- begun\n", ELEVEN), ("- None.\n", THEIRS)],
        worker: "sed -i '/^- 11$/d' .vibe/STATE.md; TICKS say aligned",
        walk: "consolidate.1 out-of-bounds, failed.1",
        has: &[THEIRS],
        ..PLAIN
    },
    Case {
        what: "a designer ticks what a person owns",
        state: &[DESIGN, ("- None.\n", THEIRS)],
        worker: "TICKS echo more >> .vibe/CONTEXT.md; say updated",
        walk: "design.1 out-of-bounds, failed.1",
        has: &[THEIRS],
        ..PLAIN
    },
    Case {
        what: "an improver ticks what a person owns",
        state: &[ASKED, ("- None.\n", THEIRS)],
        worker: "TICKS say completed",
        walk: "improve.1 out-of-bounds, failed.1",
        has: &[THEIRS],
        ..PLAIN
    },
    Case {
        what: "an implementer ticks what a person owns",
        state: &[("- None.\n", THEIRS)],
        worker: "TICKS say ready_for_review",
        walk: "implement.1 out-of-bounds, failed.1",
        has: &[THEIRS],
        ..PLAIN
    },
    Case {
        what: "a design that is in CONTEXT.md alone",
        state: &[DESIGN],
        worker: "echo '- decided' >> .vibe/CONTEXT.md; say updated",
        walk: "design.1 malformed, design.1 malformed, failed.1",
        ..PLAIN
    },
    Case {
        what: "a design that is in STATE.md alone",
        state: &[DESIGN],
        worker: "echo '- decided' >> .vibe/STATE.md; say updated",
        walk: "design.1 malformed, design.1 malformed, failed.1",
        ..PLAIN
    },
    Case {
        what: "a look back that adds nothing to the lessons that are there",
        state: &[LOOK_BACK],
        context: Some(LESSONS),
        worker: "say completed",
        walk: "retrospective.1 malformed, retrospective.1 malformed, failed.1",
        ..PLAIN
    },
    Case {
        what: "a look back whose lessons have no heading",
        state: &[LOOK_BACK],
        worker: "echo '- read the plan' >> .vibe/CONTEXT.md; say completed",
        walk: "retrospective.1 malformed, retrospective.1 malformed, failed.1",
        ..PLAIN
    },
    Case {
        what: "a capture that leaves CONTEXT.md as it was",
        state: &[CAPTURE],
        worker: "say updated",
        walk: "capture.1 malformed, capture.1 malformed, failed.1",
        has: &["- [x] RUN_CONTEXT_CAPTURE"],
        ..PLAIN
    },
    Case {
        what: "a capture that leaves CONTEXT.md with its lessons as it was",
        state: &[CAPTURE],
        context: Some(LESSONS),
        worker: "say updated",
        walk: "recapture.1 malformed, recapture.1 malformed, failed.1",
        ..PLAIN
    },
    Case {
        what: "a capture that drops what stages taught",
        state: &[CAPTURE],
        context: Some(LESSONS),
        worker: "echo '# CONTEXT' > .vibe/CONTEXT.md; say updated",
        walk: "recapture.1 malformed, recapture.1 malformed, failed.1",
        ..PLAIN
    },
    Case {
        what: "a capture that keeps it",
        state: &[CAPTURE],
        context: Some(LESSONS),
        worker: "echo '- new' >> .vibe/CONTEXT.md; say updated",
        walk: "recapture.1 updated, captured.1, captured.1+",
        has: &["- [ ] RUN_CONTEXT_CAPTURE"],
        ..PLAIN
    },
    Case {
        what: "a capture where there are no flags",
        state: &[("- [ ] RUN_CONTEXT_CAPTURE\n", "")],
        context: None,
        worker: "echo '# CONTEXT' > .vibe/CONTEXT.md; say updated",
        walk: "capture.1 updated, captured.1, captured.1+",
        lacks: &["RUN_CONTEXT_CAPTURE"],
        ..PLAIN
    },
    Case {
        what: "improvements that were asked for",
        state: &[ASKED],
        worker: "echo better > better; say completed",
        walk: "improve.1 completed, improved-once.1, improved-once.1+",
        has: &["- [ ] RUN_PROCESS_IMPROVEMENTS"],
        ..PLAIN
    },
    Case {
        what: "improvements after 51 lines of evidence, where no flag asks for them",
        state: &[("- path: notes.md\n", "51 LINES")],
        worker: "echo better > better; say completed",
        walk: "improve.1 completed, improved-once.1, improved-once.1+",
        lacks: &["RUN_PROCESS_IMPROVEMENTS"],
        ..PLAIN
    },
    Case {
        what: "none after 50",
        state: &[("- path: notes.md\n", "50 LINES")],
        worker: "echo 'hello, world' > hello.txt; say ready_for_review",
        walk: "implement.1 ready_for_review, to-review.1, to-review.1+",
        ..PLAIN
    },
    Case {
        what: "a review that passes with something MAJOR",
        state: &[IN_REVIEW],
        judge: r#"cat > /dev/null; printf '```json\n{"verdict": "pass", "findings": [{"severity": "MAJOR", "text": "wrong", "file": "a"}]}\n```\n'"#,
        walk: "smoke.1 pass, review.1 fail, rework.1, rework.1+",
        has: &["Status: IN_PROGRESS"],
        ..PLAIN
    },
    Case {
        what: "a checkpoint that git does not commit",
        state: &[IN_REVIEW],
        hook: true,
        walk: "smoke.1 pass, review.1 pass, checkpoint-done.1, checkpoint-done.1+, checkpoint-done.1/action-2 failed, uncommitted.1, uncommitted.1+",
        reason: "1.0 could not be committed: ",
        has: &["Status: IN_REVIEW"],
        ..PLAIN
    },
    Case {
        what: "an agent's BLOCKER that is settled",
        state: &[(
            "- None.\n",
            "- [x] ISSUE-1: flaky\n  - Impact: BLOCKER\n  - Owner: agent\n  - Status: RESOLVED\n",
        )],
        worker: "say ready_for_review",
        walk: "implement.1 ready_for_review, to-review.1, to-review.1+",
        ..PLAIN
    },
    Case {
        what: "decisions that are wanted",
        state: &[
            IN_REVIEW,
            (
                "- None.\n",
                "- [ ] ISSUE-5: a\n  - Impact: MINOR\n  - Owner: human\n  - Status: DECISION_REQUIRED\n- [ ] ISSUE-6: b\n  - Impact: MAJOR\n  - Owner: agent\n  - Status: DECISION_REQUIRED\n",
            ),
        ],
        walk: "undecided.1",
        reason: "a person has to decide: ISSUE-5; ISSUE-6",
        ..PLAIN
    },
    Case {
        what: "the same while the work is blocked",
        state: &[
            BLOCKED,
            (
                "- None.\n",
                "- [ ] ISSUE-5: a\n  - Impact: MINOR\n  - Owner: human\n  - Status: DECISION_REQUIRED\n",
            ),
        ],
        walk: "undecided-triage.1",
        reason: "a person has to decide: ISSUE-5",
        ..PLAIN
    },
    Case {
        what: "a BLOCKER of an agent that waits for a decision",
        state: &[(
            "- None.\n",
            "- [ ] ISSUE-5: a\n  - Impact: BLOCKER\n  - Owner: agent\n  - Status: DECISION_REQUIRED\n",
        )],
        walk: "undecided-triage.1",
        reason: "a person has to decide: ISSUE-5",
        ..PLAIN
    },
    Case {
        what: "one beside a BLOCKER that an agent may lift",
        state: &[(
            "- None.\n",
            "- [ ] ISSUE-5: a\n  - Impact: BLOCKER\n  - Owner: agent\n  - Status: DECISION_REQUIRED\n- [ ] ISSUE-6: b\n  - Impact: BLOCKER\n  - Owner: agent\n  - Status: OPEN\n",
        )],
        worker: "say partial",
        walk: "triage.1 partial, triaged.1",
        ..PLAIN
    },
    Case {
        what: "what only people may settle while the work is blocked",
        state: &[
            BLOCKED,
            ("- None.\n", "- [ ] ISSUE-3: a colour\n  - Impact: MAJOR\n  - Owner: human\n  - Status: OPEN\n"),
        ],
        walk: "for-people.1",
        reason: "only people may settle what is open: ISSUE-3",
        ..PLAIN
    },
    Case {
        what: "a work log that stays long",
        state: &[("- begun\n", ELEVEN)],
        worker: "say aligned",
        walk: "consolidate.1 aligned, still-long.1",
        reason: "the work log of STATE.md still has 11 entries after a consolidation, and ten are the most: ",
        ..PLAIN
    },
    Case {
        // Nobody can tell whether it was the agent.
        what: "STATE.md is changed by a person while somebody looks back",
        state: &[LOOK_BACK],
        worker: "printf '%s' '- [ ] ISSUE-9: wait\n  - Impact: BLOCKER\n  - Owner: human\n' >> .vibe/STATE.md; printf '\n## Stage Retrospective Notes\n' >> .vibe/CONTEXT.md; say completed",
        walk: "retrospective.1 out-of-bounds, failed.1",
        reason: "retrospective failed: out-of-bounds",
        lacks: &["ISSUE-9"],
        ..PLAIN
    },
];

/// How a case went that is not as it should have gone.
fn went_wrong(case: &Case) -> Option<String> {
    let lines = |text: &str| match text.strip_suffix(" LINES").and_then(|it| it.parse::<usize>().ok()) {
        Some(many) => "- line\n".repeat(many),
        None => text.to_owned(),
    };
    let state = case.state.iter().fold(STATE.to_owned(), |state, (from, to)| {
        assert!(state.contains(from), "{}: {from}", case.what);
        state.replace(from, &lines(to))
    });
    let plan = PLAN.replace("`grep -q hello hello.txt`", "`true`");
    let mut files = vec![(".vibe/STATE.md", state.as_str()), (".vibe/PLAN.md", &plan)];
    files.extend(case.context.map(|it| (".vibe/CONTEXT.md", it)));
    let bench = Bench::with(&files);
    if case.hook {
        let place = bench.path().join(".git/hooks/pre-commit");
        std::fs::create_dir_all(place.parent().expect("a folder")).expect("a folder");
        std::fs::write(&place, "#!/bin/sh\necho no; exit 1\n").expect("a hook");
        std::fs::set_permissions(&place, std::os::unix::fs::PermissionsExt::from_mode(0o755))
            .expect("a hook");
    }
    let worker = format!("{SAYS}{}", case.worker.replace("TICKS", TICKS));
    let mut engine = bench.engine(&[("claude", &worker), ("codex", case.judge)]);
    engine.most_rounds = Some(1);
    run(&engine, &in_folder("../../workflows", "vibe"), &Begin::default()).expect("a run");
    let told = bench.lines().into_iter().filter(|it| !it.starts_with("said: "));
    let told = told.map(|it| {
        it.replace("/action-0 done", "").replace("/action-1 done", "+").replace("/action-2 done", "+")
    });
    let walk = told.collect::<Vec<_>>().join(", ");
    let record = std::fs::read_to_string(bench.path().join(".vibe/LOOP_RESULT.json")).unwrap_or_default();
    let after = bench.read(".vibe/STATE.md");
    let fits = walk == case.walk
        && record.contains(case.reason)
        && case.has.iter().all(|it| after.contains(it))
        && !case.lacks.iter().any(|it| after.contains(it));
    (!fits).then(|| format!("{}: {walk}\n{record}{after}", case.what))
}

#[test]
fn every_turn_goes_as_its_rule_says() {
    let wrong: Vec<String> = CASES.iter().filter_map(went_wrong).collect();
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), CASES.len(), wrong.join("\n---\n"));
}

#[test]
fn an_implementer_that_is_blocked_by_a_decision_costs_one_triage() {
    let bench =
        Bench::with(&[(".vibe/STATE.md", STATE), (".vibe/PLAN.md", PLAN), (".vibe/CONTEXT.md", "# C\n")]);
    let worker = format!(
        "{SAYS}case $LOOPWRIGHT_STATE in
implement) say blocked ;;
triage) sed 's/^- None[.]/- [ ] ISSUE-5: which\\n  - Impact: MAJOR\\n  - Owner: human\\n  - Status: DECISION_REQUIRED/' .vibe/STATE.md > .vibe/new
  mv .vibe/new .vibe/STATE.md; say partial ;;
esac"
    );
    let engine = bench.engine(&[("claude", &worker), ("codex", JUDGE)]);
    run(&engine, &in_folder("../../workflows", "vibe"), &Begin::default()).expect("a run");
    let calls = bench.lines().into_iter().filter(|it| !it.contains("action") && !it.starts_with("said: "));
    assert_eq!(calls.collect::<Vec<_>>(), ["implement.1 blocked", "triage.1 partial"]);
    let record = bench.read(".vibe/LOOP_RESULT.json");
    assert!(record.contains("a person has to decide: ISSUE-5"), "{record}");
}
