//! One turn of a conversation with an agent that speaks the Agent Client Protocol over its standard streams.
//!
//! The protocol is asynchronous and the engine is not. Nothing here waits but in one place, the read of the agent's next
//! line: what there is to do is done until there is nothing left, then a line is read, and so on. So a line is dealt with
//! before the next one is read, nothing queues up behind a talkative agent, and what was heard has one order. Writing has
//! a thread of its own: an agent that first wants to be listened to is listened to.
//!
//! What it all means is not decided here: every message, either way, is told to [`crate::streams::acp`], which means the
//! same by it as by one that was recorded. Decided is what comes next, and what the agent may do when it asks.
//!
//! Nobody is cancelled here. Whoever wants an end ends the agent; its stream closes, and with it the turn.

mod lines;
mod permit;
mod talk;

use std::collections::VecDeque;
use std::future::Future;
use std::io;
use std::path::PathBuf;
use std::pin::pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{SyncSender, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Wake, Waker};

use futures::channel::mpsc;

use crate::streams::acp::{Acp, acp};
use crate::streams::{Failed, Usage};
use lines::{Line, Lines};

/// What an agent is asked, and under which conditions.
#[derive(Clone, Debug, Default)]
pub struct Turn {
    /// The folder it works in. Absolute.
    pub cwd: PathBuf,
    /// What it is told.
    pub prompt: String,
    /// The tools it is given on top of its own.
    pub mcp: Option<McpServer>,
    /// The session it goes on with. A new one, if there is none.
    pub session: Option<String>,
    /// What that session had used before, as far as it is known.
    pub before: Usage,
    /// The mode it works in, in its own words. An agent that has no such thing refuses the turn: in another mode it might
    /// do what it was to be kept from.
    pub mode: Option<String>,
    /// The model it works with, in its own words, where it lets itself be told.
    pub model: Option<String>,
    /// What it may do, as far as it asks.
    pub permissions: Permissions,
}

/// A server of tools that the agent starts.
#[derive(Clone, Debug, Default)]
pub struct McpServer {
    /// What it goes by.
    pub name: String,
    /// The program.
    pub command: PathBuf,
    /// What the program is given.
    pub args: Vec<String>,
    /// The environment it gets on top. `heard` does not get to hear the values.
    pub env: Vec<(String, String)>,
}

/// What an agent may do. Looking around is always allowed, and so are tools that say nothing of their kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Permissions {
    /// Change, move and delete files.
    pub write: bool,
    /// Run commands.
    pub shell: bool,
    /// Fetch from elsewhere.
    pub network: bool,
}

/// Who said something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// The agent did.
    In,
    /// It was said to the agent.
    Out,
}

/// So many lines may wait to be written. With more, the agent is not listened to until it listens.
const WAITING: usize = 256;

/// Asks, and listens until there is an answer or none can come any more. Blocks.
///
/// `input` is what the agent reads and `output` is what it writes. Each line, either way, is passed to `heard`. When this
/// returns, `input` is closed as soon as all is written, which is the agent's sign to leave. What came of the turn can be
/// asked of what is returned, once it is known how the agent ended.
pub fn converse(
    input: impl io::Write + Send + 'static,
    output: impl io::Read,
    turn: &Turn,
    heard: &mut dyn FnMut(Way, &str),
) -> Acp {
    let mut told = acp(turn.before);
    let (send, written) = sync_channel(WAITING);
    // The thread is not waited for: an agent that no longer reads would keep it for ever.
    let writing =
        std::thread::Builder::new().name("acp".to_owned()).spawn(move || lines::write(input, &written));
    if let Err(error) = writing {
        told.gives_up(Failed::Crashed(format!("no thread to write with: {error}")));
        return told;
    }
    let said = Arc::new(Outgoing::default());
    let (incoming, lines) = mpsc::unbounded();
    let talk = talk::talk(turn.clone(), Arc::clone(&said), lines);
    let failed = drive(talk, incoming, Lines::new(output), &said, &send, &mut |message| match message {
        Heard::Sent(line) => {
            told.sent(&parsed(line));
            heard(Way::Out, &hushed(line, turn));
        }
        Heard::Message(line) => {
            told.message(&parsed(line));
            heard(Way::In, line);
        }
        Heard::Other(line) => heard(Way::In, line),
    });
    if let Some(failed) = failed {
        told.gives_up(failed);
    }
    told
}

fn parsed(line: &str) -> serde_json::Value {
    serde_json::from_str(line).unwrap_or_default()
}

/// A line of the conversation.
enum Heard<'a> {
    /// It is said to the agent.
    Sent(&'a str),
    /// The agent says it.
    Message(&'a str),
    /// The agent says it, and it is nothing of the protocol.
    Other(&'a str),
}

/// Runs the conversation, line by line. Why it went no further, unless the agent said or left.
fn drive(
    talk: impl Future<Output = Option<Failed>>,
    incoming: mpsc::UnboundedSender<io::Result<String>>,
    mut output: Lines<impl io::Read>,
    said: &Outgoing,
    send: &SyncSender<String>,
    heard: &mut dyn FnMut(Heard<'_>),
) -> Option<Failed> {
    let mut talk = pin!(talk);
    let mut incoming = Some(incoming);
    loop {
        let ended = rest(talk.as_mut());
        for line in said.drain() {
            heard(Heard::Sent(&line));
            // Where nobody reads any more, nobody answers either: the end of the other stream says so.
            drop(send.send(line));
        }
        if let Poll::Ready(failed) = ended {
            return failed;
        }
        // At the end of the stream everything that waits for an answer fails, and the conversation ends.
        let agent = incoming.as_ref()?;
        match output.next() {
            Line::Message(line) => {
                heard(Heard::Message(&line));
                drop(agent.unbounded_send(Ok(line)));
            }
            Line::Other(line) => heard(Heard::Other(&line)),
            Line::Broken(error) => {
                drop(agent.unbounded_send(Err(error)));
                incoming = None;
            }
            Line::End => incoming = None,
        }
    }
}

/// Does what there is to do, until there is nothing left but to wait for the agent.
fn rest<F: Future>(mut future: std::pin::Pin<&mut F>) -> Poll<F::Output> {
    let woken = Arc::new(Woken(AtomicBool::new(true)));
    let waker = Waker::from(Arc::clone(&woken));
    while woken.0.swap(false, Ordering::SeqCst) {
        if let Poll::Ready(done) = future.as_mut().poll(&mut Context::from_waker(&waker)) {
            return Poll::Ready(done);
        }
    }
    Poll::Pending
}

/// Whether there is something to do.
struct Woken(AtomicBool);

impl Wake for Woken {
    fn wake(self: Arc<Self>) {
        self.0.store(true, Ordering::SeqCst);
    }
}

/// What is said to the agent, until it is written.
#[derive(Default)]
struct Outgoing(Mutex<VecDeque<String>>);

impl Outgoing {
    fn push(&self, line: String) {
        lock(&self.0).push_back(line);
    }

    fn drain(&self) -> VecDeque<String> {
        std::mem::take(&mut *lock(&self.0))
    }
}

/// A line without the values in the environment of the tools, which are nobody else's business.
fn hushed<'a>(line: &'a str, turn: &Turn) -> std::borrow::Cow<'a, str> {
    let mut line = std::borrow::Cow::Borrowed(line);
    for (_, value) in turn.mcp.iter().flat_map(|server| &server.env) {
        let value = serde_json::Value::from(value.as_str()).to_string();
        if value.len() > 2 && line.contains(&value) {
            line = line.replace(&value, "\"...\"").into();
        }
    }
    line
}

/// Nothing is left half done under these locks, so one that somebody died with is as good as any.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// As much of a name as is kept of it.
fn shortened(text: &str) -> String {
    text.chars().take(200).collect()
}
