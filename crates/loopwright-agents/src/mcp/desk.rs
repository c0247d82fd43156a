//! The desk, seen from outside: one line of JSON asks, one line answers, each on a connection of its own.

use std::path::PathBuf;

use serde::Deserialize;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::UnixStream;

/// The largest line in either direction.
pub(super) const LARGEST: usize = 16 * 1024 * 1024;

/// Where to ask, and as whom.
pub(super) struct Desk {
    path: PathBuf,
    token: String,
}

/// What there is to be called.
#[derive(Deserialize)]
pub(super) struct Offer {
    pub tools: Vec<Offered>,
    #[serde(default)]
    pub instructions: String,
}

/// A tool.
#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) struct Offered {
    pub name: String,
    #[serde(default)]
    pub description: String,
    #[serde(default)]
    pub input: Value,
    #[serde(default)]
    pub reads_only: bool,
}

/// What came of a call.
#[derive(Deserialize)]
pub(super) struct Answer {
    pub text: String,
    #[serde(default)]
    pub refused: bool,
}

/// Why there is no answer. Each is read by a model, so each says what became of what it gave.
#[derive(Debug, thiserror::Error)]
pub(super) enum Unheard {
    #[error("This call is over: nobody takes anything any more, and nothing was taken. Stop here.")]
    Gone,
    #[error(
        "This call is over: it ended before an answer came, so do not count on this having been taken. Stop here."
    )]
    Silent,
    #[error("That is too much at once: it may be at most {} MiB. Nothing was taken. Give less.", LARGEST / 1024 / 1024)]
    TooLarge,
    #[error("The answer can not be understood: {0}. Do not count on this having been taken.")]
    Garbled(String),
    #[error("{0}. Nothing was taken.")]
    Said(String),
}

impl Desk {
    /// The desk this process was told of, if it was.
    pub fn of_environment() -> Option<Self> {
        let path = PathBuf::from(std::env::var_os(super::DESK).filter(|path| !path.is_empty())?);
        let token = std::env::var(super::TOKEN).ok().filter(|token| !token.is_empty())?;
        Some(Self { path, token })
    }

    /// What there is to be called now.
    pub async fn tools(&self) -> Result<Offer, Unheard> {
        self.ask(&json!({ "token": self.token, "want": "tools" })).await
    }

    /// Calls a tool.
    pub async fn call(&self, name: &str, arguments: &Value) -> Result<Answer, Unheard> {
        self.ask(&json!({ "token": self.token, "call": name, "arguments": arguments })).await
    }

    async fn ask<T: for<'de> Deserialize<'de>>(&self, request: &Value) -> Result<T, Unheard> {
        let mut line = request.to_string();
        if line.len() >= LARGEST {
            return Err(Unheard::TooLarge);
        }
        line.push('\n');
        let stream = UnixStream::connect(&self.path).await.map_err(|_| Unheard::Gone)?;
        let (read, mut write) = stream.into_split();
        // A desk that closes while it is written to may have said why, so a failure to write is not the last word.
        let written = write.write_all(line.as_bytes()).await;
        let mut reply = Vec::new();
        let mut read = BufReader::new(read.take(LARGEST as u64 + 1));
        match read.read_until(b'\n', &mut reply).await {
            Ok(_) if reply.len() > LARGEST => return Err(Unheard::Garbled("it is too long".to_owned())),
            Ok(_) if reply.ends_with(b"\n") => {}
            // Half a line is no answer, whatever it says so far.
            Ok(_) | Err(_) if written.is_err() => return Err(Unheard::Gone),
            Ok(_) | Err(_) => return Err(Unheard::Silent),
        }
        let reply: Value =
            serde_json::from_slice(&reply).map_err(|error| Unheard::Garbled(error.to_string()))?;
        if let Some(error) = reply.get("error") {
            let error = error.as_str().map_or_else(|| error.to_string(), str::to_owned);
            return Err(Unheard::Said(error.trim_end_matches('.').to_owned()));
        }
        serde_json::from_value(reply).map_err(|error| Unheard::Garbled(error.to_string()))
    }
}
