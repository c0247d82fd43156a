//! How answers are written.

use loopwright_formats::vibe::record::render;
use serde_json::Value;

use crate::show;

/// How an answer is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Format {
    /// A line each
    Text,
    /// As one JSON object, keys sorted
    Json,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Output {
    pub(crate) json: bool,
}

impl Output {
    /// Writes an answer to stdout.
    pub(crate) fn write(self, answer: &Value) {
        if self.json {
            show::out(&render(answer));
            return;
        }
        for (name, value) in answer.as_object().into_iter().flatten() {
            let text = match value {
                Value::String(text) => text.clone(),
                Value::Null => "-".to_owned(),
                other => other.to_string(),
            };
            show::out(&format!("{name}: {text}\n"));
        }
    }
}
