//! As little of HTTP as it takes, on a plain connection, so that a test sees how an answer ends.

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader, ErrorKind, Read as _, Write as _};
use std::net::TcpStream;

use serde_json::{Value, json};

use super::PATIENCE;

/// A connection on which a request was sent.
pub(crate) struct Connection(BufReader<TcpStream>);

/// How an answer ended.
#[derive(Debug, PartialEq)]
pub(crate) enum Ended {
    InOrder,
    TooEarly,
}

pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) headers: BTreeMap<String, String>,
    pub(crate) body: String,
    pub(crate) ended: Ended,
}

impl Answer {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap()
    }
}

pub(crate) fn send(url: &str, method: &str, path: &str, headers: &str, body: &str) -> Connection {
    let address = url.strip_prefix("http://").unwrap();
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    let length = body.len();
    let head = format!(
        "{method} {path} HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\ncontent-length: {length}\r\n{headers}\r\n"
    );
    stream.write_all(format!("{head}{body}").as_bytes()).unwrap();
    Connection(BufReader::new(stream))
}

pub(crate) fn ask(url: &str, method: &str, path: &str, body: &Value) -> Answer {
    send(url, method, path, "content-type: application/json\r\n", &body.to_string()).answer(method == "HEAD")
}

impl Connection {
    fn line(&mut self) -> Option<String> {
        let mut line = String::new();
        match self.0.read_line(&mut line) {
            Ok(read) if read > 0 => Some(line.trim_end().to_owned()),
            // Somebody who breaks a connection may or may not say so.
            Ok(_) => None,
            Err(error) if error.kind() == ErrorKind::ConnectionReset => None,
            Err(error) => panic!("{error}"),
        }
    }

    pub(crate) fn head(&mut self) -> Option<(u16, BTreeMap<String, String>)> {
        let status = self.line()?.split(' ').nth(1).unwrap().parse().unwrap();
        let mut headers = BTreeMap::new();
        loop {
            let line = self.line()?;
            let Some((name, value)) = line.split_once(": ") else { return Some((status, headers)) };
            headers.insert(name.to_ascii_lowercase(), value.to_owned());
        }
    }

    /// The next piece of a body that comes in pieces: empty at its end, none if it broke off.
    pub(crate) fn piece(&mut self) -> Option<String> {
        let length = usize::from_str_radix(&self.line()?, 16).unwrap();
        let mut piece = vec![0; length + 2];
        self.0.read_exact(&mut piece).ok()?;
        piece.truncate(length);
        Some(String::from_utf8(piece).unwrap())
    }

    pub(crate) fn answer(mut self, headless: bool) -> Answer {
        let (status, headers) = self.head().unwrap();
        let mut body = String::new();
        let mut ended = Ended::InOrder;
        if headers.get("transfer-encoding").is_some_and(|it| it == "chunked") {
            loop {
                match self.piece() {
                    Some(piece) if piece.is_empty() => break,
                    Some(piece) => body.push_str(&piece),
                    None => {
                        ended = Ended::TooEarly;
                        break;
                    }
                }
            }
        } else if !headless {
            let length: usize = headers.get("content-length").unwrap().parse().unwrap();
            let mut bytes = vec![0; length];
            self.0.read_exact(&mut bytes).unwrap();
            body = String::from_utf8(bytes).unwrap();
        }
        Answer { status, headers, body, ended }
    }

    /// Whether nothing has come that was not read yet.
    pub(crate) fn is_silent(&mut self) -> bool {
        assert!(self.0.buffer().is_empty());
        self.0.get_ref().set_nonblocking(true).unwrap();
        let nothing = self.0.get_ref().peek(&mut [0]).is_err_and(|it| it.kind() == ErrorKind::WouldBlock);
        self.0.get_ref().set_nonblocking(false).unwrap();
        nothing
    }

    /// Waits for the other side to end the connection without another word.
    pub(crate) fn ends_without_a_word(mut self) -> bool {
        self.line().is_none()
    }
}

/// Where an interface takes requests.
pub(crate) fn path(api: &str, streams: bool) -> &'static str {
    match (api, streams) {
        ("anthropic", _) => "/v1/messages?beta=true",
        ("responses", _) => "/v1/responses",
        ("chat", _) => "/v1/chat/completions",
        ("gemini", false) => "/v1beta/models/scripted-1:generateContent",
        ("gemini", true) => "/v1beta/models/scripted-1:streamGenerateContent?alt=sse",
        _ => panic!("no interface is called {api}"),
    }
}

/// A request as an interface wants it, streamed or whole.
pub(crate) fn request(api: &str, streams: bool, body: &Value) -> (&'static str, Value) {
    let mut body = body.clone();
    if api != "gemini" {
        body["stream"] = json!(streams);
    }
    (path(api, streams), body)
}

/// A request with nothing but a prompt and one tool.
pub(crate) fn prompt(api: &str, text: &str) -> Value {
    match api {
        "anthropic" => json!({
            "model": "scripted-1",
            "messages": [{"role": "user", "content": text}],
            "tools": [{"name": "Bash", "input_schema": {}}],
        }),
        "responses" => json!({
            "model": "scripted-1",
            "input": [{"type": "message", "role": "user", "content": [{"type": "input_text", "text": text}]}],
            "tools": [{"type": "function", "name": "exec_command", "parameters": {}}],
        }),
        "chat" => json!({
            "model": "scripted-1",
            "messages": [{"role": "user", "content": text}],
            "tools": [{"type": "function", "function": {"name": "bash", "parameters": {}}}],
        }),
        _ => json!({
            "contents": [{"role": "user", "parts": [{"text": text}]}],
            "tools": [{"functionDeclarations": [{"name": "run_shell_command"}]}],
        }),
    }
}

pub(crate) const APIS: [&str; 4] = ["anthropic", "responses", "chat", "gemini"];
