//! A command of somebody's own behind a fence, where they ask for one.

use std::io;
use std::path::Path;
use std::sync::Arc;

use loopwright_engine::agents::{Agent, Call, CommandAgent, Reply};
use loopwright_engine::process::{Cancel, Supervisor};

use crate::own::Surroundings;

/// A command behind a fence.
pub(crate) struct Fenced {
    pub(crate) command: CommandAgent,
    pub(crate) surroundings: Arc<Surroundings>,
}

impl Agent for Fenced {
    fn missing(&self, folder: &Path) -> Option<String> {
        self.command.missing(folder)
    }

    fn unbounded(&self) -> Option<String> {
        let why = "a command is to run behind a fence, and this system has no Landlock: it runs without one";
        (!(self.surroundings.holds)()).then(|| why.to_owned())
    }

    fn call(&self, call: &Call, supervisor: &Supervisor, cancel: &Cancel) -> io::Result<Reply> {
        let mut call = call.clone();
        let temporary = call.own.join("tmp");
        std::fs::create_dir_all(&temporary)?;
        call.environment.push(("TMPDIR".to_owned(), temporary.to_string_lossy().into_owned()));
        call.fence = (self.surroundings.holds)().then(|| self.surroundings.fence(&call));
        self.command.call(&call, supervisor, cancel)
    }
}
