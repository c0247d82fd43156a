//! A desk for the tests: it answers as it is told to, and remembers what it was asked.

use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;

use serde_json::Value;

/// What the desk says to one request.
#[derive(Clone)]
pub enum Reply {
    Line(String),
    Half(String),
    Nothing,
}

pub struct Desk {
    path: PathBuf,
    closed: Arc<AtomicBool>,
    keeper: Option<JoinHandle<Vec<Value>>>,
    _folder: tempfile::TempDir,
}

impl Desk {
    pub fn open(answer: impl Fn(&Value) -> Reply + Send + 'static) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("desk");
        let listener = UnixListener::bind(&path).unwrap();
        let closed = Arc::new(AtomicBool::new(false));
        let flag = Arc::clone(&closed);
        let keeper = std::thread::spawn(move || {
            let mut asked = Vec::new();
            for stream in listener.incoming() {
                if flag.load(Ordering::SeqCst) {
                    break;
                }
                let mut stream = stream.unwrap();
                let mut line = String::new();
                BufReader::new(stream.try_clone().unwrap()).read_line(&mut line).unwrap();
                let request: Value = serde_json::from_str(&line).unwrap();
                // Whoever asked may have hung up, as over an answer that is too long.
                drop(match answer(&request) {
                    Reply::Line(line) => stream.write_all(format!("{line}\n").as_bytes()),
                    Reply::Half(line) => stream.write_all(line.as_bytes()),
                    Reply::Nothing => Ok(()),
                });
                asked.push(request);
            }
            asked
        });
        Self { path, closed, keeper: Some(keeper), _folder: folder }
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Closes the desk. What it was asked.
    pub fn close(mut self) -> Vec<Value> {
        self.shut()
    }

    fn shut(&mut self) -> Vec<Value> {
        let Some(keeper) = self.keeper.take() else { return Vec::new() };
        self.closed.store(true, Ordering::SeqCst);
        drop(UnixStream::connect(&self.path));
        keeper.join().unwrap()
    }
}

impl Drop for Desk {
    fn drop(&mut self) {
        self.shut();
    }
}
