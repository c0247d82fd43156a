//! Any program as an agent: it reads the prompt on its standard input and answers on its standard output.

use std::io;

use loopwright_core::machine::Cost;
use loopwright_core::signal::CANCELLED;

use super::{Agent, Call, Reply};
use crate::process::{Cancel, Command, Ended, Supervisor};

/// A program that is an agent.
#[derive(Clone, Debug)]
pub struct CommandAgent {
    /// The program and its arguments; a single text is a shell command.
    pub command: Vec<String>,
}

impl Agent for CommandAgent {
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
            input: call.prompt.clone().into_bytes(),
            wall: call.wall,
            idle: Some(call.idle),
        };
        let ran = command.run(supervisor, cancel, &mut |_| {})?;
        let (text, errors) = (ran.output.text(), ran.errors.text());
        let failed = match ran.ended {
            Ended::Exit(0) => None,
            Ended::Exit(code) => {
                let said = last_line(&errors).or_else(|| last_line(&text)).unwrap_or("it said nothing");
                Some(("crashed", format!("it ended with exit code {code}: {said}")))
            }
            Ended::Timeout => Some(("timeout", format!("it took longer than {} s", call.wall.as_secs()))),
            Ended::Stalled => Some(("stalled", format!("it said nothing for {} s", call.idle.as_secs()))),
            Ended::Cancelled => Some((CANCELLED, "it was called off".to_owned())),
        };
        let transcript =
            if errors.is_empty() { text.clone() } else { format!("{text}\n--- errors\n{errors}") };
        let time = u64::try_from(ran.took.as_millis()).unwrap_or(u64::MAX);
        Ok(Reply { failed, text, transcript, cost: Cost { time, ..Cost::default() } })
    }
}

fn last_line(text: &str) -> Option<&str> {
    text.lines().rev().map(str::trim).find(|it| !it.is_empty())
}
