//! The published JSON Schema is the one the code has, and it says of files what the loader's grammar says.
#![expect(clippy::disallowed_methods, reason = "a test may read files; the crate may not")]
#![expect(clippy::expect_used, clippy::panic, reason = "a test")]

mod validator;
mod yaml;

use std::fs;
use std::path::{Path, PathBuf};

use loopwright_core::language::{Folder, WORKFLOW_FILE, json_schema, load};
use loopwright_core::problem::Problem;
use serde_json::{Value, json};

use self::validator::accepts;

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

#[test]
fn the_published_schema_is_current() {
    let file = repository().join("schemas/workflow.schema.json");
    let current = format!("{}\n", serde_json::to_string_pretty(&json_schema()).expect("a schema is JSON"));
    if std::env::var_os("UPDATE_SCHEMA").is_some() {
        fs::write(&file, &current).expect("the schema can be written");
    }
    let published = fs::read_to_string(&file).unwrap_or_default();
    assert!(published == current, "schemas/workflow.schema.json is not current: run `cargo xtask schema`");
}

/// Files below a folder, by name.
fn workflows(folder: &str) -> Vec<(String, String)> {
    let mut found: Vec<(String, String)> = fs::read_dir(repository().join(folder))
        .expect("a folder")
        .map(|it| it.expect("an entry").path())
        .filter_map(|it| {
            let text = fs::read_to_string(it.join(WORKFLOW_FILE)).ok()?;
            Some((it.file_name().expect("a name").to_string_lossy().into_owned(), text))
        })
        .collect();
    found.sort();
    found
}

/// Everything the loader says of a file.
fn said(text: &str) -> Vec<Problem> {
    let files = [(WORKFLOW_FILE.to_owned(), text.as_bytes().to_vec())].into();
    load(&Folder { name: String::new(), files }).problems
}

/// What of it is about the file's form, and not about its names. What a reader takes and knows is no matter of form.
fn form(mut problems: Vec<Problem>) -> Vec<Problem> {
    let codes = ["unknown-key", "missing-key", "several-kinds", "bad-type", "bad-key", "empty"];
    problems.retain(|it| codes.contains(&it.code) && !it.message.starts_with("the reader"));
    problems
}

#[test]
fn every_built_in_and_every_example_fits() {
    let schema = json_schema();
    let built_in = workflows("workflows");
    assert!(built_in.len() >= 5, "only {} built-ins", built_in.len());
    let examples = workflows("docs/guide/examples");
    assert!(examples.len() >= 20, "only {} examples", examples.len());
    for (name, text) in built_in.iter().chain(&examples) {
        // Examples of mistakes are in the guide too; those of form do not fit.
        let fits = form(said(text)).is_empty();
        assert_eq!(accepts(&schema, &schema, &yaml::read(text)), fits, "{name}");
        assert!(fits || name.starts_with("broken-"), "{name}");
    }
}

const GOOD: &str = r#"workflow: good
about: One of everything that can be written in several ways.
subject: {name: thing, matches: "[a-z]+"}
inputs: {what: text, why: {optional: true}}
given: [inputs.what]
vars: {mode: {in: [quick, full], start: quick, input: true}}
verbs: {go: {about: Goes., takes: what, else: {say: "not now"}}}
start: {verb go: {to: work, when: {mode: quick}}}
budgets: {fixes: 2, money: 20 usd, time: {limit: {by: mode, quick: 1h, full: 2h}, keep: 10m}}
caps: {calls: 8, time: 12h, usd: 60, tokens: 5M, calls-of: {coder: 4}}
documents:
  code: {files: ["**"]}
  plan: {file: plan.yaml, as: yaml, shape: {items: [{id: text, n: int}], more: any}}
  both: {group: [code, plan]}
  list: {from: "ls", as: lines, optional: true}
phases: {working: {at: work, show: others, settles: [tests]}, over: done}
lists: {notes: {per: work}}
roles:
  coder: {agent: claude, prompt: {by: mode, quick: "Do.", full: "Do all."}, may-write: [code], costs: 2 usd, tokens: 300k}
  judge: {agent: codex, prompt: "Judge.", verdicts: {GOOD: {}, BAD: {kind: [a, b]}}, findings: {severity: [low, high]}, deny: git}
questions: {sure: {asks: "Sure?", answers: [yes, no], unattended: wait, re-ask: 2}}
facts: {tree: {in: [clean, dirty], is: "git.dirty ? 'dirty' : 'clean'", once: true}}
defaults: {failures: failed}
states:
  work: {agent: coder, timeout: 90s, then: tests}
  tests: {check: {run: make, each: 30s}, judges: code, on: {pass: review, fail: {to: work, spend: fixes, else: failed}}}
  review: {review: judge, judges: [code], on: {GOOD: each, BAD: [{when: {same-again: yes}, to: ask}, {to: failed, record: notes}]}}
  ask: {ask: sure, on: {yes: each, no | deferred | unanswered: failed}}
  each: {each: {item: it, in: docs.plan.items, run: {agent: coder}, at-most: 3}, then: which}
  which: {choose: [{when: {tree: [dirty]}, to: commit}, {to: done}]}
  commit: {needs: [tests], without: [review], do: [{commit: x, what: code}, {say: "{{subject}}"}], then: done}
  wait: {rest: "Say go.", on: {verb go: work}}
  done: {end: success}
  failed: {end: failure, says: Sorry.}
children:
  part: {vars: {kind: {in: [a], start: a}}, states: {over: {end: success}}}
properties: [{never: {reach: done, before: tests}}, {at-most: {visits: work, times: 3}}, {always: {after: work, comes: tests}}]
"#;

#[test]
fn the_good_file_fits() {
    let schema = json_schema();
    assert_eq!(form(said(GOOD)), []);
    assert!(accepts(&schema, &schema, &yaml::read(GOOD)));
}

/// Small slips that both refuse.
#[test]
fn what_the_grammar_refuses_does_not_fit() {
    let schema = json_schema();
    for (part, spoiled) in [
        ("workflow: good", "wrkflow: good"),
        ("workflow: good", "workflow: [good]"),
        ("about: One", "aboot: One"),
        ("matches: \"[a-z]+\"", "match: x"),
        ("what: text", "what: number"),
        ("why: {optional: true}", "why: {optional: perhaps}"),
        ("in: [quick, full], ", ""),
        ("input: true}}", "input: yes}}"),
        ("else: {say:", "else: {tell:"),
        ("{to: work, when", "{two: work, when"),
        ("fixes: 2,", "fixes: two,"),
        ("fixes: 2,", "fixes: -2,"),
        ("20 usd", "20 dollars"),
        ("keep: 10m", "keep: soon"),
        ("{limit: {by", "{most: {by"),
        ("calls: 8", "calls: 8.5"),
        ("calls: 8", "calls: \"8\""),
        ("time: 12h", "time: 12"),
        ("usd: 60", "usd: 60h"),
        ("tokens: 5M", "tokens: 5 usd"),
        ("files: [\"**\"]", "filez: x"),
        ("file: plan.yaml", "file: plan.yaml, files: x"),
        ("n: int", "n: number"),
        ("optional: true}\nphases", "optional: 1}\nphases"),
        ("show: others, ", ""),
        ("{per: work}", "{pre: work}"),
        ("agent: claude, ", ""),
        ("costs: 2 usd", "costs: 2"),
        ("tokens: 300k", "tokens: many"),
        ("severity: [low, high]", "severities: [low, high]"),
        ("deny: git", "deny: everything"),
        ("asks: \"Sure?\", ", ""),
        ("re-ask: 2", "re-ask: twice"),
        ("is: \"git", "iz: \"git"),
        ("once: true", "once: once"),
        ("timeout: 90s", "timeout: 90"),
        ("agent: coder, timeout", "agnet: coder, timeout"),
        ("then: tests}", "then: {tests: x}}"),
        ("check: {run: make", "check: {ruin: make"),
        ("each: 30s", "each: quickly"),
        ("check: {run", "ask: sure, check: {run"),
        ("judges: code, on", "judges: {code: x}, on"),
        ("else: failed}}}", "else: {failed: x}}}}"),
        ("at-most: 3", "at-most: three"),
        ("run: {agent: coder}", "run: {role: coder}"),
        ("which: {choose", "which: {needs: [tests], choose"),
        ("{say: \"{{subject}}\"}", "{shout: x}"),
        ("{say: \"{{subject}}\"}", "{say: {a: b}}"),
        ("end: success}\n  failed", "end: well}\n  failed"),
        ("says: Sorry.", "say: Sorry."),
        ("rest: \"Say go.\"", "rest: [a, b]"),
        ("{reach: done, before: tests}", "{reach: done}"),
        ("times: 3", "times: some"),
        ("{always:", "{often:"),
        ("states: {over:", "stats: {over:"),
    ] {
        let text = GOOD.replacen(part, spoiled, 1);
        assert_ne!(text, GOOD, "{part}");
        assert!(!said(&text).is_empty(), "the loader takes `{spoiled}`");
        assert!(!accepts(&schema, &schema, &yaml::read(&text)), "the schema takes `{spoiled}`");
    }
}

/// Every way to spoil one place of a tree, and which place.
fn spoilt(value: &Value, at: &str) -> Vec<(String, Value)> {
    let wrong = [json!(null), json!(true), json!(7), json!("a word"), json!([["x"]]), json!({"odd": {}})];
    let mut all: Vec<(String, Value)> =
        wrong.into_iter().filter(|it| it != value).map(|it| (format!("{at} is {it}"), it)).collect();
    if let Value::Array(items) = value {
        for (index, inner) in items.iter().enumerate() {
            for (what, it) in spoilt(inner, &format!("{at}[{index}]")) {
                let mut items = items.clone();
                items[index] = it;
                all.push((what, items.into()));
            }
        }
    }
    for (key, inner) in value.as_object().into_iter().flatten() {
        let mut without = value.clone();
        without.as_object_mut().and_then(|it| it.shift_remove(key));
        all.push((format!("{at}.{key} is gone"), without.clone()));
        without[format!("{key}-and-more-of-it")] = inner.clone();
        all.push((format!("{at}.{key} is called otherwise"), without));
        for (what, it) in spoilt(inner, &format!("{at}.{key}")) {
            let mut value = value.clone();
            value[key] = it;
            all.push((what, value));
        }
    }
    all
}

/// The schema and the grammar are printed from the same shapes. Here they are held against each other at every place
/// of a file: one refuses what the other refuses. (JSON is YAML, so both can read the same text.)
#[test]
fn schema_and_grammar_agree_at_every_place() {
    let schema = json_schema();
    let all = spoilt(&yaml::read(GOOD), "");
    assert!(all.len() > 1_000, "only {}", all.len());
    let mut apart = Vec::new();
    for (what, value) in &all {
        let said = said(&value.to_string());
        // A schema can say of words only what can be said without knowing the file.
        let misnamed = said.iter().any(|it| matches!(it.code, "bad-name" | "bad-value"));
        let form = form(said);
        let fits = accepts(&schema, &schema, value);
        if fits && !form.is_empty() || !fits && form.is_empty() && !misnamed {
            apart.push(format!("{what}: the schema says {fits}, the grammar {form:?}"));
        }
    }
    assert!(apart.is_empty(), "{} of {}:\n{}", apart.len(), all.len(), apart.join("\n"));
}
