//! What a state says, odd ones above all.

use loopwright_formats::vibe::{Impact, State, context, text};

fn status(text: &str) -> Option<String> {
    State::read(text).status
}

#[test]
fn bytes_become_text_and_lines_as_in_the_original() {
    assert_eq!(text::decode(b"\xef\xbb\xbfa\r\nb\rc\xff"), "\u{feff}a\nb\nc\u{fffd}");
    let lines: Vec<&str> =
        text::lines("a\r\nb\rc\u{b}d\u{c}e\u{1c}f\u{85}g\u{2028}h\u{2029}i\n\nj\n").collect();
    assert_eq!(lines, ["a", "b", "c", "d", "e", "f", "g", "h", "i", "", "j"]);
    assert_eq!(text::lines("").count(), 0);
    // The unit separator is a blank, and ends no line.
    assert_eq!(text::lines("a\u{1f}b").count(), 1);
}

#[test]
fn focus_bullets_count_wherever_they_are() {
    let state = State::read(
        "\u{feff}# S\n\t-Stage : 21A <!-- x -->\n- checkpoint:\t21A.0  \n-  STATUS: in_review now\n- Path: a b.md\n",
    );
    assert_eq!(state.stage.as_deref(), Some("21A <!-- x -->"));
    assert_eq!(state.checkpoint.as_deref(), Some("21A.0"));
    assert_eq!(state.status.as_deref(), Some("IN_REVIEW"));
    assert_eq!(state.evidence_path.as_deref(), Some("a b.md"));
    assert_eq!((state.stage_number(), state.checkpoint_stage_number()), (Some(21), Some(21)));
}

#[test]
fn a_stage_has_the_number_it_begins_with() {
    for (stage, number) in [
        ("3 <!-- three -->", Some(3)),
        ("007B", Some(7)),
        ("A", None),
        ("9223372036854775807", Some(i64::MAX)),
        ("9223372036854775808", None),
        ("99999999999999999999999", None),
    ] {
        let state = State::read(&format!("- Stage: {stage}\n- Checkpoint: {stage}.0\n"));
        assert_eq!(state.stage_number(), number, "{stage}");
        let of_checkpoint = if stage.contains(' ') { None } else { number };
        assert_eq!(state.checkpoint_stage_number(), of_checkpoint, "{stage}");
    }
}

#[test]
fn what_is_not_such_a_bullet_is_not_read() {
    for line in [
        "* Status: DONE",
        "- **Status**: DONE",
        "| Status | DONE |",
        "Status: DONE",
        "\u{feff}- Status: DONE",
    ] {
        assert_eq!(status(line), None, "{line}");
    }
}

#[test]
fn the_first_of_a_key_wins_and_state_stands_in_for_status() {
    assert_eq!(status("- Status: DONE\n- Status: BLOCKED\n").as_deref(), Some("DONE"));
    assert_eq!(status("- State: DONE\n").as_deref(), Some("DONE"));
    assert_eq!(status("- State: DONE\n- Status: BLOCKED\n").as_deref(), Some("BLOCKED"));
    let borrowed = "## Active issues\n- [ ] ISSUE-1: x\n  - Status: OPEN\n";
    assert_eq!(status(borrowed).as_deref(), Some("OPEN"));
}

#[test]
fn an_empty_bullet_takes_nothing_that_is_something_else() {
    for below in [
        "- Checkpoint: 1.0",
        "## Next",
        "",
        "some words",
        "---",
        "  - item",
        "  * item",
        "  # title",
        "  <!-- x -->",
    ] {
        let text = format!("- Stage:\n{below}\n- Status: DONE\n- Stage: 2\n");
        let state = State::read(&text);
        assert_eq!(state.stage, None, "{below}");
        assert_eq!(state.status.as_deref(), Some("DONE"), "{below}");
    }
    assert_eq!(State::read("- Stage:\n- Checkpoint: 1.0\n").checkpoint.as_deref(), Some("1.0"));
    // Also of keys that nobody asks for.
    assert_eq!(State::read("- Notes:\n- Stage: 3\n").stage.as_deref(), Some("3"));
}

#[test]
fn an_empty_bullet_takes_a_line_that_is_a_value() {
    assert_eq!(State::read("- Stage:\n21A\n- Status: DONE").stage.as_deref(), Some("21A"));
    assert_eq!(State::read("- Stage:\n    21A \n- Status: DONE").stage.as_deref(), Some("21A"));
    assert_eq!(State::read("- Stage:   \r\n\t3\r\n").stage.as_deref(), Some("3"));
}

#[test]
fn flags_by_their_boxes() {
    let state = State::read(
        "##  workflow STATE \n- [ ] a b\n- [x] B\n- [ X ] c\n- [] STAGE_DESIGNED\n- [-] odd\n- plain\n- None.\n- (none yet)\n\
         * [ ] star\n- [x] a-b\n---\n### still here\n- [  ] last <!-- one -->\n## Other\n- [x] NOT\n",
    );
    let flags: Vec<(&str, bool)> = state.flags.iter().map(|(name, set)| (name.as_str(), *set)).collect();
    assert_eq!(
        flags,
        [
            ("A_B", true),
            ("B", true),
            ("C", true),
            ("STAGE_DESIGNED", false),
            ("ODD", true),
            ("PLAIN", true),
            ("LAST_ONE", false)
        ]
    );
}

#[test]
fn sections_of_one_spelling_are_one_and_of_two_the_first() {
    let state = State::read(
        "## Workflow state\n- [ ] A\n## X\n## WORKFLOW STATE\n- [ ] C\n## Workflow state\n- [ ] B\n",
    );
    assert_eq!(state.flags.keys().collect::<Vec<_>>(), ["A", "B"]);
}

#[test]
fn issues_with_all_they_say() {
    let state = State::read(
        "  ## ACTIVE ISSUES\n- [X] issue-0a.1: Title: more\n  - Impact: major (very)\n- Owner:  Human \n  - status: resolved.\n\
         \x20 - status: OPEN\n  - Unblock: when\n  - Evidence: log\n  - Notes: n\n  - Other: o\n- [ ] <short title>\n  - Impact: BLOCKER\n\
         - [] no id\n  - Impact: HUGE\n## End\n- [ ] ISSUE-9: no\n",
    );
    let [first, second] = state.issues.as_slice() else { panic!("{:?}", state.issues) };
    assert_eq!(first.id.as_deref(), Some("ISSUE-0A.1"));
    assert_eq!(first.title, "issue-0a.1: Title: more");
    assert_eq!((first.impact, first.impact_written, first.checked), (Impact::Major, true, true));
    assert_eq!((first.owner.as_deref(), first.status.as_deref()), (Some("Human"), Some("RESOLVED.")));
    assert_eq!(
        (first.unblock_condition.as_deref(), first.evidence_needed.as_deref()),
        (Some("when"), Some("log"))
    );
    assert_eq!(first.notes.as_deref(), Some("n"));
    assert!(first.is_human() && !first.is_settled());
    assert_eq!((second.name(), second.impact, second.impact_written), ("no id", Impact::Question, true));
}

#[test]
fn only_what_is_checked_and_resolved_is_settled() {
    for (mark, status, settled) in [("x", "RESOLVED", true), (" ", "RESOLVED", false), ("x", "OPEN", false)] {
        let state = State::read(&format!("## Active issues\n- [{mark}] ISSUE-1: x\n  - Status: {status}\n"));
        assert_eq!(state.issues[0].is_settled(), settled);
    }
}

#[test]
fn old_issues_count_if_there_are_no_new_ones() {
    let old =
        "- **blocker:** one\n- **MAJOR**: two\n-RISK : three\n> - MINOR: four\n* MINOR: five\n- QUESTION:\n";
    let found = |text: &str| {
        State::read(text).issues.into_iter().map(|it| (it.impact.as_str(), it.title)).collect::<Vec<_>>()
    };
    let titles = [("BLOCKER", "one"), ("MAJOR", "two"), ("MAJOR", "three")].map(|(a, b)| (a, b.to_owned()));
    assert_eq!(found(old), titles);
    assert_eq!(found(&format!("{old}## Active issues\n- [ ] None.\n")), titles);
    assert_eq!(found(&format!("{old}## Active issues\n- [ ] ISSUE-1: new\n")).len(), 1);
}

#[test]
fn work_log_and_evidence_are_counted() {
    let state = State::read(
        "## Work log (current session)\n- one\n  - two\n- [ ] three\n* star\n-four\n- \n\n## Evidence\n\n- path: x\n<!-- c -->\n(none)\nline\n",
    );
    assert_eq!(state.work_log, ["one", "two", "[ ] three"]);
    assert_eq!(state.evidence_signals, 2);
    assert_eq!(State::read("## Work log\n- one\n").work_log.len(), 0);
}

#[test]
fn impacts_are_ordered_worst_first() {
    assert!(
        Impact::Blocker < Impact::Major && Impact::Major < Impact::Minor && Impact::Minor < Impact::Question
    );
}

#[test]
fn context_is_summed_up_by_its_first_items() {
    let text =
        "# C\n\nlost\n## A\n\n- first\n  goes on\n  - not this\n- second\n## B\nprose\nmore\n## Empty\n\n";
    assert_eq!(context::headings(text), ["A", "B", "Empty"]);
    let summary = context::summary(text);
    assert_eq!(
        summary.iter().map(|(a, b)| (a.as_str(), b.as_str())).collect::<Vec<_>>(),
        [("A", "first goes on"), ("B", "prose")]
    );
    assert_eq!(context::sections(text)["B"], ["prose", "more"]);
}

#[test]
fn context_is_stale_after_more_than_a_day() {
    assert!(!context::is_stale(0.0, &[86400.0]));
    assert!(context::is_stale(0.0, &[10.0, 86400.5]));
    assert!(!context::is_stale(5.0, &[]));
}
