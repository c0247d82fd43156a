//! Changes of one field, and of nothing else.

use loopwright_formats::vibe::edit::{get, set};

#[test]
fn a_value_is_replaced_and_nothing_else() {
    let text =
        "\u{feff}# S\r\n- Stage : 1\r\n-Checkpoint:\t1.0  \r\n- Status: in_progress  <!-- A | B -->\r\nend";
    for (field, value, old, new) in [
        ("stage", "2", "- Stage : 1\r", "- Stage : 2\r"),
        ("checkpoint", "21A.10", "\t1.0  \r", "\t21A.10  \r"),
        ("status", "DONE", "in_progress  <!--", "DONE  <!--"),
    ] {
        let changed = set(text, field, value).unwrap();
        assert_eq!(changed, text.replace(old, new));
        assert_eq!(get(&changed, field).as_deref(), Some(value));
        assert_eq!(set(&changed, field, value).unwrap(), changed);
    }
    // It reads as that already.
    assert_eq!(set(text, "status", "IN_PROGRESS").unwrap(), text);
}

#[test]
fn an_empty_or_wrapped_value_is_filled_where_it_stands() {
    assert_eq!(set("- Stage:\n- Status: DONE\n", "stage", "1").unwrap(), "- Stage: 1\n- Status: DONE\n");
    assert_eq!(set("- Stage: \n", "stage", "1").unwrap(), "- Stage: 1\n");
    assert_eq!(set("- Stage:\n   7\n", "stage", "1").unwrap(), "- Stage:\n   1\n");
    assert_eq!(set("- State: DONE x\n", "status", "BLOCKED").unwrap(), "- State: BLOCKED x\n");
}

#[test]
fn a_missing_bullet_is_added_beside_the_others() {
    let cases = [
        ("stage", "  - Checkpoint: 1.0\r\n", "  - Stage: X\r\n  - Checkpoint: 1.0\r\n"),
        ("checkpoint", "- Stage: 1\n- Status: DONE\n", "- Stage: 1\n- Checkpoint: X\n- Status: DONE\n"),
        ("checkpoint", "- Stage: 1", "- Stage: 1\n- Checkpoint: X"),
        ("checkpoint", "- Stage:\n  1\nx\n", "- Stage:\n  1\n- Checkpoint: X\nx\n"),
        ("stage", "# T\n\n## current focus\n\n## Next\n", "# T\n\n## current focus\n\n- Stage: X\n## Next\n"),
        ("stage", "# T\n## Current focus\nwords\n", "# T\n## Current focus\n\n- Stage: X\n\nwords\n"),
        ("stage", "# T\n## Current focus", "# T\n## Current focus\n\n- Stage: X\n"),
        ("stage", "# T\n\ntext\n", "# T\n\n## Current focus\n\n- Stage: X\n\ntext\n"),
        ("stage", "# T", "# T\n\n## Current focus\n\n- Stage: X\n"),
        ("stage", "", "## Current focus\n\n- Stage: X\n"),
        ("stage", "\u{feff}text\n", "\u{feff}## Current focus\n\n- Stage: X\n\ntext\n"),
    ];
    for (field, text, wanted) in cases {
        assert_eq!(set(text, field, "X").as_deref(), Ok(wanted), "{text:?}");
    }
}

#[test]
fn the_status_of_an_issue_is_not_the_one_to_change() {
    let text = "- Stage: 1\n\n## Active issues\n- [ ] ISSUE-1: x\n  - Status: OPEN\n";
    let changed = set(text, "status", "DONE").unwrap();
    assert_eq!(changed, text.replace("- Stage: 1\n", "- Stage: 1\n- Status: DONE\n"));
    // Below the issues it would not be read.
    let text = "## Active issues\n- [ ] ISSUE-1: x\n  - Status: OPEN\n## Current focus\n- Stage: 1\n";
    assert!(set(text, "status", "DONE").unwrap_err().contains("by hand"));
}

#[test]
fn flags_are_checked_and_cleared_in_their_boxes() {
    let of = |line: &str| format!("## Workflow state\r\n\r\n{line}\r\n\r\n## X\r\n");
    for (value, from, to) in [
        ("set", "- [ ] my flag", "- [x] my flag"),
        ("set", "- [] my flag", "- [x] my flag"),
        ("set", "- [   ] my flag", "- [x  ] my flag"),
        ("clear", "- [X] my flag", "- [ ] my flag"),
        ("clear", "- [ x ] my flag", "- [   ] my flag"),
        ("clear", "  - my flag", "  - [ ] my flag"),
        ("clear", "- [-] my flag", "- [ ] my flag"),
        ("clear", "- [no] my flag", "- [ ] [no] my flag"),
    ] {
        let name = if from.contains("[no]") { "flags.NO_MY_FLAG" } else { "flags.MY_FLAG" };
        let changed = set(&of(from), name, value).unwrap();
        assert_eq!(changed, of(to));
        assert_eq!(get(&changed, name).as_deref(), Some(value));
        assert_eq!(set(&changed, name, value).unwrap(), changed);
    }
    assert_eq!(set(&of("- [] F"), "flags.f", "clear").unwrap(), of("- [] F"));
}

#[test]
fn of_a_flag_that_comes_twice_the_last_is_changed() {
    let text = "## Workflow state\n- [ ] F\n- [ ] G\n- [ ] F\n";
    assert_eq!(set(text, "flags.F", "set").unwrap(), "## Workflow state\n- [ ] F\n- [ ] G\n- [x] F\n");
}

#[test]
fn a_missing_flag_is_added() {
    let cases = [
        ("## Workflow state\n\n  - [x] A\n\n## X\n", "## Workflow state\n\n  - [x] A\n  - [ ] F\n\n## X\n"),
        ("## Workflow state\n## X\n", "## Workflow state\n\n- [ ] F\n\n## X\n"),
        ("# S\n", "# S\n\n## Workflow state\n\n- [ ] F\n"),
        ("# S", "# S\n\n## Workflow state\n\n- [ ] F\n"),
        ("", "## Workflow state\n\n- [ ] F\n"),
    ];
    for (text, wanted) in cases {
        assert_eq!(get(text, "flags.F"), None);
        assert_eq!(set(text, "flags.F", "clear").as_deref(), Ok(wanted), "{text:?}");
    }
}

#[test]
fn what_cannot_be_meant_is_refused() {
    for (field, value) in [
        ("stage", "1\n2"),
        ("stage", "1\u{2028}2"),
        ("checkpoint", "  "),
        ("status", "done"),
        ("status", "DONE now"),
        ("flags.F", "yes"),
        ("flags.--", "set"),
        ("owner", "me"),
    ] {
        assert!(set("- Stage: 1\n", field, value).is_err(), "{field} {value:?}");
    }
    assert_eq!(get("- Stage: 1\n", "owner"), None);
}
