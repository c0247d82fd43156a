//! Any program as an agent: it reads the prompt on its standard input and answers on its standard output.

use std::io;
use std::path::Path;
use std::time::Duration;

use loopwright_core::machine::Cost;
use loopwright_core::signal::CANCELLED;

use super::{Agent, Call, Reply, a_while};
use crate::process::{Cancel, Command, Ended, Supervisor, UNREAD, exit_in_words};

/// The exit code of a program that would have it tried again later (`EX_TEMPFAIL`).
const TRY_LATER: i32 = 75;

/// A program that is an agent.
#[derive(Clone, Debug)]
pub struct CommandAgent {
    /// The program and its arguments; a single text is a shell command.
    pub command: Vec<String>,
}

impl Agent for CommandAgent {
    fn missing(&self, folder: &Path) -> Option<String> {
        let program = match self.command.as_slice() {
            [] => return Some("it has no command".to_owned()),
            [shell] => shell.split_whitespace().next().unwrap_or_default(),
            [program, ..] => program,
        };
        // What a shell would make of anything else, only a shell can tell.
        let plain = |it: char| it.is_alphanumeric() || "_-./+@".contains(it);
        if program.is_empty() || !program.chars().all(plain) {
            return program.is_empty().then(|| "it has no command".to_owned());
        }
        let asked = ["-c", "command -v -- \"$1\"", "sh", program];
        let asked = std::process::Command::new("sh").args(asked).current_dir(folder).output();
        let found = asked.is_ok_and(|it| it.status.success());
        (!found).then(|| format!("`{program}` is not there"))
    }

    fn call(&self, call: &Call, supervisor: &Supervisor, cancel: &Cancel) -> io::Result<Reply> {
        let (program, arguments) = match self.command.as_slice() {
            [] => return Err(io::Error::new(io::ErrorKind::InvalidInput, "the agent has no command")),
            [shell] => ("sh".to_owned(), vec!["-c".to_owned(), shell.clone()]),
            [program, arguments @ ..] => (program.clone(), arguments.to_vec()),
        };
        let command = Command {
            program,
            arguments,
            folder: call.folder.clone(),
            environment: call.environment.clone(),
            unset: Vec::new(),
            only: false,
            fence: call.fence.clone(),
            input: call.prompt.clone().into_bytes(),
            wall: call.wall,
            idle: Some(call.idle),
        };
        let ran = command.run(supervisor, cancel, &mut |_| {})?;
        let (text, errors) = (ran.output.text(), ran.errors.text());
        let said = last_line(&errors).or_else(|| last_line(&text));
        let mut limited = None;
        let failed = match ran.ended {
            Ended::Exit(0) => None,
            Ended::Exit(TRY_LATER) => {
                limited = Some(a_while(said.and_then(how_long)));
                None
            }
            Ended::Exit(code) => {
                let unread = errors.lines().rev().find(|it| it.starts_with(UNREAD));
                let said = said.or(unread).unwrap_or("it said nothing");
                Some(("crashed", format!("{}: {said}", exit_in_words(code))))
            }
            Ended::Timeout => Some(("timeout", format!("it took longer than {} s", call.wall.as_secs()))),
            Ended::Stalled => Some(("stalled", format!("it said nothing for {} s", call.idle.as_secs()))),
            Ended::Cancelled => Some((CANCELLED, "it was called off".to_owned())),
        };
        let transcript =
            if errors.is_empty() { text.clone() } else { format!("{text}\n--- errors\n{errors}") };
        let time = u64::try_from(ran.took.as_millis()).unwrap_or(u64::MAX);
        let cost = Cost { time, unpriced: true, uncounted: true, ..Cost::default() };
        Ok(Reply { failed, limited, text, transcript, cost, trusted: true, ..Reply::default() })
    }
}

/// How long something lasts that is said in seconds, or as the moment it ends.
fn how_long(said: &str) -> Option<Duration> {
    let word = said.rsplit(char::is_whitespace).next()?;
    if let Ok(seconds) = word.parse() {
        return Some(Duration::from_secs(seconds));
    }
    let until: jiff::Timestamp = word.parse().ok()?;
    // One that is over already lasts no longer.
    Some(Duration::try_from(until.duration_since(jiff::Timestamp::now())).unwrap_or_default())
}

fn last_line(text: &str) -> Option<&str> {
    let mut lines = text.lines().rev().map(str::trim).filter(|it| !it.is_empty());
    lines.find(|it| !it.starts_with(UNREAD))
}
