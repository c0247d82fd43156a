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

mod errors;
mod permission;
mod turn;
mod usage;

use std::collections::VecDeque;

use serde_json::Value;

pub(crate) use self::errors::failure;
use self::permission::Permissions;
use self::turn::Turn;
use self::usage::Counts;
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

    /// Whether it may say errors as if they were answers. Of the others it is known that they have another way.
    fn says_errors(self) -> bool {
        matches!(self, Self::Copilot | Self::Other)
    }
}

/// What the client asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Request {
    Load,
    Prompt,
    /// A mode, a model: how it is to work.
    Set,
    Other,
}

/// Whether the session is an older one that the agent tells from its beginning.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Loaded {
    #[default]
    No,
    /// It is being loaded: what is said is old.
    Replays,
    /// It was. Some agents go on replaying after they said that they were done.
    Yes,
}

/// A reader of one connection.
#[derive(Debug, Default)]
pub struct Acp {
    agent: Agent,
    session: Option<String>,
    /// What the client asked and was not answered yet, by id and with its name.
    requests: VecDeque<(Value, Request, String)>,
    permissions: Permissions,
    /// How one can log in to the agent.
    ways: Vec<String>,
    /// The client was heard too.
    hears_client: bool,
    loaded: Loaded,
    is_prompted: bool,
    /// Why there may be no prompt at all: the agent says so.
    setback: Option<Failed>,
    /// Why the client went no further.
    given_up: Option<Failed>,
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
        self.hears_client = true;
        if message.get("method").is_none() {
            self.permissions.answered(id, message, &mut self.turn);
            return;
        }
        let session = text(message, "/params/sessionId");
        let method = text(message, "/method");
        let request = match method {
            "session/load" => {
                self.loaded = Loaded::Replays;
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
            _ if method.starts_with("session/set_") => Request::Set,
            _ => Request::Other,
        };
        if !session.is_empty() {
            self.session = Some(session.to_owned());
        }
        if self.requests.len() >= REQUESTS {
            self.requests.pop_front();
        }
        self.requests.push_back((id.clone(), request, name(method).to_owned()));
    }

    /// The client goes no further, for a reason of its own: the agent has no such mode, or what it says can not be read.
    /// What the agent says itself counts more.
    pub fn gives_up(&mut self, why: Failed) {
        self.given_up.get_or_insert(why);
    }

    /// The agent sent a message.
    pub fn message(&mut self, message: &Value) {
        match (text(message, "/method"), message.get("id")) {
            ("session/update", _) => {
                // Other sessions are those of helpers the agent has, whose words are not its own.
                let session = text(message, "/params/sessionId");
                let is_others = !session.is_empty() && self.session.as_ref().is_some_and(|it| it != session);
                if let (false, Some(update)) = (is_others, message.pointer("/params/update")) {
                    self.update(update);
                }
            }
            ("session/request_permission", Some(id)) => {
                self.permissions.asked(id, message, &mut self.turn);
            }
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
        let is_counted = self.counts.is_counted();
        let failed = match (&self.turn.failed, &self.turn.ended) {
            (Some(failed), _) if is_ended => Some(failed.clone()),
            (_, Some(reason)) if is_ended => self.turn.outcome(reason, self.agent, is_counted),
            _ => {
                let failed = self.setback.as_ref().or(self.given_up.as_ref()).cloned();
                let unanswered = self.requests.back().map(|(_, _, method)| method.clone());
                let heard = Heard { begun: self.is_prompted, failed, unanswered, ..Heard::default() };
                outcome(end, heard, errors)
            }
        };
        let session = self.session.clone();
        if self.hears_client && !self.is_prompted {
            // What was said and used so far was so before.
            return Said { failed, session, ..Said::default() };
        }
        Said {
            failed,
            text: self.turn.answer(self.agent, is_counted).to_owned(),
            structured: None,
            session,
            usage: self.counts.used(self.agent, self.turn.used_tools),
            denied: self.turn.denials.list().to_vec(),
        }
    }

    fn update(&mut self, update: &Value) {
        if self.loaded == Loaded::Replays {
            return;
        }
        match text(update, "/sessionUpdate") {
            "agent_message_chunk" => self.turn.chunk(update, self.agent),
            "tool_call" | "tool_call_update" => self.turn.tool(update),
            // The words of a user begin a turn: what was said before is older.
            "user_message_chunk" if self.loaded == Loaded::Yes => self.turn = Turn::replayed(),
            "user_message_chunk" => self.turn.begins_message(),
            // Gemini replays after it said that the session was loaded, and this is what it sends next.
            "available_commands_update" if self.turn.is_replayed => self.turn = Turn::default(),
            "usage_update" => self.counts.cost(update),
            "session_info_update" => self.turn.info(update),
            _ => {}
        }
    }

    fn response(&mut self, id: &Value, message: &Value) {
        let place = self.requests.iter().position(|(it, ..)| it == id);
        let request = place.and_then(|it| self.requests.remove(it)).map(|(_, request, _)| request);
        if request.is_none() && self.hears_client {
            return;
        }
        if request == Some(Request::Load) {
            self.loaded = Loaded::Yes;
            self.turn = Turn::default();
        }
        if let Some(error) = message.get("error") {
            if request == Some(Request::Prompt) {
                self.turn.fails(failure(error), error);
            } else {
                let stranger = errors::stranger(error, &self.ways);
                self.setback = Some(match stranger.unwrap_or_else(|| failure(error)) {
                    // What it does not have now it does not have later, whatever it calls that.
                    Failed::Crashed(why) if request == Some(Request::Set) => Failed::Refused(why),
                    failed => failed,
                });
            }
            return;
        }
        let result = message.get("result").unwrap_or(message);
        self.introduced(result);
        let session = text(result, "/sessionId");
        if !session.is_empty() {
            self.session = Some(session.to_owned());
        }
        let reason = result.get("stopReason").and_then(Value::as_str);
        // A prompt is answered even where nothing is said of why it ended.
        let reason = reason.or((request == Some(Request::Prompt)).then_some(""));
        if let (Some(Request::Prompt) | None, Some(reason)) = (request, reason) {
            self.turn.ended = Some(words(reason));
            self.counts.tokens(result);
        }
    }

    /// The agent says who it is, and how one can log in to it.
    fn introduced(&mut self, result: &Value) {
        let agent = text(result, "/agentInfo/name");
        if !agent.is_empty() {
            self.agent = Agent::named(agent);
        }
        if let Some(ways) = result.get("authMethods").and_then(Value::as_array) {
            let named = |it| [text(it, "/name"), text(it, "/id")].into_iter().find(|it| !it.is_empty());
            self.ways = ways.iter().filter_map(named).map(words).take(REQUESTS).collect();
        }
    }
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
