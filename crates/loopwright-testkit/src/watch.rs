//! What was asked and what was answered, for tests to look at and to wait for.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Write as _;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use axum::http::HeaderMap;
use serde::Serialize;
use serde_json::Value;

use crate::api::Api;

/// One request.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Request {
    /// Through which interface an answer was asked for; none for whatever else agents ask.
    pub api: Option<Api>,
    /// `POST`, `GET`, `HEAD`.
    pub method: String,
    /// The path, and the query if there is one.
    pub path: String,
    /// The headers that say who asks, with which key, and for what. Names are in small letters.
    pub headers: BTreeMap<String, String>,
    /// What was sent: JSON, or text if it is none.
    pub body: Value,
    /// The tools that were offered; those in a namespace as `namespace::tool`.
    pub tools: Vec<String>,
    /// The script that was played, if there was a marker.
    pub script: Option<String>,
    /// The number of the step that was played, from 0, if the script has it.
    pub step: Option<usize>,
    /// What was answered.
    pub answer: Answer,
    /// A silence was ended, by the one who asked or with the server.
    pub left: bool,
}

/// What was answered.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Answer {
    /// Text.
    Text(String),
    /// Calls of tools.
    Calls(Vec<Called>),
    /// An error with this status.
    Http(u16),
    /// Nothing that means anything.
    Garbage,
    /// Half of it, ended in order.
    Cut,
    /// Half of it, and the connection broken.
    Torn,
    /// Half of it, and silence.
    Stall,
    /// Silence.
    Hang,
    /// No answer of the model was asked for.
    Errand,
}

/// A call that was made.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Called {
    /// The name the agent gives the tool.
    pub tool: String,
    /// With what.
    pub arguments: Value,
}

const HEADERS: [&str; 9] = [
    "accept",
    "anthropic-beta",
    "anthropic-version",
    "authorization",
    "content-type",
    "session_id",
    "user-agent",
    "x-api-key",
    "x-goog-api-key",
];

/// Keys are for tests to compare, not for files.
const KEYS: [&str; 3] = ["authorization", "x-api-key", "x-goog-api-key"];

/// The headers worth keeping.
pub(crate) fn headers(all: &HeaderMap) -> BTreeMap<String, String> {
    let text = |name: &str| all.get(name).map(|it| String::from_utf8_lossy(it.as_bytes()).into_owned());
    HEADERS.iter().filter_map(|name| Some(((*name).to_owned(), text(name)?))).collect()
}

/// All requests so far.
#[derive(Debug, Default)]
pub(crate) struct Watch {
    requests: Mutex<Vec<Request>>,
    changed: Condvar,
    log: Option<Mutex<File>>,
}

impl Watch {
    pub(crate) fn new(log: Option<File>) -> Self {
        Self { log: log.map(Mutex::new), ..Self::default() }
    }

    pub(crate) fn requests(&self) -> Vec<Request> {
        self.lock().clone()
    }

    pub(crate) fn write_down(&self, request: Request) -> usize {
        self.log(&request);
        let mut requests = self.lock();
        requests.push(request);
        self.changed.notify_all();
        requests.len() - 1
    }

    pub(crate) fn wait_until(&self, patience: Duration, done: impl Fn(&[Request]) -> bool) -> bool {
        let start = Instant::now();
        let mut requests = self.lock();
        loop {
            if done(&requests) {
                return true;
            }
            let Some(left) = patience.checked_sub(start.elapsed()) else { return false };
            let waited = self.changed.wait_timeout(requests, left);
            requests = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// One line of JSON a request. That a log cannot be written is no reason to fail a test.
    fn log(&self, request: &Request) {
        let Some(log) = &self.log else { return };
        let mut request = request.clone();
        for (name, value) in &mut request.headers {
            if KEYS.contains(&name.as_str()) {
                "(a key)".clone_into(value);
            }
        }
        if let Ok(line) = serde_json::to_string(&request) {
            let mut file = log.lock().unwrap_or_else(PoisonError::into_inner);
            let _ = file.write_all(format!("{line}\n").as_bytes());
        }
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Request>> {
        self.requests.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Somebody waits for an answer that does not come. Dropped when nobody does any more.
pub(crate) struct Silence {
    watch: Arc<Watch>,
    request: usize,
}

impl Silence {
    pub(crate) fn new(watch: &Arc<Watch>, request: usize) -> Self {
        Self { watch: Arc::clone(watch), request }
    }
}

impl Drop for Silence {
    fn drop(&mut self) {
        if let Some(request) = self.watch.lock().get_mut(self.request) {
            request.left = true;
        }
        self.watch.changed.notify_all();
    }
}
