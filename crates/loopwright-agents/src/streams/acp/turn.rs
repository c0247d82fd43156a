//! What is said in answer to one prompt.

use serde_json::Value;

use super::Agent;
use super::errors::{self, Sign};
use crate::streams::Failed;
use crate::streams::cause::Fault;
use crate::streams::kept::{Answer, Calls, Denials, beginning, count, name, text, words};

/// What agents and the system say of a call that was not allowed.
const NOT_ALLOWED: &[&str] = &[
    "rejected",
    "refused permission",
    "denied",
    "not allowed",
    "not permitted",
    "rule which prevents",
    "requires approval",
    "approval review failed",
    "read-only file system",
];

/// How pieces begin that are never the model's: the mode Gemini is in, and what Copilot says where the user refused a tool
/// and while it tries again.
const REMARKS: &[&str] =
    &["[MODE_UPDATE]", "Info: Operation cancelled by user", "Info: Request failed due to a transient"];

/// How warnings begin.
const WARNINGS: &[&str] = &["Warning: ", "Config warning: "];

/// What Codex says beside the protocol.
#[derive(Debug, Default)]
struct Codex {
    /// That it failed. It ends the turn like any other.
    is_broken: bool,
    /// The status of the last error it named.
    status: Option<u64>,
}

/// One prompt and what came of it.
#[derive(Debug, Default)]
pub(super) struct Turn {
    answer: Answer,
    pub(super) denials: Denials,
    pub(super) calls: Calls,
    pub(super) kinds: Calls,
    pub(super) used_tools: bool,
    /// It was begun by the words of a user that are replayed.
    pub(super) is_replayed: bool,
    /// Why it stopped, if it did.
    pub(super) ended: Option<String>,
    /// It was answered with an error.
    pub(super) failed: Option<Failed>,
    /// The message that goes on. One without an id goes on until something else happens.
    message: Option<String>,
    /// Messages have ids. What has none was not said by the model.
    has_ids: bool,
    /// What was said last, at once. Nothing, if it is too long for an error.
    piece: String,
    /// What the program said in place of the model, and the model said nothing after it.
    notice: Option<String>,
    codex: Codex,
    /// The last piece of what the last command wrote.
    output: (String, String),
}

impl Turn {
    /// One that is only told again.
    pub(super) fn replayed() -> Self {
        Self { is_replayed: true, ..Self::default() }
    }

    /// What is said next is another message.
    pub(super) fn begins_message(&mut self) {
        self.message = None;
    }

    pub(super) fn chunk(&mut self, update: &Value, agent: Agent) {
        let said = text(update, "/content/text");
        let id = name(text(update, "/messageId"));
        if said.is_empty() {
            return;
        }
        if REMARKS.iter().any(|it| said.starts_with(it)) {
            self.begins_message();
            return;
        }
        self.has_ids |= !id.is_empty();
        if id.is_empty() && (self.has_ids || agent == Agent::Codex) {
            // The program's own: warnings, or why there is no answer.
            let is_error = match agent {
                Agent::Codex => !WARNINGS.iter().any(|it| said.starts_with(it)),
                _ => agent.says_errors() && errors::sign(said).is_some(),
            };
            if is_error {
                self.notice = Some(words(said));
            }
            return;
        }
        if self.message.as_deref() != Some(id) {
            self.answer.clear();
            self.message = Some(id.to_owned());
        }
        self.notice = None;
        self.piece = if errors::is_short(said) { said.to_owned() } else { String::new() };
        self.answer.add(said);
    }

    pub(super) fn tool(&mut self, update: &Value) {
        self.used_tools = true;
        let status = text(update, "/status");
        let is_over = ["completed", "failed"].contains(&status);
        // Where messages have no ids, the end of a call is a sign that something new begins. Else a call may end meanwhile.
        if text(update, "/sessionUpdate") == "tool_call" || (is_over && !self.has_ids) {
            self.begins_message();
        }
        let call = text(update, "/toolCallId");
        let title = Some(text(update, "/title")).filter(|it| !it.is_empty()).unwrap_or(text(update, "/name"));
        self.calls.add(call, title);
        self.kinds.add(call, text(update, "/kind"));
        let output = text(update, "/_meta/terminal_output_delta/data");
        if !output.is_empty() {
            self.output = (name(call).to_owned(), words(output));
        }
        if status != "failed" {
            return;
        }
        let pieces = ["/rawOutput", "/rawOutput/message", "/rawOutput/error", "/rawOutput/error/message"];
        let pieces = pieces.iter().chain(&["/content/0/content/text"]).map(|it| text(update, it));
        let written = if self.output.0 == name(call) { self.output.1.as_str() } else { "" };
        let said = pieces.chain([written]).find(|it| !it.is_empty()).unwrap_or_default();
        let lower = beginning(said, 2000).to_lowercase();
        let code = text(update, "/rawOutput/code");
        if ["rejected", "denied"].contains(&code) || NOT_ALLOWED.iter().any(|it| lower.contains(it)) {
            let tool = self.calls.tool(call).to_owned();
            self.denials.add(call, &tool, said);
        }
    }

    /// Codex says how it is.
    pub(super) fn info(&mut self, update: &Value) {
        let state = text(update, "/_meta/codex/threadStatus/type");
        if !state.is_empty() {
            self.codex.is_broken = state == "systemError";
        }
        let info = update.pointer("/_meta/codex/error/codexErrorInfo").and_then(Value::as_object);
        let status = info.and_then(|it| it.values().find_map(|it| count(it, "/httpStatusCode")));
        self.codex.status = status.or(self.codex.status);
    }

    /// The prompt was answered with an error. What it says may have been said before, as if the model had.
    pub(super) fn fails(&mut self, failed: Failed, error: &Value) {
        if text(error, "/message").contains(self.answer.as_str().trim()) {
            self.answer.clear();
        }
        self.failed = Some(failed);
    }

    /// The answer. An error that is said in its place is none.
    pub(super) fn answer(&self, agent: Agent, is_counted: bool) -> &str {
        self.error(agent, is_counted).map_or(self.answer.as_str(), |(before, _)| before)
    }

    /// The error that is said as if it were the answer, and what was said before it: some have no other way to say it.
    ///
    /// What begins like an error after something was done may be a report of one. What is said while an agent tries again
    /// is not set off from the error it gives up with, so the last piece counts too; but a model may end with such words,
    /// so there has to be a status, or nothing that was used.
    fn error(&self, agent: Agent, is_counted: bool) -> Option<(&str, &str)> {
        if !agent.says_errors() {
            return None;
        }
        let said = self.answer.as_str();
        let whole = errors::without_notices(said);
        match errors::sign(whole) {
            Some(Sign::Sure) => return Some(("", whole)),
            Some(_) if !self.used_tools => return Some(("", whole)),
            _ => {}
        }
        let is_error = match errors::sign(self.piece.trim())? {
            Sign::Sure => true,
            Sign::Numbered => !self.used_tools,
            Sign::Bare => !self.used_tools && !is_counted,
        };
        let before = said.strip_suffix(self.piece.as_str()).unwrap_or_default();
        is_error.then_some((before, self.piece.trim()))
    }

    /// What it comes to that the prompt was answered with this reason.
    pub(super) fn outcome(&self, reason: &str, agent: Agent, is_counted: bool) -> Option<Failed> {
        let said = self.answer.as_str().trim();
        let crashed = |why: &str| Some(Failed::Crashed(why.to_owned()));
        match reason {
            "end_turn" => {}
            "cancelled" => return Some(Failed::Cancelled),
            "refusal" if said.is_empty() => return Some(Failed::Refused("the model refuses".to_owned())),
            "refusal" => return Some(Failed::Refused(words(&format!("the model refuses: {said}")))),
            "max_tokens" => return crashed("the answer is cut off: it is longer than the model may write"),
            "max_turn_requests" => return crashed("it took more steps than it may"),
            "" => return crashed("it stopped, and does not say why"),
            other => return crashed(&format!("it stopped for `{other}`")),
        }
        if self.codex.is_broken {
            let why = self.notice.as_deref().unwrap_or("the agent failed, and does not say why");
            return Some(Fault { status: self.codex.status, ..Fault::said(why) }.failed());
        }
        if let Some(notice) = &self.notice {
            return Some(Fault::said(notice).failed());
        }
        if let Some((_, error)) = self.error(agent, is_counted) {
            return Some(Fault::said(error).failed());
        }
        // Some end the turn where they are refused something.
        if said.is_empty() {
            return self.denials.last().map(|it| Failed::Denied(it.clone()));
        }
        None
    }
}
