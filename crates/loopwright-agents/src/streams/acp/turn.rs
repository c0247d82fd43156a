//! What is said in answer to one prompt.

use serde_json::Value;

use super::Agent;
use crate::streams::Failed;
use crate::streams::cause::Fault;
use crate::streams::kept::{Answer, Calls, Denials, beginning, name, text, words};

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

/// What Copilot says in the place of an answer where the user refused a tool.
const ABANDONED: &str = "Info: Operation cancelled by user";

/// One prompt and what came of it.
#[derive(Debug, Default)]
pub(super) struct Turn {
    answer: Answer,
    pub(super) denials: Denials,
    pub(super) calls: Calls,
    pub(super) used_tools: bool,
    /// It was begun by the words of a user that are replayed.
    pub(super) is_replayed: bool,
    /// Why it stopped, if it did.
    pub(super) ended: Option<String>,
    /// It was answered with an error.
    pub(super) failed: Option<Failed>,
    /// The message that goes on. One without an id goes on until something else happens.
    message: Option<String>,
    /// What the program said in place of the model, and the model said nothing after it.
    notice: Option<String>,
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
        if said.starts_with("[MODE_UPDATE]") || said == ABANDONED {
            return;
        }
        if agent == Agent::Codex && id.is_empty() {
            // The model's messages have ids. These are the program's: warnings, or why there is no answer.
            if !said.starts_with("Warning: ") && !said.starts_with("Config warning: ") {
                self.notice = Some(words(said));
            }
            return;
        }
        if self.message.as_deref() != Some(id) {
            self.answer.clear();
            self.message = Some(id.to_owned());
        }
        self.notice = None;
        self.answer.add(said);
    }

    pub(super) fn tool(&mut self, update: &Value) {
        self.used_tools = true;
        self.begins_message();
        let call = text(update, "/toolCallId");
        let title = Some(text(update, "/title")).filter(|it| !it.is_empty()).unwrap_or(text(update, "/name"));
        self.calls.add(call, title);
        let output = text(update, "/_meta/terminal_output_delta/data");
        if !output.is_empty() {
            self.output = (name(call).to_owned(), words(output));
        }
        if text(update, "/status") != "failed" {
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

    /// The prompt was answered with an error. What it says may have been said before, as if the model had.
    pub(super) fn fails(&mut self, failed: Failed, error: &Value) {
        if text(error, "/message").contains(self.answer.as_str().trim()) {
            self.answer.clear();
        }
        self.failed = Some(failed);
    }

    /// The answer. An error that is said in its place is none.
    pub(super) fn answer(&self, agent: Agent) -> &str {
        if self.error(agent).is_some() { "" } else { self.answer.as_str() }
    }

    /// The error that is the whole answer: some have no other way to say it.
    fn error(&self, agent: Agent) -> Option<&str> {
        let says_errors = matches!(agent, Agent::Copilot | Agent::Other) && !self.used_tools;
        self.answer.as_str().trim().strip_prefix("Error: ").filter(|_| says_errors)
    }

    /// What it comes to that the prompt was answered with this reason.
    pub(super) fn outcome(&self, reason: &str, agent: Agent) -> Option<Failed> {
        let said = self.answer.as_str().trim();
        match reason {
            "end_turn" => {}
            "cancelled" => return Some(Failed::Cancelled),
            "refusal" if said.is_empty() => return Some(Failed::Refused("the model refuses".to_owned())),
            "refusal" => return Some(Failed::Refused(words(said))),
            "max_tokens" => {
                let why = "the answer is cut off: it is longer than the model may write";
                return Some(Failed::Crashed(why.to_owned()));
            }
            other => return Some(Failed::Crashed(format!("it stopped for `{other}`"))),
        }
        if let Some(notice) = &self.notice {
            return Some(Fault::said(notice).failed());
        }
        if let Some(error) = self.error(agent) {
            return Some(Fault::said(error).failed());
        }
        // Some end the turn where they are refused something.
        if said.is_empty() {
            return self.denials.last().map(|it| Failed::Denied(it.clone()));
        }
        None
    }
}
