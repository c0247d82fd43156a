//! What was said about an issue.

use loopwright_formats::todo::{Issue, comment, with_comment};

#[test]
fn a_comment_is_added_in_the_way_of_those_that_are_there() {
    let top = "---\ntitle: t\n---\n";
    for (before, after, count) in [
        ("", "\n## Comments\n\n- So.\n", 1),
        ("\nText.\n", "\nText.\n\n## Comments\n\n- So.\n", 1),
        ("\nText.", "\nText.\n\n## Comments\n\n- So.", 1),
        ("\n## Comments\n", "\n## Comments\n\n- So.\n", 1),
        ("\n## Comments\n\n- a\n", "\n## Comments\n\n- a\n- So.\n", 2),
        (
            "\n## Comments\n\n- a\n\n  more\n\n## End\n",
            "\n## Comments\n\n- a\n\n  more\n- So.\n\n## End\n",
            2,
        ),
        (
            "\n## Comments\n\nA paragraph\nof two lines.\n\nAnother.\n",
            "\n## Comments\n\nA paragraph\nof two lines.\n\nAnother.\n\n- So.\n",
            3,
        ),
        (
            "\n## Comments\n\n### 2026-05-08\n\nText.\n",
            "\n## Comments\n\n### 2026-05-08\n\nText.\n\n### So.\n",
            2,
        ),
        ("\r\n## Discussion\r\n\r\n* a", "\r\n## Discussion\r\n\r\n* a\r\n- So.", 2),
    ] {
        let text = format!(
            "{}{before}",
            if before.contains('\r') { top.replace('\n', "\r\n") } else { top.to_owned() }
        );
        let changed = with_comment(&text, "So.").unwrap();
        assert_eq!(
            changed.get(top.len() + usize::from(before.contains('\r')) * 3..),
            Some(after),
            "{before}"
        );
        let comments = Issue::read("A-1", &changed).comments;
        assert_eq!((comments.len(), comments.last().map(String::as_str)), (count, Some("So.")), "{before}");
    }
}

#[test]
fn what_agents_say_takes_nothing_else_in() {
    let tops = [
        "---\ntitle: t\n---\n\n## Comments\n\n- a\n\n## More\n\n- [ ] c\n",
        "---\ntitle: t\n---\n\n## Comments\n\n### One\n\na\n\n## More\n\n- [ ] c\n",
        "---\ntitle: t\n---\n\n## Comments\n\nA paragraph.\n\n## More\n\n```\ncode\n```\n\n- [ ] c\n",
    ];
    for said in [
        "It stopped:\n\n# A heading\n\n- [ ] a box\n\n- an item\n",
        "```\n# code\n```\nbehind",
        "```rust\nfn never_closed() {",
        "~~~~\n```\nfn\n",
        "<!-- never closed",
        "  spaces  \n\n\n\n  and gaps  ",
        "- - item\n  - item\n\titem",
        "---\ntitle: x\n---",
        "| a | b |\n|---|---|",
        "status: Done",
        "## Acceptance criteria\n\n- [x] all",
        "a\r\nb\rc",
        "\u{feff}mark",
    ] {
        for text in tops {
            let changed = with_comment(text, said).unwrap_or_else(|why| panic!("{said}: {why}"));
            let (before, after) = (Issue::read("A-1", text), Issue::read("A-1", &changed));
            assert_eq!(after.comments.last(), Some(&comment(said)), "{changed}");
            assert_eq!(after.comments.len(), before.comments.len() + 1, "{changed}");
            assert_eq!(after.criteria.len(), 1, "{changed}");
            assert_eq!(comment(&comment(said)), comment(said));
        }
    }
    assert_eq!(with_comment(tops[0], " \n"), Err("a comment says something".to_owned()));
}
