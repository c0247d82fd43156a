//! What a call comes to: what was handed in, what was only said, and what became of the agent.

use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use loopwright_core::machine::{Event, Evidence};
use loopwright_engine::agents::{Agent, Call, Reply, Session};
use loopwright_engine::process::{Cancel, Supervisor};
use loopwright_engine::{Begin, Engine};
use serde_json::{Value, json};

use crate::bench::{Bench, run, workflow};

const WORKFLOW: &str = r#"
workflow: handed
subject: thing
documents: {code: {files: ["src/**"]}}
roles: {coder: {agent: coder, prompt: "Write.", may-write: [code], verdicts: [OK, BLOCKED]}}
states:
  write: {agent: coder, on: {OK: done, BLOCKED: done, failures: done}}
  done: {end: success}
"#;

/// What an agent does when it is called: what it hands in, and how it comes back.
#[derive(Clone, Default)]
struct Does {
    hands_in: Option<Value>,
    reply: Reply,
}

/// An agent that does one thing after the other, and the last for ever.
struct Plays {
    parts: Vec<Does>,
    calls: AtomicUsize,
    asked: Mutex<Vec<(Option<String>, bool)>>,
}

impl Agent for Plays {
    fn missing(&self, _: &Path) -> Option<String> {
        None
    }

    fn takes_tools(&self) -> bool {
        true
    }

    fn call(&self, call: &Call, _: &Supervisor, _: &Cancel) -> std::io::Result<Reply> {
        let at = self.calls.fetch_add(1, Ordering::SeqCst);
        let part = &self.parts[at.min(self.parts.len() - 1)];
        let session = call.session.as_ref().map(|it| it.id.clone());
        self.asked.lock().expect("calls").push((session, call.schema.is_some()));
        if let Some(answer) = &part.hands_in {
            hand_in(call, answer);
        }
        Ok(part.reply.clone())
    }
}

/// Hands something in as whoever serves the tools does.
fn hand_in(call: &Call, answer: &Value) {
    let tools = call.tools.as_ref().expect("tools");
    let said =
        |name: &str| tools.environment.iter().find(|(it, _)| it == name).expect("it is said").1.clone();
    let desk = UnixStream::connect(said("LOOPWRIGHT_DESK")).expect("a desk");
    let request = json!({"token": said("LOOPWRIGHT_TOKEN"), "call": "submit", "arguments": answer});
    writeln!(&desk, "{request}").expect("it listens");
    BufReader::new(&desk).read_line(&mut String::new()).expect("it answers");
}

/// What the call came to, what was said of it, and how often the agent was called.
fn played(parts: Vec<Does>) -> (String, String, Vec<(Option<String>, bool)>) {
    let bench = Bench::with(&[("a", "a\n")]);
    let plays = Arc::new(Plays { parts, calls: AtomicUsize::new(0), asked: Mutex::default() });
    let mut engine: Engine = bench.engine(&[]);
    engine.crew.agents.insert("coder".into(), Arc::clone(&plays) as Arc<dyn Agent>);
    let begin = Begin { subject: "it".into(), ..Begin::default() };
    let (name, _) = run(&engine, &workflow(WORKFLOW), &begin).expect("it runs");
    let events = engine.journal.events(&name, 0).expect("events");
    let came = events.iter().find_map(|it| match &it.event {
        Event::Settled { evidence: Evidence::Out(it), .. } => {
            Some((it.signal.to_string(), it.summary.clone()))
        }
        Event::PutOff { why, .. } => Some(("put off".to_owned(), why.clone())),
        _ => None,
    });
    let (signal, summary) = came.expect("it came to something");
    let asked = plays.asked.lock().expect("calls").clone();
    (signal, summary, asked)
}

fn failed(signal: &'static str) -> Reply {
    Reply { failed: Some((signal, "it fell over".to_owned())), ..Reply::default() }
}

fn says(text: &str) -> Reply {
    let session = Some(Session { id: "s".to_owned(), state: Value::Null });
    Reply { text: text.to_owned(), session, ..Reply::default() }
}

fn ok() -> Value {
    json!({"verdict": "OK", "summary": "as told"})
}

#[test]
fn what_was_handed_in_counts_however_the_agent_ends() {
    let limited = Reply { limited: Some(Duration::from_hours(1)), ..Reply::default() };
    for (reply, signal, words) in [
        (says("Done."), "OK", "as told"),
        (failed("crashed"), "OK", "after that, it fell over"),
        (failed("timeout"), "OK", "after that, it fell over"),
        (limited, "OK", "as told"),
        (failed("cancelled"), "cancelled", "it fell over"),
    ] {
        let (came, said, _) = played(vec![Does { hands_in: Some(ok()), reply: reply.clone() }]);
        assert_eq!(came, signal, "{reply:?}");
        assert!(said.contains(words), "{reply:?}: {said}");
    }
}

#[test]
fn what_is_only_said_counts_if_it_is_an_answer() {
    let block = "```json\n{\"verdict\": \"BLOCKED\", \"summary\": \"no\"}\n```";
    let data = Reply {
        structured: Some(json!({"verdict": "OK", "summary": "data", "question": null})),
        ..Reply::default()
    };
    let not = Reply { structured: Some(json!({"verdict": "FINE"})), ..Reply::default() };
    let denied = Reply { denied: vec!["to write `a`".to_owned()], ..Reply::default() };
    for (reply, signal, words) in [
        (says(block), "BLOCKED", "no"),
        (data, "OK", "data"),
        (not, "malformed", "`FINE` is no verdict"),
        (Reply { text: "It is all OK.".to_owned(), ..Reply::default() }, "malformed", "no block of JSON"),
        (denied, "denied", "it was not allowed to write `a`"),
        (failed("crashed"), "crashed", "it fell over"),
        (failed("over-budget"), "refused", "it fell over"),
    ] {
        let (came, said, _) = played(vec![Does { hands_in: None, reply: reply.clone() }]);
        assert_eq!(came, signal, "{reply:?}");
        assert!(said.contains(words), "{reply:?}: {said}");
    }
}

#[test]
fn an_answer_that_cannot_be_taken_is_asked_for_twice_more_in_its_session() {
    let prose = Does { hands_in: None, reply: says("It is OK.") };
    let good = Does { hands_in: Some(ok()), reply: says("Done.") };
    let (came, _, asked) = played(vec![prose.clone(), prose.clone(), good]);
    let again = (Some("s".to_owned()), true);
    assert_eq!((came.as_str(), asked), ("OK", vec![(None, false), again.clone(), again.clone()]));
    let (came, _, asked) = played(vec![prose.clone()]);
    assert_eq!((came.as_str(), asked.len()), ("malformed", 3));
    // Where asking again fails, the answer is still one that could not be taken.
    let gone = Does { hands_in: None, reply: failed("crashed") };
    let (came, said, asked) = played(vec![prose, gone]);
    assert_eq!((came.as_str(), asked.len()), ("malformed", 2), "{said}");
    assert!(said.contains("no block of JSON") && said.contains("it fell over"), "{said}");
    // What was wrong with what was handed in is the reason, and not that nothing was said besides.
    let nonsense = Does { hands_in: Some(json!({"verdict": "FINE"})), reply: says("Done.") };
    let (came, said, _) = played(vec![nonsense]);
    assert_eq!(came, "malformed");
    assert!(said.contains("what it handed in was not taken: `FINE` is no verdict"), "{said}");
    // What a refused answer hands in later counts.
    let bad = Does { hands_in: Some(json!({"verdict": "FINE"})), reply: says("Done.") };
    let (came, _, asked) = played(vec![bad, Does { hands_in: Some(ok()), reply: says("Done.") }]);
    assert_eq!((came.as_str(), asked.len()), ("OK", 2));
}
