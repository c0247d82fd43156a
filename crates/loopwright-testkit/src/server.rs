//! The server: takes a request, finds the step that is due, and sends it in the form the interface wants.
//!
//! It has a thread and a runtime of its own, so that tests need neither. Nothing in it waits for a length of time: a
//! silence ends when whoever listens goes away, or with the server.

use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use serde_json::{Value, json};
use tokio::sync::oneshot;

use crate::api::{Api, Errand};
use crate::body::{End, Pieces};
use crate::conversation::{self, Asked};
use crate::failure;
use crate::reply::{self, Ids, Reply, Said, halves};
use crate::script::{Act, Failure, Http, Scripts, Step, Usage};
use crate::tools::{self, Tool};
use crate::watch::{self, Answer, Called, Request, Silence, Watch};

/// A server on this machine, for as long as it is held.
pub struct ModelServer {
    address: SocketAddr,
    shared: Arc<Shared>,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

/// How a server is started.
#[derive(Debug, Default)]
pub struct Options {
    /// The port; any that is free if 0.
    pub port: u16,
    /// Where requests are written down besides, one line of JSON each, without keys.
    pub log: Option<File>,
}

#[derive(Default)]
struct Shared {
    state: Mutex<Played>,
    watch: Arc<Watch>,
}

/// The scripts, and how often steps that misbehave only so often have done so.
#[derive(Default)]
struct Played {
    scripts: Scripts,
    times: BTreeMap<(String, usize), u32>,
}

impl ModelServer {
    /// Starts a server on a free port.
    pub fn start(scripts: Scripts) -> io::Result<Self> {
        Self::start_with(scripts, Options::default())
    }

    /// Starts a server.
    pub fn start_with(scripts: Scripts, options: Options) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, options.port))?;
        listener.set_nonblocking(true)?;
        let address = listener.local_addr()?;
        let shared = Arc::new(Shared {
            state: Mutex::new(Played { scripts, ..Played::default() }),
            watch: Arc::new(Watch::new(options.log)),
        });
        let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build()?;
        let listener = {
            let _inside = runtime.enter();
            tokio::net::TcpListener::from_std(listener)?
        };
        let router = Router::new().fallback(serve).with_state(Arc::clone(&shared));
        let (stop, stopped) = oneshot::channel();
        let thread = std::thread::Builder::new().name("model-server".to_owned()).spawn(move || {
            runtime.block_on(async move {
                let serving = tokio::spawn(async move { axum::serve(listener, router).await });
                // It comes to the same whether one is told to stop or the one who could tell is gone.
                let _ = stopped.await;
                serving.abort();
            });
            // With the runtime go the connections, whatever they wait for.
        })?;
        Ok(Self { address, shared, stop: Some(stop), thread: Some(thread) })
    }

    /// Where it listens: `http://127.0.0.1:PORT`, without a slash.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// The port it listens on.
    pub fn port(&self) -> u16 {
        self.address.port()
    }

    /// Takes over more scripts. Those of the same name are replaced.
    pub fn add(&self, scripts: Scripts) {
        self.shared.played().scripts.add(scripts);
    }

    /// All requests so far, in their order.
    pub fn requests(&self) -> Vec<Request> {
        self.shared.watch.requests()
    }

    /// Waits until the requests are as wanted, and says whether they came to be so. `patience` is there to fail a test that
    /// would never end; nothing else depends on it.
    pub fn wait_until(&self, patience: Duration, done: impl Fn(&[Request]) -> bool) -> bool {
        self.shared.watch.wait_until(patience, done)
    }
}

impl Drop for ModelServer {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// What is to be sent.
struct Due {
    script: Option<String>,
    step: Option<usize>,
    act: Sent,
}

enum Sent {
    Reply(Reply),
    Failure(Failure),
}

impl Shared {
    fn played(&self) -> MutexGuard<'_, Played> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn due(&self, asked: &Asked, body: &Value) -> Due {
        let text = |text: String| Sent::Reply(Reply { said: Said::Text(text), usage: Usage::default() });
        let Some(place) = conversation::place(&asked.turns) else {
            let act = text("no script: the prompts have no [[script:NAME]]".to_owned());
            return Due { script: None, step: None, act };
        };
        let script = place.script.to_owned();
        let mut played = self.played();
        let played = &mut *played;
        let passed = |step: usize, times: u32| {
            let already = played.times.get(&(script.clone(), step)).copied().unwrap_or_default();
            asked.tools.is_empty() || already >= times
        };
        let (step, act) = match conversation::next(&played.scripts, &place, passed) {
            Ok((number, step)) => {
                if step.times.is_some() {
                    *played.times.entry((script.clone(), number)).or_default() += 1;
                }
                (Some(number), sent(step, asked, body))
            }
            Err(over) => (None, text(over)),
        };
        Due { script: Some(script), step, act }
    }
}

fn sent(step: &Step, asked: &Asked, body: &Value) -> Sent {
    let said = match &step.act {
        Act::Fail(failure) => return Sent::Failure(failure.clone()),
        Act::Text(text) => Said::Text(text.clone()),
        Act::Structured(data) => reply::structured(data, &asked.tools),
        Act::Calls(calls) => reply::calls(calls, &asked.tools, body),
    };
    let said = match (said, &asked.shape) {
        (Said::Text(text), Some(shape)) if serde_json::from_str::<Value>(&text).is_err() => {
            Said::Text(tools::example(shape).to_string())
        }
        (said, _) => said,
    };
    Sent::Reply(Reply { said, usage: step.usage })
}

async fn serve(State(shared): State<Arc<Shared>>, request: axum::extract::Request) -> Response {
    let (parts, body) = request.into_parts();
    let path = parts.uri.path().to_owned();
    // Somebody who goes away in the middle of a request gets no answer anyway.
    let bytes = axum::body::to_bytes(body, usize::MAX).await.unwrap_or_default();
    let body = serde_json::from_slice(&bytes)
        .unwrap_or_else(|_| Value::String(String::from_utf8_lossy(&bytes).into_owned()));
    let mut written = Request {
        api: None,
        method: parts.method.to_string(),
        path: parts.uri.path_and_query().map(ToString::to_string).unwrap_or_default(),
        headers: watch::headers(&parts.headers),
        body,
        tools: Vec::new(),
        script: None,
        step: None,
        answer: Answer::Errand,
        left: false,
    };
    match Errand::of(&written.method, &path) {
        Errand::Answer(api) => answer(&shared, api, &path, written).await,
        errand => {
            let response = run(errand, &written.method, &path);
            if response.status() != StatusCode::OK {
                written.answer = Answer::Http(response.status().as_u16());
            }
            shared.watch.write_down(written);
            response
        }
    }
}

/// What agents ask besides.
fn run(errand: Errand, method: &str, path: &str) -> Response {
    let tokens = Usage::default().input;
    let (status, body) = match errand {
        Errand::Count(Api::Gemini) => (StatusCode::OK, json!({"totalTokens": tokens})),
        Errand::Count(_) => (StatusCode::OK, json!({"input_tokens": tokens})),
        Errand::Models => (StatusCode::OK, models()),
        Errand::Answer(_) | Errand::Other if method == "POST" || (method == "GET" && path != "/") => {
            (StatusCode::NOT_FOUND, json!({"error": {"message": format!("not found: {path}")}}))
        }
        Errand::Answer(_) | Errand::Other => (StatusCode::OK, json!({})),
    };
    (status, [(header::CONTENT_TYPE, "application/json")], body.to_string()).into_response()
}

/// The list of models as `OpenAI` and Anthropic give it. `models` is empty, since Gemini and Codex want different things
/// below that name, and do without.
fn models() -> Value {
    let model = json!({
        "id": "scripted-1",
        "object": "model",
        "type": "model",
        "display_name": "scripted-1",
        "owned_by": "tests",
        "created": 1,
    });
    json!({"object": "list", "data": [model], "has_more": false, "models": []})
}

async fn answer(shared: &Shared, api: Api, path: &str, mut written: Request) -> Response {
    written.api = Some(api);
    if !written.body.is_object() {
        written.answer = Answer::Http(400);
        shared.watch.write_down(written);
        let http = Http { status: 400, body: json!("the request is no JSON object"), ..Http::default() };
        return failure::response(api, &http);
    }
    let asked = api.read(path, &written.body);
    let due = shared.due(&asked, &written.body);
    let model = written.body.get("model").and_then(Value::as_str).or_else(|| gemini_model(path));
    let model = model.unwrap_or("scripted-1").to_owned();
    written.tools = asked.tools.iter().map(Tool::title).collect();
    written.script = due.script;
    written.step = due.step;
    written.answer = shown(&due.act);
    let number = shared.watch.write_down(written);
    let ids = Ids { model, request: number, turns: asked.turns.len() };
    match due.act {
        Sent::Reply(reply) if asked.streams => {
            let events = api.stream(&reply, &ids).events;
            pieces(true, events.iter().map(crate::api::Event::line), End::Done)
        }
        Sent::Reply(reply) => pieces(false, [api.whole(&reply, &ids).to_string()], End::Done),
        Sent::Failure(failure) => {
            let silence = || Silence::new(&shared.watch, number);
            let half = |end| pieces(asked.streams, half(api, &ids, asked.streams), end);
            match failure {
                Failure::Http(http) => failure::response(api, &http),
                Failure::Garbage => {
                    let garbage = "<html>this is no answer\n\ndata: {broken\n\n";
                    pieces(asked.streams, [garbage.to_owned()], End::Done)
                }
                Failure::Cut => half(End::Done),
                Failure::Torn => half(End::Torn),
                Failure::Stall => half(End::Silent(silence())),
                Failure::Hang => {
                    let _waiting = silence();
                    std::future::pending().await
                }
            }
        }
    }
}

/// The model that is part of the path, as with Gemini.
fn gemini_model(path: &str) -> Option<&str> {
    path.rsplit('/').next()?.split_once(':').map(|(model, _)| model)
}

fn shown(act: &Sent) -> Answer {
    match act {
        Sent::Reply(Reply { said: Said::Text(text), .. }) => Answer::Text(text.clone()),
        Sent::Reply(Reply { said: Said::Calls(calls), .. }) => {
            let called =
                |it: &tools::Invocation| Called { tool: it.tool.clone(), arguments: it.arguments.clone() };
            Answer::Calls(calls.iter().map(called).collect())
        }
        Sent::Failure(Failure::Http(http)) => Answer::Http(http.status),
        Sent::Failure(Failure::Garbage) => Answer::Garbage,
        Sent::Failure(Failure::Cut) => Answer::Cut,
        Sent::Failure(Failure::Torn) => Answer::Torn,
        Sent::Failure(Failure::Stall) => Answer::Stall,
        Sent::Failure(Failure::Hang) => Answer::Hang,
    }
}

/// The beginning of an answer that does not end: the events until something has been said, or half of the JSON.
fn half(api: Api, ids: &Ids, streams: bool) -> Vec<String> {
    let said = Said::Text("This is an answer that is never ended.".to_owned());
    let reply = Reply { said, usage: Usage::default() };
    if !streams {
        let whole = api.whole(&reply, ids).to_string();
        let [first, _] = halves(&whole);
        return vec![first.to_owned()];
    }
    let stream = api.stream(&reply, ids);
    stream.events.iter().take(stream.begun).map(crate::api::Event::line).collect()
}

fn pieces(streams: bool, pieces: impl IntoIterator<Item = String>, end: End) -> Response {
    let kind = if streams { "text/event-stream" } else { "application/json" };
    ([(header::CONTENT_TYPE, kind)], Body::new(Pieces::new(pieces, end))).into_response()
}
