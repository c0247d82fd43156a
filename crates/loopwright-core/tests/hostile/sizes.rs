//! Very many, very much, and just too much.

use crate::{END, GOOD, around, examine, refused};

#[test]
fn five_thousand_states() {
    let chain = (0..5_000)
        .fold(String::new(), |text, at| text + &format!("  s{at}: {{choose: [{{to: s{}}}]}}\n", at + 1));
    assert!(examine(&around("", &format!("{chain}  s5000: {{end: success}}\n"))).is_proved());
    let apart = (0..5_000).fold(String::new(), |text, at| text + &format!("  s{at}: {{end: success}}\n"));
    let said = refused(&around("", &apart), "unreachable");
    assert_eq!(said.problems.len(), 4_999);
}

/// Each number within its limit, and all of them together too much: what was not walked is neither missing nor bounded.
#[test]
fn what_was_not_walked_is_not_claimed() {
    let each =
        |most: usize, text: &dyn Fn(usize) -> String| (0..most).map(text).collect::<Vec<_>>().join(", ");
    let vars = each(12, &|at| format!("v{at}: {{in: [a, b], start: a, input: true}}"));
    let facts = each(11, &|at| format!("f{at}: {{in: [a, b], is: \"git.dirty ? 'a' : 'b'\"}}"));
    let arms = each(11, &|at| format!("{{when: {{v{at}: b, f{at}: b}}, to: d}}"));
    let last = "{when: {v11: b}, to: d}";
    let text = around(
        &format!("vars: {{{vars}}}\nfacts: {{{facts}}}"),
        &format!("  c: {{choose: [{arms}, {last}, {{to: e}}]}}\n{END}"),
    );
    let said = refused(&text, "too-large");
    for absent in ["never-taken", "unreachable", "vacuous", "trapped"] {
        assert!(!said.codes().contains(absent), "{:?}", said.codes());
    }
    let report = said.report.expect("a report");
    assert!(report.worst.is_none() && report.ends_because.is_none(), "nothing bounds what was not walked");
}

/// More places to be than can be listed: said so, instead of tried.
#[test]
fn more_positions_than_can_be_listed() {
    let names = |prefix: &str, most: usize| (0..most).map(|at| format!("{prefix}{at}")).collect::<Vec<_>>();
    let roots = around(
        &format!(
            "vars: {{{}}}",
            names("v", 20)
                .iter()
                .map(|it| format!("{it}: {{in: [a, b, c], start: a, input: true}}"))
                .collect::<Vec<_>>()
                .join(", ")
        ),
        &format!(
            "  c: {{choose: [{}, {{to: e}}]}}\n{END}",
            names("v", 20)
                .iter()
                .map(|it| format!("{{when: {{{it}: b}}, to: d}}"))
                .collect::<Vec<_>>()
                .join(", ")
        ),
    );
    refused(&roots, "too-large");
    let facts = around(
        &format!(
            "facts: {{{}}}",
            names("f", 14)
                .iter()
                .map(|it| format!("{it}: {{in: [a, b], is: \"git.dirty ? 'a' : 'b'\"}}"))
                .collect::<Vec<_>>()
                .join(", ")
        ),
        &format!(
            "  c: {{choose: [{}, {{to: e}}]}}\n{END}",
            names("f", 14)
                .iter()
                .map(|it| format!("{{when: {{{it}: b}}, to: d}}"))
                .collect::<Vec<_>>()
                .join(", ")
        ),
    );
    refused(&facts, "too-wide");
    let one_each = |most: usize, text: &dyn Fn(usize) -> String| (0..most).map(text).collect::<String>();
    let gates = around(
        &format!("documents:\n{}", one_each(9, &|at| format!("  d{at}: {{files: [\"d{at}/**\"]}}\n"))),
        &format!(
            "  owed: {{settle: [{}], then: wait}}\n{}  wait: {{rest: ready, on: {{verb resume: look}}}}\n  look: \
             {{choose: [{}{{to: e}}]}}\n{END}",
            names("t", 9).join(", "),
            one_each(9, &|at| format!(
                "  t{at}: {{check: project.test, judges: d{at}, on: {{pass: owed, fail: e, failures: e}}}}\n"
            )),
            one_each(9, &|at| format!("{{when: {{gate.t{at}: stale}}, to: owed}}, ")),
        ),
    );
    refused(&gates, "too-wide");
    let documents = one_each(121, &|at| format!("  d{at}: {{file: \"d{at}.md\"}}\n"));
    refused(&GOOD.replace("documents:\n", &format!("documents:\n{documents}")), "too-many-documents");
}

#[test]
fn limits_at_the_edge() {
    let limit = |limit: &str| GOOD.replace("fixes: 2", &format!("fixes: {limit}"));
    for number in ["18446744073709551615", "4294967296", "0"] {
        examine(&limit(number));
    }
    for number in ["18446744073709551616", "-1", "1.5", "0x10", "1e3", "١", "\"\"", "~", "[]", "1_000"] {
        assert!(!examine(&limit(number)).is_proved(), "{number} is taken for a number of times");
    }
    for times in ["0", "1", "4294967295", "4294967296"] {
        examine(&format!("{GOOD}properties:\n  - at-most: {{visits: work, times: {times}}}\n"));
    }
}

fn capped(caps: &str) -> String {
    let priced = "may-write: [code], costs: 2 usd, tokens: 300k";
    GOOD.replace("budgets:", &format!("caps: {caps}\nbudgets:")).replace("may-write: [code]", priced)
}

#[test]
fn caps_at_the_edge() {
    for text in [
        "{usd: 0}",
        "{usd: 18446744073709551615 usd}",
        "{tokens: 18446744073709551615}",
        "{tokens: 99999999999999999999M}",
        "{time: 99999999999999999999h}",
        "{time: 0s}",
        "{calls: 4294967295}",
        "{calls: 4294967296}",
    ] {
        examine(&capped(text));
    }
}

#[test]
fn more_money_than_there_is() {
    examine(&capped("{usd: 18446744073709551615}"));
}

#[test]
fn prices_and_times_at_the_edge() {
    for price in
        ["18446744073709551615 usd", "1e400 usd", "-5 usd", "NaN usd", "inf usd", "0.00000000001 usd"]
    {
        examine(&capped("{usd: 60}").replace("2 usd", price));
    }
    for price in ["-5 usd", "NaN usd", "inf usd"] {
        assert!(
            !examine(&capped("{usd: 60}").replace("2 usd", price)).is_proved(),
            "{price} is taken for a price"
        );
    }
    for time in
        ["99999999999999999999h", "500000000000d", "-1s", "NaNs", "infh", "1e308d", "0s", "s", "1 s", ""]
    {
        examine(&GOOD.replace("may-write: [code]", &format!("may-write: [code], timeout: \"{time}\"")));
    }
}

/// What a thing is counted in is part of the number.
#[test]
fn a_unit_of_something_else() {
    let wrong = [
        ("{usd: 2h}", "2 usd"),
        ("{usd: 200k}", "2 usd"),
        ("{tokens: 5 usd}", "2 usd"),
        ("{tokens: 2h}", "2 usd"),
        ("{usd: 60}", "2h"),
        ("{usd: 60}", "300k"),
        ("{usd: 60}", "2"),
    ];
    let taken: Vec<_> = wrong
        .iter()
        .filter(|(caps, price)| examine(&capped(caps).replace("2 usd", price)).is_proved())
        .collect();
    assert!(taken.is_empty(), "taken for money or tokens (caps, costs): {taken:?}");
}
