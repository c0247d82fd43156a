//! Facts against types: what is accepted, what is refused and in which words, what comes out and what is read.
#![expect(clippy::expect_used, clippy::too_many_lines, reason = "a test")]

mod world;

use loopwright_core::fact::{Checked, Expression};

use crate::world::world;

fn check(source: &str) -> Checked {
    Expression::parse(source).expect("parses").check(&world())
}

/// The faults of an expression, one a line, each with the piece of the source it points at.
fn faults(source: &str) -> String {
    let found = match Expression::parse(source) {
        Ok(expression) => expression.check(&world()).faults,
        Err(fault) => vec![fault],
    };
    let line = |fault: &loopwright_core::fact::Fault| {
        let help = fault.help.as_ref().map(|help| format!(" | {help}")).unwrap_or_default();
        format!("[{}] {}{help}", &source[fault.range.clone()], fault.message)
    };
    found.iter().map(line).collect::<Vec<_>>().join("\n")
}

#[test]
fn every_fact_of_the_drafts_is_accepted_with_its_values() {
    let facts = [
        // change
        (
            "!findings.open.exists(f, f.severity == 'high') && findings.open.filter(f, f.severity == 'medium').size() <= 1 ? 'minor' : 'major'",
            "major minor",
            "findings.open",
        ),
        // feature
        (
            "stage == 'implement' && mode != 'hotfix' && !docs.spec.exists ? 'no-spec' : stage == 'create-tasks' && mode != 'quick' && !docs.plan.exists ? 'no-plan' : 'met'",
            "met no-plan no-spec",
            "docs.plan.exists docs.spec.exists mode stage",
        ),
        ("docs.meta.step", "again next skips", "docs.meta.step"),
        (
            "docs.meta.started && !docs.meta.completed ? 'yes' : 'no'",
            "no yes",
            "docs.meta.completed docs.meta.started",
        ),
        ("git.dirty ? 'dirty' : 'clean'", "clean dirty", "git.dirty"),
        ("docs.tasks.open > 0 ? 'some' : 'none'", "none some", "docs.tasks.open"),
        // issue
        (
            "git.bare ? 'bare' : git.detached ? 'detached' : git.branch == git.base ? 'on-base' : git.dirty ? 'dirty' : 'ok'",
            "bare detached dirty ok on-base",
            "git.bare git.base git.branch git.detached git.dirty",
        ),
        ("docs.issue.exists ? 'yes' : 'no'", "no yes", "docs.issue.exists"),
        (
            "docs.issue.depends_on.all(d, docs.issues[d].status == 'Done') ? 'done' : 'open'",
            "done open",
            "docs.issue.depends_on docs.issues",
        ),
        ("docs.tasks.count == 1 ? 'one' : 'many'", "many one", "docs.tasks.count"),
        (
            "docs.tasks.first.new_symbols && project.language == 'rust' ? 'yes' : 'no'",
            "no yes",
            "docs.tasks.first.new_symbols project.language",
        ),
        ("docs.issue.subs.size() > 0 ? 'some' : 'none'", "none some", "docs.issue.subs"),
        ("docs.issue.criteria.all(c, c.checked) ? 'all' : 'some'", "all some", "docs.issue.criteria"),
        // team
        ("docs.acceptance.manual.size() == 0 ? 'none' : 'some'", "none some", "docs.acceptance.manual"),
        (
            "docs.tasks.count >= 5 || docs.tasks.cross_cutting || docs.tasks.flags.exists(f, f != 'none') ? 'per-batch' : 'single-final'",
            "per-batch single-final",
            "docs.tasks.count docs.tasks.cross_cutting docs.tasks.flags",
        ),
        (
            "kind == 'meta' && last.review_strategy == 'per-batch' ? 'no' : item.type in ['feat', 'fix', 'refactor'] ? 'yes' : 'no'",
            "no yes",
            "item.type kind last.review_strategy",
        ),
        (
            "kind == 'meta' && last.review_strategy == 'per-batch' ? 'no' : 'security' in item.risk_flags || last.code.touches == 'auth-input-network' || last.fix_review.touches == 'auth-input-network' || last.fix_tests.touches == 'auth-input-network' ? 'yes' : 'no'",
            "no yes",
            "item.risk_flags kind last.code.touches last.fix_review.touches last.fix_tests.touches last.review_strategy",
        ),
        // vibe
        ("docs.state.status", "BLOCKED DONE IN_PROGRESS IN_REVIEW NOT_STARTED unknown", "docs.state.status"),
        (
            "docs.state.blockers.size() == 0 ? 'none' : docs.state.blockers.all(i, i.owner == 'human') ? 'human-only' : 'some'",
            "human-only none some",
            "docs.state.blockers",
        ),
        (
            "docs.state.issues.exists(i, i.status == 'DECISION_REQUIRED') ? 'pending' : 'none'",
            "none pending",
            "docs.state.issues",
        ),
        (
            "docs.state.top_impact in ['MAJOR', 'QUESTION'] ? 'triage' : 'quiet'",
            "quiet triage",
            "docs.state.top_impact",
        ),
        ("docs.state.work_log.size() > 10 ? 'long' : 'short'", "long short", "docs.state.work_log"),
        ("docs.state.flags.RETROSPECTIVE_DONE", "absent clear set", "docs.state.flags.RETROSPECTIVE_DONE"),
        ("docs.state.flags.STAGE_DESIGNED", "absent clear set", "docs.state.flags.STAGE_DESIGNED"),
        (
            "docs.state.flags.MAINTENANCE_CYCLE_DONE != 'clear' || docs.state.stage_number == null ? 'off' : ['refactor', 'test', 'docs'][docs.state.stage_number % 3]",
            "docs off refactor test",
            "docs.state.flags.MAINTENANCE_CYCLE_DONE docs.state.stage_number",
        ),
        (
            "!docs.context.exists || docs.context.stale || docs.state.flags.RUN_CONTEXT_CAPTURE == 'set' ? 'due' : 'fresh'",
            "due fresh",
            "docs.context.exists docs.context.stale docs.state.flags.RUN_CONTEXT_CAPTURE",
        ),
        (
            "docs.state.flags.RUN_PROCESS_IMPROVEMENTS == 'set' ? 'due' : 'off'",
            "due off",
            "docs.state.flags.RUN_PROCESS_IMPROVEMENTS",
        ),
        ("docs.plan.next_is", "new-stage none same-stage", "docs.plan.next_is"),
        // newcomer
        (
            "git.changed_files.exists(f, f.startsWith('src/auth/')) ? 'yes' : 'no'",
            "no yes",
            "git.changed_files",
        ),
        ("size(git.changed_files) > 5 ? 'large' : 'small'", "large small", "git.changed_files"),
    ];
    for (source, leaves, reads) in facts {
        let checked = check(source);
        assert_eq!(checked.faults, [], "{source}");
        let found = checked.leaves.map(|it| it.into_iter().collect::<Vec<_>>().join(" "));
        assert_eq!(found.as_deref(), Some(leaves), "{source}");
        assert_eq!(checked.reads.into_iter().collect::<Vec<_>>().join(" "), reads, "{source}");
    }
}

#[test]
fn faults_say_what_where_and_what_instead() {
    let cases = [
        // names and fields
        (
            "doc.state.status",
            "[doc] `doc` is not known | did you mean `docs`? there is: docs, git, project, findings, mode, stage, kind, item, last, ratio, free",
        ),
        (
            "docs.state.staus == 'DONE'",
            "[staus] `docs.state` has no field `staus` | did you mean `status`? there is: status, blockers, issues, top_impact, work_log, stage_number, flags",
        ),
        ("docs.spec.zzz", "[zzz] `docs.spec` has no field `zzz` | there is: exists"),
        (
            "docs.state.blockers.all(i, i.onwer == 'human')",
            "[onwer] `i` has no field `onwer` | did you mean `owner`? there is: id, owner",
        ),
        ("mode.size.x", "[size] `mode` is one of hotfix, quick, standard, full and has no field `size`"),
        (
            "last.review-strategy == 'per-batch'",
            "[last.review-strategy] `last.review-strategy` is read as a subtraction | inside an expression a `-` in a name is written `_`: `last.review_strategy`",
        ),
        (
            "i.x || [1].exists(i, i == 1)",
            "[i] `i` is not known | there is: docs, git, project, findings, mode, stage, kind, item, last, ratio, free",
        ),
        // comparisons that cannot hold
        (
            "mode == 'ful'",
            "['ful'] `mode` is never 'ful' | did you mean `full`? there is: hotfix, quick, standard, full",
        ),
        ("'x' != kind", "['x'] `kind` is never 'x' | there is: task, meta"),
        (
            "docs.tasks.count == '1'",
            "[docs.tasks.count == '1'] `docs.tasks.count` is int and `'1'` is one of 1: they are never equal",
        ),
        (
            "git.dirty == 'yes'",
            "[git.dirty == 'yes'] `git.dirty` is bool and `'yes'` is one of yes: they are never equal",
        ),
        (
            "mode == kind",
            "[mode == kind] `mode` is one of hotfix, quick, standard, full and `kind` is one of task, meta: they are never equal",
        ),
        ("docs.spec == null", "[docs.spec] `docs.spec` is {exists: bool}, never null"),
        (
            "docs.state.top_impact == 'HUGE'",
            "['HUGE'] `docs.state.top_impact` is never 'HUGE' | there is: MINOR, MODERATE, MAJOR, QUESTION",
        ),
        (
            "item.type in ['feat', 'fixx']",
            "['fixx'] `item.type` is never 'fixx' | did you mean `fix`? there is: feat, fix, refactor, docs, chore",
        ),
        (
            "'securty' in item.risk_flags",
            "['securty'] 'securty' is never in `item.risk_flags` | did you mean `security`? there is: security, performance",
        ),
        (
            "1 in item.risk_flags",
            "[1] int is never in `item.risk_flags`, a list of one of security, performance",
        ),
        (
            "'a' in git.base",
            "[git.base] `git.base` is text, and `in` looks into a list or map | write `text.contains(part)`; for a list write `element in list`",
        ),
        (
            "1 in docs.issues",
            "[1] the keys of map of {status: one of Todo, Doing, Done} are texts, this is int",
        ),
        (
            "'exsts' in docs.spec",
            "['exsts'] `docs.spec` has no field `exsts` | did you mean `exists`? there is: exists",
        ),
        // conditions
        (
            "mode ? 'a' : 'b'",
            "[mode] `mode` is one of hotfix, quick, standard, full, not true or false | compare it: `mode == '...'`",
        ),
        (
            "docs.tasks.count && git.dirty",
            "[docs.tasks.count] `docs.tasks.count` is int, not true or false | compare it: `docs.tasks.count > 0`",
        ),
        (
            "!docs.issue.subs",
            "[docs.issue.subs] `docs.issue.subs` is list of text, not true or false | compare its size: `size(docs.issue.subs) > 0`",
        ),
        ("docs.issue.subs.filter(s, s)", "[s] `s` is text, not true or false | compare it: `s == '...'`"),
        // calls
        (
            "docs.issue.subs.count() > 1",
            "[count] there is no function `count` | there is: size, contains, startsWith, endsWith, int, double, string, all, exists, exists_one, filter, map and 1 more",
        ),
        (
            "git.base.startWith('a')",
            "[startWith] there is no function `startWith` | did you mean `startsWith`? there is: size, contains, startsWith, endsWith, int, double, string, all, exists, exists_one, filter, map and 1 more",
        ),
        (
            "git.base.matches('a+')",
            "[matches] there is no function `matches` | facts have no regular expressions: use `startsWith`, `endsWith` or `contains`",
        ),
        ("git.base.startsWith(1)", "[1] `1` is int, `startsWith` takes texts"),
        (
            "startsWith(git.base)",
            "[startsWith(git.base)] `startsWith` cannot be called like this | write `text.startsWith(part)`",
        ),
        (
            "docs.issue.subs.contains('a')",
            "[docs.issue.subs] `docs.issue.subs` is list of text, `contains` takes texts | write `text.contains(part)`; for a list write `element in list`",
        ),
        ("size(1)", "[1] `1` is int, `size` takes a text, list or map"),
        ("git.base.exists(c, c == 'a')", "[git.base] `git.base` is text, `exists` goes over a list"),
        // indexing, lists, arithmetic
        ("docs.issue.subs['a']", "['a'] `docs.issue.subs` takes a whole number as index, this is one of a"),
        ("docs.issues[1]", "[1] `docs.issues` takes a text as index, this is int"),
        ("git.dirty[0]", "[git.dirty] `git.dirty` is bool and cannot be indexed"),
        (
            "docs['sate']",
            "['sate'] `docs` has no field `sate` | did you mean `state`? there is: state, context, plan, spec, meta, tasks, issue, issues, acceptance",
        ),
        ("['a', 1]", "[1] this element is int, the ones before it are one of a"),
        ("git.dirty ? 'a' : 1", "[git.dirty ? 'a' : 1] one side of `?:` is one of a, the other is int"),
        ("docs.tasks.count + 'a' == 'b'", "[docs.tasks.count + 'a'] `+` does not work on int and one of a"),
        (
            "ratio * 2 > 1.0",
            "[ratio * 2] `*` does not work on float and int | turn the whole number into one with `double(...)`",
        ),
        ("mode < 1", "[mode < 1] one of hotfix, quick, standard, full and int cannot be compared with `<`"),
        ("-mode", "[mode] `-` works on numbers, this is one of hotfix, quick, standard, full"),
        // null
        (
            "docs.state.stage_number % 3 == 0",
            "[docs.state.stage_number] `docs.state.stage_number` may be null here | test it first: `docs.state.stage_number != null && ...`",
        ),
        (
            "findings.open.exists(f, f.file.path == 'a')",
            "[f.file] `f.file` may be null here | test it first: `f.file != null && ...`",
        ),
        (
            "git.branch == null && git.branch.startsWith('x')",
            "[git.branch] `git.branch` may be null here | test it first: `git.branch != null && ...`",
        ),
        // all at once
        (
            "docs.spec.exist && mode == 'x' ? kid : 'a'",
            "[exist] `docs.spec` has no field `exist` | did you mean `exists`? there is: exists\n['x'] `mode` is never 'x' | there is: hotfix, quick, standard, full\n[kid] `kid` is not known | did you mean `kind`? there is: docs, git, project, findings, mode, stage, kind, item, last, ratio, free",
        ),
        // reading
        ("a = b", "[=] `=` is not expected here | compare with `==`"),
        ("a and b", "[and] `and` is not expected here | write `&&`"),
        ("a ==", "[] the expression ends too early"),
        ("a ? b", "[] the expression ends too early"),
        (
            "a ? b ? c : d : e",
            "[?] `?` is not expected here | write `condition ? one : other`; put brackets around a condition inside another",
        ),
        ("f(a", "[(] `(` is never closed"),
        ("x == 'é' $ 1", "[$] `$` is not expected here"),
        ("1u == 1", "[1u] facts have no unsigned numbers | leave the `u` out"),
        ("b'x'", "[b'x'] facts have no bytes | leave the `b` out"),
        ("99999999999999999999 > 1", "[99999999999999999999] this number does not fit into 64 bits"),
        ("if == 1", "[if] `if` is a reserved word and cannot be a name"),
        ("has(a)", "[has(a)] `has` asks whether one field is there | write `has(record.field)`"),
        (
            "a.map(1, 2)",
            "[a.map(1, 2)] `map` takes a name for the element and an expression about it | write `list.map(x, ...)`",
        ),
        (
            "a.exists(x)",
            "[a.exists(x)] `exists` takes a name for the element and an expression about it | write `list.exists(x, ...)`",
        ),
        ("{1: 2}", "[1] a key in `{...}` has to be a text in quotes"),
        ("{'a': 2, 'a': 3}", "['a'] the key `a` is given twice"),
        ("Foo{a: 1}", "[{] `Foo{...}` is not known here | a map is written `{'field': value}`"),
        ("a.?b", "[.] `.` cannot be used here"),
        (".docs", "[docs] a name cannot start with `.` | leave the `.` out"),
    ];
    let wrong = cases.iter().filter(|(source, expected)| faults(source) != *expected);
    let wrong: Vec<_> = wrong.map(|(source, _)| format!("{source}\n{}", faults(source))).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

#[test]
fn null_tests_are_understood() {
    for source in [
        "git.branch != null && git.branch.startsWith('x')",
        "git.branch.startsWith('x') && git.branch != null",
        "git.branch == null || git.branch.startsWith('x')",
        "git.branch == null ? false : git.branch.startsWith('x')",
        "!(git.branch == null) ? git.branch.contains('x') : true",
        "has(git.branch) && git.branch.startsWith('x')",
        "git.branch == 'main' && size(git.branch) == 4",
        "docs.state.stage_number != null && (git.dirty || docs.state.stage_number > 1)",
        "findings.open.exists(f, f.file != null && f.file.path == 'a' && f.file.line > 1)",
        "findings.open.exists(f, has(f.file.path) && f.file.path == 'a')",
        "findings.open.filter(f, f.file != null).exists(g, g.file.path == 'a')",
        "findings.open.map(f, f.file != null, f.file.path) == ['a']",
        "docs.context.exists && docs.context.age > 3",
        "!docs.context.exists || docs.context.age > 3",
        "git.branch == null",
        "free.anything[0].goes == 1 && free > 'x'",
    ] {
        assert_eq!(faults(source), "", "{source}");
    }
    // A variable of the same name is another value.
    let shadowed = "git != null && [git.branch].exists(git, git.startsWith('x'))";
    assert!(faults(shadowed).contains("`git` may be null here"), "{}", faults(shadowed));
}

#[test]
fn results_have_types_and_sometimes_leaves() {
    for (source, result, leaves) in [
        ("docs.tasks.count + 1", "int", None),
        ("ratio / 2.0", "float", None),
        ("git.branch", "text or null", None),
        ("git.dirty ? null : 'a'", "one of a or null", None),
        ("'a' + 'b'", "text", None),
        ("['a', 'b'][docs.tasks.count % 2]", "one of a, b", Some("a b")),
        ("docs.issue.subs[0]", "text", None),
        ("findings.open.map(f, f.severity)", "list of one of low, medium, high", None),
        ("findings.open.map(f, f.severity)[0]", "one of low, medium, high", Some("high low medium")),
        ("[]", "list of nothing", None),
        ("docs.issue.subs + ['x']", "list of text", None),
        ("{'a': 1, 'b': mode}", "{a: int, b: one of hotfix, quick, standard, full}", None),
        ("{'a': 'x'}.a", "one of x", Some("x")),
        ("docs.issues.map(k, k)", "list of text", None),
        ("docs.spec.map(k, k)", "list of one of exists", None),
        ("free", "anything", None),
        ("free ? 'a' : free", "anything", None),
        ("string(mode)", "one of hotfix, quick, standard, full", Some("full hotfix quick standard")),
        ("int(git.base) + size('abc')", "int", None),
    ] {
        let checked = check(source);
        assert_eq!(checked.faults, [], "{source}");
        assert_eq!(checked.result.to_string(), result, "{source}");
        let found = checked.leaves.map(|it| it.into_iter().collect::<Vec<_>>().join(" "));
        assert_eq!(found.as_deref(), leaves, "{source}");
    }
}

#[test]
fn reads_are_whole_paths_from_the_given_names() {
    for (source, reads) in [
        ("docs['state'].status == 'DONE'", "docs.state.status"),
        ("docs.issues['a'].status == 'Done'", "docs.issues.a.status"),
        ("docs.issues[item.id].status == 'Done'", "docs.issues item.id"),
        ("has(docs.issues.a) && git.dirty", "docs.issues.a git.dirty"),
        ("docs.issue.subs.exists(item, item == 'a')", "docs.issue.subs"),
        ("docs.issue.subs.exists(s, s == item.id)", "docs.issue.subs item.id"),
        ("free.a.b == 1", "free.a.b"),
        ("docs.state == docs.state", "docs.state"),
    ] {
        let found = check(source).reads.into_iter().collect::<Vec<_>>().join(" ");
        assert_eq!(found, reads, "{source}");
    }
}

#[test]
fn types_do_not_grow_without_bound() {
    let source = format!("[1]{}", ".map(v, {'a': v, 'b': v})".repeat(40));
    let checked = check(&source);
    assert_eq!(checked.faults, []);
    assert_eq!(checked.result.to_string(), "list of {a: {...}, b: {...}}");
}
