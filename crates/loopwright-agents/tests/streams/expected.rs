//! Every stream comes to what the table says.

use std::collections::BTreeSet;

use loopwright_agents::streams::acp::acp;
use loopwright_agents::streams::{End, Failed, Said, Usage, named};
use serde::Deserialize;
use serde_json::{Value, json};

use super::{Capture, captures, folder};

/// What a stream comes to.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Row {
    pub capture: String,
    pub dialect: String,
    /// An exit code, or `timeout`.
    end: Value,
    /// It was written by hand: nobody has seen it come from an agent here.
    #[serde(default)]
    pub written: bool,
    /// What the session had used before.
    #[serde(default)]
    before: Counted,
    pub failed: Option<Failure>,
    /// The answer, or with `…` at the end how it begins.
    text: String,
    #[serde(default)]
    structured: Option<Value>,
    session: bool,
    usage: Counted,
    denied: usize,
}

#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Failure {
    pub kind: String,
    until: Option<u64>,
    lasts: Option<u64>,
}

#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Counted {
    input: Option<u64>,
    cached: Option<u64>,
    output: Option<u64>,
    money: Option<u64>,
}

impl From<Counted> for Usage {
    fn from(it: Counted) -> Self {
        Self { input: it.input, cached: it.cached, output: it.output, money: it.money }
    }
}

impl Row {
    pub fn end(&self) -> End {
        match self.end.as_i64() {
            Some(code) => End::Exit(code.try_into().unwrap()),
            None if self.end == "timeout" => End::Timeout,
            None => panic!("{}: no such end", self.end),
        }
    }

    pub fn said(&self, stream: &Capture) -> Said {
        stream.said(&self.dialect, self.before.into(), self.end())
    }
}

pub fn table() -> Vec<Row> {
    serde_json::from_str(&std::fs::read_to_string(folder().join("expected.json")).unwrap()).unwrap()
}

pub fn failure(failed: Failed) -> Failure {
    let (kind, why) = match failed {
        Failed::Limited { why, until, lasts } => {
            assert!(!why.is_empty());
            return Failure { kind: "limited".to_owned(), until, lasts };
        }
        Failed::Crashed(why) => ("crashed", why),
        Failed::Refused(why) => ("refused", why),
        Failed::Denied(why) => ("denied", why),
        Failed::OverBudget(why) => ("over-budget", why),
        Failed::Timeout => ("timeout", "-".to_owned()),
        Failed::Stalled => ("stalled", "-".to_owned()),
        Failed::Cancelled => ("cancelled", "-".to_owned()),
    };
    assert!(!why.is_empty(), "{kind} for no reason");
    Failure { kind: kind.to_owned(), until: None, lasts: None }
}

#[test]
fn every_capture_has_a_row_and_every_row_a_capture() {
    let rows = table();
    let named: BTreeSet<String> = rows.iter().map(|it| it.capture.clone()).collect();
    assert_eq!(named.len(), rows.len(), "a capture has two rows");
    assert_eq!(named, captures());
    for row in rows {
        assert_eq!(row.written, row.capture.starts_with("written-"), "{}", row.capture);
    }
}

#[test]
fn every_stream_comes_to_what_the_table_says() {
    let mut wrong = Vec::new();
    for row in table() {
        let said = row.said(&Capture::named(&row.capture));
        let whole = format!("{said:#?}");
        let is_text = match row.text.strip_suffix('…') {
            Some(beginning) => said.text.starts_with(beginning),
            None => said.text == row.text,
        };
        let checks = [
            ("failed", said.failed.map(failure) == row.failed),
            ("text", is_text),
            ("structured", said.structured == row.structured),
            ("session", said.session.is_some() == row.session),
            ("usage", said.usage == row.usage.into()),
            ("denied", said.denied.len() == row.denied && said.denied.iter().all(|it| !it.is_empty())),
        ];
        let failed: Vec<&str> =
            checks.into_iter().filter(|(_, holds)| !holds).map(|(what, _)| what).collect();
        if !failed.is_empty() {
            wrong.push(format!("{}: {failed:?}\n{whole}\n{row:?}", row.capture));
        }
    }
    assert!(wrong.is_empty(), "{} streams:\n{}", wrong.len(), wrong.join("\n\n"));
}

#[test]
fn whoever_ended_an_agent_knows_why() {
    for row in table() {
        let stream = Capture::named(&row.capture);
        for (end, failed) in [
            (End::Timeout, Failed::Timeout),
            (End::Stalled, Failed::Stalled),
            (End::Cancelled, Failed::Cancelled),
        ] {
            assert_eq!(
                stream.said(&row.dialect, Usage::default(), end).failed,
                Some(failed),
                "{}",
                row.capture
            );
        }
    }
}

#[test]
fn no_native_stream_is_believed_without_its_end() {
    for row in table().into_iter().filter(|it| it.dialect != "acp") {
        let stream = Capture::named(&row.capture);
        let count = stream.lines.lines().count();
        if row.failed.is_some() || count < 2 {
            continue;
        }
        let lines: Vec<&str> = stream.lines.lines().take(count - 1).collect();
        let cut = Capture { lines: lines.join("\n"), ..stream.clone() };
        let kind = row.said(&cut).failed.map(|it| failure(it).kind);
        assert_eq!(kind.as_deref(), Some("crashed"), "{}", row.capture);
    }
}

#[test]
fn an_exit_code_other_than_zero_is_a_failure_whatever_was_said() {
    for row in table().into_iter().filter(|it| it.dialect != "acp" && it.failed.is_none()) {
        let stream = Capture::named(&row.capture);
        for code in [1, 2, 137, 143] {
            let said = stream.said(&row.dialect, Usage::default(), End::Exit(code));
            assert!(said.failed.is_some(), "{} {code}", row.capture);
        }
    }
}

#[test]
fn the_lines_of_an_agent_alone_tell_how_a_prompt_ended() {
    // What is replayed, and what was not allowed, is known only from what the client sent.
    let told = |it: &Row| {
        it.dialect == "acp" && !it.capture.contains("load") && !it.capture.contains("other-client")
    };
    for row in table().into_iter().filter(told) {
        let mut reader = named("acp").unwrap();
        for line in Capture::named(&row.capture).lines.lines() {
            let line: Value = serde_json::from_str(line).unwrap();
            if line["dir"] == "in" {
                reader.line(&line["msg"].to_string());
            }
        }
        assert_eq!(reader.over(row.end(), "").failed.map(failure), row.failed, "{}", row.capture);
    }
}

#[test]
fn each_prompt_of_a_connection_is_told_from_the_one_before() {
    let done = "Done. {\"verdict\":\"pass\",\"summary\":\"all good\"}";
    let of = |calls: u64| (Some(120 * calls), Some(25 * calls));
    // Copilot counts tokens and Claude money for the whole connection.
    for (name, first, second) in [
        ("acp-copilot-edit", (of(2), None), (of(1), None)),
        ("acp-claude-edit", (of(2), Some(2270)), (of(2), Some(2270))),
    ] {
        let mut reader = acp(Usage::default());
        let mut said = Vec::new();
        for line in Capture::named(name).lines.lines() {
            let line: Value = serde_json::from_str(line).unwrap();
            if line["dir"] == "out" {
                reader.sent(&line["msg"]);
                continue;
            }
            let was_answered = reader.is_answered();
            reader.message(&line["msg"]);
            if reader.is_answered() && !was_answered {
                said.push(reader.said(End::Exit(0), ""));
            }
        }
        let used: Vec<_> =
            said.iter().map(|it| ((it.usage.input, it.usage.output), it.usage.money)).collect();
        assert_eq!(used, [first, second], "{name}");
        assert_eq!(said[0].text, done, "{name}");
        assert_ne!(said[1].text, done, "{name}");
    }
}

#[test]
fn an_agent_that_leaves_is_told_by_what_it_did_not_answer() {
    let crashed = |why: &str| Failed::Crashed(why.to_owned());
    let asked = json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize" });
    let no_mode = Failed::Refused("no such mode".to_owned());
    for (code, errors, given_up, failed) in [
        (0, "", None, crashed("the agent left before it answered `initialize`")),
        (3, "it fell", None, Failed::Crashed("it fell".to_owned())),
        (3, "", None, crashed("exit code 3 before it answered `initialize`")),
        (137, "", None, crashed("ended by signal 9 before it answered `initialize`")),
        (1, "Please log in again", None, Failed::Denied("Please log in again".to_owned())),
        (0, "Please log in again", Some(no_mode.clone()), no_mode.clone()),
    ] {
        let mut reader = acp(Usage::default());
        reader.sent(&asked);
        if let Some(why) = given_up {
            reader.gives_up(why);
        }
        assert_eq!(reader.said(End::Exit(code), errors).failed, Some(failed), "{code} {errors}");
    }
    // What the agent says itself counts more than why the client went no further.
    let mut reader = acp(Usage::default());
    reader.sent(&asked);
    reader.message(&json!({ "jsonrpc": "2.0", "id": 1, "error": { "code": 401, "message": "bad key" } }));
    reader.gives_up(no_mode);
    assert_eq!(reader.said(End::Exit(0), "").failed, Some(Failed::Denied("bad key".to_owned())));
}

#[test]
fn only_dialects_there_are_have_readers() {
    assert!(named("claude").is_some());
    assert!(["", "Claude", "cursor"].iter().all(|it| named(it).is_none()));
}

#[test]
fn keys_may_come_in_any_order() {
    for row in table() {
        let stream = Capture::named(&row.capture);
        let lines = stream.lines.lines().map(|line| match serde_json::from_str::<Value>(line) {
            Ok(value) => reversed(value).to_string(),
            Err(_) => line.to_owned(),
        });
        let turned = Capture { lines: lines.collect::<Vec<_>>().join("\n"), errors: stream.errors.clone() };
        let (mut one, mut other) = (row.said(&stream), row.said(&turned));
        // What was wanted is kept as it was written.
        one.denied.clear();
        other.denied.clear();
        assert_eq!(one, other, "{}", row.capture);
    }
}

fn reversed(value: Value) -> Value {
    match value {
        Value::Object(fields) => {
            fields.into_iter().rev().map(|(key, value)| (key, reversed(value))).collect()
        }
        Value::Array(items) => items.into_iter().map(reversed).collect(),
        other => other,
    }
}
