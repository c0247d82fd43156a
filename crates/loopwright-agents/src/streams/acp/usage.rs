//! What a prompt used. Every agent counts something else; the table is in [`super`].

use serde_json::Value;

use super::Agent;
use crate::streams::Usage;
use crate::streams::codex::since;
use crate::streams::kept::{count, millionths, text};

/// What was said so far, and how much of it was before the prompt.
#[derive(Debug, Default)]
pub(super) struct Counts {
    /// What the session had used before this connection.
    before: Usage,
    /// The session is older than this connection.
    is_older: bool,
    /// What was said when the prompt was sent.
    earlier: Usage,
    now: Usage,
    /// What was said in answer to this prompt.
    tokens: Option<Usage>,
    is_priced: bool,
}

impl Counts {
    pub(super) fn new(before: Usage) -> Self {
        Self { before, ..Self::default() }
    }

    /// The session goes on that was there before.
    pub(super) fn goes_on(&mut self) {
        self.is_older = true;
    }

    /// Another prompt is sent.
    pub(super) fn next(&mut self) {
        self.earlier = self.now;
        self.tokens = None;
        self.is_priced = false;
    }

    /// An update says what it costs so far.
    pub(super) fn cost(&mut self, update: &Value) {
        if text(update, "/cost/currency") != "USD" {
            return;
        }
        let dollars = update.pointer("/cost/amount").and_then(Value::as_f64);
        if let Some(money) = dollars.and_then(millionths) {
            self.now.money = Some(money);
            self.is_priced = true;
        }
    }

    /// The answer to the prompt says what was used.
    pub(super) fn tokens(&mut self, result: &Value) {
        let tokens = of_usage(result).or_else(|| of_quota(result));
        if let Some(tokens) = tokens {
            self.now = Usage { money: self.now.money, ..tokens };
        }
        self.tokens = tokens;
    }

    /// Whether the answer says that the model was asked at all.
    pub(super) fn is_counted(&self) -> bool {
        self.tokens.is_some_and(|it| it.input.is_some() || it.output.is_some())
    }

    /// What the prompt used.
    pub(super) fn used(&self, agent: Agent, used_tools: bool) -> Usage {
        let tokens = match (agent, self.tokens) {
            // It counts the last step alone, and there was more than one.
            (Agent::Opencode, _) if used_tools => Usage::default(),
            (Agent::Copilot, Some(tokens)) => Usage {
                input: tokens.input.map(|it| since(it, self.earlier.input)),
                cached: tokens.cached.map(|it| since(it, self.earlier.cached)),
                output: tokens.output.map(|it| since(it, self.earlier.output)),
                money: None,
            },
            (_, tokens) => tokens.unwrap_or_default(),
        };
        let earlier = match (agent, self.earlier.money) {
            (Agent::Opencode, None) if self.is_older => match self.before.money {
                Some(before) => Some(before),
                // It counts on from something that nobody knows.
                None => return tokens,
            },
            (_, earlier) => earlier,
        };
        let money = self.now.money.filter(|_| self.is_priced).map(|it| since(it, earlier));
        Usage { money, ..tokens }
    }
}

/// The protocol's own account. Whether what was read before is part of the input, and thoughts of the output, is left
/// to agents: the sum tells.
fn of_usage(result: &Value) -> Option<Usage> {
    let named = |name: &str| count(result, &format!("/usage/{name}"));
    let (input, output) = (named("inputTokens")?, named("outputTokens")?);
    let cached = named("cachedReadTokens");
    let apart =
        input.saturating_add(cached.unwrap_or(0)).saturating_add(named("cachedWriteTokens").unwrap_or(0));
    let thoughts = named("thoughtTokens").unwrap_or(0);
    let sums = |input: u64, output: u64| named("totalTokens") == Some(input.saturating_add(output));
    let with_thoughts = output.saturating_add(thoughts);
    let (input, output) = match () {
        () if sums(input, output) => (input, output),
        () if sums(apart, with_thoughts) && !sums(apart, output) => (apart, with_thoughts),
        () if sums(input, with_thoughts) => (input, with_thoughts),
        () => (apart, output),
    };
    Some(Usage { input: Some(input), cached, output: Some(output), money: None })
}

/// What Gemini says beside the protocol.
fn of_quota(result: &Value) -> Option<Usage> {
    let named = |name: &str| count(result, &format!("/_meta/quota/token_count/{name}"));
    Some(Usage {
        input: Some(named("input_tokens")?),
        cached: None,
        output: named("output_tokens"),
        money: None,
    })
}
