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
    match commands::run(arguments.command) {
        Ok(code) => code,
        Err(error) => error.report(),
    }
}
