//! Driving a run in the background: this same binary in a session of its own.
//!
//! Whoever asks for it is told the run's name once the run is begun and leased, or why it was not begun. Until then what
//! is said goes to them; from then on it goes to a file.

use std::fs::{self, File};
use std::io;
use std::path::PathBuf;
use std::process::{Command, ExitCode, Stdio};
use std::sync::OnceLock;

use loopwright_engine::Home;
use serde_json::json;

use crate::error::{self, CommandError};
use crate::{session, show};

/// The word that makes this binary one that drives in the background.
pub(crate) const BACKGROUND: &str = "in-background";

/// Whether this is the one in the background.
static IS: OnceLock<()> = OnceLock::new();

/// From here on this process is in the background, and belongs to no terminal.
pub(crate) fn enter() {
    IS.get_or_init(|| ());
    // Whoever leads a session already is in one of its own.
    let _ = rustix::process::setsid();
}

/// Whether this process was started to be in the background.
pub(crate) fn is_here() -> bool {
    IS.get().is_some()
}

/// Where what is said about a run in the background is kept.
fn log_of(home: &Home, run: &str) -> PathBuf {
    home.of_run(run).join("background.log")
}

/// The run is begun and leased: whoever asked for it is told so, and hears no more.
pub(crate) fn let_go(home: &Home, run: &str) -> Result<(), CommandError> {
    let path = log_of(home, run);
    let open = || {
        fs::create_dir_all(home.of_run(run))?;
        File::options().create(true).append(true).open(&path)
    };
    let broken = |it: io::Error| {
        CommandError::with_code(format!("{} cannot be written: {it}", path.display()), error::BROKEN)
            .hinted(format!("the run is begun, and nothing of it is done: `loopwright resume {run}`"))
    };
    let log = open().map_err(broken)?;
    show::out(&format!("{run}\n"));
    rustix::stdio::dup2_stderr(&log).map_err(|it| broken(it.into()))?;
    rustix::stdio::dup2_stdout(&log).map_err(|it| broken(it.into()))?;
    Ok(())
}

/// Does the command that was typed in the background instead, and returns as soon as its run is begun.
pub(crate) fn start(json: bool) -> Result<ExitCode, CommandError> {
    let broken =
        |it: io::Error| CommandError::with_code(format!("it cannot be started: {it}"), error::BROKEN);
    let program = std::env::current_exe().map_err(broken)?;
    let mut child = Command::new(program)
        .arg(BACKGROUND)
        .args(std::env::args_os().skip(1))
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(broken)?;
    let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
    // Both are read to their ends, so that neither of the two waits for the other.
    let errors = std::thread::spawn(move || read(stderr));
    let said = read(stdout);
    let errors = errors.join().unwrap_or_default();
    if !errors.is_empty() {
        show::error_line(errors.trim_end());
    }
    // What else is said for programs comes before.
    let Some(run) = said.lines().last().filter(|it| !it.is_empty()) else {
        let code = child.wait().map_err(broken)?.code().and_then(|it| u8::try_from(it).ok());
        return Ok(ExitCode::from(code.unwrap_or(error::BROKEN)));
    };
    let home = Home::find(&session::here()?).map_err(|it| session::told(it.into()))?;
    let log = log_of(&home, run);
    show::out(&if json {
        format!("{}\n", json!({"run": run, "log": log}))
    } else {
        format!(
            "{run}: runs in the background\n  `loopwright status {run}` says where it is, `loopwright stop {run}` ends it\n  what it says is kept in {}\n",
            log.display()
        )
    });
    Ok(ExitCode::SUCCESS)
}

/// All that comes, until nobody can say anything any more.
fn read(from: Option<impl io::Read>) -> String {
    let mut bytes = Vec::new();
    if let Some(mut from) = from {
        let _ = from.read_to_end(&mut bytes);
    }
    String::from_utf8_lossy(&bytes).into_owned()
}
