//! The interfaces that are spoken. Each is two translations, of a request into [`Asked`] and of a [`Reply`] into its
//! form, whole and streamed. None of them decides anything.

mod anthropic;
mod chat;
mod gemini;
mod responses;

use serde::Serialize;
use serde_json::Value;

use crate::conversation::Asked;
use crate::reply::{Ids, Reply};

/// An interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Api {
    /// Anthropic Messages.
    Anthropic,
    /// `OpenAI` Responses.
    Responses,
    /// `OpenAI` Chat Completions.
    Chat,
    /// Gemini.
    Gemini,
}

/// An answer as a stream.
#[derive(Debug, Default)]
pub(crate) struct Stream {
    pub(crate) events: Vec<Event>,
    /// How many of them it takes until something has been said, so that a stream can stop in the middle of it.
    pub(crate) begun: usize,
}

impl Stream {
    pub(crate) fn push(&mut self, name: Option<&str>, data: &(impl ToString + ?Sized)) {
        self.events.push(Event { name: name.map(str::to_owned), data: data.to_string() });
    }

    /// Something has been said. Only the first time counts.
    pub(crate) fn mark(&mut self) {
        if self.begun == 0 {
            self.begun = self.events.len();
        }
    }
}

/// One event of a stream.
#[derive(Debug)]
pub(crate) struct Event {
    name: Option<String>,
    data: String,
}

impl Event {
    /// As it goes over the wire. The data is JSON and has no line breaks.
    pub(crate) fn line(&self) -> String {
        let name = self.name.as_ref().map(|it| format!("event: {it}\n")).unwrap_or_default();
        format!("{name}data: {}\n\n", self.data)
    }
}

/// What a request is for, going by its path. Only the end of it is looked at, since agents differ in what they take to
/// be the base of an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Errand {
    /// An answer.
    Answer(Api),
    /// How long a text is.
    Count(Api),
    /// Which models there are.
    Models,
    /// Whatever else.
    Other,
}

impl Errand {
    pub(crate) fn of(method: &str, path: &str) -> Self {
        let path = path.trim_end_matches('/');
        if method != "POST" {
            let models = path.ends_with("/models") || path.contains("/models/");
            return if models { Self::Models } else { Self::Other };
        }
        let ends = [
            ("/messages", Self::Answer(Api::Anthropic)),
            ("/messages/count_tokens", Self::Count(Api::Anthropic)),
            ("/responses", Self::Answer(Api::Responses)),
            ("/chat/completions", Self::Answer(Api::Chat)),
            (":generateContent", Self::Answer(Api::Gemini)),
            (":streamGenerateContent", Self::Answer(Api::Gemini)),
            (":countTokens", Self::Count(Api::Gemini)),
        ];
        ends.iter().find(|(end, _)| path.ends_with(end)).map_or(Self::Other, |(_, errand)| *errand)
    }
}

impl Api {
    pub(crate) fn read(self, path: &str, body: &Value) -> Asked {
        match self {
            Self::Anthropic => anthropic::read(body),
            Self::Responses => responses::read(body),
            Self::Chat => chat::read(body),
            Self::Gemini => gemini::read(path, body),
        }
    }

    pub(crate) fn whole(self, reply: &Reply, ids: &Ids) -> Value {
        match self {
            Self::Anthropic => anthropic::whole(reply, ids),
            Self::Responses => responses::whole(reply, ids),
            Self::Chat => chat::whole(reply, ids),
            Self::Gemini => gemini::whole(reply, ids),
        }
    }

    pub(crate) fn stream(self, reply: &Reply, ids: &Ids) -> Stream {
        match self {
            Self::Anthropic => anthropic::stream(reply, ids),
            Self::Responses => responses::stream(reply, ids),
            Self::Chat => chat::stream(reply, ids),
            Self::Gemini => gemini::stream(reply, ids),
        }
    }
}

/// The items of a list within a value; none if there is no list.
fn items<'a>(value: &'a Value, name: &str) -> impl Iterator<Item = &'a Value> {
    value.get(name).and_then(Value::as_array).into_iter().flatten()
}

fn string<'a>(value: &'a Value, name: &str) -> &'a str {
    value.get(name).and_then(Value::as_str).unwrap_or_default()
}

/// The text of a message: a string, or parts of which some have text.
fn text(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(parts) => parts.iter().map(|it| string(it, "text")).collect::<Vec<_>>().join("\n"),
        _ => String::new(),
    }
}
