//! The binary as people and scripts meet it: what it prints, where, and with which exit code.

mod apart;
mod background;
mod bad_input;
mod change;
mod change_left;
mod change_tools;
mod completions;
mod discard;
mod doctor;
mod feature;
#[path = "../../../loopwright-engine/tests/runs/feature_files.rs"]
#[expect(dead_code, reason = "not everything of it is needed here")]
mod feature_files;
mod fork;
mod gc;
mod killed;
mod missing;
mod outputs;
mod per_finding;
mod pipes;
mod playing;
mod reading;
mod runs;
mod says;
mod status;
mod taken_over;
mod team;
#[path = "../../../loopwright-engine/tests/runs/team_files.rs"]
#[expect(dead_code, reason = "not everything of it is needed here")]
mod team_files;
mod terminal;
mod todo;
mod todo_shared;
mod unattended;
mod vibe;
mod vibe_project;

use std::error::Error;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::{fs, io};

type Outcome = Result<(), Box<dyn Error>>;

/// The workflows these tests are about; commands are run here, so that no path depends on the machine.
fn data() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data")
}

/// A folder of a test's own, empty.
fn scratch(name: &str) -> io::Result<PathBuf> {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("cli").join(name);
    if folder.exists() {
        fs::remove_dir_all(&folder)?;
    }
    fs::create_dir_all(&folder)?;
    Ok(folder)
}

struct Ran {
    code: Option<i32>,
    stdout: String,
    stderr: String,
}

impl From<Output> for Ran {
    fn from(output: Output) -> Self {
        Self {
            code: output.status.code(),
            stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }
}

fn loopwright(folder: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_loopwright"));
    command.current_dir(folder).env_remove("NO_COLOR").env_remove("CLICOLOR_FORCE");
    // What whoever runs these tests configured for themselves is none of theirs.
    command.env("XDG_CONFIG_HOME", Path::new(env!("CARGO_TARGET_TMPDIR")).join("nothing"));
    command
}

fn run_in(folder: &Path, arguments: &[impl AsRef<OsStr>]) -> io::Result<Ran> {
    let ran: Ran = loopwright(folder).args(arguments).output()?.into();
    // Whatever happens, it is not this.
    assert!(!ran.stderr.contains("panicked"), "{}", ran.stderr);
    assert!(ran.code.is_some(), "ended by a signal: {}", ran.stderr);
    Ok(ran)
}

/// Runs a command line, split at spaces, among the test's workflows.
fn run(line: &str) -> io::Result<Ran> {
    run_in(&data(), &line.split_whitespace().collect::<Vec<_>>())
}
