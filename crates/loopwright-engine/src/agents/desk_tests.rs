//! What is taken at the desk, and what is not.
#![expect(clippy::expect_used, reason = "these are tests")]

use loopwright_core::definition::{Fields, Findings, Outcomes};
use loopwright_core::name::Name;

use super::*;

fn outcomes(words: &[&str]) -> Outcomes {
    words.iter().map(|it| (Name::from(*it), Fields::default())).collect()
}

/// Says something at a desk, as whoever serves the tools does.
fn say(desk: &Desk<'_>, request: &Value) -> Value {
    let visitor = UnixStream::connect(&desk.socket).expect("a desk");
    writeln!(&visitor, "{request}").expect("it listens");
    let mut reply = String::new();
    BufReader::new(&visitor).read_line(&mut reply).expect("it answers");
    serde_json::from_str(&reply).expect("JSON")
}

fn call(desk: &Desk<'_>, tool: &str, arguments: &Value) -> Value {
    say(desk, &json!({"token": desk.token, "call": tool, "arguments": arguments}))
}

#[test]
fn the_first_answer_that_is_one_is_taken_and_no_other() {
    let (verdicts, severity) = (outcomes(&["GOOD", "BAD"]), vec!["bad".into()]);
    let findings = Findings { severity, ..Findings::default() };
    let wanted = Wanted { verdicts: &verdicts, findings: Some(&findings), asks: false, returns: None };
    let desk = Desk::open(&wanted, Documents::new()).expect("a desk");
    desk.during(|| {
        let finding = json!({"severity": "bad", "text": "wrong", "line": 3});
        let cases = [
            (
                "create_review",
                json!({"verdict": "BAD", "summary": "x", "findings": []}),
                true,
                "needs a finding",
            ),
            ("create_review", json!({"verdict": "FINE"}), true, "is no verdict"),
            ("create_review", json!("GOOD"), true, "is no verdict"),
            ("submit", json!({"verdict": "GOOD"}), true, "no tool `submit`"),
            ("ask_person", json!({"question": "Which?"}), true, "no tool `ask_person`"),
            (
                "create_review",
                json!({"verdict": "BAD", "summary": "x", "findings": [finding]}),
                false,
                "Taken: BAD",
            ),
            ("create_review", json!({"verdict": "GOOD", "summary": "y", "findings": []}), true, "it stands"),
        ];
        for (tool, arguments, refused, words) in cases {
            let reply = call(&desk, tool, &arguments);
            assert_eq!(reply["refused"], refused, "{arguments}: {reply}");
            assert!(reply["text"].as_str().is_some_and(|it| it.contains(words)), "{arguments}: {reply}");
        }
    });
    let answer = desk.answer().expect("an answer");
    assert_eq!((&*answer.signal, answer.findings.len()), ("BAD", 1));
}

#[test]
fn who_has_no_token_of_this_call_is_not_heard() {
    let verdicts = outcomes(&["done"]);
    let wanted = Wanted { verdicts: &verdicts, findings: None, asks: false, returns: None };
    let [desk, other] = [(), ()].map(|()| Desk::open(&wanted, Documents::new()).expect("a desk"));
    desk.during(|| {
        for token in [json!(other.token), json!(""), Value::Null, json!([desk.token])] {
            let request = json!({"token": token, "call": "submit", "arguments": {"verdict": "done"}});
            assert!(say(&desk, &request)["error"].is_string(), "{request}");
            assert!(say(&desk, &json!({"token": token, "want": "tools"}))["error"].is_string());
        }
    });
    assert_eq!(desk.answer(), None);
}

#[test]
fn after_the_call_nobody_is_heard() {
    let verdicts = outcomes(&["done"]);
    let wanted = Wanted { verdicts: &verdicts, findings: None, asks: false, returns: None };
    let desk = Desk::open(&wanted, Documents::new()).expect("a desk");
    let visitor = desk.during(|| UnixStream::connect(&desk.socket).expect("a desk"));
    let request = json!({"token": desk.token, "call": "submit", "arguments": {"verdict": "done"}});
    // It may be told that nobody listens, or hear nothing; taken it is not.
    let _ = writeln!(&visitor, "{request}");
    drop(visitor);
    assert_eq!(desk.answer(), None);
    let socket = desk.socket.clone();
    drop(desk);
    assert!(UnixStream::connect(socket).is_err(), "somebody is still there");
}

#[test]
fn documents_can_be_read_and_nothing_else() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("plan.md");
    std::fs::write(&file, "# Plan\n").expect("a file");
    let verdicts = outcomes(&["done"]);
    let wanted = Wanted { verdicts: &verdicts, findings: None, asks: true, returns: None };
    let documents = Documents::from([("plan".to_owned(), vec![file]), ("spec".to_owned(), Vec::new())]);
    let desk = Desk::open(&wanted, documents).expect("a desk");
    desk.during(|| {
        let tools = say(&desk, &json!({"token": desk.token, "want": "tools"}));
        let names: Vec<&str> =
            tools["tools"].as_array().expect("tools").iter().filter_map(|it| it["name"].as_str()).collect();
        assert_eq!(names, ["submit", "ask_person", "list_documents", "read_document"]);
        let read = |name: &str| call(&desk, "read_document", &json!({"name": name}));
        assert!(read("plan")["text"].as_str().is_some_and(|it| it.contains("# Plan")));
        assert_eq!(read("spec")["text"], "it is not there");
        assert_eq!(read("/etc/passwd")["refused"], true);
        let asked = call(&desk, "ask_person", &json!({"question": "Which?"}));
        assert_eq!(asked["refused"], false, "{asked}");
    });
    assert_eq!(
        desk.answer().map(|it| (it.signal.to_string(), it.question)),
        Some(("ASK".into(), "Which?".into()))
    );
}
