//! The face as a child process, spoken to by hand.

use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};

use serde_json::{Value, json};

use crate::desk::Desk;

pub fn command() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_loopwright-mcp-face"));
    command.env_clear();
    command
}

/// The text of what a tool gave back.
pub fn text(result: &Value) -> &str {
    result["content"][0]["text"].as_str().unwrap_or_else(|| panic!("no text in {result}"))
}

pub struct Face {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    asked: u64,
    /// What every request carries, in versions of the protocol that want it.
    meta: Option<Value>,
}

impl Face {
    pub fn start(desk: &Desk, token: &str) -> Self {
        let mut child = command()
            .env("LOOPWRIGHT_DESK", desk.path())
            .env("LOOPWRIGHT_TOKEN", token)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let input = child.stdin.take();
        let output = BufReader::new(child.stdout.take().unwrap());
        Self { child, input, output, asked: 0, meta: None }
    }

    /// Begins as versions up to 2025 do. What the face says of itself.
    pub fn initialize(&mut self, version: &str) -> Value {
        let client = json!({ "name": "test", "version": "1" });
        let params = json!({ "protocolVersion": version, "capabilities": {}, "clientInfo": client });
        let begun = self.ask("initialize", params)["result"].clone();
        self.say(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }).to_string());
        begun
    }

    /// Begins as later versions do: each request says what the first one used to.
    pub fn discover(&mut self, version: &str) -> Value {
        self.meta = Some(json!({
            "io.modelcontextprotocol/protocolVersion": version,
            "io.modelcontextprotocol/clientInfo": { "name": "test", "version": "1" },
            "io.modelcontextprotocol/clientCapabilities": {},
        }));
        let found = self.ask("server/discover", json!({}))["result"].clone();
        assert!(found["supportedVersions"].as_array().unwrap().contains(&json!(version)), "{found}");
        found
    }

    pub fn call(&mut self, tool: &str, arguments: Value) -> Value {
        let mut params = json!({ "name": tool });
        params["arguments"] = arguments;
        let reply = self.ask("tools/call", params);
        assert!(reply.get("result").is_some(), "{reply}");
        reply["result"].clone()
    }

    pub fn ask(&mut self, method: &str, mut params: Value) -> Value {
        self.asked += 1;
        if let Some(meta) = &self.meta {
            params["_meta"] = meta.clone();
        }
        let id = self.asked;
        self.say(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }).to_string());
        loop {
            let mut line = String::new();
            assert!(self.output.read_line(&mut line).unwrap() > 0, "it ended instead of answering {method}");
            let reply: Value =
                serde_json::from_str(&line).unwrap_or_else(|_| panic!("not the protocol: {line}"));
            assert_eq!(reply["jsonrpc"], "2.0", "{line}");
            // Complaints about garbage belong to no request.
            if reply["id"] == id {
                return reply;
            }
            assert!(reply["id"].is_null() && reply["error"].is_object(), "{line}");
        }
    }

    pub fn say(&mut self, line: &str) {
        self.say_bytes(format!("{line}\n").as_bytes());
    }

    pub fn say_bytes(&mut self, bytes: &[u8]) {
        self.input.as_mut().unwrap().write_all(bytes).unwrap();
    }

    /// So many bytes without a line's end, or as many as it takes.
    pub fn pour(&mut self, bytes: usize) {
        let piece = vec![b'x'; 1 << 16];
        let input = self.input.as_mut().unwrap();
        for _ in 0..bytes / piece.len() {
            if input.write_all(&piece).is_err() {
                break;
            }
        }
    }

    /// What it still says until it ends, while its input stays open.
    pub fn rest(&mut self) -> Vec<String> {
        let mut rest = String::new();
        self.output.read_to_string(&mut rest).unwrap();
        rest.lines().map(str::to_owned).collect()
    }

    pub fn wait(&mut self) -> ExitStatus {
        self.child.wait().unwrap()
    }

    /// Closes its input.
    pub fn end(mut self) -> ExitStatus {
        self.input = None;
        self.wait()
    }
}

impl Drop for Face {
    fn drop(&mut self) {
        self.input = None;
        drop(self.child.wait());
    }
}
