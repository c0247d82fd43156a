//! The desk: where an agent hands in its answer while it is at work, for one call and no longer.
//!
//! It is a socket that the tools of the call come to. Whatever an answer must be is decided here and not by whoever
//! serves the tools, which runs among what the agent started: it is only a messenger, and what it brings counts with the
//! token of this very call, once.

use std::fmt::Write as _;
use std::io::{self, BufRead as _, BufReader, Read as _, Write as _};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use indexmap::IndexMap;
use loopwright_core::machine::Outcome;
use loopwright_core::signal;
use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use serde_json::{Value, json};

use super::wanted::Wanted;
use super::{Tools, taken};
use crate::process::Supervisor;

/// As much as is taken from whoever comes.
const MOST: u64 = 16 << 20;
/// As much as is given of a document.
const MOST_READ: u64 = 1 << 20;
/// As long as is waited for somebody who came and says nothing.
const PATIENCE: Duration = Duration::from_secs(10);
/// As many as are heard at once.
const AT_ONCE: usize = 32;

/// The name the tools' server goes by.
const TOKEN: &str = "LOOPWRIGHT_TOKEN";
const DESK: &str = "LOOPWRIGHT_DESK";

/// The files of each document of a run, for whoever wants to read them.
pub(crate) type Documents = IndexMap<String, Vec<PathBuf>>;

/// A desk for one call.
pub(crate) struct Desk<'a> {
    wanted: &'a Wanted<'a>,
    documents: Documents,
    token: String,
    listener: UnixListener,
    /// Rings at the end.
    bell: (UnixStream, UnixStream),
    socket: PathBuf,
    // Its folder goes with it.
    _folder: tempfile::TempDir,
    closed: AtomicBool,
    answer: Mutex<Option<Outcome>>,
    refused: Mutex<Option<String>>,
}

impl<'a> Desk<'a> {
    /// Opens a desk for answers of a kind.
    pub(crate) fn open(wanted: &'a Wanted<'a>, documents: Documents) -> io::Result<Self> {
        let folder = short_folder()?;
        let socket = folder.path().join("desk");
        let listener = UnixListener::bind(&socket)?;
        let token = token()?;
        listener.set_nonblocking(true)?;
        let bell = UnixStream::pair()?;
        let (closed, answer, refused) = (AtomicBool::new(false), Mutex::default(), Mutex::default());
        Ok(Self {
            wanted,
            documents,
            token,
            listener,
            bell,
            socket,
            _folder: folder,
            closed,
            answer,
            refused,
        })
    }

    /// How an agent gets here.
    pub(crate) fn tools(&self, supervisor: &Supervisor) -> Tools {
        let environment = vec![
            (DESK.to_owned(), self.socket.to_string_lossy().into_owned()),
            (TOKEN.to_owned(), self.token.clone()),
        ];
        Tools { program: supervisor.program.clone(), arguments: vec!["mcp".into()], environment }
    }

    /// Serves whoever comes while something is done, and no longer.
    pub(crate) fn during<T>(&self, doing: impl FnOnce() -> T) -> T {
        std::thread::scope(|scope| {
            let visitors = Arc::new(());
            scope.spawn(move || {
                while self.somebody_comes() {
                    // More than any agent has tools at work at once: they may come again.
                    let room = Arc::strong_count(&visitors) <= AT_ONCE;
                    if let Ok((visitor, _)) = self.listener.accept()
                        && room
                    {
                        let here = Arc::clone(&visitors);
                        scope.spawn(move || {
                            drop(self.serve(visitor));
                            drop(here);
                        });
                    }
                }
            });
            let done = doing();
            self.closed.store(true, Ordering::Release);
            drop((&self.bell.0).write_all(&[0]));
            done
        })
    }

    /// Waits for somebody. `false`: the desk is closed.
    fn somebody_comes(&self) -> bool {
        let mut heard = [
            PollFd::new(&self.listener, PollFlags::IN),
            // A socket may be removed by anybody; what closes the desk may not.
            PollFd::new(&self.bell.1, PollFlags::IN),
        ];
        let waited = poll(&mut heard, None);
        (waited.is_ok() || waited == Err(Errno::INTR)) && !self.closed.load(Ordering::Acquire)
    }

    /// Why the last answer was not taken that was handed in, if none was taken since.
    pub(crate) fn refused(&self) -> Option<String> {
        self.refused.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The answer that was handed in, if one was.
    pub(crate) fn answer(&self) -> Option<Outcome> {
        self.answers().clone()
    }

    fn answers(&self) -> MutexGuard<'_, Option<Outcome>> {
        self.answer.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Hears somebody out, line by line.
    fn serve(&self, visitor: UnixStream) -> io::Result<()> {
        visitor.set_nonblocking(false)?;
        visitor.set_read_timeout(Some(PATIENCE))?;
        visitor.set_write_timeout(Some(PATIENCE))?;
        let mut said = BufReader::new(visitor.try_clone()?.take(MOST));
        let (mut line, mut visitor) = (String::new(), visitor);
        while !self.closed.load(Ordering::Acquire) && said.read_line(&mut line)? > 0 {
            let request = serde_json::from_str(&line).unwrap_or_default();
            writeln!(visitor, "{}", self.reply(&request))?;
            said.get_mut().set_limit(MOST);
            line.clear();
        }
        Ok(())
    }

    fn reply(&self, request: &Value) -> Value {
        if request["token"].as_str() != Some(&*self.token) {
            return json!({"error": "this is for another call, or for none: nothing was taken"});
        }
        if request["want"] == "tools" {
            return json!({"tools": self.offered(), "instructions": INSTRUCTIONS});
        }
        let arguments = request["arguments"].clone();
        let reply = match request["call"].as_str().unwrap_or_default() {
            tool if tool == self.wanted.tool() => self.hand_in(arguments),
            "ask_person" if self.wanted.asks => {
                let question = arguments["question"].as_str().unwrap_or_default();
                self.hand_in(json!({"verdict": signal::ASK, "question": question}))
            }
            "list_documents" => Ok(self.listed()),
            "read_document" => self.read(&arguments),
            other => Err(format!("there is no tool `{other}` in this call")),
        };
        match reply {
            Ok(text) => json!({"text": text, "refused": false}),
            Err(why) => json!({"text": why, "refused": true}),
        }
    }

    /// Takes an answer, the first that is one.
    fn hand_in(&self, answer: Value) -> Result<String, String> {
        let mut given = self.answers();
        if let Some(before) = &*given {
            return Err(format!(
                "an answer was handed in before in this call (`{}`), and it stands: end now",
                before.signal
            ));
        }
        let outcome = taken(answer, self.wanted).map_err(|why| {
            *self.refused.lock().unwrap_or_else(PoisonError::into_inner) = Some(why.clone());
            format!("not taken: {why}")
        })?;
        let text = format!("Taken: {}. There is nothing more to do; end now.", outcome.signal);
        *given = Some(outcome);
        Ok(text)
    }

    fn offered(&self) -> Value {
        let wanted = self.wanted;
        let about = match wanted.tool() {
            "create_review" => {
                "Hand in your review: the verdict, a summary and every finding. Once, at the very end."
            }
            _ => "Hand in how your work came out. Once, at the very end.",
        };
        let mut tools = vec![
            json!({"name": wanted.tool(), "description": about, "input": wanted.schema(false), "reads-only": false}),
        ];
        if wanted.asks {
            let input = json!({
                "type": "object", "properties": {"question": {"type": "string"}}, "required": ["question"],
                "additionalProperties": false,
            });
            let about =
                "Ask a person what you cannot go on without. Ends this call; the answer comes with the next.";
            tools.push(
                json!({"name": "ask_person", "description": about, "input": input, "reads-only": false}),
            );
        }
        let none = json!({"type": "object", "properties": {}, "additionalProperties": false});
        let name = json!({
            "type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"],
            "additionalProperties": false,
        });
        tools.push(json!({"name": "list_documents", "description": "The documents of this run and their files.", "input": none, "reads-only": true}));
        tools.push(json!({"name": "read_document", "description": "What the files of a document of this run say.", "input": name, "reads-only": true}));
        tools.into()
    }

    fn listed(&self) -> String {
        let lines = self.documents.iter().map(|(name, files)| {
            let files: Vec<String> = files.iter().map(|it| it.display().to_string()).collect();
            format!("{name}: {}\n", if files.is_empty() { "not there".to_owned() } else { files.join(", ") })
        });
        lines.collect()
    }

    fn read(&self, arguments: &Value) -> Result<String, String> {
        let name = arguments["name"].as_str().unwrap_or_default();
        let files = self.documents.get(name).ok_or_else(|| {
            let known = self.documents.keys().map(String::as_str);
            let near = loopwright_core::problem::did_you_mean(name, known).unwrap_or_default();
            format!("there is no document `{name}`: {near}")
        })?;
        let mut text = String::new();
        for file in files {
            let mut bytes = Vec::new();
            let opened = std::fs::File::open(file).and_then(|it| it.take(MOST_READ).read_to_end(&mut bytes));
            let said = match opened {
                Ok(_) => String::from_utf8_lossy(&bytes).into_owned(),
                Err(error) => format!("(it cannot be read: {error})"),
            };
            let _ = write!(text, "--- {}\n{said}\n", file.display());
            if text.len() as u64 > MOST_READ {
                text.push_str("… the rest was left out: read the files themselves\n");
                break;
            }
        }
        Ok(if text.is_empty() { "it is not there".to_owned() } else { text })
    }
}

const INSTRUCTIONS: &str =
    "Hand in your answer here when your work is done. What you write as text decides nothing.";

/// A folder for a socket: their paths are short.
fn short_folder() -> io::Result<tempfile::TempDir> {
    const MOST_OF_A_PATH: usize = 80;
    let mut named = tempfile::Builder::new();
    named.prefix("lw-");
    let usual = std::env::temp_dir();
    if usual.as_os_str().len() < MOST_OF_A_PATH { named.tempdir() } else { named.tempdir_in("/tmp") }
}

/// A word nobody guesses.
fn token() -> io::Result<String> {
    let mut bytes = [0; 32];
    std::fs::File::open("/dev/urandom")?.read_exact(&mut bytes)?;
    Ok(blake3::hash(&bytes).to_hex().to_string())
}

#[cfg(test)]
#[path = "desk_tests.rs"]
mod tests;
