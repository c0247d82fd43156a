//! The binary: parse, dispatch, exit code, and nothing else.

mod background;
mod commands;
mod error;
mod find;
mod live;
mod moves;
mod progress;
mod session;
mod show;
mod tools;

use std::ffi::OsString;
use std::process::ExitCode;

use clap::Parser;

/// Proofs make and drop very many small things.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Runs coding agents through workflows that are proved before they run
#[derive(Parser, Debug)]
#[command(name = "loopwright", version, arg_required_else_help = true)]
#[command(after_help = "A workflow's own verbs: loopwright WORKFLOW VERB [SUBJECT]")]
struct Arguments {
    #[command(subcommand)]
    command: commands::Command,
}

fn main() -> ExitCode {
    // What commands run below is this same binary, and has nothing else to do.
    if std::env::args_os().nth(1).is_some_and(|it| it == session::SUPERVISE) {
        return loopwright_engine::process::supervise();
    }
    let mut words: Vec<OsString> = std::env::args_os().collect();
    if words.get(1).is_some_and(|it| it == background::BACKGROUND) {
        words.remove(1);
        background::enter();
    }
    options_last(&mut words);
    let arguments = Arguments::parse_from(words);
    let done = commands::run(arguments.command);
    live::end();
    let code = done.unwrap_or_else(|error| error.report());
    match show::lost() {
        Some(why) => error::CommandError::user(format!("the output could not be written: {why}")).report(),
        None => code,
    }
}

/// Puts what is said before a workflow's name about all of its tools behind it: there it is read.
fn options_last(words: &mut [OsString]) {
    let mut first = 1;
    while let Some(word) = words.get(first).and_then(|it| it.to_str()) {
        first += match word {
            "--repo-root" | "--format" => 2,
            _ if word.starts_with("--repo-root=") || word.starts_with("--format=") => 1,
            _ => break,
        };
    }
    if first < words.len() {
        words[1..=first].rotate_right(1);
    }
}
