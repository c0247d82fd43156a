//! All issues of a folder.

use loopwright_formats::todo::{Folder, Issue, Problem, Standing, Tracker, below, check};

/// Issues, each by a line: id, status, parent, what it needs.
fn tracker(lines: &[(&str, &str, &str, &str)]) -> Tracker {
    let issue = |(id, status, parent, needs): &(&str, &str, &str, &str)| {
        (format!("{id}.md"), Issue::read(id, &text(id, status, parent, needs)))
    };
    Tracker::of(lines.iter().map(issue).collect())
}

fn text(id: &str, status: &str, parent: &str, needs: &str) -> String {
    format!("---\nid: {id}\ntitle: {id}\nstatus: {status}\nparent: {parent}\ndepends-on: [{needs}]\n---\n")
}

fn names(ids: &[&str]) -> Vec<String> {
    ids.iter().map(|it| (*it).to_owned()).collect()
}

#[test]
fn what_can_be_done_now_is_told_from_what_cannot() {
    let all = tracker(&[
        ("A-1", "Done", "", ""),
        ("A-2", "Todo", "", "A-1"),
        ("A-3", "Todo", "", "A-1, A-2, A-99"),
        ("A-4", "In Progress", "", ""),
        ("A-5", "Todo", "", ""),
        ("A-6", "Todo", "A-5", ""),
        ("A-7", "Done", "A-8", ""),
        ("A-8", "Todo", "", ""),
        ("A-9", "Todo", "", "A-9"),
        ("A-10", "Todo", "", ""),
        ("A-11", "later", "", ""),
    ]);
    let elsewhere = |id: &str| (id == "A-10").then(|| "in ../work".to_owned());
    let standing = |id: &str| all.standing(id, elsewhere).unwrap();
    assert_eq!(standing("A-1"), Standing::Done);
    assert_eq!(standing("A-2"), Standing::Ready);
    assert_eq!(standing("A-3"), Standing::Waits(names(&["A-2", "A-99"])));
    assert_eq!(standing("A-4"), Standing::InProgress);
    assert_eq!(standing("A-5"), Standing::Parts(names(&["A-6"])));
    assert_eq!(standing("A-8"), Standing::Ready);
    assert_eq!(standing("A-9"), Standing::Waits(names(&["A-9"])));
    assert_eq!(standing("A-10"), Standing::Elsewhere("in ../work".to_owned()));
    assert_eq!(
        standing("A-11"),
        Standing::Unclear("line 4: `later` is no status; one of Todo, In Progress, Done".to_owned())
    );
    assert_eq!(all.standing("A-12", elsewhere), None);
    let ready: Vec<&str> = all.ready(elsewhere).iter().map(|it| it.id.as_str()).collect();
    assert_eq!(ready, ["A-2", "A-6", "A-8"]);
}

#[test]
fn parts_stand_in_the_order_in_which_they_can_be_done() {
    let all = tracker(&[
        ("A-1", "Todo", "", ""),
        ("A-2", "Todo", "A-1", "A-5"),
        ("A-3", "Todo", "A-1", ""),
        ("A-4", "Todo", "A-1", "A-2, A-3"),
        ("A-5", "Todo", "A-1", ""),
        ("A-6", "Todo", "A-5", ""),
        ("A-7", "Todo", "A-1", "A-8"),
        ("A-8", "Todo", "A-1", "A-7"),
        ("A-9", "Todo", "A-10", ""),
        ("A-10", "Todo", "A-9", ""),
        ("A-11", "Todo", "A-77", "A-1"),
    ]);
    let drawn = |root: Option<&str>| -> String {
        let line = |it: loopwright_formats::todo::Branch| {
            format!("{}{}{}\n", "  ".repeat(it.depth), if it.after { "↳ " } else { "" }, it.id)
        };
        all.tree(root).into_iter().map(line).collect()
    };
    let whole = "\
A-1
  A-3
  A-5
    A-6
    ↳ A-2
      ↳ A-4
  A-7
    ↳ A-8
  ↳ A-11
A-9
  A-10
";
    assert_eq!(drawn(None), whole);
    assert_eq!(drawn(Some("A-5")), "A-5\n  A-6\n");
    assert_eq!(drawn(Some("A-77")), "");
}

#[test]
fn a_long_chain_is_a_tree_too() {
    let count = 3_000;
    let issues = (1..=count).map(|at| {
        let id = format!("A-{at}");
        let needs = if at > 1 { format!("A-{}", at - 1) } else { String::new() };
        let parent = if at > 1 && at % 2 == 0 { format!("A-{}", at - 1) } else { String::new() };
        (format!("{id}.md"), Issue::read(&id, &text(&id, "Todo", &parent, &needs)))
    });
    let all = Tracker::of(issues.collect());
    assert_eq!(all.tree(None).len(), count);
    assert_eq!(all.ready(|_| None).len(), 0);
}

/// What is wrong with a folder, as a person reads it; what can be put right has a star.
fn wrong(files: &[(&str, String)], readme: Option<&str>) -> Vec<String> {
    let files = files.iter().map(|(name, text)| ((*name).to_owned(), text.clone())).collect();
    let report = check(&Folder { files, readme: readme.map(str::to_owned), unread: Vec::new() });
    let said = report.findings.iter();
    said.map(|it| format!("{}{}: {}", if it.mends { "* " } else { "" }, it.kind, it.problem)).collect()
}

#[test]
fn a_folder_in_step_has_nothing_wrong() {
    let whole = text("A-1", "Todo", "", "") + "\n## Sub-issues\n\n- [x] [A-2](A-2.md): x\n";
    let files = [("A-1.md", whole), ("A-2.md", text("A-2", "Done", "A-1", ""))];
    assert_eq!(wrong(&files, Some("# x\n\n- A-1\n")), Vec::<String>::new());
    assert_eq!(wrong(&[], None), Vec::<String>::new());
}

#[test]
fn everything_out_of_step_is_found() {
    let parts = "\n## Sub-issues\n\n- [ ] [A-2](A-2.md): x\n- [ ] A-2\n- [ ] A-3\n- [ ] A-50\n";
    let torn = "---\nid: A-20\n<<<<<<< a\ntitle: x\n=======\ntitle: y\n>>>>>>> b\n---\n";
    let files = [
        ("A-1.md", text("A-1", "Todo", "", "A-2") + parts),
        ("A-2.md", text("A-2", "Done", "A-1", "")),
        ("A-3.md", text("A-3", "Todo", "", "A-20, A-51")),
        ("A-4.md", text("A-4", "Todo", "A-1", "A-1")),
        ("A-5.md", text("A-5", "Todo", "A-5", "A-5")),
        ("A-6.md", text("A-6", "Done", "A-52", "A-3") + "\n- [ ] open\n"),
        ("A-7.md", text("A-7", "Todo", "", "A-8")),
        ("A-8.md", text("A-8", "Todo", "", "A-9")),
        ("A-9.md", text("A-9", "Todo", "", "A-7")),
        ("A-9b.md", text("A-9", "Todo", "", "")),
        ("A-10.md", text("A-10", "Todo", "A-11", "")),
        ("A-11.md", text("A-11", "Todo", "A-10", "")),
        ("A-12.md", text("A-13", "later", "", "")),
        ("A-20.md", torn.to_owned()),
        ("NOTES.md", "# Notes\n".to_owned()),
    ];
    let readme = "# x\n\n- [x] A-1\n- A-3\n- A-3\n- A-20\n- A-60\n\n## Done\n\n- A-7\n- A-8 (Todo)\n- A-9\n";
    let wanted = [
        "* sub-issues: A-1.md, line 1: `A-1` does not list `A-4`, which is part of it",
        "* sub-issues: A-1.md, line 11: `A-2` is shown as Todo, and is Done",
        "* sub-issues: A-1.md, line 12: `A-2` is listed twice",
        "sub-issues: A-1.md, line 13: `A-3` is listed as part of `A-1`, and says it is part of nothing",
        "sub-issues: A-1.md, line 14: `A-50` is listed, and is not there",
        "dependency: A-3.md, line 6: `A-3` depends on `A-51`, which is not there",
        "dependency: A-4.md, line 6: `A-4` depends on `A-1`, which it is part of: that is done last",
        "parent: A-5.md, line 5: `A-5` is part of itself",
        "dependency: A-5.md, line 6: `A-5` depends on itself",
        "done: A-6.md, line 4: `A-6` is Done, and 1 criterion of it not ticked",
        "parent: A-6.md, line 5: `A-6` is part of `A-52`, which is not there",
        "dependency: A-6.md, line 6: `A-6` is Done, and depends on `A-3`, which is Todo",
        "circle: A-7.md, line 6: these wait for each other: `A-7` -> `A-8` -> `A-9` -> `A-7`",
        "parent: A-10.md, line 5: `A-10` is part of a part of itself",
        "parent: A-11.md, line 5: `A-11` is part of a part of itself",
        "id: A-12.md, line 2: this calls itself `A-13`, and its file is `A-12.md`",
        "unclear: A-12.md, line 4: `later` is no status; one of Todo, In Progress, Done",
        "conflict: A-20.md, line 3: a merge left this undecided",
        "* twice: A-9b.md, line 2: `A-9` is taken twice: also in A-9.md",
        "no-issue: NOTES.md, line 1: this is no issue: neither its name nor an `id` in it is one such as `GAL-39`",
        "* readme: README.md, line 1: `A-13` is not listed",
        "* readme: README.md, line 3: `A-1` is shown as Done, and is Todo",
        "* readme: README.md, line 5: `A-3` is listed twice",
        "readme: README.md, line 7: `A-60` is listed, and is not there",
        "* readme: README.md, line 11: `A-7` is shown as Done, and is Todo",
        "* readme: README.md, line 12: `A-8` is shown as Done, and is Todo",
        "* readme: README.md, line 13: `A-9` is shown as Done, and is Todo",
    ];
    let mut said = wrong(&files, Some(readme));
    let mut wanted = wanted.map(str::to_owned).to_vec();
    assert_eq!(said.first().map(|it| it.contains("A-1.md")), Some(true));
    said.sort();
    wanted.sort();
    assert_eq!(said, wanted);
    assert_eq!(
        wrong(&[("A-1.md", text("A-1", "Todo", "", ""))], None),
        ["* readme: README.md, line 1: there is no list of the issues"]
    );
}

#[test]
fn what_nobody_can_read_is_said_and_not_taken_for_missing() {
    let why = Problem { file: "A-2.md".to_owned(), line: 3, message: "this is no text".to_owned() };
    let torn = "# x\n\n<<<<<<< a\n- A-1\n=======\n- A-2\n>>>>>>> b\n";
    let files = vec![("A-1.md".to_owned(), text("A-1", "Todo", "A-2", "A-2"))];
    let report = check(&Folder { files, readme: Some(torn.to_owned()), unread: vec![why] });
    let said: Vec<String> = report.findings.iter().map(|it| format!("{} {}", it.mends, it.problem)).collect();
    let wanted =
        ["false A-2.md, line 3: this is no text", "true README.md, line 3: a merge left this undecided"];
    assert_eq!(said, wanted);
}

#[test]
fn below_the_front_matter_stands_the_rest() {
    for (whole, rest) in [
        ("---\nid: A-1\n---\n\n# x\n", "# x\n"),
        ("\u{feff}---\r\nid: A-1\r\n---\r\n\r\nx", "x"),
        ("# A-1: x\n", "# A-1: x\n"),
        ("---\nid: A-1\n---\n", ""),
        ("", ""),
    ] {
        assert_eq!(below(whole), rest, "{whole:?}");
    }
}
