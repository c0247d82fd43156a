//! Agents that say very much.

use std::io::{self, Read, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};

use loopwright_agents::acp::{Turn, Way, converse};
use loopwright_agents::streams::{End, Failed};
use serde_json::{Value, json};

use crate::player::{play, turn};

/// An agent without a pipe in between, so that nothing but ourselves holds it back.
struct Talker {
    asked: Receiver<Value>,
    now: Vec<u8>,
    from: usize,
    /// How much it was let say so far.
    given: Arc<AtomicUsize>,
    step: usize,
    lines: usize,
}

struct Ear {
    line: Vec<u8>,
    asked: Sender<Value>,
}

impl Write for Ear {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.line.extend_from_slice(bytes);
        while let Some(end) = self.line.iter().position(|byte| *byte == b'\n') {
            let line: Vec<u8> = self.line.drain(..=end).collect();
            let message: Value = serde_json::from_slice(&line).unwrap();
            if message.get("method").is_some() {
                drop(self.asked.send(message));
            }
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A line of the flood: now and then something else than words.
fn line(number: usize) -> Value {
    let text = format!("{number} {}", "ä".repeat(30_000));
    // The last half is words that nothing parts from the next ones. They must not pile up either.
    let parts = number < 1_000;
    let update = match number % 100 {
        7 if parts => {
            json!({ "sessionUpdate": "tool_call", "toolCallId": text, "title": text, "kind": text, "rawInput": { "server": text } })
        }
        13 => json!({ "sessionUpdate": "tool_call_update", "toolCallId": "c", "content": text }),
        _ => {
            json!({ "sessionUpdate": "agent_message_chunk", "content": { "type": "text", "text": text }, "messageId": "m" })
        }
    };
    let params = json!({ "sessionId": "s", "update": update });
    if parts && number % 20 == 10 {
        let call = json!({ "toolCallId": text, "title": text, "kind": "edit" });
        let params = json!({ "sessionId": "s", "toolCall": call, "options": [] });
        return json!({ "jsonrpc": "2.0", "id": number, "method": "session/request_permission", "params": params });
    }
    json!({ "jsonrpc": "2.0", "method": "session/update", "params": params })
}

impl Talker {
    fn next(&mut self) -> Option<Value> {
        self.step += 1;
        let answer = |id: &Value, result: Value| json!({ "jsonrpc": "2.0", "id": id, "result": result });
        match self.step {
            1 => Some(answer(
                &self.asked.recv().unwrap()["id"],
                json!({ "protocolVersion": 1, "agentCapabilities": {} }),
            )),
            2 => Some(answer(&self.asked.recv().unwrap()["id"], json!({ "sessionId": "s" }))),
            step if step < self.lines => Some(line(step)),
            step if step == self.lines => {
                Some(answer(&self.asked.recv().unwrap()["id"], json!({ "stopReason": "end_turn" })))
            }
            _ => None,
        }
    }
}

impl Read for Talker {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.from == self.now.len() {
            let Some(message) = self.next() else { return Ok(0) };
            self.now = format!("{message}\n").into_bytes();
            self.from = 0;
        }
        let count = buffer.len().min(self.now.len() - self.from);
        buffer[..count].copy_from_slice(&self.now[self.from..self.from + count]);
        self.from += count;
        self.given.fetch_add(count, Ordering::SeqCst);
        Ok(count)
    }
}

#[test]
fn of_a_hundred_megabytes_only_the_end_is_kept_and_nothing_waits() {
    let (asked, questions) = channel();
    let given = Arc::new(AtomicUsize::new(0));
    let talker = Talker {
        asked: questions,
        now: Vec::new(),
        from: 0,
        given: Arc::clone(&given),
        step: 0,
        lines: 1_750,
    };
    let (mut heard, mut ahead, mut answered) = (0, 0, 0);
    let told = converse(Ear { line: Vec::new(), asked }, talker, &turn(), &mut |way, line| match way {
        Way::In => {
            heard += line.len() + 1;
            ahead = ahead.max(given.load(Ordering::SeqCst) - heard);
            // What was asked before was answered before this was listened to.
            assert!(!line.contains("chunk") || answered % 2 == 0 || line.contains("request_permission"));
            answered += usize::from(line.contains("request_permission"));
        }
        Way::Out => answered += usize::from(line.contains("outcome")),
    });
    let said = told.said(End::Exit(0), "");
    assert_eq!(said.failed, None);
    assert!(heard > 100 << 20, "{heard}");
    assert_eq!(answered, 2 * 50);
    assert!(ahead <= 64 * 1024, "read {ahead} bytes ahead");
    assert!(said.text.len() <= 16 << 20 && said.text.len() > (16 << 20) - 4, "{}", said.text.len());
    assert!(said.text.contains(&format!("{} ä", 1_749)), "the end of it");
    assert_eq!(said.denied.len(), 20, "of 50, as many as anybody reads");
    assert!(said.denied.iter().all(|denied| denied.chars().count() < 250));
}

#[test]
fn a_line_that_is_too_long_is_missed_if_it_is_news() {
    let played = play(&turn(), |stage| {
        let prompt = stage.begin();
        stage.say_chunk(&"x".repeat(17 << 20));
        stage.say_chunk("the answer");
        stage.end(&prompt);
    });
    assert_eq!((played.said.failed, played.said.text.as_str()), (None, "the answer"));
    assert!(played.heard.iter().all(|(_, line)| line.len() < 1 << 20));

    let played = play(&turn(), |stage| {
        let prompt = stage.begin();
        stage.answer(&prompt, json!({ "stopReason": "end_turn", "_meta": "x".repeat(17 << 20) }));
        // It stays and waits, as agents do.
        stage.next();
    });
    let Some(Failed::Crashed(why)) = played.said.failed else { panic!("{:?}", played.said.failed) };
    assert!(why.contains("too much in one line"), "{why}");
}

#[test]
fn an_agent_that_does_not_listen_yet_is_listened_to() {
    let turn = Turn { prompt: "x".repeat(4 << 20), ..turn() };
    let played = play(&turn, |stage| {
        let hello = stage.request("initialize");
        stage.answer(&hello, json!({ "protocolVersion": 1, "agentCapabilities": {} }));
        let new = stage.request("session/new");
        stage.answer(&new, json!({ "sessionId": "s" }));
        // More than any pipe holds, while the prompt, which no pipe holds either, is not read.
        for _ in 0..100 {
            stage.update(json!({ "sessionUpdate": "plan", "entries": "x".repeat(50_000) }));
        }
        let prompt = stage.request("session/prompt");
        stage.say_chunk("the answer");
        stage.end(&prompt);
        prompt["params"]["prompt"][0]["text"].as_str().unwrap().len()
    });
    assert_eq!((played.agent, played.said.text.as_str()), (4 << 20, "the answer"));
}
