//! Agents that are none: a thread at the other end of two pipes.

use std::io::{BufRead, BufReader, PipeReader, PipeWriter, Write, pipe};
use std::thread::JoinHandle;

use loopwright_agents::acp::{McpServer, Turn, Way, converse};
use loopwright_agents::streams::{End, Said};
use serde_json::{Value, json};

/// The agent's side of the conversation.
pub struct Stage {
    from: BufReader<PipeReader>,
    to: PipeWriter,
    /// What was said to the agent.
    pub got: Vec<Value>,
}

impl Stage {
    /// The next thing said to the agent. None, when nothing more can come.
    pub fn next(&mut self) -> Option<Value> {
        let mut line = String::new();
        if self.from.read_line(&mut line).unwrap() == 0 {
            return None;
        }
        let message: Value = serde_json::from_str(&line).unwrap();
        self.got.push(message.clone());
        Some(message)
    }

    /// The next request, which must be for this.
    pub fn request(&mut self, method: &str) -> Value {
        let message = self.next().unwrap_or_else(|| panic!("nobody asks for {method}"));
        assert_eq!(message["method"], method);
        message
    }

    /// Says a line. An agent that is no longer listened to does not mind.
    pub fn say(&mut self, line: &str) {
        drop(writeln!(self.to, "{line}"));
    }

    pub fn send(&mut self, message: &Value) {
        self.say(&message.to_string());
    }

    pub fn answer(&mut self, request: &Value, result: Value) {
        let mut reply = json!({ "jsonrpc": "2.0", "id": request["id"] });
        reply["result"] = result;
        self.send(&reply);
    }

    pub fn fail(&mut self, request: &Value, error: Value) {
        let mut reply = json!({ "jsonrpc": "2.0", "id": request["id"] });
        reply["error"] = error;
        self.send(&reply);
    }

    pub fn update(&mut self, update: Value) {
        let mut message =
            json!({ "jsonrpc": "2.0", "method": "session/update", "params": { "sessionId": "s" } });
        message["params"]["update"] = update;
        self.send(&message);
    }

    pub fn say_chunk(&mut self, text: &str) {
        self.update(
            json!({ "sessionUpdate": "agent_message_chunk", "content": { "type": "text", "text": text } }),
        );
    }

    /// Asks whether it may. The option that was chosen, or null.
    pub fn may(&mut self, call: Value, options: &[&str]) -> Value {
        let options: Vec<Value> = options
            .iter()
            .map(|kind| json!({ "optionId": format!("id-{kind}"), "name": kind, "kind": kind }))
            .collect();
        let mut message = json!({
            "jsonrpc": "2.0", "id": "may-i", "method": "session/request_permission",
            "params": { "sessionId": "s", "options": options },
        });
        message["params"]["toolCall"] = call;
        self.send(&message);
        let reply = self.next().unwrap();
        assert_eq!(reply["id"], "may-i");
        reply["result"]["outcome"]["optionId"].clone()
    }

    /// What every agent does before it is asked something.
    pub fn begin(&mut self) -> Value {
        let hello = self.request("initialize");
        self.answer(&hello, json!({ "protocolVersion": 1, "agentCapabilities": {} }));
        let new = self.request("session/new");
        self.answer(&new, json!({ "sessionId": "s" }));
        self.request("session/prompt")
    }

    pub fn end(&mut self, prompt: &Value) {
        self.answer(prompt, json!({ "stopReason": "end_turn" }));
    }
}

/// What came of it.
pub struct Played<T> {
    pub said: Said,
    /// Both ways, in order.
    pub heard: Vec<(Way, String)>,
    /// What was said to the agent, as it was.
    pub got: Vec<Value>,
    /// What the agent came to.
    pub agent: T,
}

/// Plays an agent.
pub fn play<T: Send + 'static>(
    turn: &Turn,
    agent: impl FnOnce(&mut Stage) -> T + Send + 'static,
) -> Played<T> {
    let (from, input) = pipe().unwrap();
    let (output, to) = pipe().unwrap();
    let playing: JoinHandle<(T, Vec<Value>)> = std::thread::spawn(move || {
        let mut stage = Stage { from: BufReader::new(from), to, got: Vec::new() };
        let result = agent(&mut stage);
        (result, stage.got)
    });
    let mut heard = Vec::new();
    let told = converse(input, output, turn, &mut |way, line| heard.push((way, line.to_owned())));
    let said = told.said(End::Exit(0), "");
    let (agent, got) = playing.join().unwrap();
    Played { said, heard, got, agent }
}

/// A turn without anything to it.
pub fn turn() -> Turn {
    Turn { cwd: "/repo".into(), prompt: "do it".to_owned(), ..Turn::default() }
}

/// One with tools, which have something to hide.
pub fn with_tools() -> Turn {
    let env = vec![("TOKEN".to_owned(), "hush-hush".to_owned())];
    let server = McpServer {
        name: "ours".to_owned(),
        command: "/bin/tools".into(),
        args: vec!["mcp".to_owned()],
        env,
    };
    Turn { mcp: Some(server), ..turn() }
}

/// A turn in which nothing happens but this.
pub fn only(turn: &Turn, agent: impl FnOnce(&mut Stage) -> Value + Send + 'static) -> (Value, Said) {
    let played = play(turn, |stage| {
        let prompt = stage.begin();
        let came = agent(stage);
        stage.end(&prompt);
        came
    });
    assert_eq!(played.said.failed, None);
    (played.agent, played.said)
}
