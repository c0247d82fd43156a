//! The server as agents see it: requests over a real connection, and what comes back, read as they would read it.
#![expect(clippy::unwrap_used, clippy::panic, reason = "these are tests")]

mod answers;
mod client;
mod errands;
mod failures;
mod parse;
mod places;
mod program;
mod scripts;

use std::time::Duration;

use loopwright_testkit::{ModelServer, Scripts};

/// So long that only a test that hangs gets there.
const PATIENCE: Duration = Duration::from_mins(2);

fn serve(scripts: &str) -> ModelServer {
    ModelServer::start(Scripts::parse(scripts).unwrap()).unwrap()
}
