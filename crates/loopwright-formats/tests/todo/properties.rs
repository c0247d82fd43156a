//! Text nobody would write.

use loopwright_formats::todo::{
    Folder, Issue, Meant, Readme, Status, Task, check, comment, referred, renamed, resolved, set,
    shown_in_parent, shown_in_readme, sides, with_comment, with_entry, with_sub_issue, without_entry,
    without_sub_issue,
};
use proptest::prelude::*;
use serde_json::json;

/// Pieces that mean something somewhere.
const PIECES: [&str; 72] = [
    "---\n",
    "\n",
    "\n\n",
    "\r\n",
    "\r",
    "  ",
    "    ",
    "\t",
    "# ",
    "## ",
    "### ",
    "\u{feff}",
    "id: A-1\n",
    "title: t\n",
    "title: >-\n  t\n",
    "status: Todo\n",
    "status: 'Done' # c\n",
    "status:\n",
    "**Status:** Todo\n",
    "- Status: `Done`\n",
    "labels: [a, b]\n",
    "label: a\n",
    "parent: A-2\n",
    "depends-on: [A-2, A-3]\n",
    "depends-on:\n  - A-2\n- A-3\n",
    "depends_on: none\n",
    "x: y\n",
    "- [ ] ",
    "- [x] ",
    "* [] ",
    "1. [X] ",
    "- ☐ ",
    "↳ ",
    "[A-2](A-2.md)",
    "A-3",
    "**A-4**",
    "`A-5`",
    "[t](A-6.md)",
    ": text",
    " (In Progress)",
    " — Done",
    " `todo`",
    "| A-2 | b | Todo |\n",
    "|",
    "|-|-|\n",
    "## Acceptance criteria\n",
    "## Sub-issues\n",
    "## Comments\n",
    "### 2026\n",
    "## Done\n",
    "## Issues\n",
    "```\n",
    "```",
    "~~~\n",
    "<!--",
    "-->",
    "- item\n",
    "  more\n",
    "words",
    "<<<<<<< a\n",
    "=======\n",
    ">>>>>>> b\n",
    "||||||| c\n",
    "AC-1: ",
    "A-1",
    "A-10",
    "é",
    "\u{0}",
    "{",
    "[",
    "&a ",
    "!x ",
];

fn texts() -> impl Strategy<Value = String> {
    let pieces = proptest::sample::select(&PIECES[..]).prop_map(str::to_owned);
    let piece = prop_oneof![12 => pieces, 1 => ".{0,3}"];
    proptest::collection::vec(piece, 0..24).prop_map(|it| it.concat())
}

/// What an issue says, wherever it stands, without one field.
fn says(issue: &Issue, without: &str) -> String {
    let part = |name: &str, it: String| if name == without { String::new() } else { it };
    let parts = issue.sub_issues.iter().map(|it| (it.id.clone(), it.shown)).collect::<Vec<_>>();
    [
        part("status", format!("{:?}", issue.status)),
        part("comments", format!("{:?}", issue.comments)),
        part("sub_issues", format!("{parts:?}")),
        part("checked", format!("{:?}", issue.checked())),
        format!("{} {} {:?} {:?} {:?}", issue.id, issue.title, issue.parent, issue.labels, issue.depends_on),
        format!("{:?}", issue.criteria.iter().map(|it| &it.text).collect::<Vec<_>>()),
    ]
    .join("\n")
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1500))]

    #[test]
    fn nothing_fails_on_any_text(text in texts(), other in texts()) {
        let issue = Issue::read("A-1", &text);
        Issue::head("A-1", &text);
        Readme::read(&text);
        let task = Task::read("task-1", &text);
        prop_assert!(task.place().0 == 1);
        sides(&text);
        let files = vec![("A-1.md".to_owned(), text.clone()), ("A-2.md".to_owned(), other.clone())];
        let lines = text.split(['\n', '\r']).count();
        for it in check(&Folder { files, readme: Some(other), unread: Vec::new() }).findings {
            prop_assert!(it.problem.line > 0 && !it.problem.file.is_empty());
        }
        for it in issue.problems.iter().chain(&issue.doubts) {
            prop_assert!(it.line <= lines.max(1), "{it} of {lines}");
        }
        renamed(&text, "A-1", "A-77");
        referred(&text, "A-2", "A-77", Meant { fields: true, entries: &|_| true });
        if let Some(whole) = resolved(&text) {
            prop_assert_eq!(resolved(&whole), None);
        }
    }

    #[test]
    fn the_top_alone_says_the_same_as_all_of_it(text in texts()) {
        let (issue, head) = (Issue::read("A-1", &text), Issue::head("A-1", &text));
        prop_assert_eq!(issue.status, head.status);
        prop_assert_eq!((issue.id, issue.title, issue.parent), (head.id, head.title, head.parent));
        prop_assert_eq!((issue.depends_on, issue.labels, issue.problems), (head.depends_on, head.labels, head.problems));
    }

    #[test]
    fn a_change_changes_one_thing(text in texts(), status in proptest::sample::select(&Status::ALL[..])) {
        let before = Issue::read("A-1", &text);
        if let Ok(changed) = set("A-1", &text, "status", &json!(status)) {
            let after = Issue::read("A-1", &changed);
            prop_assert_eq!(after.status, status);
            prop_assert_eq!(says(&after, "status"), says(&before, "status"));
            prop_assert_eq!(set("A-1", &changed, "status", &json!(status)), Ok(changed));
        }
        let all: Vec<&str> = before.criteria.iter().map(|it| it.id.as_str()).collect();
        if let Ok(changed) = set("A-1", &text, "checked", &json!(all)) {
            let after = Issue::read("A-1", &changed);
            prop_assert_eq!(after.open_criteria(), 0);
            prop_assert_eq!(says(&after, "checked"), says(&before, "checked"));
            prop_assert!(changed.len() < text.len() + all.len() * 3 + 1);
        }
    }

    #[test]
    fn a_comment_is_one_comment(text in texts(), said in texts()) {
        prop_assert_eq!(comment(&comment(&said)), comment(&said));
        let before = Issue::read("A-1", &text);
        if let Ok(changed) = with_comment(&text, &said) {
            let after = Issue::read("A-1", &changed);
            prop_assert_eq!(after.comments.last(), Some(&comment(&said)));
            prop_assert_eq!(says(&after, "comments"), says(&before, "comments"));
        }
    }

    #[test]
    fn a_comment_can_always_be_written_where_nobody_wrote_oddly(said in texts()) {
        let text = "---\ntitle: t\n---\n\n## Acceptance criteria\n\n- [ ] a\n\n## Comments\n\n- a\n";
        let written = with_comment(text, &said);
        prop_assert!(written.is_ok() || comment(&said).is_empty(), "{:?}", written);
    }

    #[test]
    fn lists_hold_what_they_are_told(text in texts(), status in proptest::sample::select(&Status::ALL[..])) {
        let ids = |text: &str| Readme::read(text).entries().map(|it| it.id.clone()).collect::<Vec<_>>();
        let shown = shown_in_readme(&text, "A-3", status);
        let (mut was, mut is) = (ids(&text), ids(&shown));
        was.sort();
        is.sort();
        prop_assert_eq!(was, is);
        prop_assert_eq!(shown_in_readme(&shown, "A-3", status), shown.clone());
        shown_in_parent(&text, "A-3", status);
        let more = with_entry(&text, Some("Issues"), ("B-1", "title"), status);
        prop_assert_eq!(with_entry(&more, None, ("B-1", "title"), status), more.clone());
        without_entry(&more, "B-1");
        let parts = with_sub_issue(&text, ("B-1", "title"), status, &["A-3".to_owned()]);
        without_sub_issue(&parts, "B-1");
    }
}
