//! The scripted model server as a program, for use by hand. It prints where it listens, and runs until it is ended.

use std::error::Error;
use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use clap::Parser as _;
use loopwright_testkit::{ModelServer, Options, Scripts};

/// Serve scripts to agents in place of a model
#[derive(clap::Parser)]
struct Args {
    /// The port to listen on; any that is free if 0
    #[arg(long, default_value_t = 0)]
    port: u16,
    /// A file of scripts in JSON; of scripts with the same name the last one counts
    #[arg(long, required = true, value_name = "FILE")]
    scripts: Vec<PathBuf>,
    /// Write each request into this file, as a line of JSON
    #[arg(long, value_name = "FILE")]
    log: Option<PathBuf>,
}

fn main() -> Result<(), Box<dyn Error>> {
    let args = Args::parse();
    let mut scripts = Scripts::new();
    for file in &args.scripts {
        scripts.add(read(file)?);
    }
    let log = args.log.map(|it| File::options().create(true).append(true).open(it)).transpose()?;
    let server = ModelServer::start_with(scripts, Options { port: args.port, log })?;
    writeln!(io::stdout(), "{}", server.port())?;
    loop {
        std::thread::park();
    }
}

fn read(file: &Path) -> Result<Scripts, String> {
    let text = fs::read_to_string(file).map_err(|it| format!("{}: {it}", file.display()))?;
    Scripts::parse(&text).map_err(|it| format!("{}: {it}", file.display()))
}
