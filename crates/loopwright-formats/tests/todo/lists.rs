//! Lists of issues: in `README.md`, and of sub-issues.

use loopwright_formats::todo::{
    Meant, Readme, Status, has_conflict, listed_as, merged_readme, parent_in_step, readme_in_step, referred,
    renamed, resolved, shown_in_parent, shown_in_readme, sides, with_entries, with_entry, with_sub_issue,
    without_entry, without_sub_issue,
};

#[test]
fn a_list_of_issues_is_read_however_it_is_written() {
    let text = "\
# TODO

- GAL-1

## Bugs

- [ ] [GAL-2](GAL-2.md): Print it
* [x] **GAL-3** — Say it
1. [GAL-4](./GAL-4.md) Hear it (In Progress)
- [See it](TODO/GAL-5.md) — done
- `GAL-6` [Done] Feel it
- words about GAL-7

## Table

| id | title | status |
|----|-------|--------|
| [GAL-8](GAL-8.md) | Done is done | Todo |
| GAL-9 | `a | b` | **In Progress** |
| [x] | GAL-10 | c |

```
- GAL-11
```
";
    let readme = Readme::read(text);
    let (todo, doing, done) = (Some(Status::Todo), Some(Status::InProgress), Some(Status::Done));
    let seen: Vec<_> = readme.entries().map(|it| (it.id.as_str(), it.shown)).collect();
    let wanted = [
        ("GAL-1", None),
        ("GAL-2", todo),
        ("GAL-3", done),
        ("GAL-4", doing),
        ("GAL-5", done),
        ("GAL-6", done),
        ("GAL-8", todo),
        ("GAL-9", doing),
        ("GAL-10", done),
    ];
    assert_eq!(seen, wanted);
    assert_eq!(readme.category_of("GAL-4"), Some("Bugs"));
    let names: Vec<&str> = readme.categories.iter().map(|it| it.name.as_str()).collect();
    assert_eq!(names, ["TODO", "Bugs", "Table"]);
}

#[test]
fn an_entry_shows_in_its_own_way_how_far_its_issue_is() {
    for (line, status, wanted) in [
        ("- [ ] [A-1](A-1.md): Print it", Status::Done, "- [x] [A-1](A-1.md): Print it"),
        ("- [ ] [A-1](A-1.md): Print it", Status::InProgress, "- [ ] [A-1](A-1.md): Print it (In Progress)"),
        ("- [ ] [A-1](A-1.md): Print it (In Progress)", Status::Done, "- [x] [A-1](A-1.md): Print it"),
        ("- [ ] [A-1](A-1.md): Print it (In Progress)", Status::Todo, "- [ ] [A-1](A-1.md): Print it"),
        ("- [X] A-1", Status::Done, "- [X] A-1"),
        ("- [x] A-1 — Done", Status::Todo, "- [ ] A-1 — Todo"),
        ("- [x] A-1 — Done", Status::Done, "- [x] A-1 — Done"),
        ("- A-1: Print it", Status::Done, "- A-1: Print it"),
        ("- A-1 (todo): Print it", Status::Done, "- A-1 (Done): Print it"),
        ("- A-1: Print it `Todo`", Status::InProgress, "- A-1: Print it `In Progress`"),
        ("- ☐ A-1: x", Status::Done, "- ☑ A-1: x"),
        ("| A-1 | Todo list | Todo |", Status::Done, "| A-1 | Todo list | Done |"),
        ("| A-1 | Todo | [ ] |", Status::Done, "| A-1 | Done | [x] |"),
        ("  - [ ] ↳ [A-1](A-1.md): x", Status::InProgress, "  - [ ] ↳ [A-1](A-1.md): x (In Progress)"),
    ] {
        let text = format!("# Issues\r\n\r\n{line}  \r\n- [ ] A-2");
        let wanted = format!("# Issues\r\n\r\n{wanted}  \r\n- [ ] A-2");
        assert_eq!(shown_in_readme(&text, "A-1", status), wanted);
        assert_eq!(shown_in_readme(&wanted, "A-1", status), wanted);
        assert_eq!(shown_in_readme(&text, "A-7", status), text);
        let parent = text.replacen("# Issues", "# Sub-issues", 1);
        assert_eq!(shown_in_parent(&parent, "A-1", status), wanted.replacen("# Issues", "# Sub-issues", 1));
    }
}

#[test]
fn where_headings_are_statuses_an_entry_goes_to_its_own() {
    let text = "# Board\n\n## Todo\n\n- A-1: x\n- A-2: y\n\n## In Progress\n\n## Done\n\n- A-3: z\n";
    let begun = "# Board\n\n## Todo\n\n- A-2: y\n\n## In Progress\n\n- A-1: x\n\n## Done\n\n- A-3: z\n";
    let done = "# Board\n\n## Todo\n\n- A-2: y\n\n## In Progress\n\n\n## Done\n\n- A-3: z\n- A-1: x\n";
    assert_eq!(shown_in_readme(text, "A-1", Status::InProgress), begun);
    assert_eq!(shown_in_readme(begun, "A-1", Status::Done), done);
    assert_eq!(shown_in_readme(done, "A-1", Status::Todo).matches("A-1").count(), 1);
}

#[test]
fn a_new_issue_goes_to_its_category() {
    let begun = with_entry("", None, ("A-1", "Print it"), Status::Todo);
    assert!(
        begun.starts_with("# Issues\n\n")
            && begun.ends_with("\n\n## Issues\n\n- [ ] [A-1](A-1.md): Print it\n"),
        "{begun}"
    );
    let text = "# TODO\n\n## Bugs\n\n* [ ] A-1\n  more\n\nEnd.\n\n## Ideas\n";
    let bug = with_entry(text, Some("bugs"), ("A-2", "b"), Status::InProgress);
    assert_eq!(bug, text.replace("  more\n", "  more\n* [ ] [A-2](A-2.md): b (In Progress)\n"));
    let idea = with_entry(text, Some("Ideas"), ("A-2", "b"), Status::Todo);
    assert_eq!(idea, text.replace("## Ideas\n", "## Ideas\n\n- [ ] [A-2](A-2.md): b\n"));
    let other = with_entry(text, None, ("A-2", "b"), Status::Done);
    assert_eq!(other, format!("{text}\n## Issues\n\n- [x] [A-2](A-2.md): b\n"));
    assert_eq!(
        with_entry(text, Some("Ideas"), ("A-1", "a"), Status::Done),
        text.replace("[ ] A-1", "[x] A-1")
    );
    assert_eq!(without_entry(&bug, "A-2"), text);
    assert_eq!(without_entry("- A-1\n- A-2", "A-2"), "- A-1");
    // What people keep in a table stays one.
    let table = "## Bugs\n\n| id | |\n|-|-|\n| A-1 | x |\n";
    assert_eq!(
        with_entry(table, Some("Bugs"), ("A-2", "b"), Status::Todo),
        format!("{table}\n- [ ] [A-2](A-2.md): b\n")
    );
}

#[test]
fn sub_issues_stand_behind_what_they_need() {
    let top = "---\ntitle: t\n---\n";
    let add = |text: &str, id: &str, after: &[&str]| {
        let after: Vec<String> = after.iter().map(|it| (*it).to_owned()).collect();
        with_sub_issue(text, (id, "x"), Status::Todo, &after)
    };
    let mut text = top.to_owned();
    for (id, after) in [
        ("A-2", &[][..]),
        ("A-3", &["A-2"]),
        ("A-4", &[]),
        ("A-5", &["A-3", "A-9"]),
        ("A-6", &["A-2"]),
        ("A-7", &[]),
    ] {
        text = add(&text, id, after);
    }
    let wanted = "\
## Sub-issues

- [ ] [A-2](A-2.md): x
  - [ ] ↳ [A-3](A-3.md): x
    - [ ] ↳ [A-5](A-5.md): x
  - [ ] ↳ [A-6](A-6.md): x
- [ ] [A-4](A-4.md): x
- [ ] [A-7](A-7.md): x
";
    assert_eq!(text, format!("{top}\n{wanted}"));
    assert_eq!(add(&text, "A-3", &[]), text);
    let less = without_sub_issue(&without_sub_issue(&text, "A-5"), "A-7");
    assert_eq!(less.matches("- [ ]").count(), 4);
    let all =
        ["A-2", "A-3", "A-4", "A-5", "A-6", "A-7"].iter().fold(text, |text, id| without_sub_issue(&text, id));
    assert_eq!(all, top);
    // Comments stay the last.
    let talked = format!("{top}\n## Comments\n\n- a\n");
    assert_eq!(
        add(&talked, "A-2", &[]),
        format!("{top}\n## Sub-issues\n\n- [ ] [A-2](A-2.md): x\n\n## Comments\n\n- a\n")
    );
    assert_eq!(without_sub_issue(&add(&talked, "A-2", &[]), "A-2"), talked);
    // In the way of those that are there.
    let plain = format!("{top}\n### Sub-issues\n* A-2 (Done)\n### End");
    assert_eq!(
        add(&plain, "A-3", &[]),
        format!("{top}\n### Sub-issues\n* A-2 (Done)\n* [A-3](A-3.md): x (Todo)\n### End")
    );
}

#[test]
fn an_issue_is_called_otherwise_wherever_it_is_meant() {
    let own =
        "---\nid: A-1\ntitle: t\nparent: A-12\n---\n# A-1: t\n\nSee A-1, A-12, XA-1, A-1-b and A-1.md.\n";
    let wanted =
        "---\nid: A-9\ntitle: t\nparent: A-12\n---\n# A-9: t\n\nSee A-9, A-12, XA-1, A-1-b and A-9.md.\n";
    assert_eq!(renamed(own, "A-1", "A-9"), wanted);
    let other = "---\ntitle: see A-1\nparent: A-1\ndepends-on: [A-1, A-12] # A-1\n---\n\nA-1\n\n## Sub-issues\n\n- [ ] [A-1](A-1.md): one\n- [ ] [A-1](A-1.md): other (In Progress)\n";
    let wanted = "---\ntitle: see A-1\nparent: A-9\ndepends-on: [A-9, A-12] # A-1\n---\n\nA-1\n\n## Sub-issues\n\n- [ ] [A-1](A-1.md): one\n- [ ] [A-9](A-9.md): other (In Progress)\n";
    let meant = Meant { fields: true, entries: &|it| it == "other" };
    assert_eq!(referred(other, "A-1", "A-9", meant), wanted);
    let lists = Meant { fields: false, ..meant };
    assert_eq!(
        referred(other, "A-1", "A-9", lists),
        other.replace("[A-1](A-1.md): other", "[A-9](A-9.md): other")
    );
    let list = "- [ ] [A-1](A-1.md): one\n- [ ] [A-1](A-1.md): other\n- A-1 other\n";
    assert_eq!(
        listed_as(list, "A-1", "A-9", &|it| it == "other"),
        "- [ ] [A-1](A-1.md): one\n- [ ] [A-9](A-9.md): other\n- A-9 other\n"
    );
}

#[test]
fn both_sides_of_an_undecided_merge_are_there() {
    let text = "---\nid: A-1\n<<<<<<< HEAD\ntitle: one\n||||||| base\ntitle: b\n=======\ntitle: other\n>>>>>>> branch\nstatus: Todo\n---\n";
    let (ours, theirs) = sides(text).unwrap();
    assert_eq!(ours, "---\nid: A-1\ntitle: one\nstatus: Todo\n---\n");
    assert_eq!(theirs, "---\nid: A-1\ntitle: other\nstatus: Todo\n---\n");
    assert!(has_conflict(text));
    for none in [
        "",
        "=======\n",
        "<<<<<<< a\n",
        "<<<<<<< a\nb\n=======\nc\n",
        "a <<<<<<< b\n=======\n>>>>>>> c\n",
        "<<<<<<<<\n=======\n>>>>>>>>\n",
    ] {
        assert_eq!((sides(none), has_conflict(none)), (None, false), "{none}");
    }
}

#[test]
fn lists_that_a_merge_left_undecided_are_one() {
    let torn = "# x\n\n<<<<<<< HEAD\n- [x] [A-1](A-1.md): a\n- [ ] [A-2](A-2.md): b\n- [ ] [A-4](A-4.md): d\n=======\n- [ ] [A-1](A-1.md): a\n- [x] [A-2](A-2.md): b\n  more\n- [ ] [A-3](A-3.md): c\n>>>>>>> other\n\nEnd.\n";
    let whole = "# x\n\n- [x] [A-1](A-1.md): a\n- [x] [A-2](A-2.md): b\n  more\n- [ ] [A-4](A-4.md): d\n- [ ] [A-3](A-3.md): c\n\nEnd.\n";
    assert_eq!(resolved(torn).as_deref(), Some(whole));
    let said = "## Comments\n\n<<<<<<< a\n- One.\n||||||| b\n=======\n- Two,\n  long.\n>>>>>>> c\n";
    assert_eq!(resolved(said).as_deref(), Some("## Comments\n\n- One.\n- Two,\n  long.\n"));
    let ticked =
        "<<<<<<< a\n- [ ] It prints\n- [x] In color\n=======\n- [x] It prints\n- [ ] In color\n>>>>>>> c\n";
    assert_eq!(resolved(ticked).as_deref(), Some("- [x] It prints\n- [x] In color\n"));
    for other in ["<<<<<<< a\nstatus: Todo\n=======\nstatus: Done\n>>>>>>> b\n", "- a\n", "<<<<<<< a\n- a\n"]
    {
        assert_eq!(resolved(other), None, "{other}");
    }
}

#[test]
fn a_list_with_headings_that_a_merge_left_undecided_has_what_both_list() {
    let known = |id: &str| (id != "A-9").then_some(("t", Status::Todo));
    let torn = "# x\n\n## Issues\n\n- A-1\n<<<<<<< HEAD\n- A-2\n\n## Work\n\n- A-3\n=======\n- [ ] A-4: four\n\n## Play\n\n- A-5\n>>>>>>> other\n";
    let whole = "# x\n\n## Issues\n\n- A-1\n- A-2\n- [A-4](A-4.md): t\n\n## Work\n\n- A-3\n\n## Play\n\n- [ ] [A-5](A-5.md): t\n";
    assert_eq!(merged_readme(torn, &known).as_deref(), Some(whole));
    // Where somebody wrote, or lists what is not there, or has a heading for later, nobody else decides.
    for (from, to) in [("## Play", "Some words."), ("- A-5", "- A-9"), ("- A-5\n", ""), ("- A-5", "- soon")] {
        assert_eq!(merged_readme(&torn.replace(from, to), &known), None, "{to}");
    }
    assert_eq!(merged_readme("# x\n", &known), None);
    let plain = "<<<<<<< a\n- A-1\n=======\n- A-2\n>>>>>>> b\n";
    assert_eq!(merged_readme(plain, &known).as_deref(), Some("- A-1\n- A-2\n"));
}

#[test]
fn a_list_is_brought_in_step_as_a_whole() {
    let status = |id: &str| match id {
        "A-1" => Some(Status::Done),
        "A-2" => Some(Status::InProgress),
        "A-3" => Some(Status::Todo),
        _ => None,
    };
    let list = "- [ ] A-1\n- [x] [A-2](A-2.md): b\n- A-3 (Done)\n- [ ] A-1: again\n- A-9 (Done)\n- A-3\n";
    let wanted = "- [x] A-1\n- [ ] [A-2](A-2.md): b (In Progress)\n- A-3 (Todo)\n- A-9 (Done)\n";
    assert_eq!(readme_in_step(list, &status), wanted);
    assert_eq!(readme_in_step(wanted, &status), wanted);
    let parent = format!("---\ntitle: t\n---\n- [ ] A-1\n\n## Sub-issues\n\n{list}");
    assert_eq!(
        parent_in_step(&parent, &status),
        format!("---\ntitle: t\n---\n- [ ] A-1\n\n## Sub-issues\n\n{wanted}")
    );
    let board = "## Todo\n\n- A-1\n- A-3\n\n## Done\n\n- A-4\n";
    assert_eq!(readme_in_step(board, &status), "## Todo\n\n- A-3\n\n## Done\n\n- A-4\n- A-1\n");
    let all = [("B-1", "x", Status::Todo), ("B-2", "y", Status::Done)];
    let more = with_entries("# x\n\n## Issues\n- A-1 (Done)\n", None, &all);
    assert_eq!(
        more,
        "# x\n\n## Issues\n- A-1 (Done)\n- [B-1](B-1.md): x (Todo)\n- [B-2](B-2.md): y (Done)\n"
    );
}
