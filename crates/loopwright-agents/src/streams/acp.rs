//! The Agent Client Protocol: JSON-RPC, one message a line.
//!
//! A reader follows one connection, both directions of it: what the client sends ([`Acp::sent`]) says which answer is
//! the one to the prompt, what is only replayed of an older session, and what was not allowed. Without it (a stream of
//! the agent's lines alone) the prompt is taken to be answered by the message that has a `stopReason`.
//!
//! What is said is of the last prompt: [`Acp::sent`] of another one begins anew. Agents differ in what they count:
//!
//! | agent | tokens | money |
//! |---|---|---|
//! | Claude | of the prompt | of the connection: what was before the prompt is taken off |
//! | Codex | of the prompt | not said |
//! | Copilot | of the connection: what was before the prompt is taken off | not said |
//! | Gemini | of the prompt | not said |
//! | opencode | of the last step alone: unknown as soon as a tool was called | of the session, whoever served it before |

mod turn;
mod usage;

use std::collections::VecDeque;

use serde_json::Value;

use self::turn::Turn;
use self::usage::Counts;
use super::cause::Fault;
use super::close::{Heard, outcome};
use super::kept::{name, text, words};
use super::{End, Failed, Said, Stream, Usage};

/// How many requests are remembered that were not answered.
const REQUESTS: usize = 64;

/// Who speaks, as far as it changes how it is understood.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Agent {
    Claude,
    Codex,
    Copilot,
    Gemini,
    Opencode,
    #[default]
    Other,
}

impl Agent {
    fn named(name: &str) -> Self {
        let name = name.to_lowercase();
        let is = |it: &str| name.contains(it);
        match () {
            () if is("claude") => Self::Claude,
            () if is("codex") => Self::Codex,
            () if is("copilot") => Self::Copilot,
            () if is("gemini") => Self::Gemini,
            () if is("opencode") => Self::Opencode,
            () => Self::Other,
        }
    }
}

/// What the client asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Request {
    Load,
    Prompt,
    Other,
}

/// Something the agent asked to be allowed.
#[derive(Debug)]
struct Permission {
    id: Value,
    call: String,
    tool: String,
    /// The answers that say no.
    refusals: Vec<String>,
}

/// A reader of one connection.
#[derive(Debug, Default)]
pub struct Acp {
    agent: Agent,
    session: Option<String>,
    /// What the client asked and was not answered yet.
    requests: VecDeque<(Value, Request)>,
    permissions: VecDeque<Permission>,
    /// A session is being loaded: what is said is old.
    replays: bool,
    /// A session was loaded. Some agents go on replaying after they said that they were done.
    is_loaded: bool,
    is_prompted: bool,
    /// Why there may be no prompt at all.
    setback: Option<Failed>,
    turn: Turn,
    counts: Counts,
}

/// A reader of one connection. `before` is what its session had used before it, as far as that is known: opencode goes
/// on counting the money of a session that is loaded again.
pub fn acp(before: Usage) -> Acp {
    Acp { counts: Counts::new(before), ..Acp::default() }
}

impl Acp {
    /// The client sent a message.
    pub fn sent(&mut self, message: &Value) {
        let Some(id) = message.get("id") else { return };
        if message.get("method").is_none() {
            self.permission_answered(id, message);
            return;
        }
        let session = text(message, "/params/sessionId");
        let request = match text(message, "/method") {
            "session/load" => {
                self.replays = true;
                self.is_loaded = true;
                self.counts.goes_on();
                Request::Load
            }
            "session/resume" => {
                self.counts.goes_on();
                Request::Other
            }
            "session/prompt" => {
                self.is_prompted = true;
                self.setback = None;
                self.turn = Turn::default();
                self.counts.next();
                Request::Prompt
            }
            _ => Request::Other,
        };
        if !session.is_empty() {
            self.session = Some(session.to_owned());
        }
        if self.requests.len() >= REQUESTS {
            self.requests.pop_front();
        }
        self.requests.push_back((id.clone(), request));
    }

    /// The agent sent a message.
    pub fn message(&mut self, message: &Value) {
        match (text(message, "/method"), message.get("id")) {
            ("session/update", _) => {
                if let Some(update) = message.pointer("/params/update") {
                    self.update(update);
                }
            }
            ("session/request_permission", Some(id)) => self.permission_asked(id, message),
            ("", Some(id)) => self.response(id, message),
            _ => {}
        }
    }

    /// Whether the prompt was answered, with an answer or with an error.
    pub fn is_answered(&self) -> bool {
        self.turn.ended.is_some() || self.turn.failed.is_some()
    }

    /// What the last prompt came to, if nothing more is said. How the process ended only counts if the prompt was not
    /// answered before: a client ends it itself.
    pub fn said(&self, end: End, errors: &str) -> Said {
        let is_ended = matches!(end, End::Exit(_));
        let failed = match (&self.turn.failed, &self.turn.ended) {
            (Some(failed), _) if is_ended => Some(failed.clone()),
            (_, Some(reason)) if is_ended => self.turn.outcome(reason, self.agent),
            _ => {
                let failed = self.setback.clone();
                outcome(end, Heard { begun: self.is_prompted, failed, ..Heard::default() }, errors)
            }
        };
        Said {
            failed,
            text: self.turn.answer(self.agent).to_owned(),
            structured: None,
            session: self.session.clone(),
            usage: self.counts.used(self.agent, self.turn.used_tools),
            denied: self.turn.denials.list().to_vec(),
        }
    }

    fn update(&mut self, update: &Value) {
        if self.replays {
            return;
        }
        match text(update, "/sessionUpdate") {
            "agent_message_chunk" => self.turn.chunk(update, self.agent),
            "tool_call" | "tool_call_update" => self.turn.tool(update),
            // The words of a user begin a turn: what was said before is older.
            "user_message_chunk" if self.is_loaded => self.turn = Turn::replayed(),
            "user_message_chunk" => self.turn.begins_message(),
            // Gemini replays after it said that the session was loaded, and this is what it sends next.
            "available_commands_update" if self.turn.is_replayed => self.turn = Turn::default(),
            "usage_update" => self.counts.cost(update),
            _ => {}
        }
    }

    fn response(&mut self, id: &Value, message: &Value) {
        let place = self.requests.iter().position(|(it, _)| it == id);
        let request = place.and_then(|it| self.requests.remove(it)).map(|(_, request)| request);
        if request == Some(Request::Load) {
            self.replays = false;
            self.turn = Turn::default();
        }
        if let Some(error) = message.get("error") {
            let failed = failure(error);
            match request {
                Some(Request::Prompt) => self.turn.fails(failed, error),
                _ => self.setback = Some(failed),
            }
            return;
        }
        let name = text(message, "/result/agentInfo/name");
        if !name.is_empty() {
            self.agent = Agent::named(name);
        }
        let session = text(message, "/result/sessionId");
        if !session.is_empty() {
            self.session = Some(session.to_owned());
        }
        let reason = message.pointer("/result/stopReason").and_then(Value::as_str);
        let is_prompts = request == Some(Request::Prompt) || (request.is_none() && !self.is_prompted);
        if let (true, Some(reason)) = (is_prompts, reason) {
            self.turn.ended = Some(words(reason));
            self.counts.tokens(message.get("result").unwrap_or(message));
        }
    }

    fn permission_asked(&mut self, id: &Value, message: &Value) {
        let options =
            message.pointer("/params/options").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
        let refusals = options.iter().filter(|it| text(it, "/kind").starts_with("reject"));
        let refusals = refusals.map(|it| name(text(it, "/optionId")).to_owned()).take(REQUESTS).collect();
        let call = text(message, "/params/toolCall/toolCallId");
        let title = text(message, "/params/toolCall/title");
        let tool = words(if title.is_empty() { self.turn.calls.tool(call) } else { title });
        if self.permissions.len() >= REQUESTS {
            self.permissions.pop_front();
        }
        // An id is a number or a word. What is longer is kept for nobody.
        let id = id.as_str().map_or_else(|| id.as_i64().map(Value::from), |it| Some(Value::from(name(it))));
        let Some(id) = id else { return };
        self.permissions.push_back(Permission { id, call: name(call).to_owned(), tool, refusals });
    }

    fn permission_answered(&mut self, id: &Value, answer: &Value) {
        let place = self.permissions.iter().position(|it| it.id == *id);
        let Some(asked) = place.and_then(|it| self.permissions.remove(it)) else { return };
        let chosen = name(text(answer, "/result/outcome/optionId"));
        let is_refused = answer.get("error").is_some() || asked.refusals.iter().any(|it| it == chosen);
        if is_refused {
            self.turn.denials.add(&asked.call, &asked.tool, "permission was refused");
        }
    }
}

/// What an error of JSON-RPC comes to.
fn failure(error: &Value) -> Failed {
    let code = error.get("code").and_then(Value::as_i64).unwrap_or_default();
    let kind = ["/data/errorKind", "/data/errorName", "/data/codexErrorInfo"];
    let kind = kind.iter().map(|it| text(error, it)).find(|it| !it.is_empty()).unwrap_or(match code {
        -32000 => "auth required",
        -32002 => "resource not found",
        -32602..=-32600 => "invalid request",
        _ => "",
    });
    let mut said = text(error, "/message").to_owned();
    let details = ["/data/message", "/data/details", "/data"];
    let details = details.iter().map(|it| text(error, it)).find(|it| !it.is_empty()).unwrap_or_default();
    if !details.is_empty() && !said.contains(details) {
        said = format!("{said}: {details}");
    }
    let status = u64::try_from(code).ok().filter(|it| (400..600).contains(it));
    Fault { status, kind, words: &said, besides: "" }.failed()
}

impl Stream for Acp {
    fn line(&mut self, line: &str) {
        if let Ok(message) = serde_json::from_str::<Value>(line) {
            self.message(&message);
        }
    }

    fn over(self: Box<Self>, end: End, errors: &str) -> Said {
        self.said(end, errors)
    }
}
