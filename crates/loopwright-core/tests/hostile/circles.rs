//! Things that lead to themselves.

use crate::{END, around, examine, refused};

#[test]
fn groups_of_themselves() {
    let role = "roles: {r: {agent: a, prompt: p, may-write: [x, y, z]}}\ndefaults: {failures: e}";
    let states = format!(
        "  w: {{agent: r, then: t}}\n  t: {{check: {{run: c}}, judges: [x, y], on: {{pass: d, fail: e}}}}\n{END}"
    );
    refused(
        &around(
            &format!("documents: {{x: {{group: [x]}}, y: {{group: [z]}}, z: {{group: [y]}}}}\n{role}"),
            &states,
        ),
        "nested-group",
    );
    examine(&around(
        &format!("documents: {{x: {{group: []}}, y: {{group: [y, y, y]}}, z: {{group: [nothing]}}}}\n{role}"),
        &states,
    ));
}

#[test]
fn tables_by_nothing() {
    for table in [
        "{by: nothing, a: r}",
        "{by: ~}",
        "{by: []}",
        "{by: {by: m}}",
        "{by: m}",
        "{by: m, x: r}",
        "{by: m, a: {by: m, a: r}}",
        "{by: by, by: r}",
    ] {
        let said = examine(&around(
            "vars: {m: {in: [a, b], start: a, input: true}}\nroles: {r: {agent: a, prompt: p}}\ndefaults: {failures: e}",
            &format!("  w: {{agent: {table}, then: d}}\n{END}"),
        ));
        assert!(!said.is_proved(), "{table} names a role");
        for key in ["prompt", "given", "may-write", "produces", "needs"] {
            examine(&around(
                "vars: {m: {in: [a, b], start: a, input: true}}\nroles: {r: {agent: a, prompt: p}}\ndefaults: {failures: e}",
                &format!("  w: {{agent: r, {key}: {table}, then: d}}\n{END}"),
            ));
        }
    }
    examine(&around(
        "vars: {m: {in: [], start: x}}\nroles: {r: {agent: a, prompt: {by: m}}}\ndefaults: {failures: e}",
        &format!("  w: {{agent: {{by: m}}, then: d}}\n{END}"),
    ));
}

const CHILD_OF_ITSELF: &str = "  w: {each: {item: i, in: docs.l.items, run: c}, on: {d: d, e | failures: e}}\n  d: {end: success}\n  e: {end: failure}\nchildren:
  c:
    states:
      w: {each: {item: i, in: docs.l.items, run: c}, on: {d: d, e | failures: e}}
      d: {end: success}
      e: {end: failure}
";
/// One that were walked would take the stack, and with it the whole process.
#[test]
fn a_child_that_runs_itself() {
    let documents = "documents: {l: {file: l.yaml, as: yaml, shape: {items: [any]}}}";
    refused(&around(documents, CHILD_OF_ITSELF), "nested-children");
}

#[test]
fn states_that_lead_only_to_themselves() {
    refused(&around("", "  a: {choose: [{to: a}]}\n"), "endless");
    refused(&around("", "  a: {choose: [{to: b}]}\n  b: {choose: [{to: a}]}\n"), "endless");
    refused(&around("verbs: {go: {}}", "  a: {rest: x, on: {verb go: a}}\n"), "trapped");
    refused(&around("", "  a: {choose: []}\n"), "unrouted");
    refused(&around("start: nowhere", &format!("  a: {{choose: [{{to: d}}]}}\n{END}")), "unknown-name");
    let said = examine(&around("start: {}", &format!("  a: {{choose: [{{to: d}}]}}\n{END}")));
    assert!(!said.is_proved(), "a run that cannot begin");
}
