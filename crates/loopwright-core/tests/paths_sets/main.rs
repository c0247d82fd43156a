//! Sets of files: the pairs of the workflow drafts, what is refused, and every short path against a simple matcher.
#![expect(clippy::expect_used, reason = "a test")]

mod simply;

use loopwright_core::paths::FileSet;
use proptest::prelude::*;
use proptest::strategy::ValueTree;

use crate::simply::{in_simply, longer_paths, patterns, short_paths, templated};

fn set(patterns: &[&str]) -> FileSet {
    FileSet::parse(patterns).expect("reads")
}

/// The documents of the drafts, `./` already put into the workflow's folder.
fn document(name: &str) -> FileSet {
    match name {
        "change/state" => set(&["agentd/changes/{{subject}}/STATE.yaml"]),
        "change/proposal" => set(&["agentd/changes/{{subject}}/proposal.md"]),
        "change/specs" => set(&["agentd/changes/{{subject}}/specs/*.md"]),
        "change/plan" => set(&[
            "agentd/changes/{{subject}}/proposal.md",
            "agentd/changes/{{subject}}/specs/*.md",
            "agentd/changes/{{subject}}/tasks.md",
        ]),
        "change/folder" => set(&["agentd/changes/{{subject}}/**"]),
        "change/archive" => set(&["agentd/archive/{{today}}-{{subject}}/**"]),
        "change/main-specs" => set(&["agentd/specs/**"]),
        "change/code" => set(&["**", "!agentd/**"]),
        "feature/spec" => set(&["docs/features/{{subject}}/spec.md"]),
        "feature/design" => set(&["docs/features/{{subject}}/design.md"]),
        "feature/code" => set(&["**", "!docs/features/**"]),
        "issue/issue" => set(&["TODO/{{subject}}.md"]),
        "issue/issues" => set(&["TODO/*.md"]),
        "issue/siblings" => set(&["TODO/*.md", "!TODO/{{subject}}.md"]),
        "issue/plan" => set(&[".workflow/run-{{subject}}/plan.md"]),
        "issue/tasks" => {
            set(&[".workflow/run-{{subject}}/task-*.md", "!.workflow/run-{{subject}}/task-fix-*.md"])
        }
        "issue/fix-task" => set(&[".workflow/run-{{subject}}/task-fix-{{round}}.md"]),
        "issue/code" => set(&["**", "!TODO/**", "!.workflow/**"]),
        "team/spec" => set(&[".agents-work/{{subject}}/spec.md"]),
        "team/adr" => set(&[".agents-work/{{subject}}/adr/*.md"]),
        "team/instructions" => set(&[".github/copilot-instructions.md"]),
        "team/readme" => set(&["README.md", "docs/**", "CHANGELOG.md"]),
        "team/tests" => set(&["tests/**", "**/*test*"]),
        "team/code" => set(&[
            "**",
            "!.agents-work/**",
            "!README.md",
            "!docs/**",
            "!CHANGELOG.md",
            "!tests/**",
            "!**/*test*",
            "!.github/copilot-instructions.md",
            "!.loopwright/**",
        ]),
        "vibe/state" => set(&["./.vibe/STATE.md"]),
        "vibe/code" => set(&["**", "!.vibe/**"]),
        "bug/code" => set(&["**", "!.loop/**", "!tests/**"]),
        "bug/tests" => set(&["tests/**"]),
        "each/mine" => set(&["out/{{item.id}}/**", "log/{{ item.id }}.txt"]),
        other => FileSet::parse(&[other]).expect("a name or a pattern"),
    }
}

#[test]
fn pairs_of_the_drafts_overlap_as_a_person_would_say() {
    let wrong: Vec<_> = [
        ("change/plan", "change/code", false),
        ("change/state", "change/code", false),
        ("change/main-specs", "change/code", false),
        ("change/specs", "change/main-specs", false),
        ("change/plan", "change/state", false),
        ("change/plan", "change/specs", true),
        ("change/proposal", "change/specs", false),
        ("change/folder", "change/archive", false),
        ("change/folder", "change/plan", true),
        ("feature/spec", "feature/design", false),
        ("feature/spec", "feature/code", false),
        ("issue/issue", "issue/issues", true),
        ("issue/issue", "issue/siblings", false),
        ("issue/siblings", "issue/issues", true),
        ("issue/issues", "issue/code", false),
        ("issue/plan", "issue/tasks", false),
        ("issue/tasks", "issue/fix-task", false),
        ("issue/fix-task", "issue/code", false),
        ("team/code", "team/tests", false),
        ("team/code", "team/readme", false),
        ("team/code", "team/spec", false),
        ("team/code", "team/instructions", false),
        ("team/code", "src/main.rs", true),
        ("team/readme", "team/tests", true),
        ("team/spec", "team/adr", false),
        ("team/adr", "team/tests", true),
        ("vibe/code", "vibe/state", false),
        ("bug/code", "bug/tests", false),
        ("team/code", "bug/tests", false),
        ("{src,lib}/**", "src/a.rs", true),
        ("{src,lib}/**", "tests/a.rs", false),
        ("*.md", "*.rs", false),
        ("*.md", "docs/*.md", false),
        ("**/*.md", "docs/*.md", true),
        ("src/**/mod.rs", "src/mod.rs", true),
        ("src/**/mod.rs", "**/a/mod.rs", true),
        ("tests/**", "tests", false),
        ("[a-c]*", "[d-f]*", false),
        ("[!a]*", "a*", false),
        ("[!a]*", "?b", true),
        ("{{id}}.md", "{{id}}-fix.md", false),
        ("{{id}}.md", "{{name}}-fix.md", true),
        ("{{id}}/a", "{{id}}/b", false),
        ("x/{{id}}", "x/README.md", true),
        ("task-{{id}}", "*-{{id}}", true),
        ("**/{{id}}.md", "{{id}}-fix.md", true),
    ]
    .into_iter()
    .filter(|(one, two, expected)| {
        let (one, two) = (document(one), document(two));
        one.may_overlap(&two) != *expected || two.may_overlap(&one) != *expected
    })
    .collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn containment_of_the_drafts_is_certain_or_denied() {
    let wrong: Vec<_> = [
        ("change/plan", "change/folder", true),
        ("change/folder", "change/plan", false),
        ("change/specs", "change/plan", true),
        ("change/plan", "agentd/**", true),
        ("change/folder", "agentd/changes/*/**", true),
        ("agentd/changes/abc/x", "change/folder", false),
        ("issue/issue", "issue/issues", true),
        ("issue/issues", "issue/issue", false),
        ("issue/siblings", "issue/issues", true),
        ("issue/issue", "issue/siblings", false),
        ("issue/tasks", "issue/tasks", true),
        ("issue/fix-task", "issue/tasks", false),
        ("team/code", "team/code", true),
        ("team/code", "vibe/code", false),
        ("team/code", "bug/code", false),
        ("vibe/code", "**", true),
        ("bug/tests", "team/tests", true),
        ("team/tests", "bug/tests", false),
        ("{a,b}/*", "?/*", true),
        ("?/*", "{a,b}/*", false),
        ("*", "?*", true),
        ("**/*.md", "**", true),
        ("a/**/b", "a/**", true),
        ("a/**", "a/**/b", false),
        ("{{id}}", "*", true),
        ("{{id}}", "??*", false),
        ("{{id}}", "{{name}}", false),
        ("{{id}}.md", "{{id}}*", true),
        ("*", "{{id}}", false),
        ("**/{{id}}", "**/{{id}}", false), // the same place is not known after `**`
    ]
    .into_iter()
    .filter(|(one, two, expected)| document(one).surely_within(&document(two)) != *expected)
    .collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn what_says_who_works_and_how_it_is_checked_is_in_no_set_that_does_not_name_it() {
    let config = ".loopwright/config.yaml";
    for (patterns, holds) in [
        (&["**"][..], false),
        (&["**/*.yaml"], false),
        (&["*/config.yaml"], false),
        (&[".*/**"], false),
        (&["{{subject}}/**"], false),
        (&[".loopwright/**"], true),
        (&["**", ".loopwright/workflows/**"], true),
        (&["**", "!.loopwright/config.yaml", ".loopwright/workflows/**"], false),
    ] {
        let files = set(patterns);
        assert_eq!(files.matches(config), holds, "{patterns:?}");
        assert_eq!(set(&[config]).surely_within(&files), holds, "{patterns:?}");
        assert_eq!(set(&[config]).may_overlap(&files), holds, "{patterns:?}");
    }
    assert!(set(&["**"]).matches(".loopwright.md") && set(&["**"]).matches("docs/.loopwright/notes"));
}

#[test]
fn no_patterns_are_no_files() {
    let nothing = set(&[]);
    assert!(!nothing.may_overlap(&set(&["**"])));
    assert!(nothing.surely_within(&set(&["a"])));
    assert!(!nothing.matches("a"));
    let emptied = set(&["a/**", "!a/**"]);
    assert!(!emptied.may_overlap(&set(&["**"])) && emptied.surely_within(&nothing));
}

#[test]
fn given_paths_match() {
    let team = document("team/code");
    for (path, expected) in [
        ("src/main.rs", true),
        ("./src/main.rs", true),
        ("README.md", false),
        ("sub/README.md", true),
        ("src/my_tests.rs", false),
        ("src/testing/x.rs", true),
        ("docs/a/b", false),
        ("/src/main.rs", false),
        ("../src/main.rs", false),
        ("src//main.rs", false),
        ("", false),
    ] {
        assert_eq!(team.matches(path), expected, "{path}");
    }
    assert!(document("each/mine").matches("out/x/y/z"));
    assert!(!document("each/mine").matches("log/.txt"));
    assert!(set(&["**/a"]).matches("a") && set(&["a/**/b"]).matches("a/b"));
    assert!(!set(&["a/**"]).matches("a") && set(&["[]x]é"]).matches("]é"));
}

#[test]
fn templates_are_mentioned_by_every_include() {
    assert!(document("each/mine").mentions("item.id"));
    assert!(!document("each/mine").mentions("item"));
    assert!(!set(&["out/{{item.id}}/**", "log/all.txt"]).mentions("item.id"));
    assert!(!set(&["{out/{{item.id}},log}/a"]).mentions("item.id"));
}

#[test]
fn what_cannot_be_read_is_refused_with_a_reason() {
    for (pattern, message) in [
        ("", "empty"),
        ("./", "empty"),
        ("!", "empty"),
        ("/etc/passwd", "absolute: write it relative to the root of the repository"),
        ("C:/x", "absolute: write it relative to the root of the repository"),
        ("../x", "`..` leads out: write it relative to the root of the repository"),
        ("a/../b", "`..` leads out: write it relative to the root of the repository"),
        ("a/./b", "`.` is only allowed in front"),
        ("a//b", "`//` is one `/` too many"),
        ("docs/", "a folder: write `docs/**` for the files in it"),
        ("a\\b", "`\\` is not allowed: separate folders with `/`; nothing needs escaping"),
        ("a**", "`**` has to be a whole segment, as in `a/**/b`"),
        ("a/{b,c", "`{` is never closed"),
        ("a}", "`}` closes nothing"),
        ("{{a", "`{{` is never closed"),
        ("{{}}", "`{{}}` is not a name"),
        ("{{a/b}}", "`{{a/b}}` is not a name"),
        ("[ab", "`[` is never closed"),
        ("[]", "`[` is never closed"),
        ("[a/b]", "`/` cannot be in `[...]`"),
        ("[b-a]", "`b-a` is the wrong way round"),
        ("{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}", "more than 64 alternatives"),
        ("!!a", "one `!` is enough"),
        ("!a", "only excludes: start with what is included, such as `**`"),
        ("x{a,}/", "a folder: write `xa/**` for the files in it"),
    ] {
        let fault = FileSet::parse(&[pattern]).expect_err(pattern);
        assert_eq!((fault.index, fault.message.as_str()), (0, message), "{pattern}");
    }
    let fault = FileSet::parse(&["a", "!/b"]).expect_err("absolute");
    assert_eq!(fault.index, 1);
    assert_eq!(fault.to_string(), "`!/b`: absolute: write it relative to the root of the repository");
    assert!(FileSet::parse(&["a".repeat(600).as_str()]).is_err());
    assert!(FileSet::parse(&["a".repeat(500).as_str(); 5]).is_err());
}

#[test]
fn many_stars_take_no_long_time() {
    let stars = |letter: &str, count: usize| format!("*{}", format!("{letter}*").repeat(count));
    let deep = |letter: &str, count: usize| format!("**/{}x", format!("*{letter}*/**/").repeat(count));
    let (a, b) = (stars("a", 120), stars("b", 120));
    // A common name exists, and no name with an end of its own.
    assert!(set(&[&a]).may_overlap(&set(&[&b])));
    assert!(!set(&[&format!("{a}x")]).may_overlap(&set(&[&format!("{b}y")])));
    assert!(!set(&[&format!("x{a}")]).may_overlap(&set(&[&format!("y{b}")])));
    assert!(set(&[&deep("a", 30)]).may_overlap(&set(&[&deep("b", 30)])));
    // With excludes the answer may be the careful one, but it comes.
    let excludes: Vec<String> =
        ["a", "b", "c", "d", "e", "f"].iter().map(|it| format!("!{}", deep(it, 20))).collect();
    let patterns: Vec<&str> = std::iter::once("**").chain(excludes.iter().map(String::as_str)).collect();
    assert!(set(&patterns).may_overlap(&set(&[&a])));
    let _ = set(&[&deep("a", 20)]).surely_within(&set(&patterns));
    let ored = format!("{{{}}}/**/*a*a*a", ["p*", "q*", "r*", "s*"].join(","));
    let _ = set(&[&ored, "**/?*?*?*b"]).surely_within(&set(&["**/*a*b*", &a, &b]));
}

fn parsed(patterns: &[String]) -> FileSet {
    set(&patterns.iter().map(String::as_str).collect::<Vec<_>>())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(CASES))]

    #[test]
    fn answers_hold_for_every_short_path(one in patterns(), two in patterns()) {
        let (first, second) = (parsed(&one), parsed(&two));
        let overlap = first.may_overlap(&second);
        prop_assert_eq!(overlap, second.may_overlap(&first));
        let within = first.surely_within(&second);
        for path in short_paths() {
            let (left, right) = (in_simply(&one, &path), in_simply(&two, &path));
            prop_assert_eq!(first.matches(&path), left, "{} in {:?}", path, one);
            prop_assert!(overlap || !(left && right), "{} is in both {:?} and {:?}", path, one, two);
            prop_assert!(!within || !left || right, "{} is in {:?} and not in {:?}", path, one, two);
        }
    }

    #[test]
    fn answers_hold_whatever_the_templates_stand_for(one in templated(), two in templated(), x in "[abc]{1,2}", y in "[abc]{1,2}") {
        let (first, second) = (parsed(&one), parsed(&two));
        let (overlap, within) = (first.may_overlap(&second), first.surely_within(&second));
        let known = |patterns: &[String]| -> Vec<String> {
            patterns.iter().map(|it| it.replace("{{x}}", &x).replace("{{y}}", &y)).collect()
        };
        let (one, two) = (known(&one), known(&two));
        for path in short_paths() {
            let (left, right) = (in_simply(&one, &path), in_simply(&two, &path));
            prop_assert!(overlap || !(left && right), "{} is in both {:?} and {:?}", path, one, two);
            prop_assert!(!within || !left || right, "{} is in {:?} and not in {:?}", path, one, two);
        }
    }

    #[test]
    fn no_text_makes_it_panic(patterns in prop::collection::vec("[ab/!*?{},\\[\\]\\-^.é\\\\ ]{0,16}", 0..4)) {
        let patterns: Vec<&str> = patterns.iter().map(String::as_str).collect();
        if let Ok(read) = FileSet::parse(&patterns) {
            read.may_overlap(&read);
            prop_assert!(read.surely_within(&read) || patterns.iter().any(|it| it.contains("{{")));
            read.matches("a/b");
        }
    }

    #[test]
    fn alternatives_and_classes_are_what_they_stand_for(start in "[ab*?]{0,2}", end in "[ab?]{0,2}", path in "[abc]{1,4}") {
        let start = start.replace("**", "*");
        let braces = set(&[&format!("{start}{{a,bc,}}{end}x")]);
        let written = set(&[&format!("{start}a{end}x"), &format!("{start}bc{end}x"), &format!("{start}{end}x")]);
        prop_assert!(braces.surely_within(&written) && written.surely_within(&braces));
        let class = set(&[&format!("{start}[ac]{end}")]);
        let either = set(&[&format!("{start}a{end}"), &format!("{start}c{end}")]);
        let neither = set(&[&format!("{start}[!ac]{end}"), &format!("!{start}[ac]{end}")]);
        prop_assert!(class.surely_within(&either) && either.surely_within(&class) && !neither.may_overlap(&class));
        prop_assert_eq!(class.matches(&path), either.matches(&path));
    }
}

const CASES: u32 = 200;

/// Of the answers that could be careful only, nearly none are: a common path is found where overlap is said.
#[test]
fn few_answers_are_only_careful() {
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let paths = longer_paths();
    let (mut said, mut found, mut denied, mut missing) = (0, 0, 0, 0);
    for _ in 0..400 {
        let mut draw = || patterns().new_tree(&mut runner).expect("draws").current();
        let (one, two) = (draw(), draw());
        let (first, second) = (parsed(&one), parsed(&two));
        if first.may_overlap(&second) {
            said += 1;
            found += usize::from(paths.iter().any(|it| in_simply(&one, it) && in_simply(&two, it)));
        }
        if !first.surely_within(&second) {
            denied += 1;
            missing += usize::from(paths.iter().any(|it| in_simply(&one, it) && !in_simply(&two, it)));
        }
    }
    // The rest needs longer paths than are tried.
    assert!(found * 100 >= said * 95 && said > 100, "{found} of {said}");
    assert!(missing * 100 >= denied * 95 && denied > 100, "{missing} of {denied}");
}
