//! What the language refuses because it would mean something else than its author thinks: each guard blocks, at its
//! place and with what to do, and lets its neighbour through.

use loopwright_core::language::{Folder, Loaded, WORKFLOW_FILE, load};
use loopwright_core::problem::Problem;

const GOOD: &str = r#"workflow: good
subject: thing
documents:
  code: {files: ["**"]}
  tasks: {file: tasks.yaml, as: yaml, shape: {items: [{id: text}]}}
roles:
  coder: {agent: claude, prompt: "Do it.", given: [maybe last.tests], may-write: [code]}
  judge: {agent: codex, prompt: "Judge.", verdicts: [GOOD, BAD], findings: {severity: [low, high]}}
questions:
  ready: {asks: "Ready?", answers: [yes, no], unattended: wait}
phases:
  working: {at: ask, show: others}
facts:
  tree: {in: [clean, dirty], is: "git.dirty ? 'dirty' : 'clean'"}
  bad: {in: [yes, no], is: "findings.open.exists(f, f.severity == 'high') ? 'yes' : 'no'"}
defaults: {failures: broken}
states:
  parts: {each: {item: task, in: docs.tasks.items, run: part}, on: {fine: tests, stuck: broken}}
  tests: {check: project.test, judges: code, on: {pass: review, fail: broken}}
  review: {review: judge, on: {GOOD: tidy, BAD: broken}}
  tidy: {do: [{delete: tasks}], then: which}
  which: {choose: [{when: {tree: dirty, bad: yes}, to: broken}, {to: settled-now}]}
  settled-now: {settle: [tests], then: ask}
  ask: {ask: ready, needs: [tests], on: {yes: done, no | deferred: broken}}
  done: {needs: [tests], end: success}
  broken: {end: failure}
children:
  part:
    defaults: {transient: {to: again, spend: retries, else: stuck}, failures: stuck}
    budgets: {retries: {limit: 1, per: visit}}
    states:
      work: {agent: coder, then: fine}
      fine: {end: success}
      stuck: {end: failure}
"#;

fn read(text: &str) -> Loaded {
    let files = [(WORKFLOW_FILE.to_owned(), text.as_bytes().to_vec())].into();
    load(&Folder { name: "good".into(), files })
}

fn found(text: &str) -> Vec<Problem> {
    read(text).problems
}

#[test]
fn the_good_file_loads() {
    assert_eq!(found(GOOD), []);
}

/// What is replaced by what, the code, what is underlined, and a word of the help.
const GUARDS: &[(&str, &str, &str, &str, &str)] = &[
    ("questions:\n", "lists: [notes]\nquestions:\n", "unused", "lists", "write `record: notes`"),
    (
        "facts:\n  tree: {in: [clean, dirty], is: \"git.dirty ?",
        "lists: [notes]\nfacts:\n  tree: {in: [clean, dirty], is: \"git.dirty || lists.notes.size() > 0 ?",
        "unused",
        "lists",
        "write `record: notes`",
    ),
    (
        "judges: code, on: {pass: review",
        "judges: code, only-when: {changed.code: yes}, on: {pass: review",
        "loose-condition",
        "changed.code",
        "say it as a fact",
    ),
    (
        "      work: {agent: coder, then: fine}\n",
        "      work: {agent: coder, then: look}\n      look: {check: project.lint, judges: code, only-when: {tree: dirty}, on: {pass: fine, fail: stuck}}\n",
        "loose-condition",
        "tree",
        "a fact of its own",
    ),
    ("\"Do it.\"", "\"Do {{item.nme}}.\"", "unknown-input", "item.nme", "`id`"),
    ("which: {choose", "which: {needs: [tests], choose", "unknown-key", "needs", "the state it leads to"),
    ("now: {settle", "now: {needs: [tests], settle", "unknown-key", "needs", "the state it leads to"),
    ("stuck", "failed", "reserved", "failed", "another name"),
    ("stuck", "lost", "reserved", "lost", "another name"),
    ("stuck", "empty", "reserved", "empty", "another name"),
    ("stuck", "stale", "reserved", "stale", "another name"),
    ("stuck", "too-many", "reserved", "too-many", "another name"),
    (
        "children:\n",
        "properties: [{at-most: {visits: part.work, times: 1}}]\nchildren:\n",
        "bad-value",
        "part.work",
        "use its budgets",
    ),
    (
        "children:\n",
        "properties: [{never: {reach: done, before: \"tests = settled | pass\"}}]\nchildren:\n",
        "bad-value",
        "\"tests = settled | pass\"",
        "alone",
    ),
    ("fine", "none", "reserved", "none", "another name"),
    ("which", "edit", "reserved", "edit", "another name"),
    ("which", "facts", "reserved", "facts", "another name"),
    ("which", "verb", "reserved", "verb", "another name"),
    ("which", "others", "reserved", "others", "another name"),
    ("which", "visit", "reserved", "visit", "another name"),
    ("which", "again", "reserved", "again", "another name"),
    ("which", "back", "reserved", "back", "another name"),
    ("[yes, no]", "[yes, no, wait]", "reserved", "wait", "another word"),
    ("[yes, no]", "[yes, no, deferred]", "reserved", "deferred", "another word"),
    ("git.dirty ? 'dirty' : 'clean'", "git.dirty", "bad-fact", "\"git.dirty\"", "one of the values"),
    ("git.dirty ? 'dirty' : 'clean'", "git.branch", "bad-fact", "\"git.branch\"", "one of the values"),
    ("git.dirty ? 'dirty'", "git.dirt ? 'dirty'", "bad-fact", "dirt", "dirty"),
    ("exists(f", "exist(f", "bad-fact", "exist", "exists"),
    ("f.severity == 'high'", "f.severity == 'hgih'", "bad-fact", "'hgih'", "high"),
    (
        "in: [clean, dirty]",
        "in: [clean, dirt]",
        "outside-domain",
        "\"git.dirty ? 'dirty' : 'clean'\"",
        "add `dirty`",
    ),
    ("[maybe last.tests]", "[mabe last.tests]", "unknown-input", "mabe last.tests", "maybe last.tests"),
    ("{delete: tasks}", "{delete: taks}", "unknown-name", "taks", "tasks"),
    ("\"Do it.\"", "\"Do {{no.such}} {{no.thing}}.\"", "unknown-input", "no.such", "docs"),
    ("\"Do it.\"", "\"Do {{tasks.items}}.\"", "unknown-input", "tasks.items", "docs.tasks.items"),
    ("in: docs.tasks.items", "in: docs.tasks", "unknown-name", "docs.tasks", "docs.tasks.items"),
    ("in: docs.tasks.items", "in: tasks.items", "unknown-name", "tasks.items", "docs.tasks.items"),
    (
        "fine: tests, stuck: broken",
        "\"fine, stuck\": broken",
        "unknown-signal",
        "\"fine, stuck\"",
        "`fine | stuck`",
    ),
    ("needs: [tests], on", "needs: tests tests, on", "unknown-name", "tests tests", "[tests, tests]"),
    ("ask: ready", "ask: \"Ready?\"", "bad-name", "\"Ready?\"", "a question in `questions`"),
    ("per: visit}}", "per: visit}, gold: {limit: 2 usd, keep: 10m}}", "bad-value", "10m", "same unit"),
    ("may-write: [code]}", "may-write: [code], costs: 2}", "bad-type", "2", "2 usd"),
    ("may-write: [code]}", "may-write: [code], costs: 2h}", "bad-type", "2h", "2 usd"),
    (
        "{item: task, in: docs.tasks.items",
        "{item: task, in: docs.task.items",
        "unknown-name",
        "docs.task.items",
        "tasks",
    ),
    ("\"Do it.\"", "do-it.md", "bad-value", "do-it.md", "prompts/do-it.md"),
    ("do: [{delete: tasks}]", "do: []", "bad-type", "[]", "leave the state out"),
    ("run: part}", "run: part, order: depends}", "unknown-name", "depends", "`shape` of `tasks`"),
    ("limit: 1, per", "limit: 1000000001, per", "bad-value", "1000000001", "ends a loop"),
    ("limit: 1, per", "limit: -1, per", "bad-type", "-1", "cannot be below 0: write `0`, `1`"),
    ("limit: 1, per", "limit: 1.5, per", "bad-type", "1.5", "whole number, such as `2`, or add the unit"),
    ("run: part}", "run: part, at-most: -3}", "bad-type", "-3", "cannot be below 0: write `0`, `3`"),
    ("run: part}", "run: part, at-most: 1.5}", "bad-type", "1.5", "whole number, such as `2`"),
    ("run: part}", "run: part, at-most: \"3\"}", "bad-type", "\"3\"", "without quotes: `3`"),
    ("run: part}", "run: part, at-most: 4294967296}", "bad-type", "4294967296", "4294967295 at most"),
    ("run: part}", "run: part, at-most: many}", "bad-type", "many", "without a unit: `3`"),
    ("[GOOD, BAD]", "GOOD BAD", "bad-type", "GOOD BAD", "write a list: `[GOOD, BAD]`"),
    ("[low, high]", "low high", "bad-type", "low high", "write a list: `[low, high]`"),
    ("may-write: [code]}", "may-write: {code: yes}}", "bad-type", "{code: yes}", "[one, other]"),
    ("fail: broken", "fail: {to: broken, else: done}", "else-without-spend", "else", "add `spend: BUDGET`"),
    ("needs: [tests], on", "needs: {by: tree, dirty: [tests]}, on", "bad-value", "tree", "`set` a variable"),
    (
        "work: {agent: coder, then: fine}",
        "work: {agent: coder, then: [{when: {gate.tests: fresh}, to: fine}, {to: stuck}]}",
        "unknown-name",
        "gate.tests",
        "",
    ),
];

#[test]
fn each_guard_blocks_at_its_place() {
    let mut wrong = Vec::new();
    for (part, spoiled, code, underlined, help) in GUARDS {
        let text = GOOD.replace(part, spoiled);
        assert!(text.contains(spoiled), "{part}");
        let said = found(&text);
        let right = |it: &Problem| {
            it.code == *code
                && text.get(it.place.bytes.clone()) == Some(underlined)
                && it.help.as_ref().is_some_and(|it| it.contains(help))
        };
        if said.len() != 1 || !said.iter().all(right) {
            wrong.push(format!("`{spoiled}`: {said:#?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// What a child reads of its parent it reads as it is; a loop sets what the child declares.
#[test]
fn a_loop_sets_no_variable_of_its_own_machine() {
    let text = GOOD
        .replace("phases:", "vars: {mode: {in: [a, b], start: a}}\nphases:")
        .replace("run: part}", "run: part, with: {mode: b}}");
    let wrong: Vec<Problem> = found(&text).into_iter().filter(|it| it.code == "bad-value").collect();
    assert!(matches!(&*wrong, [one] if text.get(one.place.bytes.clone()) == Some("mode")), "{wrong:?}");
}

/// What comes back of an item apart is what it committed.
#[test]
fn a_call_commits_nothing_and_is_not_apart() {
    let text = GOOD.replace("run: part}", "run: {agent: coder}, apart: true}");
    let wrong: Vec<Problem> = found(&text).into_iter().filter(|it| it.code == "bad-value").collect();
    assert!(matches!(&*wrong, [one] if text.get(one.place.bytes.clone()) == Some("true")), "{wrong:?}");
}

/// What items need to be put in order; of what is not known to lack it nothing is said.
#[test]
fn items_without_what_orders_them_have_no_order() {
    let ordered = |shape: &str| {
        let text = GOOD.replace("[{id: text}]", shape).replace("run: part}", "run: part, order: depends}");
        found(&text).into_iter().map(|it| it.message).collect::<Vec<_>>()
    };
    for shape in
        ["[{id: text, depends: [text]}]", "[{id: text, depends: any}]", "[any]", "any", "[{\"*\": any}]"]
    {
        assert!(ordered(shape).is_empty(), "{shape}: {:?}", ordered(shape));
    }
    for (shape, missing) in [
        ("[{id: text}]", "`depends`"),
        ("[{depends: [text]}]", "`id`"),
        ("[{id: text, depends: text}]", "`depends`"),
        ("[{name: text}]", "`id` and `depends`"),
        ("[text]", "`id` and `depends`"),
    ] {
        let said = format!("items of `docs.tasks.items` have no {missing}, so they have no order");
        assert_eq!(ordered(shape), [said], "{shape}");
    }
}

/// In a child these words are no trouble: scenarios and phases say `part.edit` there.
#[test]
fn a_child_may_call_a_state_as_a_step_is_called() {
    for word in ["edit", "facts", "verb", "others"] {
        let text = GOOD.replace("      work:", &format!("      {word}:"));
        assert_ne!(text, GOOD);
        assert_eq!(found(&text), [], "{word}");
    }
}

/// A property that names an end holds when the end is reached; one of several parts only when all of them do.
#[test]
fn properties_are_listed_when_all_of_them_holds() {
    let proved = |property: &str| {
        let text = GOOD.replace("children:\n", &format!("properties: [{property}]\nchildren:\n"));
        read(&text).workflow.map(|it| loopwright_core::check::check(&it).properties.len())
    };
    assert_eq!(proved("{always: {after: ask, comes: done}}"), Some(1));
    assert_eq!(proved("{never: {reach: done, before: tests}}"), Some(1));
    assert_eq!(proved("{never: {reach: done, before: [tests, broken]}}"), Some(0));
}

#[test]
fn a_property_says_where_nobody_looks_at_its_gate() {
    let aside = |reach: &str| {
        let text = format!("{GOOD}properties:\n  - never: {{reach: {reach}, before: \"tests = settled\"}}\n");
        let workflow = read(&text).workflow.expect("it loads");
        let proved = loopwright_core::check::check(&workflow).properties;
        proved.iter().map(|it| it.ends_with(", but for what people edit in between")).collect::<Vec<_>>()
    };
    assert_eq!(aside("done"), [false]);
    assert_eq!(aside("review"), [true]);
}
