//! The binary: parse, dispatch, exit code, and nothing else.

mod commands;
mod error;
mod find;
mod show;

use std::process::ExitCode;

use clap::Parser;

/// Proofs make and drop very many small things.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Runs coding agents through workflows that are proved before they run
#[derive(Parser, Debug)]
#[command(name = "loopwright", version, arg_required_else_help = true)]
struct Arguments {
    #[command(subcommand)]
    command: commands::Command,
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let code = commands::run(arguments.command).unwrap_or_else(|error| error.report());
    match show::lost() {
        Some(why) => error::CommandError::user(format!("the output could not be written: {why}")).report(),
        None => code,
    }
}
